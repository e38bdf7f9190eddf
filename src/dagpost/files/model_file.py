"""Fitted models in files: settings, weights and results, and what prediction needs; not the tables over all sets.

A model keeps the weights of all its families, or, where there are too many, of those among the candidate parents, or
of those that its chains consider. Of the data it keeps what was counted for the families of its own sample, and the
rows if that is asked for, or if chains complete them. A model under a condition is kept without it, with its text
(kept_condition.py).
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.checks import truth
from dagpost._tools.json_settings import from_json
from dagpost._tools.mixture import Grid
from dagpost._tools.progress import Reporter, reporter_for
from dagpost._tools.registry import Registry
from dagpost._tools.schema import Sizes, check_arrays, check_fields
from dagpost.data.recipe import Recipe
from dagpost.data.recipe_steps import variable_steps
from dagpost.data.regimes import resolve_regimes
from dagpost.data.unrolled import Unrolling
from dagpost.engines import Engine
from dagpost.engines.registry import resolve_engine
from dagpost.errors import InputError, ResourceError, warn
from dagpost.exact.order import check_weights
from dagpost.families.family_sums import FamilyWeights
from dagpost.files import allowed_families, archive, augmented_model, kept_condition, kept_sets
from dagpost.files.kept_recipe import levels_in, own_settings, recipe_in
from dagpost.files.sample_file import parts_of, sample_of
from dagpost.files.schema import REMEDIES, beginning_with, read_checked
from dagpost.files.table_rows import rows_of, table_of
from dagpost.methods.base import Method
from dagpost.methods.choice import resolve_method
from dagpost.methods.registry import METHODS
from dagpost.posterior.augmented_workspace import AugmentedWorkspace
from dagpost.posterior.completed_tables import ROW_LABELS
from dagpost.posterior.component_workspace import ComponentWorkspace
from dagpost.posterior.exact_workspace import ExactWorkspace
from dagpost.posterior.fitted import JOINED_BEFORE, DataFacts, Fitted
from dagpost.posterior.lists import mixture_facts
from dagpost.posterior.mixture import MixedWorkspace, weightiest
from dagpost.posterior.results import Results
from dagpost.posterior.sample import DagSample
from dagpost.posterior.sensitivity import sensitivity_from
from dagpost.posterior.variations import known_sensitivity, remember_sensitivity
from dagpost.posterior.weighing import tilted_over
from dagpost.posterior.wide_workspace import WideWorkspace
from dagpost.posterior.workspace import Families, Sums, Workspace
from dagpost.prediction.background import background_to_keep, remember_background
from dagpost.prediction.fitted import statistics_to_keep
from dagpost.prediction.gaussian_statistics import GaussianStatistics
from dagpost.prediction.local_parts import local_models_to_keep, remember_local_models
from dagpost.prediction.statistics import Statistics, statistics_from
from dagpost.priors.base import StructurePrior
from dagpost.priors.registry import PRIORS
from dagpost.scores import Score, class_of
from dagpost.scores.registry import SCORES

if TYPE_CHECKING:
    from dagpost.posterior.workspace import SummingWorkspace

_PARTS = ("sample_", "statistics_", "regressions_", "background_", "rows_", "sensitivity_")
_SAMPLE, _STATISTICS, _REGRESSIONS, _BACKGROUND, _ROWS, _SENSITIVITY = _PARTS

Arrays = dict[str, NDArray[Any]]


def save_model(fitted: Fitted, path: str | os.PathLike[str], *, rows: bool) -> None:
    """Write a fitted model to one file; an older one is replaced whole."""
    fitted, given = kept_condition.parts_to_keep(fitted)
    results, workspace, data = fitted.results, fitted.workspace, fitted.data
    arrays: Arrays = {"edges": np.clip(results.edges, 0.0, 1.0)}
    small_size: int | None = None
    sets: dict[str, Any] = {}
    if workspace.parts:
        arrays |= _arrays_of_weights(workspace)
    elif isinstance(workspace, AugmentedWorkspace):
        # Every completed table has weights of its own.
        rows = True
    elif isinstance(workspace, WideWorkspace):
        sets, own = kept_sets.parts_of(workspace.considered)
        arrays |= own
    else:
        weights, small_size = workspace.weights, workspace.weights.small_size
        arrays |= {"candidates": weights.candidates, "inner": weights.inner, "small": weights.small}
        arrays |= {} if weights.missed is None else {"missed": weights.missed}
    arrays |= {} if results.edges_by_kind is None else {"edges_by_kind": results.edges_by_kind}
    if results.sums is not None:
        arrays["families"] = allowed_families.flat(results.sums.families)
        if results.sums.paths is not None:
            arrays["paths"] = results.sums.paths
    about: dict[str, Any] = {
        "names": list(data.names),
        "levels": [None if levels is None else list(levels) for levels in data.levels],
        "observations": data.observations,
        "data_fingerprint": data.fingerprint,
        "interventions": data.interventions,
        "targets": [list(names) for names in data.targets],
        "recipe": None if data.recipe is None else data.recipe.to_json(),
        "time": None if data.time is None else data.time.to_json(),
        "settings": dict(fitted.settings),
        "max_parents": workspace.max_parents,
        "small_size": small_size,
        "method": [fitted.method.to_json(), fitted.reason],
        "exact": results.exact,
        "engine": results.engine,
        "verdict": results.verdict,
        "log_evidence": None if math.isnan(fitted.log_evidence) else fitted.log_evidence,
        "error_bound": None if results.sums is None else results.sums.error_bound,
        "joined_before": fitted.joined_before,
        **augmented_model.facts_of(fitted),
        **sets,
        **given,
    }
    if (mixture := mixture_facts(fitted)) is not None:
        about["mixture"] = {**mixture, **_about_mixture(workspace)}
    taken = (about.keys() & workspace.facts.keys()) | (arrays.keys() & workspace.kept.keys())
    if taken:
        raise InputError(
            f"The method {fitted.method.name!r} keeps {min(taken)!r}, a name that files use themselves. Rename it."
        )
    about |= workspace.facts
    arrays |= workspace.kept
    for prefix, (details, more) in _data_parts(fitted, rows).items():
        about[prefix.removesuffix("_")] = details
        arrays |= {prefix + name: array for name, array in more.items()}
    archive.write_archive(path, "model", about, arrays)


def _arrays_of_weights(workspace: Workspace) -> Arrays:
    """The weights of all families of a model, or of each value that its score averages over, at even odds of edges."""
    if not isinstance(workspace, MixedWorkspace):
        return allowed_families.arrays_of_parts({"log_weights": workspace.parts[0]})
    parts = workspace.evenly or workspace.parts
    return allowed_families.arrays_of_parts({f"part{place}_log_weights": part for place, part in enumerate(parts)})


def _about_mixture(workspace: Workspace) -> dict[str, Any]:
    """What a file says of the cells of a mixture beside their probabilities."""
    if not isinstance(workspace, MixedWorkspace):
        return {}
    return {
        "structure_log_evidences": [part.structure_log_evidence for part in workspace.parts],
        "log_priors": list(workspace.grid.log_priors),
        "ordinary": workspace.ordinary,
    }


def load_model(
    path: str | os.PathLike[str], engine: Any, threads: int | None, progress: Any, known_settings: Sequence[str]
) -> tuple[Fitted, dict[str, Any]]:
    """Read a model that `save_model` wrote, and the settings of its `DagPosterior`."""
    about, arrays = read_checked(path, "model")
    with archive.complete(path, "model", REMEDIES["model"]):
        settings, names = dict(about["settings"]), tuple(about["names"])
        if unknown := settings.keys() - {*known_settings, "apart", "sinks", "beside"}:
            raise ValueError(f"unknown setting {min(unknown)!r}")
        method = _method(path, from_json(about["method"][0], METHODS))
        engine = resolve_engine(engine, threads, len(names))
        registries: dict[str, Registry[Any]] = {"score": SCORES, "prior": PRIORS, "method": METHODS}
        chosen = {key: from_json(settings[key], registry) for key, registry in registries.items()}
        levels, recipe = levels_in(about), recipe_in(about)
        parts = {prefix: _part(prefix, about, arrays) for prefix in _PARTS}
        table = None if parts[_ROWS] is None else replace(table_of(*parts[_ROWS]), recipe=recipe)
        if table is not None and (table.names, table.levels) != (names, levels):
            raise ValueError("its rows are of other variables or levels")
        data = DataFacts(
            names,
            levels,
            about["observations"],
            str(about["data_fingerprint"]),
            about["interventions"],
            tuple(tuple(names) for names in about["targets"]),
            recipe,
            None if about["time"] is None else Unrolling.from_json(about["time"]),
        )
        if settings.get("regimes") is not None:
            chosen["regimes"] = resolve_regimes(settings["regimes"])
            indicators = [own.name for step in recipe.steps_ for own in step.indicators] if recipe else []
            chosen["exogenous"] = [name for name in settings["exogenous"] if name not in indicators]
        if settings.get("recipe") is not None:
            chosen["recipe"] = Recipe.from_json(settings["recipe"])
        kept = _Kept(about, arrays, names, engine, reporter_for(progress))
        workspace: Workspace
        if table is not None and augmented_model.are_in(about):
            latent = about.get("latent", 0)
            workspace = augmented_model.workspace_of(settings, chosen, method, table, latent, engine, kept.reporter)
        else:
            workspace = kept.workspace(method, chosen)
        fitted = Fitted(data, settings, chosen["score"], method, str(about["method"][1]), workspace, table)
        fitted.remember("prior", chosen["prior"])
        fitted.remember(JOINED_BEFORE, about["joined_before"])
        if parts[_SAMPLE] is not None:
            sample = sample_of(*parts[_SAMPLE])
            if sample.names != names:
                raise ValueError("its sample is of other variables")
            fitted.remember("sample", sample)
        if isinstance(workspace, AugmentedWorkspace):
            augmented_model.check_completions(workspace, method, fitted.drawn)
            fitted.remember(ROW_LABELS, parts[_ROWS][0].get("labels"))
        if not fitted.completes:
            # With gaps they are averages over what the chains have kept, which is in the file.
            fitted.remember("results", _results(fitted, kept))
        if parts[_STATISTICS] is not None:
            fitted.remember("statistics", _statistics(statistics_from(*parts[_STATISTICS]), data))
        if parts[_REGRESSIONS] is not None:
            remember_local_models(fitted, *parts[_REGRESSIONS])
        if parts[_BACKGROUND] is not None:
            remember_background(fitted, parts[_BACKGROUND][1])
        if parts[_SENSITIVITY] is not None:
            remember_sensitivity(fitted, sensitivity_from(names, *parts[_SENSITIVITY]))
        fitted = kept_condition.under_condition(fitted, about)
    return fitted, {**own_settings(settings, data.time), **chosen}


def _statistics(statistics: Statistics, data: DataFacts) -> Statistics:
    """What was counted, if it was for these variables: codes of new rows are those of the recipe's levels."""
    fits = statistics.names == data.names
    if not isinstance(statistics, GaussianStatistics):
        known = None if data.recipe is None else tuple(step.levels for step in variable_steps(data.recipe.steps_))
        fits = fits and statistics.levels == data.levels and known in (None, data.levels)
    if not fits:
        raise ValueError("its counts are of other variables or levels")
    return statistics


def _data_parts(fitted: Fitted, rows: bool) -> dict[str, tuple[dict[str, Any], Arrays]]:
    """What prediction needs: the model's own sample with what was counted for it, and the rows if they are asked for.

    And how exogenous columns are distributed, and the sensitivity table, if it was made. The sample is drawn for the
    file if it is not there yet and does not take long to draw.
    """
    parts, keeps_rows = {}, truth(rows, "rows", "save")
    sample = _sample_to_keep(fitted)
    if sample is not None:
        parts[_SAMPLE] = parts_of(sample)
        # With gaps the rows are there, and what is counted differs from one completed table to the next.
        with_gaps = isinstance(fitted.workspace, AugmentedWorkspace)
        statistics = None if with_gaps else statistics_to_keep(fitted)
        if statistics is not None:
            parts[_STATISTICS] = (statistics.about(), statistics.arrays())
        # Where the rows are kept, regressions are fitted to them again.
        regressions = None if keeps_rows else local_models_to_keep(fitted)
        if regressions is not None:
            parts[_REGRESSIONS] = (regressions[0], dict(regressions[1]))
    if (background := background_to_keep(fitted)) is not None:
        parts[_BACKGROUND] = ({}, background.arrays())
    if (sensitivity := known_sensitivity(fitted)) is not None:
        parts[_SENSITIVITY] = (sensitivity.about(), sensitivity.arrays())
    if keeps_rows:
        if fitted.table is None:
            raise InputError("This model has no rows to save: it was itself read from a file without them.")
        parts[_ROWS] = rows_of(fitted.table, fitted.recall(ROW_LABELS))
    return parts


def _sample_to_keep(fitted: Fitted) -> DagSample | None:
    if fitted.drawn is None and not fitted.draws_quickly:
        return None
    try:
        return fitted.own_sample()
    except ResourceError as error:
        # What there is must not be lost because of what could be made again.
        warn(f"The model is saved without a sample of its own, which could not be drawn. {error.marked}")
        return None


def _part(prefix: str, about: dict[str, Any], arrays: Arrays) -> Any:
    details = about.get(prefix.removesuffix("_"))
    return None if details is None else (details, beginning_with(prefix, arrays))


def _results(fitted: Fitted, kept: _Kept) -> Results:
    about, arrays = kept.about, kept.arrays
    # Where kinds of models have fixed weights, all graphs have those of probabilities.
    unknown = math.nan if class_of(fitted.score).has_evidence else 0.0
    evidence = unknown if about["log_evidence"] is None else float(about["log_evidence"])
    sums, shares = None, _shares(fitted.workspace, about)
    if "families" in arrays:
        families: Families = kept.floats("families")
        if allowed_families.are_in(arrays):
            lists = allowed_families.lists_in(arrays, int(about["max_parents"]))
            families = allowed_families.by_node("families", arrays, lists)
        paths = kept.floats("paths") if "paths" in arrays else None
        error, engine = float(about["error_bound"]), about["engine"]
        sums = Sums(fitted.modularity, evidence, families, kept.floats("edges"), paths, error, engine, shares)
        if isinstance(fitted.workspace, MixedWorkspace):
            # Draws then come from the same parts, to the last bit.
            fitted.workspace.negligible = frozenset(range(len(shares))) - frozenset(weightiest(np.array(shares)))
        if fitted.modularity == "structure":
            fitted.workspace.structure_log_evidence = evidence
    results = Results(evidence, kept.floats("edges"), about["exact"], sums, about["engine"], about["verdict"], shares)
    return replace(results, edges_by_kind=kept.floats("edges_by_kind")) if "edges_by_kind" in arrays else results


def _shares(workspace: Workspace, about: dict[str, Any]) -> tuple[float, ...]:
    """The probability of each cell of what a model averages over."""
    if not isinstance(workspace, MixedWorkspace):
        return (1.0,)
    shares = tuple(map(float, about["mixture"]["shares"]))
    if len(shares) != len(workspace.parts) or min(shares) < 0.0 or not math.isclose(sum(shares), 1.0, abs_tol=1e-9):
        raise ValueError(f"shares {shares} of a mixture of {len(workspace.parts)}")
    return shares


def _method(path: str | os.PathLike[str], described: Any) -> Method:
    """The method of a file: an object, or the name of one of ours."""
    if isinstance(described, str) and described not in METHODS.names():
        raise InputError(
            f"{os.fspath(path)!r} was fitted by the method {described!r}, which is not known here. Install the package "
            "that brings it, or import it before loading the model."
        )
    method = resolve_method(described)
    if method is None:
        raise ValueError("no method")
    return method


@dataclass(frozen=True, eq=False)
class _Kept:
    """What a file holds, and where the model that is made of it works."""

    about: dict[str, Any]
    arrays: Arrays
    names: tuple[str, ...]
    engine: Engine
    reporter: Reporter

    def floats(self, name: str) -> NDArray[np.float64]:
        """One of the arrays."""
        return self.arrays[name].astype(np.float64)

    def workspace(self, method: Method, chosen: Mapping[str, Any]) -> Workspace:
        """The weights, and what the method keeps beside them."""
        about, arrays, engine, reporter = self.about, self.arrays, self.engine, self.reporter
        max_parents = int(about["max_parents"])
        workspace: Workspace
        if about.get("mixture") is not None:
            workspace = self._mixed(chosen)
        elif kept_sets.are_in(arrays):
            workspace = WideWorkspace(kept_sets.considered_in(about, arrays), max_parents, engine, reporter)
        elif about["small_size"] is None:
            workspace = self._summing("log_weights")
        else:
            candidates, inner, small = arrays["candidates"].astype(np.int64), self.floats("inner"), self.floats("small")
            missed = self.floats("missed") if "missed" in arrays else None
            weights = FamilyWeights(max_parents, about["small_size"], candidates, inner, small, missed)
            workspace = Workspace(weights, engine, reporter)
        if method.kept_arrays.keys() & arrays.keys():
            check_arrays(method.kept_arrays, arrays, Sizes(nodes=len(self.names)))
            workspace.kept.update({name: arrays[name] for name in method.kept_arrays})
        check_fields(method.kept_facts, about, Sizes(), may_lack=tuple(method.kept_facts))
        workspace.facts.update({name: about.get(name) for name in method.kept_facts})
        return workspace

    def _summing(self, name: str) -> SummingWorkspace:
        max_parents = int(self.about["max_parents"])
        if allowed_families.are_in(self.arrays):
            lists = allowed_families.lists_in(self.arrays, max_parents)
            return ComponentWorkspace(
                lists, allowed_families.by_node(name, self.arrays, lists), self.engine, self.reporter
            )
        check_weights(self.arrays[name], max_parents, self.names)
        return ExactWorkspace(self.floats(name), max_parents, self.engine, self.reporter)

    def _mixed(self, chosen: Mapping[str, Any]) -> MixedWorkspace:
        kept, ordinary = self.about["mixture"], int(self.about["mixture"]["ordinary"])
        # Code of the user's is kept as words, which average over nothing.
        sizes = chosen["score"].mixture() if isinstance(chosen["score"], Score) else None
        densities = chosen["prior"].mixture(ordinary) if isinstance(chosen["prior"], StructurePrior) else None
        axes = [axis for axis in (sizes, densities) if axis is not None]
        pairs = zip(axes, kept["settings"], strict=False)
        if not axes or len(axes) != len(kept["settings"]) or not all(axis.is_as_kept(own) for axis, own in pairs):
            raise ValueError("the values that it averages over")
        grid = Grid(tuple(axes), tuple(map(float, kept["log_priors"])))
        scored = 1 if sizes is None else len(sizes.values)
        parts = [self._summing(f"part{place}_log_weights") for place in range(scored)]
        make = MixedWorkspace if densities is None else tilted_over
        workspace = make(grid, parts, self.engine, self.reporter, ordinary=ordinary)
        for part, evidence in zip(workspace.parts, kept["structure_log_evidences"], strict=True):
            part.structure_log_evidence = None if evidence is None else float(evidence)
        return workspace
