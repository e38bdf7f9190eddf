"""What a score is: how it fills a table, and all that the rest of dagpost asks about it.

Nothing outside a score's own file knows its name. A score of another package derives from `Score` and is then used like
ours: by `fit` and the command line, in reports and files, and, if it says which prior its parameters have, by
prediction and causal effects.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from inspect import signature
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from dagpost._tools.alternatives import Alternative
from dagpost._tools.arrays import Floats, Integers
from dagpost._tools.mixture import Mixture
from dagpost._tools.progress import NO_PROGRESS, Reporter
from dagpost._tools.spelling import bare
from dagpost.checkpoints import NO_CHECKPOINT, Checkpoint, CheckpointPart
from dagpost.data.table import Columns, Table
from dagpost.engines import Engine, ThreadEngine
from dagpost.engines.inline import InlineEngine
from dagpost.errors import InputError
from dagpost.families.considered_sets import Members
from dagpost.scores.columns import part_of
from dagpost.scores.completing import Completer, FamilyScorer, ListScorer, Rescorer
from dagpost.scores.parameter_priors import NormalWishartPrior, ParameterPrior
from dagpost.scores.registry import SCORES

if TYPE_CHECKING:
    from dagpost.scores.latent_images import Images

#: Scores of a node with each of some sets of parents (a row a set: its columns, and the number of columns in the
#: places left over) and, added to it, each of some columns that no set has; the last argument is the flag of an engine.
Extender = Callable[[int, Members, Integers, Integers], Floats]

#: Nats below a sum from which on a term is not seen in it.
NEGLIGIBLE = 30.0

#: More families than these are quicker to count together than one by one.
_MANY = 2_000


class Filling(NamedTuple):
    """Which scores of a table are written, and where: a row of `values` for each of some nodes.

    Entry `f` of a row is for parent set number `f` of at most `max_parents` columns (`dagpost.families.numbering`). If
    the nodes stand `apart`, they are the last columns and never parents of each other, and parent sets are numbered
    over the columns before them.
    """

    table: Table
    nodes: tuple[int, ...]
    max_parents: int
    values: Floats
    engine: Engine
    reporter: Reporter = NO_PROGRESS
    checkpoint: Checkpoint = NO_CHECKPOINT
    apart: bool = False

    @property
    def parents(self) -> list[int]:
        """The columns that may be parents of some node."""
        return [column for column in range(len(self.table.names)) if not (self.apart and column in self.nodes)]

    def parents_of(self, node: int) -> list[int]:
        """The columns that the parent sets of a node are numbered over."""
        return [column for column in self.parents if column != node]


class _OneByOne(ListScorer):
    """Family by family, each in a table of its own columns."""

    def __init__(self, score: Score, table: Table) -> None:
        self._score, self._table = score, table

    def on(self, start: Integers, members: Members) -> FamilyScorer:
        node_of = np.repeat(np.arange(len(start) - 1), np.diff(start)).tolist()

        def score_families(cells: Floats, places: Integers, cancel: Integers) -> Floats:
            filled, values = self._table.filled(cells), np.zeros(len(places))
            for number, place in enumerate(places.tolist()):
                if not cancel[0]:
                    present = [member for member in members[place].tolist() if member < len(filled.names)]
                    values[number] = score_of_family(self._score, filled, [*present, node_of[place]])
            return values

        return score_families


class Score:
    """Base of all scores: derive a frozen dataclass from it, give it a `name` and write `fill`.

    The fields of the dataclass are its settings; files keep them, so they should be numbers, text, or tuples of these.

    >>> from dataclasses import dataclass
    >>> from dagpost import Score, local_scores, datasets
    >>> @dataclass(frozen=True)
    ... class FewParents(Score):
    ...     penalty: float = 1.0
    ...
    ...     def fill(self, table, max_parents, values, engine, reporter, checkpoint=None):
    ...         values[:, 0], values[:, 1:] = 0.0, -self.penalty
    >>> local_scores(datasets.load("coronary"), FewParents(2.0), max_parents=1).score("Smoking", ["Proteins"])
    -2.0
    """

    #: What people type, such as "bdeu"; a class without a name of its own is used as an object only.
    name: ClassVar[str] = ""
    #: A few words for lists of scores.
    summary: ClassVar[str] = ""
    #: The reference, in full.
    citation: ClassVar[str] = ""
    #: Which columns it takes.
    columns: ClassVar[Columns] = "discrete"
    #: Whether all graphs of an equivalence class have the same score, whatever the data.
    equivalent: ClassVar[bool] = False
    #: What chains draw where they complete a table, and what such tables are called.
    drawn: ClassVar[str] = "cells"
    tables: ClassVar[str] = "completed tables"
    #: Settings that people choose otherwise: what each is called, its field, and usual values.
    choices: ClassVar[tuple[tuple[str, str, tuple[float, ...]], ...]] = ()
    #: Whether the sum over all graphs is the evidence of the data.
    has_evidence: ClassVar[bool] = True

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if vars(cls).keys() & {"fill", "terms"}:
            # A class that scores in its own way (`terms`: CountedScore) does not inherit what is true of another way.
            if "parameter_prior" not in vars(cls):
                cls.parameter_prior = Score.parameter_prior  # type: ignore[method-assign]
            if "coefficient_prior" not in vars(cls):
                cls.coefficient_prior = Score.coefficient_prior  # type: ignore[method-assign]
            if "equivalent" not in vars(cls):
                cls.equivalent = Score.equivalent
        if "fill" in vars(cls) and "fill_nodes" not in vars(cls):
            cls.fill_nodes = Score.fill_nodes  # type: ignore[method-assign]
        if vars(cls).keys() & {"fill", "fill_nodes"}:
            # Nor ways to complete and rescore tables that are right for another score.
            for hook in ("completer", "extender", "rescorer", "list_scorer", "settled", "modelled", "images", "sinks"):
                if hook not in vars(cls):
                    setattr(cls, hook, getattr(Score, hook))
        if vars(cls).get("name"):
            SCORES.add(cls)

    def fill(
        self,
        table: Table,
        max_parents: int,
        values: Floats,
        engine: Engine,
        reporter: Reporter,
        checkpoint: Checkpoint = NO_CHECKPOINT,
    ) -> None:
        """Write the log score of every family of at most `max_parents` parents into `values`.

        `values[i, f]` is that of column `i` with parent set number `f` (`dagpost.families.numbering`). A score may
        leave out the last parameter: a checkpoint then has all of its work or nothing.
        """
        everyone = tuple(range(len(table.names)))
        for kind in type(self).__mro__:
            # Not through the method of the object: a class may come here from a `fill` of its own.
            fill_nodes = vars(kind).get("fill_nodes", Score.fill_nodes)
            if fill_nodes is not Score.fill_nodes:
                fill_nodes(self, Filling(table, everyone, max_parents, values, engine, reporter, checkpoint))
                return
        raise InputError(f"{type(self).__name__} must define fill().")

    def fill_nodes(self, asked: Filling) -> None:
        """Write the scores of some of the columns.

        Picked from the scores of all columns, unless a score can do without the others.
        """
        from dagpost.families.numbering import MAX_NODES

        table, nodes, values = asked.table, asked.nodes, asked.values
        if asked.apart:
            for row, node in enumerate(nodes):
                part = part_of(table, [*asked.parents, node])
                kept = CheckpointPart(asked.checkpoint, f"column {row}")
                alone = (len(part.names) - 1,)
                self.fill_nodes(
                    Filling(part, alone, asked.max_parents, values[row : row + 1], asked.engine, checkpoint=kept)
                )
            return
        columns = len(table.names)
        if columns > MAX_NODES:
            raise InputError(
                f"The score {self!r} takes at most {MAX_NODES} columns at a time, and {table.names[nodes[0]]!r} has "
                f"{columns - 1} possible parents. Leave it fewer with {bare('forbidden')} or {bare('tiers')}, or use "
                f"one of the scores that come with dagpost."
            )
        whole = values if len(nodes) == columns else np.empty((columns, values.shape[1]))
        fill_all(self, table, asked.max_parents, whole, asked.engine, asked.reporter, asked.checkpoint)
        if whole is not values:
            values[:] = whole[list(nodes)]

    def extender(self, table: Table, max_parents: int, workers: int) -> Extender:
        """The function that scores given sets of parents of a node, each with one of many columns added.

        It lists these families, unless a score has a way of its own. `workers` threads may call it at the same time.
        """
        scorer = self.list_scorer(table, max_parents, workers)

        def extend(node: int, sets: Members, others: Integers, cancel: Integers) -> Floats:
            added = np.tile(others, len(sets)).astype(np.int16)
            members = np.sort(np.column_stack([np.repeat(sets, len(others), axis=0), added]), axis=1)
            start = np.where(np.arange(len(table.names) + 1) > node, len(members), 0)
            return scorer(np.zeros(0), start, members, cancel).reshape(len(sets), len(others))

        return extend

    def for_table(self, table: Table) -> Score:
        """The score that is meant for a table; itself, unless it leaves that to the columns and rows."""
        del table
        return self

    def modelled(self, table: Table, exogenous: Collection[str] = ()) -> Table:
        """The table whose columns the score is about: of latent numbers, where it takes the columns for images of them.

        Numbers that are not known are gaps there, with their bounds and ranks. `exogenous` columns are not modelled, so
        nothing of theirs can be a gap.
        """
        del exogenous
        return table

    def images(self, table: Table, latent: Table) -> Images | None:
        """The way back from the numbers that the score is about to the columns; None: it is about the columns.

        `latent` is what `modelled` made of the table, with the same rows.
        """
        del table, latent
        return None

    def sinks(self, table: Table) -> tuple[str, ...]:
        """The columns that lead only to each other in the model behind the score, whatever the data; mostly none."""
        del table
        return ()

    def settled(self, table: Table) -> Score:
        """The score whose prior no longer depends on the cells of a table with gaps; itself, if it never did."""
        del table
        return self

    def completer(self, table: Table, max_parents: int) -> Completer | None:
        """What draws the cells that have no value; None: this score cannot complete a table."""
        del table, max_parents
        return None

    def begins_near(self, table: Table) -> bool:
        """Whether the cells that its completer begins with are near those that chains end with."""
        del table
        return False

    def rescorer(self, table: Table, max_parents: int, workers: int) -> Rescorer:
        """What scores all families of a table with gaps, given their cells, for that many threads at a time.

        All families are one list among others for a score that scores lists, which looks up what no gap touches. Many
        families of levels alone are sooner counted anew, and so is whatever a score of other packages fills.
        """
        from dagpost.families.parent_lists import all_others

        nodes = len(table.names)
        lists = all_others(nodes, min(max_parents, nodes - 1))
        many = table.discrete and int(lists.counts.sum()) > _MANY
        if many or type(self).list_scorer is Score.list_scorer:

            def fill(cells: Floats) -> Floats:
                values = np.zeros((nodes, int(lists.counts[0])))
                fill_all(self, table.filled(cells), lists.max_parents, values, InlineEngine(), NO_PROGRESS)
                return values

            return fill
        members = [np.append(own, nodes)[lists.members(node)] for node, own in enumerate(lists.candidates)]
        start = np.concatenate([[0], np.cumsum(lists.counts)])
        scorer = self.list_scorer(table, lists.max_parents, workers)
        score_families = scorer.on(start, np.concatenate(members).astype(np.int16))
        every, go_on = np.arange(start[-1]), np.zeros(1, dtype=np.int64)
        return lambda cells: score_families(cells, every, go_on).reshape(nodes, -1)

    def list_scorer(self, table: Table, max_parents: int, workers: int) -> ListScorer:
        """What scores listed families of a table with gaps, given their cells; one by one, unless a score knows better.

        `workers` threads may use it at the same time.
        """
        del max_parents, workers
        return _OneByOne(self, table)

    def of_columns(self, columns: list[int], table: Table) -> Score:
        """The score that gives some columns of a table, taken by themselves, the scores they have in the whole of it.

        The score itself, unless its prior depends on the number of columns or on which they are.
        """
        return self

    def parameter_prior(self) -> ParameterPrior | None:
        """The prior of the parameters that the score stands for; None: rows and effects cannot be predicted."""
        return None

    def coefficient_prior(self) -> NormalWishartPrior | None:
        """The prior of coefficients along edges, if the score is that of a linear network of numbers; None: of another.

        The numbers may be latent ones, so that it says nothing of the columns as they are.
        """
        return None

    def mixture(self) -> Mixture[Score] | None:
        """What the score averages over, if it does: a posterior then mixes those of the parts by their evidence."""
        return None

    def kind_of_model(self) -> str:
        """What it is called beside other kinds of models, in a word or two."""
        return self.name or type(self).__name__

    def alternatives(self) -> Sequence[Alternative[Score]]:
        """The same score with other settings, to see what hangs on them (`model.sensitivity()`)."""
        settings: Any = self
        return [
            Alternative(words, f"{value:g}", replace(settings, **{field: value}))
            for words, field, values in self.choices
            for value in values
            if value != getattr(self, field)
        ]

    def parents_in_play(self, rows: int, levels: Sequence[int], max_parents: int) -> int:
        """Up to which size parent sets have weights that chains must look at, roughly: for plans.

        A parent that says nothing costs half the log of the number of rows for each parameter that it brings: one among
        numbers, so that hardly any set drops out, and in proportion to all combinations of levels among levels. A set
        drops out where these costs exceed `NEGLIGIBLE`.
        """
        # Where there are numbers beside levels, sets of numbers are the largest in play.
        numbers = self.columns != "discrete"
        typical = sum(levels) / len(levels) if levels else 2.0
        price, spent, extra = math.log(max(rows, 2)) / 2.0, 0.0, 0
        while extra < max_parents and spent <= NEGLIGIBLE:
            spent += price * (1.0 if numbers else (typical - 1.0) ** 2 * typical**extra)
            extra += 1
        # The last one was too dear; one parent that says something is there beside them.
        return extra if spent > NEGLIGIBLE else max_parents

    def in_words(self) -> str:
        """What a report calls the score, with the settings that matter."""
        return repr(self).removesuffix("()")

    def in_detail(self) -> str:
        """The score with the prior of its parameters, as a methods section of a paper names it."""
        return self.in_words()

    def assumes(self) -> str:
        """What the model behind the score assumes of the data, in plain sentences; empty where its name says it."""
        return ""


def fill_all(
    score: Score,
    table: Table,
    max_parents: int,
    values: Floats,
    engine: Engine,
    reporter: Reporter,
    checkpoint: Checkpoint = NO_CHECKPOINT,
) -> None:
    """`score.fill`, and a checkpoint has all of the work or nothing where the score takes none."""
    if "checkpoint" in signature(score.fill).parameters:
        score.fill(table, max_parents, values, engine, reporter, checkpoint)
        return
    for _ in checkpoint.stage("local scores", ["all"], lambda _: [values]):
        score.fill(table, max_parents, values, engine, reporter)


def score_of_family(score: Score, table: Table, columns: list[int]) -> float:
    """The score of the last of some columns with the others for its parents."""
    values = np.empty((1, 1 << len(columns) - 1))
    own, part = score.of_columns(columns, table), part_of(table, columns)
    own.fill_nodes(Filling(part, (len(columns) - 1,), len(columns) - 1, values, ThreadEngine(1)))
    return float(values[0, -1])


def scores_within(score: Score) -> tuple[Score, ...]:
    """The scores of one kind that a score averages over; itself, if it does not."""
    mixture = score.mixture()
    return (score,) if mixture is None or mixture.fixed else mixture.choices


def scores_filled(score: Score) -> tuple[Score, ...]:
    """The scores that a fit fills a table with, of whatever kind."""
    mixture = score.mixture()
    return (score,) if mixture is None else mixture.choices
