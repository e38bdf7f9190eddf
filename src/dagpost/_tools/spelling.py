"""One message for two kinds of readers: a parameter of a function is an option of a command.

A message may hold marks for what Python and the command line write differently. `in_python` and `in_options` read them:

    f"Set {setting('modularity', 'order')}."       Set modularity='order'.       Set --modularity order.
    f"{parameter('seed')} must be positive."       The 'seed' must be positive.  --seed must be positive.
    f"{quoted('seed')} and {bare('seed')}."        'seed' and seed.              --seed and --seed.
    f"Use {either('best(3)', 'dagpost best')}."    Use best(3).                  Use dagpost best.

Errors and warnings keep the marks for the command line and show the words of Python.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_OPEN, _BETWEEN, _CLOSE = "\ue000", "\ue001", "\ue002"
# A name from the data may hold such characters too; whatever is not as `_mark` writes it stays as it is.
_MARK = re.compile(
    f"{_OPEN}((?:o(?:{_BETWEEN}[^{_OPEN}{_BETWEEN}{_CLOSE}]*){{4}}|e(?:{_BETWEEN}[^{_OPEN}{_BETWEEN}{_CLOSE}]*){{2}})){_CLOSE}"
)
_OPTION, _EITHER = "o", "e"
_LONGEST = 3000


def setting(name: str, value: object) -> str:
    """A parameter with one of its values: ``name='value'``, or ``--name value``."""
    return _mark(_OPTION, name, "", f"{name}={value!r}", f" {value}")


def parameter(name: str, owner: str | None = None) -> str:
    """A parameter as the subject of a sentence: ``The 'name' parameter of Owner``, or ``--name``."""
    return _mark(_OPTION, name, owner or "", f"The '{name}'" + (f" parameter of {owner}" if owner else ""), "")


def quoted(name: str) -> str:
    """A parameter in quotes: ``'name'``, or ``--name``."""
    return _mark(_OPTION, name, "", f"'{name}'", "")


def bare(name: str) -> str:
    """A parameter as it is: ``name``, or ``--name``."""
    return _mark(_OPTION, name, "", name, "")


def either(python: str, command_line: str) -> str:
    """Words that differ altogether."""
    return _mark(_EITHER, python, command_line)


def in_python(message: str) -> str:
    """A message for people who write Python.

    >>> in_python(f"Set {setting('modularity', 'order')}. {parameter('seed', 'DagPosterior')} is not used.")
    "Set modularity='order'. The 'seed' parameter of DagPosterior is not used."
    """

    def spelled(found: re.Match[str]) -> str:
        kind, *parts = found[1].split(_BETWEEN)
        return parts[2] if kind == _OPTION else parts[0]

    return _bounded(_MARK.sub(spelled, message))


def in_options(message: str, options: Mapping[str, str]) -> str:
    """A message for people at the command line.

    `options` are those that are not named after their parameter, by its name or by ``Owner.name``.

    >>> in_options(f"Set {setting('tiers', 'A,B')}, or {setting('max_parents', 3)}.", {"tiers": "--tier"})
    'Set --tier A,B, or --max-parents 3.'
    """

    def spelled(found: re.Match[str]) -> str:
        kind, *parts = found[1].split(_BETWEEN)
        if kind == _EITHER:
            return parts[1]
        name, owner, _, value = parts
        usual = options.get(name, f"--{name.replace('_', '-')}")
        return options.get(f"{owner}.{name}", usual) + value

    return _bounded(_MARK.sub(spelled, message))


def _bounded(message: str) -> str:
    """A message that can be read, whatever names and texts of a user's went into it."""
    return message if len(message) <= _LONGEST else f"{message[: _LONGEST - 500]} ... {message[-400:]}"


def parameters_in(message: str) -> list[str]:
    """The parameters that a message speaks of, in order.

    >>> parameters_in(f"{parameter('seed')} and {setting('method', 'auto')}")
    ['seed', 'method']
    """
    marks = [found[1].split(_BETWEEN) for found in _MARK.finditer(message)]
    return [mark[1] for mark in marks if mark[0] == _OPTION]


def _mark(*parts: str) -> str:
    return f"{_OPEN}{_BETWEEN.join(parts)}{_CLOSE}"
