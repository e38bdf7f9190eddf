"""What is said of the condition that a model is under: in words, as JSON, and in the provenance of its samples.

A sample that was restricted to the graphs in which something holds says so in its provenance too, in the same form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dagpost._tools.mixture import Value, value_text
from dagpost._tools.text import printable
from dagpost.scores.committee import KIND

if TYPE_CHECKING:
    from dagpost.posterior.condition import Condition
    from dagpost.posterior.estimate import Estimate

#: Under these names the provenance of a sample says what is taken for true.
GIVEN_STATEMENTS, GIVEN_SETTING, GIVEN_PROBABILITY = "given", "given_setting", "given_probability"
#: And of a sample whose graphs were picked afterwards: how many it had, and how many statements were given before.
GIVEN_FROM = "given_from"
GIVEN_KEYS = (GIVEN_STATEMENTS, GIVEN_SETTING, GIVEN_PROBABILITY, GIVEN_FROM)


def given_provenance(condition: Condition | None) -> dict[str, Any]:
    """What samples of a model say of its condition; nothing where it has none."""
    if condition is None:
        return {}
    return provenance_of(condition.statements, condition.probability, condition.setting)


def provenance_of(statements: Sequence[str], probability: Estimate, setting: Mapping[str, Value]) -> dict[str, Any]:
    """A condition as the provenance of a sample holds it; `setting` has values of what a model averages over."""
    return {
        GIVEN_STATEMENTS: list(statements),
        **({GIVEN_SETTING: dict(setting)} if setting else {}),
        GIVEN_PROBABILITY: _probability_content(probability),
    }


def given_content(provenance: Mapping[str, Any]) -> dict[str, Any]:
    """A condition as commands print it with --json: `{"given": {...}}`; empty where nothing is taken for true."""
    if GIVEN_STATEMENTS not in provenance:
        return {}
    content = {"statements": list(provenance[GIVEN_STATEMENTS]), "setting": provenance.get(GIVEN_SETTING, {})}
    return {"given": {**content, **(provenance.get(GIVEN_PROBABILITY) or {})}}


def assumption_words(provenance: Mapping[str, Any]) -> str:
    """What is taken for true, in one line: "Smoking -> Pressure and Family ~> Proteins"; empty where nothing is.

    >>> assumption_words({"given": ["A -> B", "B ~> C", "!(A -> C)"]})
    'A -> B, B ~> C and !(A -> C)'
    >>> assumption_words({"given": [], "given_setting": {"equivalent sample size": 5.0}})
    'equivalent sample size = 5'
    """
    said = [printable(statement) for statement in provenance.get(GIVEN_STATEMENTS, ())]
    said += [
        f"{printable(name)} = {printable(value_text(value))}"
        for name, value in provenance.get(GIVEN_SETTING, {}).items()
    ]
    *first, last = said or [""]
    return f"{', '.join(first)} and {last}" if first else last


def given_words(provenance: Mapping[str, Any]) -> str:
    """The same for a list of what numbers hold under: "given Smoking -> Pressure"; empty where nothing is.

    >>> given_words({"given": ["A -> B"]}), given_words({})
    ('given A -> B', '')
    """
    said = assumption_words(provenance)
    return f"given {said}" if said else ""


def chance_words(provenance: Mapping[str, Any]) -> str:
    """How probable that is: "0.7731, exact", or "0.77 [0.75, 0.79]"; empty where it is not known.

    >>> chance_words({"given_probability": {"probability": 0.77314, "lower": 0.77314, "upper": 0.77314, "exact": True}})
    '0.7731, exact'
    >>> chance_words({"given_probability": {"probability": 0.0, "lower": 0.0, "upper": 0.0, "exact": True}})
    'less than 1e-300'
    """
    known = provenance.get(GIVEN_PROBABILITY)
    if not known:
        return ""
    if known["exact"] and known["probability"] == 0.0:
        # What is impossible is refused: this is less than a number can hold.
        return "less than 1e-300"
    value, lower, upper = (_digits(float(known[key])) for key in ("probability", "lower", "upper"))
    return f"{value}, exact" if known["exact"] else f"{value} [{lower}, {upper}]"


def chance_name(provenance: Mapping[str, Any]) -> str:
    """What that number is: a probability, or the weight that we gave a kind of model before we saw the data.

    >>> chance_name({"given": [], "given_setting": {"kind of model": "additive"}}), chance_name({"given": ["A -> B"]})
    ('fixed weight', 'probability')
    """
    only_kind = set(provenance.get(GIVEN_SETTING, ())) == {KIND} and not provenance.get(GIVEN_STATEMENTS)
    return "fixed weight" if only_kind else "probability"


def given_line(provenance: Mapping[str, Any], graphs: int | None = None) -> str:
    """What a command says first: what is taken for true, how probable that is, and how many graphs are left."""
    said = assumption_words(provenance)
    if not said:
        return ""
    chance = chance_words(provenance)
    left = "" if graphs is None else f"; from the {graphs:,} drawn graph{'' if graphs == 1 else 's'} in which it holds"
    return f"Given {said} ({chance_name(provenance)} {chance}{left}):" if chance else f"Given {said}:"


def _probability_content(probability: Estimate) -> dict[str, Any]:
    return {
        "probability": float(probability),
        "lower": probability.lower,
        "upper": probability.upper,
        "exact": probability.rule == "exact",
    }


def _digits(value: float) -> str:
    """Four digits after the point, or of what is smaller two that matter."""
    return f"{value:.4f}" if value >= 0.001 or value == 0.0 else f"{value:.2g}"
