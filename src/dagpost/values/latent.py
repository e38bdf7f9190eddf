"""Networks of numbers with drawn parameters, and the columns that are images of latent numbers in them.

A level is an interval of latent numbers, between cut points that are drawn for every draw of the parameters
(prediction/latent_rows.py). A column that is set to a level has the mean latent number of that level.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost.data.table import Table
from dagpost.errors import InputError
from dagpost.prediction.completed_parts import Part
from dagpost.prediction.latent_rows import level_intervals
from dagpost.prediction.parameter_draws import drawn_networks
from dagpost.scores.latent_columns import ranks_of, standardised
from dagpost.scores.latent_images import Images
from dagpost.values.averaged import Weighted
from dagpost.values.normals import Limits
from dagpost.values.question import Cell, Columns

#: Equally probable points at which the image of a normal number is looked at, and draws of cut points.
_POINTS, _CUTS = 8, 16


def gaussian_moments(
    part: Weighted, graphs: Masks, fixed: Mapping[int, Any], wanted: Sequence[int], generator: np.random.Generator
) -> tuple[Floats, Floats]:
    """Means (graphs, wanted) and covariances of some columns of drawn networks, in which others are set."""
    networks = drawn_networks(part.statistics, part.prior, graphs, generator)  # type: ignore[arg-type]
    matrices, intercepts, spreads = networks.matrices(), networks.intercepts.copy(), networks.spreads.copy()
    for node, value in fixed.items():
        matrices[:, node], intercepts[:, node], spreads[:, node] = 0.0, value, 0.0
    nodes = graphs.shape[1]
    right = np.concatenate([intercepts[:, :, np.newaxis], spreads[:, :, np.newaxis] * np.eye(nodes)], axis=2)
    solved = np.linalg.solve(np.eye(nodes) - matrices, right)[:, list(wanted)]
    ways = solved[:, :, 1:]
    return solved[:, :, 0], ways @ ways.transpose(0, 2, 1)


def joined_graphs(graphs: Masks, outside: int) -> Masks:
    """The graphs in which exogenous columns, which are given, have no parents."""
    found = graphs.copy()
    found[:, [node for node in range(graphs.shape[1]) if outside >> node & 1]] = 0
    return found


class Behind:
    """The latent numbers behind the columns of one completed table."""

    def __init__(self, images: Images, part: Part, columns: Columns, generator: np.random.Generator) -> None:
        assert part.table is not None
        self.images, self.columns, self.generator = images, columns, generator
        self.table: Table = part.table()
        self.exogenous = [columns.names.index(name) for name in columns.exogenous]

    def latent(self, node: int, number: float) -> float:
        """The latent number of a number."""
        return float(self.images.margin(node).latent(np.array([number]))[0])

    def limit(self, node: int, number: float, is_point: bool) -> float:
        """The latent number of a limit: no value is beyond those that were seen, unless on a line or with bounds."""
        margin, bounds = self.images.margin(node), self.images.table.bounds
        if not is_point and not margin.slope and not (bounds and bounds[node] is not None):
            if number > margin.values[-1]:
                return np.inf
            if number < margin.values[0]:
                return -np.inf
        return self.latent(node, number)

    def value(self, node: int, cell: Cell) -> float:
        """The latent number that a column is set to."""
        levels = self.images.table.levels[node]
        if cell.codes is None or levels is None:
            return self.latent(node, cell.lower)
        codes = self.images.table.columns[node]
        if node in self.exogenous:
            latent = standardised(ranks_of(levels)[codes].astype(np.float64), self.images.table.weights)
        else:
            latent = np.asarray(self.table.columns[node], dtype=np.float64)
        held = codes == cell.codes[0]
        if self.images.table.gaps is not None:
            held = held & ~self.images.table.gaps[node]
        if not held.any():
            raise InputError(
                f"No row has {levels[cell.codes[0]]!r} in {self.columns.names[node]!r}, so that nothing says what it "
                "would do. Choose another level."
            )
        return float(latent[held].mean())

    def ends(self, node: int, draws: int, codes: Integers) -> Limits:
        """The interval of the code of each lane, for each draw: (draws, lanes), one after the other."""
        found = []
        for _ in range(min(draws, _CUTS)):
            own = level_intervals(self.images, self.table, self.exogenous, self.generator)[node]
            assert own is not None
            found.append(own[codes])
        # A level that no row has is nowhere.
        ends = np.nan_to_num(
            np.resize(np.stack(found), (draws, len(codes), 2)), nan=np.inf, posinf=np.inf, neginf=-np.inf
        )
        return Limits(ends[:, :, 0].reshape(-1), ends[:, :, 1].reshape(-1))

    def images_of(self, node: int, components: tuple[Floats, Floats, Floats]) -> tuple[Floats, Floats, Floats]:
        """Latent numbers as numbers: points in the place of normal distributions."""
        from scipy.special import ndtri

        logs, means, deviations = components
        points = ndtri((np.arange(_POINTS) + 0.5) / _POINTS)
        values = self.images.number_image(node).of(means[:, :, np.newaxis] + deviations[:, :, np.newaxis] * points)
        spread = np.repeat(logs[:, :, np.newaxis] - np.log(_POINTS), _POINTS, axis=2)
        return spread.reshape(len(logs), -1), values.reshape(len(logs), -1), np.zeros((len(logs), values[0].size))
