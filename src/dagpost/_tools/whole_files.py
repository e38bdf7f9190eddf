"""Files are written whole or not at all: to a new file in the same folder, which then takes the name.

A kill may leave that new file behind, hidden and half written. A later write to the same folder removes it, once nobody
has written to it for a day.
"""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from dagpost._tools.checks import file_path
from dagpost.errors import InputError

#: How the names of half-written files begin and end.
_BEGINS, _ENDS = ".dagpost-", ".part"
_LEFT_BEHIND_SECONDS = 86_400.0


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
    _remove_left_behind(target.parent)
    part = target.parent / f"{_BEGINS}{uuid.uuid4().hex}{_ENDS}"
    try:
        file = part.open("xb")
    except OSError as error:
        raise InputError(
            f"Cannot write {str(target)!r}: {error.strerror}. Name a folder that exists and that you may write to."
        ) from error
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            os.chmod(part, target.stat().st_mode & 0o777)
        os.replace(part, target)
    except BaseException as error:
        # A disk that fails may not let go of it either; the reason is what went wrong first.
        with suppress(OSError):
            part.unlink(missing_ok=True)
        if isinstance(error, OSError):
            reason = error.strerror or str(error)
            raise InputError(f"Cannot write {str(target)!r}: {reason}. Nothing was changed.") from error
        raise


def is_half_written(name: str) -> bool:
    """Whether a file is one that is being written, or that a kill has left behind.

    >>> is_half_written(".dagpost-0123.part"), is_half_written("model.dagpost")
    (True, False)
    """
    return name.startswith(_BEGINS) and name.endswith(_ENDS)


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


def _remove_left_behind(folder: Path) -> None:
    """Remove what killed writers have left in a folder; what cannot be removed stays."""
    with suppress(OSError):
        for name in filter(is_half_written, os.listdir(folder)):
            part = folder / name
            with suppress(OSError):
                if time.time() - part.lstat().st_mtime > _LEFT_BEHIND_SECONDS:
                    part.unlink()
