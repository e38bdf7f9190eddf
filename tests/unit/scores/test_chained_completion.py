"""Cells drawn by regressions of each column on others: only what was observed, by what the others say, in its shape."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from dagpost import BGe, DagPosterior
from dagpost.data import as_table
from dagpost.mcmc.augmentation import members_of_masks
from dagpost.scores import Additive
from dagpost.scores.chained_completion import ChainedCompleter

GO_ON: Any = np.zeros(1, dtype=np.int64)


# Columns that say nothing are left out; short chains say that they are not to be trusted yet.
pytestmark = pytest.mark.filterwarnings("ignore::dagpost.DagpostWarning")


def patients(rows: int = 300, share: float = 0.3, seed: int = 1) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A table of numbers and levels, bent and straight relations, and the same with cells erased at random."""
    rng = np.random.default_rng(seed)
    age = rng.uniform(20, 80, rows).round()
    dose = rng.gamma(2.0, 10.0, rows)
    level = 0.02 * (age - 50) ** 2 + rng.normal(0, 4, rows)
    ill = np.where(level + rng.logistic(0, 2, rows) > 8, "yes", "no")
    site = rng.choice(["north", "south", "west"], rows)
    full = pd.DataFrame({"age": age, "dose": dose, "level": level, "ill": ill, "site": site})
    return full, full.mask(rng.random(full.shape) < share)


def graph_of(edges: list[tuple[int, int]], nodes: int) -> Any:
    masks = np.zeros((nodes, 1), dtype=np.uint64)
    for parent, child in edges:
        masks[child] |= np.uint64(1) << np.uint64(parent)
    return members_of_masks(masks, nodes)


def test_cells_are_observed_values_and_depend_on_the_seed_alone() -> None:
    table = as_table(patients()[1])
    completer, families = ChainedCompleter(table), graph_of([(0, 2), (2, 3)], 5)
    first, again, other = (completer.begin(np.random.default_rng(seed)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()
    cells = first.copy()
    completer.redraw(cells, families, np.random.default_rng(3), GO_ON)
    assert (cells != first).any()
    done, gaps = table.filled(cells), table.gaps
    assert gaps is not None
    for before, after, own in zip(table.columns, done.columns, gaps, strict=True):
        np.testing.assert_array_equal(before[~own], after[~own])
        assert set(after[own].tolist()) <= set(before[~own].tolist())
    cancelled = cells.copy()
    completer.redraw(cancelled, families, np.random.default_rng(4), np.ones(1, dtype=np.int64))
    np.testing.assert_array_equal(cancelled, cells)


def test_a_bent_relation_is_in_the_cells_given_its_graph_and_not_without_it() -> None:
    full, erased = patients(1_000)
    table = as_table(erased)
    completer, gaps = ChainedCompleter(table), erased["level"].isna().to_numpy()
    bent = (full["age"][gaps] - 50) ** 2

    def correlation(edges: list[tuple[int, int]]) -> float:
        rng, found = np.random.default_rng(5), []
        cells = completer.begin(rng)
        for _ in range(5):
            completer.redraw(cells, graph_of(edges, 5), rng, GO_ON)
            found.append(np.corrcoef(table.filled(cells).columns[2][gaps], bent)[0, 1])
        return float(np.mean(found))

    # With all cells there it is 0.9; a third of the ages are drawn themselves.
    assert correlation([(0, 2)]) > 0.5
    # Of 300 gaps: four standard errors.
    assert abs(correlation([])) < 0.23


def test_what_an_erased_table_says_is_near_what_the_complete_one_does() -> None:
    full, erased = patients(400)
    # Told what came first, so that directions do not hide how large effects are.
    settings: Any = {"prior": "edge:0.2", "tiers": [["age", "dose", "site"], ["level"], ["ill"]], "seed": 1}
    complete = DagPosterior("additive", **settings, progress=False).fit(full)
    model = DagPosterior("additive", **settings, progress=False, samples=4_000).fit(erased)
    wanted, found = (own.edge_probabilities_.to_numpy() for own in (complete, model))
    # True relations stay clear, and nothing is invented with 0.5.
    np.testing.assert_array_equal(found >= 0.5, wanted >= 0.5)
    assert np.abs(found - wanted).max() < 0.35
    assert not model.completed(2)[0].isna().any().any()
    known, effect = (own.effect("age", "level", do=(75.0, 50.0), seed=1) for own in (complete, model))
    # In five tables of this kind the difference was 0.3 to 1.3, of an effect of 12.5.
    assert effect.mean == pytest.approx(known.mean, abs=2.0)
    assert np.ptp(effect.interval()) > np.ptp(known.interval())


def test_what_cannot_be_learned_from_is_no_reason_to_stop() -> None:
    rng = np.random.default_rng(7)
    frame = pd.DataFrame({
        "same": 1.0,
        "rare": np.where(np.arange(40) == 3, "b", "a"),
        "twice": rng.normal(size=40),
        "steep": rng.normal(size=40) ** 9 * 1e12,
    }).assign(copy=lambda own: own["twice"])  # fmt: skip
    erased = frame.mask(rng.random(frame.shape) < 0.4)
    erased.loc[3, "rare"], erased.loc[0, "same"] = "b", 1.0
    table = as_table(erased)
    completer = ChainedCompleter(table)
    cells = completer.begin(np.random.default_rng(1))
    for _ in range(3):
        completer.redraw(cells, graph_of([(1, 3), (0, 1)], len(table.names)), np.random.default_rng(2), GO_ON)
    assert np.isfinite(cells).all()


def test_chains_begin_near_where_cells_are_regressed_on_others() -> None:
    table = as_table(patients()[1])
    assert isinstance(Additive().completer(table, 3), ChainedCompleter)
    assert Additive().begins_near(table)
    numbers = as_table(patients()[1][["age", "dose", "level"]])
    assert not isinstance(BGe().completer(numbers, 3), ChainedCompleter)
    assert not BGe().begins_near(numbers)


@pytest.mark.parametrize("seed", range(4))
def test_candidates_are_weighed_by_what_children_would_be_with_each(seed: int) -> None:
    completer, rng = ChainedCompleter(as_table(patients(60, seed=seed)[1])), np.random.default_rng(seed)
    codes = np.array([rng.integers(len(column.values), size=60) for column in completer._columns])
    node, others = 0, [0, 1, 3, 4]
    for child in (2, 3):
        family = completer._family(child, [own for own in others if own != child], codes, rng)
        column, rows = completer._columns[child], np.arange(10)
        candidates = rng.integers(len(completer._columns[node].values), size=(7, 10))
        found = completer._log_likelihood(child, family, node, candidates, codes[:, rows])
        for place, own in np.ndenumerate(candidates):
            changed = codes[:, [place[1]]].copy()
            changed[node] = own
            (predicted,) = completer._matrix(family.others, changed) @ family.coefficients.T
            code = changed[child, 0]
            if column.is_number:
                expected = -0.5 * ((column.features[code, 0] - predicted[0]) / family.deviation) ** 2
            else:
                left = np.cumprod([1.0, *(1.0 - expit(predicted))])
                chances = left * np.array([*expit(predicted), 1.0])
                assert chances.sum() == pytest.approx(1.0)
                expected = np.log(chances[code])
            assert found[place] == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_a_level_is_drawn_by_its_chances_and_those_of_its_child() -> None:
    rng = np.random.default_rng(11)
    cause = rng.random(4_000) < 0.3
    effect = rng.random(4_000) < np.where(cause, 0.8, 0.2)
    erased = pd.DataFrame({"cause": np.where(cause, "yes", "no"), "effect": np.where(effect, "yes", "no")})
    hidden = rng.random(4_000) < 0.5
    erased.loc[hidden, "cause"] = None
    table, draws = as_table(erased), []
    completer = ChainedCompleter(table)
    cells = completer.begin(rng)
    for _ in range(40):
        completer.redraw(cells, graph_of([(0, 1)], 2), rng, GO_ON)
        done = table.filled(cells).columns
        draws.append([done[0][hidden & (effect == own)].mean() for own in (False, True)])
    # By Bayes.
    expected = [0.3 * 0.2 / (0.3 * 0.2 + 0.7 * 0.8), 0.3 * 0.8 / (0.3 * 0.8 + 0.7 * 0.2)]
    # What the 2,000 rows that are known say of these has standard errors of 0.008 and 0.02; five of them.
    np.testing.assert_allclose(np.mean(draws, axis=0) - expected, 0.0, atol=0.1)
    assert abs(np.mean(draws, axis=0)[0] - expected[0]) < 0.04


def test_a_child_that_was_set_says_nothing_of_its_parent() -> None:
    rng = np.random.default_rng(12)
    cause = rng.random(4_000) < 0.3
    was_set = rng.random(4_000) < 0.5
    effect = np.where(was_set, rng.random(4_000) < 0.5, rng.random(4_000) < np.where(cause, 0.9, 0.1))
    erased = pd.DataFrame({"cause": np.where(cause, "yes", "no"), "effect": np.where(effect, "yes", "no")})
    hidden = rng.random(4_000) < 0.5
    erased.loc[hidden, "cause"] = None
    table = as_table(erased, interventions=["effect" if own else None for own in was_set])
    completer = ChainedCompleter(table)
    cells, draws = completer.begin(rng), []
    for _ in range(20):
        completer.redraw(cells, graph_of([(0, 1)], 2), rng, GO_ON)
        draws.append(
            [table.filled(cells).columns[0][hidden & was_set & (effect == own)].mean() for own in (False, True)]
        )
    # Some 500 rows each, and what is known of the share has a standard error of 0.01: five of both.
    np.testing.assert_allclose(np.mean(draws, axis=0), 0.3, atol=0.06)


def test_numbers_are_proposed_from_residuals_of_rows_with_about_the_same_prediction() -> None:
    rng = np.random.default_rng(2)
    x = rng.uniform(-1, 1, 2_000)
    # Noise is ten times as wide where x is positive.
    y = x + np.where(x > 0, 0.5, 0.05) * rng.normal(size=2_000)
    erased = pd.DataFrame({"x": x, "y": y})
    hidden = np.arange(2_000) % 2 == 0
    erased.loc[hidden, "y"] = np.nan
    table = as_table(erased)
    completer = ChainedCompleter(table)
    cells = completer.begin(rng)
    completer.redraw(cells, graph_of([(0, 1)], 2), rng, GO_ON)
    away = table.filled(cells).columns[1][hidden] - x[hidden]
    low, high = away[x[hidden] < -0.2].std(), away[x[hidden] > 0.2].std()
    assert low < 0.15
    assert 0.4 < high < 0.6
