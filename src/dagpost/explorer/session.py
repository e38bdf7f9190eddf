"""One model that is explored, and the models under the conditions that were looked at last."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path

from dagpost.explorer.state import State
from dagpost.posterior.condition import conditioned
from dagpost.posterior.fitted import Fitted

#: Undo and redo find what was computed; more would only take memory.
_KEPT = 16


class Session:
    """A model, and what was found under the conditions asked for last."""

    def __init__(self, fitted: Fitted, title: str, path: Path | None = None) -> None:
        self.fitted, self.title, self.path = fitted, title, path
        self._kept: OrderedDict[State, Fitted] = OrderedDict()

    def under(self, state: State) -> Fitted:
        """The model under the conditions of a state."""
        if state in self._kept:
            self._kept.move_to_end(state)
        else:
            self._kept[state] = conditioned(self.fitted, state.given, state.setting)
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return self._kept[state]
