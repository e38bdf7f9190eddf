"""The exact posteriors that come with the package are exact, whole, and those of the tables that come with it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.naive.every_graph import Everything, posterior_by_enumeration
from tests.tools import reference as independent
from tests.tools.wording import Said
from tools.exact_truth import LEFT_OUT, exact_truth
from tools.reference_truth import contents, differences, write_truth

from dagpost.errors import InputError
from dagpost.reference.case import Case
from dagpost.reference.cases import CASES
from dagpost.reference.sources import Drawn
from dagpost.reference.truth import Truth
from dagpost.reference.truth_files import kept_cases, kept_truths, read_truth
from dagpost.scores import BDeu

SMALL = [name for name, case in CASES.items() if case.columns == 5]
SIX = [name for name, case in CASES.items() if case.columns == 6]


def check_against(truth: Truth, expected: Everything) -> None:
    assert truth.log_evidence == pytest.approx(expected.log_evidence, abs=1e-8)
    np.testing.assert_allclose(truth.edges, expected.edges, rtol=0, atol=1e-10)
    np.testing.assert_allclose(truth.paths, expected.paths, rtol=0, atol=1e-10)
    places = {name: 1 << place for place, name in enumerate(truth.names)}
    masks = [sum(places[name] for name in parents.split(";") if name) for parents in truth.families["parents"]]
    nodes = [truth.names.index(node) for node in truth.families["node"]]
    np.testing.assert_allclose(truth.families["probability"], expected.families[nodes, masks], rtol=0, atol=1e-8)
    graphs, probabilities = zip(*(expected.classes[text] for text in truth.classes["class"]), strict=True)
    assert truth.classes["graphs"].to_list() == list(graphs)
    np.testing.assert_allclose(truth.classes["probability"], probabilities, rtol=0, atol=1e-9)
    # Small ones are written with three digits.
    np.testing.assert_allclose(truth.classes["probability"], probabilities, rtol=6e-3, atol=1e-11)
    unlisted = expected.classes.keys() - set(truth.classes["class"])
    assert all(expected.classes[text][1] <= truth.classes_bound * (1 + 1e-9) for text in unlisted)
    assert truth.classes_bound or not unlisted


def enumerated(case: Case) -> Everything:
    scores = case.local_scores()
    return posterior_by_enumeration(scores.values, scores.max_parents, case.names)


@pytest.mark.parametrize("name", CASES)
def test_every_case_has_a_posterior_in_which_everything_fits_together(name: str) -> None:
    case = CASES[name]
    truth = case.truth
    assert truth.names == case.names
    assert [int(kept_cases()[name][size]) for size in ("columns", "rows")] == [case.columns, case.rows]
    assert np.isfinite(truth.log_evidence)
    assert truth.error_bound < 1e-8
    edges, paths = truth.edges.to_numpy(), truth.paths.to_numpy()
    assert list(truth.edges.index) == list(truth.edges.columns) == list(truth.paths.index) == list(case.names)
    assert edges.min() >= 0.0
    assert paths.max() <= 1.0
    assert np.all(edges <= paths + 1e-9)
    assert np.all(edges.diagonal() + paths.diagonal() == 0.0)
    # A path one way is a graph without a path the other way.
    assert np.all(paths + paths.T <= 1.0 + 1e-9)
    left_out = truth.families_left_out
    assert list(left_out.index) == list(case.names)
    listed = truth.families.groupby("node")["probability"].sum()
    np.testing.assert_allclose(listed[list(case.names)] + left_out, 1.0, rtol=0, atol=1e-6)
    assert left_out.max() <= 2 * LEFT_OUT
    places = {own: place for place, own in enumerate(case.names)}
    families = [[places[parent] for parent in text.split(";") if parent] for text in truth.families["parents"]]
    assert max(map(len, families)) <= case.max_parents
    within = np.zeros_like(edges)
    for node, members, probability in zip(
        truth.families["node"].map(places).to_list(), families, truth.families["probability"].to_list(), strict=True
    ):
        within[members, node] += probability
    assert np.all(within <= edges + 1e-6)
    assert np.all(edges <= within + left_out.to_numpy() + 1e-6)
    assert truth.classes["class"].is_unique
    assert truth.classes["probability"].is_monotonic_decreasing
    if case.columns == 5:
        assert truth.classes_listed == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("name", SMALL)
def test_the_posterior_of_five_columns_is_that_of_all_graphs(name: str) -> None:
    check_against(CASES[name].truth, enumerated(CASES[name]))


@pytest.mark.long  # 3.8 million graphs
@pytest.mark.parametrize("name", SIX)
def test_the_posterior_of_six_columns_is_that_of_all_graphs(name: str) -> None:
    check_against(CASES[name].truth, enumerated(CASES[name]))


@pytest.mark.parametrize("name", ["iris", "tictactoe", "wine"])
def test_evidence_and_edges_are_those_that_were_computed_independently(name: str) -> None:
    """In other programs, with other kinds of numbers; iris has 4 parents at most either way."""
    expected = independent.values_of(name)["bdeu_ess1_uniform"]
    truth = CASES[independent.BUNDLED[name]].truth
    assert truth.log_evidence == pytest.approx(expected["log_evidence_structure"], abs=1e-7, rel=0)
    np.testing.assert_allclose(truth.edges, expected["edges_structure"], rtol=0, atol=1e-9)


def test_a_small_case_computed_anew_is_what_stands() -> None:
    case = CASES["mixed-5"]
    assert differences(case.truth, exact_truth(case)) == []


@pytest.mark.long
@pytest.mark.parametrize("name", CASES)
def test_every_case_computed_anew_is_what_stands(name: str) -> None:
    assert differences(CASES[name].truth, exact_truth(CASES[name])) == []


def test_differences_are_told() -> None:
    truth = CASES["mixed-5"].truth
    classes = truth.classes.assign(probability=truth.classes["probability"] * 0.99)
    other = replace(truth, log_evidence=0.0, edges=truth.edges + 0.1, families=truth.families.iloc[1:], classes=classes)
    said = differences(truth, other)
    assert [one.partition(":")[0] for one in said] == ["edges", "log evidence", "families", "classes"]


def test_what_is_read_is_written_in_the_same_bytes(tmp_path: Path) -> None:
    case = CASES["mixed-5"]
    write_truth(case, case.truth, tmp_path)
    for file in tmp_path.iterdir():
        if file.name != "cases.csv":
            assert file.read_bytes() == kept_truths().joinpath(file.name).read_bytes()
    assert kept_cases(tmp_path)["mixed-5"] == kept_cases()["mixed-5"]


def test_nothing_is_kept_beside_the_cases() -> None:
    assert sorted(kept_cases()) == sorted(CASES)
    endings = [file.removeprefix("mixed-5") for file in contents("mixed-5", CASES["mixed-5"].truth)]
    files = {"cases.csv", *(f"{name}{ending}" for name in CASES for ending in endings)}
    files |= {f"{name}.data.csv.gz" for name, case in CASES.items() if isinstance(case.source, Drawn)}
    assert {file.name for file in kept_truths().iterdir()} == files
    assert sum(len(file.read_bytes()) for file in kept_truths().iterdir()) < 2_000_000


def _other(**changes: Any) -> Case:
    return replace(CASES["mixed-5"], **{"source": CASES["mixed-5"].source, **changes})


def test_a_case_without_a_posterior_says_so(said: Said) -> None:
    with said.raises(InputError):
        _ = _other(name="mine").truth


def test_a_posterior_of_another_table_or_model_is_refused(said: Said) -> None:
    with said.raises(InputError):
        _ = _other(source=CASES["parity-5"].source).truth
    with said.raises(InputError):
        _ = _other(score=BDeu(1.0)).truth
    with said.raises(InputError):
        _ = _other(max_parents=3).truth


def test_the_posterior_shows_itself_in_one_line() -> None:
    assert repr(read_truth(CASES["mixed-5"])).startswith("Truth of 5 columns: log evidence -")
