"""How conclusions hang on choices: edge and path probabilities of several posteriors of the same variables.

Score, equivalent sample size, prior and max_parents are choices; an edge whose probability moves much between models
that all make sense is not a finding. Costs no more than the path probabilities of each model or sample
(`probability_matrix`), which are exact or sampled as that one says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost._tools.text import printable, shown
from dagpost.errors import InputError
from dagpost.posterior.sample import DagSample
from dagpost.posterior.sources import edge_table_of, is_model
from dagpost.posterior.summaries.display import html_of

if TYPE_CHECKING:
    import pandas as pd

    from dagpost.posterior.sources import GraphSource

_OTHER_COLUMNS = ("from", "to", "relation", "spread")


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Probabilities under several models; `table` has one row an edge or path, those that move most first.

    Its columns are `from`, `to`, `relation` ("->" or "~>"), one for each model, and `spread`, the largest minus the
    smallest of them.
    """

    table: pd.DataFrame
    models: tuple[str, ...]

    def __repr__(self) -> str:
        if self.table.empty:
            return f"{len(self.models)} models of one variable: there is nothing to compare"
        row = self.table.iloc[0]
        return (
            f"{len(self.models)} models; what moves most is {printable(row['from'])} {row['relation']} "
            f"{printable(row['to'])}: "
            f"{row[list(self.models)].min():.3f} to {row[list(self.models)].max():.3f}"
        )

    def _repr_html_(self) -> str:
        return html_of(repr(self), self.table.round(4))


def compare(models: Mapping[str, GraphSource]) -> Comparison:
    """How the probabilities of edges and directed paths move from model to model.

    `models` are fitted models or samples of the same variables, by the names they are to have in the table.

    >>> from dagpost import DagPosterior, datasets
    >>> table = datasets.load("coronary")
    >>> compare({score: DagPosterior(score=score).fit(table) for score in ("bdeu", "bic")})
    2 models; what moves most is Smoking -> Pressure: 0.225 to 0.418
    """
    import pandas as pd

    labels = _check_models(models)
    names = _names(models[labels[0]])
    off_diagonal = ~np.eye(len(names), dtype=bool)
    sources, targets = np.nonzero(off_diagonal)
    parts = []
    for relation in ("->", "~>"):
        columns: dict[str, Any] = {
            "from": [names[source] for source in sources],
            "to": [names[target] for target in targets],
            "relation": relation,
        }
        values = np.stack([_matrix(models[label], relation, names)[off_diagonal] for label in labels])
        columns |= dict(zip(labels, values, strict=True))
        parts.append(pd.DataFrame({**columns, "spread": values.max(axis=0) - values.min(axis=0)}))
    table = pd.concat(parts).sort_values("spread", ascending=False, kind="stable", ignore_index=True)
    return Comparison(table, labels)


def _check_models(models: object) -> tuple[str, ...]:
    if not isinstance(models, Mapping) or len(models) < 2:
        raise InputError(
            "Give at least two fitted models or samples, by name: compare({'bdeu': first, 'bic': second}). "
            f"Got {type(models).__name__} instead."
            if not isinstance(models, Mapping)
            else f"A comparison needs at least two models. Got {len(models)}."
        )
    for label, model in models.items():
        if not isinstance(label, str) or label in _OTHER_COLUMNS:
            raise InputError(
                f"A model's name must be text other than {', '.join(map(repr, _OTHER_COLUMNS))}. "
                f"Got {shown(label)} instead."
            )
        if is_model(model) and not hasattr(model, "fitted_"):
            raise InputError(f"The model {label!r} has no data yet. Call fit(table) first.")
        if not isinstance(model, DagSample) and not is_model(model):
            raise InputError(
                f"Only fitted models and samples can be compared. Got {type(model).__name__} under {label!r} instead."
            )
    labels = tuple(models)
    first = set(_names(models[labels[0]]))
    for label in labels[1:]:
        odd = sorted(first ^ set(_names(models[label])))
        if odd:
            raise InputError(
                f"Only models of the same variables can be compared: {odd[0]!r} is in one of {labels[0]!r} and "
                f"{label!r}, but not in the other."
            )
    return labels


def _names(source: GraphSource) -> tuple[str, ...]:
    return source.names if isinstance(source, DagSample) else source.names_


def _matrix(source: GraphSource, relation: str, names: tuple[str, ...]) -> Floats:
    frame = edge_table_of(source) if relation == "->" else source.probability_matrix(relation)
    matrix: Floats = frame.loc[list(names), list(names)].to_numpy(dtype=np.float64)
    return matrix
