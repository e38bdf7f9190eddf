"""Files are written whole or not at all: to a new file in the same folder, which then takes the name."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from dagpost.errors import InputError


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write to, which replaces `path` once the block ends without an error.

    It is as open to others as the file it replaces, or as the user's default. A kill leaves the old file or none.
    """
    # Through a link, not over it.
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file() and not target.is_dir():
        # Root could replace a device, and everybody would be the poorer for it.
        raise InputError(f"Cannot write {str(target)!r}: it is no ordinary file. Name another.")
    part = target.with_name(f".{uuid.uuid4().hex}.part")
    try:
        file = part.open("xb")
    except OSError as error:
        raise InputError(
            f"Cannot write {str(target)!r}: {error.strerror}. Name a folder that exists and is yours."
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
        part.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise InputError(f"Cannot write {str(target)!r}: {error.strerror}. Nothing was changed.") from error
        raise


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write one text as UTF-8."""
    with replacing(path) as file:
        file.write(text.encode("utf-8"))
