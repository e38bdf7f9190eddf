"""Machines with network addresses of their own: network namespaces of this computer, joined by a bridge.

    with Network() as network:
        first, second = network.machine("first"), network.machine("second", delay=0.05)
        first.start(["sleep", "60"])
        second.cut()

Needs root and the `ip` program of iproute2 (`why_not` says what is missing). A machine has one cable, which can be cut
and healed, and can be long (`delay`, seconds one way) or thin (`rate`, bytes a second): slow_cable.py carries its
packets, since few kernels have the module that delays them.

Names of namespaces begin with `dagpost-` and the number of the process that made them. Leaving the `with` block ends
what runs in them and removes them; what a killed process left behind is removed when the next network is made.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

_PREFIX = "dagpost-"
_SLOW_CABLE = Path(__file__).with_name("slow_cable.py")
_SUBNET = "10.213.77"


def why_not() -> str | None:
    """Why no machines can be made here; None if they can."""
    if not sys.platform.startswith("linux"):
        return "network namespaces are a part of Linux"
    if os.geteuid() != 0:
        return "network namespaces can be made by root only"
    if shutil.which("ip") is None:
        return "there is no 'ip' program (iproute2) to make network namespaces with"
    name = f"{_PREFIX}{os.getpid()}-trial"
    trial = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True, check=False)
    if trial.returncode == 0:
        pair = ["ip", "-n", name, "link", "add", "one", "type", "veth", "peer", "name", "two"]
        bridge = ["ip", "-n", name, "link", "add", "three", "type", "bridge"]
        for command in (pair, bridge):
            if trial.returncode == 0:
                trial = subprocess.run(command, capture_output=True, text=True, check=False)
        _ip("netns", "del", name)
    return None if trial.returncode == 0 else f"network namespaces cannot be made here: {trial.stderr.strip()}"


def _ip(*words: str) -> str:
    return subprocess.run(["ip", *words], capture_output=True, text=True, check=True).stdout


def _remove(namespace: str) -> None:
    """End what runs in a namespace, and remove it."""
    with suppress(subprocess.CalledProcessError):
        for process in _ip("netns", "pids", namespace).split():
            with suppress(ProcessLookupError):
                os.kill(int(process), signal.SIGKILL)
    with suppress(subprocess.CalledProcessError):
        _ip("netns", "del", namespace)


def remove_left_behind() -> list[str]:
    """Remove the namespaces of processes that are gone; their names."""
    names = [line.split()[0] for line in _ip("netns", "list").splitlines() if line.startswith(_PREFIX)]
    left = [name for name in names if not Path("/proc", name.removeprefix(_PREFIX).partition("-")[0]).exists()]
    for name in left:
        _remove(name)
    return left


class Network:
    """A bridge, in a namespace of its own, and the machines that are joined by it."""

    _made = 0

    def __init__(self) -> None:
        remove_left_behind()
        Network._made += 1
        self._prefix = f"{_PREFIX}{os.getpid()}-{Network._made}"
        self.machines: list[Machine] = []
        self.bridge = self._namespace("bridge")
        _ip("-n", self.bridge, "link", "add", "bridge", "type", "bridge")
        _ip("-n", self.bridge, "link", "set", "bridge", "up")

    def machine(self, name: str, *, delay: float = 0.0, rate: float | None = None) -> Machine:
        """A new machine with an address and a cable to the bridge."""
        number = len(self.machines) + 1
        machine = Machine(self._namespace(name), f"{_SUBNET}.{number}", self.bridge, f"port{number}")
        self.machines.append(machine)
        machine.plug_in(delay, rate)
        return machine

    def _namespace(self, name: str) -> str:
        whole = f"{self._prefix}-{name}"
        _ip("netns", "add", whole)
        _ip("-n", whole, "link", "set", "lo", "up")
        return whole

    def close(self) -> None:
        """End what runs on the machines, and remove them."""
        for machine in self.machines:
            machine.stop()
        for namespace in [*(machine.namespace for machine in self.machines), self.bridge]:
            _remove(namespace)

    def __enter__(self) -> Network:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Machine:
    """A namespace with an address, and the processes that were started in it."""

    def __init__(self, namespace: str, address: str, bridge: str, port: str) -> None:
        self.namespace, self.address = namespace, address
        self._bridge, self._port = bridge, port
        self.processes: list[subprocess.Popen[str]] = []

    def plug_in(self, delay: float, rate: float | None) -> None:
        """Lay the cable from the machine to the bridge."""
        _ip("link", "add", "eth0", "netns", self.namespace, "type", "veth", "peer", self._port, "netns", self._bridge)
        _ip("-n", self.namespace, "addr", "add", f"{self.address}/24", "dev", "eth0")
        _ip("-n", self.namespace, "link", "set", "eth0", "up")
        end = self._port
        if delay or rate is not None:
            # The port is not on the bridge: a process carries every packet from there to a second pair, and back.
            near, end = f"{self._port}a", f"{self._port}b"
            _ip("-n", self._bridge, "link", "add", near, "type", "veth", "peer", "name", end)
            for link in (self._port, near):
                _ip("-n", self._bridge, "link", "set", link, "up")
            carrier = [sys.executable, str(_SLOW_CABLE), self._port, near, str(delay), str(rate or 0)]
            self.processes.append(
                subprocess.Popen(["ip", "netns", "exec", self._bridge, *carrier], stdout=subprocess.PIPE, text=True)
            )
            assert self.processes[0].stdout is not None
            assert self.processes[0].stdout.readline() == "ready\n"
        _ip("-n", self._bridge, "link", "set", end, "master", "bridge")
        for link in {self._port, end}:
            _ip("-n", self._bridge, "link", "set", link, "up")

    def start(self, command: list[str], **options: Any) -> subprocess.Popen[str]:
        """Start a process on the machine; `ip netns exec` becomes that process."""
        process = subprocess.Popen(["ip", "netns", "exec", self.namespace, *command], text=True, **options)
        self.processes.append(process)
        return process

    def cut(self) -> None:
        """Cut the cable: no packet passes, and nobody is told."""
        _ip("-n", self._bridge, "link", "set", self._port, "down")

    def heal(self) -> None:
        """Mend the cable."""
        _ip("-n", self._bridge, "link", "set", self._port, "up")

    def stop(self) -> None:
        """End the processes that were started here, at once."""
        for process in self.processes:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream is not None:
                    with suppress(BrokenPipeError):
                        stream.close()
        self.processes.clear()


def wait_until(happened: Any, what: str, seconds: float = 120.0) -> None:
    """Wait for something to come true; an error that names it if it does not."""
    end = time.monotonic() + seconds
    while not happened():
        if time.monotonic() > end:
            raise AssertionError(f"waited {seconds:g} s for {what}")
        time.sleep(0.05)
