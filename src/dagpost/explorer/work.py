"""Questions that wait for their turn: one thread each for quick ones and for patient ones, never the event loop.

A thread takes one question at a time. The number that wait is bounded; one that nobody waits for any more is dropped
before its work begins, or given up between two steps of it.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from dagpost._tools.progress import while_wanted

#: A person asks a few questions a second; what is beyond these many is not a person.
MOST_WAITING = 32
_ENDED = "The explorer has ended."


class RefusedError(Exception):
    """No further question is taken, as too many wait already, or as the server ends: which, in words."""


class _Job:
    """One question: what is to be done, and where its answer is waited for."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self.work, self.wanted = work, True
        self._loop = asyncio.get_running_loop()
        self.answer: asyncio.Future[Any] = self._loop.create_future()

    def run(self) -> None:
        """Work on it in this thread, until nobody wants it any more; whatever goes wrong is told to who asked."""
        try:
            with while_wanted(lambda: self.wanted):
                result = self.work()
        except Exception as error:  # noqa: BLE001
            self.finish(None, error)
        except BaseException as error:  # noqa: BLE001  such as SystemExit, which would end the server
            self.finish(None, RuntimeError(f"A question ended in {error!r}"))
        else:
            self.finish(result, None)

    def finish(self, result: Any, error: Exception | None) -> None:
        """Hand the answer over, from whichever thread."""
        # Once the server has ended there is no loop left, and nobody to hear it.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._settle, result, error)

    def _settle(self, result: Any, error: Exception | None) -> None:
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
        self._waiting: deque[_Job] = deque()
        self._current: _Job | None = None
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closed = False

    async def ask(self, work: Callable[[], Any]) -> Any:
        """What `work` returns or raises. Cancelled, it is not begun, or given up between two steps."""
        job = _Job(work)
        self._add(job)
        try:
            return await job.answer
        finally:
            job.wanted = False
            self._drop(job)

    @property
    def waiting(self) -> int:
        """How many questions wait for their turn."""
        return len(self._waiting)

    def close(self) -> None:
        """Answer no more questions: those that wait are refused, and so is the one that is worked on."""
        with self._changed:
            self._closed = True
            for job in (*self._waiting, *([] if self._current is None else [self._current])):
                job.wanted = False
                job.finish(None, RefusedError(_ENDED))
            self._waiting.clear()
            self._changed.notify_all()

    def _add(self, job: _Job) -> None:
        with self._changed:
            if self._closed:
                raise RefusedError(_ENDED)
            if len(self._waiting) >= self._most:
                raise RefusedError("busy")
            self._waiting.append(job)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
                self._thread.start()
            self._changed.notify()

    def _drop(self, job: _Job) -> None:
        with self._changed, suppress(ValueError):
            self._waiting.remove(job)

    def _run(self) -> None:
        while (job := self._next()) is not None:
            job.run()
            # Whoever waits for the next question must not keep the answer of this one alive.
            self._current = None
            del job

    def _next(self) -> _Job | None:
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._waiting)
            if self._closed:
                return None
            self._current = self._waiting.popleft()
            return self._current
