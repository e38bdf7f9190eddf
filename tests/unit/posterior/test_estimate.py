"""Probabilities with their intervals: what they say, and that the intervals are those of the rule they name."""

from __future__ import annotations

import copy
import dataclasses
import json
import math
import operator
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom
from tests.tools.wording import Said

from dagpost import DagpostError, Estimate, InputError
from dagpost.posterior.estimate import counted_estimate, exact_estimate, hoeffding_draws, hoeffding_estimate

SHARES = st.floats(0.0, 1.0)


def test_an_exact_estimate_is_a_point() -> None:
    found = exact_estimate(0.25, "structure")
    assert (found.value, found.lower, found.upper, found.confidence) == (0.25, 0.25, 0.25, 1.0)
    assert (found.rule, found.samples, found.effective_samples) == ("exact", 0, math.inf)
    assert float(found) == 0.25


@given(first=SHARES, second=SHARES)
def test_an_estimate_compares_and_computes_as_its_value_does(first: float, second: float) -> None:
    one, other = exact_estimate(first, "order"), exact_estimate(second, "structure")
    for relation in (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne):
        expected = relation(first, second)
        assert relation(one, other) == relation(one, second) == relation(first, other) == expected
    assert one == first
    assert hash(one) == hash(first)
    assert sorted([one, other]) == sorted([first, second])
    for operation in (operator.add, operator.sub, operator.mul):
        for result in (operation(one, other), operation(one, second), operation(first, other)):
            assert type(result) is float
            assert result == operation(first, second)


def test_an_estimate_rounds_and_formats_as_a_number() -> None:
    found = counted_estimate(2, 3, 0.95, "order")
    assert round(found, 3) == 0.667
    assert type(round(found, 3)) is float
    assert (f"{found:.3f}", f"{found:.1%}", f"{found:8.2e}") == ("0.667", "66.7%", "6.67e-01")
    assert f"{found}" == str(found), "without a format, all that is known is shown"


def test_what_is_unknown_is_not_a_number() -> None:
    unknown = counted_estimate(0, 0, 0.95, "order")
    assert math.isnan(unknown)
    assert unknown != unknown  # noqa: PLR0124
    assert not unknown < 0.5
    assert f"{unknown:.2f}" == "nan"


def test_estimates_become_numbers_in_numpy_and_pandas() -> None:
    found = [exact_estimate(0.25, "order"), counted_estimate(1, 2, 0.9, "order")]
    assert np.array(found).dtype == np.float64
    assert np.mean(found) == 0.375
    column = pd.DataFrame({"probability": found})["probability"]
    assert column.dtype == np.float64
    assert (column > 0.3).to_list() == [False, True]
    assert json.loads(json.dumps(found)) == [0.25, 0.5]


def test_an_estimate_is_copied_and_pickled_with_all_that_it_says() -> None:
    found = counted_estimate(1, 2, 0.9, "order")
    for again in (copy.deepcopy(found), pickle.loads(pickle.dumps(found)), dataclasses.replace(found)):
        assert type(again) is Estimate
        assert again == found
        assert again.as_dict() == found.as_dict()
    with pytest.raises(AttributeError):
        found.value = 0.5  # type: ignore[misc]


@pytest.mark.parametrize(("value", "shown"), [(-1e-13, 0.0), (1.0 + 1e-13, 1.0)])
def test_rounding_never_leads_out_of_what_a_probability_may_be(value: float, shown: float) -> None:
    assert exact_estimate(value, "order").value == shown


@pytest.mark.parametrize("modularity", ["structure", "order"])
def test_the_text_names_the_rule_and_the_prior(modularity: str) -> None:
    words = {"structure": "each graph counted once)", "order": "each graph counted once for every order it fits)"}
    assert str(exact_estimate(0.5, modularity)) == f"0.5000 (exact; {words[modularity]}"
    counted = counted_estimate(25, 100, 0.9, modularity)
    assert str(counted).startswith("0.2500 [0.1")
    assert str(counted).endswith(f"(Clopper-Pearson, 90%, 100 graphs; {words[modularity]}")
    assert repr(counted) == str(counted)
    assert counted._repr_html_() == f"<code>{counted}</code>"


@pytest.mark.parametrize("hits", [0, 1, 7, 50, 99, 100])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 1.0 - 1e-9])
def test_the_counted_interval_is_clopper_and_pearsons(hits: int, confidence: float) -> None:
    """At its ends, as many hits or more (or fewer) have the probability that the confidence leaves."""
    found = counted_estimate(hits, 100, confidence, "order")
    tail = (1.0 - confidence) / 2.0
    assert found.lower <= found.value <= found.upper
    assert found.lower == 0.0 if hits == 0 else binom.sf(hits - 1, 100, found.lower) == pytest.approx(tail)
    assert found.upper == 1.0 if hits == 100 else binom.cdf(hits, 100, found.upper) == pytest.approx(tail)


def test_no_draw_is_no_knowledge(said: Said) -> None:
    found = counted_estimate(0, 0, 0.95, "structure")
    assert math.isnan(found.value)
    assert (found.lower, found.upper, found.samples) == (0.0, 1.0, 0)
    said(found.rule)
    assert str(found).startswith("unknown [0.0000, 1.0000]")


@pytest.mark.parametrize(
    ("precision", "confidence", "draws"), [(0.02, 0.95, 4612), (0.01, 0.95, 18445), (0.05, 0.99, 1060), (0.5, 0.5, 3)]
)
def test_hoeffding_asks_for_as_many_draws_as_the_paper(precision: float, confidence: float, draws: int) -> None:
    assert hoeffding_draws(precision, confidence) == draws
    assert 2.0 * math.exp(-2.0 * draws * precision**2) <= 1.0 - confidence + 1e-12
    assert 2.0 * math.exp(-2.0 * (draws - 1) * precision**2) > 1.0 - confidence


def test_the_interval_of_hoeffding_stays_between_0_and_1() -> None:
    found = hoeffding_estimate(1, 4612, 0.02, 0.95, "structure")
    assert found.lower == 0.0
    assert found.upper == pytest.approx(1 / 4612 + 0.02)
    assert hoeffding_estimate(4612, 4612, 0.02, 0.95, "structure").upper == 1.0
    assert found.rule == "Hoeffding"


@pytest.mark.parametrize("bad", [0.0, 1.0, -0.1, 95, 2.0, math.nan, "0.95", None, True])
def test_what_is_no_confidence_or_precision_is_refused(bad: object, said: Said) -> None:
    with said.raises(InputError):
        counted_estimate(1, 2, bad, "order")
    with said.raises(InputError):
        hoeffding_draws(bad, 0.95)
    with pytest.raises(DagpostError):
        hoeffding_draws(0.1, bad)


def test_numbers_of_numpy_are_numbers() -> None:
    assert hoeffding_draws(np.float64(0.02), np.float64(0.95)) == 4612
    assert hoeffding_draws(np.float32(0.25), np.float32(0.5)) == hoeffding_draws(0.25, 0.5)


def test_the_fields_can_be_written_as_json() -> None:
    for estimate in (exact_estimate(0.5, "order"), counted_estimate(0, 0, 0.95, "order")):
        fields = json.loads(json.dumps(estimate.as_dict(), allow_nan=False))
        assert set(fields) == set(Estimate.__dataclass_fields__) - {"exogenous"}
        given = json.loads(json.dumps(estimate.given(("age",)).as_dict(), allow_nan=False))
        assert given == {**fields, "exogenous": ["age"]}
    assert exact_estimate(0.5, "order").as_dict()["effective_samples"] is None
    assert counted_estimate(0, 0, 0.95, "order").as_dict()["value"] is None
