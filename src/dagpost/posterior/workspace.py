"""The weights behind one model and what is made from them: when first needed, kept while it is small enough to keep.

A model file holds the weights but not the tables, which can be far larger than the file and are quickly made again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Flags, Floats, Integers, Masks
from dagpost._tools.progress import Reporter
from dagpost._tools.schema import truth, whole
from dagpost._tools.spelling import setting
from dagpost.checkpoints import NO_CHECKPOINT, Checkpoint
from dagpost.engines import Engine, ThreadEngine
from dagpost.engines.host.backend import ExactBackend, HostBackend, backend_of
from dagpost.errors import InputError
from dagpost.exact.kbest import tie_tolerance
from dagpost.families.considered_sets import ConsideredSets
from dagpost.families.family_sums import FamilyTables, FamilyWeights, family_tables
from dagpost.families.parent_lists import ParentLists, words_of
from dagpost.families.pruning import considered_from_candidates
from dagpost.methods.block_gibbs import BlockGibbs
from dagpost.sampling.outside_parents import numbers_of_masks
from dagpost.search.hill_climbing import log_weights_of_graphs

if TYPE_CHECKING:
    from dagpost.mcmc.augmentation import Passes
    from dagpost.posterior.component_workspace import ComponentWorkspace
    from dagpost.posterior.exact_workspace import ExactWorkspace

    #: What has the weights of all families that have any, and sums them up.
    SummingWorkspace: TypeAlias = ExactWorkspace | ComponentWorkspace

Made = TypeVar("Made")


#: One array a node, by the numbers of its parent sets; together where all nodes have as many.
Families: TypeAlias = Floats | tuple[Floats, ...]


class Sums(NamedTuple):
    """What sums over all graphs ("structure"), or orders ("order"), give, and what they were made on.

    `error_bound` is how far rounding may have moved a probability: any of them where the sums alternate ("structure"),
    in proportion to itself where they do not ("order"). `paths` (source, target) is None where there are none, and nan
    where a pair is left to draws. `shares` are the posterior probabilities of the parts of what is added up.
    """

    modularity: str
    log_evidence: float
    families: Families
    edges: Floats
    paths: Floats | None
    error_bound: float
    engine: str
    shares: tuple[float, ...] = (1.0,)


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
            result[node, node] = small[node][0]
            if len(small[node]) >= nodes:
                result[node, np.arange(nodes) != node] = small[node][1:nodes]
        return result

    def _log_weights_of_small_sets(self) -> Sequence[Floats]:
        return tuple(self.weights.small)

    def _all_weights(self) -> Sequence[Floats]:
        return self.weights.inner, self.weights.small


class OwnSums(Workspace):
    """A workspace that has all families that have any weight, and sums them up by itself."""

    #: How many workspaces of this size share the memory for tables that are kept.
    sharing: int = 1

    #: The log weights of the parent sets of every node: an array a node, or a row where all have as many.
    log_weights: Any

    def __init__(self, lists: ParentLists, log_weights: Any, engine: Engine, reporter: Reporter) -> None:
        super().__init__(None, engine, reporter, lists.nodes, lists.max_parents)
        self.lists, self.log_weights = lists, log_weights

    @property
    def parts(self) -> tuple[Any, ...]:
        """The workspace itself."""
        return (self,)

    def own_weights(self, node: int) -> Floats:
        """The log weight of every parent set of a node."""
        weights: Floats = self.log_weights[node]
        return weights

    def masks_of_sets(self, node: int, bits: Masks) -> Masks:
        """Every parent set of a node as a mask, in which column `j` has the bit `bits[j]`."""
        return self.lists.masks(node, bits)

    def parents_of_sets(self, node: int, numbers: Integers) -> list[tuple[int, ...]]:
        """Some parent sets of a node as columns."""
        return [self.lists.parents(node, int(number)) for number in numbers]

    @property
    def tie_tolerance(self) -> float:
        """How far apart the log weights of two graphs may be and still count as equal."""
        return tie_tolerance(np.array([[own.max()] for own in self.log_weights]))

    def log_joint(self, parents: Masks) -> Floats:
        """Log p(graph, data) of graphs, looked up family by family."""
        total = np.zeros(len(parents))
        words = parents.reshape(len(parents), self.nodes, words_of(self.nodes))
        for node, weights in enumerate(self.log_weights):
            numbers = numbers_of_masks(self.lists, node, words[:, node].astype(np.uint64))
            total += np.where(numbers < 0, -math.inf, weights[numbers])
        return total

    def restricted(self, allowed_sets: Mapping[int, Flags]) -> Any:
        """The weights that conditions on the parents of some nodes leave."""
        weights = list(self.log_weights)
        for node, allowed in allowed_sets.items():
            weights[node] = np.where(allowed, weights[node], -np.inf)
        return self._with(weights, changed=list(allowed_sets))

    def tilted(self, log_odds: float, columns: int) -> Any:
        """The weights times the odds of an edge, once for every parent among the first `columns`."""

        def count(node: int) -> Integers:
            edges = np.zeros(len(self.log_weights[node]), dtype=np.int64)
            for start in range(0, min(columns, self.nodes), 64):
                bits = np.zeros(self.nodes, dtype=np.uint64)
                word = bits[start : min(start + 64, columns)]
                word[:] = np.uint64(1) << np.arange(len(word), dtype=np.uint64)
                edges += np.bitwise_count(self.masks_of_sets(node, bits))
            return edges

        edges = self.once(("edges", columns), lambda: [count(node) for node in range(self.nodes)])
        return self._with([own + log_odds * number for own, number in zip(self.log_weights, edges, strict=True)])

    def _with(self, log_weights: list[Floats], changed: Sequence[int] | None = None) -> Any:
        """The same with other weights, of the `changed` nodes or of all."""
        raise NotImplementedError

    def _all_weights(self) -> Sequence[Floats]:
        return tuple(self.log_weights)

    def _log_weights_of_small_sets(self) -> Sequence[Floats]:
        return tuple(self.log_weights)

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
