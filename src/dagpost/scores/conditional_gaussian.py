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

from dagpost.data.table import Columns, Table
from dagpost.scores.base import Filling, Score
from dagpost.scores.bdeu import BDeu
from dagpost.scores.bge import (
    BGe,
    check_gaussian_prior,
    gaussian_prior_in_words,
    prior_of_columns,
    settled_prior,
)
from dagpost.scores.columns import part_of
from dagpost.scores.completing import Completer, ListScorer
from dagpost.scores.parameter_priors import (
    ConditionalGaussianPrior,
    DirichletPrior,
    NormalWishartPrior,
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
        "International Workshop on Artificial Intelligence and Statistics. "
        "https://proceedings.mlr.press/r3/bottcher01a.html"
    )
    choices = (*BDeu.choices, *BGe.choices)

    equivalent_sample_size: float = 5.0
    mean_weight: float = 1.0
    degrees_of_freedom: float | None = None
    prior_mean: float | tuple[float, ...] | None = None
    prior_scale: float | tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        """Check the parameters."""
        checked = strength(self.equivalent_sample_size, "equivalent_sample_size", "ConditionalGaussian")
        object.__setattr__(self, "equivalent_sample_size", checked)
        check_gaussian_prior(self)

    @property
    def dirichlet(self) -> BDeu:
        """The score of the columns of levels."""
        return BDeu(self.equivalent_sample_size)

    @property
    def gaussian(self) -> BGe:
        """The score of the columns of numbers in each combination of levels."""
        return BGe(self.mean_weight, self.degrees_of_freedom, self.prior_mean, self.prior_scale)

    def sinks(self, table: Table) -> tuple[str, ...]:
        """Columns of numbers lead to columns of numbers only."""
        return tuple(name for name, levels in zip(table.names, table.levels, strict=True) if levels is None)

    def settled(self, table: Table) -> ConditionalGaussian:
        """The prior that the observed cells of each column of numbers give, whatever is put in the gaps."""
        numbers = [column for column, levels in enumerate(table.levels) if levels is None]
        if not table.gap_count or not numbers:
            return self
        return replace(self, **settled_prior(self, self.parameter_prior().gaussian, part_of(table, numbers)))

    def completer(self, table: Table, max_parents: int) -> Completer | None:
        """What draws the cells that have no value: where there are both kinds, regressions of each column on others."""
        from dagpost.scores.chained_completion import ChainedCompleter

        one_kind = self._of_one_kind(table)
        return ChainedCompleter(table) if one_kind is None else one_kind.completer(table, max_parents)

    def begins_near(self, table: Table) -> bool:
        """Whether chains begin near their end: where there are both kinds, for cells are regressed on others."""
        return self._of_one_kind(table) is None

    def parameter_prior(self) -> ConditionalGaussianPrior:
        """A Dirichlet prior of levels, and a normal and Wishart prior of numbers in each combination of levels."""
        gaussian = NormalWishartPrior(self.mean_weight, self.degrees_of_freedom, self.prior_mean, self.prior_scale)
        return ConditionalGaussianPrior(
            "dagpost.local.conditional",
            dirichlet=DirichletPrior(self.equivalent_sample_size, shared=True),
            gaussian=gaussian,
        )

    def in_words(self) -> str:
        """Its name, and what it is for."""
        return "conditional Gaussian (numbers given levels)"

    def in_detail(self) -> str:
        """Its name with the priors for levels and for numbers."""
        return (
            "the conditional Gaussian score with Dirichlet priors for levels (equivalent sample size "
            f"{self.equivalent_sample_size:g}) and, for each combination of levels, a normal-Wishart prior for numbers "
            f"({gaussian_prior_in_words(self)})"
        )

    def assumes(self) -> str:
        """That numbers are normal given levels, and that no number leads to a level."""
        return (
            "Given each combination of the levels among its parents, a column of numbers is taken for normal, with "
            "linear effects of the numbers among its parents. Edges from columns of numbers to columns of levels are "
            "ruled out by the model: that there are none is not a finding."
        )

    def of_columns(self, columns: list[int], table: Table) -> ConditionalGaussian:
        """The prior that this one means for some of the columns: that of the columns of numbers among them."""
        numbers = [column for column, levels in enumerate(table.levels) if levels is None]
        kept = [numbers.index(column) for column in columns if table.levels[column] is None]
        return replace(self, **prior_of_columns(self, kept, len(numbers)))

    def fill_nodes(self, asked: Filling) -> None:
        """Write the scores of some of the columns; sets that none of them needs are left out."""
        from dagpost.scores.conditional_runs import fill_levels, fill_numbers

        one_kind = self._of_one_kind(asked.table)
        if one_kind is not None:
            one_kind.fill_nodes(asked)
        else:
            fill_levels(self, asked)
            fill_numbers(self, asked)

    def list_scorer(self, table: Table, max_parents: int, workers: int) -> ListScorer:
        """What scores listed families of a table with gaps, given their cells."""
        from dagpost.scores.listed_conditionals import ConditionalListScorer

        one_kind = self._of_one_kind(table)
        if one_kind is not None:
            return one_kind.list_scorer(table, max_parents, workers)
        return ConditionalListScorer(self, table, max_parents, workers)

    def _of_one_kind(self, table: Table) -> BDeu | BGe | None:
        """The score of a table whose columns are all of one kind."""
        if None not in table.levels:
            return self.dirichlet
        if all(levels is None for levels in table.levels):
            return self.gaussian
        return None
