"""Would chains from elsewhere have found the same? A probe of chains that agree with each other.

Chains that all fell into the same wrong mode agree perfectly. So some more are started where they hardly began: from
the best of a few annealed states, each from a walk that is so hot at first that it crosses every valley, and cools
(annealed_blocks.py). From there the method itself goes on, for a part of its usual length, and what it then keeps is
held against the chains, stretch by stretch of the same length:

- its states weigh more than those of any stretch by `_NATS`: there are better graphs than the chains have found;
- they weigh as much, and an edge is more, or less, often there than in any stretch by `_MARGIN`: there are others;
- looks around from other annealed states keep an edge that the chains never have, or lack one that they always have;
- they weigh less than those of every stretch: the probe was caught in a worse place, and tells nothing.

A probe that finds nothing proves nothing. Cost: a tenth of the steps of the chains, and as long again for the walks. A
probe depends on the seed and the length of the run alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost.engines import Engine
from dagpost.families.edge_counts import edge_counts
from dagpost.mcmc.chains import advance_chain
from dagpost.mcmc.checks import BETTER, OTHER, OUTCOMES, SAME, WORSE, ExactCompared, ProbeFound
from dagpost.mcmc.diagnostics import by_chain
from dagpost.mcmc.records import ChainRun

if TYPE_CHECKING:
    from dagpost.methods.chain import ChainMethod

#: Chains that are started for a probe, from annealed states that began with opposite orders.
PROBES = 2
#: The steps of all probes together, as a share of those of all chains.
_SHARE = 0.1
#: The time of the annealing, beside that of the steps; a shift of one node takes more than twice as long as others.
_ANNEALED_SHARE = 0.4
#: How much better a mean log weight must be, and how much further apart a share, than the chains' own stretches are.
_NATS, _MARGIN = 3.0, 0.2
#: A share in the stretches of a chain may be this many times as far from the mean before a probe seems far.
_TIMES = 1.5
#: Graphs of a look around. An edge stays in a look if it is in this share of them; chains never saw it if it is in less
#: than the second of theirs; and so many looks must say so.
_LOOKED, _STAYS, _NEVER, _LOOKS_AGREE = 20, 0.95, 0.002, 2
#: What numbers the random generators of probes, beyond all chains.
_SEEDED = 1_000_000


#: What anneals a start: takes an order to begin with, how many kept graphs it may take as long as, a random generator
#: and where a wish to cancel is told, and returns states of the method, the best first (`ChainMethod.annealed`).
Annealed: TypeAlias = Callable[[Integers, float, np.random.Generator, Integers], list[Any]]
#: Graphs, and the log weights of their states.
Kept: TypeAlias = tuple[Masks, Floats]


class _Lengths(NamedTuple):
    """Graphs that annealing may take as long as; those of a look, those that a probe passes over, and that it keeps."""

    annealed: float
    looked: int
    passed: int
    kept: int


def probe(
    method: ChainMethod,
    context: Any,
    annealed: Annealed,
    run: ChainRun,
    *,
    seed: np.random.SeedSequence,
    engine: Engine,
) -> ProbeFound:
    """Start chains from annealed states and compare them with those of a run; worst news first."""
    nodes = run.parents.shape[1]
    lengths = _lengths_of(method, run)
    order_of = np.random.Generator(np.random.PCG64(_seed(seed, 0, 0))).permutation(nodes)
    items = [(number, order_of[:: 1 if number % 2 else -1].copy(), seed) for number in range(PROBES)]
    block = partial(_probe_chain, method, context, annealed, lengths)
    results = list(engine.tasks.run(block, items))
    found = [judge(run, *best) for best, _ in results]
    unseen = judge_looks(run, [look for _, looks in results for look in looks])
    found += [] if unseen is None else [unseen]
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


def judge_looks(run: ChainRun, looks: Sequence[Kept]) -> ProbeFound | None:
    """Whether short looks around from annealed states show an edge, or the lack of one, that the chains never saw.

    A mode with a tenth of the probability is missed by four chains and two probes half of the time, if none of them
    leaves the mode that it is in; of forty annealed states, some are there.
    """
    if not looks:
        return None
    kept, lengths = len(looks[0][1]), run.record.lengths
    weights = by_chain(run.record.log_state, lengths)
    rows = weights[:, : weights.shape[1] // kept * kept]
    # As heavy as the chains themselves are at times.
    least = float(rows.reshape(-1, kept).mean(axis=1).min()) if rows.size else math.inf
    heavy = [look for look in looks if float(look[1].mean()) >= least]
    overall = _edge_shares(run.parents)
    stays = np.zeros((2, *overall.shape), dtype=np.int64)
    for parents, _ in heavy:
        own = _edge_shares(parents)
        stays += np.stack([own >= _STAYS, own <= 1.0 - _STAYS])
    never = np.stack([overall < _NEVER, overall > 1.0 - _NEVER])
    unseen = np.where(never & ~np.eye(len(overall), dtype=bool), stays, 0)
    if int(unseen.max()) < _LOOKS_AGREE:
        return None
    _, parent, child = np.unravel_index(int(unseen.argmax()), unseen.shape)
    gain = float(np.mean([log_state.mean() for _, log_state in heavy])) - float(weights.mean())
    edge = int(parent), int(child)
    share = float(overall[edge])
    return ProbeFound(OTHER, PROBES, kept, gain, max(share, 1.0 - share), edge)


def compare_edges(run: ChainRun, exact: Floats) -> ExactCompared:
    """How far the edges that a run gives are from the exact ones."""
    shares = np.array(run.record.lengths) / len(run.log_joint)
    own = _edge_shares(run.parents) if run.record.edges is None else np.tensordot(shares, run.record.edges, axes=1)
    differences = np.abs(own - exact)
    parent, child = np.unravel_index(int(differences.argmax()), differences.shape)
    return ExactCompared(float(differences[parent, child]), (int(parent), int(child)))


def _lengths_of(method: ChainMethod, run: ChainRun) -> _Lengths:
    shortest = min(run.record.lengths)
    graphs = math.ceil(method.burn_in / method.thinning) + shortest
    each = max(2, int(_SHARE * method.chains * graphs / PROBES))
    kept = max(1, min(each // 2, shortest // 4))
    return _Lengths(_ANNEALED_SHARE * each, max(1, min(_LOOKED, kept)), each - kept, kept)


def _seed(seed: np.random.SeedSequence, number: int, part: int) -> np.random.SeedSequence:
    return np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, _SEEDED + number, part))


def _probe_chain(
    method: ChainMethod,
    context: Any,
    annealed: Annealed,
    lengths: _Lengths,
    item: tuple[int, Integers, np.random.SeedSequence],
    cancel: Integers,
) -> tuple[Kept, list[Kept]]:
    """What one probe keeps, and what short looks around from the lesser annealed states show."""
    number, wanted, seed = item
    generator = np.random.Generator(np.random.PCG64(_seed(seed, number, 1)))
    state, *lesser = annealed(wanted, lengths.annealed, generator, cancel)
    looks = []
    for place, other in enumerate(lesser):
        item_of_look = (other, lengths.looked, _seed(seed, number, 4 + place))
        output = advance_chain(method, context, len(wanted), item_of_look, cancel).output
        looks.append((output.parents, output.log_state))
    for part, graphs in enumerate((lengths.passed, lengths.kept)):
        seeded = _seed(seed, number, 2 + part)
        state, output, *_ = advance_chain(method, context, len(wanted), (state, graphs, seeded), cancel)
    return (output.parents, output.log_state), looks


def _edge_shares(parents: Masks) -> Floats:
    """In which share of some graphs each edge (parent, child) is."""
    shares: Floats = edge_counts(parents) / len(parents)
    return shares
