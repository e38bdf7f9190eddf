"""Where results go: never over something else, never half, and found out before the work where that is possible."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.tools.cli_checks import Run, one_message
from tests.tools.wording import Said

from dagpost import DagPosterior, InputError


@pytest.mark.parametrize("command", [["fit", "table.csv"], ["sample", "model.dagpost", "-n", "5"]])
def test_a_folder_in_the_place_of_the_result_is_refused_before_the_work(
    command: list[str], run: Run, model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: Said
) -> None:
    (tmp_path / "folder").mkdir()
    for work in ("fit", "sample"):
        monkeypatch.setattr(DagPosterior, work, lambda *_, **__: pytest.fail("worked in vain"))
    assert "folder" in one_message(run(*command, "-o", "folder", status=2))
    if Path("/dev/null").exists():
        said(one_message(run(*command, "-o", "/dev/null", status=2)))


@pytest.mark.parametrize(
    "command",
    [
        ["fit", "table.csv", "-o", "precious"],
        ["sample", "model.dagpost", "-n", "5", "-o", "precious"],
        ["sample", "model.dagpost", "-n", "5", "-o", "model.dagpost"],
        ["report", "model.dagpost", "-o", "precious"],
        ["report", "model.dagpost", "-o", "model.dagpost"],
        ["fit", "table.csv", "-o", "table.csv"],
        ["data", "export", "iris", "-o", "precious"],
        ["demo", "-o", "precious.html"],
        ["demo", "-o", "precious"],
    ],
    ids=" ".join,
)
def test_nothing_but_an_older_result_is_written_over(
    command: list[str], run: Run, model: str, tmp_path: Path, said: Said
) -> None:
    for name in ("precious", "precious.html"):
        (tmp_path / name).write_text("years of work")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    said(one_message(run(*command, status=2)))
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_the_default_place_is_refused_too_where_something_else_is(
    run: Run, table: str, tmp_path: Path, said: Said
) -> None:
    (tmp_path / "table.dagpost").write_text("something else")
    said(one_message(run("fit", table, status=2)))


@pytest.mark.parametrize(
    "command",
    [
        ["fit", "table.csv", "-o", "new"],
        ["sample", "model.dagpost", "-n", "5000", "-o", "new"],
        ["report", "model.dagpost", "-o", "new"],
        ["data", "export", "tic-tac-toe", "-o", "new"],
    ],
    ids=" ".join,
)
def test_a_full_disk_leaves_no_file_and_is_one_message(
    command: list[str], run: Run, model: str, tmp_path: Path
) -> None:
    """A limit on the size of files ends a write as a full disk does."""
    resource = pytest.importorskip("resource", reason="limits on files are of POSIX")
    run(*command)  # whatever is compiled is in the cache now
    (tmp_path / "new").unlink()
    before = sorted(tmp_path.iterdir())
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, limits[1]))
    try:
        result = run(*command, status=2)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert "Cannot write" in one_message(result)
    assert "File too large" in result.stderr
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("command", [["fit", "table.csv"], ["sample", "chained.dagpost", "-n", "500", "--seed", "1"]])
def test_where_the_result_cannot_be_written_the_work_is_kept_and_that_is_said(
    command: list[str], run: Run, chained: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: object, *_: object) -> None:
        raise InputError(f"Cannot write {str(path)!r}: No space left on device. Nothing was changed.")

    without = "dagpost: Cannot write 'new': No space left on device. Nothing was changed."
    with monkeypatch.context() as patched:
        patched.setattr("dagpost.files.archive.write_archive", full)
        # A run that was too short to keep anything of, and one that was not.
        assert one_message(run(*command, "-o", "new", "-q", status=2)) == f"{without}\n"
        patched.setenv("DAGPOST_CHECKPOINT_SECONDS", "0")
        assert one_message(run(*command, "-o", "new", "-q", status=2)) == (
            f"{without} What was done is kept in new.partial; the same command resumes from there.\n"
        )
    assert "resuming from new.partial" in run(*command, "-o", "new").stderr
    assert not (tmp_path / "new.partial").exists()


def test_a_folder_that_may_not_be_written_to_is_found_before_the_work(
    run: Run, model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "locked").mkdir()
    # A superuser may write anywhere, so the system is not asked.
    monkeypatch.setattr(os, "access", lambda path, _: Path(path).name != "locked")
    for command in (["fit", "table.csv"], ["sample", model, "-n", "5"], ["report", model], ["data", "export", "iris"]):
        assert "Permission denied" in one_message(run(*command, "-o", "locked/x", status=2))


def test_a_table_that_may_not_be_read_is_one_message(
    run: Run, table: str, monkeypatch: pytest.MonkeyPatch, said: Said
) -> None:
    def denied(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "read_bytes", denied)
    said(one_message(run("fit", table, status=2)))


def test_memory_that_runs_out_is_one_message(run: Run, table: str, monkeypatch: pytest.MonkeyPatch, said: Said) -> None:
    def exhausted(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(DagPosterior, "fit", exhausted)
    said(one_message(run("fit", table, status=2)))


def test_a_fault_of_ours_keeps_its_traceback(run: Run, table: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(DagPosterior, "fit", broken)
    with pytest.raises(ZeroDivisionError):
        run("fit", table)
