"""What `dagpost fit` says about other choices: how many of the pairs found survive them, and which do not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import typer

from dagpost._tools.text import printable
from dagpost.cli.messages import in_words
from dagpost.cli.output import drawable, print_columns
from dagpost.cli.process import was_interrupted

if TYPE_CHECKING:
    from dagpost.model import DagPosterior
    from dagpost.posterior.sensitivity import PairUnderChoices, Sensitivity

_SHOWN = 10
#: What stands for the marks where a terminal has no such letters.
_PLAIN = {"✓": "+", "✗": "x", "△": "^", "": ""}


class Tried(NamedTuple):
    """What other choices gave; where nothing, why not, and whether Ctrl-C was the reason."""

    found: Sensitivity | None
    reason: str = ""
    interrupted: bool = False


def try_other_choices(model: DagPosterior, asked: bool | None) -> Tried:
    """Fit under other choices if that is asked for, or if nobody said no and it is quick; Ctrl-C ends only this."""
    from dagpost.posterior.variations import sensitivity_if_quick

    if asked is False:
        return Tried(None)
    try:
        return Tried(model.sensitivity()) if asked else Tried(*sensitivity_if_quick(model.fitted_))
    except BaseException as error:
        if not was_interrupted(error):
            raise
        return Tried(None, "Other choices were not tried to the end.", interrupted=True)


def print_tried(tried: Tried, *, quiet: bool) -> None:
    """A compact table; in its place, unless the user wants quiet, the reason why there is none."""
    if tried.reason and not quiet:
        typer.echo(printable(in_words(tried.reason)))
    found = tried.found
    if found is None or not found.pairs():
        return
    typer.echo(f"Other choices: {printable(found.choices())}. {found.summary()}")
    pairs = [pair for pair in found.shown(_SHOWN) if pair.fate != "never"]
    directed = any(own.word == "clear" for own in found.directions())
    marks = {mark: drawable(mark, plain) for mark, plain in _PLAIN.items()}
    rows = [
        (
            found.pair_text(pair, drawable("—", "--")),
            *(f"{value:.2f}" for value in (pair.own, min(pair.others), max(pair.others))),
            *([_direction(found, pair, marks)] if directed else []),
            f"{marks[found.mark(pair)]} {found.verdict(pair)}",
        )
        for pair in pairs
        if pair.others
    ]
    if rows:
        heads = ("pair", "joined", "lowest", "highest", *(["clear in"] if directed else []), "")
        print_columns([heads, *rows], right=(1, 2, 3), indent="  ")
    left = sum(pair.fate != "never" for pair in found.pairs()) - len(pairs)
    if left:
        typer.echo(f"  ({left} more pairs: --json or the report show them)")
    if lost := found.directions_lost():
        typer.echo(printable(lost))
    for reason in found.left_out:
        typer.echo(f"Not tried: {printable(reason)}.")


def _direction(found: Sensitivity, pair: PairUnderChoices, marks: Mapping[str, str]) -> str:
    """A clear direction, under how many choices it stays clear, and a mark: "→ 4 of 5 ✗"."""
    own = found.direction(pair.first, pair.second)
    if own is None or own.word != "clear" or not own.known:
        return ""
    arrow = drawable(own.arrow(), own.arrow(plain=True))
    return f"{arrow} {own.kept()} {marks['✓' if own.survives else '✗']}"
