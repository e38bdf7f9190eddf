"""Files that outlive the program: one archive of plain arrays and JSON, written whole or not at all.

A file is a zip archive with `about.json` (kind, format, whatever the writer wants to say) and one `.npy` member
an array. `about.json` has the SHA-256 of every array and of itself: where a bit has changed, or parts were exchanged,
the file is refused by the name of the part.

Nothing in a file is code and reading it runs none: arrays are read without pickle. Parts are stored as they are, each
in a place of its own, so that reading takes no more memory than the file is long. Checksums say that a file is as it
was written, not that whoever wrote it meant well: what the parts must be is in schema.py. Writing goes to a temporary
file in the same folder which then takes the name, so that a kill or a full disk leaves the old file or none.

Time: one pass over the file, about 1 s a gigabyte, most of it for the two checksums.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dagpost._tools import memory
from dagpost._tools.checks import file_path
from dagpost._tools.whole_files import replacing
from dagpost._version import __version__
from dagpost.errors import InputError

FORMAT_VERSION = 5
#: What a file can hold.
HELD = ("model", "sample")
_ABOUT, _ARRAY = "about.json", ".npy"
_AGAIN = "Make it again, or take an undamaged copy."

#: What the standard library raises for an archive that is damaged, encrypted or none at all.
_UNREADABLE = (
    *(zipfile.BadZipFile, zlib.error, EOFError, KeyError, OSError),
    *(RuntimeError, ValueError, OverflowError, MemoryError),
)
#: Memory that a description takes once it is read, a byte of text.
_BYTES_A_CHARACTER = 20
#: The longest header of an array, with what stands before it.
_LONGEST_HEADER = 12_000
_READ_AT_ONCE = 1 << 20
#: Kinds of numbers that arrays may have: whole numbers without and with a sign, and floats.
_KINDS, _LARGEST_NUMBER = "uif", 8

Result = TypeVar("Result")
Arrays = dict[str, NDArray[Any]]


def write_archive(path: str | os.PathLike[str], kind: str, about: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
    """Write one file of the given kind ("model", "sample"), replacing an older one only once it is complete."""
    own = {"dagpost": kind, "format": FORMAT_VERSION, "version": __version__, "arrays": sorted(arrays)}
    content: dict[str, Any] = {**own, **about, **own, "checksums": {}}
    content.pop("checksum", None)
    with replacing(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for key, array in arrays.items():
            with archive.open(key + _ARRAY, "w", force_zip64=True) as member:
                written = _Checked(member)
                np.lib.format.write_array(written, np.ascontiguousarray(array), allow_pickle=False)
                content["checksums"][key] = written.digest.hexdigest()
        content["checksum"] = _checksum_of_text(content)
        text = json.dumps(content, ensure_ascii=False, allow_nan=False)
        archive.writestr(_ABOUT, text)


def is_archive(path: str | os.PathLike[str]) -> bool:
    """Whether a file looks like one of ours rather than like a table."""
    return zipfile.is_zipfile(file_path(path))


def kind_of(path: str | os.PathLike[str]) -> str:
    """What a file holds: "model" or "sample"."""
    return str(_open(path, lambda archive: _about(Path(path), archive))["dagpost"])


def read_archive(path: str | os.PathLike[str], kind: str) -> tuple[dict[str, Any], Arrays]:
    """Read a file of the given kind; whatever is wrong with it is an `InputError` that says what."""
    source = file_path(path)

    def read(archive: zipfile.ZipFile) -> tuple[dict[str, Any], Arrays]:
        about = _about(source, archive)
        if about["dagpost"] != kind:
            raise InputError(f"{str(source)!r} is a dagpost {about['dagpost']} file; a {kind} file is needed here.")
        infos = {info.filename: info for info in archive.infolist() if info.filename != _ABOUT}
        listed = {name + _ARRAY: name for name in about["arrays"]}
        missing = sorted(listed[part] for part in listed.keys() - infos.keys())
        if missing:
            raise InputError(f"{str(source)!r} lacks parts of a {kind} ({', '.join(missing)}). {_AGAIN}")
        if infos.keys() != listed.keys() or len(archive.infolist()) != 1 + len(infos):
            raise InputError(f"{str(source)!r} has parts that it does not list, or two of one name. {_AGAIN}")
        checksums = about["checksums"]
        return about, {name: _array(source, archive, infos[part], checksums[name]) for part, name in listed.items()}

    return _open(path, read)


@contextmanager
def complete(path: str | os.PathLike[str], kind: str, remedy: str) -> Iterator[None]:
    """Make an object from what was read; whatever is missing or does not fit is an `InputError`."""
    try:
        yield
    except InputError:
        raise
    except (AttributeError, LookupError, TypeError, ValueError, ArithmeticError, RecursionError) as error:
        raise InputError(f"{os.fspath(path)!r} lacks parts of a {kind} ({error}). {remedy}") from error


# Arrays


def _array(source: Path, archive: zipfile.ZipFile, info: zipfile.ZipInfo, checksum: str) -> NDArray[Any]:
    """One array, if it is what its checksum says."""
    content = np.empty(info.file_size, dtype=np.uint8)
    digest, place = hashlib.sha256(), 0
    try:
        with archive.open(info) as member:
            while piece := member.read(_READ_AT_ONCE):
                content[place : place + len(piece)] = np.frombuffer(piece, dtype=np.uint8)
                digest.update(piece)
                place += len(piece)
    except _UNREADABLE as error:
        raise _damaged(source, info.filename, _reason(error)) from error
    if place < info.file_size or digest.hexdigest() != checksum:
        raise _damaged(source, info.filename, "its checksum is wrong")
    return _array_in(source, info.filename, content)


def _array_in(source: Path, name: str, content: NDArray[np.uint8]) -> NDArray[Any]:
    """The array that the bytes of a member are, without a copy."""
    head = io.BytesIO(content[:_LONGEST_HEADER].tobytes())
    try:
        version = np.lib.format.read_magic(head)
        read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, turned, kind = read_header(head)
    except Exception as error:
        raise _damaged(source, name, "it is not an array") from error
    if kind.kind not in _KINDS or kind.itemsize > _LARGEST_NUMBER:
        raise _damaged(source, name, f"it holds {str(kind)!r}, not numbers")
    values = content[head.tell() :]
    # In whole numbers of any size: a product of shapes may not fit into 64 bits.
    if min(shape, default=0) < 0 or math.prod(shape) * kind.itemsize != len(values):
        raise _damaged(source, name, "its length is wrong")
    array = values.view(kind).reshape(shape[::-1] if turned else shape)
    # Kernels are compiled for arrays as NumPy makes them.
    usual = np.require(array.T if turned else array, kind.newbyteorder("="), ["C", "ALIGNED", "WRITEABLE"])
    return usual.reshape(shape)


class _Checked:
    """A file to write to, with the SHA-256 of what was written."""

    def __init__(self, file: Any) -> None:
        self.digest, self._file = hashlib.sha256(), file

    def write(self, piece: Any) -> None:
        self.digest.update(piece)
        self._file.write(piece)


# The description


def _about(source: Path, archive: zipfile.ZipFile) -> dict[str, Any]:
    """The description in a file, once it is sure that we can read the rest."""
    info = archive.getinfo(_ABOUT)
    _check_packing(source, archive)
    memory.require(_BYTES_A_CHARACTER * info.file_size, f"Reading {str(source)!r}", "Free some memory.")
    try:
        about = json.loads(archive.read(info), parse_constant=_refuse_constant, parse_float=_finite)
    except (*_UNREADABLE, RecursionError) as error:
        raise _damaged(source, _ABOUT, _reason(error)) from error
    if not isinstance(about, dict) or about.get("dagpost") not in HELD:
        raise InputError(f"{str(source)!r} was not written by dagpost.")
    if about.get("format") != FORMAT_VERSION or not isinstance(about["format"], int):
        raise InputError(
            f"{str(source)!r} has format {about.get('format')}, written by dagpost {about.get('version')}; this is "
            f"dagpost {__version__}, which reads format {FORMAT_VERSION}: use that version, or make the file again."
        )
    _check_own_parts(source, about)
    return about


def _check_own_parts(source: Path, about: dict[str, Any]) -> None:
    """What an archive needs for itself: names of arrays with their checksums, and a checksum of all that."""
    listed, checksums = about.get("arrays"), about.get("checksums")
    if not isinstance(listed, list) or not all(isinstance(name, str) for name in listed):
        raise _damaged(source, _ABOUT, "it does not list the arrays")
    try:
        checksum = _checksum_of_text({key: value for key, value in about.items() if key != "checksum"})
    except (UnicodeEncodeError, RecursionError) as error:
        raise _damaged(source, _ABOUT, "it is not text") from error
    if about.get("checksum") != checksum:
        raise _damaged(source, _ABOUT, "its checksum is wrong")
    if not isinstance(checksums, dict) or checksums.keys() != set(listed):
        raise _damaged(source, _ABOUT, "it lacks the checksums of arrays")


def _checksum_of_text(about: Mapping[str, Any]) -> str:
    """The SHA-256 of a description, however it is laid out; text that is not Unicode is an error."""
    text = json.dumps(about, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _refuse_constant(text: str) -> None:
    raise ValueError(f"{text} is not a number")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is too large a number")
    return value


# What is wrong


def _open(path: str | os.PathLike[str], read: Callable[[zipfile.ZipFile], Result]) -> Result:
    source = file_path(path)
    if source.is_dir():
        raise InputError(f"{str(source)!r} is a folder, not a file. Name a file in it.")
    if not source.is_file():
        raise InputError(f"There is no file {str(source)!r}.")
    try:
        with zipfile.ZipFile(source) as archive:
            return read(archive)
    except _UNREADABLE as error:
        if isinstance(error, InputError | MemoryError):
            raise
        reason = _reason(error)
        raise InputError(
            f"{str(source)!r} is not a dagpost file, or it was cut short or damaged{reason and f' ({reason})'}. Make "
            "it again; a table is fitted first (`dagpost fit`)."
        ) from error


def _check_packing(source: Path, archive: zipfile.ZipFile) -> None:
    """Refuse a file whose parts are packed, or overlap: they would take far more memory than the file is long."""
    parts, size = archive.infolist(), source.stat().st_size
    for part in parts:
        if part.compress_type != zipfile.ZIP_STORED:
            raise _damaged(source, part.filename, "it is packed in a way that dagpost does not use")
    if sum(part.file_size for part in parts) > size:
        raise InputError(f"{str(source)!r} is too short for its parts: it was cut short or damaged. {_AGAIN}")
    memory.require(size, f"Reading {str(source)!r}", "Free some memory.")


def _damaged(source: Path, part: str, reason: str) -> InputError:
    why = f" ({reason})" if reason else ""
    return InputError(f"{str(source)!r} was cut short or damaged: its part {part!r} cannot be used{why}. {_AGAIN}")


def _reason(error: BaseException) -> str:
    """What the system says of a file that it does not give us; what a library stumbled over helps nobody."""
    return str(error.strerror) if isinstance(error, OSError) and error.strerror else ""
