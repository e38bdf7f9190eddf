"""Models of more than 64 columns whose graphs come from chains: samples, files, going on, and what is refused."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.tools.broken_off import StoppingEngine, broken_off
from tests.tools.considered import random_graph, wide_model
from tests.tools.wording import Said
from tests.unit.mcmc.test_chains import Interrupted

from dagpost import Checkpoint, DagPosterior, DagSample, InputError
from dagpost._tools.progress import NO_PROGRESS
from dagpost._tools.schema import is_acyclic
from dagpost.engines import ThreadEngine

pytestmark = pytest.mark.filterwarnings("ignore::dagpost.errors.DagpostWarning")


@pytest.fixture(scope="module")
def model() -> DagPosterior:
    return wide_model()


@pytest.fixture(scope="module")
def sample(model: DagPosterior) -> DagSample:
    return model.sample(500, seed=3)


def test_a_sample_has_graphs_of_considered_sets(model: DagPosterior, sample: DagSample) -> None:
    assert sample.parents.shape == (500, 70, 2)
    assert is_acyclic(sample.parents).all()
    np.testing.assert_allclose(model.fitted_.workspace.log_joint(sample.parents), sample.log_joint, rtol=1e-12)


def test_a_sample_in_a_file_goes_on_as_if_never_broken_off(
    model: DagPosterior, sample: DagSample, tmp_path: Path
) -> None:
    sample.save(tmp_path / "dags")
    again = DagSample.load(tmp_path / "dags")
    assert again == sample
    longer, whole = model.sample(700, resume=again), model.sample(700, seed=3)
    assert longer == whole
    assert longer.chains is not None
    assert whole.chains is not None
    for name, own in whole.chains.standing.items():
        np.testing.assert_array_equal(longer.chains.standing[name], own)


def test_a_model_in_a_file_draws_and_answers_as_before(model: DagPosterior, sample: DagSample, tmp_path: Path) -> None:
    edges = model.edge_probabilities_
    model.save(tmp_path / "model")
    again = DagPosterior.load(tmp_path / "model")
    assert again.sample(500, seed=3) == sample
    assert (again.edge_probabilities_ == edges).to_numpy().all()
    assert again.own_sample() == model.own_sample()
    assert (again.verdict_, again.method_, again.exact_) == (model.verdict_, "block-gibbs", False)
    assert math.isnan(again.log_evidence_)
    statements = ["V1 ~> V9", "V1 -> V2", "pa(V3) = {}", "V5 -- V6"]
    assert again.probability(statements) == model.probability(statements)
    assert again.sample(700, resume=sample) == model.sample(700, seed=3)


def test_graphs_do_not_depend_on_threads(model: DagPosterior, sample: DagSample) -> None:
    model.fitted_.workspace.run_on(ThreadEngine(1), NO_PROGRESS)
    assert model.sample(500, seed=3) == sample


def test_a_run_that_is_killed_anywhere_has_the_same_graphs(
    model: DagPosterior, sample: DagSample, tmp_path: Path
) -> None:
    def attempt(engine: Any, checkpoint: Checkpoint | None) -> DagSample:
        model.fitted_.workspace.run_on(engine, NO_PROGRESS)
        return model.sample(500, seed=3, checkpoint=checkpoint)

    counting = StoppingEngine(10**6)
    assert attempt(counting, None) == sample
    results = 10**6 - int(counting.left)
    for place in (0, results // 2, results - 1):
        found = broken_off(attempt, tmp_path / "part", place)
        assert found == sample
    model.fitted_.workspace.run_on(ThreadEngine(2), NO_PROGRESS)


def test_an_interrupt_keeps_the_graphs_that_there_are(model: DagPosterior, sample: DagSample) -> None:
    workspace = model.fitted_.workspace
    try:
        workspace.run_on(Interrupted(1), NO_PROGRESS)
        with pytest.raises(KeyboardInterrupt):
            model.sample(500, seed=3)
        # A round of burn-in, and one that is kept.
        workspace.run_on(Interrupted(5), NO_PROGRESS)
        part = model.sample(500, seed=3)
    finally:
        workspace.run_on(ThreadEngine(2), NO_PROGRESS)
    assert len(part) == 200
    assert model.sample(500, resume=part) == sample


def test_what_needs_all_families_is_refused_with_a_way_out(model: DagPosterior, said: Said) -> None:
    with said.raises(InputError):
        model.best(3)
    with said.raises(InputError):
        model.score_samples(np.zeros((2, 70)))
    with said.raises(InputError):
        model.family_probabilities("V1")
    with said.raises(InputError):
        model.sensitivity()
    with said.raises(InputError):
        model.log_joint([("V0", "V40")])


def test_the_weight_of_a_graph_is_looked_up(model: DagPosterior, sample: DagSample) -> None:
    assert model.log_joint(sample.parents[7]) == pytest.approx(sample.log_joint[7], rel=1e-12)
    cyclic = random_graph(model.fitted_.workspace.considered, 3)
    with pytest.raises(InputError, match="cycle"):
        model.log_joint(cyclic)
