"""A case as plain files: what any program reads there is what the case says."""

from __future__ import annotations

import hashlib
import json
import shutil
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.tools.wording import Said

from dagpost.errors import InputError
from dagpost.files import jkl
from dagpost.reference.cases import CASES
from dagpost.reference.export import export

#: The function has the name of its module.
MODULE = import_module("dagpost.reference.export")
FILES = {
    *("README.txt", "case.json", "classes.csv", "data.csv", "data.parquet", "edges.csv", "families.csv", "paths.csv"),
    "scores.jkl",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export(tmp_path_factory.mktemp("exported") / "new" / "cases", ["coronary", "mixed-5", "coronary"])


def names_in(folder: Path) -> set[str]:
    return {entry.name for entry in folder.iterdir()}


def test_every_case_has_a_folder_of_its_own_and_all_stand_in_a_list(folder: Path) -> None:
    assert names_in(folder) == {"cases.csv", "coronary", "mixed-5"}
    assert names_in(folder / "coronary") | {"data.parquet"} == FILES
    listed = pd.read_csv(folder / "cases.csv")
    assert listed[["case", "columns", "rows"]].to_numpy().tolist() == [["coronary", 6, 1841], ["mixed-5", 5, 300]]


@pytest.mark.parametrize("name", ["coronary", "mixed-5"])
def test_the_files_hold_the_posterior(folder: Path, name: str) -> None:
    case, own = CASES[name], folder / name
    for what in ("edges", "paths"):
        square = pd.read_csv(own / f"{what}.csv", index_col=0)
        pd.testing.assert_frame_equal(square, getattr(case.truth, what), check_names=False, atol=1e-12, rtol=0)
    for what in ("families", "classes"):
        read = pd.read_csv(own / f"{what}.csv", keep_default_na=False)
        pd.testing.assert_frame_equal(read, getattr(case.truth, what), check_dtype=False)
    scores = jkl.read_jkl(own / "scores.jkl")
    assert scores.names == case.names
    np.testing.assert_array_equal(scores.values, case.local_scores().values)


def test_the_table_is_the_one_that_the_fingerprint_is_of(folder: Path) -> None:
    case, own = CASES["mixed-5"], folder / "mixed-5"
    about = json.loads((own / "case.json").read_text(encoding="utf-8"))
    assert hashlib.sha256((own / "data.csv").read_bytes()).hexdigest() == about["sha256"] == case.fingerprint
    assert about["log_evidence"] == case.truth.log_evidence
    assert about["score"]["kind"] == "ConditionalGaussian"
    assert about["columns"] == list(case.names)
    assert about["families_left_out"].keys() == set(case.names)


def test_the_parquet_file_holds_the_same_table(folder: Path) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    text = pd.read_csv(folder / "mixed-5" / "data.csv")
    columns = pd.read_parquet(folder / "mixed-5" / "data.parquet")
    for name in text:
        assert columns[name].astype(text[name].dtype).tolist() == text[name].tolist()


def test_the_readme_explains_every_file(folder: Path) -> None:
    for name in ("coronary", "mixed-5"):
        text = (folder / name / "README.txt").read_text(encoding="utf-8")
        assert all(file in text for file in names_in(folder / name) - {"README.txt"})
        assert CASES[name].settings in " ".join(text.split())
        assert max(map(len, text.splitlines())) <= 110


def test_without_pyarrow_the_readme_says_why_a_file_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MODULE, "find_spec", lambda _: None)
    own = export(tmp_path, "mixed-5") / "mixed-5"
    assert names_in(own) == FILES - {"data.parquet"}
    assert "data.parquet   Not here: pyarrow was not installed." in (own / "README.txt").read_text(encoding="utf-8")


def test_an_earlier_export_is_replaced_and_others_stay(tmp_path: Path) -> None:
    export(tmp_path, ["mixed-5", "parity-5"])
    (tmp_path / "mixed-5" / "edges.csv").write_text("old")
    # Left by runs that were killed, the second of them at its very end.
    (tmp_path / ".dagpost-case-one").mkdir()
    shutil.copytree(tmp_path / "parity-5", tmp_path / ".dagpost-case-two" / "iris")
    export(tmp_path, "mixed-5")
    assert pd.read_csv(tmp_path / "cases.csv")["case"].to_list() == ["mixed-5", "parity-5"]
    assert names_in(tmp_path) == {"cases.csv", "mixed-5", "parity-5"}
    assert (tmp_path / "mixed-5" / "edges.csv").read_text() != "old"


@pytest.mark.parametrize("stranger", ["notes.txt", "mixed-5", "thesis"])
def test_a_folder_with_anything_else_is_refused_and_left_alone(tmp_path: Path, stranger: str, said: Said) -> None:
    if stranger == "notes.txt":
        (tmp_path / stranger).write_text("mine")
    else:
        (tmp_path / stranger).mkdir()
        (tmp_path / stranger / "case.json").write_text('{"format": "mine"}')
    with said.raises(InputError):
        export(tmp_path, "mixed-5")
    assert names_in(tmp_path) == {stranger}


def test_a_run_that_is_broken_off_leaves_no_folder_that_looks_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(MODULE, "write_jkl", interrupted)
    with pytest.raises(KeyboardInterrupt):
        export(tmp_path, "mixed-5")
    assert names_in(tmp_path) == set()


def test_what_cannot_be_exported_is_refused(tmp_path: Path, said: Said) -> None:
    with said.raises(InputError):
        export(tmp_path, ["mixed"])
    with said.raises(InputError):
        export(tmp_path, 5)
    file = tmp_path / "file"
    file.write_text("")
    with said.raises(InputError):
        export(file, "mixed-5")
    with said.raises(InputError):
        export(file / "below", "mixed-5")
