"""Drawn tables follow the networks that they are said to be drawn from, and are the same wherever they are drawn."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from tools.drawing import Levels, Network, Numbers, Regression, draw, network, random_network, thousandths
from tools.reference_tables import network_of, table_of

from dagpost.data.table import Table
from dagpost.reference.cases import CASES
from dagpost.reference.sources import Drawn
from tools import written_networks

DRAWN = {name: case for name, case in CASES.items() if isinstance(case.source, Drawn)}

# Of a normal deviate, more than this has a probability of 4e-8; some 10,000 are looked at.
DEVIATIONS = 5.5


def test_levels_are_found_by_adding_up_probabilities() -> None:
    coin = Levels("coin", (), ((200, 300, 500),))
    uniforms = np.random.Generator(np.random.PCG64(3)).random(100)
    expected = [0 if u < 0.2 else 1 if u < 0.5 else 2 for u in uniforms]
    assert draw(network(coin), 100, seed=3).columns[0].tolist() == expected


def test_numbers_are_quantiles_of_the_normal_distribution() -> None:
    from statistics import NormalDist

    first = Numbers("first", (), (Regression(1.0, 2.0),))
    second = Numbers("second", ("first",), (Regression(0.5, 0.1, (-3.0,)),))
    own = np.random.Generator(np.random.PCG64(4)).random((20, 2))
    table = draw(network(first, second), 20, seed=4)
    for place, (one, other) in enumerate(own):
        x = 1.0 + 2.0 * NormalDist().inv_cdf(one)
        assert table.columns[0][place] == pytest.approx(x, abs=6e-5)
        y = 0.5 + 0.1 * NormalDist().inv_cdf(other) - 3.0 * table.columns[0][place]
        assert table.columns[1][place] == pytest.approx(y, abs=6e-5)


def test_the_first_rows_are_the_same_however_many_are_drawn() -> None:
    source = random_network(6, 1, levels=3)
    few, many = draw(source, 10, seed=2), draw(source, 50, seed=2)
    for short, long in zip(few.columns, many.columns, strict=True):
        assert short.tolist() == long[:10].tolist()


def test_thousandths_add_up_and_leave_nothing_out() -> None:
    assert thousandths([1.0, 1.0, 1.0], least=1) == (334, 333, 333)
    assert thousandths([1e-9, 1.0], least=10) == (10, 990)


def test_a_random_network_has_causes_before_effects_and_levels_before_numbers() -> None:
    for seed in range(20):
        source = random_network(9, seed, levels=4, degree=5.0, max_parents=2)
        seen: set[str] = set()
        for column in source.columns:
            assert seen.issuperset(column.parents)
            assert len(column.parents) <= 2
            seen.add(column.name)
        assert [type(column) for column in source.columns] == [Levels] * 4 + [Numbers] * 5
        assert source.names == tuple(f"X{place}" for place in range(1, 10))


@pytest.mark.parametrize("seed", range(8))
def test_a_random_network_is_drawn_as_its_docstring_says(seed: int) -> None:
    """A column of levels and two of numbers, step by step; an edge has a probability of 0.6."""
    u = iter(np.random.Generator(np.random.PCG64(seed)).random(100).tolist())
    _, second_key, third_key = next(u), next(u), next(u)
    early, late = ("X2", "X3") if second_key < third_key else ("X3", "X2")
    arity = 2 + math.floor(2 * next(u))
    root = Levels("X1", (), (thousandths([(-math.log(next(u))) ** 2 for _ in range(arity)], least=10),))

    def regression(coefficients: int) -> Regression:
        mean, deviation = round(2 * next(u) - 1, 2), round(0.5 + 0.5 * next(u), 2)
        sized = [(round(0.4 + 0.6 * next(u), 2), next(u) < 0.5) for _ in range(coefficients)]
        return Regression(mean, deviation, tuple(-size if minus else size for size, minus in sized))

    early_parents = ("X1",) if next(u) < 0.6 else ()
    middle = Numbers(early, early_parents, tuple(regression(0) for _ in range(arity if early_parents else 1)))
    late_parents = tuple(name for name in ("X1", early) if next(u) < 0.6)
    cases, coefficients = (arity if "X1" in late_parents else 1), int(early in late_parents)
    last = Numbers(late, late_parents, tuple(regression(coefficients) for _ in range(cases)))
    found = random_network(3, seed, levels=1, arities=(2, 3), degree=1.2)
    assert found == Network((root, middle, last), ("X1", "X2", "X3"))


@pytest.mark.parametrize("name", DRAWN)
def test_the_table_that_is_kept_is_the_one_that_is_drawn(name: str) -> None:
    source = DRAWN[name].source
    assert isinstance(source, Drawn)
    assert DRAWN[name].table.fingerprint() == table_of(source).fingerprint()


@pytest.mark.parametrize("name", DRAWN)
def test_columns_follow_their_network(name: str) -> None:
    source = DRAWN[name].source
    assert isinstance(source, Drawn)
    made, table = network_of(source), DRAWN[name].table
    for column in made.columns:
        for rows, parameters in _combinations(made, column, table):
            if isinstance(column, Levels):
                _levels_as_likely(table.columns[table.names.index(column.name)][rows], parameters)
            else:
                _noise_is_normal(_noise(column, table, rows, parameters))


def _combinations(made: Network, column: Levels | Numbers, table: Table):  # type: ignore[no-untyped-def]
    """The rows of every combination of levels of the parents, with the parameters that hold in it."""
    known = {one.name: one for one in made.columns}
    parents = [known[parent] for parent in column.parents]
    discrete = [parent for parent in parents if isinstance(parent, Levels)]
    parameters = column.probabilities if isinstance(column, Levels) else column.regressions
    cells = list(product(*(range(parent.arity) for parent in discrete)))
    assert len(cells) == len(parameters)
    for cell, own in zip(cells, parameters, strict=True):
        rows = np.ones(table.rows, dtype=bool)
        for parent, level in zip(discrete, cell, strict=True):
            rows &= table.columns[table.names.index(parent.name)] == level
        yield rows, own


def _levels_as_likely(codes: np.ndarray, probabilities: tuple[int, ...]) -> None:
    for level, thousandth in enumerate(probabilities):
        share = thousandth / 1000
        deviation = math.sqrt(len(codes) * share * (1 - share))
        if deviation >= 3.0:
            assert abs((codes == level).sum() - len(codes) * share) < DEVIATIONS * deviation


def _noise(column: Numbers, table: Table, rows: np.ndarray, own: Regression) -> np.ndarray:
    found = table.columns[table.names.index(column.name)][rows] - own.mean
    numbers = [
        table.names.index(parent) for parent in column.parents if table.levels[table.names.index(parent)] is None
    ]
    for coefficient, parent in zip(own.coefficients, numbers, strict=True):
        found = found - coefficient * table.columns[parent][rows]
    return found / own.deviation


def _noise_is_normal(noise: np.ndarray) -> None:
    count = len(noise)
    if count >= 30:
        assert abs(noise.mean()) < DEVIATIONS / math.sqrt(count)
        assert abs((noise**2).sum() - count) < DEVIATIONS * math.sqrt(2 * count)


def test_a_ring_is_drawn_as_likely_as_its_neighbours_are_alike() -> None:
    arity, same = 3, 3
    made = written_networks.ring(4, arity=arity, same=same)
    cells = np.array(list(product(range(arity), repeat=4)))
    likes = np.where(cells == np.roll(cells, 1, axis=1), same, 1).prod(axis=1)
    found = np.ones(len(cells))
    for column in made.columns:
        assert isinstance(column, Levels)
        place = made.names.index(column.name)
        case = np.zeros(len(cells), dtype=int)
        for parent in column.parents:
            case = case * arity + cells[:, made.names.index(parent)]
        found *= np.array(column.probabilities)[case, cells[:, place]] / 1000
    # Probabilities are in thousandths.
    np.testing.assert_allclose(found, likes / likes.sum(), rtol=0.02)
