"""Total causal effects of one variable on another, averaged over the graphs of a sample.

Every graph says which variables to adjust for: the parents of the treatment (Maathuis, Kalisch & Bühlmann 2009).
Averaging the effects over a posterior of graphs gives a posterior of the effect (Pensar, Talvitie, Hyttinen & Koivisto
2020): a point mass at zero, from graphs without a directed path from treatment to outcome, and one continuous part for
each adjustment set. Each distinct set is worked out once, with the weight of all its graphs.

Given a set, the distribution is that of the columns of the set, treatment and outcome alone, with the prior behind the
score; the rest of the graph could make it narrower, and does not make it wrong. Time: see groups.py, discrete.py,
gaussian.py and mixed.py; 30,000 graphs of 20 variables take about a second.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dagpost._tools import memory
from dagpost._tools.arrays import labelled
from dagpost._tools.checks import kind, seed_number, whole_number
from dagpost._tools.spelling import bare
from dagpost._tools.text import names_in, position_of, shortened, shown
from dagpost.causal import discrete, gaussian, latent, mixed
from dagpost.causal.groups import groups_of, share_out
from dagpost.causal.kinds import KINDS, Question
from dagpost.causal.levels import levels_of
from dagpost.causal.mixture import mixed_effect
from dagpost.causal.results import CausalEffect
from dagpost.data.table import Table
from dagpost.engines import Engine, engine_or_threads
from dagpost.errors import InputError
from dagpost.families.masks import refuse_wide
from dagpost.features import ancestors
from dagpost.posterior.estimate import check_confidence
from dagpost.posterior.fitted import Fitted
from dagpost.posterior.latent_numbers import images_of
from dagpost.posterior.sample import DagSample
from dagpost.prediction.completed_parts import parts_of
from dagpost.scores import (
    ConditionalGaussianPrior,
    NormalWishartPrior,
    ParameterPrior,
    Score,
    parameter_prior_of,
    resolve_score,
    table_for,
)

if TYPE_CHECKING:
    import pandas as pd


#: A dozen numbers, most of them while the draws are made.
_BYTES_A_DRAW = 100


def causal_effect(
    sample: DagSample,
    table: Table,
    score: str | Score,
    treatment: str,
    outcome: str,
    *,
    do: tuple[object, object] | None = None,
    outcome_level: object = None,
    draws: int = 10_000,
    confidence: float = 0.95,
    seed: int | None = None,
    engine: Engine | None = None,
) -> CausalEffect:
    """The posterior of the total causal effect of setting one variable on another, averaged over graphs.

    Parameters
    ----------
    sample
        Graphs with their weights.
    table
        The table that they were found from, as `as_table` takes it.
    score
        The score that they were found with: the parameters have the prior that it stands for (BIC: Jeffreys'), which
        also says whether columns are discrete or continuous.
    treatment, outcome
        What is set, and what is looked at.
    do
        Treatments of levels only: two of them. The effect of `do=("yes", "no")` is the change when the
        treatment is set to "yes" rather than to "no". May be left out where there are two levels: then the second one
        rather than the first. Of a column of numbers that was cut, any number stands for its bin: ``do=(150, 120)``.
    outcome_level
        Outcomes of levels only: the one whose probability changes. May be left out where there are two:
        then the second one.
    draws
        How many draws from the posterior of the effect to make.
    confidence
        Of the interval that is shown.

    What changes is the probability of one level of the outcome, or the mean of an outcome of numbers: when the
    treatment is set to one level rather than another, or for one unit more of a treatment of numbers. In a conditional
    Gaussian network numbers never lead to levels: such an effect is zero by the model, which a notice says.

    What this assumes:

    - Nothing outside the table is a common cause of two of its variables.
    - How rows came into the table does not depend on the values in them.
    - The causes form a graph without cycles, and a graph of the sample is that of the causes.
    - Discrete variables follow any table of probabilities; continuous ones linear equations with normal noise, beside
      columns of levels (conditional Gaussian) other equations in each combination of levels.
    - One variable is set, at a time, and the rest of the mechanism stays as it was.
    - Exogenous columns are not caused by other columns, nor by each other.

    Data without interventions cannot tell the graphs of an equivalence class apart. Where they disagree about
    the direction of an edge, the posterior of the effect is a mixture: partly zero, partly not.

    Where the table has interventions, only rows count in which nothing but the treatment was set: there, both the
    parents of the treatment and how the outcome follows from both are as they would be without.

    >>> from dagpost import DagPosterior, datasets
    >>> table = datasets.load("coronary")
    >>> sample = DagPosterior("bdeu").fit(table).sample(5_000, seed=1)
    >>> effect = causal_effect(sample, table, "bdeu", "Smoking", "Pressure", seed=1)
    >>> round(effect.mean, 2), round(effect.zero_probability, 2)
    (-0.04, 0.48)

    References
    ----------
    Maathuis, Kalisch & Bühlmann (2009), Estimating high-dimensional intervention effects from observational data.
    Annals of Statistics 37. Pensar, Talvitie, Hyttinen & Koivisto (2020), A Bayesian approach for estimating causal
    effects from observational data. AAAI 34.
    """
    prior, table = _prior_of(score), table_for(score, table)
    _refuse_latent(score, table)
    x, y = _check_pair(sample, table, treatment, outcome)
    check_confidence(confidence)
    whole_number(draws, "draws")
    what, remedy = f"Drawing {draws:,} times from the posterior of an effect", "Ask for fewer draws."
    memory.require(int(draws) * _BYTES_A_DRAW, what, remedy)
    generator = np.random.default_rng(seed_number(seed))
    groups = groups_of(sample, x, y)
    set_of = share_out(groups, int(draws), generator)
    asked = Question(table, prior, x, y, do, outcome_level, groups, set_of, generator, engine_or_threads(engine))
    effects, do, outcome_level = KINDS[type(prior)](asked)
    # In any order, so that the first few are draws as good as all.
    order = generator.permutation(draws)
    return CausalEffect(
        treatment=treatment,
        outcome=outcome,
        do=do,
        outcome_level=outcome_level,
        samples=effects.draws[order],
        zero_probability=min(groups.no_path, 1.0),
        mean=float(groups.weights @ effects.means),
        confidence=float(confidence),
        adjustment_sets=tuple(names_in(int(mask), sample.names) for mask in groups.masks),
        set_probabilities=groups.weights,
        set_means=effects.means,
        set_of_sample=np.where(set_of < len(effects.means), set_of, -1)[order],
        graphs=len(sample),
        observations=effects.observations,
        modularity=sample.target,
        exogenous=sample.exogenous,
    )


def causal_effects(sample: DagSample, table: Table, score: str | Score) -> pd.DataFrame:
    """The expected total effect of every continuous variable on every other one, averaged over graphs.

    Row x, column y: the mean, over the posterior, of the change in the mean of y for one unit more of x.
    `causal_effect` gives the whole posterior, and says what is assumed. Graphs without a directed path from x to y
    count as zero; nothing has an effect on exogenous columns, whose entries are nan.

    >>> import numpy as np
    >>> from dagpost import DagPosterior
    >>> from dagpost.data import as_table
    >>> generator = np.random.default_rng(1)
    >>> cause = generator.normal(size=200)
    >>> table = as_table(np.column_stack([cause, 2 * cause + generator.normal(size=200)]))
    >>> sample = DagPosterior("bge", required=[("V0", "V1")]).fit(table).sample(10, seed=1)
    >>> effects = causal_effects(sample, table, "bge")
    >>> float(effects.loc["V0", "V1"].round(1)), float(effects.loc["V1", "V0"])
    (2.0, 0.0)
    """
    prior, table = _prior_of(score), table_for(score, table)
    _refuse_latent(score, table)
    _check_names(sample, table)
    if not isinstance(prior, NormalWishartPrior):
        columns = "mixed" if isinstance(prior, ConditionalGaussianPrior) else "discrete"
        raise InputError(
            f"A matrix of effects is for continuous columns, and the score {shown(score)} is for {columns} ones. "
            "Ask for one effect at a time: causal_effect(..., treatment, outcome)."
        )
    nodes = len(sample.names)
    above = ancestors(sample.parents)
    matrix = np.full((nodes, nodes), np.nan)
    modelled = [node for node, name in enumerate(sample.names) if name not in sample.exogenous]
    for x in range(nodes):
        if x not in modelled:
            # What is adjusted for depends on the outcome.
            for y in modelled:
                groups = groups_of(sample, x, y)
                slopes = gaussian.slopes_of(table, prior, x, groups.masks).locations[:, y]
                matrix[x, y] = groups.weights @ slopes
            continue
        masks, member = np.unique(sample.parents[:, x], return_inverse=True)
        locations = gaussian.slopes_of(table, prior, x, masks.astype(np.uint64)).locations
        for y in modelled:
            if y != x:
                weights = sample.weights * (above[:, y] >> np.uint64(x) & np.uint64(1))
                shares = np.bincount(member, weights=weights, minlength=len(masks))
                matrix[x, y] = shares[shares > 0.0] @ locations[shares > 0.0, y]
    return labelled(matrix, sample.names)


def interventional_probabilities(
    sample: DagSample, table: Table, score: str | Score, treatment: str, outcome: str, *, engine: Engine | None = None
) -> pd.DataFrame:
    """The expected probability of each level of the outcome if the treatment were set to each of its levels.

    Row x, column y: the mean of P(outcome = y | do(treatment = x)) over the posterior. The difference of two rows is
    the mean of `causal_effect`, which says what is assumed.

    >>> from dagpost import DagPosterior, datasets
    >>> table = datasets.load("coronary")
    >>> sample = DagPosterior("bdeu").fit(table).sample(5_000, seed=1)
    >>> interventional_probabilities(sample, table, "bdeu", "Smoking", "Pressure").round(2).loc["yes"].to_dict()
    {'<140': 0.59, '>140': 0.41}
    """
    import pandas as pd

    prior, table = _prior_of(score), table_for(score, table)
    x, y = _check_pair(sample, table, treatment, outcome)
    continuous = [table.names[node] for node in (x, y) if table.levels[node] is None]
    if isinstance(prior, NormalWishartPrior) or continuous:
        which = f"{continuous[0]!r} is not one" if continuous else f"the score {shown(score)} is for continuous ones"
        raise InputError(
            f"Probabilities of levels are for discrete columns, and {which}. Ask for the effect on its mean, or of one "
            "unit: causal_effect(..., treatment, outcome)."
        )
    groups = groups_of(sample, x, y)
    rows = [pd.Index(levels_of(table, node), name=table.names[node]) for node in (x, y)]
    if isinstance(prior, ConditionalGaussianPrior):
        table, prior, x, y, groups = mixed.among_levels(table, prior, x, y, groups)
    result = discrete.mean_table(table, prior, x, y, groups, engine_or_threads(engine))
    return pd.DataFrame(result, index=rows[0], columns=rows[1])


def effect_of_fitted(
    fitted: Fitted,
    treatment: str,
    outcome: str,
    do: tuple[object, object] | None,
    outcome_level: object,
    draws: int,
    confidence: float,
    seed: int | None,
) -> CausalEffect:
    """The effect under a fitted model, from its own sample; without rows it is refused before any work."""
    fitted.rows("Causal effects")
    resolve_score(fitted.score)
    images = images_of(fitted)
    if images is not None:
        x, y = _check_pair(fitted.own_sample(), images.table, treatment, outcome)
        check_confidence(confidence)
        question = latent.question_of(images, x, y, do, outcome_level)
        return latent.effect_of_latents(fitted, images, question, whole_number(draws, "draws"), confidence, seed)
    options: dict[str, Any] = {"do": do, "outcome_level": outcome_level, "confidence": confidence}
    options["engine"] = fitted.workspace.engine
    parts = parts_of(fitted)

    def effect_of(place: int, number: int, own_seed: int | None) -> CausalEffect:
        score, sample, table = parts[place]
        assert table is not None
        return causal_effect(sample, table(), score, treatment, outcome, draws=number, seed=own_seed, **options)

    if len(parts) == 1:
        return effect_of(0, draws, seed)
    weights = [part.sample.weights.sum() for part in parts]
    averaged = mixed_effect(weights, effect_of, whole_number(draws, "draws"), seed_number(seed))
    # Each completed table has graphs of its own; the values of a setting share them.
    return replace(averaged, graphs=sum(len(part.sample) for part in parts)) if fitted.completes else averaged


def _prior_of(score: str | Score) -> ParameterPrior:
    return parameter_prior_of(score, "The effect of setting a variable needs")


def _refuse_latent(score: str | Score, table: Table) -> None:
    """Refuse a table whose latent numbers only a fitted model has."""
    if resolve_score(score).images(table, table) is not None:
        raise InputError(
            f"Under the score {shown(score)} the columns are images of latent numbers, and effects come from a fitted "
            "model, which has those: model.causal_effect(treatment, outcome)."
        )


def _check_names(sample: DagSample, table: Table) -> None:
    kind(sample, "sample", DagSample, "a DagSample")
    refuse_wide(len(sample.names), "Effects are computed")
    if sample.names != table.names:
        raise InputError(
            f"The graphs and the table must have the same variables in the same order. The graphs have "
            f"{shortened([repr(name) for name in sample.names])}; the table has "
            f"{shortened([repr(name) for name in table.names])}."
        )


def _check_pair(sample: DagSample, table: Table, treatment: str, outcome: str) -> tuple[int, int]:
    _check_names(sample, table)
    x, y = position_of(treatment, sample.names), position_of(outcome, sample.names)
    if x == y:
        raise InputError(
            f"Treatment and outcome are both {treatment!r}. Setting a variable has its effect on others: name two."
        )
    if outcome in sample.exogenous:
        raise InputError(
            f"The outcome {outcome!r} is exogenous: it is not modelled, and nothing has an effect on it. Name an "
            f"outcome that is modelled, or take it out of {bare('exogenous')} and fit again."
        )
    return x, y
