"""The settings of a model: checked before any work, and written down with its results."""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import Any

import numpy as np

from dagpost._version import __version__
from dagpost.engines.registry import EngineSetting as EngineSetting  # noqa: PLC0414 (for now)
from dagpost.engines.registry import resolve_engine as resolve_engine  # noqa: PLC0414 (for now)
from dagpost.errors import InputError
from dagpost.mcmc.hybrid import HybridMCMC
from dagpost.mcmc.order import OrderMCMC
from dagpost.mcmc.partial_order import PartialOrderMCMC
from dagpost.mcmc.partition import PartitionMCMC
from dagpost.mcmc.structure import StructureMCMC
from dagpost.methods.own_targets import Bootstrap, GivenOrder, Trees
from dagpost.priors.constraints import Constraints
from dagpost.priors.structure_priors import CustomPrior, EdgePrior, InDegreePrior, UniformPrior, resolve_prior
from dagpost.scores import BIC, K2, BDe, BDeu, BGe, resolve_score
from dagpost.scores.parameters import parent_limit

MODULARITIES = ("structure", "order")
_ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")

_SCORES_AND_PRIORS = (BDeu, BDe, K2, BIC, BGe, UniformPrior, InDegreePrior, EdgePrior)
#: Methods that have settings: chains, and those that speak of something else than the posterior over all graphs.
CHAIN_KINDS: tuple[Any, ...] = (OrderMCMC, PartialOrderMCMC, PartitionMCMC, StructureMCMC, HybridMCMC)
OWN_TARGET_KINDS: tuple[Any, ...] = (Bootstrap, Trees, GivenOrder)
_KINDS: dict[str, Any] = {kind.__name__: kind for kind in (*_SCORES_AND_PRIORS, *CHAIN_KINDS, *OWN_TARGET_KINDS)}


def check_count(name: str, count: object) -> None:
    """Refuse what is no number of graphs."""
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
        raise InputError(f"The {name!r} of graphs must be an int of at least 1. Got {count!r} instead.")


def check_seed(seed: object) -> None:
    """Refuse what is no seed."""
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0):
        raise InputError(f"The 'seed' must be an int of at least 0, or None. Got {seed!r} instead.")


def check_settings(model: Any) -> None:
    """Refuse settings of a `DagPosterior` that no table can make right."""
    if model.modularity not in MODULARITIES:
        raise InputError(
            f"The 'modularity' parameter of DagPosterior must be one of {MODULARITIES}. "
            f"Got {model.modularity!r} instead."
        )
    parent_limit("DagPosterior", model.max_parents)
    check_count("samples", model.samples)
    check_seed(model.seed)


def described_settings(model: Any, constraints: Constraints) -> dict[str, Any]:
    """The settings of a `DagPosterior` as they are now, as JSON can hold them."""
    tiers: Any = constraints.tiers
    return {
        "score": describe(resolve_score(model.score.setting)),
        "prior": describe(resolve_prior(model.prior)),
        "modularity": model.modularity,
        "max_parents": int(model.max_parents),
        "method": describe(model.method),
        "samples": int(model.samples),
        "required": [list(edge) for edge in constraints.required],
        "forbidden": [list(edge) for edge in constraints.forbidden],
        "tiers": tiers and [list(tier) for tier in tiers],
        "seed": None if model.seed is None else int(model.seed),
    }


def identity_of(fingerprint: str, settings: dict[str, Any], **asked: Any) -> dict[str, Any]:
    """What a checkpoint belongs to: a call with all that its result depends on."""
    # An object of the user's may show where it lies in memory, which says nothing.
    lasting = {name: _ADDRESS.sub("", value) if isinstance(value, str) else value for name, value in settings.items()}
    return {"dagpost": __version__, "data": fingerprint, **lasting, **asked}


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
