"""The fixture `said`: are the sentences that a test hears those that are kept in tests/wording?

A test says `said(text)`, or `with said.raises(InputError):` and `with said.warns(DagpostWarning):` in place of
`pytest.raises` and `pytest.warns` with a `match`. The sentences of a folder of tests are kept in one text file. A
sentence that changed is a failure with a diff; `make wording` writes all of them again, and the diff of
tests/wording is for review. Whatever differs between machines and runs is kept as a word in angle brackets.
"""

from __future__ import annotations

import difflib
import re
import tempfile
from collections.abc import Generator, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache
from itertools import groupby
from linecache import getline
from operator import itemgetter
from pathlib import Path, PurePosixPath
from traceback import walk_tb
from typing import Any, TypeVar, cast

import pytest

from dagpost._version import __version__

Error = TypeVar("Error", bound=BaseException)
#: The sentences of each test, by its name within the file that keeps them.
Sentences = dict[str, list[str]]

_COMMAND = "make wording"
_PROPERTY = "wording"
_INDENT = "    "
#: `test_files.py::test_name[case] (2)`: the second sentence of a test.
_HEADER = re.compile(r"(?P<test>.*?)(?: \((?P<number>\d+)\))?")
#: One or more headers, and what all these tests hear, indented.
_ENTRY = re.compile(r"((?:^[^\s#].*\n)+)((?:^(?: .*)?\n)+)", re.MULTILINE)
#: The `repr` of a set of texts, which has another order in each run.
_SET = re.compile(r"\{('[^',]*'(?:, '[^',]*')+)\}")
_CHANGING = {
    # What the package in tests/outside brings is known in a process that has imported it, and in no other.
    r", ('(smoothed|empty-graphs|toy-chain|one-by-one|sparse:COST)'|Smoothed\b)": "",
    rf"(?<![\d.]){re.escape(__version__)}(?![\d.]*\d)": "<version>",
    r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?": "<time>",
    r"\b\d[\d,.]* (seconds?|minutes?|ms|s)\b": "<time>",
    r"\b0x[0-9a-f]{8,16}\b": "<address>",
    r"(?<=\bthat fits now is )\d[\d,]*": "<number>",
    r"\(process \d+\)": "(process <number>)",
    r"\b127\.0\.0\.1:\d{5}\b": "127.0.0.1:<port>",
    r"\bthere (is 1 core|are \d[\d,]* cores) here": "there are <number> cores here",
    r"(?<=\bint of at least 1 and at most )\d+(,\d{3})*|(?<=\bup to )\d+(?= variables fit)": "<number>",
    r"(\b\d[\d,.]* ([kMGT]B|bytes)|more than a million TB)(?= of (memory|disk)\b| (are|is) free\b)": "<memory>",
}
#: For `changing`: figures that are drawn, whose last digits may be others on another machine.
ESTIMATES = {r"-?\b\d+\.\d+\b": "<number>", r"\b\d[\d,]*(?= independent graphs)": "<number>"}


class Said:
    """The sentences of one test, in the order in which it hears them."""

    def __init__(self, test: str, config: pytest.Config, folders: Path) -> None:
        self._room, self._name = room_and_name(test)
        self._file = wording_folder(config) / f"{self._room}.txt"
        self._refresh = config.getoption("--refresh-wording")
        self._places = _places(config.rootpath, folders)
        self._kept = [] if self._refresh else _sentences(self._file).get(self._name, [])
        self.heard: list[str] = []

    def __call__(self, text: str, changing: Mapping[str, str] | None = None) -> None:
        """Compare a text with the kept one; `changing` has a word for each pattern that differs between runs."""
        __tracebackhide__ = True
        now = self._lasting(text, changing or {})
        number = len(self.heard)
        self.heard.append(now)
        if self._refresh:
            return
        if number >= len(self._kept):
            pytest.fail(
                f"No wording is kept for sentence {number + 1} of {self._whose()}. It says now:\n{_indented(now)}"
            )
        if now != self._kept[number]:
            kept = self._kept[number]
            diff = "\n".join(difflib.ndiff(kept.splitlines(), now.splitlines()))
            pytest.fail(f"Sentence {number + 1} is not the one kept for {self._whose()}.\n{diff}")

    def raises(
        self, expected: type[Error] | tuple[type[Error], ...], changing: Mapping[str, str] | None = None
    ) -> AbstractContextManager[pytest.ExceptionInfo[Error], bool]:
        """Expect an exception, and that it says what is kept."""
        # Type checkers must know, as of `pytest.raises`, that code after the block is reached.
        return cast("AbstractContextManager[pytest.ExceptionInfo[Error], bool]", self._raises(expected, changing))

    @contextmanager
    def _raises(
        self, expected: type[Error] | tuple[type[Error], ...], changing: Mapping[str, str] | None
    ) -> Iterator[pytest.ExceptionInfo[Error]]:
        __tracebackhide__ = True
        with pytest.raises(expected) as caught:
            yield caught
        self(_without_words_of_others(caught.value), changing)

    @contextmanager
    def warns(
        self, expected: type[Warning], changing: Mapping[str, str] | None = None
    ) -> Iterator[pytest.WarningsRecorder]:
        """Expect warnings of a kind, and that they say, one after the other, what is kept."""
        __tracebackhide__ = True
        with pytest.warns(expected) as caught:
            yield caught
        self("\n".join(str(each.message) for each in caught if issubclass(each.category, expected)), changing)

    def finish(self) -> None:
        """A test that hears less than is kept has lost something that it checked."""
        if len(self.heard) < len(self._kept):
            pytest.fail(
                f"{len(self.heard)} of {len(self._kept)} sentences were heard, of those kept for {self._whose()}."
            )

    def _whose(self) -> str:
        return f"{self._name} in {self._file.name} (if that is meant: `{_COMMAND}`, and review the diff)"

    def _lasting(self, text: str, changing: Mapping[str, str]) -> str:
        for pattern, word in [*self._places, *_CHANGING.items(), *changing.items()]:
            text = re.sub(pattern, word, text)
        text = re.sub(r"<(?:folder|project)>[^\s'\"]*", lambda found: re.sub(r"\\+", "/", found[0]), text)
        text = re.sub(_SET, lambda found: f"{{{', '.join(sorted(found[1].split(', ')))}}}", text)
        text = text.encode("utf-8", "backslashreplace").decode("utf-8")
        return "\n".join(line.rstrip() for line in text.strip().splitlines()) or "<nothing>"


def _without_words_of_others(error: BaseException) -> str:
    """What an error says, without the reason that another library gave: its words change with its version."""
    text, cause = str(error), error.__cause__ or error.__context__
    while cause is not None:
        for reason in (str(cause).strip(), str(getattr(cause, "strerror", None))):
            if " " in reason and not _is_ours(cause):
                text = text.replace(reason, "<reason>")
        cause = cause.__cause__ or cause.__context__
    return text


def _is_ours(error: BaseException) -> bool:
    """Whether a line of dagpost says `raise`: what Python or NumPy refuse there are their words."""
    for frame, line in list(walk_tb(error.__traceback__))[-1:]:
        ours = str(frame.f_globals.get("__name__")).startswith("dagpost")
        return ours and getline(frame.f_code.co_filename, line).lstrip().startswith("raise")
    return False


@lru_cache(maxsize=8)
def _places(project: Path, folders: Path) -> list[tuple[str, str]]:
    """Patterns of the folders that differ between runs, as plain text and as in the `repr` of a path of Windows."""
    inside = r"[/\\]+[\w-]+"
    words = [
        (folders, inside, "<folder>"),
        (project, r"\b", "<project>"),
        (Path(tempfile.gettempdir()), inside, "<folder>"),
    ]
    return [
        (re.escape(spelled) + end, word)
        for path, end, word in words
        for plain in dict.fromkeys((str(path.resolve()), str(path)))
        for spelled in dict.fromkeys((plain.replace("\\", "\\\\"), plain))
    ]


def room_and_name(test: str) -> tuple[str, str]:
    """The name of the file that keeps the sentences of a test, and the name of the test in it.

    >>> room_and_name("tests/unit/data/test_files.py::test_a_name[x]")
    ('unit-data', 'test_files.py::test_a_name[x]')
    """
    file, _, within = test.partition("::")
    path = PurePosixPath(file)
    return "-".join(path.parent.parts[1:]) or "tests", f"{path.name}::{within}"


def wording_folder(config: pytest.Config) -> Path:
    return config.rootpath / "tests" / "wording"


def read_sentences(file: Path) -> Sentences:
    """What a file keeps: headers at the left margin, and below one or more of them what all these hear, indented."""
    if not file.exists():
        return {}
    found: Sentences = {}
    for headers, lines in _ENTRY.findall(file.read_text(encoding="utf-8")):
        sentence = "\n".join(line.removeprefix(_INDENT) for line in lines.splitlines()).strip("\n")
        for header in headers.splitlines():
            found.setdefault(_HEADER.fullmatch(header)["test"], []).append(sentence)
    return found


_sentences = lru_cache(read_sentences)


def write_sentences(file: Path, sentences: Sentences) -> None:
    """Write them in the order of the tests' names; a file that would be empty goes."""
    if not sentences:
        file.unlink(missing_ok=True)
        return
    headed = [
        (test + (f" ({number})" if number > 1 else ""), sentence)
        for test, said in sorted(sentences.items())
        for number, sentence in enumerate(said, 1)
    ]
    parts = [f"# What the tests in {file.stem} hear. Written by `{_COMMAND}`.\n"]
    for sentence, same in groupby(headed, itemgetter(1)):
        parts.append("".join(f"{header}\n" for header, _ in same) + _indented(sentence) + "\n")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(parts), encoding="utf-8", newline="\n")


def _indented(sentence: str) -> str:
    return "\n".join(_INDENT + line if line else "" for line in sentence.splitlines())


class _Refresh:
    """Collects what was heard in all processes, and writes it when the tests are over."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._seen: set[str] = set()
        self._heard: dict[str, Any] = {}

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if not report.passed:
            self._seen.add(report.nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._seen.add(report.nodeid)
        if report.when == "call" and report.passed:
            self._heard.update((report.nodeid, said) for name, said in report.user_properties if name == _PROPERTY)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        folder = wording_folder(self._config)
        rooms: dict[str, Sentences] = {file.stem: read_sentences(file) for file in sorted(folder.glob("*.txt"))}
        if not (session.shouldstop or session.shouldfail):
            self._drop_those_of_tests_that_are_gone(rooms)
        for test, said in self._heard.items():
            room, name = room_and_name(test)
            rooms.setdefault(room, {})[name] = said
        for room, sentences in rooms.items():
            write_sentences(folder / f"{room}.txt", {name: said for name, said in sentences.items() if said})

    def _drop_those_of_tests_that_are_gone(self, rooms: dict[str, Sentences]) -> None:
        """Only where all tests of a file were asked for. A test that was skipped or failed keeps its sentences."""
        options = ("keyword", "markexpr", "deselect", "ignore", "ignore_glob")
        if any(self._config.getoption(name) for name in options) or self._config.getoption("--shard", "1/1") != "1/1":
            return
        asked = [self._config.invocation_params.dir / each for each in self._config.args if "::" not in each]
        seen = {room_and_name(test) for test in self._seen}
        for room, sentences in rooms.items():
            for name in list(sentences):
                file = name.partition("::")[0]
                path = self._path(room, file)
                is_asked = any(path.is_relative_to(each.resolve()) for each in asked)
                if is_asked and not {(room, name), (room, f"{file}::")} & seen:
                    del sentences[name]

    def _path(self, room: str, file: str) -> Path:
        folder = Path("tests") if room == "tests" else Path("tests", *room.split("-"))
        return (self._config.rootpath / folder / file).resolve()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--refresh-wording",
        action="store_true",
        help="run the tests that use the fixture 'said', and write what they hear to tests/wording",
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--refresh-wording") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Refresh(config), "refresh-wording")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--refresh-wording"):
        config.hook.pytest_deselected(items=[item for item in items if not _hears(item)])
        items[:] = [item for item in items if _hears(item)]


def _hears(item: pytest.Item) -> bool:
    """Whether a test takes the fixture; a parameter may have the same name."""
    parameters = getattr(getattr(item, "callspec", None), "params", ())
    return "said" in getattr(item, "fixturenames", ()) and "said" not in parameters


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    result = yield
    said = getattr(item, "funcargs", {}).get("said")
    if isinstance(said, Said):
        said.finish()
        if item.config.getoption("--refresh-wording"):
            item.user_properties.append((_PROPERTY, said.heard))
    return result


@pytest.fixture
def said(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Said:
    """Compares the sentences of this test with those that are kept."""
    if getattr(request.function, "is_hypothesis_test", False):
        pytest.fail("A test of Hypothesis hears something else with every example: use `match` with one short word.")
    return Said(request.node.nodeid, request.config, tmp_path_factory.getbasetemp())
