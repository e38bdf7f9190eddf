"""Rows on all cores: in order, in the calling thread where that is asked for, and given up at an interrupt."""

from __future__ import annotations

import threading

import pytest

from dagpost._tools import progress
from dagpost.engines.threads import over_rows


def test_parts_come_in_order_and_work_within_work_stays_in_its_thread() -> None:
    def inner(rows: slice) -> tuple[int, int]:
        return rows.start, threading.get_ident()

    def outer(rows: slice) -> tuple[int, bool]:
        own = threading.get_ident()
        return rows.start, all(thread == own for _, thread in over_rows(inner, 10, 3))

    assert list(over_rows(outer, 50, 5)) == [(start, True) for start in range(0, 50, 5)]
    assert list(over_rows(outer, 0, 5)) == []
    assert {thread for _, thread in over_rows(inner, 10, 3, alone=True)} == {threading.get_ident()}


def test_an_error_or_an_interrupt_in_one_part_ends_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[str, int, int]] = []

    class Telling(progress.Reporter):
        def stage(self, title: str, total: int) -> progress.Stage:
            return progress.Stage(title, total, lambda *seen: told.append(seen))

    monkeypatch.setattr("dagpost.engines.threads.reporter_of_terminal", Telling)
    done = []

    def work(rows: slice) -> int:
        done.append(rows.start)
        if rows.start == 40:
            raise KeyboardInterrupt
        return rows.start

    with pytest.raises(KeyboardInterrupt):
        list(over_rows(work, 100_000, 10, title="graphs"))
    assert len(done) < 5_000
    assert told[:4] == [("graphs", 10 * place, 100_000) for place in range(1, 5)]
