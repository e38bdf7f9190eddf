"""Every observation is scored once, by a model that was fitted without it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.tools.wording import Said

from dagpost import BIC, DagPosterior, HybridMCMC, PartitionMCMC, datasets
from dagpost.data import as_table
from dagpost.errors import DagpostWarning, InputError, ResourceError
from dagpost.methods.augmentation import Augmentation
from dagpost.methods.kbest import KBest
from dagpost.prediction import cross_validate, cross_validation

CORONARY = datasets.load("coronary")


def model_with(**settings: Any) -> DagPosterior:
    return DagPosterior(**{"prior": "uniform", "samples": 200, "seed": 1, "max_parents": 2, "threads": 1, **settings})


def small_table(rows: int = 60) -> Any:
    generator = np.random.default_rng(3)
    codes = generator.integers(0, 3, (rows, 4))
    codes[:, 1] = (codes[:, 0] + (generator.random(rows) < 0.2)) % 3
    return as_table(codes)


def without_chance(**settings: Any) -> DagPosterior:
    """A model whose sample is one graph over and over, so that a score does not depend on the draws."""
    return model_with(method="exact-layers", required=[("V0", "V1")], max_parents=1, samples=1, **settings)


def only_edge() -> dict[str, Any]:
    names = [f"V{place}" for place in range(4)]
    others = [(a, b) for a in names for b in names if a != b and (a, b) != ("V0", "V1")]
    return {"forbidden": others}


@pytest.mark.parametrize("score", ["bdeu", BIC()], ids=["bdeu", "bic"])
def test_scores_are_those_of_models_fitted_by_hand_without_the_fold(score: Any) -> None:
    table = small_table()
    found = cross_validate(without_chance(score=score, **only_edge()), table, folds=4)
    assert len(found.log_scores) == len(found.folds) == table.rows
    assert np.bincount(found.folds).tolist() == [15] * 4
    for fold in range(4):
        training, new = (
            replace(table, columns=tuple(column[rows] for column in table.columns))
            for rows in (found.folds != fold, found.folds == fold)
        )
        by_hand = without_chance(score=score, **only_edge()).fit(training).score_samples(new)
        np.testing.assert_allclose(found.log_scores[found.folds == fold], by_hand, rtol=1e-12)


def test_continuous_columns_are_scored_as_well() -> None:
    values = np.random.default_rng(1).normal(size=(40, 3))
    values[:, 1] += 2.0 * values[:, 0]
    found = cross_validate(model_with(score="bge"), values, folds=5)
    nothing = cross_validate(model_with(score="bge", max_parents=0), values, folds=5)
    gain, standard_error = found.gain_over(nothing)
    assert gain == pytest.approx(found.mean - nothing.mean)
    assert 0.0 < standard_error < gain


def test_a_row_with_a_count_is_so_many_observations() -> None:
    assert CORONARY.counts is not None
    found = cross_validate(model_with(), CORONARY, folds=3)
    assert len(found.log_scores) == CORONARY.observations == 1841
    starts = np.cumsum(CORONARY.counts) - CORONARY.counts
    largest = int(np.argmax(CORONARY.counts))
    of_row = slice(starts[largest], starts[largest] + CORONARY.counts[largest])
    for fold in range(3):
        own = found.log_scores[of_row][found.folds[of_row] == fold]
        assert len(own) > 1
        assert np.ptp(own) == 0.0, "the same row, scored by the same model"
    assert found.standard_error == pytest.approx(found.log_scores.std(ddof=1) / np.sqrt(1841))
    assert repr(found).startswith("CrossValidation of 1,841 observations in 3 folds: log score -3.6")


def test_interventions_count_in_training_and_in_what_is_held_out() -> None:
    table = small_table()
    masks = np.zeros(table.rows, dtype=np.uint64)
    masks[::3] = 2
    found = cross_validate(without_chance(**only_edge()), replace(table, interventions=masks), folds=4)
    plain = cross_validate(without_chance(**only_edge()), table, folds=4)
    assert np.array_equal(found.folds, plain.folds)
    # What was set from outside is not predicted, so those rows are the less surprising.
    assert (found.log_scores[::3] > plain.log_scores[::3]).all()


def test_folds_depend_on_the_seed_and_results_not_on_the_threads(said: Said) -> None:
    first = cross_validate(model_with(seed=5), CORONARY, folds=4)
    again = cross_validate(model_with(seed=None, threads=2), CORONARY, folds=4, seed=5)
    assert np.array_equal(first.log_scores, again.log_scores)
    other = cross_validate(model_with(seed=6), CORONARY, folds=4)
    assert not np.array_equal(first.folds, other.folds)
    with said.raises(InputError):
        first.gain_over(other)


def test_a_model_is_left_as_it_is() -> None:
    model = model_with(progress=False)
    before = model.get_params()
    found = cross_validate(model, CORONARY, folds=2)
    assert model.get_params() == before
    assert not hasattr(model, "edge_probabilities_")
    assert found.method == "exact-layers"


def test_progress_counts_folds_and_remarks_are_made_once(said: Said) -> None:
    told: list[tuple[str, int, int]] = []
    method = PartitionMCMC(chains=2, burn_in=0, thinning=1)
    model = model_with(method=method, samples=10, progress=lambda *what: told.append(what))
    with said.warns(DagpostWarning) as remarks:
        cross_validate(model, CORONARY, folds=3)
    assert len(remarks) == 1
    assert told == [("folds", done, 3) for done in (1, 2, 3)]


@pytest.mark.parametrize("folds", [1, 61, 2.0, True, "ten"])
def test_numbers_of_folds_that_cannot_be_are_refused(folds: Any, said: Said) -> None:
    with said.raises(InputError):
        cross_validate(model_with(), small_table(), folds=folds)


def test_one_observation_cannot_be_held_out(said: Said) -> None:
    with said.raises(InputError):
        cross_validate(model_with(), replace(small_table(), columns=tuple(c[:1] for c in small_table().columns)))


def test_more_observations_than_memory_holds_are_refused_with_the_figure(said: Said) -> None:
    table = replace(small_table(), counts=np.full(60, 10**12))
    with said.raises(ResourceError):
        cross_validate(model_with(), table)


def test_models_of_different_tables_are_not_compared(said: Said) -> None:
    first, second = (cross_validate(model_with(), small_table(), folds=2, seed=1) for _ in range(2))
    assert first.gain_over(second) == (0.0, 0.0)
    other = replace(small_table(), columns=tuple(reversed(small_table().columns)))
    with said.raises(InputError):
        first.gain_over(cross_validate(model_with(), other, folds=2, seed=1))
    assert first._repr_html_() == f"<code>{first!r}</code>"


@pytest.mark.parametrize(("method", "has_tables"), [(HybridMCMC(), True), (KBest(), True), (PartitionMCMC(), False)])
def test_the_memory_of_a_fold_counts_the_tables_of_its_method(method: Any, has_tables: bool) -> None:
    table = as_table(np.random.default_rng(1).integers(0, 2, (20, 16)))
    settings = {**model_with().get_params(deep=False), "method": method}
    needed = cross_validation._bytes_of_fold(method, cross_validation._Task(DagPosterior, settings, table, 2, 1))
    assert (needed > 8 << 16) == has_tables


def test_what_a_fit_would_refuse_is_refused_before_any_fold(said: Said) -> None:
    with said.raises(InputError):
        cross_validate(model_with(), CORONARY, seed=-1)
    with said.raises(InputError):
        cross_validate(model_with(method="dds"), CORONARY)


def test_rows_with_gaps_are_scored_and_spoken_of_once() -> None:
    table = small_table(24)
    gaps = np.zeros((4, 24), dtype=bool)
    gaps[2, 5] = True
    # The gap is held out in one fold, and completed in the other.
    model = model_with(score="bdeu", samples=40, method=Augmentation(chains=2, burn_in=5, given_table="exact-layers"))
    with pytest.warns(DagpostWarning) as heard:
        found = cross_validate(model, replace(table, gaps=gaps), folds=2, seed=1)
    assert sum("1 cell has no value" in str(warning.message) for warning in heard) == 1
    assert np.isfinite(found.log_scores).all()
    assert found.method == "augmentation"
