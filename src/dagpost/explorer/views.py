"""What the posterior says under the conditions of a state: the numbers behind the whole picture."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dagpost.explorer.session import Session
from dagpost.explorer.state import State
from dagpost.posterior.answers import exact_matrix
from dagpost.posterior.directions import quick_directions
from dagpost.posterior.estimate import Estimate


def view(session: Session, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Everything that is drawn under the conditions of a state."""
    state = State.of(asked)
    fitted = session.under(state)
    found, paths = quick_directions(fitted), exact_matrix("~>", fitted)
    return {
        "given": list(state.given),
        "setting": state.setting,
        "chance": None if fitted.condition is None else chance_of(fitted.condition.probability),
        "source": "exact" if fitted.results.exact else "draws",
        "final": True,
        "seconds": None,
        "graphs": None,
        "few": False,
        "edges": np.clip(fitted.results.edges, 0.0, 1.0).tolist(),
        "paths": None if paths is None else paths.tolist(),
        "by_data": found.by_data.tolist() if found.computed else None,
        "by_rules": found.by_rules.tolist() if found.computed else None,
        "by_model": found.by_model.tolist() if found.computed else None,
        "settled": np.argwhere(found.settled).tolist(),
        "fixed": np.argwhere(found.fixed).tolist(),
        "notes": [],
    }


def chance_of(estimate: Estimate) -> dict[str, Any]:
    """A probability as the page reads it."""
    exact = estimate.lower == estimate.upper
    return {"value": float(estimate), "lower": estimate.lower, "upper": estimate.upper, "exact": exact,
            "said": str(estimate)}  # fmt: skip
