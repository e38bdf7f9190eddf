"""The CUDA engine against the thread engine, on a machine that has a device; skipped, with the reason, elsewhere.

What needs no device, the order of work and the numbering, is tested everywhere (tests/property/test_cuda_walk.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2

from dagpost import DagPosterior, datasets
from dagpost.checkpoints import none
from dagpost.engines import ThreadEngine
from dagpost.engines.cuda import device
from dagpost.errors import ResourceError
from dagpost.exact.sums import HostSums
from dagpost.families import family_count
from dagpost.progress import silent
from dagpost.sampling.dags import rank_families
from dagpost.sampling.orders import uniform_blocks


def why_not() -> str:
    """Why the tests of this file cannot run here; empty if they can."""
    try:
        device.load_cupy()
    except device.DeviceError as error:
        return str(error)
    return ""


pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not() or "there is a device")

HOST = HostSums(ThreadEngine())


@pytest.fixture(scope="module")
def cuda() -> Any:
    """The sums of the CUDA engine."""
    from dagpost.engines.cuda.engine import CudaEngine

    return CudaEngine().sums


def random_weights(nodes: int, max_parents: int, spread: float) -> np.ndarray:
    """Weights that span `spread` nats and more, a tenth of them forbidden."""
    generator = np.random.default_rng(nodes)
    weights = generator.normal(0.0, spread, (nodes, family_count(nodes - 1, max_parents)))
    weights[generator.random(weights.shape) < 0.1] = -np.inf
    weights[:, 0] = generator.normal(0.0, spread, nodes)
    return weights


@pytest.mark.parametrize("spread", [1.0, 1000.0])
@pytest.mark.parametrize(
    ("nodes", "max_parents"),
    [(1, 0), (2, 1), (5, 3), (8, 2), (11, 5), (12, 4), (14, 0), (16, 5), (18, 3), (20, 5), (21, 5), (22, 4), (25, 3)],
)
def test_order_modular_sums_are_those_of_the_host(cuda: Any, nodes: int, max_parents: int, spread: float) -> None:
    weights = random_weights(nodes, max_parents, spread)
    expected = HOST.forward_table(weights, max_parents)
    found = cuda.forward_table(weights, max_parents, reporter=silent)
    assert found.log_evidence == pytest.approx(expected.log_evidence, rel=1e-13, abs=1e-9)
    for keep in (True, False):
        families = cuda.family_probabilities(found, reporter=silent, keep_forward=keep)
        np.testing.assert_allclose(families, HOST.family_probabilities(expected), atol=1e-9)


@pytest.mark.parametrize("spread", [1.0, 30.0, 1000.0])
@pytest.mark.parametrize(("nodes", "max_parents"), [(4, 2), (5, 3), (6, 2), (8, 3), (10, 4), (13, 3), (16, 4), (19, 3)])
def test_structure_modular_sums_are_those_of_the_host(cuda: Any, nodes: int, max_parents: int, spread: float) -> None:
    weights = random_weights(nodes, max_parents, spread)
    expected = HOST.structure_posterior(weights, max_parents)
    found = cuda.structure_posterior(weights, max_parents, reporter=silent)
    assert found.tables.log_evidence == pytest.approx(expected.tables.log_evidence, rel=1e-13, abs=1e-9)
    assert cuda.structure_evidence(weights, max_parents, reporter=silent) == pytest.approx(
        expected.tables.log_evidence, rel=1e-13, abs=1e-9
    )
    np.testing.assert_allclose(found.families, expected.families, atol=1e-9)
    np.testing.assert_allclose(found.paths, expected.paths, atol=1e-9)
    assert 0.0 < found.tables.error_bound < 1e-7
    for node in (0, nodes - 1):
        sets = HOST.descendant_sets(expected.tables, node)
        np.testing.assert_allclose(cuda.descendant_sets(found.tables, node, reporter=silent), sets, atol=1e-9)


def test_drawn_graphs_have_their_exact_probabilities(cuda: Any) -> None:
    """Chi-square over all graphs of four nodes; false alarm 1e-6."""
    weights, count = random_weights(4, 3, 1.0), 200_000
    table = cuda.forward_table(weights, 3, reporter=silent)
    uniforms = np.concatenate(list(uniform_blocks(np.random.SeedSequence(7), count, 8, 1 << 16)))
    parents, log_joint = cuda.draw_dags(table, lambda: None, uniforms, stage=silent.stage("", 1))
    host = HOST.forward_table(weights, 3)
    others, other_log_joint = HOST.draw_dags(
        host, lambda: rank_families(weights, 3), uniforms, stage=silent.stage("", 1)
    )
    keys = (parents << np.arange(0, 16, 4, dtype=np.uint64)).sum(axis=1)
    other_keys = (others << np.arange(0, 16, 4, dtype=np.uint64)).sum(axis=1)
    values = np.unique(np.concatenate([keys, other_keys]))
    first = np.array([(keys == value).sum() for value in values])
    second = np.array([(other_keys == value).sum() for value in values])
    usual = first + second >= 20
    statistic = ((first - second)[usual] ** 2 / (first + second)[usual]).sum()
    assert statistic < chi2.isf(1e-6, usual.sum() - 1)
    of_key = dict(zip(other_keys.tolist(), other_log_joint.tolist(), strict=True))
    shared = [position for position in range(1000) if int(keys[position]) in of_key]
    assert len(shared) > 900
    for position in shared:
        assert log_joint[position] == pytest.approx(of_key[int(keys[position])], abs=1e-9)


@pytest.mark.parametrize(("nodes", "max_parents"), [(12, 4), (22, 3), (24, 2)])
def test_edges_of_drawn_graphs_are_as_frequent_as_they_are_probable(cuda: Any, nodes: int, max_parents: int) -> None:
    """A normal bound on every edge, all together a false alarm of 1e-6."""
    from dagpost.exact.order import edge_probabilities

    weights, count = random_weights(nodes, max_parents, 2.0), 50_000
    table = cuda.forward_table(weights, max_parents, reporter=silent)
    uniforms = np.concatenate(list(uniform_blocks(np.random.SeedSequence(3), count, 2 * nodes, 1 << 16)))
    parents, _ = cuda.draw_dags(table, lambda: None, uniforms, stage=silent.stage("", 1))
    edges = edge_probabilities(cuda.family_probabilities(table, reporter=silent), max_parents)
    bits = (parents[:, :, None] >> np.arange(nodes, dtype=np.uint64)) & np.uint64(1)
    frequencies = bits.mean(axis=0).T
    # Bernstein's inequality, over all pairs and both sides.
    log_level = np.log(2 * nodes**2 / 1e-6)
    allowed = np.sqrt(2 * edges * (1 - edges) * log_level / count) + 2 * log_level / (3 * count)
    assert (np.abs(frequencies - edges) <= allowed + 1e-9).all()


@pytest.mark.parametrize("spread", [1.0, 30.0])
@pytest.mark.parametrize(("nodes", "max_parents"), [(5, 3), (7, 2), (12, 3), (18, 2)])
def test_graphs_by_layers_are_those_of_the_host(cuda: Any, nodes: int, max_parents: int, spread: float) -> None:
    """The same uniform numbers give the same layers; a sample may differ where a number falls on a rounding."""
    weights = random_weights(nodes, max_parents, spread)
    posterior, ranked = HOST.structure_posterior(weights, max_parents), rank_families(weights, max_parents)
    seed = np.random.SeedSequence(11)
    options = {"seed": seed, "reporter": silent, "checkpoint": none}
    expected, expected_weights = HOST.sample_layers(posterior.tables, ranked, 5000, **options)  # type: ignore[arg-type]
    found, found_weights = cuda.sample_layers(posterior.tables, ranked, 5000, **options)
    same = (found == expected).all(axis=1)
    assert same.mean() > 0.999
    np.testing.assert_allclose(found_weights[same], expected_weights[same], rtol=1e-12)


@pytest.mark.parametrize("name", ["coronary", "iris", "wine"])
@pytest.mark.parametrize("modularity", ["structure", "order"])
def test_a_model_is_the_same_on_both_engines(name: str, modularity: str) -> None:
    models = [
        DagPosterior(modularity=modularity, engine=engine, seed=1, progress=False).fit(datasets.load(name))  # type: ignore[arg-type]
        for engine in ("cuda", "threads")
    ]
    np.testing.assert_allclose(models[0].edge_probabilities_, models[1].edge_probabilities_, atol=1e-9)
    assert models[0].log_evidence_ == pytest.approx(models[1].log_evidence_, abs=1e-8)
    sample = models[0].sample(1000, seed=5)
    assert sample.provenance["engine"] == "cuda"
    assert sample.provenance["seed"] == 5
    first, second = models[0].names_[:2]
    path = f'"{first}" ~> "{second}"'
    assert float(models[0].probability(path)) == pytest.approx(float(models[1].probability(path)), abs=1e-9)


def test_scores_of_many_rows_are_those_of_the_host() -> None:
    from dagpost.data.table import as_table
    from dagpost.engines.cuda.engine import CudaEngine
    from dagpost.scores import BIC, K2, BDeu, local_scores

    generator = np.random.default_rng(1)
    table = as_table(np.column_stack([generator.integers(0, 2 + node % 3, 200_000) for node in range(12)]))
    for score in (BDeu(1.0), K2(), BIC()):
        expected = local_scores(table, score, 3, engine=ThreadEngine()).values
        found = local_scores(table, score, 3, engine=CudaEngine()).values
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-7)


def test_what_does_not_fit_is_refused_with_the_largest_size_that_does(cuda: Any) -> None:
    with pytest.raises(ResourceError, match=r"up to \d+ variables fit"):
        cuda.require_order(45, 2)


def test_an_interrupt_leaves_the_device_clean() -> None:
    weights = random_weights(28, 2, 1.0)
    free = device.free_bytes()

    def interrupt(stage: str, done: int, total: int) -> None:
        if done > total // 2:
            raise KeyboardInterrupt

    from dagpost.engines.cuda.engine import CudaEngine
    from dagpost.progress import reporter_for

    with pytest.raises(KeyboardInterrupt):
        CudaEngine().sums.forward_table(weights, 2, reporter=reporter_for(interrupt))
    assert device.free_bytes() >= free - (64 << 20)
