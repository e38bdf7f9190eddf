"""What a user sees while kernels compile, the one slow thing that a new user meets: a line.

Every feature has kernels of its own, which are compiled when it is first used. A file beside the kept kernels remembers
that it was said, so that this is not news each time; where none can be written, a process says it once. Where the
kernels came with the package, nothing is compiled and nothing said.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from dagpost._tools import progress
from dagpost._version import __version__

#: With how long the kernels of a first answer take on an ordinary computer.
NOTICE = "dagpost: compiling for this computer, once: about 20 s"
_PACKAGE = Path(__file__).parents[1]


class CompileNotice:
    """Hears from Numba, which holds its lock meanwhile, whenever it compiles a function; says so once a computer."""

    def __init__(self) -> None:
        self._seen = False

    def notify(self, event: Any) -> None:
        """What Numba calls; helpers are compiled as parts of kernels, and have no place on disk."""
        dispatcher = event.data["dispatcher"]
        place = getattr(dispatcher._cache, "_cache_path", None)
        ours = dispatcher.py_func.__module__.startswith("dagpost.")
        if self._seen or place is None or not ours or not progress.NOTICES or sys.stderr is None:
            return
        self._seen = True
        if _is_first(Path(place)):
            sys.stderr.write(f"{NOTICE}\n")
            sys.stderr.flush()


def _is_first(place: Path) -> bool:
    """Whether no process has said so yet for this version and this cache; from now on, one has."""
    try:
        # Numba keeps kernels beside each module, or in a folder for each folder of modules.
        folder = _PACKAGE / place.name if place.name == "__pycache__" else place.parent
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"dagpost-{__version__}.told").touch(exist_ok=False)
    except FileExistsError:
        return False
    except OSError:
        return True
    return True
