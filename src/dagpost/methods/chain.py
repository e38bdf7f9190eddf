"""What all chains share as methods: settings, costs, and a sample with its record (mcmc/chains.py runs them).

A chain adds its moves: where it starts, how a kernel moves its state on, and what a step costs. The constants are
seconds on one core of a machine of 2024, measured with the bundled tables and with made-up ones of 6 to 60 columns. Up
to 21 columns every sum is a look-up, and the time depends on the number of columns alone: the figures held to within a
factor of two. Beyond, lists of parent sets are scanned until nothing that matters is left (families/family_sums.py),
which depends on how many sets the data leave in play (`Score.parents_in_play`): then a range is given.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from dagpost._tools.checks import whole_number
from dagpost._tools.schema import ArrayRule
from dagpost.families.numbering import MAX_NODES
from dagpost.families.parent_lists import words_of
from dagpost.methods.base import Cost, Draws, Method, Wanted
from dagpost.methods.registry import METHODS

if TYPE_CHECKING:
    import numpy as np

    from dagpost._tools.arrays import Integers
    from dagpost.mcmc.checks import ChainChecks
    from dagpost.mcmc.probe import Annealed
    from dagpost.mcmc.records import Beside, ChainRun, Round
    from dagpost.posterior.workspace import Workspace

MOST_CHAINS = 1000
#: Beyond 21 columns the time may be this many times as long, or as short.
_UNCERTAINTY = 3.0
_BYTES_A_GRAPH = 100
#: Chains are compared with exact sums that take at most this long, or as long as the chains themselves.
_EXACT_SECONDS = 5.0
_FEW_PARENTS = 3
#: A probe and its walks cost a share of the steps; see mcmc/probe.py.
_PROBE = 1.2


class StepCost(NamedTuple):
    """Seconds of a step: at least, for each pair of columns, for each set to scan; and the same of a kept graph."""

    step: float
    step_a_pair: float
    step_a_set: float
    graph: float
    graph_a_column: float
    graph_a_set: float

    def of_step(self, nodes: int, sets: int) -> float:
        """Seconds of one step."""
        return self.step + self.step_a_pair * nodes**2 + self.step_a_set * sets

    def of_graph(self, nodes: int, sets: int) -> float:
        """Seconds of one kept graph."""
        return self.graph + self.graph_a_column * nodes + self.graph_a_set * sets


class ChainMethod(Method):
    """Chains (MCMC): graphs that resemble each other, of which each chain forgets where it started.

    A state is a named tuple of arrays (`state`), which `advance` changes in place.
    """

    draws = "chains"
    edges_at_fit = False
    #: Where its moves are, loaded when they are first needed.
    moves_in: ClassVar[str]
    #: Whether the graphs from which probes start are annealed by it.
    anneals: ClassVar[bool] = False
    #: Names of the kinds of moves.
    moves: ClassVar[tuple[str, ...]]
    #: Whether `advance` adds up the exact probability of every edge given the state.
    gives_edges: ClassVar[bool] = False
    #: Whether `start` of its moves takes an order to start from, as a third argument.
    takes_orders: ClassVar[bool] = False
    #: What its steps cost.
    costs: ClassVar[StepCost]
    #: What the arrays of the states of all chains must be, by the names of the fields of `state`: kernels index with
    #: them, and they may come from a file of somebody else's.
    state_rules: ClassVar[Mapping[str, ArrayRule]] = {}
    #: The same of what it keeps beside graphs and of what it adds up (chains, ...), by name.
    series_rules: ClassVar[Mapping[str, ArrayRule]] = {}
    sums_rules: ClassVar[Mapping[str, ArrayRule]] = {}

    chains: int
    thinning: int
    burn_in: int

    def __post_init__(self) -> None:
        """Check the settings that all chains have."""
        owner = type(self).__name__
        whole_number(self.chains, "chains", owner, most=MOST_CHAINS)
        whole_number(self.thinning, "thinning", owner)
        whole_number(self.burn_in, "burn_in", owner, least=0)

    @property
    def moves_module(self) -> Any:
        """What moves it: `State`, `start(context, generator)`, `advance(context, state, *step_settings, ...)`.

        Where it has `is_possible(context, state)`, states of files are asked about.
        """
        return import_module(self.moves_in)

    @property
    def step_settings(self) -> tuple[Any, ...]:
        """Settings that the kernel takes beside the state."""
        return ()

    @property
    def state(self) -> type[Any]:
        """The named tuple that a state is."""
        state: type[Any] = self.moves_module.State
        return state

    def prepare(self, workspace: Workspace) -> Any:
        """What all chains of a run read: the weights of the families."""
        return workspace.families

    def warming_up(self, context: Any, number: int, rounds: int) -> Any:
        """What chains read in round `number`, from 1 on, where the first `rounds` are the burn-in.

        During the burn-in that may be a flatter posterior.
        """
        return context

    @property
    def steps_a_round(self) -> int:
        """Steps between which the runner looks up: those of one round of kept graphs."""
        from dagpost.mcmc.records import ROUND_GRAPHS

        return self.thinning * ROUND_GRAPHS

    def empty_series(self, context: Any, nodes: int, length: int) -> Beside:
        """Room for what is kept beside `length` graphs; nothing, unless a method says otherwise.

        Where there is something, `advance` gets it and the room for sums as its last arguments.
        """
        return {}

    def empty_sums(self, context: Any, nodes: int) -> Beside:
        """Room for what is added up over all kept steps."""
        return {}

    def check_beside(self, context: Any, nodes: int, beside: Beside) -> None:
        """Refuse series or sums of a file that cannot be, with a `ValueError`."""

    def is_enough(self, series: Sequence[Beside]) -> bool:
        """Whether chains that may stop can stop, by the series of each."""
        return False

    def start(self, context: Any, generator: np.random.Generator, wanted: Integers | None = None) -> Any:
        """A state to start from: that of a random order, or of one as near as may be to the order that is wanted."""
        own = () if wanted is None else (wanted,)
        return self.moves_module.start(context, generator, *own)

    def can_be_at(self, context: Any, state: Any) -> bool:
        """Whether a chain could have come to a state from a file, whose arrays follow their rules, with these weights.

        The kernels of `advance` trust what a state says of the weights.
        """
        is_possible = getattr(self.moves_module, "is_possible", None)
        return is_possible is None or bool(is_possible(context, state))

    def advance(
        self, context: Any, state: Any, generator: np.random.Generator, output: Round, cancel: Integers, *beside: Beside
    ) -> None:
        """Move `state` on for one round; give up early once `cancel[0]` is not 0."""
        self.moves_module.advance(context, state, *self.step_settings, generator, output, cancel, *beside)

    def draw(self, workspace: Workspace, wanted: Wanted) -> Draws:
        """Run the chains until they have the graphs wanted together; an interrupt ends them with what they have."""
        from dagpost.mcmc.chains import run_chains

        context = self.prepare(workspace)
        run = run_chains(
            self,
            context,
            workspace.nodes,
            wanted.number,
            seed=wanted.seed,
            engine=workspace.engine,
            reporter=workspace.reporter,
            previous=wanted.previous,
            checkpoint=workspace.checkpoint,
            may_stop=wanted.may_stop,
        )
        remark = ""
        record = replace(run.record, checks=self._checked(workspace, context, run, wanted.seed))
        if run.interrupted:
            found = len(run.log_joint)
            remark = f"Interrupted: these are the {found:,} graphs that the chains had by then, of {wanted.number:,}."
        known = workspace.structure_log_evidence if self.modularity == "structure" else None
        evidence = math.nan if known is None else known
        return Draws(run.parents, run.log_joint, log_evidence=evidence, chains=record, remark=remark)

    def _checked(self, workspace: Workspace, context: Any, run: ChainRun, seed: np.random.SeedSequence) -> ChainChecks:
        """What speaks for or against a run beside the agreement of its chains."""
        from dagpost.mcmc.checks import INTERRUPTED, ChainChecks
        from dagpost.mcmc.probe import compare_edges, probe

        if run.interrupted:
            return ChainChecks(self.takes_orders, unchecked=INTERRUPTED)
        nodes, count = workspace.nodes, len(run.log_joint)
        annealed = self.annealed(workspace, context)
        found = None
        if annealed is not None:
            found = probe(self, context, annealed, run, seed=seed, engine=workspace.engine)
        # Of few parents: rather too little patience than too much.
        limit = min(workspace.max_parents, _FEW_PARENTS)
        patience = max(_EXACT_SECONDS, self.cost_of_draws(count, nodes, limit, 1).seconds)
        edges = None if self.modularity is None else workspace.edges_to_compare(self.modularity, patience)
        if edges is None:
            return ChainChecks(self.takes_orders, found, unchecked="they would take too long, or too much memory")
        return ChainChecks(self.takes_orders, found, compare_edges(run, edges))

    def annealed(self, workspace: Workspace, context: Any) -> Annealed | None:
        """What anneals a start for a probe; None for a method that cannot be probed. See mcmc/probe.py."""
        from dagpost.mcmc.annealed_blocks import start_along_graphs

        if not self.takes_orders:
            return None
        (blocks,) = (method() for method in METHODS.classes().values() if getattr(method, "anneals", False))
        assert isinstance(blocks, ChainMethod)
        # How many sweeps take as long as one kept graph and the steps before it.
        sweeps = self._seconds_a_graph(workspace) / blocks._seconds_a_graph(workspace)
        return partial(start_along_graphs, self, context, blocks, blocks.prepare(workspace), sweeps)

    def _seconds_a_graph(self, workspace: Workspace) -> float:
        step, graph = self.step_and_graph(workspace.nodes, self.sets_scanned(workspace.nodes, workspace.max_parents))
        return self.thinning * step + graph

    def ran_on(self, workspace: Workspace) -> str:
        """Chains are tasks that only return what they find."""
        return workspace.tasks_name

    # What it costs

    def step_and_graph(self, nodes: int, sets: int) -> tuple[float, float]:
        """Seconds of a step and of a kept graph, where `sets` parent sets are scanned."""
        return self.costs.of_step(nodes, sets), self.costs.of_graph(nodes, sets)

    def sets_scanned(self, nodes: int, max_parents: int) -> int:
        """How many parent sets are scanned for a sum; none where all sums are look-ups."""
        from dagpost.families.family_sums import ALL_CANDIDATES
        from dagpost.families.numbering import family_count

        scans = nodes - 1 > ALL_CANDIDATES
        return nodes * family_count(nodes - 1, max_parents) if scans else 0

    def cost_of_tables(self, nodes: int, max_parents: int, workers: int) -> Cost:
        """The sums and lists of families/family_sums.py."""
        from dagpost.families.family_sums import seconds_of_tables, size_of_tables

        seconds, size = seconds_of_tables(nodes, max_parents) / workers, size_of_tables(nodes, max_parents)
        return Cost("tables", "sums of the weights of parent sets", seconds, size)

    def cost_of_draws(self, count: int, nodes: int, max_parents: int, workers: int) -> Cost:
        """From what a step and a kept graph cost by number of columns, and of sets of up to `max_parents` to scan."""
        from dagpost.mcmc.records import ROUND_GRAPHS

        sets = self.sets_scanned(nodes, max_parents)
        step, graph = self.step_and_graph(nodes, sets)
        rounds = math.ceil(self.burn_in / (self.thinning * ROUND_GRAPHS)) + count / self.chains / ROUND_GRAPHS
        seconds = rounds * ROUND_GRAPHS * (self.thinning * step + graph)
        if self.takes_orders:
            seconds *= _PROBE
        # All chains make a round before any makes the next.
        seconds *= math.ceil(self.chains / workers)
        # Beyond 64 columns a set is some words, and what is kept is put together in the end.
        masks = 2 * nodes if nodes <= MAX_NODES else 16 * words_of(nodes) * nodes
        what, size = f"{count:,} graphs from {self.chains} chains", count * (_BYTES_A_GRAPH + masks)
        return Cost("samples", what, seconds, size, _UNCERTAINTY if sets else 1.0)
