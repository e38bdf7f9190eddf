"""An engine that sums over the cells of every set in its own way gives the scores of the host."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from dagpost._tools.arrays import Floats
from dagpost.data import as_table
from dagpost.engines import ThreadEngine
from dagpost.scores import BIC, K2, BDe, BDeu, local_scores
from dagpost.scores.cells import CellFunction, log_rising
from dagpost.scores.rows import Rows


class CountingEngine(ThreadEngine):
    """Counts every set by itself, in plain NumPy: the twin of engines/cuda/kernels/scores.cu."""

    def sum_cells(self, rows: Rows, cells: CellFunction, max_size: int) -> Floats:
        nodes = len(rows.order)
        by_node = np.argsort(rows.order)
        sets = [chosen for size in range(max_size + 1) for chosen in sorted_sets(nodes, size)]
        totals = np.zeros((1 + len(cells.penalties), len(sets)))
        for number, chosen in enumerate(sets):
            index, cell_count = np.zeros(len(rows.weights), dtype=np.int64), 1
            for node in chosen:
                arity = int(rows.arities[by_node[node]])
                index = index * arity + rows.codes[by_node[node]]
                cell_count *= arity
            counts = np.bincount(index, weights=rows.weights, minlength=cell_count)
            totals[0, number] = self._total(counts, cells, 0, cell_count)
            for variant in range(len(cells.penalties)):
                own = variant + 1 if len(cells.products) == 0 and len(cells.tables) > 1 else 0
                value = self._total(counts, cells, own, cell_count) + cells.penalties[variant] * cell_count
                totals[variant + 1, number] = value
        return totals

    @staticmethod
    def _total(counts: Floats, cells: CellFunction, row: int, cell_count: int) -> float:
        occupied = counts[counts > 0]
        if cells.entropy:
            return float((occupied * np.log(occupied)).sum())
        parameter = cells.strength / cell_count if len(cells.products) else float(cells.parameters[row])
        uncompiled: Any = log_rising
        return sum((float(uncompiled.py_func(parameter, count)) for count in occupied), start=0.0)


def sorted_sets(nodes: int, size: int) -> list[tuple[int, ...]]:
    """The sets of a size in their numbering: by their masks."""
    return sorted(combinations(range(nodes), size), key=lambda chosen: sum(1 << node for node in chosen))


@pytest.mark.parametrize("score", [BDeu(2.0), BDe(0.5), K2(), BIC()], ids=lambda score: type(score).__name__)
@pytest.mark.parametrize("interventions", [False, True])
def test_scores_from_another_counter_are_those_of_the_host(score: object, interventions: bool) -> None:
    generator = np.random.default_rng(5)
    columns = [generator.integers(0, arity, 60) for arity in (2, 3, 2, 4, 3)]
    targets = generator.choice(["", "V1", "V3"], 60) if interventions else None
    table = as_table(np.column_stack(columns), interventions=targets)
    expected = local_scores(table, score, 3).values
    found = local_scores(table, score, 3, engine=CountingEngine(1)).values
    np.testing.assert_allclose(found, expected, atol=1e-9)
