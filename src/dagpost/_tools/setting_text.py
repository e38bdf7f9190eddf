"""How are settings shown to people? In the same words in files, under results and in messages.

Settings come in the form in which files hold them as JSON.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from dagpost._tools.mixture import Value, value_text
from dagpost._tools.text import printable, shortened, shown

#: Names of earlier values in a table with time (data/time_columns.py).
_EARLIER = re.compile(r"\[t-[1-9]\d*\]$")
#: Smaller shares are not listed one by one.
_LEAST_SHARE = 0.005
#: Exogenous columns that are named one by one.
_NAMED = 3


def readable_setting(described: Any) -> str:
    """A score, a prior, a method, or any other value.

    >>> readable_setting({"kind": "EdgePrior", "probability": 0.2}), readable_setting(None)
    ('edge (probability 0.2)', 'none')
    >>> readable_setting({"kind": "EdgePrior", "probability": [["A", "->", "B", 0.2], ["B", "--", "C", 0.5]]})
    'edge (probability A -> B 0.2, B -- C 0.5)'
    """
    if isinstance(described, dict) and "kind" not in described:
        return shown(described)
    if isinstance(described, dict) and described.get("probability") == "average":
        # As it is typed: the words for what is averaged are said beside it.
        return "edge:average"
    if isinstance(described, dict) and described.get("members") and described.get("weights"):
        pairs = zip(described["members"], described["weights"], strict=True)
        return f"{described['kind']} ({', '.join(f'{readable_setting(own)} {weight:.0%}' for own, weight in pairs)})"
    if isinstance(described, dict):
        values = [
            f"{name.replace('_', ' ')} {readable_setting(value)}"
            for name, value in described.items()
            if name not in ("kind", "package") and value not in (None, [])
        ]
        kind = str(described["kind"])
        if kind.endswith("Prior"):
            # A prior is known by its name: "edge", not "EdgePrior".
            kind = kind.removesuffix("Prior").lower()
        return f"{kind} ({', '.join(values)})" if values else kind
    if isinstance(described, bool):
        return "yes" if described else "no"
    if isinstance(described, list) and described and all(isinstance(value, list) for value in described):
        return _readable_rows(described)
    if isinstance(described, list) and described and all(isinstance(value, dict) for value in described):
        return ", ".join(map(readable_setting, described))
    if isinstance(described, list) and all(isinstance(value, int | float) for value in described):
        return ", ".join(f"{value:g}" for value in described)
    if isinstance(described, list):
        return " > ".join(printable(name) for name in described)
    return "none" if described is None else printable(described)


def _readable_rows(rows: list[list[Any]]) -> str:
    """A table: its rows where they speak of something by name, otherwise its size."""
    if not isinstance(rows[0][0], str):
        return f"of {len(rows)} x {len(rows[0])}"
    return shortened([" ".join(readable_setting(cell) for cell in row) for row in rows])


def readable_shares(values: Sequence[Value], shares: Sequence[float]) -> str:
    """How probable each value of a setting is, the most probable first; what rounds to nothing is left out.

    >>> readable_shares([1.0, 5.0, 10.0, 50.0], [0.001, 0.62, 0.378, 0.001])
    '5 (62%), 10 (38%), others under 0.5%'
    >>> readable_shares([1.0, 5.0], [0.25, 0.75])
    '5 (75%), 1 (25%)'
    """
    falling = sorted(zip(values, shares, strict=True), key=lambda pair: -round(pair[1], 9))
    listed = [f"{value_text(value)} ({share:.0%})" for value, share in falling if share >= _LEAST_SHARE]
    return ", ".join(listed if len(listed) == len(falling) else [*listed, f"others under {100 * _LEAST_SHARE:g}%"])


def averaged_words(axis: Mapping[str, Any]) -> str:
    """What is averaged over and how probable each value is, in a sentence; fixed weights are said to be fixed.

    >>> averaged_words({"setting": "edge density", "values": [0.1, 0.5], "shares": [0.25, 0.75]})
    'Edge density: 0.5 (75%), 0.1 (25%).'
    """
    fixed = "; these weights are fixed, so that there is no log evidence" if axis.get("fixed") else ""
    return f"{axis['setting'].capitalize()}: {readable_shares(axis['values'], axis['shares'])}{fixed}."


def joined_before(probability: float | None) -> str:
    """What a prior amounts to, in a sentence; nothing where that is not known.

    >>> joined_before(0.2431)
    'Before the data, any two columns are joined with probability 0.24.'
    """
    said = "" if probability is None else f"{probability:.2f}" if probability >= 0.01 else f"{probability:.1g}"
    return f"Before the data, any two columns are joined with probability {said}." if said else ""


def readable_edges(edges: list[list[str]]) -> str:
    """Edges that are required or forbidden.

    >>> readable_edges([["A", "B"], ["A", "C"]]), readable_edges([])
    ('A -> B, A -> C', 'none')
    """
    return ", ".join(f"{printable(parent)} -> {printable(child)}" for parent, child in edges) or "none"


def readable_tiers(tiers: list[list[str]] | None) -> str:
    """Tiers, the earliest first.

    >>> readable_tiers([["A", "B"], ["C"]]), readable_tiers(None)
    ('A, B before C', 'none')
    """
    return " before ".join(", ".join(map(printable, tier)) for tier in tiers or []) or "none"


def given_columns(exogenous: Sequence[str]) -> str:
    """What every answer is conditional on, in a few words; empty where all columns are modelled.

    >>> given_columns(["age", "sex"]), given_columns(["age"]), given_columns([])
    ('given age and sex', 'given age', '')
    >>> given_columns([f"gene {number}" for number in range(200)])
    'given 200 exogenous columns'
    >>> given_columns(["salt[t-1]", "pressure[t-1]", "sex"])
    'given sex and earlier values'
    >>> given_columns(["salt[t-1]", *(f"gene {number}" for number in range(200))])
    'given 200 exogenous columns and earlier values'
    """
    own = [name for name in exogenous if not _EARLIER.search(name)]
    named = [printable(name) for name in own] if len(own) <= _NAMED else [f"{len(own)} exogenous columns"]
    if len(own) < len(exogenous):
        named.append("earlier values")
    if not named:
        return ""
    *first, last = named
    return f"given {', '.join(first)} and {last}" if first else f"given {last}"


def conditional_on(exogenous: Sequence[str]) -> str:
    """The same as a sentence of its own, with what it means; empty where all columns are modelled.

    >>> conditional_on(["age", "sex"])
    'Everything is conditional, given age and sex: exogenous columns are not modelled and have no parents.'
    """
    own = given_columns(exogenous)
    return own and f"Everything is conditional, {own}: exogenous columns are not modelled and have no parents."
