"""The additive score against its definitions, and what must hold whatever the data."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from tests.naive import additive as naive
from tests.naive.summaries import essential_graph_of_every_dag
from tests.tools.examples import examples
from tests.tools.kinds_of_columns import table_of_kinds, tables_of_kinds

from dagpost import Additive
from dagpost.data.files import MISSING_LEVEL
from dagpost.data.table import Table
from dagpost.engines import ThreadEngine
from dagpost.families.masks import members_of
from dagpost.families.parent_lists import ParentLists
from dagpost.scores import local_scores
from dagpost.scores.allowed_scores import score_allowed

ONE = ThreadEngine(1)
#: Relative, of scores; and where scores of sets cancel.
TOLERANCE: dict[str, float] = {"rel": 1e-9, "abs": 1e-8}


def assert_those_of_the_twin(table: Table, score: Additive, prior: naive.Prior, limit: int) -> None:
    scores, evidence = local_scores(table, score, limit, engine=ONE), naive.Evidence(table, prior)
    for child, parents in naive.families(table, limit):
        assert scores.score(child, parents) == pytest.approx(evidence.score(child, parents), **TOLERANCE)


@given(tables_of_kinds(), st.integers(0, 4))
@hypothesis_settings(max_examples=examples(120))
def test_scores_are_those_of_the_definition(table: Table, limit: int) -> None:
    assert_those_of_the_twin(table, Additive(), naive.Prior(), limit)


@given(
    tables_of_kinds(3),
    st.sampled_from([0.05, 1.0, 20.0]),
    st.sampled_from([0.05, 0.5, 20.0]),
)
@hypothesis_settings(max_examples=examples(40))
def test_every_setting_is_taken(table: Table, slope: float, curve: float) -> None:
    assert_those_of_the_twin(table, Additive(slope, curve), naive.Prior(slope, curve), 2)


def test_a_larger_set_of_columns_is_that_of_the_definition() -> None:
    kinds = ("number", "nominal", "rounded", "number", "ordered", "mostly zero")
    assert_those_of_the_twin(table_of_kinds(kinds, 50, 8, extra=True), Additive(), naive.Prior(), 5)


@pytest.mark.parametrize("nodes", [2, 3, 4])
def test_equivalent_graphs_have_the_same_score(nodes: int) -> None:
    """All graphs, for all ways to mix kinds of columns."""
    classes = essential_graph_of_every_dag(nodes)
    for seed, kinds in enumerate(product(("number", "nominal", "ordered"), repeat=nodes)):
        scores = local_scores(table_of_kinds(kinds, 60, seed), Additive(), nodes - 1, engine=ONE)
        found: dict[Any, float] = {}
        for graph, pattern in classes.items():
            total = sum(scores.score(node, members_of(mask)) for node, mask in enumerate(graph))
            assert np.isfinite(total)
            assert found.setdefault(pattern, total) == pytest.approx(total, rel=1e-11, abs=1e-9)
        # One score for all would say nothing.
        assert len({round(total, 6) for total in found.values()}) == len(found)


# What changes nothing


def scores_of(table: Table, limit: int = 3) -> np.ndarray:
    return local_scores(table, Additive(), limit, engine=ONE).values


def increasing(values: np.ndarray, seed: int) -> np.ndarray:
    """The same order with other distances."""
    distinct, places = np.unique(values, return_inverse=True)
    steps = np.random.default_rng(seed).exponential(size=len(distinct)) + 0.01
    return np.cumsum(steps)[places] - 10.0


@given(tables_of_kinds(), st.integers(0, 2**16))
@hypothesis_settings(max_examples=examples(40))
def test_only_the_order_of_numbers_matters(table: Table, seed: int) -> None:
    columns = tuple(
        increasing(column, seed) if levels is None else column
        for column, levels in zip(table.columns, table.levels, strict=True)
    )
    np.testing.assert_array_equal(scores_of(replace(table, columns=columns)), scores_of(table))


@given(tables_of_kinds(), st.integers(0, 15))
@hypothesis_settings(max_examples=examples(40))
def test_a_scale_that_is_turned_round_changes_nothing(table: Table, turned: int) -> None:
    columns, levels = list(table.columns), list(table.levels)
    for place, own in enumerate(table.levels):
        if turned >> place & 1:
            columns[place] = -table.columns[place] if own is None else (len(own) - 1 - table.columns[place])
            levels[place] = None if own is None else own[::-1]
    found = scores_of(replace(table, columns=tuple(columns), levels=tuple(levels)))
    np.testing.assert_allclose(found, scores_of(table), rtol=1e-10, atol=1e-8)


@given(tables_of_kinds(), st.integers(0, 2**16))
@hypothesis_settings(max_examples=examples(40))
def test_the_order_of_levels_matters_only_where_they_have_one(table: Table, seed: int) -> None:
    generator = np.random.default_rng(seed)
    columns, levels = list(table.columns), list(table.levels)
    for place, (own, ordered) in enumerate(zip(table.levels, table.ordered, strict=True)):
        if own is not None and (not ordered or len(own) <= 2 or MISSING_LEVEL in own):
            codes = generator.permutation(len(own)).astype(np.uint8)
            columns[place] = codes[table.columns[place]]
            levels[place] = tuple(own[place] for place in np.argsort(codes))
    found = scores_of(replace(table, columns=tuple(columns), levels=tuple(levels)))
    np.testing.assert_allclose(found, scores_of(table), rtol=1e-10, atol=1e-9)


@pytest.mark.parametrize("levels", [25, 60, 90])
def test_what_many_levels_are_called_does_not_matter(levels: int) -> None:
    """Although the rarer ones share an effect, and which are rarer is not clear where they tie."""
    generator = np.random.default_rng(levels)
    codes = np.concatenate([np.arange(90), generator.integers(0, 90, 40)]) % levels
    numbers = generator.normal(size=(2, 130)) + codes % 3
    names = tuple(f"level {code}" for code in range(levels))
    found = []
    for _ in range(3):
        codes = generator.permutation(levels)[codes]
        found.append(scores_of(Table(tuple("abc"), (codes.astype(np.uint8), *numbers), (names, None, None))))
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], rtol=1e-10)


@given(tables_of_kinds(), st.integers(0, 2**16))
@hypothesis_settings(max_examples=examples(40))
def test_the_order_of_rows_does_not_matter(table: Table, seed: int) -> None:
    rows = np.random.default_rng(seed).permutation(table.rows)
    np.testing.assert_allclose(scores_of(table.of_rows(rows)), scores_of(table), rtol=1e-10, atol=1e-9)


@given(tables_of_kinds())
@hypothesis_settings(max_examples=examples(40))
def test_a_row_that_counts_twice_is_two_rows(table: Table) -> None:
    every = np.repeat(np.arange(table.rows), table.weights)
    found = scores_of(replace(table.of_rows(every), counts=None))
    np.testing.assert_allclose(found, scores_of(table), rtol=1e-10, atol=1e-9)


@given(st.integers(0, 2**16), st.booleans())
@hypothesis_settings(max_examples=examples(40))
def test_columns_may_have_other_names_and_places(seed: int, extra: bool) -> None:
    generator = np.random.default_rng(seed)
    kinds = ("number", "nominal", "rounded", "ordered", "number")
    table = table_of_kinds(kinds, 25, seed, extra=extra)
    places = generator.permutation(5)
    masks = table.interventions
    moved = replace(
        table,
        names=tuple(f"w{place}" for place in places),
        columns=tuple(table.columns[place] for place in places),
        levels=tuple(table.levels[place] for place in places),
        interventions=None if masks is None else sum(
            (masks >> np.uint64(place) & np.uint64(1)) << np.uint64(now) for now, place in enumerate(places.tolist())
        ),
    )  # fmt: skip
    before, after = (local_scores(own, Additive(), 3) for own in (table, moved))
    for child, parents in naive.families(table, 3):
        expected = before.score(child, parents)
        assert after.score(f"w{child}", [f"w{parent}" for parent in parents]) == pytest.approx(expected, rel=1e-10)


# Parts of a table, threads, regimes


@given(st.integers(0, 2**16), st.integers(0, 4), st.booleans())
@hypothesis_settings(max_examples=examples(50))
def test_parts_of_a_table_have_the_scores_of_the_whole(seed: int, limit: int, extra: bool) -> None:
    """Groups of columns with the same candidates, apart from each other or not, as rules leave them."""
    generator = np.random.default_rng(seed)
    kinds = tuple(generator.choice(["number", "rounded", "nominal", "ordered", "binary"], 6).tolist())
    table = table_of_kinds(kinds, 30, seed, extra=extra)
    tier = generator.integers(0, 3, 6)
    allowed = [tier[None, :] <= tier[:, None], tier[None, :] < tier[:, None], generator.random((6, 6)) < 0.6][seed % 3]
    matrix = allowed.astype(np.bool_)
    np.fill_diagonal(matrix, False)
    score, lists = Additive(), ParentLists.of_matrix(matrix, limit)
    expected = local_scores(table, score, limit, engine=ONE)
    for node, values in enumerate(score_allowed(table, score, lists, engine=ONE)):
        for number, value in enumerate(values):
            assert value == pytest.approx(expected.score(node, lists.parents(node, number)), abs=1e-8, rel=1e-10)


@given(st.integers(0, 2**16), st.booleans())
@hypothesis_settings(max_examples=examples(40))
def test_one_parent_more_has_the_score_of_the_family(seed: int, extra: bool) -> None:
    """What searches and chains ask for: sets of parents of a node, each with one of many columns added."""
    generator = np.random.default_rng(seed)
    kinds = tuple(generator.choice(["number", "rounded", "nominal", "ordered", "binary"], 6).tolist())
    table = table_of_kinds(kinds, 30, seed, extra=extra)
    known, extend = local_scores(table, Additive(), 4, engine=ONE), Additive().extender(table, 4, 1)
    for node in range(6):
        others = [column for column in range(6) if column != node]
        sets = [[], others[:1], others[1:2], others[:2], others[:3]]
        padded = np.array([[*own, *[6] * (3 - len(own))] for own in sets], dtype=np.int16)
        added = np.array(others[3:], dtype=np.int64)
        found = extend(node, padded, added, np.zeros(1, dtype=np.int64))
        expected = [[known.score(node, [*own, other]) for other in added.tolist()] for own in sets]
        assert found == pytest.approx(np.array(expected), rel=1e-10, abs=1e-8)


def test_scores_are_the_same_for_any_number_of_threads() -> None:
    table = table_of_kinds(
        ("number", "nominal", "rounded", "ordered", "number", "binary", "number"), 200, 4, extra=True
    )
    one, three = (local_scores(table, Additive(), 4, engine=ThreadEngine(count)).values for count in (1, 3))
    np.testing.assert_array_equal(one, three)


@pytest.mark.parametrize("extra", [False, True])
def test_indicators_of_regimes_are_parents_within_their_limits(extra: bool) -> None:
    plain = table_of_kinds(("number", "nominal", "number", "binary", "binary"), 80, 6, extra=extra)
    regime = np.arange(80) % 3
    columns = (*plain.columns[:3], (regime == 1).astype(np.uint8), (regime == 2).astype(np.uint8))
    table = replace(plain, columns=columns, regimes=("v3", "v4"))
    assert_those_of_the_twin(table, Additive(), naive.Prior(), 4)
    for limits in ((2, 1), (1, 2)):
        assert_those_of_the_twin(replace(table, limits=limits), Additive(), naive.Prior(), 4)


# Columns that are hard to take


def hard_tables() -> dict[str, Table]:
    generator = np.random.default_rng(2)
    level, number = np.arange(60) % 3, generator.normal(size=60)
    other = number + generator.normal(size=60)
    columns: dict[str, tuple[np.ndarray, ...]] = {
        "a copy": (level, number, number),
        "nearly a copy": (level, number, number + 1e-3 * generator.normal(size=60)),
        "the other way round": (level, number, -number),
        "a level is the number": (np.digitize(number, (-0.5, 0.5)), np.digitize(number, (-0.5, 0.5)) * 1.0, other),
        "a row a level": (np.arange(60), number, other),
        "more levels than rows would tell apart": (np.arange(60) % 30, number, other),
        "many levels, some of them rare": (np.minimum(np.arange(60) * 7 % 60, 29), number, other),
        "as many levels as have effects of their own": (np.arange(60) % 20, number, other),
        "a level of one row": ((np.arange(60) == 7) * 1, number, other),
        "huge and tiny": (level, number * 1e300, other * 1e-300),
        "an outlier": (level, np.where(np.arange(60) == 7, 1e300, number), other),
        "constants": (level * 0, np.full(60, 7.0), other),
        "two values": (level, (number > 0) * 1.0, other),
        "one value for nearly all": (level, np.where(np.arange(60) < 2, number, 0.0), other),
    }
    return {
        name: Table(
            tuple("abc"),
            (own[0].astype(np.uint8), own[1].astype(float), own[2].astype(float)),
            (tuple(f"level {code:02}" for code in range(int(own[0].max()) + 1)), None, None),
        )
        for name, own in columns.items()
    }


@pytest.mark.parametrize("name", list(hard_tables()))
def test_hard_columns_have_the_scores_of_the_definition(name: str) -> None:
    assert_those_of_the_twin(hard_tables()[name], Additive(), naive.Prior(), 2)
