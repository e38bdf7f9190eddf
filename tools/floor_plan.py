"""Draw the tree of src/dagpost in docs/design.md as it is now: `python tools/floor_plan.py`.

Stations keep the order and the question that the page gives them; a new one is put at the end with "?" for its question,
to be written by hand. A test (tests/unit/project/test_floor_plan.py) fails where the page is not up to date.
"""

from __future__ import annotations

import textwrap
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
PACKAGE = PROJECT / "src" / "dagpost"
PAGE = PROJECT / "docs" / "design.md"
START = "    src/dagpost/\n"
WIDTH = 120


def main() -> None:
    """Write the page again."""
    before, start, rest = PAGE.read_text(encoding="utf-8").partition(START)
    lines = rest.splitlines(keepends=True)
    drawn = next(number for number, line in enumerate(lines) if not line.startswith("      "))
    questions = dict(_entry(line) for line in lines[:drawn] if line[6] != " ")
    there = {f"{path.name}{'/' * path.is_dir()}" for path in PACKAGE.iterdir() if _is_ours(path)}
    names = [*(name for name in questions if name in there), *sorted(there - questions.keys())]
    tree = "".join(_station(name, questions.get(name, "?")) for name in names)
    PAGE.write_text(before + start + tree + "".join(lines[drawn:]), encoding="utf-8")


def _entry(line: str) -> tuple[str, str]:
    name, _, question = line.strip().partition(" ")
    return name, question.strip()


def _is_ours(path: Path) -> bool:
    return not path.name.startswith("__") and (path.is_dir() or path.suffix == ".py")


def _station(name: str, question: str) -> str:
    folder = PACKAGE / name
    text = f"      {name:16}{question}\n"
    if folder.is_dir():
        text += _wrapped(_modules(folder), "        ")
        for inner in sorted(path for path in folder.iterdir() if path.is_dir() and _is_ours(path)):
            deeper = [f"{path.name}/" for path in sorted(inner.iterdir()) if path.is_dir() and _is_ours(path)]
            text += _wrapped([f"{inner.name}/", *_modules(inner), *deeper], "        ", "          ")
    return text


def _modules(folder: Path) -> list[str]:
    return sorted(path.stem for path in folder.glob("*.py") if _is_ours(path))


def _wrapped(words: list[str], first: str, later: str | None = None) -> str:
    if not words:
        return ""
    return textwrap.fill(" ".join(words), WIDTH, initial_indent=first, subsequent_indent=later or first) + "\n"


if __name__ == "__main__":
    main()
