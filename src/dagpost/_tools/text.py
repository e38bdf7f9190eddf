"""Names, levels and times as people read them: finding them, and showing them safely."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

from dagpost.errors import InputError

_SHOWN = 8
_LONGEST = 200
_ADDRESS = re.compile(r"\bat 0x[0-9a-fA-F]+")
#: Bits of a number: Python writes 4,300 digits and no more; nobody reads as many.
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
    if not isinstance(name, str):
        raise InputError(f"A variable must be given by its name, as text. Got {shown(name)} instead.")
    if name in names:
        return list(names).index(name)
    raise InputError(f"There is no variable {shown(name)}.{nearest(name, names)}")


def names_in(mask: int, names: Sequence[str]) -> tuple[str, ...]:
    """The names of the variables whose bits are set.

    >>> names_in(0b101, ["A", "B", "C"])
    ('A', 'C')
    """
    return tuple(name for bit, name in enumerate(names) if mask >> bit & 1)


def nearest(name: str, known: Sequence[str]) -> str:
    """A sentence that suggests what may have been meant, or lists what there is."""
    # A comparison takes as long as both are long.
    close = difflib.get_close_matches(name, known, n=1) if len(name) <= _LONGEST else []
    return f" Did you mean {shown(close[0])}?" if close else f" There are: {shortened([shown(n) for n in known])}."


def shown(value: object) -> str:
    """A value of any kind as a message shows it: written out if that is short, else what it is.

    >>> shown("five"), shown([1, 2]), shown(len), shown({}.keys)
    ("'five'", '[1, 2]', 'the function len', 'the function keys')
    >>> shown("x" * 1000)[:20], shown(object()), shown(10**5000)
    ("'xxxxxxxxxxxxxxxxxxx", 'an object', 'a number of 16610 bits')
    """
    if isinstance(value, int) and value.bit_length() > _LONGEST_NUMBER:
        return f"a number of {value.bit_length()} bits"
    try:
        written = repr(value)
    except Exception:  # noqa: BLE001
        # The method is the user's, and may do anything.
        return _kind(value)
    if "\n" in written or _ADDRESS.search(written) or (callable(value) and written.startswith("<")):
        return _kind(value)
    return shortened_text(written)


def shortened_text(text: str) -> str:
    """A text as it is, or the beginning and the end of a long one."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST // 2]}...{text[-20:]}"


def _kind(value: object) -> str:
    """What a value is, in a few words."""
    called = getattr(value, "__name__", None)
    if callable(value) and isinstance(called, str):
        return f"the function {called}"
    name = type(value).__name__
    shape = getattr(value, "shape", None)
    size = f" of shape {shape}" if isinstance(shape, tuple) else ""
    return f"{'an' if name[:1] in 'aeiouAEIO' else 'a'} {name}{size}"


def unescaped(text: str) -> str:
    r"""What stands between two quotes, with `\"`, `\\`, `\n` and their like as the characters that they mean.

    >>> unescaped(r'say \"x\"')
    'say "x"'
    """
    return re.sub(r"\\(.)", lambda hit: _ESCAPED.get(hit[1], hit[0]), text, flags=re.DOTALL)


def shortened(items: Sequence[str], most: int = _SHOWN) -> str:
    """The first few of many, for a message; all where there are at most `most`."""
    shown = ", ".join(items if len(items) <= most else items[:_SHOWN])
    return shown if len(items) <= most else f"{shown} and {len(items) - _SHOWN} more"


def shortened_rows(rows: Sequence[str], most: int = 64) -> list[str]:
    """The lines of a table as they are; of very many the first and the last, and how many there are between them.

    >>> shortened_rows(["a", "b", "c", "d", "e"], 4)
    ['a', 'b', '... 1 more ...', 'd', 'e']
    """
    if len(rows) <= most:
        return list(rows)
    half = min(most // 2, 20)
    return [*rows[:half], f"... {len(rows) - 2 * half:,} more ...", *rows[-half:]]


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
