"""Exogenous columns as the table has them: counted, kept in the model file, the same for completed tables."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.tools.wording import Said

from dagpost import DagPosterior
from dagpost.data import as_table
from dagpost.errors import InputError
from dagpost.files import archive
from dagpost.methods.augmentation import Augmentation
from dagpost.prediction.background import background_of, count_background, no_background
from dagpost.scores import BGe, DirichletPrior

SHORT = Augmentation(chains=2, burn_in=0, given_table="exact-layers")


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    generator = np.random.default_rng(5)
    arm, sex = generator.integers(0, 3, 300), generator.integers(0, 2, 300)
    age = generator.normal(50 + 5 * sex, 9)
    return pd.DataFrame(
        {
            "arm": np.array(["a", "b", "c"])[arm],
            "sex": np.array(["f", "m"])[sex],
            "age": age,
            "ill": np.array(["no", "yes"])[(generator.random(300) < 0.3 + 0.1 * arm).astype(int)],
            "pressure": 100 + 0.5 * age + 4 * arm + generator.normal(size=300),
        }
    )


def test_combinations_have_their_shares_and_the_means_of_numbers(frame: pd.DataFrame) -> None:
    table = as_table(frame)
    found = count_background(table, ["arm", "sex", "age"], DirichletPrior(1.0))
    assert found.exogenous.tolist() == [0, 1, 2]
    assert np.isnan(found.means[:, [0, 1, 3, 4]]).all()
    assert (found.levels[:, 2:] == -1).all()
    expected = frame.groupby(["arm", "sex"])["age"].agg(["mean", "size"])
    for codes, share, means in zip(found.levels, found.shares, found.means, strict=True):
        own = expected.loc[(table.levels[0][codes[0]], table.levels[1][codes[1]])]
        assert share == pytest.approx(own["size"] / 300)
        assert means[2] == pytest.approx(own["mean"])
    assert found.shares.sum() == pytest.approx(1.0)


def test_rows_count_as_often_as_they_say() -> None:
    table = as_table(np.array([[0, 1], [1, 0], [1, 1], [0, 0]]), counts=[2, 0, 1, 1])
    found = count_background(table, ["V0"], DirichletPrior(1.0))
    assert dict(zip(found.levels[:, 0].tolist(), found.shares.tolist(), strict=True)) == {0: 0.75, 1: 0.25}


def test_levels_are_numbers_where_all_columns_are() -> None:
    table = as_table(np.array([[1, 4.5], [2, 3.5], [2, 1.0]]))
    found = count_background(table, ["V0"], BGe().parameter_prior())
    assert found.levels.tolist() == [[-1, -1]]
    assert found.means[0, 0] == pytest.approx(5 / 3)
    assert np.isnan(found.means[0, 1])


def test_files_keep_it_without_the_rows(frame: pd.DataFrame, tmp_path: Path) -> None:
    for score, exogenous in (("bdeu", ["arm", "sex"]), ("bge", ["age"])):
        data = frame.drop(columns=["age", "pressure"]) if score == "bdeu" else frame[["age", "pressure"]]
        model = DagPosterior(score, prior="uniform", exogenous=exogenous, samples=50, seed=1).fit(data)
        model.save(tmp_path / "model.dagpost")
        loaded = DagPosterior.load(tmp_path / "model.dagpost")
        assert loaded.fitted_.table is None
        own, kept = background_of(model.fitted_), background_of(loaded.fitted_)
        for one, other in zip(own, kept, strict=True):
            np.testing.assert_array_equal(one, other)
        model = DagPosterior(score, prior="uniform", samples=50, seed=1).fit(data)
        assert background_of(model.fitted_).levels.tolist() == no_background(len(data.columns)).levels.tolist()


@pytest.mark.filterwarnings("ignore::dagpost.DagpostWarning")
def test_completed_tables_share_it(frame: pd.DataFrame) -> None:
    holes = frame.drop(columns=["age", "pressure"])
    holes.loc[::7, "ill"] = None
    model = DagPosterior("bdeu", prior="uniform", exogenous=["arm", "sex"], method=SHORT, samples=220, seed=1).fit(
        holes
    )
    whole = count_background(as_table(frame[["arm", "sex", "ill"]]), ["arm", "sex"], DirichletPrior(1.0))
    np.testing.assert_allclose(np.sort(background_of(model.fitted_).shares), np.sort(whole.shares))


def test_a_file_that_does_not_say_is_refused(frame: pd.DataFrame, tmp_path: Path, said: Said) -> None:
    model = DagPosterior("bdeu", prior="uniform", exogenous=["arm"], samples=50, seed=1).fit(
        frame[["arm", "sex", "ill"]]
    )
    model.save(tmp_path / "model.dagpost")
    loaded = DagPosterior.load(tmp_path / "model.dagpost")
    loaded.fitted_.remember("background", None)
    with said.raises(InputError):
        background_of(loaded.fitted_)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("shares", 0.9, "shares"),
        ("levels", 7, "unknown"),
        ("levels", 0, "other exogenous"),
        ("means", 1.0, "oth"),
    ],
)
def test_a_file_that_cannot_be_is_refused(name: str, value: float, words: str, tmp_path: Path) -> None:
    codes = np.random.default_rng(1).integers(0, 2, (40, 3))
    DagPosterior("bdeu", prior="uniform", exogenous=["V2"], samples=5, seed=1).fit(codes).save(tmp_path / "x")
    about, arrays = archive.read_archive(tmp_path / "x", "model")
    arrays[f"background_{name}"] = arrays[f"background_{name}"].copy()
    arrays[f"background_{name}"].reshape(-1)[-1 if name != "means" else 0] = value
    archive.write_archive(tmp_path / "y", "model", about, arrays)
    with pytest.raises(InputError, match=words):
        DagPosterior.load(tmp_path / "y")
