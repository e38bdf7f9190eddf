"""What setting one variable does to another, under the conditions of a state.

Averaged over those graphs of the model's own sample in which the conditions hold; if too few are left, graphs are drawn
under the conditions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dagpost._tools.spelling import in_python
from dagpost.errors import InputError, collected_warnings
from dagpost.explorer.session import Session
from dagpost.explorer.state import State, place_in

_CONFIDENCE = 0.95


def effect(session: Session, asked: Mapping[str, Any]) -> dict[str, Any]:
    """The total effect of `cause` on `outcome` in a sentence and in numbers, its curve, and what it rests on."""
    state, names = State.of(asked), session.fitted.names
    cause, outcome = (place_in(asked.get(which), names, which) for which in ("cause", "outcome"))
    if cause == outcome:
        raise InputError("A variable has no effect on itself: name another 'outcome'.")
    key = ("effect", state.sorted, cause, outcome)
    return session.once(key, lambda: _effect(session, state, names[cause], names[outcome]))


def _effect(session: Session, state: State, cause: str, outcome: str) -> dict[str, Any]:
    from dagpost.causal.effects import DRAWS, effect_of_fitted
    from dagpost.plots.small_curve import small_curve

    base = session.fitted
    left = None if state.setting else session.left(state)
    anew = left is None or (left.few and not base.completes and session.can_be_better(state))
    fitted, given = (session.under(state, patient=True), None) if anew else (base, session.feature(state))
    with collected_warnings() as said:
        seed = base.settings["seed"] or 0
        found = effect_of_fitted(fitted, cause, outcome, None, None, given, DRAWS, _CONFIDENCE, seed)
    lower, upper = found.interval()
    return {
        "said": repr(found),
        "mean": found.mean,
        "lower": lower,
        "upper": upper,
        "zero_probability": found.zero_probability,
        "curve": small_curve(found)._asdict() if found.has_curve else None,
        "notes": [*filter(None, [found.note]), *found.assumptions, *map(in_python, said)],
    }
