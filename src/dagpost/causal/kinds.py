"""How an effect is found, by the prior of the parameters: one line for each kind of table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from dagpost._tools.arrays import Integers
from dagpost.causal import discrete, gaussian, mixed
from dagpost.causal.groups import Effects, Groups
from dagpost.causal.levels import code_of, contrast_of, outcome_of, refuse_levels
from dagpost.data.table import Table
from dagpost.engines import Engine
from dagpost.errors import warn
from dagpost.scores import ConditionalGaussianPrior, DirichletPrior, NormalWishartPrior


class Question(NamedTuple):
    """An effect that is asked about, the adjustment sets with their weights, and the set of each draw (ascending)."""

    table: Table
    prior: Any
    treatment: int
    outcome: int
    do: object
    outcome_level: object
    groups: Groups
    set_of: Integers
    generator: np.random.Generator
    engine: Engine


#: The effects, and the levels of treatment and outcome that are meant, None for numbers.
Answer = tuple[Effects, tuple[object, object] | None, object]


def _discrete(asked: Question) -> Answer:
    asked.table.codes()
    return _between_levels(asked)


def _between_levels(asked: Question) -> Answer:
    table, x, y = asked.table, asked.treatment, asked.outcome
    do, level = contrast_of(table, x, asked.do), outcome_of(table, y, asked.outcome_level)
    codes = (code_of(table, x, do[0]), code_of(table, x, do[1])), code_of(table, y, level)
    prior, groups = asked.prior, asked.groups
    if isinstance(prior, ConditionalGaussianPrior):
        table, prior, x, y, groups = mixed.among_levels(table, prior, x, y, groups)
    contrast = discrete.Contrast(x, y, *codes)
    about = table, prior, contrast, groups, asked.set_of, asked.generator, asked.engine
    return discrete.discrete_effects(*about), do, level


def _gaussian(asked: Question) -> Answer:
    asked.table.values()
    _refuse_all_levels(asked)
    about = asked.table, asked.prior, asked.treatment, asked.outcome, asked.groups, asked.set_of, asked.generator
    return gaussian.continuous_effects(*about), None, None


def _mixed(asked: Question) -> Answer:
    table, x, y = asked.table, asked.treatment, asked.outcome
    from_levels, to_levels = table.levels[x] is not None, table.levels[y] is not None
    if from_levels and to_levels:
        return _between_levels(asked)
    if to_levels:
        refuse_levels(table, x, "do", asked.do)
        level = outcome_of(table, y, asked.outcome_level)
        warn(
            "In a conditional Gaussian network no column of numbers leads to one of levels: that "
            f"{table.names[x]!r} has no effect on {table.names[y]!r} is a statement of the model, not a finding."
        )
        return mixed.no_effects(table, x, asked.set_of), None, level
    refuse_levels(table, y, "outcome_level", asked.outcome_level)
    about = asked.prior, x, y, asked.groups, asked.set_of, asked.generator
    if not from_levels:
        refuse_levels(table, x, "do", asked.do)
        return mixed.slopes_by_levels(table, *about), None, None
    do = contrast_of(table, x, asked.do)
    codes = code_of(table, x, do[0]), code_of(table, x, do[1])
    return mixed.changes_of_mean(table, *about, codes), do, None


def _refuse_all_levels(asked: Question) -> None:
    refuse_levels(asked.table, asked.treatment, "do", asked.do)
    refuse_levels(asked.table, asked.outcome, "outcome_level", asked.outcome_level)


KINDS: Mapping[type[Any], Callable[[Question], Answer]] = {
    DirichletPrior: _discrete,
    NormalWishartPrior: _gaussian,
    ConditionalGaussianPrior: _mixed,
}
