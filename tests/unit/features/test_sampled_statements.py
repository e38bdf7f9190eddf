"""Features f1 to f5 of He, Tian & Wu (2016, section 4.3) against sums over all graphs that were made elsewhere.

    f1  x ~> y                 f2  a path x ~> y of at most two edges       f3  x ~> y ~> z
    f4  x ~> y and x ~> z      f5  x ~> y and not x ~> z

f1, f4 and f5 are exact without sampling, to 1e-10, and so are f1, f4 and f5 under the order-modular prior. All five are
within their intervals by sampling: the seeds are fixed and the intervals are of confidence 1 - 1e-9, so that all some
thousand of them together fail by chance once in a million times. Where the sample covers all the posterior but
rounding errors the interval is a point: 1e-10 is allowed beside it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from dagpost import BDeu, DagPosterior, DagSample, Estimate, path
from dagpost.features import Feature

if TYPE_CHECKING:
    from pathlib import Path

EXACT = 1e-10
CONFIDENCE = 1.0 - 1e-9
CASES = ("iris", "coronary")
#: Under which name the reference has the values of a prior.
SUFFIX = {"structure": "struct", "order": "order"}


def features(name: str, names: tuple[str, ...]) -> Iterator[tuple[tuple[int, ...], Feature]]:
    """Every instance of a feature: the place of its value in the reference, and the statement."""
    size = 2 if name in ("f1", "f2") else 3
    for places in permutations(range(len(names)), size):
        x, y, *rest = (names[place] for place in places)
        if name == "f1":
            yield places, path(x, y)
        elif name == "f2":
            yield places, path(x, y, longest=2)
        elif name == "f3":
            yield places, path(x, y) & path(y, rest[0])
        elif name == "f4":
            yield places, path(x, y) & path(x, rest[0])
        else:
            yield places, path(x, y) & ~path(x, rest[0])


@pytest.fixture(scope="module", params=[(case, modularity) for case in CASES for modularity in SUFFIX], ids=":".join)
def fitted(request: pytest.FixtureRequest, shared_data: Path) -> tuple[DagPosterior, dict[str, Any]]:
    case, modularity = request.param
    model = DagPosterior(BDeu(1.0), prior="uniform", modularity=modularity).fit(shared_data / "paper" / f"{case}.csv")
    expected = json.loads((shared_data / "expected" / f"{case}.json").read_text())["bdeu_ess1_uniform"]
    values = expected["nonmodular_structure"]
    return model, {name: np.array(values[f"{name}_{SUFFIX[modularity]}"]) for name in ("f1", "f2", "f3", "f4", "f5")}


@pytest.mark.parametrize("name", ["f1", "f4", "f5"])
def test_paths_and_pairs_of_paths_from_one_node_are_exact(
    name: str, fitted: tuple[DagPosterior, dict[str, Any]]
) -> None:
    model, values = fitted
    instances = list(features(name, model.names_))
    found = model.probability([feature for _, feature in instances])
    assert {estimate.rule for estimate in found} == {"exact"}
    expected = [values[name][places] for places, _ in instances]
    np.testing.assert_allclose([float(estimate) for estimate in found], expected, rtol=0, atol=EXACT)


def test_the_matrix_of_all_paths_is_exact_when_every_graph_counts_once(
    fitted: tuple[DagPosterior, dict[str, Any]],
) -> None:
    model, values = fitted
    if model.modularity == "structure":
        matrix = model.probability_matrix("~>")
        assert (tuple(matrix.index), tuple(matrix.columns)) == (model.names_, model.names_)
        np.testing.assert_allclose(matrix.to_numpy(), values["f1"], rtol=0, atol=EXACT)


def assert_within(estimate: Estimate, expected: float) -> None:
    assert estimate.lower - EXACT <= expected <= estimate.upper + EXACT, (estimate, expected)


def check_sample(sample: DagSample, values: dict[str, Any], estimator: str = "auto") -> float:
    """Every instance of every feature within its interval; returns the widest interval."""
    widest = 0.0
    for name, expected in values.items():
        instances = list(features(name, sample.names))
        found = sample.probability([feature for _, feature in instances], estimator=estimator, confidence=CONFIDENCE)
        for (places, _), estimate in zip(instances, found, strict=True):
            assert_within(estimate, expected[places])
            widest = max(widest, estimate.upper - estimate.lower)
    return widest


def test_all_five_are_within_their_intervals_by_sampling(fitted: tuple[DagPosterior, dict[str, Any]]) -> None:
    model, values = fitted
    sample = model.sample(20_000, seed=1)
    assert check_sample(sample, values) < 0.05
    if model.modularity == "structure":
        assert check_sample(sample, values, "counting") < 0.05
        assert check_sample(sample, values, "iw") < 0.05


@pytest.mark.parametrize("method", ["linear-extensions", "iw-dds"])
@pytest.mark.parametrize("case", CASES)
def test_all_five_are_within_their_intervals_by_weighted_samples(case: str, method: str, shared_data: Path) -> None:
    model = DagPosterior(BDeu(1.0), prior="uniform", method=method).fit(shared_data / "paper" / f"{case}.csv")
    expected = json.loads((shared_data / "expected" / f"{case}.json").read_text())["bdeu_ess1_uniform"]
    values = {
        name: np.array(expected["nonmodular_structure"][f"{name}_struct"]) for name in ("f1", "f2", "f3", "f4", "f5")
    }
    sample = model.sample(20_000, seed=2)
    assert check_sample(sample, values) < 0.1
    assert check_sample(sample, values, "distinct") < 0.1
