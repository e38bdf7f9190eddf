"""`dagpost plot`: every plot as a file, in the format that its name says, whole or not at all."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest
from tests.tools.cli_checks import Run, one_message, write_table
from tests.tools.wording import Said

from dagpost import DagPosterior, StructureMCMC, plots
from dagpost.plots.kinds import KINDS, options_of

mpl.use("Agg")


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two models of one table, fitted once."""
    folder = tmp_path_factory.mktemp("fitted")
    table = folder / write_table(folder)
    DagPosterior(score="bdeu", seed=1, samples=500).fit(table).save(folder / "model.dagpost")
    chains = StructureMCMC(chains=2, thinning=2, burn_in=0)
    DagPosterior(score="bdeu", seed=1, samples=500, method=chains).fit(table).save(folder / "chained.dagpost")
    return folder


@pytest.fixture
def model(fitted: Path, tmp_path: Path) -> str:
    shutil.copy(fitted / "model.dagpost", tmp_path)
    return "model.dagpost"


@pytest.fixture
def chained(fitted: Path, tmp_path: Path) -> str:
    shutil.copy(fitted / "chained.dagpost", tmp_path)
    return "chained.dagpost"


@pytest.fixture(autouse=True)
def no_figure_is_left_open() -> Iterator[None]:
    yield
    assert plt.get_fignums() == []


def test_every_plot_is_a_kind() -> None:
    assert sorted(kind.replace("-", "_") for kind in KINDS) == sorted(plots.__all__)


@pytest.mark.parametrize(
    "more",
    [
        [],
        ["--threshold", "0.5", "--numbers", "--no-legend"],
        ["--kind", "heat-map", "--relation", "~>", "--order", "C,A,B", "--no-numbers"],
        ["--kind", "edges", "--count", "3"],
        ["--kind", "comparison", "--with", "chained.dagpost", "--relation", "~>"],
    ],
    ids=" ".join,
)
def test_a_model_is_drawn(more: list[str], run: Run, model: str, chained: str, tmp_path: Path) -> None:
    kind = more[1] if more[:1] == ["--kind"] else "graph"
    assert run("plot", model, *more).stdout == f"Picture ({kind}): model-{kind}.svg\n"
    assert (tmp_path / f"model-{kind}.svg").read_bytes().startswith(b"<?xml")


@pytest.mark.parametrize(
    "more", [["--kind", "traces", "--statement", "A -> B"], ["--kind", "r-hat"], ["--kind", "edges"]]
)
def test_a_sample_is_drawn(more: list[str], run: Run, chained: str) -> None:
    run("sample", chained, "-n", "500", "--seed", "1", "-o", "graphs.dagpost")
    run("plot", "graphs.dagpost", *more, "-o", "picture.svg", "--size", "9x6")


@pytest.mark.parametrize(
    ("ending", "begins"),
    [
        ("png", b"\x89PNG"),
        ("pdf", b"%PDF"),
        ("eps", b"%!PS"),
        ("jpg", b"\xff\xd8"),
        ("tiff", b"II*"),
        ("webp", b"RIFF"),
    ],
)
def test_the_ending_says_the_format(ending: str, begins: bytes, run: Run, model: str, tmp_path: Path) -> None:
    found = json.loads(run("plot", model, "-o", f"a.{ending.upper()}", "--kind", "edges", "--json").stdout)
    assert found == {"picture": f"a.{ending.upper()}", "kind": "edges", "format": ending}
    assert (tmp_path / found["picture"]).read_bytes().startswith(begins)


def test_a_picture_has_a_title_and_the_size_that_is_asked_for(
    run: Run, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[Any, ...]] = []
    save = mpl.figure.Figure.savefig

    def watched(figure: Any, *own: Any, **more: Any) -> None:
        seen.append((figure.get_suptitle(), *figure.get_size_inches()))
        save(figure, *own, **more)

    monkeypatch.setattr(mpl.figure.Figure, "savefig", watched)
    run("plot", model, "-o", "a.svg")
    run("plot", model, "-o", "a.svg", "--title", "What costs $5 and $6", "--size", "127x101.6mm")
    run("plot", model, "-o", "a.svg", "--title", "")
    assert seen[0][0].replace("\n", " ") == "model: which variables are joined, and which way"
    assert seen[1] == (r"What costs \$5 and \$6", 5.0, 4.0)
    assert seen[2][0] == ""
    assert seen[2][1] == seen[0][1]
    assert seen[2][2] < seen[0][2]


def test_the_same_picture_is_the_same_file_and_replaces_itself(run: Run, model: str, tmp_path: Path) -> None:
    run("plot", model, "-o", "a.svg")
    first = (tmp_path / "a.svg").read_bytes()
    run("plot", model, "-o", "a.svg")
    assert (tmp_path / "a.svg").read_bytes() == first
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.svg", "model.dagpost"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-o", "a.gif"], "Name it with one of .svg, .pdf, .png, .eps, .jpg, .jpeg, .tif, .tiff, .webp"),
        (["-o", "no/a.svg"], "There is no folder 'no'"),
        (["-o", "folder.svg"], "'folder.svg' is a folder"),
        (["--kind", "heatmap"], "--kind has no 'heatmap'. Did you mean 'heat-map'?"),
        (
            ["--relation", "~>"],
            "--relation is not for the plot 'graph', but for heat-map, comparison. Leave it out, or",
        ),
        (["--with", "model.dagpost"], "--with is not for the plot 'graph', but for comparison."),
        (["--kind", "comparison"], "A comparison needs a second model or sample. Name it: --with FILE"),
        (["--kind", "in-time"], "A picture in time is"),
        (["--kind", "traces"], "do not come from chains"),
        (["--kind", "effect-density", "--cause", "A"], "Name one with --outcome, too"),
        (["--threshold", "2"], "--threshold must be a float of at least 0 and below 1"),
        (["--kind", "heat-map", "--order", "A,B,Z"], "'Z'"),
        (["--kind", "edges", "--size", "4x4", "--title", "x" * 150], "need more room. Give a larger --size, or none"),
        (["--size", "5"], "--size is a width and a height in centimetres, as 16x10"),
        (["--size", "5x900"], "each from 4 to 150 cm"),
        (["--dpi", "100"], "--dpi is for pictures made of dots (png, jpg, tiff, webp); svg is made of lines"),
        (["-o", "a.png", "--dpi", "5"], "--dpi must be a whole number from 30 to 1200"),
        (["-o", "a.png", "--dpi", "1200", "--size", "150x150"], "is too large. Lower --dpi"),
    ],
    ids=lambda words: " ".join(words) if isinstance(words, list) else "",
)
def test_plot_refuses_in_words(arguments: list[str], words: str, run: Run, model: str, tmp_path: Path) -> None:
    (tmp_path / "folder.svg").mkdir()
    before = sorted(tmp_path.iterdir())
    assert words in one_message(run("plot", model, *arguments, status=2))
    assert sorted(tmp_path.iterdir()) == before


def test_options_of_a_plot_are_those_of_its_function() -> None:
    assert options_of("graph") == ("threshold", "numbers", "legend")
    assert options_of("traces") == ("statement",)


def test_without_matplotlib_one_sentence_says_what_to_install(
    run: Run, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    assert 'pip install "dagpost[plot]"' in one_message(run("plot", model, status=2))


def test_a_table_with_time_is_drawn_in_time(run: Run, tmp_path: Path) -> None:
    write_table(tmp_path, "time.csv", **{"A[t-1]": [0, 1] * 200})
    DagPosterior(score="bdeu", seed=1, samples=50, exogenous=["A[t-1]"]).fit(tmp_path / "time.csv").save(tmp_path / "t")
    assert run("plot", "t", "-o", "t.svg").stdout == "Picture (in-time): t.svg\n"


def test_names_from_the_data_are_shown_as_they_are(run: Run, tmp_path: Path) -> None:
    write_table(tmp_path, "odd.csv", **{"</svg><script>alert(1)</script>": [0, 1] * 200, "\x1b[31m$x$": [1, 0] * 200})
    run("fit", "odd.csv", "--score", "bdeu", "--samples", "50", "-q")
    for kind in ("graph", "edges", "heat-map"):
        said = run("plot", "odd.dagpost", "--kind", kind, "--title", "\x1b[31m<b>$").stdout
        assert "\x1b" not in said
        written = (tmp_path / f"odd-{kind}.svg").read_text()
        assert "<script>" not in written
        assert "\x1b" not in written


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_a_device_is_not_written_over(run: Run, model: str, tmp_path: Path, said: Said) -> None:
    (tmp_path / "full.svg").symlink_to("/dev/full")
    said(one_message(run("plot", model, "-o", "full.svg", status=2)))


def test_a_full_disk_leaves_the_old_picture(
    run: Run, model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: Said
) -> None:
    run("plot", model, "-o", "a.svg")
    before = (tmp_path / "a.svg").read_bytes()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("dagpost._tools.whole_files.os.fsync", full)
    heard = one_message(run("plot", model, "-o", "a.svg", "--kind", "edges", status=2))
    said(heard)
    assert (tmp_path / "a.svg").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.svg", "model.dagpost"]
