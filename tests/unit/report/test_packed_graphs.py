"""Graphs packed for a page: what comes out again is what went in, in as little space as promised."""

from __future__ import annotations

import base64
import json
import math
import zlib
from typing import Any

import numpy as np
import pytest

from dagpost import DagSample
from dagpost.methods.targets import STRUCTURE
from dagpost.posterior.knowledge import knowledge_of_sample
from dagpost.report.packed_graphs import packed_graphs


def sample_of(
    parents: Any, weights: Any = None, *, estimator: str = "counting", draws: str = "independent", **about: Any
) -> DagSample:
    count, nodes = np.shape(parents)[:2]
    nothing = np.full(count, np.nan)
    own = np.full(count, 1.0 / count) if weights is None else np.asarray(weights)
    names = tuple(f"v{node}" for node in range(nodes))
    return DagSample(
        names, parents, nothing, nothing, nothing, own, STRUCTURE, "exact-layers", draws, estimator, provenance=about
    )


def random_parents(nodes: int, count: int, seed: int) -> Any:
    """Graphs in which every edge leads from a lower node to a higher one."""
    rng = np.random.default_rng(seed)
    chosen = np.tril(rng.random((count, nodes, nodes)) < 3.0 / nodes, -1)
    bits = np.uint64(1) << np.arange(nodes, dtype=np.uint64)
    return np.where(chosen, bits, np.uint64(0)).sum(axis=2, dtype=np.uint64)


def unpacked(packed: dict[str, Any]) -> tuple[Any, Any, Any]:
    """Weights, what intervals need, and the sets (graphs, nodes, kinds): byte by byte, as the page reads them."""
    raw, at = zlib.decompress(base64.b64decode(packed["data"]), -15), 0

    def numbers(length: int, size: int) -> list[int]:
        nonlocal at
        planes = [raw[at + size_done * length : at + (size_done + 1) * length] for size_done in range(size)]
        at += length * size
        return [int.from_bytes(bytes(parts), "little") for parts in zip(*planes, strict=True)]

    count, nodes, kinds = packed["graphs"], packed["nodes"], packed["kinds"]
    weights = np.array(numbers(count, 8), dtype=np.uint64).view(np.float64)
    repeats = np.array(numbers(count, 4), dtype=np.uint32).view(np.float32)
    lists = [np.array(numbers(rows * kinds, -(-nodes // 8)), dtype=np.uint64) for rows in packed["rows"]]
    sets = np.empty((count, nodes, kinds), dtype=np.uint64)
    for node, rows in enumerate(packed["rows"]):
        size = 1 if rows <= 256 else 2 if rows <= 65_536 else 3
        sets[:, node] = lists[node].reshape(rows, kinds)[numbers(count, size)]
    assert at == len(raw)
    return weights, repeats, sets


@pytest.mark.parametrize(
    ("nodes", "about", "kinds"),
    [
        (1, {}, 2),
        (9, {}, 2),
        (9, {"forbidden": [("v4", "v1")]}, 3),
        (9, {"sinks": ["v8"]}, 4),
        (40, {}, 2),
        (64, {"forbidden": [("v63", "v1")], "sinks": ["v62", "v63"]}, 4),
    ],
)
def test_what_is_unpacked_is_what_was_packed(nodes: int, about: dict[str, Any], kinds: int) -> None:
    rng = np.random.default_rng(nodes)
    parents = random_parents(nodes, 700, nodes)
    parents[500:] = parents[:200]
    weights = rng.dirichlet(np.ones(700))
    sample = sample_of(parents, weights, estimator="given weights", **about)
    known = knowledge_of_sample(sample)
    packed = packed_graphs(sample, known)
    assert packed is not None
    assert packed["kinds"] == kinds
    assert (packed["draws"], packed["of"], packed["graphs"]) == (700, 700, len(sample.distinct))
    found, _, sets = unpacked(packed)
    np.testing.assert_allclose(found, sample.distinct.weights, rtol=2.0**-37, atol=0.0)
    graphs = sample.parents[sample.distinct.rows]
    assert (sets[:, :, 0] == graphs).all()
    for kind, expected in zip(range(1, kinds), known.compelled(graphs), strict=False):
        assert (sets[:, :, kind] == expected).all()


def test_repeats_are_counted() -> None:
    parents = np.array([[0, 1], [0, 0], [0, 1], [0, 1]], dtype=np.uint8)
    packed = packed_graphs(sample_of(parents), knowledge_of_sample(sample_of(parents)))
    assert packed is not None
    weights, repeats, sets = unpacked(packed)
    assert (weights.tolist(), repeats.tolist()) == ([0.75, 0.25], [3.0, 1.0])
    assert sets[:, :, 0].tolist() == [[0, 1], [0, 0]]


def test_a_text_that_would_be_too_long_is_made_from_fewer_draws() -> None:
    sample = sample_of(random_parents(20, 3_000, 1))
    known = knowledge_of_sample(sample)
    whole = packed_graphs(sample, known)
    assert whole is not None
    size = len(whole["data"])
    packed = packed_graphs(sample, known, most=size // 3)
    assert packed is not None
    assert len(packed["data"]) <= size // 3
    assert packed["of"] == 3_000
    # Evenly from the whole sample: a smaller sample of the same kind.
    step = round(3_000 / packed["draws"])
    part = sample[::step]
    assert packed["draws"] == len(part)
    assert (unpacked(packed)[2][:, :, 0] == part.parents[part.distinct.rows]).all()
    tiny = packed_graphs(sample, known, most=1)
    assert tiny is not None
    assert tiny["draws"] == 1


def test_more_than_64_columns_are_not_packed() -> None:
    sample = sample_of(np.zeros((3, 65, 2), dtype=np.uint64))
    assert packed_graphs(sample, knowledge_of_sample(sample)) is None


def test_even_graphs_that_have_nothing_in_common_take_less_than_two_characters_a_node() -> None:
    sample = sample_of(random_parents(20, 6_000, 3))
    packed = packed_graphs(sample, knowledge_of_sample(sample))
    assert packed is not None
    assert packed["draws"] == packed["graphs"] == 6_000
    assert len(packed["data"]) < 2 * 20 * 6_000


def test_packed_graphs_are_plain_json_without_names() -> None:
    parents = random_parents(5, 50, 4)
    chains = sample_of(parents, draws="chains")._with(names=("<b>", "</script>", "'", '"', "&"))
    packed = packed_graphs(chains, knowledge_of_sample(chains))
    text = json.dumps(packed, allow_nan=False)
    assert not set("<>&'") & set(text)
    assert packed is not None
    assert packed["estimator"] == "chains"
    assert 0.0 < packed["effective"] <= 50.0


def test_what_is_known_of_directions_goes_with_the_graphs() -> None:
    parents = random_parents(4, 50, 5)
    about = {"forbidden": [("v2", "v0")], "interventions": True, "targets": [["v3"], ["v3", "v1"]]}
    sample = sample_of(parents, **about)
    packed = packed_graphs(sample, knowledge_of_sample(sample))
    assert packed is not None
    assert packed["settled"] == [[0, 2]]
    assert [2, 0] in packed["ruled_out"]
    assert (packed["fixed"], packed["always"]) == ([], [3])


def test_weights_of_hoeffding_and_of_nothing_are_told() -> None:
    sample = sample_of(random_parents(4, 50, 6))._with(guarantee=(0.1, 0.9))
    packed = packed_graphs(sample, knowledge_of_sample(sample))
    assert packed is not None
    assert (packed["precision"], packed["confidence"]) == (0.1, 0.9)
    assert packed["effective"] == pytest.approx(50.0)
    assert packed["covered"] is None
    assert math.isclose(sum(unpacked(packed)[0]), 1.0, rel_tol=1e-9)
