"""Do the intervals of effects hold the truth as often as they say?

Truth, graph and parameters together, is drawn from the prior (benchmarks/effect_coverage.py): then the rank of the true
effect among the draws, ties broken at random, has a uniform distribution, however few the rows. So have the ranks of
its direct part, of the part through another column, and, where there truly is a path, of the effect given a path.

False alarms: every test has a fixed seed, and asks at most sixteen questions with a false-alarm rate of `RATE` each.
"""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks import effect_coverage as benchmark
from scipy import stats

from dagpost import DagPosterior
from dagpost.data.table import Table

RATE = 1e-7
CONFIDENCE = 0.9

pytestmark = pytest.mark.filterwarnings("ignore::dagpost.DagpostWarning")


@pytest.mark.parametrize(
    ("world", "tables"),
    [
        ("numbers", 25),
        *(pytest.param(world, 400, marks=pytest.mark.long) for world in ("levels", "numbers", "both")),
    ],
)
def test_truth_from_the_prior_has_uniform_ranks_among_draws(world: str, tables: int) -> None:
    found = [benchmark.outcome(benchmark.WORLDS[world], number) for number in range(tables)]
    asked = {key for own in found for key in own.ranks}
    assert asked >= {"total", "direct", "through", "total, given a path", "direct, given an edge"}
    for what in asked:
        ranks = np.array([own.ranks[what] for own in found if what in own.ranks])
        assert stats.kstest(ranks, "uniform").pvalue > RATE, what
        held = np.array([own.held[what] for own in found if what in own.held])
        for place, confidence in enumerate(benchmark.LEVELS):
            middle = int((np.abs(ranks - 0.5) <= confidence / 2).sum())
            assert stats.binomtest(middle, len(ranks), confidence).pvalue > RATE, what
            # Intervals that end at zero hold the weight of zero whole: they cover more often than they say, never less.
            hits = int(held[:, place].sum())
            assert stats.binomtest(hits, len(ranks), confidence, alternative="less").pvalue > RATE, what
    # There is no effect as often as it is said, however that is weighted.
    said, true = (np.array([getattr(own, name) for own in found]) for name in ("no_effect", "none_truly"))
    for weights in (np.ones(tables), said - 0.5):
        deviation = np.sqrt((weights**2 * said * (1 - said)).sum())
        assert 2 * stats.norm.sf(abs((weights * (true - said)).sum()) / deviation) > RATE


@pytest.mark.long
def test_intervals_of_a_linear_system_with_known_tiers_cover_as_often_as_they_say() -> None:
    """A confounds B and D; C is on a path of A to D. The tiers give the direction of every edge but that of B and C."""
    generator = np.random.default_rng(4)
    truths = {("A", "D"): 0.8 * 0.6 + -0.7 * 0.5 + 0.4, ("B", "D"): 0.6, ("A", "C"): -0.7}
    model = DagPosterior("bge", prior="uniform", tiers=[["A"], ["B", "C"], ["D"]], max_parents=3, progress=False)
    hits = dict.fromkeys([*truths, "direct", "through B"], 0)
    trials = 300
    for seed in range(trials):
        noise = generator.normal(size=(4, 400)) * np.array([[1.0], [0.8], [1.2], [0.9]])
        first = 3.0 + noise[0]
        second = 0.8 * first + noise[1]
        third = -0.7 * first + noise[2] + 1.0
        fourth = 0.4 * first + 0.6 * second + 0.5 * third + noise[3]
        model.fit(Table(("A", "B", "C", "D"), (first, second, third, fourth), (None,) * 4))
        for pair, truth in truths.items():
            effect = model.effect(*pair, draws=1_000, confidence=CONFIDENCE, seed=seed)
            hits[pair] += _holds(effect.interval(), truth)
            if pair == ("A", "D"):
                assert effect.direct is not None
                hits["direct"] += _holds(effect.direct.interval(), 0.4)
                hits["through B"] += sum(
                    _holds(part.interval(), 0.8 * 0.6) for part in effect.through if part.through == "B"
                )
    for what, number in hits.items():
        assert stats.binomtest(number, trials, CONFIDENCE).pvalue > RATE, (what, number / trials)


def _holds(interval: tuple[float, float], truth: float) -> bool:
    return interval[0] <= truth <= interval[1]
