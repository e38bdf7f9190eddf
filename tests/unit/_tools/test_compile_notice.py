"""What a user sees while kernels compile."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dagpost._tools import progress
from dagpost._tools.compile_notice import NOTICE, CompileNotice

Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def notices(monkeypatch: pytest.MonkeyPatch) -> None:
    """A quiet command in another test may have turned them off."""
    monkeypatch.setattr(progress, "NOTICES", True)


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


def test_a_program_without_standard_error_compiles_in_silence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    compile_one(CompileNotice(), tmp_path)
