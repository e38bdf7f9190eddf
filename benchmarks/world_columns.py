"""What columns of simulated tables look like, how one acts on another, and what it adds of its own.

A column acts on others by what the table shows of it: numbers that are rounded, counted or cut off act as such, so
that the drawn graph is the truth about the columns that are seen. Of a number, others see `Shape.act`: roughly mean 0
and deviation 1, on the scale on which people would draw it (the log where it is log-normal). Of levels they see codes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

Floats = NDArray[np.float64]
#: The chance of every level, whatever acts on it, is at least this.
LEAST_CHANCE = 0.03
#: Of what acts on it, no column sees more than this many deviations.
FARTHEST = 3.5


class Shape(NamedTuple):
    """How a number is shown, from a value of mean 0 and deviation 1; and what others see of it."""

    show: Callable[[Floats, np.random.Generator], NDArray[Any]]
    act: Callable[[Floats], NDArray[Any]]


SHAPES: dict[str, Shape] = {
    "plain": Shape(lambda z, _: 120 + 15 * z, lambda x: (x - 120) / 15),
    "age": Shape(lambda z, _: np.round(18 + 72 * ndtr(z)), lambda x: (x - 54) / 21),
    "log-normal": Shape(lambda z, _: np.exp(1 + 0.8 * z), lambda x: (np.log(x) - 1) / 0.8),
    "skewed": Shape(lambda z, _: 27 + 5 * np.exp(0.45 * z), lambda x: (x - 32.5) / 2.6),
    "count": Shape(lambda z, rng: 1.0 * rng.poisson(np.exp(1 + 0.6 * z)), lambda x: (np.log1p(x) - 1.3) / 0.6),
    "heavy": Shape(lambda z, _: 10 * np.sinh(1.2 * z), lambda x: np.arcsinh(x / 10) / 1.2),
    "score": Shape(lambda z, _: np.round(np.clip(5 + 2.2 * z, 0, 10)), lambda x: (x - 5) / 2.2),
    "percent": Shape(lambda z, _: 100 / (1 + np.exp(-1.5 * z)), lambda x: (x - 50) / 28),
    "rounded": Shape(lambda z, _: 5 * np.round(26 + 3.6 * z), lambda x: (x - 130) / 18),
    # A quarter of the rows at the best, or more than a third at zero; five or six values in all.
    "ceiling": Shape(lambda z, _: np.round(np.clip(80 + 30 * z, 0, 100)), lambda x: (x - 75) / 25),
    "floor": Shape(lambda z, _: np.maximum(0.0, 4 + 10 * z), lambda x: (x - 6) / 7),
    "coarse": Shape(lambda z, _: np.round(3 + 0.9 * z), lambda x: (x - 3) / 0.95),
}
#: The shapes of worlds that name none.
USUAL = ("plain", "age", "log-normal", "skewed", "count", "heavy", "score", "percent", "rounded")


def _mixed(rng: np.random.Generator, rows: int) -> Floats:
    """Two humps, one of a third of the rows."""
    high = rng.random(rows) < 1 / 3
    humps: Floats = (np.where(high, 2.0, -1.0) + 0.6 * rng.normal(size=rows)) / np.sqrt(2.36)
    return humps


#: Noise of mean 0 and variance 1 (1.0 is nearly all that Student's t with 4 degrees of freedom divides by).
NOISE: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "normal": lambda rng, rows: rng.normal(size=rows),
    "skewed": lambda rng, rows: rng.exponential(size=rows) - 1.0,
    "heavy": lambda rng, rows: rng.standard_t(4, size=rows) / np.sqrt(2.0),
    "even": lambda rng, rows: rng.uniform(-np.sqrt(3.0), np.sqrt(3.0), size=rows),
    "mixture": _mixed,
}

#: What one number can do to another. The last four of them go up and down, or change at one place.
CURVES: dict[str, Callable[[Floats], Floats]] = {
    "linear": lambda u: u,
    "saturating": lambda u: np.tanh(1.5 * u),
    "growing": lambda u: np.exp(0.8 * u),
    "step": lambda u: 1.0 / (1.0 + np.exp(-6.0 * u)),
    "square": lambda u: u**2,
    "sine": lambda u: np.sin(2.0 * u),
    "absolute": np.abs,
    "hinge": lambda u: np.maximum(u - 0.3, 0.0),
}
MONOTONE = ("saturating", "growing", "step")
CURVED = ("square", "sine", "absolute", "hinge")


@dataclass(frozen=True)
class Relation:
    """What one column does to another: a curve of a number, or a figure for each level; mean 0, deviation `size`."""

    parent: int
    curve: str | None
    by_level: tuple[float, ...]
    centre: float
    scale: float

    def __call__(self, acting: Sequence[Floats]) -> Floats:
        """What it adds in each row."""
        seen = acting[self.parent]
        raw = np.array(self.by_level)[seen.astype(np.int64)] if self.curve is None else CURVES[self.curve](seen)
        added: Floats = (raw - self.centre) * self.scale
        return added


@dataclass(frozen=True)
class Predictor:
    """What all columns that act on another add up to; `products` pair up places of `relations`, with a factor."""

    relations: tuple[Relation, ...] = ()
    products: tuple[tuple[int, int, float], ...] = ()

    def __call__(self, acting: Sequence[Floats], rows: int) -> Floats:
        """The sum in each row."""
        parts = [relation(acting) for relation in self.relations]
        parts += [factor * parts[first] * parts[second] for first, second, factor in self.products]
        return np.sum(parts, axis=0) if parts else np.zeros(rows)


@dataclass(frozen=True)
class Number:
    """A column of numbers: the predictor, noise of some kind, and the shape in which the sum is shown.

    Where a relation is `spreading`, the spread of the noise goes with it; in a share of the rows, `strangers`, the
    predictor says nothing. `centre` and `spread` bring the sum to mean 0 and deviation 1.
    """

    predictor: Predictor
    noise: str
    shape: str
    spreading: Relation | None = None
    strangers: float = 0.0
    centre: float = 0.0
    spread: float = 1.0

    def raw(self, acting: Sequence[Floats], rows: int, rng: np.random.Generator) -> Floats:
        """Predictor and noise."""
        own = NOISE[self.noise](rng, rows)
        if self.spreading is not None:
            own = own * np.exp(self.spreading(acting))
        return self.predictor(acting, rows) * (rng.random(rows) >= self.strangers) + own

    def draw(self, acting: Sequence[Floats], rows: int, rng: np.random.Generator) -> Floats:
        """What the table shows."""
        inner = np.clip((self.raw(acting, rows, rng) - self.centre) / self.spread, -5.0, 5.0)
        return SHAPES[self.shape].show(inner, rng)

    def act(self, shown: Floats) -> Floats:
        """What other columns see."""
        seen: Floats = np.clip(SHAPES[self.shape].act(shown), -FARTHEST, FARTHEST)
        return seen


@dataclass(frozen=True)
class Levels:
    """A column of levels. `labels` from the lowest to the highest, if there is an order."""

    labels: tuple[str, ...]
    ordered: bool

    def act(self, shown: Floats) -> Floats:
        """Codes."""
        return shown


@dataclass(frozen=True)
class Steps(Levels):
    """Levels in an order: predictor and noise, cut at thresholds."""

    predictor: Predictor
    thresholds: tuple[float, ...]

    def draw(self, acting: Sequence[Floats], rows: int, rng: np.random.Generator) -> Floats:
        """Codes."""
        inner = self.predictor(acting, rows) + rng.normal(size=rows)
        codes = np.searchsorted(self.thresholds, inner).astype(np.float64)
        return _with_every_level(codes, len(self.labels), rng)


@dataclass(frozen=True)
class Choices(Levels):
    """Levels in no order, or two: each has a predictor, and is the more probable the larger that is."""

    predictors: tuple[Predictor, ...]
    base: tuple[float, ...]

    def draw(self, acting: Sequence[Floats], rows: int, rng: np.random.Generator) -> Floats:
        """Codes."""
        pull = np.array([own(acting, rows) + base for own, base in zip(self.predictors, self.base, strict=True)])
        codes = (pull + rng.gumbel(size=pull.shape)).argmax(axis=0).astype(np.float64)
        return _with_every_level(codes, len(self.labels), rng)


@dataclass(frozen=True)
class Chances(Levels):
    """Levels with chances of their own in every configuration of the columns of levels that act on them."""

    parents: tuple[int, ...]
    arities: tuple[int, ...]
    table: Floats

    def draw(self, acting: Sequence[Floats], rows: int, rng: np.random.Generator) -> Floats:
        """Codes."""
        place = np.zeros(rows, dtype=np.int64)
        for parent, arity in zip(self.parents, self.arities, strict=True):
            place = place * arity + acting[parent].astype(np.int64)
        bounds = self.table.cumsum(axis=1)[place, :-1]
        codes = (rng.random(rows)[:, np.newaxis] > bounds).sum(axis=1).astype(np.float64)
        return _with_every_level(codes, len(self.labels), rng)


def _with_every_level(codes: Floats, levels: int, rng: np.random.Generator) -> Floats:
    """Any level instead, by chance, in a few rows."""
    return np.where(rng.random(len(codes)) < LEAST_CHANCE * levels, rng.integers(levels, size=len(codes)), codes)


Column = Number | Steps | Choices | Chances


def code_of(column: Column, value: object) -> float:
    """What a value of the table is inside: the code of a level, or the number itself."""
    if isinstance(column, Number):
        return float(value)  # type: ignore[arg-type]
    codes: Mapping[str, int] = {label: code for code, label in enumerate(column.labels)}
    if value not in codes:
        raise ValueError(f"{value!r} is not a level of this column; it has {', '.join(column.labels)}.")
    return float(codes[str(value)])
