"""The K best graphs where the sum over graphs is a product over components (components.py).

The weight of a graph is a product of one factor a component, so its parts compete only within their own component, and
the best graphs are the best sums of one entry from each of several sorted lists:

1. In component `C` take for every node and every `Q ⊆ C` the heaviest parent set that is `Q` there. The K best DAGs on
   `C` with these weights (kbest.py) hold the insides of the K best whole ones: a DAG that is not among them has K
   others before it, whatever its nodes choose outside.
2. Each of those is spread out: its nodes choose their whole parent sets independently, each from a list by falling
   weight.
3. The lists of all components are joined two by two. Of two falling lists, entry `i` plus entry `j` comes after the
   `(i + 1)(j + 1) - 1` sums of earlier entries, so only some `K log K` sums can be among the K best.

What ties with the last place is carried along, up to a limit, so that the order of tied graphs is that of kbest.py: by
their rows of parent sets. Time beside the search in the components: `K log K` for each of them, and for each node of
the DAGs of step 2. Memory: 8 bytes a node for some times K graphs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats, Integers
from dagpost._tools.progress import NO_PROGRESS, Reporter
from dagpost.engines import Engine
from dagpost.errors import NoGraphError
from dagpost.exact.best_lattice import numbers_of_sets
from dagpost.exact.components import Components, Ragged, projection
from dagpost.exact.kbest import best_dags, tie_tolerance
from dagpost.families.numbering import binomials, family_count, size_offsets
from dagpost.families.parent_lists import ParentLists

#: How many entries beyond those that are wanted a list may carry because they tie with the last of them.
_MOST_TIES = 1024
#: How many sums are looked at for each entry that is carried, at most: without ties some ten are enough.
_MOST_PAIRS = 64


class BestChoices(NamedTuple):
    """The best graphs, best first: the number of the parent set of every node, and the log weight of each graph."""

    numbers: Integers
    log_joint: Floats
    tied: bool


class _Ranking(NamedTuple):
    """Sums by falling value, the choice of every node of each, and whether some that tie with the last are left out."""

    values: Floats
    numbers: Integers
    cut: bool = False


def best_of_components(
    lists: ParentLists,
    log_weights: Ragged,
    components: Components,
    count: int,
    *,
    engine: Engine,
    reporter: Reporter = NO_PROGRESS,
) -> BestChoices:
    """The `count` graphs of the greatest weight, or all that there are."""
    greatest = np.array([[own.max()] for own in log_weights])
    tolerance = tie_tolerance(greatest)
    # One more than asked for, which may tie with the last.
    wanted = count + 1
    search = partial(_best_in_part, lists, log_weights, wanted=wanted, tolerance=tolerance, engine=engine)
    rankings = [search(part, math.inf, reporter=reporter) for part in components.parts]
    joined = _joined(rankings, wanted, tolerance)
    # What ties with the end of a list is looked for only where the end of the joined list reaches down to it.
    slack = math.inf if len(joined.values) < wanted else joined.values[0] - joined.values[wanted - 1] + tolerance
    cut_off = [own.cut and own.values[-1] >= own.values[0] - slack for own in rankings]
    if any(own.cut for own in rankings):
        rankings = [
            search(part, own.values[0] - slack, reporter=reporter) if again else own._replace(cut=False)
            for part, own, again in zip(components.parts, rankings, cut_off, strict=True)
        ]
        joined = _joined(rankings, wanted, tolerance)
    columns = np.concatenate(components.parts)
    numbers = joined.numbers[:, np.argsort(columns)]
    log_joint = np.array(
        [math.fsum(log_weights[node][number] for node, number in enumerate(row)) for row in numbers.tolist()]
    )
    rows = _as_rows(lists, numbers)
    falling = np.lexsort((*rows.T[::-1], -np.round(log_joint / tolerance)))[:wanted]
    numbers, log_joint = numbers[falling], log_joint[falling]
    more = len(log_joint) > count
    tied = joined.cut or (more and bool(log_joint[count] >= log_joint[count - 1] - tolerance))
    return BestChoices(numbers[:count], log_joint[:count], tied)


def _joined(rankings: Sequence[_Ranking], wanted: int, tolerance: float) -> _Ranking:
    """The best sums of one entry of each ranking."""
    joined = _Ranking(np.zeros(1), np.empty((1, 0), dtype=np.int64))
    for own in rankings:
        joined = _join(joined, own, wanted, tolerance)
    return joined


def _best_in_part(
    lists: ParentLists,
    log_weights: Ragged,
    part: Integers,
    least: float,
    *,
    wanted: int,
    tolerance: float,
    engine: Engine,
    reporter: Reporter,
) -> _Ranking:
    """The best ways to choose the parents of the nodes of one component.

    What ties with the last one is there too, if it weighs at least `least` and there are not too many.
    """
    if len(part) == 1:
        return _best_of_node(log_weights[int(part[0])], wanted, tolerance)
    limit, inside = min(lists.max_parents, len(part) - 1), len(part) - 1
    sets = family_count(inside, limit)
    projections = [projection(lists, node, part) for node in part.tolist()]
    heaviest = np.full((len(part), sets), -math.inf)
    for row, node in enumerate(part.tolist()):
        np.maximum.at(heaviest[row], projections[row], log_weights[node])
    found = best_dags(heaviest, limit, wanted, engine=engine, reporter=reporter)
    while found.tied and found.log_joint[-1] >= least and len(found.log_joint) < wanted + _MOST_TIES:
        more = min(2 * len(found.log_joint), wanted + _MOST_TIES)
        found = best_dags(heaviest, limit, more, engine=engine, reporter=reporter)
    tables = binomials(limit), size_offsets(limit)
    choices = np.stack(
        [numbers_of_sets(found.parents[:, row].copy(), row, inside, *tables) for row in range(len(part))], axis=1
    )
    grouped = [
        _by_projection(log_weights[node], own, sets) for node, own in zip(part.tolist(), projections, strict=True)
    ]
    cut = found.tied and (math.isinf(least) or bool(found.log_joint[-1] >= least))
    best = _Ranking(np.empty(0), np.empty((0, len(part)), dtype=np.int64), cut)
    for value, chosen in zip(found.log_joint.tolist(), choices.tolist(), strict=True):
        if len(best.values) >= wanted and value < best.values[wanted - 1] - tolerance:
            break
        if len(best.values) >= wanted + _MOST_TIES and value <= best.values[-1] + tolerance:
            # The list is full of what ties with this one.
            best = best._replace(cut=True)
            break
        spread = _Ranking(np.zeros(1), np.empty((1, 0), dtype=np.int64))
        for row, node in enumerate(part.tolist()):
            order, starts = grouped[row]
            own = order[starts[chosen[row]] : starts[chosen[row] + 1]]
            spread = _join(spread, _first(log_weights[node][own], own[:, None], wanted, tolerance), wanted, tolerance)
        values = np.concatenate([best.values, spread.values])
        numbers = np.concatenate([best.numbers, spread.numbers])
        falling = np.argsort(-values, kind="stable")
        kept = _first(values[falling], numbers[falling], wanted, tolerance)
        best = kept._replace(cut=kept.cut or best.cut or spread.cut)
    return best


def _best_of_node(log_weights: Floats, wanted: int, tolerance: float) -> _Ranking:
    falling = np.argsort(-log_weights, kind="stable")
    return _first(log_weights[falling], falling[:, None], wanted, tolerance)


def _by_projection(log_weights: Floats, projected: NDArray[np.int32], sets: int) -> tuple[Integers, Integers]:
    """The parent sets by their projection and then by falling weight, and where each projection begins."""
    order = np.lexsort((-log_weights, projected))
    return order, np.searchsorted(projected[order], np.arange(sets + 1))


def _first(values: Floats, numbers: Integers, wanted: int, tolerance: float) -> _Ranking:
    """The first `wanted` of a falling list, with those that tie with the last of them."""
    values = values[: np.searchsorted(-values, math.inf)]
    if not len(values):
        raise NoGraphError("No graph satisfies the constraints: some node has no parent set with any weight.")
    kept = len(values)
    if kept > wanted:
        kept = int(np.searchsorted(-values, -(values[wanted - 1] - tolerance), side="right"))
    most = wanted + _MOST_TIES
    return _Ranking(values[: min(kept, most)], numbers[: min(kept, most)], kept > most)


def _join(one: _Ranking, other: _Ranking, wanted: int, tolerance: float) -> _Ranking:
    """The best sums of an entry of one and an entry of the other."""
    cut = False
    if len(one.values) == 1 or len(other.values) == 1:
        first = np.repeat(np.arange(len(one.values)), len(other.values))
        second = np.tile(np.arange(len(other.values)), len(one.values))
    else:
        # Ties count as one place: entries that tie with an earlier one do not push a sum out of the list.
        ranks = [_places(ranking.values, tolerance) for ranking in (one, other)]
        reach = np.searchsorted(ranks[1], wanted // ranks[0], side="right")
        cut = reach.sum() > _MOST_PAIRS * (wanted + _MOST_TIES)
        if cut:
            # Too many tie to look at them all: the sums are still the best, but which of the tied ones is by chance.
            reach = (wanted + _MOST_TIES) // np.arange(1, len(one.values) + 1)
            reach = np.minimum(reach, len(other.values))
        first = np.repeat(np.arange(len(one.values)), reach)
        second = np.concatenate([np.arange(length) for length in reach])
    values = one.values[first] + other.values[second]
    falling = np.argsort(-values, kind="stable")
    first, second = first[falling], second[falling]
    numbers = np.concatenate([one.numbers[first], other.numbers[second]], axis=1)
    kept = _first(values[falling], numbers, wanted, tolerance)
    return kept._replace(cut=bool(cut) or kept.cut or one.cut or other.cut)


def _places(values: Floats, tolerance: float) -> Integers:
    """For each entry of a falling list, one more than the number of entries that are surely greater."""
    return np.searchsorted(-values, -(values + tolerance), side="left") + 1


def _as_rows(lists: ParentLists, numbers: Integers) -> Integers:
    """Graphs as rows that sort as their parent masks do: by the highest column in which two sets of a node differ."""
    rows = np.empty_like(numbers)
    for node in range(numbers.shape[1]):
        different, which = np.unique(numbers[:, node], return_inverse=True)
        masks = [sum(1 << column for column in lists.parents(node, number)) for number in different.tolist()]
        place = np.empty(len(masks), dtype=np.int64)
        place[sorted(range(len(masks)), key=masks.__getitem__)] = np.arange(len(masks))
        rows[:, node] = place[which]
    return rows
