"""What kinds of models disagree about: how probably two columns are joined under each of those that are averaged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost._tools.mixture import value_text
from dagpost._tools.text import printable
from dagpost.posterior.mixture import MixedWorkspace

if TYPE_CHECKING:
    import pandas as pd

    from dagpost.posterior.fitted import Fitted

#: Kinds that are never further apart than this are said to agree.
_CLOSE = 0.1


def joined_under(fitted: Fitted) -> Mapping[str, Floats]:
    """For each kind of model, how probably every pair is joined; nothing where one kind was fitted, or is given."""
    edges, workspace = fitted.results.edges_by_kind, fitted.workspace
    if edges is None or not isinstance(workspace, MixedWorkspace):
        return {}
    labels = map(value_text, workspace.grid.axes[0].values)
    found = {label: np.clip(own + own.T, 0.0, 1.0) for label, own in zip(labels, edges, strict=True)}
    left = {label: own for label, own in found.items() if not np.isnan(own).any()}
    return left if len(left) > 1 else {}


def table_by_kind(fitted: Fitted) -> pd.DataFrame:
    """Every pair with the probability to be joined under each kind of model; first what they differ most about."""
    import pandas as pd

    kinds = joined_under(fitted)
    if not kinds:
        raise AttributeError("There is no joined_by_kind_ here: it takes exact sums under several kinds of models.")
    modelled = np.array([name not in fitted.exogenous for name in fitted.names])
    first, second = np.nonzero(np.triu(modelled[:, None] | modelled, 1))
    names = np.array(fitted.names, dtype=object)
    own = {label: joined[first, second] for label, joined in kinds.items()}
    apart = np.ptp(list(own.values()), axis=0)
    frame = pd.DataFrame({"from": names[first], "to": names[second], **own, "apart": apart})
    return frame.sort_values("apart", ascending=False, kind="stable", ignore_index=True)


def disagreement(fitted: Fitted) -> str:
    """The pair that kinds of models differ most about, in a sentence; nothing where there is one kind."""
    kinds = list(joined_under(fitted))
    pairs = table_by_kind(fitted) if kinds and len(fitted.names) > 1 else ()
    if not len(pairs):
        return ""
    most = pairs.iloc[0]  # type: ignore[union-attr]
    if most["apart"] < _CLOSE:
        return f"The kinds of models agree: no two differ by more than {most['apart']:.2f} about any pair."
    high, low = (pick(kinds, key=lambda label: most[label]) for pick in (max, min))
    return (
        f"The kinds of models differ most about {printable(most['from'])} - {printable(most['to'])}: joined with "
        f"{most[high]:.2f} under {high}, {most[low]:.2f} under {low}."
    )
