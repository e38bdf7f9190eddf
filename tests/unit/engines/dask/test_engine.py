"""A Dask cluster gives what threads give, to the last bit, whatever happens to its workers."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.tools.wording import Said

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

from tests.tools.clusters import Stopped, engines_by_workers  # noqa: E402

from dagpost import DagPosterior, datasets  # noqa: E402
from dagpost._tools.progress import Stage, reporter_for  # noqa: E402
from dagpost.checkpoints import Checkpoint  # noqa: E402
from dagpost.engines import ThreadEngine  # noqa: E402
from dagpost.engines.dask import DaskEngine, blocks, scores  # noqa: E402
from dagpost.engines.dask.backend import DaskBackend  # noqa: E402
from dagpost.engines.dask.cluster import Room, local_cluster  # noqa: E402
from dagpost.engines.host.backend import ExactBackend, HostBackend  # noqa: E402
from dagpost.errors import InputError, NoGraphError, ResourceError  # noqa: E402
from dagpost.families.numbering import family_count  # noqa: E402
from dagpost.sampling.dags import rank_families  # noqa: E402
from dagpost.scores import local_scores  # noqa: E402

IDENTITY = {"data": "some", "seed": 1}
HOST = HostBackend(ThreadEngine(2))


@pytest.fixture(scope="module")
def engines() -> Iterator[Callable[[int], DaskEngine]]:
    yield from engines_by_workers()


@pytest.fixture(scope="module")
def engine(engines: Callable[[int], DaskEngine]) -> DaskEngine:
    return engines(2)


def weights_of(nodes: int, max_parents: int = 4) -> Any:
    return 5.0 * np.random.default_rng(nodes).normal(size=(nodes, family_count(nodes - 1, min(max_parents, nodes - 1))))


def everything(sums: ExactBackend, nodes: int, *, reporter: Any = None, samples: int = 3000) -> dict[str, Any]:
    """All that the sums give for some weights: table, evidence, families, graphs."""
    weights, max_parents = weights_of(nodes), min(4, nodes - 1)
    options = {} if reporter is None else {"reporter": reporter}
    forward = sums.forward_table(weights, max_parents, **options)
    uniforms = np.random.default_rng(1).random((samples, 2 * nodes))
    stage = Stage("graphs", samples * sums.draw_units(forward))
    parents, log_joint = sums.draw_dags(forward, lambda: rank_families(weights, max_parents), uniforms, stage=stage)
    assert stage.done == stage.total
    result = {
        "table": sums.on_host(forward).sums,
        "evidence": forward.log_evidence,
        "families": sums.family_probabilities(forward, **options),
        "parents": parents,
        "log_joint": log_joint,
    }
    fresh = sums.forward_table(weights, max_parents)
    result["families, forward table not kept"] = sums.family_probabilities(fresh, keep_forward=False)
    return result


def assert_same(first: dict[str, Any], second: dict[str, Any]) -> None:
    for name, value in first.items():
        assert np.array_equal(value, second[name]), name


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("nodes", [2, 11, 12, 14, 16, 17, 18, 19])
def test_everything_is_what_threads_give_to_the_last_bit(
    engines: Callable[[int], DaskEngine], workers: int, nodes: int
) -> None:
    assert_same(everything(HOST, nodes), everything(engines(workers).backend(), nodes))


@pytest.mark.long
@pytest.mark.parametrize("workers", [1, 2, 4])
@pytest.mark.parametrize("nodes", [13, 15, 20])
def test_everything_is_what_threads_give_on_more_workers(
    engines: Callable[[int], DaskEngine], workers: int, nodes: int
) -> None:
    assert_same(everything(HOST, nodes), everything(engines(workers).backend(), nodes))


def test_how_a_table_is_cut_does_not_change_it(engine: DaskEngine) -> None:
    whole = everything(HOST, 19)
    for top in (1, 2, 3):
        sums = DaskBackend(engine, blocks.Cut(top=top))
        assert sums.forward_table(weights_of(19), 4).layout.top == top
        assert_same(whole, everything(sums, 19))


def test_blocks_become_finer_with_workers_and_with_less_memory() -> None:
    rooms = [Room(threads, threads, threads << 33, 0) for threads in (1, 2, 8, 64)]
    assert [blocks.block_top(24, 5, room) for room in rooms] == [3, 4, 7, 7]
    assert blocks.block_top(24, 5, Room(1, 1, 1 << 26, 0)) > 3
    # Beyond 24 nodes any cluster cuts in the same way, so that a checkpoint of one can be read by another.
    assert [blocks.block_top(nodes, 5, rooms[0]) for nodes in (25, 29, 30, 33, 36)] == [7, 7, 8, 11, 14]


@pytest.mark.long
def test_a_worker_that_dies_is_replaced_and_the_result_is_the_same(engine: DaskEngine) -> None:
    client = engine.cluster.client
    killed: list[int] = []

    def kill_once(title: str, done: int, total: int) -> None:
        if title == "edge probabilities" and done == total // 2 and not killed:
            killed.append(next(iter(client.run(os.getpid).values())))
            os.kill(killed[0], signal.SIGKILL)

    found = everything(engine.backend(), 20, reporter=reporter_for(kill_once))
    assert len(killed) == 1
    assert killed[0] not in client.run(os.getpid).values()
    assert_same(everything(HOST, 20), found)


@pytest.mark.long
def test_blocks_that_do_not_fit_into_memory_go_to_disk_and_come_back() -> None:
    memory = {"target": 0.5, "spill": False, "pause": False, "terminate": False}
    settings = {f"distributed.worker.memory.{name}": value for name, value in memory.items()}

    def on_disk(dask_worker: Any) -> int:
        return len(dask_worker.data.disk)

    with (
        dask.config.set(settings),
        local_cluster(1, memory_limit="4 MiB") as local,
        distributed.Client(local) as client,
    ):
        small = DaskEngine(client).backend()
        assert not small.order_fits(20, 4)
        forward = small.forward_table(weights_of(20), 4)
        assert sum(client.run(on_disk).values()) > 4
        assert_same(everything(HOST, 20), everything(small, 20))
        del forward


def eager(folder: Path) -> Checkpoint:
    """A checkpoint that is written after every step."""
    return Checkpoint(folder / "run.partial", seconds=0)


def run_with_checkpoint(sums: ExactBackend, checkpoint: Checkpoint, stop: Callable[[str, int, int], None]) -> Any:
    with checkpoint.task("fit", IDENTITY):
        reporter = reporter_for(stop)
        forward = sums.forward_table(weights_of(19), 4, reporter=reporter, checkpoint=checkpoint)
        return sums.family_probabilities(forward, reporter=reporter, checkpoint=checkpoint)


@pytest.mark.long
@pytest.mark.parametrize(("stage", "units"), [("forward table", 3), ("edge probabilities", 5)])
def test_a_run_that_lost_its_cluster_goes_on_with_another(
    engine: DaskEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stage: str, units: int
) -> None:
    large = blocks.Cut(small=0)

    def lose(title: str, done: int, total: int) -> None:
        if title == stage and done == units:
            raise Stopped

    with local_cluster(1) as local, distributed.Client(local) as client, pytest.raises(Stopped):
        run_with_checkpoint(DaskBackend(DaskEngine(client), large), eager(tmp_path), lose)
    told: list[tuple[str, int]] = []
    checkpoint = eager(tmp_path)
    submitted = []
    submit = engine.cluster.submit

    def counted(name: str, *arguments: Any, **options: Any) -> Any:
        submitted.append(name)
        return submit(name, *arguments, **options)

    monkeypatch.setattr(engine.cluster, "submit", counted)
    sums = DaskBackend(engine, large)
    families = run_with_checkpoint(sums, checkpoint, lambda title, done, _: told.append((title, done)))
    assert checkpoint.resumed
    assert 0 < submitted.count("forward-table" if stage == "forward table" else "backward-table") < 8
    assert ("forward table", 8) in told
    host = HOST.forward_table(weights_of(19), 4)
    assert np.array_equal(families, HOST.family_probabilities(host))


def test_small_tables_are_not_worth_a_checkpoint(engine: DaskEngine, tmp_path: Path) -> None:
    run_with_checkpoint(engine.backend(), eager(tmp_path), lambda *_: None)
    assert not (tmp_path / "run.partial").exists()


class CountingEngine(DaskEngine):
    """Counts on the cluster, however little there is to count."""

    def sum_cells(self, rows: Any, cells: Any, max_size: int) -> Any:
        return scores.sum_cells(self.cluster, rows, cells, max_size, least_work=0)


@pytest.mark.parametrize("score", ["bdeu", "k2", "bic"])
def test_scores_are_what_threads_give_to_the_last_bit(engine: DaskEngine, score: str) -> None:
    table = datasets.load("coronary")
    alone = local_scores(table, score, 3, engine=ThreadEngine(2)).values
    assert np.array_equal(local_scores(table, score, 3, engine=engine).values, alone)
    counting = CountingEngine(engine.cluster.client, threads=2)
    assert np.array_equal(local_scores(table, score, 3, engine=counting).values, alone)


def test_a_model_on_a_cluster_is_the_model_on_threads(engine: DaskEngine) -> None:
    table = datasets.load("coronary")
    models = [
        DagPosterior(prior="uniform", score="bdeu", modularity="order", method="dds", engine=where, seed=1).fit(table)
        for where in (ThreadEngine(1), engine)
    ]
    assert models[0].log_evidence_ == models[1].log_evidence_
    assert models[0].edge_probabilities_.equals(models[1].edge_probabilities_)
    samples = [model.sample(500, seed=3).parents for model in models]
    assert np.array_equal(*samples)


def test_what_cannot_be_is_refused_as_on_threads(engine: DaskEngine, said: Said) -> None:
    impossible = np.full((3, 3), -np.inf)
    impossible[:, 1] = 0.0
    impossible[0, 1], impossible[0, 2] = -np.inf, 0.0
    with pytest.raises(NoGraphError):
        engine.backend().forward_table(impossible, 1)
    too_wide = np.zeros((17, 17))
    too_wide[:, 0] = -3e6
    with said.raises(InputError):
        engine.backend().forward_table(too_wide, 1)
    with said.raises(ResourceError):
        engine.backend().require_order(50, 3)
    assert not engine.backend().order_fits(50, 3)
    assert engine.backend().order_fits(20, 3)


@pytest.mark.parametrize("stage", ["forward table", "edge probabilities"])
def test_an_interrupt_leaves_no_tasks_behind_on_the_cluster(engine: DaskEngine, stage: str) -> None:
    """Even while somebody looks at the traceback, as an interactive session does; what was there before stays."""
    weights = weights_of(16)

    def interrupt(reached: str, done: int, total: int) -> None:
        if reached == stage and done:
            raise KeyboardInterrupt

    before = engine.backend().forward_table(weights, 4)
    names = "forward-table", "backward-table", "given-to-families", "families"
    held = {key for key in engine.cluster.client.futures if key.startswith(names)}
    sums, reporter = engine.backend(), reporter_for(interrupt)
    runs = {
        "forward table": lambda: sums.forward_table(weights, 4, reporter=reporter),
        "edge probabilities": lambda: sums.family_probabilities(before, reporter=reporter),
    }
    with pytest.raises(KeyboardInterrupt) as looked_at:
        runs[stage]()
    left = {key for key in engine.cluster.client.futures if key.startswith(names)}
    assert left <= held, "not ==: what an earlier test held may be let go of at any time"
    assert looked_at.tb is not None
    assert engine.backend().on_host(before).log_evidence == HOST.forward_table(weights, 4).log_evidence


@pytest.mark.long
def test_a_result_that_is_lost_for_good_is_one_clear_sentence(engine: DaskEngine) -> None:
    future = engine.cluster.submit("sleep", time.sleep, 0.5)
    engine.cluster.client.cancel([future])
    with pytest.raises(ResourceError, match="lost a result that it cannot make again"):
        engine.cluster.finish(future)
