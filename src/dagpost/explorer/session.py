"""One model that is explored: what is known of it without any assumption, and the models under the last ones.

Questions come from several threads. What takes seconds is done one at a time; quick answers never wait for it.
"""

from __future__ import annotations

import gc
import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from dagpost._tools.mixture import Grid
from dagpost.errors import InputError, NoGraphError, ResourceError, collected_warnings
from dagpost.explorer.drawn import DrawnGraphs, Left
from dagpost.explorer.state import State, setting_of
from dagpost.features import Feature, projected_ways
from dagpost.posterior.answers import exact_sums
from dagpost.posterior.fitted import Fitted
from dagpost.posterior.given import assumed_feature, conditioned, restrictable, seconds_left
from dagpost.posterior.knowledge import Knowledge, knowledge_of, knowledge_under
from dagpost.posterior.mixture import MixedWorkspace
from dagpost.posterior.ways_left import all_of

Made = TypeVar("Made")

#: What is reckoned to take longer is answered from draws first.
QUICK_SECONDS = 1.0
#: So many answers that took long are remembered, and models under conditions: many where they have at most so many
#: columns, and are small, else a few. The page itself remembers views.
_MOST_ANSWERS, _SMALL, _MANY, _FEW = 256, 14, 64, 4
#: Whether this thread must not do what takes long.
_HERE = threading.local()


class PatienceError(Exception):
    """The answer takes long, and comes to a patient request only."""


@contextmanager
def in_a_hurry() -> Iterator[None]:
    """In this thread, what is done for one request at a time ends in a `PatienceError` instead."""
    _HERE.hurried = True
    try:
        yield
    finally:
        _HERE.hurried = False


def _check_patience() -> None:
    if getattr(_HERE, "hurried", False):
        raise PatienceError


class Session:
    """A model, and what was found under the conditions asked for last.

    A model that is under a condition itself is explored as the model without it, from the state in which that is
    assumed.
    """

    def __init__(self, fitted: Fitted, title: str, path: Path | None = None) -> None:
        condition = fitted.condition
        self.fitted = fitted if condition is None else condition.base
        self.start = State() if condition is None else State(tuple(condition.statements), setting_of(condition.setting))
        self.title, self.path = title, path
        self._models: dict[State, Fitted] = {}
        self._answers: dict[Any, Any] = {}
        self._slow = threading.RLock()

    def prepare(self) -> None:
        """Compute what every answer needs, so that the first ones are quick too."""
        with collected_warnings():
            _ = self.fitted.results, self.graphs

    @cached_property
    def graphs(self) -> DrawnGraphs | None:
        """The graphs of the model's own sample; None where they do not fit into memory."""
        with self._slow, collected_warnings():
            try:
                return DrawnGraphs(self.fitted, self.fitted.own_sample())
            except ResourceError:
                return None

    @property
    def settings(self) -> Grid | None:
        """What the model averages over, where exact sums are known under each of its values; None: nothing."""
        workspace = self.fitted.workspace
        if not isinstance(workspace, MixedWorkspace) or exact_sums(self.fitted) is None:
            return None
        return workspace.grid

    def feature(self, state: State) -> Feature | None:
        """All statements of a state as one; None where there are none. What cannot be read is refused."""
        if state.setting:
            if self.settings is None:
                raise InputError("This model averages over nothing of which a value can be given.")
            self.settings.chosen(dict(state.setting))
        features = [assumed_feature(self.fitted, text) for text in dict.fromkeys(state.given)]
        return all_of(features) if features else None

    def left(self, state: State) -> Left | None:
        """The drawn graphs that are left under a state; None where there are none."""
        try:
            return None if self.graphs is None else self.graphs.left(self.feature(state), state.setting)
        except NoGraphError:
            return None

    def seconds(self, state: State) -> float:
        """Roughly how long the exact answer under a state takes; infinite where only draws can tell."""
        feature = self.feature(state)
        if state.is_empty:
            return 0.0
        if not self._restricts or (feature is not None and projected_ways(feature, self.fitted.names) is None):
            return math.inf
        left = self._model(state)
        if left.condition is None or not left.condition.exact:
            return math.inf
        # A method with sums of its own, over trees or along one order, has cheap ones.
        return 0.0 if left.method.modularity is None else seconds_left(left.workspace, left.modularity)

    @property
    def _restricts(self) -> bool:
        """Whether conditions on parents leave a model with exact sums."""
        return self.fitted.results.exact and restrictable(self.fitted)

    def is_quick(self, state: State) -> bool:
        """Whether the best answers that there are under a state take no longer than one waits unasked."""
        return state.is_empty or self.seconds(state) <= QUICK_SECONDS

    def can_be_better(self, state: State) -> bool:
        """Whether more can be asked under a state than those of the drawn graphs that are left."""
        if state.is_empty:
            return False
        if self.fitted.completes or math.isfinite(self.seconds(state)):
            return True
        # Where some of several statements restrict the weights, graphs can be drawn anew under these.
        parts = [projected_ways(assumed_feature(self.fitted, text), self.fitted.names) is None for text in state.given]
        return self._restricts and (not all(parts) or bool(state.setting))

    def under(self, state: State, *, patient: bool = False) -> Fitted:
        """The model under the conditions of a state; what takes long is done for one `patient` request at a time."""
        if not patient:
            return self._model(state)
        _check_patience()
        with self._slow:
            fitted = self._model(state)
            _ = fitted.results
        return fitted

    def _model(self, state: State) -> Fitted:
        """The same, of which nothing need have been computed yet."""
        if state.is_empty:
            return self.fitted
        key = state.sorted
        found = self._models.get(key)
        if found is None:
            found = conditioned(self.fitted, state.given, dict(state.setting))
            if len(self._models) >= (_MANY if len(self.fitted.names) <= _SMALL else _FEW):
                # What refers to itself in a circle stays until the collector comes by, whatever its size.
                self._models.clear()
                gc.collect()
            self._models[key] = found
        return found

    def knowledge(self, state: State) -> Knowledge:
        """What is known about directions under a state without looking at the data."""
        return knowledge_under(knowledge_of(self.fitted), list(state.given) or None, self.fitted.names)

    def once(self, key: Any, make: Callable[[], Made]) -> Made:
        """What `make` gives, remembered with the last answers that took long."""
        found: Made | None = self.recall(key)
        if found is None:
            _check_patience()
            with self._slow:
                found = self.recall(key) or make()
            if len(self._answers) >= _MOST_ANSWERS:
                self._answers.clear()
            self._answers[key] = found
        return found

    def recall(self, key: Any) -> Any:
        """What is remembered under a key, or None."""
        return self._answers.get(key)
