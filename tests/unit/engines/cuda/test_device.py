"""The CUDA engine against the thread engine: on a device where there is one, else on the plain twins of its kernels.

The twins (tests/tools/fake_cupy.py) run everything but the kernels themselves, at small sizes. What only a device can
show, that the kernels compile and are right at any size, is skipped without one, with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2
from tests.tools import fake_cupy
from tests.tools.wording import Said

from dagpost import DagPosterior, datasets
from dagpost._tools import memory
from dagpost._tools.progress import NO_PROGRESS, reporter_for
from dagpost._tools.uniforms import uniform_rows
from dagpost._tools.wide_floats import to_logs
from dagpost.checkpoints import NO_CHECKPOINT
from dagpost.engines import ThreadEngine
from dagpost.engines.cuda import device, layout
from dagpost.engines.cuda.engine import CudaEngine
from dagpost.engines.host.backend import HostBackend
from dagpost.errors import ResourceError
from dagpost.families.numbering import family_count
from dagpost.sampling.dags import rank_families


def why_not() -> str:
    """Why there is no device to work on; empty if there is one."""
    try:
        device.load_cupy()
    except device.DeviceError as error:
        return f"only a device can show this: {error}"
    return ""


NO_DEVICE = why_not()
HOST = HostBackend(ThreadEngine())
SIZES = fake_cupy.SMALL_SIZES if NO_DEVICE else layout.USUAL_SIZES

on_a_device = pytest.mark.skipif(bool(NO_DEVICE), reason=NO_DEVICE or "there is a device")


def anywhere(*small: Any, on_device: tuple[Any, ...]) -> list[Any]:
    """Parameters of a test: small ones for device and twins, and those that need a device."""
    return [*small, *(pytest.param(*_as_tuple(case), marks=on_a_device) for case in on_device)]


def _as_tuple(case: Any) -> tuple[Any, ...]:
    return case if isinstance(case, tuple) else (case,)


def samples(on_device: int, on_twins: int) -> int:
    """How many graphs a test draws."""
    return on_twins if NO_DEVICE else on_device


@pytest.fixture(scope="module", autouse=True)
def device_or_twins() -> Iterator[None]:
    """A device, or what stands for one."""
    if not NO_DEVICE:
        yield
        return
    with fake_cupy.installed():
        yield


@pytest.fixture
def cuda() -> Any:
    """The sums of the CUDA engine."""
    return CudaEngine(sizes=SIZES).backend()


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
    anywhere(
        *[(1, 0), (2, 1), (3, 2), (5, 3), (6, 0), (7, 3), (8, 2), (10, 3)],
        on_device=((11, 5), (12, 4), (14, 0), (16, 5), (18, 3), (20, 5), (21, 5), (22, 4), (25, 3)),
    ),
)
def test_order_modular_sums_are_those_of_the_host(cuda: Any, nodes: int, max_parents: int, spread: float) -> None:
    weights = random_weights(nodes, max_parents, spread)
    expected = HOST.forward_table(weights, max_parents)
    found = cuda.forward_table(weights, max_parents, reporter=NO_PROGRESS)
    assert found.log_evidence == pytest.approx(expected.log_evidence, rel=1e-13, abs=1e-9)
    for keep in (True, False):
        families = cuda.family_probabilities(found, reporter=NO_PROGRESS, keep_forward=keep)
        np.testing.assert_allclose(families, HOST.family_probabilities(expected), atol=1e-9)


@pytest.mark.parametrize("groups", [(6, 1, 1), (4, 2, 3), (2, 3, 2)])
def test_any_cut_of_the_nodes_gives_the_same(groups: tuple[int, int, int]) -> None:
    """Several tiles of parent sets, several slots, several steps, which take many nodes with the usual sizes."""
    low, mid, slots = groups
    cuda = CudaEngine(sizes=replace(SIZES, low_nodes=low, mid_nodes=mid, slot_bits=slots)).backend()
    weights = random_weights(9, 3, 20.0)
    expected, found = HOST.forward_table(weights, 3), cuda.forward_table(weights, 3, reporter=NO_PROGRESS)
    assert found.layout.low == groups[0]
    np.testing.assert_allclose(to_logs(cuda.on_host(found).sums), to_logs(expected.sums), rtol=1e-12, atol=1e-9)
    families = cuda.family_probabilities(found, reporter=NO_PROGRESS)
    np.testing.assert_allclose(families, HOST.family_probabilities(expected), atol=1e-9)


def test_a_device_with_less_shared_memory_gives_the_same(cuda: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a card for graphics."""
    shared = samples(64 << 10, 300)
    monkeypatch.setattr(device, "shared_bytes", lambda: shared)
    nodes = samples(20, 7)
    weights = random_weights(nodes, 3, 20.0)
    expected, found = HOST.forward_table(weights, 3), cuda.forward_table(weights, 3)
    assert max(found.layout.tile_bytes, found.layout.block_bytes) <= shared
    assert shared < layout.make_layout(nodes, 3, sizes=SIZES).block_bytes
    families = cuda.family_probabilities(found)
    np.testing.assert_allclose(families, HOST.family_probabilities(expected), atol=1e-9)


@pytest.mark.parametrize("spread", [1.0, 30.0, 1000.0])
@pytest.mark.parametrize(
    ("nodes", "max_parents"),
    anywhere((4, 2), (5, 3), (6, 2), (8, 3), on_device=((10, 4), (13, 3), (16, 4), (19, 3))),
)
def test_structure_modular_sums_are_those_of_the_host(cuda: Any, nodes: int, max_parents: int, spread: float) -> None:
    weights = random_weights(nodes, max_parents, spread)
    expected = HOST.structure_posterior(weights, max_parents)
    found = cuda.structure_posterior(weights, max_parents, reporter=NO_PROGRESS)
    assert found.tables.log_evidence == pytest.approx(expected.tables.log_evidence, rel=1e-13, abs=1e-9)
    assert cuda.structure_evidence(weights, max_parents, reporter=NO_PROGRESS) == pytest.approx(
        expected.tables.log_evidence, rel=1e-13, abs=1e-9
    )
    np.testing.assert_allclose(found.families, expected.families, atol=1e-9)
    np.testing.assert_allclose(found.paths, expected.paths, atol=1e-9)
    assert 0.0 < found.tables.error_bound < 1e-7
    for node in (0, nodes - 1):
        sets = HOST.descendant_sets(expected.tables, node)
        np.testing.assert_allclose(cuda.descendant_sets(found.tables, node, reporter=NO_PROGRESS), sets, atol=1e-9)


def test_drawn_graphs_have_their_exact_probabilities(cuda: Any) -> None:
    """Chi-square over all graphs of four nodes; false alarm 1e-6."""
    weights, count = random_weights(4, 3, 1.0), samples(200_000, 20_000)
    table = cuda.forward_table(weights, 3, reporter=NO_PROGRESS)
    uniforms = uniform_rows(np.random.SeedSequence(7), slice(0, count), 8)
    parents, log_joint = cuda.draw_dags(table, lambda: None, uniforms, stage=NO_PROGRESS.stage("", 1))
    host = HOST.forward_table(weights, 3)
    others, other_log_joint = HOST.draw_dags(
        host, lambda: rank_families(weights, 3), uniforms, stage=NO_PROGRESS.stage("", 1)
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


@pytest.mark.parametrize(("nodes", "max_parents"), anywhere((5, 4), (7, 2), on_device=((12, 4), (22, 3), (24, 2))))
def test_edges_of_drawn_graphs_are_as_frequent_as_they_are_probable(cuda: Any, nodes: int, max_parents: int) -> None:
    """A normal bound on every edge, all together a false alarm of 1e-6."""
    from dagpost.exact.order import edge_probabilities

    weights, count = random_weights(nodes, max_parents, 2.0), samples(50_000, 10_000)
    table = cuda.forward_table(weights, max_parents, reporter=NO_PROGRESS)
    uniforms = uniform_rows(np.random.SeedSequence(3), slice(0, count), 2 * nodes)
    parents, _ = cuda.draw_dags(table, lambda: None, uniforms, stage=NO_PROGRESS.stage("", 1))
    edges = edge_probabilities(cuda.family_probabilities(table, reporter=NO_PROGRESS), max_parents)
    bits = (parents[:, :, None] >> np.arange(nodes, dtype=np.uint64)) & np.uint64(1)
    frequencies = bits.mean(axis=0).T
    # Bernstein's inequality, over all pairs and both sides.
    log_level = np.log(2 * nodes**2 / 1e-6)
    allowed = np.sqrt(2 * edges * (1 - edges) * log_level / count) + 2 * log_level / (3 * count)
    assert (np.abs(frequencies - edges) <= allowed + 1e-9).all()


def test_a_graph_does_not_depend_on_those_drawn_beside_it(cuda: Any) -> None:
    table = cuda.forward_table(random_weights(6, 3, 1.0), 3, reporter=NO_PROGRESS)
    uniforms = np.random.default_rng(5).random((300, 12))
    together, weights_together = cuda.draw_dags(table, lambda: None, uniforms, stage=NO_PROGRESS.stage("", 1))
    for rows in (slice(0, 5), slice(150, 290), slice(299, 300)):
        alone, weights_alone = cuda.draw_dags(table, lambda: None, uniforms[rows], stage=NO_PROGRESS.stage("", 1))
        np.testing.assert_array_equal(alone, together[rows])
        np.testing.assert_array_equal(weights_alone, weights_together[rows])
    assert len(np.unique(together, axis=0)) > 100


@pytest.mark.parametrize("spread", [1.0, 30.0])
@pytest.mark.parametrize(("nodes", "max_parents"), anywhere((4, 2), (5, 3), (7, 2), on_device=((12, 3), (18, 2))))
def test_graphs_by_layers_are_those_of_the_host(cuda: Any, nodes: int, max_parents: int, spread: float) -> None:
    """The same uniform numbers give the same layers; a sample may differ where a number falls on a rounding."""
    weights = random_weights(nodes, max_parents, spread)
    posterior, ranked = HOST.structure_posterior(weights, max_parents), rank_families(weights, max_parents)
    seed, count = np.random.SeedSequence(11), samples(5000, 1500)
    options = {"seed": seed, "reporter": NO_PROGRESS, "checkpoint": NO_CHECKPOINT}
    expected, expected_weights = HOST.sample_layers(posterior.tables, ranked, count, **options)
    found, found_weights = cuda.sample_layers(posterior.tables, ranked, count, **options)
    same = (found == expected).all(axis=1)
    assert same.mean() > 0.999
    np.testing.assert_allclose(found_weights[same], expected_weights[same], rtol=1e-12)


@pytest.mark.parametrize("name", anywhere("coronary", "iris", on_device=("wine",)))
@pytest.mark.parametrize("modularity", ["structure", "order"])
def test_a_model_is_the_same_on_both_engines(name: str, modularity: str) -> None:
    models = [
        DagPosterior(prior="uniform", score="bdeu", modularity=modularity, engine=engine, seed=1, progress=False).fit(
            datasets.load(name)
        )
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


def test_scores_of_many_rows_are_those_of_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    from dagpost.data import as_table
    from dagpost.scores import BIC, K2, BDeu, local_scores

    rows, nodes = samples(200_000, 700), samples(12, 6)
    generator = np.random.default_rng(1)
    table = as_table(np.column_stack([generator.integers(0, 2 + 2 * (node % 3), rows) for node in range(nodes)]))
    engine, taken = CudaEngine(sizes=SIZES), []
    by_device = engine.sum_cells

    def counted(*arguments: Any) -> Any:
        taken.append(by_device(*arguments))
        return taken[-1]

    monkeypatch.setattr(engine, "sum_cells", counted)
    for score in (BDeu(1.0), K2(), BIC()):
        expected = local_scores(table, score, 3, engine=ThreadEngine()).values
        found = local_scores(table, score, 3, engine=engine).values
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-7)
    assert [sums is not None for sums in taken] == [True, True, True]


def test_what_does_not_fit_is_refused_with_the_largest_size_that_does(cuda: Any, said: Said) -> None:
    with said.raises(ResourceError):
        cuda.require_order(45, 2)
    assert not cuda.order_fits(45, 2)
    assert not cuda.structure_fits(45, 2)


def test_nothing_is_taken_of_a_device_that_is_too_small(cuda: Any, monkeypatch: pytest.MonkeyPatch, said: Said) -> None:
    runtime = device.load_cupy().cuda.runtime
    monkeypatch.setattr(runtime, "memGetInfo", lambda: (65 << 20, 1 << 30))
    weights = random_weights(20, 1, 1.0)
    for sums in (cuda.forward_table, cuda.structure_posterior, cuda.structure_evidence):
        with said.raises(ResourceError):
            sums(weights, 1, reporter=NO_PROGRESS)


@pytest.mark.parametrize("stage", ["forward table", "edge probabilities", "sums over graphs", "graphs"])
def test_an_interrupt_leaves_the_device_clean(cuda: Any, stage: str) -> None:
    """All arrays of a run are gone, even while somebody looks at the traceback; the kernels of the run before stay."""
    nodes = samples({"sums over graphs": 20, "graphs": 16}.get(stage, 28), 7)
    weights = random_weights(nodes, 2, 1.0)
    run = interruptible(cuda, stage, weights)

    def interrupt(reached: str, done: int, total: int) -> None:
        if reached == stage and done > total // 2:
            raise KeyboardInterrupt

    run(NO_PROGRESS)
    free = device.free_bytes()
    with pytest.raises(KeyboardInterrupt) as held:
        run(reporter_for(interrupt))
    assert device.free_bytes() >= free - samples(64 << 20, 0)
    assert held.tb is not None


def interruptible(cuda: Any, stage: str, weights: np.ndarray) -> Callable[[Any], Any]:
    """A run that has a stage of this name; what it starts from is there before."""
    if stage == "forward table":
        return lambda reporter: cuda.forward_table(weights, 2, reporter=reporter)
    if stage == "edge probabilities":
        table = cuda.forward_table(weights, 2, reporter=NO_PROGRESS)
        return lambda reporter: cuda.family_probabilities(table, reporter=reporter)
    if stage == "sums over graphs":
        return lambda reporter: cuda.structure_posterior(weights, 2, reporter=reporter)
    tables, ranked = HOST.structure_posterior(weights, 2).tables, rank_families(weights, 2)
    options = {"seed": np.random.SeedSequence(1), "checkpoint": NO_CHECKPOINT}
    return lambda reporter: cuda.sample_layers(tables, ranked, 50, reporter=reporter, **options)


def test_memory_is_planned_for_every_parent_set_that_is_allowed() -> None:
    """With all parent sets the weights take as much as the sums over them."""
    from dagpost.engines.cuda import structure

    few, all_sets = structure.memory_needed(20, 2), structure.memory_needed(20, 19)
    weights = 8 * 20 * family_count(19, 19)
    assert all_sets - few > 1.9 * weights


def test_a_table_that_the_host_cannot_hold_stays_on_the_device(
    cuda: Any, monkeypatch: pytest.MonkeyPatch, said: Said
) -> None:
    found = cuda.forward_table(random_weights(8, 2, 1.0), 2)
    monkeypatch.setattr(memory, "available_bytes", lambda: 1000)
    with said.raises(ResourceError):
        cuda.on_host(found)


@on_a_device
def test_the_kernels_compile_for_the_largest_problems() -> None:
    from dagpost.engines.cuda import layers, order, sampling, scores, structure

    module, _ = order.kernels_for(layout.make_layout(34, 5))
    assert module.get_function("backward_blocks").max_threads_per_block >= 512
    assert sampling.kernels_for(34, 5).get_function("draw_parents") is not None
    assert structure.kernels_for(27, family_count(26, 4)).get_function("completions_of_sets") is not None
    assert layers.kernels_for(27, 10).get_function("place_layer") is not None
    assert scores.kernels_for(33, 6, 8).get_function("sum_cells") is not None


def test_every_kernel_that_the_engine_has_can_run_on_a_twin() -> None:
    from importlib.resources import files

    folder = files("dagpost.engines.cuda") / "kernels"
    sources = [file.read_text() for file in folder.iterdir() if file.name.endswith(".cu")]
    in_sources = {name for source in sources for name, _ in fake_cupy.KERNEL_IN_SOURCE.findall(source)}
    assert in_sources <= set(fake_cupy.KERNELS)
    assert set(fake_cupy.KERNELS) <= in_sources
