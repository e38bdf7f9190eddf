"""What is done with each column, as options say it: `--columns`, `--drop`, `--keep`, `--cut` and others."""

from __future__ import annotations

import csv
from typing import Any

from dagpost.errors import InputError

_CUT = "--cut is written COLUMN=NUMBER, COLUMN=NUMBER,NUMBER or COLUMN=BINS:RULE, as in --cut age=4:quantile."
_RULES = ("quantile", "uniform", "kmeans")


def parse_names(option: str, texts: list[str] | None) -> list[str] | None:
    """Names of columns, separated by commas; a name with a comma stands in double quotes.

    >>> parse_names("--drop", ['a,"b, c"', "d"])
    ['a', 'b, c', 'd']
    """
    if not texts:
        return None
    names = [name.strip() for row in csv.reader(texts, skipinitialspace=True) for name in row]
    if not names or not all(names):
        raise InputError(f"{option} takes names of columns, as A,B. Got {','.join(texts)!r} instead.")
    return names


def parse_cuts(texts: list[str] | None) -> dict[str, Any] | None:
    """Where columns are cut: at numbers, or into a number of bins by a rule.

    >>> parse_cuts(["systolic=120,140", "age=4:quantile"])
    {'systolic': [120.0, 140.0], 'age': (4, 'quantile')}
    """
    cuts: dict[str, Any] = {}
    for text in texts or ():
        # The name may hold "=" itself, the cuts cannot.
        name, equals, written = (part.strip() for part in text.rpartition("="))
        name = name[1:-1] if len(name) > 1 and name[0] == name[-1] == '"' else name
        if not (name and equals and written):
            raise InputError(f"{_CUT} Got {text!r} instead.")
        if name in cuts:
            raise InputError(f"--cut is given twice for the column {name!r}. Give it once, as {name}=120,140.")
        cuts[name] = _rule(text, written) if ":" in written else _numbers(text, written)
    return cuts or None


def _rule(text: str, written: str) -> tuple[int, str]:
    bins, _, rule = (part.strip() for part in written.partition(":"))
    if not bins.isdecimal() or rule not in _RULES:
        raise InputError(f"{_CUT} Rules are {', '.join(_RULES)}. Got {text!r} instead.")
    return int(bins), rule


def _numbers(text: str, written: str) -> list[float]:
    try:
        return [float(part) for part in written.split(",")]
    except ValueError:
        raise InputError(f"{_CUT} Got {text!r} instead.") from None
