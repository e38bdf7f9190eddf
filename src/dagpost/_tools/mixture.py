"""What is averaged over where people would have to choose: the values of a setting, or of several settings at once."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any, Generic, TypeVar

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost._tools.checks import refusal
from dagpost._tools.text import shown
from dagpost.errors import InputError

Choice = TypeVar("Choice")
#: Fixed weights are summed again from those of the graphs: they may be off by this.
_ROUNDED = 1e-8
#: A value of a setting: a number, or what one of several kinds is called.
Value = float | str


@dataclass(frozen=True)
class Mixture(Generic[Choice]):
    """A setting that a score or a prior averages over: its values, what has each, and the log of its prior probability.

    The rows must not depend on the value; where they do, evidences cannot be compared, and the weights are `fixed`:
    what `log_priors` says is how probable each value is after the data too.
    """

    setting: str
    values: tuple[Value, ...]
    choices: tuple[Choice, ...]
    log_priors: tuple[float, ...]
    fixed: bool = False

    @property
    def numbers(self) -> tuple[float, ...]:
        """The values of a setting that is a number."""
        return tuple(map(float, self.values))

    @property
    def labels(self) -> tuple[str, ...]:
        """The values, as progress and checkpoints call them."""
        return tuple(f"{self.setting} {value_text(value, 10)}" for value in self.values)

    def is_as_kept(self, kept: Mapping[str, Any]) -> bool:
        """Whether a file speaks of the same values, and of the same weights where these are fixed."""
        same = (kept["setting"], kept["values"]) == (self.setting, list(self.values))
        return same and not (self.fixed and np.abs(kept["shares"] - np.exp(self.log_priors)).max() > _ROUNDED)


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

    @property
    def fixed(self) -> bool:
        """Whether the weights of the values of the first setting do not hang on the data."""
        return self.axes[0].fixed

    def with_fixed_weights(self, log_masses: Sequence[float]) -> Grid:
        """The grid whose posterior gives each value of the first setting its fixed weight, given what each cell weighs.

        Dividing by the sum of a value's own cells does so; among these, evidence decides.
        """
        first, logs = [cell[0] for cell in self.cells], np.add(self.log_priors, log_masses)
        totals = np.full(len(self.axes[0].values), -np.inf)
        np.logaddexp.at(totals, first, logs)
        shifts = np.subtract(self.axes[0].log_priors, totals)[first]
        return replace(self, log_priors=tuple(np.add(self.log_priors, shifts).tolist()))

    def along(self, axis: int, shares: Floats) -> Floats:
        """What the cells have (cells, ...), summed for each value of one setting."""
        rows = np.array([cell[axis] for cell in self.cells])
        total = np.zeros((len(self.axes[axis].values), *np.shape(shares)[1:]))
        np.add.at(total, rows, shares)
        return total

    def chosen(self, setting: Mapping[str, Value]) -> tuple[int, ...]:
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


def value_text(value: Value, digits: int = 3) -> str:
    """A value as people read it.

    >>> value_text(0.3333), value_text("linear (BGe)")
    ('0.333', 'linear (BGe)')
    """
    return value if isinstance(value, str) else f"{value:.{digits}g}"


def _place(value: Any, values: Sequence[Value]) -> int | None:
    """Which of some values is meant; numbers are meant as they are shown to people, to six digits."""
    if isinstance(value, str):
        return values.index(value) if value in values else None
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        return None
    numbers = ((place, own) for place, own in enumerate(values) if not isinstance(own, str))
    return next((place for place, own in numbers if math.isclose(own, value, rel_tol=1e-5)), None)


def _listed(values: Sequence[Value]) -> str:
    return ", ".join(repr(value) if isinstance(value, str) else value_text(value, 6) for value in values)
