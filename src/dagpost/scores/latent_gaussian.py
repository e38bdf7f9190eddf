"""How well do parents explain a node, among ordered levels, censored numbers and numbers? By their latent numbers.

Every column is a monotone image of latent numbers, and the graph is over these, with the score of `BGe`. A number is
known (its normal score, or itself), lies between bounds (a censored cell such as "<0.05"), has a rank only (levels in
an order: the latent numbers of a level lie above all of the level below), or is missing. So the probability of a graph
is proportional to

    p(G) times the integral of p_BGe(Z | G) over all latent tables Z that agree with the ranks and bounds

(the extended rank likelihood: Hoff, Annals of Applied Statistics 2007). Chains over latent tables find it, the ones
that complete gaps (mcmc/augmentation.py); a table of numbers without any censored or missing cell needs none.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, get_args

from dagpost._tools.checks import one_of
from dagpost.data.table import Columns, Table
from dagpost.scores.bge import BGe, gaussian_prior_in_words
from dagpost.scores.completing import Completer
from dagpost.scores.parameter_priors import LocalPrior

if TYPE_CHECKING:
    from dagpost.scores.latent_images import Images

Margins = Literal["normal-scores", "raw"]


@dataclass(frozen=True)
class LatentGaussian(BGe):
    """The Bayesian Gaussian score of the latent numbers behind ordered levels, censored numbers and numbers.

    Parameters
    ----------
    mean_weight, degrees_of_freedom, prior_mean, prior_scale
        The prior of the latent numbers, as in `BGe`; they have mean 0 and deviation 1 unless told otherwise.
    margins
        What columns of numbers are images of: "normal-scores" takes the normal quantiles of their ranks, so that any
        monotone transformation of a column changes nothing; "raw" takes the numbers, standardised.

    References
    ----------
    Hoff (2007), Extending the rank likelihood for semiparametric copula estimation. Annals of Applied Statistics 1.
    """

    name: ClassVar[str] = "latent-gaussian"
    summary: ClassVar[str] = "ordered levels, censored numbers and numbers: Gaussian network of latent numbers"
    columns: ClassVar[Columns] = "ordered"
    citation: ClassVar[str] = (
        "Hoff, P. D. (2007). Extending the rank likelihood for semiparametric copula estimation. Annals of Applied "
        "Statistics, 1. "
        "https://doi.org/10.1214/07-AOAS107"
    )

    drawn: ClassVar[str] = "latent numbers"
    tables: ClassVar[str] = "tables of latent numbers"

    prior_mean: float | tuple[float, ...] | None = 0.0
    prior_scale: float | tuple[float, ...] | None = 1.0
    margins: Margins = "normal-scores"

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        one_of(self.margins, "margins", get_args(Margins), "LatentGaussian")

    def in_words(self) -> str:
        """Its name, and what it is for."""
        return "latent Gaussian (ordered levels and numbers)"

    def in_detail(self) -> str:
        """Its name with its normal-Wishart prior."""
        return (
            "the Gaussian score of the latent numbers behind the columns, with a normal-Wishart prior "
            f"({gaussian_prior_in_words(self)})"
        )

    def assumes(self) -> str:
        """That latent numbers are normal, with linear effects, and how numbers enter."""
        numbers = (
            "Columns of numbers enter by their ranks, so that no rising transformation of them changes anything."
            if self.margins == "normal-scores"
            else "Columns of numbers enter as they are."
        )
        return (
            "Every column is taken for a rising image of latent numbers, which are normal and have linear effects on "
            f"each other; a level in an order stands for a stretch of them. {numbers}"
        )

    def kind_of_model(self) -> str:
        """What it makes of columns: images of latent numbers."""
        return "latent Gaussian"

    def modelled(self, table: Table, exogenous: Collection[str] = ()) -> Table:
        """The table of the latent numbers, with gaps where they are not known."""
        from dagpost.scores.latent_columns import latent_table

        # What is one already has ranks, if only of no column.
        return table if table.ranks else latent_table(table, self.margins, exogenous)

    def parameter_prior(self) -> LocalPrior:
        """That of local models of the columns as they are: coefficients are those of latent numbers."""
        return LocalPrior("dagpost.local.latent")

    def images(self, table: Table, latent: Table) -> Images:
        """From latent numbers back to the columns."""
        from dagpost.scores.latent_images import Images

        return Images(table, latent, self.margins)

    def completer(self, table: Table, max_parents: int) -> Completer:
        """What draws the latent numbers that are not known."""
        from dagpost.scores.latent_completion import LatentCompleter

        del max_parents
        return LatentCompleter(self.coefficient_prior(), table)
