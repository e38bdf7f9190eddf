"""`dagpost effect`: what setting a column does to another, or several at once; without columns, all effects."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dagpost._tools.text import position_of, printable
from dagpost.cli.files import load_model
from dagpost.cli.options import (
    GivenOption,
    JsonOption,
    ModelArgument,
    QuietOption,
    ThreadsOption,
    option,
    output_option,
    setting,
)
from dagpost.cli.output import given_content_of, print_columns, print_given, print_json
from dagpost.cli.plot import PictureDots, PicturePlace, PictureSize, PictureTitle
from dagpost.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from dagpost.causal.results import Effect, Outcome
    from dagpost.model import DagPosterior

#: Draws of one effect, and of each of all effects.
_DRAWS, _DRAWS_OF_ALL = 10_000, 2_000
#: Effects that are there less probably are not listed unless asked for.
_LEAST = 0.1
#: How many parts through other variables are listed.
_SHOWN = 10


def effect(
    model: ModelArgument,
    columns: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[CAUSE]... OUTCOME",
            help="The column that is set and the one it acts on; several causes with their values set them at once: "
            "Smoking=yes Work=no Pressure. One column alone: all effects on it and of it; none: all effects.",
            show_default=False,
        ),
    ] = None,
    do: Annotated[str | None, option("VALUE", "What the cause is set to.")] = None,
    rather_than: Annotated[
        list[str] | None,
        option("VALUE", "What that is compared with; with several causes COLUMN=VALUE, once for each."),
    ] = None,
    level: Annotated[str | None, option("LEVEL", "Look at the probability of this level of the outcome.")] = None,
    given: GivenOption = None,
    curve: Annotated[
        bool, typer.Option("--curve", help="What would be seen along all numbers of the cause; with -o, draw that.")
    ] = False,
    minimum: Annotated[
        float | None, option("P", "Of all effects: leave out those that are there less probably; 0.1 unless given.")
    ] = None,
    draws: Annotated[
        int | None, option("NUMBER", "Draws of graphs and parameters; 10000 unless given, of all effects 2000 each.")
    ] = None,
    confidence: Annotated[float, setting("P", "Of the intervals.")] = 0.95,
    seed: Annotated[int | None, option("NUMBER", "Seed of the draws; that of the model unless given.")] = None,
    output: Annotated[
        Path | None, output_option("Draw it into this file, too: .svg, .pdf, .png, .eps, .jpg, .tif or .webp.")
    ] = None,
    title: PictureTitle = None,
    size: PictureSize = None,
    dpi: PictureDots = None,
    threads: ThreadsOption = None,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Say what setting a column does to another, and how surely.

    Averaged over all graphs and their parameters; causes are causes only if none is hidden, and what is assumed stands
    below. An effect of exactly 0 has a probability of its own: that of graphs without a path.

    \b
    Smoking Pressure                      the usual values: the last level rather than the first, or one unit more
    Smoking Pressure --do yes             this value; --rather-than says which other one
    Smoking=yes Work=no Pressure          both at once, rather than the other level of each

    \b
    Example: dagpost effect coronary.dagpost Smoking Pressure
    """
    words = columns or []
    place = None if output is None else PicturePlace(output, size, dpi)
    fitted = load_model(model, given=given, threads=threads, quiet=quiet)
    if len(words) < 2:
        alone = {"do": do, "rather-than": rather_than, "level": level, "curve": curve, "output": output}
        _refuse_for_all(words, {name: value for name, value in alone.items() if value})
        _show_all(
            fitted,
            words,
            _DRAWS_OF_ALL if draws is None else draws,
            confidence,
            seed,
            minimum,
            as_json=as_json,
        )
        return
    if minimum is not None:
        raise InputError("--minimum is for all effects, without a cause and an outcome. Leave it out, or these.")
    found = _found(fitted, words, do, rather_than or [], level, _DRAWS if draws is None else draws, confidence, seed)
    # Before any picture: what has no curve is refused.
    outcomes = found.along().outcomes if curve else found.outcomes
    if place is not None:
        from dagpost.plots.effect_curve_plot import effect_curve
        from dagpost.plots.effect_overview import effect_overview

        heading = f"{found.cause} → {found.outcome}" if title is None else title
        place.write(lambda ax: effect_curve(found, ax=ax) if curve else effect_overview(found, ax), heading)
    if as_json:
        summary = found.summary()
        under = {key: {**summary[key], **own} for key, own in given_content_of(fitted).items()}
        along = {"curve": found.curve().to_dict("records")} if curve else {}
        print_json({**summary, **under, **along, **({} if output is None else {"picture": str(output)})})
        return
    print_effect(found, outcomes)
    if output is not None:
        typer.echo(printable(f"Picture: {output}"))


def _found(
    model: DagPosterior,
    words: list[str],
    do: str | None,
    rather_than: list[str],
    level: str | None,
    draws: int,
    confidence: float,
    seed: int | None,
) -> Effect:
    from dagpost.cli.effect_question import causes_of, check_outcome
    from dagpost.posterior.augmented_workspace import modelled_levels

    *causes, outcome = words
    names, levels = model.names_, modelled_levels(model.fitted_)
    check_outcome(outcome, names)
    asked = causes_of(causes, do, rather_than, names, levels)
    settings: dict[str, Any] = {"draws": draws, "confidence": confidence, "seed": seed}
    if len(asked) == 1:
        ((cause, values),) = asked.items()
        return model.effect(cause, outcome, do=values, outcome_level=level, **settings)
    return model.effect(asked, outcome, outcome_level=level, **settings)


def _refuse_for_all(words: list[str], given: dict[str, Any]) -> None:
    if given:
        name = next(iter(given))
        which = f"an outcome beside {words[0]!r}" if words else "a cause and an outcome"
        raise InputError(f"--{name} is for one effect. Name {which}, or leave it out.")


def print_effect(found: Effect, outcomes: Sequence[Outcome]) -> None:
    """The sentences, the parts, what would be seen, and what all of it assumes."""
    from dagpost.causal.sentences import OVERLAP, in_sentences, no_effect

    for sentence in in_sentences(found):
        typer.echo(printable(sentence))
    if found.direct is not None and not no_effect(found):
        typer.echo()
        _print_parts(found)
        if len(found.through) > 1:
            typer.echo(OVERLAP)
    if outcomes:
        typer.echo()
        _print_outcomes(found, outcomes)
    if found.assumptions:
        typer.echo("\nAssumed:")
        for sentence in found.assumptions:
            typer.echo(printable(f"- {sentence}"))
    typer.echo(printable(_about(found)))


def _print_parts(found: Effect) -> None:
    from dagpost.causal.sentences import change_text, range_text

    percent = f"{100 * found.confidence:.6g}% interval"
    rows: list[tuple[str, ...]] = [("part", "mean", percent, "there", "raises", "lowers")]
    level = found.outcome_level is not None
    parts = found.parts_table().to_dict("records")[: _SHOWN + 2]
    rows += [
        (
            printable(part["part"]),
            change_text(part["mean"], level),
            range_text((part["lower"], part["upper"]), level),
            *(f"{part[name]:.3f}" for name in ("probability", "raises", "lowers")),
        )
        for part in parts
    ]
    print_columns(rows, right=(1, 3, 4, 5))
    left = len(found.through) - _SHOWN
    if left > 0:
        typer.echo(f"({left} more variables on the way: --json has them)")


def _print_outcomes(found: Effect, outcomes: Sequence[Outcome]) -> None:
    """One row a setting and level: what would be seen of the outcome."""
    settings = [f"do({printable(name)})" for name in found.causes]
    what = (
        f"the mean of {printable(found.outcome)}" if found.outcome_level is None else f"P({printable(found.outcome)})"
    )
    levels = found.outcome_level is not None
    heads = (*settings, *(["level"] if levels else []), what, f"{100 * found.confidence:.6g}% interval")
    rows = [
        (
            *(_value(value) for value in own.do),
            *([printable(own.level)] if levels else []),
            _measured(own.mean, levels),
            f"{_measured(own.lower, levels)} to {_measured(own.upper, levels)}",
        )
        for own in outcomes
    ]
    print_columns([heads, *rows], right=(len(heads) - 2,))


def _measured(value: float, level: bool) -> str:
    """A probability with four digits, a mean with five that matter."""
    return f"{value:.4f}" if level else f"{value:#.5g}"


def _value(value: object) -> str:
    return f"{value:.5g}" if isinstance(value, float) else printable(value)


def _about(found: Effect) -> str:
    from dagpost.methods.choice import target_named
    from dagpost.methods.targets import STRUCTURE

    which = "there are" if found.condition is None else "in which this holds"
    graphs = f"all {found.graphs:,} graphs {which}" if found.exact else f"{found.graphs:,} graphs"
    # But for linear networks, the means of parts through other variables are averages of draws.
    apart = " (those of parts through other variables apart)" if found.through else ""
    means = f"Means{apart} and probabilities are exact" if found.exact else "Averaged"
    target = target_named(found.modularity)
    counted = "" if target == STRUCTURE else f" ({target.words})"
    draws = f"{len(found.samples):,} draws of graphs and parameters"
    return f"{means} over {graphs}{counted}; intervals and signs from {draws}."


def _show_all(
    model: DagPosterior,
    words: list[str],
    draws: int,
    confidence: float,
    seed: int | None,
    minimum: float | None,
    *,
    as_json: bool,
) -> None:
    """All effects, or those of one column and on it."""
    from dagpost._tools.checks import number

    least = _LEAST if minimum is None else number(minimum, "minimum", least=0.0, most=1.0, allowed="between 0 and 1")
    if words:
        position_of(words[0], model.names_)
    table = model.effects(draws=draws, confidence=confidence, seed=seed)
    if words:
        table = table[(table["cause"] == words[0]) | (table["outcome"] == words[0])]
    if as_json:
        print_json({"confidence": confidence, **given_content_of(model), "effects": table.to_dict("records")})
        return
    print_given(model)
    _print_all(table, least, confidence)


def _print_all(table: pd.DataFrame, least: float, confidence: float) -> None:
    from dagpost.causal.sentences import change_text, range_text

    shown = table[1.0 - table["no_effect"] >= least].sort_values("no_effect", kind="stable")
    percent = f"{100 * confidence:.6g}% interval"
    rows: list[tuple[str, ...]] = [
        ("cause", "set to", "outcome", "mean change", percent, "no effect", "raises", "lowers")
    ]
    for row in shown.to_dict("records"):
        do, level = row["do"], row["outcome_level"]
        what = f"the mean of {row['outcome']}" if _is_missing(level) else f"P({row['outcome']} = {level})"
        how = "one unit more" if _is_missing(do) else f"{_value(do[0])} rather than {_value(do[1])}"
        rows.append(
            (
                printable(row["cause"]),
                printable(how),
                printable(what),
                change_text(row["mean"], not _is_missing(level)),
                range_text((row["lower"], row["upper"]), not _is_missing(level)),
                *(f"{row[name]:.3f}" for name in ("no_effect", "raises", "lowers")),
            )
        )
    print_columns(rows, right=(3, 5, 6, 7))
    left = len(table) - len(shown)
    if left:
        typer.echo(f"({left:,} effect{'' if left == 1 else 's'} with probability below {least} not shown: --minimum 0)")
    typer.echo(
        "Each is an effect only if no common cause is hidden; name cause and outcome to see what else is assumed."
    )


def _is_missing(value: object) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))
