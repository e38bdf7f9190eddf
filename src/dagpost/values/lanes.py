"""Every way to fill the columns of levels that a question is about, side by side: one lane for each.

The columns that are asked about run through all of their levels, so that the lanes together are the evidence, and some
of them the target. Exogenous columns that matter and are not given run through the combinations that the table has,
each with its share; columns that are set have their value in all lanes. All other columns stay open.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dagpost._tools.arrays import Flags, Floats, Integers
from dagpost.errors import InputError
from dagpost.families.masks import distinct_rows
from dagpost.prediction.background import Background
from dagpost.values.question import Columns, Question, refuse_many

#: Lanes that one question may have.
MOST_LANES = 2**14


class Lanes(NamedTuple):
    """Codes (columns, lanes), 0 where nothing is said; the nodes that have one; the log share of each lane."""

    cells: Integers
    known: int
    log_shares: Floats
    #: In which lanes each of the events holds that are asked about, (events, lanes).
    events: Flags

    @property
    def width(self) -> int:
        """How many there are."""
        return int(self.cells.shape[1])


def lanes_of(question: Question, columns: Columns, background: Background, exogenous: int) -> Lanes:
    """The lanes of a question; `exogenous` are columns that matter."""
    levels = columns.levels
    arities = [len(own or ()) for own in levels]
    outside = sum(1 << columns.names.index(name) for name in columns.exogenous)
    axes: dict[int, Sequence[int]] = {}
    for node in dict.fromkeys([*question.nodes, *question.evidence]):
        if not outside >> node & 1 and node not in question.do:
            cell = question.evidence.get(node)
            axes[node] = range(arities[node]) if cell is None or cell.codes is None else cell.codes
    table, log_shares = _outside(question, columns, background, exogenous & outside)
    refuse_many(math.prod(map(float, map(len, axes.values()))) * len(log_shares), MOST_LANES)
    shape = [len(log_shares), *map(len, axes.values())]
    places = np.indices(shape).reshape(len(shape), -1)
    cells = np.zeros((len(levels), places.shape[1]), dtype=np.int64)
    known = 0
    for node, codes in table.items():
        cells[node] = codes[places[0]]
        known |= 1 << node
    for axis, (node, choices) in enumerate(axes.items(), start=1):
        cells[node] = np.array(choices)[places[axis]]
        known |= 1 << node
    for node, value in question.do.items():
        cells[node] = int(value)
        known |= 1 << node
    return Lanes(cells, known, log_shares[places[0]], _events(question, arities, cells))


def _events(question: Question, arities: list[int], cells: Integers) -> Flags:
    if question.of is not None:
        return np.asarray(cells[question.of] == np.arange(arities[question.of])[:, np.newaxis])
    held = np.ones(cells.shape[1], dtype=np.bool_)
    for node, cell in question.targets.items():
        held &= np.isin(cells[node], cell.codes or ())
    return held[np.newaxis]


def _outside(
    question: Question, columns: Columns, background: Background, exogenous: int
) -> tuple[dict[int, Integers], Floats]:
    """The combinations of exogenous levels that matter and agree with the evidence, and the logs of their shares."""
    nodes = [
        node
        for node, own in enumerate(columns.levels)
        if node not in question.do
        and columns.names[node] in columns.exogenous
        and (exogenous >> node & 1 or node in question.evidence)
    ]
    evidence = {node: question.evidence[node].codes or () for node in nodes if node in question.evidence}
    if all(len(evidence.get(node, ())) == 1 for node in nodes):
        # Nothing is open, so that it does not matter how often the table has it.
        return {node: np.array(evidence[node]) for node in nodes}, np.zeros(1)
    codes = background.levels[:, nodes]
    agree = np.ones(len(codes), dtype=np.bool_)
    for place, node in enumerate(nodes):
        if node in evidence:
            agree &= np.isin(codes[:, place], evidence[node])
    if not agree.any():
        names = " and ".join(repr(columns.names[node]) for node in evidence)
        open_names = " and ".join(repr(columns.names[node]) for node in nodes if node not in evidence)
        raise InputError(
            f"No row of the table has these values of {names}, which are exogenous, so that nothing says what "
            f"{open_names or 'they'} would be. Give one value of each."
        )
    first, member = distinct_rows(np.ascontiguousarray(codes[agree]))
    shares = np.bincount(member, weights=background.shares[agree], minlength=len(first))
    return {node: codes[agree][first, place] for place, node in enumerate(nodes)}, np.log(shares / shares.sum())
