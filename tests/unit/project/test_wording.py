"""What the fixture `said` refuses, what a refresh writes, and what it leaves alone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.tools.wording import read_sentences, write_sentences

PROJECT = Path(__file__).parents[3]
SAYING = """
import pytest

def test_a_sentence(said, tmp_path):
    said("The column 'x' is empty.")

@pytest.mark.parametrize("name", ["x", "y"])
def test_an_error(said, name, tmp_path):
    for value in (1, 2):
        with said.raises(ValueError) as caught:
            raise ValueError(f"{tmp_path / name}: holds {value}.")
    assert caught.type is ValueError

def test_without_sentences():
    assert True
"""
KEPT = {
    "test_saying.py::test_a_sentence": ["The column 'x' is empty."],
    "test_saying.py::test_an_error[x]": ["<folder>/x: holds 1.", "<folder>/x: holds 2."],
    "test_saying.py::test_an_error[y]": ["<folder>/y: holds 1.", "<folder>/y: holds 2."],
}


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A project of one folder with tests, which has nothing kept yet."""
    (tmp_path / "pyproject.toml").write_text('[tool.pytest.ini_options]\naddopts = ["--import-mode=importlib"]\n')
    write_test(tmp_path, SAYING)
    return tmp_path


def write_test(project: Path, text: str, name: str = "saying") -> None:
    folder = project / "tests" / "room"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"test_{name}.py").write_text(text)


def run(project: Path, *options: str, status: int = 0) -> str:
    command = [sys.executable, "-m", "pytest", "-p", "tests.tools.wording", "-p", "no:cacheprovider", *options]
    path = os.pathsep.join((str(PROJECT), str(PROJECT / "src")))
    environment = {**os.environ, "PYTHONPATH": path, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout


def kept(project: Path) -> dict[str, list[str]]:
    return read_sentences(project / "tests" / "wording" / "room.txt")


@pytest.mark.parametrize("processes", ["0", "2"])
def test_a_refresh_writes_what_the_next_run_compares(small: Path, processes: str) -> None:
    run(small, "-p", "xdist", "-n", processes, "--refresh-wording", "tests")
    assert kept(small) == KEPT
    assert "4 passed" in run(small, "tests")


def test_a_refresh_runs_only_the_tests_that_hear_sentences(small: Path) -> None:
    assert "3 passed, 1 deselected" in run(small, "--refresh-wording", "tests")


def test_a_sentence_that_is_not_kept_names_the_command(small: Path) -> None:
    output = run(small, "tests", status=1)
    assert "No wording is kept for sentence 1 of test_saying.py::test_a_sentence in room.txt" in output
    assert "`make wording`" in output
    assert "The column 'x' is empty." in output
    assert not (small / "tests" / "wording").exists()


def test_a_sentence_that_changed_is_shown_with_its_difference(small: Path) -> None:
    run(small, "--refresh-wording", "tests")
    write_test(small, SAYING.replace("is empty", "has no value"))
    output = run(small, "tests", status=1)
    assert "1 failed, 3 passed" in output
    assert "- The column 'x' is empty." in output
    assert "+ The column 'x' has no value." in output


def test_fewer_sentences_than_are_kept_are_a_failure(small: Path) -> None:
    run(small, "--refresh-wording", "tests")
    write_test(small, SAYING.replace("(1, 2)", "(1,)"))
    assert "1 of 2 sentences were heard" in run(small, "tests", status=1)


def test_the_type_of_the_error_is_checked_too(small: Path) -> None:
    run(small, "--refresh-wording", "tests")
    write_test(small, SAYING.replace("raise ValueError", "raise KeyError"))
    assert "KeyError" in run(small, "tests", status=1)


def test_a_full_refresh_drops_tests_that_are_gone_and_a_partial_one_does_not(small: Path) -> None:
    write_test(small, "def test_more(said): said('More.')", "more")
    run(small, "--refresh-wording", "tests")
    write_test(small, SAYING.replace("test_a_sentence", "test_renamed"))
    (small / "tests" / "room" / "test_more.py").unlink()
    run(small, "--refresh-wording", "tests", "-k", "renamed")
    run(small, "--refresh-wording", "tests/room/test_saying.py::test_renamed")
    assert set(kept(small)) == {*KEPT, "test_saying.py::test_renamed", "test_more.py::test_more"}
    run(small, "--refresh-wording", "tests/room/test_saying.py")
    assert "test_more.py::test_more" in kept(small)
    assert "test_saying.py::test_a_sentence" not in kept(small)
    run(small, "--refresh-wording", "tests")
    assert set(kept(small)) == set(KEPT) - {"test_saying.py::test_a_sentence"} | {"test_saying.py::test_renamed"}


def test_a_refresh_keeps_the_sentences_of_tests_that_fail_or_are_skipped(small: Path) -> None:
    run(small, "--refresh-wording", "tests")
    write_test(small, SAYING.replace('    said("The', '    pytest.skip("no machine")\n    said("The'))
    run(small, "--refresh-wording", "tests")
    assert kept(small) == KEPT
    write_test(small, SAYING.replace('is empty.")', 'has no value.")\n    assert False'))
    run(small, "--refresh-wording", "tests", status=1)
    assert kept(small) == KEPT
    write_test(small, "import pytest\npytest.skip('no library', allow_module_level=True)\n" + SAYING)
    run(small, "--refresh-wording", "tests", status=5)
    assert kept(small) == KEPT


def test_what_differs_between_machines_and_runs_is_not_kept(small: Path) -> None:
    write_test(
        small,
        """
import tempfile
from pathlib import Path
from dagpost._version import __version__

def test_words(said, tmp_path):
    said(f"{tmp_path} {tmp_path / 'a.csv'} {str(tmp_path / 'a.csv')!r} {Path(__file__).parent} {tempfile.mkdtemp()}/b")
    said(f"dagpost {__version__} of 2026-01-31 12:30:01.5, after 0.25 seconds")
    said("This needs 6.8 MB of memory and 9.1 GB are free.")
    said(f"Got { {'work', 'age', 'sex', 'dose'} }.")
    said("Listens at tcp://127.0.0.1:8786, with\\nlines  \\n\\n  as they are.", changing={r":\\d+": ":<port>"})
""",
    )
    run(small, "--refresh-wording", "tests")
    assert kept(small)["test_saying.py::test_words"] == [
        "<folder> <folder>/a.csv '<folder>/a.csv' <project>/tests/room <folder>/b",
        "dagpost <version> of <time>, after <time>",
        "This needs <memory> of memory and <memory> are free.",
        "Got {'age', 'dose', 'sex', 'work'}.",
        "Listens at tcp://127.0.0.1:<port>, with\nlines\n\n  as they are.",
    ]
    run(small, "tests")


def test_the_words_of_another_library_are_not_kept(small: Path) -> None:
    write_test(
        small,
        """
def test_number(said):
    with said.raises(ValueError):
        try:
            float("one")
        except ValueError as error:
            raise ValueError(f"'size' is not a number ({error}).") from error
""",
    )
    run(small, "--refresh-wording", "tests")
    assert kept(small)["test_saying.py::test_number"] == ["'size' is not a number (<reason>)."]


def test_warnings_are_kept_one_after_the_other_and_others_pass_through(small: Path) -> None:
    write_test(
        small,
        """
import warnings
import pytest

def test_warned(said):
    with pytest.warns(DeprecationWarning), said.warns(UserWarning) as caught:
        for words in ("One.", "Two."):
            warnings.warn(words, UserWarning)
        warnings.warn("Old.", DeprecationWarning)
    assert len(caught) == 3
""",
    )
    run(small, "--refresh-wording", "tests")
    assert kept(small)["test_saying.py::test_warned"] == ["One.\nTwo."]


def test_tests_of_hypothesis_are_refused(small: Path) -> None:
    text = """
from hypothesis import HealthCheck, given, settings, strategies

@settings(suppress_health_check=list(HealthCheck))
@given(value=strategies.integers())
def test_any(said, value):
    said(f"Got {value}.")
"""
    write_test(small, text)
    assert "use `match` with one short word" in run(small, "--refresh-wording", "tests", status=1)
    assert kept(small) == {}


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "room.txt"
    sentences = {"test_a.py::test_b[c d (3)]": ["One\n\n    two: 'x'", "#", "#"], "test_a.py::test_a": ["é"]}
    write_sentences(file, sentences)
    assert read_sentences(file) == sentences
    assert list(read_sentences(file)) == sorted(sentences)
    assert file.read_text(encoding="utf-8").endswith("test_b[c d (3)] (2)\ntest_a.py::test_b[c d (3)] (3)\n    #\n")
    write_sentences(file, {})
    assert not file.exists()
