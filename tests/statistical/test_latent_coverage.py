"""Do the intervals of effects under latent Gaussian models cover the truth as often as they say?

Worlds are drawn from the model: latent numbers with random effects, one column cut into two levels, one into three, and
one a column of numbers with a unit of its own. False alarms: seeds are fixed, and each question has the rate `RATE`.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from dagpost import DagPosterior

pytestmark = [pytest.mark.long, pytest.mark.filterwarnings("ignore::dagpost.DagpostWarning")]

RATE = 1e-7
WORLDS, ROWS, CONFIDENCE = 40, 150, 0.9
#: Share of the first column below its cut point, and what a latent number more is worth of the last column.
BELOW, UNIT = 0.4, 10.0
ORDER = [["smoking"], ["pain"], ["pressure"]]


def world(generator: np.random.Generator) -> tuple[pd.DataFrame, float, float]:
    """A table, and the true effects of smoking on pressure: in its unit, and in latent standard deviations."""
    onward, direct, last = generator.normal(size=3) * 0.6 * (generator.random(3) < 0.8)
    smoking = generator.normal(size=ROWS)
    pain = onward * smoking + generator.normal(size=ROWS)
    pressure = direct * smoking + last * pain + 0.7 * generator.normal(size=ROWS)
    cut = stats.norm.ppf(BELOW)
    frame = pd.DataFrame(
        {
            "smoking": np.where(smoking > cut, "yes", "no"),
            "pain": np.searchsorted([-0.5, 0.7], pain),
            "pressure": 120.0 + UNIT * pressure,
        }
    )
    # The means of a normal number above and below the cut point are density / share apart.
    apart = stats.norm.pdf(cut) * (1.0 / (1.0 - BELOW) + 1.0 / BELOW)
    total = direct + onward * last
    deviation = np.sqrt(total**2 + last**2 + 0.49)
    return frame, UNIT * total * apart, total * apart / deviation


def test_effects_of_levels_on_numbers_are_covered_as_often_as_intervals_say() -> None:
    generator, hits, signs = np.random.default_rng(7), np.zeros(2, dtype=int), []
    for _ in range(WORLDS):
        frame, truth, standardised = world(generator)
        model = DagPosterior("latent-gaussian", tiers=ORDER, seed=1, samples=600, progress=False).fit(frame)
        effect = model.effect("smoking", "pressure", confidence=CONFIDENCE, draws=4_000, seed=1)
        for place, (interval, value) in enumerate(
            [(effect.interval(), truth), (effect.standardised_interval(), standardised)]
        ):
            assert interval is not None
            hits[place] += interval[0] <= value <= interval[1]
        if effect.positive_probability > 0.99 or effect.negative_probability > 0.99:
            signs.append(np.sign(effect.mean) == np.sign(truth))
    # Intervals that end at zero hold its weight whole: they cover more often than they say, never less.
    for own in hits.tolist():
        assert stats.binomtest(own, WORLDS, CONFIDENCE, alternative="less").pvalue > RATE
    assert len(signs) > WORLDS // 5
    assert np.mean(signs) > 0.9
