"""From what a user gives as a prior, a name or an object, to a `StructurePrior`.

Which other priors is a result tried with? Those that people take, from indifferent to sparse.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dagpost._tools.alternatives import Alternative
from dagpost._tools.arrays import Floats
from dagpost._tools.checks import refusal
from dagpost._tools.spelling import either
from dagpost.priors.base import SizePrior, StructurePrior
from dagpost.priors.custom import CustomPrior
from dagpost.priors.edge import AVERAGE, EdgePrior
from dagpost.priors.indegree import InDegreePrior
from dagpost.priors.registry import PRIORS
from dagpost.priors.uniform import UniformPrior

#: The setting that leaves the choice to us.
AUTO = "auto"


def is_automatic(prior: Any) -> bool:
    """Whether the choice of the prior is left to us."""
    return isinstance(prior, str) and prior == AUTO


def resolve_prior(prior: Any) -> StructurePrior:
    """The prior that `name` or `name:argument` stands for; an object that gives weights is taken as it is.

    A choice that is left to us is an average over densities, unless a fit finds that out of reach
    (posterior/study.py).

    >>> resolve_prior("indegree"), resolve_prior("edge:0.2"), resolve_prior("auto")
    (InDegreePrior(), EdgePrior(probability=0.2), EdgePrior(probability='average'))
    """
    if is_automatic(prior):
        return EdgePrior(AVERAGE)
    if isinstance(prior, StructurePrior):
        return prior
    if isinstance(prior, str):
        name, colon, argument = prior.partition(":")
        if name in PRIORS.names():
            return PRIORS.named(name).from_text(argument if colon else None)
    elif callable(getattr(prior, "log_weights", None)) and not isinstance(prior, type):
        return BareSizePrior(prior) if hasattr(prior, "log_weight_of_size") else BarePrior(prior)
    hint = ""
    if isinstance(prior, type):
        hint = f"Make an object of it: {prior.__name__}(...)."
    elif callable(prior):
        hint = "A function goes into CustomPrior(function)."
    elif isinstance(prior, str) and prior.startswith(f"{CustomPrior.__name__}("):
        hint = "A file does not keep a function: give it again, set_params(prior=CustomPrior(function))."
    known = [AUTO, *(f"{name}:{kind.argument}" if kind.argument else name for name, kind in PRIORS.classes().items())]
    words = either(
        f"one of {', '.join(map(repr, known))} or a prior object such as EdgePrior(0.1)", f"one of {', '.join(known)}"
    )
    raise refusal(prior, "prior", None, words, hint)


@dataclass(frozen=True, repr=False)
class BarePrior(StructurePrior):
    """An object of the user's that has `log_weights`; its `repr` is its own."""

    prior: Any

    def log_weights(self, names: tuple[str, ...], max_parents: int) -> Floats:
        """What the object gives."""
        weights: Floats = self.prior.log_weights(names, max_parents)
        return weights

    def __repr__(self) -> str:
        return repr(self.prior)


@dataclass(frozen=True, repr=False)
class BareSizePrior(SizePrior):
    """The same of an object that looks at the number of parents alone, and says so by `log_weight_of_size`."""

    prior: Any

    def log_weight_of_size(self, nodes: int, size: int) -> float:
        """What the object gives."""
        return float(self.prior.log_weight_of_size(nodes, size))

    def __repr__(self) -> str:
        return repr(self.prior)


#: The last one expects one pair in five to be joined before the data, which is sparse beside the uniform prior.
_USUAL: tuple[tuple[str, StructurePrior], ...] = (
    ("edge:average", EdgePrior(AVERAGE)),
    ("uniform", UniformPrior()),
    ("indegree", InDegreePrior()),
    ("edge:0.1", EdgePrior(0.1)),
)


def other_priors(own: StructurePrior) -> list[Alternative[StructurePrior]]:
    """The usual priors but the own one.

    >>> [alternative.value for alternative in other_priors(UniformPrior())]
    ['edge:average', 'indegree', 'edge:0.1']
    """
    return [Alternative("prior", written, prior) for written, prior in _USUAL if prior != own]
