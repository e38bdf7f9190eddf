"""The weights behind one model and what is made from them: when first needed, kept while it is small enough to keep.

A model file holds the weights but not the tables, which can be far larger than the file and are quickly made again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dagpost._tools import memory
from dagpost._tools.arrays import Floats, Masks
from dagpost._tools.progress import Reporter
from dagpost._tools.schema import truth, whole
from dagpost._tools.spelling import setting
from dagpost.checkpoints import NO_CHECKPOINT, Checkpoint
from dagpost.engines import Engine, ThreadEngine
from dagpost.engines.host.backend import KEPT_SHARE, ExactBackend, HostBackend, backend_of
from dagpost.errors import InputError, PrecisionError, ResourceError
from dagpost.exact import order, paths, structure
from dagpost.exact.order import Forward, ForwardTable
from dagpost.exact.structure import StructurePosterior
from dagpost.families.family_sums import FamilyTables, FamilyWeights, family_tables
from dagpost.mcmc.candidates import weights_of_all
from dagpost.methods.choice import PATIENCE_SECONDS
from dagpost.methods.partition_mcmc import PartitionMCMC
from dagpost.sampling.dags import RankedFamilies, rank_families
from dagpost.search.hill_climbing import log_weights_of_graphs

Made = TypeVar("Made")


class Workspace:
    """The weights of the families of one model, as far as chains need them."""

    #: Log evidence when every graph counts once, where it is known.
    structure_log_evidence: float | None = None
    #: What the sums over all graphs were made on: small ones stay on threads, whatever the engine.
    structure_engine: str = HostBackend.name

    def __init__(self, weights: FamilyWeights | None, engine: Engine, reporter: Reporter) -> None:
        self._weights = weights
        self._engine, self.reporter = engine, reporter
        #: Where a fit or a sample that is under way keeps what it has finished.
        self.checkpoint: Checkpoint = NO_CHECKPOINT
        #: What the method computed when the model was fitted: arrays, and facts about them. Files keep both.
        self.kept: dict[str, NDArray[Any]] = {}
        self.facts: dict[str, Any] = {}
        self._made: dict[Any, Any] = {}

    @property
    def engine(self) -> Engine:
        """Where the work runs: threads of this process, if the engine of the fit is closed by now."""
        return ThreadEngine() if self._engine.closed else self._engine

    def run_on(self, engine: Engine, reporter: Reporter) -> None:
        """Work elsewhere from now on."""
        self._engine, self.reporter = engine, reporter

    @contextmanager
    def checkpointed(self, checkpoint: Checkpoint) -> Iterator[None]:
        """Keep what is finished meanwhile in a checkpoint, if it was begun with the same weights."""
        checkpoint.identify("weights of the parent sets", self._all_weights())
        self.checkpoint = checkpoint
        try:
            yield
        finally:
            self.checkpoint = NO_CHECKPOINT

    def once(self, key: Any, make: Callable[[], Made]) -> Made:
        """What `make` gives, made once for each key."""
        if key not in self._made:
            self._made[key] = make()
        made: Made = self._made[key]
        return made

    def new_seed(self, seed: int | None) -> np.random.SeedSequence:
        """The seed that is given, or else a new one, which a run that resumes after a kill takes again."""

        def entropy() -> Any:
            return np.random.SeedSequence(None if seed is None else int(seed)).entropy

        return np.random.SeedSequence(self.checkpoint.decided("seed", entropy, whole(most=None)))

    @property
    def backend(self) -> ExactBackend:
        """Where tables over all sets of variables come from."""
        return backend_of(self.engine)

    @property
    def tasks_name(self) -> str:
        """What runs blocks that only return what they find, for the provenance of that."""
        return self.engine.tasks.name

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

    def log_joint(self, parents: Masks) -> Floats:
        """Log p(graph, data) of graphs given as parent masks (graphs, nodes)."""
        return log_weights_of_graphs(self.families, parents)

    @property
    def parts(self) -> tuple[ExactWorkspace, ...]:
        """Those whose posteriors are mixed, each with the weights of all families: itself, where there is one only."""
        return ()

    @property
    def log_priors(self) -> tuple[float, ...]:
        """Log of the prior probability of each part."""
        return (0.0,) * len(self.parts)

    def all_families(self, asked_by: str) -> ExactWorkspace:
        """The workspace itself, if it has the weights of all families; otherwise an error for who needs them."""
        raise InputError(
            f"{asked_by!r} needs tables over all sets of variables; {self.nodes} are too many. Use fewer columns, or a "
            f"chain such as {setting('method', PartitionMCMC.name)}."
        )

    def order_fits(self) -> bool:
        """Whether a table over all sets of nodes fits into memory: not where not even all families do."""
        return False

    def structure_is_affordable(self) -> bool:
        """Whether sums over all graphs are within reach."""
        return False

    def edges_to_compare(self, modularity: str, patience: float) -> Floats | None:
        """The exact edges of a posterior, for chains to be compared with, if they take no longer than `patience`."""
        del modularity, patience
        return None

    def seconds(self, modularity: str) -> float:
        """Roughly how long the exact sums of a posterior take: there are none."""
        del modularity
        return math.inf

    @property
    def has_forward(self) -> bool:
        """Whether the sums over all orders are in memory."""
        return False

    @property
    def has_structure(self) -> bool:
        """Whether the sums over all graphs are in memory."""
        return False

    def log_weights_up_to_one_parent(self) -> Floats:
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

    #: How many workspaces of this size share the memory for tables that are kept.
    sharing: int = 1

    def __init__(self, log_weights: Floats, max_parents: int, engine: Engine, reporter: Reporter) -> None:
        super().__init__(None, engine, reporter)
        self.log_weights = log_weights
        self._max_parents = max_parents
        self._forward: Forward | None = None
        self._structure: StructurePosterior | None = None
        self._order_log_evidence: float | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Copies and pickles leave the forward table behind: it may be elsewhere, and is quickly made again."""
        return {**self.__dict__, "_forward": None}

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
        seconds = self.backend.structure_seconds(self.nodes)
        if patience / 5.0 < seconds < patience * 5.0:
            # Near the border the speed of this very machine decides.
            seconds = self.backend.structure_seconds(self.nodes, measured=True)
        return seconds <= patience

    def structure_evidence(self) -> float:
        """Log evidence when every graph counts once; half the work of `structure`, and no table is left."""
        return self.backend.structure_evidence(
            self.log_weights, self.max_parents, reporter=self.reporter, checkpoint=self.checkpoint
        )

    def affordable_structure_log_evidence(self) -> float:
        """The same where it is known or affordable; otherwise nan."""
        if self.structure_log_evidence is None and self.checkpoint.decided(
            "whether to sum over all graphs", self.structure_is_affordable, truth
        ):
            self.structure_log_evidence = self.structure_evidence()
        return np.nan if self.structure_log_evidence is None else self.structure_log_evidence

    def log_evidence(self, modularity: str) -> float:
        """Log evidence of one of the posteriors, for which no table over all graphs is left."""
        return self.order_log_evidence if modularity == "order" else self.structure_evidence()

    def _has_room(self, size: int) -> bool:
        """Whether all that share the memory can keep a table of this size; on a device or a cluster only one can."""
        if self.sharing == 1:
            return True
        return type(self.backend) is HostBackend and self.sharing * size <= KEPT_SHARE * memory.available_bytes()
