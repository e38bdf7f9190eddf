"""The sums over all graphs on a Dask cluster are those of threads, to the last bit, whatever happens to its workers."""

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

from dagpost._tools.progress import reporter_for  # noqa: E402
from dagpost._tools.wide_floats import FRACTION_BITS  # noqa: E402
from dagpost.checkpoints import Checkpoint  # noqa: E402
from dagpost.engines import ThreadEngine  # noqa: E402
from dagpost.engines.dask import DaskEngine, structure  # noqa: E402
from dagpost.engines.dask.cluster import Room, local_cluster  # noqa: E402
from dagpost.engines.dask.structure_completions import block_top  # noqa: E402
from dagpost.engines.host.backend import HostBackend  # noqa: E402
from dagpost.errors import ResourceError  # noqa: E402
from dagpost.exact.alternating import block_leaves, group_top  # noqa: E402
from dagpost.exact.graph_groups import alphas_of_group, give, group_layout, leaf_order  # noqa: E402
from dagpost.exact.walk import in_waves, waves  # noqa: E402
from dagpost.families.numbering import family_count  # noqa: E402

HOST = HostBackend(ThreadEngine(2))
MAX_PARENTS = 3
TABLES = "graphs", "completions", "completion_exponents", "log_evidence", "error_bound"
TASKS = "forward-table", "graph-", "given-to-graph", "add-graph", "completions", "families-and-paths"
STAGES = "sums over graphs", "families and paths"
IDENTITY = {"data": "some", "seed": 1}


@pytest.fixture(scope="module")
def engines() -> Iterator[Callable[[int], DaskEngine]]:
    yield from engines_by_workers()


@pytest.fixture(scope="module")
def engine(engines: Callable[[int], DaskEngine]) -> DaskEngine:
    return engines(2)


def weights_of(nodes: int) -> Any:
    return 3.0 * np.random.default_rng(nodes).normal(size=(nodes, family_count(nodes - 1, min(MAX_PARENTS, nodes - 1))))


def posterior(where: DaskEngine | HostBackend, nodes: int, **options: Any) -> Any:
    """What threads or a cluster give; the cluster even where it is not worth it."""
    arguments = weights_of(nodes), min(MAX_PARENTS, nodes - 1)
    if isinstance(where, HostBackend):
        return where.structure_posterior(*arguments, **options)
    with where.cluster.release_on_error():
        return structure.structure_posterior(where, *arguments, **options)


def assert_same(first: Any, second: Any) -> None:
    for part in TABLES:
        assert np.array_equal(getattr(first.tables, part), getattr(second.tables, part)), part
    assert np.array_equal(first.tables.forward.sums, second.tables.forward.sums)
    assert np.array_equal(first.families, second.families)
    assert np.array_equal(first.paths, second.paths)


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(
    "nodes", [2, 12, *(pytest.param(nodes, marks=pytest.mark.long) for nodes in (10, 14, 16, 17, 18))]
)
def test_everything_is_what_threads_give_to_the_last_bit(
    engines: Callable[[int], DaskEngine], workers: int, nodes: int
) -> None:
    alone = posterior(HOST, nodes)
    assert_same(alone, posterior(engines(workers), nodes))
    max_parents = min(MAX_PARENTS, nodes - 1)
    evidence = structure.structure_evidence(engines(workers), weights_of(nodes), max_parents)
    assert evidence == alone.tables.log_evidence


@pytest.mark.long
@pytest.mark.parametrize("workers", [1, 2, 4])
@pytest.mark.parametrize("nodes", [13, 19, 20])
def test_everything_is_what_threads_give_on_more_workers(
    engines: Callable[[int], DaskEngine], workers: int, nodes: int
) -> None:
    assert_same(posterior(HOST, nodes), posterior(engines(workers), nodes))


@pytest.mark.parametrize("nodes", [12, 15, 17])
def test_the_number_of_threads_does_not_change_a_bit(nodes: int) -> None:
    alone = posterior(HostBackend(ThreadEngine(1)), nodes)
    for threads in (2, 5):
        assert_same(alone, posterior(HostBackend(ThreadEngine(threads)), nodes))


@pytest.mark.parametrize("nodes", [3, 11, 13, 16])
def test_groups_give_to_each_other_what_leaves_give_in_one_table(nodes: int) -> None:
    tables = posterior(HOST, nodes).tables
    layout = group_layout(nodes, tables.layout.max_parents)
    leaves, cancel = leaf_order(nodes - layout.top - layout.low), np.zeros(1, dtype=np.int64)
    exponents = (tables.forward.sums >> FRACTION_BITS).astype(np.int32).reshape(1 << layout.top, -1)
    sums = np.zeros(exponents.shape)
    sums[0, 0] = 1.0
    for group in in_waves(waves(layout.top)):
        alpha = alphas_of_group(layout, tables.forward.weights, group, cancel)
        own = exponents[group]
        sums[group] = give(layout, alpha, sums[group], own, own, group, group, leaves, cancel)
        for above in range(group + 1, 1 << layout.top):
            if above & group == group:
                sums[above] += give(layout, alpha, sums[group], own, exponents[above], group, above, leaves, cancel)
    assert np.array_equal(sums.reshape(-1), tables.graphs)


def test_pieces_depend_on_the_number_of_nodes_and_blocks_lie_inside_groups() -> None:
    for nodes in range(1, 33):
        assert 0 <= group_top(nodes) <= block_top(nodes) <= max(nodes - 11, 0)
        assert block_top(nodes) + block_leaves(nodes) == max(nodes - 11, 0)


@pytest.mark.parametrize("stage", STAGES)
def test_a_worker_that_dies_is_replaced_and_the_result_is_the_same(engine: DaskEngine, stage: str) -> None:
    client = engine.cluster.client
    killed: list[int] = []

    def kill_once(title: str, done: int, total: int) -> None:
        if title == stage and 3 * done > total and not killed:
            killed.append(next(iter(client.run(os.getpid).values())))
            os.kill(killed[0], signal.SIGKILL)

    found = posterior(engine, 18, reporter=reporter_for(kill_once))
    assert len(killed) == 1
    assert killed[0] not in client.run(os.getpid).values()
    assert_same(posterior(HOST, 18), found)


def test_pieces_that_do_not_fit_into_memory_go_to_disk_and_come_back() -> None:
    memory = {"target": 0.15, "spill": False, "pause": False, "terminate": False}
    settings = {f"distributed.worker.memory.{name}": value for name, value in memory.items()}

    def on_disk(dask_worker: Any) -> int:
        return len(dask_worker.data.disk)

    with (
        dask.config.set(settings),
        local_cluster(1, memory_limit="10 MiB") as local,
        distributed.Client(local) as client,
    ):
        spilled: dict[str, int] = {}

        def look(title: str, done: int, total: int) -> None:
            if 2 * done > total:
                spilled[title] = max(spilled.get(title, 0), *client.run(on_disk).values())

        found = posterior(DaskEngine(client), 17, reporter=reporter_for(look))
        assert all(spilled[stage] > 2 for stage in STAGES)
    assert_same(posterior(HOST, 17), found)


def test_progress_goes_up_to_the_whole(engine: DaskEngine) -> None:
    told: dict[str, list[tuple[int, int]]] = {}
    posterior(engine, 16, reporter=reporter_for(lambda *what: told.setdefault(what[0], []).append(what[1:])))
    assert list(told) == ["forward table", *STAGES]
    for steps in told.values():
        done, totals = [step[0] for step in steps], {step[1] for step in steps}
        assert done == sorted(done)
        assert totals == {done[-1]}


def tasks_known(dask_scheduler: Any) -> list[str]:
    return [str(key) for key in dask_scheduler.tasks]


@pytest.mark.parametrize("stage", STAGES)
def test_an_interrupt_leaves_no_tasks_behind_on_the_cluster(engine: DaskEngine, stage: str) -> None:
    """Even while somebody looks at the traceback, as an interactive session does."""

    def interrupt(reached: str, done: int, total: int) -> None:
        if reached == stage and done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as looked_at:
        posterior(engine, 17, reporter=reporter_for(interrupt))
    assert not [key for key in engine.cluster.client.futures if key.startswith(TASKS)]
    # Word of it reaches the scheduler a moment later.
    while [key for key in engine.cluster.client.run_on_scheduler(tasks_known) if key.startswith(TASKS)]:
        time.sleep(0.01)
    assert engine.cluster.client.status == "running"
    assert looked_at.tb is not None


def with_checkpoint(where: DaskEngine, checkpoint: Checkpoint, told: Callable[[str, int, int], None]) -> Any:
    with checkpoint.task("fit", IDENTITY):
        return posterior(where, 17, reporter=reporter_for(told), checkpoint=checkpoint)


@pytest.mark.parametrize(("stage", "first", "second"), [("sums over graphs", 3, 9), ("families and paths", 30, 150)])
def test_a_run_that_lost_its_cluster_goes_on_with_another(
    engine: DaskEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stage: str, first: int, second: int
) -> None:
    def lose(units: int) -> Callable[[str, int, int], None]:
        def told(title: str, done: int, total: int) -> None:
            if title == stage and done >= units:
                raise Stopped

        return told

    folder = tmp_path / "run.partial"
    with local_cluster(1) as local, distributed.Client(local) as client:
        for units in (first, second):
            with pytest.raises(Stopped):
                with_checkpoint(DaskEngine(client), Checkpoint(folder, seconds=0), lose(units))
    submitted = []
    submit = engine.cluster.submit

    def counted(name: str, *arguments: Any, **options: Any) -> Any:
        submitted.append(name)
        return submit(name, *arguments, **options)

    monkeypatch.setattr(engine.cluster, "submit", counted)
    checkpoint = Checkpoint(folder, seconds=0)
    found = with_checkpoint(engine, checkpoint, lambda *_: None)
    assert checkpoint.resumed
    name, all_tasks = {
        "sums over graphs": ("given-to-graph-sums", 3 ** group_top(17) - 2 ** group_top(17)),
        "families and paths": ("completions", 2 ** block_top(17)),
    }[stage]
    assert 0 < submitted.count(name) < all_tasks
    assert_same(posterior(HOST, 17), found)


def test_the_cluster_is_left_alone_where_threads_are_sooner_done(
    engine: DaskEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not structure.is_worth_it(engine, 12)
    assert not structure.is_worth_it(engine, 20)
    for threads in (4, 64):
        monkeypatch.setattr(engine.cluster, "threads", lambda threads=threads: threads)
        assert structure.is_worth_it(engine, 20)
        seconds = engine.backend().structure_seconds(20)
        assert seconds < HOST.structure_seconds(20)
    engine.workers = structure.most_cores(20)
    assert not structure.is_worth_it(engine, 20)


def test_a_cluster_whose_single_workers_lack_memory_is_left_alone(
    engine: DaskEngine, monkeypatch: pytest.MonkeyPatch, said: Said
) -> None:
    gigabyte = 1 << 30
    many = Room(64, 64, 64 * gigabyte, 1000 * gigabyte, gigabyte)
    few = Room(16, 64, 64 * gigabyte, 1000 * gigabyte, 4 * gigabyte)
    with said.raises(ResourceError, {"has [0-9.]+ GB": "has <memory>"}):
        structure.require_room(26, 5, many)
    structure.require_room(26, 5, many, evidence_only=True)
    structure.require_room(26, 5, few)
    monkeypatch.setattr(engine.cluster, "threads", lambda: 64)
    for room, is_enough in ((many, False), (few, True)):
        monkeypatch.setattr(engine.cluster, "room", lambda room=room: room)
        assert structure.is_worth_it(engine, 26, 5) is is_enough
        assert structure.is_worth_it(engine, 26, 5, evidence_only=True)
    # Nor is one without the memory and disk for all tables together.
    monkeypatch.setattr(engine.cluster, "room", lambda: Room(16, 64, gigabyte, 0, 4 * gigabyte))
    assert not structure.is_worth_it(engine, 26, 5, evidence_only=True)


def test_additions_are_sent_what_they_add_and_no_more(engine: DaskEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    nodes, groups = 16, 4
    submit = engine.cluster.submit
    sizes: dict[int, int] = {}

    def weighed(name: str, function: Any, *arguments: Any, **options: Any) -> Any:
        if name == "families-and-paths" and len(arguments) > 1:
            _, _, first, _, _, *given = arguments
            contributions = [future.result()[0] for future in given]
            sizes[first] = sizes.get(first, 0) + sum(part.nbytes for part in contributions)
            assert all(len(future.result()) == 3 for future in given)
        return submit(name, function, *arguments, **options)

    monkeypatch.setattr(engine.cluster, "submit", weighed)
    found = posterior(engine, nodes, node_groups=groups)
    everything = 8 * nodes * family_count(11, MAX_PARENTS) << (nodes - 11)
    assert sizes == dict.fromkeys(range(0, nodes, nodes // groups), everything // groups)
    assert_same(posterior(HOST, nodes), found)


def test_what_cannot_be_is_refused_as_on_threads(engine: DaskEngine, said: Said) -> None:
    with said.raises(ResourceError):
        structure.structure_posterior(engine, np.zeros((45, 45)), 1)
    with said.raises(ResourceError):
        structure.structure_evidence(engine, np.zeros((45, 45)), 1)
