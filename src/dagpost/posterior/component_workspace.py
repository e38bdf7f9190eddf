"""The weights behind a model whose rules keep cycles inside parts of the table, and the sums over each of these parts.

exact/components.py has the mathematics: every graph counts once, and the sum over all graphs is a product over the
strongly connected components of the edges that some graph may have. Each component of more than one column is an
`ExactWorkspace` of its own, with everything outside it summed out, on whatever engine the model has; it keeps its
tables, draws and is counted in a plan as any other. There may be up to 1,024 columns in all.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dagpost._tools import progress
from dagpost._tools.arrays import Floats, Integers
from dagpost._tools.progress import NO_PROGRESS, Reporter
from dagpost.checkpoints import NO_CHECKPOINT, Checkpoint, CheckpointPart
from dagpost.engines import Engine
from dagpost.exact.component_best import best_of_components
from dagpost.exact.components import Components, Ragged, edges_of_families, projection, share_out, weights_inside
from dagpost.exact.kbest import BestDags
from dagpost.exact.order import no_graph
from dagpost.exact.structure import memory_needed
from dagpost.families.considered_sets import ConsideredSets
from dagpost.families.numbering import MAX_NODES
from dagpost.families.parent_lists import ParentLists
from dagpost.families.pruning import considered_from_lists
from dagpost.methods.choice import PATIENCE_SECONDS
from dagpost.posterior.exact_workspace import ExactWorkspace
from dagpost.posterior.splitting import in_words
from dagpost.posterior.workspace import Drawn, OwnSums, Sums
from dagpost.sampling.outside_parents import draw_outside, masks_of_numbers

#: A sum over the parent sets of one node, as a share of itself.
_ROUNDING = 1e-13


@dataclass(frozen=True, eq=False)
class _Part:
    """A component: its columns, the weights of its nodes with the rest summed out, and the sums over its graphs."""

    columns: Integers
    log_weights: Floats
    #: None where the component is one column, which has no graph but itself.
    workspace: ExactWorkspace | None

    def log_evidence(self) -> float:
        """Log of the sum over the graphs of the component."""
        if self.workspace is None:
            return float(self.log_weights[0, 0])
        return self.workspace.log_evidence("structure")


class ComponentWorkspace(OwnSums):
    """The weights of the families that rules allow, and the sums over each strongly connected component."""

    log_weights: Ragged

    def __init__(
        self, lists: ParentLists, log_weights: Ragged, engine: Engine, reporter: Reporter, known: Sequence[_Part] = ()
    ) -> None:
        super().__init__(lists, log_weights, engine, reporter)
        self._known = {part.columns.tobytes(): part for part in known}

    @property
    def largest(self) -> int:
        """Number of columns of the largest component: what the sums cost hangs on it."""
        return len(self.components.largest)

    @property
    def by_components(self) -> str:  # type: ignore[override]
        """The parts over which sums are taken, in words."""
        if self.largest == 1:
            return "no cycle can close, so each variable is summed by itself"
        rest = ", so each is summed by itself" if sum(size > 1 for size in self.components.sizes) > 1 else ""
        return f"a cycle can close only within {in_words(self.components)}{rest}"

    @cached_property
    def components(self) -> Components:
        """The components of the edges that have any weight."""
        if any(np.isneginf(own).all() for own in self.log_weights):
            raise no_graph()
        return Components.of_weights(self.lists, self.log_weights)

    @cached_property
    def considered(self) -> ConsideredSets:
        """The parent sets that matter, out of all that the rules allow."""
        return considered_from_lists(self.lists, self.log_weights, engine=self.engine)

    @cached_property
    def _parts(self) -> tuple[_Part, ...]:
        return tuple(self._part(number, part) for number, part in enumerate(self.components.parts))

    def _part(self, number: int, columns: Integers) -> _Part:
        if columns.tobytes() in self._known:
            return self._known[columns.tobytes()]
        inside = weights_inside(self.lists, self.log_weights, columns)
        if len(columns) == 1:
            return _Part(columns, inside, None)
        limit = min(self.max_parents, len(columns) - 1)
        workspace = ExactWorkspace(inside, limit, self.engine, self._reporter_of(number))
        workspace.sharing = self.sharing * math.ceil(self._bytes_of_tables / self._size(len(columns)))
        workspace.checkpoint = CheckpointPart(self.checkpoint, self._label(number))
        return _Part(columns, inside, workspace)

    def _size(self, columns: int) -> int:
        """Bytes of the tables of a component."""
        return memory_needed(columns, min(self.max_parents, columns - 1), self.engine.workers)

    @cached_property
    def _bytes_of_tables(self) -> int:
        """Bytes of the tables of all components together."""
        return sum(self._size(columns) for columns in self.components.sizes if columns > 1)

    def _one_by_one(self) -> Iterator[_Part]:
        """The components; where none is large enough for bars of its own, they share one."""
        if any(self._has_bars(part.columns) for part in self._parts):
            yield from self._parts
            return
        with self.reporter.stage("sums over parts", sum(3**size for size in self.components.sizes)) as stage:
            for part in self._parts:
                yield part
                stage.advance(3 ** len(part.columns))

    def _has_bars(self, columns: Integers) -> bool:
        return len(columns) > 1 and self.backend.structure_seconds(len(columns)) > progress.PATIENCE_SECONDS

    def _reporter_of(self, number: int) -> Reporter:
        """Who hears of the sums of one component: nobody if they are over before one wonders."""
        heard = self._has_bars(self.components.parts[number])
        return self.reporter.part(self._label(number)) if heard else NO_PROGRESS

    def _label(self, number: int) -> str:
        return f"part {number + 1} of {len(self.components.parts)}"

    def run_on(self, engine: Engine, reporter: Reporter) -> None:
        """Work elsewhere from now on."""
        super().run_on(engine, reporter)
        if "_parts" in self.__dict__:
            for number, part in enumerate(self._parts):
                if part.workspace is not None:
                    part.workspace.run_on(engine, self._reporter_of(number))

    @contextmanager
    def checkpointed(self, checkpoint: Checkpoint) -> Iterator[None]:
        """Keep what is finished meanwhile in a checkpoint, component by component."""
        with super().checkpointed(checkpoint):
            self._hand_on(checkpoint)
            try:
                yield
            finally:
                self._hand_on(None)

    def _hand_on(self, checkpoint: Checkpoint | None) -> None:
        for number, part in enumerate(self._parts):
            if part.workspace is not None:
                own = NO_CHECKPOINT if checkpoint is None else CheckpointPart(checkpoint, self._label(number))
                part.workspace.checkpoint = own

    def _with(self, log_weights: list[Floats], changed: Sequence[int] | None = None) -> ComponentWorkspace:
        # What no condition touches is as it was, its sums included; components that one does touch may split further.
        kept = () if changed is None else [part for part in self._parts if not np.isin(part.columns, changed).any()]
        return ComponentWorkspace(self.lists, tuple(log_weights), self.engine, self.reporter, kept)

    # Sums over all graphs

    def seconds(self, modularity: str) -> float:
        """Roughly how long the exact sums of a posterior take; those over orders are not made by components."""
        if modularity != "structure":
            return math.inf
        return sum(self.backend.structure_seconds(size) for size in self.components.sizes if size > 1)

    def structure_is_affordable(self, patience: float = PATIENCE_SECONDS) -> bool:
        """Whether the sums of all components fit into memory and take no longer than a user waits unasked."""
        limit = min(self.max_parents, self.largest - 1)
        if self.largest > 1 and not self.backend.structure_fits(self.largest, limit):
            return self.has_structure
        return self.seconds("structure") <= patience

    @property
    def has_structure(self) -> bool:
        """Whether the sums over all graphs are in memory."""
        inner = [part.workspace for part in self._parts if part.workspace is not None]
        return all(workspace.has_structure for workspace in inner)

    def structure_evidence(self) -> float:
        """Log evidence when every graph counts once."""
        parts = [part.log_evidence() for part in self._one_by_one()]
        if not all(map(math.isfinite, parts)):
            raise no_graph()
        return math.fsum(parts)

    def summed(self, modularity: str) -> Sums:
        """Evidence, families and paths; paths between components, which are left to draws, are nan."""
        assert modularity == "structure"
        families: list[Floats] = [np.empty(0)] * self.nodes
        paths = np.where(self.components.reached, math.nan, 0.0)
        log_evidence, error, engine = [], _ROUNDING, self.structure_engine
        for part in self._one_by_one():
            if part.workspace is None:
                inside, own_paths = np.ones((1, 1)), np.zeros((1, 1))
                log_evidence.append(part.log_evidence())
            else:
                found = part.workspace.structure()
                inside, own_paths, engine = found.families, found.paths, found.engine
                log_evidence.append(found.tables.log_evidence)
                error = max(error, found.tables.error_bound)
            paths[np.ix_(part.columns, part.columns)] = own_paths
            for row, node in enumerate(part.columns.tolist()):
                projected = projection(self.lists, node, part.columns)
                families[node] = share_out(inside[row], self.log_weights[node], part.log_weights[row], projected)
        self.structure_log_evidence, self.structure_engine = math.fsum(log_evidence), engine
        edges = edges_of_families(self.lists, tuple(families))
        return Sums(modularity, self.structure_log_evidence, tuple(families), edges, paths, error, engine)

    # Paths that lead from one component to another: exact where the components between can be summed as one

    def may_reach(self, node: int, direction: str) -> Integers:
        """The columns that a path may lead to, or come from."""
        reached = self.components.reached
        return np.flatnonzero(reached[node] if direction == "descendants" else reached[:, node])

    def path_probability(self, source: int, target: int, patience: float) -> float | None:
        """The probability of a directed path; None where the sums for it would take longer than `patience`."""
        if not self.components.reached[source, target]:
            return 0.0
        between = self.components.between(source, target)
        if not self._can_join(between, patience):
            return None
        found = self._joined(between).structure()
        return float(found.paths[np.searchsorted(between, source), np.searchsorted(between, target)])

    def paths(self, patience: float) -> Floats | None:
        """The probability of a directed path for all pairs, if all columns can be summed as one; otherwise None."""
        everyone = np.arange(self.nodes)
        return self._joined(everyone).structure().paths if self._can_join(everyone, patience) else None

    def reach_sets(self, node: int, direction: str, patience: float) -> tuple[Integers, Floats]:
        """Some columns, and the probability of each set of them to be what a node reaches among them.

        All columns that it may reach, where these can be summed as one; else those of its component.
        """
        own = self.components.parts[int(self.components.part_of[node])]
        columns = np.union1d(own, self.may_reach(node, direction))
        if not self._can_join(columns, patience):
            columns = own
        if len(columns) == 1:
            return columns, np.array([1.0, 0.0])
        joined = self._joined(columns)
        return columns, joined.reach_sets(int(np.searchsorted(columns, node)), direction, patience)[1]

    def _can_join(self, columns: Integers, patience: float) -> bool:
        """Whether the sums over some columns as one take little enough time and memory."""
        size = len(columns)
        return (
            size <= MAX_NODES
            and self.backend.structure_fits(size, min(self.max_parents, size - 1))
            and self.backend.structure_seconds(size) <= patience
        )

    def _joined(self, columns: Integers) -> ExactWorkspace:
        """Some columns as one, everything else summed out: no path between two of them may leave them."""
        for part in self._parts:
            if part.workspace is not None and np.array_equal(part.columns, columns):
                return part.workspace

        def make() -> ExactWorkspace:
            inside = weights_inside(self.lists, self.log_weights, columns)
            return ExactWorkspace(inside, min(self.max_parents, len(columns) - 1), self.engine, self.reporter)

        return self.once(("joined", columns.tobytes()), make)

    # Graphs

    def draw_layers(self, count: int, seed: np.random.SeedSequence) -> Drawn:
        """Independent graphs: each component by itself, then the parents that its nodes have elsewhere."""
        insides, seeds = [], []
        for part, own_seed in zip(self._parts, seed.spawn(len(self._parts)), strict=True):
            within, *outside = own_seed.spawn(1 + len(part.columns))
            seeds.extend(outside)
            nothing = np.zeros((count, 1), dtype=np.uint64)
            insides.append(nothing if part.workspace is None else part.workspace.draw_layers(count, within).parents)
        self.structure_log_evidence = math.fsum(part.log_evidence() for part in self._parts)
        drawn = draw_outside(
            self.lists, self.log_weights, [part.columns for part in self._parts], insides, seeds, engine=self.engine
        )
        return Drawn(*drawn, self.structure_log_evidence)

    def best_graphs(self, count: int) -> BestDags:
        """The graphs of the greatest weight, best first."""
        found = best_of_components(
            self.lists, self.log_weights, self.components, count, engine=self.engine, reporter=self.reporter
        )
        return BestDags(masks_of_numbers(self.lists, found.numbers), found.log_joint, found.tied)


def divided(workspace: ExactWorkspace) -> ExactWorkspace | ComponentWorkspace:
    """A workspace by components where its weights leave more than one; otherwise as it is."""
    lists, weights = workspace.lists, tuple(workspace.log_weights)
    if any(np.isneginf(own).all() for own in weights):
        return workspace
    components = Components.of_weights(lists, weights)
    if len(components.parts) == 1:
        return workspace
    return ComponentWorkspace(lists, weights, workspace.engine, workspace.reporter)
