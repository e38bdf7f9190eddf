"""The graphs that an effect is averaged over, with what was counted for their parameters; those that agree are one.

What setting columns does to an outcome depends on the outcome's ancestors and their parents alone, those of columns
that are set left out. Graphs that agree on these are put together, with the weight of all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from dagpost._tools.arrays import Flags, Floats, Integers, Masks
from dagpost._tools.progress import NO_PROGRESS, Reporter
from dagpost._tools.text import printable
from dagpost.causal.columns import Columns
from dagpost.causal.kinds import Kind
from dagpost.causal.mechanisms import Mechanisms
from dagpost.causal.question import Question
from dagpost.errors import InputError
from dagpost.families.masks import distinct_rows
from dagpost.features import Feature, ancestors, evaluate
from dagpost.local.models import LocalModels
from dagpost.prediction.background import Background
from dagpost.prediction.statistics import Statistics
from dagpost.scores import ParameterPrior

#: Completed tables that are averaged over where many effects are asked for.
_MOST_TABLES = 50


class Weighted(NamedTuple):
    """Graphs with their weights, and what was counted for them; the weights of all such sets sum to 1."""

    kind: Kind
    prior: ParameterPrior
    statistics: Statistics | LocalModels
    graphs: Masks
    weights: Floats

    def expected(self, rows: Integers, background: Background, weights: Floats) -> Mechanisms:
        """Some of the graphs with the posterior means of their parameters, or of draws: more where they weigh more."""
        return self.kind.expected(self.statistics, self.prior, self.graphs[rows], background, weights)

    def drawn(self, rows: Integers, background: Background, generator: np.random.Generator) -> Mechanisms:
        """Some of the graphs, each with a draw of its parameters."""
        return self.kind.drawn(self.statistics, self.prior, self.graphs[rows], background, generator)


@dataclass(frozen=True, eq=False)
class Graphs:
    """All graphs that are averaged over, in parts, and what they have in common."""

    parts: tuple[Weighted, ...]
    columns: Columns
    background: Background
    #: How many there are, and what is counted in their posterior.
    count: int
    target: str
    observations: int | None
    #: Whether these are all graphs there are, with exact weights.
    exact: bool = False
    #: Columns that were set in every row.
    always_set: frozenset[str] = frozenset()
    reporter: Reporter = NO_PROGRESS

    @property
    def kind(self) -> Kind:
        """That of all parts."""
        return self.parts[0].kind

    @property
    def exact_means(self) -> bool:
        """Whether means are sums over all graphs there are, without draws."""
        return self.exact and self.kind.sums

    def of_fewer_tables(self) -> Graphs:
        """The graphs of some of many completed tables, evenly: enough where many effects are asked for."""
        if len(self.parts) <= _MOST_TABLES:
            return self
        places = np.linspace(0, len(self.parts) - 1, _MOST_TABLES).round().astype(int)
        total = sum(float(self.parts[place].weights.sum()) for place in places)
        parts = tuple(self.parts[place]._replace(weights=self.parts[place].weights / total) for place in places)
        return replace(self, parts=parts, count=sum(len(part.graphs) for part in parts))


class Alike(NamedTuple):
    """Of graphs that agree on what matters, one that stands for all: where it is, and the weight of all of them.

    `reached`: a directed path leads from a column that is changed to the outcome. Of one cause: `joined`, there is an
    edge, and `between` (graphs, columns), the column lies on a directed path.
    """

    rows: Integers
    weights: Floats
    reached: Flags
    joined: Flags
    between: Flags

    def with_path(self) -> Alike:
        """Those in which a path leads to the outcome."""
        own = self.reached
        return Alike(self.rows[own], self.weights[own], self.reached[own], self.joined[own], self.between[own])


def alike(part: Weighted, question: Question) -> Alike:
    """The graphs of a part that differ in what matters to a question."""
    y, nodes = question.outcome, part.graphs.shape[1]
    set_columns = [own.column for own in question.causes]
    cut = part.graphs.astype(np.uint64)
    cut[:, set_columns] = 0
    above = ancestors(cut)[:, y] | np.uint64(1 << y)
    bits = np.uint64(1) << np.arange(nodes, dtype=np.uint64)
    cut[above[:, np.newaxis] & bits == 0] = 0
    first, member = distinct_rows(cut)
    weights = np.bincount(member, weights=part.weights, minlength=len(first)).astype(np.float64)
    first, weights = first[weights > 0.0], weights[weights > 0.0]
    own, over = cut[first], ancestors(cut[first])
    changed = np.uint64(sum(1 << column for column in question.changed))
    x = np.uint64(1 << set_columns[0])
    between = (over & x != 0) & (over[:, [y]] & bits != 0)
    return Alike(first, weights, over[:, y] & changed != 0, own[:, y] & x != 0, between)


def restricted(graphs: Graphs, condition: Feature) -> tuple[Graphs, float]:
    """The graphs in which a condition holds, with weights that sum to 1 again, and the weight that they had."""
    held: dict[int, Flags] = {}
    for part in graphs.parts:
        if id(part.graphs) not in held:
            held[id(part.graphs)] = evaluate([condition], part.graphs, graphs.columns.names)[0]
    pairs = [(part, held[id(part.graphs)]) for part in graphs.parts]
    total = sum(float(part.weights[own].sum()) for part, own in pairs)
    if total <= 0.0:
        raise InputError(
            f"In none of the {graphs.count:,} graphs does {printable(str(condition))!r} hold, so nothing can be said "
            "given that. Ask for a weaker condition, or require it when the model is fitted."
        )
    parts = tuple(
        part._replace(graphs=part.graphs[own], weights=part.weights[own] / total)
        for part, own in pairs
        if part.weights[own].any()
    )
    # The values of a setting share their graphs: counted once.
    shared = graphs.count < sum(len(part.graphs) for part in graphs.parts)
    left = [int(own.sum()) for _, own in pairs]
    return replace(graphs, parts=parts, count=left[0] if shared else sum(left)), min(total, 1.0)


def with_path_probability(groups: Sequence[Alike], probability: float) -> list[Alike]:
    """The groups with weights under which a path has this probability; as they are where all, or none, have one."""
    reached = sum(float(own.weights[own.reached].sum()) for own in groups)
    others = sum(float(own.weights[~own.reached].sum()) for own in groups)
    if reached <= 0.0 or others <= 0.0:
        return list(groups)
    factors = np.array([(1.0 - probability) / others, probability / reached])
    return [own._replace(weights=own.weights * factors[own.reached.astype(np.int64)]) for own in groups]
