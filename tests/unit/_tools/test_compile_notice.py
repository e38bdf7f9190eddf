"""What a user sees while kernels compile."""

from __future__ import annotations

import io
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dagpost._tools import compile_notice, progress
from dagpost._tools.compile_notice import NOTICE, CompileNotice

Captured = pytest.CaptureFixture[str]
ERASED = "\r\x1b[K"


@pytest.fixture(autouse=True)
def notices(monkeypatch: pytest.MonkeyPatch) -> None:
    """A quiet command in another test may have turned them off."""
    monkeypatch.setattr(progress, "NOTICES", True)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def happened(folder: Path, *, is_start: bool, module: str = "dagpost.exact.order", kept: bool = True) -> Any:
    """An event of Numba's: it starts, or ends, to compile a function."""
    cache = SimpleNamespace(_cache_path=str(folder / "exact")) if kept else SimpleNamespace()
    dispatcher = SimpleNamespace(_cache=cache, py_func=SimpleNamespace(__module__=module))
    return SimpleNamespace(is_start=is_start, data={"dispatcher": dispatcher})


def compile_one(notice: CompileNotice, folder: Path, **which: Any) -> None:
    notice.notify(happened(folder, is_start=True, **which))
    notice.notify(happened(folder, is_start=False, **which))


def test_a_pipe_gets_one_line_for_all_processes_on_a_computer(tmp_path: Path, capsys: Captured) -> None:
    for _ in range(2):
        notice = CompileNotice()
        compile_one(notice, tmp_path)
        compile_one(notice, tmp_path)
    assert capsys.readouterr().err == f"{NOTICE}\n"


def test_helpers_and_kernels_of_others_are_no_news(tmp_path: Path, capsys: Captured) -> None:
    notice = CompileNotice()
    compile_one(notice, tmp_path, kept=False)
    compile_one(notice, tmp_path, module="somebody.else")
    assert capsys.readouterr().err == ""


def test_quiet_commands_say_nothing(tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "NOTICES", False)
    compile_one(CompileNotice(), tmp_path)
    assert capsys.readouterr().err == ""


def test_a_terminal_has_a_bar_while_something_compiles_and_nothing_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(compile_notice, "_IDLE_SECONDS", 0.05)
    notice = CompileNotice()
    notice.notify(happened(tmp_path, is_start=True))
    assert progress.OCCUPIED.is_set(), "other bars wait"
    assert terminal.getvalue().endswith("  0%")
    compile_one(notice, tmp_path)
    assert terminal.getvalue().endswith("  5%"), "a kernel that another one calls"
    notice.notify(happened(tmp_path, is_start=False))
    assert terminal.getvalue().endswith(ERASED), "a result may be printed at once"
    for _ in range(compile_notice.FIRST_KERNELS):
        compile_one(notice, tmp_path)
    assert "100%" in terminal.getvalue()
    assert terminal.getvalue().endswith(ERASED)
    patience = time.monotonic() + 10.0
    while progress.OCCUPIED.is_set() and time.monotonic() < patience:
        time.sleep(0.01)
    assert not progress.OCCUPIED.is_set()
    assert "\n" not in terminal.getvalue()


def test_a_program_without_standard_error_compiles_in_silence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    compile_one(CompileNotice(), tmp_path)
