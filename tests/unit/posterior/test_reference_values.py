"""From table to edges: values that were computed independently, in 80-bit arithmetic, for several data sets.

The reference data are no part of the project; without them these tests are skipped. Tolerance: 1e-8,
absolute, on probabilities and on log evidence alike.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.naive import posterior as naive

from dagpost.data import read_table
from dagpost.engines import ThreadEngine
from dagpost.exact.order import edge_probabilities, family_probabilities, forward_table
from dagpost.priors import log_prior
from dagpost.scores import BDeu, local_scores

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

TOLERANCE = 1e-8
CASES = [
    "coronary",
    "glass",
    "housing",
    "iris",
    "tictactoe",
    "wine",
    *(f"syn15_m{rows}" for rows in (100, 200, 500, 1000, 2000, 5000)),
]
SETTINGS: dict[str, tuple[Any, str]] = {
    "bdeu_ess1_uniform": (BDeu(equivalent_sample_size=1.0), "uniform"),
    "k2_indegree": ("k2", "indegree"),
}


# These two come without values for K2.
PAIRS = [
    (case, setting)
    for case in CASES
    for setting in SETTINGS
    if not (setting == "k2_indegree" and case in ("syn15_m200", "syn15_m2000"))
]


def expected_values(shared_data: Path, case: str) -> dict[str, Any]:
    values: dict[str, Any] = json.loads((shared_data / "expected" / f"{case}.json").read_text())
    return values


def log_weights(shared_data: Path, case: str, setting: str) -> tuple[NDArray[np.float64], int]:
    """The weights of a case, and the largest number of parents."""
    score, prior = SETTINGS[setting]
    table = read_table(shared_data / "paper" / f"{case}.csv")
    scores = local_scores(table, score, 5)
    return scores.values + log_prior(table.names, scores.max_parents, prior), scores.max_parents


def test_every_reference_value_is_looked_at(shared_data: Path) -> None:
    there = [
        (path.stem, setting)
        for path in (shared_data / "expected").glob("*.json")
        for setting in expected_values(shared_data, path.stem)
        if setting in SETTINGS
    ]
    assert sorted(there) == sorted(PAIRS)


@pytest.mark.parametrize(("case", "setting"), PAIRS)
def test_evidence_and_edges_match_the_reference(case: str, setting: str, shared_data: Path) -> None:
    expected = expected_values(shared_data, case)[setting]
    engine = ThreadEngine()
    weights, max_parents = log_weights(shared_data, case, setting)
    forward = forward_table(weights, max_parents, engine=engine)
    edges = edge_probabilities(family_probabilities(forward, engine=engine), max_parents)
    assert forward.log_evidence == pytest.approx(expected["log_evidence_order"], abs=TOLERANCE, rel=0)
    np.testing.assert_allclose(edges, np.array(expected["edges_order"]), rtol=0, atol=TOLERANCE)


def test_the_slow_twins_match_the_reference_under_both_priors(shared_data: Path) -> None:
    setting = "bdeu_ess1_uniform"
    expected = expected_values(shared_data, "iris")[setting]
    weights, max_parents = log_weights(shared_data, "iris", setting)
    by_order = naive.order_modular_by_enumeration(weights, max_parents)
    by_structure = naive.structure_modular_by_enumeration(weights, max_parents)
    for found, modularity in ((by_order, "order"), (by_structure, "structure")):
        assert found.log_evidence == pytest.approx(expected[f"log_evidence_{modularity}"], abs=TOLERANCE, rel=0)
        np.testing.assert_allclose(found.edges, expected[f"edges_{modularity}"], rtol=0, atol=TOLERANCE)
