"""What a summary or an export is made from: a fitted model, a sample, or a table of probabilities, told apart here.

A model stands for the sample that its own answers come from, and for the probabilities of its edges, exact where it has
them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from dagpost.errors import InputError
from dagpost.posterior.sample import DagSample

if TYPE_CHECKING:
    import pandas as pd

    from dagpost.model import DagPosterior

    #: What has graphs, and what has probabilities of edges.
    GraphSource: TypeAlias = DagPosterior | DagSample
    EdgeSource: TypeAlias = DagPosterior | DagSample | pd.DataFrame


def sample_of(source: GraphSource) -> DagSample:
    """A sample as it is; of a fitted model its own one, which is drawn if nobody has asked for it yet."""
    if isinstance(source, DagSample):
        return source
    if is_model(source):
        return source.own_sample()
    raise InputError(f"Graphs come from a fitted DagPosterior or a DagSample. Got {_kind(source)} instead.")


def edge_table_of(source: EdgeSource) -> pd.DataFrame:
    """Probabilities of edges, parents in the rows: of a model, of a sample, or as they are given."""
    import pandas as pd

    if isinstance(source, pd.DataFrame):
        return source
    if isinstance(source, DagSample):
        return source.edge_frequencies()
    if is_model(source):
        if not hasattr(source, "fitted_"):
            # Which says that the model was not fitted.
            source.own_sample()
        return source.edge_probabilities_
    raise InputError(
        "Probabilities of edges come from a fitted DagPosterior, a DagSample, or a DataFrame with parents in the rows "
        f"and children in the columns, such as model.edge_probabilities_. Got {_kind(source)} instead."
    )


def is_model(source: Any) -> bool:
    """Whether this is a model, fitted or not."""
    return not isinstance(source, type) and callable(getattr(source, "own_sample", None))


def _kind(source: object) -> str:
    return f"the class {source.__name__}" if isinstance(source, type) else type(source).__name__
