"""Write what the README and the pages of docs/ print now into them: `python tools/refresh_pages.py [PAGE ...]`.

A page is read from top to bottom, as a person would: its blocks share their names and one folder of example files.
Blocks in `python` and `pycon` are executed, commands in `console` are given to the command line, and a `text` block
after a `python` block is what that block prints; any other is what the demo prints. Sentences that quote a number have
to be mended by hand. A test (tests/unit/project/test_documentation.py) fails where a page does not show what it prints.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
import sys
import tempfile
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from dagpost.cli import app

PROJECT = Path(__file__).resolve().parents[1]
PAGES = ["README.md", *(f"docs/{page.name}" for page in sorted((PROJECT / "docs").glob("*.md")))]

_BLOCK = re.compile(r"^```([\w-]+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
#: A doctest may span lines of output that a page has to break.
_DOCTEST_OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def main() -> None:
    """Write the pages again that are named, or all."""
    os.environ["MPLBACKEND"] = "agg"
    for page in sys.argv[1:] or PAGES:
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            write_example_files()
            text = refreshed(page)
        (PROJECT / page).write_text(text, encoding="utf-8")


def blocks(page: str) -> list[tuple[str, str]]:
    """Language and text of the fenced blocks of a page."""
    return _BLOCK.findall((PROJECT / page).read_text(encoding="utf-8"))


def write_example_files() -> None:
    """Put the files that the pages speak of into the current folder."""
    rows = ["rain,sprinkler,wet", *(["no,on,yes", "yes,off,yes", "no,off,no", "yes,off,no", "no,on,no"] * 8)]
    counted = [
        "rain,sprinkler,wet,n",
        "no,on,yes,8",
        "yes,off,yes,9",
        "no,off,no,30",
        "yes,off,no,2",
        "no,on,no,1",
    ]
    measured = ["a,b,c", *(f"{i % 30 + 0.5},{i % 30 + i % 7 + 0.25},{i % 31 + 0.125}" for i in range(90))]
    for name, lines in {"lawn.csv": rows, "lawn_counts.csv": counted, "cells.csv": measured}.items():
        Path(name).write_text("\n".join(lines) + "\n", encoding="utf-8")


def refreshed(page: str) -> str:
    """The page with what its blocks print now; they run in the current folder."""
    text = (PROJECT / page).read_text(encoding="utf-8")
    names: dict[str, Any] = {"__name__": "__main__"}
    parts, done = [], 0
    found = [*_BLOCK.finditer(text)]
    kinds = [block.group(1) for block in found]
    printed = ""
    for block, before, after in zip(found, ["", *kinds], [*kinds[1:], ""], strict=False):
        kind, source = block.groups()
        if kind == "text":
            source = printed if before == "python" else _command("dagpost demo")
        elif kind == "python":
            printed = _python(source, page, names)
            assert after == "text" or not printed, f"{page}: no text block shows what is printed:\n{source}"
        elif kind == "pycon":
            source = _session(source, page, names)
        elif kind == "console":
            source = _commands(source)
        parts += [text[done : block.start(2)], source]
        done = block.end(2)
    return "".join([*parts, text[done:]])


def _python(source: str, page: str, names: dict[str, Any]) -> str:
    """What a block prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(source, page, "exec"), names)
    return _without_margins(printed.getvalue())


class _Printed(doctest.OutputChecker):
    """Lets every output pass and keeps what the page should show."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        if super().check_output(want, got, optionflags):
            got = want
        self.instead = want, re.sub(r"^$(?=\n)", "<BLANKLINE>", _without_margins(got), flags=re.MULTILINE)
        return True


def _session(source: str, page: str, names: dict[str, Any]) -> str:
    """An interactive session as it goes now; the names that it makes are there for the next block."""
    printed = _Printed()
    lines = source.splitlines(keepends=True)
    parts, done = [], 0
    for example in doctest.DocTestParser().get_examples(source):
        test = doctest.DocTest([example], names, page, page, 0, source)
        doctest.DebugRunner(printed, optionflags=_DOCTEST_OPTIONS).run(test, clear_globs=False)
        names.update(test.globs)
        start = example.lineno + example.source.count("\n")
        parts += [*lines[done:start], example.want.replace(*printed.instead)]
        done = start + example.want.count("\n")
    return "".join([*parts, *lines[done:]])


def _commands(source: str) -> str:
    """The commands with their output, where the page shows any."""
    parts = re.split(r"^(?=\$ )", source, flags=re.MULTILINE)
    for number, part in enumerate(parts[1:], 1):
        command, _, shown = part.partition("\n")
        printed = _command(command.removeprefix("$ "))
        if shown.strip():
            after = "\n" * (number + 1 < len(parts) and shown.endswith("\n\n"))
            parts[number] = f"{command}\n{printed}{after}"
    return "".join(parts)


def _command(command: str) -> str:
    """The standard output of a command of ours."""
    words = shlex.split(command, comments=True)
    assert words[0] == "dagpost", f"{command!r} is not a command of dagpost: show it in a bash block"
    result = CliRunner().invoke(app, words[1:])
    assert result.exit_code == 0, (command, result.output)
    return _without_margins(result.stdout)


def _without_margins(printed: str) -> str:
    """The output without the blanks that an editor would remove anyway."""
    lines = "\n".join(line.rstrip() for line in printed.splitlines()).strip("\n")
    return lines + "\n" * bool(lines)


if __name__ == "__main__":
    main()
