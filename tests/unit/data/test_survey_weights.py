"""Survey weights: refused with the reason wherever they are offered, and noticed by the names of columns."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.tools.wording import Said
from typer.testing import CliRunner

from dagpost import DagPosterior, Recipe, as_table
from dagpost.cli.application import app
from dagpost.data.survey_weights import looks_like_weights
from dagpost.errors import DagpostWarning, InputError

RUNNER = CliRunner()


def survey(**more: object) -> pd.DataFrame:
    generator = np.random.default_rng(1)
    return pd.DataFrame({"smokes": generator.integers(0, 2, 40), "cough": generator.integers(0, 2, 40), **more})


@pytest.mark.parametrize("name", ["sample_weight", "weights"])
def test_weights_are_refused_by_fit_with_the_reason(name: str, said: Said) -> None:
    model = DagPosterior(prior="uniform")
    with said.raises(InputError):
        model.fit(survey(), **{name: np.full(40, 2.5)})
    model.fit(survey(), **{name: None})
    with said.raises(TypeError):
        model.fit(survey(), checkpoints=3)


def test_fractions_are_not_counts(said: Said) -> None:
    with said.raises(InputError):
        as_table(survey(w=[1.0, 2.0, 1.5, *[1.0] * 37]), counts="w")
    with said.raises(InputError) as found:
        as_table(survey(w=[-1, *[1] * 39]), counts="w")
    assert "survey" not in str(found.value)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        *((name, True) for name in ["pweight", "survey_weight", "Sampling.Weight", "wtmec2yr", "WTINT2YR", "fnlwgt"]),
        *((name, True) for name in ["perwt", "HHWT", "_LLCPWT", "design weight", "pspwght", "iptw"]),
        *((name, False) for name in ["weight", "birth_weight", "wt", "body weight", "weights", "wtf", "growth"]),
    ],
)
def test_columns_are_known_by_their_names(name: str, expected: bool) -> None:
    assert looks_like_weights(name) == expected


def test_a_column_of_weights_brings_a_notice_unless_it_is_kept(said: Said) -> None:
    table = survey(pweight=np.tile([0.5, 1.5], 20))
    with said.warns(DagpostWarning):
        as_table(table)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        as_table(table, recipe=Recipe(keep=["pweight"]))
        as_table(table, recipe=Recipe(drop=["pweight"]))


def test_the_command_line_says_it_in_its_own_words(tmp_path: Path, said: Said) -> None:
    file = tmp_path / "survey.csv"
    survey(w=np.tile([0.5, 1.5], 20)).to_csv(file, index=False)
    for arguments in (["--weights", "w"], ["--sample-weight=w"], ["--counts", "w"]):
        found = RUNNER.invoke(app, ["fit", str(file), *arguments])
        assert found.exit_code == 2
        said(found.stderr)
        assert "Usage" not in found.stderr
