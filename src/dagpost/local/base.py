"""A node given its parents: what every kind of local model answers, whoever asks.

Effects, values and predictions ask about nodes one at a time, in graphs with drawn parameters. Values of parents come
as (parents, draws, rows), parents ascending by column; parameters as (draws, width). Either may have one draw, which
then holds for all of the other's. A number has an expected value, a density and shares below; a column of levels has
chances. The kinds are told apart by nothing else.

A score whose `parameter_prior` is a `LocalPrior` names the module in which its local models are made; that module has
`fitter(table, prior)`, and `ASSUMPTION`, which says in a sentence what is assumed. A new kind is one such module.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats, Integers
from dagpost.data.table import Table
from dagpost.scores.parameter_priors import LocalPrior


class LocalModel(ABC):
    """What a table says of one node given its parents."""

    @property
    @abstractmethod
    def likeliest(self) -> Floats:
        """The parameters in the middle of their posterior: (width,)."""

    @abstractmethod
    def drawn(self, generator: np.random.Generator, count: int) -> Floats:
        """Independent draws of the parameters: (count, width)."""

    def balanced(self, generator: np.random.Generator, count: int) -> Floats:
        """Draws whose mean is near that of the posterior, for averages; they need not be independent."""
        return self.drawn(generator, count)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What a file keeps, in arrays of two dimensions; only for kinds whose module has `kept` and `restorer`."""
        raise NotImplementedError


class NumberModel(LocalModel):
    """A column of numbers."""

    @abstractmethod
    def expected(self, values: Floats, theta: Floats) -> Floats:
        """The mean: (draws, rows)."""

    @abstractmethod
    def log_density(self, values: Floats, theta: Floats, numbers: Floats) -> Floats:
        """The log density of numbers (draws, rows), per unit of the column: (draws, rows)."""

    @abstractmethod
    def below(self, values: Floats, theta: Floats, numbers: Floats) -> Floats:
        """The probability of smaller numbers: (draws, rows)."""

    @abstractmethod
    def with_share(self, values: Floats, theta: Floats, shares: Floats) -> Floats:
        """The numbers that have these shares (draws, rows) below them."""

    def standing(self, values: Floats, theta: Floats, numbers: Floats) -> Floats:
        """What says where numbers stand before their parents change: here the share below; (anything, draws, rows)."""
        return self.below(values, theta, numbers)[np.newaxis]

    def moved(self, standing: Floats, values: Floats, theta: Floats, numbers: Floats) -> Floats:
        """What numbers become when their parents have other values."""
        del numbers
        return self.with_share(values, theta, standing[0])

    @abstractmethod
    def log_predictive(self, values: Floats, numbers: Floats) -> Floats:
        """The log density of new numbers, over the posterior of the parameters; values are (parents, rows)."""


class LevelModel(LocalModel):
    """A column of levels."""

    @abstractmethod
    def chances(self, values: Floats, theta: Floats) -> Floats:
        """The probability of each level: (draws, rows, levels)."""

    @abstractmethod
    def predictive(self, values: Floats) -> Floats:
        """That of a new row, over the posterior of the parameters: (rows, levels); values are (parents, rows)."""


#: Makes the local model of a child on some parents, ascending.
Fitter = Callable[[int, tuple[int, ...]], LocalModel]


def fitter_of(table: Table, prior: LocalPrior) -> Fitter:
    """What makes the local models of a table under a prior."""
    made: Fitter = import_module(prior.module).fitter(table, prior)
    return made


def members_of(mask: int) -> tuple[int, ...]:
    """The columns in a set of parents, ascending."""
    return tuple(node for node in range(mask.bit_length()) if mask >> node & 1)


def drawn_levels(chances: Floats, uniforms: Floats) -> Integers:
    """The level that a number between 0 and 1 stands for, where each level has a chance (last axis)."""
    shape = np.broadcast_shapes(chances.shape[:-1], uniforms.shape)
    running, found = np.zeros(chances.shape[:-1]), np.zeros(shape, dtype=np.int64)
    # Level by level: sums along a short last axis are slow.
    for level in range(chances.shape[-1] - 1):
        running = running + chances[..., level]
        found += uniforms >= running
    return found
