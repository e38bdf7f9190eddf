"""A cluster on several machines: the scheduler, each worker and the client have network addresses of their own.

The machines are network namespaces (tests/tools/machines.py). Workers are killed, cables are cut, healed and slow,
connections are encrypted; every answer is that of threads to the last bit, or one clear sentence, and nothing waits
forever.
"""

from __future__ import annotations

import json
import os
import queue
import shutil
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("dask")
pytest.importorskip("distributed")

from tests.tools.cluster_client import result_of
from tests.tools.killed_runs import chain_table
from tests.tools.machines import Machine, Network, wait_until, why_not

from dagpost import DagPosterior
from dagpost._version import __version__
from dagpost.engines import ThreadEngine

ROOT = Path(__file__).parents[4]
PORT = 8786
#: Seconds after which Dask gives up a silent connection (it allows no fewer than 11), and one that is not accepted.
SILENCE, CONNECT = 12, 6
FITS = ["order", "chains"]


@pytest.fixture
def farm(tmp_path: Path) -> Iterator[Farm]:
    reason = why_not()
    if reason is not None:
        pytest.skip(reason)
    with Network() as network:
        yield Farm(network, tmp_path)


class Farm:
    """The machines of one cluster; each part is started when a test asks for it."""

    def __init__(self, network: Network, folder: Path) -> None:
        self.network, self._folder = network, folder
        self.scheduler = network.machine("scheduler")
        self.workers: list[Machine] = []
        self.protocol = "tcp"
        self.options: list[str] = []
        timeouts = {"TCP": f"{SILENCE}s", "CONNECT": f"{CONNECT}s"}
        self._environment = os.environ | {
            "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]),
            **{f"DASK_DISTRIBUTED__COMM__TIMEOUTS__{name}": value for name, value in timeouts.items()},
        }

    @property
    def address(self) -> str:
        return f"{self.protocol}://{self.scheduler.address}:{PORT}"

    def encrypt(self, certificates: dict[str, str]) -> None:
        """Let all machines show certificates."""
        self.protocol = "tls"
        files = {"--tls-ca-file": "tls_ca_file", "--tls-cert": "tls_client_cert", "--tls-key": "tls_client_key"}
        self.options = [word for option, file in files.items() for word in (option, certificates[file])]

    def start(self, *cables: dict[str, float]) -> Farm:
        """Start the scheduler, and a worker for each cable."""
        self._dask(self.scheduler, "scheduler", "--protocol", self.protocol, "--port", str(PORT))
        wait_until(lambda: "Scheduler at" in self.log(self.scheduler), "the scheduler")
        for cable in cables:
            self.add_worker(**cable)
        for worker in self.workers:
            self.wait_for(worker)
        return self

    def add_worker(self, *, preload: str | None = None, **cable: float) -> Machine:
        worker = self.network.machine(f"worker{len(self.workers)}", **cable)
        self.workers.append(worker)
        more = [] if preload is None else ["--preload", preload]
        self._dask(worker, "worker", self.address, "--no-nanny", "--nthreads", "1", *more)
        return worker

    def wait_for(self, worker: Machine) -> None:
        wait_until(lambda: "Registered to" in self.log(worker), f"the worker at {worker.address}")

    def _dask(self, machine: Machine, *words: str) -> None:
        with self._log(machine).open("w") as log:
            command = [
                sys.executable,
                "-m",
                "dask",
                *words,
                "--host",
                machine.address,
                "--no-dashboard",
                *self.options,
            ]
            options = {"stdout": log, "stderr": log, "cwd": self._folder, "env": self._environment}
            machine.start(command, **options)

    def _log(self, machine: Machine) -> Path:
        return self._folder / f"{machine.address}.log"

    def log(self, machine: Machine) -> str:
        """What the process on a machine has said so far."""
        return self._log(machine).read_text(encoding="utf-8")

    def command(self, words: list[str]) -> subprocess.Popen[str]:
        """A command of ours, on a machine of its own."""
        machine = self.network.machine("client")
        with self._log(machine).open("w") as log:
            options = {"stdout": log, "stderr": log, "cwd": self._folder, "env": self._environment}
            return machine.start([sys.executable, "-m", "dagpost.cli", *words], **options)

    def client(self, *tasks: dict[str, Any]) -> Client:
        machine = self.network.machine("client")
        whole = [json.dumps({"cluster": self.address, "fits": []} | task) for task in tasks]
        command = [sys.executable, "-m", "tests.tools.cluster_client", *whole]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        return Client(machine, machine.start(command, cwd=ROOT, env=self._environment, **pipes))


class Client:
    """A process on a machine of its own that fits, and what it says."""

    def __init__(self, machine: Machine, process: subprocess.Popen[str]) -> None:
        self.machine, self._process = machine, process
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put('"ended"')

    def says(self, seconds: float = 120.0) -> Any:
        """The next thing it says, which must not take forever."""
        return json.loads(self._lines.get(timeout=seconds))

    def go_on(self) -> None:
        """Let it go on after "paused"."""
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()


@cache
def digests_here(fit: str, nodes: int | None = None) -> dict[str, str]:
    """What threads of this process find."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        task = {} if nodes is None else {"nodes": nodes}
        found: dict[str, str] = result_of(fit, ThreadEngine(2), task)["digests"]
    return found


def tell(what: str) -> None:
    """A figure, for those who run this with -s."""
    sys.stdout.write(f"{what}\n")


def certificates_in(folder: Path) -> dict[str, str]:
    """An authority, and a certificate of it with its key."""
    if shutil.which("openssl") is None:
        pytest.skip("there is no 'openssl' program to make certificates with")
    folder.mkdir()

    def openssl(*words: str) -> None:
        subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)

    kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    openssl("req", "-x509", *kind, "-keyout", "ca.key", "-out", "ca.pem", "-subj", f"/CN={folder.name} authority")
    openssl("req", *kind[:-2], "-keyout", "own.key", "-out", "own.csr", "-subj", f"/CN={folder.name}")
    openssl(
        *[
            "x509",
            "-req",
            "-in",
            "own.csr",
            "-CA",
            "ca.pem",
            "-CAkey",
            "ca.key",
            "-CAcreateserial",
            "-days",
            "2",
            "-out",
            "own.pem",
        ]
    )
    files = {"tls_ca_file": "ca.pem", "tls_client_cert": "own.pem", "tls_client_key": "own.key"}
    return {name: str(folder / file) for name, file in files.items()}


def test_an_encrypted_cluster_of_three_machines_works_for_those_it_trusts(farm: Farm, tmp_path: Path) -> None:
    own = certificates_in(tmp_path / "own")
    farm.encrypt(own)
    farm.start({})
    work = {"fits": ["order"], "nodes": 10}
    unencrypted = farm.address.replace("tls", "tcp")
    client = farm.client(work, work | {"tls": own, "cluster": unencrypted}, work | {"tls": own})
    refused = client.says()
    assert refused["error"] == "InputError"
    assert refused["said"].startswith(f"The Dask scheduler at '{farm.address}' asks for a certificate, and none was")
    assert f"'{unencrypted}' is not one. Give '{farm.address}'" in client.says()["said"]
    found = client.says()
    assert found["digests"] == digests_here("order", 10)
    assert found["engine"] == "dask"


@pytest.mark.long
def test_an_encrypted_cluster_refuses_strangers(farm: Farm, tmp_path: Path) -> None:
    farm.encrypt(certificates_in(tmp_path / "own"))
    farm.start()
    unencrypted = farm.address.replace("tls", "tcp")
    client = farm.client({"tls": certificates_in(tmp_path / "others")}, {"cluster": unencrypted})
    assert f"The Dask scheduler at '{farm.address}' and this process do not trust each other" in client.says()["said"]
    said = client.says()["said"]
    assert said.startswith(f"No Dask scheduler answers at '{unencrypted}'")
    assert f"if it uses certificates, its address is '{farm.address}'" in said


@pytest.mark.long
def test_the_command_line_fits_on_an_encrypted_cluster(farm: Farm, tmp_path: Path) -> None:
    farm.encrypt(certificates_in(tmp_path / "own"))
    farm.start({})
    chain_table(6).to_csv(tmp_path / "table.csv", index=False)
    settings = ["--score", "bdeu", "--modularity", "order", "--no-sensitivity", "--seed", "1", "-o", "model.dagpost"]
    done = farm.command(["fit", "table.csv", *settings, "--cluster", farm.address, *farm.options])
    assert done.wait(120) == 0, farm.log(farm.network.machines[-1])
    said = farm.log(farm.network.machines[-1])
    assert "Working on DaskEngine of 1 workers with 1 threads" in said, said
    here = DagPosterior(score="bdeu", modularity="order", seed=1).fit(tmp_path / "table.csv")
    found = DagPosterior.load(tmp_path / "model.dagpost")
    assert found.log_evidence_ == here.log_evidence_
    assert found.edge_probabilities_.equals(here.edge_probabilities_)


@pytest.mark.long
@pytest.mark.parametrize("cable", [{}, {"delay": 0.05}, {"rate": 1e6}], ids=["fast", "50 ms", "1 MB a second"])
def test_everything_is_what_threads_give_however_slow_the_cables_are(farm: Farm, cable: dict[str, float]) -> None:
    farm.start(cable, {})
    client = farm.client({"fits": FITS})
    for fit in FITS:
        found = client.says(400)
        assert found.get("digests") == digests_here(fit), found
        assert found["engine"] == "dask"
        tell(f"{fit}, cable {cable}: {found['wall']} s, {found['cpu']} CPU s so far in the client")


STAGES = [
    ("order", "forward table"),
    ("order", "edge probabilities"),
    ("chains", "chains"),
]


@pytest.mark.long
@pytest.mark.parametrize(("fit", "stage"), STAGES)
def test_a_machine_that_is_lost_changes_nothing(farm: Farm, fit: str, stage: str) -> None:
    farm.start({}, {}, {})
    client = farm.client({"fits": [fit], "pause_at": [stage, 0.3]})
    assert client.says() == "paused"
    farm.workers[0].stop()
    client.go_on()
    found = client.says()
    assert found.get("digests") == digests_here(fit), found
    tell(f"{fit}, a worker killed in {stage!r}: {found['wall']} s")


@pytest.mark.long
@pytest.mark.parametrize("seconds", [3, 2.5 * SILENCE], ids=["short", "long"])
@pytest.mark.parametrize(("fit", "stage"), STAGES)
def test_a_cable_that_is_cut_and_healed_changes_nothing(farm: Farm, fit: str, stage: str, seconds: float) -> None:
    farm.start({}, {})
    client = farm.client({"fits": [fit], "pause_at": [stage, 0.3]})
    assert client.says() == "paused"
    farm.workers[0].cut()
    client.go_on()
    time.sleep(seconds)
    farm.workers[0].heal()
    found = client.says()
    assert found.get("digests") == digests_here(fit), found
    tell(f"{fit}, cable cut for {seconds:g} s in {stage!r}: {found['wall']} s")


@pytest.mark.long
@pytest.mark.parametrize("fit", FITS)
def test_a_client_that_is_cut_off_says_so_and_resumes_from_its_checkpoint(farm: Farm, fit: str, tmp_path: Path) -> None:
    stage = {"order": "edge probabilities", "chains": "chains"}[fit]
    farm.start({}, {})
    task = {"fits": [fit], "checkpoint": str(tmp_path / "partial")}
    client = farm.client(task | {"pause_at": [stage, 0.3]}, task)
    assert client.says() == "paused"
    client.machine.cut()
    client.go_on()
    said = client.says()
    assert said["error"] == "ResourceError", said
    assert "a run with a checkpoint resumes from it" in said["said"]
    client.machine.heal()
    found = client.says()
    assert found.get("digests") == digests_here(fit), found
    sys.stdout.write(
        f"{fit}, client cut off in {stage!r}: error after {said['wall']} s, resumed in {found['wall']} s" + "\n"
    )


@pytest.mark.long
@pytest.mark.parametrize("fit", FITS)
def test_a_cluster_that_has_lost_all_its_machines_is_not_waited_for_forever(farm: Farm, fit: str) -> None:
    stage = {"order": "edge probabilities", "chains": "chains"}[fit]
    farm.start({}, {})
    client = farm.client({"fits": [fit], "pause_at": [stage, 0.3]})
    assert client.says() == "paused"
    for worker in farm.workers:
        worker.stop()
    client.go_on()
    said = client.says()
    assert said["error"] == "ResourceError", said
    assert f"The cluster has had no worker for {CONNECT} seconds" in said["said"]
    tell(f"{fit}, all workers killed: error after {said['wall']} s")


def other_version(folder: Path, package: str) -> str:
    """A file that makes a worker claim another version of a package."""
    file = folder / "other_version.py"
    if package == "dagpost":
        file.write_text("import dagpost._version\ndagpost._version.__version__ = '9.9'\n", encoding="utf-8")
    else:
        file.write_text(
            "import importlib.metadata as metadata\n"
            "def version(name, found=metadata.version):\n"
            f"    return '9.9' if name == {package!r} else found(name)\n"
            "metadata.version = version\n",
            encoding="utf-8",
        )
    return str(file)


@pytest.mark.long
@pytest.mark.parametrize("package", ["dagpost", "numba"])
def test_a_machine_of_another_version_is_refused_by_name(farm: Farm, package: str, tmp_path: Path) -> None:
    farm.start({})
    other = farm.add_worker(preload=other_version(tmp_path, package))
    farm.wait_for(other)
    said = farm.client({"fits": ["order"]}).says()
    assert said["error"] == "InputError", said
    assert f"The worker at tcp://{other.address}:" in said["said"]
    assert f"has {package} 9.9, and this process " in said["said"]
    assert package != "dagpost" or __version__ in said["said"]


@pytest.mark.long
def test_a_machine_of_another_version_that_comes_late_is_refused_too(farm: Farm, tmp_path: Path) -> None:
    farm.start({})
    client = farm.client({"fits": ["chains"], "pause_at": ["chains", 0.2]})
    assert client.says() == "paused"
    other = farm.add_worker(preload=other_version(tmp_path, "dagpost"))
    farm.wait_for(other)
    farm.workers[0].stop()
    client.go_on()
    said = client.says()
    assert said["error"] == "InputError", said
    assert f"The worker at tcp://{other.address}:" in said["said"]
    assert "has dagpost 9.9" in said["said"]
