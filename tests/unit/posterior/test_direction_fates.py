"""Clear directions under other choices: the shares are those of refits by hand, and what is lost is said to be lost."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive.sensitivity import compelled_share, fate_of_direction, model_under
from tests.tools.reference import coronary_of_the_paper
from tests.tools.wording import Said

from dagpost import BDeu, DagPosterior, Recipe
from dagpost.files import archive
from dagpost.posterior import variations
from dagpost.posterior.directions import about_cuts, directions_of
from dagpost.posterior.fitted import Fitted
from dagpost.posterior.pair_direction import NOT_UNDER_EVERY_CHOICE, DirectionUnderChoices, surviving, where_lost
from dagpost.posterior.sample import DagSample
from dagpost.posterior.sensitivity import Sensitivity, Variation, label_under_choices, sensitivity_from

_SHARES = st.floats(0.0, 1.0) | st.just(math.nan)


def collider(rows: int = 400, seed: int = 1) -> pd.DataFrame:
    """Two causes with a common effect, and a column beside."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 2, (rows, 4))
    codes[:, 2] = np.where(rng.random(rows) < 0.7, codes[:, 0] + codes[:, 1], codes[:, 2])
    return pd.DataFrame(codes.astype(str), columns=list("abcd"))


def of_direction(own: float, *others: float, back: float = 0.0) -> Sensitivity:
    """What is said of `b -> a`, of two variables that are always joined."""
    compelled = np.empty((1 + len(others), 2, 2))
    compelled[:] = np.nan
    compelled[:, 1, 0] = [own, *others]
    compelled[:, 0, 1] = [0.0, *(math.nan if math.isnan(other) else back for other in others)]
    tried = tuple(Variation("size", str(place), f"size {place}") for place in range(len(others)))
    joined = np.repeat(np.array([[[0.0, 1.0], [1.0, 0.0]]]), 1 + len(others), axis=0)
    return Sensitivity(("a", "b"), tried, joined, compelled=compelled)


@pytest.mark.parametrize("settings", [{"score": BDeu(5)}, {"score": BDeu(1), "modularity": "order"}], ids=str)
def test_every_share_is_that_of_the_refit_by_hand(settings: dict[str, object]) -> None:
    table = collider()
    model = DagPosterior(**{"prior": "uniform", **settings}, samples=3_000, seed=2).fit(table)
    found = model.sensitivity()
    assert found.directions()
    assert {own.word for own in found.directions()} <= {"clear", "leaning"}
    for place, (choice, value, _) in enumerate(found.variations):
        other = model_under(table, choice, value, **settings)
        sample = other.sample(variations._GRAPHS, seed=variations._SEED)
        for own in found.directions():
            assert own.others[place] == pytest.approx(compelled_share(other, sample, own.source, own.target), abs=1e-9)
            assert own.back[place] == pytest.approx(compelled_share(other, sample, own.target, own.source), abs=1e-9)
    said = {(pair.source, pair.target): pair for pair in directions_of(model.fitted_).pairs(0.001)}
    directed = {way for way, pair in said.items() if pair.word in ("clear", "leaning")}
    assert {(own.source, own.target) for own in found.directions()} == directed
    for own in found.directions():
        assert (own.word, own.own) == (said[own.source, own.target].word, said[own.source, own.target].share)


def test_clear_directions_that_hang_on_the_equivalent_sample_size_do_not_survive(said: Said) -> None:
    model = DagPosterior(BDeu(5), prior="uniform", seed=1).fit(coronary_of_the_paper())
    found = model.sensitivity()
    clear = [own for own in found.directions() if own.word == "clear" and own.joined >= 0.5]
    assert len(clear) == 5
    said(found.variations[0].words)
    assert all(own.others[0] < 0.6 and not own.survives for own in clear)
    assert found.summary().endswith("None of 5 clear directions stays clear under every choice.")
    said(found.directions_lost())
    share, lowest, verdict = found.table()["direction"].loc[("M. Work", "P. Work")].tolist()
    assert verdict == "← stays clear in 4 of 7; open with equivalent sample size 1"
    assert lowest < 0.6 < share
    assert share >= 0.9
    assert found.table()["direction"].loc[("Smoking", "P. Work")].tolist()[2] == ""
    labels = [label_under_choices(pair, found) for pair in directions_of(model.fitted_).pairs(0.5)]
    assert sum(label.endswith(NOT_UNDER_EVERY_CHOICE) for label in labels) == 5
    shown = found._repr_html_()
    assert "open with equivalent sample size 1" in shown
    assert "nan" not in shown


def test_a_model_without_directions_tries_none(monkeypatch: pytest.MonkeyPatch) -> None:
    independent = pd.DataFrame(np.random.default_rng(1).integers(0, 2, (60, 3)).astype(str), columns=list("abc"))
    drawn: list[int] = []
    real = Fitted.draw

    def counted(fitted: Fitted, count: int, seed: int | None, **options: Any) -> DagSample:
        drawn.append(count)
        return real(fitted, count, seed, **options)

    monkeypatch.setattr(Fitted, "draw", counted)
    model = DagPosterior(BDeu(1), prior="uniform", tiers=[["a"], ["b"], ["c"]], samples=2_000, seed=1).fit(independent)
    found = model.sensitivity()
    assert drawn == [2_000]
    assert found.compelled is None
    assert found.directions() == []
    assert "direction" not in found.summary()
    assert "direction" not in found.table().columns.get_level_values(0)


def test_directions_are_tried_only_where_draws_are_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    table = collider()
    with_draws = DagPosterior(BDeu(5), prior="uniform", samples=2_000, seed=1).fit(table).fitted_
    long = variations.expected_seconds(with_draws, variations.refits_of(with_draws))
    monkeypatch.setattr(Fitted, "can_draw_quickly", False)
    model = DagPosterior(BDeu(5), prior="uniform", samples=2_000, seed=1).fit(table)
    short = variations.expected_seconds(model.fitted_, variations.refits_of(model.fitted_))
    assert 0.0 < short < long
    assert model.sensitivity().compelled is None
    assert model.fitted_.drawn is None
    # A model that has a sample already knows its directions, but its refits do not.
    model = DagPosterior(BDeu(5), prior="uniform", samples=2_000, seed=1).fit(table)
    model.own_sample()
    found = model.sensitivity()
    assert all(own.known == [] and own.verdict([]).endswith("; not tried") for own in found.directions())
    assert found.directions()
    assert "direction" not in found.summary()
    assert json.loads(json.dumps(found.to_json(), allow_nan=False)) == found.to_json()


def test_they_are_kept_in_the_file_and_older_files_have_none(tmp_path: Path) -> None:
    model = DagPosterior(BDeu(5), prior="uniform", samples=2_000, seed=1).fit(collider())
    found = model.sensitivity()
    model.save(tmp_path / "m")
    kept = DagPosterior.load(tmp_path / "m").sensitivity()
    assert kept.to_json() == found.to_json()
    assert kept.directions() == found.directions() != []
    pd.testing.assert_frame_equal(kept.table(), found.table())
    about, arrays = archive.read_archive(tmp_path / "m", "model")
    del arrays["sensitivity_compelled"]
    about = {key: value for key, value in about.items() if key not in ("arrays", "dagpost", "format")}
    archive.write_archive(tmp_path / "older", "model", about, arrays)
    older = DagPosterior.load(tmp_path / "older").sensitivity()
    assert older.directions() == []
    np.testing.assert_array_equal(older.joined, found.joined)
    with pytest.raises(ValueError, match="compelled"):
        sensitivity_from(found.names, found.about(), {**found.arrays(), "compelled": np.zeros((1, 4, 4))})


@given(st.floats(0.6, 1.0), st.lists(_SHARES, min_size=1, max_size=6))
def test_the_fate_of_a_direction_is_what_it_says(own: float, others: list[float]) -> None:
    found = of_direction(own, *others)
    (direction,) = found.directions()
    word, kept, known = fate_of_direction(own, others)
    assert (direction.source, direction.target, direction.word) == (1, 0, word)
    assert direction.survives == (kept == known)
    verdict = found.direction_verdict(found.pairs()[0])
    if known == 0:
        assert verdict.endswith("; not tried")
    elif kept == known:
        assert verdict == f"{'←' if word == 'clear' else '⇠'} stays {word} in all {known}"
    else:
        lowest = min(share for share in others if not math.isnan(share))
        becomes = "leaning" if lowest >= 0.6 else "open"
        where = [f"size {place}" for place, share in enumerate(others) if share == lowest]
        assert f"stays {word} in {kept or 'none'} of {known}; {becomes} with size " in verdict
        assert any(verdict.endswith(size) for size in where)
    sentence = surviving([direction])
    assert bool(sentence) == (word == "clear" and known > 0)
    assert bool(where_lost([direction], ["x"] * len(others))) == (word == "clear" and kept < known)


def test_a_direction_may_turn_round(said: Said) -> None:
    found = of_direction(0.95, 0.93, 0.02, back=0.97)
    # Both refits say 0.97 for the other way; only the one that lost the direction is told.
    said(found.direction_verdict(found.pairs()[0]))
    assert found.directions()[0].arrow(plain=True) == "<-"
    onward = DirectionUnderChoices(0, 1, 1.0, 0.7, (0.1,), (0.7,))
    said(onward.verdict(["4 bins"]))


@pytest.mark.parametrize(
    ("kept", "sentence"),
    [
        ([True], "The one clear direction stays clear under every choice."),
        ([False], "The one clear direction does not stay clear under every choice."),
        ([True, False, True], "2 of 3 clear directions stay clear under every choice."),
        ([True, False], "1 of 2 clear directions stays clear under every choice."),
        ([False, False], "None of 2 clear directions stays clear under every choice."),
        ([], ""),
    ],
)
def test_the_sentence(kept: list[bool], sentence: str) -> None:
    clear = [DirectionUnderChoices(0, 1, 1.0, 0.95, (0.95 if own else 0.3,), (0.0,)) for own in kept]
    assert surviving([*clear, DirectionUnderChoices(0, 1, 1.0, 0.7, (0.1,), (0.0,))]) == sentence


def test_only_clear_directions_that_are_lost_are_said_to_be() -> None:
    pair = directions_of(DagPosterior(BDeu(5), prior="uniform", samples=2_000, seed=1).fit(collider()).fitted_).pair(
        0, 1
    )
    clear = pair._replace(word="clear", source=1, target=0, share=0.95)
    assert label_under_choices(clear, of_direction(0.95, 0.3)) == clear.label + NOT_UNDER_EVERY_CHOICE
    for found in (None, of_direction(0.95, 0.92), of_direction(0.95, math.nan)):
        assert label_under_choices(clear, found) == clear.label
    leaning = clear._replace(word="leaning", share=0.7)
    assert label_under_choices(leaning, of_direction(0.7, 0.3)) == leaning.label


def test_pairs_whose_direction_is_lost_are_shown_where_rows_are_few() -> None:
    nodes = 4
    joined = np.full((2, nodes, nodes), 0.9)
    compelled = np.full((2, nodes, nodes), np.nan)
    compelled[0, 2, 3], compelled[0, 3, 2], compelled[1, 2, 3], compelled[1, 3, 2] = 0.95, 0.0, 0.2, 0.0
    found = Sensitivity(tuple("abcd"), (Variation("size", "1", "size 1"),), joined, compelled=compelled)
    assert [(pair.first, pair.second) for pair in found.shown(1)] == [(2, 3)]


def test_directions_of_cut_columns_carry_a_warning() -> None:
    rng = np.random.default_rng(4)
    causes = rng.normal(size=(400, 2))
    effect = causes.sum(axis=1) + 0.3 * rng.normal(size=400)
    frame = pd.DataFrame({"one\x1b": causes[:, 0], "two": causes[:, 1], "effect": effect})
    cuts = Recipe(cut=dict.fromkeys(frame, (3, "quantile")))
    model = DagPosterior(BDeu(5), prior="uniform", samples=2_000, seed=1, recipe=cuts).fit(frame)
    directions, recipe = directions_of(model.fitted_), model.fitted_.data.recipe
    assert {pair.word for pair in directions.pairs(0.5)} >= {"clear"}
    said = about_cuts(directions, recipe)
    assert said.startswith("Directions around cut columns (")
    assert "two, effect) are less reliable" in said
    assert "\x1b" not in said
    assert said in model._repr_mimebundle_()["text/html"]
    assert about_cuts(directions, None) == ""
    uncut = DagPosterior("bge", prior="uniform", samples=2_000, seed=1).fit(frame)
    assert about_cuts(directions_of(uncut.fitted_), uncut.fitted_.data.recipe) == ""
    levels = DagPosterior(BDeu(5), prior="uniform", samples=2_000, seed=1).fit(collider())
    assert about_cuts(directions_of(levels.fitted_), levels.fitted_.data.recipe) == ""
    # Nothing is claimed where every direction is open.
    some = Recipe(cut=dict.fromkeys(("two", "effect"), (3, "quantile")))
    two = DagPosterior(BDeu(5), prior="uniform", samples=2_000, seed=1, recipe=some).fit(frame[["two", "effect"]])
    assert two.fitted_.data.recipe is not None
    assert about_cuts(directions_of(two.fitted_), two.fitted_.data.recipe) == ""
