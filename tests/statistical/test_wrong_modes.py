"""Chains that all sit in the same wrong mode agree perfectly: neither the exact edges nor a probe are taken in by that.

The weights have two modes with a deep valley between: the parent sets of one order, and those of the opposite one,
which weigh far more. Chains over graphs that are set down in the lesser mode stay there. Seeds are fixed; nothing is
left to chance but that an annealed walk crosses the valley, which it does with a probability near one.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.tools.chain_checks import exact_edges

from dagpost import BlockGibbs, OrderMCMC, StructureMCMC
from dagpost._tools.progress import NO_PROGRESS
from dagpost.engines import ThreadEngine
from dagpost.families.numbering import parent_sets, unsqueeze_all
from dagpost.mcmc.chains import run_chains
from dagpost.mcmc.checks import BETTER, OTHER, SAME, WORSE, ChainChecks
from dagpost.mcmc.diagnostics import ChainDiagnostics, diagnose
from dagpost.mcmc.probe import compare_edges, judge, judge_looks, probe
from dagpost.mcmc.records import ChainRun
from dagpost.methods.base import Wanted
from dagpost.methods.chain import ChainMethod
from dagpost.posterior.exact_workspace import ExactWorkspace

NODES = 8
NAMES = tuple(f"V{node}" for node in range(NODES))
GRAPHS = StructureMCMC(thinning=10, burn_in=1_000, reversals=0.0)


def two_modes(better: float, *, barred: bool = False) -> ExactWorkspace:
    """Every node wants two neighbours before it in a chain: the lower ones, or, for more, the higher ones.

    `barred`: the last node does not want to go without parents, so that several must turn before any of it pays.
    """
    sets = parent_sets(NODES - 1, 2)
    log_weights = np.full((NODES, len(sets)), -30.0)
    for node in range(NODES):
        masks = unsqueeze_all(sets, node)
        for side, gain in ((-1, 0.0), (1, better)):
            liked = sum(1 << other for other in (node + side, node + 2 * side) if 0 <= other < NODES)
            log_weights[node, masks == np.uint64(liked)] = gain
    if barred:
        log_weights[-1, 0] = -30.0
    return ExactWorkspace(log_weights, 2, ThreadEngine(1), NO_PROGRESS)


def stuck(method: ChainMethod, tables: ExactWorkspace, count: int = 1_600) -> ChainRun:
    """A run whose chains all stand at the lesser mode at first, as if all had fallen into it."""
    context = method.prepare(tables)
    run = run_chains(method, context, NODES, 400, seed=np.random.SeedSequence(1), engine=tables.engine)
    lower = method.start(context, np.random.default_rng(1), np.arange(NODES))
    states = {
        f"state_{name}": np.stack([part] * method.chains) for name, part in zip(lower._fields, lower, strict=True)
    }
    none = {name: np.zeros_like(run.record.standing[name]) for name in ("proposed", "accepted", "edges")}
    record = replace(
        run.record, lengths=(0,) * method.chains, rounds=0, log_state=np.empty(0), standing={**states, **none}
    )
    begun = ChainRun(run.parents[:0], run.log_joint[:0], record)
    seed = np.random.SeedSequence(1)
    return run_chains(method, context, NODES, count, seed=seed, engine=tables.engine, previous=begun)


def probed(method: ChainMethod, tables: ExactWorkspace, run: ChainRun) -> ChainChecks:
    context = method.prepare(tables)
    annealed = method.annealed(tables, context)
    assert annealed is not None
    found = probe(method, context, annealed, run, seed=np.random.SeedSequence(2), engine=tables.engine)
    return ChainChecks(True, found)


def diagnosed(run: ChainRun, checks: ChainChecks | None) -> ChainDiagnostics:
    return diagnose(run.parents, NAMES, run.record.lengths, run.record.acceptance, checks)


def test_agreement_in_the_wrong_mode_is_not_trusted() -> None:
    tables = two_modes(better=4.0)
    run = stuck(GRAPHS, tables)
    compared = compare_edges(run, exact_edges(tables, "structure"))
    alone = diagnosed(run, None)
    # What used to be trusted: chains that agree, and are wrong.
    assert alone.agreed
    assert compared.difference > 0.7
    assert not alone.trusted
    checks = probed(GRAPHS, tables, run)
    assert checks.probe is not None
    assert checks.probe.outcome == BETTER
    assert checks.probe.gain > 10.0
    assert "found more probable graphs" in diagnosed(run, checks).verdict
    against = diagnosed(run, ChainChecks(True, exact=compared))
    assert not against.trusted
    assert f"is off by {compared.difference:.2f}, although 4 chains" in against.verdict


def test_block_chains_that_are_stuck_are_found_out() -> None:
    """Blocks of two do not turn enough variables at once; while they are hot, they do."""
    tables = two_modes(better=8.0, barred=True)
    blocks = BlockGibbs(burn_in=1_000, block_size=2)
    run = stuck(blocks, tables, 4_000)
    assert diagnosed(run, None).agreed
    assert compare_edges(run, exact_edges(tables, "structure")).difference > 0.7
    checks = probed(blocks, tables, run)
    assert checks.probe is not None
    assert checks.probe.outcome == BETTER
    assert not diagnosed(run, checks).trusted


def test_block_chains_that_are_right_are_not_refused() -> None:
    tables = two_modes(better=0.5)
    record = BlockGibbs().draw(tables, Wanted(NAMES, 4_000, np.random.SeedSequence(3))).chains
    assert record is not None
    assert record.checks is not None
    assert record.checks.probe is not None
    assert record.checks.probe.agrees
    assert record.checks.exact is not None
    assert record.checks.exact.difference < 0.05


def test_a_run_that_is_right_is_probed_and_compared() -> None:
    """All that `draw` does: the verdict of a small run that is right, which a probe does not contradict."""
    tables = two_modes(better=4.0)
    method = OrderMCMC(thinning=10, burn_in=2_000)
    record = method.draw(tables, Wanted(NAMES, 2_000, np.random.SeedSequence(3))).chains
    assert record is not None
    assert record.checks is not None
    assert record.checks.probe is not None
    assert record.checks.probe.agrees
    assert record.checks.exact is not None
    assert record.checks.exact.difference < 0.05


def test_a_probe_is_judged_by_weight_and_edges() -> None:
    run = stuck(GRAPHS, two_modes(better=4.0), 400)
    states, graphs = run.record.log_state[:50], run.parents[:50]
    assert judge(run, graphs, states).outcome == SAME
    assert judge(run, graphs, states + 50.0).outcome == BETTER
    assert judge(run, graphs, states - 50.0).outcome == WORSE
    # Without the edge V0 -> V1, which all graphs of the lesser mode have.
    others = graphs.copy()
    others[:, 1] = 0
    found = judge(run, others, states)
    assert (found.outcome, found.edge) == (OTHER, (0, 1))
    assert found.difference == pytest.approx(1.0, abs=0.05)


def test_what_two_looks_show_and_chains_never_saw_speaks_against_them() -> None:
    run = stuck(GRAPHS, two_modes(better=4.0), 400)
    states, graphs = run.record.log_state[:20], run.parents[:20]
    same, others = (graphs, states), (graphs.copy(), states)
    others[0][:, 1] = 0
    assert judge_looks(run, []) is None
    assert judge_looks(run, [same] * 5) is None
    assert judge_looks(run, [same, others]) is None
    # Not if they weigh less than the chains ever do.
    assert judge_looks(run, [(others[0], states - 50.0)] * 2) is None
    found = judge_looks(run, [same, others, others])
    assert found is not None
    assert (found.outcome, found.edge, found.agrees) == (OTHER, (0, 1), False)
    assert found.difference > 0.99


def test_chains_start_from_opposite_orders_in_pairs() -> None:
    tables = two_modes(better=0.0)
    method = OrderMCMC(chains=4, thinning=1, burn_in=0)
    starts = []

    class Watched(OrderMCMC):
        name = "watched-order-mcmc"

        def start(self, context, generator, wanted=None):  # type: ignore[no-untyped-def]
            starts.append(wanted.tolist())
            return super().start(context, generator, wanted)

    watched = Watched(chains=4, thinning=1, burn_in=0)
    run_chains(watched, method.prepare(tables), NODES, 4, seed=np.random.SeedSequence(1), engine=tables.engine)
    assert starts[1] == starts[0][::-1]
    assert starts[3] == starts[2][::-1]
    assert starts[2] not in starts[:2]
