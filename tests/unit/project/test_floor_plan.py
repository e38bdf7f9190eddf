"""The floor plan holds: docs/design.md draws the tree as it is, files stay short, and a method is known in one file."""

from __future__ import annotations

import ast
import itertools
import re
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[3]
PACKAGE = PROJECT / "src" / "dagpost"
MODULES = sorted(PACKAGE.rglob("*.py"))

#: What Python leaves in a checkout.
_MADE = "__pycache__"
#: Tables, which have as many lines as it takes.
_DATA = "truths"
_LONGEST_FILE = 400
#: The front door is a list of doors, each a line or two under a long docstring; splitting the class would hide some.
_LONGEST_DOOR = 520

#: Places that may spell a name which is also the name of a method, and why.
_SAME_WORD_FOR_SOMETHING_ELSE = {
    ("posterior/weights.py", "linear-extensions"): "an estimator, which weighs graphs drawn by any method over orders",
}


def relative(file: Path) -> str:
    return file.relative_to(PACKAGE).as_posix()


def tree_in_the_folder() -> set[str]:
    """Every folder and module, without the modules that Python itself names (`__init__`, `__main__`)."""
    modules = {relative(file.with_suffix("")) for file in MODULES if not file.name.startswith("__")}
    folders = {relative(folder) + "/" for folder in PACKAGE.rglob("*") if folder.is_dir() and folder.name != _MADE}
    return modules | folders


def tree_on_the_page() -> set[str]:
    """The tree that docs/design.md draws.

    Two blanks in stands a folder or a module of the top, and what it is for. Four blanks in stand the modules of that
    folder, or a folder in it and the modules of that one. Six blanks in, the line above goes on.
    """
    page = (PROJECT / "docs" / "design.md").read_text(encoding="utf-8")
    _, _, rest = page.partition("\n    src/dagpost/\n")
    lines = itertools.takewhile(lambda line: line.startswith("      "), rest.splitlines())
    found: set[str] = set()
    station = folder = ""
    for line in lines:
        first, *others = line.split()
        depth = (len(line) - len(line.lstrip())) // 2 - 2
        if depth == 1:
            station = folder = first if first.endswith("/") else ""
            found.add(first.removesuffix(".py"))
            continue
        if depth == 2:
            folder = station + first if first.endswith("/") else station
            found.add(station + first)
        else:
            found.add(folder + first)
        found |= {folder + word for word in others}
    return found


def test_design_page_draws_the_tree_as_it_is() -> None:
    there, drawn = tree_in_the_folder(), tree_on_the_page()
    assert sorted(there - drawn) == [], "these are missing in the tree of docs/design.md"
    assert sorted(drawn - there) == [], "docs/design.md draws these, but they do not exist"


def test_at_most_six_modules_lie_at_the_top() -> None:
    assert len(list(PACKAGE.glob("*.py"))) <= 6


def test_no_file_is_longer_than_four_hundred_lines() -> None:
    files = [file for file in PACKAGE.rglob("*") if file.is_file() and not {_MADE, _DATA} & {*file.parts}]
    lengths = {relative(file): len(file.read_bytes().splitlines()) for file in files}
    limits = {"model.py": _LONGEST_DOOR}
    assert {name: length for name, length in lengths.items() if length > limits.get(name, _LONGEST_FILE)} == {}


def literals(file: Path) -> set[str]:
    """The strings of a module, without docstrings."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)
    }
    constants = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in docstrings]
    return {node.value for node in constants if isinstance(node.value, str)}


@pytest.fixture(scope="module")
def own_methods() -> dict[str, str]:
    """The methods of the package by name, with the file of each."""
    from dagpost.methods.registry import METHODS

    modules = {name: found.__module__ for name, found in METHODS.classes().items()}
    ours = {name: module for name, module in modules.items() if module.startswith("dagpost.")}
    return {name: module.removeprefix("dagpost.").replace(".", "/") + ".py" for name, module in ours.items()}


def test_a_method_is_known_by_name_only_in_its_own_file(own_methods: dict[str, str]) -> None:
    assert len(own_methods) >= 13
    known = {relative(file): literals(file) for file in MODULES}
    holders = {
        name: [
            file
            for file, strings in known.items()
            if name in strings and (file, name) not in _SAME_WORD_FOR_SOMETHING_ELSE
        ]
        for name in own_methods
    }
    assert holders == {name: [file] for name, file in own_methods.items()}


def test_every_method_has_a_file_of_its_own(own_methods: dict[str, str]) -> None:
    assert all(re.fullmatch(r"methods/\w+\.py", file) for file in own_methods.values())
    assert len(set(own_methods.values())) == len(own_methods)


def test_every_exception_is_still_needed() -> None:
    unused = [(file, name) for file, name in _SAME_WORD_FOR_SOMETHING_ELSE if name not in literals(PACKAGE / file)]
    assert unused == []
