"""Where the table of a case comes from, so that it can be made, and said."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from dagpost.data import datasets
from dagpost.data.table import Table
from dagpost.reference.drawing import Network, draw


@dataclass(frozen=True)
class Bundled:
    """A data set that comes with dagpost, with one row for each observation, as other programs want it."""

    name: str

    def table(self) -> Table:
        """The table; where rows have counts, each is repeated as often."""
        table = datasets.load(self.name)
        if table.counts is None:
            return table
        columns = tuple(np.repeat(column, table.counts) for column in table.columns)
        return replace(table, columns=columns, counts=None)

    def in_words(self) -> str:
        """Which one it is.

        >>> Bundled("iris").in_words()
        "the bundled data set dagpost.datasets.load('iris')"
        """
        return f"the bundled data set dagpost.datasets.load({self.name!r})"


@dataclass(frozen=True)
class Drawn:
    """Rows drawn from a network, which is made when they are."""

    rows: int
    network: partial[Network]
    seed: int

    def table(self) -> Table:
        """The rows."""
        return draw(self.network(), self.rows, self.seed)

    def in_words(self) -> str:
        """How many rows, of which network, with which seed.

        >>> from dagpost.reference.drawing import random_network
        >>> Drawn(50, partial(random_network, 5, 11, arities=(2, 3)), seed=1).in_words()
        '50 rows drawn with seed 1 from dagpost.reference.drawing.random_network(5, 11, arities=(2, 3))'
        """
        made = self.network.func
        settings = [*map(repr, self.network.args), *(f"{name}={own!r}" for name, own in self.network.keywords.items())]
        written = f"{made.__module__}.{made.__qualname__}({', '.join(settings)})"
        return f"{self.rows:,} rows drawn with seed {self.seed} from {written}"
