"""Other choices: the refits are those that a user would make by hand, and what does not survive them is marked."""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive.sensitivity import fate_of, joined_under
from tests.tools.reference import coronary_of_the_paper
from tests.tools.wording import Said

from dagpost import (
    Additive,
    BDe,
    BDeu,
    BGe,
    ConditionalGaussian,
    CustomPrior,
    DagPosterior,
    InputError,
    Score,
    Trees,
    local_scores,
)
from dagpost.posterior import variations
from dagpost.posterior.sensitivity import PairUnderChoices, Sensitivity, Variation
from dagpost.scores.committee import FEWEST_FOR_BINS

#: 35 + 35 rows in which two columns agree and 25 + 25 in which they differ: joined with 0.36, 0.64 and 0.71 where the
#: equivalent sample size is 1, 5 and 10.
UNDECIDED = pd.DataFrame({"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "n": [35, 25, 25, 35]})


AVERAGED, ALSO = ["edge:average"], ["indegree", "edge:0.1"]


def random_table(columns: int, rows: int = 60, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, (rows, columns))
    codes[:, 1] = np.where(rng.random(rows) < 0.5, codes[:, 0], codes[:, 1])
    codes[:, 2] = np.where(rng.random(rows) < 0.3, codes[:, 1], codes[:, 2])
    return pd.DataFrame(codes.astype(str), columns=[f"x{number}" for number in range(columns)])


def numeric_table(seed: int = 2) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(40, 4))
    values[:, 1] += 0.5 * values[:, 0]
    return pd.DataFrame(values, columns=list("abcd"))


def of_pair(own: float, *others: float) -> Sensitivity:
    """What is said of one pair."""
    joined = np.zeros((1 + len(others), 2, 2))
    joined[:, 0, 1] = joined[:, 1, 0] = [own, *others]
    tried = tuple(Variation("size", str(place), f"size {place}") for place in range(len(others)))
    return Sensitivity(("a", "b"), tried, joined)


@pytest.mark.parametrize(
    ("settings", "choices"),
    [
        (
            {"score": BDeu(1)},
            {
                "equivalent sample size": ["5", "10"],
                "prior": AVERAGED + ALSO,
                "score": ["bic"],
                "most parents": ["2"],
            },
        ),
        (
            {"score": BDeu(5), "prior": "indegree", "max_parents": 2, "modularity": "order"},
            {
                "equivalent sample size": ["1", "10"],
                "prior": [*AVERAGED, "uniform", "edge:0.1"],
                "score": ["bic"],
                "most parents": ["1", "3"],
            },
        ),
        (
            {"score": BDe(), "max_parents": 1},
            {
                "pseudocount": ["0.1", "1"],
                "prior": AVERAGED + ALSO,
                "score": ["bic"],
                "most parents": ["2"],
            },
        ),
        (
            {"score": "bic"},
            {"prior": AVERAGED + ALSO, "score": ["bdeu"], "most parents": ["2"]},
        ),
        ({"score": "k2", "method": Trees()}, {"prior": AVERAGED + ALSO, "score": ["bic"]}),
        (
            {"score": BDeu(1), "required": [("x0", "x2")], "forbidden": [("x1", "x0")], "prior": "edge:0.2"},
            {
                "equivalent sample size": ["5", "10"],
                "prior": [*AVERAGED, "uniform", *ALSO],
                "score": ["bic"],
                "most parents": ["2"],
                "rules": ["none"],
            },
        ),
    ],
    ids=["bdeu", "order", "bde", "bic", "trees", "rules"],
)
def test_every_variation_is_the_fit_that_one_would_make_by_hand(
    settings: dict[str, Any], choices: dict[str, list[str]]
) -> None:
    table = random_table(4)
    found = DagPosterior(**{"prior": "uniform", "score": "bdeu", **settings}).fit(table).sensitivity()
    tried = [(own.choice, own.value) for own in found.variations]
    assert tried == [(choice, value) for choice, values in choices.items() for value in values]
    assert found.left_out == ()
    for place, (choice, value) in enumerate(tried):
        np.testing.assert_allclose(
            found.joined[1 + place], joined_under(table, choice, value, **settings), atol=1e-9, err_msg=value
        )


def test_numbers_are_tried_with_weaker_and_stronger_priors() -> None:
    table = numeric_table()
    found = DagPosterior(prior="uniform", score=BGe()).fit(table).sensitivity()
    assert [own.words for own in found.variations[:2]] == ["weight of the prior 0.5", "weight of the prior 5"]
    for place, own in enumerate(found.variations):
        by_hand = joined_under(table, own.choice, own.value, score=BGe())
        np.testing.assert_allclose(found.joined[1 + place], by_hand, atol=1e-9)


def both_kinds() -> pd.DataFrame:
    """Numbers, two levels that follow one of them, and two of which a number follows."""
    table = numeric_table()
    return pd.DataFrame(
        {
            "a": table["a"],
            "sex": np.where(table["a"] + table["c"] > 0.0, "f", "m"),
            "smokes": np.where(table["d"] > 0.5, "yes", "no"),
            "b": table["b"] + 2.0 * (table["d"] > 0.5),
        }
    )


def many_times(table: pd.DataFrame) -> pd.DataFrame:
    """The same rows, so often that bins have a say."""
    return pd.concat([table] * (FEWEST_FOR_BINS // len(table) + 1), ignore_index=True)


@pytest.mark.parametrize(
    ("table", "score", "others"),
    [
        (numeric_table(), BGe(), ["additive"]),
        (numeric_table(), Additive(), ["bge"]),
        (both_kinds(), Additive(), ["conditional-gaussian"]),
        (both_kinds(), ConditionalGaussian(), ["additive"]),
        # Bins see something where rows are many.
        (many_times(numeric_table()), BGe(), ["additive", "bdeu on 4 bins"]),
        (many_times(both_kinds()), Additive(), ["conditional-gaussian", "bdeu on 4 bins"]),
    ],
)
def test_other_kinds_of_models_are_those_that_one_would_fit_by_hand(
    table: pd.DataFrame, score: Score, others: list[str]
) -> None:
    found = DagPosterior(prior="uniform", score=score).fit(table).sensitivity()
    assert found.left_out == ()
    tried = {own.value: found.joined[1 + place] for place, own in enumerate(found.variations) if own.choice == "score"}
    assert list(tried) == others
    for value, joined in tried.items():
        np.testing.assert_allclose(joined, joined_under(table, "score", value), atol=1e-9, err_msg=value)


def test_levels_alone_are_tried_as_levels() -> None:
    table = random_table(3)
    found = DagPosterior(prior="uniform", score=Additive()).fit(table).sensitivity()
    assert [own.words for own in found.variations if own.choice == "score"] == ["the score bdeu"]
    place = 1 + [own.choice for own in found.variations].index("score")
    by_hand = DagPosterior(prior="uniform", score=BDeu(5)).fit(table).edge_probabilities_.to_numpy()
    np.testing.assert_allclose(found.joined[place], by_hand + by_hand.T, atol=1e-9)


def test_an_edge_that_hangs_on_the_equivalent_sample_size_is_marked(said: Said) -> None:
    strong = DagPosterior(prior="uniform", score=BDeu(10)).fit(UNDECIDED, counts="n").sensitivity()
    (pair,) = strong.pairs()
    assert (pair.fate, strong.mark(pair)) == ("falls", "✗")
    assert strong.verdict(pair).startswith("falls to ")
    said(strong.variations[0].words)
    assert pair.others[0] < 0.5 < pair.others[1]
    assert strong.summary().startswith("The one pair found (joined with at least 0.5) does not hold under each of ")
    weak = DagPosterior(prior="uniform", score=BDeu(1)).fit(UNDECIDED, counts="n").sensitivity()
    (pair,) = weak.pairs()
    said(weak.verdict(pair))
    said(weak.summary())


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=6))
def test_the_fate_of_a_pair_is_what_it_says(values: list[float]) -> None:
    pair = PairUnderChoices(0, 1, values[0], tuple(values[1:]))
    assert pair.fate == fate_of(values[0], values[1:])
    found = of_pair(*values)
    if values[1:] and max(values) >= 0.1:
        assert found.pairs() == [pair]
        verdict = found.verdict(pair)
        assert verdict.split()[0] == {"never": "below"}.get(pair.fate, pair.fate)
        if pair.fate in ("falls", "rises"):
            farthest = min(values[1:]) if pair.fate == "falls" else max(values[1:])
            assert f"size {values[1:].index(farthest)}" in verdict
    else:
        assert found.pairs() == ([pair] if max(values) >= 0.1 else [])


def test_a_verdict_near_one_half_says_on_which_side(said: Said) -> None:
    found = of_pair(0.9, 0.4996)
    said(found.verdict(found.pairs()[0]))
    found = of_pair(0.9, 0.5 - 1e-9, 0.3)
    said(found.verdict(found.pairs()[0]))
    found = of_pair(0.9, 0.5 - 1e-9)
    said(found.verdict(found.pairs()[0]))


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ((0.9, 0.8), "The one pair found (joined with at least 0.5) holds under the one other choice."),
        ((0.9, 0.8, 0.6), "The one pair found (joined with at least 0.5) holds under each of 2 other choices."),
        ((0.1, 0.2, 0.3), "No pair is joined with at least 0.5, nor under any of 2 other choices."),
        ((0.9,), "No other choice was tried."),
    ],
)
def test_the_sentence(values: tuple[float, ...], sentence: str) -> None:
    assert repr(of_pair(*values)) == of_pair(*values).summary() == sentence


def test_where_rows_are_few_the_pairs_that_hang_on_a_choice_are_shown() -> None:
    nodes = 8
    joined = np.zeros((2, nodes, nodes))
    joined[:, :, :] = 0.9
    joined[1, 6, 7] = joined[1, 7, 6] = 0.2
    found = Sensitivity(tuple("abcdefgh"), (Variation("size", "1", "size 1"),), joined)
    assert len(found.pairs()) == 28
    assert len(found.table()) == 25
    assert ("g", "h") in found.table().index
    assert [(pair.first, pair.second) for pair in found.shown(1)] == [(6, 7)]
    assert found.summary().startswith("27 of 28 pairs found")


def test_what_the_user_requires_is_not_a_finding() -> None:
    model = DagPosterior(prior="uniform", score="bdeu", required=[("x0", "x2")]).fit(random_table(4))
    found = model.sensitivity()
    assert model.probability("x0 -- x2").value == 1.0
    assert (0, 2) not in [(pair.first, pair.second) for pair in found.pairs()]
    assert (0, 1) in [(pair.first, pair.second) for pair in found.pairs()]


def test_a_choice_that_the_rules_do_not_allow_is_left_out_with_the_reason() -> None:
    required = [("x0", "x2"), ("x1", "x2")]
    found = (
        DagPosterior(prior="uniform", score="bdeu", required=required, max_parents=2).fit(random_table(4)).sensitivity()
    )
    assert [own.words for own in found.variations if own.choice == "most parents"] == ["at most 3 parents"]
    (reason,) = found.left_out
    assert reason.startswith("at most 1 parent (")
    assert "x2" in reason
    assert html.escape(reason) in found._repr_html_()


def test_sums_out_of_reach_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    real = variations._seconds

    def slow(fitted: Any, refit: Any) -> float:
        return np.inf if refit.changes.get("max_parents") else real(fitted, refit)

    monkeypatch.setattr(variations, "_seconds", slow)
    found = DagPosterior(prior="uniform", score="bdeu", max_parents=2).fit(random_table(4)).sensitivity()
    assert len(found.left_out) == 2
    assert "too long or too much memory" in found.left_out[0]
    assert "most parents" not in {own.choice for own in found.variations}


def test_it_is_made_once_and_kept_in_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = DagPosterior(prior="uniform", score="bdeu").fit(random_table(4))
    found = model.sensitivity()
    assert model.sensitivity() is found
    model.save(tmp_path / "m")
    monkeypatch.setattr(variations, "fit_table", None)
    kept = DagPosterior.load(tmp_path / "m").sensitivity()
    assert kept.to_json() == found.to_json()
    assert kept.required == found.required
    pd.testing.assert_frame_equal(kept.table(), found.table())


def test_a_model_with_its_rows_tries_other_choices_after_loading(tmp_path: Path) -> None:
    model = DagPosterior(score=BDeu(5), prior="indegree").fit(random_table(4))
    model.save(tmp_path / "m", rows=True)
    assert DagPosterior.load(tmp_path / "m").sensitivity().to_json() == model.sensitivity().to_json()


def test_a_model_that_cannot_be_fitted_again_says_why(tmp_path: Path, said: Said) -> None:
    table = random_table(4)
    model = DagPosterior(prior="uniform", score="bdeu").fit(table)
    model.save(tmp_path / "m")
    with said.raises(InputError):
        DagPosterior.load(tmp_path / "m").sensitivity()
    with said.raises(InputError):
        DagPosterior(prior="uniform", score="bdeu").fit_scores(local_scores(table)).sensitivity()
    chains = DagPosterior(prior="uniform", score="bdeu", method="bootstrap", samples=50, seed=1).fit(table)
    with said.raises(InputError):
        chains.sensitivity()
    with said.raises(InputError):
        DagPosterior(prior="uniform", score="bdeu").sensitivity()


def test_a_prior_of_the_users_own_is_kept_in_memory_but_not_in_a_file(tmp_path: Path, said: Said) -> None:
    def few(child: str, parents: frozenset[str]) -> float:
        return -2.0 * len(parents) - (child == "x0")

    table = random_table(4)
    model = DagPosterior(BDeu(1), CustomPrior(few)).fit(table)
    found = model.sensitivity()
    assert [own.value for own in found.variations if own.choice == "prior"] == [
        *AVERAGED,
        "uniform",
        "indegree",
        "edge:0.1",
    ]
    np.testing.assert_allclose(
        found.joined[1], joined_under(table, "equivalent sample size", "5", prior=CustomPrior(few)), atol=1e-9
    )
    fresh = DagPosterior(BDeu(1), CustomPrior(few)).fit(table)
    fresh.save(tmp_path / "m", rows=True)
    with said.raises(InputError):
        DagPosterior.load(tmp_path / "m").sensitivity()


def test_settings_changed_after_the_fit_do_not_matter() -> None:
    table = random_table(4)
    model = DagPosterior(prior="uniform", score="bdeu", max_parents=2).fit(table)
    model.set_params(max_parents=1, prior="indegree", score="k2")
    assert (
        model.sensitivity().to_json()
        == DagPosterior(prior="uniform", score="bdeu", max_parents=2).fit(table).sensitivity().to_json()
    )


def test_a_model_without_probable_pairs_has_an_empty_table() -> None:
    found = Sensitivity(("a", "b"), (Variation("size", "1", "size 1"),), np.zeros((2, 2, 2)))
    assert found.pairs() == []
    assert found.table().empty
    assert "No pair" in found._repr_html_()


def test_names_are_never_obeyed() -> None:
    names = ["<b>&", "\x1b[31mred"]
    table = UNDECIDED.rename(columns=dict(zip("ab", names, strict=True)))
    found = DagPosterior(BDeu(1), prior="uniform").fit(table, counts="n").sensitivity()
    shown = found._repr_html_()
    assert "<b>" not in shown
    assert "&lt;b&gt;&amp;" in shown
    assert "\x1b" not in shown
    assert "\x1b" not in found.pair_text(found.pairs()[0])
    assert json.loads(json.dumps(found.to_json()))["pairs"][0]["pair"] == names


def test_the_table_groups_the_choices() -> None:
    found = DagPosterior(BDeu(1), prior="uniform").fit(coronary_of_the_paper()).sensitivity()
    table = found.table()
    assert table.columns.get_level_values(0)[0] == "this model"
    assert list(table["equivalent sample size"].columns) == ["5", "10"]
    assert table.loc[("Smoking", "Pressure"), ("prior", "edge:0.1")] == pytest.approx(0.466, abs=1e-3)
    assert table.loc[("Smoking", "Pressure"), ("verdict", "")] == "✗ falls to 0.47 with prior edge:0.1"


def test_progress_counts_the_refits() -> None:
    seen: list[tuple[str, int, int]] = []
    model = DagPosterior(prior="uniform", score="bdeu", progress=lambda *step: seen.append(step)).fit(random_table(4))
    # Which directions are to be tried is known from the model's own graphs.
    model.own_sample()
    seen.clear()
    found = model.sensitivity()
    total = len(found.variations)
    assert seen == [("other choices", done, total) for done in range(1, total + 1)]
