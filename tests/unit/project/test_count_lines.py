"""Lines of code are counted without blanks, comments and docstrings."""

from __future__ import annotations

import runpy
from pathlib import Path

CODE_LINES = runpy.run_path(str(Path(__file__).resolve().parents[3] / "tools" / "count_lines.py"))["code_lines"]


def test_blanks_comments_and_docstrings_do_not_count() -> None:
    text = '"""A module."""\n\nx = 1  # one\n# a comment\n\n'
    text += 'def f():\n    """Two\n    lines."""\n    return (\n        x\n    )\n'
    assert CODE_LINES(text) == 5
    assert CODE_LINES("") == 0
    assert CODE_LINES('y = """not\na docstring"""\n') == 2
