"""Edges as people write them, `A -> B`: in Python and on the command line.

Names may stand in quotes, as in the language of statements. They must where a name has an arrow in it: nothing is
guessed.
"""

from __future__ import annotations

import re

from dagpost._tools.spelling import quoted
from dagpost._tools.text import shown, unescaped
from dagpost.errors import InputError

_ARROW = "->"
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'', re.DOTALL)


def read_edge(text: str, setting: str) -> tuple[str, str]:
    """Parent and child of an edge that is written as text; `setting` is what it was given for.

    >>> read_edge("Smoking -> M. Work", "required"), read_edge("'a -> b' -> c", "forbidden")
    (('Smoking', 'M. Work'), ('a -> b', 'c'))
    """
    places = [found.start() for found in re.finditer(_ARROW, text)]
    halves = [(text[:place].strip(), text[place + len(_ARROW) :].strip()) for place in places]
    read = [(parent, child) for parent, child in halves if _is_name(parent) and _is_name(child)]
    if len(read) == 1:
        return _unquoted(read[0][0]), _unquoted(read[0][1])
    if len(places) > 1:
        raise InputError(
            f"{quoted(setting)} has {text!r} with {len(places)} arrows, which does not say what two columns the edge "
            "joins. Give each edge by itself, and put a name that has an arrow in it in quotes."
        )
    raise InputError(f'An edge of {quoted(setting)} is written "A -> B", parent first. Got {shown(text)} instead.')


def _is_name(text: str) -> bool:
    return bool(text) and (_ARROW not in text or _QUOTED.fullmatch(text) is not None)


def _unquoted(name: str) -> str:
    return unescaped(name[1:-1]) if _QUOTED.fullmatch(name) else name
