"""The reference cases are what they are said to be, and can be found."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import multigammaln
from tests.tools.wording import Said

from dagpost import InputError, StructureMCMC, reference
from dagpost.reference.cases import CASES
from dagpost.scores import BDeu, BGe, ConditionalGaussian

#: The first digits of the SHA-256 of some tables: of levels, of numbers and of both, bundled and drawn.
FINGERPRINTS = {
    "iris": "b751bb702a3568b0",
    "parity-5": "56052c99957cb0ec",
    "coronary": "cb26000b5273eb04",
    "asia": "9f49d8501d8ee8e3",
    "mixed-8-many": "ba57a282c6abb57d",
    "tic-tac-toe": "7d0cf12aefc0c4e6",
    "ring-10": "f243fd603c58baca",
    "wine": "72d667ee9603e224",
    "gaussian-20-sparse": "617e2858b38180a8",
}


@pytest.mark.parametrize("name", reference.names())
def test_a_case_is_a_table_that_everyone_can_use(name: str) -> None:
    case = reference.load(name)
    table = case.table
    assert case.name == name
    assert case.columns == len(case.names) == len(table.names)
    assert table.counts is None
    assert table.gap_count == 0
    assert table.interventions is None
    for column, levels in zip(table.columns, table.levels, strict=True):
        # Whoever reads the file counts the levels that occur.
        assert levels is None or len(np.unique(column)) == len(levels)
        assert levels is not None or np.isfinite(column).all()
    assert not any(sign in own for own in table.names for sign in (";", "->", "--", ",", '"'))
    kinds = {levels is None for levels in table.levels}
    assert case.kind == {(False,): "discrete", (True,): "gaussian", (False, True): "mixed"}[tuple(sorted(kinds))]


@pytest.mark.parametrize("name", reference.names())
def test_a_case_says_what_its_posterior_depends_on(name: str) -> None:
    case = reference.load(name)
    assert (
        case.score
        == {"discrete": BDeu(1.0), "gaussian": BGe(prior_scale=1.0), "mixed": ConditionalGaussian()}[case.kind]
    )
    assert case.max_parents == case.columns - 1 if case.columns <= 8 else 3 <= case.max_parents <= 5
    assert f"more than {case.max_parents} parents" in case.settings
    assert case.tags == tuple(sorted(case.tags))
    assert case.description.endswith(".")
    if case.origin.startswith("the bundled data set"):
        assert "bundled" in case.tags
    else:
        assert case.origin.startswith(f"{case.rows:,} rows drawn with seed ")
        assert case.description.startswith(f"{case.rows:,} rows")


def test_the_set_has_few_and_many_columns_and_rows_of_every_kind() -> None:
    cases = list(CASES.values())
    assert [case.columns for case in cases] == sorted(case.columns for case in cases)
    assert (cases[0].columns, cases[-1].columns) == (5, 22)
    for case in cases:
        assert ("few rows" in case.tags) == (case.rows <= 100)
        assert ("many rows" in case.tags) == (case.rows >= 2000)
    for kind in ("discrete", "gaussian", "mixed"):
        own = [case for case in cases if case.kind == kind]
        assert min(case.columns for case in own) == 5
        assert {"few rows", "many rows", "hard"} <= {tag for case in own for tag in case.tags}


@pytest.mark.parametrize("name", FINGERPRINTS)
def test_tables_are_the_same_on_every_platform(name: str) -> None:
    assert reference.load(name).fingerprint.startswith(FINGERPRINTS[name])


def test_the_text_of_a_table_holds_the_table() -> None:
    case = reference.load("mixed-5")
    header, *rows = csv.reader(io.StringIO(case.csv_text()))
    assert tuple(header) == case.names
    assert len(rows) == case.rows
    for place, (column, levels) in enumerate(zip(case.table.columns, case.table.levels, strict=True)):
        cells = [row[place] for row in rows]
        if levels is None:
            assert [float(cell) for cell in cells] == column.tolist()
        else:
            assert cells == [levels[code] for code in column]


def test_another_table_is_refused(said: Said) -> None:
    case = replace(reference.load("parity-5"))
    case.check_fingerprint(case.fingerprint)
    with said.raises(InputError):
        case.check_fingerprint("0" * 64)


def test_cases_are_found_by_kind_and_tag() -> None:
    assert set(reference.names("gaussian")) == {name for name, case in CASES.items() if case.kind == "gaussian"}
    assert set(reference.names(tag="hard")) == {name for name, case in CASES.items() if "hard" in case.tags}
    assert reference.names("mixed", "few rows") == ("mixed-7-few", "mixed-16-few")
    assert reference.names() == tuple(CASES)


def test_a_name_that_is_not_a_case_is_refused_with_the_nearest_one(said: Said) -> None:
    with said.raises(InputError):
        reference.load("coronery")
    with said.raises(InputError):
        reference.load(5)
    with said.raises(InputError):
        reference.names("numbers")
    with said.raises(InputError):
        reference.names(tag=["hard"])


def test_the_sentence_about_bdeu_is_all_one_needs() -> None:
    case = reference.load("discrete-5-few")
    table = case.table
    node, parents = table.columns[0], table.columns[1].astype(int) * table.arities[2] + table.columns[2]
    cases = table.arities[1] * table.arities[2]
    share = 1.0 / cases / table.arities[0]
    counts = np.zeros((cases, table.arities[0]))
    np.add.at(counts, (parents, node), 1)
    expected = sum(
        math.lgamma(1.0 / cases)
        - math.lgamma(1.0 / cases + row.sum())
        + sum(math.lgamma(share + count) - math.lgamma(share) for count in row)
        for row in counts
    )
    assert case.local_scores().score("X1", ["X2", "X3"]) == pytest.approx(expected)


def test_the_sentence_about_bge_is_all_one_needs() -> None:
    case = reference.load("gaussian-5-few")
    data = case.table.values()
    prior = (data.mean(axis=0), np.ones(5))
    expected = _log_density(data, [0, 1, 3], *prior) - _log_density(data, [1, 3], *prior)
    assert case.local_scores().score("X1", ["X2", "X4"]) == pytest.approx(expected)


def test_the_sentence_about_conditional_gaussians_is_all_one_needs() -> None:
    case = reference.load("mixed-5")
    levels, data = case.table.columns[1], np.column_stack(case.table.columns[2:])
    prior = (data.mean(axis=0), data.std(axis=0, ddof=1))
    parts = [data[levels == level] for level in range(case.table.arities[1])]
    expected = sum(_log_density(part, [0, 1], *prior) - _log_density(part, [1], *prior) for part in parts)
    scores = case.local_scores()
    assert scores.score("X3", ["X2", "X4"]) == pytest.approx(expected)
    assert scores.score("X1", ["X4"]) == -math.inf


def _log_density(data: np.ndarray, columns: list[int], mean: np.ndarray, scale: np.ndarray) -> float:
    """Of some of the columns: mean worth one row, columns + 2 degrees of freedom, half the squared scale."""
    rows, size = len(data), len(columns)
    own = data[:, columns]
    centre = own.mean(axis=0)
    away = centre - mean[columns]
    prior = np.diag(scale[columns] ** 2 / 2)
    after = prior + (own - centre).T @ (own - centre) + rows / (rows + 1) * np.outer(away, away)
    half = (2 + size) / 2
    return float(
        size / 2 * math.log(1 / (rows + 1))
        - size * rows / 2 * math.log(math.pi)
        + multigammaln(half + rows / 2, size)
        - multigammaln(half, size)
        + half * np.linalg.slogdet(prior)[1]
        - (half + rows / 2) * np.linalg.slogdet(after)[1]
    )


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::dagpost.DagpostWarning")
@pytest.mark.parametrize("name", reference.names(tag="hard"))
def test_single_edge_moves_are_lost_in_a_hard_case(name: str) -> None:
    """What "hard" means: of four runs of a million steps, one has an edge that is off by more than 0.3."""
    case = reference.load(name)
    model = case.model(method=StructureMCMC(chains=1, reversals=0.0)).fit(case.table)
    exact = case.truth.edges.to_numpy()
    runs = [model.sample(10_000, seed=seed).edge_frequencies().to_numpy() for seed in (1, 2, 3, 4)]
    assert max(np.abs(run - exact).max() for run in runs) > 0.3
