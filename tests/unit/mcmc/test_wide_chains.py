"""Chains over graphs of more than 64 columns: rounds, records, breaking off and going on, notes, checkpoints."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytest
from tests.unit.mcmc.test_chains import Interrupted, assert_same

from dagpost import Checkpoint
from dagpost._tools.schema import ArrayRule, graphs
from dagpost.engines import Engine, ThreadEngine
from dagpost.families.edge_counts import edge_counts
from dagpost.mcmc.chains import run_chains
from dagpost.mcmc.probe import compare_edges
from dagpost.mcmc.records import ROUND_GRAPHS, ChainRun, Round
from dagpost.methods.chain import ChainMethod

NODES, WORDS = 130, 3
SEED = np.random.SeedSequence(7)


class ForwardState(NamedTuple):
    parents: np.ndarray


@dataclass(frozen=True)
class ForwardEdges(ChainMethod):
    """Adds or removes an edge from a column to a later one at each step."""

    chains: int = 3
    thinning: int = 2
    burn_in: int = 200

    gives_edges: ClassVar[bool] = False
    takes_orders: ClassVar[bool] = False
    moves_module: ClassVar[None] = None
    moves: ClassVar[tuple[str, ...]] = ("toggle",)
    state: ClassVar[type[ForwardState]] = ForwardState
    state_rules: ClassVar[dict[str, ArrayRule]] = {"parents": graphs("chains", "nodes")}

    def start(self, context: None, generator: np.random.Generator, wanted: Any = None) -> ForwardState:
        return ForwardState(np.zeros((NODES, WORDS), dtype=np.uint64))

    def warming_up(self, context: None, number: int, rounds: int) -> None:
        return context

    def can_be_at(self, context: None, state: ForwardState) -> bool:
        return True

    def advance(
        self,
        context: None,
        state: ForwardState,
        generator: np.random.Generator,
        output: Round,
        cancel: np.ndarray,
        *beside: Any,
    ) -> None:
        assert output.parents.shape[1:] == (NODES, WORDS)
        for kept in range(len(output.log_joint)):
            for _ in range(output.thinning):
                parent, child = sorted(generator.choice(NODES, 2, replace=False).tolist())
                state.parents[child, parent // 64] ^= np.uint64(1 << parent % 64)
            output.parents[kept] = state.parents
            output.log_joint[kept] = output.log_state[kept] = float(np.bitwise_count(state.parents).sum())
            output.proposed[0] += output.thinning
            output.accepted[0] += output.thinning


def run(count: int, *, engine: Engine | None = None, previous: ChainRun | None = None, **more: Any) -> ChainRun:
    engine = ThreadEngine(2) if engine is None else engine
    method: Any = ForwardEdges()
    return run_chains(method, None, NODES, count, seed=SEED, engine=engine, previous=previous, **more)


def test_graphs_come_in_words_and_weigh_what_they_weigh() -> None:
    found = run(3 * 120)
    assert found.parents.shape == (360, NODES, WORDS)
    np.testing.assert_array_equal(found.log_joint, np.bitwise_count(found.parents).sum(axis=(1, 2)))
    assert found.record.lengths == (120,) * 3
    assert found.record.standing["state_parents"].shape == (3, NODES, WORDS)


def test_a_run_in_two_parts_is_the_run_in_one() -> None:
    assert_same(run(700, previous=run(3 * ROUND_GRAPHS + 50)), run(700))


def test_an_interrupted_run_keeps_its_whole_rounds_and_can_go_on() -> None:
    # One round of burn-in, two that are kept, and a part of the next.
    found = run(3 * 400, engine=Interrupted(3 * 3 + 1))
    assert found.interrupted
    assert found.record.lengths == (2 * ROUND_GRAPHS,) * 3
    assert_same(run(3 * 400, previous=found), run(3 * 400))


def test_a_killed_run_resumes_from_its_checkpoint(tmp_path: Path) -> None:
    class Killing(Interrupted):
        def run(self, block: Any, items: Any) -> Any:
            try:
                yield from super().run(block, items)
            except KeyboardInterrupt:
                raise RuntimeError("killed") from None

    identity, folder = {"of": "a test"}, tmp_path / "part"
    with pytest.raises(RuntimeError, match="killed"), Checkpoint(folder, seconds=0).task("sample", identity) as kept:
        run(3 * 300, engine=Killing(3 * 3 + 2), checkpoint=kept)
    checkpoint = Checkpoint(folder, seconds=0)
    with checkpoint.task("sample", identity) as kept:
        assert_same(run(3 * 300, checkpoint=kept), run(3 * 300))
    assert checkpoint.resumed


def test_edges_of_a_wide_run_are_compared_with_exact_ones() -> None:
    found = run(3 * 100)
    shares = edge_counts(found.parents) / 300
    assert compare_edges(found, shares).difference == 0.0
    shares[2, 129] += 0.25
    assert compare_edges(found, shares).edge == (2, 129)
