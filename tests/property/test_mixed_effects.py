"""Effects in tables of levels and numbers against sums over combinations of levels, and against known networks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import causal as naive_causal
from tests.naive import mixed as naive_mixed
from tests.property.test_mixed_prediction import mixed_tables, some_dags
from tests.property.test_prediction import sample_of, weights_for

from dagpost.causal import causal_effect, interventional_probabilities
from dagpost.data.table import Table
from dagpost.errors import DagpostWarning, InputError
from dagpost.scores import ConditionalGaussian


@settings(max_examples=40)
@given(mixed_tables(), st.integers(0, 2**32 - 1))
@pytest.mark.filterwarnings("ignore::dagpost.errors.DagpostWarning")
def test_mean_effects_are_sums_over_combinations_and_graphs(table: Table, seed: int) -> None:
    generator = np.random.default_rng(seed)
    x, y = (int(node) for node in generator.permutation(len(table.names))[:2])
    if 1 in (table.arities[x], table.arities[y]):
        return
    dags = some_dags(generator, table, 30)
    weights = weights_for(generator, len(dags), 2.0)
    sample, score, prior = sample_of(table.names, dags, weights), ConditionalGaussian(), naive_mixed.prior_of(table)
    do = (table.arities[x] - 1, 0) if table.arities[x] else None
    level = table.arities[y] - 1 if table.arities[y] else None
    found = causal_effect(sample, table, score, table.names[x], table.names[y], do=do, outcome_level=level, draws=10)
    expected = 0.0
    pseudo = naive_causal.Pseudocounts(size=5.0)
    for dag, weight in zip(dags.tolist(), weights.tolist(), strict=True):
        if weight == 0.0 or not naive_causal.has_path(dag, x, y):
            continue
        if do is None:
            expected += weight * naive_mixed.mean_slope(table, dag, x, y, prior)
        elif level is None:
            first, second = (naive_mixed.mean_of_number(table, dag, x, code, y, prior) for code in do)
            expected += weight * (first - second)
        else:
            # Rows in which a column of numbers was set speak of levels all the same.
            levels = [node for node, arity in enumerate(table.arities) if arity]
            own = naive_mixed.part(table, levels)
            graph = [sum(1 << levels.index(node) for node in naive_causal.members(dag[child])) for child in levels]
            first, second = (
                naive_causal.mean_probability(own, pseudo, graph, levels.index(x), code, levels.index(y))[level]
                for code in do
            )
            expected += weight * (first - second)
    assert found.mean == pytest.approx(expected, abs=1e-9, rel=1e-9)


def smoking(rows: int, seed: int = 1) -> Table:
    """Sex leads to all others, smoking to weight and pressure, weight to pressure by 2 or, in men, by 3."""
    generator = np.random.default_rng(seed)
    sex = generator.integers(0, 2, rows)
    smokes = (generator.random(rows) < np.where(sex == 1, 0.7, 0.3)).astype(np.int64)
    weight = 70 + 10 * sex - 4 * smokes + generator.normal(size=rows)
    pressure = 120 + (2 + sex) * (weight - 75) + 5 * smokes + 3 * generator.normal(size=rows)
    columns = sex.astype(np.uint8), smokes.astype(np.uint8), weight, pressure
    return Table(("sex", "smokes", "weight", "pressure"), columns, (("f", "m"), ("no", "yes"), None, None))


TRUE = np.array([[0, 1, 3, 7]], dtype=np.uint8)


def test_effects_through_levels_and_numbers_are_those_of_the_network() -> None:
    table = smoking(4000)
    sample = sample_of(table.names, TRUE, np.ones(1))
    direct = causal_effect(sample, table, "conditional-gaussian", "weight", "pressure", seed=1)
    assert direct.do is None
    # Half of the rows are of men.
    assert direct.mean == pytest.approx(2.5, abs=0.1)
    assert direct.samples.std() < 0.1
    total = causal_effect(sample, table, "conditional-gaussian", "smokes", "pressure", seed=1)
    # 5 directly, and 4 less of weight.
    assert total.mean == pytest.approx(5 - 4 * 2.5, abs=0.5)
    assert total.interval()[0] < 5 - 4 * 2.5 < total.interval()[1]
    assert total.quantity == "change of the mean of pressure with smokes set to yes rather than no"
    assert repr(total).startswith("Setting smokes to yes rather than no changes the mean of pressure by -")
    sex = interventional_probabilities(sample, table, "conditional-gaussian", "sex", "smokes")
    assert sex.loc["m", "yes"] == pytest.approx(0.7, abs=0.03)


def test_numbers_have_no_effect_on_levels_and_a_notice_says_why() -> None:
    table = smoking(50)
    sample = sample_of(table.names, TRUE, np.ones(1))
    with pytest.warns(DagpostWarning, match="statement of the model"):
        effect = causal_effect(sample, table, "conditional-gaussian", "weight", "smokes", draws=10)
    assert effect.zero_probability == 1.0
    assert effect.mean == 0.0
    assert not effect.samples.any()
    assert effect.quantity == "change of P(smokes = yes) for one unit more of weight"


def test_levels_of_numbers_are_refused() -> None:
    table = smoking(50)
    sample = sample_of(table.names, TRUE, np.ones(1))
    with pytest.raises(InputError, match="'do' is about levels, and 'weight' is a column of numbers"):
        causal_effect(sample, table, "conditional-gaussian", "weight", "pressure", do=(1, 2))
    with pytest.raises(InputError, match="'outcome_level' is about levels, and 'pressure'"):
        causal_effect(sample, table, "conditional-gaussian", "smokes", "pressure", outcome_level=1)
    with pytest.raises(InputError, match="'weight' is not one"):
        interventional_probabilities(sample, table, "conditional-gaussian", "smokes", "weight")


def test_draws_have_the_mean_and_the_spread_of_the_posterior() -> None:
    """False alarm once in 10,000 runs at most; the seed is fixed."""
    table = smoking(60)
    prior = naive_mixed.prior_of(table)
    sample = sample_of(table.names, TRUE, np.ones(1))
    generator = np.random.default_rng(3)
    draws = 20_000
    effect = causal_effect(sample, table, "conditional-gaussian", "weight", "pressure", draws=draws, seed=2)
    expected = np.zeros(draws)
    counts = [int((table.columns[0] * 2 + table.columns[1] == place).sum()) for place in range(4)]
    shares = generator.dirichlet([5 / 4 + count for count in counts], size=draws)
    for place in range(4):
        _, matrix, count = naive_mixed.posterior_of(table, 2, {0: place // 2, 1: place % 2}, prior)
        slopes = naive_causal.draw_slope(matrix, prior.degrees + count, [], 0, 1, draws, generator)
        expected += shares[:, place] * slopes
    both = np.quantile(effect.samples, [0.1, 0.5, 0.9]), np.quantile(expected, [0.1, 0.5, 0.9])
    np.testing.assert_allclose(both[0], both[1], atol=0.06 * expected.std())
