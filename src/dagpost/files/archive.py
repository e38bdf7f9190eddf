"""Files that outlive the program: one archive of plain arrays and JSON, written whole or not at all.

A file is a zip archive with `about.json` (kind, format version, whatever the writer wants to say) and one `.npy` member
an array. Nothing in it is code and reading it runs none: arrays are read without pickle, and every member's checksum
is verified. Writing goes to a temporary file in the same folder which then takes the name, so that a kill or a full
disk leaves the old file or none.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.checks import file_path
from dagpost._tools.whole_files import replacing
from dagpost._version import __version__
from dagpost.errors import InputError

FORMAT_VERSION = 1
_ABOUT = "about.json"

#: What the standard library raises for an archive that is damaged, encrypted or none at all.
_UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, KeyError, OSError, RuntimeError, ValueError)

Result = TypeVar("Result")


def write_archive(path: str | os.PathLike[str], kind: str, about: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
    """Write one file of the given kind ("model", "sample"), replacing an older one only once it is complete."""
    content = {"dagpost": kind, "format": FORMAT_VERSION, "version": __version__, "arrays": sorted(arrays), **about}
    text = json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False)
    with replacing(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(_ABOUT, text, compress_type=zipfile.ZIP_DEFLATED)
        for key, array in arrays.items():
            with archive.open(f"{key}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.ascontiguousarray(array), allow_pickle=False)


def is_archive(path: str | os.PathLike[str]) -> bool:
    """Whether a file looks like one of ours rather than like a table."""
    return zipfile.is_zipfile(file_path(path))


def kind_of(path: str | os.PathLike[str]) -> str:
    """What a file holds: "model" or "sample"."""
    return str(_open(path, lambda archive: _about(Path(path), archive))["dagpost"])


def read_archive(path: str | os.PathLike[str], kind: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read a file of the given kind; whatever is wrong with it is an `InputError` that says what."""
    source = file_path(path)

    def read(archive: zipfile.ZipFile) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        about = _about(source, archive)
        if about["dagpost"] != kind:
            raise InputError(f"{str(source)!r} is a dagpost {about['dagpost']} file; a {kind} file is needed here.")
        names = [name for name in archive.namelist() if name.endswith(".npy")]
        arrays = {name.removesuffix(".npy"): _array(archive.read(name)) for name in names}
        # A name that was damaged in the directory of the archive would else be a part that was never there.
        missing = sorted(set(about.get("arrays", [])) - arrays.keys())
        if missing:
            raise InputError(f"{str(source)!r} lacks parts of a {kind} ({', '.join(missing)}). Make it again.")
        return about, arrays

    return _open(path, read)


@contextmanager
def complete(path: str | os.PathLike[str], kind: str, remedy: str) -> Iterator[None]:
    """Make an object from what was read; whatever is missing or does not fit is an `InputError`."""
    try:
        yield
    except InputError:
        raise
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise InputError(f"{os.fspath(path)!r} lacks parts of a {kind} ({error}). {remedy}") from error


def _array(content: bytes) -> NDArray[Any]:
    array: NDArray[Any] = np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
    return array


def _open(path: str | os.PathLike[str], read: Callable[[zipfile.ZipFile], Result]) -> Result:
    source = file_path(path)
    if source.is_dir():
        raise InputError(f"{str(source)!r} is a folder, not a file. Name a file in it.")
    if not source.is_file():
        raise InputError(f"There is no file {str(source)!r}.")
    try:
        with zipfile.ZipFile(source) as archive:
            return read(archive)
    except InputError:
        raise
    except _UNREADABLE as error:
        raise InputError(
            f"{str(source)!r} is not a dagpost file, or it was cut short or damaged{_reason(error)}. Make it again; a "
            "table is fitted first (`dagpost fit`)."
        ) from error


def _reason(error: Exception) -> str:
    """What the system says of a file that it does not give us; what a library stumbled over helps nobody."""
    return f" ({error.strerror})" if isinstance(error, OSError) and error.strerror else ""


def _about(source: Path, archive: zipfile.ZipFile) -> dict[str, Any]:
    """The description in a file, once it is sure that we can read the rest."""
    about = json.loads(archive.read(_ABOUT))
    if not isinstance(about, dict) or "dagpost" not in about:
        raise InputError(f"{str(source)!r} was not written by dagpost.")
    if about.get("format") != FORMAT_VERSION:
        raise InputError(
            f"{str(source)!r} has format {about.get('format')}, written by dagpost {about.get('version')}; this is "
            f"dagpost {__version__}, which reads format {FORMAT_VERSION}. Use that version, or make the file again."
        )
    return about
