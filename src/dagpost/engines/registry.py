"""Engines by name, and what `engine=` of a model means: a name, an engine, or a handle such as a Dask client."""

from __future__ import annotations

from typing import Any

from dagpost._tools.registry import Registry
from dagpost._tools.spelling import parameter
from dagpost._tools.text import shown
from dagpost.engines.base import Engine, as_engine
from dagpost.engines.threads import ThreadEngine
from dagpost.errors import InputError

ENGINES: Registry[Engine] = Registry(
    "engine",
    "dagpost.engines",
    [
        "dagpost.engines.threads:ThreadEngine",
        "dagpost.engines.cuda.engine:CudaEngine",
        "dagpost.engines.dask.engine:DaskEngine",
    ],
)


def resolve_engine(setting: Any, threads: int | None, nodes: int) -> Engine:
    """The engine that a setting asks for, for a table of `nodes` variables.

    "auto" is the first engine that suits the table, or the threads of this process.
    """
    classes = ENGINES.classes()
    if isinstance(setting, str) and setting in classes:
        return classes[setting].from_name(threads)
    if isinstance(setting, str) and setting == "auto":
        return next((found for found in classes.values() if found.suits(nodes)), ThreadEngine).from_name(threads)
    engine = from_handle(setting)
    try:
        found = as_engine(engine)
    except InputError:
        names = ", ".join(repr(name) for name in ("auto", *classes))
        hint = f" For the cluster there: DaskEngine({engine!r})." if isinstance(engine, str) and "://" in engine else ""
        raise InputError(
            f"{parameter('engine', 'DagPosterior')} must be {names}, a Dask client or an engine object. "
            f"Got {shown(engine)} instead.{hint}"
        ) from None
    return found.with_threads(threads)


def from_handle(setting: Any) -> Any:
    """The engine that works through a handle of another library, such as a Dask client; any other setting as it is."""
    if isinstance(setting, str | Engine):
        return setting
    engines = (found.from_handle(setting) for found in ENGINES.classes().values())
    return next((engine for engine in engines if engine is not None), setting)


class EngineSetting:
    """`DagPosterior.engine`: a handle of another library, such as a Dask client, is replaced by the engine on it.

    Scikit-learn copies the settings of a model for every fold and every point of a grid. An engine can be copied and
    pickled; a client cannot. Scikit-learn also sets settings one by one, so that the constructor is not enough.
    """

    def __set__(self, model: Any, setting: Any) -> None:
        model.__dict__["engine"] = from_handle(setting)
