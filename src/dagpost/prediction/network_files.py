"""Files of discrete networks: BIF (bif.py) and DSL (dsl.py), written and read.

These formats hold names and levels as plain identifiers only. Others are replaced by identifiers, and a comment in the
file says what they stand for: other programs see a valid network, and reading it here gives back the names and levels
as they were, and probabilities to the last digit.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from dagpost._tools import memory
from dagpost._tools.arrays import Floats
from dagpost._tools.checks import file_path
from dagpost._tools.text import readable_level, shown
from dagpost._tools.whole_files import read_text, write_text
from dagpost.errors import InputError
from dagpost.prediction.bif import bif_text, read_bif
from dagpost.prediction.dsl import dsl_text, read_dsl
from dagpost.prediction.network_text import NetworkText

#: Words with a meaning of their own in one of the formats, or that would be taken for numbers.
_RESERVED = {
    "network", "variable", "probability", "property", "type", "discrete", "default", "table",
    "net", "node", "id", "name", "header", "parents", "definition", "namestates", "probabilities", "cpt",
    "nan", "inf", "infinity",
}  # fmt: skip
#: By the endings of names.
_READERS: dict[str, Callable[[str, NetworkText], None]] = {".bif": read_bif, ".dsl": read_dsl}
_WRITERS: dict[str, Callable[..., str]] = {".bif": bif_text, ".dsl": dsl_text}
#: What marks a column in our comment that is not modelled.
_EXOGENOUS = "exogenous"
#: Memory for every byte of a file.
_BYTES_A_BYTE = 20
_COMMENT = re.compile(r"^// dagpost (\[.*\])$", re.MULTILINE)


class Parts(NamedTuple):
    """The fields of a `BayesianNetwork`."""

    names: tuple[str, ...]
    levels: tuple[tuple[object, ...], ...]
    parents: tuple[tuple[str, ...], ...]
    tables: tuple[Floats, ...]
    exogenous: tuple[str, ...] = ()


def write_network(network: Parts, path: str | os.PathLike[str]) -> None:
    """Write a network in the format that the name of the file asks for."""
    suffix = _suffix_of(path)
    levels = tuple(tuple(readable_level(level) for level in levels) for levels in network.levels)
    for name, few in zip(network.names, levels, strict=True):
        if len(few) < 2:
            raise InputError(
                f"The variable {name!r} has the level {few[0]!r} only; such files need two. Leave it out of the data."
            )
    identifiers, labels = _identifiers(network.names), [_labels(each) for each in levels]
    identifier_of = dict(zip(network.names, identifiers, strict=True))
    parents = [[identifier_of[parent] for parent in of] for of in network.parents]
    content = _WRITERS[suffix](identifiers, labels, parents, network.tables)
    entries = [
        [*entry, _EXOGENOUS] if entry[1] in network.exogenous else entry
        for entry in zip(identifiers, network.names, labels, levels, strict=True)
    ]
    for note in filter(None, (_about_exogenous(network, identifier_of), f"dagpost {json.dumps(entries)}")):
        content += f"\n// {note}\n"
    write_text(path, content)


def read_network(path: str | os.PathLike[str]) -> Parts:
    """Read a network in the format that the name of the file says."""
    suffix = _suffix_of(path)
    size = os.path.getsize(path) if os.path.isfile(path) else 0
    memory.require(_BYTES_A_BYTE * size, f"Reading {os.fspath(path)!r}", "Use a smaller network.")
    # Editors on Windows begin a file with a mark that is not part of it.
    content = read_text(path).removeprefix("\ufeff")
    network = NetworkText(os.fspath(path))
    _READERS[suffix](content, network)
    network.check_complete()
    identifiers = list(network.labels)
    known = _known(content, network)
    if set(identifiers) == set(known):
        # Other programs may have written the variables in another order.
        identifiers = list(known)
    # A variable that was changed by another program since is taken as it is now.
    names = {each: known[each][0] if each in known else each for each in identifiers}
    levels = tuple(known[each][1] if each in known else network.labels[each] for each in identifiers)
    if len({*names.values()}) < len(names):
        names, levels = {each: each for each in identifiers}, tuple(network.labels[each] for each in identifiers)
    parents = tuple(tuple(names[parent] for parent in network.parents[each]) for each in identifiers)
    tables = tuple(network.tables[each] for each in identifiers)
    exogenous = tuple(
        names[each] for each in identifiers if each in known and known[each][2] and not network.parents[each]
    )
    return _in_order(Parts(tuple(names.values()), levels, parents, tables, exogenous))


def _about_exogenous(network: Parts, identifier_of: Mapping[str, str]) -> str:
    """What readers of a file should know of columns that are not modelled; empty where there are none."""
    if not network.exogenous:
        return ""
    listed = ", ".join(identifier_of[name] for name in network.exogenous)
    return f"Not modelled, but given: {listed}. Their probabilities are how often each level occurs."


def _labels(levels: Sequence[object]) -> list[str]:
    """Labels for levels that both formats can hold: small whole numbers as they are, else identifiers."""
    texts = [str(level) for level in levels]
    return texts if all(re.fullmatch("0|[1-9][0-9]{0,8}", text) for text in texts) else _identifiers(texts)


def _suffix_of(path: str | os.PathLike[str]) -> str:
    suffix = file_path(path).suffix.lower()
    if suffix not in _READERS:
        raise InputError(
            f"The name of a network file must end in one of {', '.join(_READERS)}. "
            f"Got {shown(os.fspath(path))} instead."
        )
    return suffix


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


def _in_order(network: Parts) -> Parts:
    """The same network with the parents of each variable in the order of the variables."""
    place = {name: number for number, name in enumerate(network.names)}
    parents, tables = [], []
    for of, table in zip(network.parents, network.tables, strict=True):
        order = sorted(range(len(of)), key=lambda axis: place[of[axis]])
        parents.append(tuple(of[axis] for axis in order))
        tables.append(np.ascontiguousarray(table.transpose([*order, len(of)])))
    return network._replace(parents=tuple(parents), tables=tuple(tables))


def _known(content: str, network: NetworkText) -> dict[str, tuple[str, tuple[object, ...], bool]]:
    """By identifier: name, levels and whether exogenous, as our comment in a file says, where it fits the file."""
    notes = _COMMENT.findall(content)
    try:
        entries = json.loads(notes[-1]) if notes else []
        listed = [
            (str(entry[0]), str(entry[1]), tuple(entry[2]), tuple(entry[3]), _EXOGENOUS in entry[4:])
            for entry in entries
        ]
        plain = all(_is_level(level) for _, _, _, levels, _ in listed for level in levels)
    except (ValueError, LookupError, TypeError, RecursionError):
        return {}
    return {
        identifier: (name, levels, exogenous)
        for identifier, name, labels, levels, exogenous in listed
        if plain and network.labels.get(identifier) == labels and len({*levels}) == len(labels) == len(levels)
    }


def _is_level(level: object) -> bool:
    return isinstance(level, str | bool | int) or (isinstance(level, float) and math.isfinite(level))
