"""What `dagpost effect` is asked: columns and values as they stand on the command line, as the library takes them.

`Smoking Pressure` is a cause and an outcome, `Smoking=yes Work=no Pressure` sets two columns at once. A column may have
an equals sign in its name: the longest name that fits is meant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dagpost._tools.text import nearest, position_of, shown
from dagpost.data.encoding import is_number
from dagpost.errors import InputError

Levels = Sequence[Sequence[Any] | None]
_TWO = 2


def causes_of(
    words: Sequence[str], do: str | None, rather_than: Sequence[str], names: Sequence[str], levels: Levels
) -> Mapping[str, Any]:
    """What each cause is set to, and rather than what: two values, one that is held, or None for the usual two."""
    named: dict[str, str | None] = {}
    for word in words:
        name, value = _assigned(word, names)
        if name in named:
            raise InputError(f"The cause {name!r} is named twice. Name it once.")
        named[name] = value
    if do is not None:
        named = _with_do(named, do)
    others = _others(rather_than, tuple(named))
    return {name: _values(name, value, others.get(name), names, levels) for name, value in named.items()}


def check_outcome(word: str, names: Sequence[str]) -> None:
    """Refuse what is no column; a column with a level has that in an option."""
    fitting = [name for name in names if word.startswith(f"{name}=")]
    if word not in names and fitting:
        name = max(fitting, key=len)
        raise InputError(
            f"The outcome is a column without a value. To look at one of its levels: {name} --level "
            f"{word[len(name) + 1 :]}."
        )
    position_of(word, names)


def _assigned(word: str, names: Sequence[str]) -> tuple[str, str | None]:
    """A column, and the value after its equals sign."""
    if word in names:
        return word, None
    found = [name for name in names if word.startswith(f"{name}=")]
    if found:
        name = max(found, key=len)
        return name, word[len(name) + 1 :]
    # Which names the nearest one.
    position_of(word.partition("=")[0], names)
    raise InputError(f"There is no variable {shown(word)}.{nearest(word, names)}")


def _with_do(named: dict[str, str | None], do: str) -> dict[str, str | None]:
    if len(named) > 1 or any(value is not None for value in named.values()):
        name = next(iter(named))
        raise InputError(
            f"--do is for one cause that has no value yet. Write each cause with its value instead, as {name}=VALUE."
        )
    return dict.fromkeys(named, do)


def _others(written: Sequence[str], causes: tuple[str, ...]) -> dict[str, str]:
    """What is compared with, by cause: a value alone where there is one cause, else COLUMN=VALUE."""
    if len(causes) == 1 and len(written) == 1:
        text = written[0]
        return {causes[0]: text.removeprefix(f"{causes[0]}=")}
    found: dict[str, str] = {}
    for text in written:
        fitting = [name for name in causes if text.startswith(f"{name}=")]
        if not fitting:
            raise InputError(
                f"With several causes, --rather-than is written COLUMN=VALUE, once for each of {', '.join(causes)}. "
                f"Got {shown(text)}."
            )
        name = max(fitting, key=len)
        if name in found:
            raise InputError(f"--rather-than is given twice for {name!r}. Give it once.")
        found[name] = text[len(name) + 1 :]
    return found


def _values(name: str, value: str | None, other: str | None, names: Sequence[str], levels: Levels) -> Any:
    """The two values of a cause; of two levels the other one need not be said."""
    own = levels[position_of(name, names)]
    if value is None and other is None:
        return None
    if own is None:
        first, second = (_number(name, text) for text in (value, other))
        if first is None or second is None:
            raise InputError(
                f"{name!r} is a column of numbers: say both what it is set to and rather than what, as {name}="
                f"{value or other} --rather-than NUMBER; without both, one unit more is compared."
            )
        return first if first == second else (first, second)
    if value is None or other is None:
        given = value if other is None else other
        rest = [level for level in own if not _is_level(level, str(given))]
        if len(own) != _TWO or len(rest) != 1:
            return _refuse_open(name, given, own)
        value, other = (value, str(rest[0])) if other is None else (str(rest[0]), other)
    return value if value == other else (value, other)


def _is_level(level: object, text: str) -> bool:
    """Whether a text says this level; 1.0 is the level 1."""
    try:
        return str(level) == text or (is_number(level) and float(text) == float(str(level)))
    except ValueError:
        return False


def _refuse_open(name: str, given: object, levels: Sequence[Any]) -> Any:
    if not any(_is_level(level, str(given)) for level in levels):
        raise InputError(
            f"The variable {name!r} has no level {shown(given)}.{nearest(str(given), [str(own) for own in levels])}"
        )
    listed = ", ".join(str(level) for level in levels)
    raise InputError(
        f"{name!r} has {len(levels)} levels ({listed}): say what {shown(given)} is compared with, --rather-than LEVEL."
    )


def _number(name: str, text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        raise InputError(f"{name!r} is a column of numbers, and {shown(text)} is not a number.") from None
