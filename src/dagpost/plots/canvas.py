"""A scene drawn with matplotlib: the same boxes, lines, heads, numbers and words as in its SVG.

Everything is in the coordinates of the scene, whose axes keep their proportions. Letters and lines are as large as the
axes make them when they are drawn, so that labels stay in their boxes however a figure is resized.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from matplotlib.patches import FancyBboxPatch, PathPatch, Rectangle
from matplotlib.path import Path as Outline
from matplotlib.text import Text

from dagpost.plots.figures import escaped, family_for
from dagpost.plots.letters import text_width
from dagpost.plots.marks import COLOURS, LOOKS, Look, head_size, mixed
from dagpost.plots.ports import Point
from dagpost.plots.sheet import MARK, SHORT_MARK, SMALL, Sample, Sheet, Words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dagpost.plots.scene import Box, Line

#: How large a point of the scene is in a figure of our own.
_SCALE = 0.82
_INKS = {"legend": "ink", "caption": "quiet"}


class SceneText(Text):
    """Text whose size is one of the scene: it grows and shrinks with the axes."""

    def __init__(self, x: float, y: float, text: str, units: float, **look: Any) -> None:
        super().__init__(x, y, text, fontsize=units, **look)
        self.units = units
        # The sheet has room for it; layouts need not look.
        self.set_in_layout(False)

    def _fit(self) -> None:
        if self.axes is not None:
            self.set_fontsize(max(self.units * points_a_unit(self.axes), 0.1))

    def draw(self, renderer: Any) -> None:
        """Draw it as large as the axes are now."""
        self._fit()
        super().draw(renderer)

    def get_window_extent(self, renderer: Any = None, dpi: float | None = None) -> Any:
        """The room that it takes now, in pixels."""
        self._fit()
        return super().get_window_extent(renderer, dpi)


class SceneLine(PathPatch):
    """A line or a head whose width is one of the scene; `line` is what it is drawn from, None in a legend."""

    def __init__(self, outline: Outline, units: float, line: Line | None = None, **look: Any) -> None:
        super().__init__(outline, **look)
        self.units, self.line = units, line
        self.set_in_layout(False)

    def draw(self, renderer: Any) -> None:
        """Draw it as wide as the axes are now."""
        if self.axes is not None:
            self.set_linewidth(self.units * points_a_unit(self.axes))
        super().draw(renderer)


def points_a_unit(ax: Any) -> float:
    """How many points of paper a point of the scene has in these axes."""
    one, two = ax.transData.transform([(0.0, 0.0), (1.0, 0.0)])
    return float(two[0] - one[0]) * 72.0 / float(ax.figure.dpi)


def draw_sheet(sheet: Sheet, ax: Axes, *, own: bool) -> None:
    """Draw a scene and its words into axes; `own`: the figure has nothing else and takes the size of the sheet."""
    ax.set_axis_off()
    if own:
        figure: Any = ax.figure
        figure.set_size_inches(_SCALE * sheet.width / 72.0, _SCALE * sheet.height / 72.0)
        figure.get_layout_engine().set(w_pad=0.0, h_pad=0.0)
    # The scene keeps its coordinates; what is to the left of it has negative ones.
    ax.set_xlim(-sheet.step, sheet.width - sheet.step)
    ax.set_ylim(sheet.height, 0.0)
    ax.set_aspect("equal", adjustable="box")
    scene = sheet.scene
    family = family_for([box.name for box in scene.boxes])
    # The most probable lines last, on top of the others.
    for line in sorted(scene.lines, key=lambda line: (line.joined, -line.pair)):
        if not line.hidden:
            _draw_line(ax, line, sheet)
    for text, (x, y) in scene.heads:
        _write(ax, text, (x, y), scene.size, ha="center", color=COLOURS["quiet"], gid="time")
    for box in scene.boxes:
        _draw_box(ax, box, scene.size, family)
    for sample in sheet.samples:
        _draw_sample(ax, sample, sheet)
    for words in sheet.words:
        _draw_words(ax, words, sheet.step)


def _write(ax: Axes, text: str, place: Point, size: float, **look: Any) -> None:
    look.setdefault("zorder", 5)
    ax.add_artist(SceneText(place[0], place[1] + 0.36 * size, escaped(text), size, va="baseline", **look))


def _draw_words(ax: Axes, words: Words, step: float) -> None:
    _write(
        ax,
        words.text,
        (words.place[0] - step, words.place[1]),
        SMALL,
        color=COLOURS[_INKS[words.kind]],
        family=family_for([words.text]),
        gid=words.kind,
    )


def _draw_box(ax: Axes, box: Box, size: float, family: Any) -> None:
    corner = (box.x - box.width / 2.0, box.y - box.height / 2.0)
    alpha = 0.45 if box.faint else 1.0
    look: dict[str, Any] = {
        "facecolor": COLOURS["exogenous" if box.square else "paper"],
        "edgecolor": COLOURS["border"],
        "linewidth": 0.8,
        "zorder": 4,
        "alpha": alpha,
        "gid": "box",
    }
    style = "square,pad=0" if box.square else f"round,pad=0,rounding_size={0.35 * size:g}"
    ax.add_patch(FancyBboxPatch(corner, box.width, box.height, boxstyle=style, **look))
    ink: dict[str, Any] = {"ha": "center", "color": COLOURS["ink"], "family": family, "gid": "node", "alpha": alpha}
    if len(box.label) == 1:
        _write(ax, box.label[0], (box.x, box.y), size, **ink)
    else:
        label = escaped("\n".join(box.label))
        ax.add_artist(SceneText(box.x, box.y, label, size, va="center", linespacing=1.0, zorder=5, **ink))


def _draw_line(ax: Axes, line: Line, sheet: Sheet) -> None:
    scene, look = sheet.scene, LOOKS[line.word]
    width = look.width(line.joined) * min(1.0, scene.size / 11.0)
    codes = [Outline.MOVETO, *[Outline.CURVE4] * (len(line.path) - 1)]
    _stroke(ax, Outline(line.path, codes), look, width, look.strength(line.joined), line)
    if line.head is not None:
        _draw_head(ax, line.head, look, width, look.strength(line.joined), line)
    if line.number_at is not None:
        x, y = line.number_at
        half, high = (text_width(line.shown, scene.number_size) + 3.0) / 2.0, 1.12 * scene.number_size
        paper = Rectangle(
            (x - half, y - high / 2.0), 2.0 * half, high, facecolor=COLOURS["paper"], linewidth=0, zorder=3
        )
        ax.add_patch(paper)
        _write(ax, line.shown, (x, y), scene.number_size, ha="center", color=COLOURS["ink"], gid="number", zorder=3.5)


def _stroke(ax: Axes, outline: Outline, look: Look, width: float, strength: float, line: Line | None = None) -> None:
    # Matplotlib counts dashes in widths of the line.
    dashes: Any = (0.0, [part / width for part in look.dashes]) if look.dashes else "-"
    drawn = SceneLine(
        outline,
        width,
        line,
        facecolor="none",
        edgecolor=mixed(look.ink, strength),
        linestyle=dashes,
        capstyle="butt",
        zorder=2,
        gid="line",
    )
    ax.add_patch(drawn)


def _draw_head(
    ax: Axes, corners: Sequence[Point], look: Look, width: float, strength: float, line: Line | None = None
) -> None:
    tip, left, right = corners
    colour = mixed(look.ink, strength)
    if look.head == "angle":
        middle = ((left[0] + right[0]) / 2.0, (left[1] + right[1]) / 2.0)
        codes = [Outline.MOVETO, Outline.LINETO, Outline.MOVETO, Outline.LINETO, Outline.LINETO]
        outline, face, units = Outline([middle, tip, left, tip, right], codes), "none", width
    else:
        outline = Outline([tip, left, right, tip], closed=True)
        face, units = (colour, 0.6) if look.head == "filled" else (COLOURS["paper"], 1.1)
    drawn = SceneLine(
        outline, units, line, facecolor=face, edgecolor=colour, joinstyle="miter", zorder=2.5, gid=f"head {look.head}"
    )
    ax.add_patch(drawn)


def _draw_sample(ax: Axes, sample: Sample, sheet: Sheet) -> None:
    x, y = sample.place[0] - sheet.step, sample.place[1]
    if sample.word == "exogenous":
        look: dict[str, Any] = {"facecolor": COLOURS["exogenous"], "edgecolor": COLOURS["border"], "linewidth": 0.8}
        ax.add_patch(Rectangle((x + 4.0, y - 5.0), 26.0, 10.0, **look))
        return
    look_of = LOOKS[sample.word or sheet.bare]
    width, strength = look_of.width(sample.chance), look_of.strength(sample.chance)
    length, wide = head_size(sample.word, sample.chance) if sample.word else (0.0, 0.0)
    end = x + (MARK if sample.word else SHORT_MARK)
    _stroke(ax, Outline([(x, y), (end - length, y)]), look_of, width, strength)
    if length:
        corners = ((end, y), (end - length, y + wide / 2.0), (end - length, y - wide / 2.0))
        _draw_head(ax, corners, look_of, width, strength)
