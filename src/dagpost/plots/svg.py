"""A scene as SVG: for the page of a report, which has the colours, or as a picture of its own, which carries them.

In a page every element has a class and says which pair or column it is (`data-pair`, `data-node`), so that scripts can
show, hide and point at it; colours are those of the page (report/templates/graph.css). A picture of its own has its
colours written out, and below it the legend and what has to be said. Names from the data are escaped.
"""

from __future__ import annotations

import html
from collections.abc import Sequence

from dagpost._tools.text import printable
from dagpost.plots.box_layout import head_scale
from dagpost.plots.letters import LINE, text_width
from dagpost.plots.marks import COLOURS, HEAD_STROKES, LOOKS, Look, head_size
from dagpost.plots.ports import Point
from dagpost.plots.scene import Box, Line, Scene
from dagpost.plots.sheet import MARK, SHORT_MARK, SMALL, Sample, Sheet, sheet_of

_FONT = 'font-family="DejaVu Sans, Verdana, Helvetica, Arial, sans-serif"'


def svg_of(scene: Scene, *, standalone: bool = False) -> str:
    """SVG of a scene; `standalone`: with its colours, and below it the legend and the remarks.

    >>> import numpy as np
    >>> from dagpost.plots.scene import scene_of
    >>> from dagpost.posterior.directions import not_computed
    >>> found = scene_of(not_computed(("<b>", "c"), np.array([[0.0, 0.8], [0.2, 0.0]])))
    >>> picture = svg_of(found)
    >>> picture.count("<title>&lt;b&gt; and c: joined 1.000; direction not computed"), "<b>" in picture
    (1, False)
    """
    inks = _Inks(standalone)
    # The most probable lines last, on top of the others.
    lines = sorted(scene.lines, key=lambda line: (line.joined, -line.pair))
    drawn = [_line(line, scene, inks) for line in lines if not (standalone and line.hidden)]
    boxes = [_box(box, scene, inks) for box in scene.boxes]
    words = [_text(text, place, scene.size, "middle", inks("fill", "quiet")) for text, place in scene.heads]
    inside = "".join([*drawn, *words, *boxes])
    described = f"graph of {len(scene.boxes)} variables, lines by their {scene.measure}"
    told = f"<title>{html.escape(printable(described))}</title>"
    if not standalone:
        view = (
            f'viewBox="0 0 {scene.width:.0f} {scene.height:.0f}" width="{scene.width:.0f}" height="{scene.height:.0f}"'
        )
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="graph {scene.shape}" {view} role="img" '
            f'font-size="{scene.size:g}" data-number-size="{scene.number_size:g}" '
            f'data-width-scale="{_width_scale(scene):g}" data-head-scale="{head_scale(scene.size):g}">'
            f"{told}{inside}</svg>"
        )
    return _of_its_own(sheet_of(scene), inside, told)


class _Inks:
    """Attributes of colour: written out in a picture of its own, left to the page otherwise."""

    def __init__(self, standalone: bool) -> None:
        self.standalone = standalone

    def __call__(self, attribute: str, ink: str) -> str:
        return f' {attribute}="{COLOURS.get(ink, ink)}"' if self.standalone else ""


def _line(line: Line, scene: Scene, inks: _Inks) -> str:
    look = LOOKS[line.word]
    width = look.width(line.joined) * _width_scale(scene)
    course = _course(line.path)
    drawn = [_stroke(course, look, width, look.strength(line.joined), inks)]
    if line.head is not None:
        drawn.append(_head(line.head, look, width, look.strength(line.joined), inks))
    if line.number_at is not None:
        drawn.append(_number(line, scene, inks))
    if not inks.standalone:
        # From border to border: a script that moves the head to the other end, or takes it away, begins with this.
        whole = course if line.head is None else f"{course}L{_at(line.head[0])}"
        drawn.append(f'<path class="target" d="{whole}"/>')
    away = " hidden" if line.hidden else ""
    ends = "" if inks.standalone else f' data-from="{line.source}" data-to="{line.target}"'
    return (
        f'<g class="pair {line.word}{away}" data-pair="{line.pair}"{ends} data-joined="{line.joined:.4g}">'
        f"<title>{html.escape(line.said)}</title>{''.join(drawn)}</g>"
    )


def _width_scale(scene: Scene) -> float:
    """Lines are thinner where letters are small."""
    return min(1.0, scene.size / 11.0)


def _stroke(course: str, look: Look, width: float, strength: float, inks: _Inks) -> str:
    dashes = f' stroke-dasharray="{" ".join(f"{part:g}" for part in look.dashes)}"' if look.dashes else ""
    fill = ' fill="none"' if inks.standalone else ""
    return (
        f'<path class="line" d="{course}" stroke-width="{width:.2f}" opacity="{strength:.2f}"{dashes}{fill}'
        f"{inks('stroke', look.ink)}/>"
    )


def _head(corners: Sequence[Point], look: Look, width: float, strength: float, inks: _Inks) -> str:
    tip, left, right = corners
    if look.head == "angle":
        middle = ((left[0] + right[0]) / 2.0, (left[1] + right[1]) / 2.0)
        course = f"M{_at(middle)}L{_at(tip)}M{_at(left)}L{_at(tip)}L{_at(right)}"
        colour = inks("stroke", look.ink) + (' fill="none"' if inks.standalone else "")
        return (
            f'<path class="head angle" d="{course}" stroke-width="{width:.2f}" stroke-linejoin="round" '
            f'opacity="{strength:.2f}"{colour}/>'
        )
    course = f"M{_at(tip)}L{_at(left)}L{_at(right)}Z"
    fill = inks("fill", look.ink if look.head == "filled" else "paper")
    assert look.head is not None
    return (
        f'<path class="head {look.head}" d="{course}" stroke-width="{HEAD_STROKES[look.head]}" stroke-linejoin="miter" '
        f'opacity="{strength:.2f}"{fill}{inks("stroke", look.ink)}/>'
    )


def _number(line: Line, scene: Scene, inks: _Inks) -> str:
    assert line.number_at is not None
    x, y = line.number_at
    size = scene.number_size
    width, height = text_width(line.shown, size) + 3.0, 1.12 * size
    behind = (
        f'<rect class="behind" x="{x - width / 2:.1f}" y="{y - height / 2:.1f}" width="{width:.1f}" '
        f'height="{height:.1f}"{inks("fill", "paper")}/>'
    )
    return behind + _text(line.shown, (x, y), size, "middle", ' class="number"' + inks("fill", "ink"))


def _box(box: Box, scene: Scene, inks: _Inks) -> str:
    x, y = box.x - box.width / 2.0, box.y - box.height / 2.0
    kind = "node" + (" exogenous" if box.square else "") + (" faint" if box.faint else "")
    corner = 0.0 if box.square else 0.35 * scene.size
    fill = inks("fill", "exogenous" if box.square else "paper")
    light = ' opacity="0.45"' if box.faint else ""
    frame = (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" rx="{corner:g}" '
        f'stroke-width="1"{fill}{inks("stroke", "border")}/>'
    )
    step = LINE * scene.size
    first = box.y - step * (len(box.label) - 1) / 2.0
    label = "".join(
        _text(text, (box.x, first + number * step), scene.size, "middle", inks("fill", "ink"))
        for number, text in enumerate(box.label)
    )
    name = html.escape(printable(box.name))
    return f'<g class="{kind}" data-node="{box.node}"{light}><title>{name}</title>{frame}{label}</g>'


def _text(text: str, place: Point, size: float, anchor: str, look: str) -> str:
    """A line of text; `place` is half-way up its capitals."""
    return (
        f'<text x="{place[0]:.1f}" y="{place[1] + 0.36 * size:.1f}" font-size="{size:.4g}" '
        f'text-anchor="{anchor}"{look}>{html.escape(text)}</text>'
    )


def _course(path: Sequence[Point]) -> str:
    curves = [f"C{_at(path[at])} {_at(path[at + 1])} {_at(path[at + 2])}" for at in range(1, len(path) - 1, 3)]
    return f"M{_at(path[0])}{''.join(curves)}"


def _at(point: Point) -> str:
    return f"{point[0]:.1f},{point[1]:.1f}"


# A picture of its own


def _of_its_own(sheet: Sheet, inside: str, told: str) -> str:
    """The scene and its legend, on paper."""
    inks = _Inks(standalone=True)
    words = [
        _text(part.text, part.place, SMALL, "start", inks("fill", "ink" if part.kind == "legend" else "quiet"))
        for part in sheet.words
    ]
    marks = [_sample(sample, sheet, inks) for sample in sheet.samples]
    width, height = f"{sheet.width:.0f}", f"{sheet.height:.0f}"
    paper = f'<rect width="{width}" height="{height}"{inks("fill", "paper")}/>'
    moved = f'<g transform="translate({sheet.step:.1f} 0.0)">{inside}</g>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="graph {sheet.scene.shape}" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" style="max-width:100%;height:auto" role="img" {_FONT} '
        f'font-size="{sheet.scene.size:g}">{told}{paper}{moved}{"".join([*marks, *words])}</svg>'
    )


def _sample(sample: Sample, sheet: Sheet, inks: _Inks) -> str:
    """A mark of the legend."""
    place = f'<g transform="translate({sample.place[0]:.1f} {sample.place[1]:.1f})">'
    if sample.word == "exogenous":
        box = f'<rect x="4" y="-5" width="26" height="10"{inks("fill", "exogenous")}{inks("stroke", "border")}/>'
        return f"{place}{box}</g>"
    look = LOOKS[sample.word or sheet.bare]
    width, strength = look.width(sample.chance), look.strength(sample.chance)
    if sample.word is None:
        return f"{place}{_stroke(f'M0,0H{SHORT_MARK:g}', look, width, strength, inks)}</g>"
    length, wide = head_size(sample.word, sample.chance)
    base = MARK - length
    drawn = _stroke(f"M0,0H{base:g}", look, width, strength, inks)
    if length:
        corners = ((MARK, 0.0), (base, wide / 2.0), (base, -wide / 2.0))
        drawn += _head(corners, look, width, strength, inks)
    return f"{place}{drawn}</g>"
