"""How much does the probability of a level of the outcome change when the treatment is set, given an adjustment set?

With `z` running over the configurations of the adjustment set,

    P(y | do(x)) = sum over z of P(z) P(y | x, z).

`P(z)` over all configurations has one Dirichlet distribution, and so has `P(y | x, z)` for each `x` and `z`, all
independent. Their parameters are those that the prior behind the score gives to a node without parents whose levels are
the configurations, and to the outcome with treatment and adjustment set as its parents. Where pseudocounts are shared
out (`BDeu`), this is the very distribution that the parameters have in the graph that joins all of them. (A joint
distribution is taken rather than the mean of `P(z)`, since its spread is part of what is not known.)

Configurations that do not occur in the table are alike. Beyond `_SEPARATE` of them they are put together in that many
equal parts, each of which is drawn as one configuration whose parameters give its share of the sum the mean and the
variance that it has: what `g` configurations of parameter `a`, each with `r` cells of parameter `b`, add up to has the
mean and variance of one with `r` cells of concentration `((g - 1) a + r b (1 + g a)) / (1 + a)` in all.

Time: counting the cells of each set, and a few random numbers for each draw and configuration that occurs. The sets are
taken in blocks, so memory does not grow with their number.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost._tools.progress import NO_PROGRESS
from dagpost.causal.groups import Effects, Groups, observations_in, speaking_rows
from dagpost.data.table import Table
from dagpost.engines import Engine
from dagpost.prediction.counting import blocks_within, cell_numbers, count_families
from dagpost.prediction.discrete import cell_parameters
from dagpost.scores import DirichletPrior

#: How many configurations that do not occur are told apart.
_SEPARATE = 64
#: How many cells, or random numbers of a kind, are worked on at a time.
_BLOCK_CELLS = 2**20


class Contrast(NamedTuple):
    """The columns of treatment and outcome, and the codes of two levels of the one and of a level of the other."""

    treatment: int
    outcome: int
    levels: tuple[int, int]
    outcome_level: int


def discrete_effects(
    table: Table,
    prior: DirichletPrior,
    contrast: Contrast,
    groups: Groups,
    set_of: Integers,
    generator: np.random.Generator,
    engine: Engine,
    block_cells: int = _BLOCK_CELLS,
) -> Effects:
    """The mean given each adjustment set, and one draw for each entry of `set_of` (ascending): 0 where that is none.

    `block_cells` is how many cells, or random numbers of a kind, are worked on at a time.
    """
    treatment, outcome = contrast.treatment, contrast.outcome
    rows = speaking_rows(table, treatment)
    means, draws = np.zeros(len(groups.masks)), np.zeros(len(set_of))
    for block, counted in counted_blocks(table, rows, prior, treatment, outcome, groups.masks, engine, block_cells):
        elements = elements_of(counted, contrast, table.arities[outcome])
        means[block] = mean_effects(elements)
        mine = slice(*np.searchsorted(set_of, [block.start, block.stop]).tolist())
        draws[mine] = draw_effects(elements, set_of[mine] - block.start, generator, block_cells)
    return Effects(means, draws, observations_in(table, rows))


class Counted(NamedTuple):
    """The cells of some adjustment sets. Configurations are numbered throughout; those of a set stand together."""

    #: By set: its number of configurations (a float, as it may be huge), the parameters of `P(z)` and `P(y | x, z)`.
    configurations: Floats
    outer: Floats
    inner: Floats
    #: By configuration that occurs: its set, and how often.
    set_of: Integers
    pooled: Floats
    #: By cell that occurs: its configuration, level of the treatment and of the outcome, and how often.
    configuration_of: Integers
    treatments: Integers
    outcomes: Integers
    counts: Floats


def counted_blocks(
    table: Table,
    rows: NDArray[np.bool_],
    prior: DirichletPrior,
    treatment: int,
    outcome: int,
    masks: Masks,
    engine: Engine,
    block_cells: int = _BLOCK_CELLS,
) -> Iterator[tuple[slice, Counted]]:
    """Count treatment, outcome and adjustment set in some rows, for block after block of sets."""
    counts = None if table.counts is None else table.counts[rows]
    speaking = Table(table.names, tuple(column[rows] for column in table.columns), table.levels, counts)
    families = masks | np.uint64(1) << np.uint64(treatment)
    sizes = cell_numbers(table.arities, np.full(len(masks), outcome), families)
    for block in blocks_within(np.minimum(sizes, speaking.rows + _SEPARATE), block_cells):
        yield block, _count(speaking, prior, treatment, outcome, families[block], sizes[block], engine)


def _count(
    table: Table, prior: DirichletPrior, treatment: int, outcome: int, families: Masks, sizes: Floats, engine: Engine
) -> Counted:
    arities = np.array(table.arities, dtype=np.int64)
    children = np.full(len(families), outcome)
    found, cells, counts = count_families(table, children, families, engine, NO_PROGRESS)
    set_of_cell = np.repeat(np.arange(len(families)), found)
    # A cell is numbered by the levels of treatment and adjustment set in the order of the columns, the outcome last.
    stride = np.ones(len(families), dtype=np.int64)
    for node in range(treatment + 1, len(arities)):
        stride[families >> np.uint64(node) & np.uint64(1) == 1] *= arities[node]
    stride = stride[set_of_cell]
    levels, outcomes = np.divmod(cells, arities[outcome])
    levels, low = np.divmod(levels, stride)
    high, treatments = np.divmod(levels, arities[treatment])
    configuration = high * stride + low
    order = np.lexsort((configuration, set_of_cell))
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = (np.diff(set_of_cell[order]) != 0) | (np.diff(configuration[order]) != 0)
    configuration_of = np.empty(len(order), dtype=np.int64)
    configuration_of[order] = np.cumsum(new) - 1
    inner = cell_parameters(prior, table, children, families)
    levels_of_both = float(arities[treatment] * arities[outcome])
    return Counted(
        configurations=sizes / levels_of_both,
        outer=prior.of_merged(inner, levels_of_both),
        inner=inner,
        set_of=set_of_cell[order][new],
        pooled=np.bincount(configuration_of, weights=counts, minlength=int(new.sum())).astype(np.float64),
        configuration_of=configuration_of,
        treatments=treatments,
        outcomes=outcomes,
        counts=counts.astype(np.float64),
    )


class Elements(NamedTuple):
    """What the sum over configurations is made of; the elements of a set stand together, from `starts` on.

    `outer` is the parameter of `P(z)`; `first` and `second` those of the two levels of the treatment: of the level of
    the outcome, and of all its other levels together.
    """

    starts: Integers
    outer: Floats
    first: tuple[Floats, Floats]
    second: tuple[Floats, Floats]


def elements_of(counted: Counted, contrast: Contrast, outcomes: int, separate: int = _SEPARATE) -> Elements:
    """What the sum of each set is made of, for an outcome of `outcomes` levels.

    Up to `separate` configurations that do not occur are told apart.
    """
    sets = len(counted.configurations)
    occurring = np.bincount(counted.set_of, minlength=sets)
    absent = np.maximum(counted.configurations - occurring, 0.0)
    parts = np.minimum(absent, separate).astype(np.int64)
    ends = np.cumsum(occurring + parts)
    starts = ends - occurring - parts
    share = absent / np.maximum(parts, 1)
    outer, cells = counted.outer, outcomes * counted.inner
    concentration = ((share - 1.0) * outer + cells * (1.0 + share * outer)) / (1.0 + outer)
    set_of = np.repeat(np.arange(sets), occurring + parts)
    # The configurations that occur come first in their set.
    place = np.arange(len(counted.set_of)) + (starts - (np.cumsum(occurring) - occurring))[counted.set_of]
    weights = (share * outer)[set_of]
    weights[place] = outer[counted.set_of] + counted.pooled

    def shape(level: int) -> tuple[Floats, Floats]:
        total = concentration[set_of]
        hit, missed = total / outcomes, total / outcomes * (outcomes - 1)
        here = counted.counts * (counted.treatments == level)
        there = here * (counted.outcomes == contrast.outcome_level)
        seen, of_level = _sums(counted, here), _sums(counted, there)
        hit[place] = counted.inner[counted.set_of] + of_level
        missed[place] = counted.inner[counted.set_of] * (outcomes - 1) + (seen - of_level)
        return hit, missed

    return Elements(starts, weights, shape(contrast.levels[0]), shape(contrast.levels[1]))


def _sums(counted: Counted, weights: Floats) -> Floats:
    """The weights of cells summed by configuration."""
    total = np.bincount(counted.configuration_of, weights=weights, minlength=len(counted.set_of))
    return total.astype(np.float64)


def mean_effects(elements: Elements) -> Floats:
    """The mean of the effect given each set: all parts are independent, so their means multiply."""
    (hit, missed), (other_hit, other_missed) = elements.first, elements.second
    change = hit / (hit + missed) - other_hit / (other_hit + other_missed)
    sums: Floats = np.add.reduceat(elements.outer * change, elements.starts)
    totals: Floats = np.add.reduceat(elements.outer, elements.starts)
    return sums / totals


def draw_effects(
    elements: Elements, set_of: Integers, generator: np.random.Generator, block_cells: int = _BLOCK_CELLS
) -> Floats:
    """One effect from the distribution of each of the sets in `set_of`."""
    sizes = np.diff(np.append(elements.starts, len(elements.outer)))[set_of]
    result = np.empty(len(set_of))
    for block in blocks_within(sizes, block_cells):
        result[block] = _draw(elements, elements.starts[set_of[block]], sizes[block], generator)
    return result


def _draw(elements: Elements, starts: Integers, sizes: Integers, generator: np.random.Generator) -> Floats:
    begins = np.cumsum(sizes) - sizes
    chosen = np.arange(int(sizes.sum())) + np.repeat(starts - begins, sizes)
    outer = elements.outer[chosen]
    weights = dirichlet_weights(outer, begins, generator)
    change = _betas(elements.first, chosen, generator) - _betas(elements.second, chosen, generator)
    result: Floats = np.add.reduceat(weights * change, begins)
    return result


def dirichlet_weights(parameters: Floats, begins: Integers, generator: np.random.Generator) -> Floats:
    """Draws from Dirichlet distributions that stand one after the other, each from its place in `begins` on."""
    sizes = np.diff(np.append(begins, len(parameters)))
    # In logs, as a gamma variate of a small parameter is often less than any double.
    logs = np.log(generator.standard_gamma(parameters + 1.0))
    logs -= generator.standard_exponential(len(parameters)) / parameters
    weights: Floats = np.exp(logs - np.repeat(np.maximum.reduceat(logs, begins), sizes))
    weights /= np.repeat(np.add.reduceat(weights, begins), sizes)
    return weights


def _betas(shape: tuple[Floats, Floats], chosen: Integers, generator: np.random.Generator) -> Floats:
    return generator.beta(shape[0][chosen], shape[1][chosen])


def mean_table(
    table: Table,
    prior: DirichletPrior,
    treatment: int,
    outcome: int,
    groups: Groups,
    engine: Engine,
    block_cells: int = _BLOCK_CELLS,
) -> Floats:
    """The mean of P(y | do(x)) over all graphs, as a table of treatments by outcomes."""
    table.codes()
    rows = speaking_rows(table, treatment)
    total = groups.no_path * _mean_without_path(table, rows, prior, outcome)
    result: Floats = np.tile(total, (table.arities[treatment], 1))
    blocks = counted_blocks(table, rows, prior, treatment, outcome, groups.masks, engine, block_cells)
    for block, counted in blocks:
        result += _mean_probabilities(counted, groups.weights[block], *result.shape)
    return result


def _mean_probabilities(counted: Counted, weights: Floats, levels: int, outcomes: int) -> Floats:
    """The mean of P(y | do(x)) over some sets of given weights, as a table of treatments by outcomes."""
    inner, total = counted.inner[counted.set_of], outcomes * counted.inner[counted.set_of]
    share = counted.outer[counted.set_of] + counted.pooled
    rows = np.bincount(counted.set_of, weights=counted.pooled, minlength=len(weights))
    # Weight of the set times the mean of P(z).
    share *= (weights / (counted.outer * counted.configurations + rows))[counted.set_of]
    result = np.full((levels, outcomes), float(weights.sum()) / outcomes)
    for level in range(levels):
        seen = _sums(counted, counted.counts * (counted.treatments == level))
        # Beyond what each configuration would give if it did not occur.
        result[level] += float((share * (inner / (total + seen) - 1.0 / outcomes)).sum())
        here = counted.treatments == level
        place = counted.configuration_of[here]
        more = counted.counts[here] * share[place] / (total + seen)[place]
        result[level] += np.bincount(counted.outcomes[here], weights=more, minlength=outcomes)
    return result


def _mean_without_path(table: Table, rows: NDArray[np.bool_], prior: DirichletPrior, outcome: int) -> Floats:
    """The mean of P(y), which setting the treatment does not change."""
    arity = table.arities[outcome]
    weights = None if table.counts is None else table.counts[rows]
    counts = np.bincount(table.columns[outcome][rows].astype(np.int64), weights=weights, minlength=arity)
    parameter = cell_parameters(prior, table, np.array([outcome]), np.zeros(1, dtype=np.uint64))
    result: Floats = (counts + parameter) / (counts + parameter).sum()
    return result
