"""What is finished of a stage is kept, and nothing that is wrong in a folder gives a wrong result."""

from __future__ import annotations

import errno
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tools.broken_off import eager, flip, parts
from tests.tools.wording import Said

from dagpost.checkpoints import NO_CHECKPOINT, Checkpoint
from dagpost.checkpoints.folder import LOCK, MANIFEST, Folder, Part
from dagpost.errors import DagpostWarning, InputError

IDENTITY = {"data": "some", "seed": 1}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "run.partial"


def counted(checkpoint: Checkpoint, until: int = 10, steps: int = 10) -> list[int]:
    """A stage that counts in one array and keeps squares in another; the steps that it did, and the arrays it left."""
    squares, total, done = np.zeros(steps, dtype=np.int64), np.zeros(1), []
    with checkpoint.task("fit", IDENTITY) as kept:
        saved = kept.stage("squares", range(steps), lambda step: [squares[step : step + 1]], lambda: [total])
        for step in saved:
            if step >= until:
                break
            squares[step] = step**2
            total += squares[step]
            done.append(step)
    if until >= steps:
        assert squares.tolist() == [step**2 for step in range(steps)]
        assert total[0] == squares.sum()
    return done


# ---- a stage ------------------------------------------------------------------------------------------------------


def test_a_stage_goes_on_after_the_last_step_that_was_written(folder: Path) -> None:
    first, second = eager(folder), eager(folder)
    assert counted(first, until=4) == [0, 1, 2, 3]
    assert not first.resumed
    assert counted(second) == [4, 5, 6, 7, 8, 9]
    assert second.resumed
    assert counted(eager(folder)) == []


@given(st.lists(st.integers(0, 10), max_size=5))
def test_a_stage_may_be_broken_off_any_number_of_times(stops: list[int]) -> None:
    with tempfile.TemporaryDirectory() as place:
        reached = 0
        for stop in stops:
            assert counted(eager(Path(place) / "run"), until=stop) == list(range(reached, max(stop, reached)))
            reached = max(stop, reached)
        assert counted(eager(Path(place) / "run")) == list(range(reached, 10))


def test_only_what_is_new_is_written_again(folder: Path) -> None:
    counted(eager(folder), until=3)
    before = {path.name: path.stat().st_mtime_ns for path in parts(folder)}
    counted(eager(folder), until=5)
    after = {path.name: path.stat().st_mtime_ns for path in parts(folder)}
    # Three steps, each with a part of its own, and the running total, of which there is only the last.
    assert len(before) == 4
    assert len(after) == 6
    assert sum(before.get(name) == changed for name, changed in after.items()) == 3


def test_nothing_is_written_before_the_seconds_are_over(folder: Path) -> None:
    assert counted(Checkpoint(folder, seconds=1000)) == list(range(10))
    assert not folder.exists()


def test_writing_takes_its_share_of_the_time_at_most(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now, written, write_part = [0.0], [], Folder.write_part

    def slow_part(files: Folder, arrays: Any) -> Part:
        written.append(now[0])
        now[0] += 0.002
        return write_part(files, arrays)

    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setattr(Folder, "write_part", slow_part)
    array = np.zeros(50_000)
    with Checkpoint(folder, seconds=0.01).task("fit", IDENTITY) as kept:
        for _ in kept.stage("stage", range(1000), running=lambda: [array]):
            now[0] += 0.001
    # 400 kB at an expected 200 MB a second are 2 ms: due when those are 3 percent of the time, and so on.
    assert written[0] == pytest.approx(0.002 / 0.03, abs=0.001)
    assert written[1] == pytest.approx(0.004 / 0.03, abs=0.001)
    assert 0.002 * len(written) <= 0.031 * now[0]


def test_an_ordinary_run_does_every_step_and_keeps_nothing() -> None:
    saved = NO_CHECKPOINT.stage("stage", [1, 2, 3], lambda _: pytest.fail("nothing is looked at"))
    assert (list(saved), list(saved.left), list(saved.finished)) == ([1, 2, 3], [1, 2, 3], [])
    assert NO_CHECKPOINT.decided("method", lambda: "one") == "one"


def test_a_fit_and_its_sample_share_a_folder(folder: Path) -> None:
    for kind in ("fit", "sample"):
        with eager(folder).task(kind, {"asked for": kind}) as kept:
            for _ in kept.stage("stage", [1], lambda _: [np.zeros(1)]):
                pass
    assert len(parts(folder)) == 2


def test_removing_leaves_nothing_and_may_be_repeated(folder: Path) -> None:
    checkpoint = eager(folder)
    counted(checkpoint)
    assert folder.is_dir()
    checkpoint.remove()
    assert not folder.exists()
    checkpoint.remove()


def test_removing_spares_what_is_not_ours(folder: Path) -> None:
    checkpoint = eager(folder)
    counted(checkpoint)
    (folder / "notes.txt").write_text("mine")
    checkpoint.remove()
    assert [path.name for path in folder.iterdir()] == ["notes.txt"]


@pytest.mark.parametrize("seconds", [-1, math.nan, math.inf, "soon"])
def test_wrong_seconds_are_refused(seconds: Any, folder: Path, said: Said) -> None:
    with said.raises(InputError):
        Checkpoint(folder, seconds=seconds)


def test_seconds_come_from_the_environment(folder: Path, monkeypatch: pytest.MonkeyPatch, said: Said) -> None:
    assert Checkpoint(folder).seconds == 10.0
    monkeypatch.setenv("DAGPOST_CHECKPOINT_SECONDS", "0")
    assert Checkpoint(folder).seconds == 0.0
    monkeypatch.setenv("DAGPOST_CHECKPOINT_SECONDS", "often")
    with said.raises(InputError):
        Checkpoint(folder)


# ---- damage -------------------------------------------------------------------------------------------------------


def truncate(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 3)


def lengthen(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"x")


def replace_head(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(b"no part of anything" + content[19:])


@pytest.mark.parametrize("damage", [truncate, flip, lengthen, replace_head, Path.unlink])
@pytest.mark.parametrize("which", range(5))
def test_a_damaged_part_is_computed_again(damage: Callable[[Path], None], which: int, folder: Path, said: Said) -> None:
    counted(eager(folder), until=4)
    damage(parts(folder)[which])
    with said.warns(DagpostWarning):
        assert counted(eager(folder)) == list(range(10))
    assert counted(eager(folder)) == []


@pytest.mark.parametrize("damage", [truncate, flip, Path.unlink])
def test_without_a_whole_manifest_the_run_starts_anew(damage: Callable[[Path], None], folder: Path, said: Said) -> None:
    counted(eager(folder), until=4)
    damage(folder / MANIFEST)
    checkpoint = eager(folder)
    with said.warns(DagpostWarning):
        assert counted(checkpoint) == list(range(10))
    assert not checkpoint.resumed


def test_a_manifest_that_was_edited_is_damaged(folder: Path, said: Said) -> None:
    counted(eager(folder), until=4)
    path = folder / MANIFEST
    whole = json.loads(path.read_text())
    whole["content"]["tasks"]["fit"]["stages"]["squares"]["done"] = 9
    path.write_text(json.dumps(whole))
    with said.warns(DagpostWarning):
        counted(eager(folder))


def test_what_a_kill_left_half_written_is_swept_away(folder: Path) -> None:
    counted(eager(folder), until=4)
    (folder / ".dagpost-0.part").write_bytes(b"half")
    (folder / "part-000099.bin").write_bytes(b"named nowhere")
    assert counted(eager(folder)) == [4, 5, 6, 7, 8, 9]
    assert not list(folder.glob(".*"))
    assert folder / "part-000099.bin" not in parts(folder)


# ---- places -------------------------------------------------------------------------------------------------------


def test_a_folder_that_is_a_file_is_refused(folder: Path, said: Said) -> None:
    folder.write_text("a file")
    with said.raises(InputError):
        counted(eager(folder))


def test_a_folder_that_cannot_be_made_is_refused(folder: Path, said: Said) -> None:
    with said.raises(InputError):
        counted(eager(folder / "deep"))


def test_a_read_only_place_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The administrator may write anywhere, so what the system would say is played.
    monkeypatch.setattr(os, "access", lambda path, _: Path(path) != folder.parent)
    with pytest.raises(InputError, match="is read-only"):
        counted(eager(folder))


def test_where_writing_fails_the_run_goes_on_and_says_so_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch, said: Said
) -> None:
    counted(eager(folder), until=3)
    write_part, left = Folder.write_part, [3]

    def full(*arguments: Any) -> Any:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write_part(*arguments)

    monkeypatch.setattr(Folder, "write_part", full)
    with said.warns(DagpostWarning) as remarks:
        assert counted(eager(folder)) == list(range(3, 10))
    assert len(remarks) == 1
    monkeypatch.undo()
    # One step was still written; of the next, the half that fitted is gone.
    assert len(parts(folder)) == 5
    assert counted(eager(folder)) == list(range(4, 10))


def test_a_folder_that_cannot_be_made_after_all_does_not_stop_the_run(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.warns(DagpostWarning, match="Permission denied") as remarks:
        assert counted(eager(folder)) == list(range(10))
    assert len(remarks) == 1


@pytest.mark.parametrize(
    ("step", "gone", "reason"),
    [
        (0, "place", "without them. No such file or directory."),
        (1, "place/run", "Name a folder that exists and that you may write to."),
    ],
)
def test_a_folder_that_vanishes_does_not_stop_the_run(
    step: int, gone: str, reason: str, tmp_path: Path, said: Said
) -> None:
    (tmp_path / "place").mkdir()
    steps = []

    def run() -> None:
        with eager(tmp_path / "place" / "run").task("fit", IDENTITY) as kept:
            for number in kept.stage("stage", range(4), lambda _: [np.zeros(1)]):
                if number == step:
                    shutil.rmtree(tmp_path / gone)
                steps.append(number)

    with said.warns(DagpostWarning) as remarks:
        run()
    assert steps == [0, 1, 2, 3]
    assert [str(remark.message).endswith(reason) for remark in remarks] == [True]


def test_a_nearly_full_disk_is_not_filled(folder: Path, monkeypatch: pytest.MonkeyPatch, said: Said) -> None:
    usage = shutil.disk_usage(folder.parent)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=1_000_000))
    with said.warns(DagpostWarning):
        assert counted(eager(folder)) == list(range(10))
    assert not folder.exists()


def test_two_runs_at_once_are_refused(folder: Path, said: Said) -> None:
    counted(eager(folder), until=2)
    with eager(folder).task("fit", IDENTITY), said.raises(InputError):
        counted(eager(folder))
    assert counted(eager(folder)) == list(range(2, 10))


def test_a_folder_that_another_run_has_taken_since_is_left_to_it(folder: Path) -> None:
    first = eager(folder)
    counted(first, until=2)
    with eager(folder).task("fit", IDENTITY):
        first.remove()
        assert (folder / MANIFEST).exists()
    first.remove()
    assert not folder.exists()


def test_two_runs_that_begin_together_are_told_apart_at_the_first_write(folder: Path, said: Said) -> None:
    with eager(folder).task("fit", IDENTITY) as first:
        counted(eager(folder), until=2)
        stage = first.stage("squares", range(3), lambda _: [np.zeros(1)])
        with said.raises(InputError):
            list(stage)


def test_of_two_runs_that_begin_together_the_second_to_write_is_refused(folder: Path, said: Said) -> None:
    with eager(folder).task("fit", IDENTITY) as first, eager(folder).task("fit", IDENTITY) as second:
        stages = [run.stage("squares", range(3), lambda _: [np.zeros(1)]) for run in (first, second)]
        assert list(stages[0]) == [0, 1, 2]
        with said.raises(InputError):
            list(stages[1])


def test_another_process_has_the_folder_until_it_ends(folder: Path, said: Said) -> None:
    code = (
        "import sys\n"
        "from dagpost.checkpoints.folder import Folder\n"
        "from pathlib import Path\n"
        "Folder(Path(sys.argv[1])).lock()\n"
        "print('locked', flush=True)\n"
        "sys.stdin.read()\n"
    )
    command = [sys.executable, "-c", code, str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "locked\n"
        with said.raises(InputError):
            counted(eager(folder))
        other.kill()
        other.wait()
    # Its lock is still there as a file, but nobody holds it.
    assert (folder / LOCK).read_text() == str(other.pid)
    assert counted(eager(folder)) == list(range(10))
