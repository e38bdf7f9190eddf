"""Survey weights: refused with the reason wherever they are offered."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.tools.wording import Said
from typer.testing import CliRunner

from dagpost import DagPosterior, as_table
from dagpost.cli.application import app
from dagpost.errors import InputError

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


def test_the_command_line_says_it_in_its_own_words(tmp_path: Path, said: Said) -> None:
    file = tmp_path / "survey.csv"
    survey(w=np.tile([0.5, 1.5], 20)).to_csv(file, index=False)
    found = RUNNER.invoke(app, ["fit", str(file), "--counts", "w"])
    assert found.exit_code == 2
    said(found.stderr)
    assert "Usage" not in found.stderr
