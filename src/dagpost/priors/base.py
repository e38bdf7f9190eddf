"""What a prior over structures is: the log weight it gives each family, and all that the rest of dagpost asks about it.

The weight of a DAG is the product over its nodes, so weights need not sum to 1. Nothing outside a prior's own file
knows its name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from dagpost._tools.arrays import Flags, Floats, Integers
from dagpost._tools.mixture import Mixture
from dagpost._tools.spelling import bare
from dagpost._tools.text import shown
from dagpost.errors import InputError
from dagpost.families import family_sums
from dagpost.families.numbering import MAX_NODES, binomials, family_count, size_offsets
from dagpost.families.parent_lists import all_others
from dagpost.priors.registry import PRIORS

if TYPE_CHECKING:
    from dagpost.families.considered_sets import Members
    from dagpost.families.parent_lists import ParentLists


class StructurePrior:
    """Base of all priors: derive a frozen dataclass from it, give it a `name`, and write `log_weights`.

    The fields of the dataclass are its settings; files keep them, so they should be numbers, text, or tuples of these.
    Where only the number of parents matters, derive from `SizePrior` instead.
    """

    #: What people type, such as "uniform"; a class without a name of its own is used as an object only.
    name: ClassVar[str] = ""
    #: A few words for lists of priors.
    summary: ClassVar[str] = ""
    #: What follows the name after a colon where people type it, such as "P" in "edge:P"; empty: nothing does.
    argument: ClassVar[str] = ""
    #: The reference, in full; may be empty.
    citation: ClassVar[str] = ""

    @property
    def chosen(self) -> StructurePrior:
        """What the user chose: the prior itself, unless the model had to add something to it."""
        return self

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the prior speaks of by name."""
        return ()

    def settled(self, names: tuple[str, ...], barred: Flags) -> StructurePrior:
        """The prior of a table with these columns whose rules leave out some edges: `barred[child, parent]`.

        Another one only where what a prior says of one direction depends on whether the other is possible at all.
        """
        return self

    def mixture(self, nodes: int) -> Mixture[StructurePrior] | None:
        """What the prior averages over in a table of so many columns, if it does.

        Values are probabilities of an edge: `log_weights` are then those at even odds, and each value multiplies them
        by its own odds once for every parent.
        """
        return None

    def without_average(self, nodes: int) -> StructurePrior:
        """The same with one stated value in the place of those that it averages over."""
        return self

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if vars(cls).get("name"):
            PRIORS.add(cls)

    @classmethod
    def from_text(cls, argument: str | None = None) -> Self:
        """The prior that `name` or `name:argument` stands for; an argument that it does not take is an `InputError`."""
        if argument is not None:
            raise InputError(
                f"The prior {cls.name!r} takes nothing after its name. Got '{cls.name}:{argument}' instead."
            )
        return cls()

    def log_weights(self, names: tuple[str, ...], max_parents: int) -> Floats:
        """The log weight of each node (row) with each parent set, numbered as in `dagpost.families.numbering`."""
        raise InputError(f"{type(self).__name__} must define log_weights().")

    def log_weights_of_lists(self, names: tuple[str, ...], lists: ParentLists) -> tuple[Floats, ...]:
        """The log weight of the parent sets that rules allow each node, in the numbering of `lists`.

        Picked from those of all sets, which takes at most 64 columns, unless a prior can do without the others.
        """
        if len(names) > MAX_NODES:
            raise self._too_many(names)
        limit = min(lists.max_parents, len(names) - 1)
        whole = checked_weights(self, names, limit)
        return tuple(own[numbers_among_all(lists, node)] for node, own in enumerate(whole))

    def log_weights_of_members(self, names: tuple[str, ...], node: int, members: Members) -> Floats:
        """The log weight of some parent sets of one node: rows of columns, and the number of columns in what is left.

        Looked up among those of all sets, unless a prior can do without the others.
        """
        nodes = len(names)
        if nodes > MAX_NODES:
            raise self._too_many(names)
        limit = min(members.shape[1], nodes - 1)
        if nodes * family_count(nodes - 1, limit) > family_sums.MOST_FAMILIES:
            raise InputError(
                f"{nodes} columns have too many families to ask a prior for all of them, and the prior {self!r} "
                f"gives no others. Use CustomPrior(function), a smaller {bare('max_parents')}, or fewer columns."
            )
        places = np.where(members < nodes, members - (members > node), -1)
        weights: Floats = checked_weights(self, names, limit)[node][numbers_of_places(places, nodes - 1)]
        return weights

    def _too_many(self, names: tuple[str, ...]) -> InputError:
        return InputError(
            f"The prior {self!r} gives weights for at most {MAX_NODES} columns, and the table has {len(names)}. "
            "Derive it from SizePrior, use CustomPrior(function), or take fewer columns."
        )

    def in_words(self) -> str:
        """The part of a sentence by which a report explains the prior."""
        return repr(self)


class SetPrior(StructurePrior):
    """A prior that weighs whatever sets it is asked for, one by one: write `log_weights_of_members`."""

    def log_weights(self, names: tuple[str, ...], max_parents: int) -> Floats:
        """The log weight of each node (row) with each parent set, numbered as in `dagpost.families.numbering`."""
        return np.array(self.log_weights_of_lists(names, all_others(len(names), min(max_parents, len(names) - 1))))

    def log_weights_of_lists(self, names: tuple[str, ...], lists: ParentLists) -> tuple[Floats, ...]:
        """The log weight of the parent sets that rules allow each node, in the numbering of `lists`."""
        # Position -1, the last one, stands for nobody.
        columns = (np.append(own, len(names)).astype(np.int16) for own in lists.candidates)
        return tuple(
            self.log_weights_of_members(names, node, own[lists.members(node)]) for node, own in enumerate(columns)
        )


class SizePrior(SetPrior):
    """A prior that looks at nothing but the number of parents: write `log_weight_of_size`."""

    def log_weight_of_size(self, nodes: int, size: int) -> float:
        """The log weight of a set of `size` parents in a table of `nodes` columns."""
        raise InputError(f"{type(self).__name__} must define log_weight_of_size().")

    def log_weights_of_members(self, names: tuple[str, ...], node: int, members: Members) -> Floats:
        """The log weight of some parent sets of one node, given as rows of columns."""
        most = min(members.shape[1], len(names) - 1)
        by_size = np.array([self.log_weight_of_size(len(names), size) for size in range(most + 1)])
        weights: Floats = by_size[(members < len(names)).sum(axis=1)]
        return weights


def checked_weights(prior: StructurePrior, names: tuple[str, ...], max_parents: int) -> Floats:
    """The log weights of all families, which must be as many as there are."""
    weights = prior.log_weights(names, max_parents)
    shape = (len(names), family_count(len(names) - 1, max_parents))
    if weights.shape != shape:
        raise InputError(f"The prior {shown(prior)} must give weights of shape {shape}. Got {weights.shape} instead.")
    return weights


def numbers_among_all(lists: ParentLists, node: int) -> Integers:
    """The numbers that the parent sets of a node have where everyone else may be a parent (numbering.py).

    >>> from dagpost.families.parent_lists import ParentLists
    >>> numbers_among_all(ParentLists((np.array([], int), np.array([], int), np.array([1])), 1), 2)
    array([0, 2])
    """
    members, own = lists.members(node), lists.candidates[node]
    return numbers_of_places(np.where(members >= 0, (own - (own > node))[members], -1), lists.nodes - 1)


def numbers_of_places(places: Integers, universe: int) -> Integers:
    """The numbers of parent sets out of so many others, given by the places of their members; -1 stands for nobody."""
    limit = places.shape[1]
    numbers: Integers = size_offsets(limit, universe)[universe][(places >= 0).sum(axis=1)]
    for rank in range(limit):
        there = places[:, rank] >= 0
        numbers = numbers + np.where(there, binomials(limit, universe)[places[:, rank], rank + 1], 0)
    return numbers
