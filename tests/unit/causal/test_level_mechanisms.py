"""Networks of levels at their limits: families beyond memory, many exogenous combinations, regimes."""

from __future__ import annotations

import numpy as np
from tests.tools.wording import Said

from dagpost.causal import discrete
from dagpost.data.table import Table
from dagpost.errors import ResourceError
from dagpost.prediction.background import count_background, no_background
from dagpost.prediction.statistics import sufficient_statistics
from dagpost.scores import BDeu


def table_of(columns: int, levels: int, rows: int = 30) -> Table:
    codes = np.random.default_rng(1).integers(0, levels, (columns, rows)).astype(np.uint8)
    names = tuple(f"V{column}" for column in range(columns))
    return Table(names, tuple(codes), (tuple(range(levels)),) * columns)


def test_of_a_huge_family_only_what_a_question_needs_is_made(said: Said) -> None:
    table, score = table_of(13, 10), BDeu(1.0)
    graphs = np.zeros((2, 13), dtype=np.uint64)
    graphs[:, 12] = (1 << 12) - 1
    statistics, prior = sufficient_statistics(table, graphs, score), score.parameter_prior()
    made = discrete.drawn(statistics, prior, graphs, no_background(13), np.random.default_rng(1))
    world = dict.fromkeys(range(11), 3.0)
    found = made.outcome(12, world)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    np.testing.assert_array_equal(made.outcome(12, world), found)
    with said.raises(ResourceError):
        made.outcome(12, {})


def test_many_combinations_of_exogenous_levels_are_told_apart_as_far_as_graphs_do() -> None:
    table, score = table_of(8, 3, rows=400), BDeu(1.0)
    exogenous = [f"V{column}" for column in range(6)]
    graphs = np.zeros((2, 8), dtype=np.uint64)
    graphs[0, 6], graphs[0, 7] = 0b111, 0b1000001
    graphs[1, 7] = 0b111111
    prior = score.parameter_prior()
    background = count_background(table, exogenous, prior)
    assert len(background.shares) > 150
    made = discrete.expected(sufficient_statistics(table, graphs, score), prior, graphs, background)
    codes = np.array(table.columns)
    for graph, parents in ((0, range(3)), (1, range(6))):
        node = 6 if graph == 0 else 7
        # The mean over the rows of what their own levels lead to.
        worlds, counts = np.unique(codes[list(parents)].T, axis=0, return_counts=True)
        wanted = sum(
            count / 400 * made.outcome(node, dict(zip(parents, map(float, world), strict=True)))[graph]
            for world, count in zip(worlds.tolist(), counts.tolist(), strict=True)
        )
        np.testing.assert_allclose(made.outcome(node, {})[graph], wanted, atol=1e-12)


def test_a_regime_that_is_set_leaves_no_other_one() -> None:
    generator = np.random.default_rng(3)
    regime = generator.integers(0, 3, 200)
    columns = (regime == 1, regime == 2, generator.random(200) < 0.2 + 0.3 * regime)
    levels = (("0", "1"), ("0", "1"), ("no", "yes"))
    table = Table(("one", "two", "Y"), tuple(own.astype(np.uint8) for own in columns), levels, regimes=("one", "two"))
    score, graphs = BDeu(1.0), np.array([[0, 0, 3]], dtype=np.uint64)
    prior = score.parameter_prior()
    background = count_background(table, ["one", "two"], prior)
    made = discrete.expected(sufficient_statistics(table, graphs, score), prior, graphs, background)
    np.testing.assert_array_equal(made.outcome(2, {0: 1.0}), made.outcome(2, {0: 1.0, 1: 0.0}))
    np.testing.assert_array_equal(made.outcome(2, {1: 0.0}), made.outcome(2, {0: 0.0, 1: 0.0}))
    change = made.outcome(2, {0: 1.0}) - made.outcome(2, {0: 0.0})
    np.testing.assert_allclose(made.direct(0, 2, (1.0, 0.0)), change, atol=1e-12)
