"""Methods that need no sums over all graphs get none: evidence and edges are computed when they are first used."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted
from tests.tools.answers import facts
from tests.tools.engines import RecordingEngine

from dagpost import DagPosterior, DagSample, datasets
from dagpost.checkpoints import Checkpoint
from dagpost.methods.augmentation import Augmentation
from dagpost.methods.registry import METHODS

#: The methods that wait, each with the posterior that it belongs to.
LAZY = [("iw-dds", "structure"), ("linear-extensions", "structure"), ("kbest", "structure"), ("dds", "order")]
#: What reads evidence or edges for the first time.
READERS: dict[str, Callable[[DagPosterior], Any]] = {
    "log_evidence_": lambda model: model.log_evidence_,
    "edge_probabilities_": lambda model: model.edge_probabilities_,
    "exact_": lambda model: model.exact_,
    "engine_": lambda model: model.engine_,
    "probability": lambda model: model.probability("Smoking -> Pressure"),
    "probability_matrix": lambda model: model.probability_matrix("->"),
    "top_families": lambda model: model.top_families("Smoking"),
}

lazily = pytest.mark.parametrize(("method", "modularity"), LAZY)


def settings_of(method: str, modularity: str, **more: Any) -> dict[str, Any]:
    return {"score": "bdeu", "method": method, "modularity": modularity, "samples": 50, "seed": 1, **more}


def fitted(method: str, modularity: str, **more: Any) -> DagPosterior:
    return DagPosterior(**{"prior": "uniform", **settings_of(method, modularity, **more)}).fit(
        datasets.load("coronary")
    )


def exact(modularity: str) -> DagPosterior:
    """The same posterior by a method that is left to us, which computes everything at once."""
    model = DagPosterior(prior="uniform", score="bdeu", modularity=modularity).fit(datasets.load("coronary"))
    assert model.fitted_.recall("results") is not None
    return model


def test_these_methods_wait_and_no_others() -> None:
    chains = {name for name, kind in METHODS.classes().items() if kind.draws == "chains"} - {Augmentation.name}
    waiting = {name for name, kind in METHODS.classes().items() if not kind.edges_at_fit}
    assert waiting == {name for name, _ in LAZY} | chains


@lazily
def test_fitting_makes_no_sums(method: str, modularity: str) -> None:
    engine = RecordingEngine()
    model = fitted(method, modularity, engine=engine)
    assert engine.sums == []
    assert model.fitted_.recall("results") is None
    assert not model.fitted_.workspace.has_forward
    assert not model.fitted_.workspace.has_structure
    assert (model.method_, model.target_, model.n_features_in_) == (method, modularity, 6)


def test_fitting_by_layers_makes_them() -> None:
    """The engine of these tests notes what it is to note."""
    engine = RecordingEngine()
    assert fitted("exact-layers", "structure", engine=engine).fitted_.recall("results") is not None
    assert engine.sums == ["structure_posterior"]


@pytest.mark.parametrize("method", ["dds", "linear-extensions"])
def test_the_choice_left_to_us_is_computed_at_once(method: str) -> None:
    """Who asks for no method asks for the posterior."""
    modularity = "order" if method == "dds" else "structure"
    engine = RecordingEngine()
    model = fitted("auto", modularity, engine=engine)
    assert model.fitted_.recall("results") is not None
    assert engine.sums


@lazily
def test_drawing_makes_only_the_sums_that_it_needs(method: str, modularity: str) -> None:
    engine = RecordingEngine()
    model = fitted(method, modularity, engine=engine)
    sample = model.sample(20, seed=2)
    assert engine.sums == ([] if method == "kbest" else ["forward_table"])
    assert model.fitted_.recall("results") is None
    known = list(engine.sums)
    expected = exact(modularity).log_evidence_
    assert sample.log_evidence == pytest.approx(expected, abs=1e-9)
    assert engine.sums == known + ([] if method == "dds" else ["structure_evidence"])
    assert sample.log_evidence == pytest.approx(expected, abs=1e-9)
    assert len(engine.sums) == len(known) + (method != "dds"), "once it is known it is not summed again"


@lazily
@pytest.mark.parametrize("reader", READERS)
def test_whoever_reads_first_gets_the_results_that_a_fit_at_once_gives(
    method: str, modularity: str, reader: str
) -> None:
    model, expected = fitted(method, modularity), exact(modularity)
    found, wanted = READERS[reader](model), READERS[reader](expected)
    if isinstance(wanted, pd.DataFrame):
        pd.testing.assert_frame_equal(found, wanted, check_exact=True)
    elif isinstance(wanted, pd.Series):
        pd.testing.assert_series_equal(found, wanted, check_exact=True)
    else:
        assert found == wanted
    assert model.fitted_.recall("results") is not None


@lazily
def test_results_are_computed_once(method: str, modularity: str) -> None:
    engine = RecordingEngine()
    model = fitted(method, modularity, engine=engine)
    for read in READERS.values():
        read(model)
    sums = ["forward_table", "family_probabilities"] if modularity == "order" else ["structure_posterior"]
    assert engine.sums == sums


@lazily
def test_scikit_learn_takes_such_a_model_for_fitted(method: str, modularity: str) -> None:
    engine = RecordingEngine()
    model = DagPosterior(**{"prior": "uniform", **settings_of(method, modularity, engine=engine)})
    with pytest.raises(NotFittedError):
        check_is_fitted(model)
    model.fit(datasets.load("coronary"))
    check_is_fitted(model)
    assert engine.sums == [], "asking whether it is fitted computes nothing"
    with pytest.raises(NotFittedError):
        check_is_fitted(clone(model))


@lazily
def test_a_pickled_model_computes_the_same_where_it_arrives(method: str, modularity: str) -> None:
    model = fitted(method, modularity)
    again = pickle.loads(pickle.dumps(model))
    assert again.fitted_.recall("results") is None
    assert again.log_evidence_ == model.log_evidence_
    pd.testing.assert_frame_equal(again.edge_probabilities_, model.edge_probabilities_, check_exact=True)
    assert again.sample(20, seed=3) == model.sample(20, seed=3)


@lazily
def test_a_pickled_sample_knows_its_evidence(method: str, modularity: str) -> None:
    sample = fitted(method, modularity).sample(20, seed=3)
    again = pickle.loads(pickle.dumps(sample))
    assert again == sample
    assert again.log_evidence == sample.log_evidence == pytest.approx(exact(modularity).log_evidence_, abs=1e-9)
    assert again.target.words == sample.target.words
    assert facts(again.probability("Smoking ~> Pressure")) == facts(sample.probability("Smoking ~> Pressure"))


@lazily
def test_parts_and_sums_of_samples_do_not_ask_for_the_evidence(method: str, modularity: str) -> None:
    engine = RecordingEngine()
    model = fitted(method, modularity, engine=engine)
    sample = model.sample(20, seed=3)
    before = list(engine.sums)
    parts: list[DagSample] = [sample[:10], sample[[1, 2]], sample.unique()]
    if method != "kbest":
        parts.append(sample + model.sample(20, seed=4))
    assert engine.sums == before
    for part in parts:
        assert part.log_evidence == sample.log_evidence


@lazily
def test_with_a_checkpoint_everything_is_computed_in_the_fit(method: str, modularity: str, tmp_path: Path) -> None:
    engine = RecordingEngine()
    model = DagPosterior(**{"prior": "uniform", **settings_of(method, modularity, engine=engine)})
    model.fit(datasets.load("coronary"), checkpoint=Checkpoint(tmp_path / "run.partial", seconds=0))
    assert model.fitted_.recall("results") is not None
    made = list(engine.sums)
    assert made
    assert model.log_evidence_ == exact(modularity).log_evidence_
    assert model.edge_probabilities_.equals(exact(modularity).edge_probabilities_)
    assert engine.sums == made


@lazily
def test_with_a_checkpoint_a_sample_knows_its_evidence(method: str, modularity: str, tmp_path: Path) -> None:
    engine = RecordingEngine()
    model = fitted(method, modularity, engine=engine)
    sample = model.sample(20, seed=3, checkpoint=Checkpoint(tmp_path / "run.partial", seconds=0))
    made = list(engine.sums)
    assert not math.isnan(sample.log_evidence)
    assert engine.sums == made


@lazily
def test_a_saved_model_has_its_results(method: str, modularity: str, tmp_path: Path) -> None:
    fitted(method, modularity).save(tmp_path / "model")
    again = DagPosterior.load(tmp_path / "model")
    assert again.fitted_.recall("results") is not None
    np.testing.assert_array_equal(again.edge_probabilities_, exact(modularity).edge_probabilities_)


@lazily
def test_fitting_again_forgets_what_was_computed(method: str, modularity: str) -> None:
    model = fitted(method, modularity)
    first = model.edge_probabilities_
    model.set_params(max_parents=1).fit(datasets.load("coronary"))
    assert model.fitted_.recall("results") is None
    assert not model.edge_probabilities_.equals(first)
