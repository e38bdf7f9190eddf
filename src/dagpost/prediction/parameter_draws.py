"""Draws of the parameters of Gaussian networks from their posterior, one set of them for each graph.

Family by family, with `R`, `m`, `w`, `u`, `n` as in gaussian.py: the variance that `p` parents leave is `s / chi^2`,
with `w + N - n + p + 1` degrees of freedom, the coefficients given it are normal around those of the regression in `R`,
and so is the mean. These are the distributions that the score integrates over (Geiger & Heckerman 2002).

Time: one Cholesky factor of the size of the family for each node of each graph.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost._tools.kernels import kernel
from dagpost.prediction.gaussian import GaussianPosterior, gaussian_posterior
from dagpost.prediction.gaussian_statistics import GaussianStatistics
from dagpost.scores import NormalWishartPrior
from dagpost.scores.cholesky import draw_regression, factorise


class DrawnNetworks(NamedTuple):
    """Of every graph and node the parents, -1 in places left over, and their coefficients: (graphs, nodes, parents).

    `intercepts` and `spreads` are (graphs, nodes); `spreads` are deviations.
    """

    parents: Integers
    coefficients: Floats
    intercepts: Floats
    spreads: Floats

    def some(self, rows: Integers) -> DrawnNetworks:
        """Those of some graphs."""
        return DrawnNetworks(self.parents[rows], self.coefficients[rows], self.intercepts[rows], self.spreads[rows])

    def matrices(self) -> Floats:
        """The coefficients as (graphs, child, parent)."""
        graphs, nodes, _ = self.parents.shape
        result = np.zeros((graphs, nodes, nodes + 1))
        np.put_along_axis(result, np.where(self.parents < 0, nodes, self.parents), self.coefficients, axis=2)
        return np.ascontiguousarray(result[:, :, :nodes])

    def covariances(self) -> Floats:
        """The covariance of all columns, for each graph."""
        nodes = self.parents.shape[1]
        # Of rows: column = intercept + coefficients times columns + spread times noise.
        ways = np.linalg.solve(np.eye(nodes) - self.matrices(), self.spreads[:, :, np.newaxis] * np.eye(nodes))
        return np.asarray(ways @ ways.transpose(0, 2, 1))


def drawn_networks(
    statistics: GaussianStatistics,
    prior: NormalWishartPrior,
    graphs: NDArray[np.unsignedinteger],
    generator: np.random.Generator,
) -> DrawnNetworks:
    """One draw of the parameters of each graph, a row of parent masks."""
    posterior = gaussian_posterior(statistics, prior)
    masks = graphs.astype(np.uint64)
    sizes = np.bitwise_count(masks).astype(np.int64)
    freedom = posterior.degrees[statistics.group_of] + sizes + 1.0
    squares = generator.chisquare(freedom)
    normals = generator.standard_normal((*masks.shape, int(sizes.max(initial=0)) + 1))
    return _networks(posterior, statistics, masks, squares, normals)


def expected_networks(
    statistics: GaussianStatistics, prior: NormalWishartPrior, graphs: NDArray[np.unsignedinteger]
) -> DrawnNetworks:
    """The posterior means of the coefficients and intercepts of each graph; `spreads` say nothing."""
    posterior = gaussian_posterior(statistics, prior)
    masks = graphs.astype(np.uint64)
    most = int(np.bitwise_count(masks).max(initial=0))
    # Everything that is drawn lies around its mean.
    return _networks(posterior, statistics, masks, np.ones(masks.shape), np.zeros((*masks.shape, most + 1)))


def _networks(
    posterior: GaussianPosterior, statistics: GaussianStatistics, masks: Masks, squares: Floats, normals: Floats
) -> DrawnNetworks:
    count, nodes = masks.shape
    most = normals.shape[2] - 1
    parents = np.full((count, nodes, most), -1, dtype=np.int64)
    coefficients, rest = np.zeros((count, nodes, most)), np.zeros((count, nodes, 2))
    _draw(
        masks, statistics.group_of, posterior.means, posterior.matrices, posterior.weights, posterior.floors, squares,
        normals, parents, coefficients, rest,
    )  # fmt: skip
    return DrawnNetworks(parents, coefficients, rest[:, :, 0], rest[:, :, 1])


@kernel
def _draw(
    masks: Masks,
    group_of: Integers,
    means: Floats,
    matrices: Floats,
    weights: Floats,
    floors: Floats,
    squares: Floats,
    normals: Floats,
    parents: Integers,
    coefficients: Floats,
    rest: Floats,
) -> None:
    graphs, nodes = masks.shape
    members = np.empty(nodes + 1, dtype=np.int64)
    cholesky = np.zeros((nodes, nodes))
    for graph in range(graphs):
        for node in range(nodes):
            size = 0
            for other in range(nodes):
                if masks[graph, node] >> np.uint64(other) & np.uint64(1):
                    members[size] = other
                    parents[graph, node, size] = other
                    size += 1
            members[size] = node
            group = group_of[node]
            factorise(matrices[group], members, size + 1, floors, cholesky)
            rest[graph, node, 0], rest[graph, node, 1] = draw_regression(
                members, size, cholesky, means[group], weights[group], squares[graph, node], normals[graph, node],
                coefficients[graph, node],
            )  # fmt: skip
