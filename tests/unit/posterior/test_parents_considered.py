"""What was considered for parents, and what that may cost: shown for every variable, and true."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.tools.wording import Said

from dagpost import BayesianNetwork, BDeu, BlockGibbs, DagPosterior, datasets
from dagpost.engines import ThreadEngine
from dagpost.errors import InputError
from dagpost.exact.order import forward_table
from dagpost.families.considered_sets import ConsideredSets
from dagpost.families.numbering import parent_sets, unsqueeze_all
from dagpost.families.pruning import considered_from_all, masks_of_members
from dagpost.scores import local_scores


@pytest.fixture(scope="module")
def model() -> DagPosterior:
    return DagPosterior(prior="uniform", method=BlockGibbs(), seed=1).fit(datasets.load("coronary"))


def test_the_table_has_a_row_a_variable(model: DagPosterior) -> None:
    table = model.parents_considered()
    assert table.index.tolist() == list(model.names_)
    assert table.columns.tolist() == ["candidates", "sets", "dropped_at_most", "not_scored_about"]
    assert table["candidates"].between(1, 5).all()
    assert (table["sets"] > table["candidates"]).all()
    assert 0.0 < table["dropped_at_most"].sum() <= 1e-3
    assert (table["not_scored_about"] == 0.0).all()


def test_a_fit_says_what_was_considered(model: DagPosterior, said: Said) -> None:
    reason = model.method_reason_
    said(reason)


def test_an_average_over_a_setting_has_no_one_list(said: Said) -> None:
    averaged = DagPosterior(BDeu((1.0, 10.0)), prior="uniform").fit(datasets.load("coronary"))
    with said.raises(InputError):
        averaged.parents_considered()


def test_words_on_what_was_not_scored(said: Said) -> None:
    members = np.array([[2], [0], [2]], dtype=np.int16)
    start, leading, lost, missed = np.array([0, 1, 3]), np.array([1, 2]), np.array([1e-4, 2e-4]), np.array([0.0, 0.03])
    lists = ConsideredSets(start, members, np.zeros(3), leading, lost, missed, "every set of one")
    said(lists.describe())
    assert lists.table(["a", "b"]).loc["b"].tolist() == [1, 2, 2e-4, 0.03]


@pytest.fixture(scope="module")
def child_scores() -> Any:
    """Scores of 100 rows of the network child: so few that hardly any parent set is ruled out."""
    from tests.tools import reference

    network = BayesianNetwork.read(reference.shared_folder() / "child.bif")
    rows: pd.DataFrame = network.sample(100, seed=1)
    return local_scores(rows, BDeu(1.0), 3, engine=ThreadEngine(2))


def test_nothing_is_lost_where_rows_are_few(child_scores: Any) -> None:
    """All sets of 20 columns are scored; the evidence over all orders, which has the same bound, loses no more."""
    everything = child_scores.values
    considered = considered_from_all(everything, 3, engine=ThreadEngine(2))
    assert (considered.missed == 0.0).all()
    assert considered.lost.sum() <= 1e-3
    # Ten candidates a variable would not do.
    assert (considered.candidates() > 10).sum() >= 18
    assert considered.counts.sum() < 0.9 * everything.size
    kept = np.full_like(everything, -np.inf)
    sets = parent_sets(19, 3)
    for node in range(20):
        here = slice(considered.start[node], considered.start[node + 1])
        there = np.isin(unsqueeze_all(sets, node), masks_of_members(considered.members[here], 20))
        assert there.sum() == considered.counts[node]
        kept[node, there] = everything[node, there]
    full, less = (forward_table(logs, 3, engine=ThreadEngine(2)).log_evidence for logs in (everything, kept))
    assert 0.0 <= full - less <= -math.log1p(-considered.lost.sum())
