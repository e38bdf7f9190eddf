"""Orders, places on borders, ways around boxes: the parts of a layout, on random input."""

from __future__ import annotations

import itertools
import math
from itertools import combinations, pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive.row_costs import cost_of_nodes

from dagpost.plots import placing, rows
from dagpost.plots.curves import meets_box, points_along, rounded
from dagpost.plots.detours import way_around
from dagpost.plots.letters import broken, cut_to, text_width
from dagpost.plots.ports import Border, Frame, spread
from dagpost.plots.routing import Wanted, overlap, routed

Edges = list[tuple[int, int]]


@st.composite
def acyclic(draw: st.DrawFn, most: int = 10) -> tuple[int, Edges]:
    """A graph without cycles, its nodes in any order."""
    count = draw(st.integers(1, most))
    order = draw(st.permutations(range(count)))
    chance = draw(st.integers(1, 4))
    return count, [pair for pair in combinations(order, 2) if draw(st.integers(0, 4)) < chance]


@given(
    st.lists(st.tuples(st.floats(0.0, 99.9), st.floats(0.5, 4.0)), min_size=1, max_size=9).filter(
        lambda ends: sum(room for _, room in ends) < 45.0
    )
)
def test_ends_of_lines_keep_their_room_on_a_border(ends: list[tuple[float, float]]) -> None:
    wanted, room = (list(side) for side in zip(*ends, strict=True))
    placed = spread(wanted, room, 100.0)
    assert all(0.0 <= place < 100.0 for place in placed)
    for one, two in combinations(range(len(ends)), 2):
        apart = abs(placed[one] - placed[two])
        assert min(apart, 100.0 - apart) >= room[one] + room[two] - 1e-6
    if all(min(abs(a - b), 100.0 - abs(a - b)) >= 8.0 for a, b in combinations(wanted, 2)):
        assert placed == pytest.approx(wanted)


@given(st.floats(-200.0, 200.0), st.floats(-200.0, 200.0))
def test_a_line_ends_on_the_border_on_the_side_from_which_it_comes(x: float, y: float) -> None:
    frame = Frame(3.0, -2.0, 30.0, 10.0)
    border = Border(frame, 4.0)
    port = border.port(border.towards((x, y)))
    off = abs(port.x - frame.x) / frame.half_width, abs(port.y - frame.y) / frame.half_height
    assert max(off) == pytest.approx(1.0)
    assert (port.x - frame.x) * port.out_x + (port.y - frame.y) * port.out_y > 0.0
    if abs(x - 3.0) > 30.0 and abs(y + 2.0) < 9.0:
        assert port.out_x == math.copysign(1.0, x - 3.0)


@st.composite
def boxes_on_a_grid(draw: st.DrawFn) -> np.ndarray:
    cells = draw(st.sets(st.tuples(st.integers(1, 4), st.integers(1, 4)), min_size=1, max_size=9))
    halves = st.floats(4.0, 19.0)
    return np.array([(60.0 * x, 60.0 * y, draw(halves), draw(halves)) for x, y in sorted(cells)])


@given(boxes_on_a_grid(), st.integers(0, 1))
def test_ways_around_boxes_meet_none_of_them_and_are_not_long(boxes: np.ndarray, turned: int) -> None:
    start, end = ((0.0, 150.0), (300.0, 145.0)) if turned else ((30.0, 0.0), (210.0, 300.0))
    way = way_around(start, end, boxes, 5.0)
    assert (way[0], way[-1]) == (start, end)
    points = points_along(rounded(way, 5.0))
    assert not meets_box(points, boxes, np.zeros(len(boxes)))
    length = sum(math.dist(one, two) for one, two in pairwise(way))
    straight = math.dist(start, end)
    assert straight - 1e-9 <= length < 1.5 * straight
    # The slow way: many points on the line, each outside every box.
    steps = np.linspace(points[:-1], points[1:], 6).reshape(-1, 1, 2)
    assert not (np.abs(steps - boxes[None, :, :2]) < boxes[None, :, 2:] - 1e-9).all(axis=2).any()


def test_a_line_does_not_meet_the_boxes_that_it_joins() -> None:
    """A line from middle to middle bends around the box between."""
    frames = [Frame(0.0, 0.0, 20.0, 8.0), Frame(90.0, 60.0, 20.0, 8.0), Frame(180.0, 120.0, 20.0, 8.0)]
    points = np.array([(0.0, 0.0), (180.0, 120.0)])
    assert not meets_box(points, np.array(frames), np.array([-np.inf, -np.inf, -np.inf]))
    assert meets_box(points, np.array(frames), np.array([-np.inf, 5.0, -np.inf]))
    path = routed(frames, [Wanted(0, 2, (8.0, 6.0))])[0].path
    assert len(path) == 4, "one gentle bend, no way around corners"


@given(st.lists(st.floats(0.0, 10.0), min_size=12, max_size=12))
def test_triangles_overlap_where_a_grid_of_points_says_so(numbers: list[float]) -> None:
    one, two = (np.array(numbers[start : start + 6]).reshape(3, 2) for start in (0, 6))
    if overlap([tuple(p) for p in one.tolist()], [tuple(p) for p in two.tolist()]):
        return
    shares = [(a / 12, b / 12, 1 - (a + b) / 12) for a, b in itertools.product(range(1, 12), repeat=2) if a + b < 12]
    points = np.array(shares) @ one
    edges = np.roll(two, -1, axis=0) - two
    turns = edges[None, :, 0] * (points[:, None, 1] - two[None, :, 1]) - edges[None, :, 1] * (
        points[:, None, 0] - two[None, :, 0]
    )
    assert not ((turns > 1e-6).all(axis=1) | (turns < -1e-6).all(axis=1)).any()


@pytest.mark.parametrize("count", [1, 2, 3, 9])
def test_neighbours_begin_next_to_each_other(count: int) -> None:
    chain = np.array([(number, number + 1) for number in range(count - 1)], dtype=np.int64).reshape(-1, 2)
    points = rows._places_by_neighbours(count, chain, np.ones(len(chain)))
    assert points.shape == (count, 2)
    assert np.abs(np.diff(points[:, 0])).tolist() == [1.0] * (count - 1)


@given(st.text(min_size=1, max_size=60), st.floats(3.0, 12.0))
def test_broken_names_fit_and_lose_nothing_unless_they_say_so(name: str, width: float) -> None:
    lines, cut = broken(name, width)
    assert len(lines) <= 3
    assert all(text_width(line, 1.0) <= max(width, 2.5) + 1e-9 for line in lines)
    assert cut == lines[-1].endswith("…") or name.endswith("…")
    assert text_width(cut_to(name, width), 1.0) <= max(width, 1.0) + 1e-9


def test_positions_that_are_given_keep_their_order() -> None:
    xs, ys = placing.as_given([(0.0, 0.0), (5.0, 1.0), (2.0, 9.0)], [(40.0, 20.0)] * 3).T
    assert np.argsort(xs).tolist() == [0, 2, 1]
    # Upwards for those who give them, downwards in a scene.
    assert np.argsort(-ys).tolist() == [0, 1, 2]


@settings(max_examples=8)
@given(acyclic(most=5), st.randoms(use_true_random=False))
def test_states_of_the_annealing_cost_what_they_are_said_to(graph: tuple[int, Edges], random: Random) -> None:
    count, edges = graph
    sides = [(random.uniform(20.0, 60.0), random.uniform(10.0, 30.0)) for _ in range(count)]
    x = np.array([random.uniform(0.0, 300.0) for _ in range(count)])
    row = np.array([random.randrange(3) for _ in range(count)], dtype=np.int64)
    weights, headed = [random.uniform(0.2, 1.0) for _ in edges], [random.random() < 0.5 for _ in edges]
    ends = np.array(edges, dtype=np.int64).reshape(-1, 2)
    members, first = rows._lines_of(count, ends)
    found = rows.anneal(
        x, row, np.array(sides) / 2.0, ends, np.array(weights), np.array(headed, dtype=np.int64), members, first,
        300.0, 3, 60.0, 20.0, 0, 1,
    )  # fmt: skip
    points = [(float(own), 60.0 * float(place)) for own, place in zip(x, row, strict=True)]
    assert found == pytest.approx(cost_of_nodes(points, sides, edges, weights, headed, 20.0), rel=1e-3, abs=0.02)
