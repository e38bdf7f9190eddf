"""Survey weights: why they are refused, and which columns look like them.

A weight says for how many people of a population a row stands, not how often it was observed. A score that counted it
would take a sample of 1,000 people for millions of observations, and every doubt would vanish.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from dagpost._tools.spelling import bare, either
from dagpost._tools.text import shortened
from dagpost.data.table import Table
from dagpost.errors import InputError, warn

#: What users of other libraries call them.
_PARAMETERS = ("sample_weight", "sample_weights", "weights", "weight")
_NAMES = re.compile(
    # pweight, survey_weight, sampling weight, design.wgt; IPUMS, NHANES, BRFSS and the census; inverse probabilities.
    r"(?:p|psp|an|survey|sample|sampling|design|expansion|poststrat\w*)[ _.-]?(?:weights?|wght|wgt|wt)"
    r"|wt(?:mec|int|saf|drd|dr\dd|ph|sa|sb)\w*|(?:per|hh|asec|final|fnl|_?llcp)(?:wt|wgt)\w*|iptw|ipw",
    re.IGNORECASE,
)
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


def is_weights_option(word: str) -> bool:
    """Whether a word of a command line is an option for weights.

    >>> is_weights_option("--weights=w"), is_weights_option("--counts")
    (True, False)
    """
    name = word.partition("=")[0]
    return name.startswith("--") and name[2:].replace("-", "_") in (*_PARAMETERS, "survey_weights", "survey_weight")


def looks_like_weights(name: str) -> bool:
    """Whether a column is a survey weight by its name; `weight` alone is that of a body.

    >>> [looks_like_weights(name) for name in ("pweight", "WTMEC2YR", "sampling_weight", "weight", "birth_weight")]
    [True, True, True, False, False]
    """
    return _NAMES.fullmatch(name.strip()) is not None


def warn_of_weights(table: Table) -> None:
    """Say of columns that are weights by their names that they are taken for variables."""
    kept = () if table.recipe is None else table.recipe.keep
    found = [name for name in table.names if looks_like_weights(name) and name not in kept]
    if found:
        several = len(found) > 1
        warn(
            f"Column{'s' if several else ''} {shortened([repr(name) for name in found])} "
            f"{'look' if several else 'looks'} like survey weights and {'are' if several else 'is'} used as "
            f"{'variables' if several else 'a variable'} like any other: leave {'them' if several else 'it'} out, "
            f"{either(f'Recipe(drop={found!r})', '--drop')}, or keep {'them' if several else 'it'}, "
            f"{either(f'Recipe(keep={found!r})', '--keep')}. Weights are not used as such. {_WAYS_OUT}."
        )
