"""Fitted models in files: settings, weights and results, and what prediction needs; not the tables over all sets.

A model keeps the weights of all its families, or, where there are too many, of those among the candidate parents. Of
the data it keeps what was counted for the families of its own sample, and the rows only if that is asked for.
"""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.json_settings import to_json as describe
from dagpost._tools.progress import reporter_for
from dagpost.errors import InputError, ResourceError, warn
from dagpost.families.family_sums import FamilyWeights
from dagpost.families.numbering import family_count
from dagpost.files import archive as storage
from dagpost.files.sample_file import parts_of, sample_of
from dagpost.files.table_rows import rows_of, table_of
from dagpost.methods.drawing import resolve_method
from dagpost.posterior.answers import ExactResults
from dagpost.posterior.settings import resolve_engine, restore
from dagpost.posterior.workspace import ExactWorkspace, Workspace
from dagpost.prediction.statistics import statistics_from

if TYPE_CHECKING:
    from dagpost.model import DagPosterior
    from dagpost.posterior.sample import DagSample

Model = TypeVar("Model", bound="DagPosterior")

_DATA = ("names", "levels", "observations", "data_fingerprint")
_SAMPLE, _STATISTICS, _ROWS = "sample_", "statistics_", "rows_"


def save_model(model: DagPosterior, path: str | os.PathLike[str], *, rows: bool) -> None:
    """Write a fitted model to one file; an older one is replaced whole."""
    results, tables = model._results, model._tables
    arrays: dict[str, NDArray[Any]] = {"edges": model.edge_probabilities_.to_numpy()}
    if isinstance(tables, ExactWorkspace):
        arrays["log_weights"] = tables.log_weights
    else:
        weights = tables.weights
        arrays |= {"candidates": weights.candidates, "inner": weights.inner, "small": weights.small}
    if results is not None:
        arrays["families"] = results.families
        if results.paths is not None:
            arrays["paths"] = results.paths
    if tables.replicates is not None:
        arrays |= {"replicates": tables.replicates[0], "replicate_weights": tables.replicates[1]}
    about = {
        **model._about_data,
        "settings": model._settings,
        "max_parents": model.max_parents_,
        "small_size": None if isinstance(tables, ExactWorkspace) else tables.weights.small_size,
        "method": [describe(model._method), model.method_reason_],
        "exact": model.exact_,
        "engine": model.engine_,
        "verdict": model.verdict_,
        "log_evidence": None if math.isnan(model.log_evidence_) else model.log_evidence_,
        "error_bound": None if results is None else results.error_bound,
        "replicates_seed": tables.replicates_seed,
        "replicates_engine": None if tables.replicates is None else tables.replicates_engine,
    }
    for prefix, (details, more) in _data_parts(model, rows).items():
        about[prefix.removesuffix("_")] = details
        arrays |= {prefix + name: array for name, array in more.items()}
    storage.write_archive(path, "model", about, arrays)


def load_model(kind: type[Model], path: str | os.PathLike[str]) -> Model:
    """Read a model that `save_model` wrote."""
    about, arrays = storage.read_archive(path, "model")
    try:
        settings = dict(about["settings"])
        for key in ("score", "prior", "method"):
            settings[key] = restore(settings[key])
        model = kind(**settings)
        model._settings = dict(about["settings"])
        model._score = settings["score"]
        model._about_data = {key: about[key] for key in _DATA}
        # Older files do not say.
        model._about_data["interventions"] = bool(about.get("interventions", False))
        names = tuple(map(str, about["names"]))
        tables = _tables(about, arrays, len(names))
        method, reason = about["method"]
        model._open(names, tables, resolve_method(restore(method)), str(reason))
        evidence = math.nan if about["log_evidence"] is None else float(about["log_evidence"])
        results, edges = None, _of_shape("edges", arrays, (len(names), len(names)))
        if "families" in arrays:
            families = _of_shape("families", arrays, arrays["log_weights"].shape)
            paths = _of_shape("paths", arrays, edges.shape) if "paths" in arrays else None
            results = ExactResults(model.modularity, evidence, families, paths, float(about["error_bound"]))
        model._adopt(evidence, edges, results, bool(about.get("exact", results is not None)))
        model.engine_ = str(about.get("engine", "not recorded"))
        model.verdict_ = about.get("verdict")
        _restore_data(model, about, arrays)
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{os.fspath(path)!r} lacks parts of a model ({error}). Fit the model again.") from error
    return model


def _data_parts(model: DagPosterior, rows: bool) -> dict[str, tuple[dict[str, Any], dict[str, NDArray[Any]]]]:
    """What prediction needs: the model's own sample with what was counted for it, and the rows if they are asked for.

    The sample is drawn for the file if it is not there yet and takes no long time to draw.
    """
    parts = {}
    sample = _sample_to_keep(model)
    if sample is not None:
        parts[_SAMPLE] = parts_of(sample)
        statistics = model._statistics_to_keep()
        if statistics is not None:
            parts[_STATISTICS] = (statistics.about(), statistics.arrays())
    if rows:
        if model._table is None:
            raise InputError("This model has no rows to save: it was itself read from a file without them.")
        parts[_ROWS] = rows_of(model._table)
    return parts


def _sample_to_keep(model: DagPosterior) -> DagSample | None:
    if model._drawn is None and not model._draws_quickly():
        return None
    try:
        return model.own_sample()
    except ResourceError as error:
        # What there is must not be lost because of what could be made again.
        warn(f"The model is saved without a sample of its own, which could not be drawn. {error}")
        return None


def _restore_data(model: DagPosterior, about: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
    def part(prefix: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]] | None:
        details = about.get(prefix.removesuffix("_"))
        own = {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
        return None if details is None else (details, own)

    sample, statistics, rows = part(_SAMPLE), part(_STATISTICS), part(_ROWS)
    if sample is not None:
        model._drawn = sample_of(*sample)
        if model._drawn.names != model.names_:
            raise ValueError("its sample is of other variables")
    if statistics is not None:
        model._statistics = statistics_from(*statistics)
    if rows is not None:
        model._table = table_of(*rows)


def _tables(about: dict[str, Any], arrays: dict[str, NDArray[Any]], nodes: int) -> Workspace:
    engine, reporter, max_parents = resolve_engine("auto", None, nodes), reporter_for(None), int(about["max_parents"])
    tables: Workspace
    if about.get("small_size") is None:
        shape = (nodes, family_count(nodes - 1, max_parents))
        tables = ExactWorkspace(_of_shape("log_weights", arrays, shape), max_parents, engine, reporter)
    else:
        small_size, candidates = int(about["small_size"]), arrays["candidates"].astype(np.int64)
        width = candidates.shape[1]
        if candidates.shape != (nodes, width) or not ((candidates >= 0) & (candidates < nodes)).all():
            raise ValueError(f"candidates of shape {candidates.shape}")
        inner = _of_shape("inner", arrays, (nodes, family_count(width, max_parents)))
        small = _of_shape("small", arrays, (nodes, family_count(nodes - 1, small_size)))
        tables = Workspace(FamilyWeights(max_parents, small_size, candidates, inner, small), engine, reporter)
    if "replicates" in arrays:
        graphs = len(arrays["replicates"])
        parents = _of_shape("replicates", arrays, (graphs, nodes), np.uint64)
        tables.replicates = (parents, _of_shape("replicate_weights", arrays, (graphs,)))
        tables.replicates_seed = about.get("replicates_seed")
        tables.replicates_engine = str(about.get("replicates_engine", "threads"))
    return tables


def _of_shape(
    name: str, arrays: dict[str, NDArray[Any]], shape: tuple[int, ...], kind: type[np.generic] = np.float64
) -> NDArray[Any]:
    if arrays[name].shape != shape:
        raise ValueError(f"{name} of shape {arrays[name].shape} where {shape} is due")
    return arrays[name].astype(kind)
