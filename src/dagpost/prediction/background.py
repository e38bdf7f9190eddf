"""How are the columns that are not modelled distributed? As in the table: what is said of the others builds on that.

Exogenous columns have no parents, and no distribution of their own in the model. What setting a column does, or what a
row is likely to have, on average over the people of the table, takes them as the table has them: every combination of
their levels that occurs with its share of the observations, and the means of exogenous numbers there. Graphs are linear
in those, so that nothing else about them matters. The rows themselves are not kept.

Gaps: rows with a gap in an exogenous column are left out when a model is fitted, so that every completed table has the
same background. Time and memory: a sort of the rows, and two numbers a column for each combination.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools import memory
from dagpost._tools.arrays import Floats, Integers
from dagpost._tools.text import position_of
from dagpost.data.table import Table
from dagpost.errors import InputError
from dagpost.families.masks import distinct_rows
from dagpost.families.numbering import MAX_NODES
from dagpost.posterior.augmented_workspace import modelled_table
from dagpost.posterior.fitted import Fitted
from dagpost.prediction.stored_arrays import require, smallest
from dagpost.scores import (
    LocalPrior,
    NormalWishartPrior,
    ParameterPrior,
    parameter_prior_of,
    resolve_score,
    scores_within,
)

_REMEMBERED = "background"


class Background(NamedTuple):
    """The exogenous columns as the table has them: each combination of their levels, and the means of numbers there.

    `levels` is (combinations, columns) with -1 for columns that are modelled or numbers, `shares` sums to 1, and
    `means` is (combinations, columns), nan for columns that are modelled or levels. Without exogenous columns there is
    one combination.
    """

    levels: Integers
    shares: Floats
    means: Floats

    @property
    def exogenous(self) -> Integers:
        """The columns that it is about."""
        found: Integers = np.flatnonzero((self.levels[0] >= 0) | ~np.isnan(self.means[0]))
        return found

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays to be stored; codes are kept as one more than they are."""
        return {"levels": smallest(self.levels + 1), "shares": self.shares, "means": self.means}


def count_background(table: Table, exogenous: Sequence[str], prior: ParameterPrior) -> Background:
    """The exogenous columns of a table; the prior says whether levels are taken as numbers.

    >>> from dagpost.data import as_table
    >>> from dagpost.scores import DirichletPrior
    >>> table = as_table(np.array([[0, 1], [1, 1], [0, 0], [0, 0]]))
    >>> found = count_background(table, ["V0"], DirichletPrior(1.0))
    >>> found.levels.tolist(), found.shares.tolist()
    ([[0, -1], [1, -1]], [0.75, 0.25])
    """
    nodes = len(table.names)
    columns = [position_of(name, table.names) for name in exogenous]
    of_levels = [
        node for node in columns if table.levels[node] is not None and not isinstance(prior, NormalWishartPrior)
    ]
    of_numbers = [node for node in columns if node not in of_levels]
    seen = np.flatnonzero(table.weights > 0)
    weights = table.weights[seen].astype(np.float64)
    codes = np.zeros((len(seen), len(of_levels) + 1), dtype=np.int64)
    for place, node in enumerate(of_levels):
        codes[:, place] = table.columns[node][seen]
    first, member = distinct_rows(codes)
    memory.require(
        len(first) * nodes * 16, "The combinations of exogenous levels", "Leave out exogenous columns, or merge levels."
    )
    totals = np.bincount(member, weights=weights, minlength=len(first))
    levels = np.full((len(first), nodes), -1, dtype=np.int64)
    levels[:, of_levels] = codes[first, :-1]
    means = np.full((len(first), nodes), np.nan)
    for node in of_numbers:
        means[:, node] = np.bincount(member, weights=weights * _numbers(table, node)[seen]) / totals
    return Background(levels, totals / totals.sum(), means)


def _numbers(table: Table, node: int) -> Floats:
    levels = table.levels[node]
    column: Floats = table.columns[node] if levels is None else np.array(levels, dtype=np.float64)[table.columns[node]]
    return column


def no_background(nodes: int) -> Background:
    """That of a table in which every column is modelled."""
    return Background(np.full((1, nodes), -1, dtype=np.int64), np.ones(1), np.full((1, nodes), np.nan))


def background_of(fitted: Fitted) -> Background:
    """The exogenous columns of a fitted model, from its rows or from what its file keeps of them."""
    if not fitted.exogenous:
        return no_background(len(fitted.names))
    known: Background | None = fitted.recall(_REMEMBERED)
    if known is None:
        if fitted.table is None:
            raise InputError(
                "This model has no rows, and its file does not say how the exogenous columns are distributed. Fit it "
                "again, and save it anew."
            )
        prior = parameter_prior_of(scores_within(resolve_score(fitted.score))[0], "Exogenous columns need to know")
        known = count_background(modelled_table(fitted), fitted.exogenous, prior)
        fitted.remember(_REMEMBERED, known)
    return known


def remember_background(fitted: Fitted, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Take over what a file keeps; what does not fit the model is a ValueError."""
    levels, shares, means = (arrays[name] for name in ("levels", "shares", "means"))
    found = Background(levels.astype(np.int64) - 1, shares.astype(np.float64), means.astype(np.float64))
    nodes, combinations = len(fitted.names), len(found.shares)
    require(combinations > 0 and found.levels.shape == found.means.shape == (combinations, nodes), "other columns")
    require(abs(float(found.shares.sum()) - 1.0) < 1e-9 and bool((found.shares > 0.0).all()), "shares of combinations")
    arities = np.array([len(own or ()) for own in fitted.data.levels])
    require(bool((found.levels < arities).all()), "unknown levels of exogenous columns")
    every = np.isin(np.array(fitted.names, dtype=object), fitted.exogenous)
    known = (found.levels >= 0) | ~np.isnan(found.means)
    require(bool((known == every).all()), "other exogenous columns")
    fitted.remember(_REMEMBERED, found)


def background_to_keep(fitted: Fitted) -> Background | None:
    """What a file keeps of the exogenous columns, where there are any and what is known of them can be counted."""
    if not fitted.exogenous or isinstance(fitted.score, str) or len(fitted.names) > MAX_NODES:
        return None
    counted = fitted.recall(_REMEMBERED) is not None or fitted.table is not None
    priors = [score.parameter_prior() for score in scores_within(resolve_score(fitted.score))]
    unknown = any(prior is None or isinstance(prior, LocalPrior) for prior in priors)
    return background_of(fitted) if counted and not unknown else None
