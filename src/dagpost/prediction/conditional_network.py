"""A graph over levels and numbers with its parameters: tables of levels, and regressions in each combination of them.

The parameters are posterior means, as in prediction/parameters.py; combinations of levels that do not occur have those
of the prior. Time and memory are linear in the cells of the tables and in all combinations of discrete parents.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from dagpost._tools import memory
from dagpost._tools.arrays import Floats, Masks
from dagpost._tools.text import position_of
from dagpost.errors import InputError
from dagpost.prediction.mixed_statistics import MixedStatistics, compressed
from dagpost.prediction.network_basics import Network, generator_for, order_of
from dagpost.scores import ConditionalGaussianPrior

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class ConditionalGaussianNetwork(Network):
    """Levels with their probabilities, and numbers that are linear in others, in each combination of levels.

    Of a column of levels `tables[i]` has one axis a parent, and its levels along the last axis. Of a column of numbers
    `intercepts[i]` and `variances[i]` (of the noise) have one axis for each parent of levels, and `coefficients[i]` a
    last one for its parents of numbers, all in the order of `parents[i]`. What a column does not have is None.
    """

    names: tuple[str, ...]
    #: None for a column of numbers.
    levels: tuple[tuple[object, ...] | None, ...]
    parents: tuple[tuple[str, ...], ...]
    tables: tuple[Floats | None, ...]
    coefficients: tuple[Floats | None, ...]
    intercepts: tuple[Floats | None, ...]
    variances: tuple[Floats | None, ...]
    #: Columns that are not modelled: they are as in the data, each by itself.
    exogenous: tuple[str, ...] = ()

    def _split(self, node: int) -> tuple[list[str], list[str]]:
        """The parents of levels and those of numbers."""
        of_numbers = [self.levels[position_of(parent, self.names)] is None for parent in self.parents[node]]
        pairs = list(zip(self.parents[node], of_numbers, strict=True))
        return [name for name, number in pairs if not number], [name for name, number in pairs if number]

    def to_frame(self, name: str) -> pd.DataFrame:
        """The parameters of one column, a row for each combination of its parents of levels.

        Of a column of levels: the probability of each; of numbers: intercept, coefficients and residual variance.
        """
        import pandas as pd

        node = position_of(name, self.names)
        given, numbers = self._split(node)
        table, intercepts, variances = self.tables[node], self.intercepts[node], self.variances[node]
        levels = [self.levels[position_of(parent, self.names)] or () for parent in given]
        rows: Any = None
        if given:
            rows = pd.MultiIndex.from_product(levels, names=given)
            rows = rows if len(given) > 1 else rows.get_level_values(0)
        if table is not None:
            own = pd.Index(self.levels[node] or (), name=name)
            return pd.DataFrame(table.reshape(-1, len(own)), rows, own)
        assert intercepts is not None
        assert variances is not None
        frame = pd.DataFrame({"(intercept)": intercepts.reshape(-1)}, rows)
        slopes = self.coefficients[node]
        assert slopes is not None
        for place, parent in enumerate(numbers):
            frame[parent] = slopes[..., place].reshape(-1)
        frame["(residual variance)"] = variances.reshape(-1)
        return frame

    def sample(self, rows: int, seed: int | None = None) -> pd.DataFrame:
        """Draw rows, as categories and numbers; exogenous columns one by one, though they may depend on each other."""
        import pandas as pd

        generator = generator_for(rows, seed)
        drawn: dict[str, Any] = {}
        for node in order_of(self.names, self.parents):
            given, numbers = self._split(node)
            place = tuple(drawn[parent] for parent in given)
            probabilities, slopes = self.tables[node], self.coefficients[node]
            intercepts, variances = self.intercepts[node], self.variances[node]
            if probabilities is not None:
                table = probabilities[place]
                passed = generator.random((rows, 1)) >= np.cumsum(table, axis=-1)
                drawn[self.names[node]] = np.minimum(passed.sum(axis=-1), table.shape[-1] - 1)
                continue
            assert intercepts is not None
            assert variances is not None
            assert slopes is not None
            values = intercepts[place] + generator.normal(size=rows) * np.sqrt(variances[place])
            for number, parent in enumerate(numbers):
                values = values + slopes[(*place, number)] * drawn[parent]
            drawn[self.names[node]] = values
        return pd.DataFrame(
            {
                name: drawn[name] if own is None else pd.Categorical.from_codes(drawn[name], pd.Index(own))
                for name, own in zip(self.names, self.levels, strict=True)
            }
        )

    def write(self, path: str | os.PathLike[str]) -> NoReturn:
        """Refuse: the formats of network files have tables of levels only."""
        numbers = next(name for name, own in zip(self.names, self.levels, strict=True) if own is None)
        raise InputError(
            f"{os.fspath(path)!r} cannot hold this network: BIF and DSL files have tables of levels, and "
            f"{numbers!r} is a column of numbers. Keep the parameters of each column with to_frame(name), or cut the "
            "columns of numbers and fit with a discrete score."
        )


def conditional_network(
    parents: tuple[tuple[str, ...], ...], statistics: MixedStatistics, prior: ConditionalGaussianPrior, masks: Masks
) -> ConditionalGaussianNetwork:
    """The network of one graph, with the posterior means of its parameters."""
    from dagpost.prediction.mixed import posterior_of_groups
    from dagpost.prediction.parameters import mean_tables

    of_levels, of_numbers = statistics.level_columns, statistics.number_columns
    levels, numbers = compressed(masks, of_levels), compressed(masks, of_numbers)
    nodes = len(masks)
    tables: list[Floats | None] = [None] * nodes
    if len(of_levels):
        for node, table in zip(
            of_levels.tolist(), mean_tables(statistics.discrete, prior.dirichlet, levels[of_levels]), strict=True
        ):
            tables[node] = table
    posterior = posterior_of_groups(statistics, prior)
    sets = statistics.locate_sets(statistics.run_of, levels[of_numbers])
    found: list[tuple[Any, Any, Any]] = [(None, None, None)] * nodes
    for child, node in enumerate(of_numbers.tolist()):
        shape = [statistics.discrete.arities[bit] for bit in range(len(of_levels)) if int(levels[node]) >> bit & 1]
        members = [other for other in range(len(of_numbers)) if int(numbers[node]) >> other & 1]
        memory.require(
            16 * math.prod(shape) * (len(members) + 2),
            f"The regressions of {statistics.names[node]!r}",
            "Use a graph with fewer parents, or columns with fewer levels.",
        )
        # Group 0, without rows, where a combination does not occur.
        group_of = np.zeros(math.prod(shape), dtype=np.int64)
        first, last = statistics.starts[sets[child]], statistics.starts[sets[child] + 1]
        group_of[statistics.configurations[first:last]] = np.arange(first, last) + 1
        matrices = posterior.matrices[np.ix_(range(len(posterior.weights)), [*members, child], [*members, child])]
        slopes = np.linalg.solve(matrices[:, :-1, :-1], matrices[:, :-1, -1:])[:, :, 0]
        left = np.maximum(matrices[:, -1, -1] - (slopes * matrices[:, :-1, -1]).sum(axis=1), posterior.floors[child])
        intercepts = posterior.means[:, child] - (slopes * posterior.means[:, members]).sum(axis=1)
        variances = left / (posterior.degrees + len(members) - 1)
        found[node] = (
            slopes[group_of].reshape(*shape, len(members)),
            intercepts[group_of].reshape(shape),
            variances[group_of].reshape(shape),
        )
    coefficients, intercepts_of, variances_of = zip(*found, strict=True)
    return ConditionalGaussianNetwork(
        statistics.names, statistics.levels, parents, tuple(tables), coefficients, intercepts_of, variances_of
    )
