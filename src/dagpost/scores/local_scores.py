"""For each node, the log score of every parent set of at most `max_parents` nodes.

The parent sets are numbered by size and then colexicographically over the other nodes (`dagpost.families.numbering`).
Scoring costs one visit of every set of at most `max_parents + 1` nodes (`dagpost.scores.set_functions`); the
result takes 8 bytes a family, and at most some 200 MB are needed beside it.
"""

from __future__ import annotations

import html
from collections.abc import Iterable
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np

from dagpost._tools import memory
from dagpost._tools.arrays import Floats
from dagpost._tools.checks import different_texts, floats, has_method, refusal, texts, whole_number
from dagpost._tools.progress import NO_PROGRESS, Reporter
from dagpost._tools.spelling import bare, either
from dagpost._tools.text import names_in, nearest, shown
from dagpost.checkpoints import NO_CHECKPOINT, Checkpoint
from dagpost.data.conversion import TableLike
from dagpost.data.gaps import UnknownCells
from dagpost.data.table import Table
from dagpost.engines import Engine, engine_or_threads
from dagpost.errors import InputError
from dagpost.scores.base import Score, fill_all
from dagpost.scores.resolve import resolve_score, table_for

#: No node can have more parents than this.
MOST_PARENTS = 12


@dataclass(frozen=True, eq=False, repr=False)
class LocalScores:
    """The log score of each node with each of its parent sets.

    >>> scores = local_scores(np.array([[0, 0], [0, 0], [1, 1], [1, 1]]), "k2")
    >>> scores
    LocalScores of 2 nodes with at most 1 parent each: 4 families
    >>> round(scores.score("V1", ["V0"]) - scores.score("V1", []), 6) == round(float(np.log(10 / 3)), 6)
    True
    """

    names: tuple[str, ...]
    #: The most parents a node can have here; more than there are other nodes is the same as their number.
    max_parents: int
    #: Row i: the scores of node i by the number of the parent set.
    values: Floats

    def __post_init__(self) -> None:
        """Check that everything fits together."""
        from dagpost.families.numbering import MAX_NODES, family_count

        names = texts(self.names, "names", "LocalScores")
        nodes = len(names)
        if not 1 <= nodes <= MAX_NODES:
            raise InputError(f"There must be 1 to {MAX_NODES} variables. Got {nodes} names.")
        object.__setattr__(self, "names", different_texts(names, "names", "LocalScores"))
        limit = min(parent_limit(self.max_parents, "LocalScores"), nodes - 1)
        object.__setattr__(self, "max_parents", limit)
        floats(self.values, "values", "LocalScores", (nodes, family_count(nodes - 1, limit)))

    def score(self, child: str | int, parents: Iterable[str | int]) -> float:
        """The score of one family, by names or column numbers."""
        if isinstance(parents, str) or not isinstance(parents, Iterable) or getattr(parents, "ndim", 1) == 0:
            raise refusal(parents, "parents", None, "a list of names or column numbers", "Put it into a list.")
        node = self._index(child)
        chosen = sorted({self._index(parent) for parent in parents})
        if node in chosen:
            raise InputError(f"{self.names[node]!r} cannot be its own parent.")
        if len(chosen) > self.max_parents:
            names = ", ".join(repr(self.names[parent]) for parent in chosen)
            raise InputError(
                f"Scores were computed for at most {self.max_parents} parents. Got {len(chosen)} for "
                f"{self.names[node]!r}: {names}. Score again with a larger max_parents."
            )
        universe = len(self.names) - 1
        number = sum(comb(universe, size) for size in range(len(chosen)))
        for rank, parent in enumerate(chosen):
            number += comb(parent - (parent > node), rank + 1)
        return float(self.values[node, number])

    def parent_names(self, child: str | int, number: int) -> frozenset[str]:
        """The parent set of `child` that has this number.

        >>> scores = LocalScores(("a", "b", "c"), 1, np.zeros((3, 3)))
        >>> sorted(scores.parent_names("b", 2))
        ['c']
        """
        from dagpost.families.numbering import parent_sets

        node = self._index(child)
        families = self.values.shape[1]
        whole = isinstance(number, int | np.integer) and not isinstance(number, bool)
        if not whole or not 0 <= number < families:
            raise InputError(f"Parent sets are numbered from 0 to {families - 1}. Got {shown(number)} instead.")
        mask = int(parent_sets(len(self.names) - 1, self.max_parents)[number])
        others = [name for position, name in enumerate(self.names) if position != node]
        return frozenset(names_in(mask, others))

    def up_to(self, max_parents: int) -> LocalScores:
        """The scores of the sets of at most `max_parents` parents, which come first.

        >>> LocalScores(("a", "b", "c"), 2, np.zeros((3, 4))).up_to(1)
        LocalScores of 3 nodes with at most 1 parent each: 9 families
        """
        from dagpost.families.numbering import family_count

        if self.max_parents <= max_parents:
            return self
        kept = self.values[:, : family_count(len(self.names) - 1, max_parents)]
        return LocalScores(self.names, max_parents, np.ascontiguousarray(kept))

    def _index(self, node: str | int) -> int:
        if isinstance(node, str):
            if node in self.names:
                return self.names.index(node)
            raise InputError(f"There is no column {shown(node)}.{nearest(node, self.names)}")
        if not isinstance(node, int | np.integer) or not 0 <= node < len(self.names):
            raise InputError(f"Columns are numbered from 0 to {len(self.names) - 1}. Got {shown(node)} instead.")
        return int(node)

    def __repr__(self) -> str:
        """A summary in one line."""
        parents = "parent" if self.max_parents == 1 else "parents"
        return (
            f"LocalScores of {len(self.names)} nodes with at most {self.max_parents} {parents} each: "
            f"{self.values.size:,} families"
        )

    def _repr_html_(self) -> str:
        rows = []
        for node, name in enumerate(self.names):
            best = int(self.values[node].argmax())
            parents = ", ".join(sorted(self.parent_names(node, best))) or "none"
            rows.append(
                f"<tr><th>{html.escape(name)}</th><td>{html.escape(parents)}</td>"
                f"<td>{self.values[node, best]:.2f}</td></tr>"
            )
        head = "<tr><th>node</th><th>best parents</th><th>log score</th></tr>"
        return f"<table><caption>{html.escape(repr(self))}</caption>{head}{''.join(rows)}</table>"


def local_scores(
    data: TableLike,
    score: str | Score = "bdeu",
    max_parents: int = 5,
    *,
    counts: Any = None,
    interventions: Any = None,
    engine: Engine | None = None,
    reporter: Reporter = NO_PROGRESS,
    checkpoint: Checkpoint = NO_CHECKPOINT,
) -> LocalScores:
    """Score every family of at most `max_parents` parents.

    Parameters
    ----------
    data, counts, interventions
        The table, as `as_table` takes it: a data frame, an array, the path of a file, or a `Table`.
    score
        "bdeu", "bde", "k2", "bic", "bge", or an object such as `BDeu(equivalent_sample_size=5)`.
    max_parents
        At most 12; more than there are other columns is the same as their number.
    engine
        Where the work runs, such as `ThreadEngine(4)`; on all cores of this machine unless given. The result does not
        depend on it.

    A node's score leaves out the rows in which that node was set by intervention.

    >>> from dagpost.data import datasets
    >>> scores = local_scores(datasets.load("coronary"), "bdeu")
    >>> round(scores.score("Proteins", ["Smoking"]) - scores.score("Proteins", []), 2)
    4.4

    References
    ----------
    Cooper & Yoo (1999), Causal discovery from a mixture of experimental and observational data. UAI 15.
    """
    from dagpost.families.numbering import family_count

    has_method(reporter, "reporter", "stage", "a Reporter")
    has_method(checkpoint, "checkpoint", "stage", "a Checkpoint")
    chosen = resolve_score(score)
    limit = parent_limit(max_parents, "local_scores")
    table = chosen.modelled(table_for(chosen, data, counts=counts, interventions=interventions))
    _refuse_latent(table)
    nodes = len(table.names)
    limit = min(limit, nodes - 1)
    _require_memory(nodes, limit)
    values = np.zeros((nodes, family_count(nodes - 1, limit)))
    fill_all(chosen, table, limit, values, engine_or_threads(engine), reporter, checkpoint)
    return LocalScores(table.names, limit, values)


def _refuse_latent(table: Table) -> None:
    """Refuse latent numbers that are not known: then there are no scores before chains have drawn them."""
    unknown = UnknownCells.of(table)
    if unknown.latent and table.gap_count:
        raise InputError(
            f"Families have no scores of their own here: what is not known are {unknown.words}, and given each way to "
            f"draw them scores are others. {either('Fit a DagPosterior', 'Use dagpost fit')}, which draws them, or "
            f"{unknown.ways_out}."
        )


def parent_limit(value: object, owner: str) -> int:
    """`max_parents` as an int, or an error."""
    return whole_number(value, "max_parents", owner, least=0, most=MOST_PARENTS)


def _require_memory(nodes: int, max_parents: int) -> None:
    from dagpost.families.numbering import family_count

    def needed(limit: int) -> int:
        return 8 * (nodes * family_count(nodes - 1, limit) + family_count(nodes, limit))

    free = memory.available_bytes()
    fitting = [limit for limit in range(max_parents + 1) if needed(limit) <= free]
    remedy = f"The largest {bare('max_parents')} that fits is {fitting[-1]}." if fitting else "Free some memory first."
    memory.require(needed(max_parents), f"Scoring {nodes} nodes with up to {max_parents} parents", remedy)
