"""The weights behind one model and what is made from them: when first needed, kept while it is small enough to keep.

A model file holds the weights but not the tables, which can be far larger than the file and are quickly made again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats, Masks
from dagpost._tools.progress import Reporter
from dagpost._tools.schema import truth, whole
from dagpost._tools.spelling import setting
from dagpost.checkpoints import NO_CHECKPOINT, Checkpoint
from dagpost.engines import Engine, ThreadEngine
from dagpost.engines.host.backend import ExactBackend, HostBackend, backend_of
from dagpost.errors import InputError
from dagpost.families.considered_sets import ConsideredSets
from dagpost.families.family_sums import FamilyTables, FamilyWeights, family_tables
from dagpost.families.pruning import considered_from_candidates
from dagpost.methods.block_gibbs import BlockGibbs
from dagpost.search.hill_climbing import log_weights_of_graphs

if TYPE_CHECKING:
    from dagpost.mcmc.augmentation import Passes
    from dagpost.posterior.component_workspace import ComponentWorkspace
    from dagpost.posterior.exact_workspace import ExactWorkspace

    #: What has the weights of all families that have any, and sums them up.
    SummingWorkspace: TypeAlias = ExactWorkspace | ComponentWorkspace

Made = TypeVar("Made")


class Sums(NamedTuple):
    """What sums over all graphs, or orders, give, and what they were made on.

    `families` has an array a node. `error_bound` is that of `ExactResults`. `paths` (source, target) is None where
    there are none, and nan where a pair is left to draws.
    """

    log_evidence: float
    families: Floats | tuple[Floats, ...]
    edges: Floats
    paths: Floats | None
    error_bound: float
    engine: str


class Drawn(NamedTuple):
    """Independent graphs with the log weight of each, and the log evidence of all graphs."""

    parents: Masks
    log_joint: Floats
    log_evidence: float


class Workspace:
    """The weights of the families of one model, as far as chains need them."""

    #: Log evidence when every graph counts once, where it is known.
    structure_log_evidence: float | None = None
    #: Where the sums are taken over parts of the table, these in words.
    by_components: str = ""
    #: Where rules were given and exact sums are out of reach all the same: which rule would bring them back.
    splitting_hint: str = ""
    #: What the sums over all graphs were made on: small ones stay on threads, whatever the engine.
    structure_engine: str = HostBackend.name

    #: Where the table has gaps: what chains that complete it share (mcmc/augmentation.py).
    passes: Passes | None = None

    def __init__(
        self, weights: FamilyWeights | None, engine: Engine, reporter: Reporter, nodes: int = 0, max_parents: int = 0
    ) -> None:
        self._weights = weights
        #: Number of variables, those that are not modelled included, and the most parents that one may have.
        self.nodes = nodes if weights is None else weights.nodes
        self.max_parents = max_parents if weights is None else weights.max_parents
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

    @cached_property
    def families(self) -> FamilyTables:
        """Sums of weights, looked up by chains at every step."""
        return family_tables(self.weights, engine=self.engine)

    @cached_property
    def considered(self) -> ConsideredSets:
        """The parent sets that matter, as chains over graphs read them."""
        return considered_from_candidates(self.weights, engine=self.engine)

    @property
    def considered_words(self) -> str:
        """Which parent sets chains consider, in words."""
        return self.weights.describe()

    def log_joint(self, parents: Masks) -> Floats:
        """Log p(graph, data) of graphs given as parent masks (graphs, nodes)."""
        return log_weights_of_graphs(self.families, parents)

    @property
    def parts(self) -> tuple[SummingWorkspace, ...]:
        """Those whose posteriors are mixed, each with the weights of all families: itself, where there is one only."""
        return ()

    @property
    def log_priors(self) -> tuple[float, ...]:
        """Log of the prior probability of each part."""
        return (0.0,) * len(self.parts)

    @property
    def largest(self) -> int:
        """The most variables that are summed over together: what sums and draws cost hangs on it."""
        return self.nodes

    def summing(self, asked_by: str) -> SummingWorkspace:
        """The workspace itself, if it has all families that have any weight; otherwise an error for who needs them."""
        return self.all_families(asked_by)

    def all_families(self, asked_by: str) -> ExactWorkspace:
        """The workspace itself, if it has the weights of all families; otherwise an error for who needs them."""
        raise InputError(
            f"{asked_by!r} needs tables over all sets of variables; {self.nodes} are too many. Use fewer columns, or a "
            f"chain such as {setting('method', BlockGibbs.name)}."
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


class OwnSums(Workspace):
    """A workspace that has all families that have any weight, and sums them up by itself."""

    #: How many workspaces of this size share the memory for tables that are kept.
    sharing: int = 1

    def summing(self, asked_by: str) -> Any:
        """The workspace itself."""
        del asked_by
        return self

    def structure_evidence(self) -> float:
        """Log evidence when every graph counts once, summed anew."""
        raise NotImplementedError

    def log_evidence(self, modularity: str) -> float:
        """Log evidence of one of the posteriors, which stays known; no table over all graphs is left for it."""
        if modularity == "order":
            return self.all_families("order").order_log_evidence
        if self.structure_log_evidence is None:
            self.structure_log_evidence = self.structure_evidence()
        return self.structure_log_evidence

    def affordable_structure_log_evidence(self) -> float:
        """The same where every graph counts once, if it is known or affordable; otherwise nan."""
        known = self.structure_log_evidence is not None
        if not known and not self.checkpoint.decided(
            "whether to sum over all graphs", self.structure_is_affordable, truth
        ):
            return math.nan
        return self.log_evidence("structure")
