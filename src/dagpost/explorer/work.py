"""Questions that wait for their turn: one thread each for quick ones and for patient ones, never the event loop.

A thread takes one question at a time. The number that wait is bounded, one that nobody waits for any more is dropped
before its work begins, and of the patient ones of a page only the newest waits.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from typing import Any

#: A person asks a few questions a second; what is beyond these many is not a person.
MOST_WAITING = 32


class BusyError(Exception):
    """So many questions wait already that no further one is taken."""


class ReplacedError(Exception):
    """A newer question of the same kind has taken the place of this one."""


class Job:
    """One question: what is to be done, and where its answer is waited for."""

    def __init__(self, work: Callable[[], Any], kind: str | None) -> None:
        self.work, self.kind = work, kind
        self.loop = asyncio.get_running_loop()
        self.answer: asyncio.Future[Any] = self.loop.create_future()

    def finish(self, result: Any, error: BaseException | None) -> None:
        """Hand the answer over, from whichever thread; nobody may be left to take it."""
        try:
            self.loop.call_soon_threadsafe(self._settle, result, error)
        except RuntimeError:  # The loop is closed: the server has ended meanwhile.
            return

    def _settle(self, result: Any, error: BaseException | None) -> None:
        if self.answer.done():
            return
        if error is None:
            self.answer.set_result(result)
        else:
            self.answer.set_exception(error)


class Lane:
    """A thread that works off questions in the order in which they came."""

    def __init__(self, name: str, most_waiting: int = MOST_WAITING) -> None:
        self._name, self._most = name, most_waiting
        self._waiting: deque[Job] = deque()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closed = False

    async def ask(self, work: Callable[[], Any], kind: str | None = None) -> Any:
        """What `work` returns, or the error that it raises; cancelled, it is not begun.

        Of the questions of one kind only the newest waits: earlier ones end in a `ReplacedError`.
        """
        job = Job(work, kind)
        self._add(job)
        try:
            return await job.answer
        finally:
            self._drop(job)

    @property
    def waiting(self) -> int:
        """How many questions wait for their turn."""
        return len(self._waiting)

    def close(self) -> None:
        """Take no more questions, and begin none of those that wait; one that is being worked on is not awaited."""
        with self._changed:
            self._closed = True
            self._waiting.clear()
            self._changed.notify_all()

    def _add(self, job: Job) -> None:
        with self._changed:
            if job.kind is not None:
                for older in [other for other in self._waiting if other.kind == job.kind]:
                    self._waiting.remove(older)
                    older.finish(None, ReplacedError())
            if self._closed or len(self._waiting) >= self._most:
                raise BusyError
            self._waiting.append(job)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
                self._thread.start()
            self._changed.notify()

    def _drop(self, job: Job) -> None:
        with self._changed:
            if job in self._waiting:
                self._waiting.remove(job)

    def _run(self) -> None:
        while (job := self._next()) is not None:
            try:
                result, error = job.work(), None
            except BaseException as raised:  # noqa: BLE001  whatever it is, whoever asked is told, and the next one begins
                result, error = None, raised
            job.finish(result, error)
            del job, result, error

    def _next(self) -> Job | None:
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._waiting)
            return None if self._closed else self._waiting.popleft()
