"""Edges that the model behind a score does not have: they are said to be ruled out by it, wherever they are shown."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import essential
from tests.naive.posterior import all_dags
from tests.naive.summaries import edges_of
from tests.tools.examples import examples
from tests.tools.wording import Said

from dagpost import DagPosterior, equivalence_classes
from dagpost.cli.pairs import print_about_pairs, print_pairs
from dagpost.plots.marks import LEGEND, head_of
from dagpost.posterior.directions import directions_of, directions_of_sample
from dagpost.posterior.knowledge import knowledge_from
from dagpost.priors.constraints import Constraints

NAMES = ("a", "b", "c", "d")


@settings(max_examples=examples(60))
@given(st.integers(2, 4), st.data())
def test_what_is_compelled_with_the_model_matches_enumeration(nodes: int, data: Any) -> None:
    sinks = data.draw(st.sets(st.integers(0, nodes - 1), min_size=1, max_size=nodes - 1))
    model = {(parent, child) for parent in sinks for child in range(nodes) if child not in sinks}
    dag = data.draw(st.sampled_from([dag for dag in all_dags(nodes) if not edges_of(dag) & model]))
    others = [(i, j) for i in range(nodes) for j in range(nodes) if i != j and (i, j) not in edges_of(dag)]
    forbidden = set(data.draw(st.lists(st.sampled_from(others), max_size=2))) if others else set()
    rules = Constraints(forbidden=[(NAMES[i], NAMES[j]) for i, j in forbidden], sinks=[NAMES[node] for node in sinks])
    known = knowledge_from(NAMES[:nodes], rules)
    found = known.compelled(np.array([dag], dtype=np.uint8))
    expected = ((), forbidden, forbidden | model)
    for own, left_out in zip(found, expected, strict=True):
        assert tuple(own[0].tolist()) == essential.as_masks(essential.compelled(dag, forbidden=left_out), nodes)
    alone = known.without_rules().compelled(np.array([dag], dtype=np.uint8)).with_model
    assert tuple(alone[0].tolist()) == essential.as_masks(essential.compelled(dag, forbidden=model), nodes)


@cache
def mixed(**rules: Any) -> DagPosterior:
    generator = np.random.default_rng(1)
    sex = generator.integers(0, 2, 400)
    smokes = (generator.random(400) < 0.2 + 0.5 * sex).astype(int)
    bmi = 25 + 3 * sex + generator.normal(0, 1, 400)
    pressure = 120 + 2 * (bmi - 25) + 3 * generator.normal(0, 1, 400)
    table = pd.DataFrame({"sex": sex.astype(str), "smokes": smokes.astype(str), "bmi": bmi, "pressure": pressure})
    return DagPosterior(score="conditional-gaussian", seed=1, samples=300, **{"prior": "uniform", **rules}).fit(table)


def test_directions_that_the_model_fixes_have_a_word_of_their_own(said: Said) -> None:
    found = directions_of(mixed().fitted_)
    words = {(found.names[pair.source], found.names[pair.target]): pair.word for pair in found.pairs(0.5)}
    # The last one follows, since sex leads to body mass and has nothing else to do with pressure.
    assert words == {("sex", "smokes"): "open", ("sex", "bmi"): "model", ("bmi", "pressure"): "model"}
    parts = found.by_data + found.by_rules + found.by_model
    assert parts + parts.T + found.reversible == pytest.approx(found.joined)
    said(found.assumption)
    assert not found.settled.any()
    of_sample = directions_of_sample(mixed().own_sample())
    assert [pair.word for pair in of_sample.pairs(0.5)] == [pair.word for pair in found.pairs(0.5)]
    directed = equivalence_classes(mixed()).table(1)["directed"][0]
    assert "sex -> bmi" in directed
    assert "bmi -> pressure" in directed


def test_a_rule_of_the_user_comes_before_the_model() -> None:
    found = directions_of(mixed(forbidden="bmi -> sex").fitted_)
    assert found.pair(0, 2).word == "rules"
    assert found.pair(1, 2).word == "model"
    given_ = directions_of(mixed(exogenous="bmi").fitted_)
    # Nothing leads to a column that is not modelled, and numbers do not lead to levels.
    assert given_.pair(0, 2).label == "never joined"


def test_an_answer_says_that_the_model_rules_it_out() -> None:
    for source in (mixed(), mixed().own_sample()):
        for statement in ("bmi -> sex", "pressure ~> smokes", "bmi -> sex & sex -> smokes"):
            answer = source.probability(statement)
            assert (answer, answer.lower, answer.upper) == (0.0, 0.0, 0.0)
            assert str(answer).startswith("0.0000 (ruled out by the model: numbers do not lead to levels; ")
        several = source.probability(["bmi -> sex", "sex -> bmi"])
        assert [answer.rule.startswith("ruled out") for answer in several] == [True, False]
        assert several[1] > 0.9


def test_lists_of_pairs_say_it(capsys: pytest.CaptureFixture[str]) -> None:
    found = directions_of(mixed().fitted_)
    print_pairs(found, found.pairs(0.5), mixed().edge_probabilities_.to_numpy())
    print_about_pairs(found, None)
    said = capsys.readouterr().out
    assert re.search(r"sex +(⇒|=>) +bmi +1\.0000 +[01]\.\d{4} +ruled out +follows from the model", said)
    assert "leads to the number is not a finding" in said


def test_the_report_and_the_legend_say_it(tmp_path: Path) -> None:
    page = mixed().report(tmp_path / "r.html").read_text(encoding="utf-8")
    for words in (
        "For 2 it follows from the model.",
        "ruled out by the model: that there are none is not a finding.",
        "The model itself has no edges from numbers (bmi, pressure) to levels.",
        '"decided":"by the model"',
        "By the model",
    ):
        assert words in page
    assert head_of("model") == "hollow"
    assert "follows from the model" in LEGEND["model"]
