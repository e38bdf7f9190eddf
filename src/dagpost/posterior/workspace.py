"""The exact tables behind one model: made when first needed, kept while they are small enough to keep.

A model file holds the weights but not the tables, which can be far larger than the file and are quickly made again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import numpy as np

from dagpost._tools.arrays import Floats, Masks
from dagpost._tools.progress import Reporter
from dagpost.checkpoints import NO_CHECKPOINT, Checkpoint
from dagpost.engines import Engine
from dagpost.engines.host.backend import ExactBackend, HostBackend, backend_of
from dagpost.errors import InputError
from dagpost.exact import paths
from dagpost.exact.given_order import GivenOrderPosterior, given_order_posterior
from dagpost.exact.order import Forward, ForwardTable
from dagpost.exact.structure import StructurePosterior
from dagpost.exact.trees import TreePosterior, tree_posterior
from dagpost.families.family_sums import FamilyTables, FamilyWeights, family_tables
from dagpost.mcmc.candidates import weights_of_all
from dagpost.methods.own_targets import Bootstrap, GivenOrder, Trees
from dagpost.sampling.dags import RankedFamilies, rank_families

#: The 3^n sums are not started unasked when they would take longer than this.
PATIENCE_SECONDS = 600.0


class Workspace:
    """The weights of the families of one model, as far as chains need them."""

    def __init__(self, weights: FamilyWeights | None, engine: Engine, reporter: Reporter) -> None:
        self._weights = weights
        self.engine = engine
        self.reporter = reporter
        #: Where a fit or a sample that is under way keeps what it has finished.
        self.checkpoint: Checkpoint = NO_CHECKPOINT
        self._trees: dict[Trees, TreePosterior] = {}
        #: Graphs found in resampled data, with their log weights, where the method is "bootstrap".
        self.replicates: tuple[Masks, Floats] | None = None
        #: The seed that they were resampled with.
        self.replicates_seed: int | None = None
        #: What found them, for their provenance.
        self.replicates_engine = "threads"

    @contextmanager
    def kept_in(self, checkpoint: Checkpoint) -> Iterator[None]:
        """Keep what is finished meanwhile in a checkpoint, if it was begun with the same weights."""
        checkpoint.identify("weights of the parent sets", self._all_weights())
        self.checkpoint = checkpoint
        try:
            yield
        finally:
            self.checkpoint = NO_CHECKPOINT

    @property
    def weights(self) -> FamilyWeights:
        """The weights of the families that chains use."""
        assert self._weights is not None
        return self._weights

    @property
    def nodes(self) -> int:
        """Number of variables."""
        return self.weights.nodes

    @property
    def max_parents(self) -> int:
        """The most parents that a variable may have."""
        return self.weights.max_parents

    @cached_property
    def families(self) -> FamilyTables:
        """Sums of weights, looked up by chains at every step."""
        return family_tables(self.weights, engine=self.engine)

    def structure_is_affordable(self) -> bool:
        """Whether sums over all graphs are within reach: not where not even all families are."""
        return False

    def tree_posterior(self, method: Trees, names: tuple[str, ...]) -> TreePosterior:
        """The posterior over trees or forests."""
        if method.spanning and self.max_parents == 0 < self.nodes - 1:
            raise InputError(
                "In a tree every variable but one has a parent, and max_parents is 0. Set max_parents=1 or more, or "
                "use method=Trees(spanning=False), for forests."
            )
        if method not in self._trees:
            weights = self._up_to_one_parent()
            self._trees[method] = tree_posterior(weights, spanning=method.spanning, names=names)
        return self._trees[method]

    def given_order_posterior(self, method: GivenOrder, names: tuple[str, ...]) -> GivenOrderPosterior:
        """The posterior over the graphs that fit an order."""
        return given_order_posterior(self.families, method.positions(names), names=names)

    def replicates_of(self, method: Bootstrap, count: int) -> tuple[Masks, Floats]:
        """The graphs of the first `count` bootstrap replicates, which were found when the model was fitted."""
        if self.replicates is None or len(self.replicates[0]) < count:
            raise InputError(
                f"This model has {method.replicates:,} bootstrap replicates; {count:,} graphs were asked for. Fit it "
                f"again with method=Bootstrap(replicates={count})."
            )
        return self.replicates[0][:count], self.replicates[1][:count]

    def _up_to_one_parent(self) -> Floats:
        """Log weight of node `i` with the one parent `j`, or without parents where `i` is `j`."""
        nodes, small = self.nodes, self._log_weights_of_small_sets()
        result = np.full((nodes, nodes), -np.inf)
        for node in range(nodes):
            result[node, node] = small[node, 0]
            if small.shape[1] >= nodes:
                result[node, np.arange(nodes) != node] = small[node, 1:nodes]
        return result

    def _log_weights_of_small_sets(self) -> Floats:
        return self.weights.small

    def _all_weights(self) -> Sequence[Floats]:
        return self.weights.inner, self.weights.small


class ExactWorkspace(Workspace):
    """The weights of all families of one model, and the tables that are made from them."""

    def __init__(self, log_weights: Floats, max_parents: int, engine: Engine, reporter: Reporter) -> None:
        super().__init__(None, engine, reporter)
        self.log_weights = log_weights
        self._max_parents = max_parents
        self._forward: Forward | None = None
        self._structure: StructurePosterior | None = None
        #: What the sums over all graphs were made on: small ones stay on threads, whatever the engine.
        self.structure_engine = HostBackend.name
        self._order_log_evidence: float | None = None
        #: Log evidence when every graph counts once, where it is known.
        self.structure_log_evidence: float | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Copies and pickles leave the forward table behind: it may stand elsewhere, and is quickly made again."""
        return {**self.__dict__, "_forward": None}

    @property
    def sums(self) -> ExactBackend:
        """Where tables over all sets of variables come from."""
        return backend_of(self.engine)

    @property
    def nodes(self) -> int:
        """Number of variables."""
        return len(self.log_weights)

    @property
    def max_parents(self) -> int:
        """The most parents that a variable may have."""
        return self._max_parents

    @property
    def weights(self) -> FamilyWeights:
        """The same weights, with the most promising parents of every node picked out."""
        if self._weights is None:
            self._weights = weights_of_all(self.log_weights, self.max_parents)
        return self._weights

    def _log_weights_of_small_sets(self) -> Floats:
        return self.log_weights

    def _all_weights(self) -> Sequence[Floats]:
        return (self.log_weights,)

    def order_fits(self) -> bool:
        """Whether a table over all sets of nodes fits into memory."""
        return self._forward is not None or self.sums.order_fits(self.nodes, self.max_parents)

    @cached_property
    def ranked(self) -> RankedFamilies:
        """The parent sets of every node, heaviest first."""
        return rank_families(self.log_weights, self.max_parents)

    def forward(self) -> Forward:
        """Sums over all orders of every set of nodes."""
        if self._forward is not None:
            return self._forward
        table: Forward = self.sums.forward_table(
            self.log_weights, self.max_parents, reporter=self.reporter, checkpoint=self.checkpoint
        )
        self._order_log_evidence = table.log_evidence
        if self.sums.keeps_order(self.nodes):
            self._forward = table
        return table

    def host_forward(self) -> ForwardTable:
        """The same sums where the algorithms of the host can read them."""
        return self.sums.on_host(self.forward())

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
        return self.sums.family_probabilities(
            forward, reporter=self.reporter, keep_forward=forward is self._forward, checkpoint=self.checkpoint
        )

    def structure(self) -> StructurePosterior:
        """The whole posterior when every graph counts once."""
        if self._structure is not None:
            return self._structure
        posterior = self.sums.structure_posterior(
            self.log_weights, self.max_parents, reporter=self.reporter, checkpoint=self.checkpoint
        )
        self.structure_log_evidence, self.structure_engine = posterior.tables.log_evidence, posterior.engine
        if self.sums.keeps_structure(self.nodes, self.max_parents):
            self._structure = posterior
        return posterior

    def structure_is_affordable(self) -> bool:
        """Whether the 3^n sums fit into memory and take no longer than a user waits unasked."""
        if not self.sums.structure_fits(self.nodes, self.max_parents):
            return self._structure is not None
        seconds = self.sums.structure_seconds(self.nodes)
        if PATIENCE_SECONDS / 5.0 < seconds < PATIENCE_SECONDS * 5.0:
            # Near the border the speed of this very machine decides.
            seconds = self.sums.structure_seconds(self.nodes, measured=True)
        return seconds <= PATIENCE_SECONDS

    def structure_evidence(self) -> float:
        """Log evidence when every graph counts once; half the work of `structure`, and no table is left."""
        return self.sums.structure_evidence(
            self.log_weights, self.max_parents, reporter=self.reporter, checkpoint=self.checkpoint
        )

    def log_evidence_of(self, log_weights: Floats, modularity: str) -> float:
        """Log evidence of other weights of the same families, such as those that a statement leaves."""
        if modularity == "order":
            forward: Forward = self.sums.forward_table(log_weights, self.max_parents, reporter=self.reporter)
            return forward.log_evidence
        return self.sums.structure_evidence(log_weights, self.max_parents, reporter=self.reporter)
