"""A model under a condition: the same posterior among the graphs in which a statement holds, as a fitted model again.

Where the statement is one on parents, such as edges that are there or not, the families that break it get weight 0, and
everything (edges, paths, parent sets, draws, best graphs) is exact after one more pass over what is left. The
probability of the condition is the ratio of the evidences, in logs: it may be as small as it likes. A model that
averages over settings mixes what is left under each of their values, so that numerator and denominator are averaged
before they are divided; conditioning on one of the values is conditioning too.

Any other statement leaves those drawn graphs in which it holds (condition.py), after whatever part of it can
restrict the weights has done so; where a table is completed by chains, see completed_condition.py.

Time: nothing is summed before somebody asks for an answer. Then it is one pass over what is left for each way, and each
value that is averaged over, as far as these can matter.

The weights that a condition on parents leaves, in each way in which it can be true, under each value of a setting.

A statement that can be true in several ways, such as `A -- B`, adds up a posterior for each of them; they have no graph
in common (features/disjoint.py). Ways that no graph allows are left out, without a sum (ways_left.py).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dagpost._tools.checks import refusal
from dagpost._tools.mixture import Value, value_text
from dagpost.errors import InputError, NoGraphError
from dagpost.features import And, Feature
from dagpost.posterior.answers import exact_sums, in_graphs_of
from dagpost.posterior.completed_condition import CompletedCondition
from dagpost.posterior.condition import Condition, DrawnCondition
from dagpost.posterior.conditioned_sample import stated_feature
from dagpost.posterior.mixture import JoinedWorkspace, MixedWorkspace
from dagpost.posterior.ways_left import ImpossibleError, all_of, restricted_part, ways_to_restrict

if TYPE_CHECKING:
    from dagpost.posterior.fitted import Fitted
    from dagpost.posterior.workspace import SummingWorkspace, Workspace


#: In how many ways a statement may be true and still restrict weights: each is a posterior of its own.
_MOST_WAYS = 8
#: Models under conditions are looked at one after the other, and many may be kept: they share room for tables.
_SHARING = 16
#: Edges, families and paths of what a condition leaves take more than the sums alone that workspaces reckon: 1.5 s
#: were measured where these are 0.87 s (18 columns, an averaged score).
_WHOLE_PASS = 1.7
#: A part this improbable is reckoned not to need a sum.
_UNLIKELY = 1e-13
#: A share of a part that is smaller than this does not tell how much it weighs.
_SMALLEST_SHARE = 1e-290


def restrictable(base: Fitted) -> bool:
    """Whether a model with other weights is found as this one was: by sums, or by independent draws."""
    if not base.workspace.parts or base.completes:
        return False
    return exact_sums(base) is not None or (base.method.draws != "chains" and not base.method.needs_rows)


def restricted_workspace(base: Fitted, feature: Feature | None, cells: Sequence[int] | None) -> Workspace | None:
    """The weights that are left, in some cells of what is averaged over; None where they cannot say it."""
    if cells is not None and exact_sums(base) is None and base.method.modularity is not None:
        raise InputError(
            "Only a model with exact sums can be conditioned on a value of a setting that it averages over."
        )
    if not restrictable(base):
        return None
    workspace = base.workspace
    ways = [{}] if feature is None else allowed_ways(base, feature)
    if ways is None:
        return None
    chosen = range(len(workspace.parts)) if cells is None else cells
    # Where every graph counts once, what a condition takes apart is summed apart, if the method can draw from that.
    modularity = "structure" if base.modularity == "structure" and base.method.by_components else ""
    parts: list[SummingWorkspace] = []
    for allowed in ways:
        left = [restricted_part(part, allowed, modularity) for part in workspace.parts]
        if _has_graph_of_method(base, left[0]):
            parts += [left[place] for place in chosen]
    if not parts:
        raise ImpossibleError
    times = len(parts) // len(chosen)
    sharing = _SHARING * len(parts)
    if isinstance(workspace, MixedWorkspace):
        cell_of = [workspace.cell_of[place] for place in chosen] * times
        joined: JoinedWorkspace = MixedWorkspace(
            workspace.grid, parts, workspace.engine, workspace.reporter, ordinary=workspace.ordinary, cell_of=cell_of
        )
    elif len(parts) == 1:
        parts[0].sharing = sharing
        return parts[0]
    else:
        labels = [f"way {way + 1} of {times}" for way in range(times)]
        joined = JoinedWorkspace(parts, [0.0] * len(parts), labels, workspace.engine, workspace.reporter)
    for part in parts:
        part.sharing = sharing
    joined.way_of = tuple(way for way in range(times) for _ in chosen)
    joined.most = tuple(_most(base, place) for place in chosen) * times
    return joined


def _has_graph_of_method(base: Fitted, part: SummingWorkspace) -> bool:
    """Whether some graph is left of those that a method considers, where these are not all."""
    if base.method.modularity is not None:
        return True
    try:
        return math.isfinite(base.method.log_mass(part, base.names))
    except NoGraphError:
        return False


def _most(base: Fitted, place: int) -> float:
    """The log evidence of a part of a model, which that of what is left cannot exceed; infinity where not known."""
    sums = base.results.sums
    if sums is None or sums.shares[place] < _SMALLEST_SHARE:
        return math.inf
    # A little more, for rounding.
    return math.log(sums.shares[place]) + sums.log_evidence - base.workspace.log_priors[place] + 1e-6


def allowed_ways(base: Fitted, feature: Feature) -> list[dict[int, Any]] | None:
    """For each way in which a statement can be true, which parent sets of which nodes it leaves; None: too many."""
    return ways_to_restrict(feature, base.names, base.workspace.parts[0], _MOST_WAYS)


def seconds_left(left: Workspace, modularity: str) -> float:
    """Roughly how long the exact sums over what a condition leaves take."""
    parts = left.parts
    if isinstance(left, JoinedWorkspace):
        most = np.add(left.log_priors, left.most)
        # What the condition leaves is not known yet: take a part that is this improbable for one that will not matter.
        parts = tuple(part for part, own in zip(parts, most, strict=True) if own > most.max() + math.log(_UNLIKELY))
    return _WHOLE_PASS * sum(part.seconds(modularity) for part in parts)


def conditioned(
    fitted: Fitted, statements: Sequence[Any], setting: Mapping[str, Value] | Value | None = None
) -> Fitted:
    """The model in which all these statements hold, under some values of what it averages over if these are given.

    Conditions of a model that has some already are added to these.
    """
    base, features = fitted, [assumed_feature(fitted, statement) for statement in statements]
    texts, chosen = tuple(map(str, features)), named_setting(fitted, setting)
    if fitted.condition is not None:
        before = fitted.condition
        base, texts = before.base, (*before.statements, *(text for text in texts if text not in before.statements))
        features = [before.feature, *features] if before.feature is not None else features
        for name, value in before.setting.items():
            if chosen.get(name, value) != value:
                raise InputError(f"The model is conditioned on {name} {value_text(value)} already.")
        chosen = {**before.setting, **chosen}
    feature = None if not features else all_of(features)
    if feature is None and not chosen:
        return base
    try:
        found = restricted_workspace(base, feature, cells_of(base, chosen))
        if found is None:
            return _otherwise(base, texts, feature, chosen)
    except ImpossibleError:
        raise _no_graph(base, texts) from None
    exact = exact_sums(base) is not None or base.method.modularity is None
    condition = Condition(base, texts, feature, chosen, exact)
    condition.workspace = found
    return condition.left


def assumed_feature(fitted: Fitted, statement: Any) -> Feature:
    """The statement that is assumed, as the graphs of this model say it."""
    return in_graphs_of(fitted, stated_feature(statement, fitted.names, fitted.exogenous))


def named_setting(fitted: Fitted, setting: Mapping[str, Value] | Value | None) -> dict[str, Value]:
    """Values of what a model averages over, by name; a number alone is one of the only setting there is."""
    if setting is None:
        return {}
    if isinstance(setting, Mapping):
        return dict(setting)
    workspace = fitted.workspace
    axes = workspace.grid.axes if isinstance(workspace, MixedWorkspace) else ()
    if len(axes) > 1:
        raise refusal(
            setting, "setting", None, f"None or a mapping such as {{{axes[0].setting!r}: {axes[0].values[0]!r}}}"
        )
    return {axes[0].setting if axes else "setting": setting}


def cells_of(base: Fitted, setting: Mapping[str, Value]) -> tuple[int, ...] | None:
    """The cells of what a model averages over in which some settings have these values; None: all."""
    if not setting:
        return None
    workspace = base.workspace
    if base.completes:
        raise InputError(
            f"A model is conditioned on a value of a setting where sums over all graphs are exact; here "
            f"{base.unknown.done}. Fit a score with that value instead."
        )
    if not isinstance(workspace, MixedWorkspace):
        raise refusal(dict(setting), "setting", None, "None: this model averages over no setting")
    return workspace.grid.chosen(setting)


def _otherwise(base: Fitted, texts: tuple[str, ...], feature: Feature | None, setting: Mapping[str, Value]) -> Fitted:
    """The model by its drawn graphs, after weights have been restricted as far as they can be."""
    assert feature is not None
    kind = CompletedCondition if base.completes else DrawnCondition
    within, rest = _split(base, feature, setting)
    condition = kind(base, texts, feature, setting, False, within=within, rest=rest)
    condition.workspace = within.workspace
    condition.begin()
    return condition.left


def _split(base: Fitted, feature: Feature, setting: Mapping[str, Value]) -> tuple[Fitted, Feature]:
    """The model whose weights were restricted by the parts of a statement that can do so, and what is left to draws."""
    if not restrictable(base):
        return base, feature
    on_weights: list[Feature] = []
    others: list[Feature] = []
    for part in feature.parts if isinstance(feature, And) else (feature,):
        fits = allowed_ways(base, all_of([*on_weights, part])) is not None
        (on_weights if fits else others).append(part)
    if not on_weights and not setting:
        return base, feature
    return conditioned(base, on_weights, setting), all_of(others)


def _no_graph(base: Fitted, texts: Sequence[str]) -> NoGraphError:
    """The error for a condition that cannot be met; it names one statement, if that is to blame alone."""
    which = "graph" if base.method.modularity is not None else f"graph of {base.method.name!r}"
    for text in texts:
        if len(texts) > 1 and restrictable(base) and _is_impossible(base, text):
            texts = [text]
            break
    together = " together" if len(texts) > 1 else ""
    return NoGraphError(
        f"No {which} that the rules of the model allow has {' and '.join(map(repr, texts))}{together}. "
        "Take a condition back, or fit a model with other rules."
    )


def _is_impossible(base: Fitted, text: str) -> bool:
    """Whether the rules rule out one statement alone, as far as weights tell."""
    try:
        allowed_ways(base, assumed_feature(base, text))
    except ImpossibleError:
        return True
    except InputError:
        # A function of Python is not read again from its name.
        return False
    return False
