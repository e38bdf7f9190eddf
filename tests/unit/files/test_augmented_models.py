"""Models with gaps in files: they hold their rows and chains, answer as before, go on, and nothing forged gets in."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.tools.changed_files import cell, changed, entry, shorter, without
from tests.tools.gapped import SHORT, answers_to, fitted_to, numbers_with_gaps, same_chains
from tests.tools.wording import Said

from dagpost import BDeu, CustomPrior, DagPosterior, DagSample, InputError, Regimes, to_arviz
from dagpost.files import archive

pytestmark = pytest.mark.filterwarnings("ignore::dagpost.DagpostWarning")

#: Of each, the table and the settings.
KINDS: dict[str, Callable[[], DagPosterior]] = {
    "levels": lambda: fitted_to(answers_to()),
    "averaged": lambda: fitted_to(answers_to(), score=BDeu((1.0, 10.0)), samples=130),
    "numbers": lambda: fitted_to(numbers_with_gaps(), score="bge", samples=130),
    "few numbers": lambda: fitted_to(numbers_with_gaps().round(), score="bge", samples=130),
    "counted": lambda: fitted_to(
        answers_to(20).assign(times=[1, 3] * 10),
        counts="times",
        interventions=[None if cell is None or pd.isna(cell) else "rain" for cell in answers_to(20)["rain"]],
        tiers=[["rain"], ["wet", "open"]],
        samples=130,
    ),
    "orders": lambda: fitted_to(answers_to(), modularity="order", samples=130),
    "blocks": lambda: fitted_to(answers_to(), method=replace(SHORT, given_table="block-gibbs"), samples=130),
    "regimes": lambda: fitted_to(answers_to().assign(arm=["a", "b"] * 20), regimes=Regimes("arm"), samples=130),
    "cut": lambda: fitted_to(numbers_with_gaps(), forbidden="x -> y", exogenous=(), samples=130),
}


#: Those that share no code of files with the others.
USUAL = ("averaged", "numbers", "counted")


@pytest.fixture(
    scope="module",
    params=[pytest.param(kind, marks=[] if kind in USUAL else [pytest.mark.long]) for kind in KINDS],
)
def saved(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[DagPosterior, Path]:
    model, path = KINDS[request.param](), tmp_path_factory.mktemp("models") / "m.dagpost"
    model.save(path)
    return model, path


@pytest.fixture(scope="module")
def model() -> DagPosterior:
    return KINDS["levels"]()


def test_a_model_with_gaps_is_read_as_it_was_written(saved: tuple[DagPosterior, Path]) -> None:
    model, path = saved
    found = DagPosterior.load(path, threads=1, progress=False)
    assert found.edge_probabilities_.equals(model.edge_probabilities_)
    assert found.fitted_.gaps == model.fitted_.gaps > 0
    assert found.fitted_.table is not None
    assert found.fitted_.table.fingerprint() == model.fitted_.data.fingerprint
    assert same_chains(found.own_sample(), model.own_sample())
    assert repr(found).partition("): ")[2] == repr(model).partition("): ")[2]
    for mine, its in zip(model.completed(3, seed=1), found.completed(3, seed=1), strict=True):
        pd.testing.assert_frame_equal(mine, its)
    pd.testing.assert_frame_equal(model.missing_cells(), found.missing_cells())


def test_a_model_with_gaps_answers_and_predicts_from_a_file_as_before(model: DagPosterior, tmp_path: Path) -> None:
    model.save(tmp_path / "m")
    new = answers_to(5, seed=3)
    answers = []
    for each in (model, DagPosterior.load(tmp_path / "m", threads=1, progress=False)):
        chances = each.predict_proba(new, target="wet").to_numpy(), each.score_samples(new)
        said = [
            repr(each.probability("rain ~> open", given="rain -> wet")),
            each.top_families("wet").to_string(),
            each.directions().to_string(),
            repr(each.effect("rain", "wet", draws=20, seed=1)),
            each.verdict_,
        ]
        answers.append((said, chances))
    assert answers[0][0] == answers[1][0]
    for mine, its in zip(answers[0][1], answers[1][1], strict=True):
        assert np.isfinite(mine).all()
        assert np.array_equal(mine, its)


def test_chains_go_on_from_a_file_as_if_they_had_not_stopped(saved: tuple[DagPosterior, Path], tmp_path: Path) -> None:
    model, path = saved
    found = DagPosterior.load(path, threads=2, progress=False)
    longer = found.sample(330, resume=found.own_sample())
    assert same_chains(longer, model.sample(330, seed=1))
    longer.save(tmp_path / "s.dagpost")
    assert same_chains(DagSample.load(tmp_path / "s.dagpost"), longer)


def test_completed_tables_agree_with_what_was_observed(saved: tuple[DagPosterior, Path]) -> None:
    model, _ = saved
    table = model.fitted_.table
    assert table is not None
    kept = model.completed(2)[0]
    assert len(kept) == table.observations
    observed = table.of_rows(np.repeat(np.arange(table.rows), table.weights)).to_pandas()
    for name in table.names:
        there = ~observed[name].isna().to_numpy()
        assert kept[name].to_numpy()[there].tolist() == observed[name].to_numpy()[there].tolist()
        assert not kept[name].isna().any()


def test_rows_keep_the_labels_of_the_user(model: DagPosterior, tmp_path: Path) -> None:
    table = answers_to()
    model.save(tmp_path / "m")
    for each in (model, DagPosterior.load(tmp_path / "m")):
        assert each.completed(1)[0].index.to_list() == table.index.to_list()
        cells = each.missing_cells()
        places = np.argwhere(table.isna().to_numpy()).tolist()
        expected = [(table.index[row], table.columns[column]) for row, column in places]
        assert list(zip(cells["row"], cells["column"], strict=True)) == expected


def test_rows_without_labels_are_numbered_from_0(tmp_path: Path) -> None:
    table = answers_to(20).reset_index(drop=True)
    model = fitted_to(table, samples=20)
    assert model.completed(1)[0].index.equals(pd.RangeIndex(20))
    assert set(model.missing_cells()["row"]) == set(np.flatnonzero(table.isna().any(axis=1)))


def test_rows_that_were_left_out_do_not_shift_the_numbers_of_others() -> None:
    table = answers_to(20).assign(times=[0, 2] * 10)
    gone = table.isna().any(axis=1) & (table["times"] == 0)
    assert gone.any()
    kept = table.index[table["times"] > 0].repeat(2)
    for labelled in (True, False):
        model = fitted_to(table if labelled else table.reset_index(drop=True), counts="times", samples=20)
        found = model.completed(1)[0].index
        assert (found if labelled else table.index[found]).to_list() == kept.to_list()
        rows = model.missing_cells()["row"]
        incomplete = table.index[table.isna().any(axis=1) & ~gone]
        assert set(rows if labelled else table.index[rows]) == set(incomplete)


def test_rows_with_gaps_in_exogenous_columns_are_not_completed() -> None:
    table = answers_to(20)
    gone = table["rain"].isna()
    assert gone.any()
    model = fitted_to(table, exogenous="rain", samples=20)
    assert model.completed(1)[0].index.to_list() == table.index[~gone].to_list()
    assert set(model.missing_cells()["row"]) == set(table.index[table.isna().any(axis=1) & ~gone])


def test_a_model_without_gaps_has_no_completed_tables(said: Said) -> None:
    whole = DagPosterior("bdeu", prior="uniform", samples=5).fit(np.array([[0, 1], [1, 0], [1, 1]]))
    for ask in (lambda: whole.completed(1), whole.missing_cells):
        with said.raises(InputError):
            ask()


def test_a_prior_of_the_users_own_is_not_in_the_file(tmp_path: Path, said: Said) -> None:
    model = fitted_to(answers_to(), prior=CustomPrior(lambda _, parents: -len(parents)), samples=120)
    model.save(tmp_path / "m")
    found = DagPosterior.load(tmp_path / "m")
    assert found.edge_probabilities_.equals(model.edge_probabilities_)
    assert same_chains(found.own_sample(), model.own_sample())
    assert len(found.completed(2)) == 2
    with said.raises(InputError):
        found.sample(50, seed=1)


# What a file must not hold


def with_paths(about: dict[str, Any], arrays: dict[str, Any]) -> None:
    arrays["paths"] = arrays["edges"]


@pytest.mark.parametrize(
    "change",
    [
        cell("sample_series_cells", 7),
        shorter("sample_series_cells"),
        cell("sample_series_edges", 1.5),
        cell("sample_series_paths", np.nan),
        cell("sample_series_values", 3),
        cell("sample_sums_families", -1.0),
        shorter("sample_sums_families"),
        cell("sample_standing_state_cells", np.inf),
        cell("rows_gaps", 255),
        shorter("rows_gaps"),
        entry(1, "gaps"),
        entry(True, "gaps"),
        entry(None, "gaps"),
        entry(None, "rows"),
        entry(["a"], "rows", "labels"),
        entry([1, 2], "sample", "chains", "series", "cells"),
        entry({}, "sample", "chains", "series"),
        without("sample_series_cells"),
        without("sample_series_edges"),
        with_paths,
        entry(["exact-layers", "as asked"], "method"),
    ],
)
def test_what_a_model_with_gaps_must_not_hold_is_refused(
    change: Any, model: DagPosterior, tmp_path: Path, said: Said
) -> None:
    with said.raises(InputError):
        DagPosterior.load(changed(model, tmp_path, change))


def test_chains_do_not_resume_from_series_of_another_table(model: DagPosterior) -> None:
    other = fitted_to(answers_to(seed=2), samples=20)
    with pytest.raises(InputError, match="these differ"):
        other.sample(330, resume=model.own_sample())


@pytest.mark.parametrize("missing", ["sums_families", "state_cells"])
def test_chains_without_what_they_added_up_do_not_resume(missing: str, model: DagPosterior, tmp_path: Path) -> None:
    model.own_sample().save(tmp_path / "x")
    about, arrays = archive.read_archive(tmp_path / "x", "sample")
    del arrays[f"standing_{missing}"]
    archive.write_archive(tmp_path / "y", "sample", about, arrays)
    with pytest.raises(InputError, match=missing):
        model.sample(330, resume=DagSample.load(tmp_path / "y"))


def test_a_flipped_bit_is_found_in_every_part(model: DagPosterior, tmp_path: Path, said: Said) -> None:
    model.save(tmp_path / "x")
    with zipfile.ZipFile(tmp_path / "x") as file:
        content = {name: file.read(name) for name in file.namelist()}
    for part in ("rows_gaps.npy", "sample_series_cells.npy", "sample_sums_families.npy"):
        middle = bytearray(content[part])
        middle[-1] ^= 1
        with zipfile.ZipFile(tmp_path / "y", "w") as file:
            for name, own in content.items():
                file.writestr(name, bytes(middle) if name == part else own)
        with said.raises(InputError):
            DagPosterior.load(tmp_path / "y")


def test_arviz_gets_exact_probabilities_given_each_completed_table(model: DagPosterior) -> None:
    pytest.importorskip("arviz_base")
    tree, record = to_arviz(model), model.own_sample().chains
    assert record is not None
    posterior = tree["posterior"]
    assert posterior["edge"].dims == ("chain", "draw", "parent", "child")
    assert posterior["path"].dims == ("chain", "draw", "source", "target")
    assert np.array_equal(posterior["edge"].to_numpy()[1], record.series_of("edges")[1])
    assert np.array_equal(posterior["path"].to_numpy()[0], record.series_of("paths")[0])
    assert tree["sample_stats"]["log_state"].shape == posterior["edge"].shape[:2]
    # The graphs that were drawn from one table share its log weight.
    assert tree["sample_stats"]["log_state"].to_numpy()[0, 1] == record.log_state[10] == record.log_state[19]
