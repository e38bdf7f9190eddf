"""Names of variables and levels: finding them, and showing them safely."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from dagpost.errors import InputError

_SHOWN = 8


def node_called(node: int, names: Sequence[str] | None) -> str:
    """How a message speaks of a variable: by its name where that is known.

    >>> node_called(1, ("a", "b")), node_called(1, None)
    ("'b'", 'Node 1')
    """
    return f"Node {node}" if names is None else repr(names[node])


def position_of(name: str, names: Sequence[str]) -> int:
    """The position of a variable; an unknown name is an error that suggests the nearest one.

    >>> position_of("Age", ["Sex", "Age"])
    1
    """
    if name in names:
        return list(names).index(name)
    raise InputError(f"There is no variable {name!r}.{nearest(str(name), names)}")


def nearest(name: str, known: Sequence[str]) -> str:
    """A sentence that suggests what may have been meant, or lists what there is."""
    close = difflib.get_close_matches(name, known, n=1)
    return f" Did you mean {close[0]!r}?" if close else f" There are: {shortened([repr(n) for n in known])}."


def shortened(items: Sequence[str]) -> str:
    """The first few of many, for a message."""
    shown = ", ".join(items[:_SHOWN])
    return shown if len(items) <= _SHOWN else f"{shown} and {len(items) - _SHOWN} more"


def readable_level(level: object) -> str | int | float | bool:
    """A level as JSON can hold it."""
    item = getattr(level, "item", None)
    plain = item() if callable(item) else level
    return plain if isinstance(plain, str | bool | int | float) else str(plain)


def printable(text: object) -> str:
    """Text from the data with control characters shown rather than obeyed by a terminal.

    >>> printable("a\\x1b[31m")
    'a\\\\x1b[31m'
    """
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in str(text))
