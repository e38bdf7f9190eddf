"""Settings of the methods that speak of something else than the posterior over all graphs.

- `Trees`: the posterior over trees, or forests, only (exact/trees.py).
- `GivenOrder`: the posterior over the graphs that fit one order of the variables (exact/given_order.py).
- `Bootstrap`: no posterior at all, but how often greedy search finds an edge in resampled data (search/bootstrap.py).

`target` is what estimates name as their prior, in the place of "structure" or "order".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dagpost._tools.text import position_of
from dagpost.errors import InputError


@dataclass(frozen=True)
class Trees:
    """Averaging over trees: every variable but one has exactly one parent (Meilă & Jaakkola 2006).

    Parameters
    ----------
    spanning
        False: over forests, that is all graphs in which no variable has more than one parent.

    >>> Trees().target, Trees(spanning=False).target
    ('trees', 'forests')
    """

    spanning: bool = True

    name: ClassVar[str] = "trees"

    def __post_init__(self) -> None:
        """Check the settings."""
        if not isinstance(self.spanning, bool):
            raise InputError(f"The 'spanning' parameter of Trees must be True or False. Got {self.spanning!r} instead.")

    @property
    def target(self) -> str:
        """What is averaged over."""
        return "trees" if self.spanning else "forests"


@dataclass(frozen=True)
class GivenOrder:
    """Averaging over the graphs that fit one order: no variable has a parent that comes later (Dash & Cooper 2004).

    Parameters
    ----------
    order
        Names, causes first; None: as the columns stand in the table.

    >>> GivenOrder(["Age", "Smoking", "Pressure"])
    GivenOrder(order=('Age', 'Smoking', 'Pressure'))
    """

    order: Sequence[str] | None = None

    name: ClassVar[str] = "given-order"
    target: ClassVar[str] = "given-order"

    def __post_init__(self) -> None:
        """Bring the order into a tuple."""
        if self.order is None:
            return
        if isinstance(self.order, str) or not isinstance(self.order, Iterable):
            raise InputError(
                f"The 'order' parameter of GivenOrder must be a list of names. Got {self.order!r} instead."
            )
        object.__setattr__(self, "order", tuple(self.order))

    def positions(self, names: tuple[str, ...]) -> list[int]:
        """The order as column numbers; every column must be there once."""
        if self.order is None:
            return list(range(len(names)))
        positions = [position_of(name, names) for name in self.order]
        missing = [name for name in names if name not in self.order]
        twice = [name for name in names if list(self.order).count(name) > 1]
        if missing or twice:
            problem = f"lacks {missing[0]!r}" if missing else f"has {twice[0]!r} more than once"
            raise InputError(f"The order of GivenOrder {problem}. Name every column once, causes first.")
        return positions


@dataclass(frozen=True)
class Bootstrap:
    """How often greedy hill climbing finds an edge in resampled rows (Friedman, Goldszmidt & Wyner 1999).

    This is no posterior: it tells how much the best graph hangs on the very rows that were seen.

    Parameters
    ----------
    replicates
        How many times the rows are resampled; one graph each, found when the model is fitted.

    >>> Bootstrap(replicates=500)
    Bootstrap(replicates=500)
    """

    replicates: int = 200

    name: ClassVar[str] = "bootstrap"
    target: ClassVar[str] = "bootstrap"

    def __post_init__(self) -> None:
        """Check the settings."""
        value: object = self.replicates
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
            raise InputError(
                f"The 'replicates' parameter of Bootstrap must be an int of at least 1. Got {value!r} instead."
            )
