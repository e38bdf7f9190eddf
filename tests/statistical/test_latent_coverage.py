"""Do the intervals of effects under latent Gaussian models cover the truth as often as they say?

Worlds of benchmarks/effect_coverage.py: a graph and the parameters of latent numbers from the prior, of which a table
shows levels, or numbers in a unit of their own. Where all columns are levels the posterior is that of their ranks, so
the truth has a uniform rank among the draws. Latent numbers behind numbers come from the data, so that a bit is lost.

False alarms: seeds are fixed, and each question has the rate `RATE`.
"""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks import effect_coverage as benchmark
from scipy import stats

pytestmark = [pytest.mark.long, pytest.mark.filterwarnings("ignore::dagpost.DagpostWarning")]

RATE = 1e-6
TABLES = 60
#: What estimating the margins of numbers may cost of an interval's confidence.
LOST = {"latent levels": 0.0, "latent both": 0.05, "latent raw": 0.05}


@pytest.mark.parametrize("world", LOST)
def test_latent_truth_is_where_draws_say(world: str) -> None:
    found = [benchmark.outcome(benchmark.WORLDS[world], number) for number in range(TABLES)]
    for what in ("total", "direct", "through"):
        ranks = np.array([own.ranks[what] for own in found if what in own.ranks])
        if not LOST[world]:
            assert stats.kstest(ranks, "uniform").pvalue > RATE, what
        for confidence in benchmark.LEVELS:
            middle = int((np.abs(ranks - 0.5) <= confidence / 2).sum())
            least = confidence - LOST[world]
            assert stats.binomtest(middle, len(ranks), least, alternative="less").pvalue > RATE, what


def test_signs_that_are_said_to_be_clear_are_right() -> None:
    """In the same worlds: whether an effect raises or lowers, where the posterior is sure of it."""
    signs = []
    for number in range(TABLES):
        rng = np.random.default_rng([benchmark.SEED, number, 1])
        truth = benchmark.drawn_truth(benchmark.WORLDS["latent both"], rng)
        effect = benchmark.fitted(benchmark.WORLDS["latent both"], truth.table, number).effect("A", "D", seed=1)
        if max(effect.positive_probability, effect.negative_probability) > 0.95:
            signs.append(np.sign(effect.mean) == np.sign(truth.total(0, 3, (1.0, 0.0), 0)))
    assert len(signs) > 3
    # At most one in twenty is wrong.
    assert stats.binomtest(len(signs) - sum(signs), len(signs), 0.05, alternative="greater").pvalue > RATE
