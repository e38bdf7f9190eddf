"""Rules for the parts of files, compared with what they say in plain Python."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tools.wording import Said

from dagpost._tools import schema
from dagpost._tools.schema import Sizes
from dagpost.families.masks import graph_of_masks


@given(st.integers(1, 5).flatmap(lambda nodes: st.lists(st.integers(0, 2**nodes - 1), min_size=nodes, max_size=nodes)))
def test_graphs_without_a_cycle_are_those_that_networkx_can_sort(masks: list[int]) -> None:
    rows = np.array([masks, masks], dtype=np.uint8)
    graph = graph_of_masks(rows[0], [str(node) for node in range(len(masks))])
    assert schema.is_acyclic(rows).tolist() == [nx.is_directed_acyclic_graph(graph)] * 2


@given(st.lists(st.integers(-1, 4), min_size=1, max_size=4))
def test_permutations_and_partitions_are_what_they_say(row: list[int]) -> None:
    array = np.array([row])
    assert _holds(schema.permutation("rows", "nodes"), array) == (sorted(row) == list(range(len(row))))
    assert _holds(schema.partition("rows", "nodes"), array) == (set(row) == set(range(max(row) + 1)))


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0, -1.0, np.nan, np.inf, -np.inf, 1e300]), min_size=1, max_size=4))
def test_numbers_are_finite_and_in_range_unless_more_is_allowed(row: list[float]) -> None:
    def plain(value: float, *, nan: bool = False, minus_infinity: bool = False) -> bool:
        if np.isnan(value):
            return nan
        return minus_infinity if value == -np.inf else 0.0 <= value <= 1.0

    array = np.array(row)
    for more in ({}, {"nan": True}, {"minus_infinity": True}, {"nan": True, "minus_infinity": True}):
        rule = schema.numbers("rows", least=0.0, most=1.0, **more)
        assert _holds(rule, array) == all(plain(value, **more) for value in row)


def test_sizes_must_agree(said: Said) -> None:
    rules = {"first": schema.numbers("rows"), "second": schema.wholes("rows", 2)}
    schema.check_arrays(rules, {"first": np.zeros(3), "second": np.zeros((3, 2), dtype=int)}, Sizes())
    with said.raises(ValueError):
        schema.check_arrays(rules, {"first": np.zeros(3), "second": np.zeros((2, 2), dtype=int)}, Sizes())
    with pytest.raises(ValueError, match="second"):
        schema.check_arrays(rules, {"first": np.zeros(3)}, Sizes())


@pytest.mark.parametrize(
    ("rule", "good", "bad"),
    [
        (schema.whole(0, 3), [0, 3], [True, -1, 4, 1.0, "1", None]),
        (schema.number(0, 1), [0, 0.5, 1], [True, -0.1, "x", [], None, 10**400]),
        (schema.list_of(schema.text, 2), [["a", "a"]], [["a"], "ab", None, ["a", 1]]),
        (schema.list_of(schema.level, distinct=True), [[1, True, "1"]], [[1, 1.0], [None], [[]]]),
        (schema.mapping({"a": schema.truth}), [{"a": True}], [{}, {"a": 1}, {"a": True, "b": 1}, []]),
        (schema.optional(schema.text), [None, ""], [0, []]),
    ],
)
def test_rules_of_json_values(rule: schema.Rule, good: list[Any], bad: list[Any]) -> None:
    assert all(rule.holds(value, Sizes()) for value in good)
    assert not any(rule.holds(value, Sizes()) for value in bad)


def _holds(rule: schema.ArrayRule, array: Any) -> bool:
    try:
        rule.check("array", array, Sizes())
    except ValueError:
        return False
    return True
