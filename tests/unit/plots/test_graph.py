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
from tests.tools.wording import ESTIMATES, Said

from dagpost import DagPosterior, DagSample, datasets, plots
from dagpost.errors import InputError
from dagpost.plots.canvas import SceneLine, points_a_unit
from dagpost.plots.marks import LEGEND, LOOKS, mark
from dagpost.plots.notebook import small_picture
from dagpost.plots.scene import Line
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
    drawn = sorted(arrows(plots.graph(frame(matrix))), key=lambda arrow: line_of(arrow).joined)
    widths = [arrow.units for arrow in drawn]
    greys = [sum(arrow.get_edgecolor()[:3]) for arrow in drawn]
    assert len(drawn) == 5
    assert all(np.diff(widths) > 0)
    assert all(np.diff(greys) < 0)


def test_what_is_certain_looks_stronger_than_what_is_open() -> None:
    for probability in (0.5, 1.0):
        clear, leaning, left_open = (LOOKS[word] for word in ("clear", "leaning", "open"))
        assert clear.width(probability) > leaning.width(probability) > left_open.width(probability)
        assert clear.strength(probability) > leaning.strength(probability) > left_open.strength(probability)
    # Dashes are fine ones, on thin lines.
    assert all(look.width(1.0) < 1.3 and max(look.dashes) < 4.0 for look in LOOKS.values() if look.dashes)


def line_of(arrow: SceneLine) -> Line:
    assert arrow.line is not None
    return arrow.line


@pytest.mark.parametrize("dpi", [72, 144, 288])
def test_a_line_is_as_wide_at_every_resolution(dpi: int) -> None:
    figure = plt.figure(figsize=(4, 4), dpi=dpi)
    whole = drawn(("A", "B"), [[("A", "B")]])
    ax = plots.graph(whole, numbers=False, legend=False, ax=figure.add_axes((0, 0, 1, 1)))
    figure.canvas.draw()
    (arrow,) = arrows(ax)
    middle = np.asarray(canvas_of(figure).buffer_rgba())[2 * dpi, :, :3].mean(axis=1)
    darkness = 1.0 - np.mean(arrow.get_edgecolor()[:3])
    dark = (255 - middle).sum() / 255 * 72 / dpi / darkness
    assert arrow.get_linewidth() == pytest.approx(arrow.units * points_a_unit(ax))
    assert dark == pytest.approx(arrow.get_linewidth(), abs=0.4)


def test_lines_and_heads_say_what_is_known_of_a_direction() -> None:
    _, ax = plt.subplots()
    sample = every_word()
    plots.graph(sample, ax=ax)
    found = {
        tuple(sample.names[node] for node in (line.source, line.target)): line for line in map(line_of, arrows(ax))
    }
    heads = {patch.line.pair: patch for patch in ax.patches if isinstance(patch, SceneLine) and _is_head(patch)}
    kinds = {"clear": "filled", "leaning": "angle", "rules": "hollow", "model": "hollow", "open": None}
    assert found.keys() == {pair if pair in SAID else pair[::-1] for pair in found} == SAID.keys()
    for pair, (word, _, joined) in SAID.items():
        line = found[pair]
        assert line.word == word
        assert line.joined == pytest.approx(joined)
        assert (line.pair in heads) == (kinds[word] is not None)
        if line.pair in heads:
            assert heads[line.pair].get_gid() == f"head {kinds[word]}"
            assert line.head is not None
            # The tip is on the border of the box that the head points to.
            box = next(patch for patch in ax.patches if patch.get_gid() == "box" and _on_border(patch, line.head[0]))
            assert any(box.contains_point(ax.transData.transform(text.get_position())) for text in nodes(ax))


def _is_head(patch: SceneLine) -> bool:
    return str(patch.get_gid()).startswith("head") and patch.line is not None


def _on_border(box: Any, tip: tuple[float, float]) -> bool:
    left, low, wide, high = box.get_x(), box.get_y(), box.get_width(), box.get_height()
    across, down = abs(tip[0] - left - wide / 2) - wide / 2, abs(tip[1] - low - high / 2) - high / 2
    return max(across, down) == pytest.approx(0.0, abs=1e-6)


def test_no_two_words_look_alike() -> None:
    looks = {word: mark(word).replace(f"mark {word}", "") for word in LEGEND}
    assert len(set(looks.values())) == len(LEGEND) == 6
    # Without colours of their own.
    assert "currentColor" in looks["clear"]
    assert not re.search("rgb|#[0-9a-f]{3}", "".join(looks.values()))


def test_a_table_of_probabilities_cannot_tell_directions(said: Said) -> None:
    """However lopsided: 0.9 to 0 may be what is left of a class of equivalent graphs."""
    ax = plots.graph(frame([[0.0, 0.9], [0.0, 0.0]], ["A", "B"]))
    (arrow,) = arrows(ax)
    assert line_of(arrow).word == "unknown"
    assert line_of(arrow).head is None
    assert LOOKS["unknown"].dashes
    assert legend_words(ax)[0] == f"direction {LEGEND['unknown']}"
    said(caption(ax))
    assert "Directions are not computed" not in caption(plots.graph(frame(np.zeros((2, 2)))))


def test_a_model_whose_sample_takes_long_says_how_to_have_directions(model: DagPosterior, said: Said) -> None:
    kbest = DagPosterior(score="bdeu", method="kbest", samples=50).fit(datasets.load("coronary"))
    ax = plots.graph(kbest)
    assert {line_of(arrow).word for arrow in arrows(ax)} == {"unknown"}
    said(caption(ax))
    kbest.own_sample()
    assert {line_of(arrow).word for arrow in arrows(plots.graph(kbest))} <= {"clear", "leaning", "open"}
    said(caption(plots.graph(model)))


def test_no_direction_of_a_class_in_which_all_are_reversible_is_drawn() -> None:
    sample = one_class()
    edges = sample.edge_frequencies().to_numpy()
    # By how often it was drawn, most directions would look clear.
    assert (np.maximum(edges, edges.T)[edges + edges.T > 0.5] >= 0.9).sum() > 20
    ax = plots.graph(sample)
    assert len(arrows(ax)) == 16
    assert {line_of(arrow).word for arrow in arrows(ax)} == {"open"}
    assert {line_of(arrow).head for arrow in arrows(ax)} == {None}
    assert 'class="head' not in small_picture(directions_of_sample(sample))


def test_heads_point_down_wherever_directions_have_no_cycle() -> None:
    ways = [("A", "B"), ("B", "C"), ("A", "C"), ("C", "D"), ("E", "C"), ("F", "B")]
    sample = drawn(tuple("ABCDEF"), [ways])
    ax = plots.graph(sample)
    lines = [line_of(arrow) for arrow in arrows(ax)]
    place = {text.get_text(): text.get_position()[1] for text in nodes(ax)}
    assert sum(line.head is not None for line in lines) == len(ways)
    assert all(place[sample.names[line.source]] < place[sample.names[line.target]] for line in lines)


def test_the_number_of_a_pair_that_is_half_known_is_a_least_one() -> None:
    ax = plots.graph(frame([[0.0, 0.7, 0.5], [np.nan, 0.0, 0.0], [0.0, 0.0, 0.0]]))
    assert sorted(_numbers(ax)) == ["0.50", "≥0.70"]


def _numbers(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.texts if text.get_gid() == "number"]


def test_the_small_picture_of_notebooks_speaks_the_same_language() -> None:
    picture = small_picture(directions_of_sample(every_word()))
    lines = dict(re.findall(r"<title>(\w (?:and|-&gt;) \w): (.*?</title>.*?)</g>", picture))
    assert len(lines) == len(SAID)
    for (source, target), (word, _, joined) in SAID.items():
        shown = lines[f"{source} {'and' if word == 'open' else '-&gt;'} {target}"]
        begins = {"rules": "decided", "model": "follows from the model"}.get(word, word)
        assert f"joined {joined:.3f}; direction {begins}" in shown
        assert re.findall(r'class="head (\w+)"', shown) == ([LOOKS[word].head] if LOOKS[word].head else [])
        assert ("dasharray" in shown) == (word == "model")
    for word in ("clear", "leaning", "open", "rules"):
        assert f"direction {LEGEND[word]}" in picture
    assert "direction follows from the model" in picture
    assert LEGEND["unknown"] not in picture
    unknown = small_picture(not_computed(("A", "B"), np.array([[0.0, 0.9], [0.0, 0.0]])))
    assert 'class="head' not in unknown
    assert f"direction {LEGEND['unknown']}" in unknown


def test_the_caption_says_what_the_numbers_are_and_how_much_is_hidden(
    model: DagPosterior, chains: DagSample, said: Said
) -> None:
    words = caption(plots.graph(model, threshold=0.5))
    joined = (model.edge_probabilities_ + model.edge_probabilities_.T).to_numpy()[np.triu_indices(6, 1)]
    hidden = joined[(joined < 0.5) & (joined > 0.0)]
    assert words.startswith("Exact (each graph counted once).")
    assert f"Not drawn: {len(hidden)} pairs joined with a probability below 0.5" in words
    assert f"together {hidden.sum():.2g} expected edges." in words
    said(caption(plots.graph(chains)), ESTIMATES)
    assert "Not drawn" not in caption(plots.graph(frame(np.zeros((3, 3)))))
    assert caption(plots.graph(model, legend=False)) == ""


def test_a_legend_explains_lines_and_heads(said: Said) -> None:
    words = " ".join(legend_words(plots.graph(every_word())))
    assert words.startswith(
        "direction clear: compelled by the data (at least 90%) direction leaning: compelled by the data in 60 to 90% "
        "direction open: the data cannot tell direction decided by your rules direction follows from the model, which "
        "has no edges from numbers to levels"
    )
    assert words.endswith("probability of an edge: 0.25 0.5 1")
    said(caption(plots.graph(every_word())))
    # What does not occur is not explained.
    assert legend_words(plots.graph(one_class()))[:2] == [
        "direction open: the data cannot tell",
        "probability of an edge:",
    ]
    assert legend_words(plots.graph(frame(np.zeros((2, 2))))) == []
    assert legend_words(plots.graph(every_word(), legend=False)) == []


def test_numbers_stand_on_the_lines(model: DagPosterior) -> None:
    ax = plots.graph(model, numbers=True)
    assert sorted(_numbers(ax)) == sorted(f"{line_of(arrow).joined:.2f}" for arrow in arrows(ax))
    assert 7 <= len(_numbers(plots.graph(model))) <= len(arrows(ax))
    assert _numbers(plots.graph(model, numbers=False)) == []


@pytest.mark.parametrize("seed", [1, 2])
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
def test_graphs_of_every_size_are_drawn(count: int) -> None:
    ax = plots.graph(sparse(ALARM[:count], count))
    assert len(nodes(ax)) == count
    assert_apart_and_inside(ax)


def test_no_edges_and_all_edges_are_drawn(said: Said) -> None:
    assert arrows(plots.graph(frame(np.zeros((7, 7))))) == []
    every = frame(np.where(np.eye(7), 0.0, 0.5))
    ax = plots.graph(every)
    assert len(arrows(ax)) == 21
    ax.figure.canvas.draw()
    # Nobody can tell so many lines apart.
    hairball = plots.graph(frame(np.where(np.eye(30), 0.0, 0.5)), numbers=False)
    assert len(arrows(hairball)) == 400
    said(caption(hairball))


def test_what_is_not_known_is_not_drawn_but_told(said: Said) -> None:
    ax = plots.graph(frame([[0.0, np.nan, 0.5], [0.0, 0.0, np.nan], [0.0, 0.0, 0.0]]))
    assert len(arrows(ax)) == 1
    said(caption(ax))


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
    assert max(len(line) for text in shown for line in text.split("\n")) <= 20
    ax.figure.savefig(io.BytesIO(), format=kind)
    assert_apart_and_inside(ax)


def test_long_names_that_begin_alike_stay_apart() -> None:
    names = ["x" * 70 + "1", "x" * 70 + "2", "y"]
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
    assert max(len(line) for line in nodes(ax)[1].get_text().split("\n")) <= 8


def test_given_positions_are_kept() -> None:
    places = {"A": (0.0, 0.0), "B": (1.0, 5.0), "C": (2.0, 0.0)}
    table = frame([[0, 0.9, 0], [0, 0, 0.9], [0, 0, 0]], ["A", "B", "C"])
    ax = plots.graph(table, layout=places)
    found = {text.get_text(): text.get_position() for text in nodes(ax)}
    # Scenes count downwards.
    assert found["B"][1] < found["A"][1] == found["C"][1]
    assert found["A"][0] < found["B"][0] < found["C"][0]
    ax.figure.canvas.draw()


def test_boxes_that_lie_on_each_other_are_drawn_as_they_are() -> None:
    ax = plots.graph(frame([[0, 0.9], [0, 0]], ["A", "B"]), layout={"A": (0, 0), "B": (0, 0)})
    ax.figure.canvas.draw()
    one, two = (text.get_position() for text in nodes(ax))
    assert one == two


@pytest.mark.parametrize(
    "options",
    [
        {"layout": "spring"},
        {"layout": {"v0": (0, 0)}},
        {"layout": {"v0": (0, 0), "v1": 3}},
        {"layout": {"v0": (0, 0), "v1": (0, np.inf)}},
        {"threshold": 1.5},
        {"ax": "here"},
    ],
)
def test_wrong_settings_of_a_graph_are_refused(options: dict[str, Any], said: Said) -> None:
    with said.raises(InputError):
        plots.graph(frame(np.zeros((2, 2))), **options)


@pytest.mark.parametrize(
    "source",
    [
        np.zeros((2, 2)),
        None,
        "model",
        pd.DataFrame([[0.0, 2.0], [0.0, 0.0]], index=["a", "b"], columns=["a", "b"]),
        pd.DataFrame([[0.0, 1.0]], index=["a"], columns=["a", "b"]),
        pd.DataFrame([["x", "y"], ["z", "w"]], index=["a", "b"], columns=["a", "b"]),
        pd.DataFrame(),
        DagPosterior(score="bdeu"),
    ],
)
@pytest.mark.parametrize("draw", [plots.graph, plots.heat_map, plots.edges])
def test_wrong_sources_are_refused(draw: Any, source: Any, said: Said) -> None:
    with said.raises(InputError):
        draw(source)
    assert plt.get_fignums() == []


def test_models_and_samples_draw_themselves(model: DagPosterior, chains: DagSample) -> None:
    for source in (model, chains):
        figure, ax = plt.subplots()
        assert source.plot(ax) is ax
        assert source.plot(threshold=0.9).figure is not figure
