"""What a prior over structures is: the log weight it gives each family, and all that the rest of dagpost asks about it.

The weight of a DAG is the product over its nodes, so weights need not sum to 1. Nothing outside a prior's own file
knows its name.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from typing import Any, ClassVar, Self

import numpy as np

from dagpost._tools.arrays import Floats, Masks
from dagpost._tools.spelling import bare
from dagpost.errors import InputError
from dagpost.priors.registry import PRIORS


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

    def log_weights_of_sets(self, names: tuple[str, ...], node: int, masks: Masks) -> Floats:
        """The log weight of some parent sets of one node, given as masks over all columns.

        Asked for where there are too many columns for `log_weights` of all families; an error unless a prior defines
        it.
        """
        raise InputError(
            f"{len(names)} columns have too many families to ask a prior for all of them, and the prior {self!r} "
            f"gives no others. Use CustomPrior(function), a smaller {bare('max_parents')}, or fewer columns."
        )

    def in_words(self) -> str:
        """The part of a sentence by which a report explains the prior."""
        return repr(self)


class SizePrior(StructurePrior):
    """A prior that looks at nothing but the number of parents: write `log_weight_of_size`."""

    def log_weight_of_size(self, nodes: int, size: int) -> float:
        """The log weight of a set of `size` parents in a table of `nodes` columns."""
        raise InputError(f"{type(self).__name__} must define log_weight_of_size().")

    def log_weights(self, names: tuple[str, ...], max_parents: int) -> Floats:
        """The log weight of each node (row) with each parent set, numbered as in `dagpost.families.numbering`."""
        nodes = len(names)
        sizes = range(min(max_parents, nodes - 1) + 1)
        by_size: Sequence[float] = [self.log_weight_of_size(nodes, size) for size in sizes]
        return np.tile(np.repeat(by_size, [comb(nodes - 1, size) for size in sizes]), (nodes, 1))

    def log_weights_of_sets(self, names: tuple[str, ...], node: int, masks: Masks) -> Floats:
        """The log weight of some parent sets of one node, given as masks over all columns."""
        by_size = np.array([self.log_weight_of_size(len(names), size) for size in range(len(names))])
        weights: Floats = by_size[np.bitwise_count(masks)]
        return weights
