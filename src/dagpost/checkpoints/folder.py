"""What does the folder of a checkpoint hold, and how is anything else told from it?

    part-000001.bin           bytes of arrays, one after the other; never changed once written
    checkpoint.dagpost.json   which parts there are, with length and checksum, and whose they are; replaced as a whole
    checkpoint.dagpost.lock   held by the one process that may write; the system lets go of it when that process ends

A part is written before the manifest that names it, and each file is written under a temporary name first. So a kill
leaves the old manifest or the new one, and at worst files that no manifest names, which are swept away. A part counts
only if its length and checksum are those in the manifest; arrays are read in place, and no code is ever read. A folder
with files of any other name is somebody else's and is refused.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.whole_files import is_half_written, replacing, write_text
from dagpost.checkpoints.manifest import PART, is_manifest
from dagpost.errors import InputError

FORMAT = 1
MANIFEST, LOCK = "checkpoint.dagpost.json", "checkpoint.dagpost.lock"
_READ_AT_ONCE = 1 << 22
#: Another run may remove the folder while this one takes it, but not this many times in a row.
_ATTEMPTS = 100


class Part(TypedDict):
    """A file of arrays as the manifest names it."""

    file: str
    bytes: int
    digest: str


class InUseError(InputError):
    """Another process has the folder."""


class DamagedError(Exception):
    """A manifest of ours that is damaged, with the reason."""


class Folder:
    """The files of one checkpoint."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: int | None = None

    @property
    def locked(self) -> bool:
        """Whether this process may write."""
        return self._lock is not None

    def check_place(self) -> None:
        """Refuse, before any work, a place where nothing could be written."""
        place = self.path if self.path.exists() else self.path.parent
        if not place.is_dir():
            wrong = "is a file" if self.path.exists() else f"cannot be made: there is no folder {str(place)!r}"
            raise InputError(f"The checkpoint folder {str(self.path)!r} {wrong}. Name another place.")
        if not os.access(place, os.W_OK | os.X_OK):
            raise InputError(
                f"The checkpoint folder {str(self.path)!r} cannot be written: {str(place)!r} is read-only. "
                "Name a place that you may write to."
            )

    def lock(self) -> None:
        """Make the folder if necessary, and lock it; `InUseError` if another process has it."""
        for left in reversed(range(_ATTEMPTS)):
            try:
                self.path.mkdir(exist_ok=True)
                self._lock = self._taken()
            except (FileNotFoundError, FileExistsError):
                if not left:
                    raise
            else:
                return

    def _taken(self) -> int:
        """The lock file, open and locked; `FileNotFoundError` if another run has just removed it."""
        path = self.path / LOCK
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            _take(descriptor)
            # The folder may have been removed just before the file was locked, and another made since.
            if not os.path.samestat(os.fstat(descriptor), path.stat()):
                raise FileNotFoundError(path)
            os.ftruncate(descriptor, 0)
            os.write(descriptor, str(os.getpid()).encode())
        except BaseException as error:
            os.close(descriptor)
            if not isinstance(error, BlockingIOError):
                raise
            holder = path.read_text(errors="replace").strip()
            by = f" (process {holder})" if holder.isdigit() else ""
            raise InUseError(
                f"Another run{by} is using the checkpoint folder {str(self.path)!r}. Wait until it ends, or give "
                "this one another place for its result."
            ) from None
        return descriptor

    def unlock(self) -> None:
        """Release the folder to others."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def read_manifest(self) -> dict[str, Any] | None:
        """The content of the manifest; None if there is none, `DamagedError` if it cannot be used."""
        try:
            whole = json.loads((self.path / MANIFEST).read_bytes())
        except FileNotFoundError:
            return None
        except OSError as error:
            raise DamagedError(error.strerror) from error
        except (ValueError, RecursionError) as error:
            raise DamagedError("it cannot be read") from error
        if not isinstance(whole, dict):
            raise DamagedError("it is not an object")
        if whole.get("format") != FORMAT:
            raise InputError(
                f"The checkpoint in {str(self.path)!r} was written by another version of dagpost. Resume with that "
                "version, or remove the folder to start anew."
            )
        content = whole.get("content")
        if whole.get("digest") != _digest_of(content):
            raise DamagedError("its checksum is wrong")
        if content is None or not is_manifest(content):
            raise DamagedError("it names what no run keeps")
        return dict(content)

    def write_manifest(self, content: dict[str, Any]) -> None:
        """Replace the manifest."""
        whole = {"dagpost": "checkpoint", "format": FORMAT, "digest": _digest_of(content), "content": content}
        write_text(self.path / MANIFEST, json.dumps(whole, indent=1))

    def write_part(self, arrays: Sequence[NDArray[Any]]) -> Part:
        """Write arrays to a new file."""
        numbers = [int(match[1]) for match in map(PART.fullmatch, self._names()) if match]
        name = f"part-{max(numbers, default=0) + 1:06d}.bin"
        with replacing(self.path / name) as file:
            digest = _new_digest()
            for array in arrays:
                for piece in _bytes_of(np.ascontiguousarray(array)):
                    # Steps under way may change it at any time: checksum and file must be of the same moment.
                    copied = bytes(piece)
                    digest.update(copied)
                    file.write(copied)
        return {"file": name, "bytes": size_of(arrays), "digest": digest.hexdigest()}

    def is_intact(self, part: Part) -> bool:
        """Whether a part is exactly as it was written."""
        try:
            with (self.path / part["file"]).open("rb") as file:
                whole = os.fstat(file.fileno()).st_size == part["bytes"]
                return whole and hashlib.file_digest(file, _new_digest).hexdigest() == part["digest"]
        except OSError:
            return False

    def read_part(self, part: Part, arrays: Sequence[NDArray[Any]]) -> None:
        """Fill arrays from a part that is intact."""
        with (self.path / part["file"]).open("rb") as file:
            for array in arrays:
                for piece in _bytes_of(array):
                    file.readinto(piece)

    def sweep(self, keep: Collection[str]) -> None:
        """Remove parts that no manifest names, and what a kill left half written."""
        for name in self._names() if self.locked else []:
            if (PART.fullmatch(name) and name not in keep) or is_half_written(name):
                (self.path / name).unlink(missing_ok=True)

    def has_parts(self) -> bool:
        """Whether there are parts, named or not."""
        return any(PART.fullmatch(name) for name in self._names())

    def refuse_strangers(self) -> None:
        """Refuse a folder that holds anything not made by a checkpoint, before it is touched."""
        known = (MANIFEST, LOCK)
        strangers = [
            name
            for name in self._names()
            if name not in known and not PART.fullmatch(name) and not is_half_written(name)
        ]
        if strangers:
            raise InputError(
                f"{str(self.path)!r} is not a checkpoint folder: it holds {strangers[0]!r}, which dagpost has not "
                "made. Name another place, or move that file away."
            )

    def remove(self) -> None:
        """Remove everything that a checkpoint has made, and the folder if that leaves it empty."""
        self.lock()
        try:
            # The manifest first: without it, the parts mean nothing.
            (self.path / MANIFEST).unlink(missing_ok=True)
            self.sweep(())
            (self.path / LOCK).unlink(missing_ok=True)
        finally:
            self.unlock()
        # This fails if the folder still holds something: a file of someone else's, or the lock of a new run.
        with suppress(OSError):
            self.path.rmdir()

    def _names(self) -> list[str]:
        try:
            return sorted(os.listdir(self.path))
        except FileNotFoundError:
            return []


def size_of(arrays: Sequence[NDArray[Any]]) -> int:
    """Bytes of arrays together."""
    return sum(array.nbytes for array in arrays)


def digest_of(arrays: Sequence[NDArray[Any]]) -> str:
    """A checksum of arrays: their kinds, shapes and contents."""
    digest = _new_digest()
    for array in arrays:
        digest.update(repr((array.dtype.str, array.shape)).encode())
        for piece in _bytes_of(np.ascontiguousarray(array)):
            digest.update(piece)
    return str(digest.hexdigest())


def _new_digest() -> Any:
    return hashlib.blake2b(digest_size=16)


def _digest_of(content: Any) -> str:
    digest = _new_digest()
    digest.update(json.dumps(content, sort_keys=True).encode())
    return str(digest.hexdigest())


def _bytes_of(array: NDArray[Any]) -> Iterator[memoryview]:
    """The memory of an array, in pieces so small that an interrupt does not wait long."""
    if not array.flags.c_contiguous:
        raise ValueError("An array of a checkpoint must be contiguous in memory.")
    content = memoryview(array.reshape(-1).view(np.uint8))  # type: ignore[arg-type]
    for start in range(0, len(content), _READ_AT_ONCE):
        yield content[start : start + _READ_AT_ONCE]


if sys.platform == "win32":
    import msvcrt

    def _take(descriptor: int) -> None:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError as error:
            raise BlockingIOError from error
else:
    import fcntl

    def _take(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
