"""Networks as DSL files (.dsl), the text of GeNIe and SMILE, of which nodes with tables (`TYPE = CPT`) are read.

    net NAME
    {
      node NAME
      {
        TYPE = CPT;
        PARENTS = (A, B);
        DEFINITION = { NAMESTATES = (yes, no); PROBABILITIES = (0.1, 0.9, ...); };
      };
    };

In the probabilities the first parent changes slowest and the variable itself fastest. Everything else that GeNIe
writes, such as colours and places on the screen, is passed over. Time and memory are linear in the size of the file.
"""

from __future__ import annotations

from collections.abc import Sequence
from graphlib import TopologicalSorter
from typing import NamedTuple

from dagpost._tools.arrays import Floats
from dagpost._tools.text import shown
from dagpost.prediction.network_text import NetworkText, Words

#: GeNIe goes down four levels.
_DEEPEST = 32


class _Node(NamedTuple):
    """What a file says of a variable; the probabilities are text as long as not all variables are known."""

    name: str
    line: int
    parents: list[str]
    labels: list[str]
    numbers: list[str]


def read_dsl(text: str, network: NetworkText) -> None:
    """Read all nodes of a file into `network`."""
    words = Words(text, network, signs="{}()=;", skipped=",")
    words.expect("net")
    words.name()
    words.expect("{")
    nodes = []
    while not words.is_sign("}"):
        if words.is_sign("node"):
            nodes.append(_node(words))
        else:
            words.name()
            words.expect("=")
            _pass_value(words)
            words.expect(";")
    words.expect("}")
    if words.is_sign(";"):
        words.advance()
    if not words.ended:
        words.fail(f"nothing should follow after the network, but there is {shown(words.current)}.")
    for node in nodes:
        network.add_variable(node.name, node.labels, node.line)
    for node in nodes:
        shape = network.add_parents(node.name, node.parents, node.line)
        numbers = [network.probability(number, node.line) for number in node.numbers]
        network.add_table(node.name, network.filled(node.name, numbers, shape, node.line), node.line)


def _node(words: Words) -> _Node:
    line = words.line
    words.expect("node")
    found = _Node(words.name(), line, [], [], [])
    lists = {"PARENTS": found.parents, "NAMESTATES": found.labels, "PROBABILITIES": found.numbers}
    words.expect("{")
    inside = False
    while not (words.is_sign("}") and not inside):
        if words.is_sign("}"):
            inside = False
            words.expect("}", ";")
            continue
        key = words.name()
        words.expect("=")
        if key == "DEFINITION" and not inside:
            words.expect("{")
            inside = True
            continue
        if key in lists and inside == (key != "PARENTS"):
            if lists[key]:
                words.fail(f"{key} of {shown(found.name)} comes a second time.")
            words.expect("(")
            lists[key].extend(words.until(")"))
        elif key == "TYPE" and not inside:
            if words.take() != "CPT":
                words.fail(f"{shown(found.name)} has no table of probabilities (TYPE = CPT); others are not read.")
        else:
            _pass_value(words)
        words.expect(";")
    words.expect("}", ";")
    return found


def _pass_value(words: Words) -> None:
    """Pass a word, a list in parentheses, or a block with blocks in it."""
    depth = 0
    while True:
        word, plain = words.current, words.plain
        if plain and word == ";" and depth == 0:
            return
        words.take()
        depth += (plain and word in "{(") - (plain and word in "})")
        if depth > _DEEPEST:
            words.fail(f"blocks lie more than {_DEEPEST} deep in each other.")
        if depth < 0:
            words.fail(f"{shown(word)} closes nothing.")


def dsl_text(
    names: Sequence[str], labels: Sequence[Sequence[str]], parents: Sequence[Sequence[str]], tables: Sequence[Floats]
) -> str:
    """A network whose names and labels are identifiers, as DSL."""
    lines = ["net dagpost", "{"]
    about = dict(zip(names, zip(labels, parents, tables, strict=True), strict=True))
    # Other programs look parents up where they read of them, so these come first.
    for name in TopologicalSorter(dict(zip(names, parents, strict=True))).static_order():
        each, of, table = about[name]
        lines += [
            f"\tnode {name}",
            "\t{",
            "\t\tTYPE = CPT;",
            f'\t\tHEADER =\n\t\t{{\n\t\t\tID = {name};\n\t\t\tNAME = "{name}";\n\t\t}};',
            f"\t\tPARENTS = ({', '.join(of)});",
            "\t\tDEFINITION =",
            "\t\t{",
            f"\t\t\tNAMESTATES = ({', '.join(each)});",
            f"\t\t\tPROBABILITIES = ({', '.join(map(repr, table.ravel().tolist()))});",
            "\t\t};",
            "\t};",
            "",
        ]
    return "\n".join([*lines, "};", ""])
