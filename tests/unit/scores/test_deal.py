"""The conditional Gaussian score beside that of the R package deal, whose figures are in tests/reference/deal.json.

The prior of deal shares an imaginary sample size `N` out among the combinations of levels, also for columns of numbers:
with `q` combinations of the discrete parents, the mean is worth `N / q` rows in each, the Wishart distribution has `N /
q` degrees of freedom above the number of columns less one, and its matrix is that of all cells of a combination
together. Here every combination has the same prior, however many there are. So the prior is set anew for each number of
combinations, and then all families agree.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from dagpost.data.table import Table
from dagpost.scores import ConditionalGaussian
from dagpost.scores.base import score_of_family

DEAL = json.loads((Path(__file__).parents[2] / "reference" / "deal.json").read_text())


def test_all_families_have_the_scores_of_deal_under_its_prior() -> None:
    columns = *(np.array(DEAL[name], dtype=np.uint8) for name in "ab"), *(np.array(DEAL[name]) for name in "xyz")
    table = Table(tuple("abxyz"), columns, ((0, 1), (0, 1, 2), None, None, None))
    size, numbers, cells = float(DEAL["imaginary_sample_size"]), 3, 6
    assert len(DEAL["families"]) == 2 * 2 + 3 * 16
    for child, parents, expected in DEAL["families"]:
        combinations = math.prod(table.arities[parent] for parent in parents if table.arities[parent])
        weight, matrix = size / combinations, np.array(DEAL["phi_of_a_cell"]) * cells / combinations
        degrees = weight + numbers - 1
        deviations = np.sqrt(matrix * (weight + 1) / (weight * (degrees - numbers - 1)))
        score = ConditionalGaussian(size, weight, degrees, tuple(DEAL["mean"]), tuple(deviations))
        assert score_of_family(score, table, [*parents, child]) == pytest.approx(expected, rel=1e-10)
