"""From latent numbers back to the columns that are images of them: numbers, and levels in their order.

A latent number of a column of numbers stands for the number between the values whose latent numbers enclose it. Beyond
the smallest and the largest value nothing was seen: such latent numbers stand for these, unless cells are censored
there ("<0.05"). Then the image goes on as it rises between the limit and the middle value: along a line, or, where all
numbers are positive, along one in logs, so that they stay so. A censored cell never leaves its bounds.

A latent number of a column of levels stands for the level whose latent numbers lie around it. Between two levels a cut
point decides, which may be anywhere there alike, so it is drawn: one for each completed table.

Time: one pass over the latent numbers that are asked about, and one over those of the columns of levels with gaps.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats, Integers
from dagpost.data.table import Table
from dagpost.scores.latent_columns import Margin, margin_of, ranks_of

#: The draws of cut points, which are part of what a fitted model says: the same each time.
_SEED = 20_070


class NumberImage(NamedTuple):
    """The numbers of a column at some of its latent numbers, both rising, and how they go on beyond the ends.

    `slopes` are what a latent number more adds below and above, or, where they are `logged`, adds to the logs.
    """

    latents: Floats
    numbers: Floats
    slopes: tuple[float, float] = (0.0, 0.0)
    logged: bool = False

    def of(self, latents: NDArray[Any]) -> Floats:
        """The numbers that latent numbers stand for.

        >>> image = NumberImage(np.array([-1.0, 1.0]), np.array([10.0, 30.0]), (5.0, 0.0))
        >>> image.of(np.array([-2.0, 0.0, 2.0])).tolist()
        [5.0, 20.0, 30.0]
        """
        inside = np.interp(latents, self.latents, self.numbers)
        beyond = self.slopes[0] * np.minimum(latents - self.latents[0], 0.0)
        beyond += self.slopes[1] * np.maximum(latents - self.latents[-1], 0.0)
        found: Floats = inside * np.exp(beyond) if self.logged else inside + beyond
        return found


class Cuts(NamedTuple):
    """Levels of a column by rank, those that occur, and the latent numbers (tables, levels - 1) that divide them."""

    ranks: Integers
    points: Floats

    def rank_of(self, latents: NDArray[Any]) -> Integers:
        """The ranks of latent numbers, (tables, cells)."""
        places = (latents[:, :, np.newaxis] > self.points[:, np.newaxis, :]).sum(axis=2)
        found: Integers = self.ranks[places]
        return found


@dataclass(frozen=True, eq=False)
class Images:
    """A table and the latent numbers behind it: `latent` has the same rows, with gaps where they are not known."""

    table: Table
    latent: Table
    margins: str
    _known: dict[int, Margin] = field(default_factory=dict, repr=False)

    @cached_property
    def _starts(self) -> list[int]:
        """Where the latent cells of each column begin among all, in the order of `Table.filled`."""
        counts = np.zeros(len(self.latent.names)) if self.latent.gaps is None else self.latent.gaps.sum(axis=1)
        return [0, *np.cumsum(counts).astype(int).tolist()]

    def margin(self, place: int) -> Margin:
        """From the numbers of a column to its latent ones."""
        if place not in self._known:
            self._known[place] = margin_of(self.table, place, self.margins)
        return self._known[place]

    def number_image(self, place: int) -> NumberImage:
        """From the latent numbers of a column of numbers to its own."""
        bounds = self.table.bounds[place] if self.table.bounds else None
        return image_of(self.margin(place), bounds)

    def cuts(self, place: int, cells: NDArray[Any], generator: np.random.Generator) -> Cuts:
        """Where the levels of a column are divided, given its own latent cells of some completed tables."""
        assert self.latent.gaps is not None
        ranks = self.latent.ranks[place]
        assert ranks is not None
        return cuts_between(cells, ranks[self.latent.gaps[place]], generator)

    def observed(self, cells: NDArray[Any]) -> Floats:
        """The cells of the table that have no value, from latent cells, both as (tables, cells) in the usual order.

        Levels are codes (`Table.filled`).
        """
        gaps, latent_gaps = self.table.gaps, self.latent.gaps
        assert gaps is not None
        assert latent_gaps is not None
        found = []
        for place in np.flatnonzero(gaps.any(axis=1)).tolist():
            own = np.asarray(cells[:, self._starts[place] : self._starts[place + 1]], dtype=np.float64)
            asked = own[:, gaps[place][latent_gaps[place]]]
            levels = self.table.levels[place]
            if levels is None:
                found.append(self._numbers(place, asked))
            else:
                cuts = self.cuts(place, own, np.random.default_rng([_SEED, place]))
                found.append(np.argsort(ranks_of(levels))[cuts.rank_of(asked)].astype(np.float64))
        return np.concatenate(found, axis=1)

    def _numbers(self, place: int, latents: Floats) -> Floats:
        numbers = self.number_image(place).of(latents)
        bounds = self.table.bounds[place] if self.table.bounds else None
        assert self.table.gaps is not None
        if bounds is None:
            return numbers
        lower, upper = bounds[self.table.gaps[place]].T
        clipped: Floats = np.clip(numbers, lower, upper)
        return clipped


def image_of(margin: Margin, bounds: Floats | None) -> NumberImage:
    """The way back from latent numbers, for a column whose censored cells have these bounds.

    >>> margin = Margin(np.array([2.0, 4.0]), np.array([0.0, 1.0]), np.array([-0.5, 0.5, 1.5]))
    >>> image_of(margin, np.array([[-np.inf, 1.0]])).of(np.array([-1.5, -0.5, 0.5])).round(3).tolist()
    [0.25, 1.0, 3.0]
    """
    if margin.slope:
        return NumberImage(margin.latents, margin.values, (margin.slope, margin.slope))
    if bounds is None or not np.isfinite(bounds).any():
        return NumberImage(margin.latents, margin.values)
    lower, upper = (np.unique(own[np.isfinite(own)]) for own in bounds.T)
    # A limit divides latent numbers between two values; of several limits there, the cells' own bounds decide.
    limits = np.concatenate([upper, lower[::-1]])
    edges, first = np.unique(np.concatenate([margin.below(upper), margin.above(lower[::-1])]), return_index=True)
    limits = limits[first]
    order = np.argsort(np.concatenate([margin.latents, edges]), kind="stable")
    latents = np.concatenate([margin.latents, edges])[order]
    numbers = np.maximum.accumulate(np.concatenate([margin.values, limits])[order])
    logged = bool(margin.values[0] > 0.0 and (upper > 0.0).all() and (lower >= 0.0).all() and numbers[0] > 0.0)
    middle = len(latents) // 2
    heights = np.log(numbers) if logged else numbers
    slopes = [
        (heights[middle] - heights[end]) / (latents[middle] - latents[end]) if beyond else 0.0
        for end, beyond in (
            (0, latents[0] < margin.latents[0] and (np.isneginf(bounds[:, 0]) & np.isfinite(bounds[:, 1])).any()),
            (-1, latents[-1] > margin.latents[-1] and (np.isfinite(bounds[:, 0]) & np.isposinf(bounds[:, 1])).any()),
        )
    ]
    return NumberImage(latents, numbers, (float(slopes[0]), float(slopes[1])), logged)


def cuts_between(cells: NDArray[Any], ranks: NDArray[Any], generator: np.random.Generator) -> Cuts:
    """Where the levels of a column are divided in each table: anywhere between the latent numbers of two neighbours.

    >>> cells = np.array([[-1.0, 0.0, 2.0, 0.5]])
    >>> cuts_between(cells, np.array([0, 0, 2, -1]), np.random.default_rng(1)).points.round(2).tolist()
    [[1.02]]
    """
    known = np.flatnonzero(ranks >= 0)
    order = known[np.argsort(ranks[known], kind="stable")]
    occurring, starts = np.unique(ranks[order], return_index=True)
    by_rank = np.asarray(cells, dtype=np.float64)[:, order]
    lowest, highest = np.minimum.reduceat(by_rank, starts, axis=1), np.maximum.reduceat(by_rank, starts, axis=1)
    below, above = highest[:, :-1], lowest[:, 1:]
    return Cuts(occurring.astype(np.int64), below + generator.random(below.shape) * (above - below))
