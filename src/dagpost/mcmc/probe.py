"""Would chains from elsewhere have found the same? A probe of chains that agree with each other.

Chains that all fell into the same wrong mode agree perfectly. So some more are started where they hardly began: from
the best of a few annealed orders (Kirkpatrick, Gelatt & Vecchi 1983), a walk over orders that is so hot at first that
it crosses every valley, and cools until it is the chain of mcmc/order.py. From there the method itself goes on, for a
part of its usual length, and what it then keeps is held against the chains, stretch by stretch of the same length:

- its states weigh more than those of any stretch by `_NATS`: there are better graphs than the chains have found;
- they weigh as much, and an edge is more, or less, often there than in any stretch by `_MARGIN`: there are others;
- they weigh less than those of every stretch: the probe was caught in a worse place, and tells nothing.

A probe that finds nothing proves nothing. Cost: a tenth of the steps of the chains, and as long again for the walks. A
probe depends on the seed and the length of the run alone.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost._tools.kernels import kernel
from dagpost.engines import Engine
from dagpost.families.edge_counts import edge_counts
from dagpost.families.family_sums import FamilyTables
from dagpost.mcmc import order
from dagpost.mcmc.chains import ChainRun, advance_chain
from dagpost.mcmc.checks import BETTER, OTHER, OUTCOMES, SAME, WORSE, ExactCompared, ProbeFound
from dagpost.mcmc.diagnostics import by_chain
from dagpost.mcmc.order import OrderState, shift

if TYPE_CHECKING:
    from dagpost.methods.chain import ChainMethod

#: Chains that are started for a probe, from opposite orders, each from the best of `_WALKS` annealed ones.
PROBES, _WALKS = 2, 4
#: The steps of all probes together, as a share of those of all chains.
_SHARE = 0.1
#: The weight of an order is taken to this power at first, and to the power of 1 in the last fifth of a walk.
_HOTTEST, _COLD_SHARE = 0.01, 0.2
#: The time of the walks, beside that of the steps; a shift of one node takes more than twice as long as others.
_WALK_SHARE = 0.4
#: Steps of a walk: at least this many for each pair of nodes.
_LEAST_STEPS = 2
#: How much better a mean log weight must be, and how much further apart a share, than the chains' own stretches are.
_NATS, _MARGIN = 3.0, 0.2
#: A share in the stretches of a chain may be this many times as far from the mean before a probe seems far.
_TIMES = 1.5
#: What numbers the random generators of probes, beyond all chains.
_SEEDED = 1_000_000


class _Lengths(NamedTuple):
    """Steps of an annealed walk; graphs that a probe passes over, and those that it keeps."""

    walk: int
    passed: int
    kept: int


def probe(
    method: ChainMethod,
    context: Any,
    tables: FamilyTables,
    run: ChainRun,
    *,
    steps_a_graph: float,
    seed: np.random.SeedSequence,
    engine: Engine,
) -> ProbeFound:
    """Start chains from annealed orders and compare them with those of a run; worst news first.

    `steps_a_graph` is how many steps over orders take as long as one kept graph of the method.
    """
    nodes = run.parents.shape[1]
    lengths = _lengths_of(method, run, nodes, steps_a_graph)
    order_of = np.random.Generator(np.random.PCG64(_seed(seed, 0, 0))).permutation(nodes)
    items = [(number, order_of[:: 1 if number % 2 else -1].copy(), seed) for number in range(PROBES)]
    block = partial(_probe_chain, method, context, tables, lengths)
    found = [judge(run, *kept) for kept in engine.tasks.run(block, items)]
    return min(found, key=lambda each: (OUTCOMES.index(each.outcome), -each.difference))


def judge(run: ChainRun, parents: Masks, log_state: Floats) -> ProbeFound:
    """Compare the graphs of one probe, and the log weights of their states, with the stretches of a run."""
    kept, lengths = len(parents), run.record.lengths
    chains, weights = by_chain(run.parents, lengths), by_chain(run.record.log_state, lengths)
    stretches = [
        (chain, slice(start, start + kept))
        for chain in range(len(chains))
        for start in range(0, chains.shape[1] - kept + 1, kept)
    ]
    means = np.array([float(weights[place].mean()) for place in stretches])
    shares = np.stack([_edge_shares(chains[place]) for place in stretches])
    overall = shares.mean(axis=0)
    spread = np.abs(shares - overall).max(axis=0)
    own, mean = _edge_shares(parents), float(log_state.mean())
    differences = np.abs(own - overall)
    beyond = differences - np.maximum(_TIMES * spread + 0.5 * _MARGIN, _MARGIN)
    if mean > means.max() + _NATS:
        outcome = BETTER
    elif mean < means.min() - _NATS:
        outcome = WORSE
    else:
        outcome = OTHER if float(beyond.max()) > 0.0 else SAME
    worst = beyond if outcome == OTHER else differences
    parent, child = np.unravel_index(int(worst.argmax()), worst.shape)
    edge = int(parent), int(child)
    return ProbeFound(outcome, PROBES, kept, mean - float(means.mean()), float(differences[edge]), edge)


def compare_edges(run: ChainRun, exact: Floats) -> ExactCompared:
    """How far the edges that a run gives are from the exact ones."""
    shares = np.array(run.record.lengths) / len(run.log_joint)
    own = _edge_shares(run.parents) if run.record.edges is None else np.tensordot(shares, run.record.edges, axes=1)
    differences = np.abs(own - exact)
    parent, child = np.unravel_index(int(differences.argmax()), differences.shape)
    return ExactCompared(float(differences[parent, child]), (int(parent), int(child)))


def _lengths_of(method: ChainMethod, run: ChainRun, nodes: int, steps_a_graph: float) -> _Lengths:
    shortest = min(run.record.lengths)
    graphs = math.ceil(method.burn_in / method.thinning) + shortest
    each = max(2, int(_SHARE * method.chains * graphs / PROBES))
    kept = max(1, min(each // 2, shortest // 4))
    walk = max(int(_WALK_SHARE * each * steps_a_graph / _WALKS), _LEAST_STEPS * nodes**2)
    return _Lengths(walk, each - kept, kept)


def _seed(seed: np.random.SeedSequence, number: int, part: int) -> np.random.SeedSequence:
    return np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, _SEEDED + number, part))


def _probe_chain(
    method: ChainMethod,
    context: Any,
    tables: FamilyTables,
    lengths: _Lengths,
    item: tuple[int, Integers, np.random.SeedSequence],
    cancel: Integers,
) -> tuple[Masks, Floats]:
    """The graphs that one probe keeps, and the log weights of their states."""
    number, wanted, seed = item
    nodes = len(wanted)
    generator = np.random.Generator(np.random.PCG64(_seed(seed, number, 1)))
    best, heaviest = wanted, -math.inf
    for walk in range(_WALKS):
        # The first from the order itself, the others from random ones.
        state = order.start(tables, generator, wanted if walk == 0 else None)
        _anneal(tables, state, lengths.walk, generator, cancel)
        if state.log_sums.sum() > heaviest:
            best, heaviest = state.order, float(state.log_sums.sum())
    state = method.start(context, generator, best)
    for part, graphs in enumerate((lengths.passed, lengths.kept)):
        state, output = advance_chain(method, context, nodes, (state, graphs, _seed(seed, number, 2 + part)), cancel)
    return output.parents, output.log_state


@kernel
def _anneal(
    tables: FamilyTables, state: OrderState, steps: int, generator: np.random.Generator, cancel: Integers
) -> None:
    """Walk over orders, one node at a time, from hot to cold."""
    nodes = len(state.order)
    log_place, log_own, log_other = np.zeros(nodes), np.zeros(nodes), np.zeros(nodes)
    for step in range(steps if nodes > 1 else 0):
        if cancel[0] != 0:
            return
        left = max(0.0, 1.0 - step / (steps * (1.0 - _COLD_SHARE)))
        node = int(generator.random() * nodes)
        shift(tables, state, node, generator, _HOTTEST**left, log_place, log_own, log_other)


def _edge_shares(parents: Masks) -> Floats:
    """In which share of some graphs each edge (parent, child) is."""
    shares: Floats = edge_counts(parents) / len(parents)
    return shares
