"""Edges folded back to the series of a table with time."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from tests.tools.wording import Said
from tests.unit.data.test_unroll import PANEL

from dagpost import DagPosterior, datasets, unroll
from dagpost.errors import InputError
from dagpost.posterior.time_edges import lagged_edges, time_edges


@pytest.fixture(scope="module")
def model() -> DagPosterior:
    frame = PANEL[["id", "week", "x", "y", "sex"]].assign(x=PANEL["x"] > 0.0, y=PANEL["y"] > 0.0)
    return DagPosterior("bdeu", prior="uniform", max_parents=2, seed=1).fit(
        unroll(frame, time="week", subject="id", lags=2)
    )


def test_folded_edges_are_those_of_the_columns(model: DagPosterior) -> None:
    folded, edges = model.lagged_edges(), model.edge_probabilities_
    assert len(folded) == 2 * (2 * 3 - 1) + 2
    assert folded["probability"].is_monotonic_decreasing
    for row in folded.itertuples():
        _, parent, child, lag, probability, words = row
        static = lag is pd.NA
        column = parent if static or lag == 0 else f"{parent}[t-{lag}]"
        assert probability == edges.loc[column, child]
        assert words == f"{parent} -> {child}" + ("" if static else f" at lag {lag}" if lag else " now")


def test_series_are_joined_at_any_lag_with_at_least_the_largest_and_at_most_the_sum(model: DagPosterior) -> None:
    joined, folded = model.series_edges(), model.lagged_edges()
    for source in ("x", "y"):
        for target in ("x", "y"):
            own = folded[(folded["from"] == source) & (folded["to"] == target)]["probability"]
            assert own.max() - 1e-9 <= joined.loc[source, target] <= own.sum() + 1e-9
    families = model.family_probabilities("y")
    with_x = [any(name.startswith("x") for name in parents) for parents in families.index]
    exact = float(families[with_x].sum())
    assert joined.loc["x", "y"] == pytest.approx(exact, abs=1e-9)


def test_columns_may_come_in_any_order_and_some_may_be_missing() -> None:
    names = ("b[t-1]", "sex", "b", "a[t-2]", "a")
    found = {(edge.source, edge.target, edge.lag): (edge.parent, edge.child) for edge in time_edges(names)}
    assert found[("a", "b", 2)] == (3, 2)
    assert found[("sex", "a", None)] == (1, 4)
    assert ("a", "b", 1) not in found
    matrix = np.zeros((5, 5))
    matrix[3, 2] = 0.5
    assert lagged_edges(names, matrix)["edge"][0] == "a -> b at lag 2"


def test_a_model_without_time_says_how_to_have_it(said: Said) -> None:
    model = DagPosterior("bdeu", prior="uniform").fit(datasets.load("coronary"))
    with said.raises(InputError):
        model.lagged_edges()
