"""The settings of a model: checked before any work, and written down with its results."""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import Any

import numpy as np

from dagpost._tools.checks import one_of, seed_number, whole_number
from dagpost._version import __version__
from dagpost.engines import Engine, ThreadEngine
from dagpost.errors import InputError
from dagpost.methods.base import Method
from dagpost.methods.registry import METHODS
from dagpost.methods.targets import MODULARITIES
from dagpost.priors.constraints import Constraints
from dagpost.priors.structure_priors import CustomPrior, EdgePrior, InDegreePrior, UniformPrior, resolve_prior
from dagpost.scores import BIC, K2, BDe, BDeu, BGe, resolve_score
from dagpost.scores.parameters import parent_limit

#: With fewer variables the threads of any machine are done before a device has begun.
_FEWEST_FOR_A_DEVICE = 20
_ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")

_SCORES_AND_PRIORS = (BDeu, BDe, K2, BIC, BGe, UniformPrior, InDegreePrior, EdgePrior)
_KINDS: dict[str, Any] = {kind.__name__: kind for kind in _SCORES_AND_PRIORS}


def check_settings(model: Any) -> None:
    """Refuse settings of a `DagPosterior` that no table can make right."""
    one_of(model.modularity, "modularity", MODULARITIES, "DagPosterior")
    parent_limit("DagPosterior", model.max_parents)
    whole_number(model.samples, "samples", "DagPosterior")
    seed_number(model.seed)


def described_settings(model: Any, constraints: Constraints) -> dict[str, Any]:
    """The settings of a `DagPosterior` as they are now, as JSON can hold them."""
    tiers: Any = constraints.tiers
    return {
        "score": describe(resolve_score(model.score)),
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


def describe(choice: Any) -> dict[str, Any] | str:
    """A score, prior or method as JSON can hold it; of one that the user wrote, only how it shows itself."""
    if isinstance(choice, str):
        return choice
    if isinstance(choice, Method):
        described: dict[str, Any] | str = choice.to_json()
        return described
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
    kind = str(settings.pop("kind"))
    return (METHODS.of_class(kind) or _KINDS[kind])(**settings)
