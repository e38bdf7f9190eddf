"""What the README and the pages of docs/ show is run: the Python, the commands, and the output beside them.

tools/refresh_pages.py says how a page is read; what is not run stands in another language (`bash`, `r`).
"""

from __future__ import annotations

import itertools
import pydoc
import re
import runpy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import dagpost
from dagpost.cli import app
from dagpost.exact import paths, structure

PROJECT = Path(__file__).resolve().parents[3]
# By its path: the tools of the project are not a package, and tests have tools of their own.
_PAGES = runpy.run_path(str(PROJECT / "tools" / "refresh_pages.py"))
PAGES, blocks, refreshed, write_example_files = (
    _PAGES[name] for name in ("PAGES", "blocks", "refreshed", "write_example_files")
)


#: Pages whose examples take too long for every run.
_LONG = ("docs/many_columns.md", "docs/mixed.md")
_RUN, _NOT_RUN = {"python", "pycon", "console"}, {"bash", "r", "text"}


@pytest.fixture
def example_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The files that the pages speak of, in the current folder; figures are drawn but not shown."""
    from matplotlib import pyplot

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    write_example_files()
    yield
    pyplot.close("all")


@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=pytest.mark.long) if page in _LONG else page for page in PAGES]
)
@pytest.mark.usefixtures("example_files")
def test_a_page_read_from_top_to_bottom_prints_what_it_shows(page: str) -> None:
    shown = (PROJECT / page).read_text(encoding="utf-8")
    assert shown.splitlines() == refreshed(page).splitlines(), f"python tools/refresh_pages.py {page}"


@pytest.mark.parametrize("page", PAGES)
def test_every_block_of_a_page_is_run_or_says_that_it_is_not(page: str) -> None:
    found = [kind for kind, _ in blocks(page)]
    assert set(found) <= _RUN | _NOT_RUN
    # The output of the demo follows a bash block.
    before = {"python", "bash"} if page == "README.md" else {"python"}
    assert {earlier for earlier, kind in itertools.pairwise(["", *found]) if kind == "text"} <= before


def documented_names() -> set[str]:
    """What the reference has an entry for, without `dagpost.` before it."""
    text = (PROJECT / "docs" / "reference.md").read_text(encoding="utf-8")
    return set(re.findall(r"^\.\. auto\w+:: dagpost\.([\w.]+)$", text, re.MULTILINE))


def test_reference_has_every_public_name() -> None:
    from dagpost import datasets, plots, reference

    functions = {
        **{"data.datasets." + name: getattr(datasets, name) for name in ("load", "names", "describe", "true_edges")},
        **{"plots." + name: getattr(plots, name) for name in plots.__all__},
        **{"reference." + name: thing for name, thing in vars(reference).items() if callable(thing) and name[0] != "_"},
    }
    modules = {"__version__", "datasets", "plots", "reference"}
    public = (set(vars(dagpost)["__all__"]) - modules) | set(functions)
    assert sorted(public - documented_names()) == []


def test_every_entry_of_the_reference_exists() -> None:
    assert [name for name in sorted(documented_names()) if pydoc.locate(f"dagpost.{name}") is None] == []


def test_every_function_that_the_mathematics_names_is_in_the_reference() -> None:
    text = (PROJECT / "docs" / "mathematics.md").read_text(encoding="utf-8")
    named = set(re.findall(r"\{py:obj\}`dagpost\.([\w.]+)`", text))
    assert named
    assert sorted(named - documented_names()) == []


def test_feature_page_names_every_operator_that_the_language_reads() -> None:
    from dagpost.features import STATEMENTS, language

    text = (PROJECT / "docs" / "features.md").read_text(encoding="utf-8")
    rows = [line for line in (language.__doc__ or "").splitlines() if line.startswith("| `")]
    forms = [form for row in rows for form in re.findall(r"`([^`]+)`", row.split(" | ")[0])]
    forms += [example for known in STATEMENTS.classes().values() for form in known.forms() for example in form.examples]
    assert forms
    assert [form for form in forms if f"`{form}`".replace("|", "\\|") not in text and f"`{form}`" not in text] == []


def test_method_page_names_every_method() -> None:
    from dagpost.methods.registry import METHODS

    text = (PROJECT / "docs" / "methods.md").read_text(encoding="utf-8")
    ours = [kind.name for kind in METHODS.classes().values() if kind.__module__.startswith("dagpost.")]
    assert [method for method in ours if f'`"{method}"`' not in text] == []


def test_command_line_page_names_every_command_and_option() -> None:
    from typer.main import get_command

    text = (PROJECT / "docs" / "command-line.md").read_text(encoding="utf-8")
    common, *sections = re.split(r"^## ", text, flags=re.MULTILINE)
    told = {section.split("\n", 1)[0]: section for section in sections}
    group: Any = get_command(app)
    commands = {name: group.get_command(None, name) for name in group.list_commands(None)}
    assert set(told) == set(commands)
    missing = [
        f"{name} {option}"
        for name, command in commands.items()
        for part in [command, *getattr(command, "commands", {}).values()]
        for parameter in part.params
        for option in parameter.opts
        if option.startswith("-") and f"`{option}" not in told[name] and f"`{option}" not in common
    ]
    assert missing == []


def largest(seconds: Callable[[int], float], patience: float) -> int:
    """The largest number of variables that takes no longer than this."""
    return max(nodes for nodes in range(2, 64) if seconds(nodes) <= patience)


@pytest.mark.parametrize("page", ["README.md", "docs/methods.md"])
def test_limits_that_a_page_names_are_those_that_the_code_sets(page: str) -> None:
    """Two cores, and memory enough; the constants are those of methods/choice.py and posterior/answers.py."""
    from dagpost.methods import choice
    from dagpost.posterior import answers

    sums = largest(lambda nodes: structure.expected_seconds(nodes, 2), choice.PATIENCE_SECONDS)
    matrix = largest(lambda nodes: paths.expected_seconds(nodes, nodes, 2), answers.PATIENCE_SECONDS)
    text = " ".join((PROJECT / page).read_text(encoding="utf-8").split())
    assert f"up to {sums} variables on two cores" in text
    assert f"exact up to {matrix} variables" in text
    assert structure.memory_needed(20, 5, 2) == pytest.approx(68 * 2**20, rel=0.2)


def test_links_between_pages_lead_somewhere() -> None:
    pages = [*PROJECT.glob("*.md"), *(PROJECT / "docs").glob("*.md")]
    links = [
        (page, link, anchor)
        for page in pages
        for link, anchor in re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", page.read_text(encoding="utf-8"))
    ]
    # Sphinx makes the gallery from docs/gallery.
    made = "auto_gallery/"
    lost = [
        f"{page.name}: {link}#{anchor}"
        for page, link, anchor in links
        if not link.startswith(made) and not leads_somewhere(page.parent / link if link else page, anchor)
    ]
    assert lost == []


def leads_somewhere(target: Path, anchor: str) -> bool:
    """Whether the file is there and, in a page, a heading that has this anchor."""
    if not target.exists() or not anchor or target.suffix != ".md":
        return target.exists()
    headings = re.findall(r"^#+ (.+)$", target.read_text(encoding="utf-8"), re.MULTILINE)
    return anchor in {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize(
    ("picture", "pages"),
    [("coronary.svg", ("README.md", "docs/index.md", "docs/start.md")), ("cohort.svg", ("docs/cohort.md",))],
)
def test_the_picture_of_the_pages_is_what_its_script_draws(picture: str, pages: tuple[str, ...]) -> None:
    """What is said of each column and line; places may differ by the last digit that a computer finds."""
    kept = (PROJECT / "docs" / "_static" / picture).read_text(encoding="utf-8")
    drawn = runpy.run_path(str(PROJECT / "tools" / "picture.py"))["drawn"](picture)
    words = re.compile(r"<title>(.*?)</title>")
    assert len(words.findall(kept)) > 10
    assert words.findall(kept) == words.findall(drawn), "run: python tools/picture.py"
    assert len(kept) < 150_000
    for page in pages:
        assert f"_static/{picture})" in (PROJECT / page).read_text(encoding="utf-8"), page
