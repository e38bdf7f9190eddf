"""Do probabilities hold in tables whose truth is known, tables as people have them? What decides our defaults.

    python -m benchmarks.worlds --world levels-* --prior uniform edge:0.1 --tables 20 --rows 300 1000 --seeds reported
    python -m benchmarks.worlds unrelated --score auto bdeu --tables 100 --real FOLDER
    python -m benchmarks.worlds prior --prior edge:0.2 --tables 400
    python -m benchmarks.worlds --quick

`structure` (unless another is named): tables of the worlds in world_tables.py, fitted with every score and prior that
can take them; world_measures.py says what is counted. `unrelated`: tables without any relation, simulated, and shuffled
from real ones. `prior`: graphs drawn from the prior itself (both in world_checks.py).

Every setting is measured on the same tables. `--seeds choosing` are for whoever tries scores, priors and constants;
`--seeds reported` are for what is then published, and for nothing else. The output says which were used; `--json` keeps
the figures, the answer and the truth of every table (committees.py reads them).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.measuring import RESULTS, load, machine
from benchmarks.world_checks import (
    CLINIC,
    prior_check,
    prior_jobs,
    show_prior,
    show_unrelated,
    unrelated,
    unrelated_jobs,
)
from benchmarks.world_fits import Settings, compare, each
from benchmarks.world_measures import (
    BRIEF_HEAD,
    HEAD,
    TENTHS,
    Figures,
    brief_cells,
    calibration_cells,
    cells,
    table_text,
    total,
)
from benchmarks.world_tables import FEWEST, MOST, PURPOSES, SEED, WORLDS, draw_case

from dagpost import DagpostError

ROWS = (150, 1_000, 5_000, 30_000)
#: What `--quick` leaves of everything.
QUICK: dict[str, Any] = {"world": ["levels-sparse", "mixed-dense"], "rows": [150], "tables": 2, "shuffles": 1}


class Job(NamedTuple):
    """One table under one setting."""

    purpose: str
    world: str
    rows: int
    number: int
    seed: int
    settings: Settings
    columns: tuple[int, int]


def structure(job: Job) -> dict[str, Any]:
    """Draw the table, fit it, compare with its truth."""
    case = draw_case(job.purpose, job.world, job.rows, job.number, job.seed, job.columns)
    about, network = {"world": job.world, "rows": job.rows, "number": job.number}, case.network
    exogenous = [network.names[node] for node in network.exogenous]
    return compare(about, case.frame, network.truth(), job.settings, exogenous)


def show_structure(found: Iterable[Mapping[str, Any]], *, brief: bool = False) -> str:
    """Every world and number of rows, all worlds of a setting together, and calibration by tenths."""
    groups: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for own in found:
        setting, rows = (own["score"], own["prior"]), f"{own['rows']:,}"
        for key in ((own["world"], rows), ("all", rows), ("all", "all")):
            groups.setdefault((*key, *setting), []).append(own)
    totals = {key: total(tables) for key, tables in groups.items()}
    settings = {key[2:]: own for key, own in totals.items() if key[:2] == ("all", "all")}
    parts = []
    if not brief:
        lines = [[*key, *cells(own)] for key, own in totals.items() if key[0] != "all"]
        lines += [[*key, *cells(own)] for key, own in totals.items() if key[0] == "all"]
        parts.append(table_text(("world", "rows", "score", "prior", *HEAD), lines))
    if len(settings) > 1 or brief:
        parts.append(beside(totals, list(settings)))
    tenths = [[f"{k / TENTHS:.1f} to {(k + 1) / TENTHS:.1f}"] for k in range(TENTHS)]
    for own in settings.values():
        for line, cell in zip(tenths, calibration_cells(own), strict=True):
            line.append(cell)
    head = "probability", *(f"{score}, {prior}" for score, prior in settings)
    parts += ["Joined, by tenths of the probability: mean said → share true (pairs):", table_text(head, tenths)]
    return "\n\n".join(parts)


def beside(totals: Mapping[tuple[str, ...], Figures], settings: list[tuple[str, ...]]) -> str:
    """The settings beside each other, in worlds that all of them take."""
    in_order = {world: number for number, world in enumerate((*WORLDS, "all"))}

    def order(place: tuple[str, ...]) -> tuple[Any, ...]:
        world, rows = place
        return in_order[world], rows == "all", len(rows), rows

    places = sorted({key[:2] for key in totals}, key=order)
    rows = [
        [*place, *brief_cells(totals[*place, *setting] for setting in settings)]
        for place in places
        if all((*place, *setting) in totals for setting in settings)
    ]
    words = " / ".join(f"{score}, {prior}" for score, prior in settings)
    return f"Beside each other, {words}:\n\n{table_text(('world', 'rows', *BRIEF_HEAD), rows)}"


def chosen_worlds(patterns: list[str]) -> list[str]:
    """The worlds that any of the patterns names."""
    unknown = [pattern for pattern in patterns if not any(fnmatchcase(name, pattern) for name in WORLDS)]
    if unknown:
        sys.exit(f"No world is called {', '.join(unknown)}; there are {', '.join(WORLDS)}.")
    return [name for name in WORLDS if any(fnmatchcase(name, pattern) for pattern in patterns)]


def work(options: argparse.Namespace) -> tuple[Callable[[Any], dict[str, Any]], list[Any], Callable[..., str]]:
    """What does a job, the jobs, and what shows their results."""
    settings = [
        Settings(score, prior, options.bins, options.max_parents, options.samples)
        for score, prior in product(options.score, options.prior)
    ]
    try:
        for own in settings:
            own.check()
    except DagpostError as error:
        sys.exit(str(error))
    key = options.seeds, options.seed
    if options.what == "unrelated":
        return unrelated, unrelated_jobs(*key, options.tables, options.real, options.shuffles, settings), show_unrelated
    if options.what == "prior":
        return prior_check, prior_jobs(*key, options.tables, settings), show_prior
    jobs = [
        Job(options.seeds, world, rows, number, options.seed, own, tuple(options.columns))
        for world, rows, own, number in product(
            chosen_worlds(options.world), options.rows, settings, range(options.tables)
        )
    ]
    return structure, jobs, show_structure


def refusals(found: Iterable[Mapping[str, Any]]) -> Iterable[str]:
    """Which settings do not take how many tables, and why not in the first case."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for own in found:
        groups.setdefault((own["world"], own["score"], own["prior"]), []).append(own["refused"])
    for (world, score, prior), words in groups.items():
        yield f"{world}, {score}, {prior}: {len(words)} tables are not taken. {words[0]}"


def parser_of_options() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.worlds", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("what", nargs="?", choices=["structure", "unrelated", "prior"], default="structure")
    parser.add_argument("--world", nargs="+", default=["*"], metavar="NAME", help=f"{', '.join(WORLDS)}; * is any text")
    parser.add_argument("--score", nargs="+", help="as on dagpost's command line; auto, or of prior mode bdeu")
    parser.add_argument("--prior", nargs="+", default=["uniform"], help="as on dagpost's command line")
    parser.add_argument("--rows", nargs="+", type=int, default=[*ROWS])
    parser.add_argument("--tables", type=int, default=20, help="of each world and number of rows, or in all")
    parser.add_argument("--seeds", choices=[*PURPOSES], default="choosing", help="what the tables are for")
    parser.add_argument("--seed", type=int, default=SEED, help=f"another family of tables; {SEED}")
    parser.add_argument("--bins", type=int, help="how many levels numbers are cut into where a score needs levels")
    parser.add_argument("--columns", nargs=2, type=int, default=[FEWEST, MOST], metavar=("FEWEST", "MOST"))
    parser.add_argument("--max-parents", type=int, default=5)
    parser.add_argument("--samples", type=int, default=4_000, help="draws that directions are worked out from")
    parser.add_argument(
        "--real", type=Path, default=CLINIC, metavar="FOLDER", help="CSV files whose columns are shuffled"
    )
    parser.add_argument("--shuffles", type=int, default=5, help="of each of these files")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="the smallest setting, seconds")
    parser.add_argument(
        "--json", nargs="?", type=Path, const=RESULTS / "worlds.json", metavar="FILE",
        help="keep every table; in benchmarks/results/worlds.json if no file is named",
    )  # fmt: skip
    return parser


def main() -> None:
    """Command line."""
    parser = parser_of_options()
    options = parser.parse_args()
    options.score = options.score or ["bdeu" if options.what == "prior" else "auto"]
    if options.quick:
        parser.set_defaults(**QUICK)
        options = parser.parse_args()
        options.score = options.score or ["bdeu" if options.what == "prior" else "auto"]
    description = machine()
    do, jobs, show = work(options)
    found = list(each(do, jobs, options.processes))
    taken = [own for own in found if "refused" not in own]
    asked = {name: value for name, value in vars(options).items() if name != "json"}
    print(f"{options.what}: {len(taken)} fits; seeds for {'choosing' if options.seeds == 'choosing' else 'reporting'}")
    print(f"(--seeds {options.seeds} --seed {options.seed})\n")
    print(show(taken) if taken else "No table was taken.")
    print(*refusals(own for own in found if "refused" in own), sep="\n")
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        written = {"machine": description | {"load_after": load()}, "options": asked, "tables": found}
        options.json.write_text(json.dumps(written, default=str) + "\n")
        print(f"Written to {options.json}")


if __name__ == "__main__":
    main()
