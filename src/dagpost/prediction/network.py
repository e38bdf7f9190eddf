"""One graph with its parameters: a Bayesian network to look at, to draw rows from, and to hand to other programs.

The parameters are posterior means (prediction/parameters.py); files are prediction/network_files.py. Time and memory
are linear in the cells of the tables.
"""

from __future__ import annotations

import html
import os
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost._tools.checks import kind, members, seed_number, texts, whole_number
from dagpost._tools.setting_text import given_columns
from dagpost._tools.text import names_in, position_of, shortened
from dagpost.errors import InputError
from dagpost.scores import Score

if TYPE_CHECKING:
    import pandas as pd

    from dagpost.posterior.summaries.given import GivenGraph
    from dagpost.prediction.statistics import Statistics


class _Network:
    """How networks show themselves."""

    names: tuple[str, ...]
    parents: tuple[tuple[str, ...], ...]
    exogenous: tuple[str, ...]

    def __repr__(self) -> str:
        names, edges, given = len(self.names), sum(map(len, self.parents)), given_columns(self.exogenous)
        size = f"{names} variable{'s' * (names != 1)} and {edges} edge{'s' * (edges != 1)}"
        return f"{type(self).__name__} of {size}{given and f', {given}'}"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th>{html.escape(name)}</th><td>{html.escape(', '.join(of)) or 'none'}</td></tr>"
            for name, of in zip(self.names, self.parents, strict=True)
        )
        head = "<tr><th>variable</th><th>parents</th></tr>"
        return f"<table><caption>{html.escape(repr(self))}</caption>{head}{rows}</table>"


@dataclass(frozen=True, eq=False, repr=False)
class BayesianNetwork(_Network):
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
        _order_of(self.names, self.parents)
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

        generator = _generator(rows, seed)
        codes: dict[str, Any] = {}
        for node in _order_of(self.names, self.parents):
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
        """Write the network to a BIF (.bif), XMLBIF (.bifxml, .xmlbif, .xml) or DSL (.dsl) file.

        An older file is replaced whole. Names and levels that are not plain identifiers are replaced by identifiers; a
        comment in the file says what they stand for and which are exogenous, and `read` gives that back.
        """
        from dagpost.prediction.network_files import Parts, write_network

        write_network(Parts(self.names, self.levels, self.parents, self.tables, self.exogenous), path)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """Read a network from a BIF, XMLBIF or DSL file.

        Everything in it is checked, and an error names the file, the line and what is wrong. The levels in a file that
        was not written here are text. Parents come in the order of the variables, and probabilities are scaled to sum
        to 1.
        """
        from dagpost.prediction.network_files import read_network

        parts = read_network(path)
        try:
            return cls(*parts)
        except InputError as error:
            raise InputError(f"{os.fspath(path)!r}: {error.marked}") from None


@dataclass(frozen=True, eq=False, repr=False)
class GaussianNetwork(_Network):
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

        generator = _generator(rows, seed)
        values: dict[str, Floats] = {}
        for node in _order_of(self.names, self.parents):
            noise = generator.normal(size=rows) * np.sqrt(self.variances[node])
            parts = zip(self.coefficients[node], self.parents[node], strict=True)
            values[self.names[node]] = sum(
                (slope * values[parent] for slope, parent in parts), self.intercepts[node] + noise
            )
        return pd.DataFrame({name: values[name] for name in self.names})


def bayesian_network(dag: GivenGraph, statistics: Statistics, score: str | Score) -> BayesianNetwork | GaussianNetwork:
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
    from dagpost.prediction.parameters import mean_regressions, mean_tables
    from dagpost.prediction.statistics import DiscreteStatistics, GaussianStatistics, check_statistics, prior_for
    from dagpost.scores import DirichletPrior

    prior = prior_for(check_statistics(statistics), score)
    names = statistics.names
    masks = masks_of_graph(dag, names)
    parents = tuple(names_in(int(mask), names) for mask in masks)
    if isinstance(prior, DirichletPrior):
        assert isinstance(statistics, DiscreteStatistics)
        return BayesianNetwork(names, statistics.levels, parents, tuple(mean_tables(statistics, prior, masks)))
    assert isinstance(statistics, GaussianStatistics)
    coefficients, intercepts, variances = mean_regressions(statistics, prior, masks)
    return GaussianNetwork(names, parents, tuple(coefficients), intercepts, variances)


def mixed_network(
    networks: Sequence[BayesianNetwork | GaussianNetwork], shares: Sequence[float]
) -> BayesianNetwork | GaussianNetwork:
    """The network of one graph whose parameters are the means of those of several, weighted by `shares`."""

    def mean(arrays: Sequence[Floats]) -> Floats:
        total: Floats = np.tensordot(shares, np.array(arrays), axes=1)
        return total

    first = networks[0]
    if isinstance(first, BayesianNetwork):
        tables = zip(*(network.tables for network in networks if isinstance(network, BayesianNetwork)), strict=True)
        return replace(first, tables=tuple(map(mean, tables)))
    others = [network for network in networks if isinstance(network, GaussianNetwork)]
    return replace(
        first,
        coefficients=tuple(map(mean, zip(*(network.coefficients for network in others), strict=True))),
        intercepts=mean([network.intercepts for network in others]),
        variances=mean([network.variances for network in others]),
    )


def _order_of(names: tuple[str, ...], parents: Sequence[Sequence[str]]) -> list[int]:
    """The nodes, every one after its parents; a cycle is an error."""
    place = {name: node for node, name in enumerate(names)}
    waiting = [len(of) for of in parents]
    children: list[list[int]] = [[] for _ in names]
    for child, of in enumerate(parents):
        for parent in of:
            if parent in place:
                children[place[parent]].append(child)
    order: list[int] = []
    ready = [node for node, count in enumerate(waiting) if count == 0]
    while ready:
        order += ready
        following = []
        for node in ready:
            for child in children[node]:
                waiting[child] -= 1
                following += [child] if waiting[child] == 0 else []
        ready = sorted(following)
    if len(order) < len(names):
        placed = {*order}
        stuck = shortened([repr(name) for node, name in enumerate(names) if node not in placed])
        raise InputError(f"The graph has a directed cycle, or an unknown parent, among {stuck}: it is not a DAG.")
    return order


def _generator(rows: int, seed: int | None) -> np.random.Generator:
    whole_number(rows, "rows", "sample", least=0)
    return np.random.default_rng(seed_number(seed))
