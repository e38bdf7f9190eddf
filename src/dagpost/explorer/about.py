"""What is known of one variable under the conditions of a state: its parent sets, and its Markov blanket."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dagpost.errors import collected_warnings
from dagpost.explorer.session import Session
from dagpost.explorer.state import State, place_in
from dagpost.explorer.views import view
from dagpost.features import evaluate
from dagpost.features.statements.markov_blanket import InMarkovBlanket
from dagpost.posterior.probabilities import families_listed
from dagpost.report.content import FAMILIES, Family, weighted_sets

#: What is less probable than this is not told of other variables.
_LEAST = 0.005


def about(session: Session, asked: Mapping[str, Any]) -> dict[str, Any]:
    """The parent sets and the Markov blanket of `variable`, each with probabilities, the most probable first."""
    state = State.of(asked)
    node = place_in(asked.get("variable"), session.fitted.names, "variable")
    with collected_warnings():
        shown = view(session, asked)
        return {
            "families": _families(session, state, node, by_draws=shown["source"] == "draws"),
            "blanket": _blanket(session, state, node),
            "final": shown["final"],
            "notes": shown["notes"],
        }


def _families(session: Session, state: State, node: int, *, by_draws: bool) -> list[Family] | None:
    """The most probable parent sets, by the model where it knows them, else among the drawn graphs that are left."""
    if not by_draws:
        known = families_listed(session.under(state), session.fitted.names[node], FAMILIES)
        if known is not None:
            return known
    graphs, left = session.graphs, session.left(state)
    if graphs is None or left is None:
        return None
    return weighted_sets(graphs.parents[left.rows, node], left.weights)[:FAMILIES]


def _blanket(session: Session, state: State, node: int) -> list[tuple[int, float]] | None:
    """How often each other variable is in the Markov blanket, among the drawn graphs that are left."""
    graphs, left = session.graphs, session.left(state)
    if graphs is None or left is None:
        return None
    names = session.fitted.names
    others = [place for place in range(len(names)) if place != node]
    held = evaluate([InMarkovBlanket(names[place], names[node]) for place in others], graphs.parents, names)
    shares = np.minimum(held[:, left.rows] @ left.weights, 1.0).tolist()
    told = [(place, share) for place, share in zip(others, shares, strict=True) if share >= _LEAST]
    return sorted(told, key=lambda own: -own[1])
