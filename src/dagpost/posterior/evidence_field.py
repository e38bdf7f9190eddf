"""The evidence of a sample: a number that may be computed only when somebody asks for it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dagpost.posterior.sample import DagSample


class Evidence:
    """The field `log_evidence`: a number, or a function that is called when the number is first needed."""

    def __get__(self, sample: DagSample | None, kind: type) -> float:
        if sample is None:
            return math.nan
        value = sample.__dict__["log_evidence"]
        if callable(value):
            value = sample.__dict__["log_evidence"] = float(value())
        return float(value)

    def __set__(self, sample: DagSample, value: float | Callable[[], float]) -> None:
        sample.__dict__["log_evidence"] = value
