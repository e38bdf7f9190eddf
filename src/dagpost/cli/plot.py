"""`dagpost plot`: a picture of a model or a sample, of every kind there is, as a file."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from dagpost._tools.text import printable
from dagpost.cli import choices
from dagpost.cli.files import check_output, default_name, load_source
from dagpost.cli.options import GivenOption, RunOptions, SourceArgument, option, output_option
from dagpost.cli.output import given_content_of, print_given, print_json

#: A title has room for a condition of so many letters.
_LONGEST_GIVEN = 60

PictureSize = Annotated[
    str | None, option("WIDTHxHEIGHT", "In centimetres, as 16x10, or 160x100mm, or 6.5x4in; what fits unless given.")
]
PictureDots = Annotated[int | None, option("NUMBER", "Dots per inch of a .png, .jpg, .tif or .webp; 200 unless given.")]
PictureTitle = Annotated[
    str | None, option("TEXT", 'What stands over the picture; the file and what is shown unless given, "": nothing.')
]


@dataclass(frozen=True)
class PlotOptions:
    """What some plots ask for, and others do not take."""

    threshold: Annotated[
        float | None, option("P", "graph, in-time: pairs that are joined less probably are not drawn.")
    ] = None
    numbers: Annotated[
        bool | None,
        typer.Option(
            "--numbers/--no-numbers",
            help="graph, in-time, heat-map: write the numbers out; where there is room unless given.",
            show_default=False,
        ),
    ] = None
    legend: Annotated[
        bool | None,
        typer.Option(
            "--legend/--no-legend", help="graph, in-time: explain the lines; yes unless given.", show_default=False
        ),
    ] = None
    relation: Annotated[
        str | None, option("RELATION", 'heat-map, comparison: "->" for edges, "~>" for paths, "--" for either way.')
    ] = None
    order: Annotated[str | None, option("ORDER", "heat-map: columns (as in the table), or names as A,B.")] = None
    count: Annotated[int | None, option("NUMBER", "edges, comparison, r-hat: how many lines at most.", min=1)] = None
    confidence: Annotated[float | None, option("P", "edges: of the intervals, where numbers are estimates.")] = None
    statement: Annotated[
        str | None, option("STATEMENT", 'traces: how often this held so far, as "A -> B"; the log score unless given.')
    ] = None
    other: Annotated[
        Path | None,
        option("FILE", "comparison: the second model or sample.", "--with"),
    ] = None
    cause: Annotated[str | None, option("COLUMN", "effect-density: what is set.")] = None
    outcome: Annotated[str | None, option("COLUMN", "effect-density: what it acts on.")] = None

    def given(self) -> dict[str, Any]:
        """Those that were given, by the names that plots have for them."""
        values = {**asdict(self), "order": _order(self.order)}
        return {"with" if name == "other" else name: value for name, value in values.items() if value is not None}


def plot(
    *,
    source: SourceArgument,
    output: Annotated[
        Path | None,
        output_option(
            "Where to write the picture; the ending says how: .svg, .pdf, .png, .eps, .jpg, .tif or .webp. Unless "
            "given: in this folder, as NAME-KIND.svg."
        ),
    ] = None,
    kind: Annotated[
        str | None,
        option(
            "KIND",
            f"{', '.join(choices.plots())}; graph unless given, or in-time where columns have times.",
            autocompletion=choices.complete_plot,
        ),
    ] = None,
    given: GivenOption = None,
    which: PlotOptions,
    title: PictureTitle = None,
    size: PictureSize = None,
    dpi: PictureDots = None,
    run: RunOptions,
) -> None:
    """Draw the graph of a model or a sample, or another plot of it.

    \b
    Example: dagpost plot coronary.dagpost -o coronary.svg
    """
    from dagpost.plots.kinds import KINDS, Asked, check_options, draw, kind_for
    from dagpost.plots.picture_files import format_of

    options = which.given()
    origin = load_source(source, given=given, threads=run.threads, quiet=run.quiet)
    chosen = kind_for(kind, origin)
    check_options(chosen, options)
    target = output or Path(f"{default_name(source, given)}-{chosen}.svg")
    place = PicturePlace(target, size, dpi)
    second = None if which.other is None else load_source(which.other, threads=run.threads, quiet=run.quiet)
    other_name = "" if which.other is None else which.other.stem
    asked = Asked(origin, source.stem, second, other_name, which.cause, which.outcome)
    words = f"{source.stem}: {KINDS[chosen].words}{_under(origin)}" if title is None else title
    place.write(lambda ax: draw(chosen, asked, options, ax), words)
    if run.as_json:
        print_json({"picture": str(target), "kind": chosen, "format": format_of(target), **given_content_of(origin)})
    else:
        print_given(origin)
        typer.echo(printable(f"Picture ({chosen}): {target}"))


class PicturePlace:
    """Where a picture goes, and how large; what is wrong with that is said before any work."""

    def __init__(self, target: Path, size: str | None, dpi: int | None) -> None:
        from dagpost.plots.figures import pyplot
        from dagpost.plots.picture_files import check_dots, format_of, parse_size

        self.target, self.format = target, format_of(target)
        self.size = None if size is None else parse_size(size)
        self.dots = check_dots(dpi, self.format, self.size)
        check_output(target)
        pyplot().switch_backend("agg")

    def write(self, draw: Any, title: str) -> None:
        """Draw, and put the file where it belongs, whole or not at all."""
        from dagpost._tools.whole_files import replacing
        from dagpost.plots.picture_files import picture

        content = picture(draw, self.format, title=title, size=self.size, dots=self.dots)
        with replacing(self.target) as file:
            file.write(content)


def _under(origin: Any) -> str:
    """What the picture is given, for its title, if that is short enough."""
    statements = given_content_of(origin).get("given", {}).get("statements", ())
    said = f" given {' and '.join(map(printable, statements))}" if statements else ""
    return said if len(said) <= _LONGEST_GIVEN else " given what was assumed"


def _order(text: str | None) -> str | list[str] | None:
    if text is None or text == "columns":
        return text
    from dagpost.cli.recipe import parse_names

    return parse_names("--order", [text])
