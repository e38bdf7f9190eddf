"""From whatever the user has to a `Table`: reading, levels, discretising, bundled data sets."""

from __future__ import annotations

from dagpost.data import datasets
from dagpost.data.conversion import as_table, read_table
from dagpost.data.discretise import discretise
from dagpost.data.table import Table

__all__ = ["Table", "as_table", "datasets", "discretise", "read_table"]
