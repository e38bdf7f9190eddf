"""The table that users of bnlearn know: what each column means, the order of rows, and the way back."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.naive import features as naive_features
from tests.naive.summaries import NAMES, sample_of
from tests.tools.wording import Said

from dagpost.errors import InputError
from dagpost.files.strengths import matrix_of_strengths, strength_table


def naive_strengths(sample: Any) -> list[tuple[str, str, float, float]]:
    """What bnlearn's custom.strength(networks, nodes, weights, cpdag = FALSE) counts, graph by graph."""
    rows = []
    for source in sample.names:
        for target in sample.names:
            if source == target:
                continue
            forward = sum(w for graph, w in zip(sample, sample.weights, strict=True) if graph.has_edge(source, target))
            backward = sum(w for graph, w in zip(sample, sample.weights, strict=True) if graph.has_edge(target, source))
            joined = forward + backward
            rows.append((source, target, joined, forward / joined if joined else 0.0))
    return rows


@pytest.fixture
def edges() -> Any:
    names = ["b", "a", "NA"]
    return pd.DataFrame([[0.0, 0.75, 0.0], [0.125, 0.0, 0.0], [0.0, 0.5, 0.0]], index=names, columns=names)


def test_strengths_of_a_sample_are_those_counted_graph_by_graph() -> None:
    graphs = naive_features.random_dags(4, 30, 0.2, 3).tolist()
    sample = sample_of(graphs, np.random.default_rng(3).dirichlet(np.ones(30)))
    found = strength_table(sample)
    expected = pd.DataFrame(naive_strengths(sample), columns=["from", "to", "strength", "direction"])
    assert found[["from", "to"]].to_numpy().tolist() == expected[["from", "to"]].to_numpy().tolist()
    for column in ("strength", "direction"):
        np.testing.assert_allclose(found[column], expected[column], atol=1e-12)


def test_a_pair_that_is_never_joined_has_direction_0_as_in_bnlearn(edges: Any) -> None:
    found = strength_table(edges).set_index(["from", "to"])
    assert found.loc[("b", "NA")].to_list() == [0.0, 0.0]
    assert found.loc[("NA", "a")].to_list() == [0.5, 1.0]
    assert found.loc[("a", "NA")].to_list() == [0.5, 0.0]
    assert found.index.to_list() == [("b", "a"), ("b", "NA"), ("a", "b"), ("a", "NA"), ("NA", "b"), ("NA", "a")]


def test_strengths_lead_back_to_the_edges_through_a_csv_file(edges: Any) -> None:
    text = strength_table(edges).to_csv(index=False)
    read = pd.read_csv(io.StringIO(text), keep_default_na=False)
    found = matrix_of_strengths(read)
    assert found.index.to_list() == found.columns.to_list() == ["b", "a", "NA"]
    np.testing.assert_allclose(found.to_numpy(), edges.to_numpy(), atol=1e-15)
    turned = matrix_of_strengths(read, ["NA", "a", "b"])
    np.testing.assert_array_equal(turned.loc[found.index, found.columns].to_numpy(), found.to_numpy())


def test_a_table_that_r_wrote_is_read_with_its_row_names() -> None:
    written = [
        '"","from","to","strength","direction"',
        '"1","A","B",0.875,0.857142857142857',
        '"2","B","A",0.875,0.142857142857143',
    ]
    found = matrix_of_strengths(pd.read_csv(io.StringIO("\n".join(written))))
    assert found.loc["A", "B"] == pytest.approx(0.75)
    assert found.loc["B", "A"] == pytest.approx(0.125)


@pytest.mark.parametrize(
    "changes",
    [
        {"strength": [0.5, 0.25]},
        {"strength": [0.5, 1.5]},
        {"direction": ["much", 0.5]},
        {"direction": [float("nan"), 0.5]},
        {"from": ["A", float("nan")]},
        {"from": ["A", "A"], "to": ["B", "B"]},
    ],
)
def test_a_table_that_makes_no_sense_is_refused(changes: Any, said: Said) -> None:
    table = pd.DataFrame({"from": ["A", "B"], "to": ["B", "A"], "strength": 0.5, "direction": [0.25, 0.75]})
    with said.raises(InputError):
        matrix_of_strengths(table.assign(**changes))


def test_a_table_of_arc_strength_has_no_directions_and_says_so(said: Said) -> None:
    table = pd.DataFrame({"from": ["A"], "to": ["B"], "strength": [0.5]})
    with said.raises(InputError):
        matrix_of_strengths(table)
    with said.raises(InputError):
        matrix_of_strengths(table.assign(direction=1.0), ["A", "C"])


def test_names_come_in_the_order_of_the_columns() -> None:
    found = strength_table(sample_of([[0, 1, 0], [2, 0, 0]]))
    assert found["from"].drop_duplicates().to_list() == list(NAMES[:3])
