"""Tables of more than 64 columns without rules that split them: from rows to edges, by chains of blocks."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest
from tests.tools.broken_off import StoppingEngine, broken_off
from tests.tools.wording import Said

from dagpost import BlockGibbs, Checkpoint, DagPosterior, InputError, ResourceError
from dagpost.engines import ThreadEngine
from dagpost.posterior.variations import _way_to_exact_sums

pytestmark = pytest.mark.filterwarnings("ignore::dagpost.errors.DagpostWarning")

SHORT = BlockGibbs(chains=2, burn_in=40)
SETTINGS: dict[str, Any] = {"score": "bdeu", "max_parents": 2, "samples": 240, "seed": 1, "method": SHORT}


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    """Seventy columns, each a noisy copy of one that is near."""
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 2, (100, 70))
    for column in range(1, 70):
        rows[:, column] = np.where(rng.random(100) < 0.8, rows[:, max(0, column - 1 - column % 3)], rows[:, column])
    return pd.DataFrame(rows, columns=[f"c{column}" for column in range(70)])


@pytest.fixture(scope="module")
def model(table: pd.DataFrame) -> DagPosterior:
    return DagPosterior(**{"prior": "uniform", **SETTINGS}).fit(table)


def test_edges_are_near_the_frequencies_of_the_graphs(model: DagPosterior) -> None:
    edges, sample = model.edge_probabilities_, model.own_sample()
    assert not model.exact_
    assert sample.parents.shape == (240, 70, 2)
    np.testing.assert_allclose(model.fitted_.workspace.log_joint(sample.parents), sample.log_joint, rtol=1e-9)
    # Both from the same few graphs, one by exact probabilities given the rest of each: no more than a rough check.
    assert np.abs(edges.to_numpy() - sample.edge_frequencies().to_numpy()).mean() < 0.01
    assert edges.loc["c2", "c3"] + edges.loc["c3", "c2"] > 0.9


def test_both_ways_of_an_edge_have_at_most_probability_1(model: DagPosterior) -> None:
    record = model.own_sample().chains
    assert record is not None
    assert record.edges is not None
    raw, edges = record.edges.mean(axis=0), model.edge_probabilities_.to_numpy()
    # The chains estimate them apart.
    assert (raw + raw.T).max() > 1.001
    assert (edges + edges.T).max() <= 1.0 + 1e-12


def test_chains_of_blocks_are_chosen(table: pd.DataFrame) -> None:
    plan = DagPosterior(prior="uniform", score="bdeu", max_parents=2).plan(table)
    assert (plan.method, plan.exact, plan.chains) == ("block-gibbs", False, True)


def test_rules_hold_where_they_do_not_make_sums_affordable(table: pd.DataFrame) -> None:
    tiers = [[f"c{column}" for column in range(40)], [f"c{column}" for column in range(40, 70)]]
    rules: dict[str, Any] = {"exogenous": ["c0"], "required": ["c5 -> c9"], "forbidden": ["c8 -> c9"], "tiers": tiers}
    model = DagPosterior(**{"prior": "uniform", **SETTINGS, "samples": 60}, **rules).fit(table)
    edges = model.edge_probabilities_
    assert edges.loc["c5", "c9"] == pytest.approx(1.0, abs=1e-6)
    assert edges.loc["c8", "c9"] == 0.0
    assert edges["c0"].max() == 0.0
    assert edges.iloc[40:, :40].to_numpy().max() == 0.0


# Scores come in thousands of steps, and each is written.
@pytest.mark.long
def test_a_fit_that_is_killed_anywhere_gives_the_same_edges(
    table: pd.DataFrame, model: DagPosterior, tmp_path: Path
) -> None:
    def attempt(engine: Any, checkpoint: Checkpoint | None) -> DagPosterior:
        return DagPosterior(**{"prior": "uniform", **SETTINGS}, engine=engine).fit(table, checkpoint=checkpoint)

    counting = StoppingEngine(10**6)
    attempt(counting, None)
    results = 10**6 - int(counting.left)
    for place in (1, results - 2):
        again = broken_off(attempt, tmp_path / "part", place)
        assert (again.edge_probabilities_ == model.edge_probabilities_).to_numpy().all()
        assert again.own_sample() == model.own_sample()


@pytest.mark.parametrize("method", ["partition-mcmc", "structure-mcmc", "trees", "bootstrap", "iw-dds", "given-order"])
def test_other_methods_name_the_one_that_takes_so_many(method: str, table: pd.DataFrame, said: Said) -> None:
    with said.raises(InputError):
        DagPosterior(prior="uniform", score="bdeu", method=method, max_parents=1).fit(table)


def test_exact_sums_are_refused_with_chains_as_the_way_out(table: pd.DataFrame, said: Said) -> None:
    with said.raises(ResourceError):
        DagPosterior(prior="uniform", score="bdeu", method="exact-layers", max_parents=1).fit(table)


def test_the_number_of_graphs_of_a_plan_is_what_memory_allows() -> None:
    rows = np.random.default_rng(1).integers(0, 2, (20, 300))
    found = DagPosterior(prior="uniform", score="bdeu", max_parents=1, samples=10**6, engine=ThreadEngine(1)).plan(rows)
    # Half a gigabyte of five words for each column.
    assert f"{2**29 // (8 * 5 * 300):,} graphs" in str(found)


def test_sums_over_orders_are_not_advised_where_they_do_not_fit() -> None:
    def advice(order_fits: bool) -> str:
        settings, workspace = {"method": "auto"}, Mock(order_fits=lambda: order_fits)
        return _way_to_exact_sums(
            Mock(names=["A"] * 45, settings=settings, modularity="structure", workspace=workspace)
        )

    assert "order" in advice(order_fits=True)
    assert advice(order_fits=False) == "Use fewer columns."
