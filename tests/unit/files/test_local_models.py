"""Models with curves in files without rows: they answer as before, hold no row, and refuse what they do not know."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.tools.wording import Said
from tests.unit.prediction.test_local_rows import curved

from dagpost import DagPosterior, InputError
from dagpost.files import archive
from dagpost.prediction.local_parts import local_parts


@pytest.fixture(scope="module")
def model() -> DagPosterior:
    """Of four columns, all of whose graphs count."""
    return DagPosterior("additive", seed=1).fit(curved())


@pytest.fixture(scope="module")
def file(model: DagPosterior, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of this model, without rows."""
    path = tmp_path_factory.mktemp("local") / "bare.dagpost"
    model.save(path)
    return path


def test_a_file_without_rows_predicts_as_the_model_did(model: DagPosterior, file: Path) -> None:
    bare, rows = DagPosterior.load(file), curved(20, seed=2)
    np.testing.assert_allclose(bare.score_samples(rows), model.score_samples(rows), atol=1e-5)
    np.testing.assert_allclose(bare.predict_proba(rows, target="z"), model.predict_proba(rows, target="z"), atol=1e-5)
    first, second = (own.predict_number(rows, target="y") for own in (bare, model))
    np.testing.assert_allclose(first, second, atol=1e-5)
    # Means are over people, of whom a file makes others up; the deviations of y are near 3.
    for text in ("P(z = b | x = 1)", "E(y | z = c)", "E(y | do(x = 2))"):
        assert float(bare.probability(text)) == pytest.approx(float(model.probability(text)), abs=0.05)


def test_effects_start_from_people_who_stand_in_for_rows(model: DagPosterior, file: Path) -> None:
    bare = DagPosterior.load(file)
    for asked in ({"cause": "x", "outcome": "y", "do": (1.5, 0.0)}, {"cause": "w", "outcome": "y"}):
        known, found = (own.effect(**asked, seed=1) for own in (model, bare))
        assert found.mean == pytest.approx(known.mean, abs=0.1)
        np.testing.assert_allclose(found.interval(), known.interval(), atol=0.15)
        assert found.zero_probability == pytest.approx(known.zero_probability, abs=1e-9)
    assert len(bare.effects(draws=100)) == len(model.effects(draws=100))
    conditioned = bare.given("x -> y")
    assert conditioned.effect("x", "y", seed=1).zero_probability == 0.0


def test_no_row_of_the_table_is_in_the_file(file: Path) -> None:
    _, arrays = archive.read_archive(file, "model")
    rows = {tuple(row) for row in curved()[["x", "y"]].to_numpy().tolist()}
    people = arrays["regressions_people"][:2].T
    assert people.shape[1] == 2
    assert not rows & {tuple(row) for row in people.tolist()}
    assert not [name for name in arrays if name.startswith("rows_")]
    # Nothing has one entry for each row of the table.
    assert not [name for name, array in arrays.items() if len(curved()) in array.shape and "_each_" not in name]


def test_many_columns_keep_a_part_of_their_sample(tmp_path: Path, said: Said) -> None:
    rng = np.random.default_rng(1)
    table = pd.DataFrame(rng.normal(size=(60, 7)) @ rng.normal(size=(7, 7)), columns=list("abcdefg"))
    model = DagPosterior("additive", seed=1, samples=3_000).fit(table)
    model.save(tmp_path / "bare.dagpost")
    bare = DagPosterior.load(tmp_path / "bare.dagpost")
    known, found = (own.effect("a", "b", seed=1) for own in (model, bare))
    assert found.zero_probability == pytest.approx(known.zero_probability, abs=1e-9)
    local = local_parts(bare._fitted())
    assert local is not None
    ((_, models),) = local[0]
    with said.raises(InputError):
        models.families(np.array([0]), np.array([0b1111110], dtype=np.uint64))
    # Under a condition the kept graphs count in which it holds.
    from_node, to_node = np.unravel_index(np.asarray(model.edge_probabilities_).argmax(), (7, 7))
    assert (
        len(bare.given(f"{'abcdefg'[from_node]} -> {'abcdefg'[to_node]}").predict_number(table.head(3), target="a"))
        == 3
    )


def test_a_file_of_columns_that_are_not_modelled_makes_them_up_too(tmp_path: Path) -> None:
    table = curved(400)
    model = DagPosterior("additive", exogenous=["x", "w"], seed=1).fit(table)
    model.save(tmp_path / "bare.dagpost")
    bare = DagPosterior.load(tmp_path / "bare.dagpost")
    for text in ("E(y)", "E(y | w = u)"):
        assert float(bare.probability(text)) == pytest.approx(float(model.probability(text)), abs=0.2)


def changed(file: Path, path: Path, name: str, array: Any) -> Path:
    """The same file with another array, and the check sums that go with it."""
    about, arrays = archive.read_archive(file, "model")
    archive.write_archive(path, "model", about, {**arrays, name: array})
    return path


def test_what_does_not_fit_together_is_refused_and_never_reaches_a_kernel(file: Path, tmp_path: Path) -> None:
    _, arrays = archive.read_archive(file, "model")
    rng, row, refused, asked = np.random.default_rng(1), curved(1), 0, 0
    for name in sorted(own for own in arrays if own.startswith("regressions_")):
        array = arrays[name]
        worse = [array[:-1], np.concatenate([array, array]), array.astype(str) if array.size else array]
        if array.size:
            for value in (-1, 10**6, np.nan, np.inf):
                if array.dtype.kind == "f" or (np.isfinite(value) and (value >= 0 or array.dtype.kind == "i")):
                    spoilt = array.astype(np.int64 if array.dtype.kind in "ui" else array.dtype)
                    spoilt.reshape(-1)[rng.integers(array.size)] = value
                    worse.append(spoilt)
        for number, own in enumerate(worse):
            asked += 1
            try:
                found = DagPosterior.load(changed(file, tmp_path / f"{name}{number}", name, own))
                found.score_samples(row)
                found.effect("x", "y", seed=1, draws=50)
            except InputError:
                refused += 1
    # What is left are finite numbers in the place of others.
    assert asked > 100
    assert refused > 0.7 * asked


def test_files_say_nothing_of_regressions_where_rows_are_kept(model: DagPosterior, tmp_path: Path) -> None:
    model.save(tmp_path / "whole.dagpost", rows=True)
    with zipfile.ZipFile(tmp_path / "whole.dagpost") as members:
        assert not [name for name in members.namelist() if name.startswith("regressions_")]
