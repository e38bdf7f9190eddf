"""A clinic's table as it comes out of its database, simulated: identifiers, dates, gaps, numbers of all kinds.

The effects are known: age drives systolic pressure and BMI, sex drives BMI, smoking drives systolic pressure, BMI
drives both pressures, the systolic drives the diastolic one, and age and systolic pressure drive the diagnosis.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

#: Pairs with an edge in the network that makes the rows, strong enough to be seen in 900 of them.
STRONG_PAIRS = (("age", "systolic"), ("BMI", "systolic"), ("systolic", "diastolic"), ("systolic", "diagnosis"))
#: All edges of that network.
TRUE_EDGES = (
    *(("age", "BMI"), ("sex", "BMI"), ("age", "systolic"), ("BMI", "systolic"), ("smoking", "systolic")),
    *(("systolic", "diastolic"), ("BMI", "diastolic"), ("systolic", "diagnosis"), ("age", "diagnosis")),
)
LEFT_OUT = ("patient_id", "visit_date")
USED = ("age", "sex", "smoking", "BMI", "systolic", "diastolic", "diagnosis")


#: What any clinician knows: age and sex come first, then habits, then what is measured, then what is made of it.
TIERS = (("age", "sex"), ("smoking",), ("BMI",), ("systolic", "diastolic"), ("diagnosis",))


class TrueEffect(NamedTuple):
    """What setting a column to the first of two values rather than to the second does in that network."""

    cause: str
    outcome: str
    do: tuple[Any, Any]
    total: float
    direct: float
    #: Parts through other columns.
    through: Mapping[str, float]


TRUE_EFFECTS = (
    TrueEffect("smoking", "systolic", ("current", "never"), 6.0, 6.0, {"BMI": 0.0}),
    TrueEffect("BMI", "systolic", (30.0, 25.0), 1.3 * 5, 1.3 * 5, {}),
    TrueEffect("age", "systolic", (60.0, 50.0), 5.5 + 0.6 * 1.3, 5.5, {"BMI": 0.6 * 1.3}),
    TrueEffect("age", "BMI", (60.0, 50.0), 0.6, 0.6, {}),
    TrueEffect("sex", "systolic", ("m", "f"), 1.2 * 1.3, 0.0, {"BMI": 1.2 * 1.3}),
    TrueEffect("smoking", "diastolic", ("current", "never"), 0.45 * 6, 0.0, {"systolic": 0.45 * 6}),
)


def clinical_frame(rows: int = 900, seed: int = 15, gaps: float = 0.07) -> pd.DataFrame:
    """The table; a share of the cells of `smoking` is empty."""
    generator = np.random.default_rng(seed)
    age = generator.integers(21, 88, rows)
    sex = generator.choice(["f", "m"], rows)
    smoking = generator.choice(["never", "former", "current"], rows, p=[0.5, 0.3, 0.2])
    bmi = 22.0 + 0.06 * (age - 50) + 1.2 * (sex == "m") + 3.5 * generator.gamma(2.0, 0.7, rows)
    systolic = 112 + 0.55 * (age - 50) + 1.3 * (bmi - 26) + 6.0 * (smoking == "current") + generator.normal(0, 9, rows)
    diastolic = 78 + 0.45 * (systolic - 120) + 0.3 * (bmi - 26) + generator.normal(0, 6, rows)
    logit = -1.0 + 0.09 * (systolic - 125) + 0.02 * (age - 50)
    diagnosis = generator.random(rows) < 1 / (1 + np.exp(-logit))
    dates = pd.Timestamp("2024-01-02") + pd.to_timedelta(generator.integers(0, 700, rows), "D")
    return pd.DataFrame(
        {
            "patient_id": generator.permutation(rows) + 100_000,
            "visit_date": pd.Series(dates).dt.strftime("%Y-%m-%d"),
            "age": age,
            "sex": sex,
            "smoking": pd.Series(smoking, dtype=object).where(generator.random(rows) >= gaps, None),
            "BMI": bmi.round(1),
            "systolic": systolic.round().astype(np.int64),
            "diastolic": diastolic.round().astype(np.int64),
            "diagnosis": np.where(diagnosis, "hypertension", "none"),
        }
    )
