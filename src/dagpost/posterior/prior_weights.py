"""What a prior by itself says of all graphs: the sum of its weights, and how many edges graphs have before the data.

A prior that looks at nothing but the number of parents is summed by sizes in no time (exact/by_size.py), as long as no
rule leaves edges out. Otherwise the same sums that give a posterior are made of the weights of the prior alone, over
the graphs that rules, limits and method leave: a pass for each density that is averaged over.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from dagpost._tools.progress import NO_PROGRESS, Reporter
from dagpost.exact.by_size import sum_by_size
from dagpost.posterior.component_workspace import ComponentWorkspace
from dagpost.posterior.exact_workspace import ExactWorkspace
from dagpost.priors.base import SizePrior, StructurePrior
from dagpost.priors.constraints import Constraints
from dagpost.priors.edge import log_odds
from dagpost.priors.log_prior import log_prior, log_prior_of_lists

if TYPE_CHECKING:
    from dagpost._tools.mixture import Mixture
    from dagpost.engines import Engine
    from dagpost.methods.base import Method, Study
    from dagpost.posterior.workspace import SummingWorkspace


class Before(NamedTuple):
    """What is said of graphs before the data; the last columns are indicators of regimes."""

    names: tuple[str, ...]
    prior: StructurePrior
    constraints: Constraints
    max_parents: int
    indicators: int = 0

    @classmethod
    def of_study(cls, study: Study) -> Before:
        """The same of a fit."""
        table, _, prior, constraints, max_parents = study
        return cls(table.names, prior, constraints, max_parents, len(table.regimes))

    @property
    def ordinary(self) -> int:
        """How many columns are those whose edges a density is about."""
        return len(self.names) - self.indicators

    @property
    def limit(self) -> int:
        """The most parents that a column can have."""
        return min(self.max_parents, len(self.names) - 1)

    @property
    def mixture(self) -> Mixture[StructurePrior] | None:
        """The densities that the prior averages over, if it does."""
        return self.prior.mixture(len(self.names))

    @property
    def leaves_out(self) -> bool:
        """Whether rules require edges, or leave some out."""
        required, barred = self.constraints.matrices(self.names, self.max_parents)
        return bool(required.any() or barred.any())

    def workspace(self, engine: Engine, reporter: Reporter = NO_PROGRESS, *, by_components: bool) -> SummingWorkspace:
        """The weights of the prior alone, in the place of those of scores and prior: averaged, those at even odds."""
        if by_components:
            lists = self.constraints.parent_lists(self.names, self.limit)
            weights = log_prior_of_lists(self.names, lists, self.prior, self.constraints)
            return ComponentWorkspace(lists, weights, engine, reporter)
        whole = log_prior(self.names, self.limit, self.prior, self.constraints)
        self.constraints.leave_unmodelled(self.names, whole)
        return ExactWorkspace(whole, self.limit, engine, reporter)

    def log_constants(
        self, method: Method | None, modularity: str, engine: Engine, *, by_components: bool
    ) -> list[float]:
        """For each density that is averaged over, the log of what all graphs that may be drawn weigh under its odds."""
        assert self.mixture is not None
        odds = [log_odds(own) for own in self.mixture.values]
        own_target = method is not None and method.modularity is None
        if not (self.indicators or own_target or self.leaves_out):
            sizes = range(self.limit + 1)
            return [sum_by_size(len(self.names), [own * size for size in sizes], modularity).log_sum for own in odds]
        even = self.workspace(engine, by_components=by_components)
        parts = (even.tilted(own, self.ordinary) for own in odds)
        if own_target:
            assert method is not None
            return [method.log_mass(part, self.names) for part in parts]
        return [part.log_evidence(modularity) for part in parts]

    def expected_edges(self, modularity: str) -> float | None:
        """How many edges a graph has; None where only sums over graphs can tell: with rules, or single edges."""
        choices: Sequence[StructurePrior] = [self.prior] if self.mixture is None else self.mixture.choices
        if self.indicators or self.leaves_out or not all(isinstance(own, SizePrior) for own in choices):
            return None
        sizes, nodes = range(self.limit + 1), len(self.names)
        shares = [0.0] if self.mixture is None else self.mixture.log_priors
        return math.fsum(
            math.exp(share)
            * sum_by_size(nodes, [own.log_weight_of_size(nodes, size) for size in sizes], modularity).edges
            for share, own in zip(shares, choices, strict=True)
            if isinstance(own, SizePrior)
        )
