"""A folder that is not a checkpoint's is left as it is, and several runs may take and remove one at the same time."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.tools.broken_off import eager, parts
from tests.tools.wording import Said

from dagpost.checkpoints.folder import LOCK, MANIFEST, Folder, InUseError
from dagpost.errors import DagpostWarning, InputError

ARRAY = np.arange(3)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "run.partial"


def write(folder: Path) -> None:
    """A run with one step, which is written."""
    with eager(folder).task("fit", {"seed": 1}) as kept:
        list(kept.stage("stage", [1], lambda _: [ARRAY]))


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


# ---- files of others ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("notes.txt", "mine"),
        ("manifest.json", '{"name": "my web app"}'),
        ("manifest.json", '["a list"]'),
        ("manifest.json", "half a manif"),
        ("manifest.json", ""),
        ("lock", "of something else"),
    ],
)
def test_a_folder_of_someone_else_is_refused_and_nothing_in_it_is_touched(
    name: str, text: str, folder: Path, said: Said
) -> None:
    folder.mkdir()
    (folder / name).write_text(text)
    checkpoint = eager(folder)
    with said.raises(InputError), checkpoint.task("fit", {}):
        pytest.fail("it was taken")
    checkpoint.remove()
    assert contents(folder) == {name: text.encode()}


def test_a_folder_of_someone_else_that_appears_during_the_run_is_refused_too(folder: Path, said: Said) -> None:
    with eager(folder).task("fit", {}) as kept:
        folder.mkdir()
        (folder / "manifest.json").write_text('{"name": "my web app"}')
        with said.raises(InputError):
            list(kept.stage("stage", [1], lambda _: [ARRAY]))
    assert contents(folder) == {"manifest.json": b'{"name": "my web app"}'}


def test_a_manifest_of_someone_else_beside_parts_of_ours_is_refused(folder: Path, said: Said) -> None:
    write(folder)
    (folder / "manifest.json").write_text('{"name": "my web app"}')
    before = contents(folder)
    with said.raises(InputError):
        write(folder)
    assert contents(folder) == before


def test_a_manifest_that_cannot_be_read_beside_parts_of_ours_is_damage(folder: Path, said: Said) -> None:
    write(folder)
    (folder / MANIFEST).write_text('{"dagpost": "check')
    with said.warns(DagpostWarning):
        write(folder)
    assert len(parts(folder)) == 1


def test_a_checkpoint_of_another_format_is_refused_and_kept(folder: Path, said: Said) -> None:
    write(folder)
    whole = json.loads((folder / MANIFEST).read_text())
    (folder / MANIFEST).write_text(json.dumps({**whole, "format": 99}))
    with said.raises(InputError):
        write(folder)
    assert len(parts(folder)) == 1


@pytest.mark.parametrize("content", [b"", b"1234", bytes(5)])
def test_a_lock_that_a_kill_or_a_power_cut_left_is_ours(content: bytes, folder: Path) -> None:
    folder.mkdir()
    (folder / LOCK).write_bytes(content)
    write(folder)
    assert len(parts(folder)) == 1


# ---- several runs -------------------------------------------------------------------------------------------------


def just_before(call: Callable[..., Any], happens: Callable[[], Any]) -> Callable[..., Any]:
    """The call, before whose first time something happens."""
    left = [happens]

    def played(*arguments: Any, **options: Any) -> Any:
        if left:
            left.pop()()
        return call(*arguments, **options)

    return played


def test_a_folder_that_is_removed_before_its_lock_is_made_is_made_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "open", just_before(os.open, folder.rmdir))
    taken = Folder(folder)
    taken.lock()
    assert taken.locked
    taken.unlock()


def test_a_folder_that_is_removed_while_it_is_made_is_made_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def there_and_gone() -> None:
        raise FileExistsError(str(folder))

    monkeypatch.setattr(Path, "mkdir", just_before(Path.mkdir, there_and_gone))
    taken = Folder(folder)
    taken.lock()
    assert taken.locked
    taken.unlock()


@pytest.mark.skipif(os.name == "nt", reason="a file that is open cannot be removed there")
@pytest.mark.parametrize("made_again", [False, True])
def test_a_lock_that_is_removed_before_it_is_taken_is_made_again(
    made_again: bool, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def removed() -> None:
        if made_again:
            # A file of another number: the first is still there under another name.
            (folder / LOCK).rename(folder.with_name("old lock"))
            (folder / LOCK).touch()
        else:
            (folder / LOCK).unlink()

    fcntl = pytest.importorskip("fcntl")
    monkeypatch.setattr(fcntl, "flock", just_before(fcntl.flock, removed))
    taken = Folder(folder)
    taken.lock()
    assert (folder / LOCK).read_text() == str(os.getpid())
    with pytest.raises(InUseError):
        Folder(folder).lock()
    taken.unlock()


def test_a_place_where_no_folder_can_be_is_not_tried_for_ever(folder: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Folder(folder / "deep").lock()
    folder.write_text("a file")
    with pytest.raises(FileExistsError):
        Folder(folder).lock()


def test_removing_leaves_the_folder_to_a_run_that_takes_it_at_that_moment(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(folder)
    other = Folder(folder)
    monkeypatch.setattr(Path, "rmdir", just_before(Path.rmdir, other.lock))
    eager(folder).remove()
    assert other.locked
    assert [path.name for path in folder.iterdir()] == [LOCK]
    other.unlock()


def test_two_runs_may_remove_the_same_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(folder)
    monkeypatch.setattr(Path, "rmdir", just_before(Path.rmdir, lambda: os.rmdir(folder)))
    eager(folder).remove()
    assert not folder.exists()
