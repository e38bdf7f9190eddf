"""The weights of all families of one model, and the tables over all sets of variables that are made from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagpost._tools import memory
from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost._tools.progress import Reporter
from dagpost.engines import Engine
from dagpost.engines.host.backend import KEPT_SHARE, HostBackend
from dagpost.errors import PrecisionError, ResourceError
from dagpost.exact import order, paths, structure
from dagpost.exact.best_lattice import numbers_of_sets
from dagpost.exact.kbest import BestDags, best_dags, tie_tolerance
from dagpost.exact.order import Forward, ForwardTable
from dagpost.exact.structure import StructurePosterior
from dagpost.families.considered_sets import ConsideredSets
from dagpost.families.family_sums import FamilyWeights
from dagpost.families.numbering import binomials, parent_sets, size_offsets, unsqueeze_all
from dagpost.families.pruning import considered_from_all
from dagpost.mcmc.candidates import weights_of_all
from dagpost.methods.choice import PATIENCE_SECONDS
from dagpost.posterior.workspace import Drawn, OwnSums, Sums
from dagpost.sampling.dags import RankedFamilies, rank_families


class ExactWorkspace(OwnSums):
    """The weights of all families of one model, and the tables that are made from them."""

    def __init__(self, log_weights: Floats, max_parents: int, engine: Engine, reporter: Reporter) -> None:
        super().__init__(None, engine, reporter, len(log_weights), max_parents)
        self.log_weights = log_weights
        self._forward: Forward | None = None
        self._structure: StructurePosterior | None = None
        self._order_log_evidence: float | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Copies and pickles leave the forward table behind: it may be elsewhere, and is quickly made again."""
        return {**self.__dict__, "_forward": None}

    @property
    def weights(self) -> FamilyWeights:
        """The same weights, with the most promising parents of every node picked out."""
        if self._weights is None:
            self._weights = weights_of_all(self.log_weights, self.max_parents)
        return self._weights

    @cached_property
    def considered(self) -> ConsideredSets:
        """The parent sets that matter, out of all."""
        return considered_from_all(self.log_weights, self.max_parents, engine=self.engine)

    @property
    def parts(self) -> tuple[ExactWorkspace, ...]:
        """The workspace itself."""
        return (self,)

    def all_families(self, asked_by: str) -> ExactWorkspace:
        """The workspace itself."""
        del asked_by
        return self

    def restricted(self, allowed_sets: Mapping[int, NDArray[np.bool_]]) -> ExactWorkspace:
        """The weights that conditions on the parents of some nodes leave."""
        log_weights = self.log_weights.copy()
        for node, allowed in allowed_sets.items():
            log_weights[node, ~allowed] = -np.inf
        return ExactWorkspace(log_weights, self.max_parents, self.engine, self.reporter)

    def tilted(self, log_odds: float, columns: int) -> ExactWorkspace:
        """The weights times the odds of an edge, once for every parent among the first `columns`."""
        # Parent sets leave out the node itself; nodes beyond have no parents among those columns.
        low = np.uint64((1 << max(min(columns, self.nodes) - 1, 0)) - 1)
        sizes = np.bitwise_count(parent_sets(self.nodes - 1, self.max_parents) & low)
        return ExactWorkspace(self.log_weights + log_odds * sizes, self.max_parents, self.engine, self.reporter)

    def _log_weights_of_small_sets(self) -> Floats:
        return self.log_weights

    def _all_weights(self) -> Sequence[Floats]:
        return (self.log_weights,)

    @cached_property
    def ranked(self) -> RankedFamilies:
        """The parent sets of every node, heaviest first."""
        return rank_families(self.log_weights, self.max_parents)

    def seconds(self, modularity: str) -> float:
        """Roughly how long the exact sums of a posterior take."""
        expected = self.backend.structure_seconds if modularity == "structure" else self.backend.order_seconds
        return expected(self.nodes)

    def edges_to_compare(self, modularity: str, patience: float) -> Floats | None:
        """The exact edges, in sums of their own: a model that asked for chains does not get exact answers by the way.

        The time is that of one thread, so that what is compared does not depend on how many there are.
        """
        by_order = modularity == "order"
        seconds = (order if by_order else structure).expected_seconds(self.nodes, 1)
        fits = self.backend.order_fits if by_order else self.backend.structure_fits
        if seconds > patience or not fits(self.nodes, self.max_parents):
            return None

        def summed() -> Floats | None:
            own = ExactWorkspace(self.log_weights, self.max_parents, self.engine, self.reporter)
            try:
                families = own.order_families(own.forward()) if by_order else own.structure().families
            except (PrecisionError, ResourceError):
                return None
            return np.minimum(order.edge_probabilities(families, self.max_parents), 1.0)

        return self.once(("edges to compare", modularity), summed)

    # What a node may have for parents

    def own_weights(self, node: int) -> Floats:
        """The log weight of every parent set of a node."""
        weights: Floats = self.log_weights[node]
        return weights

    def masks_of_sets(self, node: int, bits: Masks) -> Masks:
        """Every parent set of a node as a mask, in which column `j` has bit `j`: there are at most 64 columns."""
        del bits
        return unsqueeze_all(parent_sets(self.nodes - 1, self.max_parents), node)

    def parents_of_sets(self, node: int, numbers: Integers) -> list[tuple[int, ...]]:
        """Some parent sets of a node as columns."""
        masks = unsqueeze_all(parent_sets(self.nodes - 1, self.max_parents)[numbers], node).tolist()
        return [tuple(bit for bit in range(self.nodes) if mask >> bit & 1) for mask in masks]

    @property
    def tie_tolerance(self) -> float:
        """How far apart the log weights of two graphs may be and still count as equal."""
        return tie_tolerance(self.log_weights)

    def log_weights_of(self, parents: Masks) -> Floats:
        """The log weight of each graph, looked up family by family."""
        universe, limit = self.nodes - 1, self.max_parents
        total = np.zeros(len(parents))
        for node in range(self.nodes):
            masks, member = np.unique(parents[:, node], return_inverse=True)
            numbers = numbers_of_sets(masks, node, universe, binomials(limit), size_offsets(limit))
            total += self.log_weights[node, numbers][member]
        return total

    # Sums over all orders

    def order_fits(self) -> bool:
        """Whether a table over all sets of nodes fits into memory."""
        return self.has_forward or self.backend.order_fits(self.nodes, self.max_parents)

    @property
    def has_forward(self) -> bool:
        """Whether the sums over all orders are in memory."""
        return self._forward is not None

    def forward(self) -> Forward:
        """Sums over all orders of every set of nodes."""
        if self._forward is not None:
            return self._forward
        table: Forward = self.backend.forward_table(
            self.log_weights, self.max_parents, reporter=self.reporter, checkpoint=self.checkpoint
        )
        self._order_log_evidence = table.log_evidence
        if self.backend.keeps_order(self.nodes) and self._has_room(order.table_bytes(self.nodes)):
            self._forward = table
        return table

    def host_forward(self) -> ForwardTable:
        """The same sums where the algorithms of the host can read them."""
        return self.backend.on_host(self.forward())

    @property
    def order_log_evidence(self) -> float:
        """Log evidence when a graph counts once for every order it fits; needs no table once it is known."""
        return self.forward().log_evidence if self._order_log_evidence is None else self._order_log_evidence

    @cached_property
    def order_paths(self) -> Floats:
        """Probability of a path for every pair when a graph counts once for every order it fits."""
        return paths.order_path_probabilities(self.host_forward(), engine=self.engine, reporter=self.reporter)

    def order_families(self, forward: Forward) -> Floats:
        """Probability of every family when a graph counts once for every order it fits."""
        return self.backend.family_probabilities(
            forward, reporter=self.reporter, keep_forward=forward is self._forward, checkpoint=self.checkpoint
        )

    # Sums over all graphs

    @property
    def has_structure(self) -> bool:
        """Whether the sums over all graphs are in memory."""
        return self._structure is not None

    def structure(self) -> StructurePosterior:
        """The whole posterior when every graph counts once."""
        if self._structure is not None:
            return self._structure
        posterior = self.backend.structure_posterior(
            self.log_weights, self.max_parents, reporter=self.reporter, checkpoint=self.checkpoint
        )
        self.structure_log_evidence, self.structure_engine = posterior.tables.log_evidence, posterior.engine
        size = structure.memory_needed(self.nodes, self.max_parents, self.engine.workers)
        if self.backend.keeps_structure(self.nodes, self.max_parents) and self._has_room(size):
            self._structure = posterior
        return posterior

    def structure_is_affordable(self, patience: float = PATIENCE_SECONDS) -> bool:
        """Whether the 3^n sums fit into memory and take no longer than a user waits unasked."""
        if not self.backend.structure_fits(self.nodes, self.max_parents):
            return self.has_structure
        return self.backend.structure_seconds(self.nodes) <= patience

    def structure_evidence(self) -> float:
        """Log evidence when every graph counts once; half the work of `structure`, and no table is left."""
        return self.backend.structure_evidence(
            self.log_weights, self.max_parents, reporter=self.reporter, checkpoint=self.checkpoint
        )

    def summed(self, modularity: str) -> Sums:
        """Evidence, families and edges, and paths where they come at no cost."""
        if modularity == "order":
            forward = self.forward()
            families = self.order_families(forward)
            edges = order.edge_probabilities(families, self.max_parents)
            return Sums(forward.log_evidence, families, edges, None, order.RELATIVE_ERROR, self.backend.name)
        found = self.structure()
        edges = order.edge_probabilities(found.families, self.max_parents)
        tables = found.tables
        return Sums(tables.log_evidence, found.families, edges, found.paths, tables.error_bound, self.structure_engine)

    def path_probability(self, source: int, target: int, patience: float) -> float | None:
        """The probability of a directed path comes with the sums themselves."""
        del patience
        return float(self.structure().paths[source, target])

    def paths(self, patience: float) -> Floats | None:
        """The probability of a directed path for all pairs."""
        del patience
        return self.structure().paths

    def reach_sets(self, node: int, direction: str, patience: float) -> tuple[Integers, Floats]:
        """The columns, and the probability of each set of them to be the descendants or ancestors of a node."""
        del patience
        find = self.backend.descendant_sets if direction == "descendants" else self.backend.ancestor_sets
        return np.arange(self.nodes), find(self.structure().tables, node, reporter=self.reporter)

    # Graphs

    def draw_layers(self, count: int, seed: np.random.SeedSequence) -> Drawn:
        """Independent graphs, each counted once."""
        tables = self.structure().tables
        drawn = self.backend.sample_layers(
            tables, self.ranked, count, seed=seed, reporter=self.reporter, checkpoint=self.checkpoint
        )
        return Drawn(*drawn, tables.log_evidence)

    def best_graphs(self, count: int) -> BestDags:
        """The graphs of the greatest weight, best first."""
        return best_dags(self.log_weights, self.max_parents, count, engine=self.engine, reporter=self.reporter)

    def may_reach(self, node: int, direction: str) -> Integers:
        """The columns that a path may lead to, or come from."""
        del direction
        return np.delete(np.arange(self.nodes), node)

    def _has_room(self, size: int) -> bool:
        """Whether all that share the memory can keep a table of this size; on a device or a cluster only one can."""
        if self.sharing == 1:
            return True
        return type(self.backend) is HostBackend and self.sharing * size <= KEPT_SHARE * memory.available_bytes()
