"""The settings of a model: checked before any work, and written down with its results."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from dagpost.engines import Engine, ThreadEngine
from dagpost.errors import InputError
from dagpost.mcmc.hybrid import HybridMCMC
from dagpost.mcmc.order import OrderMCMC
from dagpost.mcmc.partial_order import PartialOrderMCMC
from dagpost.mcmc.partition import PartitionMCMC
from dagpost.mcmc.structure import StructureMCMC
from dagpost.priors import CustomPrior, EdgePrior, InDegreePrior, UniformPrior
from dagpost.scores import BIC, K2, BDe, BDeu, BGe
from dagpost.targets import Bootstrap, GivenOrder, Trees

_SCORES_AND_PRIORS = (BDeu, BDe, K2, BIC, BGe, UniformPrior, InDegreePrior, EdgePrior)
_METHODS = (OrderMCMC, PartialOrderMCMC, PartitionMCMC, StructureMCMC, HybridMCMC, Bootstrap, GivenOrder, Trees)
_KINDS: dict[str, Any] = {kind.__name__: kind for kind in (*_SCORES_AND_PRIORS, *_METHODS)}


def check_count(name: str, count: object) -> None:
    """Refuse what is no number of graphs."""
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
        raise InputError(f"The {name!r} of graphs must be an int of at least 1. Got {count!r} instead.")


def check_seed(seed: object) -> None:
    """Refuse what is no seed."""
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0):
        raise InputError(f"The 'seed' must be an int of at least 0, or None. Got {seed!r} instead.")


def resolve_engine(engine: str | Engine, threads: int | None) -> Engine:
    """The engine that a setting asks for."""
    if isinstance(engine, str) and engine in ("auto", "threads"):
        return ThreadEngine(threads)
    if not isinstance(engine, str) and hasattr(engine, "workers") and callable(getattr(engine, "run", None)):
        return engine
    raise InputError(
        f"The 'engine' parameter of DagPosterior must be 'auto', 'threads' or an engine object. Got {engine!r} instead."
    )


def describe(choice: Any) -> dict[str, Any] | str:
    """A score, prior or method as JSON can hold it; of one that the user wrote, only how it shows itself."""
    if isinstance(choice, str):
        return choice
    if type(choice).__module__.startswith("dagpost.") and not isinstance(choice, CustomPrior):
        return {"kind": type(choice).__name__, **{name: _plain(value) for name, value in asdict(choice).items()}}
    return repr(choice)


def _plain(value: Any) -> Any:
    """A setting as JSON gives it back: no NumPy numbers, no tuples."""
    if isinstance(value, np.generic):
        return value.item()
    return list(value) if isinstance(value, tuple) else value


def restore(description: dict[str, Any] | str) -> Any:
    """The score, prior or method that `describe` wrote down."""
    if isinstance(description, str):
        return description
    settings = dict(description)
    return _KINDS[settings.pop("kind")](**settings)
