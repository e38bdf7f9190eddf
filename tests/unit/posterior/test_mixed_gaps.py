"""Models of tables of levels and numbers with gaps, from the fit to the file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dagpost import DagPosterior
from dagpost.methods.augmentation import Augmentation

# Chains of a few sweeps say that they are not to be trusted yet.
pytestmark = pytest.mark.filterwarnings("ignore::dagpost.DagpostWarning")


def patients(rows: int = 60) -> pd.DataFrame:
    """A column that is only conditioned on, one of levels and two of numbers; gaps in the last three."""
    generator = np.random.default_rng(2)
    sex = generator.choice(["f", "m"], rows)
    smokes = generator.choice(["never", "former", "now"], rows)
    weight = 65.0 + 12.0 * (sex == "m") + 8.0 * generator.standard_normal(rows)
    pressure = 100.0 + 0.3 * weight + 10.0 * (smokes == "now") + 5.0 * generator.standard_normal(rows)
    frame = pd.DataFrame({"sex": sex, "smokes": smokes, "weight": weight, "pressure": pressure})
    return frame.mask(generator.random(frame.shape) < [0.0, 0.15, 0.15, 0.15])


def fitted(way: str = "exact-layers") -> DagPosterior:
    method = Augmentation(chains=2, burn_in=2, given_table=way)
    settings = (
        {"exogenous": ["sex"]} if way == "exact-layers" else {"tiers": [["sex", "smokes"], ["weight", "pressure"]]}
    )
    model = DagPosterior(
        prior="uniform",
        score="conditional-gaussian",
        method=method,
        samples=200,
        missing="augment",
        seed=1,
        threads=1,
        progress=False,
    )
    return model.set_params(**settings).fit(patients())


@pytest.mark.parametrize("way", ["exact-layers", pytest.param("block-gibbs", marks=pytest.mark.long)])
def test_levels_and_numbers_are_completed_and_stored(way: str, tmp_path: Path) -> None:
    model, table = fitted(way), patients()
    first, last = model.completed(2)
    for done in (first, last):
        assert not done.isna().any().any()
        pd.testing.assert_frame_equal(done.mask(table.isna()).astype(object), table.astype(object), check_dtype=False)
    assert not first.equals(last)
    cells = model.missing_cells()
    of_levels = cells["column"] == "smokes"
    assert len(cells) == int(table.isna().sum().sum())
    assert set(cells.loc[of_levels, "likeliest"]) <= {"never", "former", "now"}
    assert cells.loc[~of_levels, "mean"].notna().all()
    assert model.edge_probabilities_.loc[["weight", "pressure"], ["sex", "smokes"]].to_numpy().max() == 0.0
    path = tmp_path / "mixed.dagpost"
    model.save(path)
    loaded = DagPosterior.load(path, threads=1, progress=False)
    pd.testing.assert_frame_equal(loaded.missing_cells(), cells)
    pd.testing.assert_frame_equal(loaded.edge_probabilities_, model.edge_probabilities_)
    pd.testing.assert_frame_equal(loaded.completed(1)[0], model.completed(1)[0])
    # Chains of the one are those of the other.
    np.testing.assert_array_equal(loaded.sample(20, seed=3).parents, model.sample(20, seed=3).parents)
