"""Missing cells drawn from counts against the exact distribution of every row, on random tables and graphs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.naive import completion as naive
from tests.naive.scores import rows_for

from dagpost import BIC, K2, BDe, BDeu, BGe
from dagpost.data.table import Table
from dagpost.scores import Score
from dagpost.scores.row_weights import JOINT_CONFIGURATIONS

SCORES = [BDeu(1.0), BDeu(1e-4), BDeu(500.0), BDe(0.5), BDe(1e-100), K2(), BIC()]
RUNNING = np.zeros(1, dtype=np.int64)


def generator_of(numbers: np.ndarray) -> np.random.Generator:
    """A generator whose next numbers are known: a Mersenne Twister whose words are these, before they are tempered."""
    key = np.zeros(624, dtype=np.uint32)
    for place, number in enumerate(numbers.tolist()):
        whole = int(number * 2.0**53)
        key[2 * place], key[2 * place + 1] = _untempered(whole >> 26 << 5), _untempered((whole & 2**26 - 1) << 6)
    bits = np.random.MT19937()
    bits.state = {"bit_generator": "MT19937", "state": {"key": key, "pos": 0}}
    return np.random.Generator(bits)


def _untempered(word: int) -> int:
    word ^= word >> 18
    word ^= word << 15 & 0xEFC60000
    mixed = word
    for _ in range(5):
        mixed = word ^ (mixed << 7 & 0x9D2C5680)
    word = mixed = mixed & 0xFFFFFFFF
    for _ in range(3):
        mixed = word ^ mixed >> 11
    return mixed


def test_a_generator_of_known_numbers_gives_them() -> None:
    numbers = np.array([0.0, 1.0 - 2.0**-53, 0.5, 0.1, 1e-9, 0.987654321])
    np.testing.assert_allclose(generator_of(numbers).random(len(numbers)), numbers, rtol=0, atol=2.0**-53)


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
        completer.redraw(cells, families, generator_of(numbers), RUNNING)
        np.testing.assert_array_equal(cells, expected)


class GivenNormals:
    """A generator whose numbers for the parameters are known, and for the cells are all 0 but perhaps for one."""

    def __init__(self, squares: np.ndarray, normals: np.ndarray, one: int | None = None) -> None:
        self.squares, self.normals, self.one = squares, normals, one

    def chisquare(self, degrees: np.ndarray) -> np.ndarray:
        return self.squares * degrees

    def standard_normal(self, shape: int | tuple[int, int]) -> np.ndarray:
        if isinstance(shape, tuple):
            return self.normals
        numbers = np.zeros(shape)
        if self.one is not None:
            numbers[self.one] = 1.0
        return numbers


def random_numbers(
    generator: np.random.Generator, columns: int, rows: int, *, counts: bool, known: bool, magnitudes: int
) -> Table:
    """Columns that depend on each other, in units of several magnitudes; perhaps two that are nearly the same."""
    data = generator.standard_normal((rows, columns)) @ generator.standard_normal((columns, columns))
    if columns > 1 and generator.random() < 0.3:
        data[:, 1] = data[:, 0] * 3.0 + 1e-3 * data[:, 1]
    data = data * 10.0 ** generator.integers(-magnitudes, magnitudes + 1, columns) + generator.integers(-3, 4, columns)
    gaps = generator.random((columns, rows)) < generator.choice([0.1, 0.4])
    # A column has something to go by.
    gaps[:, :2] = False
    masks = generator.integers(0, 1 << columns, rows).astype(np.uint64) if known else np.zeros(rows, dtype=np.uint64)
    for column in range(columns):
        gaps[column] &= (masks >> np.uint64(column)) & np.uint64(1) == 0
    weights = np.where(gaps.any(axis=0), 1, generator.integers(1, 4, rows))
    table = Table(
        tuple(f"V{column}" for column in range(columns)),
        tuple(np.ascontiguousarray(data.T)),
        (None,) * columns,
        counts=weights if counts else None,
        interventions=masks if known else None,
    )
    return naive.with_gaps(table, gaps)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    columns=st.integers(1, 5),
    rows=st.integers(3, 15),
    counts=st.booleans(),
    known=st.booleans(),
    score=st.sampled_from([BGe(), BGe(0.3, 9.5), BGe(2.0, prior_mean=1.0), BGe(prior_scale=0.5)]),
)
def test_numbers_are_drawn_from_their_exact_normal_distribution(
    seed: int, columns: int, rows: int, counts: bool, known: bool, score: BGe
) -> None:
    generator = np.random.default_rng(seed)
    # A prior mean or scale that is the same for all columns would be far off in some of these units.
    magnitudes = 9 if score.prior_mean is None and score.prior_scale is None else 1
    table = random_numbers(generator, columns, rows, counts=counts, known=known, magnitudes=magnitudes)
    assume(table.gap_count > 0)
    families = random_families(generator, columns, int(generator.integers(1, columns + 1)))
    own, completer = score.settled(table), score.completer(table, columns)
    start = completer.begin(generator)
    squares, normals = generator.random(columns) + 0.5, generator.standard_normal((columns, families.shape[1] + 1))

    def drawn(one: int | None) -> np.ndarray:
        cells = start.copy()
        completer.redraw(cells, families, GivenNormals(squares, normals, one), RUNNING)
        return cells

    # In units of the prior: in others the matrices of the twin would be singular to double precision.
    unit = np.broadcast_to(np.array(own.prior_scale), columns)
    completed, own = in_units(table.filled(start), own, unit)
    freedom = columns + own.mean_weight + 1 if own.degrees_of_freedom is None else own.degrees_of_freedom
    parameters = []
    for node in range(columns):
        parents = naive.parents_of(families, node, columns)
        observations = sum(count for _, count in rows_for(table, node))
        square = squares[node] * (freedom + observations - columns + len(parents) + 1)
        parameters.append(naive.gaussian_family(completed, node, parents, own, square, normals[node]))
    middle, steps = drawn(None), [drawn(one) for one in range(len(start))]
    places, at = np.nonzero(np.array(table.gaps))
    masks = np.zeros(rows, dtype=np.uint64) if table.interventions is None else table.interventions
    for row in sorted(set(at.tolist())):
        cells = np.flatnonzero(at == row)
        missing, was_set = places[cells].tolist(), [node for node in range(columns) if int(masks[row]) >> node & 1]
        mean, covariance = naive.gaussian_row(completed.values()[row], missing, parameters, was_set)
        spread = np.sqrt(np.diag(covariance))
        np.testing.assert_allclose((middle[cells] / unit[missing] - mean) / spread, 0.0, atol=1e-4)
        moved = np.array([(step[cells] - middle[cells]) / unit[missing] / spread for step in steps])
        np.testing.assert_allclose(moved.T @ moved, covariance / np.outer(spread, spread), atol=1e-4)


def in_units(table: Table, score: BGe, unit: np.ndarray) -> tuple[Table, BGe]:
    """Table and score in other units of the columns."""
    mean = np.broadcast_to(np.array(score.prior_mean), len(unit)) / unit
    scale = np.broadcast_to(np.array(score.prior_scale), len(unit)) / unit
    columns = tuple(column / one for column, one in zip(table.columns, unit, strict=True))
    return replace(table, columns=columns), replace(score, prior_mean=tuple(mean), prior_scale=tuple(scale))
