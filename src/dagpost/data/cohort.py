"""A simulated cohort: 36 columns of people who are seen as children, at 30, at 45 and at 60; nobody in it ever lived.

It is what a longitudinal study looks like, with its true graph known: `datasets.load("cohort")` draws it. A column is
drawn after its causes. The levels of each cause are numbered 0, 1, 2; these numbers, each times the strength of that
cause, are added up with logistic noise, and the level of the column says how many of its cuts the sum passes.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.checks import whole_number
from dagpost.data.table import Table

#: How many people, unless the user says otherwise.
COHORT_ROWS = 1500

_NO_YES = ("no", "yes")
_THREE = ("low", "middle", "high")
_MOOD = ("good", "poor")


class _Column(NamedTuple):
    """The levels of a column, the cuts between them, and the strength of each of its causes."""

    levels: tuple[str, ...]
    cuts: tuple[float, ...]
    causes: Mapping[str, float] = MappingProxyType({})


#: The number at the end of a name is the age at which it was measured. Every cause stands before its effects.
COLUMNS: dict[str, _Column] = {
    "sex": _Column(("female", "male"), (0.0,)),
    "birth_year": _Column(("1946-50", "1951-55", "1956-60"), (-0.7, 0.7)),
    # Childhood
    "parents_education_7": _Column(_THREE, (0.2, 2.0), {"birth_year": 0.4}),
    "parents_smoke_7": _Column(("none", "one", "both"), (-1.5, 0.4), {"parents_education_7": -0.9}),
    "crowding_7": _Column(_NO_YES, (0.1,), {"parents_education_7": -1.1}),
    "damp_home_7": _Column(_NO_YES, (1.3,), {"crowding_7": 1.2}),
    "infections_7": _Column(("none", "some", "many"), (0.9, 2.5), {"parents_smoke_7": 0.8, "damp_home_7": 1.4}),
    "asthma_7": _Column(_NO_YES, (2.7,), {"infections_7": 1.0}),
    "reading_7": _Column(_THREE, (-0.4, 1.5), {"parents_education_7": 1.0}),
    "overweight_7": _Column(_NO_YES, (1.2,), {"parents_education_7": -0.5}),
    # The exam at 30
    "education_30": _Column(_THREE, (1.0, 3.0), {"parents_education_7": 0.8, "reading_7": 1.0}),
    "smoking_30": _Column(("never", "former", "current"), (0.0, 0.8), {"parents_smoke_7": 0.9, "education_30": -0.8}),
    "exercise_30": _Column(("low", "high"), (0.7,), {"education_30": 0.7}),
    "bmi_30": _Column(("normal", "overweight", "obese"), (0.3, 2.2), {"overweight_7": 1.4, "exercise_30": -0.8}),
    "work_dust_30": _Column(_NO_YES, (0.9,), {"education_30": -1.1, "sex": 1.2}),
    "lung_30": _Column(_THREE, (-3.0, -0.8), {"infections_7": -0.8, "asthma_7": -1.2, "smoking_30": -0.6}),
    "alcohol_30": _Column(("low", "moderate", "heavy"), (0.8, 2.5), {"smoking_30": 0.5, "sex": 0.9}),
    "pressure_30": _Column(("normal", "raised"), (2.3,), {"bmi_30": 0.8, "sex": 0.8}),
    "mood_30": _Column(_MOOD, (1.5,), {"alcohol_30": 0.6}),
    # The exam at 45
    "smoking_45": _Column(("never", "former", "current"), (0.9, 2.7), {"smoking_30": 2.0, "education_30": -0.7}),
    "exercise_45": _Column(("low", "high"), (0.9,), {"exercise_30": 1.4, "mood_30": -0.8}),
    "bmi_45": _Column(("normal", "overweight", "obese"), (0.3, 2.7), {"bmi_30": 1.7, "exercise_45": -0.8}),
    "work_dust_45": _Column(_NO_YES, (1.3,), {"work_dust_30": 2.3}),
    "lung_45": _Column(_THREE, (-0.7, 1.7), {"lung_30": 1.4, "smoking_45": -0.7, "work_dust_45": -1.4}),
    "pressure_45": _Column(("normal", "raised"), (2.0,), {"pressure_30": 1.7, "bmi_45": 0.8}),
    "cholesterol_45": _Column(("normal", "raised"), (1.1,), {"bmi_45": 0.8}),
    "income_45": _Column(_THREE, (0.4, 2.2), {"education_30": 1.0, "sex": 0.7}),
    "mood_45": _Column(_MOOD, (0.7,), {"mood_30": 1.5, "income_45": -0.6}),
    # Outcomes at 60
    "lung_60": _Column(_THREE, (-0.1, 2.2), {"lung_45": 1.5, "smoking_45": -0.6}),
    "bronchitis_60": _Column(_NO_YES, (0.7,), {"lung_60": -1.3, "smoking_45": 0.7}),
    "diabetes_60": _Column(_NO_YES, (2.9,), {"bmi_45": 1.1}),
    "heart_60": _Column(_NO_YES, (3.1,), {"pressure_45": 1.4, "cholesterol_45": 1.1, "smoking_45": 0.6}),
    "retired_60": _Column(_NO_YES, (1.3,), {"heart_60": 1.4, "income_45": -0.5}),
    "mood_60": _Column(_MOOD, (1.1,), {"mood_45": 1.4, "retired_60": 0.9}),
    "walking_60": _Column(("slow", "usual", "brisk"), (-0.4, 1.8), {"lung_60": 0.8, "bmi_45": -0.7}),
    "disability_60": _Column(_NO_YES, (1.1,), {"walking_60": -1.2, "bronchitis_60": 1.2, "mood_60": 0.9}),
}

#: The true graph: (cause, effect).
COHORT_EDGES = tuple((cause, name) for name, column in COLUMNS.items() for cause in column.causes)


def cohort(rows: int, seed: int) -> Table:
    """The table; its first rows are the same however many are drawn."""
    generator = np.random.default_rng(whole_number(seed, "seed", least=0))
    uniform = generator.random((whole_number(rows, "rows", "the data set 'cohort'"), len(COLUMNS))).T
    codes: dict[str, NDArray[Any]] = {}
    for (name, column), own in zip(COLUMNS.items(), uniform, strict=True):
        noise = np.log(own / (1.0 - own))
        total = noise + sum(strength * codes[cause] for cause, strength in column.causes.items())
        codes[name] = np.searchsorted(np.array(column.cuts), total).astype(np.uint8)
    return Table(tuple(COLUMNS), tuple(codes.values()), tuple(column.levels for column in COLUMNS.values()))
