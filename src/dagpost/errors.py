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

from dagpost._tools.spelling import in_python, parameters_in

_PACKAGE = str(Path(__file__).parent)
_collected: ContextVar[list[str] | None] = ContextVar("collected", default=None)


class DagpostError(Exception):
    """Base of all errors that dagpost raises on purpose.

    `marked` is the message with the marks of _tools/spelling.py, from which the command line makes its own words.
    """

    #: Which character of the text of a statement is wrong, where it is known.
    at: int | None = None

    def __init__(self, message: str = "") -> None:
        super().__init__(in_python(message))
        self.marked = message

    @property
    def plain(self) -> str:
        """What is wrong, without the text of the statement and the caret under the place in it."""
        return str(self) if self.at is None else str(self).rsplit("\n", 2)[0]

    @property
    def parameter(self) -> str | None:
        """The parameter that is wrong or would help, where the message names one."""
        return next(iter(parameters_in(self.marked)), None)

    def __reduce__(self) -> tuple[type[DagpostError], tuple[str]]:
        """Errors travel between processes with their marks."""
        return type(self), (self.marked,)


class InputError(DagpostError, ValueError):
    """A table, a file, a name or a setting is not what it must be."""


class NoGraphError(InputError):
    """No graph is left that satisfies all constraints."""


class PrecisionError(InputError):
    """Rounding may have moved the result further than is tolerable."""


class ResourceError(DagpostError, MemoryError):
    """The work asked for does not fit into this machine."""


class DagpostWarning(UserWarning):
    """Something in the input looks unintended, but the work goes on; `marked` is as in `DagpostError`."""

    def __init__(self, message: str = "") -> None:
        super().__init__(in_python(message))
        self.marked = message


@contextmanager
def collected_warnings() -> Iterator[list[str]]:
    """Note what `warn` says in this thread meanwhile; `warnings.catch_warnings` would affect all threads."""
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
    warnings.warn(DagpostWarning(message), stacklevel=level + 1)
