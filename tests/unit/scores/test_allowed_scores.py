"""Scores of the parent sets that rules allow: those of `local_scores` where both exist, single families beyond."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from tests.naive import scores as naive_scores
from tests.property.test_counted_elsewhere import CountingEngine
from tests.tools.broken_off import Stopped, StoppingEngine, eager
from tests.tools.examples import examples
from tests.tools.wording import Said

from dagpost._tools import memory
from dagpost._tools.progress import reporter_for
from dagpost.data.table import Table
from dagpost.engines import ThreadEngine
from dagpost.errors import InputError, ResourceError
from dagpost.families.parent_lists import ParentLists, all_others
from dagpost.scores import BIC, K2, Additive, BDe, BDeu, BGe, ConditionalGaussian, CustomScore, Score, local_scores
from dagpost.scores.allowed_scores import groups_of, score_allowed
from dagpost.scores.columns import part_of

SCORES = [
    *(BDeu(2.0), BDe(0.5), K2(), BIC(), BGe(), BGe(degrees_of_freedom=20.0, prior_mean=(1.0, 2.0, 3.0, 4.0, 5.0, 6.0))),
    *(ConditionalGaussian(), ConditionalGaussian(2.0, 0.5, 20.0, (1.0, 2.0, 3.0), (1.0, 0.5, 2.0))),
]
ONE = ThreadEngine(1)


def spread(child: Any, parents: Any) -> float:
    """A score that looks at the rows and at the order of nothing."""
    return float(len(child) * (child.astype(int).sum() + 1) / (1.0 + parents.astype(int).to_numpy().sum()))


def random_table(score: Score, columns: int, rows: int, seed: int, extra: bool) -> Table:
    """Counted rows of related columns, some of them set by intervention, if `extra`; else plain rows."""
    generator = np.random.default_rng(seed)
    names = tuple(f"v{column}" for column in range(columns))
    values = generator.normal(size=(rows, columns))
    values[:, 1:] += values[:, :-1]
    more: dict[str, Any] = {}
    if extra:
        more["counts"] = generator.integers(0, 4, rows) + (np.arange(rows) == 0)
        more["interventions"] = generator.integers(0, 1 << columns, rows, dtype=np.uint64)
        more["interventions"] &= generator.integers(0, 1 << columns, rows, dtype=np.uint64)
    if score.columns == "continuous":
        return Table(names, tuple(values.T.copy()), (None,) * columns, **more)
    arities = generator.integers(1, 5, columns)
    codes = list(np.clip(np.floor(values) + 2, 0, arities - 1).astype(np.uint8).T.copy())
    levels: list[tuple[int, ...] | None] = [tuple(range(arity)) for arity in arities]
    if score.columns == "mixed":
        for column in range(1, columns, 2):
            codes[column], levels[column] = values[:, column].copy(), None
    return Table(names, tuple(codes), tuple(levels), **more)


def random_lists(columns: int, max_parents: int, seed: int) -> ParentLists:
    """Tiers with and without edges inside, or edges that are forbidden here and there, or everything."""
    generator = np.random.default_rng(seed)
    tier = generator.integers(0, 3, columns)
    allowed = [
        tier[None, :] <= tier[:, None],
        tier[None, :] < tier[:, None],
        generator.random((columns, columns)) < 0.6,
        np.ones((columns, columns)),
    ]
    matrix = allowed[seed % 4].astype(np.bool_)
    np.fill_diagonal(matrix, False)
    return ParentLists.of_matrix(matrix, max_parents)


@given(st.sampled_from(SCORES), st.integers(0, 4), st.integers(0, 2**16), st.booleans())
@hypothesis_settings(max_examples=examples(60))
def test_scores_are_those_of_all_families(score: Score, limit: int, seed: int, extra: bool) -> None:
    assert_those_of_all_families(score, random_table(score, 6, 40, seed, extra), random_lists(6, limit, seed))


@pytest.mark.parametrize("seed", range(4))
def test_a_function_gives_the_scores_of_all_families(seed: int) -> None:
    assert_those_of_all_families(CustomScore(spread), random_table(BDeu(), 4, 10, seed, True), random_lists(4, 2, seed))


def assert_those_of_all_families(score: Score, table: Table, lists: ParentLists) -> None:
    expected = local_scores(table, score, lists.max_parents)
    found = score_allowed(table, score, lists, engine=ONE)
    assert [len(own) for own in found] == lists.counts.tolist()
    for node, own in enumerate(found):
        for number, value in enumerate(own):
            assert value == pytest.approx(expected.score(node, lists.parents(node, number)), abs=1e-9, rel=1e-11)


@pytest.mark.parametrize("score", [*SCORES[:5], SCORES[6]], ids=lambda score: type(score).__name__)
def test_without_rules_the_scores_are_the_same_to_the_last_bit(score: Score) -> None:
    table = random_table(score, 6, 300, 8, False)
    found = score_allowed(table, score, all_others(6, 3), engine=ONE)
    np.testing.assert_array_equal(np.stack(found), local_scores(table, score, 3).values)


def wide_rules(columns: int, modelled: int, max_parents: int) -> tuple[ParentLists, np.ndarray]:
    """The last columns are modelled and may be parents of each other; the others are exogenous."""
    allowed = np.zeros((columns, columns), dtype=np.bool_)
    allowed[-modelled:] = True
    np.fill_diagonal(allowed, False)
    return ParentLists.of_matrix(allowed, max_parents), np.arange(columns) >= columns - modelled


@pytest.mark.parametrize(
    "score",
    [BDeu(), BIC(), BGe(), BGe(degrees_of_freedom=140.0), ConditionalGaussian(degrees_of_freedom=70.0)],
    ids=repr,
)
@pytest.mark.parametrize("reverse", [False, True])
def test_beyond_64_columns_families_have_the_scores_that_they_have_alone(score: Score, reverse: bool) -> None:
    columns = 130
    table = random_table(score, columns, 150, 4, False)
    lists, modelled = wide_rules(columns, 3, 2)
    if reverse:
        matrix, modelled = lists.matrix[::-1, ::-1], modelled[::-1]
        lists = ParentLists.of_matrix(matrix, 2)
    found = score_allowed(table, score, lists, engine=ThreadEngine(2), modelled=modelled)
    assert all(own.tolist() == [0.0] for own, scored in zip(found, modelled, strict=True) if not scored)
    generator = np.random.default_rng(0)
    for node in np.flatnonzero(modelled).tolist():
        assert len(found[node]) == lists.counts[node] == 1 + 129 + 129 * 128 // 2
        for number in [0, 1, 129, 130, len(found[node]) - 1, *generator.integers(0, len(found[node]), 40)]:
            family = [*lists.parents(node, int(number)), node]
            alone = local_scores(part_of(table, family), score.of_columns(family, table), 2)
            expected = alone.score(len(family) - 1, range(len(family) - 1))
            assert found[node][number] == pytest.approx(expected, abs=1e-9, rel=1e-11)


@given(st.integers(0, 2**16))
@hypothesis_settings(max_examples=15)
def test_wide_tables_of_many_levels_agree_with_the_slow_twin(seed: int) -> None:
    table = random_table(K2(), 70, 30, seed, False)
    lists, modelled = wide_rules(70, 2, 2)
    found = score_allowed(table, K2(), lists, engine=ONE, modelled=modelled)
    generator = np.random.default_rng(seed)
    for number in generator.integers(0, len(found[-1]), 20).tolist():
        expected = naive_scores.dirichlet(table, 69, list(lists.parents(69, number)), 1.0)
        assert found[-1][number] == pytest.approx(expected, abs=1e-9)


def test_nodes_with_the_same_columns_share_a_walk() -> None:
    tier = np.arange(60) // 15
    allowed = (tier[None, :] <= tier[:, None]) & ~np.eye(60, dtype=np.bool_)
    groups = groups_of(ParentLists.of_matrix(allowed, 3), np.ones(60, dtype=np.bool_))
    assert [(len(group.columns), len(group.wanted)) for group in groups] == [(60, 15), (45, 15), (30, 15), (15, 15)]
    assert groups[0].nodes == list(range(45, 60))
    lagged = np.zeros((60, 60), dtype=np.bool_)
    lagged[45:, :40] = True
    modelled = np.arange(60) >= 45
    (group,) = groups_of(ParentLists.of_matrix(lagged, 3), modelled)
    assert (group.columns, group.candidates, group.nodes) == ((*range(40), *range(45, 60)), 40, list(range(45, 60)))


@pytest.mark.parametrize("interventions", [False, True])
def test_an_engine_that_counts_in_its_own_way_gives_the_same(interventions: bool) -> None:
    table = random_table(BDeu(), 6, 60, 3, interventions)
    lists = random_lists(6, 3, 0)
    own = score_allowed(table, BDeu(), lists, engine=CountingEngine(1))
    for one, other in zip(own, score_allowed(table, BDeu(), lists, engine=ONE), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-9)


class Asked(CountingEngine):
    """Notes how many columns it was asked to count."""

    def __init__(self) -> None:
        super().__init__(1)
        self.columns: list[int] = []

    def sum_cells(self, rows: Any, cells: Any, max_size: int) -> Any:
        self.columns.append(len(rows.order))
        return super().sum_cells(rows, cells, max_size)


def test_an_engine_is_not_asked_to_count_what_nobody_wants() -> None:
    table = random_table(BDeu(), 12, 40, 3, False)
    engine = Asked()
    lists, modelled = wide_rules(12, 1, 2)
    score_allowed(table, BDeu(), lists, engine=engine, modelled=modelled)
    assert engine.columns == []
    lists, modelled = wide_rules(12, 8, 2)
    score_allowed(table, BDeu(), lists, engine=engine, modelled=modelled)
    assert engine.columns == [12]


class BySize(Score):
    """A score of the user's that says nothing but how many columns there are, and the number of the set."""

    def fill(self, table: Any, max_parents: Any, values: Any, *_: Any) -> None:
        values[:] = np.arange(values.shape[1]) + 1000 * np.arange(len(table.names))[:, np.newaxis]


def test_a_score_that_can_only_fill_whole_tables_is_asked_for_the_columns_of_each_group(said: Said) -> None:
    table = random_table(BDeu(), 6, 20, 1, False)
    lists = ParentLists.of_matrix(np.tri(6, k=-1, dtype=np.bool_), 2)
    found = score_allowed(table, BySize(), lists, engine=ONE)
    assert all(own.tolist() == [1000 * node + n for n in range(len(own))] for node, own in enumerate(found))
    apart = np.zeros((6, 6), dtype=np.bool_)
    apart[2:, :2] = True
    found = score_allowed(table, BySize(), ParentLists.of_matrix(apart, 2), engine=ONE)
    assert [own.tolist() for own in found[2:]] == [[2000.0, 2001.0, 2002.0, 2003.0]] * 4
    lists, modelled = wide_rules(70, 2, 1)
    with said.raises(InputError):
        score_allowed(random_table(BDeu(), 70, 5, 1, False), BySize(), lists, engine=ONE, modelled=modelled)


def test_a_function_is_asked_for_the_allowed_families_alone_also_beyond_64_columns() -> None:
    asked = []

    def noted(child: Any, parents: Any) -> float:
        asked.append((child.name, *parents.columns))
        return float(len(asked))

    table = random_table(BDeu(), 70, 5, 1, False)
    lists, modelled = wide_rules(70, 2, 1)
    found = score_allowed(table, CustomScore(noted), lists, engine=ONE, modelled=modelled)
    assert len(asked) == len(set(asked)) == 2 * 70
    for node in (68, 69):
        for number, value in enumerate(found[node].tolist()):
            assert asked[int(value) - 1] == (f"v{node}", *(f"v{parent}" for parent in lists.parents(node, number)))


def test_a_class_that_fills_in_its_own_way_is_not_bypassed() -> None:
    class Shifted(BDeu):
        def fill(self, table: Any, max_parents: Any, values: Any, *rest: Any) -> None:
            super().fill(table, max_parents, values, *rest)
            values += 1.0

    table, lists = random_table(BDeu(), 5, 30, 2, False), random_lists(5, 2, 0)
    shifted, plain = (score_allowed(table, score, lists, engine=ONE) for score in (Shifted(), BDeu()))
    for one, other in zip(shifted, plain, strict=True):
        np.testing.assert_allclose(one, other + 1.0)


@pytest.fixture
def tiers() -> ParentLists:
    tier = np.array([0, 0, 0, 1, 1, 2, 2])
    return ParentLists.of_matrix((tier[None, :] <= tier[:, None]) & ~np.eye(7, dtype=np.bool_), 2)


@pytest.mark.parametrize("score", [BDeu(), BGe(), ConditionalGaussian(), Additive()], ids=lambda score: score.name)
def test_a_run_that_is_broken_off_anywhere_resumes_and_gives_the_same(
    score: Score, tiers: ParentLists, tmp_path: Path
) -> None:
    table = random_table(score, 7, 60, 5, False)
    done: list[int] = []
    reporter = reporter_for(lambda _, units, __: done.append(units))

    def attempt(engine: ThreadEngine, folder: Path) -> tuple[np.ndarray, ...]:
        done.clear()
        with eager(folder).task("fit", {}) as kept:
            return score_allowed(table, score, tiers, engine=engine, reporter=reporter, checkpoint=kept)

    whole = score_allowed(table, score, tiers, engine=ONE)
    counting = StoppingEngine(10**6)
    attempt(counting, tmp_path / "counting")
    results = 10**6 - int(counting.left)
    for place in range(1, results, results // 4):
        with pytest.raises(Stopped):
            attempt(StoppingEngine(place), tmp_path / str(place))
        again = StoppingEngine(10**6)
        found = attempt(again, tmp_path / str(place))
        assert all(np.array_equal(one, other) for one, other in zip(found, whole, strict=True))
        assert done == sorted(done)
        assert done[-1] == tiers.counts.sum()
        # Only what was under way is done again: one task, and taking B off the nodes of a group.
        assert 10**6 - int(again.left) <= results - place + 5


def test_a_function_that_fails_is_not_asked_again_for_the_nodes_that_it_has_answered(
    tiers: ParentLists, tmp_path: Path
) -> None:
    table = random_table(BDeu(), 7, 60, 5, False)
    asked: list[tuple[str, ...]] = []
    left = 70

    def fails_once(child: Any, parents: Any) -> float:
        nonlocal left
        left -= 1
        if left == 0:
            raise Stopped
        asked.append((child.name, *parents.columns))
        return float(child.nunique() - len(parents.columns))

    def attempt() -> tuple[np.ndarray, ...]:
        with eager(tmp_path / "run").task("fit", {}) as kept:
            return score_allowed(table, CustomScore(fails_once), tiers, engine=ONE, checkpoint=kept)

    with pytest.raises(Stopped):
        attempt()
    found = attempt()
    assert len(set(asked)) == tiers.counts.sum()
    assert len(asked) - len(set(asked)) < 22
    assert found[0][0] - found[0][1] == 1.0


def test_what_does_not_fit_is_refused_with_the_number_of_families(monkeypatch: pytest.MonkeyPatch, said: Said) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 10**6)
    lists, modelled = wide_rules(220, 20, 3)
    with said.raises(ResourceError):
        score_allowed(cast("Any", random_table(BDeu(), 220, 3, 1, False)), BDeu(), lists, engine=ONE, modelled=modelled)


def test_known_interventions_are_refused_beyond_64_columns(said: Said) -> None:
    table = random_table(BDeu(), 70, 5, 1, False)
    masks = np.ones(5, dtype=np.uint64)
    table = Table(table.names, table.columns, table.levels, interventions=masks)
    lists, modelled = wide_rules(70, 2, 1)
    with said.raises(InputError):
        score_allowed(table, BDeu(), lists, engine=ONE, modelled=modelled)
