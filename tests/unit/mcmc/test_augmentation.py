"""Chains over completed tables: what a sweep keeps, and the order of its steps, with a posterior that is made up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dagpost import InputError
from dagpost.data.table import Table
from dagpost.engines import ThreadEngine
from dagpost.mcmc.augmentation import AugmentedState, Pass, advance, members_of_masks, start
from dagpost.mcmc.cell_rules import CellRules
from dagpost.mcmc.chains import run_chains
from dagpost.mcmc.records import ROUND_GRAPHS, ChainRun
from dagpost.methods.augmentation import Augmentation

NODES, CELLS = 3, 4
SEED = np.random.SeedSequence(11)


def gaps_of(count: int) -> CellRules:
    """Rules of so many gaps in a column of numbers."""
    gaps = np.zeros((1, count + 1), dtype=np.bool_)
    gaps[0, 1:] = True
    return CellRules(Table(("a",), (np.where(gaps[0], np.nan, 0.0),), (None,), gaps=gaps))


class Counter:
    """Cells that say how often they were redrawn, and with which families."""

    def __init__(self) -> None:
        self.families: list[list[list[int]]] = []

    def begin(self, generator: np.random.Generator) -> Any:
        return generator.integers(5, size=CELLS).astype(np.float64)

    def redraw(self, cells: Any, families: Any, generator: np.random.Generator, cancel: Any) -> None:
        cells += 1.0
        self.families.append(families.tolist())


class MadeUp:
    """A posterior in which 0 -> 1 has a probability that hangs on the first cell, and all graphs are 0 -> 1 -> 2."""

    nodes, max_parents = NODES, 2
    family_count, keeps_pairs = 5, True
    cell_rules: Any = gaps_of(CELLS)

    def __init__(self, values: int = 1, *, exact: bool = True) -> None:
        self.completers: Sequence[Any] = [Counter() for _ in range(values)]
        self.log_priors = np.zeros(values)
        self.exact = exact

    def over(
        self, cells: Any, value: int, before: Any, graphs: int, generator: np.random.Generator, cancel: Any
    ) -> Pass:
        parents = np.tile(np.array([0, 1, 2], dtype=np.uint64), (graphs, 1))
        edges = np.zeros((NODES, NODES))
        edges[0, 1] = cells[0] / 1e6
        exact = (edges, edges, np.full(5, cells[0])) if self.exact else (None, None, None)
        return Pass(parents, generator.random(graphs), float(cells[0]), *exact)

    def log_joints(self, cells: Any, parents: Any) -> Any:
        return np.array([0.0, *(-1e9 for _ in self.completers[1:])])


def run(method: Augmentation, count: int, previous: ChainRun | None = None, **options: Any) -> ChainRun:
    engine = ThreadEngine(1)
    return run_chains(method, MadeUp(), NODES, count, seed=SEED, engine=engine, previous=previous, **options)


def test_a_sweep_keeps_the_table_that_its_graphs_were_drawn_from() -> None:
    method = Augmentation(chains=2, burn_in=0, graphs=10, rounds=3)
    found = run(method, 200)
    for cells, edges in zip(found.record.series_of("cells"), found.record.series_of("edges"), strict=True):
        assert len(cells) == len(edges) == 10
        np.testing.assert_allclose(edges[:, 0, 1], cells[:, 0] / 1e6, rtol=1e-6)
        # Three rounds from one table to the next.
        np.testing.assert_array_equal(np.diff(cells[:, 0]), 3.0)
    by_chain = np.array([cells[:, 0].sum() for cells in found.record.series_of("cells")])
    np.testing.assert_allclose(found.record.sums["families"], np.tile(by_chain[:, np.newaxis], 5))
    assert found.record.edges is not None
    np.testing.assert_allclose(found.record.edges[:, 0, 1], by_chain / 10 / 1e6)


def test_without_exact_probabilities_those_of_the_graphs_are_kept() -> None:
    context, method = MadeUp(exact=False), Augmentation(chains=1, burn_in=0)
    run = run_chains(method, context, NODES, 100, seed=SEED, engine=ThreadEngine(1))
    chain = nx.DiGraph([(0, 1), (1, 2)])
    expected = nx.to_numpy_array(nx.transitive_closure_dag(chain), nodelist=range(NODES))
    np.testing.assert_array_equal(run.record.series["paths"][0], expected)
    np.testing.assert_array_equal(run.record.series["edges"][-1], nx.to_numpy_array(chain, nodelist=range(NODES)))


def test_the_value_of_the_setting_is_drawn_given_the_graph_and_used_for_the_cells() -> None:
    context, method = MadeUp(3), Augmentation(chains=1, burn_in=0, rounds=1)
    run = run_chains(method, context, NODES, 100, seed=SEED, engine=ThreadEngine(1))
    # Only the first has any weight, so that all cells are redrawn by it.
    assert [len(own.families) for own in context.completers] == [10, 0, 0]
    assert context.completers[0].families[0] == [[3, 3], [0, 3], [1, 3]]
    np.testing.assert_allclose(run.record.sums["shares"], [[10.0, 0.0, 0.0]])


def test_a_longer_run_has_the_same_beginning_and_the_same_series() -> None:
    method = Augmentation(chains=2, burn_in=20, graphs=5)
    whole, part = run(method, 800), run(method, 450)
    resumed = run(method, 800, part)
    np.testing.assert_array_equal(resumed.log_joint, whole.log_joint)
    for name, series in whole.record.series.items():
        np.testing.assert_array_equal(resumed.record.series[name], series, err_msg=name)
    for name, total in whole.record.sums.items():
        np.testing.assert_array_equal(resumed.record.sums[name], total, err_msg=name)


def test_chains_stop_only_if_they_may_and_not_before_their_first_look() -> None:
    class Content(Augmentation):
        def is_enough(self, series: Any) -> bool:
            assert all(len(own["edges"]) == len(own["values"]) for own in series)
            return True

    method = Content(chains=2, burn_in=10)
    assert len(run(method, 4_000).log_joint) == 4_000
    stopped = run(method, 4_000, may_stop=True)
    assert stopped.record.lengths == (10 * ROUND_GRAPHS,) * 2
    assert stopped.record.series_lengths["cells"] == (100, 100)


def test_many_cells_are_kept_less_often() -> None:
    class Wide(MadeUp):
        cell_rules = gaps_of(300_000)

    method = Augmentation()
    assert len(method.empty_series(MadeUp(), NODES, ROUND_GRAPHS)["cells"]) == 10
    assert len(method.empty_series(Wide(), NODES, ROUND_GRAPHS)["cells"]) == 1


def test_an_interrupted_round_leaves_early() -> None:
    context, method = MadeUp(), Augmentation(chains=1)
    state = start(context, np.random.default_rng(1))
    before = AugmentedState(*(part.copy() for part in state))
    series, sums = method.empty_series(context, NODES, 10), method.empty_sums(context, NODES)
    output: Any = type("Output", (), {"log_joint": np.zeros(10)})()
    advance(context, state, 10, 1, np.random.default_rng(1), output, np.ones(1, dtype=np.int64), series, sums)
    np.testing.assert_array_equal(state.cells, before.cells)


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 130), st.integers(0, 10**6))
def test_members_are_those_of_masks(nodes: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    matrix = np.triu(generator.random((nodes, nodes)) < 3.0 / nodes, k=1)
    words = (nodes + 63) // 64
    masks = np.zeros((nodes, words), dtype=np.uint64)
    for parent, child in np.argwhere(matrix).tolist():
        masks[child, parent // 64] |= np.uint64(1) << np.uint64(parent % 64)
    width = int(matrix.sum(axis=0).max(initial=0))
    members = members_of_masks(masks, width)
    assert [[m for m in row if m < nodes] for row in members.tolist()] == [
        np.flatnonzero(matrix[:, child]).tolist() for child in range(nodes)
    ]


@pytest.mark.parametrize(
    ("settings", "words"),
    [({"graphs": 7}, "divisor of 100"), ({"error": 0.0}, "above 0"), ({"given_table": "trees"}, "one of")],
)
def test_settings_that_cannot_be_are_refused(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Augmentation(**settings)
