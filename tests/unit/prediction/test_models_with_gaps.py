"""Predictions, effects and networks of models that were fitted to a table with gaps, against sums over completions.

The sums are exact; the models average over completed tables of chains with a fixed seed. Bounds are some five standard
errors wide, so that a right answer fails for fewer than one seed in a hundred thousand.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.tools.gap_tables import levels_table, numbers_table

from dagpost import BayesianNetwork, BDeu, DagPosterior, cross_validate
from dagpost.data.table import Table
from dagpost.methods.augmentation import Augmentation
from dagpost.prediction.network import bayesian_network
from dagpost.prediction.statistics import sufficient_statistics
from dagpost.scores import BGe

# Chains this short do not vouch for themselves; they are compared with sums.
pytestmark = pytest.mark.filterwarnings("ignore::dagpost.errors.DagpostWarning")

#: The most that the log probability of a row may be off.
ERROR = 0.05


@pytest.fixture(scope="module")
def table() -> Table:
    return levels_table(3, columns=3, rows=12, gaps=4)


@pytest.fixture(scope="module")
def model(table: Table) -> DagPosterior:
    return fitted_to(table)


def fitted_to(table: Table, score: object = "bdeu") -> DagPosterior:
    chains = Augmentation(chains=2, burn_in=20, error=0.5)
    return DagPosterior(prior="uniform", score=score, method=chains, missing="augment", seed=1, samples=4_000).fit(
        table
    )


def completions(table: Table) -> list[Table]:
    """All ways to fill the gaps."""
    assert table.gaps is not None
    columns = np.nonzero(table.gaps)[0]
    choices = product(*[range(table.arities[column]) for column in columns])
    return [table.filled(np.array(cells, dtype=np.float64)) for cells in choices]


def log_evidences(tables: list[Table], score: object = "bdeu") -> np.ndarray:
    return np.array([DagPosterior(prior="uniform", score=score).fit(each).log_evidence_ for each in tables])


def with_row(table: Table, row: list[Any]) -> Table:
    columns = [np.append(own, np.array(cell, own.dtype)) for own, cell in zip(table.columns, row, strict=True)]
    return replace(table, columns=tuple(columns))


def as_rows(table: Table, rows: list[list[int]], gaps: list[list[bool]]) -> Table:
    cells = tuple(np.array(own, dtype=np.uint8) for own in zip(*rows, strict=True))
    return Table(table.names, cells, table.levels, gaps=np.array(gaps).T)


@pytest.mark.parametrize("score", ["bdeu", BDeu("average")], ids=["one value", "average"])
def test_rows_are_predicted_as_by_the_sum_over_all_completions(table: Table, score: object) -> None:
    """Log p(row | observed) is the log of a ratio of sums of evidence; gaps of the row are summed over too."""
    model, every = fitted_to(table, score), completions(table)
    rows = [[0, 0, 0], [1, 0, 1]]
    base = np.logaddexp.reduce(log_evidences(every, score))
    expected = [np.logaddexp.reduce(log_evidences([with_row(each, row) for each in every], score)) for row in rows]
    new = as_rows(table, rows, [[False] * 3] * 2)
    np.testing.assert_allclose(model.score_samples(new), np.array(expected) - base, atol=ERROR)
    other = np.logaddexp.reduce(log_evidences([with_row(each, [0, 0, 1]) for each in every], score))
    open_row = as_rows(table, [[0, 0, 0]], [[False, False, True]])
    log_open = np.logaddexp(expected[0], other)
    assert model.score_samples(open_row)[0] == pytest.approx(log_open - base, abs=ERROR)
    chances = model.predict_proba(open_row, target=table.names[2]).to_numpy()[0]
    np.testing.assert_allclose(chances, np.exp([expected[0] - log_open, other - log_open]), atol=ERROR)


def test_rows_of_numbers_are_predicted_as_by_the_integral_over_the_gap() -> None:
    """One gap, whose values are those of a trapezoidal rule that reaches far out."""
    table = numbers_table(2, columns=3, rows=12, gaps=1)
    model, score = fitted_to(table, "bge"), BGe().settled(table)
    assert table.gaps is not None
    observed = table.columns[int(table.gaps.any(axis=1).argmax())]
    steps = np.linspace(-4.0, 4.0, 33)
    points = np.nanmean(observed) + np.nanstd(observed) * np.sinh(steps)
    every = [table.filled(np.array([point])) for point in points]
    weights = np.log(np.cosh(steps))
    row = np.array([np.nanmean(own) for own in table.columns])
    base = np.logaddexp.reduce(weights + log_evidences(every, score))
    more = np.logaddexp.reduce(weights + log_evidences([with_row(each, row.tolist()) for each in every], score))
    new = Table(table.names, tuple(row[:, np.newaxis]), table.levels)
    assert model.score_samples(new)[0] == pytest.approx(more - base, abs=ERROR)


def test_the_network_of_one_graph_has_means_over_completions_given_the_graph(table: Table, model: DagPosterior) -> None:
    edges = [(table.names[0], table.names[1]), (table.names[1], table.names[2])]
    network = model.to_bayesian_network(edges)
    assert isinstance(network, BayesianNetwork)
    masks = np.array([[0, 1, 2]], dtype=np.uint8)
    weights, tables = [], []
    for each in completions(table):
        weights.append(DagPosterior("bdeu", prior="uniform").fit(each).log_joint(edges))
        own = bayesian_network(masks[0], sufficient_statistics(each, masks, "bdeu"), "bdeu")
        assert isinstance(own, BayesianNetwork)
        tables.append(own.tables)
    shares = np.exp(np.array(weights) - np.logaddexp.reduce(weights))
    for node in range(3):
        expected = np.tensordot(shares, np.array([own[node] for own in tables]), axes=1)
        np.testing.assert_allclose(network.tables[node], expected, atol=0.05)
    assert model.to_bayesian_network().names == table.names


def test_effects_are_mixtures_over_completed_tables(table: Table, model: DagPosterior) -> None:
    treatment, outcome = table.names[0], table.names[2]
    effect = model.effect(treatment, outcome, draws=2_000, seed=1)
    every = completions(table)
    logs = log_evidences(every)
    shares = np.exp(logs - np.logaddexp.reduce(logs))
    settings = {"score": "bdeu", "seed": 1, "samples": 300}
    found = [
        DagPosterior(**{"prior": "uniform", **settings}).fit(each).effect(treatment, outcome, draws=2) for each in every
    ]
    assert effect.mean == pytest.approx(float(shares @ [own.mean for own in found]), abs=0.02)
    assert effect.zero_probability == pytest.approx(float(shares @ [own.zero_probability for own in found]), abs=0.05)
    assert len(effect.samples) == 2_000
    assert effect.samples.mean() == pytest.approx(effect.mean, abs=0.02)
    assert effect.graphs == 2_000


def test_a_saved_model_predicts_the_same(table: Table, model: DagPosterior, tmp_path: Path) -> None:
    expected = model.score_samples(table)
    model.save(tmp_path / "m")
    loaded = DagPosterior.load(tmp_path / "m")
    np.testing.assert_array_equal(loaded.score_samples(table), expected)
    first = model.effect(table.names[0], table.names[1], draws=300, seed=2)
    again = loaded.effect(table.names[0], table.names[1], draws=300, seed=2)
    np.testing.assert_array_equal(again.samples, first.samples)


def test_tables_with_gaps_are_cross_validated(table: Table) -> None:
    chains = Augmentation(chains=2, burn_in=10, error=0.5)
    settings = {"score": "bdeu", "method": chains, "missing": "augment", "samples": 200}
    found = cross_validate(DagPosterior(**{"prior": "uniform", **settings}), table, folds=2, seed=1)
    assert np.isfinite(found.log_scores).all()
    assert (found.log_scores <= 0.0).all()
    assert found.method == "augmentation"
