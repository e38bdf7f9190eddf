"""The bootstrap of greedy search: replicates of the table, and the graph that is found for each."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2
from tests.naive import posterior as naive
from tests.naive import search as naive_search

from dagpost._tools.progress import reporter_for
from dagpost.data import Table, as_table, datasets
from dagpost.engines import Engine, ThreadEngine
from dagpost.families import family_sums as chain_families
from dagpost.families.family_sums import FamilyTables, family_tables
from dagpost.families.numbering import family_count
from dagpost.mcmc.candidates import weights_of_all
from dagpost.mcmc.considered import weights_among_candidates
from dagpost.priors import CustomPrior, InDegreePrior, StructurePrior, UniformPrior, log_prior
from dagpost.priors.constraints import Constraints
from dagpost.priors.study import Study
from dagpost.scores import BIC, BDeu, BGe, Score, local_scores
from dagpost.search.hill_climbing import climb, log_weights_of_graphs, starting_graph
from dagpost.search.replicates import bootstrap_dags, resampled

FALSE_ALARM = 1e-6
ENGINE = ThreadEngine(2)
SEED = np.random.SeedSequence(77, spawn_key=(2,))
NO_CONSTRAINTS = Constraints()


def generator_of(replicate: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence(77, spawn_key=(2, replicate)))


def linked_table(rows: int = 300, seed: int = 1) -> Table:
    """A -> b -> c, and d by itself."""
    rng = np.random.default_rng(seed)
    a, d = rng.integers(0, 2, rows), rng.integers(0, 3, rows)
    b = np.where(rng.random(rows) < 0.1, 1 - a, a)
    c = np.where(rng.random(rows) < 0.2, 1 - b, b)
    return as_table(np.column_stack([a, b, c, d]))


def intervened_table() -> Table:
    table = linked_table(200, 2)
    targets = [[None, "V1", ("V0", "V3"), "V2"][row % 4] for row in range(200)]
    return as_table(np.column_stack(table.columns).astype(np.int64), interventions=targets)


def gaussian_table() -> Table:
    rng = np.random.default_rng(3)
    values = rng.normal(size=(80, 5))
    values[:, 1] += values[:, 0]
    values[:, 3] -= values[:, 1]
    return as_table(values)


def log_weights_of(
    table: Table, score: Score, prior: StructurePrior, constraints: Constraints, max_parents: int
) -> naive.Logs:
    scores = local_scores(table, score, max_parents, engine=ENGINE)
    return scores.values + log_prior(table.names, max_parents, prior, constraints)


def families_of(
    table: Table,
    score: Score | None = None,
    prior: StructurePrior | None = None,
    constraints: Constraints = NO_CONSTRAINTS,
    max_parents: int = 3,
) -> FamilyTables:
    log_weights = log_weights_of(table, score or BDeu(), prior or UniformPrior(), constraints, max_parents)
    return family_tables(weights_of_all(log_weights, max_parents), engine=ENGINE)


def bootstrap(table: Table, count: int, **options: Any) -> tuple[np.ndarray, np.ndarray]:
    """BDeu, a uniform prior and no constraints unless told otherwise."""
    score, prior = options.pop("score", BDeu()), options.pop("prior", UniformPrior())
    constraints, max_parents = options.pop("constraints", NO_CONSTRAINTS), options.pop("max_parents", 3)
    found = options.pop("families", None)
    if found is None:
        found = families_of(table, score, prior, constraints, max_parents)
    settings = {"seed": SEED, "engine": ENGINE, **options}
    return bootstrap_dags(table, score, prior, constraints, max_parents, count, families=found, **settings)


# Replicates of the table


@pytest.mark.parametrize(
    "table",
    [datasets.load("coronary"), intervened_table(), gaussian_table()],
    ids=["counts", "interventions", "floats"],
)
def test_a_replicate_has_as_many_observations_of_the_same_rows(table: Table) -> None:
    found = resampled(table, np.random.default_rng(4))
    assert found.observations == table.observations
    assert found.counts is not None
    assert found.counts.min() >= 1
    assert (found.names, found.levels) == (table.names, table.levels)
    assert (found.interventions is None) == (table.interventions is None)

    def rows_of(part: Table) -> list[tuple[float, ...]]:
        masks = np.zeros(part.rows) if part.interventions is None else part.interventions
        return list(zip(*(column.tolist() for column in part.columns), masks.tolist(), strict=True))

    assert set(rows_of(found)) <= set(rows_of(table))


def test_rows_are_drawn_in_proportion_to_their_counts() -> None:
    """Chi-square over the rows of 300 replicates, false alarm 1e-6; a row that stands for nothing is never drawn."""
    counts = np.array([1, 0, 5, 20, 74])
    codes = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [2, 0]])
    table = as_table(codes, counts=counts)
    drawn = np.zeros((3, 2), dtype=np.int64)
    for replicate in range(300):
        part = resampled(table, generator_of(replicate))
        assert part.counts is not None
        np.add.at(drawn, (part.columns[0], part.columns[1]), part.counts)
    seen = drawn[codes[:, 0], codes[:, 1]]
    assert seen.sum() == 300 * 100
    assert seen[1] == 0
    expected = 300.0 * counts[counts > 0]
    statistic = float(((seen[counts > 0] - expected) ** 2 / expected).sum())
    assert chi2.sf(statistic, 3) > FALSE_ALARM


# Graphs


CASES: dict[str, tuple[Table, Score, StructurePrior, Constraints]] = {
    "BDeu": (linked_table(), BDeu(), UniformPrior(), NO_CONSTRAINTS),
    "BIC, counts": (datasets.load("coronary"), BIC(), InDegreePrior(), NO_CONSTRAINTS),
    "BGe": (gaussian_table(), BGe(), UniformPrior(), NO_CONSTRAINTS),
    "interventions": (intervened_table(), BDeu(), UniformPrior(), NO_CONSTRAINTS),
    "required": (
        linked_table(),
        BDeu(),
        UniformPrior(),
        Constraints(required=[("V2", "V0"), ("V3", "V0")], forbidden=[("V0", "V1")]),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_each_graph_is_where_a_climb_on_its_replicate_ends(name: str) -> None:
    table, score, prior, constraints = CASES[name]
    families = families_of(table, score, prior, constraints)
    parents, log_weights = bootstrap(table, 6, score=score, prior=prior, constraints=constraints, families=families)
    start = tuple(starting_graph(families).tolist())
    by_mask = naive.weights_by_mask(log_weights_of(table, score, prior, constraints, 3), 3)
    for replicate in range(6):
        rows = resampled(table, generator_of(replicate))
        own = log_weights_of(rows, score, prior, constraints, 3)
        expected, _ = naive_search.climb(own, 3, start)
        assert tuple(parents[replicate].tolist()) == expected
        assert log_weights[replicate] == pytest.approx(naive_search.log_weight(by_mask, expected), rel=1e-12)
    assert len(np.unique(parents, axis=0)) > 1


def test_what_the_rows_say_clearly_is_found_every_time() -> None:
    parents, _ = bootstrap(linked_table(), 100)
    forth, back = parents[:, 1] & np.uint64(1), parents[:, 0] >> np.uint64(1) & np.uint64(1)
    assert ((forth | back) == 1).all()
    # BDeu says nothing about the direction of a -> b -> c; which one is found is up to how ties are broken.
    alone = (parents[:, 3] == 0) & ((parents >> np.uint64(3) & np.uint64(1)).sum(axis=1) == 0)
    assert alone.mean() > 0.5


def test_constraints_hold_in_every_graph() -> None:
    constraints = Constraints(required=[("V3", "V1")], forbidden=[("V0", "V1")], tiers=[["V3", "V0"], ["V2"]])
    parents, log_weights = bootstrap(linked_table(), 50, constraints=constraints)
    assert (parents[:, 1] >> np.uint64(3) & np.uint64(1) == 1).all()
    assert (parents[:, 1] & np.uint64(1) == 0).all()
    assert ((parents[:, [0, 3]] >> np.uint64(2)) & np.uint64(1) == 0).all()
    assert np.isfinite(log_weights).all()


def test_more_replicates_begin_with_fewer_whatever_the_threads() -> None:
    table = datasets.load("coronary")
    whole, weights = bootstrap(table, 40)
    part, part_weights = bootstrap(table, 20)
    np.testing.assert_array_equal(part, whole[:20])
    np.testing.assert_array_equal(part_weights, weights[:20])
    one, one_weights = bootstrap(table, 40, engine=ThreadEngine(1))
    np.testing.assert_array_equal(one, whole)
    np.testing.assert_array_equal(one_weights, weights)
    other, _ = bootstrap(table, 40, seed=np.random.SeedSequence(78))
    assert (other != whole).any()


def test_the_table_is_left_as_it_was() -> None:
    table = datasets.load("coronary")
    before = table.fingerprint()
    bootstrap(table, 3)
    assert table.fingerprint() == before


# Too many families


def small_limits(monkeypatch: pytest.MonkeyPatch, nodes: int, width: int, small_size: int) -> None:
    monkeypatch.setattr(chain_families, "ALL_CANDIDATES", 2)
    monkeypatch.setattr(chain_families, "CANDIDATES", width)
    monkeypatch.setattr(chain_families, "MOST_FAMILIES", nodes * family_count(nodes - 1, small_size))


def test_among_candidates_each_graph_is_where_a_climb_ends_too(monkeypatch: pytest.MonkeyPatch) -> None:
    table = datasets.load("coronary")
    small_limits(monkeypatch, 6, 3, 1)
    weights = weights_among_candidates(Study(table, BDeu(), UniformPrior(), NO_CONSTRAINTS, 4), engine=ENGINE)
    families = family_tables(weights, engine=ENGINE)
    parents, log_weights = bootstrap(table, 6, max_parents=4, families=families)
    for replicate in range(6):
        rows = resampled(table, generator_of(replicate))
        own = weights_among_candidates(Study(rows, BDeu(), UniformPrior(), NO_CONSTRAINTS, 4), engine=ENGINE)
        expected, _ = climb(family_tables(own, engine=ENGINE))
        np.testing.assert_array_equal(parents[replicate], expected)
    np.testing.assert_array_equal(log_weights, log_weights_of_graphs(families, parents))


def test_a_start_that_other_candidates_do_not_allow_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Column 0 must have three parents, which only sets of candidates have: those differ between replicates."""
    rng = np.random.default_rng(5)
    table = as_table(rng.integers(0, 2, size=(60, 6)))
    small_limits(monkeypatch, 6, 3, 1)
    prior = CustomPrior(lambda child, parents: -math.inf if child == "V0" and len(parents) != 3 else 0.0)
    weights = weights_among_candidates(Study(table, BDeu(), prior, NO_CONSTRAINTS, 3), engine=ENGINE)
    families = family_tables(weights, engine=ENGINE)
    parents, log_weights = bootstrap(table, 20, prior=prior, max_parents=3, families=families)
    assert {int(mask).bit_count() for mask in parents[:, 0]} == {3}
    assert len(np.unique(parents[:, 0])) > 1
    same = parents[:, 0] == naive.mask_of(weights.candidates[0].tolist())
    assert np.isneginf(log_weights[~same]).all()


# Progress and interrupts


def test_progress_counts_the_replicates() -> None:
    seen: list[tuple[str, int, int]] = []
    reporter = reporter_for(lambda title, done, total: seen.append((title, done, total)))
    bootstrap(linked_table(), 5, reporter=reporter)
    assert seen == [("replicates", done, 5) for done in range(1, 6)]


def test_an_interrupt_is_passed_on() -> None:
    def press(title: str, done: int, total: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bootstrap(linked_table(), 50, reporter=reporter_for(press))


def test_giving_up_a_replicate_gives_up_its_scoring() -> None:
    """Otherwise an interrupt would have to wait until the families of every replicate under way are scored."""
    flags: list[int] = []

    class Watching:
        def fill(self, table: Table, max_parents: int, values: np.ndarray, engine: Any, reporter: Any) -> None:
            values[...] = 0.0

            def look(item: int, cancel: np.ndarray) -> None:
                flags.append(int(cancel[0]))

            assert list(engine.run(look, [0, 1])) == [None, None]

    class GivingUp(Engine):
        workers = 1

        def run(self, block: Callable[..., Any], items: Sequence[Any]) -> Iterator[Any]:
            for item in items:
                yield block(item, np.array([1]))

    found = families_of(linked_table())
    parents, _ = bootstrap(linked_table(), 1, score=Watching(), families=found, engine=GivingUp())
    assert flags == [1, 1]
    assert parents.tolist() == [[0, 0, 0, 0]]
