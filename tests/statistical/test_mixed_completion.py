"""Levels and numbers that have their exact distribution still have it after a round, and chains meet the exact sum.

Tests of a round are chi-square tests at the level 1e-7: that is their false-alarm rate, and seeds are fixed. Chains are
compared with the exact sum as in test_augmentation.py, at most 8e-7 of the time wrongly.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import t as student
from tests.naive import completed_scores as naive
from tests.naive import completions
from tests.statistical.test_augmentation import RATE, Case, combined, differences
from tests.statistical.test_completion import RUNNING, assert_agrees
from tests.tools.gap_tables import mixed_table

from dagpost import ConditionalGaussian
from dagpost.data.table import Table

# Chains of a few sweeps say that they are not to be trusted yet.
pytestmark = pytest.mark.filterwarnings("ignore::dagpost.DagpostWarning")

#: Numbers from two levels, one number from another and two levels; and all columns by themselves.
GRAPHS = {
    "dense": np.array([[4, 4, 4], [0, 4, 4], [0, 1, 4], [0, 1, 2]], dtype=np.int16),
    "sparse": np.array([[1, 4, 4], [4, 4, 4], [3, 4, 4], [1, 4, 4]], dtype=np.int16),
}
CASES = {
    "a level and a number in one row": {"level_gaps": 1, "number_gaps": 1},
    "levels, a number and experiments": {"level_gaps": 3, "number_gaps": 1, "experiments": True},
    "two numbers and counts": {"level_gaps": 2, "number_gaps": 2, "counted": True},
}


@pytest.mark.parametrize(
    ("case", "graph"), [*((case, "dense") for case in CASES), ("two numbers and counts", "sparse")]
)
def test_a_round_leaves_the_exact_distribution_of_levels_and_numbers(case: str, graph: str) -> None:
    table, families = mixed_table(4, (2, 3, 0, 0), 9, **CASES[case]), GRAPHS[graph]
    every, shares = exact(table, families, 400 if CASES[case]["number_gaps"] == 1 else 60)
    completer, generator = ConditionalGaussian().completer(table, 3), np.random.default_rng(8)
    draws = 6_000
    found = every[generator.choice(len(every), draws, p=shares)]
    for cells in found:
        completer.redraw(cells, families, generator, RUNNING)
    bins = 6 if CASES[case]["number_gaps"] == 1 else 4
    cases, expected = binned(table, every, shares, [found, every], bins)
    size = int(expected.max()) + 1
    assert_agrees(np.bincount(cases, minlength=size), np.bincount(expected, shares, size) * draws)


def exact(table: Table, families: np.ndarray, points: int) -> tuple[np.ndarray, np.ndarray]:
    """All levels with numbers on a grid, and their probabilities given a graph.

    The grid is that of the quantiles of Student's distribution, whose tails are heavier than those of the cells.
    """
    rows = naive.rows_of(table)
    mean, deviations = naive.observed_moments(rows)
    quantiles = student.ppf((np.arange(points) + 0.5) / points, 3)
    grids = [
        np.arange(float(arity)) if arity else centre + unit * quantiles
        for arity, centre, unit in zip(table.arities, mean, deviations, strict=True)
    ]
    values = [grids[column] for column, _ in rows.gaps]
    every = np.stack([axis.ravel() for axis in np.meshgrid(*values, indexing="ij")], axis=1)
    filled = np.repeat(np.nan_to_num(rows.values)[None], len(every), axis=0)
    logs = np.zeros(len(every))
    for cell, (column, row) in enumerate(rows.gaps):
        filled[:, row, column] = every[:, cell]
        if not table.arities[column]:
            logs -= student.logpdf((every[:, cell] - mean[column]) / deviations[column], 3)
    score = naive.conditional_gaussian(rows)
    for node, own in enumerate(families):
        logs += score(rows, filled, node, [int(parent) for parent in own if parent < len(families)])
    weights = np.exp(logs - logs.max())
    return every, weights / weights.sum()


def binned(
    table: Table, every: np.ndarray, shares: np.ndarray, points: list[np.ndarray], bins: int
) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of the levels and of bins of the numbers, which have about the same share each."""
    codes = [np.zeros(len(own), dtype=int) for own in points]
    for cell, column in enumerate(np.nonzero(np.asarray(table.gaps))[0].tolist()):
        borders = np.arange(table.arities[column]) - 0.5
        if not table.arities[column]:
            grid, which = np.unique(every[:, cell], return_inverse=True)
            at = np.searchsorted(np.cumsum(np.bincount(which, shares)), np.arange(1, bins) / bins)
            borders = (grid[at] + grid[at + 1]) / 2
        codes = [
            code * (len(borders) + 1) + np.searchsorted(borders, own[:, cell])
            for code, own in zip(codes, points, strict=True)
        ]
    return codes[0], codes[1]


def case_of(number: int, *, large: bool) -> Case:
    """Kinds of columns, counts, experiments, rules and columns that are only conditioned on take turns."""
    kinds = [(2, 2, 0, 0), (2, 3, 0, 0), (2, 0, 0, 0), (2, 2, 2, 0)][number % 4]
    gaps = {"level_gaps": 4 if large else 3, "number_gaps": 2 if large and number % 2 else 1}
    table = mixed_table(number, kinds, 12 + number % 5, counted=number % 3 == 1, experiments=number % 5 == 2, **gaps)
    settings: dict[str, object] = {"score": "conditional-gaussian"}
    outside = table.names[0] if not np.asarray(table.gaps)[0].any() and number % 5 != 2 else ""
    if outside:
        settings["exogenous"] = [outside]
    else:
        settings["forbidden"] = ["A -> D"]

    def prior(child: int, parents: list[int]) -> float:
        ruled_out = parents if outside else 0 in parents and child == 3
        return -np.inf if ruled_out and (child == 0 or not outside) else 0.0

    rows = naive.rows_of(table)
    truth = completions.posterior(rows, [naive.conditional_gaussian(rows)], prior=prior, points=33)
    return Case(table, settings, truth, len(kinds))


def test_averages_are_those_of_the_exact_sum() -> None:
    found = [differences(case_of(number, large=False), 3, 14, number) for number in range(12)]
    assert min(combined(found).values()) > RATE


@pytest.mark.long
@pytest.mark.parametrize("way", ["exact-layers", "block-gibbs"])
def test_long_chains_meet_the_exact_sum(way: str) -> None:
    found = [differences(case_of(number, large=True), 6, 100, number, way) for number in range(20)]
    assert min(combined(found).values()) > RATE
