"""Do 95% intervals of effects hold the truth, in tables whose mechanisms are known? What decides local models.

    python -m benchmarks.world_effects --estimator prototype bge conditional-gaussian --known order --rows 150 1000
    python -m benchmarks.world_effects --estimator prototype:products=0 --known graph --seeds reported --json

In every table of some worlds (world_tables.py) effects of do(cause = a) rather than do(cause = b) are asked: on the
mean of a number, or the probability of a level. a and b are the quartiles of a number, or two levels. The truth is
simulated by the network that made the table. Asked are some pairs with a directed path from cause to outcome, kinds
that are rare first, and some without one (true zeros).

Estimators: `prototype` (local_effects.py, with settings), or a score of dagpost, which `DagPosterior.effect` answers
by. `--known graph`: the true parents; `order`: every graph that agrees with a true order; `nothing`: every graph.
Graphs of the prototype are drawn from the additive score.

Counted, by the kinds of cause and outcome and by rows: how many intervals hold the truth (effects with a path); the
median of |error| / |truth| and of |error| / deviation of the outcome, the error being that of the middle of the
interval; the intervals' median width in these deviations; and of true zeros how many intervals leave out zero.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from benchmarks.local_effects import prototype
from benchmarks.measuring import RESULTS, machine
from benchmarks.world_columns import Levels
from benchmarks.world_fits import each
from benchmarks.world_measures import share, table_text
from benchmarks.world_networks import KnownNetwork, ancestors, stream
from benchmarks.world_tables import PURPOSES, SEED, WORLDS, Case, draw_case

from dagpost import DagPosterior, DagpostError
from dagpost.cli.arguments import parse_score

ROWS = (150, 1_000, 5_000, 30_000)
#: Worlds without hidden columns in which columns act as they are shown.
USUAL = tuple(
    name
    for name, recipe in WORLDS.items()
    if not recipe.hidden and not recipe.cut and recipe.density != 0.0 and recipe.driver == "none"
)
#: Rows by which a truth is simulated: this many times those of the table, within bounds.
TIMES, FEWEST, MOST = 20, 50_000, 400_000
QUARTILES = (0.75, 0.25)
#: With few draws intervals are ragged, with many answers are slow.
DRAWS = 1_000


class Asked(NamedTuple):
    """An effect: `values` of the cause, `level` of an outcome of levels, `path` from cause to outcome or none."""

    cause: str
    outcome: str
    values: tuple[Any, Any]
    level: str | None
    kinds: tuple[str, str]
    path: bool
    truth: float
    deviation: float


class Answer(NamedTuple):
    """What an estimator says of an effect."""

    lower: float
    upper: float
    middle: float


Estimator = Callable[[Case, Sequence[Asked]], Sequence[Answer]]


def kind_of(network: KnownNetwork, node: int) -> str:
    """Number, binary, ordered or nominal."""
    column = network.columns[node]
    if not isinstance(column, Levels):
        return "number"
    return "binary" if len(column.labels) == 2 else "ordered" if column.ordered else "nominal"


def asked_of(case: Case, pairs: int, zeros: int) -> list[Asked]:
    """Some effects of a table, with their truth."""
    network, rng = case.network, stream(case.seed, 2)
    above, nodes = ancestors(network.edges), len(network.columns)
    all_pairs = [(x, y) for x in range(nodes) for y in range(nodes) if x != y]
    all_pairs = [all_pairs[place] for place in rng.permutation(len(all_pairs))]
    chosen: list[tuple[int, int]] = []
    kinds: dict[tuple[str, str], int] = {}
    possible = [pair for pair in all_pairs if above[pair]]
    while possible and len(chosen) < pairs:
        own = min(possible, key=lambda pair: kinds.get(_kinds(network, pair), 0))
        kinds[_kinds(network, own)] = kinds.get(_kinds(network, own), 0) + 1
        possible.remove(own)
        chosen.append(own)
    chosen += [pair for pair in all_pairs if not above[pair]][:zeros]
    found = (_asked(case, x, y, bool(above[x, y]), stream(case.seed, 3, x, y)) for x, y in chosen)
    return [own for own in found if own is not None]


def _kinds(network: KnownNetwork, pair: tuple[int, int]) -> tuple[str, str]:
    return kind_of(network, pair[0]), kind_of(network, pair[1])


def _asked(case: Case, x: int, y: int, path: bool, rng: np.random.Generator) -> Asked | None:
    """None: cause or outcome is the same in nearly all rows."""
    network, names = case.network, case.network.names
    cause, outcome = case.frame[names[x]], case.frame[names[y]]
    if isinstance(network.columns[x], Levels):
        levels = [str(own) for own, count in cause.value_counts().items() if count > 1]
        values: tuple[Any, ...] = tuple(rng.permutation(levels)[:2].tolist())
    else:
        values = tuple(float(own) for own in np.quantile(cause, QUARTILES, method="inverted_cdf"))
    level = None
    if isinstance(network.columns[y], Levels):
        level = str(rng.choice([str(own) for own, count in outcome.value_counts().items() if count > 1]))
        deviation = float(np.std(outcome == level))
    else:
        deviation = float(np.std(outcome))
    if len(set(values)) < 2 or deviation == 0.0:
        return None
    pair = values[0], values[1]
    truth = _truth(case, names[x], y, pair, level) if path else 0.0
    return Asked(names[x], names[y], pair, level, _kinds(network, (x, y)), path, truth, deviation)


def _truth(case: Case, cause: str, outcome: int, values: tuple[Any, Any], level: str | None) -> float:
    rows = min(max(TIMES * len(case.frame), FEWEST), MOST)
    seed = np.random.SeedSequence(case.seed.entropy, spawn_key=(*case.seed.spawn_key, 4))
    sides = []
    for value in values:
        drawn = case.network.simulate(rows, seed, {cause: value})[outcome]
        column = case.network.columns[outcome]
        sides.append(
            float((drawn == column.labels.index(str(level))).mean() if isinstance(column, Levels) else drawn.mean())
        )
    return sides[0] - sides[1]


def rules_of(case: Case, known: str) -> dict[str, Any]:
    """What is told of the graph: a true order as tiers of one column each, its edges and no others, or nothing."""
    names = case.network.names
    if known == "order":
        return {"tiers": [[names[node]] for node in case.network.order]}
    if known == "nothing":
        return {}
    edges = [(names[parent], names[node]) for node, own in enumerate(case.network.parents) for parent in own]
    others = [(x, y) for x in names for y in names if x != y and (x, y) not in edges]
    most = max(len(own) for own in case.network.parents)
    return {"required": edges, "forbidden": others, "max_parents": max(most, 5)}


def fitted(case: Case, score: str, known: str) -> DagPosterior:
    """A posterior over graphs."""
    return DagPosterior(
        parse_score(score, None), **rules_of(case, known), samples=DRAWS, threads=1, seed=1, progress=False
    ).fit(case.frame)


def by_score(case: Case, asked: Sequence[Asked], score: str, known: str) -> list[Answer]:
    """What `DagPosterior.effect` says."""
    model, found = fitted(case, score, known), []
    for own in asked:
        ask = partial(model.effect, own.cause, own.outcome, do=own.values, draws=DRAWS, seed=1)
        effect = ask(outcome_level=own.level)
        if own.level is None and effect.outcome_level is not None:
            # Few whole numbers are read as levels: their mean is a sum over these, with the same draws.
            levels = model.fitted_.data.levels[model.fitted_.names.index(own.outcome)] or ()
            draws = sum(float(level) * ask(outcome_level=level).samples for level in levels)
            found.append(Answer(*np.quantile(draws, [0.025, 0.975, 0.5]).tolist()))
        else:
            found.append(Answer(*effect.interval(0.95), effect.median))
    return found


def by_prototype(case: Case, asked: Sequence[Asked], settings: str, known: str) -> list[Answer]:
    """What the prototype says; graphs come from the additive score."""
    names = list(case.frame.columns)
    if known == "graph":
        graphs = np.array([[sum(1 << own for own in parents) for parents in case.network.parents]], dtype=np.uint64)
        weights = np.ones(1)
    else:
        sample = fitted(case, "additive", known).sample(60, seed=1)
        graphs, weights = sample.parents, np.full(len(sample.parents), 1.0 / len(sample.parents))
        names = list(sample.names)
    answer = prototype(case.frame, names, graphs, weights, settings)
    rng = stream(case.seed, 5)
    return [
        Answer(*np.quantile(answer(own.cause, own.outcome, own.values, own.level, rng), [0.025, 0.975, 0.5]))
        for own in asked
    ]


def estimator_named(name: str, known: str) -> Estimator:
    """`prototype`, `prototype:setting=value,...`, or a score."""
    if name.partition(":")[0] == "prototype":
        return partial(by_prototype, settings=name.partition(":")[2], known=known)
    return partial(by_score, score=name, known=known)


class Job(NamedTuple):
    """One table, and all estimators."""

    purpose: str
    world: str
    rows: int
    number: int
    seed: int
    estimators: tuple[tuple[str, str], ...]
    pairs: int
    zeros: int
    folder: Path


def work(job: Job) -> dict[str, Any]:
    """The answers of all estimators to the effects of one table, beside the truth."""
    case = draw_case(job.purpose, job.world, job.rows, job.number, job.seed)
    asked = _kept(job, case)
    about = {"world": job.world, "rows": job.rows, "number": job.number}
    found = []
    for name, known in job.estimators:
        start = time.process_time()
        with warnings.catch_warnings():
            # What a model cannot say, levels that do not occur.
            warnings.simplefilter("ignore")
            try:
                answers = estimator_named(name, known)(case, asked)
            except DagpostError as error:
                found.append({**about, "estimator": name, "known": known, "refused": str(error)})
                continue
        seconds = (time.process_time() - start) / max(len(asked), 1)
        found += [
            {**about, "estimator": name, "known": known, **own._asdict(), **answer._asdict(), "cpu_seconds": seconds}
            for own, answer in zip(asked, answers, strict=True)
        ]
    return {"effects": found}


def _kept(job: Job, case: Case) -> list[Asked]:
    """The effects of a table; simulating truths takes as long as estimating, so they are kept between runs."""
    key = "-".join(map(str, (job.purpose, job.world, job.rows, job.number, job.seed, job.pairs, job.zeros)))
    path = job.folder / f"{key}.json"
    if path.exists():
        kept = [Asked(*own) for own in json.loads(path.read_text())]
        return [own._replace(values=(own.values[0], own.values[1]), kinds=(own.kinds[0], own.kinds[1])) for own in kept]
    asked = asked_of(case, job.pairs, job.zeros)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(asked))
    return asked


def figures(found: Sequence[Mapping[str, Any]]) -> list[str]:
    """The cells of one line."""
    there, zeros = [own for own in found if own["path"] and own["truth"]], [own for own in found if not own["path"]]
    held = sum(own["lower"] <= own["truth"] <= own["upper"] for own in there)
    claimed = sum(own["lower"] > 0.0 or own["upper"] < 0.0 for own in zeros)
    error = np.array([abs(own["middle"] - own["truth"]) for own in there])
    truth, deviation = (np.array([abs(own[name]) for own in there]) for name in ("truth", "deviation"))
    width = np.array([own["upper"] - own["lower"] for own in there])
    with np.errstate(divide="ignore", invalid="ignore"):
        medians = [
            float(np.median(own)) if len(own) else float("nan")
            for own in (error / truth, error / deviation, width / deviation)
        ]
    seconds = float(np.mean([own["cpu_seconds"] for own in found]))
    return [
        str(len(there)), share(held, len(there)), *(f"{own:.3f}" for own in medians),
        f"{share(claimed, len(zeros))} of {len(zeros)}", f"{seconds:.2f}",
    ]  # fmt: skip


HEAD = "effects", "held", "error / truth", "error / sd", "width / sd", "zeros claimed", "CPU s"


def coarse(kind: str) -> str:
    """Number or levels."""
    return "number" if kind == "number" else "levels"


def show(found: Iterable[Mapping[str, Any]], by: Sequence[str]) -> str:
    """A line for each estimator and cell."""
    groups: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for own in found:
        cell = {
            "rows": f"{own['rows']:,}",
            "world": own["world"],
            "kinds": " → ".join(own["kinds"]),
            "cell": " → ".join(map(coarse, own["kinds"])),
        }
        key = tuple(cell[name] for name in by)
        groups.setdefault((*key, own["estimator"], own["known"]), []).append(own)
    in_order = sorted(groups, key=lambda key: [(len(part), part) if part[0].isdigit() else (0, part) for part in key])
    return table_text((*by, "estimator", "known", *HEAD), [[*key, *figures(groups[key])] for key in in_order])


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.world_effects", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--world", nargs="+", default=["*"], metavar="NAME", help=", ".join(USUAL))
    parser.add_argument("--estimator", nargs="+", default=["prototype"])
    parser.add_argument("--known", nargs="+", choices=["graph", "order", "nothing"], default=["graph"])
    parser.add_argument("--rows", nargs="+", type=int, default=[*ROWS])
    parser.add_argument("--tables", type=int, default=4, help="of each world and number of rows")
    parser.add_argument("--first", type=int, default=0, help="the number of the first of them")
    parser.add_argument("--pairs", type=int, default=6, help="effects of a table that are not zero, at most")
    parser.add_argument("--zeros", type=int, default=2, help="effects of a table that are zero, at most")
    parser.add_argument("--by", nargs="+", default=["cell,rows"], help="tables, each by world, rows, cell, kinds")
    parser.add_argument("--seeds", choices=[*PURPOSES], default="choosing", help="what the tables are for")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=np.inf, help="no further table after this time")
    parser.add_argument("--truths", type=Path, default=RESULTS / "world-effects-truths", metavar="FOLDER")
    parser.add_argument("--json", nargs="?", type=Path, const=RESULTS / "world-effects.json", metavar="FILE")
    options = parser.parse_args()
    worlds = [name for name in USUAL if any(fnmatchcase(name, pattern) for pattern in options.world)]
    estimators = tuple((name, known) for name in options.estimator for known in options.known)
    jobs = [
        Job(options.seeds, world, rows, number, options.seed, estimators, options.pairs, options.zeros, options.truths)
        for number in range(options.first, options.first + options.tables) for rows in options.rows for world in worlds
    ]  # fmt: skip
    description = machine()
    start, tables = time.monotonic(), 0
    found: list[dict[str, Any]] = []
    for table in each(work, jobs, options.processes):
        found += table["effects"]
        tables += 1
        if time.monotonic() - start > options.seconds:
            break
    taken = [own for own in found if "refused" not in own]
    print(f"{tables} of {len(jobs)} tables; --seeds {options.seeds} --seed {options.seed}\n")
    for by in options.by:
        print(show(taken, by.split(",")), end="\n\n")
    refused: dict[tuple[str, str], int] = {}
    for own in found:
        if "refused" in own:
            key = own["estimator"], own["known"]
            refused[key] = refused.get(key, 0) + 1
    for (name, known), count in refused.items():
        print(f"{name}, {known}: {count} tables are not taken")
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        asked = {name: value for name, value in vars(options).items() if name != "json"}
        options.json.write_text(json.dumps({"machine": description, "options": asked, "effects": found}, default=str))
        print(f"Written to {options.json}")


if __name__ == "__main__":
    main()
