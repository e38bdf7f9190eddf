"""Samples in files: the graphs, what they weigh and where they come from, and where their chains stand."""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagpost.files import archive as storage
from dagpost.files.parent_columns import kept_parents, parents_to_keep
from dagpost.files.schema import REMEDIES, SERIES, STANDING, SUMS, beginning_with, read_checked
from dagpost.mcmc.checks import ChainChecks
from dagpost.mcmc.records import ChainRecord
from dagpost.methods.choice import target_named
from dagpost.methods.registry import METHODS
from dagpost.methods.targets import MODULARITIES
from dagpost.posterior.sample import DagSample

_NUMBERS = ("log_joint", "log_proposal", "log_extensions", "weights")
_COUNTS = ("proposed", "accepted")


def save_sample(sample: DagSample, path: str | os.PathLike[str]) -> None:
    """Write a sample to one file; an older one is replaced whole."""
    storage.write_archive(path, "sample", *parts_of(sample))


def load_sample(path: str | os.PathLike[str]) -> DagSample:
    """Read a sample that `save_sample` wrote."""
    about, arrays = read_checked(path, "sample")
    with storage.complete(path, "sample", REMEDIES["sample"]):
        return sample_of(about, arrays)


def parts_of(sample: DagSample) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """A sample as JSON and arrays."""
    about: dict[str, Any] = {
        "names": list(sample.names),
        "modularity": str(sample.target),
        "method": sample.method,
        "draws": sample.draws,
        "estimator": sample.estimator,
        "log_evidence": None if math.isnan(sample.log_evidence) else sample.log_evidence,
        "guarantee": sample.guarantee,
        "provenance": dict(sample.provenance),
    }
    arrays: dict[str, NDArray[Any]] = {name: getattr(sample, name) for name in _NUMBERS}
    arrays |= parents_to_keep(sample.parents)
    record = sample.chains
    if record is not None:
        about["chains"] = {"lengths": list(record.lengths), "moves": list(record.moves), "rounds": record.rounds}
        if record.checks is not None:
            about["chains"]["checks"] = record.checks.to_json()
        arrays |= {"log_state": record.log_state, **{name: getattr(record, name) for name in _COUNTS}}
        arrays |= {STANDING + name: array for name, array in record.standing.items()}
        if record.edges is not None:
            arrays["state_edges"] = record.edges
        if record.series:
            about["chains"]["series"] = {name: list(lengths) for name, lengths in record.series_lengths.items()}
            arrays |= {SERIES + name: array for name, array in record.series.items()}
            arrays |= {SUMS + name: array for name, array in record.sums.items()}
    return about, arrays


def sample_of(about: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> DagSample:
    """The sample that `parts_of` took apart, once `check_sample` has seen it."""
    guarantee, evidence, method = about["guarantee"], about["log_evidence"], str(about["method"])
    target = target_named(str(about["modularity"]))
    kind = METHODS.classes().get(method)
    ours = kind is not None and kind.__module__.startswith("dagpost.")
    if kind is not None and ours and target not in (*MODULARITIES, *kind.targets()):
        raise ValueError(f"{method!r} does not draw from {target!r}")
    return DagSample(
        names=tuple(map(str, about["names"])),
        parents=kept_parents(arrays),
        **{name: arrays[name].astype(np.float64) for name in _NUMBERS},
        target=target,
        method=method,
        draws=about["draws"],
        estimator=str(about["estimator"]),
        log_evidence=math.nan if evidence is None else float(evidence),
        guarantee=None if guarantee is None else (float(guarantee[0]), float(guarantee[1])),
        provenance=dict(about["provenance"]),
        chains=_record(about["chains"], arrays) if about.get("chains") is not None else None,
    )


def _record(about: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> ChainRecord:
    return ChainRecord(
        lengths=tuple(about["lengths"]),
        log_state=arrays["log_state"].astype(np.float64),
        moves=tuple(map(str, about["moves"])),
        proposed=arrays["proposed"].astype(np.int64),
        accepted=arrays["accepted"].astype(np.int64),
        edges=arrays["state_edges"].astype(np.float64) if "state_edges" in arrays else None,
        rounds=int(about["rounds"]),
        checks=ChainChecks.from_json(about["checks"]) if "checks" in about else None,
        standing=beginning_with(STANDING, arrays),
        series=beginning_with(SERIES, arrays),
        series_lengths={name: tuple(lengths) for name, lengths in about.get("series", {}).items()},
        sums=beginning_with(SUMS, arrays),
    )
