"""Survey weights: why they are refused.

A weight says for how many people of a population a row stands, not how often it was observed. A score that counted it
would take a sample of 1,000 people for millions of observations, and every doubt would vanish.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dagpost._tools.spelling import bare
from dagpost.errors import InputError

#: What users of other libraries call them.
_PARAMETERS = ("sample_weight", "sample_weights", "weights", "weight")
_WHY = (
    "A survey weight says how many people of a population a row stands for, not how often it was observed: counted as "
    "observations, weights would multiply the evidence, and every probability would be far too sure"
)
_WAYS_OUT = (
    "Put the variables that the weights were made from (region, age, sex) into the table and name them in "
    f"{bare('exogenous')}, or fit without weights, which is about the people in the table; {bare('counts')} is for "
    "whole numbers of rows that were observed alike"
)
#: Why weights are refused, and what to do instead.
WEIGHTS_REFUSED = f"{_WHY}. {_WAYS_OUT}."


def refuse_other_arguments(others: Mapping[str, Any]) -> None:
    """Refuse the arguments of a fit that it does not have, with the reason where they are weights."""
    for name, value in others.items():
        if name not in _PARAMETERS:
            raise TypeError(f"DagPosterior.fit() got an unexpected keyword argument {name!r}")
        if value is not None:
            raise InputError(f"{name!r} is not taken. {WEIGHTS_REFUSED}")
