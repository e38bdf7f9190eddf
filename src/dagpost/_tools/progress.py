"""How far has a long computation come? Bars on a terminal, a callback in a program, silence in a pipe.

And is it still wanted? Between two units of a stage, work that nobody waits for any more can be given up.
"""

from __future__ import annotations

import sys
import threading
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
#: The time left is told by what was done in this time.
_RATE_SECONDS = 3600.0
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
        self._report = report
        self._wanted = _wanted.get()

    def advance(self, units: int) -> None:
        """Count `units` more as done."""
        self.done += units
        if self._wanted is not None and not self._wanted():
            raise UnwantedError
        if self._report is not None:
            self._report(self.title, self.done, self.total)

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
    """A bar with the remaining time, shown once the stage has taken longer than `patience` seconds."""

    def __init__(self, title: str, total: int, *, patience: float = PATIENCE_SECONDS) -> None:
        super().__init__(title, total)
        #: The bar of Rich, once it is shown.
        self.bar: Any = None
        self._task: Any = None
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
        if self.bar is not None:
            self.bar.update(self._task, completed=self.done)

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

        bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=None),
            TaskProgressColumn(),
            TextColumn("left:"),
            TimeRemainingColumn(),
            console=Console(file=sys.stderr),
            transient=True,
            # Units may come minutes apart.
            speed_estimate_period=_RATE_SECONDS,
        )
        with self._lock:
            if self._ended:
                return
            bar.start()
            # What came from a checkpoint is done by now, and does not count towards the rate.
            self._task = bar.add_task(self.title, total=self.total, completed=self.done)
            self.bar = bar

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        with self._lock:
            self._ended = True
            if self.bar is not None:
                self.bar.stop()


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
    return reporter_for(None) if NOTICES else NO_PROGRESS
