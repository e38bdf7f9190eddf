"""Networks as BIF files (.bif), the text that bnlearn, pyAgrum, pgmpy and the repositories of networks have.

    network NAME { }
    variable NAME { type discrete [ 2 ] { yes, no }; }
    probability ( NAME ) { table 0.2, 0.8; }
    probability ( NAME | PARENT, ... ) { (yes) 0.1, 0.9; default 0.5, 0.5; }

The Interchange Format for Bayesian Networks, version 0.15 (F. G. Cozman): commas and bars separate words and mean
nothing else, properties are passed over, and in a `table` of several variables the first one changes slowest. Time and
memory are linear in the size of the file and of the tables.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost._tools.text import shown
from dagpost.prediction.network_text import NetworkText, Words


def read_bif(text: str, network: NetworkText) -> None:
    """Read all blocks of a file into `network`."""
    words = Words(text, network, signs="[]{}();", skipped=",|")
    blocks = {"variable": _variable, "probability": _probability}
    while not words.ended:
        kind = words.current
        if words.is_sign("network"):
            _pass_network(words)
            continue
        if not words.plain or kind not in blocks:
            words.fail(f"a block 'network', 'variable' or 'probability' should begin here, not {shown(kind)}.")
        words.advance()
        blocks[kind](words, network)


def _pass_network(words: Words) -> None:
    for _ in words.until("{"):
        pass
    while not words.is_sign("}"):
        for _ in words.until(";"):
            pass
    words.advance()


def _variable(words: Words, network: NetworkText) -> None:
    line, name = words.line, words.name()
    labels: list[str] | None = None
    words.expect("{")
    while not words.is_sign("}"):
        if not words.is_sign("type"):
            _pass_property(words)
            continue
        words.expect("type", "discrete", "[")
        count = words.take()
        words.expect("]", "{")
        labels = [words.name() for _ in iter(lambda: words.is_sign("}"), True)]
        words.expect("}", ";")
        if count != str(len(labels)):
            words.fail(f"{shown(name)} should have {shown(count)} levels, and {len(labels)} are listed.")
    words.advance()
    network.add_variable(name, labels or [], line)


def _probability(words: Words, network: NetworkText) -> None:
    line = words.line
    words.expect("(")
    name = words.name()
    parents = list(words.until(")"))
    shape = network.add_parents(name, parents, line)
    table = np.full(shape, math.nan)
    default = np.full(shape[-1], math.nan)
    words.expect("{")
    while not words.is_sign("}"):
        if words.is_sign("table"):
            words.advance()
            # The variable itself comes first and changes slowest.
            flat = network.filled(name, _numbers(words, network), (shape[-1], *shape[:-1]), line)
            table = np.moveaxis(flat, 0, -1)
        elif words.is_sign("default"):
            words.advance()
            default = network.filled(name, _numbers(words, network), shape[-1:], line)
        elif words.is_sign("("):
            row, place = words.line, _configuration(words, network, parents)
            if not np.isnan(table[place]).any():
                words.fail(f"these probabilities of {shown(name)} come a second time.")
            table[place] = network.filled(name, _numbers(words, network), shape[-1:], row)
        else:
            _pass_property(words)
    words.advance()
    network.add_table(name, np.where(np.isnan(table), default, table), line)


def _configuration(words: Words, network: NetworkText, parents: Sequence[str]) -> tuple[int, ...]:
    words.expect("(")
    labels = list(words.until(")"))
    if len(labels) != len(parents):
        words.fail(f"here should be the levels of {len(parents)} parents, and {len(labels)} are listed.")
    for parent, label in zip(parents, labels, strict=True):
        if label not in network.labels[parent]:
            words.fail(f"{shown(parent)} has no level {shown(label)}.")
    return tuple(network.labels[parent].index(label) for parent, label in zip(parents, labels, strict=True))


def _numbers(words: Words, network: NetworkText) -> list[float]:
    return [network.probability(word, words.line) for word in words.until(";")]


def _pass_property(words: Words) -> None:
    if not words.is_sign("property"):
        words.fail(f"{shown(words.current)} is not known here.")
    for _ in words.until(";"):
        pass


def bif_text(
    names: Sequence[str], labels: Sequence[Sequence[str]], parents: Sequence[Sequence[str]], tables: Sequence[Floats]
) -> str:
    """A network whose names and labels are identifiers, as BIF."""
    labels_of = dict(zip(names, labels, strict=True))
    lines = ["network dagpost {", "}"]
    for name, each in labels_of.items():
        lines += [f"variable {name} {{", f"  type discrete [ {len(each)} ] {{ {', '.join(each)} }};", "}"]
    for name, of, table in zip(names, parents, tables, strict=True):
        given = f" | {', '.join(of)}" if of else ""
        lines.append(f"probability ( {name}{given} ) {{")
        rows = table.reshape(-1, table.shape[-1]).tolist()
        for levels, row in zip(product(*(labels_of[parent] for parent in of)), rows, strict=True):
            begin = f"({', '.join(levels)})" if of else "table"
            lines.append(f"  {begin} {', '.join(map(repr, row))};")
        lines.append("}")
    return "\n".join(lines) + "\n"
