"""`dagpost complete`, and what other commands say of models with gaps."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pandas as pd
import pytest
from tests.tools.cli_checks import Run, one_message
from tests.tools.gapped import answers_to, fitted_to
from tests.tools.wording import Said

from dagpost import DagPosterior
from dagpost.methods.augmentation import Augmentation

pytestmark = pytest.mark.filterwarnings("ignore::dagpost.DagpostWarning")
TABLE = answers_to(30).reset_index(drop=True)


@pytest.fixture(scope="module")
def fitted() -> DagPosterior:
    return fitted_to(TABLE, samples=120)


@pytest.fixture
def gapped(fitted: DagPosterior, tmp_path: Path) -> str:
    fitted.save(tmp_path / "gapped.dagpost")
    return "gapped.dagpost"


def test_complete_writes_tables_one_below_the_other(
    run: Run, gapped: str, fitted: DagPosterior, tmp_path: Path
) -> None:
    assert "3 completed tables of 30 rows: done.csv" in run("complete", gapped, "-k", "3", "-o", "done.csv").stdout
    found = pd.read_csv(tmp_path / "done.csv")
    assert found.columns.to_list() == [".imp", ".id", "rain", "wet", "open"]
    for number, table in enumerate(fitted.completed(3), start=1):
        own = found[found[".imp"] == number]
        assert own[".id"].to_list() == list(range(30))
        assert own[["rain", "wet", "open"]].to_numpy().tolist() == table.astype(object).to_numpy().tolist()
    shown = pd.read_csv(io.StringIO(run("complete", gapped, "-k", "3").stdout))
    pd.testing.assert_frame_equal(shown, found)


def test_complete_writes_parquet_with_the_original_first(run: Run, gapped: str, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    run("complete", gapped, "-k", "2", "--original", "--seed", "1", "-o", "done.parquet")
    found = pd.read_parquet(tmp_path / "done.parquet")
    assert found[".imp"].value_counts(sort=False).to_list() == [30, 30, 30]
    first = found[found[".imp"] == 0].reset_index(drop=True)
    assert first[["rain", "wet", "open"]].isna().to_numpy().tolist() == TABLE.isna().to_numpy().tolist()
    assert not found[found[".imp"] > 0].isna().to_numpy().any()


def test_complete_says_what_is_known_of_each_missing_cell(run: Run, gapped: str, fitted: DagPosterior) -> None:
    cells = fitted.missing_cells()
    found = pd.read_csv(io.StringIO(run("complete", gapped, "--cells").stdout))
    assert found["row"].to_list() == cells["row"].to_list()
    assert found["probability"].to_list() == pytest.approx(cells["probability"].to_list())
    as_json = json.loads(run("complete", gapped, "--cells", "--json").stdout)
    assert [entry["likeliest"] for entry in as_json] == cells["likeliest"].to_list()
    for entry, own in zip(as_json, cells["probabilities"], strict=True):
        assert {each["level"]: each["probability"] for each in entry["probabilities"]} == pytest.approx(own)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-k", "99"], "99 completed tables are asked for, and the chains kept 12. Ask for 12 at most"),
        (["-k", "0"], "--number must be a whole number of at least 1"),
        (["-o", "there.csv"], "'there.csv' is there already; it is not written over"),
        (["-o", "new.xlsx"], "ends neither in .csv nor in .parquet"),
        (["-o", "no/new.csv"], "There is no folder 'no'"),
        (["--json"], "--json is for --cells"),
    ],
)
def test_complete_refuses_in_words(arguments: list[str], words: str, run: Run, gapped: str, tmp_path: Path) -> None:
    (tmp_path / "there.csv").write_text("mine")
    assert words in one_message(run("complete", gapped, *arguments, status=2))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["gapped.dagpost", "there.csv"]
    assert (tmp_path / "there.csv").read_text() == "mine"


def test_a_model_without_gaps_is_refused(run: Run, model: str, said: Said) -> None:
    said(one_message(run("complete", model, status=2)))


def test_fit_and_info_say_that_the_rows_are_in_the_file(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Augmentation, "is_enough", lambda self, series: len(series[0]["values"]) >= 20)  # noqa: ARG005
    TABLE.to_csv(tmp_path / "t.csv", index=False)
    method = "augmentation:chains=2,burn_in=0,graphs=50"
    said = run("fit", "t.csv", "--score", "bdeu", "--method", method, "--samples", "4000", "--seed", "1")
    # The chains stopped by their own rule: nothing was interrupted.
    assert "The model file holds the rows of the table" in said.stdout
    assert len(DagPosterior.load(tmp_path / "t.dagpost").own_sample()) == 2000
    assert not (tmp_path / "t.dagpost.partial").exists()
    gaps = int(TABLE.isna().to_numpy().sum())
    shown = run("info", "t.dagpost").stdout
    assert f"{gaps} cells have no value, and chains completed them; the rows of the table are in this file" in shown
    assert json.loads(run("info", "t.dagpost", "--json").stdout)["gaps"] == gaps
