"""The pieces of the benchmark of calibration, on networks small enough to check by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from benchmarks import calibration
from benchmarks.calibration_data import KINDS, continuous_case, discrete_cases
from benchmarks.calibration_tables import document

#: a -> b -> c, and d -> c.
TRUTH = np.array([[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 1, 0]], dtype=bool)


def test_ancestors_and_compelled_edges_of_a_collider_below_a_chain() -> None:
    assert calibration.ancestors(TRUTH).nonzero()[1].tolist() == [1, 2, 2, 2]
    compelled = calibration.compelled_edges(TRUTH)
    assert compelled[1, 2]
    assert compelled[3, 2]
    assert compelled.sum() == 2


def test_losses_of_a_forecast_that_says_nothing_and_of_the_truth() -> None:
    half = np.where(np.eye(4, dtype=bool), 0.0, 0.5)
    found = calibration.losses(TRUTH, half, half)
    assert found["edges"]["brier"] == 0.25
    assert found["paths"]["log"] == pytest.approx(math.log(2))
    perfect = calibration.losses(TRUTH, TRUTH.astype(float), calibration.ancestors(TRUTH).astype(float))
    assert all(perfect[kind]["brier"] == 0.0 for kind in ("pairs", "edges", "paths"))
    assert perfect["pairs"]["log"] == pytest.approx(-math.log(1 - calibration.CLIP))
    number, predicted, observed = perfect["pairs"]["bins"]
    assert (number[0], number[-1], predicted[-1], observed[-1]) == (3, 3, 3, 3)


def test_clear_directions_are_counted_against_the_truth() -> None:
    joined, by_data = np.zeros((2, 4, 4))
    for a, b, chance, compelled in ((1, 2, 1.0, 0.95), (2, 3, 0.6, 0.58), (0, 1, 1.0, 0.1), (0, 3, 0.3, 0.3)):
        joined[a, b] = joined[b, a] = chance
        by_data[a, b] = compelled
    found = calibration.clear_directions(TRUTH, joined, by_data)
    # The edge c -> d is clear, and points the other way in truth; a -- d is not joined often enough to count.
    assert found["0.5"] == {"clear": 2, "wrong": 1, "reversed": 1, "compelled": 2, "found": 1}
    assert found["0.9"] == {"clear": 1, "wrong": 0, "reversed": 0, "compelled": 2, "found": 1}


def test_tables_depend_on_their_names_alone_and_the_page_is_written_from_them() -> None:
    cases = list(discrete_cases((50,), 2, published=()))[:2]
    again = list(discrete_cases((50,), 2, published=()))[:2]
    assert [case.table.fingerprint() for case in cases] == [case.table.fingerprint() for case in again]
    assert cases[0].table.fingerprint() != cases[1].table.fingerprint()
    numbers = [continuous_case(kind, 40, 0) for kind in KINDS]
    assert all(8 <= len(case.truth) <= 12 and not np.triu(case.truth & case.truth.T).any() for case in numbers)
    found = {"sizes": calibration.run("sizes", cases, None), "bins": calibration.run("bins", numbers[:1], None)}
    page = document(found)
    assert "| average |" in page
    assert "| 3 quantile |" in page
    assert "nan" not in page.replace("± nan", "")
