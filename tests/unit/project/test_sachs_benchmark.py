"""The study of nine experiments runs, on made-up cells: the real ones are not part of the project."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from benchmarks import sachs

from dagpost import DagPosterior, Regimes


def test_the_files_of_all_experiments_are_read(tmp_path: Path) -> None:
    for number in range(1, 10):
        pd.DataFrame({"Akt": [1.0, 2.0], "Mek": [3.0, number]}).to_csv(tmp_path / f"{number}_cells.csv", index=False)
    cells = sachs.read(tmp_path)
    assert cells["condition"].tolist() == [regime for regime in sachs.REGIMES for _ in range(2)]
    (tmp_path / "9_cells.csv").unlink()
    with pytest.raises(SystemExit, match="9_"):
        sachs.read(tmp_path)


def test_known_targets_are_shown_beside_what_was_found(capsys: pytest.CaptureFixture[str]) -> None:
    generator = np.random.default_rng(1)
    condition = np.repeat(["cd3cd28", "u0126"], 100)
    mek = generator.normal(size=200) - 3.0 * (condition == "u0126")
    cells = pd.DataFrame({"Mek": mek, "Erk": mek + generator.normal(size=200), "condition": condition})
    sachs.show("logarithms", cells, "bge", {"u0126": "Mek"})
    said = capsys.readouterr().out
    assert "1 of 1 known targets found; 1 are the first of 2 variables in their regime." in said
    assert "exact: True" in said


def test_odds_are_those_of_the_probabilities_and_tell_sure_ones_apart() -> None:
    generator = np.random.default_rng(1)
    regime = np.repeat(["r0", "r1", "r2"], 130)
    first = generator.random(390) < np.where(regime == "r2", 0.9, 0.3)
    cells = pd.DataFrame({"v0": first, "v1": first ^ (generator.random(390) < 0.2), "regime": regime})
    model = DagPosterior("bdeu", prior="uniform", regimes=Regimes("regime", reference="r0")).fit(cells.astype(str))
    effects = model.regime_effects()
    chances = effects.table.loc["r1"].to_numpy()
    summed = sachs.log_odds(model, effects, "r1", summed_from=0.0)
    np.testing.assert_allclose(summed, np.log(chances / (1.0 - chances)), atol=1e-7)
    sure = sachs.log_odds(model, effects, "r2")
    assert sure.argmax() == 0
    assert np.isfinite(sure).all()
