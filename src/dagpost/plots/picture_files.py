"""Pictures in files: which formats there are, a title over the picture, and bytes that the same picture always has.

Nothing in a file hangs on the date or on chance, and letters are outlines, since fonts differ from place to place.
"""

from __future__ import annotations

import io
import re
import textwrap
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from dagpost._tools.spelling import bare, parameter
from dagpost._tools.text import printable, shown
from dagpost.errors import InputError, warn
from dagpost.plots.figures import escaped, family_for, pyplot, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: The formats, by the ending of names.
_FORMATS = ("svg", "pdf", "png", "eps", "jpg", "jpeg", "tif", "tiff", "webp")
#: Formats made of lines, for which dots per inch mean nothing.
_OF_LINES = ("svg", "pdf", "eps")
#: What a file says of itself otherwise hangs on the date and on the versions here.
_METADATA: dict[str, dict[str, Any]] = {
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    "png": {"Software": None},
    "eps": {"Creator": "dagpost"},
}
_UNITS = {"cm": 1.0 / 2.54, "mm": 1.0 / 25.4, "in": 1.0, "": 1.0 / 2.54}
_SIZE = re.compile(r"\s*(\d{1,4}(?:\.\d{1,3})?)\s*[x×*]\s*(\d{1,4}(?:\.\d{1,3})?)\s*(cm|mm|in|)\s*")
#: Sides of a picture in inches, and dots per inch.
_SIDES, _DOTS, USUAL_DOTS = (1.5, 60.0), (30, 1200), 200
#: More dots than this take more memory than a picture is worth.
_MOST_DOTS = 200_000_000
#: Letters of a title, smaller over a picture that is less wide than this many inches, and the room below it.
_TITLE, _WIDE, _GAP = 12.0, 5.0, 8.0
_LONGEST_TITLE = 200
#: Matplotlib's margin, in inches, and what is added to it so that no title touches the edge.
_USUAL_MARGIN, _MARGIN = 3.0 / 72.0, 3.0 / 72.0
#: How matplotlib's remarks begin on letters that a font does not have, and on a picture that has no room left.
_NO_LETTER, _NO_ROOM = "Glyph", "constrained_layout not applied"


class Size(NamedTuple):
    """Width and height in inches."""

    width: float
    height: float


def format_of(path: Path) -> str:
    """The format that the ending of a name asks for.

    >>> format_of(Path("graph.SVG"))
    'svg'
    """
    ending = path.suffix.removeprefix(".").lower()
    if ending not in _FORMATS:
        known = ", ".join(f".{name}" for name in _FORMATS)
        raise InputError(
            f"{str(path)!r} does not end as the file of a picture. Name it with one of {known}: {bare('output')} "
            f"{path.stem[:60] or 'picture'}.svg, for instance."
        )
    return ending


def parse_size(text: str) -> Size:
    """Width and height as people write them.

    >>> parse_size("10x5in"), parse_size("25.4 x 50.8")
    (Size(width=10.0, height=5.0), Size(width=10.0, height=20.0))
    """
    found = _SIZE.fullmatch(text)
    if found:
        size = Size(*(round(float(side) * _UNITS[found[3]], 6) for side in found.groups()[:2]))
        if all(_SIDES[0] <= side <= _SIDES[1] for side in size):
            return size
    raise InputError(
        f"{parameter('size')} is a width and a height in centimetres, as 16x10, or with a unit, as 160x100mm or "
        f"6.5x4in; each from 4 to 150 cm. Got {shown(text)} instead."
    )


def check_dots(dots: int | None, format_: str, size: Size | None) -> int:
    """Dots per inch of a picture that is made of dots."""
    if dots is None:
        dots = USUAL_DOTS
    elif format_ in _OF_LINES:
        raise InputError(
            f"{bare('dpi')} is for pictures made of dots (png, jpg, tiff, webp); {format_} is made of lines, sharp at "
            "any size. Leave it out."
        )
    if not _DOTS[0] <= dots <= _DOTS[1]:
        raise InputError(f"{parameter('dpi')} must be a whole number from {_DOTS[0]} to {_DOTS[1]}. Got {shown(dots)}.")
    if size is not None and format_ not in _OF_LINES and size.width * size.height * dots**2 > _MOST_DOTS:
        raise InputError(
            f"A picture of {size.width * dots:,.0f} x {size.height * dots:,.0f} dots is too large. Lower "
            f"{bare('dpi')}, take a smaller {bare('size')}, or write an .svg or .pdf."
        )
    return dots


def picture(
    draw: Callable[[Axes | None], Axes], format_: str, *, title: str, size: Size | None = None, dots: int = USUAL_DOTS
) -> bytes:
    """The file of a picture with its title, in a figure of its own or of a given size."""
    plt = pyplot()
    import matplotlib as mpl

    before = set(plt.get_fignums())
    try:
        look = mpl.rc_context({"svg.fonttype": "path", "svg.hashsalt": "dagpost", "pdf.fonttype": 42})
        with look, warnings.catch_warnings(record=True) as said:
            for message in (_NO_LETTER, _NO_ROOM):
                warnings.filterwarnings("always", message=message, category=UserWarning)
            content = _saved(_titled(plt, draw, title, size), format_, dots)
    finally:
        for number in set(plt.get_fignums()) - before:
            plt.close(number)
    _tell([str(remark.message) for remark in said])
    for remark in said:
        if not str(remark.message).startswith((_NO_LETTER, _NO_ROOM)):
            warnings.warn_explicit(remark.message, remark.category, remark.filename, remark.lineno)
    return content


def _tell(remarks: list[str]) -> None:
    """What matplotlib remarks of a picture, in one sentence for all letters and all tries."""
    if any(remark.startswith(_NO_ROOM) for remark in remarks):
        raise InputError(f"The names and words of this picture need more room. Give a larger {bare('size')}, or none.")
    if any(remark.startswith(_NO_LETTER) for remark in remarks):
        warn("No font here has all letters of these names; those that are missing are drawn as boxes.")


def _titled(plt: Any, draw: Callable[[Axes | None], Axes], title: str, size: Size | None) -> Any:
    """The figure with its title: over a figure of fitting size, or inside the size that is asked for."""
    if size is not None:
        figure = plt.figure(figsize=size, layout="constrained")
        ax = figure.add_subplot()
        if title:
            _set_title(figure, title)
            # Only the layout says which room the title leaves to the axes.
            figure.draw_without_rendering()
        draw(ax)
        return figure
    figure = draw(None).figure.figure
    if title:
        text = _set_title(figure, title)
        figure.draw_without_rendering()
        # The margin is above and below both the title and the axes.
        more = text.get_window_extent().height / figure.dpi + _GAP / 72.0 + 4.0 * _MARGIN
        figure.set_size_inches(figure.get_figwidth(), figure.get_figheight() + more)
    return figure


def _set_title(figure: Any, title: str) -> Any:
    width = figure.get_figwidth()
    size = _TITLE * min(1.0, max(width / _WIDE, 0.6))
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.set(h_pad=_USUAL_MARGIN + _MARGIN)
    lines = textwrap.wrap(shortened(printable(title), _LONGEST_TITLE), max(int(width * 72.0 / (0.65 * size)), 12))
    return figure.suptitle(
        escaped("\n".join(lines)), fontsize=size, fontweight="bold", family=family_for([title]), gid="title"
    )


def _saved(figure: Any, format_: str, dots: int) -> bytes:
    file = io.BytesIO()
    more = {"metadata": _METADATA[format_]} if format_ in _METADATA else {}
    figure.savefig(file, format=format_, dpi=dots, facecolor="white", **more)
    return file.getvalue()
