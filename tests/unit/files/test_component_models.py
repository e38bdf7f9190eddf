"""Models that are summed by components, in files: there and back to the last bit, and refused where forged."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.tools.wording import Said

from dagpost import DagPosterior
from dagpost.errors import InputError
from dagpost.files.archive import read_archive, write_archive
from dagpost.files.schema import check_model
from dagpost.posterior.component_workspace import ComponentWorkspace

_NAMES = tuple("abcdefg")


def table_of(rows: int = 80) -> NDArray[Any]:
    rng = np.random.default_rng(4)
    found = rng.integers(0, 2, (rows, len(_NAMES)))
    found[:, 4] = found[:, 0] ^ (rng.random(rows) < 0.2)
    found[:, 5] = found[:, 4] | found[:, 6]
    return found


@pytest.fixture(scope="module", params=["bdeu", "averaged"])
def model(request: pytest.FixtureRequest) -> DagPosterior:
    """Seven columns: one that is not modelled, and two tiers of three."""
    from dagpost import BDeu

    score = "bdeu" if request.param == "bdeu" else BDeu("average")
    tiers = [["V1", "V2", "V3"], ["V4", "V5", "V6"]]
    settings: Any = {"score": score, "max_parents": 3, "exogenous": ["V0"], "tiers": tiers, "samples": 200, "seed": 2}
    return DagPosterior(**{"prior": "uniform", **settings}).fit(table_of())


@pytest.fixture
def file(model: DagPosterior, tmp_path: Path) -> Path:
    model.save(tmp_path / "model.dagpost")
    return tmp_path / "model.dagpost"


@pytest.fixture
def parts(file: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    return read_archive(file, "model")


def test_a_model_by_components_comes_back_to_the_last_bit(model: DagPosterior, file: Path, tmp_path: Path) -> None:
    back = DagPosterior.load(file)
    old, new = model.fitted_, back.fitted_
    assert all(isinstance(part, ComponentWorkspace) for part in new.workspace.parts)
    for mine, others in zip(old.workspace.parts, new.workspace.parts, strict=True):
        assert isinstance(mine, ComponentWorkspace)
        assert isinstance(others, ComponentWorkspace)
        assert [own.tolist() for own in mine.lists.candidates] == [own.tolist() for own in others.lists.candidates]
        assert [own.tolist() for own in mine.log_weights] == [own.tolist() for own in others.log_weights]
        assert mine.max_parents == others.max_parents
    assert back.log_evidence_ == model.log_evidence_
    np.testing.assert_array_equal(back.edge_probabilities_, model.edge_probabilities_)
    assert old.results.sums is not None
    assert new.results.sums is not None
    for own, read in zip(old.results.sums.families, new.results.sums.families, strict=True):
        np.testing.assert_array_equal(own, read)
    assert old.results.sums.paths is not None
    assert new.results.sums.paths is not None
    np.testing.assert_array_equal(old.results.sums.paths, new.results.sums.paths)
    assert back.family_probabilities("V5").equals(model.family_probabilities("V5"))
    for statement in ("V4 ~> V5", "V1 ~> V5", "V4 -> V5"):
        assert back.probability(statement) == model.probability(statement)
    assert back.sample(50, seed=3) == model.sample(50, seed=3)
    assert back.best(3).parents.tolist() == model.best(3).parents.tolist()
    back.save(tmp_path / "again.dagpost")
    first, second = (read_archive(tmp_path / name, "model")[0] for name in ("model.dagpost", "again.dagpost"))
    assert first["checksums"] == second["checksums"]


def test_a_model_of_one_component_is_stored_as_ever(tmp_path: Path) -> None:
    DagPosterior(prior="uniform", score="bdeu", samples=20, seed=1).fit(table_of()[:, :4]).save(
        tmp_path / "one.dagpost"
    )
    with zipfile.ZipFile(tmp_path / "one.dagpost") as archive:
        about = json.loads(archive.read("about.json"))
    assert "log_weights" in about["arrays"]
    assert not [name for name in about["arrays"] if name.startswith("allowed")]


def _weights(arrays: dict[str, NDArray[Any]]) -> str:
    return next(name for name in sorted(arrays) if name.endswith("log_weights"))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda a: a["allowed_columns"].__setitem__(0, 6), "ascend"),
        (lambda a: a["allowed_columns"].__setitem__(-1, 7), "cannot be"),
        (lambda a: a["allowed_columns"].__setitem__(-1, 6), "cannot be"),
        (lambda a: a["allowed_counts"].__setitem__(0, 1), "are counted"),
        (lambda a: a.update(allowed_counts=a["allowed_counts"][:-1]), "of shape"),
        (lambda a: a.update(allowed_columns=a["allowed_columns"].astype(np.float64)), "holds float64"),
        (lambda a: a.pop("allowed_columns"), "allowed_columns"),
        (lambda a: a.update({_weights(a): a[_weights(a)][:-1]}), "of shape"),
        (lambda a: a.update({_weights(a): a[_weights(a)][None]}), "of shape"),
        (lambda a: a[_weights(a)].__setitem__(3, np.nan), "not finite"),
        (lambda a: a[_weights(a)].__setitem__(3, np.inf), "inf"),
        (lambda a: a[_weights(a)].__setitem__(0, -np.inf), "no parent set"),
        (lambda a: a.pop(_weights(a)), "log_weights"),
        (lambda a: a["families"].__setitem__(0, 1.5), "out of the range"),
        (lambda a: a.update(families=a["families"][1:]), "of shape"),
        (lambda a: a["paths"].__setitem__((0, 1), 2.0), "out of the range"),
        (lambda a: a["edges"].__setitem__((0, 1), np.nan), "not finite"),
    ],
)
def test_forged_parts_are_refused(
    parts: tuple[dict[str, Any], dict[str, NDArray[Any]]], tmp_path: Path, change: Any, words: str, said: Said
) -> None:
    about, arrays = parts[0], {name: array.copy() for name, array in parts[1].items()}
    check_model(about, arrays)
    change(arrays)
    with pytest.raises(ValueError, match=words):
        check_model(about, arrays)
    write_archive(tmp_path / "forged.dagpost", "model", about, arrays)
    with said.raises(InputError):
        DagPosterior.load(tmp_path / "forged.dagpost")


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("max_parents", 4, "of shape"),
        ("max_parents", 12, "of shape"),
        ("names", [*"abcdef"], "a list of 7"),
        ("error_bound", None, "error_bound"),
    ],
)
def test_forged_fields_are_refused(
    parts: tuple[dict[str, Any], dict[str, NDArray[Any]]], field: str, value: Any, words: str
) -> None:
    about = {**parts[0], field: value}
    with pytest.raises(ValueError, match=words):
        check_model(about, parts[1])


def test_sums_over_orders_are_never_by_components(
    parts: tuple[dict[str, Any], dict[str, NDArray[Any]]], said: Said
) -> None:
    about = {**parts[0], "settings": {**parts[0]["settings"], "modularity": "order"}}
    with said.raises(ValueError):
        check_model(about, parts[1])
