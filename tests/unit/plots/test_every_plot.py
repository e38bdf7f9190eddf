"""What holds for every plot: where it draws, what it needs, and that it is in the gallery."""

from __future__ import annotations

import io
import runpy
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from tests.tools.pictures import frame, nodes
from tests.tools.wording import Said
from tests.unit.plots.test_time_plot import table

from dagpost import DagPosterior, DagSample, plots
from dagpost.errors import InputError

mpl.use("Agg")
import matplotlib.pyplot as plt

GALLERY = Path(__file__).resolve().parents[3] / "docs" / "gallery"


def every_plot(model: DagPosterior, chains: DagSample) -> dict[str, Any]:
    effect = model.effect("Smoking", "Pressure", draws=500, seed=1)
    numbers = DagPosterior("bge", seed=1).fit(np.random.default_rng(1).normal(size=(50, 2)))
    return {
        "graph": lambda ax: plots.graph(model, ax=ax),
        "heat_map": lambda ax: plots.heat_map(model, ax=ax),
        "edges": lambda ax: plots.edges(chains, ax=ax),
        "traces": lambda ax: plots.traces(chains, ax=ax),
        "r_hat": lambda ax: plots.r_hat(chains, ax=ax),
        "effect_density": lambda ax: plots.effect_density(effect, ax=ax),
        "effect_parts": lambda ax: plots.effect_parts(effect, ax=ax),
        "effect_curve": lambda ax: plots.effect_curve(numbers.effect("V0", "V1", draws=200), ax=ax),
        "effect_outcomes": lambda ax: plots.effect_outcomes(effect, ax=ax),
        "comparison": lambda ax: plots.comparison(model, chains, ax=ax),
        "in_time": lambda ax: plots.in_time(table(), ax=ax),
    }


def test_each_function_draws_where_it_is_told_and_returns_the_axes(model: DagPosterior, chains: DagSample) -> None:
    found = every_plot(model, chains)
    assert sorted(found) == sorted(plots.__all__)
    for name, draw in found.items():
        figure, axes = plt.subplots(2, 2, figsize=(12, 9))
        assert draw(axes[0, 1]) is axes[0, 1], name
        assert plt.get_fignums() == [figure.number], name
        assert not axes[0, 0].has_data(), name
        figure.canvas.draw()
        plt.close(figure)
        own = draw(None)
        assert len(plt.get_fignums()) == 1, name
        # A figure may be saved twice, and drawn into again.
        own.figure.savefig(io.BytesIO(), format="svg")
        own.figure.savefig(io.BytesIO(), dpi=40)
        draw(own)
        own.figure.canvas.draw()
        plt.close("all")


@pytest.mark.long
def test_what_is_said_above_a_plot_stays_inside_the_figure(chains: DagSample) -> None:
    """Long names make the axes narrow: the words must use the room above the names."""
    names = tuple(
        f"{word}_of_the_patient_today" for word in ("smoking", "work", "effort", "pressure", "ratio", "family")
    )
    few = replace(chains[:60], names=names)
    exact = few.edge_frequencies()
    for draw in (
        lambda ax: plots.edges(few, ax=ax),
        lambda ax: plots.comparison(exact, few, labels=("exact", "chains"), ax=ax),
        lambda ax: plots.heat_map(few, ax=ax),
        lambda ax: plots.r_hat(few, ax=ax),
        lambda ax: plots.traces(few, statement=f"{names[0]} -> {names[1]} & {names[2]} ~> {names[3]}", ax=ax),
    ):
        for ax in (draw(None), draw(plt.subplots(1, 2, figsize=(13, 5), layout="constrained")[1][0])):
            figure = ax.figure
            figure.canvas.draw()
            for text in (ax.title, ax.yaxis.label):
                if not text.get_text():
                    continue
                box = text.get_window_extent()
                assert figure.bbox.x0 <= box.x0
                assert box.x1 <= figure.bbox.x1
                assert figure.bbox.y0 <= box.y0
                assert box.y1 <= figure.bbox.y1
            assert ax.get_title()
        plt.close("all")
    said = plots.edges(few).get_title().replace("\n", " ")
    assert "not to be trusted yet" in said


def test_a_figure_without_pyplot_will_do(model: DagPosterior) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure()
    FigureCanvasAgg(figure)
    ax = figure.add_subplot()
    assert plots.graph(model, ax=ax) is ax
    figure.savefig(io.BytesIO())
    assert plt.get_fignums() == []
    part = Figure(figsize=(8, 4)).subfigures(1, 2)[0].subplots()
    assert len(nodes(plots.graph(model, ax=part))) == 6


def test_without_matplotlib_one_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch, said: Said) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    for draw in (plots.graph, plots.heat_map, plots.edges):
        with said.raises(InputError):
            draw(frame(np.zeros((2, 2))))


def test_loading_the_plots_loads_no_matplotlib() -> None:
    import subprocess

    program = "import sys, dagpost.plots; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False, timeout=120).returncode == 0


def test_every_plot_is_in_the_gallery() -> None:
    scripts = "".join(path.read_text(encoding="utf-8") for path in GALLERY.glob("plot_*.py"))
    for name in plots.__all__:
        assert f"plots.{name}(" in scripts


@pytest.mark.parametrize("script", sorted(GALLERY.glob("plot_*.py")), ids=lambda path: path.stem)
def test_every_script_of_the_gallery_runs_and_draws(script: Path) -> None:
    words = runpy.run_path(str(script))["__doc__"]
    title, line = words.strip().splitlines()[:2]
    assert set(line) == {"="}
    assert len(line) == len(title)
    assert plt.get_fignums()
    for number in plt.get_fignums():
        plt.figure(number).canvas.draw()
