"""What the README and the guide show is run: the Python, the commands, and the output beside them."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dagpost.cli import app

PROJECT = Path(__file__).resolve().parents[2]
PAGES = ["README.md", "docs/guide.md"]

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: str, language: str) -> list[str]:
    """The fenced blocks of one language in a page."""
    return [text for kind, text in _BLOCK.findall((PROJECT / page).read_text()) if kind == language]


@pytest.fixture
def example_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files that the pages speak of, as the current one."""
    monkeypatch.chdir(tmp_path)
    rows = ["rain,sprinkler,wet", *(["no,on,yes", "yes,off,yes", "no,off,no", "yes,off,no", "no,on,no"] * 8)]
    (tmp_path / "lawn.csv").write_text("\n".join(rows) + "\n")
    counted = [
        "rain,sprinkler,wet,n",
        "no,on,yes,8",
        "yes,off,yes,9",
        "no,off,no,30",
        "yes,off,no,2",
        "no,on,no,1",
    ]
    (tmp_path / "lawn_counts.csv").write_text("\n".join(counted) + "\n")
    measured = ["a,b,c", *(f"{i % 30 + 0.5},{i % 30 + i % 7 + 0.25},{i % 31 + 0.125}" for i in range(90))]
    (tmp_path / "cells.csv").write_text("\n".join(measured) + "\n")
    return tmp_path


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.usefixtures("example_files")
def test_python_of_a_page_runs_from_top_to_bottom(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {}
    for source in blocks(page, "python"):
        exec(compile(source, page, "exec"), names)
    capsys.readouterr()


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.usefixtures("example_files")
def test_sessions_of_a_page_print_what_it_says(page: str) -> None:
    names: dict[str, object] = {}
    failures: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for source in blocks(page, "pycon"):
        example = doctest.DocTestParser().get_doctest(source, names, page, page, 0)
        runner.run(example, out=failures.append, clear_globs=False)
        names = example.globs
    assert "".join(failures) == ""


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.usefixtures("example_files")
def test_commands_of_a_page_succeed(page: str) -> None:
    lines = [line for text in blocks(page, "console") for line in text.splitlines()]
    for command in [shlex.split(line, comments=True) for line in lines if line.startswith("$ dagpost ")]:
        result = CliRunner().invoke(app, command[2:])
        assert result.exit_code == 0, (command, result.output)


def test_readme_shows_the_output_of_the_demo() -> None:
    printed = [line.rstrip() for line in CliRunner().invoke(app, ["demo"]).stdout.splitlines()]
    shown = [line.rstrip() for line in blocks("README.md", "text")[0].splitlines()]
    table = [line for line in shown if "->" in line]
    assert len(table) > 10
    assert [line for line in shown if line and line not in printed] == []


def test_links_between_pages_lead_somewhere() -> None:
    pages = [*PROJECT.glob("*.md"), *(PROJECT / "docs").glob("*.md")]
    links = [(page, link) for page in pages for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text())]
    assert [f"{page.name}: {link}" for page, link in links if not (page.parent / link).exists()] == []
