"""The distances of the truth are 0, those of samples behave as they should, and all of them can be read and kept."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from benchmarks.paper_methods import sad
from tests.naive import reference as naive
from tests.naive.summaries import sample_of
from tests.tools.wording import Said

from dagpost import reference
from dagpost.posterior.all_graphs import all_graphs
from dagpost.reference import score
from dagpost.reference.pair_distances import divergence, draws_worth, expected_sad
from dagpost.reference.truth import Truth
from dagpost.reference.variations import total_variation

NAMES = naive.NAMES[:4]
DAGS, EXACT = naive.random_posterior(4, 1)


@pytest.fixture(scope="module")
def truth() -> Truth:
    return naive.truth_of(DAGS, EXACT.tolist())


def assert_zero(found: reference.Distances, bound: float = 1e-9) -> None:
    assert found.edges.sad <= bound
    for pairs in (found.edges, found.paths):
        assert pairs is None or max(pairs.sad, pairs.mean, pairs.maximum) <= bound
    assert found.families is None or max(found.families.mean, found.families.maximum) <= bound
    assert found.classes is None or found.classes.total_variation <= bound
    assert max(found.calibration.error, found.divergence.nats) <= bound
    assert math.isinf(found.worth)


FORMS: dict[str, Callable[[Truth], Any]] = {
    "table": lambda truth: truth.edges,
    "turned table": lambda truth: truth.edges.iloc[::-1, ::-1],
    "array": lambda truth: np.array(truth.edges),
    "long": lambda truth: truth.edges.reset_index().melt("from", var_name="to", value_name="probability"),
    "stack": lambda _: (naive.stack_of(DAGS), EXACT),
    "large weights": lambda _: (naive.stack_of(DAGS), 1e250 * EXACT),
    "sample": lambda _: sample_of(DAGS, EXACT, names=NAMES),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_distance_of_the_truth_is_zero(form: str, truth: Truth) -> None:
    found = score(FORMS[form](truth), truth)
    assert_zero(found)
    assert (found.families is None) == (form in ("table", "turned table", "array", "long"))


def test_every_distance_of_the_truth_is_zero_where_not_all_is_listed() -> None:
    part = naive.truth_of(DAGS, EXACT.tolist(), families=0.02, classes=0.01)
    found = score((naive.stack_of(DAGS), EXACT), part)
    assert_zero(found)
    assert found.classes is not None
    assert found.families is not None
    assert not found.classes.exact
    assert min(found.classes.left_out, found.families.left_out) > 0.01


@pytest.mark.parametrize("name", ["discrete-5-few", "mixed-5"])
def test_all_graphs_of_a_case_have_distance_zero(name: str) -> None:
    case = reference.load(name)
    model = case.model().fit(case.table)
    listed = all_graphs(model.fitted_)
    assert listed is not None
    for answer in (case.truth.edges, model, listed):
        assert_zero(score(answer, case), 1e-8)


def test_the_sum_of_differences_is_that_of_the_paper(truth: Truth) -> None:
    rng = np.random.default_rng(2)
    sample = sample_of([DAGS[at] for at in rng.integers(0, len(DAGS), 50)], rng.dirichlet(np.ones(50)), names=NAMES)
    by_paper = sad(np.array(truth.edges), np.array(sample.edge_frequencies()))
    assert score(sample, truth).edges.sad == pytest.approx(by_paper, rel=1e-12)


def test_graphs_with_more_parents_than_the_truth_allows_are_wholly_wrong() -> None:
    empty, full = (0, 0, 0), (0, 1, 3)
    truth = naive.truth_of([empty], [1.0])
    found = score((naive.stack_of([full]), None), truth)
    assert found.families is not None
    assert found.classes is not None
    assert (found.families.maximum, found.families.mean) == pytest.approx((1.0, 2 / 3))
    assert found.classes.total_variation == 1.0
    assert found.edges.sad == 3.0
    assert found.worth == 0.0


def test_independent_draws_are_worth_about_their_number(truth: Truth) -> None:
    # The SAD of 12 correlated shares varies by a quarter or so, and the worth by twice that: a mean of 200 such ratios
    # of SAD to its expectation is off by 0.1 with a probability below 1e-5. The seed is fixed.
    rng = np.random.default_rng(5)
    exact = np.array(truth.edges)
    apart = exact[~np.eye(4, dtype=bool)]
    stack = naive.stack_of(DAGS)
    ratios = []
    for _ in range(200):
        counts = rng.multinomial(500, EXACT)
        ratios.append(abs(np.tensordot(counts / 500, stack, 1) - exact).sum() / expected_sad(apart, 500))
    assert np.mean(ratios) == pytest.approx(1.0, abs=0.1)
    assert draws_worth(exact, expected_sad(apart, 500)) == pytest.approx(500, abs=1)
    assert draws_worth(exact, expected_sad(apart, 1) * 1.001) == 0.0
    assert math.isinf(draws_worth(exact, 0.0))


def test_a_stated_certainty_that_is_wrong_makes_the_divergence_infinite() -> None:
    exact = np.array([[0.0, 0.25, 1e-10], [0.5, 0.0, 1.0 - 1e-12], [0.0, 0.0, 0.0]])
    stated = np.array([[0.0, 0.25, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
    found = divergence(exact, stated, ("A", "B", "C"))
    assert (found.nats, found.pairs, found.where, found.exact) == (math.inf, 1, ("B", "A"), 0.5)
    stated[1, 0] = 0.5
    assert divergence(exact, stated, ("A", "B", "C")).nats == pytest.approx(0.0, abs=1e-9)


def test_total_variation_counts_what_is_not_listed_as_one() -> None:
    assert total_variation(np.array([0.5, 0.5]), np.array([0.5, 0.0])) == (0.5, 0.0)
    value, slack = total_variation(np.array([0.5, 0.2]), np.array([0.5, 0.3]))
    assert (value, slack) == pytest.approx((0.1, 0.2))
    assert total_variation(np.zeros(0), np.zeros(0)) == (0.0, 1.0)


def test_calibration_has_a_row_for_every_tenth_that_is_stated(truth: Truth) -> None:
    stated = np.full((4, 4), 0.3)
    np.fill_diagonal(stated, 0.0)
    stated[0, 1], stated[1, 0] = 1.0, 0.0
    table = score(stated, truth).calibration.table
    assert table["least"].tolist() == [0.0, 0.3, 0.9]
    assert table["pairs"].tolist() == [1, 10, 1]
    assert table["stated"].tolist() == pytest.approx([0.0, 0.3, 1.0])
    assert table["exact"].iloc[2] == truth.edges.loc["A", "B"]


def test_results_can_be_read_and_kept(truth: Truth, said: Said) -> None:
    graphs = [*naive.stack_of(DAGS[:60]), np.ones((4, 4), dtype=int) - np.eye(4, dtype=int)]
    found = score((np.stack(graphs), None), truth, cyclic="drop")
    text = found.summary()
    assert text.splitlines()[0] == "a posterior, 4 columns: 60 graphs against the exact posterior"
    for word in ("edges", "paths", "families", "classes", "calibration", "divergence", "worth", "cyclic"):
        assert f"\n  {word} " in text
    said(text)
    assert repr(found) == text
    row = found.to_frame()
    assert row.shape[0] == 1
    assert row.loc[0, "edges_sad"] == found.edges.sad
    assert row.loc[0, "dropped"] == 1
    kept = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert kept["edges_maximum"] == found.edges.maximum
    assert len(kept["calibration"]) == len(found.calibration.table)
    only_edges = score(truth.edges, truth)
    assert json.loads(json.dumps(only_edges.to_json(), allow_nan=False))["worth"] is None
    said(only_edges.summary())
    assert pd.isna(only_edges.to_frame().loc[0, "paths_sad"])


def test_a_wrong_certainty_is_named_in_the_summary(truth: Truth) -> None:
    stated = np.array(truth.edges)
    stated[0, 1], stated[1, 0] = 1.0, 0.0
    found = score(stated, truth)
    assert found.divergence.where in (("A", "B"), ("B", "A"))
    word = "certain" if found.divergence.where == ("A", "B") else "impossible"
    pair = " -> ".join(found.divergence.where)
    told = (
        f"infinite: {pair} is stated as {word} and has probability {found.divergence.exact:.4g} (and 1 more such pair)"
    )
    assert told in found.summary()
