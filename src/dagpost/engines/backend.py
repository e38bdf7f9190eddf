"""The exact sums over all orders and graphs, wherever the tables stand.

An engine that runs blocks of Python and Numba code needs no back end: its sums are those of `HostBackend`. An engine
that keeps tables elsewhere, on a device or on a cluster, brings a class that derives from `HostBackend` and overrides
what it does itself. Callers never know which it is: a forward table goes back to the back end that made it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from dagpost._tools.progress import NO_PROGRESS, Reporter, Stage
from dagpost.checkpoints import NO_CHECKPOINT, Checkpoint

if TYPE_CHECKING:
    import numpy as np

    from dagpost._tools.arrays import Floats, Masks
    from dagpost.exact.order import Forward, ForwardTable
    from dagpost.exact.structure import StructurePosterior, StructureTables
    from dagpost.sampling.dags import RankedFamilies


class ExactBackend(ABC):
    """All that an engine computes from the weights of the families, in tables over all sets of nodes."""

    #: Kept in the provenance of what comes from these sums.
    name: ClassVar[str]
    #: Whether the tables stand in the memory of this process.
    in_this_process: ClassVar[bool] = False

    @abstractmethod
    def order_fits(self, nodes: int, max_parents: int) -> bool:
        """Whether the table of the sums over all orders fits into memory now."""

    @abstractmethod
    def require_order(self, nodes: int, max_parents: int) -> None:
        """Refuse, with the figures, a table that does not fit."""

    @abstractmethod
    def order_seconds(self, nodes: int) -> float:
        """Roughly how long all families take when a graph counts once for every order."""

    @abstractmethod
    def keeps_order(self, nodes: int) -> bool:
        """Whether a forward table is small enough to stay with the model."""

    @abstractmethod
    def structure_fits(self, nodes: int, max_parents: int) -> bool:
        """Whether the tables of the sums over all graphs fit into memory now."""

    @abstractmethod
    def structure_seconds(self, nodes: int, *, measured: bool = False) -> float:
        """Roughly how long the posterior takes when every graph counts once; `measured`: at the speed of now."""

    @abstractmethod
    def keeps_structure(self, nodes: int, max_parents: int) -> bool:
        """Whether the tables of a posterior are small enough to stay with the model."""

    @abstractmethod
    def forward_table(
        self,
        log_weights: Floats,
        max_parents: int,
        *,
        reporter: Reporter = NO_PROGRESS,
        checkpoint: Checkpoint = NO_CHECKPOINT,
    ) -> Forward:
        """Sums over all orders of every set of nodes (exact/order.py)."""

    @abstractmethod
    def family_probabilities(
        self,
        forward: Any,
        *,
        reporter: Reporter = NO_PROGRESS,
        keep_forward: bool = True,
        checkpoint: Checkpoint = NO_CHECKPOINT,
    ) -> Floats:
        """Posterior probability of every family when a graph counts once for every order (exact/order.py)."""

    @abstractmethod
    def draw_dags(
        self, forward: Any, ranked: Callable[[], RankedFamilies], uniforms: Floats, *, stage: Stage
    ) -> tuple[Masks, Floats]:
        """One graph for each row of numbers (sampling/): parent masks, and the log weight of each graph.

        Counts every graph on `stage` as often as `draw_units` says.
        """

    @abstractmethod
    def draw_units(self, forward: Any) -> int:
        """How often `draw_dags` counts a graph."""

    @abstractmethod
    def on_host(self, forward: Any) -> ForwardTable:
        """A forward table as the algorithms of the host take it."""

    @abstractmethod
    def structure_posterior(
        self,
        log_weights: Floats,
        max_parents: int,
        *,
        reporter: Reporter = NO_PROGRESS,
        checkpoint: Checkpoint = NO_CHECKPOINT,
    ) -> StructurePosterior:
        """Evidence, families and paths when every graph counts once (exact/structure.py)."""

    @abstractmethod
    def structure_evidence(
        self,
        log_weights: Floats,
        max_parents: int,
        *,
        reporter: Reporter = NO_PROGRESS,
        checkpoint: Checkpoint = NO_CHECKPOINT,
    ) -> float:
        """Log evidence when every graph counts once."""

    @abstractmethod
    def sample_layers(
        self,
        tables: StructureTables,
        ranked: RankedFamilies,
        count: int,
        *,
        seed: np.random.SeedSequence,
        reporter: Reporter = NO_PROGRESS,
        checkpoint: Checkpoint = NO_CHECKPOINT,
    ) -> tuple[Masks, Floats]:
        """Independent graphs when every graph counts once (sampling/layers.py)."""

    @abstractmethod
    def descendant_sets(self, tables: StructureTables, node: int, *, reporter: Reporter = NO_PROGRESS) -> Floats:
        """The probability of every set of descendants of a node when every graph counts once."""

    @abstractmethod
    def ancestor_sets(self, tables: StructureTables, node: int, *, reporter: Reporter = NO_PROGRESS) -> Floats:
        """The probability of every set of ancestors of a node when every graph counts once."""
