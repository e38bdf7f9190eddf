"""From a table to the weights of its families: their scores, and what was believed before.

Where rules keep cycles inside parts of the table and a method can use that, just the families that the rules allow are
scored. Otherwise all families are, where a method needs them or they are few enough for chains, or else those among
candidate parents. A score that averages over one of its settings is scored with each value, one after the other; a
prior that averages over densities tilts the weights at even odds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dagpost._tools.json_settings import to_json
from dagpost._tools.mixture import Grid, Mixture, grid_of
from dagpost._tools.progress import Reporter
from dagpost._tools.schema import truth
from dagpost.checkpoints import NO_CHECKPOINT, Checkpoint, CheckpointPart, Tracking
from dagpost.engines import Engine
from dagpost.exact.components import Components
from dagpost.families.numbering import MAX_NODES, family_count
from dagpost.mcmc.considered import considered_among_candidates, weights_among_candidates
from dagpost.methods.base import Decided, Method
from dagpost.methods.choice import check_averaging, check_sums, scores_candidates_only
from dagpost.posterior.component_workspace import ComponentWorkspace
from dagpost.posterior.exact_workspace import ExactWorkspace
from dagpost.posterior.mixture import MixedWorkspace
from dagpost.posterior.prior_weights import Before
from dagpost.posterior.results import engine_for_parts
from dagpost.posterior.splitting import (
    advising,
    are_affordable,
    components_of,
    hint_for,
    require_components,
    sums_many_by_components,
)
from dagpost.posterior.wide_workspace import WideWorkspace
from dagpost.posterior.workspace import Workspace
from dagpost.priors import log_prior
from dagpost.priors.edge import log_odds
from dagpost.priors.log_prior import log_prior_of_lists
from dagpost.priors.study import Study
from dagpost.scores import local_scores
from dagpost.scores.allowed_scores import groups_of, score_allowed
from dagpost.scores.automatic import Work
from dagpost.scores.scoring_time import regressions_among, regressions_of_group

if TYPE_CHECKING:
    from dagpost.families.parent_lists import ParentLists
    from dagpost.posterior.workspace import SummingWorkspace
    from dagpost.priors.base import StructurePrior
    from dagpost.priors.constraints import Constraints


#: Densities are averaged over unasked where cycles can close among at most so many columns, and the weights of all
#: families under all of them take half a gigabyte at most. Not a time: answers must not depend on the machine.
MOST_AVERAGED, _MOST_WEIGHTS = 20, 2**26


def weigh_families(decided: Decided, reporter: Reporter, *, checkpoint: Checkpoint = NO_CHECKPOINT) -> Workspace:
    """Score the families that a method needs and add the prior."""
    method, _, study, engine = decided
    table, max_parents = study.table, study.max_parents
    divided = checkpoint.decided("whether to sum by components", lambda: division_of(decided) is not None, truth)
    if divided:
        return _mixed_over(decided, weigh_allowed, reporter, checkpoint=checkpoint)
    with advising(decided):
        check_averaging(axes_of(study), method, len(table.names), max_parents, engine)
        candidates_only = checkpoint.decided(
            "whether to score candidates only",
            lambda: scores_candidates_only(method, len(table.names), max_parents, engine),
            truth,
        )
    workspace: Workspace
    if candidates_only and not axes_of(study):
        tracking: Tracking = {"reporter": reporter, "checkpoint": _lasting(study, checkpoint)}
        if len(table.names) > MAX_NODES:
            considered = considered_among_candidates(study, engine=engine, **tracking)
            workspace = WideWorkspace(considered, min(max_parents, len(table.names) - 1), engine, reporter)
        else:
            workspace = Workspace(weights_among_candidates(study, engine=engine, **tracking), engine, reporter)
    else:
        workspace = _mixed_over(decided, _weigh_all, reporter, checkpoint=checkpoint)
    if method is None:
        workspace.splitting_hint = hint_for(decided)
    return workspace


def division_of(decided: Decided) -> Components | None:
    """The components that the rules leave, where sums are to be taken over each by itself; None: the whole table."""
    method, modularity, study, engine = decided
    names = study.table.names
    if not goes_by_components(method, modularity) and len(names) <= MAX_NODES:
        return None
    components = components_of(study)
    if len(names) > MAX_NODES:
        by_components = sums_many_by_components(components, decided)
        return components if by_components else None
    if len(components.parts) == 1 or (method is None and not are_affordable(components, study, engine)):
        return None
    if method is not None:
        require_components(components, decided)
    return components


def goes_by_components(method: Method | None, modularity: str) -> bool:
    """Whether a method can sum over each component by itself: every graph must count once."""
    return modularity == "structure" and (method is None or method.by_components)


def work_of(
    method: Method | None, modularity: str, constraints: Constraints, names: tuple[str, ...], max_parents: int
) -> Work:
    """The work of a fit, from the rules alone; a method that cannot go by components has one group, all columns."""
    nodes, limit = len(names), min(max_parents, max(len(names) - 1, 0))
    times = 1 if method is None else method.times_scored()
    if goes_by_components(method, modularity):
        lists = constraints.parent_lists(names, max_parents)
        components = Components.of_edges(lists.matrix)
        if len(components.parts) > 1:
            modelled = np.array([name not in constraints.exogenous for name in names])
            groups = groups_of(lists, modelled)
            regressions = sum(regressions_of_group(group, lists.max_parents) for group in groups)
            return Work(tuple(components.sizes), families_of(lists), times * regressions)
    return Work((nodes,), nodes * family_count(nodes - 1, limit), times * regressions_among(nodes, limit))


def families_of(lists: ParentLists) -> int:
    """How many families all nodes have together, however many that are."""
    return sum(family_count(len(own), lists.max_parents) for own in lists.candidates)


def _mixed_over(
    decided: Decided, weigh: Callable[..., SummingWorkspace], reporter: Reporter, *, checkpoint: Checkpoint
) -> Workspace:
    """The weights under a score and a prior, or under every combination of the values that these average over."""
    method, modularity, study, engine = decided
    axes = axes_of(study)
    if not axes:
        return weigh(study, engine, reporter, checkpoint=checkpoint)
    sizes, densities = study.score.mixture(), study.prior.mixture(len(study.table.names))
    if sizes is None:
        parts = [weigh(study, engine, reporter, checkpoint=checkpoint)]
    else:
        # Scores may read one table in different ways.
        studies = [study._replace(score=own, table=own.modelled(study.table)) for own in sizes.choices]
        parts = [
            weigh(own, engine, reporter.part(label), checkpoint=CheckpointPart(checkpoint, label))
            for label, own in zip(sizes.labels, studies, strict=True)
        ]
    if densities is None:
        mixed = MixedWorkspace(grid_of(axes), parts, engine, reporter, ordinary=len(study.table.names))
    else:
        mixed = over_densities(method, modularity, Before.of_study(study), sizes, parts, engine, reporter)
    if mixed.grid.fixed:
        _fix_weights(mixed, decided, checkpoint)
    return mixed


def _fix_weights(workspace: MixedWorkspace, decided: Decided, checkpoint: Checkpoint) -> None:
    """Give kinds of models the weights that they are to have: what all graphs of each weigh must be known for that."""
    method, modularity, study, _ = decided
    own_target = method is not None and method.modularity is None
    check_sums(workspace.grid.axes, method, modularity, workspace)

    def look(place: int, _: object) -> float:
        part = workspace.parts[place]
        if own_target:
            assert method is not None
            return method.log_mass(part, study.table.names)
        return part.log_evidence(modularity)

    with workspace.checkpointed(checkpoint):
        engine = engine_for_parts(modularity, workspace)
        masses = list(engine.run(look, range(len(workspace.parts))))
    # Everything then holds as it stands: the share of a kind in the mixture is what it is to be.
    workspace.grid = workspace.grid.with_fixed_weights(masses)


def over_densities(
    method: Method | None,
    modularity: str,
    before: Before,
    sizes: Mixture[Any] | None,
    evenly: Sequence[SummingWorkspace],
    engine: Engine,
    reporter: Reporter,
) -> MixedWorkspace:
    """The weights at every density that a prior averages over, from those at even odds, under each value of a score."""
    by_components, densities = isinstance(evenly[0], ComponentWorkspace), before.mixture
    assert densities is not None
    constants = before.log_constants(method, modularity, engine, by_components=by_components)
    grid = grid_of([densities] if sizes is None else [sizes, densities], constants)
    return tilted_over(grid, evenly, engine, reporter, ordinary=before.ordinary)


def axes_of(study: Study) -> tuple[Mixture[Any], ...]:
    """The settings that a score and a prior average over."""
    found = study.score.mixture(), study.prior.mixture(len(study.table.names))
    return tuple(axis for axis in found if axis is not None)


def prior_left_to_us(
    before: Before, method: Method | None, modularity: str, sizes: int = 1, *, may_average: bool = True
) -> StructurePrior:
    """The prior where the choice is left to us: averaged where exact evidences are a matter of seconds, or one density.

    `sizes` is over how many values of its own the score averages.
    """
    work = work_of(method, modularity, before.constraints, before.names, before.max_parents)
    values = 0 if before.mixture is None else len(before.mixture.values)
    able = may_average and (method is None or method.mixes)
    if able and max(work.groups) <= MOST_AVERAGED and sizes * values * work.families <= _MOST_WEIGHTS:
        return before.prior
    return before.prior.without_average(len(before.names))


def tilted_over(
    grid: Grid, evenly: Sequence[SummingWorkspace], engine: Engine, reporter: Reporter, *, ordinary: int
) -> MixedWorkspace:
    """Every cell of a grid whose last setting is the density of edges, from the weights at even odds."""
    parts = [part.tilted(log_odds(own), ordinary) for part in evenly for own in grid.axes[-1].numbers]
    return MixedWorkspace(grid, parts, engine, reporter, ordinary=ordinary, evenly=evenly)


def weigh_allowed(
    study: Study, engine: Engine, reporter: Reporter, *, checkpoint: Checkpoint = NO_CHECKPOINT
) -> ComponentWorkspace:
    """Score the families that the rules allow and add the prior."""
    table, score, prior, constraints, max_parents = study
    names = table.names
    lists = constraints.parent_lists(names, min(max_parents, len(names) - 1))
    modelled = np.array([name not in constraints.exogenous for name in names])
    kept = _lasting(study, checkpoint)
    scores = score_allowed(table, score, lists, engine=engine, reporter=reporter, checkpoint=kept, modelled=modelled)
    # In place: where there are millions of families, each copy of them counts.
    for own, before in zip(scores, log_prior_of_lists(names, lists, prior, constraints), strict=True):
        np.add(own, before, out=own)
    return ComponentWorkspace(lists, scores, engine, reporter)


def _weigh_all(study: Study, engine: Engine, reporter: Reporter, *, checkpoint: Checkpoint) -> ExactWorkspace:
    """Score all families and add the prior."""
    table, score, prior, constraints, max_parents = study
    kept = _lasting(study, checkpoint)
    scores = local_scores(table, score, max_parents, engine=engine, reporter=reporter, checkpoint=kept)
    log_weights = scores.values
    log_weights += log_prior(table.names, scores.max_parents, prior, constraints)
    constraints.leave_unmodelled(table.names, log_weights)
    return ExactWorkspace(log_weights, scores.max_parents, engine, reporter)


def _lasting(study: Study, checkpoint: Checkpoint) -> Checkpoint:
    """The checkpoint; none, if what the user's own code says may have changed since a kill: it is asked again."""
    own = isinstance(to_json(study.score), str) or isinstance(to_json(study.prior.chosen), str)
    return NO_CHECKPOINT if own else checkpoint
