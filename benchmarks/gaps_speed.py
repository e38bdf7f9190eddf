"""What a sweep of a chain over completed tables takes, part by part, and how that grows.

    python -m benchmarks.gaps_speed sweeps [--sweeps 1000] [--threads 2]
    python -m benchmarks.gaps_speed parts

- sweeps: a whole run of two chains, 12 columns of two levels and 1,841 rows with 10% of the cells erased at random.
- parts: the parts of a sweep for other numbers of columns, rows, gaps and levels, one of them changed at a time, and
  for numbers in place of levels. Scores: of all families of the completed table. Sums: exact edges, paths and families.
  Graphs: ten, with the ranking of families for it. Cells: two rounds. "Anew" is `local_scores` of the completed table.

All times are CPU time of this process or thread (a machine with other work to do counts no more of it), in
milliseconds; the least of several tries for parts. At most 5 parents; BDeu with an equivalent sample size of 1, or BGe.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from benchmarks.measuring import RESULTS

from dagpost import BDeu, BGe, DagPosterior, Score, Table, local_scores
from dagpost._tools.progress import NO_PROGRESS
from dagpost.data.conversion import as_table
from dagpost.engines.inline import InlineEngine
from dagpost.mcmc.augmentation import members_of_masks
from dagpost.methods.augmentation import Augmentation
from dagpost.methods.base import Wanted
from dagpost.methods.dds import draw_in_orders
from dagpost.posterior.exact_workspace import ExactWorkspace

Result = dict[str, Any]

SEED = 2034
MAX_PARENTS, GRAPHS, ROUNDS = 5, 10, 2
USUAL = {"columns": 12, "rows": 1841, "gaps": 0.1, "levels": 2}
CASES: list[Result] = [
    *({"columns": columns} for columns in (6, 8, 10, 12, 14, 16)),
    *({"rows": rows} for rows in (500, 5_000, 20_000)),
    *({"gaps": share} for share in (0.01, 0.3, 0.5)),
    *({"levels": levels} for levels in (3, 4)),
    *({"levels": 0, "columns": columns} for columns in (6, 12)),
]


def table_of(columns: int, rows: int, gaps: float, levels: int) -> Table:
    """A chain of columns, each like the one before in most rows; numbers where there are no levels."""
    generator = np.random.default_rng(SEED)
    if levels:
        data = generator.integers(0, levels, (rows, columns))
        for column in range(1, columns):
            data[:, column] = np.where(generator.random(rows) < 0.3, data[:, column], data[:, column - 1])
    else:
        data = generator.normal(size=(rows, columns))
        for column in range(1, columns):
            data[:, column] += 0.7 * data[:, column - 1]
    table = as_table(data)
    erased = generator.random((columns, rows)) < gaps
    nothing: Any = 0 if levels else np.nan
    own = zip(table.columns, erased, strict=True)
    emptied = tuple(np.where(gone, nothing, column).astype(column.dtype) for column, gone in own)
    return replace(table, columns=emptied, gaps=erased)


def run_sweeps(sweeps: int, threads: int) -> Result:
    """A whole run, beside a short one that loads kernels."""
    table = table_of(**USUAL)  # type: ignore[arg-type]
    result: Result = {**USUAL, "sweeps": sweeps, "threads": threads}
    for count in (20, sweeps):
        method = Augmentation(chains=2, burn_in=0, graphs=GRAPHS, rounds=ROUNDS, error=1e-9)
        model = DagPosterior(prior="uniform", score=BDeu(1.0), method=method, samples=count * GRAPHS, threads=threads)
        cpu, wall = time.process_time(), time.perf_counter()
        model.fit(table)
        result |= {"cpu_seconds": time.process_time() - cpu, "wall_seconds": time.perf_counter() - wall}
    return result


def parts_of(columns: int, rows: int, gaps: float, levels: int) -> Result:
    """The parts of a sweep, each with the state that a short chain has come to."""
    table = table_of(columns, rows, gaps, levels)
    score: Score = BDeu(1.0) if levels else BGe().settled(table)
    engine, limit = InlineEngine(), min(MAX_PARENTS, columns - 1)
    generator, cancel = np.random.default_rng(SEED), np.zeros(1, dtype=np.int64)
    rescore, completer = score.rescorer(table, limit, 1), score.completer(table, limit)
    assert completer is not None
    cells = completer.begin(generator)

    def sums_of(modularity: str) -> ExactWorkspace:
        workspace = ExactWorkspace(rescore(cells), limit, engine, NO_PROGRESS)
        workspace.summed(modularity)
        return workspace

    families = np.full((columns, limit), columns, dtype=np.int16)
    for _ in range(10):
        graph = sums_of("structure").draw_layers(1, np.random.SeedSequence(SEED)).parents[-1]
        families = members_of_masks(graph.reshape(columns, -1), limit)
        completer.redraw(cells, families, generator, cancel)
    weights = rescore(cells)
    seed = np.random.SeedSequence(SEED)
    summed, by_order = sums_of("structure"), sums_of("order")

    def sums(modularity: str) -> None:
        ExactWorkspace(weights, limit, engine, NO_PROGRESS).summed(modularity)

    def graphs() -> None:
        # As if for the first time.
        vars(summed).pop("ranked", None)
        summed.draw_layers(GRAPHS, seed)

    def graphs_in_orders() -> None:
        vars(by_order).pop("ranked", None)
        draw_in_orders(by_order, Wanted(table.names, GRAPHS, seed))

    def redraw() -> None:
        for _ in range(ROUNDS):
            completer.redraw(cells, families, generator, cancel)

    completed = table.filled(cells)
    return {
        "columns": columns,
        "rows": rows,
        "gaps": gaps,
        "levels": levels,
        "cells without a value": table.gap_count,
        "anew": milliseconds(lambda: local_scores(completed, score, limit, engine=engine)),
        "scores": milliseconds(lambda: rescore(cells)),
        "sums": milliseconds(lambda: sums("structure")),
        "graphs": milliseconds(graphs),
        "cells": milliseconds(redraw),
        "sums over orders": milliseconds(lambda: sums("order")),
        "graphs in orders": milliseconds(graphs_in_orders),
    }


def milliseconds(part: Callable[[], Any]) -> float:
    """The least CPU time of this thread, of ten tries, each of as many runs as take some milliseconds."""
    part()
    started = time.thread_time()
    part()
    runs = max(1, int(0.005 / max(time.thread_time() - started, 1e-6)))
    least = np.inf
    for _ in range(10):
        started = time.thread_time()
        for _ in range(runs):
            part()
        least = min(least, (time.thread_time() - started) / runs)
    return 1e3 * float(least)


def show_parts(result: Result) -> None:
    """A line of a table."""
    names = ("anew", "scores", "sums", "graphs", "cells", "sums over orders", "graphs in orders")
    sweep = sum(result[name] for name in ("scores", "sums", "graphs", "cells"))
    what = [f"{result[name]:,}" for name in ("columns", "rows")] + [f"{result['gaps']:.0%}", str(result["levels"])]
    print(" | ".join([*what, *(f"{result[name]:.2f}" for name in names), f"{sweep:.2f}"]), flush=True)


def main() -> None:
    """Run what is asked for, print it, and write it to benchmarks/results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    sweeps = commands.add_parser("sweeps")
    sweeps.add_argument("--sweeps", type=int, default=1000)
    sweeps.add_argument("--threads", type=int, default=2)
    commands.add_parser("parts")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.command == "sweeps":
        found = [run_sweeps(given.sweeps, given.threads)]
        print(json.dumps(found[0], indent=1))
    else:
        print("columns | rows | gaps | levels | anew | scores | sums | graphs | cells | by order | in orders | sweep")
        found = []
        for case in CASES:
            found.append(parts_of(**(USUAL | case)))
            show_parts(found[-1])
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"gaps_speed_{given.command}.json").write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
