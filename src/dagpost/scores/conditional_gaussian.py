"""How well do parents of both kinds explain a node, of levels or of numbers? The conditional Gaussian network.

A column of levels has parents of levels only, with the Dirichlet score of `BDeu`. A column of numbers has, for each
combination of levels of its discrete parents `D`, a Gaussian regression of its own on its continuous parents `C`; its
score is that of `BGe`, on the rows of each combination that occurs, summed over combinations:

    score(i, D + C) = sum over d of log p(Y_(C + i) in the rows with D = d) - log p(Y_C in the rows with D = d)

Every combination has a normal-Wishart prior of its own, that of `BGe` over all columns of numbers (Lauritzen 1992;
Bottcher 2001). Graphs that say the same about independence have the same score: an edge between a column of levels and
one of numbers is never reversed, and edges between columns of one kind are reversed only where both have the same
other parents. That no column of numbers leads to one of levels is a statement of the model, not a finding.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost._tools.progress import Reporter
from dagpost.checkpoints import NO_CHECKPOINT, Checkpoint
from dagpost.data.table import Columns, Table
from dagpost.engines import Engine
from dagpost.families.masks import members_of
from dagpost.families.numbering import parent_sets
from dagpost.scores.base import Completer, Score, score_of_family
from dagpost.scores.bdeu import BDeu
from dagpost.scores.bge import BGe
from dagpost.scores.columns import part_of
from dagpost.scores.parameter_priors import (
    ConditionalGaussianPrior,
    DirichletPrior,
    NormalWishartPrior,
    standard_deviations,
    strength,
)


@dataclass(frozen=True)
class ConditionalGaussian(Score):
    """The score of networks of levels and numbers, which gives the same value to DAGs that say the same.

    Parameters
    ----------
    equivalent_sample_size
        How many imagined rows the prior of the columns of levels is worth, as in `BDeu`.
    mean_weight, degrees_of_freedom, prior_mean, prior_scale
        The prior of the columns of numbers in each combination of levels, as in `BGe`; where it is left to the data,
        means and deviations are those of all rows.
    """

    name: ClassVar[str] = "conditional-gaussian"
    summary: ClassVar[str] = "levels and numbers: Gaussian regressions for each combination of levels"
    equivalent: ClassVar[bool] = True
    columns: ClassVar[Columns] = "mixed"
    citation: ClassVar[str] = (
        "Bottcher, S. G. (2001). Learning Bayesian networks with mixed variables. Proceedings of the Eighth "
        "International Workshop on Artificial Intelligence and Statistics."
    )

    equivalent_sample_size: float = 5.0
    mean_weight: float = 1.0
    degrees_of_freedom: float | None = None
    prior_mean: float | tuple[float, ...] | None = None
    prior_scale: float | tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        """Check the parameters."""
        checked = strength(self.equivalent_sample_size, "equivalent_sample_size", "ConditionalGaussian")
        object.__setattr__(self, "equivalent_sample_size", checked)

    def sinks(self, table: Table) -> tuple[str, ...]:
        """Columns of numbers lead to columns of numbers only."""
        return tuple(name for name, levels in zip(table.names, table.levels, strict=True) if levels is None)

    def parameter_prior(self) -> ConditionalGaussianPrior:
        """A Dirichlet prior of levels, and a normal and Wishart prior of numbers in each combination of levels."""
        return ConditionalGaussianPrior(DirichletPrior(self.equivalent_sample_size, shared=True), self._number_prior())

    def settled(self, table: Table) -> ConditionalGaussian:
        """The prior that the observed cells of each column of numbers give, whatever is put in the gaps."""
        from dagpost.scores.gaussian_completion import observed_moments

        numbers = [column for column, levels in enumerate(table.levels) if levels is None]
        if not table.gap_count or not numbers:
            return self
        part = part_of(table, numbers)
        means, found = observed_moments(part)
        deviations = self._number_prior().deviations(part.names, found)
        return replace(
            self,
            prior_mean=tuple(means.tolist()) if self.prior_mean is None else self.prior_mean,
            prior_scale=tuple(deviations.tolist()) if self.prior_scale is None else self.prior_scale,
        )

    def completer(self, table: Table, max_parents: int) -> Completer:
        """What draws the cells that have no value: regressions first, given all cells, and then the rows."""
        from dagpost.scores.conditional_completion import ConditionalCompleter

        del max_parents
        return ConditionalCompleter(self.equivalent_sample_size, self.settled(table)._number_prior(), table)

    def _number_prior(self) -> NormalWishartPrior:
        """The prior of the columns of numbers in each combination of levels."""
        return NormalWishartPrior(self.mean_weight, self.degrees_of_freedom, self.prior_mean, self.prior_scale)

    def in_words(self) -> str:
        """Its name, and what it is for."""
        return "conditional Gaussian (numbers given levels)"

    def fill(
        self,
        table: Table,
        max_parents: int,
        values: Floats,
        engine: Engine,
        reporter: Reporter,
        checkpoint: Checkpoint = NO_CHECKPOINT,
    ) -> None:
        """Write the score of every family of at most `max_parents` parents into `values`."""
        del engine, reporter, checkpoint
        values[:] = -np.inf
        nodes, numeric = len(table.names), [levels is None for levels in table.levels]
        numbers = [column for column in range(nodes) if numeric[column]]
        gaussian, dirichlet = self._gaussian(table, numbers), BDeu(self.equivalent_sample_size)
        for node in range(nodes):
            others = [other for other in range(nodes) if other != node]
            for place, mask in enumerate(parent_sets(nodes - 1, min(max_parents, nodes - 1)).tolist()):
                parents = [others[bit] for bit in members_of(mask)]
                continuous = [numbers.index(parent) for parent in parents if numeric[parent]]
                discrete = [parent for parent in parents if not numeric[parent]]
                if numeric[node]:
                    rows = [*continuous, numbers.index(node)]
                    values[node, place] = sum(
                        score_of_family(gaussian, part_of(own, numbers), rows) for own in _by_levels(table, discrete)
                    )
                elif not continuous:
                    values[node, place] = score_of_family(dirichlet, table, [*discrete, node])

    def _gaussian(self, table: Table, numbers: list[int]) -> BGe:
        """The prior of the columns of numbers, with what all rows say of it."""
        if not numbers:
            return BGe()
        gaussian = BGe(self.mean_weight, self.degrees_of_freedom, self.prior_mean, self.prior_scale)
        part = part_of(table, numbers)
        prior, weights, data = gaussian.parameter_prior(), part.weights.astype(np.float64), part.values()
        mean = prior.mean(part.names, data, weights)
        scale = prior.deviations(part.names, standard_deviations(data, weights))
        return BGe(self.mean_weight, self.degrees_of_freedom, tuple(mean.tolist()), tuple(scale.tolist()))


def _by_levels(table: Table, columns: list[int]) -> list[Table]:
    """The rows of each combination of levels that occurs."""
    if not columns:
        return [table]
    codes = np.stack([table.columns[column] for column in columns], axis=1)
    _, which = np.unique(codes, axis=0, return_inverse=True)
    return [table.of_rows(np.flatnonzero(which.ravel() == own)) for own in range(int(which.max()) + 1)]
