"""The exact tables behind one model: made when first needed, kept while they are small enough to keep.

A model file holds the weights but not the tables, which can be far larger than the file and are quickly made again.
"""

from __future__ import annotations

from functools import cached_property

from dagpost import memory
from dagpost.arrays import Floats
from dagpost.engines import Engine
from dagpost.exact import order, paths, structure
from dagpost.exact.order import ForwardTable
from dagpost.exact.structure import StructurePosterior
from dagpost.progress import Reporter
from dagpost.sampling.dags import RankedFamilies, rank_families

#: Tables that take no more than this share of the free memory stay with the model.
_KEPT_SHARE = 0.25
#: The 3^n sums are not started unasked when they would take longer than this.
PATIENCE_SECONDS = 600.0


class ExactTables:
    """The weights of all families of one model, and the tables that are made from them."""

    def __init__(self, log_weights: Floats, max_parents: int, engine: Engine, reporter: Reporter) -> None:
        self.log_weights = log_weights
        self.max_parents = max_parents
        self.engine = engine
        self.reporter = reporter
        self._forward: ForwardTable | None = None
        self._structure: StructurePosterior | None = None
        self._order_log_evidence: float | None = None
        #: Log evidence when every graph counts once, where it is known.
        self.structure_log_evidence: float | None = None

    @property
    def nodes(self) -> int:
        """Number of variables."""
        return len(self.log_weights)

    @cached_property
    def ranked(self) -> RankedFamilies:
        """The parent sets of every node, heaviest first."""
        return rank_families(self.log_weights, self.max_parents)

    def forward(self) -> ForwardTable:
        """Sums over all orders of every set of nodes."""
        if self._forward is not None:
            return self._forward
        table = order.forward_table(self.log_weights, self.max_parents, engine=self.engine, reporter=self.reporter)
        self._order_log_evidence = table.log_evidence
        if self._may_keep(order.table_bytes(self.nodes)):
            self._forward = table
        return table

    @property
    def order_log_evidence(self) -> float:
        """Log evidence when a graph counts once for every order it fits; needs no table once it is known."""
        return self.forward().log_evidence if self._order_log_evidence is None else self._order_log_evidence

    @cached_property
    def order_paths(self) -> Floats:
        """Probability of a path for every pair when a graph counts once for every order it fits."""
        return paths.order_path_probabilities(self.forward(), engine=self.engine, reporter=self.reporter)

    def order_families(self, forward: ForwardTable) -> Floats:
        """Probability of every family when a graph counts once for every order it fits."""
        return order.family_probabilities(
            forward, engine=self.engine, reporter=self.reporter, keep_forward=forward is self._forward
        )

    def structure(self) -> StructurePosterior:
        """The whole posterior when every graph counts once."""
        if self._structure is not None:
            return self._structure
        posterior = structure.structure_posterior(
            self.log_weights, self.max_parents, engine=self.engine, reporter=self.reporter
        )
        self.structure_log_evidence = posterior.tables.log_evidence
        if self._may_keep(structure.memory_needed(self.nodes, self.max_parents, self.engine.workers)):
            self._structure = posterior
        return posterior

    def structure_is_affordable(self) -> bool:
        """Whether the 3^n sums fit into memory and take no longer than a user waits unasked."""
        if structure.memory_needed(self.nodes, self.max_parents, self.engine.workers) > memory.available_bytes():
            return self._structure is not None
        seconds = structure.expected_seconds(self.nodes, self.engine.workers)
        if PATIENCE_SECONDS / 5.0 < seconds < PATIENCE_SECONDS * 5.0:
            # Near the border the speed of this very machine decides.
            seconds = structure.measured_seconds(self.nodes, self.engine)
        return seconds <= PATIENCE_SECONDS

    def log_evidence_of(self, log_weights: Floats, modularity: str) -> float:
        """Log evidence of other weights of the same families, such as those that a statement leaves."""
        if modularity == "order":
            return order.forward_table(
                log_weights, self.max_parents, engine=self.engine, reporter=self.reporter
            ).log_evidence
        return structure.structure_evidence(log_weights, self.max_parents, engine=self.engine, reporter=self.reporter)

    @staticmethod
    def _may_keep(size: int) -> bool:
        return size <= _KEPT_SHARE * memory.available_bytes()
