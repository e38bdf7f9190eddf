"""Prior probabilities of single edges and pairs, in whatever form an expert has them: a table, a matrix, a file.

All of them become *links*: two columns, what stands between them ("->" or "--"), and a probability. A matrix without
names stays one, since the names of its rows come with the table. Whatever cannot be a probability of an edge is refused
here by its place; whether the columns exist is asked when there is a table.

Edges and pairs as people write them, `A -> B` and `A -- B`: in Python and on the command line.

Names may stand in quotes, as in the language of statements. They must where a name has an arrow in it: nothing is
guessed.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from dagpost._tools.checks import is_finite
from dagpost._tools.spelling import bare, either, quoted
from dagpost._tools.text import shown, unescaped
from dagpost.data.frames import frame_of, named_cells
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


#: First column, "->" or "--", second column, probability.
Link = tuple[str, str, str, float]
#: The rows of a matrix, parents by children, without names; None where nothing is said.
Rows = tuple[tuple[float | None, ...], ...]
#: Stands for every pair that is not listed, in a file.
ALL_OTHERS = "*"
_PROBABILITY, _ENDS, _ARROW, _WRITTEN = "probability", ("parent", "child"), "arrow", ("edge", "pair")
_FORMS = either(
    "a number, a mapping such as {'smoking -> pressure': 0.6, 'bmi -- pressure': 0.8}, a data frame (rows parents, "
    "columns children; or with the columns parent, child, probability), or a square array",
    "a probability, or a CSV file with the columns parent, child, probability, or a square matrix with names",
)


def read_links(given: Any) -> tuple[tuple[Link, ...] | Rows, float | None]:
    """What was said of single edges and pairs, and of every other pair, if that stands in the table too.

    >>> read_links({"smoking -> pressure": 0.6, "bmi -- pressure": 0.8})
    ((('bmi', '--', 'pressure', 0.8), ('smoking', '->', 'pressure', 0.6)), None)
    >>> read_links([[None, 0.2], [0.3, None]])
    (((None, 0.2), (0.3, None)), None)
    """
    if isinstance(given, Mapping):
        return _in_order(_of_mapping(given)), None
    if hasattr(given, "columns") or hasattr(given, "column_names"):
        links, others = _of_frame(given)
        return _in_order(links), others
    if isinstance(given, np.ndarray) or (isinstance(given, Sequence) and not isinstance(given, str)):
        listed = list(given)
        if listed and all(_is_link(entry) for entry in listed):
            return _in_order(
                (first, arrow, second, _checked(p, first, arrow, second)) for first, arrow, second, p in listed
            ), None
        return _rows(listed), None
    raise InputError(f"Prior probabilities of edges are {_FORMS}. Got {shown(given)} instead.")


def read_link_file(path: str | os.PathLike[str]) -> tuple[tuple[Link, ...] | Rows, float | None]:
    """The same from a file: a list of edges and pairs, or a square matrix with names."""
    return read_links(frame_of(path))


def _is_link(entry: Any) -> bool:
    return isinstance(entry, list | tuple) and len(entry) == 4 and all(isinstance(part, str) for part in entry[:3])


def _of_mapping(given: Mapping[Any, Any]) -> Iterable[Link]:
    for key, probability in given.items():
        if isinstance(key, str):
            first, arrow, second = read_link(key, "prior")
        elif isinstance(key, tuple) and len(key) == 2 and all(isinstance(name, str) for name in key):
            (first, second), arrow = key, EDGE
        else:
            raise InputError(
                f"{shown(key)} is not an edge. Write 'parent -> child' or (parent, child), and a pair 'A -- B'."
            )
        yield first, arrow, second, _checked(probability, first, arrow, second)


def _of_frame(given: Any) -> tuple[list[Link], float | None]:
    names, cells = named_cells(given)
    columns = {name: [_plain(cell) for cell in own] for name, own in zip(names, cells, strict=True)}
    index = getattr(given, "index", None)
    labels = None if index is None or type(index).__name__ == "RangeIndex" else [str(label) for label in index]
    if labels is None and names:
        labels = [_name(cell) for cell in columns[names[0]]]
        if set(labels) != set(names[1:]):
            labels = None
        else:
            names = names[1:]
    is_list = _PROBABILITY in columns and (set(_ENDS) <= columns.keys() or any(word in columns for word in _WRITTEN))
    if is_list and (labels is None or set(labels) != set(names)):
        return _of_list(columns)
    if labels is None:
        raise InputError(
            f"Prior probabilities of edges need the columns {', '.join(_ENDS)} and {_PROBABILITY} (or edge and "
            f"{_PROBABILITY}, with edges written 'A -> B' and pairs 'A -- B'), or a matrix: one row for every parent "
            f"with its name first, one column for every child. Got the columns {shown(list(columns))}."
        )
    return [
        (parent, EDGE, child, _checked(cell, parent, EDGE, child))
        for child in names
        for parent, cell in zip(labels, columns[child], strict=True)
        if parent != child and not _is_empty(cell)
    ], None


def _of_list(columns: Mapping[str, list[Any]]) -> tuple[list[Link], float | None]:
    links: list[Link] = []
    others: float | None = None
    word = next((word for word in _WRITTEN if word in columns), None)
    for row, probability in enumerate(columns[_PROBABILITY]):
        if set(_ENDS) <= columns.keys():
            first, second = (_name(columns[end][row]) for end in _ENDS)
            arrow = _arrow(columns[_ARROW][row], row) if _ARROW in columns else EDGE
        else:
            assert word is not None
            first, arrow, second = read_link(_name(columns[word][row]), "prior")
        if (not first and PAIR in second) or (not second and PAIR in first):
            first, arrow, second = read_link(first or second, "prior")
        if first == second == ALL_OTHERS:
            others = _checked(probability, first, PAIR, second)
            continue
        if not first or not second:
            raise InputError(
                f"Row {row + 1} of the prior probabilities has no {_ENDS[0] if not first else _ENDS[1]}. Name both "
                "columns, or leave the row out."
            )
        links.append((first, arrow, second, _checked(probability, first, arrow, second)))
    return links, others


def _arrow(cell: Any, row: int) -> str:
    if _is_empty(cell) or cell == PAIR:
        return PAIR
    if cell == EDGE:
        return EDGE
    raise InputError(
        f"Row {row + 1} of the prior probabilities has the arrow {shown(cell)}. It is {EDGE}, or {PAIR} or empty for a "
        "pair that is joined either way."
    )


def _rows(given: list[Any]) -> Rows:
    try:
        matrix = np.array([[_plain(cell) for cell in row] for row in given], dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"Prior probabilities of edges are {_FORMS}. Got {shown(given)} instead.") from None
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not len(matrix):
        raise InputError(
            "A matrix of prior probabilities has a row and a column for every column of the table, in its order. Got "
            f"shape {matrix.shape}. Give a data frame with names to leave some out."
        )
    for parent, child in np.argwhere(~np.isnan(matrix)).tolist():
        if parent != child:
            _checked(float(matrix[parent, child]), f"column {parent + 1}", EDGE, f"column {child + 1}")
    np.fill_diagonal(matrix, np.nan)
    return tuple(tuple(None if np.isnan(cell) else float(cell) for cell in row) for row in matrix)


def _in_order(links: Iterable[Link]) -> tuple[Link, ...]:
    """The links in an order of their own, so that equal priors are equal; each may be there once."""
    known: dict[tuple[str, str, str], float] = {}
    for first, arrow, second, probability in links:
        if first == second:
            raise InputError(
                f"The prior has the edge {first} {arrow} {second}: no node is its own parent. Leave it out."
            )
        backwards = arrow == PAIR and second < first
        key = (second, first, arrow) if backwards else (first, second, arrow)
        if key in known:
            raise InputError(f"The prior gives {first} {arrow} {second} more than once. Keep one.")
        known[key] = probability
    return tuple(sorted((first, arrow, second, own) for (first, second, arrow), own in known.items()))


def _checked(probability: Any, first: str, arrow: str, second: str) -> float:
    if is_finite(probability) and 0.0 < probability < 1.0:
        return float(probability)
    link = f"{first} {arrow} {second}"
    if is_finite(probability) and probability in (0, 1):
        what = "required" if probability else "forbidden"
        raise InputError(
            f"The prior probability of {link} is {probability:g}, which no data could change. For an edge that must "
            f"{'' if probability else 'not '}be there, use {bare(what)}; leave it out of the prior."
        )
    raise InputError(
        f"The prior probability of {link} is a number between 0 and 1. Got {shown(probability)} instead. Leave "
        "out what you have no opinion of."
    )


def _plain(cell: Any) -> Any:
    """A cell without NumPy or pandas about it; None where it is empty."""
    item = getattr(cell, "item", None)
    plain = item() if callable(item) else cell
    return None if _is_empty(plain) else plain


def _is_empty(cell: Any) -> bool:
    # pandas has a missing value of its own, of which nothing can be asked.
    return cell is None or type(cell).__name__ == "NAType" or (isinstance(cell, float) and math.isnan(cell))


def _name(cell: Any) -> str:
    """A name that a file may have read as a number; empty where there is none."""
    return "" if _is_empty(cell) else str(cell).strip()
