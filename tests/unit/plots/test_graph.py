"""The picture of the graph, compared by what is in it: boxes, lines, heads, labels, legends."""

from __future__ import annotations

import io
import re
import warnings
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from tests.tools.pictures import (
    ALARM,
    ODD,
    arrows,
    assert_apart_and_inside,
    boxes_of,
    caption,
    frame,
    legend_words,
    nodes,
    sparse,
)

from dagpost import DagPosterior, DagSample, plots
from dagpost.errors import InputError
from dagpost.plots.arrows import EdgeNumber, dashes_of
from dagpost.plots.direction import direction_of
from dagpost.plots.small_graph import small_graph

mpl.use("Agg")
import matplotlib.pyplot as plt


def canvas_of(figure: Any) -> Any:
    """The canvas, of which the stubs of matplotlib know no kind in particular."""
    return figure.canvas


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
    middle = np.asarray(canvas_of(figure).buffer_rgba())[2 * dpi, :, 0]
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
    found = arrow.path(canvas_of(figure).get_renderer())
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
    for above, below in [("v0", "v1"), ("v0", "v2"), ("v1", "v3"), ("v2", "v3"), ("v0", "v4"), ("v3", "v4")]:
        assert height[above] > height[below]


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
    assert arrows(ax)[0].path(canvas_of(ax.figure).get_renderer()) is None


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
