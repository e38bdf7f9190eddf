"""What every method brings, whoever wrote it: a name, words, a target, JSON, a cost; and it fits, draws and is kept."""

from __future__ import annotations

import json
import math
import pickle
import warnings
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dagpost import DagPosterior, DagpostWarning, DagSample, datasets
from dagpost._tools.json_settings import from_json
from dagpost.data.table import Table
from dagpost.engines import ThreadEngine
from dagpost.methods.augmentation import Augmentation
from dagpost.methods.base import Method
from dagpost.methods.choice import check_modularity, resolve_method, target_named
from dagpost.methods.exact_layers import ExactLayers
from dagpost.methods.registry import METHODS
from dagpost.methods.targets import MODULARITIES, Target
from dagpost.posterior.plan import plan_sample
from dagpost.posterior.weights import ESTIMATORS

DRAWS = ("independent", "weighted", "chains", "listed")
#: Small settings for methods that have them: these tests are about the plumbing.
SMALL = {"chains": 2, "thinning": 2, "burn_in": 50, "replicates": 20, "given_table": ExactLayers.name}


def small(name: str) -> Method:
    kind: Any = METHODS.named(name)
    return kind(**{entry.name: SMALL[entry.name] for entry in fields(kind) if entry.name in SMALL})


@pytest.fixture(params=METHODS.names())
def method(request: pytest.FixtureRequest) -> Method:
    return small(request.param)


@pytest.fixture(scope="module")
def models() -> dict[str, DagPosterior]:
    return {}


@pytest.fixture
def model(method: Method, models: dict[str, DagPosterior]) -> DagPosterior:
    """The model of each method, fitted once."""
    if method.name not in models:
        modularity: Any = method.modularity or "structure"
        table = datasets.load("coronary")
        if isinstance(method, Augmentation):
            table = with_gaps(table)
        unfitted = DagPosterior(prior="uniform", score="bdeu", method=method, modularity=modularity, samples=20, seed=1)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "1 cell has no value|Do not trust it yet", DagpostWarning)
            models[method.name] = unfitted.fit(table)
    return models[method.name]


def with_gaps(table: Table) -> Table:
    """The table with one cell of a row that counts once erased."""
    gaps = np.zeros((len(table.names), table.rows), dtype=bool)
    gaps[0, np.flatnonzero(table.weights == 1)[0]] = True
    columns = tuple(np.where(own, 0, column) for own, column in zip(gaps, table.columns, strict=True))
    return replace(table, columns=columns, gaps=gaps)


def drawn(model: DagPosterior, count: int, seed: int = 5) -> DagSample:
    """A sample, whatever its chains are worth."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DagpostWarning)
        return model.sample(count, seed=seed)


# What it says of itself


def test_a_method_has_a_name_words_and_a_kind_of_draws(method: Method) -> None:
    assert method.name == method.name.lower().strip()
    assert method.summary
    assert not method.summary.endswith(".")
    assert isinstance(method.citation, str)
    assert method.draws in DRAWS
    assert method.estimator in ESTIMATORS
    assert (type(method).__doc__ or "").strip()


def test_a_method_is_found_by_its_name_and_stands_for_itself(method: Method) -> None:
    found = resolve_method(method.name)
    assert type(found) is type(method)
    assert resolve_method(method) is method
    assert hash(method) == hash(small(method.name))
    assert method == small(method.name)


def test_a_target_brings_its_words(method: Method) -> None:
    target = method.target
    assert isinstance(target, Target)
    assert target.words
    assert target.explanation
    assert target.measure == ("probability" if target.posterior else "share")
    assert target_named(str(target)).words == target.words
    assert pickle.loads(pickle.dumps(target)).words == target.words
    if method.modularity is None:
        assert target in type(method).targets()
        assert target not in MODULARITIES
    else:
        assert target is MODULARITIES[method.modularity]


def test_a_method_of_one_posterior_is_refused_with_the_other(method: Method) -> None:
    for modularity in MODULARITIES:
        if method.modularity in (None, modularity):
            check_modularity(method, modularity)
        else:
            with pytest.raises(ValueError, match=f"modularity='{method.modularity}'"):
                check_modularity(method, modularity)


def test_a_method_goes_through_json_and_comes_back(method: Method) -> None:
    described = method.to_json()
    assert json.loads(json.dumps(described)) == described
    assert resolve_method(from_json(described, METHODS)) == method


def test_a_method_says_what_it_costs(method: Method) -> None:
    assert method.times_scored() >= 1
    assert method.bytes_of_tables(10, 3, 100) >= 0
    assert method.usual_count(77) > 0
    cost = method.cost_of_draws(1000, 10, 3, 2)
    if cost is not None:
        assert cost.what.startswith("1,000 graphs")
        assert cost.seconds > 0.0
        assert cost.size > 0
        assert cost.uncertainty >= 1.0
        more = method.cost_of_draws(100_000, 10, 3, 2)
        assert more is not None
        assert more.seconds > cost.seconds
    method.check_room(10, 3, ThreadEngine(1))


@pytest.mark.filterwarnings("ignore:Do not trust it")
def test_a_plan_names_the_method_and_its_stages(method: Method, model: DagPosterior) -> None:
    table = datasets.load("coronary")
    for plan in (model.plan(table), plan_sample(model.fitted_, 20)):
        assert plan.method == method.name
        assert math.isfinite(plan.seconds)
        assert plan.fits
    assert model.plan(table).stages[0].stage == "scores"
    assert f"Method: {method.name}." in str(model.plan(table))
    assert model.plan(table).exact == model.exact_


# What it does


@pytest.mark.filterwarnings("ignore:Do not trust it")
def test_a_method_fits_a_table_and_answers(method: Method, model: DagPosterior) -> None:
    assert model.method_ == method.name
    assert model.target_ == method.target
    assert model.edge_probabilities_.shape == (6, 6)
    assert ((model.edge_probabilities_ >= 0.0) & (model.edge_probabilities_ <= 1.0)).all(axis=None)
    summed = method.modularity is not None and method.draws != "chains"
    assert model.exact_ == (type(method).summed is not Method.summed or summed)
    estimate = model.probability("Smoking -> Pressure")
    assert estimate.modularity == method.target
    assert method.target.words in str(estimate)
    assert (estimate.rule == "exact") == model.exact_


def test_a_method_draws_graphs_of_its_kind(method: Method, model: DagPosterior) -> None:
    sample = drawn(model, 20)
    assert len(sample) == 20
    assert (sample.method, sample.target, sample.draws) == (method.name, method.target, method.draws)
    assert sample.independent == (method.draws == "independent")
    assert sample.from_chains == (method.draws == "chains") == (sample.chains is not None)
    assert sample.listed == (method.draws == "listed")
    assert sample.weights.sum() == pytest.approx(1.0)
    assert sample.provenance["method"] == method.to_json()
    assert sample.provenance["engine"] == "threads"
    assert sample == drawn(model, 20)
    assert 0.0 <= sample.probability("Smoking ~> Pressure").value <= 1.0


def test_a_precision_is_guaranteed_by_independent_draws_of_a_posterior_alone(
    method: Method, model: DagPosterior
) -> None:
    assert method.guarantees_precision == (method.draws == "independent" and method.target.posterior)
    if method.guarantees_precision:
        assert model.sample(precision=0.2, seed=1).guarantee == (0.2, 0.95)
    else:
        with pytest.raises(ValueError, match="precision"):
            model.sample(precision=0.2)


def test_a_model_and_its_sample_come_back_from_files(method: Method, model: DagPosterior, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DagpostWarning)
        model.save(tmp_path / "model")
    again = DagPosterior.load(tmp_path / "model")
    assert again.fitted_.method == method
    assert (again.method_reason_, again.target_, again.exact_) == (model.method_reason_, method.target, model.exact_)
    pd.testing.assert_frame_equal(again.edge_probabilities_, model.edge_probabilities_)
    known, unknown = getattr(again, "log_evidence_", None), getattr(model, "log_evidence_", None)
    assert known == pytest.approx(unknown, nan_ok=True)
    sample = drawn(model, 20)
    assert drawn(again, 20) == sample
    sample.save(tmp_path / "sample")
    kept = DagSample.load(tmp_path / "sample")
    assert kept == sample
    assert (kept.draws, kept.target.words) == (sample.draws, sample.target.words)


def test_a_model_and_its_sample_are_reported(method: Method, model: DagPosterior, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DagpostWarning)
        pages = [model.report(tmp_path / "model.html"), drawn(model, 20).report(tmp_path / "sample.html")]
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert method.name in text
        assert text.rstrip().endswith("</html>")
