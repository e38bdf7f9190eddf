"""Any statement of the language under the conditions of a state: its probability, as well as it is known in a second.

Statements about the graph are exact where that is quick, else answered from the drawn graphs at once, and as well as
can be for a patient request. What cannot be read is an error that knows its character (`InputError.at`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from dagpost._tools.spelling import in_python
from dagpost._tools.text import readable_level
from dagpost.errors import collected_warnings
from dagpost.explorer.session import QUICK_SECONDS, Session
from dagpost.explorer.state import State, text_in
from dagpost.features import And, Edge, Feature, Path, Query, projected_conditions, projected_reach, resolve
from dagpost.features.feature import Not
from dagpost.features.forms import Arrow, Call, Form, Infix, Membership, Suffix, vocabulary
from dagpost.features.language import read
from dagpost.features.names import quoted
from dagpost.features.registry import STATEMENTS
from dagpost.features.statements.adjacent import Adjacent
from dagpost.features.value_queries import ValueQuery
from dagpost.posterior.answers import exact_answer, exact_sums
from dagpost.posterior.estimate import AVERAGED, RULED_OUT, Estimate
from dagpost.posterior.probabilities import known_answers, probabilities
from dagpost.posterior.shares import with_left_out

_CONFIDENCE = 0.95


def ask(session: Session, asked: Mapping[str, Any]) -> dict[str, Any]:
    """How probable a statement about the graph or about values is, or which mean a column has."""
    state, text, patient = State.of(asked), text_in(asked, "statement"), asked.get("patient") is True
    session.feature(state)
    query = read(text, session.fitted.names)
    with collected_warnings() as said:
        if isinstance(query, ValueQuery):
            found = _about_values(session, state, text, query, patient=patient)
        else:
            found = _about_graphs(session, state, resolve(query, session.fitted.names, None, session.fitted.exogenous),
                                  patient=patient)  # fmt: skip
    return {**found, "notes": [in_python(own) for own in said]}


def best_estimate(session: Session, state: State, query: Query, *, patient: bool = False) -> tuple[Estimate, bool]:
    """The probability of a statement under a state, and whether that is as well as it can be known."""
    final: list[bool] = []

    def others(queries: Sequence[Query]) -> list[Estimate]:
        find = _patient_estimate if patient else _quick_estimate
        found = [find(session, state, own) for own in queries]
        final.extend(own for _, own in found)
        return [estimate for estimate, _ in found]

    fitted = session.fitted
    (estimate,) = with_left_out([query], fitted.settings.get("sinks", ()), fitted.modularity, others)
    return estimate.given(fitted.exogenous), all(final)


def _about_graphs(session: Session, state: State, query: Query, *, patient: bool) -> dict[str, Any]:
    estimate, final = best_estimate(session, state, query, patient=patient)
    source = "exact" if _is_exact(estimate) else "averaged" if estimate.rule.startswith(AVERAGED) else "draws"
    plain = None if query.given is not None else plain_assumption(query.feature, session.fitted.names)
    return {"kind": "graph", **numbers_of(estimate), "source": source, "final": final, "plain": plain}


def _quick_estimate(session: Session, state: State, query: Query) -> tuple[Estimate, bool]:
    """The probability by what is at hand or takes a second, and whether nothing better is to be had."""
    exactly = False
    if session.is_quick(state):
        fitted = session.under(state)
        exactly = exact_sums(fitted) is not None
        (found,) = known_answers([query], fitted, _CONFIDENCE, QUICK_SECONDS)
    else:
        found = _exact_given(session, state, query, QUICK_SECONDS)
    if found is not None:
        return found, True
    if session.graphs is None:
        return _patient_estimate(session, state, query)
    better = session.can_be_better(state) or (exactly and (not state.is_empty or _may_be_exact(query, session)))
    return session.graphs.share(query.feature, _given(session, state, query), state.setting), not better


def _patient_estimate(session: Session, state: State, query: Query) -> tuple[Estimate, bool]:
    """The probability as well as it can be known."""
    return probabilities([query], session.under(state, patient=True), _CONFIDENCE)[0], True


def _exact_given(session: Session, state: State, query: Query, patience: float) -> Estimate | None:
    """The exact probability given all conditions, where the model under these would not know it."""
    if state.setting or session.fitted.completes:
        return None
    return exact_answer(Query(query.feature, _given(session, state, query)), session.fitted, patience)


def _given(session: Session, state: State, query: Query) -> Feature | None:
    """What a statement is conditioned on, the state included."""
    conditions = [own for own in (query.given, session.feature(state)) if own is not None]
    return None if not conditions else conditions[0] if len(conditions) == 1 else And(tuple(conditions))


def _may_be_exact(query: Query, session: Session) -> bool:
    """Whether sums may answer it, given time."""
    parts = [query.feature] if query.given is None else [query.feature & query.given, query.given]
    names = session.fitted.names
    return all(
        isinstance(part, And) or projected_conditions(part, names) or projected_reach(part, names) for part in parts
    )


def _about_values(session: Session, state: State, text: str, query: ValueQuery, *, patient: bool) -> dict[str, Any]:
    """The probability of values, or a mean: under the model where that is quick, else over the graphs drawn.

    It takes a moment, so that only a patient request waits for it; what is wrong with the question is said at once.
    """
    from dagpost.values.answers import value_estimate
    from dagpost.values.question import columns_of, question_of_text

    kind, key = ("value" if query.mean_of is None else "number"), ("value", state.sorted, text)
    question_of_text(columns_of(session.fitted), query)

    def answer() -> Estimate:
        feature = session.feature(state)
        if session.is_quick(state) or state.setting or feature is None:
            return value_estimate(session.under(state, patient=True), query, _CONFIDENCE)
        where = feature if query.where is None else query.where & feature
        return value_estimate(session.fitted, replace(query, where=where), _CONFIDENCE)

    estimate = session.once(key, answer) if patient else session.recall(key)
    if estimate is None:
        unknown = {"value": None, "lower": None, "upper": None, "exact": False, "said": "This takes a moment."}
        return {"kind": kind, **unknown, "source": "draws", "final": False, "plain": None}
    exact = estimate.rule == "exact"
    numbers = {**numbers_of(estimate), "exact": exact, "source": "exact" if exact else "draws"}
    return {"kind": kind, **numbers, "final": True, "plain": None}


def numbers_of(estimate: Estimate) -> dict[str, Any]:
    """A probability or a mean as the page reads it; what is unknown is None."""
    value, lower, upper = (
        own if math.isfinite(own) else None for own in (estimate.value, estimate.lower, estimate.upper)
    )
    return {"value": value, "lower": lower, "upper": upper, "exact": _is_exact(estimate), "said": str(estimate)}


def _is_exact(estimate: Estimate) -> bool:
    return estimate.rule in ("exact", RULED_OUT)


def plain_assumption(feature: Feature, names: Sequence[str]) -> dict[str, Any] | None:
    """A statement as the page's own kind of assumption, with the places of its variables; None for others."""
    inner, there = (feature.part, False) if isinstance(feature, Not) else (feature, True)
    if isinstance(inner, Edge):
        kind, ends = ("edge" if there else "no-edge"), (inner.parent, inner.child)
    elif isinstance(inner, Path) and inner.longest is None:
        kind, ends = ("path" if there else "no-path"), (inner.source, inner.target)
    elif isinstance(inner, Adjacent):
        kind, ends = ("joined" if there else "apart"), (inner.first, inner.second)
    else:
        return None
    return {"kind": kind, "from": names.index(ends[0]), "to": names.index(ends[1])}


def words(session: Session, asked: Mapping[str, Any]) -> dict[str, Any]:
    """What a statement may consist of, for completion: arrows, words, names as they are written, and levels."""
    del asked
    fitted = session.fitted
    forms = [(form, kind) for kind in STATEMENTS.classes().values() for form in kind.forms()]
    if fitted.data.time is None:
        forms = [(form, kind) for form, kind in forms if not isinstance(form, Suffix)]
    relations = [_word(form.sign, form, kind) for form, kind in forms if isinstance(form, Arrow | Infix)]
    calls = [_word(f"{form.sign}(", form, kind) for form, kind in forms if _is_call(form)]
    members = [_word(f"in {form.sign}(", form, kind) for form, kind in forms if isinstance(form, Membership)]
    suffixes = [_word(f"{form.sign} ", form, kind) for form, kind in forms if isinstance(form, Suffix)]
    levels = {
        name: [str(readable_level(level)) for level in own]
        for name, own in zip(fitted.names, fitted.data.levels, strict=True)
        if own is not None
    }
    return {
        "relations": relations,
        "words": [*calls, *members, *suffixes],
        "joins": ["&", "|", "!"],
        "reserved": sorted(vocabulary().reserved),
        "names": [{"name": name, "text": quoted(name)} for name in fitted.names],
        "levels": levels,
    }


def _is_call(form: Form) -> bool:
    # A word that is only there to be refused has an example of another form.
    return isinstance(form, Call) and form.examples[0].startswith(f"{form.sign}(")


def _word(text: str, form: Form, kind: type[Feature]) -> dict[str, str]:
    """A symbol or word with what it says of A and B, as the first sentence about the statement has it."""
    sentence = (kind.__doc__ or "").partition("`: ")[2]
    said = sentence.replace("\n", " ").partition(". ")[0].partition(";")[0].partition(" (")[0].strip().rstrip(".")
    return {"text": text, "said": said or form.examples[0]}
