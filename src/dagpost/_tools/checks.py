"""Arguments that are not what they must be are refused in one form: what it is, what is allowed, what came.

    The 'max_parents' parameter of DagPosterior must be an int in [0, 12]. Got 'five' instead.

True and False are not numbers here, though Python takes them for some.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np

from dagpost._tools.spelling import either, parameter
from dagpost._tools.text import shown
from dagpost.errors import InputError

_TRUTH: Any = (bool, np.bool_)


def whole_number(
    value: object,
    name: str,
    owner: str | None = None,
    *,
    least: int = 1,
    most: int | None = None,
    optional: bool = False,
    hint: str = "",
) -> int:
    """`value` as an int from `least` to `most`; `optional` says that None is allowed, and checked elsewhere.

    >>> whole_number(5, "max_parents", "DagPosterior", least=0, most=12)
    5
    """
    if isinstance(value, Integral) and not isinstance(value, _TRUTH):
        found = int(value)
        if least <= found and (most is None or found <= most):
            return found
    if most is None:
        allowed = either(f"an int of at least {least}", f"a whole number of at least {least}")
    else:
        allowed = either(f"an int in [{least}, {most}]", f"a whole number from {least} to {most:,}")
    raise refusal(value, name, owner, f"{allowed}{either(', or None', '') if optional else ''}", hint)


def number(
    value: object,
    name: str,
    owner: str | None = None,
    *,
    above: float = -math.inf,
    below: float = math.inf,
    least: float = -math.inf,
    most: float = math.inf,
    allowed: str = "a finite number",
    hint: str = "",
) -> float:
    """`value` as a finite float within bounds, which `allowed` puts into words.

    >>> number(0.5, "probability", "EdgePrior", above=0.0, below=1.0)
    0.5
    """
    if isinstance(value, Real) and not isinstance(value, _TRUTH):
        found = float(value)
        if math.isfinite(found) and above < found < below and least <= found <= most:
            return found
    raise refusal(value, name, owner, allowed, hint)


def one_of(value: Any, name: str, known: Iterable[str], owner: str | None = None, *, hint: str = "") -> str:
    """`value` if it is one of some words.

    >>> one_of("order", "modularity", ("structure", "order"))
    'order'
    """
    words = list(known)
    if isinstance(value, str) and value in words:
        return value
    allowed = either(f"one of {', '.join(map(repr, words))}", f"one of {', '.join(words)}")
    raise refusal(value, name, owner, allowed, hint)


def seed_number(seed: object) -> int | None:
    """A seed: an int of at least 0, or None for a new one each time."""
    return None if seed is None else whole_number(seed, "seed", least=0, optional=True)


def refusal(value: object, name: str, owner: str | None, allowed: str, hint: str = "") -> InputError:
    """The error for an argument: what it is, what is allowed, what came, and perhaps what to do."""
    return InputError(f"{parameter(name, owner)} must be {allowed}. Got {shown(value)} instead.{hint and f' {hint}'}")
