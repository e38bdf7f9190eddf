"""From whatever the user has to a `Table`: reading, levels, discretising, bundled data sets."""

from __future__ import annotations

from dagpost.data import datasets as datasets
from dagpost.data.conversion import as_table as as_table
from dagpost.data.conversion import read_table as read_table
from dagpost.data.discretise import discretise as discretise
from dagpost.data.table import Table as Table
