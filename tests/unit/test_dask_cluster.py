"""Which cluster an engine works on: made, reached by its address, shared, handed to another process, missing."""

from __future__ import annotations

import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

distributed = pytest.importorskip("distributed")

from dagpost import DagPosterior  # noqa: E402
from dagpost.engines.dask import DaskEngine, cluster, shared_engine  # noqa: E402
from dagpost.engines.dask.cluster import Room  # noqa: E402
from dagpost.errors import InputError  # noqa: E402


@pytest.fixture(scope="module")
def engine() -> Iterator[DaskEngine]:
    with cluster.local_cluster(2) as local, distributed.Client(local) as client:
        yield DaskEngine(client, threads=2)


def test_what_workers_share_is_counted_once() -> None:
    gigabyte = 1 << 30
    limited = [cluster._WorkerRoom(1, 10 * gigabyte, "one", 50 * gigabyte, 7, 100 * gigabyte)] * 4
    assert cluster.room_of(limited) == Room(4, 4, int(0.6 * 40 * gigabyte), 100 * gigabyte)
    free = [cluster._WorkerRoom(2, 0, name, 50 * gigabyte, 7, 100 * gigabyte) for name in ("one", "one", "two")]
    assert cluster.room_of(free) == Room(3, 6, int(0.6 * 100 * gigabyte), 200 * gigabyte)


def test_a_pickled_engine_goes_on_with_the_same_cluster(engine: DaskEngine) -> None:
    model = pickle.loads(pickle.dumps(DagPosterior(engine=engine)))
    with model.engine as other:
        assert other.cluster.client is not engine.cluster.client
        assert other.cluster.address == engine.cluster.address
        assert repr(other) == repr(engine)


def test_an_engine_says_how_large_its_cluster_is(engine: DaskEngine) -> None:
    assert repr(engine) == "DaskEngine of 2 workers with 2 threads"
    assert engine.spread.workers == 2
    assert isinstance(engine.dashboard_link, str)


def test_an_engine_of_its_own_starts_a_cluster_and_ends_it() -> None:
    with DaskEngine() as own:
        assert own.sums.forward_table(np.zeros((3, 4)), 2).log_evidence == pytest.approx(np.log(48))
        client = own.cluster.client
    assert client.status == "closed"
    assert repr(own) == "DaskEngine (closed)"


def test_a_missing_dask_is_one_clear_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r'needs Dask, which is not installed: pip install "dagpost\[dask\]"'):
        DaskEngine()


@pytest.mark.parametrize("client", [7, object()])
def test_what_is_no_client_is_refused(client: object) -> None:
    with pytest.raises(InputError, match=r"Got .* instead"):
        DaskEngine(client)


def test_an_address_where_nobody_answers_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "_PATIENCE_SECONDS", 1)
    with pytest.raises(InputError, match=r"No Dask scheduler answers at 'tcp://127.0.0.1:9'"):
        DaskEngine("tcp://127.0.0.1:9")


def test_an_engine_is_shared_until_it_is_closed(engine: DaskEngine) -> None:
    address = engine.cluster.client.scheduler.address
    first = shared_engine(address)
    assert shared_engine(address) is first
    first.close()
    with shared_engine(address) as second:
        assert second is not first
        assert repr(second) == repr(engine)


def test_an_address_is_enough_and_leaves_other_work_with_dask_alone(engine: DaskEngine) -> None:
    code = f"""
import dask, distributed, numpy
from dagpost.engines.dask import DaskEngine
with DaskEngine({engine.cluster.address!r}) as other:
    assert repr(other) == "DaskEngine of 2 workers with 2 threads"
    assert dask.config.get("scheduler", None) is None
    try:
        distributed.default_client()
    except ValueError:
        pass
    else:
        raise AssertionError("the client of the engine is the default")
    forward = other.sums.forward_table(numpy.zeros((3, 4)), 2)
    print(round(float(other.sums.family_probabilities(forward).sum()), 9))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "3.0\n", done.stderr


def test_a_scheduler_that_has_much_to_tell_is_reached(engine: DaskEngine) -> None:
    """What it tells all clients may come with its greeting, which Dask's client takes for an error."""
    client, stop = engine.cluster.client, threading.Event()

    def cancel_again_and_again() -> None:
        while not stop.is_set():
            client.cancel([client.submit(time.sleep, 0.0, pure=False)])

    talker = threading.Thread(target=cancel_again_and_again)
    talker.start()
    try:
        for _ in range(20):
            with DaskEngine(engine.cluster.address) as other:
                assert other.cluster.client.status == "running"
    finally:
        stop.set()
        talker.join()


def test_a_scheduler_that_never_greets_alone_is_given_up(engine: DaskEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[Any] = []

    def never_greeted(client: Any, timeout: Any = None) -> None:
        tried.append(client)
        raise AssertionError

    monkeypatch.setattr(distributed.Client, "_ensure_connected", never_greeted)
    with pytest.raises(AssertionError):
        DaskEngine(engine.cluster.address)
    assert len(tried) == cluster._GREETINGS
    assert {client.status for client in tried} == {"closed"}
