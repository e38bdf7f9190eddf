"""The log score of every parent set that rules allow, and of no other.

Nodes whose candidates, together with the node itself, are the same columns form a group: all nodes of a tier do, and
all nodes beside exogenous columns. So do nodes with the same candidates that are not each other's, such as the columns
of one time without edges among them. A group shares one walk over the sets of its columns (set_functions.py), in which
the columns that only serve as parents stand below the others: the largest sets, which are nearly all of them, are
visited only if they hold a node whose scores are wanted. So a group costs what its own families cost, and twenty nodes
with two hundred exogenous columns are a matter of seconds. Memory: 8 bytes a family, and beside them those of a walk,
one number for each parent set of the largest group and variant of `B`.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from dagpost._tools import memory
from dagpost._tools.arrays import Flags, Floats
from dagpost._tools.progress import NO_PROGRESS, Reporter, Stage
from dagpost._tools.spelling import bare, either, quoted
from dagpost.checkpoints import NO_CHECKPOINT, Checkpoint, CheckpointPart
from dagpost.data.table import Table
from dagpost.engines import Engine
from dagpost.errors import InputError
from dagpost.families.numbering import MAX_NODES, family_count
from dagpost.families.parent_lists import ParentLists
from dagpost.scores.base import Filling, Score
from dagpost.scores.columns import part_of


class Group(NamedTuple):
    """Columns that are scored in one walk, and which of them (by their place among these) have scores of interest.

    Those may be parents of each other, or stand `apart`, after their candidates.
    """

    columns: tuple[int, ...]
    wanted: tuple[int, ...]
    apart: bool

    @property
    def candidates(self) -> int:
        """How many columns each of them may have for parents."""
        return len(self.columns) - (len(self.wanted) if self.apart else 1)

    @property
    def nodes(self) -> list[int]:
        """The columns whose scores are wanted."""
        return [self.columns[place] for place in self.wanted]


def score_allowed(
    table: Table,
    score: Score,
    lists: ParentLists,
    *,
    engine: Engine,
    reporter: Reporter = NO_PROGRESS,
    checkpoint: Checkpoint = NO_CHECKPOINT,
    modelled: Flags | None = None,
) -> tuple[Floats, ...]:
    """The log score of every parent set of every node, in the numbering of `lists`.

    A node that is not `modelled` (None: all are) has one family, the empty set, of log score 0.

    >>> from dagpost.data import datasets
    >>> from dagpost.engines import ThreadEngine
    >>> from dagpost.scores import BDeu, local_scores
    >>> table, lists = datasets.load("coronary"), ParentLists.of_matrix(np.tri(6, k=-1, dtype=bool), 2)
    >>> scores = score_allowed(table, BDeu(), lists, engine=ThreadEngine(1))
    >>> [len(own) for own in scores]
    [1, 2, 4, 7, 11, 16]
    >>> round(float(scores[5][lists.number(5, [1, 4])]) - local_scores(table, BDeu(), 2).score(5, [1, 4]), 9)
    0.0
    """
    _refuse_interventions(table)
    scored = np.ones(lists.nodes, dtype=np.bool_) if modelled is None else modelled
    groups = groups_of(lists, scored)
    _require_memory(lists, groups, len(table.regimes))
    values: list[Floats] = [np.zeros(1) for _ in range(lists.nodes)]
    filled = {group: np.zeros((len(group.wanted), _families(group, lists))) for group in groups}
    for group in groups:
        for node, own in zip(group.nodes, filled[group], strict=True):
            values[node] = own
    work = [filled[group].size for group in groups]
    saved = checkpoint.stage("allowed families", range(len(groups)), lambda number: [filled[groups[number]]])
    with reporter.stage("local scores", sum(work)) as stage:
        for number in saved.finished:
            stage.advance(work[number])
        for number in saved:
            group = groups[number]
            part = Reporter(partial(_Share, stage, work[number]))
            chosen = score.of_columns(list(group.columns), table)
            limit = min(lists.max_parents, group.candidates)
            kept = CheckpointPart(checkpoint, f"group {number}")
            rows = part_of(table, group.columns)
            chosen.fill_nodes(Filling(rows, group.wanted, limit, filled[group], engine, part, kept, group.apart))
    return tuple(values)


def groups_of(lists: ParentLists, modelled: Flags) -> list[Group]:
    """The nodes in groups that share a walk; the group with the most families comes first."""
    together: dict[tuple[int, ...], list[int]] = {}
    for node in np.flatnonzero(modelled).tolist():
        together.setdefault(tuple(sorted([*lists.candidates[node].tolist(), node])), []).append(node)
    apart: dict[tuple[int, ...], list[int]] = {}
    for node, *others in together.values():
        if not others:
            apart.setdefault(tuple(lists.candidates[node].tolist()), []).append(node)
    groups = [
        Group(columns, tuple(columns.index(node) for node in nodes), False)
        for columns, nodes in together.items()
        if len(nodes) > 1
    ]
    groups += [
        Group((*candidates, *nodes), tuple(range(len(candidates), len(candidates) + len(nodes))), True)
        for candidates, nodes in apart.items()
    ]
    return sorted(groups, key=lambda group: -len(group.wanted) * _families(group, lists))


def _families(group: Group, lists: ParentLists) -> int:
    return family_count(group.candidates, lists.max_parents)


def _refuse_interventions(table: Table) -> None:
    """A row's mask of interventions has 64 bits."""
    if table.interventions is not None and len(table.names) > MAX_NODES:
        raise InputError(
            f"Interventions on known columns are possible up to {MAX_NODES} columns, and the table has "
            f"{len(table.names)}. Drop columns, or name the experiment of each row with {quoted('regimes')} instead."
        )


def _require_memory(lists: ParentLists, groups: list[Group], regimes: int) -> None:
    """Refuse scores, and the table of `B` of the largest group, that do not fit into memory."""
    families = sum(len(group.wanted) * _families(group, lists) for group in groups)
    widest = max((group.candidates for group in groups), default=0)
    needed = 8 * (families + family_count(widest + 1, min(lists.max_parents, widest)))
    of_them = f", {regimes} of them regimes," if regimes else ","
    smaller = f"{bare('max_parents')} or {either('max_regimes', '--max-regimes')}" if regimes else bare("max_parents")
    memory.require(
        needed,
        f"Scoring {families:,} families of up to {lists.max_parents} parents, out of {widest} candidates{of_them}",
        f"Use a smaller {smaller}, or leave the columns fewer candidates: fewer columns, more "
        f"{bare('tiers')} or {bare('forbidden')} edges.",
    )


class _Share(Stage):
    """The progress of one group as so many units of the whole."""

    def __init__(self, whole: Stage, units: int, title: str, total: int) -> None:
        super().__init__(title, total)
        self._whole, self._units, self._passed_on = whole, units, 0

    def advance(self, units: int) -> None:
        """Count units of the group, and pass on what they are of the whole."""
        super().advance(units)
        due = self._units * min(self.done, self.total) // max(self.total, 1)
        self._whole.advance(due - self._passed_on)
        self._passed_on = due
