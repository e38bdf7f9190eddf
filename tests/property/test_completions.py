"""The exact sum over completions, which chains are compared with, against slower ways to the same numbers."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate
from tests.naive import completed_scores, completions
from tests.naive import posterior as naive
from tests.naive import scores as naive_scores
from tests.naive import structure as naive_structure
from tests.tools.gap_tables import levels_table, numbers_table

from dagpost.data.table import Table

MAX_PARENTS = 3


def weights_of(table: Table, size: float | None) -> np.ndarray:
    """The scores of all families of a complete table: BDeu of this size, or BIC."""
    nodes = len(table.names)
    return np.array(
        [
            [
                naive_scores.bic(table, child, parents)
                if size is None
                else naive_scores.bdeu(table, child, parents, size)
                for mask in naive.parent_masks(child, nodes, MAX_PARENTS)
                for parents in [[node for node in range(nodes) if mask >> node & 1]]
            ]
            for child in range(nodes)
        ]
    )


@settings(max_examples=15)
@given(seed=st.integers(0, 10**6), counted=st.booleans(), experiments=st.booleans(), orders=st.booleans())
def test_the_sum_over_completions_is_that_of_whole_tables(
    seed: int, counted: bool, experiments: bool, orders: bool
) -> None:
    table = levels_table(seed, 4, 6, 3, most_levels=3, completions=12, counted=counted, experiments=experiments)
    rows = completed_scores.rows_of(table)
    written = completed_scores.written_out(table)
    place = {dag: number for number, dag in enumerate(map(tuple, completions.every_dag(4)[0].tolist()))}
    mine = [place[dag] for dag in naive.all_dags(4)]
    times = np.array(list(naive.orders_of_every_dag(4).values()))
    assert (completions.every_dag(4)[1][mine] == times).all()
    sizes = [1.0, 5.0, None]
    expected = np.full((len(sizes), len(place)), -np.inf)
    levels = [range(table.arities[column]) for column, _ in np.argwhere(written.gaps)]
    for cells in product(*levels):
        filled = written.filled(np.array(cells, dtype=float))
        for which, size in enumerate(sizes):
            logs = naive.log_joint_of_every_dag(weights_of(filled, size), MAX_PARENTS)
            expected[which] = np.logaddexp(expected[which], logs)
    expected += np.log(times) * orders - np.log(len(sizes))
    family_scores = [completed_scores.bdeu(1.0), completed_scores.bdeu(5.0), completed_scores.bic]
    found = completions.posterior(rows, family_scores, MAX_PARENTS, orders=orders)
    assert found.logs[:, mine] == pytest.approx(expected, abs=1e-9)
    assert naive.log_sum(found.completions.ravel()) == pytest.approx(naive.log_sum(found.logs.ravel()))
    assert found.shares.sum() == pytest.approx(1.0)
    for cell, (column, _) in enumerate(rows.gaps):
        assert found.cell(cell).shape == (table.arities[column],)
        assert found.cell(cell).sum() == pytest.approx(1.0)


@settings(max_examples=15)
@given(seed=st.integers(0, 10**6), orders=st.booleans())
def test_sums_over_sets_are_those_over_graphs(seed: int, orders: bool) -> None:
    table = levels_table(seed, 4, 12, 4)
    rows = completed_scores.rows_of(table)

    def prior(child: int, parents: list[int]) -> float:
        return -np.inf if child == 0 and 3 in parents else -0.3 * len(parents)

    enumerated = completions.posterior(rows, [completed_scores.k2()], 2, orders=orders, prior=prior)
    sums = completions.Sums(rows, completed_scores.k2(), 2, orders=orders, prior=prior)
    assert sums.edges == pytest.approx(enumerated.edges, abs=1e-9)
    one, other = completions.has_edge(4, 0, 1) & completions.has_edge(4, 2, 3), completions.has_edge(4, 1, 2)
    both = sums.weight(lambda child, mask: (child != 1 or bool(mask & 1)) and (child != 3 or bool(mask & 4)))
    alone = sums.weight(lambda child, mask: child != 2 or bool(mask & 2))
    assert np.log(both / alone) == pytest.approx(enumerated.log_ratio(one, other), abs=1e-9)


def test_paths_follow_edges() -> None:
    table = levels_table(3, 4, 12, 3)
    found = completions.posterior(completed_scores.rows_of(table), [completed_scores.bdeu(2.0)])
    for start, end in product(range(4), repeat=2):
        reached = [
            naive_structure.ancestors_in(dag, end) >> start & 1 == 1 for dag in completions.every_dag(4)[0].tolist()
        ]
        assert found.paths[start, end] == pytest.approx(found.probability(np.array(reached)), abs=1e-12)


def test_gaussian_scores_of_completed_rows_are_those_of_tables() -> None:
    table = numbers_table(1, 4, 9, 2)
    rows = completed_scores.rows_of(table)
    mean, deviations = completed_scores.observed_moments(rows)
    score = completed_scores.bge(rows)
    cells = np.array([0.3, -1.2])
    filled = table.filled(cells)
    stacked = np.stack([filled.values(), filled.values()])
    for child, parents in ((0, []), (2, [0]), (3, [0, 1, 2])):
        expected = naive_scores.bge(filled, child, parents, 1.0, 6.0, mean, deviations)
        assert score(rows, stacked, child, parents) == pytest.approx([expected, expected])


def test_quadrature_has_converged() -> None:
    table = numbers_table(2, 4, 12, 2)
    rows = completed_scores.rows_of(table)
    usual = completions.posterior(rows, [completed_scores.bge(rows)])
    finer = completions.posterior(rows, [completed_scores.bge(rows)], points=2 * completions.POINTS)
    assert usual.logs == pytest.approx(finer.logs, abs=1e-7)


def test_one_missing_number_is_integrated_out() -> None:
    table = numbers_table(4, 3, 10, 1)
    rows = completed_scores.rows_of(table)
    score = completed_scores.bge(rows)
    found = completions.posterior(rows, [score])
    (column, row), parents = rows.gaps[0], completions.every_dag(3)[0]
    for graph in (0, 7, 24):

        def density(value: float, graph: int = graph) -> float:
            values = rows.values.copy()
            values[row, column] = value
            families = [[node for node in range(3) if mask >> node & 1] for mask in parents[graph].tolist()]
            logs = sum(score(rows, values[None], child, own)[0] for child, own in enumerate(families))
            return float(np.exp(logs - found.logs[0, graph]))

        assert integrate.quad(density, -np.inf, np.inf, epsabs=1e-10)[0] == pytest.approx(1.0, abs=1e-7)
