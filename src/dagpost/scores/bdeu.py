"""How well do discrete parents explain a discrete node? The marginal likelihood under Dirichlet priors.

With `N(x, p)` rows in which node `i` has level `x` and its parents configuration `p`,

    score_i(P) = sum over p of [ log Gamma(a r) - log Gamma(a r + N(p)) ]
               + sum over p, x of [ log Gamma(a + N(x, p)) - log Gamma(a) ]

for a node of `r` levels (Cooper & Herskovits 1992; Heckerman, Geiger & Chickering 1995). Dirichlet scores differ in the
parameter `a` of a cell: `BDeu` shares an equivalent sample size out evenly among the cells of a family, so that DAGs
which say the same about independence get the same score; `BDe` and `K2` take the same `a` for every cell. Averaged over
several sizes, `BDeu` is a mixture: each size counts by its prior, which is uniform, times its evidence. Configurations
that do not occur add nothing, so cost and memory are those of counting (`dagpost.scores.counting`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal

from dagpost._tools.checks import refusal, whole_number
from dagpost._tools.mixture import Mixture, evenly
from dagpost._tools.spelling import either
from dagpost.data.cutting import LARGEST_BINS
from dagpost.errors import InputError
from dagpost.scores.counted import CountedScore
from dagpost.scores.parameter_priors import DirichletPrior, strength

if TYPE_CHECKING:
    from collections.abc import Collection

    from dagpost.data.table import Table
    from dagpost.scores.base import Score
    from dagpost.scores.cells import CellFunction

AVERAGE = "average"
#: What "average" stands for: from a prior worth two rows to one worth a small table, in steps of a factor of about
#: five, since answers change with the ratio of sizes. On tables of levels with known truth (benchmarks/worlds.py, seeds
#: for choosing) these four lose less than 1, 2, 5, 10, 20 and 50: 0.235 against 0.255, in two thirds of the time.
SIZES = (2.0, 10.0, 50.0, 200.0)


@dataclass(frozen=True)
class BDeu(CountedScore):
    """The Bayesian Dirichlet score with a likelihood-equivalent uniform prior.

    Parameters
    ----------
    equivalent_sample_size
        How many imagined rows the prior is worth, in all. The result can depend on it a good deal: small
        values favour few edges, large ones many. ``"average"`` picks none: the posterior is averaged over 2, 10,
        50 and 200, each as probable as the others beforehand and weighted by its exact evidence; several numbers, over
        these. Methods without exact evidence (chains, bootstrap) are refused.
    bins
        Into how many levels, with about as many rows in each, columns of numbers are cut where no recipe says it.

    >>> BDeu(equivalent_sample_size=5)
    BDeu(equivalent_sample_size=5.0)
    >>> BDeu("average")
    BDeu(equivalent_sample_size=(2.0, 10.0, 50.0, 200.0))
    >>> BDeu((1, 10)).in_words()
    'BDeu, averaged over the equivalent sample sizes 1 and 10'

    References
    ----------
    Heckerman, Geiger & Chickering (1995), Learning Bayesian networks: the combination of knowledge and
    statistical data. Machine Learning 20.
    """

    name: ClassVar[str] = "bdeu"
    summary: ClassVar[str] = "Dirichlet prior worth an equivalent sample size"
    equivalent: ClassVar[bool] = True
    citation: ClassVar[str] = (
        "Heckerman, D., Geiger, D., & Chickering, D. M. (1995). Learning Bayesian networks: the combination of "
        "knowledge and statistical data. Machine Learning, 20. "
        "https://doi.org/10.1007/BF00994016"
    )
    choices = (("equivalent sample size", "equivalent_sample_size", (1.0, 5.0, 10.0)),)

    equivalent_sample_size: float | Literal["average"] | Sequence[float] = 1.0
    bins: int | None = None

    def __post_init__(self) -> None:
        """Check the parameter."""
        given = self.equivalent_sample_size
        checked: float | tuple[float, ...]
        if isinstance(given, str) and given == AVERAGE:
            checked = SIZES
        elif isinstance(given, list | tuple):
            checked = _grid(given)
        elif isinstance(given, str):
            raise refusal(
                given,
                "equivalent_sample_size",
                "BDeu",
                either(f"a number, {AVERAGE!r}, or several numbers", f"a number, {AVERAGE}, or several as 1,5,10"),
            )
        else:
            checked = strength(given, "equivalent_sample_size", "BDeu")
        object.__setattr__(self, "equivalent_sample_size", checked)
        if self.bins is not None:
            object.__setattr__(self, "bins", whole_number(self.bins, "bins", "BDeu", least=2, most=LARGEST_BINS))

    def __repr__(self) -> str:
        bins = "" if self.bins is None else f", bins={self.bins}"
        return f"BDeu(equivalent_sample_size={self.equivalent_sample_size!r}{bins})"

    def modelled(self, table: Table, exogenous: Collection[str] = ()) -> Table:
        """The table of levels: beside other kinds of models, numbers are still to be cut."""
        from dagpost.data.cut_tables import cut_numbers
        from dagpost.data.recipe import with_recipe

        del exogenous
        return table if self.bins is None else cut_numbers(with_recipe(table), bins=self.bins)

    def kind_of_model(self) -> str:
        """What it makes of columns: levels."""
        return "levels" if self.bins is None else f"levels ({self.bins} bins)"

    def assumes(self) -> str:
        """That nothing within a bin matters, where numbers are cut."""
        if self.bins is None:
            return ""
        return (
            f"Numbers are cut into {self.bins} bins with about as many rows in each, and where in its bin a number is "
            "makes no difference; nothing is assumed of the form of relations."
        )

    def variants(self, arities: tuple[int, ...]) -> tuple[int, ...]:
        """The same for all columns."""
        return (0,) * len(arities)

    def terms(self, arities: tuple[int, ...], max_size: int, variants: list[int], observations: int) -> CellFunction:  # noqa: ARG002
        """Those of a parameter that is shared out among the configurations of a set."""
        from dagpost.scores.cells import shared_terms

        return shared_terms(self._one_size("Scores of single families"), arities, max_size, observations)

    def parameter_prior(self) -> DirichletPrior:
        """The equivalent sample size, shared out evenly among the cells of a family."""
        return DirichletPrior(self._one_size("Parameters"), shared=True)

    def mixture(self) -> Mixture[Score] | None:
        """One part for each equivalent sample size, where there are several."""
        sizes = self.equivalent_sample_size
        if not isinstance(sizes, tuple):
            return None
        scores = tuple(replace(self, equivalent_sample_size=size) for size in sizes)
        return evenly("equivalent sample size", sizes, scores)

    def in_words(self) -> str:
        """Its name with the equivalent sample size, or all of them."""
        sizes, bins = self.equivalent_sample_size, "" if self.bins is None else f", numbers in {self.bins} bins"
        if not isinstance(sizes, tuple):
            return f"BDeu, equivalent sample size {sizes:g}{bins}"
        *first, last = (f"{size:g}" for size in sizes)
        listed = f"{', '.join(first)} and {last}" if first else last
        return f"BDeu, averaged over the equivalent sample sizes {listed}{bins}"

    def in_detail(self) -> str:
        """Its name with its Dirichlet priors."""
        words = self.in_words().removeprefix("BDeu, ")
        if not isinstance(self.equivalent_sample_size, tuple):
            return f"the BDeu score with Dirichlet priors ({words})"
        return f"the BDeu score with Dirichlet priors, {words}, each weighted by its posterior probability"

    def _one_size(self, what: str) -> float:
        size = self.equivalent_sample_size
        if isinstance(size, float):
            return size
        raise InputError(
            f"{what} need one equivalent sample size, and {self!r} averages over several, which only a fitted model "
            "can do. Give one, such as BDeu(1.0), or ask the model itself."
        )


def _grid(given: Sequence[object]) -> tuple[float, ...]:
    """The sizes of an average, smallest first."""
    sizes = tuple(sorted(strength(size, "equivalent_sample_size", "BDeu") for size in given))
    if not sizes or len(set(sizes)) < len(sizes):
        raise refusal(given, "equivalent_sample_size", "BDeu", "one number or several different ones")
    return sizes
