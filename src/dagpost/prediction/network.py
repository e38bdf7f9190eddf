"""One graph with its parameters: a Bayesian network to look at, to draw rows from, and to hand to other programs.

The parameters are posterior means (prediction/parameters.py); files are prediction/network_files.py. Time and memory
are linear in the cells of the tables.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost._tools.checks import kind, members, texts
from dagpost._tools.text import names_in, position_of
from dagpost.errors import InputError
from dagpost.prediction.network_basics import Network, generator_for, order_of
from dagpost.scores import Score

if TYPE_CHECKING:
    import pandas as pd

    from dagpost.posterior.summaries.given import GivenGraph
    from dagpost.prediction.statistics import Statistics


@dataclass(frozen=True, eq=False, repr=False)
class BayesianNetwork(Network):
    """Discrete variables, the parents of each, and its probabilities given them; make one with `bayesian_network`.

    `tables[i]` has one axis a parent, in the order of `parents[i]`, and the levels of variable i along the last axis.
    Columns that are `exogenous` are not modelled: their tables are how often their levels occur, each by itself.
    """

    names: tuple[str, ...]
    levels: tuple[tuple[object, ...], ...]
    parents: tuple[tuple[str, ...], ...]
    tables: tuple[Floats, ...]
    exogenous: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check that everything fits together."""
        for field, allowed in (
            ("names", "a list of names"),
            ("levels", "a list of the levels of each variable"),
            ("parents", "a list of the parents of each variable"),
            ("tables", "a list of arrays"),
        ):
            object.__setattr__(self, field, members(getattr(self, field), field, "BayesianNetwork", allowed=allowed))
        texts(self.names, "names", "BayesianNetwork")
        object.__setattr__(self, "exogenous", texts(self.exogenous, "exogenous", "BayesianNetwork"))
        for name in self.exogenous:
            position_of(name, self.names)
        for levels, parents, table in zip(self.levels, self.parents, self.tables, strict=False):
            members(levels, "levels", "BayesianNetwork", allowed="a list of the levels of each variable")
            texts(parents, "parents", "BayesianNetwork", allowed="a list of the names of the parents of each variable")
            kind(table, "tables", np.ndarray, "a list of arrays", "BayesianNetwork")
        if not len(self.names) == len(self.levels) == len(self.parents) == len(self.tables):
            raise InputError("A network needs levels, parents and a table for each of its variables.")
        if len(set(self.names)) < len(self.names):
            raise InputError("The variables of a network must have different names.")
        order_of(self.names, self.parents)
        arity = {name: len(levels) for name, levels in zip(self.names, self.levels, strict=True)}
        for name, levels in zip(self.names, self.levels, strict=True):
            if not all(isinstance(level, Hashable) for level in levels) or len(set(levels)) < len(levels):
                raise InputError(f"The levels of {name!r} must be different texts, numbers or truth values.")
        for name, parents, table in zip(self.names, self.parents, self.tables, strict=True):
            shape = tuple(arity[variable] for variable in (*parents, name))
            fits = table.shape == shape and table.dtype.kind in "fiub"
            if not fits or not (table >= 0).all() or not np.allclose(table.sum(axis=-1), 1.0, atol=1e-9):
                raise InputError(
                    f"The table of {name!r} must hold probabilities of shape {shape} that sum to 1 along the last axis."
                )

    def to_frame(self, name: str) -> pd.DataFrame:
        """The table of one variable: a row a configuration of its parents, a column a level."""
        import pandas as pd

        node = position_of(name, self.names)
        columns = pd.Index(self.levels[node], name=name)
        flat = self.tables[node].reshape(-1, len(columns))
        if not self.parents[node]:
            return pd.DataFrame(flat, columns=columns)
        levels = [self.levels[position_of(parent, self.names)] for parent in self.parents[node]]
        rows: pd.Index[Any] = pd.MultiIndex.from_product(levels, names=self.parents[node])
        return pd.DataFrame(flat, rows if len(levels) > 1 else rows.get_level_values(0), columns)

    def sample(self, rows: int, seed: int | None = None) -> pd.DataFrame:
        """Draw rows, as categories; exogenous columns one by one, though they may depend on each other.

        >>> coin = BayesianNetwork(("coin",), (("heads", "tails"),), ((),), (np.array([0.5, 0.5]),))
        >>> coin.sample(3, seed=1)["coin"].tolist()
        ['tails', 'tails', 'heads']
        """
        import pandas as pd

        generator = generator_for(rows, seed)
        codes: dict[str, Any] = {}
        for node in order_of(self.names, self.parents):
            table = self.tables[node][tuple(codes[parent] for parent in self.parents[node])]
            passed = generator.random((rows, 1)) >= np.cumsum(table, axis=-1)
            codes[self.names[node]] = np.minimum(passed.sum(axis=-1), table.shape[-1] - 1)
        return pd.DataFrame(
            {
                name: pd.Categorical.from_codes(codes[name], pd.Index(levels))
                for name, levels in zip(self.names, self.levels, strict=True)
            }
        )

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the network to a BIF file, with a name that ends in .bif.

        An older file is replaced whole. Names and levels that are not plain identifiers are replaced by identifiers; a
        comment in the file says what they stand for and which are exogenous, and `read` gives that back.
        """
        from dagpost.prediction.network_files import write_network

        write_network(self, path)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """Read a network from a BIF file, with a name that ends in .bif.

        Everything in it is checked, and an error names the file, the line and what is wrong. The levels in a file that
        was not written here are text. Parents come in the order of the variables, and probabilities are scaled to sum
        to 1.
        """
        from dagpost.prediction.network_files import read_network

        return read_network(path, cls)


@dataclass(frozen=True, eq=False, repr=False)
class GaussianNetwork(Network):
    """Continuous variables, each a linear function of its parents and noise; make one with `bayesian_network`."""

    names: tuple[str, ...]
    parents: tuple[tuple[str, ...], ...]
    #: By variable: the coefficients in the order of its parents.
    coefficients: tuple[Floats, ...]
    intercepts: Floats
    #: The variances of the noise.
    variances: Floats
    #: Columns that are not modelled: they have the mean and variance of the data, each by itself.
    exogenous: tuple[str, ...] = ()

    def to_frame(self) -> pd.DataFrame:
        """Coefficients by variable, in the rows, and parent; with intercept and residual variance."""
        import pandas as pd

        index = pd.Index(self.names, name="variable")
        frame = pd.DataFrame(0.0, index, pd.Index(self.names, name="parent"))
        for name, parents, coefficients in zip(self.names, self.parents, self.coefficients, strict=True):
            frame.loc[name, list(parents)] = coefficients
        frame["(intercept)"] = self.intercepts
        frame["(residual variance)"] = self.variances
        return frame

    def sample(self, rows: int, seed: int | None = None) -> pd.DataFrame:
        """Draw rows."""
        import pandas as pd

        generator = generator_for(rows, seed)
        values: dict[str, Floats] = {}
        for node in order_of(self.names, self.parents):
            noise = generator.normal(size=rows) * np.sqrt(self.variances[node])
            parts = zip(self.coefficients[node], self.parents[node], strict=True)
            values[self.names[node]] = sum(
                (slope * values[parent] for slope, parent in parts), self.intercepts[node] + noise
            )
        return pd.DataFrame({name: values[name] for name in self.names})


AnyNetwork = BayesianNetwork | GaussianNetwork


def bayesian_network(dag: GivenGraph, statistics: Statistics, score: str | Score) -> AnyNetwork:
    """The network of one graph, with the posterior means of its parameters.

    Parameters
    ----------
    dag
        A directed graph of networkx, pairs ``(parent, child)`` of names, a mapping from each child to its parents, or
        a row of parent masks.
    statistics
        What `sufficient_statistics` counted in the training table for this graph (or for more).
    score
        The score that the graph was found with: the parameters have the prior that it stands for (BIC: Jeffreys').

    >>> from dagpost.data import datasets
    >>> from dagpost.prediction import sufficient_statistics
    >>> from dagpost.posterior.summaries import masks_of_graph
    >>> table, edges = datasets.load("coronary"), [("M. Work", "Family")]
    >>> statistics = sufficient_statistics(table, masks_of_graph(edges, table.names)[np.newaxis], "bdeu")
    >>> network = bayesian_network(edges, statistics, "bdeu")
    >>> network
    BayesianNetwork of 6 variables and 1 edge
    >>> network.to_frame("Family").round(3).to_dict("index")  # a row for each level of M. Work
    {'no': {'neg': 0.874, 'pos': 0.126}, 'yes': {'neg': 0.838, 'pos': 0.162}}
    """
    from dagpost.posterior.summaries.given import masks_of_graph
    from dagpost.prediction.discrete_statistics import DiscreteStatistics
    from dagpost.prediction.parameters import mean_regressions, mean_tables
    from dagpost.prediction.statistics import check_statistics, prior_for

    prior: Any = prior_for(check_statistics(statistics), score)
    names = statistics.names
    masks = masks_of_graph(dag, names)
    parents = tuple(names_in(int(mask), names) for mask in masks)
    if isinstance(statistics, DiscreteStatistics):
        return BayesianNetwork(names, statistics.levels, parents, tuple(mean_tables(statistics, prior, masks)))
    coefficients, intercepts, variances = mean_regressions(statistics, prior, masks)
    return GaussianNetwork(names, parents, tuple(coefficients), intercepts, variances)


def mixed_network(networks: Sequence[AnyNetwork], shares: Sequence[float]) -> AnyNetwork:
    """The network of one graph whose parameters are the means of those of several, weighted by `shares`."""

    def mean(arrays: Sequence[Any]) -> Floats:
        total: Floats = np.tensordot(shares, np.array(arrays), axes=1)
        return total

    # Of all of them by the same fields: the graph is the same.
    fields = ("tables", "coefficients", "intercepts", "variances")
    means: dict[str, Any] = {}
    for field in fields:
        own = [getattr(network, field, None) for network in networks]
        if isinstance(own[0], tuple):
            means[field] = tuple(mean(of) for of in zip(*own, strict=True))
        elif own[0] is not None:
            means[field] = mean(own)
    return replace(networks[0], **means)
