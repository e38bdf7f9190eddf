"""What the posterior says under the conditions of a state: the numbers behind the whole picture.

Edges and paths are exact where that takes about a second; else they come from the drawn graphs that meet the
conditions, at once, and exactly (or averaged over completed tables) for a request that is patient. Which way edges are
compelled always comes from drawn graphs, as shares of the best known probabilities of edges: from those of the model's
own sample that are left, or, if these are few, from a small sample under the conditions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost._tools.setting_text import joined_before
from dagpost._tools.spelling import in_python
from dagpost.errors import NoGraphError, PrecisionError, ResourceError, collected_warnings
from dagpost.explorer.asking import numbers_of
from dagpost.explorer.drawn import DrawnGraphs, Left
from dagpost.explorer.session import QUICK_SECONDS, Session
from dagpost.explorer.state import State
from dagpost.posterior.answers import Known, exact_sums
from dagpost.posterior.condition import DrawnCondition
from dagpost.posterior.distinct import one_way_at_most
from dagpost.posterior.estimate import Estimate, exact_estimate
from dagpost.posterior.fitted import Fitted
from dagpost.posterior.knowledge import Knowledge
from dagpost.posterior.mixture import MixedWorkspace
from dagpost.posterior.probabilities import PATIENCE_SECONDS as AVERAGING_SECONDS
from dagpost.posterior.probabilities import known_paths

#: Beside draws, which are there at once, only that is summed which takes no longer than this.
_AT_ONCE_SECONDS = 0.1
#: How long a patient request waits for paths that do not come with the sums.
_PATIENCE_SECONDS = 30.0
#: Where graphs worth fewer than this are left, directions come from a sample under the conditions, of this size.
_ENOUGH, _SMALL_SAMPLE = 300.0, 2_000
#: With so few variables that sample is drawn at once.
_FEW_VARIABLES = 12


def view(session: Session, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Everything that is drawn under the conditions of a state."""
    state, patient = State.of(asked), asked.get("patient") is True
    with collected_warnings() as said:
        found = _Finding(session, state, patient=patient).found()
    return {**found, "notes": list(dict.fromkeys([*found["notes"], *map(in_python, said)]))}


@dataclass(eq=False)
class _Finding:
    """A view while it is made."""

    session: Session
    state: State
    patient: bool

    def found(self) -> dict[str, Any]:
        """The view."""
        session, state = self.session, self.state
        feature, graphs = session.feature(state), session.graphs
        quick = session.is_quick(state)
        if not quick and not self.patient and graphs is not None:
            try:
                return self._by_draws(graphs, graphs.left(feature, state.setting))
            except NoGraphError:
                if not self.session.can_be_better(self.state):
                    raise
        fitted = session.under(state, patient=not quick)
        results = fitted.results
        if results.exact or results.tables or state.is_empty:
            return self._by_model(fitted, graphs)
        # Drawn anew where some of the conditions restrict the weights, else the same graphs.
        drawn = _own_graphs(fitted) if graphs is None or _is_drawn_anew(fitted) else graphs
        return self._by_draws(drawn, drawn.left(feature, state.setting if drawn is graphs else ()), fitted)

    def _by_model(self, fitted: Fitted, graphs: DrawnGraphs | None) -> dict[str, Any]:
        """From a model that knows its edges."""
        session, state = self.session, self.state
        edges = np.clip(fitted.results.edges, 0.0, 1.0)
        left = session.left(state)
        paths, complete = self._paths(fitted, graphs, left)
        known, final = session.knowledge(state), complete or self.patient
        shown, source = (left, graphs)
        if not state.is_empty and fitted.results.exact and (left is None or left.worth < _ENOUGH):
            if self.patient or len(fitted.names) <= _FEW_VARIABLES:
                source = _small_sample(fitted)
                shown = source.left(None)
            else:
                final = False
        split = None if source is None or shown is None else source.compelled(shown, known, one_way_at_most(edges))
        condition = fitted.condition
        seconds = None if final else QUICK_SECONDS
        named = "exact" if fitted.results.exact else "averaged" if fitted.results.tables else "draws"
        chance = None if condition is None else condition.probability
        few = named == "draws" and left is not None and left.few
        about = {"source": named, "final": final, "seconds": seconds, "few": few, "notes": _notes(fitted, known)}
        return self._view(edges, paths, split, known, left, chance, **about)

    def _by_draws(self, graphs: DrawnGraphs, left: Left, fitted: Fitted | None = None) -> dict[str, Any]:
        """From the drawn graphs that are left."""
        session, state = self.session, self.state
        edges, paths, known = graphs.edges(left), graphs.paths(left), session.knowledge(state)
        split = graphs.compelled(left, known, edges)
        final = self.patient or not self.session.can_be_better(self.state)
        seconds = None if final else self._seconds()
        chance = self._chance(graphs) if fitted is None or fitted.condition is None else fitted.condition.probability
        notes = _notes(session.fitted, known)
        if left.few:
            notes.append(
                f"Only {len(left.rows):,} of the {left.of:,} distinct graphs that were drawn "
                f"{'meets' if len(left.rows) == 1 else 'meet'} the conditions: the numbers are rough."
            )
        about = {"source": "draws", "final": final, "seconds": seconds, "few": left.few, "notes": notes}
        return self._view(edges, paths, split, known, left, chance, **about)

    def _seconds(self) -> float:
        """Roughly how long the answer to a patient request takes."""
        base = self.session.fitted
        if base.completes:
            return AVERAGING_SECONDS
        exact, whole = self.session.seconds(self.state), base.workspace.seconds(base.modularity)
        # Otherwise graphs are drawn anew, after sums over what some of the conditions leave.
        return exact if math.isfinite(exact) else QUICK_SECONDS + (whole if math.isfinite(whole) else 0.0)

    def _paths(self, fitted: Fitted, graphs: DrawnGraphs | None, left: Left | None) -> tuple[Floats | None, bool]:
        """The probabilities of paths, as well as they are known in time, and whether that is as well as can be."""
        exact = known_paths(fitted, _PATIENCE_SECONDS if self.patient else QUICK_SECONDS)
        if exact is not None and not np.isnan(exact).any():
            return np.clip(exact, 0.0, 1.0), True
        final = exact_sums(fitted) is None
        if graphs is None or left is None:
            return None, final
        drawn = graphs.paths(left)
        return (drawn if exact is None else np.where(np.isnan(exact), drawn, np.clip(exact, 0.0, 1.0))), final

    def _chance(self, graphs: DrawnGraphs) -> Estimate | None:
        """How probable the conditions are: exact where that is quick."""
        session, state = self.session, self.state
        feature = session.feature(state)
        if state.is_empty:
            return None
        found = exact_sums(session.fitted)
        if found is not None and feature is not None and not state.setting:
            try:
                answer = Known(session.fitted.names, *found, _AT_ONCE_SECONDS).answer(feature)
            except (PrecisionError, ResourceError):
                answer = None
            if answer is not None:
                return exact_estimate(answer.value, session.fitted.target).given(session.fitted.exogenous)
        return graphs.chance(feature, state.setting)

    def _view(
        self,
        edges: Floats,
        paths: Floats | None,
        split: tuple[Floats, Floats, Floats] | None,
        known: Knowledge,
        left: Left | None,
        chance: Estimate | None,
        **more: Any,
    ) -> dict[str, Any]:
        """All of it as the page reads it; `more` stands there as it is."""
        by_data, by_rules, by_model = (None, None, None) if split is None else (own.tolist() for own in split)
        return {
            "given": list(self.state.given),
            "setting": dict(self.state.setting),
            "chance": None if chance is None else numbers_of(chance),
            "graphs": None if left is None else left.summary(),
            "edges": edges.tolist(),
            "paths": None if paths is None else paths.tolist(),
            "by_data": by_data,
            "by_rules": by_rules,
            "by_model": by_model,
            "settled": np.argwhere(known.settled).tolist(),
            "fixed": np.argwhere(known.fixed).tolist(),
            **more,
        }


def _is_drawn_anew(fitted: Fitted) -> bool:
    """Whether the graphs of a model under a condition are others than those of the model without it."""
    condition = fitted.condition
    return isinstance(condition, DrawnCondition) and condition.within is not condition.base


def _own_graphs(fitted: Fitted) -> DrawnGraphs:
    """The graphs of a model's own sample."""
    return fitted.once("own graphs of the explorer", lambda: DrawnGraphs(fitted, fitted.own_sample()))


def _small_sample(fitted: Fitted) -> DrawnGraphs:
    """Some graphs under the conditions, drawn once for a model."""
    return fitted.once(
        "graphs of the explorer",
        lambda: DrawnGraphs(fitted, fitted.draw(_SMALL_SAMPLE, fitted.settings["seed"] or 0, may_stop=True)),
    )


def _notes(fitted: Fitted, known: Knowledge) -> list[str]:
    """Sentences worth saying about all numbers of a view."""
    notes, workspace = [], fitted.workspace
    if isinstance(workspace, MixedWorkspace):
        cells = [workspace.grid.cells[own] for own in workspace.cell_of]
        counts = [len(set(own)) for own in zip(*cells, strict=True)]
        said = [
            f"{count} values of {axis.setting}"
            for axis, count in zip(workspace.grid.axes, counts, strict=True)
            if count > 1
        ]
        if said:
            notes.append(f"Averaged over {' and '.join(said)}.")
    if before := joined_before(fitted.joined_before):
        notes.append(before)
    if fitted.results.tables:
        notes.append(f"Averaged over {fitted.results.tables:,} completed tables.")
    if fitted.results.verdict:
        notes.append(fitted.results.verdict)
    if known.note:
        notes.append(known.note)
    return notes
