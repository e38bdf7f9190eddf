"""What the README and the pages of docs/ show is run: the Python, the commands, and the output beside them."""

from __future__ import annotations

import contextlib
import doctest
import io
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dagpost.cli import app
from dagpost.exact import paths, structure

PROJECT = Path(__file__).resolve().parents[2]
PAGES = ["README.md", "docs/index.md", "docs/guide.md"]

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: str) -> list[tuple[str, str]]:
    """Language and text of the fenced blocks of a page."""
    return _BLOCK.findall((PROJECT / page).read_text())


def lines_of(text: str) -> list[str]:
    """The lines of an output, without the blanks that an editor would remove anyway."""
    return [line.rstrip() for line in text.strip().splitlines()]


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
def test_python_of_a_page_runs_and_prints_the_block_that_follows_it(page: str) -> None:
    names: dict[str, object] = {}
    found = blocks(page)
    for (kind, source), (next_kind, shown) in zip(found, [*found[1:], ("", "")], strict=True):
        if kind != "python":
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(source, page, "exec"), names)
        expected = shown if next_kind == "text" else ""
        assert lines_of(printed.getvalue()) == lines_of(expected), source


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.usefixtures("example_files")
def test_sessions_of_a_page_print_what_it_says(page: str) -> None:
    names: dict[str, object] = {}
    failures: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for source in [text for kind, text in blocks(page) if kind == "pycon"]:
        example = doctest.DocTestParser().get_doctest(source, names, page, page, 0)
        runner.run(example, out=failures.append, clear_globs=False)
        names = example.globs
    assert "".join(failures) == ""


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.usefixtures("example_files")
def test_commands_of_a_page_succeed_and_print_what_it_says(page: str) -> None:
    text = "".join(text for kind, text in blocks(page) if kind == "console")
    for session in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, shown = session.partition("\n")
        words = shlex.split(command, comments=True)
        if words[0] == "dagpost":
            result = CliRunner().invoke(app, words[1:])
            assert result.exit_code == 0, (command, result.output)
            assert not shown or lines_of(result.stdout) == lines_of(shown), command


def test_readme_shows_the_output_of_the_demo() -> None:
    shown = next(text for kind, text in blocks("README.md") if kind == "text")
    assert lines_of(CliRunner().invoke(app, ["demo"]).stdout) == lines_of(shown)


def largest(seconds: Callable[[int], float], patience: float) -> int:
    """The largest number of variables that takes no longer than this."""
    return max(nodes for nodes in range(2, 64) if seconds(nodes) <= patience)


def test_readme_names_the_limits_that_the_code_sets() -> None:
    """Two cores, and memory enough; the constants are those of tables.py and answers.py."""
    from dagpost import answers, tables

    sums = largest(lambda nodes: structure.expected_seconds(nodes, 2), tables.PATIENCE_SECONDS)
    matrix = largest(lambda nodes: paths.expected_seconds(nodes, nodes, 2), answers._PATIENCE_SECONDS)
    text = " ".join((PROJECT / "README.md").read_text().split())
    assert f"up to {sums} variables on two cores" in text
    assert f"exact up to {matrix} variables" in text
    assert structure.memory_needed(20, 5, 2) == pytest.approx(68 * 2**20, rel=0.2)


def test_links_between_pages_lead_somewhere() -> None:
    pages = [*PROJECT.glob("*.md"), *(PROJECT / "docs").glob("*.md")]
    links = [(page, link) for page in pages for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text())]
    assert [f"{page.name}: {link}" for page, link in links if not (page.parent / link).exists()] == []
