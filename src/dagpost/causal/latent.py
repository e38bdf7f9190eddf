"""What does setting one column change of another, where the columns are images of latent numbers?

The latent numbers follow a Gaussian network, in each completed table with its own graphs. Given a table and a set `z`
that is adjusted for, the means and the covariance of set, treatment `x` and outcome `y` have a normal and an inverse
Wishart distribution (causal/gaussian.py). With `C` the Cholesky factor of a covariance drawn from it, the columns in
this order, the latent outcome under do(x) is normal,

    mean   mu_y + b (x - mu_x),   b = C_yx / C_xx,        variance   |C_yz - b C_xz|^2 + C_yy^2.

Setting the treatment to a number sets its latent number; setting it to a level sets the mean of the latent numbers of
that level. The latent outcome is taken back through its image: the mean of a column of numbers is an average over
equally probable points of its distribution, the probability of a level what lies between the cut points around it.

Time: the Cholesky factor of a family and some points a draw.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost._tools.checks import is_finite, seed_number
from dagpost._tools.kernels import kernel
from dagpost._tools.text import names_in, shown
from dagpost.causal.groups import groups_of, share_out
from dagpost.causal.levels import code_of, levels_of
from dagpost.causal.mixture import mixed_effect
from dagpost.causal.results import CausalEffect
from dagpost.data.table import Table
from dagpost.errors import InputError
from dagpost.posterior.fitted import Fitted
from dagpost.prediction.completed_parts import Part, parts_of
from dagpost.prediction.gaussian import factorise
from dagpost.scores import NormalWishartPrior, standard_deviations
from dagpost.scores.latent_columns import ranks_of
from dagpost.scores.latent_images import Images

#: Equally probable points of a normal distribution at which an image is averaged.
_POINTS = 64
#: Draws from which the mean given each adjustment set of each completed table is taken, at least.
_DRAWS_OF_MEAN = 16


class Question(NamedTuple):
    """Columns of treatment and outcome, the two values that the former is set to, and the level that is looked at."""

    treatment: int
    outcome: int
    do: tuple[Any, Any] | None
    outcome_level: object


def question_of(images: Images, x: int, y: int, do: object, outcome_level: object) -> Question:
    """What a user asks for, checked: two levels are compared where there are just two, and the second is looked at."""
    table, levels = images.table, levels_of(images.table, x)
    if do is None and len(levels) == 2:
        do = (levels[1], levels[0])
    if do is not None:
        if isinstance(do, str) or not isinstance(do, Sequence) or len(do) != 2:
            such = levels[:2] if levels else "(30, 25)"
            raise InputError(f"'do' must be two values of {table.names[x]!r}, such as {such}. Got {shown(do)} instead.")
        do = _values(images, x, do)
        if do[0] == do[1]:
            raise InputError(
                f"'do' must be two different values of {table.names[x]!r}. Got {do[0]!r} twice: nothing would change."
            )
    own = levels_of(table, y)
    if outcome_level is not None and not own:
        raise InputError(
            f"'outcome_level' is for columns of levels, and {table.names[y]!r} is one of numbers. Leave it out."
        )
    if outcome_level is None and len(own) == 2 and do is not None:
        outcome_level = own[1]
    if outcome_level is not None:
        outcome_level = own[code_of(table, y, outcome_level)]
        if do is None:
            raise InputError(
                f"The probability that {table.names[y]!r} is {outcome_level!r} changes from one value of "
                f"{table.names[x]!r} to another: say which, do=(value, other value)."
            )
    return Question(x, y, do, outcome_level)


def _values(images: Images, x: int, do: Sequence[Any]) -> tuple[Any, Any]:
    """The levels, or numbers, of a treatment; those that no row has have no latent number."""
    table, levels = images.table, levels_of(images.table, x)
    if levels:
        first, second = (code_of(table, x, value) for value in do)
        for code in (first, second):
            if not _rows_of(table, x, code).any():
                raise InputError(
                    f"No row has {levels[code]!r} in {table.names[x]!r}, so that nothing says what it would do. Choose "
                    "another level."
                )
        return levels[first], levels[second]
    margin = images.margin(x)
    for value in do:
        within = is_finite(value) and (margin.slope or margin.values[0] <= value <= margin.values[-1])
        if not within:
            raise InputError(
                f"'do' must be two numbers within the range of {table.names[x]!r}, {margin.values[0]:g} to "
                f"{margin.values[-1]:g}. Got {shown(value)} instead."
            )
    return float(do[0]), float(do[1])


def _rows_of(table: Table, node: int, code: int) -> Any:
    """The rows with a level."""
    there = np.ones(table.rows, dtype=np.bool_) if table.gaps is None else ~table.gaps[node]
    return there & (table.columns[node] == code) & (table.weights > 0)


def effect_of_latents(
    fitted: Fitted, images: Images, question: Question, draws: int, confidence: float, seed: int | None
) -> CausalEffect:
    """The effect under a model of latent numbers, averaged over completed tables with their graphs."""
    parts = parts_of(fitted)

    def effect_of(place: int, number: int, own_seed: int) -> CausalEffect:
        return _effect_given_table(parts[place], images, question, number, confidence, own_seed)

    weights = [part.sample.weights.sum() for part in parts]
    mixed = mixed_effect(weights, effect_of, draws, seed_number(seed))
    return replace(mixed, graphs=sum(len(part.sample) for part in parts))


def _effect_given_table(
    part: Part, images: Images, question: Question, draws: int, confidence: float, seed: int
) -> CausalEffect:
    assert part.table is not None
    table, prior = part.table(), part.score.parameter_prior()
    assert isinstance(prior, NormalWishartPrior)
    x, y, generator = question.treatment, question.outcome, np.random.default_rng(seed)
    groups = groups_of(part.sample, x, y)
    set_of = share_out(groups, draws, generator)
    sets = len(groups.masks)
    # Some draws of every set, for the means, then those that are kept.
    of_means = np.repeat(np.arange(sets), _DRAWS_OF_MEAN)
    reached = set_of < sets
    taken = np.concatenate([of_means, set_of[reached]])
    found = drawn_outcomes(table, prior, x, y, groups.masks, taken, generator)
    changes, standardised = _changes(images, table, question, found, generator)
    first = len(of_means)
    set_means = np.bincount(taken, weights=changes, minlength=sets) / np.bincount(taken, minlength=sets)
    samples, in_deviations = np.zeros(draws), np.zeros(draws)
    samples[reached], in_deviations[reached] = changes[first:], standardised[first:]
    order = generator.permutation(draws)
    return CausalEffect(
        treatment=table.names[x],
        outcome=table.names[y],
        do=question.do,
        outcome_level=question.outcome_level,
        samples=samples[order],
        zero_probability=min(groups.no_path, 1.0),
        mean=float(groups.weights @ set_means),
        confidence=float(confidence),
        adjustment_sets=tuple(names_in(int(mask), table.names) for mask in groups.masks),
        set_probabilities=groups.weights,
        set_means=set_means,
        set_of_sample=np.where(reached, set_of, -1)[order],
        graphs=len(part.sample),
        observations=table.observations,
        modularity=part.sample.target,
        exogenous=part.sample.exogenous,
        standardised=in_deviations[order],
        in_deviations=_in_deviations(images, question),
    )


def _in_deviations(images: Images, question: Question) -> bool:
    """Whether the effect has no other unit than that of latent numbers."""
    return question.do is None or (question.outcome_level is None and bool(levels_of(images.table, question.outcome)))


def _changes(
    images: Images, table: Table, question: Question, found: Outcomes, generator: np.random.Generator
) -> tuple[Floats, Floats]:
    """The effect of each draw in the unit of the outcome, and in standard deviations of its latent numbers."""
    from scipy.special import ndtr, ndtri

    x, y = question.treatment, question.outcome
    unit = _deviation(table, y)
    if question.do is None:
        change = found.slopes * _deviation(table, x) / unit
        return change, change
    first, second = (_latent_value(images, table, x, value) for value in question.do)
    standardised = found.slopes * (first - second) / unit
    if _in_deviations(images, question):
        return standardised, standardised
    means = [found.starts + found.slopes * value for value in (first, second)]
    if question.outcome_level is not None:
        low, high = _between(images, table, y, question.outcome_level, generator)
        chances = [ndtr((high - mean) / found.spreads) - ndtr((low - mean) / found.spreads) for mean in means]
        return chances[0] - chances[1], standardised
    image = images.number_image(y)
    points = ndtri((np.arange(_POINTS) + 0.5) / _POINTS)
    around = found.spreads[:, np.newaxis] * points
    one, other = (image.of(mean[:, np.newaxis] + around).mean(axis=1) for mean in means)
    return one - other, standardised


def _deviation(table: Table, node: int) -> float:
    """The standard deviation of the latent numbers of a column."""
    return float(standard_deviations(table.columns[node][:, np.newaxis], table.weights.astype(np.float64))[0])


def _latent_value(images: Images, table: Table, node: int, value: Any) -> float:
    """The latent number that a column is set to."""
    if not levels_of(images.table, node):
        return float(images.margin(node).latent(np.array([value]))[0])
    rows = _rows_of(images.table, node, levels_of(images.table, node).index(value))
    return float(np.average(table.columns[node][rows], weights=table.weights[rows]))


def _between(
    images: Images, table: Table, node: int, level: object, generator: np.random.Generator
) -> tuple[float, float]:
    """The cut points around a level in one completed table; infinite at the ends, and none apart for an absent one."""
    assert images.latent.gaps is not None
    cuts = images.cuts(node, table.columns[node][images.latent.gaps[node]][np.newaxis], generator)
    levels = levels_of(images.table, node)
    rank = int(ranks_of(levels)[levels.index(level)])
    borders = np.concatenate([[-np.inf], cuts.points[0], [np.inf]])
    place = int(np.searchsorted(cuts.ranks, rank))
    there = place < len(cuts.ranks) and cuts.ranks[place] == rank
    return float(borders[place]), float(borders[place + 1] if there else borders[place])


class Outcomes(NamedTuple):
    """Draws of the normal distribution of an outcome under do(x): mean `starts + slopes * x`, deviation `spreads`."""

    starts: Floats
    slopes: Floats
    spreads: Floats


def drawn_outcomes(
    table: Table,
    prior: NormalWishartPrior,
    treatment: int,
    outcome: int,
    masks: Masks,
    set_of: Integers,
    generator: np.random.Generator,
) -> Outcomes:
    """One draw of the parameters for each entry of `set_of`, which names an adjustment set."""
    data, weights = table.values(), table.weights.astype(np.float64)
    nodes, observations = data.shape[1], float(weights.sum())
    deviations = prior.deviations(table.names, standard_deviations(data, weights))
    mean = prior.mean(table.names, data, weights)
    matrix = prior.matrix(data, weights, mean, deviations)
    weight = observations + prior.mean_weight
    centre = (prior.mean_weight * mean + weights @ data) / weight
    largest = int(np.bitwise_count(masks).max(initial=0)) + 2
    # A column of a factor for each member, the last one with all degrees of freedom.
    degrees = prior.degrees(nodes) + observations - nodes + np.arange(1, largest + 1)
    squares = generator.chisquare(np.broadcast_to(degrees, (len(set_of), largest)))
    normals = generator.standard_normal((len(set_of), largest, largest + 1))
    found = np.zeros((len(set_of), 3))
    floors = prior.scale(nodes) * deviations**2
    _draw_outcomes(
        matrix, floors, centre, math.sqrt(weight), treatment, outcome, masks.copy(), set_of, squares, normals, found
    )
    return Outcomes(*np.ascontiguousarray(found.T))


@kernel
def _draw_outcomes(
    matrix: Floats,
    floors: Floats,
    centre: Floats,
    root: float,
    treatment: int,
    outcome: int,
    masks: Masks,
    set_of: Integers,
    squares: Floats,
    normals: Floats,
    found: Floats,
) -> None:
    """Bartlett's decomposition, upper triangular, so that the factor of the covariance is lower triangular."""
    nodes, largest = len(matrix), squares.shape[1]
    members = np.empty(largest, dtype=np.int64)
    cholesky, factor = np.zeros((largest, largest)), np.zeros((largest, largest))
    before = -1
    size = 0
    for draw in range(len(set_of)):
        number = set_of[draw]
        if number != before:
            size = 0
            for node in range(nodes):
                if masks[number] >> np.uint64(node) & np.uint64(1):
                    members[size] = node
                    size += 1
            members[size], members[size + 1] = treatment, outcome
            size += 2
            factorise(matrix, members[:size], floors, cholesky)
            before = number
        for row in range(size):
            for column in range(row, -1, -1):
                value = cholesky[row, column]
                for later in range(column + 1, row + 1):
                    value -= factor[row, later] * normals[draw, column, later]
                factor[row, column] = value / math.sqrt(squares[draw, column])
        x, y = size - 2, size - 1
        slope = factor[y, x] / factor[x, x]
        centre_x, centre_y, variance = centre[treatment], centre[outcome], factor[y, y] * factor[y, y]
        for column in range(size):
            normal = normals[draw, column, largest] / root
            centre_y += factor[y, column] * normal
            if column < y:
                centre_x += factor[x, column] * normal
            if column < x:
                rest = factor[y, column] - slope * factor[x, column]
                variance += rest * rest
        found[draw, 0] = centre_y - slope * centre_x
        found[draw, 1] = slope
        found[draw, 2] = math.sqrt(variance)
