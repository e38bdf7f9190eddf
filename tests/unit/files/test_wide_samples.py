"""Samples of more than 64 columns in files: there and back, and refused where a part cannot be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.tools.wording import Said

from dagpost.files.parent_columns import kept_parents, parents_to_keep
from dagpost.files.schema import check_sample

_NODES, _GRAPHS = 150, 40


def parents_of_random_graphs(rng: np.random.Generator, nodes: int = _NODES, number: int = _GRAPHS) -> NDArray[Any]:
    """Graphs in which every later column has up to three earlier ones for parents."""
    sets = [[0] * nodes for _ in range(number)]
    for row in sets:
        for child in range(1, nodes):
            for parent in rng.choice(child, min(child, int(rng.integers(0, 4))), replace=False).tolist():
                row[child] |= 1 << parent
    words = range(-(-nodes // 64))
    return np.array([[[own >> 64 * w & (1 << 64) - 1 for w in words] for own in row] for row in sets], dtype=np.uint64)


@pytest.fixture(scope="module")
def parents() -> NDArray[Any]:
    return parents_of_random_graphs(np.random.default_rng(3))


@pytest.fixture
def about() -> dict[str, Any]:
    return {
        "names": [f"g{place}" for place in range(_NODES)],
        "modularity": "structure",
        "method": "exact-layers",
        "draws": "independent",
        "estimator": "counting",
        "log_evidence": None,
        "guarantee": None,
        "provenance": {},
    }


@pytest.fixture
def arrays(parents: NDArray[Any]) -> dict[str, NDArray[Any]]:
    numbers = {name: np.zeros(_GRAPHS) for name in ("log_joint", "log_proposal", "log_extensions")}
    return {**parents_to_keep(parents), **numbers, "weights": np.full(_GRAPHS, 1.0 / _GRAPHS)}


def test_wide_graphs_come_back_from_their_lists_of_parents(parents: NDArray[Any]) -> None:
    kept = parents_to_keep(parents)
    np.testing.assert_array_equal(kept_parents(kept), parents)
    assert sum(array.nbytes for array in kept.values()) < parents.nbytes / 5
    empty = np.zeros((2, 70, 2), dtype=np.uint64)
    np.testing.assert_array_equal(kept_parents(parents_to_keep(empty)), empty)


def test_a_sample_that_is_what_it_must_be_is_taken(about: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
    check_sample(about, arrays)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda a: a.update(parent_columns=a["parent_columns"][:-1]), "parents where"),
        (lambda a: a["parent_columns"].__setitem__(0, _NODES), "beyond the 150 nodes"),
        (lambda a: a["parent_counts"].__setitem__((0, 0), 255), "parents where"),
        (lambda a: a["parent_columns"].__setitem__(slice(None), 0), "do not ascend|cycle"),
        (lambda a: a.update(parent_counts=a["parent_counts"][:, :-1]), "of shape"),
        (lambda a: a.update(parent_counts=a["parent_counts"].astype(np.float64)), "holds float64"),
        (lambda a: a.update(log_joint=np.zeros(3)), "of shape"),
        (lambda a: a.pop("parent_columns"), "parent_columns"),
        (lambda a: a["log_extensions"].__setitem__(0, 700.0), "log_extensions has 700"),
    ],
)
def test_forged_parents_are_refused(
    about: dict[str, Any], arrays: dict[str, NDArray[Any]], change: Any, words: str
) -> None:
    arrays = {name: array.copy() for name, array in arrays.items()}
    change(arrays)
    with pytest.raises(ValueError, match=words):
        check_sample(about, arrays)


def test_a_cycle_is_refused(
    about: dict[str, Any], arrays: dict[str, NDArray[Any]], parents: NDArray[Any], said: Said
) -> None:
    cyclic = parents.copy()
    cyclic[7, 0, 2], cyclic[7, 149, 0] = 1 << 21, 1
    with said.raises(ValueError):
        check_sample(about, {**arrays, **parents_to_keep(cyclic)})


@pytest.mark.parametrize("columns", [0, 1025])
def test_an_impossible_number_of_columns_is_refused(
    about: dict[str, Any], arrays: dict[str, NDArray[Any]], columns: int
) -> None:
    about["names"] = [str(place) for place in range(columns)]
    with pytest.raises(ValueError, match=f"{columns} variables"):
        check_sample(about, arrays)
