"""Draw the tables of the reference cases, and write them beside their exact posteriors.

    python -m tools.reference_tables             # all that were drawn
    python -m tools.reference_tables parity-5    # only this one

A case says of which network (drawing.py, written_networks.py), how many rows and with which seed.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from tools.drawing import Network, draw, random_network
from tools.reference_truth import FOLDER, packed

from dagpost._tools.whole_files import replacing
from dagpost.data.table import Table
from dagpost.reference.cases import CASES
from dagpost.reference.sources import Drawn
from dagpost.reference.truth_files import text_of_table
from tools import written_networks


def network_of(source: Drawn) -> Network:
    """The network that rows were drawn from: a function with its settings."""
    settings: dict[str, Any] = {
        key: tuple(own) if isinstance(own, list) else own for key, own in source.network.items()
    }
    name = settings.pop("name")
    make = random_network if name == "random_network" else getattr(written_networks, name)
    made: Network = make(**settings)
    return made


def table_of(source: Drawn) -> Table:
    """The rows, drawn anew."""
    return draw(network_of(source), source.rows, source.seed)


def main(names: Sequence[str]) -> None:
    """Write the tables of some cases, or of all."""
    for name in names or CASES:
        source = CASES[name].source
        if isinstance(source, Drawn):
            with replacing(FOLDER / f"{name}.data.csv.gz") as out:
                out.write(packed(text_of_table(table_of(source)).encode()))


if __name__ == "__main__":
    main(sys.argv[1:])
