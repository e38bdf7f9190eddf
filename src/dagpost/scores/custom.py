"""A score from a function of the user's: the one score that calls Python for every family.

The function sees what a family is about as pandas has it, one row an observation. Cost: one call a family, that is
n times the number of parent sets (6 variables: 192 calls; 20 with at most 5 parents: 333,000), on one thread.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dagpost._tools.arrays import Floats, Integers
from dagpost._tools.checks import ask_user, is_finite, one_of, refusal
from dagpost._tools.text import shown
from dagpost.data.table import Table
from dagpost.errors import InputError
from dagpost.families.considered_sets import Members
from dagpost.scores.base import Extender, Filling, Score

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, repr=False)
class CustomScore(Score):
    """Scores from a function of a column and of the columns that may be its parents.

    ``function(child, parents)`` gets a pandas Series and a DataFrame, which has no columns where there are no parents,
    and gives the log score of the family: a finite number. Both have one row an observation (a row that was counted 3
    times comes 3 times) and the same index; rows in which the child was set by intervention are left out. The function
    is called once for every family, so it should be quick.

    Parameters
    ----------
    function
        The function.
    columns
        What it takes: ``"discrete"`` columns come as categories, ``"continuous"`` ones as floats.

    A file keeps the scores and the name of the function, not the function: a model that was loaded answers, but is
    fitted again only once ``set_params(score=CustomScore(function))`` has given it back. Rows are not predicted, since
    nobody knows the prior of the parameters.

    >>> from dagpost import datasets, local_scores
    >>> def cells(child, parents):
    ...     return -len(parents.assign(child=child).drop_duplicates())
    >>> local_scores(datasets.load("coronary"), CustomScore(cells), max_parents=2).score("Smoking", ["Family"])
    -4.0
    """

    function: Callable[[pd.Series[Any], pd.DataFrame], float]
    columns: Literal["discrete", "continuous"] = "discrete"  # type: ignore[misc]

    def __post_init__(self) -> None:
        """Check the parameters."""
        if not callable(self.function):
            raise refusal(self.function, "function", "CustomScore", "callable as function(child, parents)")
        one_of(self.columns, "columns", ("discrete", "continuous"), "CustomScore")

    def fill_nodes(self, asked: Filling) -> None:
        """Write the scores of some of the columns; a checkpoint keeps whole rows."""
        from dagpost.families.parent_lists import members_of_sets

        frame, names, values = _observations(asked.table, self.columns), asked.table.names, asked.values
        saved = asked.checkpoint.stage("local scores", range(len(asked.nodes)), lambda row: [values[row]])
        with asked.reporter.stage("local scores", len(asked.nodes)) as stage:
            stage.advance(len(saved.finished))
            for row in saved:
                node = asked.nodes[row]
                others = [names[column] for column in asked.parents_of(node)]
                seen = frame[_not_set(asked.table, node)]
                sets = members_of_sets(len(others), asked.max_parents).tolist()
                parents = (tuple(others[place] for place in places if place >= 0) for places in sets)
                values[row] = [self._ask(seen, names[node], own) for own in parents]
                stage.advance(1)

    def extender(self, table: Table, max_parents: int, workers: int) -> Extender:
        """The function that asks for given sets of parents of a node, each with one of many columns added."""
        del max_parents, workers
        frame, names = _observations(table, self.columns), table.names

        def extend(node: int, sets: Members, others: Integers, cancel: Integers) -> Floats:
            seen = frame[_not_set(table, node)]
            values = np.zeros((len(sets), len(others)))
            for row, members in enumerate(sets.tolist()):
                for place, other in enumerate(others.tolist()):
                    if cancel[0]:
                        return values
                    parents = sorted([*(member for member in members if member < len(names)), other])
                    values[row, place] = self._ask(seen, names[node], tuple(names[parent] for parent in parents))
            return values

        return extend

    def _ask(self, frame: pd.DataFrame, child: str, parents: tuple[str, ...]) -> float:
        found = ask_user(f"The function of {self}", self.function, frame[child], frame[list(parents)])
        if not is_finite(found):
            raise InputError(
                f"The function of CustomScore must give a log score, a finite number. Got {shown(found)} for child "
                f"{child!r} with parents {sorted(parents)!r}. What is impossible is said by a prior or a constraint."
            )
        return float(found)

    def __repr__(self) -> str:
        called = getattr(self.function, "__name__", type(self.function).__name__)
        kind = "" if self.columns == "discrete" else f", columns={self.columns!r}"
        return f"CustomScore({called}{kind})"


def _observations(table: Table, columns: str) -> pd.DataFrame:
    """The columns with one row an observation; the index says which row of the table it was."""
    import pandas as pd

    if columns == "continuous":
        frame = pd.DataFrame(table.values(), columns=list(table.names))
    else:
        # Which refuses columns without levels, and says what to do.
        table.codes()
        frame = table.to_pandas()[list(table.names)]
    return frame if table.counts is None else frame.loc[frame.index.repeat(table.counts)]


def _not_set(table: Table, node: int) -> Any:
    """Which of the observations were not set by intervention in a column."""
    if table.interventions is None:
        return slice(None)
    free = table.interventions >> np.uint64(node) & np.uint64(1) == 0
    return free if table.counts is None else np.repeat(free, table.counts)
