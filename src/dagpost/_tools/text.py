"""Names, levels and times as people read them: finding them, and showing them safely."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

from dagpost.errors import InputError

_SHOWN = 8
#: Python writes numbers of 4,300 digits and no longer ones; nobody reads as many.
_LONGEST_NUMBER = 1_000
_ESCAPED = {"\\": "\\", '"': '"', "'": "'", "n": "\n", "r": "\r", "t": "\t"}
_YEAR = 365.25 * 86_400.0


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
    raise InputError(f"There is no variable {excerpt(name)}.{nearest(str(name), names)}")


def names_in(mask: int, names: Sequence[str]) -> tuple[str, ...]:
    """The names of the variables whose bits are set.

    >>> names_in(0b101, ["A", "B", "C"])
    ('A', 'C')
    """
    return tuple(name for bit, name in enumerate(names) if mask >> bit & 1)


def nearest(name: str, known: Sequence[str]) -> str:
    """A sentence that suggests what may have been meant, or lists what there is."""
    close = difflib.get_close_matches(name, known, n=1)
    return f" Did you mean {excerpt(close[0])}?" if close else f" There are: {shortened([excerpt(n) for n in known])}."


def unescaped(text: str) -> str:
    r"""What stands between two quotes, with `\"`, `\\`, `\n` and their like as the characters that they mean.

    >>> unescaped(r'say \"x\"')
    'say "x"'
    """
    return re.sub(r"\\(.)", lambda hit: _ESCAPED.get(hit[1], hit[0]), text, flags=re.DOTALL)


def shortened(items: Sequence[str]) -> str:
    """The first few of many, for a message."""
    shown = ", ".join(items[:_SHOWN])
    return shown if len(items) <= _SHOWN else f"{shown} and {len(items) - _SHOWN} more"


def excerpt(value: object, longest: int = 60) -> str:
    """A value as messages quote it, however long it is.

    >>> excerpt("a"), excerpt("a" * 1000, 10), excerpt(10**5000)
    ("'a'", "'aaaaaaaa…'", 'a number of 16610 bits')
    """
    if isinstance(value, int) and value.bit_length() > _LONGEST_NUMBER:
        return f"a number of {value.bit_length()} bits"
    if isinstance(value, str):
        return repr(value if len(value) <= longest else f"{value[: longest - 2]}…")
    try:
        text = repr(value)
    except ValueError:  # there is a number inside that is too long to be written
        text = type(value).__name__
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def readable_level(level: object) -> str | int | float | bool:
    """A level as JSON can hold it."""
    item = getattr(level, "item", None)
    plain = item() if callable(item) else level
    return plain if isinstance(plain, str | bool | int | float) else str(plain)


def printable(text: object) -> str:
    r"""Text from the data with control characters shown rather than obeyed by a terminal.

    >>> printable("a\x1b[31m")
    'a\\x1b[31m'
    """
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in str(text))


def printable_lines(text: str) -> str:
    """`printable` line by line."""
    return "\n".join(map(printable, text.split("\n")))


def duration(seconds: float) -> str:
    """A time as people say it.

    >>> duration(24.2), duration(300.0), duration(0.2)
    ('24 seconds', '5 minutes', 'under a second')
    """
    if seconds > 1_000 * _YEAR:
        return "thousands of years"
    for unit, length in (("years", _YEAR), ("days", 86_400.0), ("hours", 3_600.0), ("minutes", 60.0)):
        if seconds >= 2.0 * length:
            return f"{seconds / length:,.0f} {unit}"
    if seconds < 1.0:
        return "under a second"
    return f"{seconds:.0f} second{'' if round(seconds) == 1 else 's'}"
