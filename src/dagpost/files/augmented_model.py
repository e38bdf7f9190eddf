"""Models with gaps in files: in the place of weights, which every completed table has anew, their rows and chains.

The rows are always in such a file, gaps and all, and with them the cells that the chains kept: whoever has the file has
the data.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats
from dagpost._tools.progress import Reporter
from dagpost._tools.schema import require
from dagpost.data.table import Table
from dagpost.engines import Engine
from dagpost.errors import InputError
from dagpost.mcmc.augmentation import Passes
from dagpost.methods.augmentation import Augmentation
from dagpost.methods.base import Method, Study
from dagpost.posterior.augmented_workspace import AugmentedWorkspace, ExactPasses
from dagpost.posterior.augmenting import augmented
from dagpost.posterior.regime_rules import with_regimes
from dagpost.posterior.sample import DagSample
from dagpost.priors import StructurePrior, resolve_prior
from dagpost.priors.constraints import Constraints
from dagpost.priors.registry import PRIORS
from dagpost.scores import resolve_score

if TYPE_CHECKING:
    from dagpost.posterior.workspace import SummingWorkspace

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
    assert isinstance(method, Augmentation)
    prior = chosen["prior"]
    known = isinstance(prior, StructurePrior) or prior in PRIORS.names()
    rules = {name: settings[name] for name in ("required", "forbidden", "tiers")}
    rules |= {name: settings.get(name, ()) for name in ("exogenous", "apart")}
    study = Study(
        table,
        resolve_score(chosen["score"]),
        resolve_prior(prior if known else "uniform"),
        Constraints(**rules),
        int(settings["max_parents"]),
    )
    given = SimpleNamespace(regimes=chosen.get("regimes"), max_parents=settings["max_parents"])
    workspace = augmented(method, settings["modularity"], with_regimes(given, study), engine, reporter)
    if not known:
        workspace.passes = _WithoutPrior(workspace.passes, str(prior))
    return workspace


class _WithoutPrior(ExactPasses):
    """Of a model whose prior is code of the user's, which no file holds: it can be asked, and no table is weighed."""

    def __init__(self, passes: Passes, described: str) -> None:
        vars(self).update(vars(passes))
        self._described = described

    def weighed(self, cells: Floats, value: int, engine: Engine) -> SummingWorkspace:
        """Refused: the weights would be those of another prior."""
        del cells, value, engine
        raise InputError(
            f"The prior of this model, {self._described}, is code of your own, which its file does not hold. What was "
            "found can be asked; to draw more, fit it again."
        )


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
