"""Bars with the time that is left, on terminals only."""

from __future__ import annotations

import io
import re
import time
from contextlib import redirect_stderr
from typing import Any

import pytest

from dagpost._tools import progress


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """A terminal of 80 columns."""
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    return Terminal()


def opened(stage: Any) -> Any:
    until = time.monotonic() + 20.0
    while stage.bar is None and time.monotonic() < until:
        time.sleep(0.01)
    assert stage.bar is not None
    return stage.bar


def test_a_bar_shows_title_and_time_left(terminal: Terminal) -> None:
    with redirect_stderr(terminal), progress.reporter_for(None, patience=0.0).stage("[red]chains[/red]", 100) as stage:
        bar = opened(stage)
        stage.advance(40)
        bar.refresh()
        shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", terminal.getvalue()).split("\r")[-1]
    assert shown.startswith("[red]chains[/red] ")
    assert re.search(r" 40% left: (\d|-):(\d\d|--):(\d\d|--)$", shown.rstrip())
    assert len(shown.rstrip()) <= 80


def test_the_time_left_is_told_by_units_that_come_minutes_apart(terminal: Terminal) -> None:
    clock = [1000.0]
    with redirect_stderr(terminal), progress.reporter_for(None, patience=600.0).stage("chains", 100) as opened_later:
        stage: Any = opened_later
        # What an earlier run did does not count.
        stage.advance(40)
        stage._open()
        stage.bar.get_time = stage.bar.tasks[0]._get_time = lambda: clock[0]
        for _ in range(3):
            clock[0] += 300.0
            stage.advance(10)
        assert stage.bar.tasks[0].time_remaining == 900.0


def test_a_short_stage_shows_nothing(terminal: Terminal) -> None:
    with redirect_stderr(terminal), progress.reporter_for(None, patience=600.0).stage("chains", 100) as stage:
        stage.advance(100)
    assert terminal.getvalue() == ""


def test_a_pipe_gets_no_bar() -> None:
    assert progress.reporter_for(None) is progress.NO_PROGRESS


def test_work_that_is_not_wanted_any_more_ends_between_two_units() -> None:
    wanted, told = [True], []

    def tell(stage: str, done: int, everything: int) -> None:
        told.append((stage, done, everything))

    reporter = progress.reporter_for(tell)
    with progress.while_wanted(lambda: wanted[0]), reporter.stage("sums", 3) as stage:
        stage.advance(1)
        wanted[0] = False
        with pytest.raises(progress.UnwantedError):
            stage.advance(1)
    assert told == []
    with reporter.stage("sums", 3) as stage:
        stage.advance(1)
    assert told == [("sums", 1, 3)]
