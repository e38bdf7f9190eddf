"""Weighted graphs in files: any program can read them, and what such a file cannot hold is refused."""

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
from dagpost.files.weighted_graphs import write_graphs
from dagpost.posterior.summaries import top_graphs


def drawn(nodes: int = 5, names: Any = None, **about: Any) -> Any:
    """The best of some random graphs of different weights, one without edges."""
    rows = [*naive_features.random_dags(nodes, 30, 0.3, 5).tolist(), [0] * nodes]
    generator = np.random.default_rng(4)
    weights, log_joint = generator.dirichlet(np.ones(31)), -generator.random(31)
    return top_graphs(sample_of(rows, weights, log_joint, names=names, **about), None, coverage=0.95)


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


@pytest.mark.parametrize("name", ["A;B", "A->B", " A", ""])
def test_a_name_that_a_list_of_edges_cannot_hold_is_refused_before_anything_is_written(
    tmp_path: Path, name: str, said: Said
) -> None:
    path = tmp_path / "graphs.csv"
    with said.raises(InputError):
        write_graphs(drawn(2, names=(name, "C")), path)
    assert not path.exists()


@pytest.mark.parametrize("path", ["graphs.txt", "graphs"])
def test_the_ending_says_which_format(path: str, said: Said) -> None:
    with said.raises(InputError):
        write_graphs(drawn(2), path)
