"""The settings of a model: checked before any work, and written down with its results."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from dagpost._tools.json_settings import to_json
from dagpost._version import __version__
from dagpost.engines import Engine, ThreadEngine
from dagpost.errors import InputError
from dagpost.mcmc.hybrid import HybridMCMC
from dagpost.mcmc.order import OrderMCMC
from dagpost.mcmc.partial_order import PartialOrderMCMC
from dagpost.mcmc.partition import PartitionMCMC
from dagpost.mcmc.structure import StructureMCMC
from dagpost.methods.own_targets import Bootstrap, GivenOrder, Trees
from dagpost.priors import EdgePrior, InDegreePrior, UniformPrior, resolve_prior
from dagpost.priors.constraints import Constraints
from dagpost.scores import BIC, K2, BDe, BDeu, BGe, resolve_score
from dagpost.scores.local_scores import parent_limit

MODULARITIES = ("structure", "order")
#: With fewer variables the threads of any machine are done before a device has begun.
_FEWEST_FOR_A_DEVICE = 20
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
    parent_limit(model.max_parents, "DagPosterior")
    check_count("samples", model.samples)
    check_seed(model.seed)


def described_settings(model: Any, constraints: Constraints) -> dict[str, Any]:
    """The settings of a `DagPosterior` as they are now, as JSON can hold them."""
    tiers: Any = constraints.tiers
    return {
        "score": to_json(resolve_score(model.score.setting)),
        "prior": to_json(resolve_prior(model.prior)),
        "modularity": model.modularity,
        "max_parents": int(model.max_parents),
        "method": to_json(model.method),
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


class EngineSetting:
    """`DagPosterior.engine`: a Dask client stands for the engine on it, which can be copied and pickled.

    Scikit-learn copies a model for every fold and every point of a grid.
    """

    def __set__(self, model: Any, engine: Any) -> None:
        if type(engine).__module__.partition(".")[0] == "distributed":
            from dagpost.engines.dask.engine import DaskEngine

            engine = DaskEngine(engine)
        model.__dict__["engine"] = engine


def resolve_engine(engine: str | Engine, threads: int | None, nodes: int) -> Engine:
    """The engine that a setting asks for, for a table of so many variables."""
    from dagpost.engines.cuda.engine import device_suits

    if engine == "cuda" or (engine == "auto" and nodes >= _FEWEST_FOR_A_DEVICE and device_suits(nodes)):
        from dagpost.engines.cuda.engine import CudaEngine

        return CudaEngine(threads)
    if engine == "dask" or type(engine).__module__.startswith("dagpost.engines.dask."):
        from dagpost.engines.dask.engine import DaskEngine, engine_for

        if engine == "dask" or isinstance(engine, DaskEngine):
            return engine_for(engine, threads)
    if isinstance(engine, str) and engine in ("auto", "threads"):
        return ThreadEngine(threads)
    if not isinstance(engine, str) and hasattr(engine, "workers") and callable(getattr(engine, "run", None)):
        return engine
    hint = f" For the cluster there: DaskEngine({engine!r})." if isinstance(engine, str) and "://" in engine else ""
    raise InputError(
        "The 'engine' parameter of DagPosterior must be 'auto', 'threads', 'cuda', 'dask', a Dask client or an engine "
        f"object. Got {engine!r} instead.{hint}"
    )


def restore(description: dict[str, Any] | str) -> Any:
    """The score, prior or method that `to_json` wrote down."""
    if isinstance(description, str):
        return description
    settings = dict(description)
    return _KINDS[settings.pop("kind")](**settings)
