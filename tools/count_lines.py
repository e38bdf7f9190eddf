"""How many lines of code each room of src/dagpost has: `python tools/count_lines.py`; blanks, comments, docstrings out.

A line counts once if any part of a statement stands on it.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections import Counter
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "dagpost"
_NOT_CODE = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER,
}  # fmt: skip


def code_lines(text: str) -> int:
    """The lines of one file."""
    described: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                described.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _NOT_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - described)


def main() -> None:
    """Print the rooms, largest first, and the sum."""
    rooms: Counter[str] = Counter()
    for path in PACKAGE.rglob("*.py"):
        inside = path.relative_to(PACKAGE).parts
        rooms[inside[0] if len(inside) > 1 else "."] += code_lines(path.read_text(encoding="utf-8"))
    for room, count in rooms.most_common():
        sys.stdout.write(f"{count:7,} {room}\n")
    sys.stdout.write(f"{sum(rooms.values()):7,}\n")


if __name__ == "__main__":
    main()
