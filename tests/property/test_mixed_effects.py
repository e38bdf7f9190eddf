"""What setting columns of levels or numbers does in conditional Gaussian networks, where the truth is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.property.test_prediction import sample_of
from tests.tools.wording import Said

from dagpost.causal import effect
from dagpost.data.table import Table
from dagpost.errors import DagpostWarning


def smoking(rows: int, seed: int = 1) -> Table:
    """Sex leads to all others, smoking to weight and pressure, weight to pressure by 2 or, in men, by 3."""
    generator = np.random.default_rng(seed)
    sex = generator.integers(0, 2, rows)
    smokes = (generator.random(rows) < np.where(sex == 1, 0.7, 0.3)).astype(np.int64)
    weight = 70 + 10 * sex - 4 * smokes + generator.normal(size=rows)
    pressure = 120 + (2 + sex) * (weight - 75) + 5 * smokes + 3 * generator.normal(size=rows)
    columns = sex.astype(np.uint8), smokes.astype(np.uint8), weight, pressure
    return Table(("sex", "smokes", "weight", "pressure"), columns, (("f", "m"), ("no", "yes"), None, None))


TRUE = np.array([[0, 1, 3, 7]], dtype=np.uint8)


def test_effects_through_levels_and_numbers_are_those_of_the_network() -> None:
    table = smoking(4000)
    sample = sample_of(table.names, TRUE, np.ones(1))
    asked: dict[str, Any] = {"draws": 500, "seed": 1}
    slope = effect(sample, table, "conditional-gaussian", "weight", "pressure", do=(76.0, 75.0), **asked)
    # Half of the rows are of men.
    assert slope.mean == pytest.approx(2.5, abs=0.1)
    assert slope.samples.std() < 0.1
    total = effect(sample, table, "conditional-gaussian", "smokes", "pressure", **asked)
    # 5 directly, and 4 less of weight.
    assert total.mean == pytest.approx(5 - 4 * 2.5, abs=0.5)
    assert total.interval()[0] < 5 - 4 * 2.5 < total.interval()[1]
    assert total.direct is not None
    assert total.direct.mean == pytest.approx(5, abs=0.7)
    assert {part.through: round(part.mean) for part in total.through} == {"weight": -10}
    sex = effect(sample, table, "conditional-gaussian", "sex", "smokes", **asked)
    assert sex.mean == pytest.approx(0.4, abs=0.04)


def test_numbers_have_no_effect_on_levels_and_a_notice_says_why(said: Said) -> None:
    table = smoking(50)
    sample = sample_of(table.names, TRUE, np.ones(1))
    with said.warns(DagpostWarning):
        found = effect(sample, table, "conditional-gaussian", "weight", "smokes", draws=10)
    assert found.zero_probability == 1.0
    assert found.mean == 0.0
    assert not found.samples.any()
