"""How probable is every edge before the data? What the prior, the rules and the limits say together, without a table.

A prior gives weights to parent sets; that no graph has a cycle, that rules leave some edges out and that parents are
limited moves the probabilities that these weights amount to. The same sums as those of a posterior give them exactly,
with the weight of the prior alone in the place of the scores.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from dagpost._tools.arrays import labelled
from dagpost._tools.checks import different_texts, refusal
from dagpost._tools.progress import reporter_for
from dagpost._tools.spelling import bare
from dagpost.errors import ResourceError, collected_warnings
from dagpost.exact.components import Components
from dagpost.families.numbering import family_count
from dagpost.methods.choice import resolve_method
from dagpost.posterior.prior_weights import Before
from dagpost.posterior.sources import is_model
from dagpost.posterior.study import checked_method, rules_of, settled_engine, study_of_table, table_of
from dagpost.posterior.weighing import families_of, goes_by_components, prior_left_to_us
from dagpost.priors import resolve_prior
from dagpost.priors.resolve import is_automatic

if TYPE_CHECKING:
    import pandas as pd

    from dagpost.engines import Engine

#: Columns among which cycles can close, and families in all, that are summed over: seconds to minutes.
_MOST_TOGETHER, _MOST_FAMILIES = 24, 50_000_000


def prior_edges(model: Any, data: Any) -> pd.DataFrame:
    """The probability of every edge before the data, under all settings of a model: rows are parents, columns children.

    `data` is a table as `fit` takes it, of which the columns count and no cell does, or a list of names. Exact sums
    over all graphs: for about 24 columns at most, unless rules keep the groups small in which cycles can close.

    >>> from dagpost import DagPosterior, EdgePrior
    >>> model = DagPosterior(prior=EdgePrior({"smoking -> pressure": 0.6, "bmi -- pressure": 0.8}, otherwise=0.1))
    >>> prior_edges(model, ["smoking", "bmi", "pressure"]).round(3).to_numpy().tolist()
    [[0.0, 0.101, 0.591], [0.078, 0.0, 0.409], [0.044, 0.386, 0.0]]
    """
    if not is_model(model):
        raise refusal(model, "model", "prior_edges", "a DagPosterior, fitted or not")
    # Whichever method: the sums are over all graphs. But which prior is left to us depends on it.
    asked = SimpleNamespace(**{**model.get_params(deep=False), "method": "auto"})
    before, engine = _question(asked, data)
    if is_automatic(model.prior):
        before = before._replace(prior=prior_left_to_us(before, resolve_method(model.method), model.modularity))
    names, by_components = before.names, goes_by_components(None, asked.modularity)
    lists = before.constraints.parent_lists(names, before.limit)
    if by_components:
        _refuse_many(max(Components.of_edges(lists.matrix).sizes, default=0), families_of(lists), len(names))
    else:
        _refuse_many(len(names), len(names) * family_count(len(names) - 1, lists.max_parents), len(names))
    edges = before.edges(asked.modularity, engine, reporter_for(asked.progress), by_components=by_components)
    return labelled(edges, names, "parent", "child")


def _refuse_many(together: int, families: int, columns: int) -> None:
    if together > _MOST_TOGETHER or families > _MOST_FAMILIES:
        raise ResourceError(
            f"The probabilities of edges before the data are sums over all graphs, and those of {columns} columns take "
            f"too long or too much memory. Leave columns out, lower {bare('max_parents')}, or give tiers."
        )


def _question(model: Any, data: Any) -> tuple[Before, Engine]:
    """What a model says before the data, and where sums over it run."""
    method = checked_method(model)
    if isinstance(data, list | tuple) and all(isinstance(name, str) for name in data):
        names, rules = different_texts(data, "names", "prior_edges"), rules_of(model)
        _, barred = rules.matrices(names, int(model.max_parents))
        before = Before(names, resolve_prior(model.prior).settled(names, barred), rules, int(model.max_parents))
        return before, settled_engine(model, None, rules, names, before.limit)
    with collected_warnings():  # they come with the fit
        study = study_of_table(model, method, table_of(model, data, None, None))
    before = Before.of_study(study)
    return before, settled_engine(model, method, before.constraints, before.names, before.max_parents)
