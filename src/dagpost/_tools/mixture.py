"""What is averaged over where people would have to choose: the values of a setting, or of several settings at once."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, Generic, TypeVar

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost._tools.checks import refusal
from dagpost._tools.text import shown
from dagpost.errors import InputError

Choice = TypeVar("Choice")


@dataclass(frozen=True)
class Mixture(Generic[Choice]):
    """A setting that a score or a prior averages over: its values, what has each, and the log of its prior probability.

    The rows must not depend on the value.
    """

    setting: str
    values: tuple[float, ...]
    choices: tuple[Choice, ...]
    log_priors: tuple[float, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """The values, as progress and checkpoints call them."""
        return tuple(f"{self.setting} {value:.10g}" for value in self.values)


def evenly(setting: str, values: Sequence[float], choices: Sequence[Choice]) -> Mixture[Choice]:
    """The average in which all values are as probable before the data."""
    return Mixture(setting, tuple(values), tuple(choices), (-math.log(len(values)),) * len(values))


@dataclass(frozen=True)
class Grid:
    """Every combination of the values of some settings: a cell each, the last setting changing fastest.

    `log_priors` has the log of the prior probability of each cell, over the constant that makes the weights of its
    graphs probabilities where these are no probabilities by themselves.
    """

    axes: tuple[Mixture[Any], ...]
    log_priors: tuple[float, ...]

    @cached_property
    def cells(self) -> tuple[tuple[int, ...], ...]:
        """The place of each cell along every axis."""
        return tuple(product(*(range(len(axis.values)) for axis in self.axes)))

    @property
    def labels(self) -> tuple[str, ...]:
        """The cells, as progress and checkpoints call them."""
        return tuple(", ".join(own) for own in product(*(axis.labels for axis in self.axes)))

    @property
    def words(self) -> str:
        """What is averaged over: "equivalent sample size and edge density"."""
        return " and ".join(axis.setting for axis in self.axes)

    def along(self, axis: int, shares: Floats) -> Floats:
        """What the cells have (cells, ...), summed for each value of one setting."""
        rows = np.array([cell[axis] for cell in self.cells])
        total = np.zeros((len(self.axes[axis].values), *np.shape(shares)[1:]))
        np.add.at(total, rows, shares)
        return total

    def chosen(self, setting: Mapping[str, float]) -> tuple[int, ...]:
        """The cells in which some settings have these values."""
        kept = list(range(len(self.cells)))
        for name, value in setting.items():
            place = next((place for place, axis in enumerate(self.axes) if axis.setting == name), None)
            if place is None:
                averaged = " and ".join(f"{axis.setting!r}" for axis in self.axes)
                raise InputError(f"This model averages over {averaged}. Got the setting {shown(name)}.")
            values = self.axes[place].values
            number = _place(value, values)
            if number is None:
                raise refusal(value, "setting", None, f"one of the values that {name} has, {_listed(values)}")
            kept = [cell for cell in kept if self.cells[cell][place] == number]
        return tuple(kept)


def grid_of(axes: Sequence[Mixture[Any]], log_constants: Sequence[float] = ()) -> Grid:
    """All combinations; `log_constants` are those of the values of the last setting, nothing where there are none."""
    constants = np.zeros(len(axes[-1].values)) if not len(log_constants) else np.asarray(log_constants)
    own = [np.asarray(axis.log_priors) for axis in axes]
    own[-1] = own[-1] - constants
    return Grid(tuple(axes), tuple(float(sum(cell)) for cell in product(*own)))


def _place(value: Any, values: Sequence[float]) -> int | None:
    """Which of some values is meant, as they are shown to people: to six digits."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        return None
    return next((place for place, own in enumerate(values) if math.isclose(own, value, rel_tol=1e-5)), None)


def _listed(values: Sequence[float]) -> str:
    return ", ".join(f"{value:.6g}" for value in values)
