"""Scenes by their geometry: labels in their boxes, lines that pass no box, heads that do not overlap."""

from __future__ import annotations

import re
from importlib.resources import files
from itertools import combinations
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dagpost.plots.box_layout import Shape
from dagpost.plots.curves import points_along
from dagpost.plots.letters import LINE, text_width
from dagpost.plots.marks import COLOURS
from dagpost.plots.routing import overlap
from dagpost.plots.scene import Box, Scene, scene_of
from dagpost.plots.svg import svg_of
from dagpost.posterior.directions import Directions

ODD = (
    "$x_1$",
    "line\nbreak",
    "L" * 60,
    "一个非常长的变量名称",
    "👩‍🔬 lab 🧪",
    "<b>&",
    "many words " * 6,
    "m",
)


def directions(edges: Any, names: tuple[str, ...] | None = None, exogenous: tuple[int, ...] = ()) -> Directions:
    """Directions that the data compel in nine of ten graphs, in six, or not at all, by turns."""
    edges = np.asarray(edges, dtype=np.float64)
    count = len(edges)
    shares = np.array([0.95, 0.7, 0.2])[np.add.outer(np.arange(count), 2 * np.arange(count)) % 3]
    nothing, never = np.zeros((count, count)), np.zeros((count, count), dtype=bool)
    ruled = never.copy()
    ruled[:1, -1:] = edges[:1, -1:] > 0.0
    joined = edges + edges.T
    names = tuple(f"column {number}" for number in range(count)) if names is None else names
    return Directions(
        names, joined, edges * shares, nothing, nothing, nothing, ruled, never, nothing, nothing, 0.95,
        exogenous=exogenous,
    )  # fmt: skip


def random_edges(count: int, lines: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    pairs = np.array(list(combinations(range(count), 2)), dtype=np.int64).reshape(-1, 2)
    chosen = rng.permutation(len(pairs))[:lines]
    edges = np.zeros((count, count))
    edges[tuple(pairs[chosen].T)] = rng.uniform(0.5, 1.0, len(chosen))
    return edges


def inside(points: Any, box: Box, margin: float = 0.0) -> bool:
    """Whether some of many points on a line lie in a box."""
    points = np.asarray(points)
    steps = np.linspace(points[:-1], points[1:], 8).reshape(-1, 2)
    near = np.abs(steps - (box.x, box.y)) < (box.width / 2 + margin, box.height / 2 + margin)
    return bool(near.all(axis=1).any())


def assert_well_drawn(scene: Scene) -> None:
    """What holds for every scene, checked the slow way."""
    for box in scene.boxes:
        assert 0.0 <= box.x - box.width / 2 < box.x + box.width / 2 <= scene.width
        assert 0.0 <= box.y - box.height / 2 < box.y + box.height / 2 <= scene.height
        assert max(text_width(line, scene.size) for line in box.label) < box.width
        assert LINE * scene.size * len(box.label) < box.height
    for one, two in combinations(scene.boxes, 2):
        apart = abs(one.x - two.x) - (one.width + two.width) / 2, abs(one.y - two.y) - (one.height + two.height) / 2
        assert max(apart) > 0.0
    for line in scene.lines:
        points = points_along(line.path)
        assert (points >= 0.0).all()
        assert (points <= (scene.width, scene.height)).all()
        assert not any(inside(points, box, 1.0) for box in scene.boxes if box.node not in (line.source, line.target))
    shown = [line for line in scene.lines if not line.hidden]
    heads = [line.head for line in shown if line.head is not None]
    assert not any(overlap(first, second) for first, second in combinations(heads, 2))
    assert_numbers_cover_nothing(scene)


def assert_numbers_cover_nothing(scene: Scene) -> None:
    frames = {}
    for line in scene.lines:
        if line.number_at is not None and not line.hidden:
            wide, high = text_width(line.shown, scene.number_size), scene.number_size
            x, y = line.number_at
            frames[line.pair] = Box(-1, "", (), x, y, wide, high)
            assert 0.0 <= x - wide / 2 < x + wide / 2 <= scene.width
    for (one, frame), line in ((item, line) for item in frames.items() for line in scene.lines):
        if line.pair != one and not line.hidden:
            assert not inside(points_along(line.path), frame)
    for frame in frames.values():
        for box in scene.boxes:
            apart = abs(frame.x - box.x) - (frame.width + box.width) / 2, abs(frame.y - box.y) - box.height / 2
            assert apart[0] > 0.0 or apart[1] > frame.height / 2
    for first, second in combinations(frames.values(), 2):
        across, down = abs(first.x - second.x), abs(first.y - second.y)
        assert across >= (first.width + second.width) / 2 or down >= (first.height + second.height) / 2


@st.composite
def graphs(draw: st.DrawFn) -> tuple[Directions, Shape]:
    count = draw(st.integers(1, 9))
    lines = draw(st.integers(0, count * (count - 1) // 2))
    names = (*draw(st.permutations(ODD)), "column of more")
    edges = random_edges(count, lines, draw(st.integers(0, 10_000)))
    given_columns = (0,) if draw(st.booleans()) else ()
    return directions(edges, names[:count], given_columns), draw(st.sampled_from(("wide", "narrow")))


@settings(max_examples=25)
@given(graphs())
def test_random_graphs_are_well_drawn(drawn: tuple[Directions, Shape]) -> None:
    known, shape = drawn
    scene = scene_of(known, shape=shape)
    assert len(scene.boxes) == len(known.names)
    assert len(scene.lines) == len(known.pairs(0.1))
    assert_well_drawn(scene)


@pytest.mark.parametrize(
    ("count", "lines", "shape"),
    [
        *((1, 0, "wide"), (2, 1, "narrow"), (6, 9, "wide"), (6, 9, "narrow"), (12, 66, "wide"), (14, 20, "narrow")),
        *((40, 60, "wide"), (40, 60, "narrow"), (64, 110, "wide")),
    ],
)
def test_graphs_of_every_size_are_well_drawn_and_fit_their_pages(count: int, lines: int, shape: Shape) -> None:
    scene = scene_of(directions(random_edges(count, lines, 7)), shape=shape)
    assert len(scene.lines) == lines
    assert_well_drawn(scene)
    page, least = (1112.0, 11.0 if count <= 25 else 8.5) if shape == "wide" else (370.0, 10.0 if count <= 16 else 8.0)
    assert scene.size * min(1.0, page / scene.width) >= least
    if shape == "wide":
        assert scene.height < 720.0


def test_heads_lead_down_where_directions_have_no_cycle() -> None:
    scene = scene_of(directions(random_edges(20, 26, 3)))
    height = {box.node: box.y for box in scene.boxes}
    heads = [line for line in scene.lines if line.head is not None]
    assert len(heads) > 10
    assert sum(height[line.source] < height[line.target] for line in heads) >= 0.85 * len(heads)


def test_the_same_graph_always_looks_the_same_and_boxes_do_not_move_with_the_threshold() -> None:
    known = directions(random_edges(10, 18, 1))
    pairs = known.pairs(0.001)
    assert scene_of(known, pairs) == scene_of(known, pairs)
    scene = scene_of(known, pairs, threshold=0.75)
    assert {line.pair for line in scene.lines} == set(range(18))
    assert {line.pair for line in scene.lines if line.hidden} == {
        n for n, pair in enumerate(pairs) if pair.joined < 0.75
    }
    assert scene.words != []


def test_columns_without_lines_stand_in_a_block_below() -> None:
    edges = np.zeros((9, 9))
    edges[0, 1] = edges[1, 2] = 0.9
    scene = scene_of(directions(edges))
    linked, alone = ([box.y for box in scene.boxes if (box.node < 3) == own] for own in (True, False))
    assert max(linked) < min(alone)
    assert len(set(alone)) < 4


def test_very_many_lines_at_a_box_end_side_by_side() -> None:
    edges = np.zeros((40, 40))
    edges[1:, 0] = 0.9
    scene = scene_of(directions(edges))
    assert_well_drawn(scene)
    assert len({line.path[-1] for line in scene.lines}) == 39


def test_signs_stand_with_the_numbers() -> None:
    known = directions(random_edges(3, 2, 1))
    pairs = known.pairs(0.1)
    scene = scene_of(known, pairs, signs=["+", "-"], said=["one", "two"])
    assert [line.shown[-1:] for line in scene.lines] == ["+", "−"]
    assert [line.said.rpartition(" ")[2] for line in scene.lines] == ["one", "two"]


def test_the_svg_of_a_page_names_pairs_and_columns_and_leaves_colours_to_it() -> None:
    known = directions(random_edges(8, 14, 2), ODD, exogenous=(7,))
    scene = scene_of(known, known.pairs(0.001), threshold=0.7)
    text = svg_of(scene)
    picture = ElementTree.fromstring(text)
    assert picture.attrib["role"] == "img"
    assert picture.attrib["class"] == "graph wide"
    assert picture[0].tag.endswith("}title")
    groups = [part for part in picture if "data-pair" in part.attrib]
    assert sorted(int(part.attrib["data-pair"]) for part in groups) == [line.pair for line in scene.lines]
    for group in groups:
        line = next(line for line in scene.lines if line.pair == int(group.attrib["data-pair"]))
        assert group.attrib["class"] == f"pair {line.word}" + (" hidden" if line.hidden else "")
        assert float(group.attrib["data-joined"]) == pytest.approx(line.joined, abs=1e-3)
        kinds = [part.attrib.get("class", part.tag.rpartition("}")[2]).split()[0] for part in group]
        assert kinds[:2] == ["title", "line"]
        assert kinds[-1] == "target"
        assert ("head" in kinds) == (line.head is not None)
    columns = [part for part in picture if "data-node" in part.attrib]
    assert [part.attrib["data-node"] for part in columns] == [str(number) for number in range(8)]
    assert columns[7].attrib["class"] == "node exogenous"
    assert "<b>" not in text
    assert not re.search(r'(fill|stroke)="#', text)
    style = (files("dagpost.report") / "templates" / "graph.css").read_text(encoding="utf-8")
    assert {*re.findall(r"var\((--\w+)\)", style)} >= {"--line", "--given", "--open", "--paper", "--ink", "--exogenous"}


def test_a_picture_of_its_own_has_its_legend_and_colours() -> None:
    known = directions(random_edges(6, 9, 2))
    scene = scene_of(known, known.pairs(0.001), threshold=0.7, remarks=["What the numbers are."])
    text = svg_of(scene, standalone=True)
    picture = ElementTree.fromstring(text)
    words = " ".join(part.text or "" for part in picture.iter() if part.tag.endswith("}text"))
    assert words.index("direction clear") < words.index("What the numbers are.")
    assert 'class="pair open hidden"' not in text
    assert "var(" not in text
    assert COLOURS["line"] in text
    across = float(picture.attrib["width"])
    for part in picture:
        if part.tag.endswith("}text"):
            assert float(part.attrib["x"]) + text_width(part.text or "", float(part.attrib["font-size"])) <= across
