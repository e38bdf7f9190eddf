"""Files: written whole or not at all, read only if they are ours and undamaged, and never run."""

from __future__ import annotations

import io
import json
import os
import signal
import stat
import subprocess
import sys
import threading
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.tools.changed_files import write_members
from tests.tools.wording import Said
from typer.testing import CliRunner

from dagpost import DagPosterior, DagSample, InputError, Recipe
from dagpost._tools.whole_files import write_text
from dagpost.cli import app
from dagpost.files import archive as storage

ABOUT = {"names": ["A", "ä \x1b[31m"], "number": 0.1}
ARRAYS = {"matrix": np.arange(6.0).reshape(2, 3), "masks": np.array([1, 255], dtype=np.uint8)}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    target = tmp_path / "thing.dagpost"
    storage.write_archive(target, "model", ABOUT, ARRAYS)
    return target


@pytest.fixture(scope="module")
def model() -> DagPosterior:
    rng = np.random.default_rng(1)
    return DagPosterior(prior="uniform", score="bdeu", samples=5, seed=1).fit(rng.integers(0, 2, (40, 3)))


def rewritten(source: Path, target: Path, changes: dict[str, bytes | None]) -> Path:
    """The same archive with the bytes of some arrays replaced, or left out, and checksums that are right."""
    with zipfile.ZipFile(source) as old:
        content = {name: old.read(name) for name in old.namelist()} | changes
    members = {name.removesuffix(".npy"): own for name, own in content.items() if name.endswith(".npy") and own}
    return write_members(target, json.loads(content["about.json"] or "{}"), members)


def npy(array: Any, allow_pickle: bool = False) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, allow_pickle=allow_pickle)
    return buffer.getvalue()


def changed_about(source: Path, **fields: Any) -> bytes:
    with zipfile.ZipFile(source) as archive:
        return json.dumps({**json.loads(archive.read("about.json")), **fields}).encode()


def leftovers(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.suffix == ".part"]


# There and back


def test_a_part_that_claims_another_way_of_packing_is_refused(file: Path) -> None:
    content, place = file.read_bytes(), -1
    for _ in range(len(ARRAYS) + 1):
        place = content.index(b"PK\x01\x02", place + 1)
        for method in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA, 93, 99):
            file.write_bytes(content[: place + 10] + method.to_bytes(2, "little") + content[place + 12 :])
            with pytest.raises(InputError):
                storage.read_archive(file, "model")


def test_what_was_written_is_read_back(file: Path) -> None:
    about, arrays = storage.read_archive(file, "model")
    assert storage.kind_of(file) == "model"
    assert {key: about[key] for key in ABOUT} == ABOUT
    assert arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        assert np.array_equal(arrays[name], array)
    assert leftovers(file.parent) == []


def test_arrays_of_any_layout_come_back_as_they_were(tmp_path: Path) -> None:
    matrix = np.arange(12.0).reshape(3, 4)
    arrays = {
        "turned": matrix.T,
        "stepped": matrix[:, ::2],
        "empty": np.empty((0, 3)),
        "infinite": np.array([-np.inf, np.nan]),
    }
    storage.write_archive(tmp_path / "x", "sample", {}, arrays)
    found = storage.read_archive(tmp_path / "x", "sample")[1]
    for name, array in arrays.items():
        assert np.array_equal(found[name], array, equal_nan=True)


@pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")
def test_a_new_file_is_as_open_as_the_user_wants_and_an_old_one_stays_as_it_was(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        target = tmp_path / "x"
        storage.write_archive(target, "model", {}, {})
        assert stat.S_IMODE(target.stat().st_mode) == 0o640
        target.chmod(0o604)
        storage.write_archive(target, "model", {}, {})
        assert stat.S_IMODE(target.stat().st_mode) == 0o604
    finally:
        os.umask(before)


# Written whole or not at all


def test_a_failure_while_writing_leaves_the_old_file_and_nothing_else(
    file: Path, monkeypatch: pytest.MonkeyPatch, said: Said
) -> None:
    old = file.read_bytes()

    def full(*arguments: Any, **options: Any) -> None:
        raise OSError(28, "No space left on device")

    for place in ("write_array", "replace", "fsync"):
        with monkeypatch.context() as patch:
            if place == "write_array":
                patch.setattr(np.lib.format, "write_array", full)
            else:
                patch.setattr(os, place, full)
            with said.raises(InputError):
                storage.write_archive(file, "model", ABOUT, {"matrix": np.ones(3)})
        assert file.read_bytes() == old
        assert leftovers(file.parent) == []


def test_ctrl_c_while_writing_leaves_the_old_file_and_nothing_else(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = file.read_bytes()

    def interrupt(*arguments: Any, **options: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(np.lib.format, "write_array", interrupt)
    with pytest.raises(KeyboardInterrupt):
        storage.write_archive(file, "model", ABOUT, ARRAYS)
    assert file.read_bytes() == old
    assert leftovers(file.parent) == []


KILLED = """
import os, sys
import numpy as np
from dagpost.files import archive as storage

def stop(*arguments, **options):
    sys.stdout.write("writing\\n"); sys.stdout.flush()
    os.kill(os.getpid(), 9)

setattr(os, sys.argv[2], stop)
storage.write_archive(sys.argv[1], "model", {"new": 1}, {"large": np.ones(1000)})
"""


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
@pytest.mark.parametrize("place", ["fsync", "replace"])
def test_a_kill_while_writing_leaves_the_old_file(file: Path, place: str) -> None:
    old = file.read_bytes()
    result = subprocess.run(
        [sys.executable, "-c", KILLED, str(file), place], capture_output=True, text=True, check=False
    )
    assert (result.returncode, result.stdout) == (-signal.SIGKILL, "writing\n")
    assert file.read_bytes() == old
    assert storage.read_archive(file, "model")[0]["number"] == 0.1
    # What it had written is taken away by a write to this folder on another day.
    storage.write_archive(file, "model", ABOUT, ARRAYS)
    (behind,) = leftovers(file.parent)
    os.utime(file.with_name(behind), (0.0, 0.0))
    storage.write_archive(file.with_name("other.dagpost"), "model", ABOUT, ARRAYS)
    assert leftovers(file.parent) == []


WRITING = """
import sys
from dagpost._tools.whole_files import replacing

with replacing(sys.argv[1]) as file:
    file.write(b"theirs")
    print("writing", flush=True)
    sys.stdin.readline()
"""


def test_a_file_that_another_process_is_writing_is_left_alone(tmp_path: Path) -> None:
    target = tmp_path / "x"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", WRITING, str(target)], **pipes) as other:  # type: ignore[call-overload]
        assert other.stdout.readline() == "writing\n"
        write_text(target, "ours")
        assert target.read_text() == "ours"
        assert len(leftovers(tmp_path)) == 1
        other.communicate("\n")
    assert other.returncode == 0
    assert target.read_text() == "theirs"
    assert leftovers(tmp_path) == []


def test_only_files_that_were_left_behind_are_taken_away(tmp_path: Path) -> None:
    strangers = [tmp_path / name for name in (".0.part", ".dagpost-0", "dagpost-0.part", ".dagpost-new.part")]
    behind = tmp_path / ".dagpost-old.part"
    for path in (*strangers, behind):
        path.write_bytes(b"half")
        if "new" not in path.name:
            os.utime(path, (0.0, 0.0))
    write_text(tmp_path / "x", "whole")
    assert all(stranger.exists() for stranger in strangers)
    assert not behind.exists()


def test_writers_at_once_leave_one_whole_file(tmp_path: Path) -> None:
    target = tmp_path / "x"
    barrier = threading.Barrier(4)

    def write(number: int) -> None:
        barrier.wait()
        for _ in range(20):
            storage.write_archive(target, "model", {"number": number}, {"values": np.full(5000, number)})

    writers = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        if target.exists():
            about, arrays = storage.read_archive(target, "model")
            assert (arrays["values"] == about["number"]).all()
    for writer in writers:
        writer.join()
    assert leftovers(tmp_path) == []


@pytest.mark.parametrize("where", ["nowhere/x", "", "."])
def test_a_place_that_cannot_be_written_to_is_named(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="Cannot write" if where else "'path' must be the name of a file"):
        storage.write_archive(where, "model", ABOUT, ARRAYS)
    assert list(tmp_path.iterdir()) == []


# Read only if it is ours and undamaged


def test_a_file_of_another_kind_is_refused_by_name(file: Path, said: Said) -> None:
    with said.raises(InputError):
        DagSample.load(file)
    storage.write_archive(file, "sample", ABOUT, ARRAYS)
    with said.raises(InputError):
        DagPosterior.load(file)


def test_a_file_of_another_format_says_which_version_wrote_it(file: Path, tmp_path: Path) -> None:
    for number in (1, storage.FORMAT_VERSION - 1, storage.FORMAT_VERSION + 1, float(storage.FORMAT_VERSION), None):
        about = changed_about(file, format=number, version="9.1")
        other = rewritten(file, tmp_path / "y", {"about.json": about})
        said = (
            rf"has format {number}, written by dagpost 9\.1; this is dagpost .*reads format {storage.FORMAT_VERSION}:"
        )
        with pytest.raises(InputError, match=said):
            storage.read_archive(other, "model")
        with pytest.raises(InputError, match=f"has format {number}"):
            storage.kind_of(other)


def test_a_file_that_is_not_there_is_named(tmp_path: Path, said: Said) -> None:
    with said.raises(InputError):
        storage.read_archive(tmp_path / "x", "model")
    with said.raises(InputError):
        storage.read_archive(tmp_path, "model")


@pytest.mark.parametrize(
    "content", [b"", b"a,b\n1,2\n", b"PK\x03\x04", b"PK\x05\x06" + bytes(18), b"\x00" * 1000, b"\x80\x04K\x01."]
)
def test_what_dagpost_did_not_write_is_refused(content: bytes, tmp_path: Path, said: Said) -> None:
    (tmp_path / "x").write_bytes(content)
    with said.raises(InputError):
        storage.kind_of(tmp_path / "x")


@pytest.mark.parametrize("about", [b"[]", b"{}", b'"dagpost"', b"{", b"\xff\xfe", b'{"dagpost": "model"}', None])
def test_an_archive_without_a_description_is_refused(
    about: bytes | None, file: Path, tmp_path: Path, said: Said
) -> None:
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(tmp_path / "y", "w") as new:
        for name in old.namelist():
            content = about if name == "about.json" else old.read(name)
            if content is not None:
                new.writestr(name, content)
    with said.raises(InputError):
        storage.read_archive(tmp_path / "y", "model")


def test_nothing_in_a_file_is_ever_unpickled(file: Path, tmp_path: Path, said: Said) -> None:
    class Trap:
        def __reduce__(self) -> tuple[Any, ...]:
            return os.mkdir, (str(tmp_path / "trapped"),)

    pickled = npy(np.array([Trap()], dtype=object), allow_pickle=True)
    other = rewritten(file, tmp_path / "y", {"matrix.npy": pickled})
    with said.raises(InputError):
        storage.read_archive(other, "model")
    assert not (tmp_path / "trapped").exists()


@pytest.mark.parametrize("kind", ["model", "sample"])
def test_a_file_cut_short_anywhere_is_refused(kind: str, model: DagPosterior, tmp_path: Path) -> None:
    target = tmp_path / "x"
    (model if kind == "model" else model.sample(5, seed=1)).save(target)
    load: Any = DagPosterior.load if kind == "model" else DagSample.load
    whole = target.read_bytes()
    for length in range(0, len(whole), 7):
        target.write_bytes(whole[:length])
        with pytest.raises(InputError, match="cut short"):
            load(target)


@pytest.mark.parametrize("kind", [pytest.param("model", marks=pytest.mark.long), "sample"])
def test_a_file_with_any_one_byte_changed_is_refused_or_holds_the_same(
    kind: str, model: DagPosterior, tmp_path: Path
) -> None:
    """Some bytes of an archive, such as dates, say nothing; all others are covered by checksums."""
    target = tmp_path / "x"
    (model if kind == "model" else model.sample(5, seed=1)).save(target)
    whole = target.read_bytes()
    about, arrays = storage.read_archive(target, kind)
    rng = np.random.default_rng(1)
    refused = 0
    for place in range(len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= int(rng.integers(1, 256))
        target.write_bytes(bytes(damaged))
        try:
            found_about, found = storage.read_archive(target, kind)
        except InputError:
            refused += 1
            continue
        assert found_about == about
        assert found.keys() == arrays.keys()
        assert all(np.array_equal(array, arrays[name], equal_nan=True) for name, array in found.items())
    assert refused > len(whole) / 2


@pytest.mark.parametrize(
    "fields",
    [
        {"settings": None},
        {"settings": {"unknown": 1}},
        {"names": 3},
        {"names": ["A", "B"]},
        {"max_parents": -1},
        {"max_parents": "x"},
        {"log_evidence": "x"},
        {"log_evidence": None, "names": None},
    ],
)
def test_a_model_whose_parts_do_not_fit_is_refused(
    fields: dict[str, Any], model: DagPosterior, tmp_path: Path, said: Said
) -> None:
    model.save(tmp_path / "x")
    other = rewritten(tmp_path / "x", tmp_path / "y", {"about.json": changed_about(tmp_path / "x", **fields)})
    with said.raises(InputError):
        DagPosterior.load(other)


def other_step(**fields: Any) -> Any:
    """Change the last step of the recipe, that of a number cut in two."""
    return lambda about: about["recipe"]["steps"][-1].update(fields)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda about: about["recipe"]["steps"].pop(), "its recipe is of other variables"),
        (lambda about: about["recipe"]["steps"].reverse(), "its recipe is of other variables"),
        (other_step(name="x"), "its recipe is of other variables"),
        (other_step(use="left out"), "its recipe is of other variables"),
        (other_step(levels=["<1", "[1, 2)", ">=2"], cuts=[1.0, 2.0]), "its recipe has other levels of 'c'"),
        (other_step(levels=[">=0.5", "<0.5"]), "its recipe has other levels of 'c'"),
        (other_step(cuts=[0.5, 0.6, 0.7]), "the column 'c' has other levels than cuts"),
        (other_step(levels=None), "the column 'c' has other levels than cuts"),
        (other_step(levels=None, cuts=None), "its counts are of other variables or levels"),
        (lambda about: about.update(recipe=[1]), "lacks parts of a model"),
        (lambda about: about["recipe"].update(steps=[3]), "lacks parts of a model"),
    ],
)
def test_a_recipe_of_other_columns_is_refused(change: Any, message: str, tmp_path: Path, said: Said) -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"a": rng.integers(0, 2, 60), "b": rng.integers(0, 2, 60), "c": rng.random(60)})
    model = DagPosterior(prior="uniform", score="bdeu", samples=5, seed=1, recipe=Recipe(cut={"c": [0.5]})).fit(frame)
    model.save(tmp_path / "x")
    about, arrays = storage.read_archive(tmp_path / "x", "model")
    assert len(DagPosterior.load(tmp_path / "x").score_samples(frame)) == 60
    change(about)
    storage.write_archive(tmp_path / "y", "model", about, arrays)
    with said.raises(InputError) as refused:
        DagPosterior.load(tmp_path / "y")
    assert message in str(refused.value)
    if "counts" not in message:
        shown = CliRunner().invoke(app, ["info", str(tmp_path / "y")], prog_name="dagpost")
        assert (shown.exit_code, shown.stdout) == (2, "")
        said(" ".join(shown.stderr.split()))


def test_counts_and_rows_of_other_levels_are_refused(model: DagPosterior, tmp_path: Path) -> None:
    model.save(tmp_path / "x", rows=True)
    for part, words in (("statistics", "its counts are of other"), ("rows", "its rows are of other")):
        about, arrays = storage.read_archive(tmp_path / "x", "model")
        about[part]["levels"][0].append(7)
        storage.write_archive(tmp_path / "y", "model", about, arrays)
        with pytest.raises(InputError, match=words):
            DagPosterior.load(tmp_path / "y")


@pytest.mark.parametrize("array", ["log_weights", "edges"])
def test_a_model_without_its_arrays_is_refused(array: str, model: DagPosterior, tmp_path: Path, said: Said) -> None:
    model.save(tmp_path / "x")
    with said.raises(InputError):
        DagPosterior.load(rewritten(tmp_path / "x", tmp_path / "y", {f"{array}.npy": None}))
    with said.raises(InputError):
        DagPosterior.load(rewritten(tmp_path / "x", tmp_path / "y", {f"{array}.npy": npy(np.zeros((2, 9)))}))


@pytest.mark.parametrize(
    "fields",
    [
        {"names": ["A", "B"]},
        {"names": None},
        {"guarantee": "x"},
        {"guarantee": [0.1]},
        {"log_evidence": "x"},
        {"provenance": 3},
        {"modularity": "neither"},
        {"estimator": "none"},
    ],
)
def test_a_sample_whose_parts_do_not_fit_is_refused(
    fields: dict[str, Any], model: DagPosterior, tmp_path: Path
) -> None:
    model.sample(5, seed=1).save(tmp_path / "x")
    other = rewritten(tmp_path / "x", tmp_path / "y", {"about.json": changed_about(tmp_path / "x", **fields)})
    with pytest.raises(InputError):
        DagSample.load(other)


@pytest.mark.parametrize("array", ["parents", "log_joint", "log_proposal", "log_extensions", "weights"])
def test_a_sample_without_its_arrays_is_refused(array: str, model: DagPosterior, tmp_path: Path, said: Said) -> None:
    model.sample(5, seed=1).save(tmp_path / "x")
    with said.raises(InputError):
        DagSample.load(rewritten(tmp_path / "x", tmp_path / "y", {f"{array}.npy": None}))
    with said.raises(InputError):
        DagSample.load(rewritten(tmp_path / "x", tmp_path / "y", {f"{array}.npy": npy(np.zeros(4))}))
