"""The graphs that an effect is averaged over, with what was counted for their parameters; those that agree are one.

What setting columns does to an outcome depends on the outcome's ancestors and their parents alone, those of columns
that are set left out. Graphs that agree on these are put together, with the weight of all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from dagpost._tools.arrays import Flags, Floats, Integers, Masks
from dagpost.causal.question import Columns
from dagpost.families.masks import distinct_rows
from dagpost.features import ancestors
from dagpost.prediction.background import Background
from dagpost.prediction.statistics import Statistics
from dagpost.scores import ParameterPrior


class Weighted(NamedTuple):
    """Graphs with their weights, and what was counted for them; the weights of all such sets sum to 1."""

    prior: ParameterPrior
    statistics: Statistics
    graphs: Masks
    weights: Floats


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


def reaches(graphs: Masks, sources: Sequence[int], held: Sequence[int], outcome: int) -> Flags:
    """Whether a directed path leads from any of the sources to the outcome, past the columns that are held."""
    wanted = np.uint64(sum(1 << source for source in sources))
    found: Flags = ancestors(_cut(graphs, (*sources, *held)))[:, outcome] & wanted != 0
    return found


def _cut(graphs: Masks, columns: Sequence[int]) -> Masks:
    """The graphs without the edges into some columns, which are set."""
    cut = graphs.astype(np.uint64)
    cut[:, list(columns)] = 0
    return cut


class Alike(NamedTuple):
    """Of graphs that agree on what matters, one that stands for all: where it is, and the weight of all of them."""

    rows: Integers
    weights: Floats


def alike(part: Weighted, set_columns: Sequence[int], outcome: int) -> Alike:
    """The graphs of a part that differ in what matters to an outcome when some columns are set."""
    cut = _cut(part.graphs, set_columns)
    above = ancestors(cut)[:, outcome] | np.uint64(1 << outcome)
    bits = np.uint64(1) << np.arange(cut.shape[1], dtype=np.uint64)
    cut[above[:, np.newaxis] & bits == 0] = 0
    first, member = distinct_rows(cut)
    weights = np.bincount(member, weights=part.weights, minlength=len(first)).astype(np.float64)
    kept = weights > 0.0
    return Alike(first[kept], weights[kept])


def restricted(graphs: Graphs, held: Sequence[Flags]) -> Graphs:
    """Those in which a condition holds, with weights that sum to 1 again."""
    total = sum(float(part.weights[own].sum()) for part, own in zip(graphs.parts, held, strict=True))
    parts = tuple(
        part._replace(graphs=part.graphs[own], weights=part.weights[own] / total)
        for part, own in zip(graphs.parts, held, strict=True)
        if own.any()
    )
    return replace(graphs, parts=parts, count=sum(int(own.sum()) for own in held[:1]))


def reweighted(parts: Sequence[tuple[Any, Flags, Floats]], probability: float) -> list[Floats]:
    """Weights under which graphs that are marked have this probability in all; unchanged where none, or all, are."""
    marked = sum(float(weights[own].sum()) for _, own, weights in parts)
    total = sum(float(weights.sum()) for _, _, weights in parts)
    others = total - marked
    if marked <= 0.0 or others <= 0.0:
        return [weights for _, _, weights in parts]
    up, down = probability / marked, (1.0 - probability) / others
    return [np.where(own, weights * up, weights * down) for _, own, weights in parts]
