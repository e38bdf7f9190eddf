"""Networks with their parameters: posterior means, rows drawn from them, and files."""

from __future__ import annotations

import os
import stat
import warnings
from itertools import product
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas
import pytest
from scipy import stats
from tests.naive import prediction as naive_prediction
from tests.naive import scores as naive_scores
from tests.tools.family_columns import family_log_predictive
from tests.tools.wording import Said

from dagpost.data import datasets
from dagpost.data.table import Table
from dagpost.errors import InputError, ResourceError
from dagpost.posterior.summaries import masks_of_graph
from dagpost.prediction import encode_rows, sufficient_statistics
from dagpost.prediction.network import BayesianNetwork, GaussianNetwork, bayesian_network
from dagpost.scores import BGe

EDGES = [("Smoking", "M. Work"), ("M. Work", "Proteins"), ("Smoking", "Proteins"), ("Proteins", "P. Work")]


def coronary_network(score: str = "bdeu") -> BayesianNetwork:
    table = datasets.load("coronary")
    statistics = sufficient_statistics(table, masks_of_graph(EDGES, table.names)[np.newaxis], score)
    network = bayesian_network(EDGES, statistics, score)
    assert isinstance(network, BayesianNetwork)
    return network


def continuous_table() -> Table:
    generator = np.random.default_rng(5)
    first = generator.normal(size=300)
    second = 2.0 - 1.5 * first + 0.5 * generator.normal(size=300)
    third = first + second + 0.3 * generator.normal(size=300)
    return Table(("x", "y", "z"), (first, second, third), (None,) * 3)


@pytest.fixture
def agrum() -> Any:
    """Another program that reads and writes files of networks."""
    with warnings.catch_warnings():
        # Its extension module warns while it is loaded, and crashes where warnings are errors.
        warnings.simplefilter("ignore")
        return pytest.importorskip("pyagrum", reason="pyAgrum, to compare files with, is not installed")


# Parameters


def test_a_graph_comes_in_several_forms(said: Said) -> None:
    table = datasets.load("coronary")
    masks = masks_of_graph(EDGES, table.names)
    statistics = sufficient_statistics(table, masks[np.newaxis], "bdeu")
    for dag in (EDGES, nx.DiGraph(EDGES), masks):
        assert bayesian_network(dag, statistics, "bdeu").parents == coronary_network().parents
    with said.raises(InputError):
        bayesian_network([*EDGES, ("Pressure", "Smoking")], statistics, "bdeu")


@pytest.mark.parametrize("score", ["bdeu", "k2", "bic"])
def test_tables_are_what_the_graph_predicts(score: str) -> None:
    """The posterior mean of a parameter is the predictive probability of its cell."""
    network = coronary_network(score)
    table = datasets.load("coronary")
    masks = masks_of_graph(EDGES, table.names)
    cells = np.array(list(product(*(range(arity) for arity in table.arities))), dtype=np.uint8)
    statistics = sufficient_statistics(table, masks[np.newaxis], score)
    rows = encode_rows(Table(table.names, tuple(cells.T), table.levels), statistics)
    predicted = np.exp(family_log_predictive(statistics, score, np.arange(6), masks, rows))
    for node, name in enumerate(network.names):
        columns = [network.names.index(parent) for parent in (*network.parents[node], name)]
        np.testing.assert_allclose(network.tables[node][tuple(cells[:, columns].T)], predicted[node], rtol=1e-12)


def test_a_frame_names_every_level(said: Said) -> None:
    frame = coronary_network().to_frame("Proteins")
    assert frame.index.names == ["Smoking", "M. Work"]
    assert frame.columns.name == "Proteins"
    assert frame.loc[("yes", "no")].sum() == pytest.approx(1.0)
    assert coronary_network().to_frame("Smoking").shape == (1, 2)
    assert coronary_network().to_frame("P. Work").index.name == "Proteins"
    with said.raises(InputError):
        coronary_network().to_frame("Protein")


def test_regressions_match_the_normal_equations_under_a_weak_prior() -> None:
    table = continuous_table()
    score = BGe(mean_weight=1e-6, degrees_of_freedom=4.001)
    edges = [("x", "y"), ("x", "z"), ("y", "z")]
    network = bayesian_network(
        edges, sufficient_statistics(table, masks_of_graph(edges, table.names)[np.newaxis], score), score
    )
    assert isinstance(network, GaussianNetwork)
    x, y, z = table.columns
    design = np.column_stack([np.ones(300), x, y])
    slopes, squares, _, _ = np.linalg.lstsq(design, z)
    np.testing.assert_allclose(network.coefficients[2], slopes[1:], rtol=1e-6)
    assert network.intercepts[2] == pytest.approx(slopes[0], abs=1e-6)
    # 4.001 + 300 - 3 + 2 - 1 degrees of freedom.
    assert network.variances[2] == pytest.approx(squares[0] / 302.001, rel=1e-6)
    frame = network.to_frame()
    assert frame.loc["z", ["x", "y"]].tolist() == network.coefficients[2].tolist()
    assert frame.loc["x", "y"] == 0.0
    assert frame.loc["y", "(residual variance)"] == pytest.approx(0.25, rel=0.3)


def test_regressions_are_the_centre_of_what_the_graph_predicts() -> None:
    """Student's distribution of the score of one more row has its peak at the regression, whatever the prior."""
    table = continuous_table()
    table = Table(table.names, table.columns, table.levels, interventions=np.arange(300, dtype=np.uint64) % 7 % 2)
    score, masks = BGe(3.0, 12.0, 0.5, 2.0), np.array([6, 0, 2], dtype=np.uint64)
    network = bayesian_network(masks, sufficient_statistics(table, masks[np.newaxis], score), score)
    assert isinstance(network, GaussianNetwork)
    twin = naive_prediction.gaussian_family(table, 3.0, 12.0, np.full(3, 0.5), np.full(3, 2.0))
    at = network.intercepts[0] + network.coefficients[0] @ [0.7, -0.2]
    best, left, right = (twin(0, [1, 2], [at + step, 0.7, -0.2]) for step in (0.0, -1e-3, 1e-3))
    assert best > max(left, right)
    assert left == pytest.approx(right, abs=1e-9)


def test_rows_without_the_node_set_alone_count_for_its_table() -> None:
    codes = np.array([[0, 0, 1, 1, 1], [0, 1, 1, 1, 0]], dtype=np.uint8)
    table = Table(("a", "b"), tuple(codes), ((0, 1), (0, 1)), interventions=np.array([0, 0, 2, 1, 0], dtype=np.uint64))
    network = bayesian_network(
        [("a", "b")], sufficient_statistics(table, np.array([[0, 1]], dtype=np.uint8), "k2"), "k2"
    )
    assert isinstance(network, BayesianNetwork)
    np.testing.assert_allclose(network.tables[0], [(1 + 2) / 6, (1 + 2) / 6])
    np.testing.assert_allclose(network.tables[1], [[2 / 4, 2 / 4], [2 / 4, 2 / 4]])
    assert naive_scores.family_counts(table, 1, [0])[1] == {(0,): 2, (1,): 2}


@pytest.mark.parametrize(
    "change",
    [
        {"tables": (np.array([0.5, 0.6]),)},
        {"tables": (np.array([1.5, -0.5]),)},
        {"tables": (np.array([[0.5, 0.5]]),)},
        {"parents": (("a",),)},
        {"parents": (("b",),)},
        {"levels": ()},
        {"levels": (([1], [2]),)},
        {"tables": (np.array(["x", "y"]),)},
    ],
)
def test_a_network_that_does_not_fit_together_is_refused(change: dict, said: Said) -> None:
    parts = {"names": ("a",), "levels": (("x", "y"),), "parents": ((),), "tables": (np.array([0.5, 0.5]),)}
    with said.raises(InputError):
        BayesianNetwork(**{**parts, **change})


# Rows


def test_rows_have_the_probabilities_of_the_network() -> None:
    """Chi-square test of all 64 cells; false alarms: 1e-6 (the seed is fixed)."""
    network = coronary_network()
    rows = network.sample(20_000, seed=3)
    pandas.testing.assert_frame_equal(rows, network.sample(20_000, seed=3))
    codes = np.array([rows[name].cat.codes for name in network.names])
    observed = np.bincount(np.ravel_multi_index(tuple(codes), (2,) * 6), minlength=64)
    expected = np.ones((2,) * 6)
    for cell in product(range(2), repeat=6):
        for node, name in enumerate(network.names):
            expected[cell] *= network.tables[node][
                tuple(cell[network.names.index(parent)] for parent in (*network.parents[node], name))
            ]
    statistic = ((observed - 20_000 * expected.ravel()) ** 2 / (20_000 * expected.ravel())).sum()
    assert stats.chi2.sf(statistic, 63) > 1e-6


def test_continuous_rows_have_the_moments_of_the_network() -> None:
    """The regression of 20,000 rows is within 5 standard errors of the network; false alarms: 3e-6 (seed fixed)."""
    network = GaussianNetwork(
        ("x", "y"), ((), ("x",)), (np.zeros(0), np.array([-2.0])), np.array([1.0, 3.0]), np.array([4.0, 0.25])
    )
    rows = network.sample(20_000, seed=1)
    assert abs(rows["x"].mean() - 1.0) < 5 * 2.0 / np.sqrt(20_000)
    residual = rows["y"] - (3.0 - 2.0 * rows["x"])
    assert abs(residual.mean()) < 5 * 0.5 / np.sqrt(20_000)
    assert abs(residual.var() - 0.25) < 5 * 0.25 * np.sqrt(2 / 20_000)


def test_numbers_of_rows_and_seeds_are_checked(said: Said) -> None:
    assert coronary_network().sample(0).shape == (0, 6)
    with said.raises(InputError):
        coronary_network().sample(-1)
    with said.raises(InputError):
        coronary_network().sample(1, seed=-1)


def test_networks_show_themselves() -> None:
    network = coronary_network()
    assert repr(network) == "BayesianNetwork of 6 variables and 4 edges"
    assert "<td>Smoking, M. Work</td>" in network._repr_html_()


# Files


def test_files_give_back_the_network(tmp_path: Path) -> None:
    network = coronary_network()
    file = tmp_path / "coronary.bif"
    network.write(file)
    again = BayesianNetwork.read(file)
    assert (again.names, again.levels, again.parents) == (network.names, network.levels, network.parents)
    for table, expected in zip(again.tables, network.tables, strict=True):
        np.testing.assert_array_equal(table, expected)
    assert [entry.name for entry in tmp_path.iterdir()] == [file.name]


def test_the_mark_that_editors_on_windows_put_first_is_passed_over(tmp_path: Path) -> None:
    network, file = coronary_network(), tmp_path / "coronary.bif"
    network.write(file)
    file.write_text(file.read_text("utf-8"), "utf-8-sig")
    assert BayesianNetwork.read(file).names == network.names


def test_odd_names_and_levels_come_back_and_others_see_identifiers(tmp_path: Path) -> None:
    levels = (
        ("a b", "a_b", "a-b", 'q"q', "<&>", "--", "ü", ""),
        (3, 1, 2),
        (-1.5, 2.0),
        (True, False),
        (0, 1, 10),
        ("01", "1"),
        ("nan", "inf", "Infinity", "1e5"),
        ("table", "network", "x|y", "{", "//", "\n"),
    )
    names = ("M. Work", "M_Work", "ünï", "2nd", "network", "a|b", "table", "<!-- -->")
    generator = np.random.default_rng(1)
    parents = ((), ("M. Work",), ("M. Work", "M_Work"), (), ("ünï", "2nd"), (), ("network", "a|b"), ("table",))
    arity = {name: len(each) for name, each in zip(names, levels, strict=True)}
    tables = []
    for name, of in zip(names, parents, strict=True):
        table = generator.random([arity[parent] for parent in of] + [arity[name]])
        tables.append(table / table.sum(axis=-1, keepdims=True))
    network = BayesianNetwork(names, levels, parents, tuple(tables))
    file = tmp_path / "odd.bif"
    network.write(file)
    again = BayesianNetwork.read(file)
    assert (again.names, again.levels, again.parents) == (names, levels, parents)
    assert [type(level) for each in again.levels for level in each] == [type(x) for each in levels for x in each]
    for table, expected in zip(again.tables, tables, strict=True):
        np.testing.assert_allclose(table, expected, atol=1e-5)
    # Without our comment it is what other programs see.
    plain = file.read_text().splitlines()
    file.write_text("\n".join(line for line in plain if " dagpost [" not in line))
    seen = BayesianNetwork.read(file)
    assert sorted(seen.names) == sorted(["M_Work", "M_Work_2", "_n_", "_2nd", "network_", "a_b", "table_", "_"])
    assert seen.levels[seen.names.index("network_")] == ("0", "1", "10")


def test_parents_in_another_order_are_the_same_network(tmp_path: Path) -> None:
    network = coronary_network()
    node = network.names.index("Proteins")
    parents, tables = list(network.parents), list(network.tables)
    parents[node], tables[node] = parents[node][::-1], tables[node].transpose(1, 0, 2)
    BayesianNetwork(network.names, network.levels, tuple(parents), tuple(tables)).write(tmp_path / "network.bif")
    again = BayesianNetwork.read(tmp_path / "network.bif")
    assert again.parents == network.parents
    np.testing.assert_allclose(again.tables[node], network.tables[node], atol=1e-7)


def test_a_comment_that_does_not_fit_the_network_is_ignored(tmp_path: Path) -> None:
    file = tmp_path / "coronary.bif"
    coronary_network().write(file)
    text = file.read_text()
    for old, new in (('"M. Work", ["no"', '"M. Work", ["nein"'), ("// dagpost [[", "// dagpost [["[:-1] + "{}, [")):
        assert old in text
        file.write_text(text.replace(old, new))
        assert BayesianNetwork.read(file).names[1] == "M_Work"


def test_networks_of_other_programs_are_read(shared_data: Path, tmp_path: Path) -> None:
    asia = BayesianNetwork.read(shared_data / "asia.bif")
    assert len(asia.names) == 8
    assert sum(map(len, asia.parents)) == 8
    alarm = BayesianNetwork.read(shared_data / "alarm.bif")
    alarm.write(tmp_path / "alarm.bif")
    again = BayesianNetwork.read(tmp_path / "alarm.bif")
    assert (again.names, again.levels) == (alarm.names, alarm.levels)
    for table, expected in zip(again.tables, alarm.tables, strict=True):
        np.testing.assert_allclose(table, expected, atol=1e-6)


def test_files_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    (tmp_path / "broken.bif").write_text("network { } variable x { type discrete[2] {a, b")
    (tmp_path / "binary.bif").write_bytes(b"\xff\xfe\x00")
    for name, message in (
        ("broken.bif", r"broken.bif', line 1: a name should stand here, but the file ends"),
        ("binary.bif", "not a text file in UTF-8"),
        ("nowhere.bif", "Cannot read .*nowhere.bif': No such file"),
        ("network.txt", r"must end in .bif, unlike .*network.txt"),
    ):
        with pytest.raises(InputError, match=message):
            BayesianNetwork.read(tmp_path / name)


def test_networks_that_cannot_be_written_are_refused_and_nothing_is_left(tmp_path: Path, said: Said) -> None:
    constant = BayesianNetwork(("a",), (("x",),), ((),), (np.ones(1),))
    with said.raises(InputError):
        constant.write(tmp_path / "constant.bif")
    with said.raises(InputError):
        coronary_network().write(tmp_path / "nowhere" / "network.bif")
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: Said) -> None:
    file = tmp_path / "network.bif"
    coronary_network().write(file)
    before = file.read_bytes()
    file.chmod(0o640)

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        with said.raises(InputError):
            coronary_network("k2").write(file)
    assert file.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == [file.name]
    coronary_network("k2").write(file)
    assert file.read_bytes() != before
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def seen_by_agrum(agrum: Any, file: Path) -> BayesianNetwork:
    """What the other program reads, with parents in the order of the variables."""
    found = agrum.loadBN(str(file))
    names = tuple(found.variable(node).name() for node in sorted(found.nodes()))
    levels, parents, tables = [], [], []
    for name in names:
        table = found.cpt(name)
        # Its arrays have the parents in the opposite order.
        given = list(table.names[1:])
        order = sorted(given, key=names.index)
        axes = [len(given) - 1 - given.index(parent) for parent in order]
        levels.append(tuple(found.variable(name).labels()))
        parents.append(tuple(order))
        array = table.toarray().astype(float).transpose([*axes, len(given)])
        tables.append(array / array.sum(axis=-1, keepdims=True))
    return BayesianNetwork(names, tuple(levels), tuple(parents), tuple(tables))


def test_another_program_reads_what_we_write_and_we_read_what_it_writes(tmp_path: Path, agrum: Any) -> None:
    generator = np.random.default_rng(3)
    names, arities = ("d", "a", "c", "b"), (2, 3, 2, 4)
    parents: tuple[tuple[str, ...], ...] = (("a", "c", "b"), (), ("b", "a"), ("a",))
    size = dict(zip(names, arities, strict=True))
    tables = [
        generator.dirichlet([1.0] * size[name], [size[parent] for parent in of])
        for name, of in zip(names, parents, strict=True)
    ]
    levels = tuple(tuple(f"{name}{level}" for level in range(size[name])) for name in names)
    network = BayesianNetwork(names, levels, parents, tuple(tables))
    ours, theirs = tmp_path / "ours.bif", tmp_path / "theirs.bif"
    network.write(ours)
    agrum.saveBN(agrum.loadBN(str(ours)), str(theirs))
    for found in (seen_by_agrum(agrum, ours), BayesianNetwork.read(theirs)):
        for name, of, table in zip(names, parents, tables, strict=True):
            node = found.names.index(name)
            assert found.levels[node] == levels[names.index(name)]
            assert sorted(found.parents[node]) == sorted(of)
            axes = [of.index(parent) for parent in found.parents[node]]
            np.testing.assert_allclose(found.tables[node], table.transpose([*axes, len(of)]), atol=1e-6)


def test_a_long_table_in_bif_has_the_variable_itself_slowest(tmp_path: Path, agrum: Any) -> None:
    (tmp_path / "n.bif").write_text(
        "network n { property made by hand ; }\n/* two */ variable a { type discrete [ 2 ] { x, y }; property p 1; }\n"
        'variable "c d" { type discrete [ 3 ] { <=1, "2 3", u/v }; } // the levels of others\n'
        'probability ( a ) { table 0.25 0.75 ; }\nprobability ( "c d" | a ) { table 0.1 0.2 0.7 0.4 0.2 0.4; }\n'
    )
    network = BayesianNetwork.read(tmp_path / "n.bif")
    assert network.levels == (("x", "y"), ("<=1", "2 3", "u/v"))
    np.testing.assert_allclose(network.tables[1], [[0.1, 0.7, 0.2], [0.2, 0.4, 0.4]])
    assert network.names == ("a", "c d")


BIF = """network n { }
variable a { type discrete [ 2 ] { x, y }; }
variable b { type discrete [ 2 ] { u, v }; }
probability ( a ) { table 0.25, 0.75; }
probability ( b | a ) {
  (x) 0.1, 0.9;
  default 0.5, 0.5;
}
"""


def test_a_default_stands_for_the_levels_of_parents_that_are_not_listed(tmp_path: Path) -> None:
    (tmp_path / "n.bif").write_text(BIF)
    network = BayesianNetwork.read(tmp_path / "n.bif")
    assert (network.names, network.levels, network.parents) == (("a", "b"), (("x", "y"), ("u", "v")), ((), ("a",)))
    np.testing.assert_array_equal(network.tables[0], [0.25, 0.75])
    np.testing.assert_array_equal(network.tables[1], [[0.1, 0.9], [0.5, 0.5]])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("0.75", "0.85"),
        ("0.75", "nan"),
        ("0.75", "1e999"),
        ("0.25, 0.75", "-0.25, 1.25"),
        ("default", "(z)"),
        ("default", "(x)"),
        ("  default 0.5, 0.5;", ""),
        ("b | a", "b | c"),
        ("b | a", "b | b"),
        ("b | a", "a"),
        ("variable b", "variable a"),
        ("{ u, v }", "{ u, u }"),
        ("[ 2 ] { u, v }", "[ 3 ] { u, v }"),
        ("0.1, 0.9", "0.1"),
        ("( a ) {", "( a | b ) {"),
        ("table", '"table'),
        ("network", "/* network"),
        ("[ 2 ] { x, y }", "[ 0 ] { }"),
    ],
)
def test_what_cannot_be_is_refused_with_its_line(old: str, new: str, tmp_path: Path, said: Said) -> None:
    assert old in BIF
    (tmp_path / "n.bif").write_text(BIF.replace(old, new, 1))
    with said.raises(InputError):
        BayesianNetwork.read(tmp_path / "n.bif")


def test_cycles_and_tables_beyond_the_memory_are_refused(tmp_path: Path, said: Said) -> None:
    circle = BIF.replace("( a ) { table 0.25, 0.75; }", "( a | b ) { default 0.25, 0.75; }")
    (tmp_path / "n.bif").write_text(circle)
    with said.raises(InputError):
        BayesianNetwork.read(tmp_path / "n.bif")
    many = [f"v{number}" for number in range(31)]
    wide = "".join(f"variable {name} {{ type discrete [ 9 ] {{ 0 1 2 3 4 5 6 7 8 }}; }}" for name in many)
    (tmp_path / "n.bif").write_text(BIF + wide + f"probability ( v0 | {' '.join(many[1:])} ) {{ default 1 0; }}")
    with said.raises(ResourceError):
        BayesianNetwork.read(tmp_path / "n.bif")


def test_a_note_that_would_make_names_or_levels_equal_is_ignored(tmp_path: Path) -> None:
    for note in (
        '[["a", "q", ["x", "y"], [1, 2]], ["b", "q", ["u", "v"], ["u", "v"]]]',
        '[["a", "q", ["x", "y"], [1, true]]]',
        '[["a", "q", ["x", "y"], [NaN, 2.0]]]',
        '[["a", "q", ["x", "y"], [1]]]',
        "[" * 100_000,
    ):
        (tmp_path / "n.bif").write_text(f"{BIF}\n// dagpost {note}\n")
        network = BayesianNetwork.read(tmp_path / "n.bif")
        assert network.names == ("a", "b")
        assert network.levels == (("x", "y"), ("u", "v"))
        network.sample(3, seed=1)
