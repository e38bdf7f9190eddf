"""`dagpost info`: what is in a model, a sample or a table, and what computing with it would cost."""

from __future__ import annotations

import zipfile
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dagpost._tools.setting_text import (
    averaged_words,
    given_columns,
    joined_before,
    readable_edges,
    readable_setting,
    readable_tiers,
)
from dagpost._tools.text import printable, shortened
from dagpost.cli.files import may_write, shell_command
from dagpost.cli.info_table import costs_of, look_at
from dagpost.cli.options import MaxParentsOption, RunOptions, argument, option, refuse_options_of_tables
from dagpost.cli.output import print_columns, print_json
from dagpost.cli.recipe import TableOptions
from dagpost.errors import InputError
from dagpost.mcmc.checks import checked_words
from dagpost.methods.choice import target_named

if TYPE_CHECKING:
    from dagpost.methods.targets import Target

#: Variables that are shown one by one.
_MOST_VARIABLES = 64
#: One line of what is shown: a label and what it says.
Line = tuple[str, str]


def info(
    *,
    ctx: typer.Context,
    source: Annotated[
        str,
        argument("FILE", "A model, a sample, or a table as for `dagpost fit` (- reads a CSV from standard input)."),
    ],
    columns: TableOptions,
    recipe: Annotated[
        Path | None, option("FILE", "Write what is done with each column to this file, for `dagpost fit --recipe`.")
    ] = None,
    max_parents: MaxParentsOption = 5,
    run: RunOptions,
) -> None:
    """Say what is in a model, a sample or a table.

    For a table: what each column is and what `dagpost fit` does with it, and what exact answers would cost. The options
    on columns, parents and threads are for tables.

    \b
    Example: dagpost info coronary.csv --counts counts
    """
    from dagpost.files.archive import is_archive, kind_of

    if source != "-" and is_archive(source):
        of_tables = (*(field.name for field in fields(TableOptions)), "recipe", "max_parents")
        refuse_options_of_tables(ctx, source, of_tables)
        file, kind = Path(source), kind_of(source)
        about = _about(file, kind)
        if run.as_json:
            print_json(about)
        else:
            _print(_lines_of_model(about) if kind == "model" else _lines_of_sample(about), about)
        return
    about_table = look_at(source, columns, max_parents=max_parents, threads=run.threads)
    if recipe is not None:
        may_write(recipe, "recipe")
        about_table.recipe.save(recipe)
    table = None if about_table.problem else about_table.table
    costs = [] if table is None else costs_of(table, max_parents, run.threads)
    if run.as_json:
        print_json({**about_table.content(), "costs": costs})
        return
    about_table.show(costs)
    if recipe is not None:
        typer.echo(f"Recipe: {recipe}")
        if not run.quiet:
            typer.echo(f"Next: edit it, then {shell_command('fit', source, '--recipe', recipe)}", err=True)


def _about(file: Path, kind: str) -> dict[str, Any]:
    """What a file says about itself, with its size and date."""
    from dagpost.files.schema import read_checked

    about, arrays = read_checked(file, kind)
    with zipfile.ZipFile(file) as archive:
        year, month, day, hour, minute, _ = archive.getinfo("about.json").date_time
    about["created"] = f"{year}-{month:02}-{day:02} {hour:02}:{minute:02}"
    about["file"], about["bytes"] = str(file), file.stat().st_size
    about["arrays"] = {
        name: {"shape": list(array.shape), "kind": str(array.dtype), "bytes": int(array.nbytes)}
        for name, array in sorted(arrays.items())
    }
    return about


def _lines_of_model(about: dict[str, Any]) -> list[Line]:
    from dagpost.scores import class_of

    settings, (method, reason) = about["settings"], about["method"]
    target = _target(method, settings["modularity"])
    counted = "; ".join(filter(None, (target.words, given_columns(settings.get("exogenous", ())))))
    completes = about.get("gaps") or about.get("latent")
    estimated = f"averaged over {class_of(settings['score']).tables}" if completes else "estimated from graphs"
    how = "exact" if about["exact"] else estimated
    evidence = "" if about["log_evidence"] is None else f"; log evidence {about['log_evidence']:.4f}"
    observations = "unknown" if about["observations"] is None else f"{about['observations']:,}"
    seed = "no fixed seed" if settings["seed"] is None else f"seed {settings['seed']}"
    kept = ", ".join(words for key, words in _PARTS.items() if key in about)
    lines = [
        *_given(about.get("given")),
        ("data", f"{len(about['names'])} variables, {observations} observations"),
        ("fingerprint", about["data_fingerprint"]),
        *_drawn(about),
        ("interventions", "in some rows variables were set from outside" if about["interventions"] else ""),
        *_in_time(about["time"]),
        ("score", readable_setting(settings["score"])),
        *_averaged(about.get("mixture")),
        ("prior", readable_setting(settings["prior"])),
        ("pairs", joined_before(about["joined_before"])),
        ("modularity", f"{settings['modularity']} ({target_named(settings['modularity']).words})"),
        ("most parents", str(about["max_parents"])),
        *_constraints(settings),
        ("method", f"{readable_setting(method)}: {reason}"),
        ("edges", f"{how} ({counted}){evidence}"),
        ("computed on", about["engine"]),
        ("samples", f"{settings['samples']:,} graphs where an answer needs them, {seed}"),
        ("verdict", about["verdict"] or ""),
        ("sensitivity", about.get("sensitivity", {}).get("summary", "")),
        ("kept along", kept or "nothing"),
    ]
    return [(label, words) for label, words in lines if words]


def _drawn(about: dict[str, Any]) -> list[Line]:
    """What chains drew, where they did."""
    lines, rows = [], "the rows of the table are in this file"
    censored, latent = about.get("censored", 0), about.get("latent", 0)
    if gaps := about.get("gaps", 0) - censored:
        cells = "1 cell has" if gaps == 1 else f"{gaps:,} cells have"
        lines.append(("gaps", f"{cells} no value, and chains completed them; {rows}"))
    if censored:
        lines.append(("censored", f"of {censored:,} cell{'' if censored == 1 else 's'} only limits are known"))
    if latent:
        lines.append(("latent numbers", f"{latent:,} that chains drew, within what the cells say of them; {rows}"))
    return lines


def _given(given: dict[str, Any] | None) -> list[Line]:
    """What a model takes for true; the file holds the model without it."""
    if given is None:
        return []
    from dagpost.posterior.condition_words import given_line

    said = {"given": given["statements"]}
    said |= {"given_setting": given["setting"]} if given.get("setting") else {}
    said |= {"given_probability": given} if "exact" in given else {}
    words = given_line(said).removeprefix("Given ").removesuffix(":")
    return [("given", f"{words}; what follows is said of the model without it")]


def _averaged(mixture: dict[str, Any] | None) -> list[Line]:
    """How probable each value is that the model averages over."""
    axes = [] if mixture is None else mixture["settings"]
    said = [(axis["setting"], averaged_words(axis).partition(": ")[2].removesuffix(".")) for axis in axes]
    return [*said, *([("disagreement", mixture["disagreement"])] if mixture and "disagreement" in mixture else [])]


def _in_time(described: dict[str, Any] | None) -> list[Line]:
    """How the table was unrolled in time."""
    from dagpost.data.unrolled import Unrolling

    return [] if described is None else [("time", line) for line in Unrolling.from_json(described).sentences()]


_PARTS = {
    "sample": "its own sample of graphs",
    "statistics": "what was counted for prediction",
    "regressions": "regressions in these graphs, for effects and predictions",
    "rows": "the rows of the table",
}


def _target(method: Any, modularity: str) -> Target:
    """What a model counts; where its method is not known here, what its modularity says."""
    from dagpost._tools.json_settings import from_json
    from dagpost.methods.choice import resolve_method
    from dagpost.methods.registry import METHODS

    try:
        found = resolve_method(from_json(method, METHODS))
    except InputError:
        # A method of a package that is not installed here.
        found = None
    return target_named(modularity) if found is None else found.target


def _constraints(settings: dict[str, Any]) -> list[Line]:
    lines = [(name, readable_edges(settings[name])) for name in ("required", "forbidden") if settings[name]]
    lines += [("tiers", readable_tiers(settings["tiers"]))] if settings["tiers"] else []
    if settings.get("sinks"):
        numbers = shortened(settings["sinks"], _MOST_VARIABLES)
        lines.append(("ruled out", f"by the model: edges from numbers ({numbers}) to levels"))
    exogenous = settings.get("exogenous")
    return [*lines, ("exogenous", shortened(exogenous, _MOST_VARIABLES))] if exogenous else lines


def _lines_of_sample(about: dict[str, Any]) -> list[Line]:
    origin = about["provenance"]
    lines = [
        ("graphs", f"{about['arrays']['weights']['shape'][0]:,}"),
        ("method", readable_setting(origin.get("method", about["method"]))),
        ("speaks of", target_named(about["modularity"]).words),
        ("estimator", about["estimator"]),
        ("seed", str(origin.get("seed"))),
        ("computed on", origin.get("engine", "not recorded")),
    ]
    if about["guarantee"] is not None:
        precision, confidence = about["guarantee"]
        lines.append(("guarantee", f"within {precision:g} of the truth with confidence {confidence:g}"))
    if about.get("chains") is not None:
        lines.append(("chains", f"{len(about['chains']['lengths'])}, which --resume continues"))
        lines.append(("checked", checked_words(about["chains"].get("checks"))))
    lines += _in_time(origin.get("time"))
    for key, words in (("data_fingerprint", "fingerprint"), ("score", "score"), ("prior", "prior")):
        if key in origin:
            lines.append((words, readable_setting(origin[key])))
    if origin.get("given"):
        from dagpost.posterior.condition_words import given_line

        lines.append(("given", given_line(origin).removeprefix("Given ").removesuffix(":")))
    given = given_columns(origin.get("exogenous", ()))
    return [*lines, ("conditional", given)] if given else lines


def _steps(about: dict[str, Any]) -> list[str]:
    """What was done with each column, as lines of text."""
    from dagpost.files.archive import complete
    from dagpost.files.kept_recipe import recipe_in

    with complete(about["file"], "model", "Fit the model again."):
        recipe = recipe_in(about)
        return [] if recipe is None else recipe.lines()


def _print(lines: list[Line], about: dict[str, Any]) -> None:
    from dagpost._tools.memory import readable

    steps = _steps(about) if about.get("recipe") else []
    file = f"{about['file']}, {readable(about['bytes'])}"
    head = [
        (f"{about['dagpost']} file", file),
        ("written", f"{about['created']} by dagpost {about['version']} (format {about['format']})"),
    ]
    print_columns([(label, printable(words)) for label, words in [*head, *lines]])
    if steps:
        typer.echo("columns")
        for line in steps:
            typer.echo(f"  {line}")
        return
    levels = about.get("levels", [None] * len(about["names"]))
    typer.echo("variables")
    variables = [
        (printable(name), "" if of is None else f"{len(of)} levels: {printable(shortened([str(v) for v in of]))}")
        for name, of in zip(about["names"], levels, strict=True)
    ]
    print_columns(variables[:_MOST_VARIABLES], indent="  ")
    if len(variables) > _MOST_VARIABLES:
        typer.echo(f"  and {len(variables) - _MOST_VARIABLES:,} more (--json lists all)")
