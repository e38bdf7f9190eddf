"""Which files is a kernel made of, and have they changed since it was compiled?

To see whether a compiled kernel is stale, Numba looks only at the file of the kernel itself; kernels contain helpers
from other files as well.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).parents[1]
_IMPORT = re.compile(r"^\s*from\s+dagpost([.\w]*)\s+import\s+\(?([^)]*?)\)?$", re.MULTILINE)


@cache
def source_digest(source: Path) -> str:
    """What changes with this file or a module that it imports, directly or indirectly, wherever they are installed."""
    digest = hashlib.sha256()
    for file in sources_of(source):
        # A kernel of another package, or of a test, is known by its file's name.
        name = file.relative_to(_PACKAGE).as_posix() if file.is_relative_to(_PACKAGE) else file.name
        digest.update(f"{name} {_digest(file)}\n".encode())
    return digest.hexdigest()


def sources_of(source: Path) -> list[Path]:
    """The file itself and every module of the package that it imports directly or indirectly."""
    found: set[Path] = set()
    waiting = [source]
    while waiting:
        file = waiting.pop()
        if file not in found:
            found.add(file)
            waiting += _imported_by(file)
    return sorted(found)


@cache
def _imported_by(file: Path) -> list[Path]:
    imported = []
    for module, names in _IMPORT.findall(file.read_text(encoding="utf-8")):
        place = _PACKAGE.joinpath(*module.split("."))
        # A name imported from a package may be one of its modules.
        places = [place, *(place / name.split(" as ")[0].strip() for name in names.split(","))]
        imported += [path for place in places for path in (place.with_suffix(".py"), place / "__init__.py")]
    # The package itself loads names on first use, so importing it depends on nothing.
    return [path for path in imported if path.is_file() and path != _PACKAGE / "__init__.py"]


@cache
def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
