"""`dagpost info`: what is in a model, a sample or a table, and what computing with it would cost."""

from __future__ import annotations

import datetime
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dagpost._tools.setting_text import readable_edges, readable_setting, readable_tiers
from dagpost._tools.text import duration, printable, printable_lines, shortened
from dagpost.cli.arguments import parse_table
from dagpost.cli.options import (
    BinsOption,
    CountsOption,
    DiscretiseOption,
    InterventionsOption,
    JsonOption,
    MaxParentsOption,
    QuietOption,
    ThreadsOption,
    argument,
    refuse_options_of_tables,
)
from dagpost.cli.output import print_columns, print_json
from dagpost.errors import InputError
from dagpost.methods.choice import target_named

if TYPE_CHECKING:
    from dagpost.data.table import Table
    from dagpost.methods.targets import Target

#: One line of what is shown: a label and what it says.
Line = tuple[str, str]


def info(
    ctx: typer.Context,
    source: Annotated[
        str,
        argument("FILE", "A model, a sample, or a table as for `dagpost fit` (- reads a CSV from standard input)."),
    ],
    counts: CountsOption = None,
    interventions: InterventionsOption = None,
    discretise: DiscretiseOption = None,
    bins: BinsOption = None,
    max_parents: MaxParentsOption = 5,
    threads: ThreadsOption = None,
    quiet: QuietOption = False,  # noqa: ARG001
    as_json: JsonOption = False,
) -> None:
    """Say what is in a model, a sample or a table.

    For a table, also what exact answers would cost. The options on columns, parents and threads are for tables.

    \b
    Example: dagpost info coronary.csv --counts counts
    """
    from dagpost.files.archive import is_archive, kind_of

    if source != "-" and is_archive(source):
        refuse_options_of_tables(ctx, source)
        file, kind = Path(source), kind_of(source)
        about = _about(file, kind)
        if as_json:
            print_json(about)
        else:
            _print(_lines_of_model(about) if kind == "model" else _lines_of_sample(about), about)
        return
    table = parse_table(source, counts=counts, interventions=interventions, discretise=discretise, bins=bins)
    costs = _costs(table, max_parents, threads)
    if as_json:
        print_json({**_about_table(table), "costs": costs})
        return
    typer.echo(printable_lines(repr(table)))
    typer.echo(f"Fingerprint {table.fingerprint()}")
    typer.echo("What exact edges cost, roughly, and what fit would do:")
    print_columns([_cost_row(cost) for cost in costs], indent="  ")


def _about(file: Path, kind: str) -> dict[str, Any]:
    """What a file says about itself, with its size and date."""
    from dagpost.files import archive as storage

    about, arrays = storage.read_archive(file, kind)
    with zipfile.ZipFile(file) as archive:
        written = datetime.datetime(*archive.getinfo("about.json").date_time)
    about["created"] = f"{written:%Y-%m-%d %H:%M}"
    about["file"], about["bytes"] = str(file), file.stat().st_size
    about["arrays"] = {
        name: {"shape": list(array.shape), "kind": str(array.dtype), "bytes": int(array.nbytes)}
        for name, array in sorted(arrays.items())
    }
    return about


def _lines_of_model(about: dict[str, Any]) -> list[Line]:
    settings, (method, reason) = about["settings"], about["method"]
    target = _target(method, settings["modularity"])
    how = "exact" if about["exact"] else "estimated from graphs"
    evidence = "" if about["log_evidence"] is None else f"; log evidence {about['log_evidence']:.4f}"
    observations = "unknown" if about["observations"] is None else f"{about['observations']:,}"
    lines = [
        ("data", f"{len(about['names'])} variables, {observations} observations"),
        ("fingerprint", about["data_fingerprint"]),
        *([("interventions", "in some rows variables were set from outside")] if about.get("interventions") else []),
        ("score", readable_setting(settings["score"])),
        ("prior", readable_setting(settings["prior"])),
        ("modularity", f"{settings['modularity']} ({target_named(settings['modularity']).words})"),
        ("most parents", str(about["max_parents"])),
        *_constraints(settings),
        ("method", f"{readable_setting(method)}: {reason}"),
        ("edges", f"{how} ({target.words}){evidence}"),
        ("computed on", about.get("engine", "not recorded")),
        ("samples", f"{settings['samples']:,} graphs where an answer needs them, {_seed(settings['seed'])}"),
    ]
    if about.get("verdict"):
        lines.append(("verdict", about["verdict"]))
    if about.get("sensitivity"):
        lines.append(("sensitivity", about["sensitivity"]["summary"]))
    kept = [words for key, words in _PARTS.items() if about.get(key) is not None]
    return [*lines, ("kept along", ", ".join(kept) or "nothing")]


def _seed(seed: int | None) -> str:
    return "no fixed seed" if seed is None else f"seed {seed}"


_PARTS = {
    "sample": "its own sample of graphs",
    "statistics": "what was counted for prediction",
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
    return [*lines, ("tiers", readable_tiers(settings["tiers"]))] if settings["tiers"] else lines


def _lines_of_sample(about: dict[str, Any]) -> list[Line]:
    origin = about["provenance"]
    lines = [
        ("graphs", f"{about['arrays']['parents']['shape'][0]:,}"),
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
    for key, words in (("data_fingerprint", "fingerprint"), ("score", "score"), ("prior", "prior")):
        if key in origin:
            lines.append((words, readable_setting(origin[key])))
    return lines


def _print(lines: list[Line], about: dict[str, Any]) -> None:
    from dagpost._tools.memory import readable

    file = f"{about['file']}, {readable(about['bytes'])}"
    head = [
        (f"{about['dagpost']} file", file),
        ("written", f"{about['created']} by dagpost {about['version']} (format {about['format']})"),
    ]
    print_columns([(label, printable(words)) for label, words in [*head, *lines]])
    levels = about.get("levels") or [None] * len(about["names"])
    typer.echo("variables")
    print_columns(
        [
            (printable(name), "" if of is None else f"{len(of)} levels: {printable(shortened([str(v) for v in of]))}")
            for name, of in zip(about["names"], levels, strict=True)
        ],
        indent="  ",
    )


def _about_table(table: Table) -> dict[str, Any]:
    from dagpost._tools.text import readable_level

    columns = [
        {"name": name, "kind": "continuous"}
        if levels is None
        else {"name": name, "kind": "discrete", "levels": [readable_level(level) for level in levels]}
        for name, levels in zip(table.names, table.levels, strict=True)
    ]
    return {
        "rows": table.rows,
        "observations": table.observations,
        "interventions": 0 if table.interventions is None else int((table.interventions != 0).sum()),
        "fingerprint": table.fingerprint(),
        "columns": columns,
    }


def _costs(table: Table, max_parents: int, threads: int | None) -> list[dict[str, Any]]:
    """Time and memory of exact answers under both priors, and what `--method auto` would do instead."""
    from dagpost._tools.memory import available_bytes
    from dagpost.engines import ThreadEngine
    from dagpost.methods.targets import MODULARITIES
    from dagpost.model import DagPosterior
    from dagpost.posterior.plan import cost_of_exact_edges

    costs = []
    for modularity in MODULARITIES:
        model = DagPosterior(modularity=modularity, max_parents=max_parents, threads=threads)  # type: ignore[arg-type]
        plan = model.plan(table)
        exact = cost_of_exact_edges(modularity, len(table.names), max_parents, ThreadEngine(threads))
        costs.append(
            {
                "modularity": modularity,
                "seconds": exact.seconds,
                "bytes": exact.size,
                "fits": exact.size <= available_bytes(),
                "method": plan.method,
                "reason": plan.reason,
                "edges": "exact" if plan.exact else "sampled",
            }
        )
    return costs


def _cost_row(cost: dict[str, Any]) -> tuple[str, ...]:
    from dagpost._tools.memory import readable

    return (
        f"--modularity {cost['modularity']}",
        duration(cost["seconds"]),
        readable(cost["bytes"]) + ("" if cost["fits"] else " (more than is free)"),
        f"edges {cost['edges']}, graphs by {cost['method']}",
    )
