"""Questions about values under every score: against other code of the package, and against closed forms."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import betaincinv
from tests.tools.gapped import fitted_to
from tests.tools.latent_models import latent_model
from tests.tools.wording import Said

from dagpost import BDeu, DagPosterior, InputError, Recipe, Regimes, local_scores
from dagpost.causal import discrete
from dagpost.data import Table
from dagpost.errors import DagpostWarning
from dagpost.prediction import sufficient_statistics
from dagpost.prediction.background import no_background
from dagpost.scores import DirichletPrior
from dagpost.values.answers import mixture_quantiles
from dagpost.values.levels import drawn_logs


def _levels(rows: int = 60, seed: int = 1) -> pd.DataFrame:
    generator = np.random.default_rng(seed)
    smoking = generator.choice(["no", "yes"], rows)
    work = generator.choice(["light", "hard"], rows)
    pressure = np.where(generator.random(rows) < 0.3 + 0.4 * (smoking == "yes"), ">140", "<140")
    stage = generator.integers(1, 4, rows)
    return pd.DataFrame({"Smoking": smoking, "M. Work": work, "Pressure": pressure, "Stage": stage})


def _clinic(rows: int = 120) -> pd.DataFrame:
    generator = np.random.default_rng(5)
    smoking, sex = generator.choice(["no", "yes"], rows), generator.choice(["f", "m"], rows)
    bmi = 25 + 2 * (smoking == "yes") + 3 * generator.normal(size=rows)
    systolic = 100 + bmi + 5 * (sex == "m") + 8 * generator.normal(size=rows)
    return pd.DataFrame({"smoking": smoking, "sex": sex, "bmi": bmi, "systolic": systolic})


@pytest.fixture(scope="module")
def levels() -> DagPosterior:
    return DagPosterior("bdeu", prior="uniform", seed=1, samples=500).fit(_levels())


@pytest.fixture(scope="module")
def clinic() -> DagPosterior:
    return DagPosterior("conditional-gaussian", prior="uniform", seed=1, samples=500).fit(_clinic())


def _row(model: DagPosterior, **values: Any) -> pd.DataFrame:
    return pd.DataFrame({name: [values.get(name)] for name in model.names_})


def test_an_interval_is_that_of_the_beta_distribution_where_there_are_no_edges() -> None:
    frame = _levels()[["Smoking", "Pressure"]]
    model = DagPosterior("bdeu", prior="uniform", forbidden=["Smoking -> Pressure", "Pressure -> Smoking"], seed=3).fit(
        frame
    )
    found = model.probability('Pressure = ">140"')
    hits, rows = int((frame["Pressure"] == ">140").sum()), len(frame)
    ends = betaincinv(hits + 0.5, rows - hits + 0.5, [0.025, 0.975])
    assert float(found) == pytest.approx((hits + 0.5) / (rows + 1.0), abs=1e-12)
    # Quantiles of 4,000 draws: about 0.003 off, five times that is allowed (false alarms below one in 10^5).
    assert [found.lower, found.upper] == pytest.approx(ends.tolist(), abs=0.015)
    assert found.rule == "exact"


@pytest.mark.parametrize("score", [BDeu(2.0), BDeu("average")])
def test_six_columns_agree_with_the_prediction_of_a_row_with_gaps(score: Any) -> None:
    frame = _levels().assign(other=_levels(seed=2)["Smoking"], more=_levels(seed=3)["Pressure"])
    model = DagPosterior(score, prior="uniform", seed=1, samples=200).fit(frame)
    expected = model.predict_proba(_row(model, Smoking="yes", Stage=2), target="Pressure")
    found = model.value("Pressure", {"Smoking": "yes", "Stage": 2}, draws=50)
    assert found.levels == ("<140", ">140")
    assert [*map(float, found.probabilities)] == pytest.approx(expected.to_numpy()[0].tolist(), abs=1e-9)
    assert "exact in each graph" in repr(found)


def test_tables_with_gaps_agree_with_the_prediction_of_a_row_with_gaps() -> None:
    frame = _levels(30).drop(columns="Stage").astype(object)
    frame.loc[[1, 5], "Smoking"] = None
    model = fitted_to(frame, samples=50)
    expected = model.predict_proba(_row(model, Smoking="yes"), target="Pressure").to_numpy()[0, 1]
    assert float(model.probability('P(Pressure = ">140" | Smoking = yes)')) == pytest.approx(expected, abs=1e-9)


def test_numbers_match_students_distribution_of_two_columns() -> None:
    generator = np.random.default_rng(2)
    x = generator.normal(20.0, 3.0, 40)
    frame = pd.DataFrame({"x": x, "y": 2.0 * x + generator.normal(0.0, 6.0, 40)})
    model = DagPosterior("bge", prior="uniform", seed=4).fit(frame)
    expected = model.predict_number(pd.DataFrame({"x": [24.0], "y": [None]}), target="y", confidence=0.9).iloc[0]
    found = model.value("y", {"x": 24.0}, confidence=0.9)
    assert found.mean is not None
    # The error of 4,000 draws is about 0.02; a new value's limits are as sure.
    assert float(found.mean) == pytest.approx(expected["mean"], abs=0.15)
    assert [found.sd, found.median] == pytest.approx(expected[["sd", "median"]].tolist(), abs=0.2)
    assert [found.lower, found.upper] == pytest.approx(expected[["lower", "upper"]].tolist(), abs=0.3)
    assert found.mean.lower < float(found.mean) < found.mean.upper


def test_levels_and_numbers_agree_with_predictions_of_whole_rows(clinic: DagPosterior) -> None:
    whole = _row(clinic, sex="m", bmi=30.0, systolic=140.0)
    expected = clinic.predict_proba(whole, target="smoking")["yes"].iloc[0]
    found = clinic.probability("P(smoking = yes | sex = m, bmi = 30, systolic = 140)")
    assert float(found) == pytest.approx(expected, abs=0.02)
    number = clinic.predict_number(_row(clinic, sex="m", bmi=30.0), target="systolic").iloc[0]
    mean = clinic.probability("E(systolic | sex = m, bmi = 30)")
    assert float(mean) == pytest.approx(number["mean"], abs=0.3)
    assert mean.as_dict()["predictive"] == pytest.approx(number[["lower", "upper"]].tolist(), abs=1.0)


def test_levels_that_are_open_are_summed_over(clinic: DagPosterior) -> None:
    shares = [float(clinic.probability(f"P(sex = {sex} | smoking = yes)")) for sex in "fm"]
    means = [float(clinic.probability(f"E(systolic | smoking = yes, sex = {sex})")) for sex in "fm"]
    # Shares of the same people, but for those whose sex follows from whether they smoke.
    assert sum(shares) == pytest.approx(1.0, abs=1e-4)
    average = float(np.dot(shares, means))
    assert float(clinic.probability("E(systolic | smoking = yes)")) == pytest.approx(average, abs=0.5)


def test_limits_of_numbers_are_probabilities(clinic: DagPosterior) -> None:
    below, inside, above = clinic.probability(["systolic < 120", "120 < systolic < 135", "systolic > 135"])
    assert below + inside + above == pytest.approx(1.0, abs=1e-9)
    # Within one draw, what is asked given a limit is a ratio.
    both, given = clinic.probability(["P(systolic > 135 & bmi > 26)", "bmi > 26"])
    assert float(clinic.probability("P(systolic > 135 | bmi > 26)")) == pytest.approx(both / given, abs=0.01)


def test_setting_a_column_says_nothing_of_its_causes() -> None:
    frame = _clinic()
    model = DagPosterior("bge", prior="uniform", seed=1, required=["bmi -> systolic"]).fit(frame[["bmi", "systolic"]])
    seen, done, alone = model.probability(["E(bmi | systolic = 150)", "E(bmi | do(systolic = 150))", "E(bmi)"])
    assert float(done) == pytest.approx(float(alone), abs=0.1)
    assert float(seen) > float(alone) + 1.0


@pytest.mark.filterwarnings("ignore:Do not trust")
def test_latent_numbers_answer_too() -> None:
    model = latent_model()
    no, yes = model.value("smoking", {"pressure": 135.0}, draws=200).probabilities
    assert float(yes) + float(no) == pytest.approx(1.0)
    expected = model.predict_proba(_row(model, pressure=135.0), target="smoking")["yes"].iloc[0]
    assert float(yes) == pytest.approx(expected, abs=0.03)
    number = model.predict_number(_row(model, smoking="yes", pain=3), target="pressure").iloc[0]
    found = model.value("pressure", {"smoking": "yes", "pain": 3}, draws=200)
    assert [found.median, found.sd] == pytest.approx(number[["median", "sd"]].tolist(), abs=1.0)
    assert found.lower < found.median < found.upper
    done = model.value("pressure", do={"smoking": "yes"}, where="smoking ~> pressure", draws=200)
    assert 115.0 < done.median < 135.0
    # Far beyond those of the table there are no values.
    assert float(model.probability("P(pressure > 1000)")) < 1e-12
    assert float(model.probability("P(pressure > 1000 | pressure > 100, smoking = yes)")) < 1e-12
    assert float(model.probability("P(pressure < 1000)")) == pytest.approx(1.0)


def test_a_model_without_rows_says_the_same(levels: DagPosterior, tmp_path: Path) -> None:
    levels.save(tmp_path / "model.dagpost")
    text = 'P(Pressure = ">140" | Smoking = "yes", Smoking -> Pressure)'
    again = DagPosterior.load(tmp_path / "model.dagpost").probability(text)
    assert again.as_dict() == levels.probability(text).as_dict()


def test_a_condition_may_stand_outside(levels: DagPosterior, said: Said) -> None:
    inside = levels.probability('P(Pressure = ">140" | Smoking = yes)')
    assert float(levels.probability('Pressure = ">140"', given="Smoking = yes")) == float(inside)
    graph = levels.probability('P(Pressure = ">140" | Smoking = yes, Smoking -> Pressure)')
    assert float(levels.probability('P(Pressure = ">140" | Smoking = yes)', given="Smoking -> Pressure")) == float(
        graph
    )
    with said.raises(InputError):
        levels.probability("Smoking -> Pressure", given="Smoking = yes")


def test_levels_that_are_numbers_are_compared(levels: DagPosterior) -> None:
    low, high = levels.probability(["Stage <= 1", "Stage > 1"])
    assert low + high == pytest.approx(1.0, abs=1e-9)
    assert float(low) == pytest.approx(float(levels.probability("Stage = 1")), abs=1e-12)
    assert float(levels.probability("Stage != 1.0")) == pytest.approx(float(high), abs=1e-12)


def test_a_number_stands_for_its_bin_and_limits_lie_on_cuts(said: Said) -> None:
    recipe = Recipe(cut={"systolic": [130.0, 140.0]})
    model = DagPosterior("bdeu", prior="uniform", seed=1, recipe=recipe).fit(_clinic()[["smoking", "systolic"]])
    middle, high = model.probability(["systolic = 135", "systolic >= 140"])
    low = model.probability("systolic < 130")
    assert low + middle + high == pytest.approx(1.0, abs=1e-9)
    with said.raises(InputError):
        model.probability("systolic > 137")
    with pytest.raises(InputError, match="Write >= 140"):
        model.probability("systolic > 140")


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ('P(Pressure = ">140" | Smoking = yess)', "has no level 'yess'. Did you mean 'yes'", "yess"),
        ("P(Smoking > yes)", "are in no order", "yes"),
        ("P(Stage > yes)", "are numbers", "yes"),
        ("P(Smoking = yes | Stage = 9)", "There are: '1', '2', '3'", "9"),
        ("P(Smoking = yes | Stage < 2, Stage > 2)", "exclude each other", "Stage"),
        ("E(Smoking)", "these have no mean", "Smoking"),
        ("P(Smoking = yes & Smoking -> Stage)", "behind the bar", "Smoking -> "),
        ("P(Smoking = yes | !(Stage = 1))", "Stage != x", "Stage"),
        ("P(Smoking = yes | do(Stage > 1))", "set to one value", "Stage"),
        ("P(Smoking = yes | do(Stage = 1), do(Stage = 2))", "set twice", "Stage = 2"),
    ],
)
def test_errors_show_the_place_and_the_remedy(levels: DagPosterior, text: str, message: str, place: str) -> None:
    with pytest.raises(InputError) as caught:
        levels.probability(text)
    said, shown, caret = str(caught.value).split("\n")
    assert message in said
    assert shown.strip() == text
    assert text[caret.index("^") - 2 :].startswith(place)


@pytest.mark.parametrize(
    "arguments",
    [
        {"target": "Pressure", "do": {"Pressure": "<140"}},
        {"target": "Pressure", "given": {"Smoking": "yes"}, "do": {"Smoking": "no"}},
        {"target": "Pressure", "given": "Smoking"},
        {"target": "Pressure", "given": {"Smokin": "yes"}},
        {"target": 3},
        {"target": "Pressure", "where": "Smoking = yes"},
        {"target": "Pressure", "where": "Pressure -> Smoking & Smoking -> Pressure"},
        {"target": "Pressure", "given": {"Smoking": [["yes"]]}},
    ],
)
def test_wrong_arguments_are_refused(levels: DagPosterior, arguments: dict[str, Any], said: Said) -> None:
    with said.raises(InputError):
        levels.value(**arguments)


def test_exogenous_numbers_that_matter_must_be_given(said: Said) -> None:
    frame = _clinic()[["bmi", "systolic"]]
    model = DagPosterior("bge", prior="uniform", seed=1, exogenous=["bmi"], required=["bmi -> systolic"]).fit(frame)
    with said.raises(InputError):
        model.probability("E(systolic)")
    with pytest.raises(InputError, match="exogenous"):
        model.probability("E(bmi)")
    low, high = model.probability(["E(systolic | bmi = 20)", "E(systolic | bmi = 30)"])
    assert low.exogenous == ()
    assert float(high) > float(low) + 3.0


def test_a_limit_that_is_left_out_is_left_out(clinic: DagPosterior, said: Said) -> None:
    above, at_least = clinic.probability(["P(bmi > 25 | bmi = 25)", "P(bmi >= 25 | bmi = 25)"])
    assert (float(above), float(at_least)) == (0.0, 1.0)
    with said.raises(InputError):
        clinic.probability("E(systolic | 25 < bmi < 25)")


def test_evidence_far_out_is_weighed_and_said_to_be_rough(clinic: DagPosterior, said: Said) -> None:
    numbers = DagPosterior("bge", prior="uniform", seed=1).fit(_clinic()[["bmi", "systolic"]])
    with pytest.warns(DagpostWarning, match="worth only"):
        found = numbers.probability("E(systolic | bmi > 1e4)")
    assert found.effective_samples < 100
    with said.raises(InputError):
        numbers.probability("E(systolic | bmi = 1e300)")
    with pytest.warns(DagpostWarning, match="worth only"):
        clinic.probability("E(systolic | bmi > 42, smoking = no)")
    # Of such limits nothing is left, whatever the parameters.
    for asked in ("E(systolic | bmi > 1e4)", "P(smoking = yes | bmi > 1e4)"):
        with pytest.raises(InputError, match="has no probability in any graph"):
            clinic.probability(asked)


def test_earlier_values_are_not_to_be_taken_out_of_exogenous(said: Said) -> None:
    frame = _clinic()[["bmi", "systolic"]].set_axis(["bmi[t-1]", "bmi"], axis=1)
    model = DagPosterior("bge", prior="uniform", seed=1, exogenous=["bmi[t-1]"], required=["bmi[t-1] -> bmi"]).fit(
        frame
    )
    with said.raises(InputError):
        model.probability("E(bmi)")


def test_a_model_of_scores_knows_no_values(said: Said) -> None:
    model = DagPosterior(prior="uniform", seed=1).fit_scores(
        local_scores(_levels()[["Smoking", "Pressure"]], "bdeu", 1)
    )
    with said.raises(InputError):
        model.probability("Smoking = yes")


def test_names_and_levels_may_have_any_characters() -> None:
    name, level = 'a "b" | c = <script>', "x, y & 'z'\\ = \x1b[31m"
    frame = pd.DataFrame({name: [level, "other"] * 15, "plain": ["u", "v", "v"] * 10})
    model = DagPosterior("bdeu", prior="uniform", seed=1).fit(frame)
    written = name.replace('"', r"\"")
    escaped = level.replace("\\", "\\\\").replace("'", "\\'")
    found = model.probability(f"P(\"{written}\" = '{escaped}' | plain = u)")
    assert 0.3 < float(found) < 0.7
    shown = model.value(name, {"plain": "u"})
    assert "\x1b" not in repr(shown) + shown._repr_html_()
    assert "<script>" not in shown._repr_html_()
    assert json.loads(json.dumps(shown.summary()))["levels"][1]["level"] in (level, "other")


def test_a_distribution_is_a_table(clinic: DagPosterior) -> None:
    frame = clinic.value("systolic", {"smoking": "yes", "bmi": (25, None)}, draws=200).to_frame()
    assert frame.columns.tolist() == ["mean", "mean_lower", "mean_upper", "sd", "median", "lower", "upper"]
    levels = clinic.value("smoking", {"sex": ["f", "m"]}, draws=200).to_frame()
    assert levels.index.tolist() == ["no", "yes"]
    assert levels["probability"].sum() == pytest.approx(1.0, abs=1e-9)


def test_quantiles_of_a_mixture() -> None:
    one = np.ones(1)
    assert mixture_quantiles(one, 3 * one, 2 * one, [0.5, 0.975]) == pytest.approx([3.0, 3.0 + 2 * 1.959964], abs=1e-6)
    points = np.arange(5.0)
    assert mixture_quantiles(np.full(5, 0.2), points, np.zeros(5), [0.5, 0.95]) == [2.0, 4.0]


def test_whole_numbers_are_numbers_in_linear_networks() -> None:
    generator = np.random.default_rng(7)
    dose = generator.choice([10, 20, 40], 200)
    frame = pd.DataFrame({"dose": dose, "y": 0.5 * dose + generator.normal(size=200)})
    model = DagPosterior("bge", prior="uniform", required=["dose -> y"], seed=1).fit(frame)
    assert model.fitted_.data.levels[0] == (10, 20, 40)
    assert float(model.probability("E(y | dose = 40)")) == pytest.approx(20.0, abs=0.5)
    assert float(model.probability("E(y | do(dose = 40))")) == pytest.approx(20.0, abs=0.5)
    assert float(model.probability("P(dose > 0)")) > 0.9
    assert model.effect("dose", "y", seed=1).mean == pytest.approx(0.5, abs=0.02)
    assert model.effect("dose", "y", do=(40, 10), seed=1).mean == pytest.approx(15.0, abs=0.5)


def test_a_regime_that_is_set_leaves_no_other_one() -> None:
    generator = np.random.default_rng(3)
    regime = generator.integers(0, 3, 200)
    frame = pd.DataFrame({
        "drug": np.array(["none", "old", "new"])[regime],
        "ill": np.where(generator.random(200) < 0.2 + 0.3 * regime, "yes", "no"),
        "sex": generator.choice(["f", "m"], 200),
    })  # fmt: skip
    model = DagPosterior("bdeu", prior="uniform", regimes=Regimes("drug", reference="none"), seed=1).fit(frame)
    first, second = model.fitted_.exogenous
    found = model.value("ill", do={first: 1})
    both = model.value("ill", do={first: 1, second: 0})
    assert list(map(float, found.probabilities)) == list(map(float, both.probabilities))
    seen = {own.do: own.mean for own in model.effect(first, "ill", seed=1).outcomes if own.level == "yes"}
    assert float(found.probabilities[found.levels.index("yes")]) == pytest.approx(seen[(1,)], abs=1e-9)
    assert found.probabilities[0].exogenous == ()


def test_what_was_seen_may_be_so_improbable_that_a_product_would_be_zero() -> None:
    nodes = 64
    codes = [np.arange(20_000) % 2, *np.zeros((nodes - 1, 20_000), dtype=np.int64)]
    names = tuple(f"c{node}" for node in range(nodes))
    table = Table(names, tuple(own.astype(np.uint8) for own in codes), (("no", "yes"),) * nodes)
    graphs = np.array([[0] + [1] * (nodes - 1)], dtype=np.uint64)
    about = sufficient_statistics(table, graphs, BDeu(1.0)), DirichletPrior(1.0, shared=True), graphs
    known = (1 << nodes) - 2
    found = drawn_logs(*about, np.ones((nodes, 1), dtype=np.int64), known, 0, np.random.default_rng(1))
    same = discrete.drawn(*about, no_background(nodes), np.random.default_rng(1))
    logs = np.log(same.outcome(0, {})[0])
    for node in range(1, nodes):
        logs += [np.log(same.outcome(node, {0: level})[0, 1]) for level in (0.0, 1.0)]
    assert logs.max() < -750.0
    assert found[0, 0] == pytest.approx(np.logaddexp(*logs), rel=1e-12)
