"""What can be answered exactly, checked on all 543 DAGs of four nodes and on the 29,281 of five."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive.posterior import all_dags
from tests.tools.examples import examples

from dagpost import (
    adjacent,
    ancestor_set,
    custom,
    d_separated,
    descendant_set,
    edge,
    in_markov_blanket,
    parent_set,
    path,
    topological_position,
    v_structure,
)
from dagpost.features import And, Not, Or, ancestors, disjoint_ways, evaluate, one_node_reach
from dagpost.features.disjoint import MOST_WAYS

NAMES = ["A", "B", "C", "D"]
DAGS = np.array(all_dags(4), dtype=np.uint64)
ANCESTORS = ancestors(DAGS)
DESCENDANTS = np.zeros_like(ANCESTORS)
for _node in range(4):
    for _below in range(4):
        DESCENDANTS[:, _node] |= (ANCESTORS[:, _below] >> np.uint64(_node) & np.uint64(1)) << np.uint64(_below)

A_B, B_A, C_B, C_D, D_B = edge("A", "B"), edge("B", "A"), edge("C", "B"), edge("C", "D"), edge("D", "B")

#: Statements about parents, and in how many ways they can be true, and untrue.
ABOUT_PARENTS = [
    (A_B, [1, 1]),
    (~A_B, [1, 1]),
    (A_B | ~C_B, [1, 1]),
    (A_B & C_D, [1, 2]),
    (A_B & B_A, [1, 2]),
    (A_B & ~A_B, [1, 1]),
    (parent_set("B", ["A", "C"]), [1, 1]),
    (parent_set("B", []) | (D_B & ~C_B), [1, 1]),
    (And(tuple(parent_set(name, NAMES[:place]) for place, name in enumerate(NAMES))), [1, 4]),
    (A_B | C_D, [2, 1]),
    (~(A_B & C_D), [2, 1]),
    (~(A_B | C_D), [1, 2]),
    (adjacent("A", "B"), [2, 1]),
    (~adjacent("A", "B"), [1, 2]),
    (adjacent("A", "B") & C_D, [2, 3]),
    (adjacent("A", "B") & adjacent("C", "D"), [4, 3]),
    (adjacent("A", "B") & ~adjacent("C", "D"), [2, 5]),
    (v_structure("A", "C", "B"), [1, 4]),
    (v_structure("A", "C", "B") & edge("C", "D"), [1, 5]),
    (v_structure("A", "C", "B") | C_D, [5, 4]),
    (~v_structure("A", "C", "B") & C_D, [4, 5]),
    (v_structure("A", "C", "B") | v_structure("A", "D", "B"), [5, 16]),
    (in_markov_blanket("A", "D"), [4, 1]),
    (~in_markov_blanket("A", "D") & A_B, [1, 5]),
    (path("A", "B", longest=1), [1, 1]),
    (ancestor_set("C", []), [1, 1]),
    (descendant_set("C", []), [1, 3]),
    (~descendant_set("C", []), [3, 1]),
    (topological_position("B", "=", 0), [1, 1]),
    (topological_position("B", "<", 1), [1, 1]),
    (topological_position("B", "<=", 0), [1, 1]),
    (topological_position("B", ">", 0), [1, 1]),
    (topological_position("B", ">=", 1), [1, 1]),
    (d_separated("A", "B", ["C", "D"]), [1, 4]),
    (d_separated(["A", "B"], "C", "D"), [1, 8]),
    (d_separated(["A", "B"], ["C", "D"]), [1, 16]),
]

#: Statements about one node's reach, the node and which of its sets.
ABOUT_REACH = [
    (path("A", "B"), 0, "descendants"),
    (~path("A", "B"), 0, "descendants"),
    (path("A", "B") & ~path("A", "C"), 0, "descendants"),
    (path("A", "B") | path("C", "B"), 1, "ancestors"),
    (path("A", "B", longest=3) | path("C", "B"), 1, "ancestors"),
    (path("A", "B", longest=99), 0, "descendants"),
    (descendant_set("C", ["A", "B"]), 2, "descendants"),
    (descendant_set("C", ["A", "B"]) | (path("C", "D") & ~path("C", "A")), 2, "descendants"),
    (ancestor_set("D", ["A"]), 3, "ancestors"),
    (ancestor_set("D", ["A"]) | ~path("B", "D"), 3, "ancestors"),
    (ancestor_set("D", []) | path("A", "D"), 3, "ancestors"),
    (parent_set("D", []) | path("A", "D"), 3, "ancestors"),
    (topological_position("D", ">", 0), 3, "ancestors"),
]

IN_NEITHER_WAY = [
    path("A", "B", longest=2),
    path("A", "B") & path("C", "D"),
    path("A", "B") & A_B,
    d_separated("A", "B", "C"),
    topological_position("B", "<=", 1),
    topological_position("B", "=", 1),
    custom(lambda dag: dag.number_of_edges() > 2),
    custom(lambda dag: dag.number_of_edges() > 2) & A_B,
]


def held_by_ways(feature: Any, dags: Any, names: Any, *, untrue: bool = False) -> Any:
    """How many of the ways of a statement hold in each DAG; None where it has none."""
    ways = disjoint_ways(feature, names, untrue=untrue)
    if ways is None:
        return None
    total = np.zeros(len(dags), dtype=int)
    for way in ways:
        met = np.ones(len(dags), dtype=bool)
        for node, condition in way.items():
            answer = condition(dags[:, node])
            assert answer.dtype == np.bool_
            met &= answer
        total += met
    return total.tolist()


def reached(found: Any) -> Any:
    masks = DESCENDANTS if found.direction == "descendants" else ANCESTORS
    return found.condition(masks[:, found.node])


@pytest.mark.parametrize(("feature", "ways"), ABOUT_PARENTS, ids=str)
def test_a_statement_holds_in_just_one_of_its_ways(feature: Any, ways: Any) -> None:
    held = evaluate([feature], DAGS, NAMES)[0].astype(int)
    assert held_by_ways(feature, DAGS, NAMES) == held.tolist()
    assert held_by_ways(feature, DAGS, NAMES, untrue=True) == (1 - held).tolist()
    assert [len(disjoint_ways(feature, NAMES, untrue=untrue)) for untrue in (False, True)] == ways


@pytest.mark.parametrize(("feature", "node", "direction"), ABOUT_REACH, ids=str)
def test_the_condition_on_one_reach_is_the_statement(feature: Any, node: Any, direction: Any) -> None:
    found = one_node_reach(feature, NAMES)
    assert (found.node, found.direction) == (node, direction)
    assert reached(found).tolist() == evaluate([feature], DAGS, NAMES)[0].tolist()


@pytest.mark.parametrize("feature", IN_NEITHER_WAY, ids=str)
def test_other_statements_are_left_to_samples(feature: Any) -> None:
    assert disjoint_ways(feature, NAMES) is None
    assert one_node_reach(feature, NAMES) is None


def test_statements_about_edges_have_no_reach_and_paths_no_disjoint_ways() -> None:
    assert one_node_reach(A_B, NAMES) is None
    assert one_node_reach(parent_set("B", ["A"]), NAMES) is None
    assert disjoint_ways(path("A", "B"), NAMES) is None
    assert disjoint_ways(path("A", "B") | A_B, NAMES) is None
    assert disjoint_ways(descendant_set("A", ["B"]), NAMES) is None


def test_on_two_nodes_a_path_is_an_edge_and_both_answers_exist() -> None:
    feature = path("A", "B", longest=1)
    assert disjoint_ways(feature, ["A", "B"]) is not None
    assert one_node_reach(path("A", "B"), ["A", "B"]).condition(np.array([0, 2], np.uint64)).tolist() == [
        False,
        True,
    ]


def test_conditions_take_masks_of_any_parent_sets() -> None:
    ways = disjoint_ways(parent_set("B", ["A", "C"]) | D_B, NAMES)
    assert ways is not None
    (way,) = ways
    masks = np.array([0b0000, 0b0101, 0b1000, 0b1101, 0b0001], dtype=np.uint64)
    assert way[1](masks).tolist() == [False, True, True, True, False]
    assert way[1](masks[:0]).tolist() == []


def test_one_conjunction_may_hold_any_number_of_conditions() -> None:
    names = [f"X{node}" for node in range(20)]
    chain = And(tuple(edge(*ends) for ends in pairwise(names)))
    assert len(disjoint_ways(chain, names)) == 1
    assert len(disjoint_ways(Or(chain.parts), names, untrue=True)) == 1


def test_too_many_ways_are_not_written_out() -> None:
    names = [f"X{node}" for node in range(14)]
    pairs = [adjacent(*ends) for ends in zip(names[::2], names[1::2], strict=True)]
    assert len(disjoint_ways(And(tuple(pairs[:6])), names)) == 64 == MOST_WAYS
    assert disjoint_ways(And(tuple(pairs)), names) is None


def test_names_may_be_any_text() -> None:
    names = ["M. Work", "in", "P"]
    assert [list(way) for way in disjoint_ways(edge("M. Work", "P"), names)] == [[2]]
    assert one_node_reach(path("P", "in"), names).node == 2


def some_features() -> Any:
    two = st.permutations(NAMES).map(lambda order: order[:2])
    leaves = st.one_of(
        two.map(lambda ends: edge(*ends)),
        two.map(lambda ends: adjacent(*ends)),
        two.map(lambda ends: path(*ends)),
        two.map(lambda ends: in_markov_blanket(*ends)),
        two.map(lambda ends: descendant_set(ends[0], [ends[1]])),
        two.map(lambda ends: ancestor_set(ends[0], [])),
        st.permutations(NAMES).map(lambda order: v_structure(*order[:3])),
        st.permutations(NAMES).map(lambda order: parent_set(order[0], order[1:3])),
        st.permutations(NAMES).map(lambda order: d_separated(order[0], order[1], order[2:])),
    )
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            inner.map(Not),
            st.lists(inner, min_size=2, max_size=3).map(lambda parts: And(tuple(parts))),
            st.lists(inner, min_size=2, max_size=3).map(lambda parts: Or(tuple(parts))),
        ),
        max_leaves=5,
    )


@settings(max_examples=examples(300))
@given(some_features())
def test_whatever_is_reduced_is_reduced_rightly(feature: Any) -> None:
    held = evaluate([feature], DAGS, NAMES)[0]
    assert held_by_ways(feature, DAGS, NAMES) in (None, held.astype(int).tolist())
    assert held_by_ways(feature, DAGS, NAMES, untrue=True) in (None, (~held).astype(int).tolist())
    reach = one_node_reach(feature, NAMES)
    assert reach is None or reached(reach).tolist() == held.tolist()


def test_a_v_structure_with_more_is_right_on_five_nodes() -> None:
    names = [*NAMES, "E"]
    dags = np.array(all_dags(5), dtype=np.uint64)
    for feature in (v_structure("A", "E", "B") & ~in_markov_blanket("A", "D"), descendant_set("E", []) | C_D):
        assert held_by_ways(feature, dags, names) == evaluate([feature], dags, names)[0].astype(int).tolist()
