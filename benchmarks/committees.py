"""What would several scores together say? From answers that were kept: no table is fitted again.

    python -m benchmarks.worlds --world linear-* --score bge --prior edge:average --json bge.json
    python -m benchmarks.worlds --world linear-* --score bdeu --bins 4 --prior edge:average --json cut.json
    python -m benchmarks.committees bge.json cut.json --mean bge=1 bdeu=rows/(rows+3000) --mean bge bdeu

Scores are named by how their names begin. Every `--mean` is a committee: the probabilities of pairs and of compelled
directions are averaged with these weights, which may depend on the rows of a table. All scores and committees are
measured on the tables that all of them have. `--rows` and `--world` take some of the tables.
"""

from __future__ import annotations

import argparse
import ast
import json
import operator
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from benchmarks import worlds
from benchmarks.world_measures import Answer, figures_of
from benchmarks.world_networks import Truth

#: What decides a table, beside what the figures name.
SAME = "seeds", "seed", "columns"
_STEPS: dict[type, Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.GtE: operator.ge,
    ast.Lt: operator.lt,
}

Record = Mapping[str, Any]


class Member(NamedTuple):
    """A score of a committee, and its weight as it was written."""

    score: str
    weight: str


def weight_of(text: str, rows: int) -> float:
    """A weight at a number of rows.

    >>> weight_of("rows / (rows + 3000)", 1_000), weight_of("rows >= 3000", 1_000)
    (0.25, 0.0)
    """

    def value(node: ast.AST) -> float:
        match node:
            case ast.Constant(int() | float() as number):
                return float(number)
            case ast.Name("rows"):
                return float(rows)
            case ast.BinOp(left, step, right) | ast.Compare(left, [step], [right]) if type(step) in _STEPS:
                return float(_STEPS[type(step)](value(left), value(right)))
        sys.exit(f"'{text}' is not a weight; write numbers, 'rows', + - * / >= < and brackets.")

    try:
        return value(ast.parse(text, mode="eval").body)
    except SyntaxError:
        sys.exit(f"'{text}' is not a weight; write it like 1 or rows/(rows+3000).")


def read(files: Iterable[Path]) -> list[Record]:
    """All tables that were taken; refuses files whose tables are not the same."""
    found: list[Record] = []
    first: dict[str, Any] | None = None
    for file in files:
        written = json.loads(file.read_text())
        same = {name: written["options"][name] for name in SAME}
        first = first or same
        if same != first:
            sys.exit(f"{file} has other tables: {same}; the first file has {first}.")
        found += [own for own in written["tables"] if "refused" not in own]
    return found


def named(text: str, scores: Iterable[str]) -> str:
    """The one score whose name begins so."""
    fitting = [score for score in scores if score.startswith(text)]
    if text in fitting or len(fitting) == 1:
        return text if text in fitting else fitting[0]
    sys.exit(f"'{text}' is the beginning of {len(fitting)} scores; there are {', '.join(scores)}.")


def averaged(members: Mapping[Member, Record], name: str) -> dict[str, Any]:
    """A committee's record of a table, from those of its members."""
    first = next(iter(members.values()))
    weights = np.array([weight_of(member.weight, first["rows"]) for member in members])
    answers = [[own["answer"][part] for own in members.values()] for part in Answer._fields]
    mean = Answer(*(np.average(each, axis=0, weights=weights) for each in answers))
    truth = Truth(*(np.array(first["truth"][part], dtype=np.bool_) for part in Truth._fields))
    about = {part: first[part] for part in ("world", "rows", "number", "prior", "columns")}
    seconds = sum(own["cpu_seconds"] for own in members.values())
    return {**about, "score": name, **figures_of(truth, mean), "cpu_seconds": seconds}


def compared(found: Iterable[Record], scores: list[str], committees: list[list[str]]) -> list[Record]:
    """Scores (all, if none is named) and committees, on the tables that all of them have."""
    tables: dict[tuple[Any, ...], dict[str, Record]] = {}
    for own in found:
        tables.setdefault((own["world"], own["rows"], own["number"], own["prior"]), {})[own["score"]] = own
    there = list(dict.fromkeys(score for own in tables.values() for score in own))
    wanted = [named(text, there) for text in scores] or there
    means = {}
    for texts in committees:
        parts = [(*text.split("=", 1), "1")[:2] for text in texts]
        means["mean of " + " + ".join(texts)] = [Member(named(text, there), weight) for text, weight in parts]
    needed = {*wanted, *(member.score for members in means.values() for member in members)}
    kept = [own for own in tables.values() if needed <= set(own)]
    result = [own[score] for score in wanted for own in kept]
    for name, members in means.items():
        result += [averaged({member: own[member.score] for member in members}, name) for own in kept]
    return result


def tried(folder: Path) -> list[Path]:
    """Two small files, for `--quick`."""
    for name, setting in {"bge": "--score bge", "cut": "--score bdeu --bins 4"}.items():
        sys.argv = f"worlds --world linear-sparse --rows 150 --tables 2 {setting} --json {folder}/{name}.json".split()
        worlds.main()
    return sorted(folder.iterdir())


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.committees", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("files", nargs="*", type=Path, help="what benchmarks.worlds --json wrote")
    parser.add_argument("--score", nargs="+", default=[], help="only these; all, if none is named")
    parser.add_argument("--mean", nargs="+", action="append", default=[], metavar="SCORE=WEIGHT")
    parser.add_argument("--world", nargs="+", default=["*"])
    parser.add_argument("--rows", nargs="+", type=int)
    parser.add_argument("--quick", action="store_true", help="make two small files first, and compare these")
    options = parser.parse_args()
    if options.quick:
        with tempfile.TemporaryDirectory() as folder:
            found, options.mean = read(tried(Path(folder))), [["bge", "bdeu=rows/(rows+3000)"]]
    else:
        found = read(options.files)
    found = [
        own
        for own in found
        if any(fnmatchcase(own["world"], pattern) for pattern in options.world)
        and (options.rows is None or own["rows"] in options.rows)
    ]
    kept = compared(found, options.score, options.mean)
    print(worlds.show_structure(kept, brief=True) if kept else "No table was taken by all of them.")


if __name__ == "__main__":
    main()
