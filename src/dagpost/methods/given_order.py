"""Averaging over the graphs that fit one order: exact for any number of variables (exact/given_order.py)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dagpost._tools.checks import members
from dagpost._tools.text import position_of
from dagpost.errors import InputError
from dagpost.methods.base import Draws, Method, Summed, Wanted
from dagpost.methods.targets import Target

if TYPE_CHECKING:
    from dagpost.exact.given_order import GivenOrderPosterior
    from dagpost.posterior.workspace import Workspace


@dataclass(frozen=True)
class GivenOrder(Method):
    """Averaging over the graphs that fit one order: no variable has a parent that comes later (Dash & Cooper 2004).

    Parameters
    ----------
    order
        Names, causes first; None: as the columns stand in the table.

    >>> GivenOrder(["Age", "Smoking", "Pressure"])
    GivenOrder(order=('Age', 'Smoking', 'Pressure'))
    """

    order: Sequence[str] | None = None

    name = "given-order"
    summary = "graphs that fit one order only, exact"
    citation = (
        "Dash, D., & Cooper, G. F. (2004). Model averaging for prediction with discrete Bayesian networks. Journal of "
        "Machine Learning Research, 5. "
        "https://jmlr.org/papers/v5/dash04a.html"
    )
    draws = "independent"
    quick_nodes = float("inf")
    mixes = True

    def __post_init__(self) -> None:
        """Bring the order into a tuple."""
        if self.order is None:
            return
        object.__setattr__(self, "order", members(self.order, "order", "GivenOrder", allowed="a list of names"))

    @property
    def target(self) -> Target:
        """The graphs of one order."""
        return Target(
            self.name,
            "graphs that fit the given order only, each counted once",
            "Only graphs that fit the given order of the variables are considered, each counted once.",
            "all graphs that fit the given order",
            directions="All directions are those of the given order, not a finding.",
        )

    def check_names(self, names: Sequence[str]) -> None:
        """Refuse an order that does not name every column once."""
        self.positions(tuple(names))

    def fixed_order(self, names: tuple[str, ...]) -> Sequence[int]:
        """The given order."""
        return self.positions(names)

    def positions(self, names: tuple[str, ...]) -> list[int]:
        """The order as column numbers; every column must be there once."""
        if self.order is None:
            return list(range(len(names)))
        positions = [position_of(name, names) for name in self.order]
        missing = [name for name in names if name not in self.order]
        twice = [name for name in names if list(self.order).count(name) > 1]
        if missing or twice:
            problem = f"lacks {missing[0]!r}" if missing else f"has {twice[0]!r} more than once"
            raise InputError(f"The order of GivenOrder {problem}. Name every column once, causes first.")
        return positions

    def summed(self, workspace: Workspace, names: tuple[str, ...]) -> Summed:
        """Every variable by itself."""
        posterior = self._posterior(workspace, names)
        return Summed(posterior.log_evidence, posterior.edges)

    def log_mass(self, workspace: Workspace, names: tuple[str, ...]) -> float:
        """The evidence of what it considers."""
        return self._posterior(workspace, names).log_evidence

    def draw(self, workspace: Workspace, wanted: Wanted) -> Draws:
        """Independent graphs, variable by variable."""
        from dagpost.sampling.given_order import draw_given_order

        posterior = self._posterior(workspace, wanted.names)
        drawn = draw_given_order(
            workspace.families,
            posterior,
            wanted.number,
            seed=wanted.seed,
            engine=workspace.engine,
            reporter=workspace.reporter,
        )
        return Draws(*drawn, log_evidence=posterior.log_evidence)

    def _posterior(self, workspace: Workspace, names: tuple[str, ...]) -> GivenOrderPosterior:
        from dagpost.exact.given_order import given_order_posterior

        return workspace.once(
            self, lambda: given_order_posterior(workspace.families, self.positions(names), names=names)
        )
