"""The errors a user can mend: each says what came, what is allowed and what to do next.

The command line turns every `DagpostError` into one readable message and exit status 2; anything else is a
fault of ours and keeps its traceback.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

_PACKAGE = str(Path(__file__).parent)
_collected: ContextVar[list[str] | None] = ContextVar("collected", default=None)


class DagpostError(Exception):
    """Base of all errors that dagpost raises on purpose."""


class InputError(DagpostError, ValueError):
    """A table, a file, a name or a setting is not what it must be."""


class NoGraphError(InputError):
    """No graph is left that satisfies all constraints."""


class PrecisionError(InputError):
    """Rounding may have moved the result further than is tolerable."""


class ResourceError(DagpostError, MemoryError):
    """The work asked for does not fit into this machine."""


class DagpostWarning(UserWarning):
    """Something in the input looks unintended, but the work goes on."""


@contextmanager
def collected_warnings() -> Iterator[list[str]]:
    """Take down what `warn` says in this thread meanwhile; `warnings.catch_warnings` would concern all threads."""
    said: list[str] = []
    token = _collected.set(said)
    try:
        yield said
    finally:
        _collected.reset(token)


def warn(message: str) -> None:
    """Warn at the line of the user's that led here, however deep inside the package this is."""
    collected = _collected.get()
    if collected is not None:
        collected.append(message)
        return
    level = 1
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, DagpostWarning, stacklevel=level + 1)
