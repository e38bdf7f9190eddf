"""What is written below a picture of lines and boxes: what its numbers are, and what its marks mean."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dagpost.plots.figures import SMALL, family_for
from dagpost.plots.marks import EXOGENOUS, EXOGENOUS_FILL, LEGEND

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dagpost.posterior.directions import Word

#: What compelled directions rest on.
_TITLE = "its direction, assuming no hidden common causes"


@dataclass(frozen=True)
class LineLegend:
    """What the legend explains: what the numbers are, the words for directions, and columns that are not modelled."""

    share: bool
    words: Sequence[Word]
    exogenous: bool = False
    #: Other words than usual for some of them.
    labels: Mapping[Word, str] = field(default_factory=dict)

    @property
    def height(self) -> float:
        """In letters: a title, the longer one of two columns, and a line below them."""
        return 1.45 * (1 + max(3, len(self.words)) + self.exogenous)


def caption_strip(width: float, caption: Sequence[str], legend: LineLegend) -> tuple[list[str], float]:
    """The lines of the caption, and the height in points that they and the legend need."""
    if not caption:
        return [], 0.0
    letters = max(int(width / (0.62 * SMALL)), 30)
    lines = [line for part in caption for line in textwrap.wrap(part, letters, break_on_hyphens=False)]
    return lines, 1.25 * SMALL * len(lines) + legend.height * SMALL + 16.0


def explain(ax: Axes, lines: Sequence[str], size: float, legend: LineLegend) -> None:
    """Write the caption at the bottom of the axes, and above it what lines and boxes mean."""
    from matplotlib.legend import Legend
    from matplotlib.patches import Patch
    from matplotlib.transforms import ScaledTranslation

    from dagpost.plots.arrows import SampleHandler, SampleLine

    ax.text(
        0.0,
        0.0,
        "\n".join(lines),
        transform=ax.transAxes,
        fontsize=size,
        va="bottom",
        color="0.2",
        linespacing=1.15,
        family=family_for(lines),
        gid="caption",
    )
    what = "share with an edge" if legend.share else "probability of an edge"
    # How far to the right and up, in letters.
    columns: list[tuple[float, float, str, list[Any], list[str]]] = [
        (0.0, legend.height, what, [SampleLine(chance) for chance in (0.25, 0.5, 1.0)], ["0.25", "0.5", "1"]),
        (
            14.0,
            legend.height,
            _TITLE if set(legend.words) != {"unknown"} else "its direction",
            [SampleLine(1.0, word) for word in legend.words],
            [legend.labels.get(word, LEGEND[word]) for word in legend.words],
        ),
    ]
    # Without lines there is nothing to be said of directions.
    columns = columns if legend.words else columns[:1]
    if legend.exogenous:
        box_of_one = Patch(facecolor=EXOGENOUS_FILL, edgecolor="0.25")
        columns.append((0.0, 1.45, "", [box_of_one], [EXOGENOUS]))
    for left, up, title, handles, labels in columns:
        # Both columns begin at the same height, whichever is longer.
        bottom = 1.25 * size * len(lines) + 5.0 + size * up
        away = ScaledTranslation(left * size / 72.0, bottom / 72.0, ax.figure.dpi_scale_trans)
        box = Legend(
            ax,
            handles,
            labels,
            title=title or None,
            title_fontsize=size,
            alignment="left",
            handler_map={SampleLine: SampleHandler()},
            loc="upper left",
            bbox_to_anchor=(0.0, 0.0),
            bbox_transform=ax.transAxes + away,
            fontsize=size,
            frameon=False,
            borderpad=0.0,
            borderaxespad=0.0,
            labelspacing=0.4,
            handlelength=4.4,
            handletextpad=0.6,
        )
        box.set_zorder(5)
        ax.add_artist(box)
