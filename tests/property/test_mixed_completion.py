"""Missing levels and numbers against a slow twin that asks for the same random numbers, on random tables and graphs."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.naive import completion as naive
from tests.naive import mixed_completion

from dagpost import ConditionalGaussian
from dagpost.data.table import Table
from dagpost.scores.row_weights import JOINT_CONFIGURATIONS

RUNNING = np.zeros(1, dtype=np.int64)
SCORES = [
    ConditionalGaussian(),
    ConditionalGaussian(0.1, 0.3, 8.5),
    ConditionalGaussian(50.0, 2.0, prior_mean=1.0),
    ConditionalGaussian(1e-3, prior_scale=0.5),
]


def random_table(
    generator: np.random.Generator, kinds: list[int], rows: int, *, counts: bool, known: bool, regimes: int, many: bool
) -> Table:
    """Columns of so many levels each, 0 for numbers; perhaps counts, known targets, indicators and very many levels."""
    arities = np.array([*kinds, *[2] * regimes])
    columns = len(kinds)
    which = generator.integers(0, regimes + 1, rows)
    data: list[np.ndarray] = []
    for column, arity in enumerate(arities):
        if column >= columns:
            data.append((which == column - columns + 1).astype(np.uint16))
        elif arity:
            data.append(generator.integers(0, arity, rows).astype(np.uint16))
        else:
            data.append(generator.standard_normal(rows) * 10.0 ** generator.integers(-1, 2) + generator.integers(-1, 2))
    gaps = generator.random((len(arities), rows)) < generator.choice([0.1, 0.5])
    gaps[columns:] = False
    # A column has something to go by.
    gaps[:, :2] = False
    if many:
        wide = int(generator.integers(columns))
        if arities[wide]:
            arities[wide], gaps[wide] = 60_000, False
            data[wide] = generator.integers(0, 60_000, rows).astype(np.uint16)
    masks = generator.integers(0, 1 << columns, rows).astype(np.uint64) if known else np.zeros(rows, dtype=np.uint64)
    for column in range(columns):
        gaps[column] &= (masks >> np.uint64(column)) & np.uint64(1) == 0
    weights = np.where(gaps.any(axis=0), 1, generator.integers(1, 4, rows))
    table = Table(
        tuple(f"V{column}" for column in range(len(arities))),
        tuple(data),
        tuple(tuple(range(arity)) if arity else None for arity in arities.tolist()),
        counts=weights if counts else None,
        interventions=masks if known else None,
        regimes=tuple(f"V{columns + regime}" for regime in range(regimes)),
    )
    return naive.with_gaps(table, gaps)


def random_families(generator: np.random.Generator, table: Table, columns: int, width: int) -> np.ndarray:
    """A random graph in which numbers lead to numbers only; indicators are parents only."""
    everyone = len(table.names)
    numbers = np.array([levels is None for levels in table.levels])
    order = generator.permutation(columns)
    order = order[np.argsort(numbers[order], kind="stable")]
    families = np.full((columns, width + everyone - columns), everyone, dtype=np.int16)
    for place, node in enumerate(order):
        allowed = [other for other in order[:place] if numbers[node] or not numbers[other]]
        count = int(generator.integers(0, min(len(allowed), width) + 1))
        families[node, :count] = np.sort(generator.choice(allowed, count, replace=False)) if count else everyone
        targets = generator.random(everyone - columns) < 0.5
        families[node, width:] = np.where(targets, np.arange(columns, everyone), everyone)
    return families


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    kinds=st.lists(st.sampled_from([0, 0, 0, 1, 2, 3, 5]), min_size=1, max_size=6),
    rows=st.integers(3, 12),
    counts=st.booleans(),
    known=st.booleans(),
    regimes=st.integers(0, 2),
    many=st.booleans(),
    score=st.sampled_from(SCORES),
)
def test_rows_are_drawn_as_the_slow_twin_draws_them(
    seed: int,
    kinds: list[int],
    rows: int,
    counts: bool,
    known: bool,
    regimes: int,
    many: bool,
    score: ConditionalGaussian,
) -> None:
    generator = np.random.default_rng(seed)
    table = random_table(generator, kinds, rows, counts=counts, known=known, regimes=regimes, many=many)
    assume(table.gap_count > 0)
    families = random_families(generator, table, len(kinds), int(generator.integers(1, len(kinds) + 1)))
    settled, completer = score.settled(table), score.completer(table, families.shape[1])
    cells = completer.begin(generator)
    unit = units_of(table, settled)
    for turn in range(2):
        ours, theirs = (np.random.default_rng([seed, turn]) for _ in range(2))
        expected = mixed_completion.redraw(table, cells, families, settled, theirs, JOINT_CONFIGURATIONS)
        completer.redraw(cells, families, ours, RUNNING)
        # The cells of a row may stand far out; what is wrong is wrong by far more than rounding.
        np.testing.assert_allclose(cells / unit, expected / unit, rtol=1e-5, atol=1e-5)
        assert ours.random() == theirs.random()


def units_of(table: Table, score: ConditionalGaussian) -> np.ndarray:
    """The unit of the column of each cell; codes are what they are."""
    columns, _ = np.nonzero(np.asarray(table.gaps))
    numbers = [column for column, levels in enumerate(table.levels) if levels is None]
    unit = np.ones(len(table.names))
    if numbers:
        unit[numbers] = naive.by_column(score.prior_scale, len(numbers))
    return unit[columns]
