"""Pictures, compared by what is in them: boxes, lines, labels, legends; and that they leave everything else alone."""

from __future__ import annotations

import io
import re
import runpy
import sys
import warnings
from itertools import combinations
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

from dagpost import Bootstrap, DagPosterior, DagSample, compare, datasets, plot_comparison
from dagpost.errors import InputError
from dagpost.mcmc.diagnostics import LARGEST_R_HAT
from dagpost.show import plots
from dagpost.show.arrows import EdgeArrow, EdgeNumber, dashes_of
from dagpost.show.direction import direction_of
from dagpost.show.small_graph import small_graph

mpl.use("Agg")
import matplotlib.pyplot as plt

GALLERY = Path(__file__).resolve().parents[2] / "docs" / "gallery"
ODD = [
    "$x_1$",
    "a_b^c%",
    "line\nbreak",
    "L" * 60,
    "many words in one name, and then some more words",
    "<b>bold</b>",
    "\\frac{1}{2}",
    "~",
]
ALARM = [
    "CVP",
    "PCWP",
    "HISTORY",
    "TPR",
    "BP",
    "CO",
    "HRBP",
    "HREKG",
    "HRSAT",
    "PAP",
    "SAO2",
    "FIO2",
    "PRESS",
    "EXPCO2",
    "MINVOL",
    "MINVOLSET",
    "HYPOVOLEMIA",
    "LVFAILURE",
    "ANAPHYLAXIS",
    "INSUFFANESTH",
    "PULMEMBOLUS",
    "INTUBATION",
    "KINKEDTUBE",
    "DISCONNECT",
    "LVEDVOLUME",
    "STROKEVOLUME",
    "CATECHOL",
    "ERRLOWOUTPUT",
    "HR",
    "ERRCAUTER",
    "SHUNT",
    "PVSAT",
    "ARTCO2",
    "VENTALV",
    "VENTLUNG",
    "VENTTUBE",
    "VENTMACH",
    "A1",
    "A2",
    "A3",
]


@pytest.fixture(autouse=True)
def _close_figures() -> Any:
    settings = dict(mpl.rcParams)
    yield
    plt.close("all")
    assert dict(mpl.rcParams) == settings


@pytest.fixture(scope="module")
def model() -> DagPosterior:
    return DagPosterior(seed=1).fit(datasets.load("coronary"))


@pytest.fixture(scope="module")
def chains() -> DagSample:
    return DagPosterior(method="structure-mcmc", seed=1).fit(datasets.load("coronary")).sample(4_000, seed=1)


def frame(matrix: Any, names: list[str] | None = None) -> pd.DataFrame:
    numbers = np.array(matrix, dtype=np.float64)
    names = [f"v{number}" for number in range(len(numbers))] if names is None else names
    return pd.DataFrame(numbers, index=names, columns=names)


def sparse(names: list[str], seed: int, degree: float = 2.4) -> pd.DataFrame:
    """A posterior with about so many probable edges a variable, and many improbable ones."""
    rng, count = np.random.default_rng(seed), len(names)
    order = rng.permutation(count)
    likely = rng.random((count, count)) < degree / max(count - 1, 1)
    joined = np.triu(np.where(likely, rng.beta(4.0, 1.0, (count, count)), 0.04 * rng.random((count, count))), 1)
    share = rng.beta(1.5, 0.4, (count, count))
    return frame((joined * share + (joined * (1.0 - share)).T)[np.ix_(order, order)], names)


def nodes(ax: Any) -> list[Any]:
    return [text for text in ax.texts if text.get_gid() == "node"]


def arrows(ax: Any) -> list[EdgeArrow]:
    return [artist for artist in ax.get_children() if isinstance(artist, EdgeArrow)]


def caption(ax: Any) -> str:
    return " ".join(text.get_text() for text in ax.texts if text.get_gid() == "caption").replace("\n", " ")


def boxes_of(ax: Any) -> list[Any]:
    """The boxes of the nodes as they are drawn, in pixels."""
    figure = ax.figure
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    return [text.get_bbox_patch().get_window_extent(renderer) for text in nodes(ax)]


def assert_apart_and_inside(ax: Any) -> None:
    boxes, whole = boxes_of(ax), ax.figure.bbox
    for one, two in combinations(boxes, 2):
        assert not one.overlaps(two)
    for box in boxes:
        assert whole.x0 <= box.x0
        assert box.x1 <= whole.x1
        assert whole.y0 <= box.y0
        assert box.y1 <= whole.y1


# The graph


def test_the_graph_has_a_box_for_each_variable_and_a_line_for_each_probable_pair(model: DagPosterior) -> None:
    ax = plots.graph(model, threshold=0.5)
    joined = (model.edge_probabilities_ + model.edge_probabilities_.T).to_numpy()
    assert sorted(text.get_text() for text in nodes(ax)) == sorted(model.names_)
    assert len(arrows(ax)) == int((np.triu(joined) >= 0.5).sum())
    ax.figure.canvas.draw()


def test_lines_are_wider_and_darker_the_more_probable_they_are() -> None:
    matrix = np.zeros((6, 6))
    matrix[0, 1:] = [0.15, 0.3, 0.5, 0.8, 1.0]
    drawn = sorted(arrows(plots.graph(frame(matrix))), key=lambda arrow: arrow.probability)
    widths = [arrow.width for arrow in drawn]
    greys = [float(arrow.colour) for arrow in drawn]
    assert len(drawn) == 5
    assert all(np.diff(widths) > 0)
    assert all(np.diff(greys) < 0)


@pytest.mark.parametrize("dpi", [72, 144, 288])
def test_a_line_is_as_wide_at_every_resolution(dpi: int) -> None:
    figure = plt.figure(figsize=(4, 4), dpi=dpi)
    ax = plots.graph(frame([[0.0, 1.0], [0.0, 0.0]]), numbers=False, legend=False, ax=figure.add_axes((0, 0, 1, 1)))
    figure.canvas.draw()
    middle = np.asarray(figure.canvas.buffer_rgba())[2 * dpi, :, 0]
    dark = (255 - middle.astype(float)).sum() / 255 * 72 / dpi
    assert dark == pytest.approx(arrows(ax)[0].width, abs=0.4)


#: Probabilities of both directions, the word for them, and which heads are filled: at the parent, at the child.
SPLITS = [
    ((0.9, 0.0), "clear", [True]),
    ((0.81, 0.09), "clear", [True]),
    ((0.6, 0.2), "leaning", [False, True]),
    ((0.2, 0.6), "leaning", [False, True]),
    ((0.48, 0.32), "leaning", [False, True]),
    ((0.4, 0.4), "open", [False, False]),
    ((0.7, np.nan), "unknown", []),
    ((np.nan, 0.7), "unknown", []),
]


@pytest.mark.parametrize(("split", "word", "filled"), SPLITS)
def test_lines_and_heads_say_how_sure_a_direction_is(split: tuple[float, float], word: str, filled: list[bool]) -> None:
    figure, ax = plt.subplots()
    plots.graph(frame([[0.0, split[0]], [split[1], 0.0]], ["A", "B"]), ax=ax)
    (arrow,) = arrows(ax)
    assert arrow.probability == pytest.approx(np.nansum(split))
    assert arrow.direction == word == direction_of(*split)
    # The line leads from the more probable parent.
    onward = np.nan_to_num(split[0]) >= np.nan_to_num(split[1])
    assert (arrow.parent.get_text(), arrow.child.get_text()) == (("A", "B") if onward else ("B", "A"))
    found = arrow.path(figure.canvas.get_renderer())
    assert found is not None
    assert [own for _, own in found[1]] == filled
    # Said by the line too, so that it can be read where heads are small.
    assert (dashes_of(word) is None) == (word == "clear")
    assert dashes_of("unknown") != dashes_of("open")


def test_a_line_against_its_direction_has_the_filled_head_above() -> None:
    """Of a cycle of probable directions one line must lead upwards in the layers."""
    ax = plots.graph(frame([[0.0, 0.9, 0.2], [0.05, 0.0, 0.9], [0.6, 0.05, 0.0]], list("ABC")))
    ax.figure.canvas.draw()
    (upward,) = [a for a in arrows(ax) if (a.parent.get_text(), a.child.get_text()) == ("A", "C")]
    assert upward.direction == "leaning"
    assert upward.filled == (True, False)


def test_the_number_of_a_pair_that_is_half_known_is_a_least_one() -> None:
    ax = plots.graph(frame([[0.0, 0.7], [np.nan, 0.0]]))
    (number,) = [artist for artist in ax.get_children() if isinstance(artist, EdgeNumber)]
    assert number.get_text() == "≥0.70"
    assert "not known" in legend_words(ax)


def test_the_small_picture_of_notebooks_speaks_the_same_language() -> None:
    edges = np.zeros((6, 6))
    for place, split in enumerate([(0.81, 0.09), (0.2, 0.6), (0.4, 0.4)]):
        edges[2 * place, 2 * place + 1], edges[2 * place + 1, 2 * place] = split
    picture = small_graph([f"v{number}" for number in range(6)], edges)
    groups = dict(re.findall(r"<title>(v\d) -&gt; .*?</title>(.*?)</g>", picture))
    looks = {
        name: (re.findall(r'fill="(white|rgb[^"]*)"', drawn), "dasharray" in drawn) for name, drawn in groups.items()
    }
    # The line leads from the more probable parent; a head at its end comes first.
    assert [face == "white" for face in looks["v0"][0]] == [False]
    assert [face == "white" for face in looks["v3"][0]] == [False, True]
    assert [face == "white" for face in looks["v4"][0]] == [True, True]
    assert [dashed for _, dashed in looks.values()].count(True) == 2
    assert not looks["v0"][1]
    assert "direction less than 90% sure" in picture


def legend_words(ax: Any) -> list[str]:
    from matplotlib.legend import Legend

    legends = [artist for artist in ax.get_children() if isinstance(artist, Legend)]
    return [text.get_text() for box in legends for text in (box.get_title(), *box.get_texts())]


def test_the_caption_says_what_the_numbers_are_and_how_much_is_hidden(model: DagPosterior, chains: DagSample) -> None:
    words = caption(plots.graph(model, threshold=0.5))
    joined = (model.edge_probabilities_ + model.edge_probabilities_.T).to_numpy()[np.triu_indices(6, 1)]
    hidden = joined[(joined < 0.5) & (joined > 0.0)]
    assert words.startswith("Exact (each graph counted once).")
    assert f"Not drawn: {len(hidden)} pairs joined with a probability below 0.5" in words
    assert f"together {hidden.sum():.2g} expected edges." in words
    assert "Estimated from 4,000 graphs by structure-mcmc, to be trusted" in caption(plots.graph(chains))
    assert "Not drawn" not in caption(plots.graph(frame(np.zeros((3, 3)))))
    assert caption(plots.graph(model, legend=False)) == ""


def test_a_legend_explains_lines_and_heads(model: DagPosterior) -> None:
    assert legend_words(plots.graph(model)) == [
        "probability of an edge",
        *("0.25", "0.5", "1"),
        "its direction",
        *("clear (at least 90%)", "leans to the filled head (60 to 90%)", "open (below 60%)"),
    ]
    assert legend_words(plots.graph(model, legend=False)) == []


def test_numbers_stand_on_the_lines_of_small_graphs(model: DagPosterior) -> None:
    def numbers(ax: Any) -> list[EdgeNumber]:
        return [artist for artist in ax.get_children() if isinstance(artist, EdgeNumber)]

    ax = plots.graph(model)
    assert sorted(n.get_text() for n in numbers(ax)) == sorted(f"{a.probability:.2f}" for a in arrows(ax))
    ax.figure.canvas.draw()
    x, y = numbers(ax)[0].get_position()
    assert ax.figure.bbox.contains(x, y)
    assert numbers(plots.graph(model, numbers=False)) == []
    big = sparse(ALARM[:25], 1)
    assert numbers(plots.graph(big)) == []
    assert len(numbers(plots.graph(big, numbers=True))) > 12


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_labels_do_not_overlap_and_are_not_cut_with_25_variables(seed: int) -> None:
    ax = plots.graph(sparse(ALARM[:25], seed))
    assert len(nodes(ax)) == 25
    assert_apart_and_inside(ax)


def test_labels_do_not_overlap_in_axes_that_are_given() -> None:
    figure, axes = plt.subplots(1, 2, figsize=(12, 6))
    for ax, count in zip(axes, (25, 12), strict=True):
        plots.graph(sparse(ALARM[:count], 4), ax=ax)
        assert_apart_and_inside(ax)
        for box in boxes_of(ax):
            assert ax.bbox.x0 - 1 <= box.x0
            assert box.x1 <= ax.bbox.x1 + 1
    assert plt.get_fignums() == [figure.number]


@pytest.mark.parametrize("count", [1, 2, 3, 8, 40])
@pytest.mark.parametrize("layout", ["layered", "circle"])
def test_graphs_of_every_size_are_drawn(count: int, layout: str) -> None:
    ax = plots.graph(sparse(ALARM[:count], count), layout=layout)
    assert len(nodes(ax)) == count
    assert_apart_and_inside(ax)


def test_children_stand_below_their_parents_wherever_that_is_more_probable() -> None:
    matrix = np.zeros((5, 5))
    for parent, child in [(0, 1), (0, 2), (1, 3), (2, 3), (0, 4), (3, 4)]:
        matrix[parent, child], matrix[child, parent] = 0.7, 0.2
    ax = plots.graph(frame(matrix))
    height = {text.get_text(): text.get_position()[1] for text in nodes(ax)}
    for parent, child in [("v0", "v1"), ("v0", "v2"), ("v1", "v3"), ("v2", "v3"), ("v0", "v4"), ("v3", "v4")]:
        assert height[parent] > height[child]


def test_no_edges_and_all_edges_are_drawn() -> None:
    assert arrows(plots.graph(frame(np.zeros((7, 7))))) == []
    every = frame(np.where(np.eye(7), 0.0, 0.5))
    ax = plots.graph(every)
    assert len(arrows(ax)) == 21
    ax.figure.canvas.draw()
    # Too dense for layers.
    hairball = plots.graph(frame(np.where(np.eye(25), 0.0, 0.5)))
    assert all(arrow.stretches is None for arrow in arrows(hairball))


def test_what_is_not_known_is_not_drawn_but_told() -> None:
    ax = plots.graph(frame([[0.0, np.nan, 0.5], [0.0, 0.0, np.nan], [0.0, 0.0, 0.0]]))
    assert len(arrows(ax)) == 1
    assert "Not known: 2 edges." in caption(ax)


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_names_are_shown_as_they_are_in_every_format(kind: str) -> None:
    ax = plots.graph(sparse(ODD, 5, degree=3.0))
    shown = [text.get_text() for text in nodes(ax)]
    assert shown[0] == r"\$x_1\$"
    assert shown[2] == r"line\nbreak"
    assert "many words in…" not in shown[4]
    assert shown[3].endswith("…")
    assert "L" * 60 in caption(ax)
    assert ODD[4] in caption(ax)
    assert max(len(line) for text in shown for line in text.split("\n")) <= 18
    ax.figure.savefig(io.BytesIO(), format=kind)
    assert_apart_and_inside(ax)


def test_long_names_that_begin_alike_stay_apart() -> None:
    names = ["x" * 40 + "1", "x" * 40 + "2", "y"]
    ax = plots.graph(sparse(names, 1))
    shown = [text.get_text() for text in nodes(ax)]
    assert len(set(shown)) == 3
    assert all(name in caption(ax) for name in names[:2])


def test_chinese_names_are_wrapped_by_how_wide_they_are() -> None:
    names = ["变量名称", "一个非常长的变量名称它有很多字符在里面而且还有更多", "c"]
    with warnings.catch_warnings():
        # Whether there is a font with these characters is up to the machine.
        warnings.filterwarnings("ignore", "Glyph", UserWarning)
        ax = plots.graph(sparse(names, 1))
        assert_apart_and_inside(ax)
        ax.figure.savefig(io.BytesIO())
    assert max(len(line) for line in nodes(ax)[1].get_text().split("\n")) <= 7


def test_given_positions_are_kept() -> None:
    places = {"A": (0.0, 0.0), "B": (1.0, 5.0), "C": (2.0, 0.0)}
    table = frame([[0, 0.9, 0], [0, 0, 0.9], [0, 0, 0]], ["A", "B", "C"])
    ax = plots.graph(table, layout=places)
    found = {text.get_text(): text.get_position() for text in nodes(ax)}
    assert found["B"][1] > found["A"][1] == found["C"][1]
    assert found["A"][0] < found["B"][0] < found["C"][0]
    ax.figure.canvas.draw()


def test_boxes_that_lie_on_each_other_leave_no_room_for_a_line() -> None:
    ax = plots.graph(frame([[0, 0.9], [0, 0]], ["A", "B"]), layout={"A": (0, 0), "B": (0, 0)})
    ax.figure.canvas.draw()
    assert arrows(ax)[0].path(ax.figure.canvas.get_renderer()) is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"layout": "spring"}, "The 'layout' must be one of 'layered', 'circle', 'graphviz', or a dict"),
        ({"layout": {"v0": (0, 0)}}, "no position for 'v1'"),
        ({"layout": {"v0": (0, 0), "v1": 3}}, r"must be two numbers \(x, y\)"),
        ({"layout": {"v0": (0, 0), "v1": (0, np.inf)}}, "finite"),
        ({"threshold": 1.5}, "The 'threshold' must be a float of at least 0 and below 1"),
        ({"ax": "here"}, "The 'ax' must be axes of matplotlib"),
    ],
)
def test_wrong_settings_of_a_graph_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        plots.graph(frame(np.zeros((2, 2))), **options)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (np.zeros((2, 2)), r"fitted DagPosterior, a DagSample or a table.*Got ndarray"),
        (None, "Got NoneType"),
        ("model", "Got str"),
        (pd.DataFrame([[0.0, 2.0], [0.0, 0.0]], index=["a", "b"], columns=["a", "b"]), "between 0 and 1"),
        (pd.DataFrame([[0.0, 1.0]], index=["a"], columns=["a", "b"]), "same names in the same order"),
        (pd.DataFrame([["x", "y"], ["z", "w"]], index=["a", "b"], columns=["a", "b"]), "must hold numbers"),
        (pd.DataFrame(), "at least one variable"),
        (DagPosterior(), "has no data yet"),
    ],
)
@pytest.mark.parametrize("draw", [plots.graph, plots.heat_map, plots.edges])
def test_wrong_sources_are_refused(draw: Any, source: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        draw(source)
    assert plt.get_fignums() == []


def test_models_and_samples_draw_themselves(model: DagPosterior, chains: DagSample) -> None:
    for source in (model, chains):
        figure, ax = plt.subplots()
        assert source.plot(ax) is ax
        assert source.plot(threshold=0.9).figure is not figure


# All of them


def every_plot(model: DagPosterior, chains: DagSample) -> dict[str, Any]:
    effect = model.causal_effect("Smoking", "Pressure", draws=500, seed=1)
    other = model.sample(300, seed=1)
    return {
        "graph": lambda ax: plots.graph(model, ax=ax),
        "heat_map": lambda ax: plots.heat_map(model, ax=ax),
        "edges": lambda ax: plots.edges(chains, ax=ax),
        "convergence": lambda ax: plots.convergence(other, model, ax=ax),
        "traces": lambda ax: plots.traces(chains, ax=ax),
        "r_hat": lambda ax: plots.r_hat(chains, ax=ax),
        "effect_density": lambda ax: plots.effect_density(effect, ax=ax),
        "comparison": lambda ax: plots.comparison(model, chains, ax=ax),
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


def test_without_matplotlib_one_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    for draw in (plots.graph, plots.heat_map, plots.edges):
        with pytest.raises(InputError, match=r'pip install "dagpost\[plot\]"'):
            draw(frame(np.zeros((2, 2))))


def test_loading_the_plots_loads_no_matplotlib() -> None:
    import subprocess

    program = "import sys, dagpost.show.plots; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False, timeout=120).returncode == 0


# The others


def test_a_heat_map_has_names_numbers_and_a_bar(model: DagPosterior) -> None:
    ax = plots.heat_map(model, "~>")
    assert [label.get_text() for label in ax.get_yticklabels()] == list(model.names_)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("to", "from")
    paths = model.probability_matrix("~>").to_numpy()
    shown = np.asarray(ax.images[0].get_array())
    off = ~np.eye(6, dtype=bool)
    np.testing.assert_allclose(shown[off], paths[off])
    assert len(ax.texts) == 30
    assert {text.get_text() for text in ax.texts} == {f"{value:.2f}" for value in paths[off]}
    assert ax.figure.axes[1].get_ylabel() == "P(from ~> to)"
    assert "Exact" in ax.get_title()
    assert len(plots.heat_map(model, colour_bar=False).figure.axes) == 1


def test_a_heat_map_in_order_of_structure_has_what_is_probable_above_the_diagonal() -> None:
    names = list("ABCD")
    chain = np.zeros((4, 4))
    for parent, child in [(3, 1), (1, 0), (0, 2)]:
        chain[parent, child], chain[child, parent] = 0.8, 0.1
    ax = plots.heat_map(frame(chain, names), order="structure")
    assert [label.get_text() for label in ax.get_xticklabels()] == ["D", "B", "A", "C"]
    shown = np.asarray(ax.images[0].get_array())
    assert np.triu(shown, 1).sum() == pytest.approx(2.4)
    given = plots.heat_map(frame(chain, names), order=["C", "A", "B", "D"])
    assert [label.get_text() for label in given.get_xticklabels()] == ["C", "A", "B", "D"]
    with pytest.raises(InputError, match="The 'order' must be 'columns', 'structure', or each of the 4 names once"):
        plots.heat_map(frame(chain, names), order=["A", "B"])
    with pytest.raises(InputError, match="The relation must be"):
        plots.heat_map(DagPosterior().fit(datasets.load("coronary")), "=>")


def test_a_heat_map_of_many_has_no_numbers_but_marks_what_is_not_known() -> None:
    table = sparse(ALARM, 3)
    table.iloc[0, 1] = np.nan
    ax = plots.heat_map(table)
    assert [text.get_text() for text in ax.texts] == ["?"]
    ax.figure.canvas.draw()
    labels = [label.get_window_extent() for label in ax.get_xticklabels()]
    assert not any(one.overlaps(two) for one, two in combinations(labels, 2))


def test_sad_and_delta_are_those_of_the_beginnings_of_a_sample(model: DagPosterior) -> None:
    sample = model.sample(2_000, seed=3)
    ax = plots.convergence(sample, model, points=5)
    sizes, sad = ax.lines[0].get_data()
    assert sizes[0] == 10
    assert sizes[-1] == 2_000
    exact = model.edge_probabilities_.to_numpy()
    for size, value in zip(sizes, sad, strict=True):
        part = sample[: int(size)].edge_frequencies().to_numpy()
        assert value == pytest.approx(np.abs(part - exact).sum())
    assert ax.get_ylabel().startswith("SAD")
    assert ax.get_xscale() == ax.get_yscale() == "log"
    delta = plots.convergence(sample, measure="Delta", points=5)
    np.testing.assert_allclose(delta.lines[0].get_ydata(), [sample[: int(size)].covered for size in sizes])
    assert np.all(np.diff(delta.lines[0].get_ydata()) >= 0)


def test_runs_are_drawn_with_their_mean_and_range_and_named(model: DagPosterior, chains: DagSample) -> None:
    runs = [model.sample(500, seed=seed) for seed in range(3)]
    ax = plots.convergence({"layers$": runs, "chains": chains}, model.edge_probabilities_, points=4)
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == [r"layers\$ (mean and range of 3 runs)", "chains", "counting independent graphs"]
    assert len(ax.collections) == 1
    assert len({line.get_linestyle() for line in ax.lines}) == 3


def test_a_sample_without_any_error_is_drawn() -> None:
    rows = pd.DataFrame({"a": [0, 1] * 50, "b": [0, 0, 1, 1] * 25})
    only = DagPosterior(required=[("a", "b")], seed=1).fit(rows)
    ax = plots.convergence(only.sample(100, seed=1), only)
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), 0.0)
    ax.figure.canvas.draw()


def test_a_tight_frame_holds_the_whole_graph(model: DagPosterior) -> None:
    ax = plots.graph(model)
    written = io.BytesIO()
    ax.figure.savefig(written, bbox_inches="tight", dpi=100)
    written.seek(0)
    height, width = plt.imread(written).shape[:2]
    whole = ax.figure.get_size_inches() * 100
    assert 0.7 * whole[0] < width < 1.1 * whole[0]
    assert 0.7 * whole[1] < height < 1.1 * whole[1]


def test_a_model_from_a_file_is_drawn_without_drawing_graphs(tmp_path: Path) -> None:
    fitted = DagPosterior(method=Bootstrap(replicates=10), seed=1).fit(datasets.load("coronary"))
    assert caption(fitted.plot()).startswith("Share of 10 bootstrap replicates, not a posterior probability.")
    fitted.save(tmp_path / "model.dagpost")
    loaded = DagPosterior.load(tmp_path / "model.dagpost")
    loaded._drawn = None
    assert caption(loaded.plot()).startswith("Share of bootstrap replicates, not a posterior probability.")
    assert loaded._drawn is None


def test_the_beginning_of_chains_has_as_much_of_each(chains: DagSample) -> None:
    from dagpost.show.convergence_plot import _beginning

    part = _beginning(chains, 40)
    each = chains.parents.reshape(4, 1_000, 6)[:, :10]
    np.testing.assert_array_equal(part.parents, each.reshape(40, 6))
    np.testing.assert_allclose(part.weights, 1 / 40)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("sample",), {}, "give exact=model"),
        (("sample", "estimated"), {}, "themselves estimated"),
        (("sample", "sample"), {}, "themselves estimated"),
        (("sample", "other"), {}, "same variables in the same order"),
        (("model", "model"), {}, "Got DagPosterior instead"),
        (([], "model"), {}, "no sample to look at"),
        (("sample", "model"), {"measure": "bias"}, "must be 'SAD' or 'Delta'"),
        (("sample", "model"), {"points": 1}, "'points' must be an int of at least 2"),
        (("order",), {"measure": "Delta"}, "Delta needs the evidence"),
    ],
)
def test_what_has_no_convergence_is_refused(
    model: DagPosterior, chains: DagSample, arguments: tuple[Any, ...], options: dict[str, Any], message: str
) -> None:
    table = datasets.load("coronary")
    known = {"sample": model.sample(100, seed=1), "model": model, "other": frame(np.zeros((6, 6)))}
    known["order"] = DagPosterior(modularity="order").fit(table).sample(100, seed=1)
    if "estimated" in arguments:
        known["estimated"] = DagPosterior(method=Bootstrap(replicates=10), seed=1).fit(table)
    given = [known[name] if isinstance(name, str) else name for name in arguments]
    with pytest.raises(InputError, match=message):
        plots.convergence(*given, **options)


def test_traces_have_a_line_for_each_chain(chains: DagSample) -> None:
    ax = plots.traces(chains)
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["chain 1", "chain 2", "chain 3", "chain 4"]
    np.testing.assert_allclose(ax.lines[0].get_ydata(), chains.log_joint[:1_000])
    assert ax.lines[1].get_ydata().std() < ax.lines[0].get_ydata().std()
    assert ax.get_ylabel() == "log p(graph, data)"


def test_the_trace_of_a_statement_is_its_share_so_far(chains: DagSample) -> None:
    ax = plots.traces(chains, statement="Smoking -> Pressure")
    last = [line.get_ydata()[-1] for line in ax.lines]
    assert len(last) == 4
    assert np.mean(last) == pytest.approx(float(chains.probability("Smoking -> Pressure")))
    assert len({line.get_linestyle() for line in ax.lines}) == 4
    with pytest.raises(InputError, match="without a condition"):
        plots.traces(chains, statement="P(Smoking -> Pressure | Smoking -> Family)")
    with pytest.raises(InputError, match="There is no variable"):
        plots.traces(chains, statement="Smokin -> Pressure")


def test_r_hat_lists_the_edges_that_are_worst_and_says_the_verdict(chains: DagSample) -> None:
    ax = plots.r_hat(chains, count=5)
    table = chains.diagnostics().edges
    uncertain = table[table["frequency"].between(0.05, 0.95)]
    uncertain = uncertain.sort_values("r_hat", ascending=False, kind="stable").head(5)
    assert [label.get_text() for label in ax.get_yticklabels()] == [
        f"{parent} → {child}" for parent, child in zip(uncertain["parent"], uncertain["child"], strict=True)
    ]
    np.testing.assert_allclose(ax.lines[0].get_xdata(), uncertain["r_hat"])
    assert ax.lines[-1].get_xdata()[0] == LARGEST_R_HAT
    assert ax.get_title().replace("\n", " ") == chains.diagnostics().verdict


def test_r_hat_without_end_has_a_mark_of_its_own_at_the_border(chains: DagSample) -> None:
    from dataclasses import replace

    stuck = replace(chains, parents=np.repeat(chains.parents[[0, 1_000, 2_000, 3_000]], 1_000, axis=0))
    stuck.parents[:1_000, 0], stuck.parents[1_000:, 0] = 0, 0
    stuck.parents[:2_000, 5], stuck.parents[2_000:, 5] = 0, 1
    ax = plots.r_hat(stuck)
    markers = {line.get_marker(): line.get_xdata() for line in ax.lines}
    assert ">" in markers
    assert np.all(np.asarray(markers[">"]) <= ax.get_xlim()[1])
    ax.figure.canvas.draw()


@pytest.mark.parametrize("draw", [plots.traces, plots.r_hat])
def test_only_chains_have_traces_and_r_hat(draw: Any, model: DagPosterior) -> None:
    with pytest.raises(InputError, match="come from no chain: there is nothing to diagnose"):
        draw(model.sample(100, seed=1))
    with pytest.raises(InputError, match=r"of a DagSample that chains drew.*Got DagPosterior"):
        draw(model)


def test_edges_are_listed_by_probability_with_intervals_of_estimates(model: DagPosterior) -> None:
    sample = model.sample(precision=0.05, seed=1)
    ax = plots.edges(sample, count=4)
    values = ax.lines[-1].get_xdata()
    falling = np.sort(sample.edge_frequencies().to_numpy().ravel())[::-1]
    np.testing.assert_allclose(values, falling[:4])
    (lines,) = ax.collections
    for value, segment in zip(values, lines.get_segments(), strict=True):
        assert segment[0, 0] <= value <= segment[1, 0]
    assert "95% intervals" in ax.get_title()
    exact = plots.edges(model)
    assert not exact.collections
    assert "Exact" in exact.get_title()
    assert len(exact.lines[0].get_xdata()) == 20
    assert "→" in exact.get_yticklabels()[0].get_text()


def test_no_edge_at_all_is_told() -> None:
    ax = plots.edges(frame(np.zeros((3, 3))))
    assert [text.get_text() for text in ax.texts] == ["no edge has a probability above 0"]


def test_two_posteriors_are_compared_like_models_in_a_comparison(model: DagPosterior) -> None:
    other = DagPosterior(score="bic").fit(datasets.load("coronary"))
    ax = plots.comparison(model, other, labels=("BDeu", "$BIC$"), count=7)
    same = plot_comparison(compare({"BDeu": model, "$BIC$": other}), count=7)
    for drawn in (ax, same):
        assert len(drawn.lines) == 2
        assert len({line.get_marker() for line in drawn.lines}) == 2
        assert [text.get_text() for text in drawn.get_legend().get_texts()] == ["BDeu", r"\$BIC\$"]
    np.testing.assert_allclose(ax.lines[0].get_xdata(), same.lines[0].get_xdata())
    paths = plots.comparison(model, other.sample(500, seed=1), relation="~>", count=3)
    assert "~>" in paths.get_yticklabels()[0].get_text()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda model: ((model,), {}), "Got DagPosterior alone"),
        (lambda model: ((model, frame(np.zeros((2, 2)))), {}), "Only posteriors of the same variables"),
        (lambda model: ((model, model), {"labels": ("a", "a")}), "two different texts"),
        (lambda model: ((model, model), {"relation": "--"}), "The relation must be '->', '~>' or None"),
        (lambda model: ((model, 3), {}), "Got int"),
        (lambda model: ((model, model), {"count": 0}), "at least 1"),
    ],
)
def test_what_cannot_be_compared_is_refused(model: DagPosterior, change: Any, message: str) -> None:
    arguments, options = change(model)
    with pytest.raises(InputError, match=message):
        plots.comparison(*arguments, **options)


def test_a_comparison_says_what_each_of_its_numbers_is(model: DagPosterior) -> None:
    names = [*list(map("a_very_long_name_of_variable_{}".format, range(2))), "$c$"]
    matrix = np.array([[0.0, 0.9, 0.2], [0.0, 0.0, 0.0], [0.1, 0.3, 0.0]])
    ax = plots.comparison(frame(matrix, names), frame(matrix.T, names), count=3)
    labels = [text.get_text() for text in ax.get_yticklabels()]
    # Both names of a line, however long.
    assert all(label.count("→") == 1 and not label.endswith("→") for label in labels)
    assert r"\$c\$" in " ".join(labels)
    assert ax.get_title() == "Both: Probabilities as given."
    said = plots.comparison(model, model.sample(500, seed=1), labels=("all", "some")).get_title().replace("\n", " ")
    assert said == (
        "all: Exact (each graph counted once). some: Estimated from 500 graphs by exact-layers (each graph counted "
        "once)."
    )


def test_a_list_of_best_graphs_is_not_called_an_estimate(model: DagPosterior) -> None:
    best = model.best(50)
    assert "Lines: certain bounds." in plots.edges(best).get_title().replace("\n", " ")
    promised = model.sample(precision=0.1, confidence=0.9, seed=1)
    assert "Lines: 90% intervals." in plots.edges(promised).get_title().replace("\n", " ")
    words = plots.heat_map(best).get_title().replace("\n", " ")
    assert words.startswith(f"Among the 50 most probable graphs only, {100 * best.covered:.3g}% of the posterior (")


def test_an_effect_says_what_it_assumes(model: DagPosterior) -> None:
    words = plots.effect_density(model.causal_effect("Smoking", "Pressure", seed=1)).get_title().replace("\n", " ")
    assert "95% interval" in words
    assert "only if no common cause" in words


def test_only_effects_have_a_density(model: DagPosterior) -> None:
    with pytest.raises(InputError, match=r"drawn of a CausalEffect.*Got DagPosterior"):
        plots.effect_density(model)  # type: ignore[arg-type]


# The gallery


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


def test_shares_of_a_bootstrap_are_not_called_probabilities(model: DagPosterior) -> None:
    shares = DagPosterior(method=Bootstrap(replicates=10), seed=1).fit(datasets.load("coronary"))
    assert plots.edges(shares).get_xlabel() == "share of replicates"
    assert plots.edges(model).get_xlabel() == "posterior probability"
    assert plots.heat_map(shares).figure.axes[1].get_ylabel() == "share of replicates: from -> to"
    assert plots.comparison(model, shares).get_xlabel() == "posterior probability or share of replicates"
    words = legend_words(plots.graph(shares))
    assert "share with an edge" in words
    assert "probability of an edge" not in words
