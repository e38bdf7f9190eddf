"""Edges and pairs as people write them, `A -> B` and `A -- B`: in Python and on the command line.

Names may stand in quotes, as in the language of statements. They must where a name has an arrow in it: nothing is
guessed.
"""

from __future__ import annotations

import re

from dagpost._tools.spelling import quoted
from dagpost._tools.text import shown, unescaped
from dagpost.errors import InputError

#: Between parent and child, and between two columns that an edge joins either way.
EDGE, PAIR = "->", "--"
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'', re.DOTALL)


def read_edge(text: str, setting: str) -> tuple[str, str]:
    """Parent and child of an edge that is written as text; `setting` is what it was given for.

    >>> read_edge("Smoking -> M. Work", "required"), read_edge("'a -> b' -> c", "forbidden")
    (('Smoking', 'M. Work'), ('a -> b', 'c'))
    """
    read = _read(text, EDGE)
    if len(read) == 1:
        return read[0]
    arrows = text.count(EDGE)
    if arrows > 1:
        raise InputError(
            f"{quoted(setting)} has {text!r} with {arrows} arrows, which does not say what two columns the edge "
            "joins. Give each edge by itself, and put a name that has an arrow in it in quotes."
        )
    raise InputError(f'An edge of {quoted(setting)} is written "A -> B", parent first. Got {shown(text)} instead.')


def read_link(text: str, setting: str) -> tuple[str, str, str]:
    """The same of an edge or a pair: its two columns, and what stands between them.

    >>> read_link("smoking -> pressure", "prior"), read_link("bmi -- pressure", "prior")
    (('smoking', '->', 'pressure'), ('bmi', '--', 'pressure'))
    """
    for arrow in (EDGE, PAIR):
        read = _read(text, arrow)
        if len(read) == 1:
            return read[0][0], arrow, read[0][1]
    raise InputError(
        f'{quoted(setting)} speaks of edges, written "A -> B" with the parent first, and of pairs that an edge joins '
        f'either way, "A -- B"; a name with an arrow in it is put in quotes. Got {shown(text)} instead.'
    )


def _read(text: str, arrow: str) -> list[tuple[str, str]]:
    """The two names in a text, for each place where it can be split."""
    places = [found.start() for found in re.finditer(arrow, text)]
    halves = [(text[:place].strip(), text[place + len(arrow) :].strip()) for place in places]
    return [
        (_unquoted(first), _unquoted(second))
        for first, second in halves
        if _is_name(first, arrow) and _is_name(second, arrow)
    ]


def _is_name(text: str, arrow: str) -> bool:
    return bool(text) and (arrow not in text or _QUOTED.fullmatch(text) is not None)


def _unquoted(name: str) -> str:
    return unescaped(name[1:-1]) if _QUOTED.fullmatch(name) else name
