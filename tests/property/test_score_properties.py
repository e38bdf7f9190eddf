"""Every fast score against its slow twin on random tables, and what must hold for any data."""

from __future__ import annotations

from itertools import combinations
from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from tests.naive import scores as naive_scores

from dagpost.data.table import Table
from dagpost.engines import ThreadEngine
from dagpost.scores import BIC, K2, BDe, BDeu, BGe, cells, counting, local_scores, rows, set_functions


def with_rows(draw: st.DrawFn, generator: np.random.Generator, names: tuple[str, ...], count: int) -> dict:
    """Counts and interventions, each there or not."""
    extra: dict = {}
    largest = draw(st.sampled_from([None, None, 3, 5_000]))
    if largest is not None:
        extra["counts"] = generator.integers(0, largest + 1, count).astype(np.int64)
        extra["counts"][0] = max(extra["counts"][0], 1)
    if draw(st.booleans()):
        # Rows without any target, with one, with several; some nodes are set in no row, some in every one.
        masks = generator.integers(0, 1 << len(names), count, dtype=np.uint64)
        masks &= generator.integers(0, 1 << len(names), count, dtype=np.uint64)
        if draw(st.booleans()):
            masks |= np.uint64(1)
        extra["interventions"] = masks
    return extra


@st.composite
def discrete_tables(draw: st.DrawFn, largest_arity: int = 10) -> Table:
    """Tables with constant columns, levels that do not occur, and rows that repeat."""
    arities = draw(st.lists(st.integers(1, largest_arity), min_size=1, max_size=6))
    count = draw(st.integers(1, 60))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    names = tuple(f"v{node}" for node in range(len(arities)))
    occurring = [generator.integers(1, arity + 1) for arity in arities]
    columns = tuple(generator.integers(0, top, count).astype(np.uint8) for top in occurring)
    levels = tuple(tuple(range(arity)) for arity in arities)
    return Table(names, columns, levels, **with_rows(draw, generator, names, count))


@st.composite
def continuous_tables(draw: st.DrawFn) -> Table:
    """Correlated columns on different scales, some of them constant."""
    nodes = draw(st.integers(1, 6))
    count = draw(st.integers(1, 30))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    data = generator.normal(size=(count, nodes)) @ generator.normal(size=(nodes, nodes))
    data = data * generator.choice([0.0, 0.1, 1.0, 10.0], nodes) + generator.choice([0.0, 3.0], nodes)
    names = tuple(f"v{node}" for node in range(nodes))
    extra = with_rows(draw, generator, names, count)
    if "counts" in extra:
        extra["counts"] = np.minimum(extra["counts"], 4)
        extra["counts"][0] = 1
    return Table(names, tuple(np.ascontiguousarray(data.T)), (None,) * nodes, **extra)


def families(table: Table, max_parents: int) -> Any:
    """Every family of at most `max_parents` parents."""
    for child in range(len(table.names)):
        others = [node for node in range(len(table.names)) if node != child]
        for size in range(min(max_parents, len(others)) + 1):
            for parents in combinations(others, size):
                yield child, list(parents)


def assert_agrees(table: Table, score: Any, twin: Any, max_parents: int, threads: int = 1) -> None:
    scores = local_scores(table, score, max_parents, engine=ThreadEngine(threads))
    assert np.isfinite(scores.values).all()
    size = 1 + (table.observations if table.counts is not None else table.rows)
    for child, parents in families(table, max_parents):
        expected = twin(table, child, parents)
        # The definition itself loses digits where the parameter is large beside the counts.
        assert scores.score(child, parents) == pytest.approx(expected, rel=1e-9, abs=1e-9 + 1e-12 * size)


@given(discrete_tables(), st.integers(0, 5), st.sampled_from([0.01, 1.0, 7.5]))
def test_bdeu_matches_its_definition(table: Table, max_parents: int, strength: float) -> None:
    assert_agrees(
        table,
        BDeu(strength),
        lambda table, child, parents: naive_scores.bdeu(table, child, parents, strength),
        max_parents,
    )


@given(discrete_tables(), st.integers(0, 5), st.sampled_from([0.05, 0.5, 3.0]))
def test_bde_matches_its_definition(table: Table, max_parents: int, pseudocount: float) -> None:
    twin = lambda table, child, parents: naive_scores.dirichlet(table, child, parents, pseudocount)  # noqa: E731
    assert_agrees(table, BDe(pseudocount), twin, max_parents)


@given(discrete_tables(), st.integers(0, 5))
def test_k2_matches_its_definition(table: Table, max_parents: int) -> None:
    assert_agrees(
        table, K2(), lambda table, child, parents: naive_scores.dirichlet(table, child, parents, 1.0), max_parents
    )


@given(discrete_tables(), st.integers(0, 5))
def test_bic_matches_its_definition(table: Table, max_parents: int) -> None:
    assert_agrees(table, BIC(), naive_scores.bic, max_parents)


@given(
    continuous_tables(),
    st.integers(0, 5),
    st.sampled_from([0.5, 1.0, 4.0]),
    st.sampled_from([None, 1.5, 6.0]),
    st.sampled_from([None, 0.0, 2.0]),
    st.sampled_from([None, 1.0, 0.2]),
)
def test_bge_matches_the_textbook_formula(
    table: Table,
    max_parents: int,
    weight: float,
    extra_degrees: float | None,
    prior_mean: float | None,
    prior_scale: float | None,
) -> None:
    nodes = len(table.names)
    degrees = nodes + weight + 1 if extra_degrees is None else nodes + 1 + extra_degrees
    counts = np.ones(table.rows) if table.counts is None else table.counts
    mean = np.average(table.values(), axis=0, weights=counts)
    if prior_mean is not None:
        mean = np.full(nodes, prior_mean)
    score = BGe(weight, None if extra_degrees is None else degrees, prior_mean, prior_scale)
    prior = weight, degrees, mean, naive_scores.deviations(table, prior_scale)
    assert_agrees(
        table,
        score,
        lambda table, child, parents: naive_scores.bge(table, child, parents, *prior),
        max_parents,
    )


@hypothesis_settings(max_examples=40)
@given(
    discrete_tables(),
    st.sampled_from(["bdeu", "bde", "bic"]),
    st.sampled_from(
        [
            (counting, "_MOST_COUNTERS", 11),
            (cells, "_MOST_TABULATED", 2),
            (cells, "_MOST_PRODUCTS", 3),
            (set_functions, "BASE_BYTES", 8),
            (rows, "_MOST_CELLS", 4),
            (counting, "_SCRATCH_BYTES", 0),
        ]
    ),
)
def test_scores_do_not_depend_on_how_much_memory_the_kernel_allows_itself(table: Table, score: str, limit: Any) -> None:
    expected = local_scores(table, score).values
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(*limit)
        tight = local_scores(table, score).values
    np.testing.assert_allclose(tight, expected, rtol=1e-11, atol=1e-9)


@hypothesis_settings(max_examples=30)
@given(discrete_tables(), st.sampled_from(["bdeu", "k2", "bic"]))
def test_discrete_scores_are_the_same_for_any_number_of_threads(table: Table, score: str) -> None:
    one, three = (local_scores(table, score, engine=ThreadEngine(threads)).values for threads in (1, 3))
    np.testing.assert_array_equal(one, three)


@hypothesis_settings(max_examples=30)
@given(discrete_tables(), st.randoms(use_true_random=False))
def test_relabelling_the_nodes_permutes_the_scores(table: Table, random: Any) -> None:
    order = list(range(len(table.names)))
    random.shuffle(order)
    masks = None
    if table.interventions is not None:
        masks = np.zeros_like(table.interventions)
        for new, old in enumerate(order):
            masks |= (table.interventions >> np.uint64(old) & np.uint64(1)) << np.uint64(new)
    moved = Table(
        tuple(table.names[old] for old in order),
        tuple(table.columns[old] for old in order),
        tuple(table.levels[old] for old in order),
        table.counts,
        masks,
    )
    before = local_scores(table, "bdeu", 3)
    after = local_scores(moved, "bdeu", 3)
    for child, parents in families(table, 3):
        names = [table.names[parent] for parent in parents]
        assert after.score(table.names[child], names) == pytest.approx(
            before.score(table.names[child], names), rel=1e-11, abs=1e-9
        )


def covered_edges(parents: list[set[int]]) -> list[tuple[int, int]]:
    """Edges whose reversal says the same about independence: both ends have the same other parents."""
    return [(tail, head) for head, tails in enumerate(parents) for tail in tails if parents[tail] == tails - {tail}]


def assert_equivalent(table: Table, score: Any, random: Any) -> None:
    nodes = len(table.names)
    order = list(range(nodes))
    random.shuffle(order)
    parents: list[set[int]] = [set() for _ in range(nodes)]
    for place, node in enumerate(order):
        parents[node] = {other for other in order[:place] if random.random() < 0.6}
    scores = local_scores(table, score, nodes - 1)

    def total() -> float:
        return sum(scores.score(node, parents[node]) for node in range(nodes))

    before = total()
    for tail, head in covered_edges(parents):
        parents[head].discard(tail)
        parents[tail].add(head)
        assert total() == pytest.approx(before, rel=1e-10, abs=1e-9)
        parents[tail].discard(head)
        parents[head].add(tail)


@given(discrete_tables(), st.sampled_from([BDeu(), BDeu(10.0), BIC()]), st.randoms(use_true_random=False))
def test_markov_equivalent_dags_have_equal_bdeu_and_bic_scores(table: Table, score: Any, random: Any) -> None:
    assert_equivalent(Table(table.names, table.columns, table.levels, table.counts), score, random)


@given(continuous_tables(), st.sampled_from([BGe(), BGe(2.0, 20.0, 1.0)]), st.randoms(use_true_random=False))
def test_markov_equivalent_dags_have_equal_bge_scores(table: Table, score: BGe, random: Any) -> None:
    assert_equivalent(Table(table.names, table.columns, table.levels, table.counts), score, random)


@given(
    st.lists(st.sampled_from([1, 2, 3, 5, 2.0**40, 3.0**30]), min_size=1, max_size=6).map(tuple),
    st.integers(1, 4),
)
def test_all_numbers_of_configurations_that_can_occur_are_tabulated(arities: tuple, max_size: int) -> None:
    products = cells._products(arities, max_size)
    for size in range(max_size + 1):
        for members in combinations(arities, size):
            nearest = products[np.abs(products - float(prod(members))).argmin()]
            assert nearest == pytest.approx(float(prod(members)), rel=1e-12)
