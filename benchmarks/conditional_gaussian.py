"""The conditional Gaussian score: its time beside that of the scores of one kind of columns, and two real tables.

    python -m benchmarks.conditional_gaussian speed [--parents 5]
    python -m benchmarks.conditional_gaussian real FOLDER

- speed: CPU milliseconds of scoring all families on one thread, half of the columns cut into three levels, and ratios
  to those of BDeu with all columns cut and of BGe with none. Then of 200 families of each column of the same table with
  gaps in a tenth of the cells, scored again with other cells.
- real: the posterior of clgaussian.csv (5,000 rows, 8 columns, simulated: bnlearn's documentation has the network) and
  of ksl.csv (1,083 rows, 9 columns), both in FOLDER: CPU time, the best graph, and the edges.

The least of several tries.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from dagpost import BDeu, BGe, ConditionalGaussian, DagPosterior, Score, Table, local_scores
from dagpost.engines import ThreadEngine
from dagpost.families.masks import members_of

SEED = 1501
#: [A][B][C][H][D|A:H][F|B:C][E|B:D][G|A:D:E:F] in bnlearn's notation.
CLGAUSSIAN = {"D": "AH", "F": "BC", "E": "BD", "G": "ADEF"}
#: Edges that are shown.
_LIKELY = 0.05


def table_of(kinds: list[int], rows: int) -> Table:
    """Columns that share a cause, each cut into so many levels of equal size, or not for 0."""
    generator = np.random.default_rng(SEED)
    cause = generator.normal(size=rows)
    columns = []
    for levels in kinds:
        own = 0.6 * cause + generator.normal(size=rows)
        cuts = np.quantile(own, np.arange(1, levels) / levels) if levels else None
        columns.append(own if cuts is None else np.searchsorted(cuts, own).astype(np.uint8))
    names = tuple(f"V{place}" for place in range(len(kinds)))
    return Table(names, tuple(columns), tuple(tuple(range(levels)) if levels else None for levels in kinds))


def least(run: Callable[[], object], tries: int = 5) -> float:
    """CPU milliseconds of the quickest try, after one that loads kernels."""
    run()
    found = []
    for _ in range(tries):
        before = time.process_time()
        run()
        found.append(1e3 * (time.process_time() - before))
    return min(found)


def speed(max_parents: int) -> None:
    """Scores of all families, and of listed families again."""
    titles = ("rows", 6), ("columns", 8), ("mixed", 9), ("BDeu", 9), ("BGe", 9), ("to BDeu", 8), ("to BGe", 7)
    print(" ".join(f"{title:>{width}}" for title, width in (*titles, ("listed again", 13))))
    one = ThreadEngine(1)
    for rows in (1_000, 5_000):
        for columns in (8, 12, 16, 20):
            kinds = {"mixed": [3, 0] * (columns // 2), "levels": [3] * columns, "numbers": [0] * columns}
            scores: dict[str, Score] = {"mixed": ConditionalGaussian(), "levels": BDeu(), "numbers": BGe()}
            tables = {name: table_of(own, rows) for name, own in kinds.items()}

            def score_all(name: str, tables: dict[str, Table] = tables, scores: dict[str, Score] = scores) -> object:
                return local_scores(tables[name], scores[name], max_parents, engine=one)

            mixed, levels, numbers = (least(lambda name=name: score_all(name)) for name in kinds)  # type: ignore[misc]
            again = _listed_again(tables["mixed"], max_parents)
            print(
                f"{rows:6,} {columns:8} {mixed:9.1f} {levels:9.1f} {numbers:9.1f} {mixed / levels:8.2f} "
                f"{mixed / numbers:7.2f} {again:13.1f}"
            )


def _listed_again(table: Table, max_parents: int) -> float:
    """Two hundred families of each column, of up to `max_parents` parents, with other cells in the gaps."""
    generator = np.random.default_rng(SEED)
    gaps = generator.random((len(table.names), table.rows)) < 0.1
    numbers = np.array([levels is None for levels in table.levels])
    nodes, lists, start = len(table.names), [], [0]
    for node in range(nodes):
        allowed = [other for other in range(nodes) if other != node and (numbers[node] or not numbers[other])]
        sets = {
            tuple(sorted(generator.permutation(allowed)[:size].tolist()))
            for size in generator.integers(0, min(max_parents, len(allowed)) + 1, 200)
        }
        lists += [[*own, *[nodes] * (max_parents - len(own))] for own in sorted(sets)]
        start.append(len(lists))
    score = ConditionalGaussian(prior_mean=0.0, prior_scale=1.0)
    scorer = score.list_scorer(replace(table, gaps=gaps), max_parents, 1)
    own = scorer.on(np.array(start), np.array(lists, dtype=np.int16))
    cells = np.where(numbers[np.nonzero(gaps)[0]], generator.normal(size=int(gaps.sum())), 1.0)
    places, go_on = np.arange(len(lists)), np.zeros(1, dtype=np.int64)
    return least(lambda: own(cells, places, go_on))


def real(folder: Path) -> None:
    """Two tables that others have looked at."""
    for name in ("clgaussian", "ksl"):
        path = folder / f"{name}.csv"
        found = []

        def fit(path: Path = path, found: list[DagPosterior] = found) -> None:
            found[:] = [DagPosterior(prior="uniform", score="conditional-gaussian", seed=1).fit(path)]

        milliseconds = least(fit, 3)
        model = found[0]
        edges = model.edge_probabilities_
        print(f"{name}: {milliseconds:.0f} ms of CPU time, log evidence {model.log_evidence_:.2f}")
        best, names = model.best(1), list(edges.columns)
        print(f"  best graph, with {best.covered:.3f} of the posterior: {_in_words(best.parents[0].tolist(), names)}")
        likely = [(edges.loc[tail, head], tail, head) for tail in names for head in names if tail != head]
        for share, tail, head in sorted(likely, reverse=True):
            if share >= _LIKELY:
                known = "" if name != "clgaussian" else (" true" if tail in CLGAUSSIAN.get(head, "") else " not true")
                print(f"  {tail} -> {head} {share:.3f}{known}")


def _in_words(masks: list[int], names: list[str]) -> str:
    """A graph in bnlearn's notation."""
    lists = [":".join(names[parent] for parent in members_of(mask)) for mask in masks]
    return "".join(f"[{name}|{own}]" if own else f"[{name}]" for name, own in zip(names, lists, strict=True))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("speed").add_argument("--parents", type=int, default=5)
    commands.add_parser("real").add_argument("folder", type=Path)
    chosen = parser.parse_args()
    if chosen.command == "speed":
        speed(chosen.parents)
    else:
        real(chosen.folder)
