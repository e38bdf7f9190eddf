"""Completed tables of latent Gaussian models are in the terms of the user's table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from tests.tools.latent_models import LIMIT, latent_data, latent_frame, latent_model
from tests.tools.wording import Said

from dagpost import DagPosterior, InputError
from dagpost.methods.augmentation import Augmentation

pytestmark = pytest.mark.filterwarnings("ignore::dagpost.DagpostWarning")


def test_completed_tables_have_the_observed_cells_as_they_were() -> None:
    given = latent_frame()
    for table in latent_model().completed(5):
        assert table.columns.to_list() == given.columns.to_list()
        assert not table.isna().any().any()
        for name in given:
            there = given[name].notna()
            assert (table.loc[there, name].astype(object) == given.loc[there, name].astype(object)).all()
        assert set(table["smoking"]) == {"yes", "no"}
        assert set(table["pain"]) == {1, 2, 3}
        assert (table["dose"][given["dose"].isna()] < LIMIT).all()
        assert table["pressure"].between(given["pressure"].min(), given["pressure"].max()).all()


def test_missing_cells_are_the_real_gaps_and_the_censored_cells() -> None:
    given, found = latent_frame(), latent_model().missing_cells()
    gaps = {(row, name) for name in given for row in np.flatnonzero(given[name].isna())}
    assert set(zip(found["row"], found["column"], strict=True)) == gaps
    doses = found[found["column"] == "dose"]
    assert (doses["97.5%"] <= LIMIT).all()
    assert (doses["2.5%"] > 0).all()
    pain = found[found["column"] == "pain"].iloc[0]
    assert set(pain["probabilities"]) == {1, 2, 3}
    assert sum(pain["probabilities"].values()) == pytest.approx(1.0)


def test_rows_that_count_twice_are_completed_twice() -> None:
    data, tables = latent_data(counted=True), latent_model(counted=True).completed(2)
    given = latent_frame().loc[np.repeat(np.arange(90), data.weights)].reset_index(drop=True)
    for table in tables:
        assert len(table) == data.observations
        there = given["pressure"].notna()
        pd.testing.assert_series_equal(
            table.reset_index(drop=True)["pressure"][there], given["pressure"][there], check_dtype=False
        )


def test_a_latent_model_of_a_table_without_gaps_has_nothing_to_complete(said: Said) -> None:
    frame = latent_frame().drop(columns="dose").dropna().astype({"pain": int}).head(30)
    method = Augmentation(burn_in=5, error=1e-4)
    model = DagPosterior("latent-gaussian", prior="uniform", method=method, samples=40, seed=1).fit(frame)
    with said.raises(InputError):
        model.completed(1)
