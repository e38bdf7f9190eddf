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
    SAID,
    arrows,
    assert_apart_and_inside,
    boxes_of,
    caption,
    drawn,
    every_word,
    frame,
    legend_words,
    nodes,
    one_class,
    sparse,
)

from dagpost import DagPosterior, DagSample, datasets, plots
from dagpost.errors import InputError
from dagpost.plots.arrows import EdgeArrow, EdgeNumber
from dagpost.plots.marks import LEGEND, dashes_of, mark
from dagpost.plots.small_graph import small_graph
from dagpost.posterior.directions import directions_of_sample, not_computed

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
    whole = drawn(("A", "B"), [[("A", "B")]])
    ax = plots.graph(whole, numbers=False, legend=False, ax=figure.add_axes((0, 0, 1, 1)))
    figure.canvas.draw()
    middle = np.asarray(canvas_of(figure).buffer_rgba())[2 * dpi, :, 0]
    dark = (255 - middle.astype(float)).sum() / 255 * 72 / dpi
    assert dark == pytest.approx(arrows(ax)[0].width, abs=0.4)


def heads_of(arrow: EdgeArrow) -> dict[str, bool | None]:
    """Whether the head at each variable is filled; None for no head."""
    return dict(zip((arrow.parent.get_text(), arrow.child.get_text()), arrow.filled, strict=True))


def test_lines_and_heads_say_what_is_known_of_a_direction() -> None:
    figure, ax = plt.subplots()
    plots.graph(every_word(), ax=ax)
    found = {frozenset(heads_of(arrow)): arrow for arrow in arrows(ax)}
    assert found.keys() == {frozenset(pair) for pair in SAID}
    filled = {"clear": True, "leaning": True, "rules": False, "model": False, "open": None}
    for (source, target), (word, _, joined) in SAID.items():
        arrow = found[frozenset((source, target))]
        assert arrow.word == word
        assert arrow.probability == pytest.approx(joined)
        assert heads_of(arrow) == {source: None, target: filled[word]}
        way = arrow.path(canvas_of(figure).get_renderer())
        assert way is not None
        assert [own for _, own in way[1]] == ([] if filled[word] is None else [filled[word]])
        # Said by the line too, so that it can be read where heads are small.
        assert (dashes_of(word) is None) == (word not in ("leaning", "model"))


def test_no_two_words_look_alike() -> None:
    looks = {word: mark(word).replace(f"mark {word}", "") for word in LEGEND}
    assert len(set(looks.values())) == len(LEGEND) == 6
    # Without colours of their own.
    assert "currentColor" in looks["clear"]
    assert not re.search("rgb|#[0-9a-f]{3}", "".join(looks.values()))


def test_a_table_of_probabilities_cannot_tell_directions() -> None:
    """However lopsided: 0.9 to 0 may be what is left of a class of equivalent graphs."""
    ax = plots.graph(frame([[0.0, 0.9], [0.0, 0.0]], ["A", "B"]))
    (arrow,) = arrows(ax)
    assert arrow.word == "unknown"
    assert arrow.filled == (None, None)
    assert dashes_of("unknown") is not None
    assert dashes_of("unknown") != dashes_of("leaning")
    assert legend_words(ax)[-2:] == ["its direction", LEGEND["unknown"]]
    assert (
        "edge probabilities alone do not say which directions the data compel; a model or a sample would."
        in caption(ax)
    )
    assert "Directions are not computed" not in caption(plots.graph(frame(np.zeros((2, 2)))))


def test_a_model_whose_sample_takes_long_says_how_to_have_directions(model: DagPosterior) -> None:
    kbest = DagPosterior(score="bdeu", method="kbest", samples=50).fit(datasets.load("coronary"))
    ax = plots.graph(kbest)
    assert {arrow.word for arrow in arrows(ax)} == {"unknown"}
    assert "call own_sample() on the model first" in caption(ax)
    kbest.own_sample()
    assert {arrow.word for arrow in arrows(plots.graph(kbest))} <= {"clear", "leaning", "open"}
    assert "Directions from 30,000 graphs." in caption(plots.graph(model))


def test_no_direction_of_a_class_in_which_all_are_reversible_is_drawn() -> None:
    sample = one_class()
    edges = sample.edge_frequencies().to_numpy()
    # By how often it was drawn, most directions would look clear.
    assert (np.maximum(edges, edges.T)[edges + edges.T > 0.5] >= 0.9).sum() > 20
    ax = plots.graph(sample)
    assert len(arrows(ax)) == 16
    assert {arrow.word for arrow in arrows(ax)} == {"open"}
    assert {arrow.filled for arrow in arrows(ax)} == {(None, None)}
    assert "<polygon" not in small_graph(directions_of_sample(sample)).split("<circle")[0]


def test_a_line_against_its_direction_has_its_head_above() -> None:
    """Of a cycle of compelled directions one line must lead upwards in the layers."""
    ways = [("A", "B"), ("B", "C"), ("C", "A")]
    # Each is compelled by another parent of its child, in two of three graphs.
    graphs = [
        [edge for way in ways if way != absent for edge in (way, (f"with {way[0]}{way[1]}", way[1]))] for absent in ways
    ]
    names = tuple("ABC") + tuple(f"with {one}{two}" for one, two in ways)
    ax = plots.graph(drawn(names, graphs))
    ax.figure.canvas.draw()
    between = [arrow for arrow in arrows(ax) if set(heads_of(arrow)) <= set("ABC")]
    assert {arrow.word for arrow in between} == {"clear"}
    assert sorted(arrow.filled.index(True) for arrow in between) == [0, 1, 1]
    assert all(heads_of(arrow)[target] for arrow, (_, target) in _by_way(between, ways))


def _by_way(found: list[EdgeArrow], ways: list[tuple[str, str]]) -> list[tuple[EdgeArrow, tuple[str, str]]]:
    return [(arrow, way) for way in ways for arrow in found if set(heads_of(arrow)) == set(way)]


def test_the_number_of_a_pair_that_is_half_known_is_a_least_one() -> None:
    ax = plots.graph(frame([[0.0, 0.7, 0.5], [np.nan, 0.0, 0.0], [0.0, 0.0, 0.0]]))
    numbers = [artist.get_text() for artist in ax.get_children() if isinstance(artist, EdgeNumber)]
    assert sorted(numbers) == ["0.50", "≥0.70"]


def test_the_small_picture_of_notebooks_speaks_the_same_language() -> None:
    picture = small_graph(directions_of_sample(every_word()))
    lines = dict(re.findall(r"<title>(\w (?:and|-&gt;) \w): (.*?</title>.*?)</g>", picture))
    assert len(lines) == len(SAID)
    for (source, target), (word, _, joined) in SAID.items():
        shown = lines[f"{source} {'and' if word == 'open' else '-&gt;'} {target}"]
        begins = {"rules": "decided", "model": "follows from the model"}.get(word, word)
        assert f"joined {joined:.3f}; direction {begins}" in shown
        heads = re.findall(r'<polygon [^>]*fill="(white|rgb[^"]*)"', shown)
        assert [head == "white" for head in heads] == {"open": [], "rules": [True], "model": [True]}.get(word, [False])
        assert ("dasharray" in shown) == (word in ("leaning", "model"))
    for word in ("clear", "leaning", "open", "rules", "model"):
        assert f"direction {LEGEND[word]}" in picture
    assert LEGEND["unknown"] not in picture
    unknown = small_graph(not_computed(("A", "B"), np.array([[0.0, 0.9], [0.0, 0.0]])))
    assert "<polygon" not in unknown
    assert unknown.count("dasharray") == 2
    assert f"direction {LEGEND['unknown']}" in unknown


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


def test_a_legend_explains_lines_and_heads() -> None:
    assert legend_words(plots.graph(every_word())) == [
        "probability of an edge",
        *("0.25", "0.5", "1"),
        "its direction, assuming no hidden common causes",
        "clear: compelled by the data (at least 90%)",
        "leaning: compelled by the data in 60 to 90%",
        "open: the data cannot tell",
        "decided by your rules",
        "follows from the model, which has no edges from numbers to levels",
    ]
    # What does not occur is not explained.
    assert legend_words(plots.graph(one_class()))[-1:] == ["open: the data cannot tell"]
    assert "its direction" not in " ".join(legend_words(plots.graph(frame(np.zeros((2, 2))))))
    assert legend_words(plots.graph(every_word(), legend=False)) == []


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
        (DagPosterior(score="bdeu"), "has no data yet"),
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
