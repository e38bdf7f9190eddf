"""What a user sees while kernels compile, the one slow thing that a new user meets: a line, and a bar on a terminal.

Every feature has kernels of its own, which are compiled when it is first used. A file beside the kept kernels remembers
that it was said, so that this is not news each time; where none can be written, a process says it once. Where the
kernels came with the package, nothing is compiled and nothing said.
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from typing import Any

from dagpost._tools import progress
from dagpost._version import __version__

#: How many kernels a first answer needs (a test counts them), and how long they take on an ordinary computer.
FIRST_KERNELS = 22
FIRST_SECONDS = 20
NOTICE = f"dagpost: compiling for this computer, once: about {FIRST_SECONDS} s"
#: Other bars may be drawn once nothing has been compiled for this long.
_IDLE_SECONDS = 1.0
_ERASE = "\r\x1b[K"
_WIDTH = 20
_PACKAGE = Path(__file__).parents[1]


class CompileNotice:
    """Hears from Numba whenever it starts or stops compiling a function, and says so once for a computer.

    The bar is on the terminal only while something compiles: whatever is printed next begins on an empty line.
    """

    def __init__(self) -> None:
        self._seen = self._bar = False
        #: Kernels that are compiled, and those that are being compiled: one may call another.
        self._done = self._begun = 0
        self._idle: threading.Timer | None = None
        self._lock = threading.Lock()

    def notify(self, event: Any) -> None:
        """What Numba calls; helpers are compiled as parts of kernels, and have no place on disk."""
        dispatcher = event.data["dispatcher"]
        place = getattr(dispatcher._cache, "_cache_path", None)
        if place is None or not dispatcher.py_func.__module__.startswith("dagpost."):
            return
        if not progress.NOTICES or sys.stderr is None:
            return
        with self._lock:
            if event.is_start:
                self._start(Path(place))
            else:
                self._end()

    def _start(self, place: Path) -> None:
        if self._idle is not None:
            self._idle.cancel()
        self._begun += 1
        if not self._seen:
            self._seen = True
            self._say(place)
        if self._bar:
            self._draw()

    def _say(self, place: Path) -> None:
        if not _is_first(place):
            return
        self._bar = sys.stderr.isatty()
        if self._bar:
            progress.OCCUPIED.set()
        else:
            sys.stderr.write(f"{NOTICE}\n")
            sys.stderr.flush()

    def _end(self) -> None:
        self._done += 1
        self._begun = max(self._begun - 1, 0)
        if not self._bar:
            return
        if self._begun:
            self._draw()
            return
        sys.stderr.write(_ERASE)
        sys.stderr.flush()
        self._idle = threading.Timer(_IDLE_SECONDS, self._close)
        self._idle.daemon = True
        self._idle.start()

    def _draw(self) -> None:
        share = min(self._done / FIRST_KERNELS, 1.0)
        # Letters that every terminal has: an error here would end what is being compiled.
        sys.stderr.write(f"\r{NOTICE}  {'#' * round(_WIDTH * share):.<{_WIDTH}}  {share:4.0%}")
        sys.stderr.flush()

    def _close(self) -> None:
        with self._lock:
            if not self._begun:
                self._bar = False
                progress.OCCUPIED.clear()


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
