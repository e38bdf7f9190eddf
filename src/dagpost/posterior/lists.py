"""What a fitted model lists without being asked a question: parent sets and matrices, with labels.

What kinds of models disagree about: how probably two columns are joined under each of those that are averaged.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dagpost._tools.arrays import Flags, Floats, Masks, labelled
from dagpost._tools.checks import refusal
from dagpost._tools.mixture import value_text
from dagpost._tools.setting_text import given_columns
from dagpost._tools.spelling import either, setting
from dagpost._tools.text import printable
from dagpost.errors import InputError
from dagpost.families.numbering import MAX_NODES
from dagpost.features import evaluate
from dagpost.posterior import time_edges
from dagpost.posterior.augmented_workspace import AugmentedWorkspace
from dagpost.posterior.mixture import MixedWorkspace
from dagpost.posterior.probabilities import families_listed, known_paths
from dagpost.posterior.wide_workspace import WideWorkspace
from dagpost.scores import class_of

if TYPE_CHECKING:
    import pandas as pd

    from dagpost.posterior.fitted import Fitted
    from dagpost.posterior.regime_effects import RegimeEffects
    from dagpost.posterior.summaries.given import GivenGraph


def edge_table(fitted: Fitted) -> pd.DataFrame:
    """The probability of every edge: rows are parents, columns children."""
    return labelled(np.clip(fitted.results.edges, 0.0, 1.0), fitted.names, "parent", "child")


def error_table(fitted: Fitted) -> pd.DataFrame:
    """The Monte Carlo standard error of every edge probability, where these are averages over completed tables."""
    errors = fitted.results.edge_errors
    if errors is None:
        raise AttributeError("edge_errors_ are those of averages over completed tables; here nothing was completed.")
    return labelled(errors, fitted.names, "parent", "child")


def regime_effects(fitted: Fitted) -> RegimeEffects:
    """What the regimes of a model changed."""
    from dagpost.posterior.regime_effects import regime_effects_of

    return regime_effects_of(fitted)


def lagged_edges(fitted: Fitted) -> pd.DataFrame:
    """The edges of a model with time, folded back to its series."""
    apart = bool(fitted.settings.get("apart"))
    return time_edges.lagged_edges(fitted.names, fitted.results.edges, contemporaneous=not apart)


def asked_pairs(fitted: Fitted) -> Flags:
    """The pairs that there are: all but those of two exogenous columns; the first before the second."""
    modelled = np.array([name not in fitted.exogenous for name in fitted.names])
    asked: Flags = np.triu(modelled[:, None] | modelled, 1)
    return asked


def in_one_line(fitted: Fitted) -> str:
    """What was fitted and what was found, from what is known already: nothing is computed for it."""
    from dagpost.posterior.pair_direction import FOUND

    data, results, target = fitted.data, fitted.recall("results"), fitted.target
    size = f"{len(data.names)} variable{'' if len(data.names) == 1 else 's'}"
    if fitted.condition is not None:
        chance = fitted.condition.known_probability
        # What is impossible is refused: 0 is less than a number can hold.
        vanishing = chance is not None and chance == 0.0 and chance.rule == "exact"
        said = "" if chance is None else "less than 1e-300" if vanishing else f"{chance:.4g}"
        known = said and f" (probability {said})"
        size = f"given {fitted.condition.words}{known}: {size}"
    if fitted.exogenous:
        size += f", {given_columns(fitted.exogenous)}"
    if data.observations is not None:
        size += f", {data.observations:,} observation{'' if data.observations == 1 else 's'}"
    if fitted.completes:
        unknown = fitted.unknown
        size += f", {unknown.brief} {'drawn' if unknown.latent else 'completed'}"
    if results is None:
        return f"{size}; {fitted.method.name} ({target.words}); edges are not computed yet"
    how = "exact" if results.exact else f"estimated by {fitted.method.name}"
    if results.tables:
        how = f"averaged over {results.tables:,} {class_of(fitted.score).tables}"
    joined = (results.edges + results.edges.T)[asked_pairs(fitted)]
    half = f"with probability ≥ {FOUND:g}" if target.posterior else "in at least half of the replicates"
    pairs = f"{int((joined >= FOUND).sum())} of {len(joined)} pair{'' if len(joined) == 1 else 's'} joined {half}"
    return f"{size}; {how} ({target.words}); {pairs}"


def relation_table(fitted: Fitted, relation: str) -> pd.DataFrame:
    """Probability of `x relation y` for all pairs, x in the rows: exact where it can be, else from a sample."""
    if not isinstance(relation, str):
        raise refusal(relation, "relation", None, "an arrow such as '->' or '~>'")
    if relation in ("->", "--"):
        edges = np.clip(fitted.results.edges, 0.0, 1.0)
        return labelled(edges if relation == "->" else edges + edges.T, fitted.names)
    known = known_paths(fitted) if relation == "~>" else None
    if known is not None and not np.isnan(known).any():
        return labelled(known, fitted.names)
    table = fitted.own_sample().probability_matrix(relation)
    # Within a component paths are exact: only those that lead from one to another are counted in the sample.
    return table if known is None else table.where(np.isnan(known), labelled(known, fitted.names))


def family_table(fitted: Fitted, child: str, count: int | None) -> pd.Series[float]:
    """The most probable parent sets of a variable, indexed by frozensets of names."""
    import pandas as pd

    found = families_listed(fitted, child, count)
    if found is None and fitted.condition is not None and fitted.condition.drawn:
        raise InputError(
            f"The probabilities of whole parent sets are not computed given {fitted.condition.words}, which only drawn "
            "graphs can tell. Ask for single ones, probability('pa(A) = {B, C}')."
        )
    if found is None:
        by_order = f", for more than some 20 variables with {setting('modularity', 'order')}"
        other = f", or use {setting('method', 'auto')}{by_order}" if len(fitted.names) <= MAX_NODES else ""
        raise InputError(
            f"The probabilities of whole parent sets are not computed here (method {fitted.method.name!r}, "
            f"{len(fitted.names)} variables). Ask for single ones, probability('pa(A) = {{B, C}}'){other}."
        )
    sets = [frozenset(fitted.names[parent] for parent in parents) for parents, _ in found]
    index = pd.Index(np.fromiter(sets, dtype=object, count=len(sets)), name="parents")
    return pd.Series([probability for _, probability in found], index=index, name=f"P(parents of {child})")


def mixture_table(fitted: Fitted) -> pd.Series[float]:
    """The posterior probability of each value of what the model averages over, or of each combination of two.

    Where kinds of models have fixed weights, these are in it: then it is no probability, and not called one.
    """
    import pandas as pd

    found = mixture_facts(fitted)
    if found is None:
        raise AttributeError("This model averages over no setting: mixture_weights_ is for those that do.")
    names, values = ([axis[key] for axis in found["settings"]] for key in ("setting", "values"))
    index = pd.MultiIndex.from_product(values, names=names) if len(names) > 1 else pd.Index(values[0], name=names[0])
    return pd.Series(found["shares"], index=index, name="weight" if "fixed" in found["settings"][0] else "probability")


def mixture_facts(fitted: Fitted) -> dict[str, Any] | None:
    """What the model averages over and how probable each value is, as JSON can hold it; None if there is nothing.

    `shares` are those of all combinations, the last setting changing fastest.
    """
    workspace = fitted.workspace
    grid = workspace.grid if isinstance(workspace, MixedWorkspace | AugmentedWorkspace) else None
    if grid is None:
        return None
    shares = np.array(fitted.results.shares)
    settings = [
        {
            "setting": axis.setting,
            "values": list(axis.values),
            "shares": grid.along(place, shares).tolist(),
            **({"fixed": True} if axis.fixed else {}),
        }
        for place, axis in enumerate(grid.axes)
    ]
    said = disagreement(fitted)
    return {"settings": settings, "shares": shares.tolist(), **({"disagreement": said} if said else {})}


def parents_considered(fitted: Fitted) -> pd.DataFrame:
    """For each variable, how many parents and sets chains over graphs consider, and what the other sets may hold."""
    if fitted.completes:
        raise InputError(
            f"Which parent sets matter hangs on the {class_of(fitted.score).drawn}, and here "
            f"{fitted.unknown.done} anew in every sweep. {_one_table(fitted)}"
        )
    if isinstance(fitted.workspace, MixedWorkspace):
        raise InputError(
            f"Chains over graphs consider the parent sets of one value of {fitted.workspace.grid.words}, and this "
            "model averages over several. Fit one with a single value."
        )
    return fitted.workspace.considered.table(fitted.names)


def set_text(members: frozenset[str], names: tuple[str, ...]) -> str:
    """A parent set as readable text, in the order of the columns."""
    return ", ".join(name for name in names if name in members) or "{}"


def log_joint(fitted: Fitted, graph: GivenGraph) -> float:
    """Log p(graph, data) of one graph."""
    from dagpost.posterior.summaries.given import masks_of_graph

    masks = masks_of_graph(graph, fitted.names, fitted.workspace.max_parents)
    if isinstance(fitted.workspace, WideWorkspace):
        _require_considered(fitted.workspace, masks, fitted.names)
    feature = None if fitted.condition is None else fitted.condition.feature
    # Where graphs of a sample were picked, the weights know nothing of the condition.
    if feature is not None and not evaluate([feature], masks[None, :], fitted.names)[0][0]:
        return -math.inf
    return float(fitted.workspace.log_joint(masks[None, :])[0])


def log_evidence(fitted: Fitted) -> float:
    """Log evidence of the data; nan where it is not known, or kinds of models are averaged; not there with gaps."""
    if fitted.completes:
        without = "" if fitted.unknown.ranked else ", or fit them with missing='drop'"
        raise AttributeError(
            f"There is no log_evidence_ here: {fitted.unknown.done}. The evidence of what was observed is "
            "a sum over all ways to do so, and a mean over some of them is not that sum. To compare models, see "
            f"score_samples(rows) on rows that were kept apart{without}."
        )
    return fitted.log_evidence


def _one_table(fitted: Fitted) -> str:
    """How to ask the same of one completed table."""
    if fitted.unknown.latent:
        return "A model of numbers alone, without gaps, has parent sets that stay."
    return f"Fit one completed table, as {either('completed(1)', 'dagpost complete')} gives it, and ask that."


def _require_considered(workspace: WideWorkspace, masks: Masks, names: Sequence[str]) -> None:
    """Refuse a graph whose weight is not known, rather than call it impossible."""
    left_out = workspace.not_considered(masks)
    if left_out:
        raise InputError(
            f"The parents of {names[left_out[0]]!r} in this graph are not among the parent sets that were considered "
            f"({workspace.considered_words}), so that its weight is not known. With fewer columns all sets are."
        )


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
    first, second = np.nonzero(asked_pairs(fitted))
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
