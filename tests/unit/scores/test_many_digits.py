"""Scores of columns of numbers under any prior and far from zero, against 150 digits: right to 1e-9, or refused."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import ArrayLike
from tests.naive import many_digits
from tests.tools.wording import Said

from dagpost import BGe, ConditionalGaussian, DagPosterior, DagSample, Table, local_scores
from dagpost.errors import PrecisionError
from dagpost.families.numbering import parent_sets
from dagpost.methods.targets import STRUCTURE
from dagpost.prediction import log_predictive, sufficient_statistics

NAMES = tuple("abcd")
#: mean_weight, degrees_of_freedom
PRIORS = [
    (1.0, None),
    (1e10, None),
    (1e14, None),
    (1e100, None),
    (1e-50, None),
    (1e-100, None),
    (1.0, 1e12),
    (1.0, 1e15),
    (1.0, 1e100),
    (1e100, 6.0),
    (1e-100, 5 + 1e-15),
]


def linear(offset: float = 0.0, rows: int = 20, seed: int = 1) -> np.ndarray:
    generator = np.random.default_rng(seed)
    data = generator.normal(size=(rows, 4))
    data[:, 1] += 0.5 * data[:, 0]
    data[:, 2] += 0.4 * data[:, 1] - 0.3 * data[:, 3]
    return data + offset


def table_of(data: np.ndarray, interventions: np.ndarray | None = None) -> Table:
    return Table(NAMES, tuple(np.ascontiguousarray(data.T)), (None,) * 4, interventions=interventions)


def members(node: int, mask: int) -> list[int]:
    others = [other for other in range(4) if other != node]
    return [others[place] for place in range(3) if mask >> place & 1]


def twin(
    table: Table,
    mean_weight: float,
    degrees: float | None,
    prior_mean: float | None = None,
    used: list[int] | None = None,
) -> np.ndarray:
    """The scores of all families, less that of the empty set of each node."""
    values = [
        [
            many_digits.bge(table, node, members(node, int(mask)), mean_weight, degrees, prior_mean, used)
            for mask in parent_sets(3, 3)
        ]
        for node in range(4)
    ]
    return np.array([[float(value - row[0]) for value in row] for row in values])


def differences(scores: ArrayLike) -> np.ndarray:
    found = np.asarray(scores)
    return found - found[:, :1]


@pytest.mark.parametrize(("mean_weight", "degrees"), PRIORS)
@pytest.mark.parametrize("offset", [0.0, 1e13])
def test_scores_keep_nine_digits_after_the_point_under_any_prior_and_offset(
    mean_weight: float, degrees: float | None, offset: float
) -> None:
    table = table_of(linear(offset))
    found = local_scores(table, BGe(mean_weight, degrees), 3).values
    np.testing.assert_allclose(differences(found), twin(table, mean_weight, degrees), rtol=0, atol=1e-9)
    first = float(many_digits.bge(table, 0, [], mean_weight, degrees))
    assert found[0, 0] == pytest.approx(first, rel=0, abs=1e-9)


@pytest.mark.parametrize(("mean_weight", "degrees"), [(1.0, None), (1e12, None), (1e-50, None), (1.0, 1e12)])
def test_scores_of_rows_without_interventions_keep_nine_digits_too(mean_weight: float, degrees: float | None) -> None:
    set_there = np.where(np.arange(20) % 3 == 0, 2, 0).astype(np.uint64)
    table = table_of(linear(1e13), set_there)
    found = differences(local_scores(table, BGe(mean_weight, degrees), 3).values)
    everywhere = twin(table, mean_weight, degrees)
    elsewhere = twin(table, mean_weight, degrees, used=np.flatnonzero(set_there == 0).tolist())
    everywhere[1] = elsewhere[1]
    np.testing.assert_allclose(found, everywhere, rtol=0, atol=1e-9)


@pytest.mark.parametrize(("mean_weight", "degrees"), [(1e12, None), (1e-50, None), (1.0, 1e12)])
def test_all_ways_to_score_keep_the_digits(mean_weight: float, degrees: float | None) -> None:
    """Given families, listed families, and tables with gaps that are filled, against the scores of all families."""
    score, data = BGe(mean_weight, degrees), linear(1e13)
    known = local_scores(table_of(data), score, 3)
    none, one = np.full((1, 2), 4, dtype=np.int16), np.array([[0, 4]], dtype=np.int16)
    extend = score.extender(table_of(data), 3, 1)
    go_on = np.zeros(1, dtype=np.int64)
    assert extend(2, none, np.array([0, 1]), go_on)[0].tolist() == pytest.approx(
        [known.score(2, [0]), known.score(2, [1])], rel=0, abs=1e-9
    )
    assert extend(2, one, np.array([3]), go_on)[0, 0] == pytest.approx(known.score(2, [0, 3]), rel=0, abs=1e-9)
    gaps = np.zeros((4, 20), dtype=np.bool_)
    gaps[1, ::3] = gaps[2, 5] = True
    with_gaps = Table(NAMES, tuple(np.ascontiguousarray(data.T)), (None,) * 4, gaps=gaps)
    settled = score.settled(with_gaps)
    cells = data.T[gaps]
    filled = local_scores(with_gaps.filled(cells), settled, 3).values
    rescored = settled.rescorer(with_gaps, 3, 1)(cells)
    np.testing.assert_allclose(differences(rescored), differences(filled), rtol=0, atol=1e-9)
    start, members_of = np.array([0, 0, 0, 2, 2]), np.array([[0, 4], [0, 3]], dtype=np.int16)
    listed = score.list_scorer(table_of(data), 3, 1).on(start, members_of)(np.empty(0), np.arange(2), go_on)
    assert listed.tolist() == pytest.approx([known.score(2, [0]), known.score(2, [0, 3])], rel=0, abs=1e-9)


@pytest.mark.parametrize(("mean_weight", "degrees"), [prior for prior in PRIORS if prior[0] >= 1])
def test_numbers_given_levels_keep_the_digits(mean_weight: float, degrees: float | None) -> None:
    """In each combination of levels a regression of its own: the sum of what the twin says of their rows."""
    data, codes = linear(1e13), np.array([0, 1, 2, 0, 1] * 4, dtype=np.uint8)
    codes[-1] = 3  # A group of one row.
    table = Table((*NAMES, "k"), (*np.ascontiguousarray(data.T), codes), (None, None, None, None, ("p", "q", "r", "s")))
    score = ConditionalGaussian(5.0, mean_weight, degrees)
    known = local_scores(table, score, 3)
    found = [known.score(2, [4]), known.score(2, [0, 4]), known.score(2, [0, 1, 4])]
    groups = [np.flatnonzero(codes == code).tolist() for code in range(4)]
    expected = [
        sum(many_digits.bge(table_of(data), 2, parents, mean_weight, degrees, used=group) for group in groups)
        for parents in ([], [0], [0, 1])
    ]
    assert found == pytest.approx([float(value) for value in expected], rel=0, abs=1e-9)
    go_on, sets = np.zeros(1, dtype=np.int64), np.array([[4, 5]], dtype=np.int16)
    extended = score.extender(table, 3, 1)(2, sets, np.array([0]), go_on)[0, 0]
    assert extended == pytest.approx(found[1], rel=0, abs=1e-9)
    start, members_of = np.array([0, 0, 0, 1, 1, 1]), np.array([[0, 4]], dtype=np.int16)
    listed = score.list_scorer(table, 3, 1).on(start, members_of)(np.empty(0), np.arange(1), go_on)
    assert listed[0] == pytest.approx(found[1], rel=0, abs=1e-9)


def test_a_prior_of_hardly_any_rows_is_refused_where_groups_may_have_fewer_rows_than_columns(said: Said) -> None:
    codes = np.arange(20, dtype=np.uint8) % 2
    table = Table((*NAMES, "k"), (*np.ascontiguousarray(linear().T), codes), (None, None, None, None, ("p", "q")))
    with said.raises(PrecisionError, {"as much as [0-9e+]+": "as much as <number>"}):
        local_scores(table, ConditionalGaussian(5.0, 1e-50), 3)


@pytest.mark.parametrize(("mean_weight", "degrees"), [*PRIORS[:3], PRIORS[4], *PRIORS[6:8]])
def test_new_rows_are_as_probable_as_the_scores_say(mean_weight: float, degrees: float | None) -> None:
    data = linear(1e6, rows=21)
    table, everything, score = table_of(data[:20]), table_of(data), BGe(mean_weight, degrees)
    graphs = np.array([[0, 1, 3, 7]], dtype=np.uint8)
    sample = one_graph(graphs)
    found = log_predictive(sample, sufficient_statistics(table, graphs, score), score, data[20:])
    prior = mean_weight, degrees, None
    expected = sum(
        many_digits.bge(everything, node, list(range(node)), *prior, basis=20)
        - many_digits.bge(table, node, list(range(node)), *prior)
        for node in range(4)
    )
    assert found[0] == pytest.approx(float(expected), rel=0, abs=1e-8)


def one_graph(graphs: np.ndarray) -> DagSample:
    nan = np.full(1, np.nan)
    return DagSample(
        NAMES, graphs, nan, nan, nan, np.ones(1), STRUCTURE, "exact-layers", "independent", "given weights"
    )


def test_a_column_too_far_from_zero_for_a_mean_is_not_predicted(said: Said) -> None:
    data, graphs = linear(1e13), np.array([[0, 0, 0, 0]], dtype=np.uint8)
    with said.raises(PrecisionError):
        log_predictive(one_graph(graphs), sufficient_statistics(table_of(data), graphs, "bge"), "bge", data)


def test_a_column_that_follows_from_others_is_refused_only_where_digits_are_lost(said: Said) -> None:
    """A copy of a column, with a prior of nearly no rows: the determinants are differences of nearly equal numbers."""
    data = linear()
    data[:, 3] = data[:, 0]
    assert np.isfinite(local_scores(table_of(data), BGe(), 3).values).all()
    with said.raises(PrecisionError, {"as much as [0-9e+]+": "as much as <number>"}):
        local_scores(table_of(data), BGe(1e-50), 3)


def test_a_prior_mean_far_from_all_rows_is_refused(said: Said) -> None:
    with said.raises(PrecisionError, {"as much as [0-9e+]+": "as much as <number>"}):
        local_scores(table_of(linear(1e13)), BGe(prior_mean=0.0), 3)
    near = table_of(linear(1e3))
    found = differences(local_scores(near, BGe(prior_mean=0.0), 3).values)
    np.testing.assert_allclose(found, twin(near, 1.0, None, 0.0), rtol=0, atol=1e-9)


def test_a_prior_of_hardly_any_rows_gives_a_posterior() -> None:
    model = DagPosterior(BGe(1e-50)).fit(table_of(linear()))
    assert np.isfinite(model.log_evidence_)
    assert model.edge_probabilities_.to_numpy().max() < 1e-20
