"""Graphs and latent tables from the prior, cut into levels: is the truth where the posterior says? See the benchmark.

Seeds are fixed. Each of the five statistics of a world has a false-alarm rate of `RATE`, that of a test being below one
in a million.
"""

from __future__ import annotations

import pytest
from benchmarks import latent_calibration as benchmark
from benchmarks.gaps_calibration import DRAWS, normal_statistics, rank_statistics
from scipy.stats import chi2, norm

RATE = 1e-7

pytestmark = [pytest.mark.long, pytest.mark.filterwarnings("ignore::dagpost.DagpostWarning")]

TABLES = 64


@pytest.mark.parametrize("world", benchmark.SETTINGS)
def test_edges_are_calibrated_and_ranks_uniform(world: str) -> None:
    outcomes = [benchmark.outcome(benchmark.SETTINGS[world], number) for number in range(TABLES)]
    for statistic in normal_statistics(outcomes):
        assert 2 * norm.sf(abs(statistic)) > RATE
    for statistic in rank_statistics(outcomes):
        assert chi2.sf(statistic, DRAWS) > RATE
