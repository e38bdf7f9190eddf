"""Files of discrete networks, written and read: what they say about names, levels and columns beyond BIF (bif.py).

The format holds names and levels as plain identifiers only. Others are replaced by identifiers, and a comment in the
file says what they stand for: other programs see a valid network, and reading it here gives back the names and levels
as they were, and probabilities to the last digit.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from dagpost._tools import memory
from dagpost._tools.checks import file_path
from dagpost._tools.text import readable_level, shown
from dagpost._tools.whole_files import read_text, write_text
from dagpost.errors import InputError
from dagpost.prediction.bif import BifReader, bif_text

if TYPE_CHECKING:
    from dagpost.prediction.network import BayesianNetwork

_Kind = TypeVar("_Kind", bound="BayesianNetwork")

#: Words with a meaning of their own in the format, or that would be taken for numbers.
_RESERVED = {
    "network", "variable", "probability", "property", "type", "discrete", "default", "table",
    "nan", "inf", "infinity",
}  # fmt: skip
#: What marks a column in our comment that is not modelled.
_EXOGENOUS = "exogenous"
#: Memory for every byte of a file.
_BYTES_A_BYTE = 20
#: By identifier: name, levels, and whether exogenous.
_Variables = dict[str, tuple[str, tuple[object, ...], bool]]
_COMMENT = re.compile(r"^// dagpost (\[.*\])$", re.MULTILINE)


def write_network(network: BayesianNetwork, path: str | os.PathLike[str]) -> None:
    """Write a network to a file whose name ends in .bif."""
    _check_ending(path)
    levels = tuple(tuple(readable_level(level) for level in levels) for levels in network.levels)
    for name, few in zip(network.names, levels, strict=True):
        if len(few) < 2:
            raise InputError(
                f"The variable {name!r} has the level {few[0]!r} only; such files need two. Leave it out of the data."
            )
    identifiers, labels = _identifiers(network.names), [_labels(each) for each in levels]
    identifier_of = dict(zip(network.names, identifiers, strict=True))
    parents = [[identifier_of[parent] for parent in of] for of in network.parents]
    content = bif_text(identifiers, labels, parents, network.tables)
    entries = [
        [*entry, _EXOGENOUS] if entry[1] in network.exogenous else entry
        for entry in zip(identifiers, network.names, labels, levels, strict=True)
    ]
    if network.exogenous:
        listed = ", ".join(identifier_of[name] for name in network.exogenous)
        content += f"\n// Not modelled, but given: {listed}. Their probabilities are how often each level occurs.\n"
    write_text(path, f"{content}\n// dagpost {json.dumps(entries)}\n")


def read_network(path: str | os.PathLike[str], kind: type[_Kind]) -> _Kind:
    """Read a network of this class from a file whose name ends in .bif."""
    _check_ending(path)
    size = os.path.getsize(path) if os.path.isfile(path) else 0
    memory.require(_BYTES_A_BYTE * size, f"Reading {os.fspath(path)!r}", "Use a smaller network.")
    # Editors on Windows begin a file with a mark that is not part of it.
    content = read_text(path).removeprefix("\ufeff")
    file = BifReader(content, os.fspath(path))
    file.read()
    described = _described(content, file.labels)
    place = {each: number for number, each in enumerate(described)}
    parents, tables = [], []
    for each in described:
        of, table = file.parents[each], file.tables[each]
        order = sorted(range(len(of)), key=lambda axis: place[of[axis]])
        parents.append(tuple(described[of[axis]][0] for axis in order))
        tables.append(np.ascontiguousarray(table.transpose([*order, len(of)])))
    names, levels, marks = zip(*described.values(), strict=True)
    exogenous = tuple(name for name, mark, of in zip(names, marks, parents, strict=True) if mark and not of)
    try:
        return kind(names, levels, tuple(parents), tuple(tables), exogenous)
    except InputError as error:
        raise InputError(f"{os.fspath(path)!r}: {error.marked}") from None


def _labels(levels: Sequence[object]) -> list[str]:
    """Labels for levels that the format can hold: small whole numbers as they are, else identifiers."""
    texts = [str(level) for level in levels]
    return texts if all(re.fullmatch("0|[1-9][0-9]{0,8}", text) for text in texts) else _identifiers(texts)


def _check_ending(path: str | os.PathLike[str]) -> None:
    if file_path(path).suffix.lower() != ".bif":
        raise InputError(f"The name of a network file must end in .bif, unlike {shown(os.fspath(path))}.")


def _identifiers(texts: Sequence[str]) -> list[str]:
    """Different identifiers that look like the texts.

    >>> _identifiers(["M. Work", "M Work", "2nd", "table"])
    ['M_Work', 'M_Work_2', '_2nd', 'table_']
    """
    result: list[str] = []
    for text in texts:
        plain = re.sub(r"[^0-9A-Za-z]+", "_", text) if not re.fullmatch(r"\w+", text, re.ASCII) else text
        plain = f"_{plain}" if not plain or plain[0].isdigit() else plain
        plain = f"{plain}_" if plain.lower() in _RESERVED else plain
        number, chosen = 2, plain
        while chosen in result:
            number, chosen = number + 1, f"{plain}_{number}"
        result.append(chosen)
    return result


def _described(content: str, file_labels: Mapping[str, tuple[str, ...]]) -> _Variables:
    """What our comment in a file says of the variables, where it fits the file."""
    plain: _Variables = {identifier: (identifier, labels, False) for identifier, labels in file_labels.items()}
    notes = _COMMENT.findall(content)
    try:
        known: _Variables = {
            str(identifier): (str(name), tuple(levels), _EXOGENOUS in marks)
            for identifier, name, labels, levels, *marks in (json.loads(notes[-1]) if notes else [])
            # A variable that was changed by another program since is taken as it is now.
            if file_labels.get(identifier) == tuple(labels) and len({*levels}) == len(labels) == len(levels)
            if all(_is_level(level) for level in levels)
        }
    except (ValueError, TypeError, RecursionError):
        return plain
    # Other programs may have written the variables in another order.
    described = known if known.keys() == plain.keys() else plain | known
    return described if len({name for name, _, _ in described.values()}) == len(described) else plain


def _is_level(level: object) -> bool:
    return isinstance(level, str | bool | int) or (isinstance(level, float) and math.isfinite(level))
