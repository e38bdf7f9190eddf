"""Which cluster an engine works on: made, reached by its address, shared, handed to another process, missing."""

from __future__ import annotations

import asyncio
import gc
import os
import pickle
import queue
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.tools.wording import Said

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

from dagpost import Bootstrap, DagPosterior, PartitionMCMC, datasets  # noqa: E402
from dagpost.engines.dask import DaskEngine, cluster, shared_engine  # noqa: E402
from dagpost.engines.dask.cluster import Room, WorkerRoom  # noqa: E402
from dagpost.engines.dask.connection import CONNECTION_ATTEMPTS  # noqa: E402
from dagpost.engines.dask.failures import in_plain_words  # noqa: E402
from dagpost.engines.dask.versions import refuse_other_versions, run_if_same, versions_here  # noqa: E402
from dagpost.engines.registry import resolve_engine  # noqa: E402
from dagpost.errors import InputError, ResourceError  # noqa: E402


@pytest.fixture(scope="module")
def engine() -> Iterator[DaskEngine]:
    with cluster.local_cluster(2) as local, distributed.Client(local) as client:
        yield DaskEngine(client, threads=2)


def test_what_workers_share_is_counted_once() -> None:
    gigabyte = 1 << 30
    limited = [WorkerRoom(1, 10 * gigabyte, "one", 50 * gigabyte, 7, 100 * gigabyte)] * 4
    assert cluster.room_of(limited) == Room(4, 4, int(0.6 * 40 * gigabyte), 100 * gigabyte)
    free = [WorkerRoom(2, 0, name, 50 * gigabyte, 7, 100 * gigabyte) for name in ("one", "one", "two")]
    assert cluster.room_of(free) == Room(3, 6, int(0.6 * 100 * gigabyte), 200 * gigabyte)


def test_a_pickled_engine_goes_on_with_the_same_cluster(engine: DaskEngine) -> None:
    model = pickle.loads(pickle.dumps(DagPosterior(prior="uniform", score="bdeu", engine=engine)))
    with model.engine as other:
        assert other.cluster.client is not engine.cluster.client
        assert other.cluster.address == engine.cluster.address
        assert repr(other) == repr(engine)


def test_an_engine_says_how_large_its_cluster_is(engine: DaskEngine) -> None:
    assert repr(engine) == "DaskEngine of 2 workers with 2 threads"
    assert engine.tasks.workers == 2
    assert isinstance(engine.dashboard_link, str)


def test_an_engine_of_its_own_starts_a_cluster_and_ends_it() -> None:
    with DaskEngine() as own:
        assert own.backend().forward_table(np.zeros((3, 4)), 2).log_evidence == pytest.approx(np.log(48))
        client = own.cluster.client
    assert client.status == "closed"
    assert repr(own) == "DaskEngine (closed)"


def test_a_missing_dask_is_one_clear_sentence(monkeypatch: pytest.MonkeyPatch, said: Said) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with said.raises(InputError):
        DaskEngine()


@pytest.mark.parametrize("client", [7, object()])
def test_anything_but_a_client_is_refused(client: object) -> None:
    with pytest.raises(InputError, match=r"Got .* instead"):
        DaskEngine(client)


def waiting(seconds: int) -> Any:
    """How long to wait for a scheduler, and for its first worker."""
    return dask.config.set({"distributed.comm.timeouts.connect": f"{seconds}s"})


def test_an_address_where_nobody_answers_is_refused(said: Said) -> None:
    with waiting(1), said.raises(InputError, {r"\(TimeoutError\)": "(<reason>)"}):
        DaskEngine("tcp://127.0.0.1:9")


def test_a_server_that_is_not_a_scheduler_is_refused(said: Said) -> None:
    """It accepts the connection and says nothing; a client of Dask would wait for it forever."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        refused = said.raises(InputError)
        with waiting(1), refused:
            DaskEngine(address)


def test_a_client_that_fails_before_it_begins_is_refused_with_the_reason(tmp_path: Path, said: Said) -> None:
    missing = str(tmp_path / "missing.pem")
    files = {"distributed.comm.tls.ca-file": missing, "distributed.comm.tls.client.cert": missing}
    with (
        dask.config.set(files),
        said.raises(InputError),
    ):
        DaskEngine("tls://127.0.0.1:9")


@pytest.mark.parametrize("address", ["nonsense", "tcp://127.0.0.1:9"])
def test_the_command_line_says_in_one_sentence_that_there_is_no_cluster(tmp_path: Path, address: str) -> None:
    table = tmp_path / "table.csv"
    table.write_text("a,b\n0,1\n1,0\n1,1\n0,0\n", encoding="utf-8")
    code = f"""
import sys
from dagpost.cli import main
sys.argv = ["dagpost", "fit", {str(table)!r}, "--engine", "dask", "--cluster", {address!r}]
main()
"""
    environment = os.environ | {"DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "1s"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 2
    told = [line for line in done.stderr.splitlines() if "compiling" not in line]
    assert len(told) == 1, done.stderr
    assert told[0].startswith("dagpost: ")
    assert repr(address) in told[0]


def test_an_engine_is_shared_until_it_is_closed(engine: DaskEngine) -> None:
    address = engine.cluster.client.scheduler.address
    first = shared_engine(address)
    assert shared_engine(address) is first
    first.close()
    with shared_engine(address) as second:
        assert second is not first
        assert repr(second) == repr(engine)


@pytest.mark.long
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
    sums = other.backend()
    forward = sums.forward_table(numpy.zeros((3, 4)), 2)
    print(round(float(sums.family_probabilities(forward).sum()), 9))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "3.0\n", done.stderr


def test_a_scheduler_that_has_much_to_tell_is_reached(engine: DaskEngine) -> None:
    """What it tells all clients may come together with its greeting, which a client of Dask takes for an error."""
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


class TalkingScheduler(distributed.core.Server):  # type: ignore[misc, name-defined]
    """Greets every client with two messages at once."""

    def __init__(self) -> None:
        super().__init__(handlers={"register-client": self.greet, "identity": self.who})
        self.greeted: list[str] = []

    async def who(self, n_workers: int = 0) -> dict[str, Any]:
        return {"type": "Scheduler", "workers": {}}

    async def greet(self, comm: Any, client: str, versions: dict[str, Any]) -> str:
        self.greeted.append(client)
        await comm.write([{"op": "stream-start"}, {"op": "cancelled-keys", "keys": []}])
        return "dont-reply"


def test_a_scheduler_that_never_greets_alone_is_given_up() -> None:
    servers: queue.Queue[TalkingScheduler] = queue.Queue()
    stop = threading.Event()

    async def serve() -> None:
        server = TalkingScheduler()
        await server
        await server.listen("tcp://127.0.0.1:0")
        servers.put(server)
        while not stop.is_set():
            await asyncio.sleep(0.01)
        await server.close()

    serving = threading.Thread(target=asyncio.run, args=[serve()])
    serving.start()
    try:
        server = servers.get(timeout=60)
        with pytest.raises(AssertionError) as raised:
            DaskEngine(server.address)
    finally:
        stop.set()
        serving.join()
    assert len(set(server.greeted)) == CONNECTION_ATTEMPTS
    # The traceback holds the last client at least.
    clients = [found for found in gc.get_objects() if isinstance(found, distributed.Client)]
    tried = [client for client in clients if client.id in server.greeted]
    assert {client.status for client in tried} == {"closed"}, raised


@pytest.mark.parametrize(
    "address",
    [
        "banana",
        "",
        "tcp://127.0.0.1:1:2",
        "http://127.0.0.1:8787",
        "tls://127.0.0.1:9",
    ],
)
def test_anything_but_an_address_is_refused_at_once(address: str, said: Said) -> None:
    with said.raises(InputError):
        DaskEngine(address)


@pytest.mark.parametrize(
    ("address", "security"),
    [
        ("tcp://10.0.0.1:8786", distributed.Security(require_encryption=True)),
        ("10.0.0.1:8786", distributed.Security(require_encryption=True)),
        ("tls://10.0.0.1:8786", "own.pem"),
        (None, distributed.Security()),
    ],
)
def test_certificates_that_cannot_be_meant_are_refused_at_once(address: Any, security: Any, said: Said) -> None:
    with said.raises(InputError):
        DaskEngine(address, security=security)


def test_an_address_in_the_place_of_an_engine_is_refused_with_the_way_out(said: Said) -> None:
    with said.raises(InputError):
        resolve_engine("tcp://10.0.0.1:8786", None, 5)


def test_an_asynchronous_client_is_refused(said: Said) -> None:
    async def give_it() -> None:
        async with (
            distributed.LocalCluster(0, processes=False, dashboard_address=":0", asynchronous=True) as local,
            distributed.Client(local, asynchronous=True) as client,
        ):
            DagPosterior(prior="uniform", score="bdeu", engine=client)

    with said.raises(InputError, {"<Client: .*?>": "<client>"}):
        asyncio.run(give_it())


def test_the_number_of_threads_is_that_of_processes_where_no_cluster_is_given() -> None:
    engine = resolve_engine("dask", 1, 5)
    assert isinstance(engine, DaskEngine)
    assert repr(engine) == "DaskEngine of 1 workers with 1 threads"
    assert engine.workers == 1
    assert resolve_engine("dask", 1, 7) is engine
    engine.close()


@pytest.mark.parametrize(
    "settings",
    [
        {"method": "dds", "modularity": "order"},
        {"method": PartitionMCMC(chains=2, burn_in=1000)},
        {"method": "exact-layers"},
        {"method": Bootstrap(replicates=10)},
    ],
    ids=["dds", "chains", "exact-layers", "bootstrap"],
)
@pytest.mark.filterwarnings("ignore:Do not trust it")
def test_a_model_goes_on_with_threads_once_the_engine_of_its_fit_is_closed(
    engine: DaskEngine, settings: dict[str, Any], said: Said
) -> None:
    with DaskEngine(engine.cluster.address) as own:
        model = DagPosterior(engine=own, seed=1, samples=10, **{"prior": "uniform", "score": "bdeu", **settings}).fit(
            datasets.load("coronary")
        )
    here = DagPosterior(engine="threads", seed=1, samples=10, **{"prior": "uniform", "score": "bdeu", **settings}).fit(
        datasets.load("coronary")
    )
    assert np.array_equal(model.sample(10, seed=1).parents, here.sample(10, seed=1).parents)
    with said.raises(InputError):
        DaskEngine(own.cluster.client)


def test_a_client_that_is_closed_after_the_fit_is_one_clear_sentence_where_it_is_needed(
    engine: DaskEngine, said: Said
) -> None:
    settings: dict[str, Any] = {"method": "dds", "modularity": "order", "seed": 1, "samples": 10}
    with distributed.Client(engine.cluster.address) as client:
        model = DagPosterior(engine=client, **{"prior": "uniform", "score": "bdeu", **settings}).fit(
            datasets.load("coronary")
        )
    with said.raises(ResourceError):
        model.sample(10, seed=1)


@pytest.mark.long
def test_a_cluster_without_workers_is_waited_for_and_then_given_up() -> None:
    with cluster.local_cluster(0) as local, distributed.Client(local) as client:
        for settings in ({"method": "dds", "modularity": "order"}, {"method": Bootstrap(replicates=4)}):
            model = DagPosterior(engine=client, seed=1, samples=10, **{"prior": "uniform", "score": "bdeu", **settings})
            refused = pytest.raises(ResourceError, match=r"no worker for 1 seconds\. Start some, .*'dask worker tcp://")
            with waiting(1), refused:
                model.fit(datasets.load("coronary"))
        # A worker that comes while the model waits is in time.
        late = threading.Timer(0.5, local.scale, [1])
        late.start()
        assert len(model.fit(datasets.load("coronary")).own_sample()) == 4
        late.join()


def test_workers_with_another_version_are_refused(tmp_path: Path, said: Said) -> None:
    other = tmp_path / "other_version.py"
    other.write_text("import dagpost._version\ndagpost._version.__version__ = '9.9'\n", encoding="utf-8")
    with (
        cluster.local_cluster(1, preload=[str(other)]) as local,
        distributed.Client(local) as client,
        said.raises(InputError),
    ):
        DaskEngine(client).cluster.threads()


def test_first_numbers_of_versions_are_compared_and_all_of_those_of_dagpost(said: Said) -> None:
    here = versions_here()
    refuse_other_versions({"tcp://10.0.0.2:1": {**here, "numpy": f"{here['numpy']}.post1"}})
    for name in here:
        other = {"tcp://10.0.0.2:1": {**here, name: f"{here[name]}.1" if name == "dagpost" else "1.99.0"}}
        with said.raises(InputError, {r"this process \d[\w.]*\d": "this process <version>"}):
            refuse_other_versions(other)


def test_a_task_of_another_version_is_not_run(engine: DaskEngine, said: Said) -> None:
    """As for a worker that comes while others work, and is given a task before it is asked."""
    others = {**versions_here(), "dagpost": "9.9"}
    future = engine.cluster.client.submit(run_if_same, others, int, pure=False)
    with said.raises(InputError):
        engine.cluster.result(future)


def test_a_cluster_that_loses_its_workers_is_not_waited_for_forever(said: Said) -> None:
    with cluster.local_cluster(1) as local, DaskEngine(local.scheduler_address) as own:
        lost = own.cluster.submit("lost", int)
        assert own.cluster.result(lost) == 0
        local.scale(0)
        while own.cluster.client.nthreads() or lost.status == "finished":
            time.sleep(0.05)
        never = own.cluster.submit("never", int)
        for wait, future in ((own.cluster.finish, lost), (own.cluster.finish, never), (own.cluster.result, never)):
            with waiting(1), said.raises(ResourceError):
                wait(future)


def test_workers_without_dagpost_are_one_clear_sentence(tmp_path: Path, said: Said) -> None:
    hidden = tmp_path / "hide_dagpost.py"
    hidden.write_text(
        "import sys\n"
        "class Hiding:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] == 'dagpost':\n"
        "            raise ModuleNotFoundError(\"No module named 'dagpost'\", name='dagpost')\n"
        "sys.meta_path.insert(0, Hiding())\n",
        encoding="utf-8",
    )
    with cluster.local_cluster(1, preload=[str(hidden)]) as local, distributed.Client(local) as client:
        for settings in ({"method": "dds", "modularity": "order"}, {"method": Bootstrap(replicates=4)}):
            model = DagPosterior(engine=client, seed=1, samples=10, **{"prior": "uniform", "score": "bdeu", **settings})
            with said.raises(InputError):
                model.fit(datasets.load("coronary"))


def test_what_dask_says_of_a_cluster_is_put_in_plain_words() -> None:
    where = "tcp://10.0.0.1:8786"
    state = type("State", (), {"name": "tcp://10.0.0.2:1"})()
    killed = in_plain_words(distributed.KilledWorker("forward-table-1", state, 3), where)
    assert isinstance(killed, ResourceError)
    assert str(killed).startswith(
        "4 workers of the cluster died one after the other on the same task (forward-table-1)"
    )
    assert "lost a result" in str(in_plain_words(CancelledError("some-task"), where))
    assert in_plain_words(ModuleNotFoundError("No module named 'numpy.core'", name="numpy.core"), where) is not None
    unknown = AttributeError("Can't get attribute 'run' on <module 'dagpost.engines.dask.versions' from 'x'>")
    assert "has another version of dagpost" in str(in_plain_words(unknown, where))
    # What is missing here as well, or speaks for itself, is left as it is.
    assert in_plain_words(ModuleNotFoundError("No module named 'not_there'", name="not_there"), where) is None
    assert in_plain_words(ZeroDivisionError("block 4"), where) is None
    assert in_plain_words(KeyboardInterrupt(), where) is None


def test_two_models_share_one_engine_from_two_threads(engine: DaskEngine) -> None:
    table, found = datasets.load("coronary"), {}
    settings: list[dict[str, Any]] = [{"method": "dds", "modularity": "order"}, {"method": Bootstrap(replicates=20)}]

    def fit(number: int) -> None:
        found[number] = (
            DagPosterior(
                engine=engine, seed=1, samples=20, **{"prior": "uniform", "score": "bdeu", **settings[number % 2]}
            )
            .fit(table)
            .own_sample()
        )

    threads = [threading.Thread(target=fit, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number in range(4):
        here = (
            DagPosterior(
                engine="threads", seed=1, samples=20, **{"prior": "uniform", "score": "bdeu", **settings[number % 2]}
            )
            .fit(table)
            .own_sample()
        )
        assert np.array_equal(found[number].parents, here.parents)


@pytest.mark.long
def test_a_scheduler_that_is_gone_is_one_clear_sentence() -> None:
    # A client tries this long to reach its scheduler again.
    with waiting(5), cluster.local_cluster(1) as local, DaskEngine(local.scheduler_address) as lost:
        model = DagPosterior(
            prior="uniform", score="bdeu", engine=lost, seed=1, samples=10, method="dds", modularity="order"
        )
        model.fit(datasets.load("coronary"))
        local.close()
        for again in (lambda: model.sample(20, seed=1), lambda: model.fit(datasets.load("coronary"))):
            with pytest.raises(ResourceError, match=r"does not answer any more|lost a result|is closed"):
                again()
