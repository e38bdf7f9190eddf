"""Before a long run: what will be done, by which method and why, and roughly what it takes in time and memory.

The times of tables are those by which the library itself decides, from the back end that makes them; those of draws
come from the method. Scores are reckoned by constants measured on a machine of 2024. Other work on the machine is not
considered.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dagpost._tools import memory
from dagpost._tools.mixture import grid_of
from dagpost._tools.progress import NO_PROGRESS
from dagpost._tools.spelling import in_python
from dagpost._tools.text import duration
from dagpost.engines import Engine
from dagpost.engines.host.backend import HostBackend
from dagpost.exact import order, structure
from dagpost.families.family_sums import MOST_FAMILIES
from dagpost.families.parent_lists import words_of
from dagpost.methods.augmentation import Augmentation
from dagpost.methods.base import Cost, Decided, Method
from dagpost.methods.choice import AS_ASKED, check_averaging, check_sums, choose_method, scores_candidates_only
from dagpost.methods.exact_layers import ExactLayers
from dagpost.posterior.augmenting import cost_of, reason_for
from dagpost.posterior.component_workspace import ComponentWorkspace
from dagpost.posterior.exact_workspace import ExactWorkspace
from dagpost.posterior.fitted import Fitted, usual_count
from dagpost.posterior.mixture import MixedWorkspace
from dagpost.posterior.results import should_sum_exactly
from dagpost.posterior.splitting import advising, hint_for, in_words
from dagpost.posterior.weighing import axes_of, division_of, families_of
from dagpost.posterior.workspace import Workspace
from dagpost.priors.edge import DENSITY
from dagpost.priors.study import Study
from dagpost.scores import Score, scores_filled
from dagpost.scores.scoring_time import seconds_of_scoring

#: By components: what a parent set takes in the passes from whole sets to those inside a component and back, what it
#: takes to put it into its place before draws, and what it takes to draw one, and one inside a component before that.
_SECONDS_TO_SHARE_OUT, _SECONDS_TO_SORT, _SECONDS_A_SET = 60e-9, 55e-9, 200e-9
_SECONDS_IN_LAYERS = 250e-9
#: What a drawn graph takes beside its parents.
_BYTES_A_DRAW = 100
#: Of an average: which share of its sums the evidence of a value takes, and how many values weigh so much that they are
#: summed whole.
_EVIDENCE, _SUMMED_WHOLE = 0.4, 8


@dataclass(frozen=True)
class Plan:
    """The stages of a run with their costs, the method and the reason for it, and whether edges will be exact.

    >>> from dagpost import DagPosterior, datasets
    >>> plan = DagPosterior().plan(datasets.load("coronary"))
    >>> plan.method, plan.exact
    ('exact-layers', True)
    """

    method: str
    reason: str
    exact: bool
    chains: bool
    stages: tuple[Cost, ...]
    #: Where edges will not be exact although there are rules: which rule, or setting, would make them so (marked).
    hint: str = ""

    @property
    def seconds(self) -> float:
        """Of all stages."""
        return sum(stage.seconds for stage in self.stages)

    @property
    def size(self) -> float:
        """Bytes of the largest stage."""
        return max((stage.size for stage in self.stages), default=0.0)

    @property
    def fits(self) -> bool:
        """Whether the memory of this machine that is free now is enough."""
        return all(stage.size <= memory.available_bytes() for stage in self.stages if stage.here)

    def lines(self) -> list[str]:
        """One line a stage, then the method."""
        width = max(len(stage.what) for stage in self.stages)
        return [
            *(
                f"  {stage.stage:8} {stage.what:{width}}  {_about(stage)}, {memory.readable(stage.size)}"
                for stage in self.stages
            ),
            # Whoever asked for a method knows why.
            f"Method: {self.method}{'' if self.reason == AS_ASKED else f' ({self.reason})'}.",
        ]

    def __str__(self) -> str:
        return "\n".join([*self.lines(), *([in_python(self.hint)] if self.hint else [])])


def plan_fit(decided: Decided, samples: int) -> Plan:
    """What a fit will do; what cannot fit is refused here already."""
    method, modularity, study, engine = decided
    if study.table.gap_count:
        assert isinstance(method, Augmentation)
        return _plan_with_gaps(method, modularity, study, samples, engine)
    table, score, _, _, max_parents = study
    nodes, limit = len(table.names), min(max_parents, len(table.names) - 1)
    workspace = weightless(decided)
    by_components = isinstance(workspace.parts[0], ComponentWorkspace)
    candidates_only = not by_components and scores_candidates_only(method, nodes, max_parents, engine)
    chosen, reason = choose_method(method, modularity, workspace)
    exact = not candidates_only and should_sum_exactly(chosen, modularity, workspace)
    stages = [_scores(chosen, workspace, study, engine.workers, candidates_only)]
    stages += _tables(chosen, modularity, workspace, exact)
    in_play = score.parents_in_play(table.rows, [len(own) for own in table.levels if own is not None], limit)
    exact = exact or type(chosen).summed is not Method.summed
    if not exact or workspace.largest <= chosen.quick_nodes:
        stages += _draws(chosen, usual_count(chosen, samples, nodes), workspace, in_play)
    stages = _for_each_part(stages, workspace)
    hint = "" if exact or method is not None else hint_for(decided)
    return Plan(chosen.name, reason, exact, chosen.draws == "chains" and not exact, tuple(stages), hint)


def _plan_with_gaps(method: Augmentation, modularity: str, study: Study, samples: int, engine: Engine) -> Plan:
    """Chains that complete the table."""
    count = usual_count(method, samples, len(study.table.names))
    stages = (cost_of(method, modularity, study, count, engine),)
    return Plan(method.name, reason_for(method, study), False, True, stages)


def weightless(decided: Decided) -> Workspace:
    """A workspace without weights: enough to ask what fits and what is affordable; what cannot fit is refused."""
    method, modularity, study, engine = decided
    names, limit = study.table.names, min(study.max_parents, len(study.table.names) - 1)
    components = division_of(decided)
    parts: list[ExactWorkspace | ComponentWorkspace] = []
    axes = axes_of(study)
    for _ in range(math.prod(len(axis.values) for axis in axes)):
        if components is None:
            parts.append(ExactWorkspace(np.empty((len(names), 0)), limit, engine, NO_PROGRESS))
            continue
        own = ComponentWorkspace(study.constraints.parent_lists(names, limit), (), engine, NO_PROGRESS)
        own.components = components
        parts.append(own)
    if components is None:
        with advising(decided):
            check_averaging(axes, method, len(names), study.max_parents, engine)
            scores_candidates_only(method, len(names), study.max_parents, engine)
    if not axes:
        return parts[0]
    mixed = MixedWorkspace(grid_of(axes), parts, engine, NO_PROGRESS, ordinary=len(names))
    check_sums(axes, method, modularity, mixed)
    return mixed


def _for_each_part(stages: list[Cost], workspace: Workspace) -> list[Cost]:
    """An average takes the scores and evidence of every value, and the sums of those few that weigh anything.

    Its graphs are drawn once in all.
    """
    if not isinstance(workspace, MixedWorkspace):
        return stages
    own, cells, axes = workspace.parts[0], len(workspace.parts), workspace.grid.axes
    scored = cells // len(axes[-1].values) if axes[-1].setting == DENSITY else cells
    # By components, the probabilities of those that weigh anything stay, until all are mixed.
    summed = min(cells, _SUMMED_WHOLE)
    held = 16 * families_of(own.lists) if isinstance(own, ComponentWorkspace) else 0
    words = f", for each of {cells} values of the {workspace.grid.words}"

    def in_all(stage: Cost) -> Cost:
        if stage.stage == "samples":
            return stage._replace(size=stage.size + summed * held)
        if stage.stage == "scores":
            # The weights of all stay; tables come and go.
            more = words if scored > 1 else ""
            return stage._replace(what=stage.what + more, size=cells * stage.size)
        seconds = (_EVIDENCE * cells + summed) * stage.seconds
        return stage._replace(what=stage.what + words, seconds=seconds, size=stage.size + summed * held)

    return [in_all(stage) for stage in stages]


def plan_sample(fitted: Fitted, count: int) -> Plan:
    """What drawing `count` graphs from a fitted model will do, tables that its file does not keep included."""
    workspace, method = fitted.workspace, fitted.method
    stages = _tables(method, fitted.modularity, workspace, method.needs_graphs)
    stages += _draws(method, count, workspace, _in_play(fitted, workspace.max_parents))
    stages = _for_each_part(stages, workspace)
    return Plan(method.name, fitted.reason, method.needs_graphs, method.draws == "chains", tuple(stages))


def cost_of_exact_edges(modularity: str, nodes: int, max_parents: int, engine: Engine) -> Cost:
    """Time and memory of exact edges under one of the two posteriors, whether they fit or not."""
    workspace = ExactWorkspace(np.empty((nodes, 0)), min(max_parents, nodes - 1), engine, NO_PROGRESS)
    return _tables(ExactLayers(), modularity, workspace, exact=True)[0]


def _scores(method: Method, workspace: Workspace, study: Study, workers: int, candidates_only: bool) -> Cost:
    own, times, table = workspace.parts[0], method.times_scored(), study.table
    lists = own.lists
    modelled = np.array([name not in study.constraints.exogenous for name in table.names])
    levels = [len(levels) for levels in table.levels if levels is not None]
    seconds = sum(
        seconds_of_scoring(
            lists,
            table.rows,
            score,
            workers,
            levels=float(np.mean(levels)) if levels else 2.0,
            modelled=modelled if isinstance(own, ComponentWorkspace) else None,
            numbers=np.array([levels is None for levels in table.levels]),
        )
        for score in scores_filled(study.score)
    )
    families = families_of(lists)
    what = f"{families:,} parent sets"
    if candidates_only:
        most = min(families, MOST_FAMILIES)
        if most < families:
            what = f"{most:,} parent sets, of promising candidates"
        seconds, families = seconds * most / families, most
    if times > 1:
        what += f", again in each of {times - 1:,} replicates"
    return Cost("scores", what, times * seconds, 8 * families)


def _tables(method: Method, modularity: str, workspace: Workspace, exact: bool) -> list[Cost]:
    backend, nodes, limit = workspace.backend, workspace.nodes, workspace.max_parents
    own = workspace.parts[0] if workspace.parts else workspace
    if exact and isinstance(own, ComponentWorkspace):
        return [_tables_by_components(own, backend.graphs_here)]
    if exact and modularity == "structure" and method.modularity is not None:
        size = structure.memory_needed(nodes, limit, backend.engine.workers)
        seconds = backend.structure_seconds(nodes)
        return [Cost("tables", "exact sums over all graphs", seconds, size, here=backend.graphs_here)]
    if exact or method.needs_orders:
        size = order.table_bytes(nodes)
        here = isinstance(backend, HostBackend)
        return [Cost("tables", "exact sums over all orders", backend.order_seconds(nodes), size, here=here)]
    return []


def _tables_by_components(workspace: ComponentWorkspace, here: bool) -> Cost:
    """The sums over each component; the tables of all stay, and each family has a weight and a probability."""
    components, workers = workspace.components, workspace.engine.workers
    sizes = [size for size in components.sizes if size > 1]
    families = families_of(workspace.lists)
    seconds = workspace.seconds("structure") + _SECONDS_TO_SHARE_OUT * families
    size = sum(structure.memory_needed(size, min(workspace.max_parents, size - 1), workers) for size in sizes)
    what = f"exact sums over {in_words(components)}" if sizes else "exact sums, each variable by itself"
    return Cost("tables", what, seconds, size + 16 * families, here=here)


def _draws(method: Method, count: int, workspace: Workspace, in_play: int) -> list[Cost]:
    nodes, limit, workers = workspace.nodes, workspace.max_parents, workspace.engine.workers
    own = workspace.parts[0] if workspace.parts else workspace
    if isinstance(own, ComponentWorkspace):
        return [_draws_by_components(method, count, own)]
    tables = method.cost_of_tables(nodes, limit, workers)
    draws = method.cost_of_draws(count, nodes, in_play if method.draws == "chains" else limit, workers)
    return [cost for cost in (tables, draws) if cost is not None]


def _draws_by_components(method: Method, count: int, workspace: ComponentWorkspace) -> Cost:
    """A graph of each component by layers, then a parent set for each node, from running sums over its sets."""
    inside = sum(size for size in workspace.components.sizes if size > 1)
    drawn = count * (_SECONDS_A_SET * workspace.nodes + _SECONDS_IN_LAYERS * inside)
    seconds = (_SECONDS_TO_SORT * families_of(workspace.lists) + drawn) / workspace.engine.workers
    # Graphs come as they are drawn, as a sample has them, and sorted to find those that are alike.
    graphs = count * (_BYTES_A_DRAW + 5 * 8 * workspace.nodes * words_of(workspace.nodes))
    size = graphs + _tables_by_components(workspace, here=True).size
    return Cost("samples", f"{count:,} graphs by {method.name}", seconds, size)


def _in_play(fitted: Fitted, limit: int) -> int:
    """The size up to which parent sets are in play; all of them where only scores were given."""
    if not isinstance(fitted.score, Score):
        return limit
    levels = [len(own) for own in fitted.data.levels if own is not None]
    return fitted.score.parents_in_play(fitted.data.observations or 0, levels, limit)


def _about(stage: Cost) -> str:
    if stage.seconds * stage.uncertainty < 1.0:
        return duration(stage.seconds)
    if stage.uncertainty > 1.0:
        return f"{duration(stage.seconds / stage.uncertainty)} to {duration(stage.seconds * stage.uncertainty)}"
    return f"about {duration(stage.seconds)}"
