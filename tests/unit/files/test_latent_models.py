"""Models of latent numbers in files: with rows, bounds and chains, which go on bit for bit; nothing forged gets in."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.tools.changed_files import cell, changed, entry, shorter, without
from tests.tools.gapped import fitted_to, same_chains
from tests.tools.latent import clinic, frame_of, latent_model, without_gaps
from tests.tools.wording import Said

from dagpost import DagPosterior, DagSample, InputError, to_arviz
from dagpost.files import archive

pytestmark = pytest.mark.filterwarnings("ignore::dagpost.DagpostWarning")

MODELS = {"with gaps": latent_model, "without gaps": without_gaps}


@pytest.fixture(params=list(MODELS))
def model(request: pytest.FixtureRequest) -> DagPosterior:
    return MODELS[request.param]()


def test_a_latent_model_is_read_as_it_was_written_and_goes_on(model: DagPosterior, tmp_path: Path) -> None:
    model.save(tmp_path / "m")
    found = DagPosterior.load(tmp_path / "m", threads=2, progress=False)
    assert found.edge_probabilities_.equals(model.edge_probabilities_)
    assert found.fitted_.gaps == model.fitted_.gaps
    assert found.fitted_.completes
    assert found.fitted_.table is not None
    assert found.fitted_.table.fingerprint() == model.fitted_.data.fingerprint
    assert same_chains(found.own_sample(), model.own_sample())
    assert found.verdict_ == model.verdict_
    assert repr(found).partition("): ")[2] == repr(model).partition("): ")[2]
    longer = found.sample(330, resume=found.own_sample())
    assert same_chains(longer, model.sample(330, seed=1))
    longer.save(tmp_path / "s")
    assert same_chains(DagSample.load(tmp_path / "s"), longer)
    assert repr(found.probability("age ~> pressure")) == repr(model.probability("age ~> pressure"))


def test_a_latent_model_survives_a_pickle(model: DagPosterior) -> None:
    # What is counted for effects stays with it.
    model.effect("age", "pressure", draws=5, seed=1)
    found = pickle.loads(pickle.dumps(model))
    assert found.edge_probabilities_.equals(model.edge_probabilities_)
    assert same_chains(found.sample(150, seed=2), model.sample(150, seed=2))


def test_kept_latent_numbers_have_seven_digits_and_the_state_has_all() -> None:
    record = latent_model().own_sample().chains
    assert record is not None
    assert record.series["cells"].dtype == np.float32
    assert record.standing["state_cells"].dtype == np.float64


def test_bounds_and_the_order_of_levels_are_in_the_file(tmp_path: Path) -> None:
    latent_model().save(tmp_path / "m")
    found, table = DagPosterior.load(tmp_path / "m").fitted_.table, clinic()
    assert found is not None
    assert found.ordered == table.ordered
    mine, its = table.bounds[4], found.bounds[4]
    assert mine is not None
    assert its is not None
    assert np.array_equal(mine, its)


def test_arviz_takes_a_latent_model() -> None:
    pytest.importorskip("arviz_base")
    posterior = to_arviz(without_gaps())["posterior"]
    assert posterior["edge"].dims == ("chain", "draw", "parent", "child")


@pytest.mark.long
def test_levels_and_numbers_with_gaps_are_in_a_file_with_the_edges_that_the_model_rules_out(tmp_path: Path) -> None:
    model = fitted_to(frame_of()[["smoking", "sex", "age", "marker"]], score="conditional-gaussian", samples=20)
    model.save(tmp_path / "m")
    found = DagPosterior.load(tmp_path / "m", threads=1, progress=False)
    assert found.fitted_.settings["sinks"] == ["age", "marker"]
    assert found.edge_probabilities_.equals(model.edge_probabilities_)
    assert same_chains(found.own_sample(), model.own_sample())
    with pytest.raises(InputError, match="edges that its score rules out"):
        DagPosterior.load(changed(model, tmp_path, entry(["age"], "settings", "sinks")))


def out_of_order(about: dict[str, Any], arrays: dict[str, Any]) -> None:
    arrays["sample_series_cells"] = -arrays["sample_series_cells"]


def bounds_of_known_cells(about: dict[str, Any], arrays: dict[str, Any]) -> None:
    arrays["rows_bounds4"] = np.tile([0.0, 1.0], (len(arrays["rows_bounds4"]), 1))


def bounds_of_levels(about: dict[str, Any], arrays: dict[str, Any]) -> None:
    arrays["rows_bounds0"] = arrays["rows_bounds4"]


def beyond_a_bound(about: dict[str, Any], arrays: dict[str, Any]) -> None:
    # The censored cell of the marker, the last column, is the last of all.
    arrays["sample_series_cells"] = arrays["sample_series_cells"].copy()
    arrays["sample_series_cells"][:, -1] = 5.0


@pytest.mark.parametrize(
    "change",
    [
        out_of_order,
        beyond_a_bound,
        shorter("sample_series_cells"),
        cell("sample_series_cells", np.inf),
        bounds_of_known_cells,
        bounds_of_levels,
        entry(3, "latent"),
        entry("x", "latent"),
        entry(None, "rows"),
        entry(["age"], "settings", "sinks"),
        without("sample_series_cells"),
        entry(["exact-layers", "as asked"], "method"),
        entry("bge", "settings", "score"),
    ],
)
def test_what_a_latent_model_must_not_hold_is_refused(change: Any, tmp_path: Path, said: Said) -> None:
    with said.raises(InputError):
        DagPosterior.load(changed(latent_model(), tmp_path, change))


def test_chains_do_not_resume_from_latent_numbers_out_of_order(tmp_path: Path) -> None:
    model = latent_model()
    model.own_sample().save(tmp_path / "x")
    about, arrays = archive.read_archive(tmp_path / "x", "sample")
    arrays["standing_state_cells"] = -arrays["standing_state_cells"]
    archive.write_archive(tmp_path / "y", "sample", about, arrays)
    with pytest.raises(InputError, match="resume"):
        model.sample(330, resume=DagSample.load(tmp_path / "y"))
