"""Graphs and parameters from the prior, cells erased: is the truth where the posterior says? See the benchmark.

Seeds are fixed. Each of the five statistics of a world has a false-alarm rate of `RATE`, that of a test being below one
in a million.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
from benchmarks import gaps_calibration as benchmark
from scipy.stats import chi2, norm

RATE = 1e-7

# A level that does not occur in a small table, and chains of a few hundred sweeps, are pointed out.
pytestmark = [pytest.mark.long, pytest.mark.filterwarnings("ignore::dagpost.DagpostWarning")]


TABLES = 64


@cache
def outcomes_of(world: str) -> list[benchmark.Outcome]:
    return [benchmark.outcome(benchmark.SETTINGS[world], number) for number in range(TABLES)]


@pytest.mark.parametrize("world", benchmark.SETTINGS)
def test_edges_are_calibrated_and_ranks_uniform(world: str) -> None:
    for statistic in benchmark.normal_statistics(outcomes_of(world)):
        assert 2 * norm.sf(abs(statistic)) > RATE
    for statistic in benchmark.rank_statistics(outcomes_of(world)):
        assert chi2.sf(statistic, benchmark.DRAWS) > RATE


def test_answers_that_are_too_sure_or_too_many_edges_would_be_seen() -> None:
    sharper = [
        replace(own, edges=own.edges**3 / (own.edges**3 + (1 - own.edges) ** 3)) for own in outcomes_of("levels")
    ]
    more = [replace(own, edges=own.edges * 1.4) for own in outcomes_of("levels")]
    assert 2 * norm.sf(abs(benchmark.normal_statistics(sharper)[1])) < RATE
    assert 2 * norm.sf(abs(benchmark.normal_statistics(more)[0])) < RATE
