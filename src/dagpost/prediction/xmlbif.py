"""Networks as XMLBIF files (.bifxml, .xmlbif, .xml), versions 0.2 and 0.3 of the Interchange Format (F. G. Cozman).

The parser is the one of Python (expat). It reads no other file, and an entity that a file declares is refused before it
could grow; elements may lie in each other a few deep only. Time and memory are linear in the size of the file.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from xml.parsers import expat
from xml.sax.saxutils import escape

from dagpost._tools.arrays import Floats
from dagpost._tools.text import shown
from dagpost.prediction.network_text import NetworkText

#: BIF, NETWORK, DEFINITION, TABLE; properties of other programs may go a little deeper.
_DEEPEST = 16
_VARIABLE, _DEFINITION = "VARIABLE", ("DEFINITION", "PROBABILITY")
_LABELS = ("OUTCOME", "VALUE")


def read_xmlbif(text: str, network: NetworkText) -> None:
    """Read all elements of a file into `network`."""
    # The text is decoded already, so what the file says of its encoding means nothing any more.
    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = True
    reader = _Reader(parser, network)
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.letters
    parser.EntityDeclHandler = reader.entity
    try:
        parser.Parse(text.encode("utf-8"), True)
    except expat.ExpatError as error:
        network.fail(f"is not XML, or was cut short or damaged ({expat.ErrorString(error.code)}).", error.lineno)
    if not reader.root:
        network.fail("is not an XMLBIF file: it has no element BIF.")
    for name, given, numbers, line in reader.definitions:
        shape = network.add_parents(name, given, line)
        probabilities = [network.probability(number, line) for number in numbers]
        network.add_table(name, network.filled(name, probabilities, shape, line), line)


class _Reader:
    """What the parser calls: variables go to the network at once, definitions when all variables are known."""

    def __init__(self, parser: Any, network: NetworkText) -> None:
        self._parser = parser
        self._network = network
        self._path: list[str] = []
        self._text: list[str] = []
        self._fields: dict[str, list[str]] = {}
        self._line = 0
        self.root = False
        self.definitions: list[tuple[str, list[str], list[str], int]] = []

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        tag = tag.upper()
        if not self._path:
            self.root = tag == "BIF"
        self._path.append(tag)
        if len(self._path) > _DEEPEST:
            self._fail(f"elements lie more than {_DEEPEST} deep in each other.")
        self._text = []
        if tag == _VARIABLE or tag in _DEFINITION:
            self._fields, self._line = {}, self._parser.CurrentLineNumber
        kind = attributes.get("TYPE", "nature").lower()
        if tag == _VARIABLE and kind not in ("nature", "discrete"):
            self._fail(f"a variable is of the type {shown(kind)}; only those of 'nature' are read.")

    def letters(self, text: str) -> None:
        self._text.append(text)

    def end(self, tag: str) -> None:
        self._path.pop()
        inside = self._path[-1] if self._path else ""
        tag = tag.upper()
        if tag == _VARIABLE:
            labels = [label for key in _LABELS for label in self._fields.get(key, [])]
            self._network.add_variable(self._one("NAME"), labels, self._line)
        elif tag in _DEFINITION:
            name, numbers = self._one("FOR"), self._one("TABLE").split()
            self.definitions.append((name, self._fields.get("GIVEN", []), numbers, self._line))
        elif inside == _VARIABLE or inside in _DEFINITION:
            self._fields.setdefault(tag, []).append("".join(self._text).strip())
            self._text = []

    def entity(self, name: str, *_: Any) -> None:
        self._fail(f"declares the entity {shown(name)}, which files of networks do not need. Take it out.")

    def _one(self, key: str) -> str:
        found = self._fields.get(key, [])
        if len(found) != 1:
            self._network.fail(f"one element {key} should stand in this part. There are {len(found)}.", self._line)
        return found[0]

    def _fail(self, problem: str) -> None:
        self._network.fail(problem, self._parser.CurrentLineNumber)


def xmlbif_text(
    names: Sequence[str], labels: Sequence[Sequence[str]], parents: Sequence[Sequence[str]], tables: Sequence[Floats]
) -> str:
    """A network whose names and labels are identifiers, as XMLBIF."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<BIF VERSION="0.3">', "<NETWORK>", "<NAME>dagpost</NAME>"]
    for name, each in zip(names, labels, strict=True):
        lines += ['<VARIABLE TYPE="nature">', f"\t<NAME>{escape(name)}</NAME>"]
        lines += [*(f"\t<OUTCOME>{escape(label)}</OUTCOME>" for label in each), "</VARIABLE>"]
    for name, of, table in zip(names, parents, tables, strict=True):
        lines += ["<DEFINITION>", f"\t<FOR>{escape(name)}</FOR>"]
        lines += [f"\t<GIVEN>{escape(parent)}</GIVEN>" for parent in of]
        rows = table.reshape(-1, table.shape[-1]).tolist()
        lines += ["\t<TABLE>", *(f"\t\t{' '.join(map(repr, row))}" for row in rows), "\t</TABLE>", "</DEFINITION>"]
    return "\n".join([*lines, "</NETWORK>", "</BIF>", ""])
