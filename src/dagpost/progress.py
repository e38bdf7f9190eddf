"""How far a long computation has come: bars on a terminal, a callback in a program, silence in a pipe."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Protocol, Self

#: Called with the title of the stage, the units done and the units in all.
ProgressCallback = Callable[[str, int, int], None]

_PATIENCE_SECONDS = 2.0


class Stage:
    """One stage of a computation, such as "local scores": counts its units and passes them on."""

    def __init__(self, title: str, total: int, report: ProgressCallback | None = None) -> None:
        self.title = title
        self.total = total
        self.done = 0
        self.remark = ""
        self._report = report

    def advance(self, units: int) -> None:
        """Count `units` more as done."""
        self.done += units
        if self._report is not None:
            self._report(self.title + self.remark, self.done, self.total)

    def note(self, text: str) -> None:
        """Say something about the work so far, shown beside the title from now on."""
        self.remark = f" ({text})"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass


class Reporter(Protocol):
    """Opens stages."""

    def stage(self, title: str, total: int) -> Stage:
        """Open a stage of `total` units; use it in a `with` statement."""
        ...


class _Silent:
    def stage(self, title: str, total: int) -> Stage:
        return Stage(title, total)


silent: Reporter = _Silent()


class _Callback:
    def __init__(self, callback: ProgressCallback) -> None:
        self._callback = callback

    def stage(self, title: str, total: int) -> Stage:
        return Stage(title, total, self._callback)


class _Terminal:
    def stage(self, title: str, total: int) -> Stage:
        return _BarStage(title, total)


class _BarStage(Stage):
    """A bar with the remaining time, shown only once the stage has taken longer than two seconds."""

    def __init__(self, title: str, total: int) -> None:
        super().__init__(title, total)
        self._started = time.monotonic()
        self._bar: Any = None
        self._task: Any = None

    def advance(self, units: int) -> None:
        super().advance(units)
        if self._bar is None and time.monotonic() - self._started > _PATIENCE_SECONDS:
            self._open()
        if self._bar is not None:
            self._bar.update(self._task, completed=self.done, description=self.title + self.remark)

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            Progress,
            TaskProgressColumn,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TimeElapsedColumn(),
            TextColumn("left:"),
            TimeRemainingColumn(),
            console=Console(file=sys.stderr),
            transient=True,
        )
        self._bar.start()
        self._task = self._bar.add_task(self.title, total=self.total)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()


def reporter_for(progress: bool | ProgressCallback | None) -> Reporter:
    """The reporter that a `progress=` setting asks for: None means bars when standard error is a terminal."""
    if callable(progress):
        return _Callback(progress)
    if progress or (progress is None and sys.stderr.isatty()):
        return _Terminal()
    return silent
