"""The conditional Gaussian score against predictive densities row by row, and what must hold for any data."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from tests.naive import conditional_gaussian as naive
from tests.naive.summaries import essential_graph_of_every_dag
from tests.tools.mixed_tables import mixed_table, mixed_tables
from tests.tools.wording import Said

from dagpost.data.table import Table
from dagpost.engines import ThreadEngine
from dagpost.errors import InputError
from dagpost.families.masks import members_of
from dagpost.families.parent_lists import ParentLists
from dagpost.scores import BDeu, BGe, ConditionalGaussian, conditional_runs, local_scores
from dagpost.scores.allowed_scores import score_allowed
from dagpost.scores.base import Filling

ONE = ThreadEngine(1)


def families(table: Table, max_parents: int) -> Any:
    for child in range(len(table.names)):
        others = [node for node in range(len(table.names)) if node != child]
        for size in range(min(max_parents, len(others)) + 1):
            for parents in combinations(others, size):
                yield child, list(parents)


@given(
    mixed_tables(),
    st.integers(0, 4),
    st.sampled_from([0.5, 5.0]),
    st.sampled_from([0.5, 1.0, 4.0]),
    st.sampled_from([None, 1.5]),
    st.sampled_from([None, 2.0]),
    st.sampled_from([None, 0.2]),
)
@hypothesis_settings(max_examples=30)
def test_scores_are_products_of_predictive_densities(
    table: Table, limit: int, size: float, weight: float, more: float | None, mean: float | None, scale: float | None
) -> None:
    degrees = None if more is None else table.levels.count(None) + 1 + more
    score = ConditionalGaussian(size, weight, degrees, mean, scale)
    prior = naive.prior_of(table, size, weight, degrees, mean, scale)
    scores = local_scores(table, score, limit, engine=ONE)
    assert not np.isnan(scores.values).any()
    for child, parents in families(table, limit):
        expected = naive.family_score(table, child, parents, prior)
        assert scores.score(child, parents) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("nodes", [2, 3, 4])
def test_equivalent_graphs_have_the_same_score(nodes: int) -> None:
    """All graphs that the model allows, for all ways to mix kinds of columns."""
    classes = essential_graph_of_every_dag(nodes)
    compared = 0
    for seed, arities in enumerate(product((0, 3), repeat=nodes)):
        scores = local_scores(mixed_table(arities, 60, seed), ConditionalGaussian(), nodes - 1, engine=ONE)
        found: dict[Any, float] = {}
        for graph, pattern in classes.items():
            total = sum(scores.score(node, members_of(mask)) for node, mask in enumerate(graph))
            if any(arities[node] and not arities[tail] for node, mask in enumerate(graph) for tail in members_of(mask)):
                assert total == -np.inf
                continue
            compared += pattern in found
            assert found.setdefault(pattern, total) == pytest.approx(total, rel=1e-11, abs=1e-9)
        # One graph of each class and no more would say nothing.
        assert len(set(found.values())) > 1
    assert compared > {2: 1, 3: 30, 4: 1500}[nodes]


@given(mixed_tables(), st.floats(1e-6, 1e6), st.floats(-1e3, 1e3))
@hypothesis_settings(max_examples=25)
def test_units_of_numbers_change_no_comparison(table: Table, unit: float, shift: float) -> None:
    moved = replace(
        table,
        columns=tuple(
            column * unit + shift * unit if levels is None else column
            for column, levels in zip(table.columns, table.levels, strict=True)
        ),
    )
    before, after = (local_scores(own, ConditionalGaussian(), 3, engine=ONE).values for own in (table, moved))
    for one, other in zip(before, after, strict=True):
        np.testing.assert_array_equal(np.isfinite(one), np.isfinite(other))
        found = np.isfinite(one)
        np.testing.assert_allclose(one[found] - one[0], other[found] - other[0], rtol=1e-7, atol=1e-6)


@pytest.mark.parametrize("extra", [False, True])
def test_columns_of_one_kind_have_the_scores_of_their_own_kind(extra: bool) -> None:
    levels, numbers = (mixed_table(arities, 50, 3, extra=extra) for arities in ((2, 3, 4, 2), (0, 0, 0, 0)))
    score = ConditionalGaussian(2.0, 3.0)
    np.testing.assert_array_equal(local_scores(levels, score, 3).values, local_scores(levels, BDeu(2.0), 3).values)
    np.testing.assert_array_equal(local_scores(numbers, score, 3).values, local_scores(numbers, BGe(3.0), 3).values)


@given(st.integers(0, 2**16), st.integers(0, 4), st.booleans())
@hypothesis_settings(max_examples=25)
def test_parts_of_a_table_have_the_scores_of_the_whole(seed: int, limit: int, extra: bool) -> None:
    """Groups of columns with the same candidates, apart from each other or not, as rules leave them."""
    generator = np.random.default_rng(seed)
    table = mixed_table(tuple(generator.choice([0, 2, 3], 6)), 40, seed, extra=extra)
    tier = generator.integers(0, 3, 6)
    allowed = [tier[None, :] <= tier[:, None], tier[None, :] < tier[:, None], generator.random((6, 6)) < 0.6][seed % 3]
    matrix = allowed.astype(np.bool_)
    np.fill_diagonal(matrix, False)
    numbers = table.levels.count(None)
    own = tuple(generator.normal(size=numbers).tolist()) if seed % 2 else None
    score = ConditionalGaussian(degrees_of_freedom=numbers + 2.5, prior_mean=own)
    lists = ParentLists.of_matrix(matrix, limit)
    expected = local_scores(table, score, limit, engine=ONE)
    for node, values in enumerate(score_allowed(table, score, lists, engine=ONE)):
        for number, value in enumerate(values):
            assert value == pytest.approx(expected.score(node, lists.parents(node, number)), abs=1e-9, rel=1e-11)


@pytest.mark.parametrize("shares", [1, 128, 10**9])
def test_scores_are_the_same_for_any_number_of_threads_and_tasks(monkeypatch: pytest.MonkeyPatch, shares: int) -> None:
    # Few rows and many columns of numbers: the sets of these are shared out, too.
    table = mixed_table((2, *(0,) * 6, 3, *(0,) * 6), 6, 4, extra=True)
    expected = local_scores(table, ConditionalGaussian(), 4, engine=ONE).values
    monkeypatch.setattr(conditional_runs, "_SHARES", shares)
    found = local_scores(table, ConditionalGaussian(), 4, engine=ThreadEngine(3)).values
    np.testing.assert_array_equal(found, expected)
    monkeypatch.setattr(conditional_runs, "_TOGETHER", shares)
    in_parts = local_scores(table, ConditionalGaussian(), 4, engine=ThreadEngine(3)).values
    np.testing.assert_allclose(in_parts, expected, rtol=1e-12)


def test_indicators_of_regimes_are_parents_within_their_limits() -> None:
    plain = mixed_table((0, 2, 0, 2, 2), 80, 6)
    regime = np.arange(80) % 3
    columns = (*plain.columns[:3], (regime == 1).astype(np.uint8), (regime == 2).astype(np.uint8))
    table = replace(plain, columns=columns, regimes=("v3", "v4"), limits=(1, 1))
    scores, prior = local_scores(table, ConditionalGaussian(), 3, engine=ONE), naive.prior_of(table)
    compared = 0
    for child, parents in families(table, 3):
        indicators = len({3, 4} & set(parents))
        if table.levels[child] is None and indicators <= 1 and len(parents) - indicators <= 1:
            expected = naive.family_score(table, child, parents, prior)
            assert scores.score(child, parents) == pytest.approx(expected, rel=1e-9)
            compared += 1
    assert compared == 18


def hard_tables() -> dict[str, Table]:
    generator = np.random.default_rng(2)
    level, number = np.arange(60) % 3, generator.normal(size=60)
    columns = {
        "constant in each group": (level.astype(np.uint8), level * 2.0, number),
        "a row a group": (np.arange(60, dtype=np.uint8), number, number**2),
        "huge and tiny": (level.astype(np.uint8), number * 1e90 + 1e95, number * 1e-90),
        "an outlier": (level.astype(np.uint8), np.where(np.arange(60) == 7, 1e12, number), number),
        "nearly the same": (level.astype(np.uint8), number, number + 1e-13 * generator.normal(size=60)),
        "a constant": (level.astype(np.uint8), np.full(60, 7.0), number),
    }
    return {
        name: Table(tuple("abc"), own, (tuple(range(int(own[0].max()) + 1)), None, None))
        for name, own in columns.items()
    }


@pytest.mark.parametrize("name", list(hard_tables()))
def test_hard_columns_have_finite_scores_that_do_not_depend_on_the_direction(name: str) -> None:
    table = hard_tables()[name]
    for score in (ConditionalGaussian(), ConditionalGaussian(0.01, 0.01), ConditionalGaussian(1.0, 100.0, 50.0)):
        scores = local_scores(table, score, 2, engine=ONE)
        assert np.isfinite(scores.values[1:]).all()
        one, other = (scores.score(a, [0]) + scores.score(b, [0, a]) for a, b in ((1, 2), (2, 1)))
        assert one == pytest.approx(other, rel=1e-11)


def test_values_whose_squares_overflow_are_refused(said: Said) -> None:
    table = Table(tuple("ab"), (np.arange(4, dtype=np.uint8) % 2, np.arange(4) * 1e200), ((0, 1), None))
    with said.raises(InputError):
        local_scores(table, ConditionalGaussian(prior_scale=1.0), 1)
    with said.raises(InputError):
        local_scores(table, ConditionalGaussian(), 1)


def test_more_levels_than_codes_are_refused(said: Said) -> None:
    """Also where the column is only a parent."""
    levels = 2**16 + 1
    table = Table(tuple("ab"), (np.arange(levels, dtype=np.uint32), np.ones(levels)), (tuple(range(levels)), None))
    with said.raises(InputError):
        ConditionalGaussian().fill_nodes(Filling(table, (1,), 1, np.zeros((1, 2)), ONE))


@pytest.mark.parametrize(
    "settings",
    [
        {"equivalent_sample_size": 0},
        {"mean_weight": -1},
        {"degrees_of_freedom": "five"},
        {"prior_mean": (1.0, float("nan"))},
        {"prior_scale": (1.0, 0.0)},
    ],
)
def test_parameters_are_checked_under_their_names(settings: dict[str, Any], said: Said) -> None:
    with said.raises(InputError):
        ConditionalGaussian(**settings)


def test_other_settings_are_those_of_both_kinds() -> None:
    others = ConditionalGaussian().alternatives()
    assert [(other.choice, other.value) for other in others] == [
        *(("equivalent sample size", value) for value in ("1", "10")),
        *(("weight of the prior", value) for value in ("0.5", "5")),
    ]


@pytest.mark.parametrize("extra", [False, True])
def test_completed_tables_have_the_scores_of_the_filled_table(extra: bool) -> None:
    """The rescorer, whose cells are codes and numbers."""
    generator = np.random.default_rng(5)
    table = mixed_table((2, 0, 3, 0), 30, 8, extra=extra, gaps=0.2)
    score = ConditionalGaussian().settled(table)
    rescorer = score.rescorer(table, 3, 1)
    for _ in range(2):
        arities = np.array(table.arities)[np.nonzero(table.gaps)[0]]
        cells = np.where(
            arities > 0, generator.integers(0, np.maximum(arities, 1)), generator.normal(size=len(arities))
        )
        anew = local_scores(table.filled(cells), score, 3, engine=ONE).values
        np.testing.assert_allclose(rescorer(cells), anew, rtol=1e-12)
