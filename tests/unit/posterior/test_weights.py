"""Weights of drawn graphs: against their definitions, against enumeration, and at their limits."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from benchmarks.ellis_wong import ellis_wong
from benchmarks.sampled_orders import sample_orders
from tests.naive import posterior as naive
from tests.naive import sampling as naive_sampling
from tests.tools.wording import Said

from dagpost.engines import ThreadEngine
from dagpost.errors import InputError
from dagpost.exact.order import forward_table
from dagpost.posterior.intervals import weighted_estimate
from dagpost.posterior.weights import ESTIMATORS, WeightedSample, evidence_ratio, weigh
from dagpost.sampling.dags import rank_families

#: All graphs on three nodes (25), and 40 draws of them from either posterior.
ALL = naive_sampling.enumerated(3, 1.5, seed=4)


def drawn(count: int, *, by_order: bool, seed: int = 1) -> np.ndarray:
    chances = np.exp(ALL.log_order_posterior) if by_order else ALL.structure_posterior
    return np.random.default_rng(seed).choice(len(chances), size=count, p=chances / chances.sum())


def weighed(estimator: str, rows: np.ndarray, *, by_order: bool, known: bool = True) -> WeightedSample:
    return weigh(
        estimator,
        ALL.parents[rows],
        log_joint=ALL.log_joint[rows],
        log_proposal=(ALL.log_order_posterior if by_order else ALL.log_joint - ALL.log_evidence)[rows],
        log_extensions=ALL.log_extensions[rows],
        log_evidence=ALL.log_evidence if known else math.nan,
    )


HIT = ALL.parents[:, 1] & 1 == 1
CONDITION = ALL.parents[:, 2] > 0
TRUTH = float(ALL.structure_posterior[HIT].sum())
TRUTH_GIVEN = float(ALL.structure_posterior[HIT & CONDITION].sum() / ALL.structure_posterior[CONDITION].sum())


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_weights_sum_to_one_and_repeats_share_theirs(estimator: str, known: bool) -> None:
    rows = drawn(40, by_order=True)
    weights = weighed(estimator, rows, by_order=True, known=known).weights
    assert weights.shape == (40,)
    assert weights.sum() == pytest.approx(1.0, abs=1e-14)
    for graph in np.unique(rows):
        assert len(set(weights[rows == graph])) == 1


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("by_order", [True, False])
@pytest.mark.parametrize("estimator", ["iw", "distinct"])
def test_weights_of_distinct_graphs_agree_with_their_definition(estimator: str, by_order: bool, known: bool) -> None:
    rows = drawn(40, by_order=by_order)
    graphs = [tuple(row) for row in ALL.parents[rows].tolist()]
    chances = np.exp(ALL.log_order_posterior) if by_order else ALL.structure_posterior
    by_graph = naive_sampling.weights_of_distinct(
        graphs,
        ALL.structure_posterior[rows].tolist(),
        chances[rows].tolist(),
        by_inclusion=estimator == "distinct",
    )
    sample = weighed(estimator, rows, by_order=by_order, known=known)
    np.testing.assert_allclose(sample.weights, naive_sampling.parted_among_repeats(graphs, by_graph), rtol=1e-11)
    covered = ALL.structure_posterior[np.unique(rows)].sum()
    assert sample.covered == pytest.approx(covered, abs=1e-12) if known else math.isnan(sample.covered)


def test_linear_extension_weights_are_one_over_the_number_of_orders() -> None:
    rows = drawn(40, by_order=True)
    expected = 1.0 / np.exp(ALL.log_extensions[rows])
    np.testing.assert_allclose(
        weighed("linear-extensions", rows, by_order=True).weights, expected / expected.sum(), rtol=1e-12
    )


@pytest.mark.parametrize("by_order", [True, False])
def test_what_drawn_graphs_stand_for_is_unbiased(by_order: bool) -> None:
    # The exact expectation: over all 25^2 and 25^3 sequences of two and three draws.
    chances = np.exp(ALL.log_order_posterior) if by_order else ALL.structure_posterior
    for draws in (2, 3):
        expectation = 0.0
        for sequence in product(range(len(chances)), repeat=draws):
            rows = np.array(sequence)
            if not HIT[rows].any():
                continue
            sample = weighed("distinct", rows, by_order=by_order)
            expectation += chances[rows].prod() * sample.stands_for[HIT[rows][sample.rows]].sum()
        assert expectation == pytest.approx(TRUTH, abs=1e-12)


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("by_order", [True, False])
@pytest.mark.parametrize("estimator", ["iw", "distinct"])
def test_a_sample_of_all_graphs_gives_the_exact_probability(estimator: str, by_order: bool, known: bool) -> None:
    rows = np.tile(np.arange(25), 20_000)
    sample = weighed(estimator, rows, by_order=by_order, known=known)
    estimate = weighted_estimate(sample, HIT[rows])
    assert estimate.value == pytest.approx(TRUTH, abs=1e-9)
    conditional = weighted_estimate(sample, HIT[rows], CONDITION[rows])
    assert conditional.value == pytest.approx(TRUTH_GIVEN, abs=1e-9)
    if known:
        assert sample.covered == pytest.approx(1.0, abs=1e-12)
        assert estimate.upper - estimate.lower < 1e-9
        assert conditional.upper - conditional.lower < 1e-9
    if estimator == "distinct":
        assert sample.effective_samples > 1e6


@pytest.mark.parametrize("draws", [1, 3, 10, 100])
@pytest.mark.parametrize("estimator", ["iw", "distinct"])
def test_the_certain_interval_holds_and_contains_what_distinct_weights_say(estimator: str, draws: int) -> None:
    for seed in range(20):
        rows = drawn(draws, by_order=True, seed=seed)
        certain = weighed("iw", rows, by_order=True)
        sample = weighed(estimator, rows, by_order=True)
        for condition, truth in ((None, TRUTH), (CONDITION[rows], TRUTH_GIVEN)):
            bounds = weighted_estimate(certain, HIT[rows], condition)
            assert bounds.lower - 1e-12 <= truth <= bounds.upper + 1e-12
            assert (bounds.confidence, bounds.rule) in ((1.0, "covered mass"), (0.95, "the condition never occurred"))
            estimate = weighted_estimate(sample, HIT[rows], condition)
            assert estimate.lower >= bounds.lower - 1e-12
            assert estimate.upper <= bounds.upper + 1e-12


def test_the_sound_interval_is_the_covered_mass_and_all_that_is_left() -> None:
    rows = drawn(8, by_order=True)
    sample = weighed("iw", rows, by_order=True)
    estimate = weighted_estimate(sample, HIT[rows])
    assert estimate.lower == pytest.approx(sample.covered * estimate.value, abs=1e-14)
    assert estimate.upper == pytest.approx(sample.covered * estimate.value + 1 - sample.covered, abs=1e-14)


def test_without_the_evidence_importance_weights_promise_nothing() -> None:
    rows = drawn(8, by_order=True)
    sample = weighed("iw", rows, by_order=True, known=False)
    estimate = weighted_estimate(sample, HIT[rows])
    assert (estimate.lower, estimate.upper, estimate.rule) == (0.0, 1.0, "covered mass unknown")


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("estimator", ["linear-extensions", "distinct"])
def test_a_share_of_none_or_all_keeps_a_width(estimator: str, known: bool) -> None:
    rows = drawn(12, by_order=True)
    sample = weighed(estimator, rows, by_order=True, known=known)
    none, everyone = (weighted_estimate(sample, np.full(12, held)) for held in (False, True))
    assert (none.value, none.lower) == (0.0, 0.0)
    assert none.upper > 0.01
    assert everyone.value == pytest.approx(1.0)
    assert everyone.lower < 0.99
    assert everyone.upper == pytest.approx(1.0)


def test_a_higher_confidence_gives_a_wider_interval() -> None:
    rows = drawn(30, by_order=True)
    for estimator in ("counting", "linear-extensions", "distinct"):
        sample = weighed(estimator, rows, by_order=True)
        widths = []
        for confidence in (0.5, 0.9, 0.99):
            estimate = weighted_estimate(sample, HIT[rows], confidence=confidence)
            assert estimate.lower <= estimate.value <= estimate.upper
            widths.append(estimate.upper - estimate.lower)
        assert sorted(widths) == widths
        assert widths[0] < widths[2]


def test_when_every_graph_is_rare_distinct_weights_count_and_are_worth_as_many_draws() -> None:
    # 500 different graphs out of very many, drawn from the posterior itself.
    parents = np.zeros((500, 16), dtype=np.uint16)
    parents[:, 15] = np.arange(500)
    log_joint = np.random.default_rng(2).normal(size=500) - 40.0
    sample = weigh("distinct", parents, log_joint=log_joint, log_proposal=log_joint, log_evidence=0.0)
    np.testing.assert_allclose(sample.weights, 1 / 500, rtol=1e-9)
    assert sample.effective_samples == pytest.approx(500, rel=1e-9)
    hit = np.arange(500) < 100
    counted = weighted_estimate(weigh("counting", parents), hit)
    estimate = weighted_estimate(sample, hit)
    assert (estimate.lower, estimate.upper) == pytest.approx((counted.lower, counted.upper), abs=1e-6)


def test_distinct_weights_of_rare_graphs_from_orders_are_those_of_linear_extensions() -> None:
    parents = np.zeros((500, 16), dtype=np.uint16)
    parents[:, 15] = np.arange(500)
    rng = np.random.default_rng(2)
    log_joint, log_extensions = rng.normal(size=500) - 900.0, np.log(rng.integers(1, 1000, size=500))
    sample = weigh("distinct", parents, log_joint=log_joint, log_proposal=log_joint + log_extensions)
    other = weigh("linear-extensions", parents, log_extensions=log_extensions)
    np.testing.assert_allclose(sample.weights, other.weights, rtol=1e-9)
    assert sample.effective_samples == pytest.approx(other.effective_samples, rel=1e-9)


def test_effective_samples_count_draws_of_equal_weight() -> None:
    graphs = np.array([[0, 0], [0, 1], [2, 0], [0, 0]], dtype=np.uint8)
    assert weigh("counting", graphs).effective_samples == pytest.approx(4.0)
    uneven = weigh("linear-extensions", graphs, log_extensions=np.log([2.0, 1.0, 1.0, 2.0]))
    assert uneven.effective_samples == pytest.approx(3.0**2 / 2.5)
    shared = weigh("iw", graphs, log_joint=np.zeros(4))
    assert shared.effective_samples == pytest.approx(1 / (2 / 9 + 2 / 36))


def test_counting_gives_the_interval_of_clopper_and_pearson_also_under_a_condition() -> None:
    rows = drawn(40, by_order=False)
    sample = weighed("counting", rows, by_order=False)
    estimate = weighted_estimate(sample, HIT[rows], CONDITION[rows])
    assert estimate.rule == "Clopper-Pearson"
    assert estimate.samples == CONDITION[rows].sum()
    assert estimate.value == (HIT & CONDITION)[rows].sum() / CONDITION[rows].sum()


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_condition_that_never_occurs_leaves_the_answer_unknown(estimator: str) -> None:
    rows = drawn(10, by_order=True)
    estimate = weighted_estimate(weighed(estimator, rows, by_order=True), HIT[rows], np.zeros(10, dtype=np.bool_))
    assert math.isnan(estimate.value)
    assert (estimate.lower, estimate.upper, estimate.rule) == (0.0, 1.0, "the condition never occurred")


@pytest.mark.parametrize("estimator", ["iw", "linear-extensions", "distinct"])
def test_a_condition_that_always_holds_changes_no_value(estimator: str) -> None:
    rows = drawn(30, by_order=True)
    sample = weighed(estimator, rows, by_order=True)
    always = np.ones(30, dtype=np.bool_)
    plain, conditional = weighted_estimate(sample, HIT[rows]), weighted_estimate(sample, HIT[rows], always)
    assert conditional.value == pytest.approx(plain.value, abs=1e-14)
    assert conditional.effective_samples == pytest.approx(plain.effective_samples)


def test_evidences_far_below_the_smallest_double_do_no_harm() -> None:
    rows = drawn(30, by_order=True)
    for estimator in ("iw", "distinct"):
        plain = weighed(estimator, rows, by_order=True)
        shifted = weigh(
            estimator,
            ALL.parents[rows],
            log_joint=ALL.log_joint[rows] - 1e5,
            log_proposal=ALL.log_order_posterior[rows],
            log_evidence=ALL.log_evidence - 1e5,
        )
        np.testing.assert_allclose(shifted.weights, plain.weights, rtol=1e-9)
        assert shifted.covered == pytest.approx(plain.covered, rel=1e-9)
    tiny = weigh(
        "distinct",
        ALL.parents[rows],
        log_joint=ALL.log_joint[rows] - 1e4,
        log_proposal=ALL.log_order_posterior[rows] - 1e4,
    )
    assert np.isfinite(tiny.weights).all()
    assert tiny.weights.sum() == pytest.approx(1.0)


def test_the_ratio_of_the_evidences_comes_from_the_mean_weight() -> None:
    rows = np.repeat(np.arange(25), np.round(np.exp(ALL.log_order_posterior) * 1_000_000).astype(np.int64))
    ratio, error = evidence_ratio(ALL.log_extensions[rows])
    assert ratio == pytest.approx(ALL.log_evidence - ALL.log_order_evidence, abs=1e-4)
    assert 1e-4 < error < 2e-3
    assert evidence_ratio(np.full(5, 1e3))[0] == pytest.approx(-1e3)


@pytest.mark.parametrize(
    "settings",
    [
        {"estimator": "best"},
        {"estimator": "iw"},
        {"estimator": "iw", "log_joint": np.array([0.0, np.nan])},
        {"estimator": "linear-extensions"},
        {"estimator": "linear-extensions", "log_extensions": np.zeros(3)},
        {"estimator": "distinct", "log_joint": np.zeros(2)},
    ],
)
def test_what_an_estimator_lacks_is_named(settings: dict, said: Said) -> None:
    with said.raises(InputError):
        weigh(parents=np.zeros((2, 2), dtype=np.uint8), **settings)


def test_no_graphs_or_answers_of_the_wrong_length_are_errors(said: Said) -> None:
    with said.raises(InputError):
        weigh("counting", np.zeros((0, 2), dtype=np.uint8))
    sample = weigh("counting", np.zeros((2, 2), dtype=np.uint8))
    with said.raises(InputError):
        weighted_estimate(sample, np.zeros(3, dtype=np.bool_))
    with pytest.raises(InputError, match="confidence"):
        weighted_estimate(sample, np.zeros(2, dtype=np.bool_), confidence=1.0)


@pytest.mark.parametrize(("aim", "most_draws", "distance"), [(1 - 1e-9, 100_000, 1e-7), (0.95, 1000, 0.05)])
def test_graphs_drawn_until_every_order_is_covered_have_the_exact_posterior(
    aim: float, most_draws: int, distance: float
) -> None:
    engine = ThreadEngine(2)
    log_weights = np.random.default_rng(3).normal(size=(3, 4))
    forward = forward_table(log_weights, 2, engine=engine)
    orders = sample_orders(forward, 500, seed=np.random.SeedSequence(1), engine=engine)
    result = ellis_wong(rank_families(log_weights, 2), orders, seed=2, engine=engine, aim=aim, most_draws=most_draws)
    assert (result.covered > aim).all()
    assert result.cut_short == 0
    assert result.draws <= 6 * most_draws
    assert len(np.unique(result.parents, axis=0)) == len(result.parents) <= 25
    log_joint = naive.log_joint_of_every_dag(log_weights, 2)
    exact = dict(zip(naive.all_dags(3), np.exp(log_joint - naive.log_sum(log_joint)).tolist(), strict=True))
    found = dict(zip(map(tuple, result.parents.tolist()), result.weights.tolist(), strict=True))
    assert sum(abs(found.get(graph, 0.0) - chance) for graph, chance in exact.items()) / 2 < distance


def test_the_limit_on_draws_bounds_the_work_and_says_what_it_cut_short() -> None:
    engine = ThreadEngine(2)
    log_weights = np.zeros((4, 8))
    forward = forward_table(log_weights, 3, engine=engine)
    orders = sample_orders(forward, 100, seed=np.random.SeedSequence(1), engine=engine)
    result = ellis_wong(rank_families(log_weights, 3), orders, seed=2, engine=engine, most_draws=20)
    distinct = len(np.unique(orders.orders, axis=0))
    assert result.cut_short == distinct
    assert result.draws == 20 * distinct
