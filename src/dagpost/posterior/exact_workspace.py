"""The weights of all families of one model, and the tables over all sets of variables that are made from them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from dagpost._tools import memory
from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost._tools.progress import Reporter
from dagpost.engines import Engine
from dagpost.engines.host.backend import KEPT_SHARE, HostBackend
from dagpost.errors import PrecisionError, ResourceError
from dagpost.exact import order, paths, structure
from dagpost.exact.kbest import BestDags, best_dags
from dagpost.exact.order import Forward, ForwardTable
from dagpost.exact.structure import StructurePosterior
from dagpost.families.considered_sets import ConsideredSets
from dagpost.families.family_sums import FamilyWeights
from dagpost.families.numbering import parent_sets, unsqueeze_all
from dagpost.families.parent_lists import all_others
from dagpost.families.pruning import considered_from_all
from dagpost.mcmc.candidates import weights_of_all
from dagpost.methods.choice import PATIENCE_SECONDS
from dagpost.posterior.workspace import Drawn, OwnSums, Sums
from dagpost.sampling.dags import RankedFamilies, rank_families


class ExactWorkspace(OwnSums):
    """The weights of all families of one model, and the tables that are made from them."""

    log_weights: Floats

    def __init__(self, log_weights: Floats, max_parents: int, engine: Engine, reporter: Reporter) -> None:
        super().__init__(all_others(len(log_weights), max_parents), log_weights, engine, reporter)
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

    def all_families(self, asked_by: str) -> ExactWorkspace:
        """The workspace itself."""
        del asked_by
        return self

    def masks_of_sets(self, node: int, bits: Masks) -> Masks:
        """Every parent set of a node as a mask, in which column `j` has bit `j`, or none if `bits` has none for it.

        Without a compiled kernel: a model from a file answers before one could be loaded.
        """
        masks: Masks = unsqueeze_all(parent_sets(self.nodes - 1, self.max_parents), node) & np.bitwise_or.reduce(bits)
        return masks

    def _with(self, log_weights: list[Floats], changed: Sequence[int] | None = None) -> ExactWorkspace:
        del changed
        return ExactWorkspace(np.stack(log_weights), self.max_parents, self.engine, self.reporter)

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
            error = order.RELATIVE_ERROR
            return Sums(modularity, forward.log_evidence, families, edges, None, error, self.backend.name)
        found = self.structure()
        edges = order.edge_probabilities(found.families, self.max_parents)
        log_evidence, error = found.tables.log_evidence, found.tables.error_bound
        return Sums(modularity, log_evidence, found.families, edges, found.paths, error, self.structure_engine)

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
