"""Files of discrete networks, written and read by pyAgrum, if it is installed: BIF, XMLBIF and DSL.

These formats hold names and levels as plain identifiers only. Others are replaced by identifiers, and a comment in the
file says what they stand for: other programs see a valid network, and reading it here gives back the names and levels
as they were. What was written is read again and compared before it takes its name.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost._tools.checks import file_path
from dagpost._tools.text import readable_level, shown
from dagpost._tools.whole_files import read_text, write_text
from dagpost.errors import InputError

#: What pyAgrum calls the formats.
_FORMATS = {".bif": ".bif", ".bifxml": ".bifxml", ".xmlbif": ".bifxml", ".xml": ".bifxml", ".dsl": ".dsl"}
#: Words with a meaning of their own in one of the formats, or that would be taken for numbers.
_RESERVED = {
    "network", "variable", "probability", "property", "type", "discrete", "default", "table",
    "net", "node", "id", "name", "header", "parents", "definition", "namestates", "probabilities", "cpt",
    "nan", "inf", "infinity",
}  # fmt: skip
#: Formats keep some digits of a probability only.
_ROUNDED = 1e-5
_COMMENT = re.compile(r"^(?://|<!--) dagpost (\[.*\])(?: -->)?$", re.MULTILINE)


class Parts(NamedTuple):
    """The fields of a `BayesianNetwork`."""

    names: tuple[str, ...]
    levels: tuple[tuple[object, ...], ...]
    parents: tuple[tuple[str, ...], ...]
    tables: tuple[Floats, ...]


def write_network(
    network: Parts, path: str | os.PathLike[str], labels_of: Callable[[Sequence[object]], list[str]] | None = None
) -> None:
    """Write a network in the format that the name of the file asks for; `labels_of` makes the labels of levels."""
    suffix = _suffix_of(path)
    levels = tuple(tuple(readable_level(level) for level in levels) for levels in network.levels)
    for name, few in zip(network.names, levels, strict=True):
        if len(few) < 2:
            raise InputError(
                f"The variable {name!r} has the level {few[0]!r} only; such files need two. Leave it out of the data."
            )
    identifiers, labels = _identifiers(network.names), [(labels_of or _labels)(each) for each in levels]
    content = _agrum_text(network, identifiers, labels, suffix)
    # Two hyphens would end a comment of XML.
    note = json.dumps(list(zip(identifiers, network.names, labels, levels, strict=True))).replace("--", "-\\u002d")
    content += f"\n<!-- dagpost {note} -->\n" if suffix == ".bifxml" else f"\n// dagpost {note}\n"
    again, given = _parts_of(content, suffix), _in_order(network._replace(levels=levels))
    same = again[:3] == given[:3] and all(
        np.allclose(first, second, rtol=0.0, atol=_ROUNDED)
        for first, second in zip(again.tables, given.tables, strict=True)
    )
    if not same:
        raise InputError(
            f"pyAgrum does not read back what it writes of this network to {suffix[1:]}. Use another format, or "
            "simpler names and levels."
        )
    write_text(path, content)


def read_network(path: str | os.PathLike[str]) -> Parts:
    """Read a network in the format that the name of the file says."""
    suffix = _suffix_of(path)
    return _parts_of(read_text(path), suffix)


def _labels(levels: Sequence[object]) -> list[str]:
    """Labels for levels that every format can hold: small whole numbers as they are, else identifiers."""
    texts = [str(level) for level in levels]
    numbers = [int(text) for text in texts if re.fullmatch("0|[1-9][0-9]{0,8}", text)]
    # XMLBIF sorts labels that are numbers.
    return texts if len(numbers) == len(texts) and numbers == sorted(numbers) else _identifiers(texts)


def agrum() -> Any:
    """PyAgrum, or an error that says how to get it."""
    try:
        with warnings.catch_warnings():
            # Its extension module warns while it is loaded, and crashes where warnings are errors.
            warnings.simplefilter("ignore")
            return import_module("pyagrum")
    except ImportError as error:
        raise InputError('Files of networks need pyAgrum: pip install "dagpost[agrum]".') from error


def _suffix_of(path: str | os.PathLike[str]) -> str:
    suffix = file_path(path).suffix.lower()
    if suffix not in _FORMATS:
        raise InputError(
            f"The name of a network file must end in one of {', '.join(_FORMATS)}. "
            f"Got {shown(os.fspath(path))} instead."
        )
    return _FORMATS[suffix]


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


def _agrum_text(network: Parts, identifiers: list[str], labels: list[list[str]], suffix: str) -> str:
    gum = agrum()
    found = gum.BayesNet("dagpost")
    for identifier, written in zip(identifiers, labels, strict=True):
        found.add(gum.LabelizedVariable(identifier, identifier, written))
    identifier_of = dict(zip(network.names, identifiers, strict=True))
    for identifier, parents, table in zip(identifiers, network.parents, network.tables, strict=True):
        for parent in parents:
            found.addArc(identifier_of[parent], identifier)
        # In pyAgrum the first parent varies fastest, after the variable itself.
        axes = [*range(len(parents))[::-1], len(parents)]
        found.cpt(identifier)[:] = np.ascontiguousarray(table.transpose(axes))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, f"network{suffix}")
        try:
            gum.saveBN(found, str(file))
        except gum.GumException as error:
            raise InputError(f"pyAgrum cannot write this network to {suffix[1:]}: {error}") from error
        return file.read_text(encoding="utf-8")


def _parts_of(content: str, suffix: str) -> Parts:
    gum = agrum()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, f"network{suffix}")
        file.write_text(content, encoding="utf-8")
        try:
            found = gum.loadBN(str(file))
        except gum.GumException as error:
            raise InputError(f"pyAgrum cannot read this {suffix[1:]} file: {error}") from error
    known = _known(content)
    identifiers = [found.variable(node).name() for node in sorted(found.nodes())]
    if set(identifiers) == set(known):
        # DSL lists parents before their children, whatever the order of the table was.
        identifiers = list(known)
    names: dict[str, str] = {}
    levels: list[tuple[object, ...]] = []
    for identifier in identifiers:
        labels = list(found.variable(identifier).labels())
        name, written, meant = known.get(identifier, (identifier, labels, labels))
        # A file that was changed by another program since is taken as it is now.
        names[identifier], as_written = (name, meant) if written == labels else (identifier, labels)
        levels.append(tuple(as_written))
    parents, tables = [], []
    for identifier in identifiers:
        cpt = found.cpt(identifier)
        parents.append(tuple(names[parent] for parent in cpt.names[1:]))
        table = np.asarray(cpt.toarray(), dtype=np.float64)
        table = np.ascontiguousarray(table.transpose([*range(table.ndim - 1)[::-1], table.ndim - 1]))
        total = table.sum(axis=-1, keepdims=True)
        if not (np.isfinite(table) & (table >= 0)).all() or not (np.abs(total - 1) < 1e-3).all():
            raise InputError(f"The probabilities of {names[identifier]!r} in this file do not sum to 1.")
        tables.append(table / total)
    return _in_order(Parts(tuple(names.values()), tuple(levels), tuple(parents), tuple(tables)))


def _in_order(network: Parts) -> Parts:
    """The same network with the parents of each variable in the order of the variables."""
    place = {name: number for number, name in enumerate(network.names)}
    parents, tables = [], []
    for of, table in zip(network.parents, network.tables, strict=True):
        order = sorted(range(len(of)), key=lambda axis: place[of[axis]])
        parents.append(tuple(of[axis] for axis in order))
        tables.append(np.ascontiguousarray(table.transpose([*order, len(of)])))
    return network._replace(parents=tuple(parents), tables=tuple(tables))


def _known(content: str) -> dict[str, tuple[str, list[str], list[object]]]:
    """By identifier: the name, the labels and the levels that our comment in a file speaks of."""
    notes = _COMMENT.findall(content)
    try:
        entries = json.loads(notes[-1]) if notes else []
        known = {str(entry[0]): (str(entry[1]), list(entry[2]), list(entry[3])) for entry in entries}
    except (ValueError, LookupError, TypeError):
        return {}
    plain = all(isinstance(level, str | bool | int | float) for _, _, levels in known.values() for level in levels)
    return known if plain else {}
