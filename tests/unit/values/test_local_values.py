"""Questions about values of models with curves."""

from __future__ import annotations

import numpy as np
import pytest
from tests.unit.prediction.test_local_rows import curved

from dagpost import Committee, DagPosterior, InputError


@pytest.fixture(scope="module", params=["additive", "committee"])
def model(request: pytest.FixtureRequest) -> DagPosterior:
    """The same table under the score alone and where several kinds are averaged."""
    return DagPosterior("additive" if request.param == "additive" else Committee(), seed=1).fit(curved(800))


def test_probabilities_without_evidence_are_the_shares_of_the_table(model: DagPosterior) -> None:
    table = curved(800)
    for text, share in (
        ("P(z = b)", (table["z"] == "b").mean()),
        ("P(y > 11)", (table["y"] > 11.0).mean()),
        ("P(-1 < x < 1)", (table["x"].abs() < 1.0).mean()),
    ):
        assert float(model.probability(text)) == pytest.approx(share, abs=0.03)
    mean = model.probability("E(y)")
    assert float(mean) == pytest.approx(table["y"].mean(), abs=0.1)
    assert mean.lower < float(mean) < mean.upper


def test_evidence_against_the_arrows_is_weighed(model: DagPosterior) -> None:
    rng = np.random.default_rng(0)
    x, u = rng.normal(size=400_000), rng.random(400_000) < 0.5
    y = 10.0 + x**2 + u + 0.4 * rng.normal(size=400_000)
    for text, truth in (
        ("P(w = u | y > 12)", u[y > 12.0].mean()),
        ("P(-1 < x < 1 | 10.5 < y < 11.5)", (np.abs(x[(y > 10.5) & (y < 11.5)]) < 1.0).mean()),
        ("E(y | x = 1, w = v)", 11.0),
        ("E(y | do(x = 1), w = v)", 11.0),
    ):
        assert float(model.probability(text)) == pytest.approx(truth, abs=0.2), text


def test_levels_of_a_distribution_sum_to_one_and_agree_with_single_questions(model: DagPosterior) -> None:
    found = model.value("z", given={"x": 1.5}, seed=1)
    each = [float(model.probability(f"P(z = {level} | x = 1.5)")) for level in "abc"]
    shares = [float(own) for own in found.probabilities]
    assert sum(shares) == pytest.approx(1.0, abs=1e-9)
    np.testing.assert_allclose(shares, each, atol=0.02)


def test_exogenous_columns_come_from_rows_that_agree() -> None:
    table = curved(600)
    model = DagPosterior("additive", exogenous=["x", "w"], seed=1).fit(table)
    assert float(model.probability("E(y)")) == pytest.approx(table["y"].mean(), abs=0.15)
    own = table.loc[table["w"] == "u", "y"].mean()
    assert float(model.probability("E(y | w = u)")) == pytest.approx(own, abs=0.15)
    with pytest.raises(InputError, match="exogenous"):
        model.probability("P(w = u)")


def test_columns_that_are_set_keep_their_value(model: DagPosterior) -> None:
    change = float(model.probability("E(y | do(x = 2))")) - float(model.probability("E(y | do(x = 0))"))
    assert change == pytest.approx(4.0, abs=0.5)
    found = model.value("y", do={"x": 2.0}, seed=1)
    assert found.lower < 14.5 < found.upper
