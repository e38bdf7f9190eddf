"""The weights of more columns than tables are made for: looked up set by set, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive.wide import add_edge
from tests.tools.considered import random_graph, random_sets, weight_of, wide_workspace
from tests.tools.wording import Said

from dagpost import Checkpoint
from dagpost._tools.progress import NO_PROGRESS
from dagpost.engines import ThreadEngine
from dagpost.errors import InputError
from dagpost.families.considered_lookup import index_sets, log_weights_among, numbers_of_parents
from dagpost.posterior.wide_workspace import WideWorkspace


@given(
    columns=st.sampled_from([3, 20, 64, 70]),
    each=st.integers(1, 12),
    max_parents=st.integers(1, 4),
    seed=st.integers(0, 2**32),
    stray=st.booleans(),
)
def test_graphs_weigh_what_their_sets_weigh(columns: int, each: int, max_parents: int, seed: int, stray: bool) -> None:
    considered = random_sets(columns, each, max_parents, seed, near=min(6, columns - 1))
    graphs = np.stack([random_graph(considered, seed + number) for number in range(2)])
    if stray:
        # A parent more than before, perhaps one that makes a set of others.
        extra = np.uint64(1 << (seed % min(columns, 60)))
        graphs[0, -1, ...] |= extra if columns <= 64 else np.array([extra, *[0] * (graphs.shape[2] - 1)], np.uint64)
    expected = [weight_of(considered, graph) for graph in graphs]
    np.testing.assert_allclose(log_weights_among(considered, index_sets(considered), graphs), expected, rtol=1e-12)


def test_numbers_lead_back_to_the_sets() -> None:
    considered = random_sets(100, 9, 3, 5)
    graph = random_graph(considered, 6)
    numbers = numbers_of_parents(index_sets(considered), graph[None])[0]
    assert ((considered.start[:-1] <= numbers) & (numbers < considered.start[1:])).all()
    again = np.zeros_like(graph)
    for node, place in enumerate(numbers):
        for member in considered.members[place].tolist():
            if member < 100:
                add_edge(again, member, node)
    np.testing.assert_array_equal(again, graph)


def test_a_set_that_is_not_considered_has_no_weight_and_is_named() -> None:
    workspace = wide_workspace()
    graph = random_graph(workspace.considered, 1)
    assert math.isfinite(workspace.log_joint(graph[None])[0])
    assert workspace.not_considered(graph) == []
    add_edge(graph, 40, 3)
    assert workspace.log_joint(graph[None])[0] == -math.inf
    assert workspace.not_considered(graph) == [3]


def test_it_is_no_place_for_sums_over_all_sets(said: Said) -> None:
    workspace = wide_workspace()
    assert (workspace.nodes, workspace.max_parents, workspace.parts) == (70, 2, ())
    assert not workspace.order_fits()
    assert not workspace.structure_is_affordable()
    assert workspace.edges_to_compare("structure", 1e9) is None
    with said.raises(InputError):
        workspace.summing("kbest")


def test_a_checkpoint_of_other_weights_is_refused(tmp_path: object) -> None:
    checkpoint = Checkpoint(f"{tmp_path}/part", seconds=0)
    workspace = wide_workspace()
    other = WideWorkspace(random_sets(70, 8, 2, 2), 2, ThreadEngine(1), NO_PROGRESS)
    with checkpoint.task("sample", {}) as kept:
        with workspace.checkpointed(kept):
            for _ in kept.stage("a", [1]):
                pass
        with pytest.raises(InputError, match="another run"), other.checkpointed(kept):
            pass
