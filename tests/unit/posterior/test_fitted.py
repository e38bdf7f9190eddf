"""What a fitted model keeps, when it computes, and what it does after its engine is gone or its settings are wrong."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.tools.wording import Said

from dagpost import DagPosterior, ThreadEngine, datasets
from dagpost.errors import InputError, ResourceError

TABLE = datasets.load("coronary")


class Closing(ThreadEngine):
    """Threads that refuse to work once they are closed."""

    name = ""
    shut = False

    @property
    def closed(self) -> bool:
        return self.shut

    def close(self) -> None:
        self.shut = True

    def run(self, block: Any, items: Any) -> Any:
        assert not self.shut, "the engine is closed"
        return super().run(block, items)


def test_what_is_left_to_compute_runs_on_threads_once_the_engine_is_closed() -> None:
    with Closing(1) as engine:
        model = DagPosterior(prior="uniform", score="bdeu", method="iw-dds", engine=engine, seed=1).fit(TABLE)
        sample = model.sample(200, seed=1)
    here = DagPosterior(prior="uniform", score="bdeu", method="iw-dds", seed=1).fit(TABLE)
    assert model.edge_probabilities_.equals(here.edge_probabilities_)
    assert sample.covered == here.sample(200, seed=1).covered


@pytest.mark.parametrize("wrong", [{"max_parents": -1}, {"method": "dds"}, {"modularity": "both"}])
def test_wrong_settings_leave_the_model_of_before(wrong: dict[str, Any]) -> None:
    model = DagPosterior(prior="uniform", score="bdeu").fit(TABLE)
    before = model.log_evidence_
    model.set_params(**wrong)
    with pytest.raises(InputError):
        model.fit(TABLE)
    assert model.log_evidence_ == before


def test_paths_that_are_not_kept_are_not_those_of_the_other_posterior() -> None:
    model = DagPosterior(prior="uniform", score="bdeu", seed=1, samples=200).fit(TABLE)
    expected = model.probability("Smoking ~> Pressure").value
    results = model.fitted_.results
    assert results.sums is not None
    model.fitted_.remember("results", replace(results, sums=results.sums._replace(paths=None)))
    found = model.probability("Smoking ~> Pressure")
    assert found.rule != "exact" or abs(found.value - expected) < 1e-9
    matrix = model.probability_matrix("~>").loc["Smoking", "Pressure"]
    np.testing.assert_allclose(matrix, expected, atol=0.15)


def test_too_many_best_graphs_are_refused_with_the_largest_number_that_fits(said: Said) -> None:
    with said.raises(ResourceError):
        DagPosterior(prior="uniform", score="bdeu").fit(TABLE).best(10**12)


def test_effects_without_rows_are_refused_before_a_sample_is_drawn(tmp_path: Any, said: Said) -> None:
    DagPosterior(prior="uniform", score="bdeu", method="kbest").fit(TABLE).save(tmp_path / "model.dagpost")
    loaded = DagPosterior.load(tmp_path / "model.dagpost")
    with said.raises(InputError):
        loaded.effect("Smoking", "Pressure")
    assert loaded.fitted_.drawn is None
