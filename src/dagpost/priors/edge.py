"""The same odds for every edge, an average over several, or odds of its own for each.

How many edges there are is rarely known before the data, and it matters: under any single density, the most probable
one for a table of unrelated columns and for one of related columns differ by a factor of ten and more. Averaged, each
density `q` counts by how well graphs of that density explain the table,

    p(G) = sum over q of p(q) W_q(G) / (sum of W_q over all graphs),    W_q(G) = (q / (1 - q))^(number of edges)

where all graphs are those that rules and limits allow. The constant matters: that edges form no cycle leaves dense
graphs far less weight than independent edges would.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np

from dagpost._tools.arrays import Flags, Floats
from dagpost._tools.checks import number, refusal
from dagpost._tools.mixture import Mixture, evenly
from dagpost._tools.spelling import bare, either
from dagpost._tools.text import shortened, shown
from dagpost.errors import InputError
from dagpost.priors.base import SizePrior, StructurePrior
from dagpost.priors.edge_table import read_link_file, read_links
from dagpost.priors.pair_states import INDIFFERENT, PairPrior, pair_prior

if TYPE_CHECKING:
    from dagpost.families.considered_sets import Members

#: What stands for an average over these: how many parents a column is expected to have if cycles were allowed, in steps
#: of a factor of 3 from next to none; and every edge as probable as not, which is the uniform prior.
AVERAGE: Literal["average"] = "average"
DENSITY = "edge density"
#: Where averaging is out of reach.
USUAL_DEGREE = 1.0
DEGREES = (0.05, 0.15, 0.5, 1.5, 4.0)
#: Edges that a repr or a sentence names.
_NAMED = 4


@dataclass(frozen=True, repr=False)
class EdgePrior(SizePrior):
    """How probable edges are before the data: one number for all of them, or one for each edge or pair.

    Parameters
    ----------
    probability
        ``"average"``: no number is chosen; several are averaged over, from 0.05 expected parents a column to every edge
        being as probable as not, each as probable as the others beforehand and weighted by its exact evidence.
        *Several numbers*: an average over these. *One number* `p`: every edge multiplies the weight of a graph by the
        odds `p / (1 - p)`. *Single edges and pairs*: a mapping such as ``{"smoking -> pressure": 0.6, "bmi --
        pressure": 0.8}``, where ``--`` is an edge either way; a data frame with parents in the rows and children in the
        columns, or with the columns `parent`, `child` and `probability`; or a square array in the order of the table's
        columns. nan is not mentioned.
    otherwise
        With single edges: the probability, each way, of an edge in every pair that was not mentioned. The default, 1/3,
        makes both ways and no edge alike, as the uniform prior does.

    Notes
    -----
    With single edges, the two columns of a pair are in one of three states, and their weights are `p_ij`, `p_ji` and
    `1 - p_ij - p_ji`: an edge multiplies the weight of a graph by the odds `p_ij / (1 - p_ij - p_ji)`. A pair that is
    joined with `p` counts `p / 2` each way, or `p` if rules leave one way only; what one edge leaves of its pair is
    shared like a pair that was not mentioned.

    If cycles were allowed, every edge would have just these probabilities. As they are not, and parents are limited,
    those before the data differ; `prior_edges` computes them.

    >>> import numpy as np
    >>> np.exp(EdgePrior(0.1).log_weights(("a", "b", "c"), 1)[0]).round(2)
    array([0.81, 0.09, 0.09])
    >>> [round(prior.probability, 3) for prior in EdgePrior("average").mixture(11).choices]
    [0.005, 0.015, 0.05, 0.15, 0.4, 0.5]
    >>> EdgePrior({"smoking -> pressure": 0.6, "bmi -- pressure": 0.8}, otherwise=0.05)
    EdgePrior({'bmi -- pressure': 0.8, 'smoking -> pressure': 0.6}, otherwise=0.05)
    """

    name: ClassVar[str] = "edge"
    summary: ClassVar[str] = (
        "edge:average, averaged over how many edges there are; edge:P, every edge is there with probability P; "
        "edge:FILE.csv, each with its own"
    )
    argument: ClassVar[str] = "P"

    probability: Any
    otherwise: float | None = None

    def __post_init__(self) -> None:
        """Check the parameters, and bring what was said of single edges into tuples."""
        several = _several(self.probability)
        if several is not None:
            object.__setattr__(self, "probability", several)
            self._refuse_otherwise(several)
            return
        if _is_one_number(self.probability):
            object.__setattr__(self, "probability", _probability(self.probability))
            self._refuse_otherwise(self.probability)
            return
        said, others = read_links(self.probability)
        object.__setattr__(self, "probability", said)
        if others is not None and self.otherwise is not None:
            raise InputError("The table has a row for all others (*, *), and 'otherwise' is given too. Keep one.")
        if self.otherwise is not None or others is not None:
            chosen = number(
                self.otherwise if others is None else others,
                "otherwise",
                "EdgePrior",
                above=0.0,
                below=0.5,
                allowed="a number between 0 and 0.5, the probability of an edge each way",
            )
            object.__setattr__(self, "otherwise", chosen)

    def _refuse_otherwise(self, given: Any) -> None:
        if self.otherwise is not None:
            raise InputError(
                f"EdgePrior({given!r}) is about every edge, and 'otherwise' about those that are not mentioned. Leave "
                "it out, or give single edges."
            )

    @property
    def averaged(self) -> bool:
        """Whether it averages over several probabilities."""
        return _several(self.probability) is not None

    def mixture(self, nodes: int) -> Mixture[StructurePrior] | None:
        """The probabilities of an edge that it averages over, if it does."""
        if not self.averaged:
            return None
        values = densities(nodes) if self.probability == AVERAGE else self.probability
        return evenly(DENSITY, values, [EdgePrior(value) for value in values])

    def without_average(self, nodes: int) -> StructurePrior:
        """The density at which a column has `USUAL_DEGREE` parents on average, if cycles were allowed."""
        return EdgePrior(min(USUAL_DEGREE / max(nodes - 1, 1), 0.5)) if self.averaged else self

    @classmethod
    def from_text(cls, argument: str | None = None) -> Self:
        """The prior of a probability that is given as text, or of a file with one for each edge.

        >>> EdgePrior.from_text("0.2")
        EdgePrior(probability=0.2)
        """
        if isinstance(argument, str) and _is_file(argument):
            said, others = read_link_file(argument)
            return cls(said, others)
        if isinstance(argument, str) and argument == AVERAGE:
            return cls(AVERAGE)
        try:
            if isinstance(argument, str) and "," in argument:
                return cls(tuple(map(float, argument.split(","))))
            return cls(float(argument or "") if argument is None or isinstance(argument, str) else math.nan)
        except ValueError:
            written = "edge" if argument is None else f"edge:{argument}" if isinstance(argument, str) else argument
            raise InputError(
                "The prior 'edge' is written edge:average, edge:P with P between 0 and 1, or edge:FILE.csv with a "
                f"probability for each edge. Got {shown(written)} instead."
            ) from None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it speaks of by name."""
        return tuple(dict.fromkeys(name for first, _, second, _ in self.links for name in (first, second)))

    def settled(self, names: tuple[str, ...], barred: Flags) -> StructurePrior:
        """The odds of every edge, where single ones were given."""
        if isinstance(self.probability, float) or self.averaged:
            return self
        otherwise = INDIFFERENT if self.otherwise is None else self.otherwise
        return pair_prior(self, self.probability, otherwise, names, barred)

    def log_weight_of_size(self, nodes: int, size: int) -> float:
        """The log probability of exactly these parents, if there are `size` of them and one number is for all.

        Averaged: at even odds.
        """
        if self.averaged:
            return 0.0
        return size * math.log(self.probability) + (nodes - 1 - size) * math.log1p(-self.probability)

    def log_weights_of_members(self, names: tuple[str, ...], node: int, members: Members) -> Floats:
        """The log weight of some parent sets of one node, given as rows of columns."""
        pairs = self._pairs(names)
        if pairs is None:
            return super().log_weights_of_members(names, node, members)
        return pairs.log_weights_of_members(names, node, members)

    def _pairs(self, names: tuple[str, ...]) -> PairPrior | None:
        """The odds of single edges where no rules are known; None: one number is for all."""
        found = self.settled(names, np.zeros((len(names), len(names)), dtype=np.bool_))
        return found if isinstance(found, PairPrior) else None

    @property
    def links(self) -> tuple[Any, ...]:
        """What was said of single edges by name."""
        said = self.probability
        named = isinstance(said, tuple) and said and not self.averaged and isinstance(said[0][0], str)
        return said if named else ()

    def in_words(self) -> str:
        """The part of a sentence by which a report explains the prior."""
        if isinstance(self.probability, float):
            return f"before the data an edge has the weight {self.probability:g}, and its absence what is missing to 1"
        if self.averaged:
            values = "several" if self.probability == AVERAGE else ", ".join(f"{own:g}" for own in self.probability)
            return (
                f"how many edges there are is averaged over ({values} densities, each as probable as the others before "
                "the data and weighted by its evidence)"
            )
        links = [f"{first} {arrow} {second} {p:g}" for first, arrow, second, p in self.links]
        said = f"of {len(links)} edges or pairs" if links else f"a matrix of {len(self.probability)} columns"
        otherwise = INDIFFERENT if self.otherwise is None else self.otherwise
        return (
            f"before the data single edges had probabilities that were given ({said}"
            f"{f': {shortened(links)}' if links else ''}); in every other pair each way has the weight {otherwise:.3g} "
            f"and no edge {1.0 - 2.0 * otherwise:.3g}"
        )

    def __repr__(self) -> str:
        if isinstance(self.probability, float) or self.averaged:
            return f"EdgePrior(probability={self.probability!r})"
        links = [f"{f'{first} {arrow} {second}'!r}: {p:g}" for first, arrow, second, p in self.links]
        more = f", ... {len(links) - _NAMED} more" if len(links) > _NAMED else ""
        size = len(self.probability)
        said = f"{{{', '.join(links[:_NAMED])}{more}}}" if links or not size else f"array of {size} x {size}"
        return f"EdgePrior({said}{'' if self.otherwise is None else f', otherwise={self.otherwise:g}'})"


def log_odds(probability: float) -> float:
    """The log of the odds of an edge."""
    return math.log(probability) - math.log1p(-probability)


def densities(nodes: int) -> tuple[float, ...]:
    """The probabilities of an edge that an average is over in a table of so many columns, the smallest first.

    >>> densities(3)
    (0.025, 0.075, 0.25, 0.5)
    """
    return tuple(sorted({min(degree / max(nodes - 1, 1), 0.5) for degree in DEGREES} | {0.5}))


def _several(given: Any) -> Literal["average"] | tuple[float, ...] | None:
    """What is meant as an average: the word, or several numbers; None: neither."""
    if isinstance(given, str) and given == AVERAGE:
        return AVERAGE
    if not isinstance(given, list | tuple) or not given or not all(isinstance(own, int | float) for own in given):
        return None
    values = tuple(sorted(map(_probability, given)))
    if len(set(values)) < len(values):
        raise refusal(given, "probability", "EdgePrior", "one number, or several different ones")
    return values


def _is_one_number(given: Any) -> bool:
    """Whether this is meant as one number for all edges, right or wrong."""
    return not hasattr(given, "__len__") or isinstance(given, str | bytes) or getattr(given, "ndim", 1) == 0


def _probability(given: Any) -> float:
    return number(
        given,
        "probability",
        "EdgePrior",
        above=0.0,
        below=1.0,
        allowed=either("a float in (0, 1), or a table of edges", "a number between 0 and 1"),
        hint=f"For edges that must or must not be there, use {bare('required')} and {bare('forbidden')}.",
    )


def _is_file(argument: str) -> bool:
    """Whether this is the path of a table, and not a number."""
    try:
        float(argument)
    except ValueError:
        return os.path.exists(argument) or bool(os.path.splitext(argument)[1])
    return False
