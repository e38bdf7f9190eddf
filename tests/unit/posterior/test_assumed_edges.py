"""Which edges an assumption decides, and what that means for directions: compared with all graphs of four columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.naive.posterior import all_dags
from tests.tools.report_page import random_table

from dagpost import DagPosterior
from dagpost.features import evaluate, resolve
from dagpost.posterior.knowledge import assumed_edges, knowledge_from, knowledge_under
from dagpost.priors.constraints import Constraints

NAMES = ("A", "B", "C", "D")
STATEMENTS = (
    *("A -> B", "!(A -> B)", "A ~> B", "!(A ~> B)", "A ~>{2} B", "!(A -- B)", "A -- B", "pa(B) = {A, C}", "pa(B) = {}"),
    *("A -> C <- B", "A -> B -> C", "A -> B & !(C -> D) & D ~> A", "A -> B | B -> C", "A in mb(B)", "A _||_ B | C"),
)


def edges_in_all_and_none(statement: str) -> tuple[np.ndarray, np.ndarray]:
    """Edges that are in all graphs in which a statement holds, and in none, by looking at each."""
    graphs = np.array(all_dags(4), dtype=np.uint64)
    held = graphs[evaluate([resolve(statement, NAMES).feature], graphs, NAMES)[0]]
    there = np.array(
        [[(held[:, child] >> np.uint64(parent)) & np.uint64(1) for child in range(4)] for parent in range(4)]
    )
    return there.min(axis=2) == 1, there.max(axis=2) == 0


@pytest.mark.parametrize("statement", STATEMENTS)
def test_nothing_is_called_decided_that_is_not(statement: str) -> None:
    found, (required, forbidden) = assumed_edges([statement], NAMES), edges_in_all_and_none(statement)
    assert not (found.required & ~required).any()
    assert not (found.forbidden & ~forbidden).any()


@pytest.mark.parametrize("statement", [own for own in STATEMENTS if "|" not in own and "mb" not in own])
def test_the_directions_that_a_statement_settles_are_found(statement: str) -> None:
    required, forbidden = edges_in_all_and_none(statement)
    known = knowledge_under(knowledge_from(NAMES, Constraints()), [statement], NAMES)
    # One direction is possible and the other is not; what only acyclicity adds to several edges is left to the graphs.
    by_definition = (~forbidden & forbidden.T) | required
    if statement not in ("A -> B -> C", "A -> B & !(C -> D) & D ~> A"):
        assert (known.settled == by_definition).all()
    assert not (known.settled & ~by_definition).any()
    assert known.assumed


def test_rules_and_assumptions_settle_directions_together() -> None:
    known = knowledge_from(NAMES, Constraints(forbidden=[("B", "A")], tiers=[["C"], ["D"]]))
    under = knowledge_under(known, ["!(A -> B)", "C ~> B"], NAMES)
    settled = {(NAMES[a], NAMES[b]) for a, b in np.argwhere(under.settled).tolist()}
    # A and B are never joined any more.
    assert settled == {("C", "D"), ("C", "B")}
    assert knowledge_under(known, None, NAMES) is known


def test_what_no_statement_says_decides_nothing() -> None:
    for strange in (["no such thing"], [1], "A -> B", None, ["A -> Z"]):
        found = assumed_edges(strange, NAMES)
        assert not found.required.any()
        assert not found.forbidden.any()


def test_directions_of_a_conditioned_model_are_decided_by_what_is_assumed() -> None:
    model = DagPosterior("bdeu", prior="uniform", seed=1, samples=2_000).fit(random_table(["a", "b", "c"]))
    own, given = (found.directions().set_index(["from", "to"]) for found in (model, model.given("a ~> b")))
    assert set(own["direction"]) <= {"open", "clear", "leaning"}
    pair: Any = given.loc[("a", "b")]
    assert pair["direction"] == "rules"
    assert pair["by_rules"] > 0.5
    assert pair["by_data"] + pair["by_rules"] == pytest.approx(pair["joined"])
    sample = model.sample(200, seed=1).given("a ~> b")
    again: Any = sample.directions().set_index(["from", "to"]).loc[("a", "b")]
    assert again["direction"] == "rules"
