"""Several chains at a time, in rounds: the part that all chains have in common.

A chain is a state of plain arrays and a kernel that moves it on. It runs in rounds of `ROUND_GRAPHS` kept graphs, each
round with a random generator of its own, seeded by (seed, chain, round). So where a chain stands is its state and the
number of rounds, nothing else: it can be broken off after any round, written to a file and taken up again, with the
same graphs as an unbroken run, whatever the number of threads.

What one chain adds is in its own file (order.py, partition.py, ...); its settings are in methods/, behind
`ChainMethod` of methods/chain.py.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost._tools.progress import NO_PROGRESS, Reporter, Stage
from dagpost._tools.schema import ArrayRule, Sizes, check_arrays, graphs, numbers, require, wholes
from dagpost.checkpoints import NO_CHECKPOINT, Checkpoint
from dagpost.engines import Engine
from dagpost.errors import InputError
from dagpost.families.masks import shape_of_sets
from dagpost.mcmc.checks import ChainChecks
from dagpost.mcmc.diagnostics import largest_r_hat
from dagpost.mcmc.kept_rounds import every, joined

if TYPE_CHECKING:
    from dagpost.methods.chain import ChainMethod

ROUND_GRAPHS = 100
#: Seconds between two looks at how well the chains agree.
_LOOK_SECONDS = 2.0
#: Draws of a chain that such a look takes into account.
_LOOK_DRAWS = 250


#: What `ChainRecord.standing` has beside the states.
_TOTALS: Mapping[str, ArrayRule] = {
    "proposed": wholes("chains", "moves"),
    "accepted": wholes("chains", "moves"),
    "edges": numbers("chains", "nodes", "nodes", least=0.0, most=1e15),
}
_KEPT = graphs("graphs", "nodes")


class Round(NamedTuple):
    """What a chain writes in one round; a method without such figures leaves `edges` alone.

    After each `thinning` steps one graph is kept, a row of masks (families/masks.py), with its log weight and that of
    the state it was drawn from; the probability of every edge (parent, child) given the state is added to `edges`.
    `proposed` and `accepted` count the moves of each kind.
    """

    thinning: int
    parents: Masks
    log_joint: Floats
    log_state: Floats
    edges: Floats
    proposed: Integers
    accepted: Integers


@dataclass(frozen=True, eq=False)
class ChainRecord:
    """What is known of the chains behind a sample, beside the graphs, which stand chain after chain.

    `lengths`: graphs of each chain. `log_state`: the log weight of the state behind each graph. `proposed` and
    `accepted`: moves of each chain by kind. `edges`: for each chain the mean, over its kept states, of the exact
    probability of every edge given the state; None for a chain over graphs. `rounds` whole rounds were kept; after
    them the chains stood at `standing`, from where a longer run resumes. `checks`: what was checked beside agreement;
    None where it is not known, as in files of earlier versions.
    """

    lengths: tuple[int, ...]
    log_state: Floats
    moves: tuple[str, ...]
    proposed: Integers
    accepted: Integers
    edges: Floats | None
    rounds: int
    standing: Mapping[str, NDArray[Any]] = field(repr=False)
    checks: ChainChecks | None = None

    @property
    def acceptance(self) -> dict[str, float]:
        """Share of the proposed moves of each kind that were accepted; nan where none was proposed."""
        proposed, accepted = self.proposed.sum(axis=0), self.accepted.sum(axis=0)
        shares = [float(a / p) if p else math.nan for a, p in zip(accepted, proposed, strict=True)]
        return dict(zip(self.moves, shares, strict=True))


@dataclass(frozen=True, eq=False)
class ChainRun:
    """The graphs of a run, chain after chain, and its record; `interrupted` if it was broken off before its end."""

    parents: Masks
    log_joint: Floats
    record: ChainRecord
    interrupted: bool = False


def check_standing(method: ChainMethod, standing: Mapping[str, NDArray[Any]], nodes: int) -> None:
    """Refuse arrays that cannot say where the chains of a method stand, with a `ValueError`."""
    sizes = Sizes(chains=method.chains, moves=len(method.moves), nodes=nodes)
    check_arrays(_TOTALS, standing, sizes)
    check_arrays({f"state_{name}": rule for name, rule in method.state_rules.items()}, standing, sizes)
    few = bool((standing["accepted"] <= standing["proposed"]).all())
    require(few, "more moves were accepted than proposed")


def run_chains(
    method: ChainMethod,
    context: Any,
    nodes: int,
    count: int,
    *,
    seed: np.random.SeedSequence,
    engine: Engine,
    reporter: Reporter = NO_PROGRESS,
    previous: ChainRun | None = None,
    checkpoint: Checkpoint = NO_CHECKPOINT,
) -> ChainRun:
    """Run the chains of a method until they have `count` graphs together.

    The run resumes from `previous`, a shorter run with the same settings and seed, if there is one. An interrupt
    (Ctrl-C) once the burn-in is over ends the run with the graphs that there are.
    """
    lengths = [int(count // method.chains + (chain < count % method.chains)) for chain in range(method.chains)]
    if min(lengths) < 1:
        raise InputError(f"{method.chains} chains give at least one graph each. Ask for {method.chains} or more.")
    if previous is not None and sum(previous.record.lengths) > count:
        raise InputError(f"There are {sum(previous.record.lengths):,} graphs already. Ask for more than that in all.")
    runner = _Runner(method, context, nodes, seed, engine)
    # Rounds that are whole in every chain: the last graphs of a chain that is one longer are part of the rest.
    rounds = min(lengths) // ROUND_GRAPHS
    steps = method.chains * (runner.burn_in_rounds + math.ceil(max(lengths) / ROUND_GRAPHS))
    interrupted = False
    if previous is None:
        runner.start()
    else:
        runner.take_up(previous)
    ahead = range(runner.number + 1, runner.burn_in_rounds + rounds + 1)
    saved = checkpoint.stage("chains", ahead, runner.kept_of, runner.standing_arrays, runner.check)
    runner.number += len(saved.finished)
    # Places that were made for rounds which then turned out to be damaged.
    runner.drop_unfinished()
    with reporter.stage("chains", steps) as stage:
        if runner.number > 0:
            stage.advance(method.chains * runner.number)
        try:
            for _ in saved:
                runner.next_round(stage)
        except KeyboardInterrupt:
            if runner.rounds == 0:
                raise
            interrupted = True
            runner.drop_unfinished()
            lengths = [min(length, runner.rounds * ROUND_GRAPHS) for length in lengths]
        return runner.finish(lengths, stage, interrupted)


class _Runner:
    """The chains of one run: where they stand and what they have kept."""

    def __init__(
        self, method: ChainMethod, context: Any, nodes: int, seed: np.random.SeedSequence, engine: Engine
    ) -> None:
        self.method, self.context, self.nodes, self.seed, self.engine = method, context, nodes, seed, engine
        self.burn_in_rounds = math.ceil(method.burn_in / (method.thinning * ROUND_GRAPHS))
        #: Rounds so far, those of the burn-in among them.
        self.number = 0
        self.states: list[Any] = []
        self.kept: list[list[Round]] = [[] for _ in range(method.chains)]
        kinds = (method.chains, len(method.moves))
        #: Of each chain: moves proposed and accepted, and the sum of the edges given the states.
        self.totals = (
            np.zeros(kinds, dtype=np.int64),
            np.zeros(kinds, dtype=np.int64),
            np.zeros((method.chains, nodes, nodes)),
        )
        #: Rounds of an earlier run, which stand in one entry of `kept`.
        self.resumed = 0
        self._looked = time.monotonic()

    @property
    def rounds(self) -> int:
        """Rounds whose graphs are kept."""
        return max(self.number - self.burn_in_rounds, 0)

    def start(self) -> None:
        """Start every chain."""
        self.states = [_copy(self.method, self._start_of(chain)) for chain in range(len(self.kept))]

    def _start_of(self, chain: int) -> Any:
        """Every second chain starts from the order of the one before it the other way round, if it takes orders."""
        generator = _generator(self._seed(chain, 0))
        if not self.method.takes_orders:
            return self.method.start(self.context, generator)
        order = _generator(self._seed(chain - chain % 2, 0)).permutation(self.nodes)
        return self.method.start(self.context, generator, order[::-1].copy() if chain % 2 else order)

    def next_round(self, stage: Stage) -> None:
        """One round of every chain; those of the burn-in let it forget where it started."""
        results = self._advance(self.number + 1, [ROUND_GRAPHS] * len(self.kept), stage)
        states, totals = [state for state, _ in results], self.totals
        if self.number >= self.burn_in_rounds:
            self._keep([output for _, output in results])
            totals = self._totals_with(results)
        # All at once: an interrupt falls before or after it.
        self.states, self.totals, self.number = states, totals, self.number + 1
        self._look(stage)

    def kept_of(self, number: int) -> list[NDArray[Any]]:
        """What a round has kept; or, for a round that a checkpoint has, a place to read it into."""
        if number <= self.burn_in_rounds:
            return []
        entry = number - self.burn_in_rounds - 1 - self.resumed + (self.resumed > 0)
        for kept in self.kept:
            if entry == len(kept):
                kept.append(_empty_round(self.method, self.nodes, ROUND_GRAPHS))
        outputs = [kept[entry] for kept in self.kept]
        return [array for output in outputs for array in (output.parents, output.log_joint, output.log_state)]

    def standing_arrays(self) -> list[NDArray[Any]]:
        """Where the chains stand: all that the next round needs."""
        return [*(part for state in self.states for part in state), *self.totals]

    def _can_be_here(self) -> bool:
        return all(self.method.can_be_at(self.context, state) for state in self.states)

    def check(self) -> None:
        """Refuse what a checkpoint says, if no chain can have kept it or stand there; a `ValueError`."""
        names = [f"state_{name}" for name in self.method.state._fields]
        standing = {name: np.stack(parts) for name, parts in zip(names, zip(*self.states, strict=True), strict=True)}
        check_standing(self.method, {**standing, **dict(zip(_TOTALS, self.totals, strict=True))}, self.nodes)
        require(self._can_be_here(), "a chain stands where it cannot be")
        for number, output in enumerate(output for outputs in self.kept for output in outputs):
            _KEPT.check(f"graphs of round {number}", output.parents, Sizes(nodes=self.nodes))
            finite = bool(np.isfinite(output.log_joint).all() and np.isfinite(output.log_state).all())
            require(finite, f"weights of round {number} that are not finite")

    def _look(self, stage: Stage) -> None:
        if self.rounds == 0:
            return
        if len(self.kept) > 1 and time.monotonic() - self._looked > _LOOK_SECONDS:
            stage.note(self._agreement())
            self._looked = time.monotonic()

    def drop_unfinished(self) -> None:
        """Forget what was kept of rounds that are not finished, such as one that an interrupt broke off."""
        entries = self.rounds - self.resumed + (self.resumed > 0)
        self.kept = [outputs[:entries] for outputs in self.kept]

    def take_up(self, previous: ChainRun) -> None:
        """Stand where an earlier run stood after its last whole round."""
        record, rules = previous.record, self.method.state_rules
        standing = record.standing
        fields = self.method.state._fields
        try:
            require(len(record.lengths) == len(self.kept), f"{len(record.lengths)} chains")
            check_standing(self.method, standing, self.nodes)
            for name in fields:
                require(len(standing[f"state_{name}"]) == len(self.kept), f"state_{name} of other chains")
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"Chains cannot resume from this sample ({error}). Draw a new one.") from error
        self.number, self.resumed = self.burn_in_rounds + record.rounds, record.rounds
        arrays = {
            name: np.array(array, dtype=rules[name].native if name in rules else array.dtype)
            for name in fields
            for array in [standing[f"state_{name}"]]
        }
        # Copies, and of the very types that kernels are compiled for.
        self.states = [
            self.method.state(*(np.array(arrays[name][chain]) for name in fields)) for chain in range(len(self.kept))
        ]
        if not self._can_be_here():
            raise InputError(
                "Chains cannot resume from this sample: they stand where the weights of this model do not lead. Take "
                "the model that the sample was drawn from, or draw a new sample."
            )
        proposed, accepted = (standing[name].astype(np.int64) for name in ("proposed", "accepted"))
        self.totals = (proposed, accepted, standing["edges"].astype(np.float64))
        starts = np.concatenate([[0], np.cumsum(record.lengths)])
        for chain in range(len(self.kept)):
            rows = slice(starts[chain], starts[chain] + self.rounds * ROUND_GRAPHS)
            parents = previous.parents[rows].astype(np.uint64, copy=False)
            whole = _empty_round(self.method, self.nodes, 0)._replace(
                parents=parents, log_joint=previous.log_joint[rows], log_state=record.log_state[rows]
            )
            self.kept[chain] = [whole] if self.rounds > 0 else []

    def finish(self, lengths: Sequence[int], stage: Stage, interrupted: bool) -> ChainRun:
        """The rest of the last round, which is not whole, and everything put together."""
        standing: dict[str, NDArray[Any]] = {
            f"state_{name}": np.stack([np.asarray(state[place]) for state in self.states]).copy()
            for place, name in enumerate(self.method.state._fields)
        }
        proposed, accepted, edges = self.totals
        standing |= {"proposed": proposed, "accepted": accepted, "edges": edges}
        rounds = self.rounds
        rest = [length - rounds * ROUND_GRAPHS for length in lengths]
        if max(rest) > 0:
            number = self.burn_in_rounds + rounds + 1
            try:
                results = self._advance(number, rest, stage)
            except KeyboardInterrupt:
                if rounds == 0:
                    raise
                interrupted, lengths, results = True, [rounds * ROUND_GRAPHS] * len(lengths), []
            if results:
                self._keep([output for _, output in results])
                proposed, accepted, edges = self._totals_with(results)
        parents, log_state, log_joint = (joined(self.kept, name) for name in ("parents", "log_state", "log_joint"))
        mean_edges = edges / np.array(lengths)[:, None, None]
        record = ChainRecord(
            lengths=tuple(lengths),
            log_state=log_state,
            moves=self.method.moves,
            proposed=proposed,
            accepted=accepted,
            edges=mean_edges if self.method.gives_edges else None,
            rounds=rounds,
            standing=standing,
        )
        return ChainRun(parents, log_joint, record, interrupted)

    def _advance(self, number: int, lengths: Sequence[int], stage: Stage) -> list[tuple[Any, Round]]:
        """Round `number` of every chain, from copies of their states: a round that is broken off leaves no trace."""
        chains = range(len(self.kept))
        items = [(self.states[chain], lengths[chain], self._seed(chain, number)) for chain in chains]
        results = []
        context = self.method.warming_up(self.context, number, self.burn_in_rounds)
        # All that it needs comes with it and all that it finds is returned, so that it may run in another process.
        block = partial(advance_chain, self.method, context, self.nodes)
        for result in self.engine.tasks.run(block, items):
            results.append(result)
            stage.advance(1)
        return results

    def _keep(self, outputs: Sequence[Round]) -> None:
        for kept, output in zip(self.kept, outputs, strict=True):
            # Not `edges` of the round itself: it would keep n x n numbers for every round.
            kept.append(output._replace(edges=output.edges[:0]))

    def _totals_with(self, results: Sequence[tuple[Any, Round]]) -> tuple[Integers, Integers, Floats]:
        proposed, accepted, edges = self.totals
        return (
            proposed + np.stack([output.proposed for _, output in results]),
            accepted + np.stack([output.accepted for _, output in results]),
            edges + np.stack([output.edges for _, output in results]),
        )

    def _seed(self, chain: int, number: int) -> np.random.SeedSequence:
        return np.random.SeedSequence(self.seed.entropy, spawn_key=(*self.seed.spawn_key, chain, number))

    def _agreement(self) -> str:
        draws = self.rounds * ROUND_GRAPHS
        step = math.ceil(draws / _LOOK_DRAWS)
        parents = np.stack([every(step, [output.parents for output in outputs]) for outputs in self.kept])
        return f"R-hat {largest_r_hat(parents):.2f}"


def advance_chain(
    method: ChainMethod, context: Any, nodes: int, item: tuple[Any, int, np.random.SeedSequence], cancel: Integers
) -> tuple[Any, Round]:
    """More kept graphs of one chain, as many as asked for, from a copy of its state."""
    before, length, seed = item
    state, output = _copy(method, before), _empty_round(method, nodes, length)
    method.advance(context, state, _generator(seed), output, cancel)
    return state, output


def _copy(method: ChainMethod, state: Any) -> Any:
    return method.state(*(np.array(part) for part in state))


def _empty_round(method: ChainMethod, nodes: int, length: int) -> Round:
    kinds = len(method.moves)
    return Round(
        method.thinning,
        np.zeros((length, nodes, *shape_of_sets(nodes)), dtype=np.uint64),
        np.zeros(length),
        np.zeros(length),
        np.zeros((nodes, nodes)),
        np.zeros(kinds, dtype=np.int64),
        np.zeros(kinds, dtype=np.int64),
    )


def _generator(seed: np.random.SeedSequence) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))
