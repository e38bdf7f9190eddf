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
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats, Integers
from dagpost._tools.progress import NO_PROGRESS, Reporter, Stage
from dagpost._tools.schema import Sizes, require
from dagpost.checkpoints import NO_CHECKPOINT, Checkpoint
from dagpost.engines import Engine
from dagpost.errors import InputError
from dagpost.families.masks import shape_of_sets
from dagpost.mcmc.kept_rounds import joined, joined_series
from dagpost.mcmc.records import (
    KEPT,
    ROUND_GRAPHS,
    TOTALS,
    Advanced,
    Beside,
    ChainRecord,
    ChainRun,
    Round,
    check_standing,
)

if TYPE_CHECKING:
    from dagpost.methods.chain import ChainMethod

#: Rounds before chains that may stop are first looked at.
FIRST_LOOK = 10


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
    may_stop: bool = False,
) -> ChainRun:
    """Run the chains of a method until they have `count` graphs together; or fewer, if they `may_stop` and agree.

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
                if may_stop and runner.is_enough():
                    break
                runner.next_round(stage)
        except KeyboardInterrupt:
            if runner.rounds == 0:
                raise
            interrupted = True
            runner.drop_unfinished()
            lengths = [min(length, runner.rounds * ROUND_GRAPHS) for length in lengths]
        if may_stop and not interrupted and runner.is_enough():
            lengths = [min(length, runner.rounds * ROUND_GRAPHS) for length in lengths]
        return runner.finish(lengths, stage, interrupted)


class _Runner:
    """The chains of one run: where they stand and what they have kept."""

    def __init__(
        self, method: ChainMethod, context: Any, nodes: int, seed: np.random.SeedSequence, engine: Engine
    ) -> None:
        self.method, self.context, self.nodes, self.seed, self.engine = method, context, nodes, seed, engine
        self.burn_in_rounds = math.ceil(method.burn_in / method.steps_a_round)
        #: Rounds so far, those of the burn-in among them.
        self.number = 0
        self.states: list[Any] = []
        self.kept: list[list[Round]] = [[] for _ in range(method.chains)]
        #: What the method keeps beside graphs, round by round, and what it adds up.
        self.beside: list[list[Beside]] = [[] for _ in range(method.chains)]
        self.sums: list[Beside] = [method.empty_sums(context, nodes) for _ in range(method.chains)]
        kinds = (method.chains, len(method.moves))
        #: Of each chain: moves proposed and accepted, and the sum of the edges given the states.
        self.totals = (
            np.zeros(kinds, dtype=np.int64),
            np.zeros(kinds, dtype=np.int64),
            np.zeros((method.chains, nodes, nodes)),
        )
        #: Rounds of an earlier run, which stand in one entry of `kept`.
        self.resumed = 0

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
        states, totals, sums = [result.state for result in results], self.totals, self.sums
        if self.number >= self.burn_in_rounds:
            self._keep(results)
            totals, sums = self._totals_with(results), self._sums_with(results)
        # All at once: an interrupt falls before or after it.
        self.states, self.totals, self.sums, self.number = states, totals, sums, self.number + 1

    def kept_of(self, number: int) -> list[NDArray[Any]]:
        """What a round has kept; or, for a round that a checkpoint has, a place to read it into."""
        if number <= self.burn_in_rounds:
            return []
        entry = number - self.burn_in_rounds - 1 - self.resumed + (self.resumed > 0)
        for kept, beside in zip(self.kept, self.beside, strict=True):
            if entry == len(kept):
                kept.append(_empty_round(self.method, self.nodes, ROUND_GRAPHS))
                beside.append(self.method.empty_series(self.context, self.nodes, ROUND_GRAPHS))
        outputs = [kept[entry] for kept in self.kept]
        arrays = [array for output in outputs for array in (output.parents, output.log_joint, output.log_state)]
        return [*arrays, *(array for beside in self.beside for array in beside[entry].values())]

    def standing_arrays(self) -> list[NDArray[Any]]:
        """Where the chains stand: all that the next round needs."""
        sums = [array for own in self.sums for array in own.values()]
        return [*(part for state in self.states for part in state), *self.totals, *sums]

    def _can_be_here(self) -> bool:
        return all(self.method.can_be_at(self.context, state) for state in self.states)

    def check(self) -> None:
        """Refuse what a checkpoint says, if no chain can have kept it or stand there; a `ValueError`."""
        names = [f"state_{name}" for name in self.method.state._fields]
        standing = {name: np.stack(parts) for name, parts in zip(names, zip(*self.states, strict=True), strict=True)}
        check_standing(self.method, {**standing, **dict(zip(TOTALS, self.totals, strict=True))}, self.nodes)
        require(self._can_be_here(), "a chain stands where it cannot be")
        for number, output in enumerate(output for outputs in self.kept for output in outputs):
            KEPT.check(f"graphs of round {number}", output.parents, Sizes(nodes=self.nodes))
            finite = bool(np.isfinite(output.log_joint).all() and np.isfinite(output.log_state).all())
            require(finite, f"weights of round {number} that are not finite")
        for chain, rounds in enumerate(self.beside):
            for beside in [*rounds, self.sums[chain]]:
                self.method.check_beside(self.context, self.nodes, beside)

    def drop_unfinished(self) -> None:
        """Forget what was kept of rounds that are not finished, such as one that an interrupt broke off."""
        entries = self.rounds - self.resumed + (self.resumed > 0)
        self.kept = [outputs[:entries] for outputs in self.kept]
        self.beside = [rounds[:entries] for rounds in self.beside]

    def is_enough(self) -> bool:
        """Whether the chains agree well enough by what the method keeps; looked at ever more rarely."""
        # After 10, 15, 22, 33, ... rounds, whatever was kept in a checkpoint.
        looks, place = {FIRST_LOOK}, float(FIRST_LOOK)
        while place < self.rounds:
            place *= 1.5
            looks.add(int(place))
        if self.rounds not in looks or self.number < self.burn_in_rounds:
            return False
        return self.method.is_enough([joined_series(rounds, drop=False) for rounds in self.beside])

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
        try:
            self._take_up_beside(record)
        except (LookupError, TypeError, ValueError) as error:
            raise InputError(f"Chains cannot resume from this sample ({error}). Draw a new one.") from error

    def _take_up_beside(self, record: ChainRecord) -> None:
        """What an earlier run kept beside the graphs of its whole rounds, and added up in them."""
        room = self.method.empty_series(self.context, self.nodes, ROUND_GRAPHS)
        for chain in range(len(self.kept)):
            own = {name: record.series_of(name)[chain][: self.rounds * len(array)] for name, array in room.items()}
            require(all(len(own[name]) == self.rounds * len(room[name]) for name in room), "too few steps")
            self.beside[chain] = [own] if self.rounds > 0 else []
            self.sums[chain] = {name: record.standing[f"sums_{name}"][chain].copy() for name in self.sums[chain]}
            for beside in [*self.beside[chain], self.sums[chain]] if room else []:
                self.method.check_beside(self.context, self.nodes, beside)

    def finish(self, lengths: Sequence[int], stage: Stage, interrupted: bool) -> ChainRun:
        """The rest of the last round, which is not whole, and everything put together."""
        standing: dict[str, NDArray[Any]] = {
            f"state_{name}": np.stack([np.asarray(state[place]) for state in self.states]).copy()
            for place, name in enumerate(self.method.state._fields)
        }
        proposed, accepted, edges = self.totals
        standing |= {"proposed": proposed, "accepted": accepted, "edges": edges}
        standing |= {f"sums_{name}": array for name, array in _stacked(self.sums).items()}
        sums = self.sums
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
                self._keep(results)
                proposed, accepted, edges = self._totals_with(results)
                sums = self._sums_with(results)
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
            **self._series(),
            sums=_stacked(sums),
        )
        return ChainRun(parents, log_joint, record, interrupted)

    def _series(self) -> dict[str, Any]:
        """What was kept beside graphs, chain after chain, and how much of it each chain has."""
        own = [joined_series(rounds) for rounds in self.beside]
        lengths = {name: tuple(len(each[name]) for each in own) for name in own[0]}
        whole = {name: np.concatenate([each[name] for each in own]) for name in own[0]}
        return {"series": whole, "series_lengths": lengths}

    def _advance(self, number: int, lengths: Sequence[int], stage: Stage) -> list[Advanced]:
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

    def _keep(self, results: Sequence[Advanced]) -> None:
        for kept, beside, result in zip(self.kept, self.beside, results, strict=True):
            # Not `edges` of the round itself: it would keep n x n numbers for every round.
            kept.append(result.output._replace(edges=result.output.edges[:0]))
            beside.append(result.series)

    def _totals_with(self, results: Sequence[Advanced]) -> tuple[Integers, Integers, Floats]:
        proposed, accepted, edges = self.totals
        return (
            proposed + np.stack([result.output.proposed for result in results]),
            accepted + np.stack([result.output.accepted for result in results]),
            edges + np.stack([result.output.edges for result in results]),
        )

    def _sums_with(self, results: Sequence[Advanced]) -> list[Beside]:
        pairs = zip(self.sums, results, strict=True)
        return [{name: array + result.sums[name] for name, array in own.items()} for own, result in pairs]

    def _seed(self, chain: int, number: int) -> np.random.SeedSequence:
        return np.random.SeedSequence(self.seed.entropy, spawn_key=(*self.seed.spawn_key, chain, number))


def advance_chain(
    method: ChainMethod, context: Any, nodes: int, item: tuple[Any, int, np.random.SeedSequence], cancel: Integers
) -> Advanced:
    """More kept graphs of one chain, as many as asked for, from a copy of its state."""
    before, length, seed = item
    state, output = _copy(method, before), _empty_round(method, nodes, length)
    series, sums = method.empty_series(context, nodes, length), method.empty_sums(context, nodes)
    beside = (series, sums) if series else ()
    method.advance(context, state, _generator(seed), output, cancel, *beside)
    return Advanced(state, output, series, sums)


def _stacked(sums: Sequence[Beside]) -> dict[str, Floats]:
    """The sums of all chains (chains, ...)."""
    return {name: np.stack([own[name] for own in sums]) for name in sums[0]}


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
