"""The posterior mean of the parameters of one graph: a table of probabilities a node, or a regression.

For discrete columns the mean of the Dirichlet distribution of a node's level in one configuration of its parents is
`(a + N(x, p)) / (r a + N(p))` (discrete.py). For continuous ones, with `R` and `m` as in gaussian.py, the coefficients
of the parents have mean `b = R_PP^-1 R_Pi`, the intercept `m_i - b' m_P`, and the residual variance, which has an
inverse gamma distribution, `s / (v - 2)` (Geiger & Heckerman 2002).
"""

from __future__ import annotations

import numpy as np

from dagpost._tools import memory
from dagpost._tools.arrays import Floats, Masks
from dagpost.prediction.counting import cell_numbers
from dagpost.prediction.discrete import cell_parameters
from dagpost.prediction.discrete_statistics import DiscreteStatistics
from dagpost.prediction.gaussian import gaussian_posterior
from dagpost.prediction.gaussian_statistics import GaussianStatistics
from dagpost.scores import DirichletPrior, NormalWishartPrior


def mean_tables(statistics: DiscreteStatistics, prior: DirichletPrior, parents: Masks) -> list[Floats]:
    """For each node, its probabilities given its parents: one axis a parent, ascending, and the node itself last."""
    nodes = np.arange(len(parents))
    arities = statistics.arities
    found = statistics.locate(nodes, parents)
    parameters = cell_parameters(prior, statistics, nodes, parents)
    needed = int(cell_numbers(arities, nodes, parents).sum()) * 8
    memory.require(
        2 * needed, "The tables of all nodes", "Use a graph with fewer parents, or columns with fewer levels."
    )
    tables = []
    for node, family in enumerate(found):
        shape = [arities[other] for other in range(len(parents)) if int(parents[node]) >> other & 1]
        counts = np.zeros((*shape, arities[node]))
        occurring = slice(statistics.starts[family], statistics.starts[family + 1])
        counts.reshape(-1)[statistics.cells[occurring]] = statistics.counts[occurring]
        table = counts + parameters[node]
        tables.append(table / table.sum(axis=-1, keepdims=True))
    return tables


def mean_regressions(
    statistics: GaussianStatistics, prior: NormalWishartPrior, parents: Masks
) -> tuple[list[Floats], Floats, Floats]:
    """For each node, the coefficients of its parents, ascending; the intercepts and the residual variances of all."""
    posterior = gaussian_posterior(statistics, prior)
    coefficients, intercepts, variances = [], np.empty(len(parents)), np.empty(len(parents))
    for node in range(len(parents)):
        group = int(statistics.group_of[node])
        matrix, mean = posterior.matrices[group], posterior.means[group]
        members = [other for other in range(len(parents)) if int(parents[node]) >> other & 1]
        slopes = np.linalg.solve(matrix[np.ix_(members, members)], matrix[members, node])
        left = max(float(matrix[node, node] - slopes @ matrix[members, node]), posterior.floors[node])
        coefficients.append(slopes)
        intercepts[node] = mean[node] - slopes @ mean[members]
        variances[node] = left / (posterior.degrees[group] + len(members) - 1)
    return coefficients, intercepts, variances
