"""From a table of levels and numbers to the scores of all of its families (conditional_groups.py).

Columns of levels are scored by counting, among themselves. For columns of numbers, each set `D` of columns of levels is
seen to by itself: the parent sets with these levels are `D` and a set `C` of columns of numbers, in the order in which
the sets `C` alone are numbered. So the sets behind the families of numbers are listed once, and summed for each `D`.
The sets `D` are shared out; each share writes only its own entries and no sum crosses a share, so the result is the
same bit for bit whatever the number of threads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dagpost._tools.arrays import Integers
from dagpost._tools.progress import NO_PROGRESS
from dagpost.checkpoints import CheckpointPart
from dagpost.data.table import Table
from dagpost.families.distinct_sets import DistinctSets, distinct_sets
from dagpost.families.numbering import MAX_NODES, binomials, family_count, size_offsets
from dagpost.families.parent_lists import members_of_sets
from dagpost.scores.base import Filling
from dagpost.scores.columns import part_of
from dagpost.scores.conditional_groups import (
    codes_of_levels,
    groups_of,
    kinds_of,
    number_columns,
    sum_over_groups,
    used_rows,
)
from dagpost.scores.set_functions import runs_of

if TYPE_CHECKING:
    from dagpost.scores.conditional_gaussian import ConditionalGaussian

#: About how many families of numbers have their sets listed together.
_TOGETHER = 500_000
#: Shares of the sets of columns of levels.
_SHARES = 64


class _Part(NamedTuple):
    """Nodes that are scored together, from the same `rows`; their parent sets are numbered alike.

    `places` has the numbers of the parent sets, a row for each node or one for all: first those with the first set of
    columns of levels, and so on; they begin at `begin`. `sets` are those behind the families of numbers alone, and
    `columns` all columns in them; `families` says how many of these a node has, by the most parents.
    """

    nodes: tuple[int, ...]
    rows: Integers
    places: Integers
    begin: Integers
    sets: DistinctSets
    columns: Integers
    families: list[int]


def fill_levels(score: ConditionalGaussian, asked: Filling) -> None:
    """Write the scores of those of the nodes that have levels; a set with a column of numbers has -inf."""
    table, wanted, max_parents, values = asked[:4]
    levels, scored = kinds_of(table).levels, [node for node in wanted if table.levels[node] is not None]
    if not scored:
        return
    among_levels = tuple(levels.index(node) for node in scored)
    others = len(levels) - (len(scored) if asked.apart else 1)
    limit = min(max_parents, others)
    found = np.zeros((len(scored), family_count(others, limit)))
    kept = CheckpointPart(asked.checkpoint, "columns of levels")
    # Where numbers are scored too, these are what progress is about.
    shown = asked.reporter if len(scored) == len(wanted) else NO_PROGRESS
    part = Filling(part_of(table, levels), among_levels, limit, found, asked.engine, shown, kept, asked.apart)
    score.dirichlet.fill_nodes(part)
    for scores, node in zip(found, scored, strict=True):
        universe = asked.parents_of(node)
        # The places that a set leaves empty are -1: the last entry.
        has_levels = np.array([*(table.levels[other] is not None for other in universe), True])
        row = values[wanted.index(node)]
        row[:] = -np.inf
        row[has_levels[members_of_sets(len(universe), max_parents)].all(axis=1)] = scores


def fill_numbers(score: ConditionalGaussian, asked: Filling) -> None:
    """Write the scores of those of the nodes that have numbers."""
    table, wanted, max_parents, values = asked[:4]
    scored = tuple(node for node in wanted if table.levels[node] is None)
    if not scored:
        return
    kinds, (numbers, units) = kinds_of(table), number_columns(score, table)
    parents = asked.parents
    levels = [node for node in parents if node in kinds.levels]
    codes = codes_of_levels(table, levels)
    level_sets = [own[own >= 0] for own in members_of_sets(len(levels), max_parents)]
    limits = [_most_numbers(table, [levels[place] for place in own], max_parents) for own in level_sets]
    at_once = max(1, _TOGETHER // family_count(len(parents) - len(levels), max_parents))
    parts = [
        _part_of(table, run.nodes[first : first + at_once], used_rows(table, run), parents, max_parents)
        for run in runs_of(table.interventions, len(table.names), scored)
        for first in range(0, len(run.nodes), at_once)
    ]
    row_of = {node: wanted.index(node) for node in scored}
    values[list(row_of.values())] = -np.inf

    def visit(step: tuple[int, int], cancel: Integers) -> None:
        part = parts[step[0]]
        sets, rows = part.sets, np.array([row_of[node] for node in part.nodes])[:, np.newaxis]
        units_of = np.array([units[kinds.numbers.index(node)] for node in part.nodes])[:, np.newaxis]
        in_units = float(numbers.weights[part.rows].sum()) * np.log(units_of)
        for number in range(step[1], len(level_sets), shares):
            limit = limits[number]
            if limit < 0:
                continue
            groups, due = groups_of(codes[level_sets[number]], part.rows), sets.size <= limit + 1
            found = np.zeros(len(due))
            sum_over_groups(*groups, numbers, part.columns, limit + 1, sets.members, due, found, cancel)
            scores = (found[sets.plus] - found[sets.minus]).reshape(len(rows), -1)[:, : part.families[limit]]
            first = part.begin[number]
            values[rows, part.places[:, first : first + scores.shape[1]]] = scores - in_units

    shares = min(_SHARES, len(level_sets))
    steps = [(part, share) for part in range(len(parts)) for share in range(shares)]
    saved = asked.checkpoint.stage(
        "local scores of numbers", steps, running=lambda: [values[row] for row in row_of.values()]
    )
    with asked.reporter.stage("local scores", len(steps)) as stage:
        stage.advance(len(saved.finished))
        for _ in saved.run(asked.engine, visit, steps):
            stage.advance(1)


def _most_numbers(table: Table, levels: list[int], max_parents: int) -> int:
    """How many columns of numbers a parent set of interest has at most beside some of levels; negative: none is."""
    most, indicators = max_parents - len(levels), int(table.exclusive[levels].sum())
    if table.limits is None:
        return most
    return min(most, table.limits[0] - len(levels) + indicators) if indicators <= table.limits[1] else -1


def _part_of(table: Table, nodes: tuple[int, ...], rows: Integers, parents: list[int], max_parents: int) -> _Part:
    """Some nodes with the sets behind their families, whose parents are among some columns."""
    universes = [tuple(other for other in parents if other != node) for node in nodes]
    numbers = kinds_of(table).numbers
    level_sets = [_level_sets(table, universe, max_parents) for universe in dict.fromkeys(universes)]
    lists = [[numbers.index(other) for other in universe if other in numbers] for universe in universes]
    counts = np.zeros(len(numbers), dtype=np.int64)
    counts[[numbers.index(node) for node in nodes]] = family_count(len(lists[0]), max_parents)
    # The places that a set leaves empty are -1: the last entry.
    members = [np.append(own, len(numbers))[members_of_sets(len(own), max_parents)] for own in lists]
    start, one_run = np.append(0, np.cumsum(counts)), np.zeros(len(numbers), dtype=np.int64)
    sets = distinct_sets(start, np.concatenate(members).astype(np.int16), one_run, one_run)
    return _Part(
        nodes,
        rows,
        np.argsort(level_sets, axis=1, kind="stable"),
        np.append(0, np.cumsum(np.bincount(level_sets[0]))),
        sets,
        np.flatnonzero(np.bincount(sets.members.ravel())[: len(numbers)]),
        [family_count(len(lists[0]), limit) for limit in range(max_parents + 1)],
    )


def _level_sets(table: Table, universe: tuple[int, ...], max_parents: int) -> Integers:
    """For each parent set over some columns, which set of columns of levels is in it, in the numbering of these."""
    levels = [column for column in universe if table.levels[column] is not None]
    # The places that a set leaves empty are -1: the last entry.
    place = np.array([*(levels.index(own) if own in levels else -1 for own in universe), -1])
    members = place[members_of_sets(len(universe), max_parents)]
    has_levels = members >= 0
    sizes, elements = has_levels.sum(axis=1), max(len(levels), MAX_NODES)
    ranks = np.where(has_levels, np.cumsum(has_levels, axis=1), 0)
    above = np.where(has_levels, binomials(max_parents, elements)[members, ranks], 0).sum(axis=1)
    found: Integers = size_offsets(max_parents, elements)[len(levels), sizes] + above
    return found
