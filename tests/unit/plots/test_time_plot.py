"""Pictures of tables with time: series as rows, times as columns; lines keep to the room between boxes."""

from __future__ import annotations

import itertools
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from tests.tools.wording import Said

from dagpost import DagPosterior, datasets, plots
from dagpost.errors import InputError
from dagpost.plots.canvas import SceneLine
from dagpost.plots.curves import meets_box, points_along
from dagpost.plots.routing import overlap
from dagpost.plots.svg import svg_of
from dagpost.plots.time_scene import time_scene
from dagpost.posterior.directions import not_computed

mpl.use("Agg")
import matplotlib.pyplot as plt


def table(series: int = 4, lags: int = 2, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    present = [f"s{one}" for one in range(series)]
    names = [*present, *(f"{one}[t-{lag}]" for lag in range(1, lags + 1) for one in present), "sex"]
    edges = pd.DataFrame(0.0, names, names)
    for parent, child in itertools.product(names[series:], present):
        edges.loc[parent, child] = rng.uniform(0.0, 1.0) * (rng.random() < 0.4)
    edges.loc["s0", "s1"], edges.loc["s1", "s0"] = 0.3, 0.2
    edges.loc["s2[t-1]", "s3"], edges.loc["s3[t-1]", "s3"] = 0.04, 0.9
    return edges


def texts(ax: Any, kind: str) -> list[str]:
    return [text.get_text() for text in ax.texts if text.get_gid() == kind]


@pytest.fixture(autouse=True)
def closed() -> Any:
    yield
    plt.close("all")


def test_series_are_rows_and_times_are_columns() -> None:
    edges = table()
    ax = plots.in_time(edges)
    assert texts(ax, "time") == ["static", "2 steps earlier", "1 step earlier", "now"]
    labels = [text for text in ax.texts if text.get_gid() == "node"]
    boxes = {name: text.get_position() for name, text in zip(edges.columns, labels, strict=True)}
    assert len({boxes[name][1] for name in ("s1", "s1[t-1]", "s1[t-2]")}) == 1
    assert boxes["sex"][0] < boxes["s0[t-2]"][0] < boxes["s0[t-1]"][0] < boxes["s0"][0]
    lines = [patch.line for patch in ax.patches if isinstance(patch, SceneLine) and patch.get_gid() == "line"]
    drawn = [line for line in lines if line is not None]
    joined = edges.to_numpy() + edges.to_numpy().T
    assert len(drawn) == int((np.triu(joined) >= 0.1).sum())
    present = {number for number, name in enumerate(edges.columns) if "[" not in name and name != "sex"}
    assert {line.word for line in drawn if line.source not in present} == {"rules"}
    assert [round(line.joined, 6) for line in drawn if line.source in present] == [0.5]
    assert "Not drawn: 1 edge with a probability below 0.1." in " ".join(texts(ax, "caption"))
    heads = [line.head for line in drawn if line.head is not None]
    assert not any(overlap(one, other) for one, other in itertools.combinations(heads, 2))


@pytest.mark.parametrize(("series", "lags"), [(4, 1), (5, 3), (9, 2)])
def test_lines_pass_no_other_box_and_lead_on_in_time(series: int, lags: int) -> None:
    edges = table(series, lags)
    edges.loc["s0", "s3"] = edges.loc["s1", "s3"] = 0.6
    scene = time_scene(not_computed(tuple(edges.columns), edges.to_numpy()))
    boxes = {box.node: box for box in scene.boxes}
    for line in scene.lines:
        others = [box for node, box in boxes.items() if node not in (line.source, line.target)]
        frames = np.array([(box.x, box.y, box.width / 2.0, box.height / 2.0) for box in others])
        assert not meets_box(points_along(line.path), frames, np.zeros(len(others)))
        assert boxes[line.source].x <= boxes[line.target].x


def test_twenty_series_and_three_lags_fit_and_improbable_edges_are_left_out() -> None:
    ax = plots.in_time(table(20, 3), legend=False)
    figure = ax.figure
    figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.texts if text.get_gid() == "node"]
    assert len(boxes) == 81
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))
    assert min(text.get_fontsize() for text in ax.texts if text.get_gid() == "node") > 6.0


def test_the_picture_in_html_has_the_same_lines_and_escapes_names() -> None:
    edges = table(4, 1)
    names = tuple(name.replace("s0", "<i>") for name in edges.columns)
    picture = svg_of(time_scene(not_computed(names, edges.to_numpy())), standalone=True)
    joined = edges.to_numpy() + edges.to_numpy().T
    assert picture.count("data-pair=") == int((np.triu(joined) >= 0.1).sum())
    assert "<i>" not in picture
    assert "&lt;i&gt; and s1 now: 0.500" in picture or "s1 and &lt;i&gt; now: 0.500" in picture


def test_a_table_without_time_is_refused(said: Said) -> None:
    with said.raises(InputError):
        plots.in_time(DagPosterior("bdeu", max_parents=1).fit(datasets.load("coronary")))
