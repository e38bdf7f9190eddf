"""The names of variables in a statement: how they are written, and what is refused."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from dagpost._tools.checks import texts
from dagpost._tools.text import position_of, shown
from dagpost.data.time_columns import earlier, series_and_lag
from dagpost.errors import InputError
from dagpost.families.masks import masks_of_integers
from dagpost.features.forms import vocabulary

if TYPE_CHECKING:
    from dagpost.features.feature import Feature

_PLAIN = re.compile(r"\w+")
_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n", "\r": r"\r", "\t": r"\t"})


def quoted(name: str) -> str:
    """A name as the language writes it: in quotes unless it is a plain word.

    >>> quoted("Smoking"), quoted("M. Work"), quoted("in"), quoted("Smoking[t-1]")
    ('Smoking', '"M. Work"', '"in"', 'Smoking[t-1]')
    """
    series, lag = series_and_lag(name)
    if lag and not series_and_lag(series)[1]:
        return earlier(quoted(series), lag)
    if _PLAIN.fullmatch(name) and name not in vocabulary().reserved:
        return name
    return f'"{name.translate(_ESCAPES)}"'


def braced(names: Iterable[str]) -> str:
    """A set of names: `{A, B}`."""
    return f"{{{', '.join(map(quoted, sorted(names)))}}}"


def known_names(names: object) -> tuple[str, ...]:
    """The names of all variables, as they are given to a function."""
    return names if isinstance(names, tuple) and all(isinstance(name, str) for name in names) else texts(names, "names")


def names_of(names: str | Iterable[str]) -> frozenset[str]:
    """One name or a collection of names, as a set."""
    # A single text is one name; read as a collection it would be its letters.
    if isinstance(names, str):
        return frozenset((names,))
    if not isinstance(names, Iterable) or getattr(names, "ndim", 1) == 0:
        raise InputError(f"Expected a variable name or a collection of them. Got {shown(names)} instead.")
    members = tuple(names)
    check_text(*members)
    return frozenset(members)


def mask_of(members: Iterable[str], names: Sequence[str]) -> Any:
    """The mask of some of the variables `names`: a number, or a row of words where there are more than 64 names.

    >>> int(mask_of(["A", "C"], ["A", "B", "C"]))
    5
    """
    return masks_of_integers([sum(1 << position_of(name, names) for name in set(members))], len(names))[0]


def check_text(*names: object) -> None:
    """Refuse what is not a text."""
    for name in names:
        if not isinstance(name, str):
            raise InputError(
                f"A variable must be given by its name, as text. Got {shown(name)} ({type(name).__name__})."
            )


def check_different(feature: Feature, *names: str) -> None:
    """Refuse a statement that names the same variable twice, such as an edge from a variable to itself."""
    check_text(*names)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(
            f"The statement {str(feature)!r} relates {twice!r} to itself, which no DAG allows. "
            "Name different variables."
        )


def store_others(feature: Any, attribute: str, node: str) -> None:
    """Store a field as a set of names, which may not contain the node that it is about."""
    check_text(node)
    members = names_of(getattr(feature, attribute))
    object.__setattr__(feature, attribute, members)
    if node in members:
        raise InputError(
            f"The statement {str(feature)!r} relates {node!r} to itself, which no DAG allows. "
            f"Leave {node!r} out of the set."
        )
