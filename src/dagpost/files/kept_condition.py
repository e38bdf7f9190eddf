"""The condition of a model in its file: the file holds the model without it, and what it is given, as text.

Reading applies the condition anew, as `given` does: nothing of it is code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dagpost._tools.schema import Rule, list_of, mapping, number, optional, text, truth
from dagpost.errors import InputError
from dagpost.files.data_schema import VALUE
from dagpost.posterior.condition_words import given_content, given_provenance
from dagpost.posterior.given import conditioned

if TYPE_CHECKING:
    from dagpost.posterior.fitted import Fitted

_PROBABILITY = {
    "probability": optional(number(0.0, 1.0)),
    "lower": number(0.0, 1.0),
    "upper": number(0.0, 1.0),
    "exact": truth,
}
STATEMENTS, SETTING = list_of(text), mapping({}, more=VALUE)
PROBABILITY: Rule = optional(mapping(_PROBABILITY))
CONDITION: Rule = mapping(
    {"statements": STATEMENTS, "setting": SETTING, **_PROBABILITY}, may_lack=("setting", *_PROBABILITY)
)


def parts_to_keep(fitted: Fitted) -> tuple[Fitted, dict[str, Any]]:
    """The model without its condition, and what a file says of that; refused where it is a function of Python."""
    condition = fitted.condition
    if condition is None:
        return fitted, {}
    if condition.feature is not None and condition.feature.calls_back:
        raise InputError(
            "A model that is given what a function of Python says cannot be saved: a file holds no code. Save the "
            "model without the condition, and apply given(...) again when it is loaded; or say it as a statement."
        )
    return condition.base, given_content(given_provenance(condition))


def under_condition(fitted: Fitted, about: dict[str, Any]) -> Fitted:
    """The model under the condition that its file names, if it names one."""
    given = about.get("given")
    return fitted if given is None else conditioned(fitted, given["statements"], given.get("setting"))
