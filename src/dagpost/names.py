"""Names of variables and levels: finding them, and showing them safely."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from dagpost.errors import InputError


def position_of(name: str, names: Sequence[str]) -> int:
    """The position of a variable; an unknown name is an error that suggests the nearest one.

    >>> position_of("Age", ["Sex", "Age"])
    1
    """
    if name in names:
        return list(names).index(name)
    near = difflib.get_close_matches(str(name), names, n=1, cutoff=0.5)
    hint = (
        f"Did you mean {near[0]!r}?"
        if near
        else f"There are: {', '.join(map(repr, names[:10]))}{', …' * (len(names) > 10)}."
    )
    raise InputError(f"There is no variable {name!r}. {hint}")


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
