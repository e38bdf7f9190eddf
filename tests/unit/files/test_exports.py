"""Results handed to other tools: what they read is what there was, whatever the names are."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError
from tests.naive.summaries import NAMES, ODD_NAMES, sample_of
from tests.tools.wording import Said

from dagpost import DagPosterior, datasets
from dagpost._tools import memory
from dagpost._tools.whole_files import replacing
from dagpost.errors import InputError, ResourceError
from dagpost.files.arviz import to_arviz
from dagpost.files.frames import long_table, matrix_of_long
from dagpost.files.graph_files import to_dot, to_networkx, write_dot, write_graphml
from dagpost.mcmc.records import ChainRecord
from dagpost.posterior.summaries import pattern_graph

#: Text without lone halves of surrogate pairs, which no table of pandas takes.
text = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)


@st.composite
def tables(draw: Any, names: Any = text) -> Any:
    labels = draw(st.lists(st.one_of(names, st.sampled_from(ODD_NAMES)), min_size=1, max_size=6, unique=True))
    generator = np.random.default_rng(draw(st.integers(0, 2**32)))
    matrix = generator.random((len(labels), len(labels))) * (generator.random((len(labels), len(labels))) < 0.7)
    np.fill_diagonal(matrix, 0.0)
    axes = draw(st.sampled_from([("parent", "child"), ("from", "to"), (None, None)]))
    return pd.DataFrame(
        matrix, index=pd.Index(labels, name=axes[0], dtype=object), columns=pd.Index(labels, name=axes[1], dtype=object)
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: Any) -> Any:
    return tmp_path_factory.mktemp("exports")


@pytest.fixture(scope="module")
def edges() -> Any:
    return DagPosterior(prior="uniform", score="bdeu").fit(datasets.load("coronary")).edge_probabilities_


def same(found: Any, expected: Any) -> None:
    assert list(found.index) == list(expected.index)
    assert list(found.columns) == list(expected.columns)
    assert np.array_equal(found.to_numpy(), expected.to_numpy())


# Tables


@given(tables())
def test_the_long_form_lists_every_pair_once_and_leads_back(table: Any) -> None:
    long = long_table(table)
    assert long.columns.to_list() == ["from", "to", "probability"]
    assert len(long) == len(table) * (len(table) - 1)
    assert (np.diff(long["probability"]) <= 0.0).all()
    for row in long.itertuples(index=False):
        assert row.probability == table.loc[row[0], row.to]
    same(matrix_of_long(long.sample(frac=1.0, random_state=1), list(table.index)), table)


@pytest.mark.parametrize(
    "rows",
    [
        [("A", "B", 0.5), ("A", "B", 0.5)],
        [("A", "A", 0.5)],
        [("A", "C", 0.5)],
        [("A", "B", 1.5)],
    ],
)
def test_a_long_form_that_makes_no_sense_is_refused(rows: Any, said: Said) -> None:
    with said.raises(InputError):
        matrix_of_long(pd.DataFrame(rows, columns=["from", "to", "probability"]), ["A", "B"])


def test_a_long_form_needs_its_three_columns(said: Said) -> None:
    with said.raises(InputError):
        matrix_of_long(pd.DataFrame({"from": ["A"], "to": ["B"]}), ["A", "B"])


# Graph files


@given(tables(), st.sampled_from([0.0, 0.5]))
def test_networkx_has_all_variables_and_the_probable_edges(table: Any, threshold: Any) -> None:
    graph = to_networkx(table, threshold)
    assert list(graph) == list(table.index)
    assert dict(graph.edges) == {
        (a, b): {"probability": table.loc[a, b]}
        for a in table.index
        for b in table.columns
        if table.loc[a, b] > threshold
    }


xml_text = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff"), max_size=6)


@given(tables(xml_text))
def test_graphml_is_read_back_by_networkx(folder: Any, table: Any) -> None:
    graph = to_networkx(table)
    path = folder / "graph.graphml"
    write_graphml(graph, path)
    again = nx.read_graphml(path)
    assert list(again) == list(graph)
    assert dict(again.edges) == dict(graph.edges)


EXPORTS = [
    lambda source, _: long_table(source).to_string(),
    lambda source, _: str(sorted(to_networkx(source, 0.3).edges(data="probability"))),
]


@pytest.fixture(scope="module")
def model() -> DagPosterior:
    return DagPosterior(prior="uniform", score="bdeu", samples=100, seed=1).fit(datasets.load("coronary"))


@pytest.mark.parametrize("export", EXPORTS)
def test_a_model_and_a_sample_are_exported_as_their_edges(
    export: Any, model: DagPosterior, tmp_path: Path, said: Said
) -> None:
    sample = model.own_sample()
    exported = export(model, tmp_path / "x")
    assert exported == export(model.edge_probabilities_, tmp_path / "x")
    assert export(sample, tmp_path / "x") == export(sample.edge_frequencies(), tmp_path / "x") != exported
    with said.raises(NotFittedError):
        export(DagPosterior(prior="uniform", score="bdeu"), tmp_path / "x")


def test_a_graph_of_a_table_has_the_edges_that_are_more_probable_than_not(model: DagPosterior, said: Said) -> None:
    graph = to_networkx(model, 0.5)
    assert 0 < graph.number_of_edges() < to_networkx(model).number_of_edges()
    assert to_dot(model.edge_probabilities_) == to_dot(graph)
    with said.raises(InputError):
        to_dot(nx.Graph())
    with said.raises(InputError):
        to_dot([("A", "B")])
    with said.raises(NotFittedError):
        to_dot(DagPosterior(prior="uniform", score="bdeu"))


def chain_of(rules: Any) -> DagPosterior:
    """A model of a -- b -- c, of which the data tell no direction."""
    generator = np.random.default_rng(2)
    columns = [generator.integers(0, 2, 2000)]
    for _ in range(2):
        columns.append(np.where(generator.random(2000) < 0.85, columns[-1], 1 - columns[-1]))
    frame = pd.DataFrame(dict(zip("abc", columns, strict=True)))
    return DagPosterior(score="bdeu", samples=200, seed=1, **{"prior": "uniform", **rules}).fit(frame)


@pytest.mark.parametrize("kind", ["model", "sample"])
@pytest.mark.parametrize(
    ("rules", "arrows", "lines"), [({}, [], ["ab", "bc"]), ({"required": [("c", "b")]}, ["cb", "ba"], [])]
)
def test_only_what_has_a_direction_is_exported_with_one(
    kind: str, rules: Any, arrows: list[str], lines: list[str], tmp_path: Path
) -> None:
    model = chain_of(rules)
    source: Any = model if kind == "model" else model.own_sample()
    found = [line.split(" [") for line in to_dot(source).split("\n") if "->" in line]
    drawn = {(edge.strip(), attributes.startswith('dir="none"')) for edge, attributes in found}
    assert drawn == {(f'"{edge[0]}" -> "{edge[1]}"', edge in lines) for edge in [*arrows, *lines]}
    write_graphml(source, tmp_path / "x.graphml")
    graph: Any = nx.read_graphml(tmp_path / "x.graphml")
    assert {a + b for a, b, directed in graph.edges(data="directed") if directed} == set(arrows)
    # As in the graph of a class, an edge without a direction is there both ways.
    assert {a + b for a, b, directed in graph.edges(data="directed") if not directed} == {
        *lines,
        *(line[::-1] for line in lines),
    }
    words = {a + b: word for a, b, word in graph.edges(data="direction")}
    for row in model.directions().to_dict("records"):
        if row["joined"] >= 0.5:
            assert words.pop(row["from"] + row["to"]) == row["direction"]
            words.pop(row["to"] + row["from"], None)
    assert words == {}


@pytest.mark.parametrize("name", ["a\x00b", "\x1b[31m", "\ufffe"])
def test_names_that_xml_cannot_hold_are_refused_before_anything_is_written(
    tmp_path: Path, name: str, said: Said
) -> None:
    with said.raises(InputError):
        write_graphml(nx.DiGraph([(name, "B")]), tmp_path / "graph.graphml")
    assert list(tmp_path.iterdir()) == []


DOT_STRING = r'"((?:[^"\\]|\\.)*)"'
DOT_NODE = re.compile(rf"  {DOT_STRING}(?: \[label={DOT_STRING}\])?;")
DOT_EDGE = re.compile(rf"  {DOT_STRING} -> {DOT_STRING}(?: \[((?:[a-z]+={DOT_STRING}(?:, )?)+)\])?;")


@given(tables())
def test_dot_has_one_line_a_variable_and_one_line_an_edge(table: Any) -> None:
    graph = to_networkx(table)
    first, *lines, last = to_dot(graph).rstrip("\n").split("\n")
    assert (first, last) == ("digraph {", "}")
    nodes = [DOT_NODE.fullmatch(line) for line in lines[: len(graph)]]
    assert None not in nodes
    identifiers = [match[1] for match in nodes]
    assert len(set(identifiers)) == len(graph)
    name_of = dict(zip(identifiers, graph, strict=True))
    found = [DOT_EDGE.fullmatch(line) for line in lines[len(graph) :]]
    assert [(name_of[match[1]], name_of[match[2]]) for match in found] == list(graph.edges)
    for match, data in zip(found, graph.edges.values(), strict=True):
        assert f'probability="{data["probability"]!r}"' in match[3]


def test_plain_names_stand_in_dot_as_they_are() -> None:
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_edge("M. Work", "é", probability=0.5)
    assert '  "M. Work" -> "é" [label="0.50", probability="0.5", penwidth="1.75"];' in to_dot(graph).split("\n")
    assert to_dot(nx.DiGraph([("A", "B")])) == 'digraph {\n  "A";\n  "B";\n  "A" -> "B";\n}\n'


def test_undirected_edges_are_drawn_once_without_an_arrow_head() -> None:
    # A -- B, and A -> C <- B... the two into C stay directed.
    dot = to_dot(pattern_graph(np.array([2, 1, 3], dtype=np.uint8), NAMES[:3]))
    assert dot.count("->") == 3
    assert dot.count('"A" -> "B" [dir="none"];') == 1
    assert '"A" -> "C";' in dot


def test_dot_is_read_by_graphviz(tmp_path: Path) -> None:
    program = shutil.which("dot")
    if program is None:
        pytest.skip("Graphviz is not installed")
    table = pd.DataFrame(np.triu(np.full((len(ODD_NAMES),) * 2, 0.5), 1), index=ODD_NAMES, columns=ODD_NAMES)
    write_dot(to_networkx(table), tmp_path / "graph.dot")
    drawn = subprocess.run(
        [program, "-Tjson", str(tmp_path / "graph.dot")], check=True, capture_output=True, text=True, timeout=60
    )
    content = json.loads(drawn.stdout)
    assert drawn.stderr == ""
    assert len(content["objects"]) == len(ODD_NAMES)
    assert len(content["edges"]) == len(ODD_NAMES) * (len(ODD_NAMES) - 1) // 2


def test_dot_is_read_by_pydot() -> None:
    # pydot uses names of pyparsing that are going away.
    with warnings.catch_warnings(action="ignore"):
        pydot = pytest.importorskip("pydot")
    table = pd.DataFrame(np.triu(np.full((len(ODD_NAMES),) * 2, 0.5), 1), index=ODD_NAMES, columns=ODD_NAMES)
    with warnings.catch_warnings(action="ignore"):
        (graph,) = pydot.graph_from_dot_data(to_dot(to_networkx(table)))
    assert len(graph.get_edges()) == len(ODD_NAMES) * (len(ODD_NAMES) - 1) // 2


# Whole or not at all


def test_a_file_that_cannot_be_finished_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "graph.dot"
    path.write_text("old")

    def broken() -> None:
        with replacing(path) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        broken()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["graph.dot"]


def test_a_full_disk_is_an_error_that_says_so(tmp_path: Path, said: Said) -> None:
    def broken() -> None:
        with replacing(tmp_path / "graph.dot"):
            raise OSError(28, "No space left on device")

    with said.raises(InputError):
        broken()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_an_error_that_says_so(tmp_path: Path, edges: Any, said: Said) -> None:
    with said.raises(InputError):
        write_dot(edges, tmp_path / "nowhere" / "edges.dot")


@pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")
def test_permissions_are_those_of_the_file_that_is_replaced(tmp_path: Path, edges: Any) -> None:
    plain, path = tmp_path / "plain", tmp_path / "edges.dot"
    plain.write_text("")
    write_dot(edges, path)
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)
    path.chmod(0o640)
    write_dot(edges, path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_writing_goes_through_a_link(tmp_path: Path, edges: Any) -> None:
    (tmp_path / "target.dot").write_text("old")
    (tmp_path / "link.dot").symlink_to(tmp_path / "target.dot")
    write_dot(edges, tmp_path / "link.dot")
    assert (tmp_path / "link.dot").is_symlink()
    assert (tmp_path / "target.dot").read_text() == to_dot(edges)


# Chains


def chain_sample() -> Any:
    """Two chains of six and five graphs of two variables; B -> A never occurs."""
    rows = [[0, draw % 2] for draw in range(11)]
    record = ChainRecord(
        lengths=(6, 5),
        log_state=np.arange(11.0) * 2.0,
        moves=("any",),
        proposed=np.ones((2, 1), dtype=np.int64),
        accepted=np.ones((2, 1), dtype=np.int64),
        edges=None,
        rounds=0,
        standing={},
    )
    return replace(sample_of(rows, None, np.arange(11.0), method="order-mcmc", draws="chains"), chains=record)


def test_chains_go_to_arviz_by_chain_and_draw() -> None:
    pytest.importorskip("arviz_base")
    tree = to_arviz(chain_sample())
    edge = tree["posterior"]["edge"]
    assert edge.dims == ("chain", "draw", "parent", "child")
    assert edge.sel(parent="A", child="B").to_numpy().tolist() == [[0, 1, 0, 1, 0], [0, 1, 0, 1, 0]]
    assert int(edge.sel(parent="B", child="A").sum()) == 0
    assert tree["sample_stats"]["lp"].to_numpy().tolist() == [[0, 1, 2, 3, 4], [6, 7, 8, 9, 10]]
    assert float(tree["sample_stats"]["log_state"].sel(chain=1, draw=0)) == 12.0
    assert tree["posterior"].attrs["method"] == "order-mcmc"


def test_independent_draws_are_told_that_they_need_no_diagnostics(said: Said) -> None:
    with said.raises(InputError):
        to_arviz(sample_of([[0, 1]]))


def test_a_model_without_chains_has_none_for_arviz(model: DagPosterior, said: Said) -> None:
    with said.raises(InputError):
        to_arviz(model)
    with said.raises(NotFittedError):
        to_arviz(DagPosterior(prior="uniform", score="bdeu"))


def test_a_part_of_a_chain_is_no_chain(said: Said) -> None:
    with said.raises(InputError):
        to_arviz(replace(chain_sample(), chains=None))


def test_without_arviz_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch, said: Said) -> None:
    monkeypatch.setitem(sys.modules, "arviz_base", None)
    with said.raises(InputError):
        to_arviz(chain_sample())


def test_more_edges_than_fit_are_refused(monkeypatch: pytest.MonkeyPatch, said: Said) -> None:
    pytest.importorskip("arviz_base")
    monkeypatch.setattr(memory, "available_bytes", lambda: 100)
    with said.raises(ResourceError):
        to_arviz(chain_sample())
