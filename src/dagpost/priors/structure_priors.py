"""Which structures are believed in before the data are seen? Weights of families.

A prior gives each family (a node with its parents) a log weight; the weight of a DAG is the product over its
nodes, so weights need not sum to 1. The constraints of constraints.py set the weight of the families that
break them to zero. All of it ends in one array of log weights beside the array of local scores, at 8
bytes a family; only `CustomPrior` calls Python for every family.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from dagpost.errors import InputError
from dagpost.priors.constraints import Constraints

if TYPE_CHECKING:
    from numpy.typing import NDArray


@runtime_checkable
class StructurePrior(Protocol):
    """What a prior object offers; any object with this method can be used as a prior."""

    def log_weights(self, names: tuple[str, ...], max_parents: int) -> NDArray[np.float64]:
        """The log weight of each node (row) with each parent set, numbered as in `dagpost.families.numbering`."""
        ...


@dataclass(frozen=True)
class UniformPrior:
    """Every parent set weighs the same.

    >>> UniformPrior().log_weights(("a", "b", "c"), 1)[0]
    array([0., 0., 0.])
    """

    def log_weights(self, names: tuple[str, ...], max_parents: int) -> NDArray[np.float64]:
        """Zero everywhere."""
        return _weights_by_size(self, len(names), max_parents)

    def log_weight_of_size(self, nodes: int, size: int) -> float:  # noqa: ARG002
        """Zero."""
        return 0.0


@dataclass(frozen=True)
class InDegreePrior:
    """Every number of parents weighs the same, shared out evenly among the parent sets of that size.

    >>> np.exp(InDegreePrior().log_weights(("a", "b", "c"), 2)[0])
    array([1. , 0.5, 0.5, 1. ])

    References
    ----------
    Koivisto & Sood (2004), Exact Bayesian structure discovery in Bayesian networks. JMLR 5.
    """

    def log_weights(self, names: tuple[str, ...], max_parents: int) -> NDArray[np.float64]:
        """Minus the log of the number of parent sets of the same size."""
        return _weights_by_size(self, len(names), max_parents)

    def log_weight_of_size(self, nodes: int, size: int) -> float:
        """Minus the log of the number of parent sets of this size."""
        return -math.log(math.comb(nodes - 1, size))


@dataclass(frozen=True)
class EdgePrior:
    """Every edge multiplies the weight of a graph by the same odds `p / (1 - p)`.

    Were there no rule against cycles, every edge would be there with this probability, independently of the others.

    >>> np.exp(EdgePrior(0.1).log_weights(("a", "b", "c"), 1)[0]).round(2)
    array([0.81, 0.09, 0.09])
    """

    probability: float

    def __post_init__(self) -> None:
        """Check the parameter."""
        value: object = self.probability
        if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) < 1:
            raise InputError(
                f"The 'probability' parameter of EdgePrior must be a float in (0, 1). Got {value!r} instead; "
                "edges that must or must not be there are given as required and forbidden."
            )
        object.__setattr__(self, "probability", float(value))

    def log_weights(self, names: tuple[str, ...], max_parents: int) -> NDArray[np.float64]:
        """The log probability that exactly these edges lead into the node."""
        return _weights_by_size(self, len(names), max_parents)

    def log_weight_of_size(self, nodes: int, size: int) -> float:
        """The log probability of exactly these parents, if there are `size` of them."""
        return size * math.log(self.probability) + (nodes - 1 - size) * math.log1p(-self.probability)


@dataclass(frozen=True)
class CustomPrior:
    """Weights from a function of the child's name and the frozenset of its parents' names.

    The function gives the log weight of the family: any finite number, or minus infinity where the family is
    impossible. It is called once for every family, so it should be quick.

    >>> def few(child, parents):
    ...     return 1.0 - len(parents)
    >>> CustomPrior(few).log_weights(("a", "b", "c"), 1)[0]
    array([1., 0., 0.])
    """

    function: Callable[[str, frozenset[str]], float]

    def __post_init__(self) -> None:
        """Check the parameter."""
        if not callable(self.function):
            raise InputError(
                "The 'function' parameter of CustomPrior must be callable as function(child, parents). "
                f"Got {self.function!r} instead."
            )

    def log_weights(self, names: tuple[str, ...], max_parents: int) -> NDArray[np.float64]:
        """Ask the function for every family."""
        from dagpost.families.numbering import parent_sets

        limit = min(max_parents, len(names) - 1)
        masks = parent_sets(len(names) - 1, limit).tolist()
        weights = np.empty((len(names), len(masks)))
        for node, child in enumerate(names):
            weights[node] = self.log_weights_of(child, names[:node] + names[node + 1 :], masks)
        return weights

    def log_weights_of(self, child: str, others: tuple[str, ...], masks: list[int]) -> NDArray[np.float64]:
        """Ask the function for some parent sets of one child, given as masks over `others`."""
        sets = [frozenset(other for place, other in enumerate(others) if mask >> place & 1) for mask in masks]
        return np.array([self._weight(child, parents) for parents in sets])

    def _weight(self, child: str, parents: frozenset[str]) -> float:
        weight: object = self.function(child, parents)
        if not isinstance(weight, Real) or math.isnan(weight) or weight == math.inf:
            raise InputError(
                "The function of CustomPrior must give a log weight: a finite number, or -inf for an "
                f"impossible family. Got {weight!r} for child {child!r} with parents {sorted(parents)!r}."
            )
        return float(weight)


_PRIORS: dict[str, type[UniformPrior] | type[InDegreePrior]] = {
    "uniform": UniformPrior,
    "indegree": InDegreePrior,
}


def resolve_prior(prior: str | StructurePrior) -> StructurePrior:
    """The prior object that a name stands for; an object is handed back as it is.

    >>> resolve_prior("indegree")
    InDegreePrior()
    """
    if isinstance(prior, str) and prior in _PRIORS:
        return _PRIORS[prior]()
    if isinstance(prior, StructurePrior) and not isinstance(prior, type):
        return prior
    hint = ""
    if isinstance(prior, type):
        hint = f" Make an object of it: {prior.__name__}(...)."
    elif callable(prior):
        hint = " A function goes into CustomPrior(function)."
    raise InputError(
        "The 'prior' must be 'uniform', 'indegree' or a prior object such as EdgePrior(0.1). "
        f"Got {prior!r} instead.{hint}"
    )


def log_prior(
    names: tuple[str, ...],
    max_parents: int,
    prior: str | StructurePrior = "uniform",
    constraints: Constraints | None = None,
    *,
    may_be_empty: bool = False,
) -> NDArray[np.float64]:
    """The log weight of each node with each parent set; minus infinity where a constraint does not allow it.

    A node without any parent set is an error, unless it `may_be_empty` because larger sets are weighed elsewhere.

    >>> log_prior(("a", "b"), 1, "uniform", Constraints(forbidden=[("a", "b")]))
    array([[  0.,   0.],
           [  0., -inf]])
    """
    from dagpost.families.numbering import family_count, parent_sets

    limit = min(max_parents, len(names) - 1)
    weights = resolve_prior(prior).log_weights(names, limit)
    shape = (len(names), family_count(len(names) - 1, limit))
    if weights.shape != shape:
        raise InputError(f"The prior {prior!r} must give weights of shape {shape}. Got {weights.shape} instead.")
    # Required parents beyond `max_parents` are no contradiction where larger sets are weighed elsewhere.
    most = len(names) if may_be_empty else max_parents
    required, forbidden = (constraints or Constraints()).masks(names, most)
    sets = parent_sets(len(names) - 1, limit)
    for node, name in enumerate(names):
        needed = _squeezed(int(required[node]), node)
        barred = _squeezed(int(forbidden[node]), node)
        if needed or barred:
            weights[node, ((sets & needed) != needed) | ((sets & barred) != 0)] = -np.inf
        if weights[node].max() == -np.inf and not may_be_empty:
            raise InputError(
                f"The prior and the constraints leave no parent set to {name!r}: every one has weight 0. "
                "Require or forbid less of its parents, or let the prior give some of them a positive weight."
            )
    return weights


def log_prior_of_sets(
    prior: StructurePrior,
    names: tuple[str, ...],
    node: int,
    masks: NDArray[np.uint64],
    required: np.uint64,
    forbidden: np.uint64,
) -> NDArray[np.float64]:
    """The log weight of some parent sets of one node, all given as masks over all columns.

    >>> sets = np.array([0b000, 0b100, 0b010], dtype=np.uint64)
    >>> log_prior_of_sets(InDegreePrior(), ("a", "b", "c"), 0, sets, np.uint64(0b100), np.uint64(0)).round(3)
    array([  -inf, -0.693,   -inf])
    """
    if isinstance(prior, CustomPrior):
        weights = prior.log_weights_of(names[node], names, masks.tolist())
    elif isinstance(prior, _PriorOnSize):
        by_size = np.array([prior.log_weight_of_size(len(names), size) for size in range(len(names))])
        weights = by_size[np.bitwise_count(masks)]
    else:
        raise InputError(
            f"{len(names)} columns have too many families to ask a prior for all of them, and the prior {prior!r} "
            "gives no others. Use CustomPrior(function), a smaller max_parents, or fewer columns."
        )
    weights[((masks & required) != required) | ((masks & forbidden) != 0)] = -np.inf
    return weights


@runtime_checkable
class _PriorOnSize(Protocol):
    """A prior that looks at nothing but the number of parents."""

    def log_weight_of_size(self, nodes: int, size: int) -> float: ...


def _weights_by_size(prior: _PriorOnSize, nodes: int, max_parents: int) -> NDArray[np.float64]:
    limit = min(max_parents, nodes - 1)
    sizes = [math.comb(nodes - 1, size) for size in range(limit + 1)]
    row = np.repeat([prior.log_weight_of_size(nodes, size) for size in range(limit + 1)], sizes)
    return np.tile(row, (nodes, 1))


def _squeezed(mask: int, node: int) -> np.uint64:
    low = (1 << node) - 1
    return np.uint64((mask & low) | ((mask >> 1) & ~low))
