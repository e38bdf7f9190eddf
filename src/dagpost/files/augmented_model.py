"""Models with gaps in files: in the place of weights, which every completed table has anew, their rows and chains.

The rows are always in such a file, gaps and all, and with them the cells that the chains kept: whoever has the file has
the data.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.progress import Reporter
from dagpost._tools.schema import require
from dagpost.data.table import Table
from dagpost.engines import Engine
from dagpost.errors import InputError
from dagpost.methods.augmentation import Augmentation
from dagpost.methods.base import Method, Study
from dagpost.posterior.augmented_workspace import AugmentedWorkspace
from dagpost.posterior.augmenting import augmented
from dagpost.posterior.regime_rules import with_regimes
from dagpost.posterior.sample import DagSample
from dagpost.priors import StructurePrior, resolve_prior
from dagpost.priors.constraints import Constraints
from dagpost.scores import Score, resolve_score

Arrays = Mapping[str, NDArray[Any]]


def are_in(about: Mapping[str, Any]) -> bool:
    """Whether a file is of a model with gaps."""
    return about.get("gaps") is not None


def check_gaps(about: Mapping[str, Any], arrays: Arrays) -> None:
    """Refuse a model with gaps without rows that have them, or without chains that completed them: a `ValueError`."""
    require(about.get("rows") is not None and "rows_gaps" in arrays, "no rows with gaps")
    found = int(np.bitwise_count(arrays["rows_gaps"]).sum())
    require(found == about["gaps"], f"{found} gaps where there are {about['gaps']}")
    require("series_cells" in {name.removeprefix("sample_") for name in arrays}, "no completed cells")


def workspace_of(
    settings: Mapping[str, Any],
    chosen: Mapping[str, Any],
    method: Method,
    table: Table,
    engine: Engine,
    reporter: Reporter,
) -> AugmentedWorkspace:
    """The workspace of the chains, made again from the rows and the settings."""
    require(isinstance(method, Augmentation), f"gaps that {method.name!r} completes")
    score, prior = _own("score", chosen["score"], resolve_score), _own("prior", chosen["prior"], resolve_prior)
    rules = {name: settings[name] for name in ("required", "forbidden", "tiers")}
    rules |= {name: settings.get(name, ()) for name in ("exogenous", "apart")}
    study = Study(table, score, prior, Constraints(**rules), int(settings["max_parents"]))
    given = SimpleNamespace(regimes=chosen.get("regimes"), max_parents=settings["max_parents"])
    assert isinstance(method, Augmentation)
    return augmented(method, settings["modularity"], with_regimes(given, study), engine, reporter)


def _own(what: str, described: Any, resolve: Any) -> Any:
    """The score or prior of a file; one of the user's own has to be known here."""
    try:
        return described if isinstance(described, Score | StructurePrior) else resolve(described)
    except InputError as error:
        raise InputError(
            f"The {what} of this model, {described!r}, is not known here, and a model with gaps needs it. Import the "
            "module that brings it before loading the model."
        ) from error


def check_completions(workspace: AugmentedWorkspace, method: Method, sample: DagSample | None) -> None:
    """Refuse cells that cannot fill the gaps of the rows, and series and sums of other tables: a `ValueError`."""
    record = None if sample is None else sample.chains
    require(record is not None, "no chains")
    assert record is not None
    assert isinstance(method, Augmentation)
    for chain in range(len(record.lengths)):
        series = {name: record.series_of(name)[chain] for name in record.series}
        for beside in (series, {name: array[chain] for name, array in record.sums.items()}):
            method.check_beside(workspace.passes, workspace.nodes, beside)
