"""How far has a long computation come? Bars on a terminal, a callback in a program, silence in a pipe.

And is it still wanted? Between two units of a stage, work that nobody waits for any more can be given up.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any, Self

#: Called with the title of the stage, the units done and the units in all.
ProgressCallback = Callable[[str, int, int], None]

#: A stage shows a bar once it has taken this many seconds.
PATIENCE_SECONDS = 2.0
#: Whether standard error may say what else takes long, such as compiling.
NOTICES = True
#: Set while something else draws on the terminal.
OCCUPIED = threading.Event()
#: Units that are done within this time come from a checkpoint and do not count towards the rate.
_AT_ONCE_SECONDS = 0.05
_wanted: ContextVar[Callable[[], bool] | None] = ContextVar("wanted", default=None)


class UnwantedError(Exception):
    """Nobody waits for the result of this work any more."""


@contextmanager
def while_wanted(wanted: Callable[[], bool]) -> Iterator[None]:
    """Work in silence, until `wanted` says no: then the next unit of a stage ends in an `UnwantedError`."""
    token = _wanted.set(wanted)
    try:
        yield
    finally:
        _wanted.reset(token)


class Stage:
    """One stage of a computation, such as "local scores": counts its units and passes them on."""

    def __init__(self, title: str, total: int, report: ProgressCallback | None = None) -> None:
        self.title = title
        self.total = total
        self.done = 0
        self.remark = ""
        self._report = report
        self._wanted = _wanted.get()

    def advance(self, units: int) -> None:
        """Count `units` more as done."""
        self.done += units
        if self._wanted is not None and not self._wanted():
            raise UnwantedError
        if self._report is not None:
            self._report(self.title + self.remark, self.done, self.total)

    def note(self, text: str) -> None:
        """Show a remark beside the title from now on."""
        self.remark = f" ({text})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass


class Reporter:
    """Opens stages: those that say nothing, unless another kind is given."""

    def __init__(self, kind: Callable[[str, int], Stage] = Stage) -> None:
        self._kind = kind

    def stage(self, title: str, total: int) -> Stage:
        """Open a stage of `total` units; use it in a `with` statement."""
        return self._kind(title, total) if _wanted.get() is None else Stage(title, total)

    def part(self, name: str) -> Reporter:
        """Who hears of one part of the work: every title begins with its name.

        >>> Reporter().part("second half").stage("local scores", 10).title
        'second half: local scores'
        """
        return Reporter(partial(self._named, name))

    def _named(self, name: str, title: str, total: int) -> Stage:
        return self.stage(f"{name}: {title}", total)


NO_PROGRESS = Reporter()


class BarStage(Stage):
    """A bar with the rate and the remaining time, shown once the stage has taken longer than `patience` seconds."""

    def __init__(self, title: str, total: int, *, patience: float = PATIENCE_SECONDS) -> None:
        super().__init__(title, total)
        self._started = time.monotonic()
        #: The bar of Rich, once it is shown.
        self.bar: Any = None
        self._task: Any = None
        self._given = 0
        #: Times, and the units done by then, back to the middle of the time so far.
        self._past: deque[tuple[float, int]] = deque([(self._started, 0)])
        self._ended = False
        self._lock = threading.Lock()
        # A timer, since even the first unit may take long.
        self._timer = threading.Timer(patience, self._open)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def advance(self, units: int) -> None:
        super().advance(units)
        now = time.monotonic()
        if now - self._started < _AT_ONCE_SECONDS:
            self._given = self.done
            self._past = deque([(self._started, self.done)])
        else:
            self._past.append((now, self.done))
            while len(self._past) > 2 and self._past[1][0] <= (now + self._started) / 2:
                self._past.popleft()
        self._refresh()

    def rate(self) -> str:
        """Units in a second or minute, without those from a checkpoint."""
        return readable_rate(self.done - self._given, time.monotonic() - self._started)

    def remaining(self) -> str:
        """The time left, at the rate of the latter half of the time so far; units may come minutes apart."""
        (begun, before), (latest, done) = self._past[0], self._past[-1]
        if done <= before:
            return "?"
        expected = (self.total - done) * (latest - begun) / (done - before)
        return readable_clock(max(expected - (time.monotonic() - latest), 0.0))

    def note(self, text: str) -> None:
        super().note(text)
        self._refresh()

    def _refresh(self) -> None:
        if self.bar is not None:
            title = self.title + self.remark
            self.bar.update(self._task, completed=self.done, description=title, rate=self.rate())

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskProgressColumn, TextColumn
        from rich.text import Text

        class Remaining(ProgressColumn):
            def render(_, task: Task) -> Text:  # noqa: N805, ARG002
                return Text(self.remaining(), style="progress.remaining")

        bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=None),
            TaskProgressColumn(),
            TextColumn("{task.fields[rate]}", markup=False),
            TextColumn("left:"),
            Remaining(),
            console=Console(file=sys.stderr),
            transient=True,
        )
        while OCCUPIED.is_set() and not self._ended:
            time.sleep(0.1)
        with self._lock:
            if self._ended:
                return
            bar.start()
            self._task = bar.add_task(self.title + self.remark, total=self.total, completed=self.done, rate="")
            self.bar = bar

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        with self._lock:
            self._ended = True
            if self.bar is not None:
                self.bar.stop()


def readable_rate(units: float, seconds: float) -> str:
    """How many units are done in a second, or in a minute where they are slow.

    >>> readable_rate(90_000, 2.0), readable_rate(30, 2.0), readable_rate(1, 20.0)
    ('45k/s', '15/s', '3/min')
    """
    rate = units / max(seconds, 1e-9)
    if rate < 1.0:
        return f"{60.0 * rate:.2g}/min"
    for letter in ("", "k", "M", "G"):
        if rate < 1000.0 or letter == "G":
            break
        rate /= 1000.0
    return f"{rate:.0f}{letter}/s" if rate >= 10.0 else f"{rate:.1f}{letter}/s"


def readable_clock(seconds: float) -> str:
    """A time as clocks show it.

    >>> readable_clock(75.2), readable_clock(7_384.0)
    ('1:15', '2:03:04')
    """
    minutes, left = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{left:02}" if hours else f"{minutes}:{left:02}"


def reporter_for(progress: bool | ProgressCallback | None, *, patience: float = PATIENCE_SECONDS) -> Reporter:
    """The reporter that a `progress=` setting asks for: None means bars if standard error is a terminal."""
    from dagpost._tools.checks import callable_with, truth

    if callable(progress):
        callable_with(progress, "progress", "DagPosterior", "stage", 0, 1, written="progress(stage, done, all)")
        return Reporter(partial(Stage, report=progress))
    wanted = truth(progress, "progress", "DagPosterior", optional=True)
    if wanted or (wanted is None and sys.stderr.isatty()):
        return Reporter(partial(BarStage, patience=patience))
    return NO_PROGRESS


def reporter_of_terminal() -> Reporter:
    """Bars on a terminal for work that nobody gave a `progress=` setting for; none where notices are not wanted."""
    return reporter_for(None) if NOTICES and not OCCUPIED.is_set() else NO_PROGRESS
