"""Networks as BIF files (.bif), the text that bnlearn, pyAgrum, pgmpy and the repositories of networks have.

    network NAME { }
    variable NAME { type discrete [ 2 ] { yes, no }; }
    probability ( NAME ) { table 0.2, 0.8; }
    probability ( NAME | PARENT, ... ) { (yes) 0.1, 0.9; default 0.5, 0.5; }

The Interchange Format for Bayesian Networks, version 0.15 (F. G. Cozman): commas and bars separate words and mean
nothing else, properties are passed over, and in a `table` of several variables the first one changes slowest. Time and
memory are linear in the size of the file and of the tables.

Nothing of a file is believed before it is checked: names and labels are given once, a probability is a number from 0 to
1, those of a distribution sum to 1, a table has as many as the levels of its variables ask for, and its size is known
before memory is taken for it. Every error names the file and the line.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from itertools import product

import numpy as np

from dagpost._tools import memory
from dagpost._tools.arrays import Floats
from dagpost._tools.text import nearest, shown
from dagpost.prediction.bif_words import Words

#: NumPy has 64 axes at most, in older versions 32; one is the variable's own.
_MOST_PARENTS = 31
#: How far from 1 the probabilities of a distribution may sum, because a file holds some digits of each only.
_TOLERANCE = 1e-3
#: Closer than this they are taken as they are, so that what we wrote comes back to the last digit.
_EXACT = 1e-9
_NUMBER = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_FEW_CELLS = 100_000
_BYTES_A_CELL = 40


class BifReader:
    """A file, and by variable what has been read of it: labels of levels, parents, tables with the parents first."""

    def __init__(self, text: str, source: str) -> None:
        self._source = source
        self._words = Words(text, source)
        self.labels: dict[str, tuple[str, ...]] = {}
        self.parents: dict[str, tuple[str, ...]] = {}
        self.tables: dict[str, Floats] = {}

    def read(self) -> None:
        """Read all blocks."""
        words = self._words
        blocks = {"network": self._pass_network, "variable": self._variable, "probability": self._probability}
        while not words.ended:
            if not words.plain or words.current not in blocks:
                words.fail(
                    f"a block 'network', 'variable' or 'probability' should begin here, not {shown(words.current)}."
                )
            blocks[words.take()]()
        if not self.labels:
            words.fail("there is no variable in it. Is it a network, in the format that its name says?")
        missing = [name for name in self.labels if name not in self.tables]
        if missing:
            words.fail(f"there are no probabilities of {shown(missing[0])}. Was the file cut short?")

    def _pass_network(self) -> None:
        for _ in self._words.until("{"):
            pass
        while not self._words.is_sign("}"):
            self._pass_statement()
        self._words.advance()

    def _pass_statement(self) -> None:
        for _ in self._words.until(";"):
            pass

    def _pass_property(self) -> None:
        if not self._words.is_sign("property"):
            self._words.fail(f"{shown(self._words.current)} is not known here.")
        self._pass_statement()

    def _variable(self) -> None:
        words = self._words
        line, name = words.line, words.name()
        labels: list[str] = []
        words.expect("{")
        while not words.is_sign("}"):
            if not words.is_sign("type"):
                self._pass_property()
                continue
            words.expect("type", "discrete", "[")
            count = words.take()
            words.expect("]", "{")
            labels = [words.name() for _ in iter(lambda: words.is_sign("}"), True)]
            words.expect("}", ";")
            if count != str(len(labels)):
                words.fail(f"{shown(name)} should have {shown(count)} levels, and {len(labels)} are listed.")
        words.advance()
        if not name:
            words.fail("a variable has no name.", line)
        if name in self.labels:
            words.fail(f"the variable {shown(name)} comes a second time.", line)
        if not labels:
            words.fail(f"the variable {shown(name)} has no levels.", line)
        if twice := [label for label, times in Counter(labels).items() if times > 1]:
            words.fail(f"the variable {shown(name)} has the level {shown(twice[0])} twice.", line)
        self.labels[name] = tuple(labels)

    def _probability(self) -> None:
        words, line = self._words, self._words.line
        words.expect("(")
        name = words.name()
        parents = list(words.until(")"))
        shape = self._shape(name, parents, line)
        table = np.full(shape, math.nan)
        default = np.full(shape[-1], math.nan)
        words.expect("{")
        while not words.is_sign("}"):
            if words.is_sign("table"):
                words.advance()
                # The variable itself comes first and changes slowest.
                table = np.moveaxis(self._numbers(name, (shape[-1], *shape[:-1]), line), 0, -1)
            elif words.is_sign("default"):
                words.advance()
                default = self._numbers(name, shape[-1:], line)
            elif words.is_sign("("):
                row, place = words.line, self._configuration(parents)
                if not np.isnan(table[place]).any():
                    words.fail(f"these probabilities of {shown(name)} come a second time.")
                table[place] = self._numbers(name, shape[-1:], row)
            else:
                self._pass_property()
        words.advance()
        table = np.where(np.isnan(table), default, table)
        total = table.sum(axis=-1, keepdims=True)
        # In this way round because of numbers that are not there, which are nan.
        if not (np.abs(total - 1) < _TOLERANCE).all():
            wrong = float(total[~(np.abs(total - 1) < _TOLERANCE)][0])
            what = "some are missing" if math.isnan(wrong) else f"they sum to {wrong:.6g}"
            words.fail(f"the probabilities of {shown(name)} do not sum to 1: {what}. Correct them.", line)
        self.parents[name] = tuple(parents)
        self.tables[name] = np.where(np.abs(total - 1) < _EXACT, table, table / total)

    def _shape(self, name: str, parents: Sequence[str], line: int) -> tuple[int, ...]:
        """The shape of a table, the levels of the variable itself last."""
        words = self._words
        for each in (name, *parents):
            if each not in self.labels:
                hint = nearest(each, list(self.labels))
                words.fail(f"there are probabilities of or given {shown(each)}, which is not a variable.{hint}", line)
        if name in self.tables:
            words.fail(f"the probabilities of {shown(name)} come a second time.", line)
        if len({name, *parents}) <= len(parents):
            words.fail(f"a variable comes twice among {shown(name)} and what it is given.", line)
        if len(parents) > _MOST_PARENTS:
            words.fail(f"{shown(name)} has {len(parents)} parents; at most {_MOST_PARENTS} are possible.", line)
        shape = tuple(len(self.labels[each]) for each in (*parents, name))
        # A few words can ask for any number of cells.
        if math.prod(shape) > _FEW_CELLS:
            what = f"{self._source!r}: the table of {shown(name)}"
            memory.require(_BYTES_A_CELL * math.prod(shape), what, "Use a smaller network.")
        return shape

    def _configuration(self, parents: Sequence[str]) -> tuple[int, ...]:
        words = self._words
        words.expect("(")
        labels = list(words.until(")"))
        if len(labels) != len(parents):
            words.fail(f"here should be the levels of {len(parents)} parents, and {len(labels)} are listed.")
        for parent, label in zip(parents, labels, strict=True):
            if label not in self.labels[parent]:
                words.fail(f"{shown(parent)} has no level {shown(label)}.")
        return tuple(self.labels[parent].index(label) for parent, label in zip(parents, labels, strict=True))

    def _numbers(self, name: str, shape: Sequence[int], line: int) -> Floats:
        """The probabilities up to the end of a statement."""
        numbers = []
        for word in self._words.until(";"):
            value = float(word) if _NUMBER.fullmatch(word) else math.nan
            if not 0.0 <= value <= 1.0 + _TOLERANCE:
                self._words.fail(f"{shown(word)} is not a probability, a number from 0 to 1.")
            numbers.append(value)
        if len(numbers) != math.prod(shape):
            self._words.fail(
                f"{shown(name)} needs {math.prod(shape)} probabilities, as many as its levels and those of what "
                f"it is given ask for. There are {len(numbers)}.",
                line,
            )
        return np.array(numbers, dtype=np.float64).reshape(shape)


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
