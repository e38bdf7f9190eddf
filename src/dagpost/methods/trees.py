"""Averaging over trees, or forests, only: exact for any number of variables (exact/trees.py)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dagpost._tools.checks import refusal
from dagpost._tools.spelling import either, setting
from dagpost.errors import InputError
from dagpost.methods.base import Draws, Method, Summed, Wanted
from dagpost.methods.targets import Target

if TYPE_CHECKING:
    from dagpost.exact.trees import TreePosterior
    from dagpost.posterior.workspace import Workspace

_TREES = Target(
    "trees",
    "trees only, each counted once",
    "Only trees are considered, each counted once: every variable but one has exactly one parent.",
    "all trees",
    most_parents=1,
)
_FORESTS = Target(
    "forests",
    "graphs of at most one parent a variable only, each counted once",
    "Only graphs in which no variable has more than one parent are considered, each counted once.",
    "all graphs of at most one parent a variable",
    most_parents=1,
)


@dataclass(frozen=True)
class Trees(Method):
    """Averaging over trees: every variable but one has exactly one parent (Meilă & Jaakkola 2006).

    Parameters
    ----------
    spanning
        False: over forests, that is all graphs in which no variable has more than one parent.

    >>> Trees().target, Trees(spanning=False).target
    ('trees', 'forests')
    """

    spanning: bool = True

    name = "trees"
    summary = "trees only, exact"
    citation = (
        "Meilă, M., & Jaakkola, T. (2006). Tractable Bayesian learning of tree belief networks. Statistics and "
        "Computing, 16. "
        "https://doi.org/10.1007/s11222-006-5535-3"
    )
    draws = "independent"
    quick_nodes = float("inf")
    mixes = True

    def __post_init__(self) -> None:
        """Check the settings."""
        if not isinstance(self.spanning, bool):
            raise refusal(self.spanning, "spanning", "Trees", "True or False")

    @property
    def target(self) -> Target:
        """Trees or forests."""
        return _TREES if self.spanning else _FORESTS

    @classmethod
    def targets(cls) -> Sequence[Target]:
        """Trees and forests."""
        return (_TREES, _FORESTS)

    def summed(self, workspace: Workspace, names: tuple[str, ...]) -> Summed:
        """By the matrix-tree theorem."""
        import numpy as np

        posterior = self._posterior(workspace, names)
        edges = posterior.families.T.copy()
        np.fill_diagonal(edges, 0.0)
        return Summed(posterior.log_evidence, edges)

    def log_mass(self, workspace: Workspace, names: tuple[str, ...]) -> float:
        """The evidence of what it considers."""
        return self._posterior(workspace, names).log_evidence

    def draw(self, workspace: Workspace, wanted: Wanted) -> Draws:
        """Independent trees."""
        from dagpost.exact.trees import draw_trees

        posterior = self._posterior(workspace, wanted.names)
        drawn = draw_trees(
            posterior, wanted.number, seed=wanted.seed, engine=workspace.engine, reporter=workspace.reporter
        )
        return Draws(*drawn, log_evidence=posterior.log_evidence)

    def _posterior(self, workspace: Workspace, names: tuple[str, ...]) -> TreePosterior:
        from dagpost.exact.trees import tree_posterior

        if self.spanning and workspace.max_parents == 0 < workspace.nodes - 1:
            forests = either("method=Trees(spanning=False)", f"--method {self.name}:spanning=false")
            raise InputError(
                f"In a tree every variable but one has a parent, and max_parents is 0. Set "
                f"{setting('max_parents', 1)} or more, or use {forests}, for forests."
            )
        weights = workspace.log_weights_up_to_one_parent
        return workspace.once(self, lambda: tree_posterior(weights(), spanning=self.spanning, names=names))
