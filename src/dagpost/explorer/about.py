"""What is known of one variable, or of two, under the conditions of a state, beside what is known without them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost.errors import InputError, collected_warnings
from dagpost.explorer.drawn import DrawnGraphs, Left
from dagpost.explorer.session import Session
from dagpost.explorer.state import State, place_in
from dagpost.explorer.views import view
from dagpost.features import evaluate
from dagpost.features.names import quoted
from dagpost.features.statements.markov_blanket import InMarkovBlanket
from dagpost.features.statements.v_structure import VStructure
from dagpost.posterior.probabilities import families_listed
from dagpost.report.content import Family, weighted_sets

#: How many parent sets are told.
_PARENT_SETS = 8
#: What is less probable than this, before and after, is not told of other variables.
_LEAST = 0.005
#: What is said of the view that the numbers come from.
_ABOUT_VIEW = ("source", "final", "few", "notes")


def about(session: Session, asked: Mapping[str, Any]) -> dict[str, Any]:
    """What is known of `variable`, or of the two of `pair`."""
    state, names = State.of(asked), session.fitted.names
    with collected_warnings():
        if "variable" in asked:
            return _variable(session, state, asked, place_in(asked["variable"], names, "variable"))
        pair = asked.get("pair")
        if not isinstance(pair, list) or len(pair) != 2:
            raise InputError("Ask about a 'variable', or about a 'pair' of them: a list of two.")
        first, second = (place_in(place, names, "pair") for place in pair)
        if first == second:
            raise InputError("A 'pair' has two different variables.")
        return _pair(session, state, asked, first, second)


def _views(session: Session, state: State, asked: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The view of a state, and the one without assumptions."""
    own = view(session, {"given": list(state.given), "setting": dict(state.setting), "patient": asked.get("patient")})
    return own, own if state.is_empty else view(session, {})


def _variable(session: Session, state: State, asked: Mapping[str, Any], node: int) -> dict[str, Any]:
    """Parent sets, Markov blanket, and how probably each other variable is a parent, a child, before or after it."""
    now, before = _views(session, state, asked)
    (families, source), blankets = _families(session, state, node, now), _blankets(session, state, node)

    def into(*matrices: list[list[float]] | None) -> list[list[float]] | None:
        first, second = ([row[node] for row in own] if own else None for own in matrices)
        return _told(first, second) if first and second else None

    def out_of(*matrices: list[list[float]] | None) -> list[list[float]] | None:
        first, second = (own[node] if own else None for own in matrices)
        return _told(first, second) if first and second else None

    return {
        "variable": node,
        "families": None if families is None else [[list(parents), own] for parents, own, _ in families],
        "families_before": None if families is None else [own for _, _, own in families],
        "families_source": source,
        "blanket": None if blankets is None else _told(*blankets),
        "parents": into(now["edges"], before["edges"]),
        "children": out_of(now["edges"], before["edges"]),
        "ancestors": into(now["paths"], before["paths"]),
        "descendants": out_of(now["paths"], before["paths"]),
        **{key: now[key] for key in _ABOUT_VIEW},
    }


def _told(now: Sequence[float], before: Sequence[float]) -> list[list[float]]:
    """Other variables with a probability and the one without assumptions, most probable first."""
    found = [[place, *both] for place, both in enumerate(zip(now, before, strict=True)) if max(both) >= _LEAST]
    return sorted(found, key=lambda told: (-told[1], -told[2], told[0]))


def _families(
    session: Session, state: State, node: int, now: Mapping[str, Any]
) -> tuple[list[tuple[tuple[int, ...], float, float | None]] | None, str | None]:
    """The most probable parent sets, each with its probability and the one without assumptions."""
    name, base = session.fitted.names[node], session.fitted
    found = None if now["source"] == "draws" else families_listed(session.under(state), name, _PARENT_SETS)
    source = now["source"]
    left = session.left(state) if found is None else None
    if found is None and left is not None and session.graphs is not None:
        found, source = _families_in(session.graphs, left, node)[:_PARENT_SETS], "draws"
    if found is None:
        return None, None
    known = families_listed(base, name, None)
    if known is None and session.graphs is not None:
        known = _families_in(session.graphs, session.graphs.left(None), node)
    before = dict(known or [])
    return [(tuple(parents), own, before.get(tuple(parents), 0.0)) for parents, own in found], source


def _families_in(graphs: DrawnGraphs, left: Left, node: int) -> list[Family]:
    """The parent sets of a variable in the graphs that are left, with their weights, most probable first."""
    return weighted_sets(graphs.parents[left.rows, node], left.weights)


def _blankets(session: Session, state: State, node: int) -> tuple[list[float], list[float]] | None:
    """How often each other variable is in the Markov blanket, among the drawn graphs that are left and among all."""
    graphs, left = session.graphs, session.left(state)
    if graphs is None or left is None:
        return None
    names = session.fitted.names
    others = [place for place in range(len(names)) if place != node]
    held = evaluate([InMarkovBlanket(names[place], names[node]) for place in others], graphs.parents, names)
    now, before = np.zeros((2, len(names)))
    now[others] = np.minimum(held[:, left.rows] @ left.weights, 1.0)
    everything = graphs.left(None)
    before[others] = np.minimum(held[:, everything.rows] @ everything.weights, 1.0)
    return now.tolist(), before.tolist()


def _pair(session: Session, state: State, asked: Mapping[str, Any], first: int, second: int) -> dict[str, Any]:
    """Edges, paths and compelled directions both ways, and v-structures with others, each with its probability."""
    now, before = _views(session, state, asked)
    names = [quoted(name) for name in session.fitted.names]
    told = []
    for arrow, matrix in (("->", "edges"), ("~>", "paths")):
        for start, end in ((first, second), (second, first)):
            if now[matrix] is not None and before[matrix] is not None:
                text = f"{names[start]} {arrow} {names[end]}"
                told.append({"text": text, "value": now[matrix][start][end], "before": before[matrix][start][end]})
    joined = {key: min(own["edges"][first][second] + own["edges"][second][first], 1.0)
              for key, own in (("value", now), ("before", before))}  # fmt: skip
    told.insert(2, {"text": f"{names[first]} -- {names[second]}", **joined})
    return {
        "pair": [first, second],
        "statements": [*told, *_v_structures(session, state, first, second)],
        "compelled": [_parts(now, before, *ends) for ends in ((first, second), (second, first))],
        **{key: now[key] for key in _ABOUT_VIEW},
    }


def _parts(now: Mapping[str, Any], before: Mapping[str, Any], start: int, end: int) -> dict[str, Any]:
    """How probably an edge is there and its direction is compelled, by whom."""
    return {
        "from": start,
        "to": end,
        **{
            kind: None
            if now[kind] is None or before[kind] is None
            else [own[kind][start][end] for own in (now, before)]
            for kind in ("by_data", "by_rules", "by_model")
        },
    }


def _v_structures(session: Session, state: State, first: int, second: int) -> list[dict[str, Any]]:
    """The v-structures in which both meet in a third variable, by the drawn graphs, most probable first."""
    graphs, left, names = session.graphs, session.left(state), session.fitted.names
    if graphs is None or left is None or graphs.parents.ndim > 2:
        return []
    if {names[first], names[second]} <= set(session.fitted.exogenous):
        # Whether these are joined is not modelled.
        return []
    now = _meeting(graphs, left, first, second)
    before = _meeting(graphs, graphs.left(None), first, second)
    places = [place for place in np.argsort(-now, kind="stable").tolist() if max(now[place], before[place]) >= _LEAST]
    return [
        {
            "text": str(VStructure(names[first], names[place], names[second])),
            "value": float(now[place]),
            "before": float(before[place]),
            "exact": False,
        }
        for place in places[:_PARENT_SETS]
    ]


def _meeting(graphs: DrawnGraphs, left: Left, first: int, second: int) -> Floats:
    """How often two variables that are not joined are both parents of each other one."""
    parents = graphs.parents[left.rows].astype(np.uint64)
    one, two = np.uint64(1) << np.uint64(first), np.uint64(1) << np.uint64(second)
    apart = (parents[:, second] & one == 0) & (parents[:, first] & two == 0)
    both = (parents & (one | two)) == (one | two)
    shares: Floats = (left.weights * apart) @ both
    return np.minimum(shares, 1.0)
