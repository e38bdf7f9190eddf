"""Statements about series in time: how they are written, and paths through a network that goes on in time."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive.time_paths import influences
from tests.naive.wide import wide_mask
from tests.tools.wording import Said
from tests.unit.data.test_unroll import PANEL

from dagpost import DagPosterior, datasets, edge, path, path_in_time, unroll
from dagpost.errors import InputError
from dagpost.features import Query, evaluate, parse

NAMES = ("A", "B", "M. Work", "A[t-1]", "B[t-1]", "M. Work[t-1]", "sex")


@pytest.mark.parametrize(
    ("text", "feature"),
    [
        ("A[t-1] -> B", edge("A[t-1]", "B")),
        ("A[ t - 1 ] -> B[t]", edge("A[t-1]", "B")),
        ("'M. Work'[t-1] -> A", edge("M. Work[t-1]", "A")),
        ('"M. Work[t-1]" -> A', edge("M. Work[t-1]", "A")),
        ("A -> B at lag 1", edge("A[t-1]", "B")),
        ("B <- A at lag 1", edge("A[t-1]", "B")),
        ("A -> A at lag 1", edge("A[t-1]", "A")),
        ("A -> B now", edge("A", "B")),
        ("A -> B at lag 1 & !(A -> B now)", edge("A[t-1]", "B") & ~edge("A", "B")),
        ("A ~> B within 2 steps", path_in_time("A", "B", 2)),
        ("A <~ A within 1 step | sex ~> B within 3 steps", path_in_time("A", "A", 1) | path_in_time("sex", "B", 3)),
    ],
)
def test_statements_about_time_are_read_and_written(text: str, feature: Any) -> None:
    found = parse(text, NAMES)
    assert found == Query(feature)
    assert parse(str(found), NAMES) == found


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("A -> A now", "relates 'A' to itself"),
        ("A -> B at lag 2", r"no variable 'A\[t-2\]'"),
        ("A -> B at 1", "Expected 'lag'"),
        ("A ~> B within 2", "Expected 'steps'"),
        ("A ~> A within 0 steps", "about the past of 'A'"),
        ("A -> B within 2 steps", "Expected '&'"),
        ("A[t+1] -> B", r"Earlier values are written A\[t-1\]"),
    ],
)
def test_what_cannot_be_said_of_time_is_refused_at_its_place(text: str, words: str) -> None:
    with pytest.raises(InputError, match=rf"{words}.*\n.*\n.*\^"):
        parse(text, NAMES)


@pytest.mark.parametrize(
    "text", ["Smoking -> Family now", "Smoking -> Family at lag 1", "Smoking ~> Family within 1 step"]
)
def test_a_model_without_time_says_so(text: str, said: Said) -> None:
    with said.raises(InputError):
        parse(text, datasets.load("coronary").names)
    with said.raises(InputError):
        evaluate([path_in_time("A", "B", 1)], np.zeros((1, 2), dtype=np.uint8), ["A", "B"])
    with said.raises(InputError):
        evaluate([path_in_time("A", "C", 1)], np.zeros((1, 4), dtype=np.uint8), ["A", "B", "A[t-1]", "C"])


@st.composite
def templates(draw: st.DrawFn) -> tuple[list[str], np.ndarray]:
    """Columns of a table with time, in any order, and the parents of its present columns in some graphs."""
    series, lags = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    names = [f"s{one}" + (f"[t-{lag}]" if lag else "") for lag in range(lags + 1) for one in range(series)]
    names = draw(st.permutations([*names, "sex"]))
    seed, density = draw(st.integers(0, 2**32 - 1)), draw(st.sampled_from([0.15, 0.4]))
    rng = np.random.default_rng(seed)
    order = rng.permutation(series)
    adjacency = np.zeros((20, len(names), len(names)), dtype=bool)
    for child, name in enumerate(names):
        if "[" in name or name == "sex":
            continue
        for parent, other in enumerate(names):
            later = "[" not in other and other != "sex" and order[int(other[1:])] >= order[int(name[1:])]
            if not later:
                adjacency[:, child, parent] = rng.random(20) < density
    return names, adjacency


@given(template=templates(), steps=st.integers(0, 4), wide=st.booleans())
@settings(max_examples=40, deadline=None)
def test_paths_in_time_are_those_of_the_template_repeated_in_time(
    template: tuple[list[str], np.ndarray], steps: int, wide: bool
) -> None:
    names, adjacency = template
    columns = [*names, *(f"x{number}" for number in range(80))] if wide else names
    words = -(-len(columns) // 64)
    masks = np.zeros((len(adjacency), len(columns), words), dtype=np.uint64)
    for number, graph in enumerate(adjacency):
        for child in range(len(names)):
            masks[number, child] = wide_mask(np.flatnonzero(graph[child]).tolist(), words)
    present = [name for name in names if "[" not in name and name != "sex"]
    asked = [path_in_time(x, y, steps) for x in [*present, "sex"] for y in present if steps or x != y]
    held = evaluate(asked, masks if wide else masks[:, :, 0], columns)
    for number, graph in enumerate(adjacency):
        drawn = nx.DiGraph([(names[parent], names[child]) for child, parent in np.argwhere(graph)])
        drawn.add_nodes_from(names)
        expected = [influences(drawn, one.source, one.target, steps) for one in asked]
        assert held[:, number].tolist() == expected


def test_a_path_in_time_is_exact_where_it_is_an_edge_or_stays_in_the_present() -> None:
    frame = PANEL[["id", "week", "x", "y", "z"]]
    lagged = DagPosterior("bge", prior="uniform", max_parents=2, seed=1).fit(
        unroll(frame, time="week", subject="id", contemporaneous=False)
    )
    found = lagged.probability("y ~> x within 1 step")
    assert found.rule == "exact"
    assert found.value == lagged.probability("y[t-1] -> x").value
    assert lagged.probability("x ~> z within 2 steps").value > 0.9
    both = DagPosterior("bge", prior="uniform", max_parents=2, seed=1).fit(unroll(frame, time="week", subject="id"))
    now = both.probability("y ~> z within 0 steps")
    assert now.value == pytest.approx(both.own_sample().probability(path("y", "z")).value, abs=0.02)
    assert both.probability("x ~> z within 1 step").value > 0.9
