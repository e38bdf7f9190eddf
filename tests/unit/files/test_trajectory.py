"""Trajectories of Benchpress: written, replayed line by line by a reader of their own, read again, refused by line."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from tests.tools.wording import Said

from dagpost import DagPosterior, DagSample, datasets
from dagpost.errors import InputError
from dagpost.families.masks import matrices_of_masks
from dagpost.files.trajectory import read_trajectory, write_trajectory

GOOD = """index,score,added,removed
-2,0.0,[a->b;a->c],[]
-1,0.0,[],[a->b;a->c]
0,-20.5,[b->c],[]
34,-19.25,[a->c],[b->c]
90,-19.25,[],[]
"""


def replayed(path: Path) -> list[tuple[float, nx.DiGraph[str]]]:
    """Score and graph at every index from 0 to the last but one, by adding and removing as the format says."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["index"] for row in rows[:3]] == ["-2", "-1", "0"]
    states: list[Any] = []
    graph: nx.DiGraph[str] = nx.DiGraph()
    for place, row in enumerate(rows):
        for column, change in (("added", graph.add_edges_from), ("removed", graph.remove_edges_from)):
            text = row[column]
            assert (text[0], text[-1]) == ("[", "]")
            change([tuple(edge.split("->")) for edge in text[1:-1].split(";") if edge])
        stays = int(rows[place + 1]["index"]) - int(row["index"]) if place + 1 < len(rows) else 0
        states += [(float(row["score"]), graph.copy())] * stays if place > 1 else []
    return states


def sample_of(names: tuple[str, ...], parents: Any, weights: Any, **kinds: Any) -> DagSample:
    count = len(parents)
    nothing = np.full(count, np.nan)
    about: dict[str, Any] = {"target": "structure", "method": "exact-layers", "draws": "independent"}
    scores = -10.0 - np.arange(count) / 3
    about |= {"estimator": "counting"} | kinds
    return DagSample(names, parents, scores, nothing, nothing, np.array(weights), **about)


def frequencies(path: Path) -> Any:
    found = read_trajectory(path)
    return np.tensordot(found.weights, matrices_of_masks(found.parents).astype(float), 1)


def test_a_replay_gives_every_draw_with_its_score(tmp_path: Path) -> None:
    sample = DagPosterior(prior="uniform").fit(datasets.load("coronary")).sample(300, seed=3)
    path = tmp_path / "graphs.csv"
    write_trajectory(sample, path)
    states = replayed(path)
    assert [score for score, _ in states] == sample.log_joint.tolist()
    assert [set(graph.edges) for _, graph in states] == [set(graph.edges) for graph in sample]
    assert all(list(graph.nodes) == list(sample.names) for _, graph in states)
    found = read_trajectory(path)
    assert found.names == sample.names
    assert found.parents.dtype == sample.parents.dtype
    np.testing.assert_array_equal(found.parents, sample.parents[found.index])
    np.testing.assert_array_equal(found.scores, sample.log_joint[found.index])
    np.testing.assert_allclose(frequencies(path), sample.adjacency().mean(axis=0), atol=1e-12)


def test_equal_graphs_in_a_row_share_a_line(tmp_path: Path) -> None:
    parents = np.array([[0, 1], [0, 1], [2, 0], [2, 0]], dtype=np.uint8)
    sample = sample_of(("a", "b"), parents, [0.25] * 4)
    write_trajectory(sample, tmp_path / "graphs.csv")
    assert (tmp_path / "graphs.csv").read_text() == (
        "index,score,added,removed\n-2,0.0,[a->b],[]\n-1,0.0,[],[a->b]\n"
        "0,-10.0,[a->b],[]\n2,-10.666666666666666,[b->a],[a->b]\n4,-11.0,[],[]\n"
    )
    np.testing.assert_array_equal(read_trajectory(tmp_path / "graphs.csv").weights, [0.5, 0.5])


def test_weights_become_steps_of_time(tmp_path: Path) -> None:
    parents = np.array([[0, 1], [0, 0], [2, 0]], dtype=np.uint8)
    sample = sample_of(("a", "b"), parents, [0.5, 0.375, 0.125], draws="weighted", method="iw-dds", estimator="iw")
    write_trajectory(sample, tmp_path / "graphs.csv")
    with (tmp_path / "graphs.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [float(row["time"]) for row in rows] == [0.0, 0.0, 0.0, 1.5, 2.625, 3.0]
    np.testing.assert_allclose(read_trajectory(tmp_path / "graphs.csv").weights, sample.weights)
    np.testing.assert_allclose(frequencies(tmp_path / "graphs.csv"), [[0.0, 0.5], [0.125, 0.0]])


def test_more_columns_than_a_word_has_bits(tmp_path: Path) -> None:
    names = tuple(f"column {number}" for number in range(70))
    parents = np.zeros((3, 70, 2), dtype=np.uint64)
    parents[0, 3], parents[1, 69], parents[2, 69] = [6, 1], [1, 16], [1, 0]
    sample = sample_of(names, parents, np.full(3, 1 / 3), method="block-gibbs", draws="chains")
    write_trajectory(sample, tmp_path / "graphs.csv")
    np.testing.assert_array_equal(read_trajectory(tmp_path / "graphs.csv").parents, parents)


def test_a_row_that_changes_nothing_ends_the_trajectory(tmp_path: Path) -> None:
    path = tmp_path / "graphs.csv"
    path.write_text(GOOD)
    found = read_trajectory(path)
    assert found.parents.tolist() == [[0, 0, 2], [0, 0, 1]]
    np.testing.assert_allclose(found.weights, [34 / 90, 56 / 90])
    # Without it the last graph counts once, as the documentation of the format has it.
    path.write_text(GOOD.rsplit("\n", 2)[0] + "\n")
    np.testing.assert_allclose(read_trajectory(path).weights, [34 / 35, 1 / 35])


def test_what_r_writes_is_read(tmp_path: Path) -> None:
    quoted = GOOD.replace("[", '"[').replace("]", ']"').replace("-20.5", "NA").replace("\n", "\r\n")
    (tmp_path / "graphs.csv").write_bytes(quoted.encode())
    found = read_trajectory(tmp_path / "graphs.csv")
    assert len(found) == 2
    assert np.isnan(found.scores[0])


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("index,score", "number,score", 1, "'index' is missing"),
        ("-2,0.0", "-1,0.0", 2, "must have index -2"),
        ("[a->b;a->c]", "[a-b;a-c]", 2, "undirected"),
        ("[a->b;a->c]", "[a->b;b->c]", 2, "from the first column"),
        ("[a->b;a->c]", "[a->b;a->b]", 2, "different names"),
        ("[],[a->b;a->c]", "[],[a->b]", 3, "must be removed again"),
        ("[b->c],[]\n", "[b->c],[],\n", 4, "has 5 cells"),
        ("[b->c],[]\n", "b->c,[]\n", 4, "must be a list of edges"),
        ("[b->c],[]\n", "[b->d],[]\n", 4, "'b->d' is not an edge such as A->B between two columns"),
        ("[b->c],[]\n", "[b->b],[]\n", 4, "'b->b' is not an edge"),
        ("[b->c],[]\n", "[b-c],[]\n", 4, "not an edge"),
        ("[b->c],[]\n", "[b->c;c->a;a->b],[]\n", 4, "directed cycle"),
        ("[a->c],[b->c]", "[b->c],[]", 5, "there already"),
        ("[a->c],[b->c]", "[],[a->c]", 5, "not there"),
        ("[a->c],[b->c]", "[a->c],[a->c]", 5, "same row"),
        ("34,", "3.4,", 5, "whole number"),
        ("90,", "33,", 6, "does not fall"),
        ("\n0,", "\n1,", 4, "index 0"),
        ("-19.25,[a", "high,[a", 5, "score must be a number"),
    ],
)
def test_a_file_that_is_not_right_is_refused_with_its_line(
    tmp_path: Path, old: str, new: str, line: int, words: str
) -> None:
    path = tmp_path / "graphs.csv"
    text = GOOD.replace(old, new, 1)
    assert text != GOOD
    path.write_text(text)
    with pytest.raises(InputError, match=f"graphs.csv'?, line {line}: .*{words}"):
        read_trajectory(path)


def test_a_run_out_of_time_and_a_missing_file_are_told_apart(tmp_path: Path, said: Said) -> None:
    (tmp_path / "empty.csv").touch()
    with said.raises(InputError):
        read_trajectory(tmp_path / "empty.csv")
    with said.raises(InputError):
        read_trajectory(tmp_path / "none.csv")
    (tmp_path / "cut.csv").write_text(GOOD[:60])
    with pytest.raises(InputError, match="line"):
        read_trajectory(tmp_path / "cut.csv")


@pytest.mark.parametrize("name", ["a;b", "a->b", "a,b", 'a"', "a\nb", ""])
def test_names_that_would_be_read_as_something_else_are_refused(tmp_path: Path, name: str, said: Said) -> None:
    sample = sample_of((name, "c"), np.zeros((1, 2), dtype=np.uint8), [1.0])
    with said.raises(InputError):
        write_trajectory(sample, tmp_path / "graphs.csv")
    with said.raises(InputError):
        write_trajectory(sample_of(("a",), np.zeros((1, 1), dtype=np.uint8), [1.0]), tmp_path / "graphs.csv")
    assert list(tmp_path.iterdir()) == []
