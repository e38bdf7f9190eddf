"""What must the parts of a file be? Rules for arrays and for JSON, declared by whoever writes them, checked at once.

A rule says of an array its kind, its shape in sizes that have names ("graphs", "nodes"), the range of its numbers, and
what else must hold, such as that each row is a permutation. A size is a number once an array or a list has it, and then
all others must agree. Rules of JSON values are put together from `text`, `whole`, `number`, `list_of` and the like.

    sizes = Sizes(nodes=3)
    check_arrays({"order": permutation("chains", "nodes")}, arrays, sizes)

What does not fit is a `ValueError` that names the part and what is wrong. Nothing here changes a part or trusts it:
kernels index with what files say, so that a number out of range must not reach them. Time: a few passes over each
array; memory: some bytes a number.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.wide_graphs import WORD, blocks_of_graphs, edges_in_words, graphs_with_cycles

#: No log weight, count or number of ours comes near; sums of thousands of them stay finite.
LARGEST = 1e100
#: Whole numbers that doubles hold exactly.
LARGEST_WHOLE = 2**53
#: Counts that 64 bits hold, however they are added up.
_MOST_IN_ALL = 2.0**62


class Sizes(dict[str, int]):
    """The sizes that are known so far, by name."""

    def agree(self, size: str | int, found: int) -> bool:
        """Whether a size is as it was before; one that is new is remembered."""
        return found == (size if isinstance(size, int) else self.setdefault(size, found))

    def words(self, shape: tuple[str | int, ...]) -> str:
        """A shape in words: "(4 chains, 3 nodes)"."""
        known = (f"{self[size]} {size}" if isinstance(size, str) and size in self else str(size) for size in shape)
        return f"({', '.join(known)})"


#: What is wrong with a part, in words that follow its name; "" if nothing is.
Fault = Callable[[Any, Sizes], str]


def require(fits: bool, otherwise: str) -> None:
    """A `ValueError` where something does not fit."""
    if not fits:
        raise ValueError(otherwise)


# Arrays


@dataclass(frozen=True)
class ArrayRule:
    """What an array must be: `kind` is the letter that NumPy has for it, "f", "i" or "u"."""

    shape: tuple[str | int, ...]
    kind: str
    least: float = -math.inf
    most: float = math.inf
    nan: bool = False
    minus_infinity: bool = False
    optional: bool = False
    faults: tuple[Fault, ...] = ()
    #: Whether entries are sets of nodes: beyond 64 nodes each is a row of words.
    sets: bool = False

    @property
    def native(self) -> type[np.number[Any]]:
        """The type that kernels take."""
        return {"f": np.float64, "i": np.int64, "u": np.uint64}[self.kind]

    def check(self, name: str, array: NDArray[Any], sizes: Sizes) -> None:
        """Refuse an array that is anything else."""
        # Numbers without a sign may come as numbers with one: a file takes the smallest kind that holds them.
        kinds = "ui" if self.kind == "i" else self.kind
        require(array.dtype.kind in kinds, f"{name} holds {array.dtype}")
        shape = self.shape
        if self.sets and sizes["nodes"] > WORD:
            shape = (*shape, -(-sizes["nodes"] // WORD))
            require(array.dtype == np.uint64, f"{name} holds {array.dtype}, not words of {WORD} bits")
        same = array.ndim == len(shape) and all(map(sizes.agree, shape, array.shape))
        require(same, f"{name} of shape {array.shape} instead of {sizes.words(shape)}")
        if array.size == 0:
            return
        wrong = self._out_of_range(array)
        require(not wrong, f"{name} has {wrong}")
        for fault in self.faults:
            found = fault(array, sizes)
            require(not found, f"{name} {found}")

    def _out_of_range(self, array: NDArray[Any]) -> str:
        # The least and the largest are nan where any number is.
        lowest, highest = array.min(), array.max()
        if array.dtype.kind == "f" and (math.isnan(lowest) or lowest == -math.inf):
            if (math.isnan(lowest) and not self.nan) or (not self.minus_infinity and bool(np.isneginf(array).any())):
                return f"numbers that are not finite ({lowest})"
            finite = np.isfinite(array)
            lowest = array.min(where=finite, initial=math.inf)
            highest = array.max(where=~np.isnan(array), initial=-math.inf)
        # Compared as Python compares: a double cannot hold a mask of 64 bits.
        for value in (lowest.item(), highest.item()):
            if math.isfinite(value) and not self.least <= value <= self.most:
                return f"{value}, out of the range from {self.least} to {self.most}"
        return f"the number {highest}" if highest == math.inf else ""


def numbers(*shape: str | int, least: float = -LARGEST, most: float = LARGEST, **more: Any) -> ArrayRule:
    """Finite numbers; `nan` and `minus_infinity` say what else is allowed."""
    return ArrayRule(shape, "f", least, most, **more)


def probabilities(*shape: str | int, **more: Any) -> ArrayRule:
    """Numbers from 0 to 1; rounding may take them a little further."""
    return numbers(*shape, least=-1e-6, most=1.0 + 1e-6, **more)


def wholes(*shape: str | int, least: float = 0, most: float = LARGEST_WHOLE, **more: Any) -> ArrayRule:
    """Whole numbers."""
    return ArrayRule(shape, "i", least, most, **more)


def counts(*shape: str | int, **more: Any) -> ArrayRule:
    """Whole numbers that can be added up in any order."""
    return wholes(*shape, faults=(_too_many,), **more)


def masks(*shape: str | int, **more: Any) -> ArrayRule:
    """Sets of nodes, as bits; beyond 64 nodes in words: node `j` is bit `j % 64` of word `j // 64`."""
    return ArrayRule(shape, "u", 0, faults=(_beyond_nodes,), sets=True, **more)


def graphs(*shape: str | int, **more: Any) -> ArrayRule:
    """Rows of the parents of each node, without cycles."""
    return ArrayRule(shape, "u", 0, faults=(_beyond_nodes, _cycle), sets=True, **more)


def permutation(*shape: str | int) -> ArrayRule:
    """Rows that have each number from 0 on once."""
    return ArrayRule(shape, "i", 0, LARGEST_WHOLE, faults=(_repeated,))


def partition(*shape: str | int) -> ArrayRule:
    """Rows of numbers of parts: from 0 on, none left out."""
    return ArrayRule(shape, "i", 0, LARGEST_WHOLE, faults=(_gap,))


def check_arrays(rules: Mapping[str, ArrayRule], arrays: Mapping[str, NDArray[Any]], sizes: Sizes) -> None:
    """Refuse arrays that are missing or are not what their rules say, in the order of the rules."""
    for name, rule in rules.items():
        if name in arrays:
            rule.check(name, arrays[name], sizes)
        else:
            require(rule.optional, name)


def check_graphs(parents: NDArray[Any], log_weights: NDArray[Any] | None = None, most: int | None = None) -> None:
    """Refuse rows of parents with a cycle or with more than `most` parents, and log weights that are not numbers."""
    graphs("graphs", "nodes").check("graphs", parents, Sizes(nodes=parents.shape[1]))
    if log_weights is not None:
        numbers("graphs").check("log weights", log_weights, Sizes(graphs=len(parents)))
    if most is not None:
        sizes = np.bitwise_count(parents)
        sizes = sizes.sum(axis=2) if parents.ndim == 3 else sizes
        require(int(sizes.max(initial=0)) <= most, f"more than {most} parents")


def is_acyclic(parents: NDArray[Any]) -> NDArray[np.bool_]:
    """Of rows of parent masks, which have no cycle: nodes whose parents are all placed are placed, until none is left.

    >>> is_acyclic(np.array([[0, 1], [2, 1]], dtype=np.uint8)).tolist()
    [True, False]
    """
    if parents.ndim == 3:
        acyclic = np.ones(len(parents), dtype=bool)
        for block in blocks_of_graphs(parents):
            acyclic[block.start + graphs_with_cycles(*edges_in_words(parents[block]), parents.shape[1])] = False
        return acyclic
    bits = np.left_shift(1, np.arange(parents.shape[1], dtype=np.uint64), dtype=np.uint64).astype(parents.dtype)
    acyclic = np.ones(len(parents), dtype=bool)
    rows, masks = np.arange(len(parents)), parents
    left = np.full(len(parents), np.bitwise_or.reduce(bits), dtype=parents.dtype)
    while len(rows):
        blocked = np.bitwise_or.reduce(np.where(masks & left[:, None], bits, 0), axis=1, dtype=parents.dtype) & left
        acyclic[rows[blocked == left]] = False
        going_on = (blocked != left) & (blocked != 0)
        rows, masks, left = rows[going_on], masks[going_on], blocked[going_on]
    return acyclic


def _beyond_nodes(array: NDArray[Any], sizes: Sizes) -> str:
    nodes = sizes["nodes"]
    last, used = (array, nodes) if nodes <= WORD else (array[..., -1], (nodes - 1) % WORD + 1)
    return f"has parents beyond the {nodes} nodes" if int(last.max()) >> used else ""


def _too_many(array: NDArray[Any], sizes: Sizes) -> str:  # noqa: ARG001
    total = float(array.sum(dtype=np.float64))
    return "" if total < _MOST_IN_ALL else f"adds up to {total:.3g}"


def _cycle(array: NDArray[Any], sizes: Sizes) -> str:
    rows = array if sizes["nodes"] > WORD else array.reshape(-1, array.shape[-1])
    acyclic = is_acyclic(rows)
    return "" if acyclic.all() else f"has a cycle in graph {int(np.argmin(acyclic))}"


def _repeated(array: NDArray[Any], sizes: Sizes) -> str:  # noqa: ARG001
    every = np.arange(array.shape[-1])
    return "" if (np.sort(array, axis=-1) == every).all() else f"does not have each number below {len(every)} once"


def _gap(array: NDArray[Any], sizes: Sizes) -> str:  # noqa: ARG001
    ordered = np.sort(array, axis=-1)
    steps = np.diff(ordered, axis=-1, prepend=0)
    return "" if (ordered[..., 0] == 0).all() and (steps <= 1).all() else "leaves out a part"


# JSON


@dataclass(frozen=True)
class Rule:
    """What a JSON value must be: in words, and as a function of the value and the sizes."""

    words: str
    holds: Callable[[Any, Sizes], bool]

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        """Refuse a value that is anything else."""
        if not self.holds(value, sizes):
            raise ValueError(f"{name} is {_shown(value)}, not {self.words}")


#: Anything that JSON can hold, for what is only shown or compared.
anything = Rule("a value", lambda value, sizes: True)  # noqa: ARG005
text = Rule("text", lambda value, sizes: isinstance(value, str))  # noqa: ARG005
truth = Rule("true or false", lambda value, sizes: isinstance(value, bool))  # noqa: ARG005
#: What a level of a column can be: a number only if a double can be as large.
level = Rule(
    "text, a number or a truth value",
    lambda value, sizes: (  # noqa: ARG005
        isinstance(value, str) or (isinstance(value, int | float) and abs(value) <= sys.float_info.max)
    ),
)


def whole(least: int = 0, most: int | str | None = LARGEST_WHOLE, less: int = 0) -> Rule:
    """A whole number; `most` may be a size, and `less` is how far below it the number must be."""

    def holds(value: Any, sizes: Sizes) -> bool:
        limit = math.inf if most is None else sizes[most] if isinstance(most, str) else most
        return isinstance(value, int) and not isinstance(value, bool) and least <= value <= limit - less

    return Rule(f"a whole number from {least}", holds)


def number(least: float = -LARGEST, most: float = LARGEST) -> Rule:
    """A finite number."""

    def holds(value: Any, sizes: Sizes) -> bool:  # noqa: ARG001
        return isinstance(value, int | float) and not isinstance(value, bool) and least <= value <= most

    return Rule(f"a number from {least:g} to {most:g}", holds)


def one_of(*words: str) -> Rule:
    """One of some words."""
    return Rule(f"one of {', '.join(words)}", lambda value, sizes: isinstance(value, str) and value in words)  # noqa: ARG005


def optional(rule: Rule) -> Rule:
    """The same, or null."""
    return Rule(f"{rule.words}, or null", lambda value, sizes: value is None or rule.holds(value, sizes))


def list_of(rule: Rule, size: str | int | None = None, *, distinct: bool = False) -> Rule:
    """A list of values of one kind, as long as `size` says."""

    def holds(value: Any, sizes: Sizes) -> bool:
        fits = isinstance(value, list) and (size is None or sizes.agree(size, len(value)))
        return fits and all(rule.holds(entry, sizes) for entry in value) and not (distinct and _repeats(value))

    long = "" if size is None else f" of {size} entries"
    return Rule(f"a list{long}, each {rule.words}{', none twice' if distinct else ''}", holds)


def mapping(fields: Mapping[str, Rule], *, more: Rule | None = None, may_lack: tuple[str, ...] = ()) -> Rule:
    """An object with these fields, which `may_lack` some; others must fit `more`, if there may be any."""

    def holds(value: Any, sizes: Sizes) -> bool:
        if not isinstance(value, dict) or not fields.keys() <= value.keys() | set(may_lack):
            return False
        others = [entry for key, entry in value.items() if key not in fields]
        return all(rule.holds(value[key], sizes) for key, rule in fields.items() if key in value) and (
            all(more.holds(entry, sizes) for entry in others) if more is not None else not others
        )

    return Rule(f"an object with {', '.join(fields)}", holds)


#: A score, a prior or a method: a name, or the class with its settings, which that class checks.
choice = Rule(
    "a name, or an object with a kind",
    lambda value, sizes: isinstance(value, str) or mapping({"kind": text}, more=anything).holds(value, sizes),
)
#: Edges and tiers as settings have them.
edges = list_of(list_of(text, 2))
tiers = optional(list_of(list_of(text)))
regimes = mapping(
    {
        "column": text,
        "reference": optional(level),
        "expected_targets": number(0.0),
        "max_regimes": optional(whole(1)),
    }
)
described_method = Rule(
    "a method and a reason",
    lambda value, sizes: list_of(choice, 2).holds(value, sizes) and isinstance(value[1], str),
)


def check_fields(
    rules: Mapping[str, Rule], values: Any, sizes: Sizes, *, may_lack: tuple[str, ...] = (), within: str = ""
) -> None:
    """Refuse fields that are missing or are not what their rules say, in the order of the rules."""
    require(isinstance(values, dict), f"{within or 'the description'} is {_shown(values)}, not an object")
    for name, rule in rules.items():
        if name in values:
            rule.check(within + name, values[name], sizes)
        else:
            require(name in may_lack, within + name)


def _repeats(values: list[Any]) -> bool:
    # True is 1 to Python, but another level.
    return len({(isinstance(value, bool), value) for value in values}) < len(values)


def _shown(value: Any) -> str:
    """A value for a message, not all of it if it is long."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > LARGEST_WHOLE:
        return "a very large number"
    if isinstance(value, dict | list):
        return f"a {'list' if isinstance(value, list) else 'mapping'} of {len(value)}"
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:60]}..."
