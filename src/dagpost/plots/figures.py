"""What every picture shares: a figure to draw in, colours that every eye can tell apart, names shown as they are.

Matplotlib is loaded here and nowhere earlier. Nothing here changes its settings, and a figure is opened only where no
axes are given. Names come from the data: a dollar sign in them does not begin a formula, and a line break does not
break a line.
"""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from rich.cells import cell_len, set_cell_size

from dagpost._tools.text import printable, shown
from dagpost.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Okabe & Ito's colours, which all eyes can tell apart; shapes and dashes do the same in black and white.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#999999")
SHAPES = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">", "h")
DASHES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 2)))
LONGEST_LABEL = 40
_LONGEST_MEASURE = 60
#: Of each name of an edge: shortened as a whole, the text would lose its second one.
_LONGEST_NAME = 24
#: Size of letters that explain.
SMALL = 8.0
#: A caption is wrapped again until it fits, at most this often.
_TRIES = 4
#: Fonts with Chinese, Japanese and Korean characters, where installed: the usual one has none.
_WIDE_FONTS = (
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Noto Sans SC",
    "Source Han Sans SC",
    "WenQuanYi Zen Hei",
    "WenQuanYi Micro Hei",
    "Microsoft YaHei",
    "SimHei",
    "PingFang SC",
    "Hiragino Sans",
    "Arial Unicode MS",
)


def pyplot() -> Any:
    """Matplotlib's pyplot, or one sentence on how to get it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as missing:
        raise InputError('Pictures need matplotlib, which is not installed: pip install "dagpost[plot]".') from missing
    return plt


def axes_for(ax: Axes | None, width: float, height: float) -> Axes:
    """The axes that were given, or those of a new figure of this size in inches."""
    plt = pyplot()
    if ax is None:
        own: Axes = plt.subplots(figsize=(width, height), layout="constrained")[1]
        return own
    if not hasattr(ax, "get_xaxis_transform"):
        raise InputError(f"The 'ax' must be axes of matplotlib, or None for a new figure. Got {shown(ax)} instead.")
    return ax


def say(ax: Axes, text: str, pad: float | None = None) -> None:
    """Write small words above the axes and their labels, in as many lines as they need; to be called last.

    `pad` is the room to leave below them, in points, where something else stands. A title that is set later replaces
    them.
    """
    figure = ax.figure.figure
    look: dict[str, Any] = {"fontsize": SMALL, "color": "0.2", "family": family_for([text]), "pad": pad}
    title, letters = ax.set_title("", **look), 0
    for _ in range(_TRIES):
        # Only the layout says how much room the labels beside the axes take.
        figure.draw_without_rendering()
        title.set_visible(False)
        inside = ax.get_window_extent()
        room = ax.get_tightbbox() or inside
        title.set_visible(True)
        own = title.get_window_extent()
        if letters and room.x0 - 1.0 <= own.x0 and own.x1 <= room.x1 + 1.0:
            break
        too_wide = max(1.05, own.width / max(room.width, 1.0))
        letters = int(letters / too_wide) if letters else int(room.width * 72.0 / figure.dpi / (0.55 * SMALL))
        letters = max(letters, 10)
        ax.set_title("\n".join(textwrap.wrap(text, letters, break_on_hyphens=False)), **look)
        title.set_x(((room.x0 + room.x1) / 2.0 - inside.x0) / max(inside.width, 1.0))


def one_a_row(ax: Axes, labels: Sequence[str], measure: str, grid: Literal["x", "both"] = "x") -> None:
    """Give every label a row, the first one at the top, along an axis that is called `measure`."""
    ax.set_yticks(range(len(labels)), labels, family=family_for(labels))
    ax.set_ylim(max(len(labels), 1) - 0.5, -0.5)
    ax.set_xlabel(plain(measure, _LONGEST_MEASURE), family=family_for([measure]))
    ax.grid(axis=grid, color="0.9")
    ax.set_axisbelow(True)
    ax.tick_params(axis="y", length=0)
    ax.spines[["top", "right", "left"]].set_visible(False)


def plain(text: object, longest: int = LONGEST_LABEL) -> str:
    r"""Text as a figure shows it: not too long, and a dollar sign does not begin a formula.

    >>> plain("cost in $\n")
    'cost in \\$\\n'
    """
    return escaped(shortened(printable(text), longest))


def escaped(text: str) -> str:
    """Text in which no dollar sign begins a formula."""
    return text.replace("$", r"\$")


def edge_text(source: object, target: object, relation: str = "->") -> str:
    r"""An edge or a path between two names, as an axis shows it.

    >>> edge_text("A", "$B"), edge_text("A", "B", "~>")
    ('A → \\$B', 'A ~> B')
    """
    first, second = (plain(name, _LONGEST_NAME) for name in (source, target))
    # An arrow as everywhere else; a path has none of its own.
    return f"{first} {'→' if relation == '->' else relation} {second}"


def shortened(text: str, longest: int) -> str:
    """Text of at most this many columns; a Chinese character takes two."""
    return text if cell_len(text) <= longest else f"{set_cell_size(text, longest - 1).rstrip()}…"


def family_for(texts: Sequence[str]) -> list[str] | None:
    """Fonts for these texts: None for the usual ones, or those followed by installed ones with wide characters."""
    if not any(unicodedata.east_asian_width(character) in "WF" for text in texts for character in text):
        return None
    from matplotlib import font_manager, rcParams

    installed = {font.name for font in font_manager.fontManager.ttflist}
    usual = rcParams["font.family"]
    return [*([usual] if isinstance(usual, str) else usual), *(name for name in _WIDE_FONTS if name in installed)]
