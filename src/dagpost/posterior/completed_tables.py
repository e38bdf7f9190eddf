"""Which values may the missing cells have? Completed tables for other programs, and the posterior of every cell.

The chains over completed tables (mcmc/augmentation.py) keep cells that they drew: draws from what the observed cells
say of the missing ones, averaged over graphs and parameters. Some of them, far apart, are a multiple imputation (Rubin,
Multiple Imputation for Nonresponse in Surveys, 1987), all of them together the posterior of each cell.

Time and memory: the kept cells once; a table of all observations for each that is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools import memory
from dagpost._tools.arrays import Integers
from dagpost._tools.checks import seed_number, whole_number
from dagpost._tools.spelling import either, setting
from dagpost._tools.text import readable_level
from dagpost.data.encoding import is_number
from dagpost.errors import InputError
from dagpost.posterior.augmented_workspace import AugmentedWorkspace, images_of

if TYPE_CHECKING:
    import pandas as pd

    from dagpost.data.table import Table
    from dagpost.posterior.fitted import Fitted

#: Shares of the draws of a number that lie below what is listed of it.
_QUANTILES = {"2.5%": 0.025, "50%": 0.5, "97.5%": 0.975}
#: What a cell of a DataFrame takes, roughly, while it is made.
_BYTES_A_CELL = 20
#: Under this name a model remembers what the rows of its table are called.
ROW_LABELS = "row labels"


class Completions(NamedTuple):
    """The cells that chains kept, chain after chain: an array (completions, cells) as `Table.filled` takes a row of it.

    `table` has the gaps; a row with gaps that counts more than once is written out there. `labels` are what the rows of
    the user's data are called, to which `Table.row_numbers` refers; None: numbers.
    """

    table: Table
    cells: NDArray[Any]
    labels: Sequence[object] | None = None

    @property
    def rows(self) -> Integers:
        """Of every row of the table, which row of the user's data it is."""
        return np.arange(self.table.rows) if self.table.row_numbers is None else self.table.row_numbers

    def called(self, rows: Integers) -> Any:
        """What some rows of the user's data are called."""
        return rows if self.labels is None else np.array([*self.labels, None], dtype=object)[rows]


def with_row_labels(fitted: Fitted, data: Any) -> Fitted:
    """The model, which remembers what the rows of a pandas table with gaps are called, if it is more than numbers."""
    index, recipe, table = getattr(data, "index", None), fitted.data.recipe, fitted.table
    # Rows that a table was read without have no numbers in it.
    known = recipe is not None and table is not None and (not recipe.dropped_rows_ or table.row_numbers is not None)
    rows = recipe.rows_ if recipe is not None and known else 0
    # A list has an index too, but not one of rows.
    if fitted.gaps and index is not None and not callable(index) and len(index) == rows:
        labels = [readable_level(label) for label in index]
        if labels != list(range(rows)):
            fitted.remember(ROW_LABELS, labels)
    return fitted


def completed(fitted: Fitted, count: int, seed: int | None = None) -> list[pd.DataFrame]:
    """Completed tables of a model with gaps."""
    return completed_tables(completions_of(fitted), count, seed)


def cells(fitted: Fitted) -> pd.DataFrame:
    """What a model with gaps knows of each of them."""
    return missing_cells(completions_of(fitted))


def completions_of(fitted: Fitted) -> Completions:
    """The completed tables that the chains of a model kept, in the terms of its table."""
    workspace = fitted.workspace
    if not isinstance(workspace, AugmentedWorkspace) or not fitted.gaps:
        also = " The chains completed the latent numbers of cells that are all there." if fitted.completes else ""
        raise InputError(
            "Completed tables are those of a model that was fitted to a table with gaps and completed them "
            f"({setting('missing', 'augment')}). This one has no gaps.{also}"
        )
    if fitted.condition is not None:
        raise InputError(
            "Tables were completed under all graphs, and which of them go with the graphs that meet a condition is not "
            "kept. Ask the model without the condition."
        )
    record = fitted.own_sample().chains
    assert record is not None
    images, cells = images_of(fitted), record.series["cells"]
    if images is None:
        return Completions(workspace.table, cells, fitted.recall(ROW_LABELS))
    return Completions(images.table, images.observed(cells), fitted.recall(ROW_LABELS))


def completed_tables(found: Completions, count: int, seed: int | None = None) -> list[pd.DataFrame]:
    """As many of the completed tables as asked for, spread evenly over all that were kept."""
    kept = len(found.cells)
    whole_number(count, "count", "completed")
    if count > kept:
        raise InputError(
            f"{count:,} completed tables are asked for, and the chains kept {kept:,}. Ask for {kept:,} at most, or fit "
            f"with more graphs ({either('samples=...', '--samples')})."
        )
    size = count * found.table.observations * (len(found.table.names) + 1) * _BYTES_A_CELL
    memory.require(size, f"{count:,} completed tables", "Ask for fewer at a time.")
    return [
        _frame(found, found.table.filled(found.cells[place].astype(np.float64))) for place in places(kept, count, seed)
    ]


def places(kept: int, count: int, seed: int | None) -> list[int]:
    """One of each of `count` equal stretches of what was kept: the last, or one that a seed picks.

    >>> places(12, 3, None), len(set(places(12, 5, 1)))
    ([3, 7, 11], 5)
    """
    ends = np.arange(1, count + 1) * kept // count
    if seed is None:
        return [int(end) - 1 for end in ends]
    seed_number(seed)
    starts = np.concatenate([[0], ends[:-1]])
    return [int(place) for place in np.random.default_rng(seed).integers(starts, ends)]


def table_with_gaps(found: Completions) -> pd.DataFrame:
    """The table as it is, in the form of the completed ones."""
    return _frame(found, found.table)


def in_long_form(found: Completions, count: int, seed: int | None = None, *, original: bool = False) -> pd.DataFrame:
    """Completed tables one below the other; `original` puts the one with gaps first, as number 0.

    Before the columns of the table stand `.imp`, the number of the table from 1 on, and `.id`, the row, as in R's mice.
    """
    import pandas as pd

    names = [name + "_" * sum(own.startswith(name) for own in found.table.names) for name in (".imp", ".id")]
    tables = dict(enumerate(completed_tables(found, count, seed), start=1))
    if original:
        tables = {0: table_with_gaps(found), **tables}
    return pd.concat(tables, names=names).reset_index()


def _frame(found: Completions, table: Table) -> pd.DataFrame:
    """A table in the user's terms, one row an observation, in the order of the user's rows."""
    import pandas as pd

    written = np.repeat(np.arange(table.rows), table.weights)
    written = written[np.argsort(found.rows[written], kind="stable")]
    one_each = replace(table.of_rows(written), counts=None)
    frame, gaps = one_each.to_pandas(), one_each.gaps
    for place, (name, levels) in enumerate(zip(table.names, table.levels, strict=True)):
        if levels is not None and _are_plain(levels):
            values = pd.Series(np.array(levels)[one_each.columns[place]], frame.index)
            if gaps is not None and gaps[place].any():
                # Whole numbers and truth values stay what they are beside gaps.
                values = values.convert_dtypes().mask(gaps[place])
            frame[name] = values
    frame.index = _index(found.called(found.rows[written]))
    return frame


def _are_plain(levels: Sequence[object]) -> bool:
    """Whether levels are numbers, or truth values: a column of them is no category."""
    return all(map(is_number, levels)) or all(isinstance(level, bool) for level in levels)


def _index(labels: Any) -> Any:
    import pandas as pd

    usual = labels.dtype.kind == "i" and np.array_equal(labels, np.arange(len(labels)))
    return pd.RangeIndex(len(labels)) if usual else pd.Index(labels)


def missing_cells(found: Completions) -> pd.DataFrame:
    """One row a missing cell of the user's table: what the completed tables have in its place."""
    import pandas as pd

    assert found.table.gaps is not None
    columns, rows = np.nonzero(found.table.gaps)
    tables = []
    for place in np.unique(columns):
        own, levels = columns == place, found.table.levels[place]
        for cells, drawn in _draws_of_cells(found.cells[:, own], found.rows[rows[own]]):
            said = _said_of_numbers(drawn) if levels is None else _said_of_levels(drawn, levels)
            tables.append(pd.DataFrame({"place": place, "row": cells, "column": found.table.names[place], **said}))
    table = pd.concat(tables).sort_values(["row", "place"], ignore_index=True).drop(columns="place")
    table["row"] = found.called(table["row"].to_numpy())
    return table


def _draws_of_cells(drawn: NDArray[Any], rows: Integers) -> Iterator[tuple[Integers, NDArray[Any]]]:
    """The rows whose cells these are, with all draws of each, (cells, draws).

    Copies of one row are alike to whoever draws them: their cells are draws of one cell. Cells with as many draws as
    each other come together, mostly all of them.
    """
    cells, copies = np.unique(rows, return_counts=True)
    order = np.argsort(rows, kind="stable")
    starts = np.concatenate([[0], np.cumsum(copies)[:-1]])
    for count in np.unique(copies):
        alike = np.flatnonzero(copies == count)
        taken = order[starts[alike][:, None] + np.arange(count)]
        yield cells[alike], drawn[:, taken].transpose(1, 0, 2).reshape(len(alike), -1)


def _said_of_levels(drawn: NDArray[Any], levels: Sequence[object]) -> dict[str, Any]:
    """The most probable level of each cell, its probability, and those of all levels."""
    shares = np.stack([(drawn == code).mean(axis=1) for code in range(len(levels))], axis=1)
    likeliest = shares.argmax(axis=1)
    return {
        "likeliest": np.array([*levels, None], dtype=object)[likeliest],
        "probability": shares.max(axis=1),
        "probabilities": [dict(zip(levels, own, strict=True)) for own in shares.tolist()],
    }


def _said_of_numbers(drawn: NDArray[Any]) -> dict[str, Any]:
    """Mean, standard deviation and some quantiles of each cell."""
    numbers = drawn.astype(np.float64)
    quantiles = np.quantile(numbers, list(_QUANTILES.values()), axis=1)
    return {
        "mean": numbers.mean(axis=1),
        "sd": numbers.std(axis=1),
        **dict(zip(_QUANTILES, quantiles, strict=True)),
    }
