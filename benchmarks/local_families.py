"""The features of some parents in blocks, each with a variance of its own; posteriors of their coefficients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
from benchmarks.local_columns import Source, gathered
from benchmarks.world_columns import Floats

#: Features of the product of three columns, at most.
MOST_OF_TRIPLE = 12


@dataclass(frozen=True)
class Settings:
    """What is tried."""

    products: int = 2
    knots: float = 1.2
    wide: float = 4.0
    curve: float = 0.03
    #: The weight, in coefficients, of the beginning variance of a curve.
    firm: float = 2.0
    steps: int = 25
    sandwich: int = 1
    level_sandwich: int = 1
    scales: str = "own+log+log1p+asinh"
    draws: int = 400
    particles: int = 200
    rowless: int = 0
    #: The last number on the way on its own scale.
    own_last: int = 1
    spread: int = 1
    bins: int = 30


def settings_of(text: str) -> Settings:
    """From `name=value,name=value`."""
    pairs = dict(part.split("=") for part in text.split(",") if part)
    kinds = {name: type(getattr(Settings, name)) for name in Settings.__dataclass_fields__}
    return Settings(**{name: kinds[name](value) for name, value in pairs.items()})


class Family:
    """The features of some parents, in blocks; how rows and draws of coefficients are put together."""

    def __init__(self, parents: Sequence[int], sources: Sequence[Source], products: int) -> None:
        self.parents, self.sources = tuple(parents), [sources[parent] for parent in parents]
        self.pairs = list(combinations(range(len(parents)), 2)) if products else []
        blocks, start = [-1], 1
        # -1: a wide variance; others: the number of the block.
        block = 0
        self.first = []
        for source in self.sources:
            self.first.append(start)
            curves = source.table.shape[1] - source.lines
            blocks += [-1] * source.lines + [block] * curves
            block += curves > 0
            start += source.table.shape[1]
        self.pair_first, self.pair_places = [], []
        for a, b in self.pairs:
            places = product_places(self.sources[a], self.sources[b], products)
            self.pair_first.append(start)
            self.pair_places.append(places)
            blocks += [block] * len(places)
            block += 1
            start += len(places)
        self.triples = []
        for sides in combinations(range(len(parents)), 3) if products > 1 else []:
            lines = [range(self.sources[own].lines) for own in sides]
            together = list(product(*lines))
            if len(together) <= MOST_OF_TRIPLE:
                self.triples.append((sides, start, together))
                blocks += [block] * len(together)
                block += 1
                start += len(together)
        self.blocks, self.count, self.width = np.array(blocks), block, start

    def rows(self, columns: Sequence[Floats]) -> Floats:
        """The features in every row."""
        places = [own.place(columns[parent]) for parent, own in zip(self.parents, self.sources, strict=True)]
        parts = [np.ones((len(columns[0]), 1))]
        parts += [gathered(own.table, place) for own, place in zip(self.sources, places, strict=True)]
        short = [gathered(own.short, place) for own, place in zip(self.sources, places, strict=True)]
        for (a, b), own in zip(self.pairs, self.pair_places, strict=True):
            parts.append(np.column_stack([short[a][:, i] * short[b][:, j] for i, j in own]))
        for sides, _, together in self.triples:
            parts += [_times(short, sides, place)[:, np.newaxis] for place in together]
        return np.hstack(parts)

    def predicted(self, columns: Sequence[Floats], draws: Floats) -> Floats:
        """The sum of features times coefficients: `[particle, draw]` for columns `[particle, draw or 1]`."""
        total: Floats = np.broadcast_to(draws[:, 0], (len(columns[0]), len(draws)))
        each = np.arange(len(draws))[np.newaxis]
        places = [own.place(columns[parent]) for parent, own in zip(self.parents, self.sources, strict=True)]
        for own, (cell, share), first in zip(self.sources, places, self.first, strict=True):
            table = own.table @ draws[:, first : first + own.table.shape[1]].T
            here = table[cell, each]
            if own.values is not None:
                here = here + share * (table[cell + 1, each] - here)
            total = total + here
        for (a, b), first, own_places in zip(self.pairs, self.pair_first, self.pair_places, strict=True):
            # What is taken from the second, in every draw, for each feature of the first.
            sides = [gathered(self.sources[own].short, places[own]) for own in (a, b)]
            for number, (i, j) in enumerate(own_places):
                total = total + sides[0][..., i] * sides[1][..., j] * draws[:, first + number]
        if self.triples:
            short = [gathered(own.short, place) for own, place in zip(self.sources, places, strict=True)]
        for triple, first, own_triples in self.triples:
            for number, features in enumerate(own_triples):
                total = total + _times(short, triple, features) * draws[:, first + number]
        return total


def _times(short: Sequence[Floats], sides: tuple[int, ...], place: tuple[int, ...]) -> Floats:
    found = short[sides[0]][..., place[0]]
    for own, at in zip(sides[1:], place[1:], strict=True):
        found = found * short[own][..., at]
    return found


def product_places(a: Source, b: Source, products: int) -> list[tuple[int, int]]:
    """Which features of two columns are multiplied, by degrees: of two numbers up to three or four together."""
    degrees = [[1] * own.lines if own.values is None else [1, 2, 3][: own.short.shape[1]] for own in (a, b)]
    most = 3 if products == 1 else 4
    return [(i, j) for i, one in enumerate(degrees[0]) for j, other in enumerate(degrees[1]) if one + other <= most]


class Coefficients(NamedTuple):
    """A posterior: the mode and a root of the covariance; degrees of freedom of a t distribution."""

    mode: Floats
    root: Floats
    degrees: float

    def draw(self, count: int, rng: np.random.Generator) -> Floats:
        """Draws, one a row."""
        normal = rng.normal(size=(count, len(self.mode))) @ self.root.T
        spread = np.sqrt(self.degrees / rng.chisquare(self.degrees, size=(count, 1)))
        return self.mode + normal * spread


def updated(variances: Floats, squares: Floats, family: Family, settings: Settings) -> Floats:
    """A step of EM for the variances of the blocks."""
    found = variances.copy()
    for block in range(family.count):
        own = family.blocks == block
        found[own] = (squares[own].sum() + settings.firm * settings.curve) / (own.sum() + settings.firm)
    return np.maximum(found, 1e-8)


def beginning(family: Family, settings: Settings) -> Floats:
    """The variances at first."""
    variances = np.where(family.blocks < 0, settings.wide, settings.curve)
    variances[0] = 100.0
    return variances


def root(covariance: np.ndarray) -> Floats:
    """What turns independent normal numbers into some of this covariance."""
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
    found: Floats = vectors * np.sqrt(np.maximum(values, 0.0))
    return found
