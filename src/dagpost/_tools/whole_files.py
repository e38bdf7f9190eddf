"""Files are written whole or not at all: to a new file in the same folder, which then takes the name.

A kill may leave that new file behind, hidden and half written. The next write to the same name removes it, recognising
it by its name and by its lock, which the system releases when the writer ends.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from dagpost._tools.checks import file_path
from dagpost.errors import InputError

_HALF = 16


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write to, which replaces `path` once the block ends without an error.

    It has the permissions of the file it replaces, or the user's default. A kill leaves the old file or none.
    """
    # Through a link, not over it.
    target = Path(os.path.realpath(file_path(path)))
    if target.exists() and not target.is_file() and not target.is_dir():
        # Root could replace a device such as /dev/null.
        raise InputError(f"Cannot write {str(target)!r}: it is not an ordinary file. Name another.")
    _remove_left_behind(target)
    try:
        part, file = _new_part(target)
    except OSError as error:
        raise InputError(
            f"Cannot write {str(target)!r}: {error.strerror}. Name a folder that exists and that you may write to."
        ) from error
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            if not _WINDOWS:
                # Before it is closed: closing releases the lock, and another writer could remove the file.
                _take_name(part, target)
        if _WINDOWS:
            _take_name(part, target)
    except BaseException as error:
        # A disk that fails may not let go of it either; the reason is what went wrong first.
        with suppress(OSError):
            part.unlink(missing_ok=True)
        if isinstance(error, OSError):
            reason = error.strerror or str(error)
            raise InputError(f"Cannot write {str(target)!r}: {reason}. Nothing was changed.") from error
        raise


@contextmanager
def only_writer(folder: Path) -> Iterator[None]:
    """Refuse a folder that another writer has in such a block; the system releases it when the writer ends.

    On Windows, where folders cannot be locked, and on file systems without locks nobody is refused.
    """
    try:
        descriptor = _locked_folder(folder)
    except BlockingIOError:
        raise InputError(
            f"Another process is writing to the folder {str(folder)!r}. Wait until it ends, or name another folder."
        ) from None
    try:
        yield
    finally:
        if descriptor is not None:
            os.close(descriptor)


def read_text(path: str | os.PathLike[str]) -> str:
    """A file of text in UTF-8; anything else is an error."""
    source = file_path(path)
    try:
        return source.read_bytes().decode("utf-8")
    except OSError as error:
        raise InputError(f"Cannot read {str(source)!r}: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{str(source)!r} is not a text file in UTF-8 (byte {error.start} cannot be).") from error


def check_place(target: Path) -> None:
    """Refuse, before any work, a place where its result could not be written."""
    shown, folder = str(target), target.parent
    try:
        kind = "folder" if target.is_dir() else "other" if target.exists() and not target.is_file() else "file"
        there = target.resolve().parent.is_dir()
    except (OSError, ValueError) as wrong:
        # Too long, a circle of links, a character that no name can have.
        reason = getattr(wrong, "strerror", None) or str(wrong)
        raise InputError(f"Cannot write {shown!r}: {reason}. Name another file.") from wrong
    if kind == "folder":
        raise InputError(f"{shown!r} is a folder. Name a file in it.")
    if kind == "other":
        raise InputError(f"{shown!r} is not an ordinary file, but a device or a pipe, say. Name a file.")
    if not there:
        raise InputError(f"There is no folder {str(folder)!r} to write {target.name!r} to. Make it, or name another.")
    if not os.access(folder, os.W_OK):
        raise InputError(f"Cannot write {target.name!r} to {str(folder)!r}: Permission denied. Name another folder.")


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write one text as UTF-8."""
    with replacing(path) as file:
        file.write(text.encode("utf-8"))


def _take_name(part: Path, target: Path) -> None:
    if target.exists():
        os.chmod(part, target.stat().st_mode & 0o777)
    os.replace(part, target)


def _new_part(target: Path) -> tuple[Path, BinaryIO]:
    """A new file beside the target, locked as long as it is open."""
    while True:
        part = target.with_name(f".{_mark_of(target)}{uuid.uuid4().hex[:_HALF]}.part")
        file = part.open("xb")
        _lock(file.fileno())
        # Another writer may have removed it as left behind before it was locked.
        if part.exists():
            return part, file
        file.close()


def _mark_of(target: Path) -> str:
    """What the names of all unfinished files of a target begin with, however long its own name is."""
    return hashlib.blake2b(os.fsencode(target.name), digest_size=_HALF // 2).hexdigest()


def _remove_left_behind(target: Path) -> None:
    """Remove what killed writers of the same target have left; a file that is being written stays."""
    ours = re.compile(rf"\.{_mark_of(target)}[0-9a-f]{{{_HALF}}}\.part")
    # If the folder cannot be read, or a file belongs to someone else, it stays.
    with suppress(OSError):
        for name in [name for name in os.listdir(target.parent) if ours.fullmatch(name)]:
            with suppress(OSError):
                _remove_unless_locked(target.with_name(name))


_WINDOWS = sys.platform == "win32"
if sys.platform == "win32":

    def _lock(descriptor: int) -> None:
        """Nothing to do: a file that is open cannot be removed."""

    def _locked_folder(folder: Path) -> int | None:
        """None: a folder cannot be opened."""

    def _remove_unless_locked(part: Path) -> None:
        """Nothing: between closing and renaming, a file in use looks like one that was left behind."""
else:
    import fcntl

    def _lock(descriptor: int) -> None:
        # On a file system without locks nobody can tell, and files that were left behind stay there.
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)

    def _locked_folder(folder: Path) -> int | None:
        """The folder, open and locked; `BlockingIOError` if another writer has it."""
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            # Any other error: this file system has no locks.
            if isinstance(error, BlockingIOError):
                os.close(descriptor)
                raise
        return descriptor

    def _remove_unless_locked(part: Path) -> None:
        descriptor = os.open(part, os.O_RDWR | os.O_NOFOLLOW)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.unlink(part)
        finally:
            os.close(descriptor)
