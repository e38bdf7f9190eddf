"""Missing cells drawn from counts against the exact distribution of every row, on random tables and graphs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import completion as naive

from dagpost import BIC, K2, BDe, BDeu
from dagpost.data.table import Table
from dagpost.scores import Score
from dagpost.scores.row_draws import JOINT_CONFIGURATIONS

SCORES = [BDeu(1.0), BDeu(1e-4), BDeu(500.0), BDe(0.5), BDe(1e-100), K2(), BIC()]
RUNNING = np.zeros(1, dtype=np.int64)


class Given:
    """A generator whose numbers are known."""

    def __init__(self, numbers: np.ndarray) -> None:
        self.numbers = numbers

    def random(self, size: int) -> np.ndarray:
        return np.resize(self.numbers, size)


def random_families(generator: np.random.Generator, columns: int, width: int) -> np.ndarray:
    """A random graph, in a random order of the columns."""
    families, order = np.full((columns, width), columns, dtype=np.int16), generator.permutation(columns)
    for place, node in enumerate(order):
        count = int(generator.integers(0, min(place, width) + 1))
        families[node, :count] = np.sort(generator.choice(order[:place], count, replace=False))
    return families


def random_table(
    generator: np.random.Generator, columns: int, rows: int, *, counts: bool, known: bool, regimes: int, many: bool
) -> Table:
    """Random codes with a few gaps; perhaps counts, known targets, indicators and columns of very many levels."""
    arities = generator.integers(1, 5, columns)
    if many:
        arities[columns // 2 :] = 60_000
    codes = [generator.integers(0, arity, rows) for arity in arities]
    which = generator.integers(0, regimes + 1, rows)
    codes += [(which == regime).astype(int) for regime in range(1, regimes + 1)]
    arities = np.array([*arities, *[2] * regimes])
    gaps = generator.random((len(arities), rows)) < generator.choice([0.05, 0.4])
    gaps[np.flatnonzero(arities == 60_000)] = False
    gaps[columns:] = False
    masks = generator.integers(0, 1 << columns, rows).astype(np.uint64) if known else np.zeros(rows, dtype=np.uint64)
    for column in range(columns):
        gaps[column] &= (masks >> np.uint64(column)) & np.uint64(1) == 0
    weights = generator.choice([1, 1, 2, 5, 1_000_000], rows)
    weights[gaps.any(axis=0)] = 1
    table = Table(
        tuple(f"V{column}" for column in range(len(arities))),
        tuple(column.astype(np.uint16) for column in codes),
        tuple(tuple(range(arity)) for arity in arities),
        counts=weights if counts else None,
        interventions=masks if known else None,
        regimes=tuple(f"V{columns + regime}" for regime in range(regimes)),
    )
    return naive.with_gaps(table, gaps)


@pytest.mark.parametrize("score", SCORES, ids=repr)
@settings(max_examples=12, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    columns=st.integers(1, 6),
    rows=st.integers(1, 12),
    counts=st.booleans(),
    known=st.booleans(),
    regimes=st.integers(0, 2),
    many=st.booleans(),
)
def test_rows_are_drawn_from_their_exact_distribution(
    score: Score, seed: int, columns: int, rows: int, counts: bool, known: bool, regimes: int, many: bool
) -> None:
    generator = np.random.default_rng(seed)
    # The penalty of so many configurations would hide all else in the sums of the twin.
    many = many and not isinstance(score, BIC)
    table = random_table(generator, columns, rows, counts=counts, known=known, regimes=regimes, many=many)
    everyone = columns + regimes
    # Graphs of the ordinary columns: indicators are parents only.
    families = random_families(generator, columns, int(generator.integers(0, columns + 1)))
    families[families == columns] = everyone
    targets = generator.random((columns, regimes)) < 0.5
    families = np.hstack([families, np.where(targets, np.arange(columns, everyone), everyone)]).astype(np.int16)
    completer = score.completer(table, families.shape[1])
    assert completer is not None
    cells = completer.begin(generator)
    assert cells.shape == (table.gap_count,)
    twin = naive.twin_of(score)
    for _ in range(2):
        expected, numbers = naive.redraw(table, cells, families, twin, generator, JOINT_CONFIGURATIONS)
        completer.redraw(cells, families, Given(numbers), RUNNING)
        np.testing.assert_array_equal(cells, expected)
