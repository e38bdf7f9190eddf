"""What setting columns does, in graphs with their parameters: the questions that every kind of table answers.

Given a graph and its parameters, setting columns replaces their mechanisms and leaves all others as they are (Pearl
2009). An effect is the change of an outcome between two such worlds: the probability of each level of a column of
levels, or the mean of a column of numbers. `drawn` and `expected` make such mechanisms for some graphs; each kind of
parameter prior has its own file with these two, named in kinds.py:

    drawn      one draw from the posterior of the parameters of each graph: draws of an effect.
    expected   the posterior means of the parameters. Every parameter occurs at most once in a product behind an
               outcome, and those of different nodes are independent given the graph: so the outcome under the means
               *is* the posterior mean of the outcome, exactly. That holds for `outcome` and `direct`; `through`
               compares two worlds that share parameters, so its mean is taken from draws.

How columns that are not modelled are distributed is in prediction/background.py: as in the table.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from dagpost._tools.arrays import Floats, Integers, Masks

#: Columns that are set: a code of a level, or a number.
World = Mapping[int, float]


class Mechanisms(Protocol):
    """Some graphs, each with one set of parameters.

    What comes back has one row a graph: the levels of the outcome in its columns, or one column, its mean. A change is
    from the second of two values of the cause to the first.
    """

    graphs: Masks

    def some(self, rows: Integers) -> Mechanisms:
        """Some of the graphs, with the parameters that they have here."""
        ...

    def outcome(self, outcome: int, world: World) -> Floats:
        """The outcome when some columns, at least none, are set."""
        ...

    def direct(self, cause: int, outcome: int, values: tuple[float, float]) -> Floats:
        """The change along the edge alone: other parents of the outcome stay as they are under the second value."""
        ...

    def through(self, cause: int, outcome: int, mediator: int, values: tuple[float, float]) -> Floats:
        """The change that passes through another column.

        The cause is set to the first value; the mediator is drawn anew as it would be under the first, or under the
        second value, given the columns that the cause does not act on. The difference of both (the interventional
        indirect effect of VanderWeele, Vansteelandt & Robins 2014); in linear networks the sum over all directed paths
        through the mediator.
        """
        ...
