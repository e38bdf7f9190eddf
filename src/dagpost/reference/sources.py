"""Where the table of a case comes from, so that it can be made, and said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dagpost.data import datasets
from dagpost.data.table import Table
from dagpost.reference.truth_files import kept_table


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
    """Rows that were drawn from a network once, and are kept beside their posterior.

    tools/drawing.py in the repository says how.
    `network` is the name of a function there or in tools/written_networks.py, and its settings.
    """

    case: str
    rows: int
    seed: int
    network: Mapping[str, Any]

    def table(self) -> Table:
        """The rows."""
        return kept_table(self.case)

    def in_words(self) -> str:
        """How many rows, of which network, with which seed.

        >>> Drawn("mine", 50, 1, {"name": "random_network", "columns": 5, "seed": 11}).in_words()
        '50 rows drawn with seed 1 from random_network(columns=5, seed=11) of tools.drawing'
        """
        settings = ", ".join(f"{name}={own!r}" for name, own in self.network.items() if name != "name")
        name = self.network["name"]
        module = "drawing" if name == "random_network" else "written_networks"
        return f"{self.rows:,} rows drawn with seed {self.seed} from {name}({settings}) of tools.{module}"
