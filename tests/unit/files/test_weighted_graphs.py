"""Weighted graphs in files: what is read is what was written, and what makes no sense is refused by line."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.naive import features as naive_features
from tests.naive.summaries import sample_of
from tests.tools.wording import Said

from dagpost.errors import InputError
from dagpost.files.weighted_graphs import read_graphs, write_graphs
from dagpost.posterior.summaries import top_graphs


def drawn(nodes: int = 5, names: Any = None, **about: Any) -> Any:
    """The best of some random graphs of different weights, one without edges."""
    rows = [*naive_features.random_dags(nodes, 30, 0.3, 5).tolist(), [0] * nodes]
    generator = np.random.default_rng(4)
    weights, log_joint = generator.dirichlet(np.ones(31)), -generator.random(31)
    return top_graphs(sample_of(rows, weights, log_joint, names=names, **about), None, coverage=0.95)


def same_graphs(found: Any, expected: Any) -> None:
    assert found.names == expected.names
    assert [set(graph.edges) for graph in found] == [set(graph.edges) for graph in expected]
    np.testing.assert_array_equal(found.probabilities, expected.probabilities)
    assert found.covered == pytest.approx(expected.covered)


def test_a_csv_file_holds_one_row_a_graph_that_any_program_reads(tmp_path: Path) -> None:
    graphs, path = drawn(), tmp_path / "graphs.csv"
    write_graphs(graphs, path)
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["graph", "weight", "probability", "edges"]
    assert [row["graph"] for row in rows] == [str(rank) for rank in range(1, len(graphs) + 1)]
    assert sum(float(row["weight"]) for row in rows) == pytest.approx(1.0)
    assert sum(float(row["probability"]) for row in rows) == pytest.approx(graphs.covered)
    for row, graph in zip(rows, graphs, strict=True):
        pairs = [tuple(edge.split("->")) for edge in row["edges"].split(";") if edge]
        assert sorted(pairs) == sorted(graph.edges)
    same_graphs(read_graphs(path, graphs.names), graphs)


def test_graphs_of_more_than_64_columns_come_back(tmp_path: Path) -> None:
    names = tuple(f"V{place}" for place in range(70))
    (tmp_path / "wide.csv").write_text("edges,weight\nV69->V0;V0->V1,3\n,1\n", encoding="utf-8")
    found = read_graphs(tmp_path / "wide.csv", names)
    assert [sorted(graph.edges) for graph in found] == [[("V0", "V1"), ("V69", "V0")], []]
    write_graphs(found, tmp_path / "again.csv")
    same_graphs(read_graphs(tmp_path / "again.csv", names), found)


def test_graphs_from_elsewhere_need_only_their_edges_and_repeats_are_put_together(tmp_path: Path) -> None:
    path = tmp_path / "graphs.csv"
    path.write_text('edges,seconds\nB->A,1\n"B->A; C -> A",2\nB -> A,3\n,4\n', encoding="utf-8")
    found = read_graphs(path)
    assert found.names == ("B", "A", "C")
    np.testing.assert_allclose(found.weights, [0.5, 0.25, 0.25])
    assert [sorted(graph.edges) for graph in found] == [[("B", "A")], [("B", "A"), ("C", "A")], []]
    assert found.covered == pytest.approx(1.0)


@pytest.mark.parametrize(
    "text",
    [
        "\ufeffedges,weight\r\nA->B,1e308\r\n\r\n,1e308\r\n",
        'edges;weight\n"[A->B]";1e-310\n;1e-310\n',
        ',edges,probability\n0,A->B,0.25\n1,"",0.25\n',
    ],
)
def test_what_spreadsheets_and_data_frames_write_and_weights_of_any_size_are_read(tmp_path: Path, text: str) -> None:
    path = tmp_path / "graphs.csv"
    path.write_text(text, encoding="utf-8", newline="")
    found = read_graphs(path)
    assert found.names == ("A", "B")
    np.testing.assert_allclose(found.weights, [0.5, 0.5])


@pytest.mark.parametrize("name", ["A;B", "A->B", " A", ""])
def test_a_name_that_a_list_of_edges_cannot_hold_is_refused_before_anything_is_written(
    tmp_path: Path, name: str, said: Said
) -> None:
    path = tmp_path / "graphs.csv"
    with said.raises(InputError):
        write_graphs(drawn(2, names=(name, "C")), path)
    assert not path.exists()


@pytest.mark.parametrize(
    "text",
    [
        "weight\n1\n",
        "",
        "edges,weights\nA->B,1\n",
        "edges\nA->B\n\nB->A\n",
        "edges,probability\nA->B,1.5\n",
        "edges\n",
        "edges,weight\nA->B,1\nA-B,1\n",
        "edges,weight\nA->B,-1\n",
        "edges,weight\nA->B,nan\n",
        "edges,weight\nA->B\n",
        "edges\nA->B;B->A\n",
        'edges\n"A->B\n',
        "edges,weight\nA->B,0\n",
        'edges\n""\n',
    ],
)
def test_a_csv_file_that_makes_no_sense_is_refused_by_line(tmp_path: Path, text: str, said: Said) -> None:
    path = tmp_path / "graphs.csv"
    path.write_text(text, encoding="utf-8")
    with said.raises(InputError):
        read_graphs(path)


def test_an_edge_between_strangers_is_refused(tmp_path: Path, said: Said) -> None:
    path = tmp_path / "graphs.csv"
    path.write_text("edges\nA->B\n", encoding="utf-8")
    with said.raises(InputError):
        read_graphs(path, ["A", "C"])


@pytest.mark.parametrize("path", ["graphs.txt", "graphs"])
def test_the_ending_says_which_format(path: str, said: Said) -> None:
    with said.raises(InputError):
        write_graphs(drawn(2), path)
    with said.raises(InputError):
        read_graphs(path)
