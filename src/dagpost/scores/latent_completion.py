"""Which latent numbers may a table have, given a graph, and the ranks and bounds of its cells?

A round leaves `p_BGe(Z | G)`, restricted to latent tables `Z` that agree with the ranks and bounds, as it is:

1. the parameters of every family, from the posterior that BGe integrates over (gaussian_completion.py);
2. column by column each latent number given the others of its row (latent_cells.py);
3. without the parameters again, whole columns: their place, their width, and the borders between their levels
   (latent_moves.py), which steps 1 and 2 alone would move by no more than the gap between two numbers.
"""

from __future__ import annotations

import numpy as np

from dagpost._tools.arrays import Flags, Floats, Integers
from dagpost.data.table import Table
from dagpost.families.considered_sets import Members
from dagpost.scores.gaussian_completion import Families, GaussianCompleter
from dagpost.scores.latent_cells import draw_cells, latent_cells
from dagpost.scores.latent_moves import MOVES, move_columns
from dagpost.scores.latent_sums import Posterior, working_memory
from dagpost.scores.parameter_priors import NormalWishartPrior
from dagpost.scores.truncated_normals import normals_between

#: The distance between two uniform numbers: the least that is drawn, so that neither it nor what it lacks to 1 is 0.
_LEAST_UNIFORM = 2.0**-53


class LatentCompleter(GaussianCompleter):
    """Draws latent numbers given a graph, under the posterior of BGe (base.Completer)."""

    def __init__(self, prior: NormalWishartPrior, table: Table) -> None:
        super().__init__(prior, table)
        # Columns are what is read one after the other here.
        self._rows = np.asfortranarray(self._rows)
        self._latent = latent_cells(table, self._cell_rows, self._centre, self._unit)
        #: Which of `MOVES` are made.
        self.moves = np.ones(len(MOVES), dtype=np.bool_)
        self._movable: Flags = np.array(self._gaps.all(axis=0))
        for column, bounds in enumerate(table.bounds):
            self._movable[column] &= bounds is None or not np.isfinite(bounds).any()

    def begin(self, generator: np.random.Generator) -> Floats:
        """Normal numbers in the order of the ranks and within the bounds, each column at a place and width of its own.

        How far columns go together beyond their levels is left to chance, so chains start far from each other.
        """
        latent, cells = self._latent, np.empty(len(self._cell_columns))
        normals = generator.standard_normal(len(cells))
        for column in range(len(self._centre)):
            first, end = latent.groups[column], latent.groups[column + 1]
            ranks = latent.ranked[first:end]
            places = slice(latent.starts[first], latent.starts[first + int(ranks.sum())])
            normals[places] = np.sort(normals[places])
            place, width = generator.standard_normal(), np.exp(0.5 * generator.standard_normal())
            if ranks.any():
                every = slice(latent.starts[first], latent.starts[end])
                normals[every] = place + width * normals[every]
        bounded = np.flatnonzero(np.isfinite(latent.low) | np.isfinite(latent.high))
        if len(bounded):
            found = np.empty(len(bounded))
            normals_between(_uniforms(len(bounded), generator), latent.low[bounded], latent.high[bounded], found)
            normals[bounded] = found
        columns = self._cell_columns[latent.cell]
        cells[latent.cell] = normals * self._unit[columns] + self._centre[columns]
        return cells

    def redraw(self, cells: Floats, families: Members, generator: np.random.Generator, cancel: Integers) -> None:
        """One round: parameters given all cells, all cells given the parameters, and whole columns, in place."""
        rows, graph, work = self._scratch(families)
        values = rows.T
        self._put(cells, rows)
        self._draw_parameters(rows, families, graph, work, generator)
        uniforms = _uniforms(len(cells), generator)
        room, mean = np.empty((3, max(len(values), len(self._latent.ranked)))), np.empty(values.shape[1])
        draw_cells(self._latent, graph, values, uniforms, room, mean, cancel)
        self._move_columns(rows, graph, generator, cancel)
        self._take(cells, rows)
        self._pool.put((rows, graph, work))

    def _move_columns(self, rows: Floats, graph: Families, generator: np.random.Generator, cancel: Integers) -> None:
        """Move whole columns, without parameters."""
        if not self._movable.any():
            return
        sums, weight, mean = self._sums[0], self._prior.mean_weight, self._mean
        posterior = Posterior(
            first=sums.first + rows.sum(axis=0) + weight * mean,
            second=sums.second + rows.T @ rows + weight * np.outer(mean, mean) + self._scale * np.eye(len(mean)),
            weight=sums.weight + weight,
            factors=(self._spare + np.arange(1, graph.members.shape[1] + 2) + sums.weight) / 2.0,
            floor=self._scale,
            prior=weight * mean,
            prior_weight=weight,
        )
        space = working_memory(len(mean), int(np.diff(self._latent.groups).max()), graph.members.shape[1])
        move_columns(self._latent, graph, self._movable, self.moves, posterior, rows.T, space, generator, cancel)


def _uniforms(count: int, generator: np.random.Generator) -> Floats:
    """Uniform numbers, none of which is 0 or 1: these would stand for infinite numbers."""
    drawn: Floats = np.maximum(generator.random(count), _LEAST_UNIFORM)
    return drawn
