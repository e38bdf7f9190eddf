"""What is free, and the refusal when it is not enough."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psutil
import pytest
from tests.tools.wording import Said

from dagpost._tools import memory
from dagpost.errors import ResourceError

if TYPE_CHECKING:
    from pathlib import Path


def test_what_is_free_is_less_than_what_there_is() -> None:
    assert 0 <= memory.available_bytes() <= psutil.virtual_memory().total


@pytest.mark.parametrize(
    ("limit", "used", "expected"),
    [("3000000", "1000000", 2_000_000), ("1000", "5000", 0), ("max", "5000", None)],
)
def test_the_limit_of_a_container_counts(limit: str, used: str, expected: int | None, tmp_path: Path) -> None:
    (tmp_path / "memory.max").write_text(limit + "\n")
    (tmp_path / "memory.current").write_text(str(int(used) + 700) + "\n")
    # What files take up is given back when it is needed.
    (tmp_path / "memory.stat").write_text("anon 5\ninactive_file 700\nslab 3\n")
    if expected is None:
        assert memory.bytes_in(tmp_path) > 0
    else:
        assert memory.bytes_in(tmp_path) == expected


def test_without_a_container_the_system_is_asked(tmp_path: Path) -> None:
    assert memory.bytes_in(tmp_path / "not there") > 0


def test_what_is_free_is_not_looked_up_again_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, looks = [1e9], [1_000, 2_000, 3_000]
    monkeypatch.setattr("dagpost._tools.memory.time.monotonic", lambda: clock[0])
    monkeypatch.setattr(memory, "bytes_in", lambda _: looks.pop(0))
    assert [memory.available_bytes(), memory.available_bytes()] == [1_000, 1_000]
    clock[0] += 1.0
    assert memory.available_bytes() == 2_000
    # Nobody after this is told about a clock that was never there.
    memory._found_at.cache_clear()


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1000, "1.0 kB"),
        (8.59e9, "8.6 GB"),
        (69e12, "69.0 TB"),
        (1e18, "1000000.0 TB"),
        (10**400, "more than a million TB"),
    ],
)
def test_sizes_are_said_as_people_say_them(size: float, text: str) -> None:
    assert memory.readable(size) == text


def test_a_refusal_names_the_thing_both_figures_and_the_remedy(monkeypatch: pytest.MonkeyPatch, said: Said) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 2_500_000)
    memory.require(2_500_000, "The table", "Buy more.")
    with said.raises(ResourceError) as refusal:
        memory.require(8_590_000_000, "The table", "Buy more.")
    assert isinstance(refusal.value, MemoryError)
