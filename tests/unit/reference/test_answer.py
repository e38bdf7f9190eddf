"""Every form that an answer may have becomes the same one; what cannot be an answer is refused by name and value."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from tests.naive import reference as naive
from tests.naive.summaries import edges_of, sample_of
from tests.tools.wording import Said

from dagpost._tools.schema import is_acyclic
from dagpost.errors import InputError
from dagpost.reference.answer import Answer, answer_of
from dagpost.reference.graph_forms import masks_of_stack

NAMES = ("A", "B", "C")
#: A -> B -> C, B -> C alone, and A -> B <- C.
DAGS = [(0, 1, 2), (0, 0, 2), (0, 5, 0)]
WEIGHTS = [1.0, 2.0, 5.0]
EDGES = naive.edge_matrix(DAGS, WEIGHTS)


def pairs_of(dag: tuple[int, ...]) -> list[tuple[str, str]]:
    return [(NAMES[parent], NAMES[child]) for parent, child in sorted(edges_of(dag))]


def square(names: str = "ABC") -> pd.DataFrame:
    table = pd.DataFrame(EDGES, list(NAMES), list(NAMES))
    return table.loc[list(names), list(names)]


def long() -> pd.DataFrame:
    rows = [(a, b, EDGES[i, j]) for i, a in enumerate(NAMES) for j, b in enumerate(NAMES) if EDGES[i, j]]
    return pd.DataFrame(rows, columns=["from", "to", "probability"])


def strengths() -> pd.DataFrame:
    found = long()
    return found.assign(strength=0.8, direction=found["probability"] / 0.8).drop(columns="probability")


def graphs_of_networkx() -> list[Any]:
    return [nx.DiGraph(pairs_of(dag)) for dag in DAGS]


def matrix_in_order(dag: Any, names: str) -> pd.DataFrame:
    table = pd.DataFrame(naive.stack_of([dag])[0], list(NAMES), list(NAMES))
    return table.loc[list(names), list(names)]


def table_of_graphs() -> pd.DataFrame:
    edges = [";".join("->".join(pair) for pair in pairs_of(dag)) for dag in DAGS]
    return pd.DataFrame({"edges": edges, "weight": WEIGHTS, "graph": range(3)})


@pytest.mark.parametrize(
    "given",
    [
        square(),
        square("CAB"),
        square().loc[list("BCA"), list("CBA")],
        square().reset_index(drop=True),
        pd.DataFrame(EDGES),
        EDGES,
        EDGES.astype(np.float32),
        long(),
        strengths(),
        (naive.stack_of(DAGS), WEIGHTS),
        (naive.stack_of(DAGS).astype(bool), np.array(WEIGHTS) * 1e300),
        (list(naive.stack_of(DAGS).astype(float)), WEIGHTS),
        ([matrix_in_order(dag, "CAB") for dag in DAGS], WEIGHTS),
        ([pd.DataFrame(matrix) for matrix in naive.stack_of(DAGS)], WEIGHTS),
        (graphs_of_networkx(), WEIGHTS),
        ([pairs_of(dag) for dag in DAGS], pd.Series(WEIGHTS)),
        [pairs_of(DAGS[at]) for at in (0, 1, 1, 2, 2, 2, 2, 2)],
        naive.stack_of([DAGS[at] for at in (0, 1, 1, 2, 2, 2, 2, 2)]),
        table_of_graphs(),
        table_of_graphs().rename(columns={"weight": "probability"}),
        sample_of(DAGS, np.array(WEIGHTS) / 8, names=NAMES),
        answer_of(EDGES, NAMES),
    ],
)
def test_every_form_gives_the_same_edges(given: Any) -> None:
    found = answer_of(given, NAMES)
    assert found.names == NAMES
    np.testing.assert_allclose(found.edges, EDGES, atol=1e-7)
    if found.parents is not None and found.weights is not None:
        assert found.weights.sum() == pytest.approx(1.0)


def test_a_labelled_stack_is_matched_by_name() -> None:
    xarray = pytest.importorskip("xarray", reason="xarray is not installed")
    tables = [matrix_in_order(dag, "CAB") for dag in DAGS]
    stack = xarray.DataArray(np.stack(tables), coords={"graph": [0, 1, 2], "parent": [*"CAB"], "child": [*"CAB"]})
    np.testing.assert_allclose(answer_of((stack, WEIGHTS), NAMES).edges, EDGES)


def test_a_sample_over_columns_in_another_order_is_matched_by_name() -> None:
    # Over C, B, A: A -> B -> C has parents B of C (bit 1 in entry 0) and A of B (bit 2 in entry 1).
    turned = sample_of([(2, 4, 0), (2, 0, 0), (0, 5, 0)], np.array(WEIGHTS) / 8, names=("C", "B", "A"))
    found = answer_of(turned, NAMES)
    assert found.parents is not None
    assert list(map(tuple, found.parents.tolist())) == DAGS


@pytest.mark.parametrize("missing", ["", None, float("nan"), pd.NA])
def test_a_cell_without_edges_is_the_graph_without_edges(missing: Any) -> None:
    table = pd.DataFrame({"edges": ["A->B", missing], "weight": [1, 3]})
    assert answer_of(table, NAMES).edges.sum() == 0.25


def test_long_tables_leave_out_what_is_impossible() -> None:
    found = answer_of(pd.DataFrame({"from": ["C"], "to": ["A"], "probability": [0.25]}), NAMES)
    assert found.edges[2, 0] == 0.25
    assert found.edges.sum() == 0.25


def test_probabilities_that_rounding_moved_are_taken() -> None:
    edges = np.array([[0.0, 0.5 + 3e-7, 1.0 + 1e-7], [0.5 + 3e-7, 0.0, -1e-8], [0.0, 0.0, 0.0]])
    found = answer_of(edges, NAMES).edges
    assert found.min() == 0.0
    assert found.max() == 1.0


WITH_NAN = np.where(np.eye(3) > 0, np.nan, EDGES)
LOOP = EDGES + np.diag([0.0, 0.25, 0.0])
BOTH_WAYS = np.array([[0.0, 0.75, 0.0], [0.5, 0.0, 0.0], [0.0, 0.0, 0.0]])
CYCLE = [("A", "B"), ("B", "C"), ("C", "A")]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            pd.DataFrame({"from": ["A"], "to": ["B"], "probability": [[0.5]]}),
            "must hold numbers from 0 to 1. Got \\[0.5\\] in row 1",
        ),
        ([np.zeros((3, 3)), np.zeros((2, 2))], r"Graph 1 is a matrix of shape \(2, 2\), and the case has 3 columns"),
        ([pd.DataFrame(np.zeros((3, 3)), columns=list("ABQ"))], "no column 'Q'"),
        (
            EDGES[:2],
            r"must hold numbers and have the shape \(3, 3\).*in the order of the case: 'A', 'B', 'C'.*\(2, 3\)",
        ),
        (EDGES + 1.0, "between 0 and 1. Got 1.75 for A -> B"),
        (WITH_NAN, "Got nan for A -> A. Fill what is missing, with 0 on the diagonal"),
        (LOOP, "No column is its own parent.*Got 0.25 for B -> B"),
        (BOTH_WAYS, r"at most one of A -> B and B -> A.*Got 0.75 and 0.5.*cyclic='drop'"),
        (square().rename(columns={"B": "b"}), "no column 'b', which the columns name"),
        (square().rename(index={"B": "Bee"}), "no column 'Bee', which the rows name"),
        (square()[["A", "B"]], "The columns do not name 'C'. Give all 3"),
        (square().assign(D=0.0), "no column 'D', which the columns name"),
        (square()[["A", "B", "C", "C"]], "The columns name 'C' more than once"),
        (square().astype(object).replace(0.0, "x"), "Row 0: the probability must be a number. Got 'x'"),
        (long().assign(to="Z"), "no variable 'Z'"),
        (pd.concat([long(), long()]), "Got 'A' -> 'B' more than once"),
        (long().drop(columns="probability"), "There is no 'probability'"),
        (long().assign(probability=np.nan), "must hold numbers from 0 to 1. Got nan in row 1"),
        (table_of_graphs().rename(columns={"weight": "weights"}), "no column 'weights'.*Rename or remove it"),
        (table_of_graphs().assign(edges="A->B;B->Q"), "Row 0: the case has no column 'Q'"),
        (table_of_graphs().assign(edges="A-B"), "Row 0: an edge is a pair.*'A-B'.*without a direction"),
        (table_of_graphs().assign(edges=3), "Row 0: edges are text such as 'A->B;C->D'. Got 3"),
        ((naive.stack_of(DAGS), [1.0, 2.0]), r"There are 3 graphs, and weights of shape \(2,\)"),
        (
            (naive.stack_of(DAGS), [1.0, -2.0, 1.0]),
            r"Graph 1: weights .* at least 0. Got -2.0.*numpy.exp\(logs - logs.max\(\)\)",
        ),
        ((naive.stack_of(DAGS), [0.0, 0.0, 0.0]), "All weights are 0"),
        ((naive.stack_of(DAGS), [1.0, np.nan, 1.0]), "Graph 1: weights must be .* Got nan"),
        ((naive.stack_of(DAGS), "heavy"), "weights must be numbers, one a graph. Got 'heavy'"),
        ((naive.stack_of(DAGS) * 2, None), "Graph 0 has 2 for A -> B. Cut weights"),
        ((naive.stack_of(DAGS)[:, :2, :2], None), r"Here that is \(graphs, 3, 3\).*\(3, 2, 2\)"),
        ((naive.stack_of(DAGS)[:0], None), "There is no graph"),
        (([nx.Graph([("A", "B")])], None), "Graph 0 is undirected"),
        (([nx.DiGraph([("A", "b")])], None), "Graph 0: the case has no column 'b'"),
        (([[("A", "B", "C")]], None), r"Graph 0: an edge is a pair \(parent, child\)"),
        (([[("A", "A")]], None), "Graph 0: A -> A leads from a column to itself"),
        ([("A", "B")], "Graph 0: an edge is a pair.*Got 'A' instead"),
        (({"A": 1}, None), "Graphs are an array of 0 and 1"),
        (
            ([[("A", "B")], CYCLE, CYCLE], None),
            r"Graph 1: the graph has a directed cycle, A -> B -> C -> A. Of the 3 graphs, 2 have cycles .66.67% of",
        ),
        ("edges.csv", "An answer is a table.*Got 'edges.csv' instead"),
        (None, "An answer is a table.*Got None instead"),
        (sample_of([(0, 1)], names=("A", "Q")), "The case has no column 'Q'"),
        (Answer(("A", "C", "B"), EDGES), "another order of columns"),
    ],
)
def test_what_is_not_an_answer_is_refused_by_name_and_value(given: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        answer_of(given, NAMES)


def test_graphs_with_cycles_are_left_out_where_that_is_asked_for(said: Said) -> None:
    graphs = [pairs_of(DAGS[0]), CYCLE, pairs_of(DAGS[2])]
    found = answer_of((graphs, [1.0, 6.0, 5.0]), NAMES, cyclic="drop")
    assert (found.dropped, found.dropped_weight) == (1, 0.5)
    assert found.weights is not None
    assert found.weights.tolist() == pytest.approx([1 / 6, 5 / 6])
    with said.raises(InputError):
        answer_of([CYCLE], NAMES, cyclic="drop")
    with said.raises(InputError):
        answer_of([CYCLE], NAMES, cyclic="keep")


def test_cycles_are_found_in_graphs_of_any_size() -> None:
    rng = np.random.default_rng(3)
    for nodes in (1, 2, 5, 9, 20, 64):
        stack = rng.random((50, nodes, nodes)) < 1.0 / nodes
        stack[:, np.arange(nodes), np.arange(nodes)] = False
        parents = masks_of_stack(stack, [f"X{at}" for at in range(nodes)])
        twin = [nx.is_directed_acyclic_graph(nx.from_numpy_array(one, create_using=nx.DiGraph)) for one in stack]
        assert is_acyclic(parents).tolist() == twin


def test_an_answer_says_what_it_holds() -> None:
    assert repr(answer_of(EDGES, NAMES)) == "Answer: edge probabilities over 3 columns"
    assert repr(answer_of(naive.stack_of(DAGS), NAMES)) == "Answer: 3 weighted graphs over 3 columns"
