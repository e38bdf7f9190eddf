"""`DagPosterior.score`: the setting by that name, and what scikit-learn means by it, a model's score on new rows.

Both names are fixed, one by the words of this field (`score="bdeu"`), the other by scikit-learn, whose cross-validation
calls `model.score(X)`. So the attribute is the setting, compares and shows itself as the setting, and can be called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from dagpost.model import DagPosterior


class BoundScore:
    """The score setting of a model, which can be called on new rows."""

    def __init__(self, setting: Any, model: DagPosterior) -> None:
        self.setting = setting
        self._model = model

    def __call__(self, X: Any, y: object = None) -> float:  # noqa: ARG002
        """Mean log p(row | data) of new rows: the larger, the better the model predicts them."""
        return float(np.mean(self._model.score_samples(X)))

    def __eq__(self, other: object) -> bool:
        return bool(self.setting == (other.setting if isinstance(other, BoundScore) else other))

    def __hash__(self) -> int:
        return hash(self.setting)

    def __repr__(self) -> str:
        return repr(self.setting)

    def __str__(self) -> str:
        return str(self.setting)


class ScoreSetting:
    """The attribute itself: set to a score, got as a `BoundScore`."""

    def __get__(self, model: DagPosterior | None, kind: type) -> Any:
        if model is None:
            return self
        try:
            return BoundScore(model.__dict__["score"], model)
        except KeyError:
            raise AttributeError("This DagPosterior has no score setting.") from None

    def __set__(self, model: DagPosterior, setting: Any) -> None:
        model.__dict__["score"] = setting.setting if isinstance(setting, BoundScore) else setting
