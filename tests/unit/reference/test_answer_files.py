"""Answers from files: what each kind says, and that a wrong one is refused with its line and value."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.naive import reference as naive
from tests.naive.summaries import sample_of
from tests.tools.wording import Said

from dagpost.errors import InputError
from dagpost.files.weighted_graphs import write_graphs
from dagpost.posterior.summaries import top_graphs
from dagpost.reference import read_answer, score
from dagpost.reference.answer import answer_of
from dagpost.reference.truth import Truth

NAMES = ("A", "B", "C")
#: A -> B -> C, B -> C alone, and A -> B <- C.
DAGS = [(0, 1, 2), (0, 0, 2), (0, 5, 0)]
WEIGHTS = [1.0, 2.0, 5.0]
EDGES = naive.edge_matrix(DAGS, WEIGHTS)

Written = Callable[..., Path]


@pytest.fixture(scope="module")
def truth() -> Truth:
    return naive.truth_of(DAGS, WEIGHTS)


@pytest.fixture
def written(tmp_path: Path) -> Written:
    def write(text: str, name: str = "answer.csv") -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


SQUARE = "A,B,C\n0,0.75,0\n0,0,0.375\n0,0.625,0\n"
TRAJECTORY = """index,score,added,removed
-2,0.0,[A->B;A->C],[]
-1,0.0,[],[A->B;A->C]
0,-3.5,[A->B;B->C],[]
1,-3.2,[],[A->B]
3,-3.0,[A->B;C->B],[B->C]
8,-3.0,[],[]
"""


@pytest.mark.parametrize(
    "text",
    [
        SQUARE,
        ",A,B,C\nA,0,0.75,0\nB,0,0,0.375\nC,0,0.625,0\n",
        "from,B,A,C\nC,0.625,0,0\nA,0.75,0,0\nB,0,0,0.375\n",
        '"A"\t"B"\t"C"\n"A"\t0\t0.75\t0\n"B"\t0\t0\t0.375\n"C"\t0\t0.625\t0\n',
        "from,to,probability\nA,B,0.75\nB,C,0.375\nC,B,0.625\n",
        "from;to;probability\r\nA;B;0.75\r\nB;C;0.375\r\nC;B;0.625\r\n",
        '"from","to","strength","direction"\n"A","B",0.75,1\n"B","C",1,0.375\n"C","B",1,0.625\n',
        "\n\ngraph,weight,edges\n0,1,A->B;B->C\n1,2,B->C\n\n2,5,A->B;C->B\n",
        "edges,weight\nA -> B; B -> C,10\nB->C,20\n[A->B;C->B],50\n,0\n",
        "edges,probability\nA->B;B->C,0.125\nB->C,0.25\nA->B;C->B,0.625\n",
        ",edges,weight\n0,A->B;B->C,1\n1,B->C,2\n2,A->B;C->B,5\n",
        "edges\n" + "A->B;B->C\n" + 2 * "B->C\n" + 5 * "C->B;A->B\n",
        TRAJECTORY,
        "\ufeff" + TRAJECTORY.replace("\n", "\r\n") + "\r\n",
        TRAJECTORY.replace("\n3,-3.0", "\n3,NA").replace("\n0,-3.5", '\n0,"-3.5"'),
    ],
)
def test_every_kind_of_file_gives_the_same_edges(text: str, written: Written, truth: Truth) -> None:
    answer = read_answer(written(text), truth)
    np.testing.assert_allclose(answer.edges, EDGES, atol=1e-12)
    assert score(answer, truth).edges.sad == pytest.approx(0.0, abs=1e-12)


def test_a_sample_and_a_parquet_file_are_read(tmp_path: Path, truth: Truth) -> None:
    sample_of(DAGS, np.array(WEIGHTS) / 8, names=NAMES).save(tmp_path / "sample.dagpost")
    np.testing.assert_allclose(read_answer(tmp_path / "sample.dagpost", truth).edges, EDGES)
    if importlib.util.find_spec("pyarrow") is None:
        pytest.skip("pyarrow is not installed")
    graphs = pd.DataFrame({"edges": ["A->B;B->C", "B->C", "A->B;C->B"], "weight": WEIGHTS})
    graphs.to_parquet(tmp_path / "graphs.parquet")
    np.testing.assert_allclose(read_answer(tmp_path / "graphs.parquet", truth).edges, EDGES)


def test_graphs_that_dagpost_wrote_are_read(tmp_path: Path, truth: Truth) -> None:
    graphs = top_graphs(sample_of(DAGS, np.array(WEIGHTS) / 8, names=NAMES), None)
    np.testing.assert_allclose(answer_of(graphs, NAMES).edges, EDGES)
    write_graphs(graphs, tmp_path / "graphs.csv")
    np.testing.assert_allclose(read_answer(tmp_path / "graphs.csv", truth).edges, EDGES)


def test_the_last_graph_of_a_trajectory_counts_once_unless_its_end_is_said(written: Written, truth: Truth) -> None:
    short = read_answer(written(TRAJECTORY.replace("8,-3.0,[],[]\n", "")), truth)
    assert short.weights is not None
    assert short.weights.tolist() == pytest.approx([1 / 4, 2 / 4, 1 / 4])


def test_the_beginning_of_a_trajectory_can_be_left_out(written: Written, truth: Truth, said: Said) -> None:
    found = read_answer(written(TRAJECTORY), truth, burn_in=0.25)
    assert found.weights is not None
    assert found.weights.tolist() == pytest.approx([1 / 6, 5 / 6])
    with said.raises(InputError):
        read_answer(written(SQUARE), truth, burn_in=0.25)
    with said.raises(InputError):
        read_answer(written(TRAJECTORY), truth, burn_in=1)


def test_cycles_in_a_file_of_graphs(written: Written, truth: Truth, said: Said) -> None:
    text = "edges,seconds\nA->B;B->A,1\nB->C,2.5\nA->B,4\n"
    found = read_answer(written(text), truth, cyclic="drop")
    assert found.parents is not None
    assert (found.dropped, len(found.parents)) == (1, 2)
    with said.raises(InputError):
        read_answer(written(text), truth)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the file is empty. Benchpress"),
        ("A,B,C\n", "a first line and nothing below it. An answer is a square matrix"),
        ("x,y\n1,2\n", "The first line does not say what this file holds: 'x', 'y'. An answer is a square matrix"),
        (",x,y\nx,0,1\ny,0,0\n", "The columns of the case are 'A', 'B', 'C'."),
        ("A,B\n0,1\n0,0\n", "The columns do not name 'C'"),
        ("A,B,C,D\n0,1,0,0\n0,0,0,0\n0,0,0,0\n0,0,0,0\n", "no column 'D', which the columns name"),
        (SQUARE.replace("0.375", "high"), "line 3: the probability must be a number. Got 'high'"),
        (SQUARE.replace("0.375", "1.375"), "Got 1.375 for B -> C"),
        (SQUARE.replace("0,0,0.375", "0,0"), "line 3: has 2 probabilities, and there are 3 columns"),
        (SQUARE + "0,0,0\n", "There are 4 rows of probabilities, and 3 columns"),
        (",A,B,C\nA,0,0,0\nA,0,0,0\nB,0,0,0\n", "The rows do not name 'C'"),
        ("from,to,probability\nA,B,0.5\nA,Q,0.5\n", "answer.csv: There is no variable 'Q'"),
        ("from,to,probability\nA,B,0.5\n\nA,B,0.5\n", "answer.csv: .*Got 'A' -> 'B' more than once"),
        ("from,to,probability\nA,B,\n", "answer.csv: .*'probability' must hold numbers from 0 to 1. Got '' in row 1"),
        ("from,to,probability\nA,B,nan\n", "must hold numbers from 0 to 1. Got 'nan' in row 1"),
        ("from,to,probability\nA,B\n", "line 2: has 2 cells, and the first line 3"),
        ("from,to,from\nA,B,A\n", "names the column 'from' more than once"),
        ("from,to,p\nA,B,0.5\n", "There is no 'probability'."),
        ("edges,weight\nA->B,1\nA->B,much\n", "line 3: the weight must be a number. Got 'much'"),
        ("edges,weight\nA->B,1\nA->B,-1\n", "line 3: weights must be finite and at least 0. Got -1.0"),
        ("edges\nA->B\n\nB->A\n", "line 3: is empty, and 'edges' is the only column"),
        ("from,to,strength,direction\nA,B,2,0.5\n", "'strength' must hold numbers from 0 to 1. Got '2' in row 1"),
        ("edges,wait\nA->B,1\n", "no column 'wait'"),
        ("edges\nA->B\nA--C\n", "line 3: an edge is a pair.*Got 'A--C'.*without a direction"),
        ("edges\n__import__('os')->B\n", "line 2: the case has no column"),
        ('edges\n"A->B\n', "line 2"),
        (TRAJECTORY.replace("C", "Q"), "The case has no column 'Q'"),
        (
            TRAJECTORY.replace("[],[A->B]\n", "[],[A->B;C->A]\n"),
            "line 5: the edge C->A is removed, but it is not there",
        ),
        (TRAJECTORY.replace("removed", "gone"), "line 1.*'removed' is missing"),
    ],
)
def test_a_wrong_file_is_refused_with_its_line_and_value(text: str, said: str, written: Written, truth: Truth) -> None:
    path = written(text)
    with pytest.raises(InputError, match=said) as caught:
        read_answer(path, truth)
    assert str(path) in str(caught.value)


def test_what_is_not_a_file_is_refused(tmp_path: Path, truth: Truth, said: Said) -> None:
    with said.raises(InputError):
        read_answer(tmp_path / "none.csv", truth)
    with said.raises(InputError):
        read_answer(tmp_path, truth)
    with said.raises(InputError):
        read_answer(tmp_path, 5)
    (tmp_path / "noise.csv").write_bytes(bytes(range(256)))
    with pytest.raises(InputError, match=r"noise\.csv"):
        read_answer(tmp_path / "noise.csv", truth)
