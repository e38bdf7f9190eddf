"""How well do continuous parents explain a continuous node? The marginal likelihood of a Gaussian network.

The prior is Gaussian for the mean and Wishart for the precision matrix. For a set `Y` of `l` out of `n`
columns and `N` rows,

    log p(Y) = l/2 log(u / (N + u)) - l N/2 log pi + log Gamma_l(b + N/2) - log Gamma_l(b)
             + b log|T_Y| - (b + N/2) log|R_Y|,    b = (w - n + l)/2,

with `u` the weight of the prior mean, `w` the degrees of freedom, `T = t diag(s^2)` the prior matrix and `R = T +
scatter + N u / (N + u) d d'`, `d` being the distance of the column means from the prior mean; a node's score
is `log p(P + i) - log p(P)` (Geiger & Heckerman 2002). The submatrices of `T` and the normalising constants
are those of Kuipers, Moffa & Heckerman (2014), who corrected the earlier formula.

With `s` the standard deviations of the columns, no probability depends on their units. The determinants are those of
the columns divided by `s sqrt(t)`, with `T = I`; this change of variables takes `N log(s_i sqrt(t))` from the score of
node `i`, which is the density of the values as they were given. With the means taken off first, only what the rows add
to `I` kept, and no Gamma functions subtracted that nearly agree, priors of any strength keep their digits, wherever
the columns lie; what would still lose them is refused. Time: one Cholesky row per set; memory: one number per set of
at most `max_parents` nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost._tools.checks import number
from dagpost.data.table import Columns, Table
from dagpost.scores.base import Filling, Score
from dagpost.scores.completing import Completer, ListScorer
from dagpost.scores.parameter_priors import (
    NormalWishartPrior,
    ParameterPrior,
    centre,
    refuse_lost_digits,
    standard_deviations,
    strength,
)


class Standardised(NamedTuple):
    """Columns of numbers: the distances of their values from their means, and that of the prior mean, in `units`.

    `weights` says how often each row counts.
    """

    names: tuple[str, ...]
    distances: Floats
    weights: Floats
    away: Floats
    units: Floats


@dataclass(frozen=True)
class BGe(Score):
    """The Bayesian Gaussian score, which gives the same value to DAGs that say the same about independence.

    Parameters
    ----------
    mean_weight
        How many imagined rows the prior mean is worth.
    degrees_of_freedom
        Degrees of freedom of the Wishart prior, above `n + 1` for `n` columns; None stands for `n +
        mean_weight + 1`.
    prior_mean
        The prior mean: a number for all columns, one number per column, or None for the mean of each column,
        so that shifting a column changes nothing (as in bnlearn; BiDAG takes 0).
    prior_scale
        The size of a usual deviation from the mean: a number for all columns, one number per column, or None for the
        standard deviation of each column over all rows, so that centimetres or metres change nothing. In BiDAG and
        bnlearn it is 1, whatever the units of the columns.

    The prior matrix is diagonal: `mean_weight (degrees_of_freedom - n - 1) / (mean_weight + 1)` times the square of
    `prior_scale`, with the factor of BiDAG and bnlearn. `BGe()` gives the probabilities that `BGe(prior_scale=1)` gives
    for columns that were standardised first; the evidence is the density of the values in their own units.

    >>> BGe(degrees_of_freedom=12)
    BGe(mean_weight=1.0, degrees_of_freedom=12.0, prior_mean=None, prior_scale=None)

    References
    ----------
    Geiger & Heckerman (2002), Parameter priors for directed acyclic graphical models and the characterization
    of several probability distributions. Annals of Statistics 30. Kuipers, Moffa & Heckerman (2014), Addendum
    on the scoring of Gaussian directed acyclic graphical models. Annals of Statistics 42.
    """

    name: ClassVar[str] = "bge"
    summary: ClassVar[str] = "Gaussian network of continuous columns"
    equivalent: ClassVar[bool] = True
    citation: ClassVar[str] = (
        "Kuipers, J., Moffa, G., & Heckerman, D. (2014). Addendum on the scoring of Gaussian directed acyclic "
        "graphical models. Annals of Statistics, 42. "
        "https://doi.org/10.1214/14-AOS1217"
    )
    columns: ClassVar[Columns] = "continuous"
    choices = (("weight of the prior", "mean_weight", (0.5, 1.0, 5.0)),)

    mean_weight: float = 1.0
    degrees_of_freedom: float | None = None
    prior_mean: float | tuple[float, ...] | None = None
    prior_scale: float | tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_gaussian_prior(self)

    def parameter_prior(self) -> ParameterPrior:
        """That of the coefficients: the columns follow the linear network."""
        return self.coefficient_prior()

    def coefficient_prior(self) -> NormalWishartPrior:
        """Normal and Wishart, with the parameters of the score."""
        return NormalWishartPrior(self.mean_weight, self.degrees_of_freedom, self.prior_mean, self.prior_scale)

    def assumes(self) -> str:
        """That numbers are normal, with linear effects."""
        return "Columns are taken for normal, with linear effects on each other."

    def kind_of_model(self) -> str:
        """What it makes of relations: straight lines."""
        return "linear (BGe)"

    def in_words(self) -> str:
        """Its name, and that it is for continuous columns."""
        return "BGe (continuous columns, Gaussian)"

    def in_detail(self) -> str:
        """Its name with its normal-Wishart prior."""
        return f"the BGe score with a normal-Wishart prior ({gaussian_prior_in_words(self)})"

    def of_columns(self, columns: list[int], table: Table) -> BGe:
        """The prior that this one means for some of the columns: a Wishart matrix loses degrees with columns."""
        return BGe(self.mean_weight, **prior_of_columns(self, columns, len(table.names)))

    def fill_nodes(self, asked: Filling) -> None:
        """Write the scores of some of the columns; sets without any of them are not looked at."""
        from dagpost.scores.determinants import determinant_sets
        from dagpost.scores.set_functions import fill_run, runs_of, saved_tasks, target_of, tasks_of

        table, nodes, max_parents, values, engine, reporter, checkpoint, apart = asked
        own = self.standardised(table)
        columns = len(table.names)
        # Wanted columns on top: the walk then never comes to the largest sets of the others.
        others = [column for column in range(columns) if column not in nodes]
        order, lowest = np.array([*others, *nodes], dtype=np.int64), len(others)
        runs = runs_of(table.interventions, columns, nodes)
        steps = len(tasks_of(columns, max_parents + 1, lowest, apart))
        with reporter.stage("local scores", len(runs) * steps + len(nodes)) as stage:
            for number, (wanted, observed) in enumerate(runs):
                rows = slice(None) if observed is None else observed
                matrix = np.ascontiguousarray(self.added(own, rows, max_parents + 1)[np.ix_(order, order)])
                observations = float(own.weights[rows].sum())
                constants, factors = self.constants(columns, max_parents + 1, observations)
                row_of = {node: nodes.index(node) for node in wanted}
                target = target_of(values, columns, row_of, max_parents, 1, lowest, apart)
                walk = partial(determinant_sets, matrix, order, constants, factors, target)
                saved = saved_tasks(target, number, checkpoint)
                fill_run(walk, dict.fromkeys(wanted, 0), target, engine, stage, saved)
                values[list(row_of.values())] -= observations * np.log(own.units[list(wanted)])[:, np.newaxis]

    def settled(self, table: Table) -> BGe:
        """The prior that the observed cells of each column give, whatever is put in its gaps."""
        return replace(self, **settled_prior(self, self.coefficient_prior(), table)) if table.gap_count else self

    def completer(self, table: Table, max_parents: int) -> Completer:
        """What draws the cells that have no value: the parameters first, given all cells, and then the rows."""
        from dagpost.scores.gaussian_completion import GaussianCompleter

        del max_parents
        return GaussianCompleter(self.settled(table).coefficient_prior(), table)

    def list_scorer(self, table: Table, max_parents: int, workers: int) -> ListScorer:
        """What scores listed families of a table with gaps, given their cells."""
        from dagpost.scores.listed_gaussians import GaussianListScorer

        del workers
        return GaussianListScorer(self, table, max_parents)

    def standardised(self, table: Table) -> Standardised:
        """The columns around their means, in units in which the prior matrix is the identity."""
        data, weights, prior = table.values(), table.weights.astype(np.float64), self.coefficient_prior()
        units = prior.units(table.names, standard_deviations(data, weights))
        distances, first, rest = centre(data, weights)
        away = (
            np.zeros(len(units)) if self.prior_mean is None else prior.mean(table.names, data, weights) - first - rest
        )
        # Overflow is looked for in the sums of squares.
        with np.errstate(over="ignore", invalid="ignore"):
            distances /= units
            return Standardised(table.names, distances, weights, away / units, units)

    def added(self, own: Standardised, rows: Any, max_size: int) -> Floats:
        """What some rows add to the prior matrix; refused, if sets of at most `max_size` columns would lose digits."""
        weights, prior = own.weights[rows], self.coefficient_prior()
        matrix = prior.added(own.distances[rows], weights, own.away)
        after = (prior.spare(len(own.names)) + 1 + max_size + float(weights.sum())) / 2
        refuse_lost_digits(matrix, after, max_size, own.names)
        return matrix

    def constants(self, nodes: int, max_size: int, observations: float) -> tuple[Floats, Floats]:
        """By the size of the set: what the data do not change, and half the posterior degrees of freedom."""
        from dagpost.scores.determinants import size_constants

        constants, factors = np.zeros(max_size + 1), np.zeros(max_size + 1)
        size_constants(observations, self.mean_weight, self.coefficient_prior().spare(nodes), constants, factors)
        return constants, factors


def prior_of_columns(score: Any, columns: list[int], nodes: int) -> dict[str, Any]:
    """The settings of a normal-Wishart prior of so many columns that it means for some of them."""
    chosen: dict[str, Any] = {name: getattr(score, name) for name in ("prior_mean", "prior_scale")}
    for name, value in chosen.items():
        if isinstance(value, tuple):
            chosen[name] = tuple(value[column] for column in columns)
    degrees = score.degrees_of_freedom
    return {"degrees_of_freedom": None if degrees is None else degrees - (nodes - len(columns)), **chosen}


def settled_prior(score: Any, prior: NormalWishartPrior, table: Table) -> dict[str, Any]:
    """The settings of its mean and scale, from the observed cells where none were given."""
    from dagpost.scores.gaussian_completion import observed_moments

    means, found = observed_moments(table)
    deviations = prior.deviations(table.names, found)
    return {
        "prior_mean": tuple(means.tolist()) if score.prior_mean is None else score.prior_mean,
        "prior_scale": tuple(deviations.tolist()) if score.prior_scale is None else score.prior_scale,
    }


def gaussian_prior_in_words(score: Any) -> str:
    """The normal-Wishart prior of a score that has one, with its parameters.

    >>> gaussian_prior_in_words(BGe())
    "mean: each column's own, worth 1 row; scale: each column's standard deviation; degrees of freedom: columns + 2"
    """
    mean, scale = (
        unless if chosen is None else "given for each column" if isinstance(chosen, tuple) else f"{chosen:g}"
        for chosen, unless in (
            (score.prior_mean, "each column's own"),
            (score.prior_scale, "each column's standard deviation"),
        )
    )
    weight, degrees = score.mean_weight, score.degrees_of_freedom
    freedom = f"columns + {weight + 1.0:g}" if degrees is None else f"{degrees:g}"
    rows = "row" if weight == 1.0 else "rows"
    return f"mean: {mean}, worth {weight:g} {rows}; scale: {scale}; degrees of freedom: {freedom}"


def check_gaussian_prior(score: Any) -> None:
    """Check the parameters of a score with a normal-Wishart prior, and make them floats."""
    owner = type(score).__name__

    def positive(value: object) -> float:
        return strength(value, "prior_scale", owner)

    def finite(value: object) -> float:
        return number(value, "prior_mean", owner, allowed="a finite float, or one for each column")

    object.__setattr__(score, "mean_weight", strength(score.mean_weight, "mean_weight", owner))
    if score.degrees_of_freedom is not None:
        checked = strength(score.degrees_of_freedom, "degrees_of_freedom", owner)
        object.__setattr__(score, "degrees_of_freedom", checked)
    object.__setattr__(score, "prior_mean", _by_column(score.prior_mean, finite))
    object.__setattr__(score, "prior_scale", _by_column(score.prior_scale, positive))


def _by_column(chosen: object, check: Callable[[object], float]) -> float | tuple[float, ...] | None:
    """A number, or one for each column, as floats."""
    if isinstance(chosen, Iterable) and not isinstance(chosen, str) and getattr(chosen, "ndim", 1) == 1:
        return tuple(check(value) for value in chosen)
    return None if chosen is None else check(chosen)
