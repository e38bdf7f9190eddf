"""The same question is answered alike by every door: effect, value, probability, command line, report, explorer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tools.asgi import PORT, TOKEN, ask, run
from typer.testing import CliRunner

from dagpost import DagPosterior
from dagpost.cli.application import app
from dagpost.explorer.application import application
from dagpost.explorer.desk import Desk
from dagpost.explorer.session import Session
from dagpost.report.content import gather

SCORES = ("bdeu", "bge", "additive", "committee", "conditional-gaussian")
ALIKE = {"rel": 1e-12, "abs": 1e-12}


def made(score: str, seed: int) -> DagPosterior:
    """A model of three columns: levels for BDeu, numbers for others, with one of levels where these may be mixed."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=80)
    z = x + rng.normal(size=80)
    frame = pd.DataFrame({"x": x, "z": z, "y": np.tanh(z) + 0.4 * x + rng.normal(size=80)})
    if score == "bdeu":
        frame = pd.DataFrame({name: np.digitize(own, [-0.4, 0.6]).astype(str) for name, own in frame.items()})
    if score in ("additive", "conditional-gaussian"):
        frame["x"] = np.where(frame["x"] > 0, "high", "low")
    return DagPosterior(score, seed=1, samples=500, threads=1, progress=False).fit(frame)


@pytest.mark.parametrize("score", SCORES)
@settings(max_examples=3)
@given(seed=st.integers(0, 2**32 - 1), draws=st.sampled_from([200, 700]))
def test_effect_value_and_probability_agree(score: str, seed: int, draws: int) -> None:
    model = made(score, seed)
    levels = model.fitted_.data.levels[0]
    values = (levels[1], levels[0]) if levels else (0.7, -0.3)
    effect = model.effect("x", "y", do=values, seed=seed, draws=draws)
    table = effect.outcome_table()
    for value in values:
        shown = table[table["do x"] == value]
        found = model.value("y", do={"x": value}, seed=draws)
        if score == "bdeu":
            for (_, row), own in zip(shown.iterrows(), found.probabilities, strict=True):
                assert float(own) == pytest.approx(row["mean"], **ALIKE)
                text = f'P(y = "{row["level"]}" | do(x = "{value}"))'
                assert float(model.probability(text)) == pytest.approx(row["mean"], **ALIKE)
        else:
            assert found.mean is not None
            (mean,) = shown["mean"]
            assert float(found.mean) == pytest.approx(mean, **ALIKE)
            said = f'"{value}"' if isinstance(value, str) else value
            assert float(model.probability(f"E(y | do(x = {said}))")) == pytest.approx(mean, **ALIKE)


@pytest.mark.parametrize("score", SCORES)
def test_the_report_says_the_same(score: str) -> None:
    # Of a table with gaps a report averages at most fifty completed tables, `effect` all of them.
    model = made(score, 4)
    sizes = gather(model.fitted_).sizes
    assert sizes is not None
    assert sizes.pairs
    for pair in sizes.pairs:
        cause, outcome = model.feature_names_in_[pair.cause], model.feature_names_in_[pair.outcome]
        effect, shown = model.effect(cause, outcome), pair.effect
        assert (shown.values, shown.outcome_level) == (effect.values, effect.outcome_level)
        assert shown.mean == pytest.approx(effect.mean, **ALIKE)
        assert shown.zero_probability == pytest.approx(effect.zero_probability, **ALIKE)
        assert shown.outcome_table()["mean"].tolist() == pytest.approx(effect.outcome_table()["mean"].tolist(), **ALIKE)
        # Where all comes of draws, a report has fewer of them for its intervals.
        assert len(shown.samples) == (10_000 if score in ("bdeu", "bge") else 2_000)
        as_many = model.effect(cause, outcome, draws=len(shown.samples))
        assert shown.interval() == pytest.approx(as_many.interval(), **ALIKE)


@pytest.mark.parametrize("score", SCORES)
def test_the_explorer_says_the_same(score: str) -> None:
    model = made(score, 4)
    session = Session(model.fitted_, "The same question")
    session.prepare()
    desk = Desk(session)

    def answered(question: str, asked: dict[str, Any]) -> Any:
        reply = run(ask(application(desk, {}, TOKEN, PORT), question, {**asked, "patient": True}))
        assert reply.status == 200, reply.body
        return reply.json

    try:
        effect = model.effect("x", "y")
        shown = answered("effect", {"cause": "x", "outcome": "y"})
        expected = effect.mean, *effect.interval(), effect.zero_probability
        found = tuple(shown[key] for key in ("mean", "lower", "upper", "zero_probability"))
        assert found == pytest.approx(expected, **ALIKE)
        levels = model.fitted_.data.levels[0]
        said = f'"{levels[1]}"' if levels else "0.7"
        text = f'P(y = "1" | do(x = {said}))' if score == "bdeu" else f"E(y | do(x = {said}))"
        assert answered("ask", {"statement": text})["value"] == pytest.approx(float(model.probability(text)), **ALIKE)
    finally:
        desk.close()


def test_the_command_line_says_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = made("additive", 3)
    monkeypatch.chdir(tmp_path)
    model.save("model", rows=True)
    model.save("bare")
    effect = model.effect("x", "y", do=("high", "low"), seed=5)

    def printed(*arguments: str) -> Any:
        result = CliRunner().invoke(app, arguments, prog_name="dagpost")
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    asked = ("x", "y", "--do", "high", "--rather-than", "low", "--seed", "5", "--json")
    assert printed("effect", "model", *asked)["mean"] == pytest.approx(effect.mean, **ALIKE)
    # A file without rows keeps other people, and factors in single precision.
    assert printed("effect", "bare", *asked)["mean"] == pytest.approx(effect.mean, abs=0.05)
    query = printed("query", "model", 'E(y | do(x = "high"))', "--json")
    value = model.value("y", do={"x": "high"}).mean
    assert value is not None
    assert query[0]["value"] == pytest.approx(float(value), **ALIKE)
