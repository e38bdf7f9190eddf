"""What a prior by itself says of all graphs: the sum of its weights, and how many edges graphs have before the data.

A prior that looks at nothing but the number of parents is summed by sizes in no time (exact/by_size.py), as long as no
rule leaves edges out. Otherwise the same sums that give a posterior are made of the weights of the prior alone, over
the graphs that rules, limits and method leave: a pass for each density that is averaged over.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost._tools.progress import NO_PROGRESS, Reporter
from dagpost.exact.by_size import sum_by_size
from dagpost.exact.components import Components
from dagpost.families.numbering import family_count
from dagpost.posterior.component_workspace import ComponentWorkspace
from dagpost.posterior.exact_workspace import ExactWorkspace
from dagpost.priors.base import SizePrior, StructurePrior
from dagpost.priors.constraints import Constraints
from dagpost.priors.edge import log_odds
from dagpost.priors.log_prior import log_prior, log_prior_of_lists

if TYPE_CHECKING:
    from dagpost._tools.mixture import Mixture
    from dagpost.engines import Engine
    from dagpost.methods.base import Method
    from dagpost.posterior.workspace import SummingWorkspace
    from dagpost.priors.study import Study


#: Of more columns, sums by size take seconds.
_MOST_BY_SIZE = 128
#: Columns among which cycles can close, and families in all, that are summed over unasked: a fraction of a second.
_MOST_TOGETHER, _MOST_FAMILIES = 14, 200_000


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
        odds = [log_odds(own) for own in self.mixture.numbers]
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

    def edges(
        self, modularity: str, engine: Engine, reporter: Reporter = NO_PROGRESS, *, by_components: bool
    ) -> Floats:
        """The probability of every edge (parent, child), by the same sums as a posterior's."""
        even = self.workspace(engine, reporter, by_components=by_components)
        if self.mixture is None:
            return np.clip(even.summed(modularity).edges, 0.0, 1.0)
        tilted = (even.tilted(log_odds(own), self.ordinary) for own in self.mixture.numbers)
        shares = np.exp(self.mixture.log_priors)
        found = [share * part.summed(modularity).edges for share, part in zip(shares, tilted, strict=True)]
        mixed: Floats = np.clip(np.sum(found, axis=0), 0.0, 1.0)
        return mixed

    def joined(self, modularity: str, engine: Engine) -> float | None:
        """The probability that two columns are joined, on average over those pairs that rules leave open.

        None where none are, and where sums over graphs would take seconds.
        """
        nodes, by_components = self.ordinary, modularity == "structure"
        if self.by_size and nodes <= _MOST_BY_SIZE:
            return None if nodes < 2 else self._expected_edges(modularity) / math.comb(nodes, 2)
        required, barred = self.constraints.matrices(self.names, self.max_parents)
        fixed = required | required.T | (barred & barred.T)
        open_pairs = np.triu(~fixed[:nodes, :nodes], 1)
        lists = self.constraints.parent_lists(self.names, self.limit)
        sizes = Components.of_edges(lists.matrix).sizes if by_components else [len(self.names)]
        families = sum(family_count(len(own), lists.max_parents) for own in lists.candidates)
        if not open_pairs.any() or max(sizes) > _MOST_TOGETHER or families > _MOST_FAMILIES:
            return None
        edges = self.edges(modularity, engine, by_components=by_components)[:nodes, :nodes]
        return float((edges + edges.T)[open_pairs].mean())

    @property
    def by_size(self) -> bool:
        """Whether nothing counts but how many parents each column has."""
        choices: Sequence[StructurePrior] = [self.prior] if self.mixture is None else self.mixture.choices
        return not (self.indicators or self.leaves_out) and all(isinstance(own, SizePrior) for own in choices)

    def _expected_edges(self, modularity: str) -> float:
        """How many edges a graph has, where nothing counts but the number of parents."""
        choices: Sequence[StructurePrior] = [self.prior] if self.mixture is None else self.mixture.choices
        sizes, nodes = range(self.limit + 1), len(self.names)
        shares = [0.0] if self.mixture is None else self.mixture.log_priors
        return sum(
            math.exp(share)
            * sum_by_size(nodes, [own.log_weight_of_size(nodes, size) for size in sizes], modularity).edges
            for share, own in zip(shares, choices, strict=True)
            if isinstance(own, SizePrior)
        )
