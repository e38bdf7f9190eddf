"""Cases in processes of their own, which may crash or hang: the process that watches them tells.

A worker is forked from a process in which everything is imported and the kernels are loaded. It runs cases of one
campaign, one after the other, until its time is over, and says through a pipe which case it begins and what came of it.
If it dies, or is silent for longer than a case may take, the case it had begun is a finding.
"""

from __future__ import annotations

import faulthandler
import os
import pickle
import select
import shutil
import signal
import struct
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from torture.campaign import Campaign
from torture.cases import Finding, Outcome, run_one
from torture.choices import keep_journal, read_journal

_HEAD = struct.Struct("<I")
_TAIL_OF_OUTPUT = 4_000


@dataclass
class Worker:
    """A process at work, and what it has told so far."""

    campaign: Campaign
    process: int
    pipe: int
    place: Path
    seeds: Sequence[int]
    #: How many of these cases came to an end, or broke the worker.
    finished: int = 0
    begun: int | None = None
    heard: float = field(default_factory=time.monotonic)
    ended: bool = False
    cpu_seconds: float = 0.0
    _unread: bytes = b""

    def read(self) -> list[Outcome]:
        """What the worker has told since the last time. An end of the pipe is the end of the worker."""
        news = os.read(self.pipe, 1 << 20)
        self.heard = time.monotonic()
        if not news:
            return self._end()
        self._unread += news
        outcomes = []
        for message in self._messages():
            if isinstance(message, int):
                self.begun = message
            else:
                self.begun = None
                self.finished += 1
                outcomes.append(message)
        return outcomes

    def check_time(self) -> list[Outcome]:
        """Kill the worker if its case has taken too long; that is a finding."""
        if self.begun is None or time.monotonic() - self.heard < self.campaign.seconds:
            return []
        self.kill(signal.SIGABRT)
        time.sleep(0.2)
        self.kill()
        words = f"The case did not end within {self.campaign.seconds:g} seconds"
        return self._end(words)

    def kill(self, number: int | None = None) -> None:
        """End the worker and the processes it started, by SIGKILL unless told otherwise."""
        with suppress(ProcessLookupError):
            # Not a default of the parameter: tests import this module on Windows, which has no such signal.
            os.killpg(self.process, signal.SIGKILL if number is None else number)

    def _messages(self) -> Iterable[int | Outcome]:
        while len(self._unread) >= _HEAD.size:
            (size,) = _HEAD.unpack_from(self._unread)
            if len(self._unread) < _HEAD.size + size:
                return
            yield pickle.loads(self._unread[_HEAD.size : _HEAD.size + size])
            self._unread = self._unread[_HEAD.size + size :]

    def _end(self, words: str | None = None) -> list[Outcome]:
        """Collect the process; a case that it did not finish is a finding."""
        os.close(self.pipe)
        _, status, usage = os.wait4(self.process, 0)
        self.cpu_seconds = usage.ru_utime + usage.ru_stime
        self.ended = True
        self.kill()
        output = (self.place / "output").read_bytes()[-_TAIL_OF_OUTPUT:].decode(errors="replace")
        chosen = read_journal(self.place / "choices")
        shutil.rmtree(self.place, ignore_errors=True)
        if self.begun is None and status == 0:
            return []
        if words is None:
            code = os.waitstatus_to_exitcode(status)
            words = f"The process died of {signal.Signals(-code).name}" if code < 0 else f"The process left with {code}"
        seed = -1 if self.begun is None else self.begun
        self.finished += self.begun is not None
        return [Outcome(0, Finding(self.campaign.name, seed, words, f"{words}\n{output}", chosen))]


def start_worker(
    campaign: Campaign,
    seeds: Sequence[int],
    seconds: float,
    choices: Sequence[int] | None = None,
    journal: bool = False,
) -> Worker:
    """Fork a worker that runs these cases, beginning none after so many seconds; it may write down all its choices."""
    place = Path(tempfile.mkdtemp(prefix="torture-"))
    reading, writing = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    process = os.fork()
    if process == 0:
        status = 1
        try:
            os.close(reading)
            _settle(place)
            if journal:
                keep_journal(place / "choices")
            _work(campaign, seeds, seconds, choices, place, _teller(writing))
            status = 0
        finally:
            os._exit(status)
    os.close(writing)
    with suppress(PermissionError, ProcessLookupError):  # It may be quicker, and do it itself.
        os.setpgid(process, process)
    return Worker(campaign, process, reading, place, seeds)


def _settle(place: Path) -> None:
    """Make the fork a process of its own: an interrupt is not for it, and its output goes to a file."""
    os.setpgid(0, 0)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    output = os.open(place / "output", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115
    faulthandler.enable(2)


def _teller(pipe: int) -> Callable[[int | Outcome], None]:
    def tell(message: int | Outcome) -> None:
        packed = pickle.dumps(message)
        left = memoryview(_HEAD.pack(len(packed)) + packed)
        while left:
            left = left[os.write(pipe, left) :]

    return tell


def _work(
    campaign: Campaign,
    seeds: Iterable[int],
    seconds: float,
    choices: Sequence[int] | None,
    place: Path,
    tell: Callable[[int | Outcome], None],
) -> None:
    end = time.monotonic() + seconds
    for seed in seeds:
        tell(seed)
        tell(run_one(campaign, seed, choices, place))
        if time.monotonic() > end:
            break


def wait_for_news(workers: Sequence[Worker], seconds: float) -> list[tuple[Worker, Outcome]]:
    """What the workers tell within this time, with hangs and crashes."""
    ready, _, _ = select.select([worker.pipe for worker in workers], [], [], seconds)
    news = []
    for worker in workers:
        outcomes = worker.read() if worker.pipe in ready else worker.check_time()
        news += [(worker, outcome) for outcome in outcomes]
    return news


def run_apart(campaign: Campaign, seed: int, choices: Sequence[int] | None) -> tuple[Outcome, float]:
    """One case in a process of its own, to its end; also the CPU seconds it took."""
    worker = start_worker(campaign, [seed], 0, choices, journal=True)
    outcome = Outcome(0)
    try:
        while not worker.ended:
            for _, told in wait_for_news([worker], 1.0):
                outcome = told
    finally:
        if not worker.ended:
            worker.kill()
    return outcome, worker.cpu_seconds
