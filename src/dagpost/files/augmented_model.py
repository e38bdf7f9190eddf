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
from dagpost.families.numbering import family_count
from dagpost.mcmc.cell_rules import CellRules
from dagpost.mcmc.records import ChainRecord
from dagpost.methods.augmentation import Augmentation
from dagpost.methods.base import Method
from dagpost.posterior.augmented_workspace import AugmentedWorkspace
from dagpost.posterior.augmenting import augmented
from dagpost.posterior.fitted import Fitted
from dagpost.posterior.sample import DagSample
from dagpost.posterior.study import modelled, with_regimes
from dagpost.posterior.weighing import families_of
from dagpost.posterior.workspace import Workspace
from dagpost.priors import StructurePrior, resolve_prior
from dagpost.priors.constraints import Constraints
from dagpost.priors.registry import PRIORS
from dagpost.priors.study import Study
from dagpost.scores import resolve_score

Arrays = Mapping[str, NDArray[Any]]


def facts_of(fitted: Fitted) -> dict[str, int]:
    """What a file says of what was drawn: the gaps of the rows, some with limits, and latent numbers."""
    facts = {"gaps": fitted.gaps, "censored": fitted.unknown.censored, "latent": _latent(fitted.workspace)}
    return {name: count for name, count in facts.items() if count}


def _latent(workspace: Workspace) -> int:
    """How many latent numbers chains draw; 0 where there are none."""
    return workspace.table.gap_count if isinstance(workspace, AugmentedWorkspace) and workspace.table.ranks else 0


def are_in(about: Mapping[str, Any]) -> bool:
    """Whether a file is of a model whose chains completed tables, of gaps or of latent numbers."""
    return about.get("gaps") is not None or about.get("latent") is not None


def check_gaps(about: Mapping[str, Any], arrays: Arrays) -> None:
    """Refuse a model with gaps without rows that have them, or without chains that completed them: a `ValueError`."""
    require(about.get("rows") is not None, "no rows with gaps")
    found = int(np.bitwise_count(arrays["rows_gaps"]).sum()) if "rows_gaps" in arrays else 0
    expected = about.get("gaps", 0)
    require(found == expected, f"{found} gaps where there are {expected}")
    require(about.get("censored", 0) <= found, f"{about.get('censored')} censored cells among {found} gaps")
    require("series_cells" in {name.removeprefix("sample_") for name in arrays}, "no completed cells")


def workspace_of(
    settings: Mapping[str, Any],
    chosen: Mapping[str, Any],
    method: Method,
    table: Table,
    latent: int,
    engine: Engine,
    reporter: Reporter,
) -> AugmentedWorkspace:
    """The workspace of the chains, which draw so many latent numbers, made again from the rows and the settings."""
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
    study = modelled(with_regimes(given, study))
    require(list(study.constraints.sinks) == list(settings.get("sinks", ())), "edges that its score rules out")
    workspace = augmented(method, settings["modularity"], study, engine, reporter)
    require(_latent(workspace) == latent, f"{_latent(workspace)} latent numbers where there are {latent}")
    return workspace if known else _without_prior(workspace, str(prior))


def _without_prior(workspace: AugmentedWorkspace, prior: str) -> AugmentedWorkspace:
    """The workspace of a model whose prior is code of the user's, which no file holds: no table can be weighed."""

    def refuse(_: AugmentedWorkspace) -> Any:
        raise InputError(
            f"The prior of this model, {prior}, is code of your own, which its file does not hold. What was found can "
            "be asked; to weigh or draw more, fit it again."
        )

    study, modularity = workspace.study, workspace.modularity
    return AugmentedWorkspace(study, modularity, refuse, workspace.engine, workspace.reporter)


def check_completions(workspace: AugmentedWorkspace, method: Method, sample: DagSample | None) -> None:
    """Refuse cells that cannot fill the gaps of the rows, and series and sums of other tables: a `ValueError`."""
    record = None if sample is None else sample.chains
    require(record is not None, "no chains")
    assert record is not None
    assert isinstance(method, Augmentation)
    context = _facts_of(workspace, method, record)
    for chain in range(len(record.lengths)):
        series = {name: record.series_of(name)[chain] for name in record.series}
        for beside in (series, {name: array[chain] for name, array in record.sums.items()}):
            method.check_beside(context, workspace.nodes, beside)


def _facts_of(workspace: AugmentedWorkspace, method: Augmentation, record: ChainRecord) -> Any:
    """What chains read, as far as it says what they keep: their parent sets are made when they go on."""
    table = workspace.table
    families = 0
    if method.exact_given_table:
        lists = workspace.study.constraints.parent_lists(table.names, workspace.max_parents)
        allowed, every = families_of(lists), workspace.nodes * family_count(workspace.nodes - 1, workspace.max_parents)
        # Where rules divide the table, the families that they allow; else all.
        families = allowed if record.sums["families"].shape[-1] == allowed else every
    return SimpleNamespace(
        cell_rules=CellRules(table),
        log_priors=np.zeros(len(workspace.scores)),
        family_count=families,
        keeps_pairs=len(record.series["edges"]) > 0,
    )
