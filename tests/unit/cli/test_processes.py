"""The command as a process: pipes, signals, full disks, and what the shell is told when it ends."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.tools.cli_checks import COMMAND, ESCAPE_CODE, process, write_table, write_wide_table
from tests.tools.interrupts import interrupted
from tests.tools.wording import Said

from dagpost import DagPosterior, DagSample, datasets
from dagpost.checkpoints.folder import MANIFEST
from dagpost.cli import process as cli_process

POSIX = pytest.mark.skipif(os.name != "posix", reason="needs signals and a shell of POSIX")
FULL = "dagpost: Cannot write the output: No space left on device; what arrived is not all of it.\n"
LINUX = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")


def test_a_remark_about_the_table_is_a_message_without_source_code(tmp_path: Path, said: Said) -> None:
    write_table(tmp_path, C=1)
    result = process(tmp_path, "fit", "table.csv", environment={"PYTHONWARNINGS": "error"})
    said(result.stderr)
    assert ".py" not in result.stderr
    assert not ESCAPE_CODE.search(result.stdout + result.stderr)


def test_a_stream_without_the_letters_shows_escapes(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("変,b\n" + "0,1\n1,0\n" * 5, encoding="utf-8")
    result = process(tmp_path, "fit", "t.csv", environment={"PYTHONIOENCODING": "latin-1"})
    assert result.returncode == 0, result.stderr
    assert re.search(r"\\u5909 +-- +b +0\.87  #+ +open: the data cannot tell", result.stdout)


@POSIX
def test_a_bundled_table_can_be_piped_into_a_fit(tmp_path: Path) -> None:
    command = shlex.join(COMMAND)
    line = f"{command} data export coronary | {command} fit - --counts counts --ess 1 --prior uniform --json"
    result = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert json.loads(result.stdout)["log_evidence"] == pytest.approx(-6728.27376, abs=1e-4)
    assert list(tmp_path.iterdir()) == []


@POSIX
def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    DagPosterior(score="bdeu").fit(datasets.load("coronary")).save(tmp_path / "m")
    line = f"({shlex.join([*COMMAND, 'edges', 'm', '--json'])}; echo status $? >&2) | true"
    result = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert result.stderr == "status 0\n"


@LINUX
def test_no_space_for_the_output_is_one_message_and_status_2(tmp_path: Path) -> None:
    DagPosterior(score="bdeu").fit(datasets.load("coronary")).save(tmp_path / "m")
    with Path("/dev/full").open("w") as full:
        result = subprocess.run(
            [*COMMAND, "edges", "m"], cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert result.returncode == 2
    assert result.stderr == FULL


@LINUX
@pytest.mark.parametrize("option", ["--help", "--version"])
def test_no_space_for_the_help_is_one_message_too(option: str, tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        result = subprocess.run(
            [*COMMAND, option], cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert result.returncode == 2
    assert result.stderr == FULL


@POSIX
@pytest.mark.parametrize(
    ("closed", "arguments", "status"),
    [
        (">&-", ["edges", "m"], 2),
        ("2>&-", ["fit", "table.csv", "-o", "m"], 0),
        ("<&- >&- 2>&-", ["edges", "m", "--json"], 2),
        ("<&-", ["fit", "-"], 2),
        ("2>&-", ["edges", "missing"], 2),
    ],
)
def test_only_results_need_an_open_stream(closed: str, arguments: list[str], status: int, tmp_path: Path) -> None:
    DagPosterior(score="bdeu", samples=50).fit(tmp_path / write_table(tmp_path)).save(tmp_path / "m")
    line = f"{shlex.join([*COMMAND, *arguments])} {closed}"
    result = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode == status, result.stderr
    assert "Traceback" not in result.stderr


@LINUX
def test_messages_that_cannot_be_written_leave_the_status_alone(tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        result = subprocess.run([*COMMAND, "edges", "missing"], cwd=tmp_path, stderr=full, check=False)
    assert result.returncode == 2


def started(folder: Path, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )


def broken_off(running: subprocess.Popen[str], when: Callable[[], bool]) -> tuple[str, str]:
    """What a command says that gets Ctrl-C once something has happened."""
    output, errors = interrupted(running, when)
    assert running.returncode == 130, errors
    assert "Traceback" not in errors
    return output, errors


@POSIX
def test_ctrl_c_ends_a_long_run_soon_with_status_130_and_no_file(tmp_path: Path) -> None:
    write_wide_table(tmp_path, 22)
    running = started(tmp_path, "fit", "wide.csv", "--max-parents", "2")
    assert running.stderr is not None
    # The kernels may have to be compiled, which is said.
    announced: list[str] = []
    while len(announced) < 4:
        announced += [line for line in [running.stderr.readline()] if "compiling" not in line]
    output, errors = broken_off(running, lambda: True)
    assert announced[0] == "22 variables, 60 observations. What will be done:\n"
    assert re.match(r"  scores   \d,\d+ parent sets +under a second, [\d.]+ kB", announced[1])
    assert re.match(r"  tables   exact sums over all graphs +about \d+ \w+, [\d.]+ MB", announced[2])
    assert announced[3] == "Method: exact-layers (independent graphs from the posterior itself).\n"
    assert output == ""
    assert errors.splitlines()[-1] == "dagpost: interrupted. Nothing was written."
    assert [path.name for path in tmp_path.iterdir()] == ["wide.csv"]


@pytest.mark.long
@POSIX
def test_the_same_command_goes_on_where_ctrl_c_stopped_it(tmp_path: Path) -> None:
    write_wide_table(tmp_path, 17)
    arguments = ["fit", "wide.csv", "--max-parents", "2", "--ess", "1", "--json"]
    environment = {"DAGPOST_CHECKPOINT_SECONDS": "0"}
    kept = tmp_path / "wide.dagpost.partial"
    _, errors = broken_off(started(tmp_path, *arguments, **environment), (kept / MANIFEST).exists)
    assert errors.splitlines()[-1] == (
        "dagpost: interrupted. What was done is kept in wide.dagpost.partial; the same command resumes from there."
    )
    other = process(tmp_path, *arguments, "--seed", "7")
    assert other.returncode == 2
    assert "holds the checkpoint of another run (--seed: none there, 7 here)." in other.stderr
    assert "To resume, repeat exactly the command that began it" in other.stderr
    assert "going on" not in other.stderr
    result = process(tmp_path, *arguments)
    assert "an earlier run was interrupted; resuming from wide.dagpost.partial" in result.stderr
    assert not kept.exists()
    whole = DagPosterior(score="bdeu", max_parents=2).fit(tmp_path / "wide.csv")
    assert json.loads(result.stdout)["log_evidence"] == whole.log_evidence_


@POSIX
def test_chains_that_are_broken_off_leave_what_they_have(tmp_path: Path) -> None:
    write_table(tmp_path)
    method = "structure-mcmc:burn_in=0,chains=2"
    fitted = process(tmp_path, "fit", "table.csv", "-o", "m", "-q", "--samples", "100", "--method", method)
    assert fitted.returncode == 0, fitted.stderr
    running = started(tmp_path, "sample", "m", "-n", "3000000", "-o", "graphs", DAGPOST_CHECKPOINT_SECONDS="0.2")
    output, errors = broken_off(running, (tmp_path / "graphs.partial" / MANIFEST).exists)
    drawn = DagSample.load(tmp_path / "graphs")
    assert 0 < len(drawn) < 3_000_000
    assert f"DagSample of {len(drawn):,} graphs" in output
    assert re.search(r"dagpost: interrupted\. graphs holds the [\d,]+ of 3,000,000 graphs", errors)
    assert "the same command resumes from there, and --resume graphs adds to them" in errors


def statuses(monkeypatch: pytest.MonkeyPatch, application: Callable[..., None]) -> int:
    """The exit status of the process if this is what the commands do."""
    monkeypatch.setattr(cli_process, "SIGNALS", [])
    for name in ("stdout", "stderr"):
        monkeypatch.setattr(sys, name, getattr(sys, name))  # put back after the test
    before = signal.getsignal(signal.SIGINT)
    try:
        with pytest.raises(SystemExit) as end:
            cli_process.run(lambda: application, leave=sys.exit)
    finally:
        signal.signal(signal.SIGINT, before)
    return int(end.value.code or 0)


@POSIX
def test_ctrl_c_inside_an_import_is_status_130(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    """A library may turn the interrupt into an error of its own, or swallow it."""

    def half_imported(**_: Any) -> None:
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt as error:
            raise ImportError("partially initialised module") from error

    def swallowed(**_: Any) -> None:
        with contextlib.suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)

    assert statuses(monkeypatch, half_imported) == 130
    assert capsys.readouterr().err == "dagpost: interrupted.\n"
    assert statuses(monkeypatch, swallowed) == 130


def test_other_ends_keep_their_status(monkeypatch: pytest.MonkeyPatch) -> None:
    def ends_with(code: Any) -> Callable[..., None]:
        def application(**_: Any) -> None:
            raise SystemExit(code)

        return application

    assert statuses(monkeypatch, ends_with(None)) == 0
    assert statuses(monkeypatch, ends_with(2)) == 2
    assert statuses(monkeypatch, lambda **_: None) == 0
    with pytest.raises(ZeroDivisionError):
        statuses(monkeypatch, lambda **_: 1 // 0)
