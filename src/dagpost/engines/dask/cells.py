"""Scores of a table in parts whose distinct rows are too many for one machine: counts for every set of columns, summed.

The codes of a part, a byte or two a cell, stay with the worker that read it (on its disk if need be). For some sets of
columns at a time, a task for each part counts its rows into the cells of each set, the counts are summed in a tree, and
the last task turns them into the sums that scores are made of. Memory thus depends neither on the number of rows nor on
how many of them differ; time is rows times sets, without the short cuts of scores/counting.py. Scores differ from those
of a table in memory in the last digits only, since the cells are summed in another order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost._tools.kernels import kernel
from dagpost._tools.progress import NO_PROGRESS, Reporter
from dagpost._tools.spelling import bare
from dagpost.data.encoding import cells_of, code_type
from dagpost.data.table import Table
from dagpost.engines.dask.cluster import Cluster, writeable
from dagpost.engines.dask.counting import refuse_missing
from dagpost.engines.dask.parts import (
    Parts,
    agree_on_levels,
    batches_of,
    called,
    masks_of_targets,
    plain,
    wanted_columns,
    with_categories,
    with_plain_targets,
)
from dagpost.engines.threads import ThreadEngine
from dagpost.errors import InputError
from dagpost.families.numbering import parent_sets
from dagpost.scores.cells import CellFunction, parameter_of, row_of, sum_terms
from dagpost.scores.local_scores import LocalScores, local_scores
from dagpost.scores.set_functions import runs_of

if TYPE_CHECKING:
    from dagpost.engines.dask.engine import DaskEngine
    from dagpost.scores import Score
    from dagpost.scores.rows import Rows

#: Cells that are counted together (8 bytes each), and the most cells of one set.
_CELLS_TOGETHER = 1 << 21
_MOST_CELLS = 1 << 24
_ROWS_AT_A_TIME = 2048
_MOST_LEVELS = 1 << 16

#: What a part holds: levels of columns of categories, values of other columns, how many rows each intervention has.
_Seen = tuple[dict[str, list[Any]], dict[str, Any], dict[str | None, int]]
#: One part as codes (columns, rows); with interventions, also the mask of the columns that were set in each row.
_Codes = tuple[NDArray[Any], NDArray[np.uint64] | None]


def scores_of_parts(
    source: Any,
    engine: DaskEngine,
    score: str | Score = "bdeu",
    max_parents: int = 5,
    *,
    columns: Sequence[str] | None = None,
    interventions: str | None = None,
    cells_together: int = _CELLS_TOGETHER,
    reporter: Reporter = NO_PROGRESS,
) -> LocalScores:
    """Score every family from rows in parts, for a discrete score.

    `source`, `columns` and `interventions` are those of `distinct_rows_of_parts`. Every row is one observation: rows
    that bring counts have been grouped before and are few. `cells_together` cells are counted together, 8 bytes each.
    """
    parts = Parts(engine.cluster, source)
    wanted = wanted_columns(columns, interventions)
    with engine.cluster.release_on_error():
        seen = parts.map("levels", _values_of, wanted, interventions)
        levels, values, targets = engine.cluster.result(parts.merged("levels", _merge_values, seen))
        whole = _table_of(levels, values, sum(targets.values()))
        # Refuses continuous columns, whose values have no codes.
        whole.codes()
        masks = masks_of_targets(list(targets), whole.names)
        known = dict(zip(targets, masks.tolist(), strict=True))
        codes = parts.map("codes", codes_of, whole.names, whole.levels, interventions, known)

        def scores_without(left_out: int, observations: int) -> LocalScores:
            rows = replace(whole, counts=np.array([observations]))
            how = (engine.workers, left_out, cells_together)
            counting = _CountingParts(engine.cluster, parts, codes, whole.arities, *how)
            return local_scores(rows, score, max_parents, engine=counting, reporter=reporter)

        return _by_runs(scores_without, masks, np.array(list(targets.values())), len(whole.names))


def _by_runs(
    scores_without: Callable[[int, int], LocalScores], masks: NDArray[np.uint64], rows: Integers, nodes: int
) -> LocalScores:
    """Every node scored from the rows in which it was not set; `rows` says how many there are of each mask."""
    found = None
    for run in runs_of(masks if masks.any() else None, nodes):
        observations = int(rows.sum() if run.observed is None else rows[run.observed].sum())
        # Nothing is known of nodes that were set in every row; any rows tell how many families there are.
        some = observations or int(rows.sum())
        own = scores_without(1 << run.nodes[0] if 0 < observations < rows.sum() else 0, some)
        members = list(run.nodes)
        if not observations:
            own.values[members] = 0.0
        if found is None:
            found = own
        else:
            found.values[members] = own.values[members]
    assert found is not None
    return found


class _CountingParts(ThreadEngine):
    """Threads whose sums over cells come from the parts and not from the rows of the table at hand.

    Rows in which a column of the mask `left_out` was set are not counted.
    """

    def __init__(
        self,
        cluster: Cluster,
        parts: Parts,
        codes: list[Any],
        arities: tuple[int, ...],
        threads: int,
        left_out: int,
        cells_together: int,
    ) -> None:
        super().__init__(threads)
        self._cluster, self._parts, self._codes, self._arities = cluster, parts, codes, arities
        self._left_out, self._cells_together = left_out, cells_together

    def sum_cells(self, rows: Rows, cells: CellFunction, max_size: int) -> Floats:
        """Row 0: `A` of every set of at most `max_size` columns, by its number; then the variants of `B`."""
        del rows
        terms = self._cluster.hand_over("terms", cells)
        sets = parent_sets(len(self._arities), max_size)
        futures = []
        for begin, end in _groups_of(sets, self._arities, self._cells_together):
            counted = [
                self._cluster.submit("count-cells", _count_part, codes, self._left_out, self._arities, sets[begin:end])
                for codes in self._codes
            ]
            counts = self._parts.merged("sum-counts", _sum, counted)
            futures.append(
                self._cluster.submit("sum-terms", _terms_of, counts, self._arities, sets[begin:end], max_size, terms)
            )
        return np.concatenate(self._cluster.gather(futures), axis=1)


def _table_of(levels: dict[str, list[Any]], values: dict[str, Any], observations: int) -> Table:
    """A table with the names and levels of all parts, and one row of codes 0 that stands for all observations."""
    if observations == 0:
        raise InputError("The table is empty: its parts have no rows. At least one row is needed.")
    if not values:
        raise InputError("The parts have no column besides that of the intervention targets. At least two are needed.")
    if len(values) < 2:
        raise InputError(f"The parts have only one column, {next(iter(values))!r}: a structure needs at least 2.")
    found = tuple(_levels_of(name, column, levels.get(name)) for name, column in values.items())
    columns = tuple(np.zeros(1, dtype=np.float64 if own is None else code_type(len(own))) for own in found)
    return Table(tuple(values), columns, found, counts=np.array([observations]))


def _levels_of(name: str, column: Any, declared: list[Any] | None) -> tuple[object, ...] | None:
    """The levels of a column of a table in parts, all values that occur; None where it holds fractions."""
    import narwhals
    import pandas

    if declared is not None:
        with_categories(pandas.DataFrame({name: column}), {name: declared})
        return tuple(declared)
    cells = cells_of(name, narwhals.from_native(pandas.Series(column), series_only=True))
    if cells.kind == "dates":
        raise InputError(f"Column {name!r} holds dates, which have no levels. Leave it out.")
    if pandas.api.types.is_float_dtype(column):
        return cells.levels() if cells.kind == "whole" else None
    # As they are: the codes of the parts are found by comparing cells with them.
    return tuple(sorted(pandas.Series(column).tolist()))


def _values_of(part: Any, columns: list[str] | None, interventions: str | None) -> _Seen:
    import pyarrow

    levels: dict[str, list[Any]] = {}
    values: dict[str, Any] = {}
    targets: Counter[str | None] = Counter()
    for batch in batches_of(part, columns):
        table = plain(with_plain_targets(batch, interventions), levels)
        refuse_missing(table, part, but=interventions)
        if interventions is None:
            targets[None] += table.num_rows
        else:
            for entry in table.column(interventions).value_counts().to_pylist():
                targets[entry["values"]] += entry["counts"]
            table = table.drop_columns([interventions])
        for name in table.column_names:
            found = table.column(name).unique()
            both = pyarrow.chunked_array([values[name], found]).unique() if name in values else found
            if len(both) > _MOST_LEVELS:
                raise InputError(
                    f"Column {name!r} has more than {_MOST_LEVELS:,} different values. Drop the column if it is an "
                    "identifier, or discretise it."
                )
            values[name] = both
    return levels, {name: found.to_pandas() for name, found in values.items()}, dict(targets)


def _merge_values(_: tuple[()], *seen: _Seen) -> _Seen:
    levels: dict[str, list[Any]] = {}
    values: dict[str, Any] = {}
    targets: Counter[str | None] = Counter()
    for own, found, some in seen:
        targets.update(some)
        agree_on_levels(levels, own)
        if values and found and list(values) != list(found):
            raise InputError(f"The parts have different columns: {list(values)} in one, {list(found)} in another.")
        for name, column in found.items():
            values[name] = _values_of_both(name, values[name], column) if name in values else column
    return levels, values, dict(targets)


def _values_of_both(name: str, first: Any, second: Any) -> Any:
    """The values of a column in two parts; they must be of one kind, or True would be taken for 1."""
    import pandas

    kinds = [_kind_of(first), _kind_of(second)]
    if kinds[0] != kinds[1]:
        raise InputError(
            f"Column {name!r} holds {kinds[0]} values in one part and {kinds[1]} values in another. Give the column "
            "the same type in all parts."
        )
    return pandas.concat([first, second]).drop_duplicates()


def _kind_of(column: Any) -> str:
    import pandas

    kind = pandas.api.types.infer_dtype(column)
    return "numeric" if kind in ("integer", "floating", "mixed-integer-float") else kind


def codes_of(
    part: Any,
    names: tuple[str, ...],
    levels: tuple[tuple[object, ...] | None, ...],
    interventions: str | None,
    masks: dict[str | None, int],
) -> _Codes:
    """The codes of a part, and the masks of its rows where there are interventions."""
    import pandas

    indexes = [pandas.Index(list(found or ())) for found in levels]
    kind = code_type(max(len(index) for index in indexes))
    pieces, set_from_outside = [], []
    for batch in batches_of(part, names if interventions is None else [*names, interventions]):
        table = plain(with_plain_targets(batch, interventions), {})
        if interventions is not None:
            entries = table.column(interventions).to_pylist()
            _refuse_new(part, interventions, [entry for entry in entries if entry not in masks])
            set_from_outside += [masks[entry] for entry in entries]
        own = np.empty((len(names), table.num_rows), dtype=kind)
        for row, name, index in zip(own, names, indexes, strict=True):
            values = table.column(name).to_pandas()
            found = index.get_indexer(pandas.Index(values))
            _refuse_new(part, name, values[found < 0].tolist())
            row[:] = found
        pieces.append(own)
    codes = np.concatenate(pieces, axis=1) if pieces else np.empty((len(names), 0), dtype=kind)
    return codes, None if interventions is None else np.array(set_from_outside, dtype=np.uint64)


def _refuse_new(part: Any, name: str, values: list[Any]) -> None:
    """Refuse values that have no code: they would be counted outside the cells."""
    if values:
        raise InputError(
            f"{called(part)}column {name!r} holds {values[0]!r}, which no part held when they were first read. Leave "
            "the parts as they are while they are counted, and give the column the same type in all of them."
        )


def _groups_of(sets: Masks, arities: tuple[int, ...], cells_together: int) -> list[tuple[int, int]]:
    """Ranges of sets that have about `cells_together` cells each."""
    edges, total = [0], 0
    for number, mask in enumerate(sets.tolist()):
        cells = prod(arity for node, arity in enumerate(arities) if mask >> node & 1)
        if cells > _MOST_CELLS:
            raise InputError(
                f"A set of {mask.bit_count()} columns has {cells:,} cells, and at most {_MOST_CELLS:,} are counted. "
                f"Set {bare('max_parents')} lower, or discretise to fewer levels."
            )
        if total + cells > cells_together and total:
            edges.append(number)
            total = 0
        total += cells
    return list(zip(edges, [*edges[1:], len(sets)], strict=True))


def _layout(sets: Masks, arities: tuple[int, ...]) -> tuple[Integers, Integers, Integers]:
    """For each set: where its cells begin, the step from level to level of each column (0: not in it), its size."""
    members = (sets[:, None] >> np.arange(len(arities), dtype=np.uint64)) & np.uint64(1) != 0
    widths = np.where(members, np.array(arities), 1)
    products = np.cumprod(widths, axis=1)
    steps = np.where(members, products // widths, 0)
    begins = np.concatenate([[0], np.cumsum(products[:, -1])])
    return begins.astype(np.int64), steps.astype(np.int64), members.sum(axis=1).astype(np.int64)


def _count_part(part: _Codes, left_out: int, arities: tuple[int, ...], sets: Masks) -> Integers:
    codes, masks = part
    if masks is not None and left_out:
        codes = codes[:, masks & np.uint64(left_out) == 0]
    begins, steps, _ = _layout(sets, arities)
    counts = np.zeros(begins[-1], dtype=np.int64)
    _count_cells(codes.astype(np.uint16), begins, steps, counts)
    return counts


def _sum(_: tuple[()], *counts: Integers) -> Integers:
    total: Integers = np.sum(counts, axis=0)
    return total


def _terms_of(counts: Integers, arities: tuple[int, ...], sets: Masks, max_size: int, cells: CellFunction) -> Floats:
    begins, _, sizes = _layout(sets, arities)
    owned = CellFunction._make(writeable(part) if isinstance(part, np.ndarray) else part for part in cells)
    totals = np.zeros((1 + cells.penalties.size, len(sets)))
    _sum_terms(writeable(counts), begins, sizes, max_size, owned, totals)
    return totals


@kernel
def _count_cells(codes: NDArray[np.uint16], begins: Integers, steps: Integers, counts: Integers) -> None:
    """Add every row to its cell in each set; some rows together, so that they stay in the cache."""
    columns, rows = codes.shape
    places = np.empty(_ROWS_AT_A_TIME, dtype=np.int64)
    for first in range(0, rows, _ROWS_AT_A_TIME):
        last = min(first + _ROWS_AT_A_TIME, rows)
        for number in range(len(steps)):
            place = places[: last - first]
            place[:] = begins[number]
            for column in range(columns):
                step = steps[number, column]
                if step > 0:
                    values = codes[column, first:last]
                    for row in range(len(values)):
                        place[row] += step * np.int64(values[row])
            for row in range(len(place)):
                counts[place[row]] += 1


@kernel
def _sum_terms(
    counts: Integers, begins: Integers, sizes: Integers, max_size: int, cells: CellFunction, totals: Floats
) -> None:
    """What scores/counting.py writes for a set, from the counts of all its cells."""
    occupied = np.empty(np.max(begins[1:] - begins[:-1]), dtype=np.uint32)
    own_rows = cells.products.size == 0 and cells.tables.shape[0] > 1
    for number in range(len(sizes)):
        found = 0
        for place in range(begins[number], begins[number + 1]):
            if counts[place] > 0:
                occupied[found] = counts[place]
                found += 1
        configurations = np.float64(begins[number + 1] - begins[number])
        row = row_of(configurations, cells)
        value = sum_terms(occupied, np.int64(found), row, parameter_of(configurations, cells), cells)
        totals[0, number] = value
        if sizes[number] < max_size:
            for variant in range(cells.penalties.size):
                if own_rows:
                    value = sum_terms(occupied, np.int64(found), variant + 1, cells.parameters[variant + 1], cells)
                totals[variant + 1, number] = value + cells.penalties[variant] * configurations
