"""Do probabilities and clear directions hold against known networks? A small part of benchmarks/calibration.py.

Tables of 100 to 5,000 rows from random networks of 8, 10 and 12 nodes, with equivalent sample sizes averaged by
evidence. Seeds are fixed, so the outcome is too; the margins below say how far it is from the bounds.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from benchmarks import calibration
from benchmarks.calibration_data import Case, discrete_cases
from scipy import stats

#: The largest share of clear directions that may be wrong.
MOST_WRONG = 0.10


pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    return [case for case in discrete_cases(calibration.ROWS, 4, published=()) if len(case.truth) <= 12]


def test_at_most_a_tenth_of_clear_directions_are_wrong(cases: list[Case]) -> None:
    """If 10% were wrong in general, as few as here would be so in one of a hundred sets of tables."""
    found: Counter[str] = Counter()
    for case in cases:
        found.update(calibration.directions_of(case)["average"]["0.5"])
    assert found["clear"] >= 100
    assert found["wrong"] <= MOST_WRONG * found["clear"]
    assert stats.binom.cdf(found["wrong"], found["clear"], MOST_WRONG) < 0.01
    # What is never called clear is never wrong: many of the compelled edges must be found.
    assert found["found"] >= 0.4 * found["compelled"]


def test_averaging_over_sizes_loses_less_than_one_size(cases: list[Case]) -> None:
    """In the log loss of pairs, by over four standard errors of the difference: by chance, once in 30,000 times."""
    differences = []
    for case in cases:
        found = calibration.sizes_of(case)
        differences.append(found["average"]["pairs"]["log"] - found["1"]["pairs"]["log"])
    values = np.array(differences)
    assert values.mean() < -4 * values.std(ddof=1) / np.sqrt(len(values))
