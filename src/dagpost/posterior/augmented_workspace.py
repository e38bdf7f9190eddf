"""The table with gaps behind a model, and the way from a completed one to weights, exact sums and graphs.

Chains complete the table (mcmc/augmentation.py). Given the cells of its gaps it is a table like any other: its families
are scored, the prior is added, and the sums over all graphs are those of an `ExactWorkspace`, or of a
`ComponentWorkspace` where rules keep cycles inside parts of it. Each chain runs on a thread of its own, so that all of
this is done in that thread.

The table that the score of a fitted model is about, and the way from there to the columns of the user's table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost._tools.json_settings import to_json
from dagpost._tools.mixture import Grid, grid_of
from dagpost._tools.progress import NO_PROGRESS, Reporter
from dagpost._tools.spelling import either, setting
from dagpost.data.gaps import UnknownCells, written_out, written_out_like
from dagpost.data.suitable import refuse_censored
from dagpost.engines import Engine, ThreadEngine
from dagpost.engines.inline import InlineEngine
from dagpost.errors import InputError
from dagpost.families.numbering import family_count
from dagpost.families.pruning import node_without_core
from dagpost.mcmc.augmentation import MOST_PAIRED, Pass, Passes, log_joints_of
from dagpost.mcmc.augmented_blocks import BlockPasses, Incomplete
from dagpost.mcmc.cell_rules import CellRules
from dagpost.mcmc.union_lists import block_passes
from dagpost.methods.base import Wanted
from dagpost.methods.block_gibbs import without_core
from dagpost.methods.dds import draw_in_orders
from dagpost.posterior.exact_workspace import ExactWorkspace
from dagpost.posterior.weighing import weigh_allowed
from dagpost.posterior.workspace import Workspace
from dagpost.priors import log_prior
from dagpost.priors.log_prior import log_prior_of_lists
from dagpost.priors.study import Study
from dagpost.scores import NormalWishartPrior, Score, resolve_score, scores_within
from dagpost.scores.completing import Completer

if TYPE_CHECKING:
    from dagpost.data.table import Table
    from dagpost.posterior.fitted import Fitted
    from dagpost.posterior.workspace import SummingWorkspace
    from dagpost.scores.latent_images import Images


class AugmentedWorkspace(Workspace):
    """The table with gaps of one model, written out so that each gap is a cell of its own."""

    def __init__(
        self,
        study: Study,
        modularity: str,
        way: Callable[[AugmentedWorkspace], Passes],
        engine: Engine,
        reporter: Reporter,
    ) -> None:
        nodes = len(study.table.names)
        super().__init__(None, engine, reporter, nodes, min(study.max_parents, nodes - 1))
        self.study, self.modularity, self._way = study, modularity, way

    @cached_property
    def passes(self) -> Passes:  # type: ignore[override]
        """The way from a completed table to graphs, made when chains first need it."""
        return self._way(self)

    def __getstate__(self) -> dict[str, Any]:
        """Copies and pickles leave the way to graphs behind, with its working memory: it is quickly made again."""
        return {name: value for name, value in self.__dict__.items() if name != "passes"}

    @property
    def engine(self) -> Engine:
        """Threads of this process, whatever the engine: what chains share is not sent elsewhere."""
        engine = super().engine
        return engine if isinstance(engine, ThreadEngine) else ThreadEngine()

    @property
    def table(self) -> Table:
        """The rows, with gaps."""
        return self.study.table

    @property
    def scores(self) -> tuple[Score, ...]:
        """One for each value of a setting that the score averages over."""
        return scores_within(self.study.score)

    @property
    def grid(self) -> Grid | None:
        """The values that the score averages over, if it does."""
        mixture = self.study.score.mixture()
        return None if mixture is None else grid_of([mixture])

    def filled(self, cells: NDArray[Any]) -> Table:
        """The completed table."""
        return self.table.filled(np.asarray(cells, dtype=np.float64))

    def weighed(self, cells: NDArray[Any], value: int = 0) -> SummingWorkspace:
        """The weights of one completed table, under one value of the score's setting."""
        if not isinstance(self.passes, ExactPasses):
            raise InputError(
                f"The {self.study.score.tables} of {self.nodes} variables have no exact sums: graphs are moved by "
                "blocks."
            )
        return self.passes.weighed(np.asarray(cells, dtype=np.float64), value, self.engine)

    @property
    def considered_words(self) -> str:
        """Which parent sets chains consider, in words."""
        return self.passes.words if isinstance(self.passes, BlockPasses) else "all"

    def log_joint(self, parents: Masks) -> Floats:
        """There is none: the probability of what was observed is a sum over all completed tables."""
        del parents
        raise InputError(
            f"There is no log p(graph, data) here: {UnknownCells.of(self.table).done}, and it would be a sum over all "
            "ways to do so. How often a graph was drawn says how probable it is: "
            f"{either('standing(graph), or top_graphs(model)', 'dagpost report')}."
        )

    def _all_weights(self) -> Sequence[Floats]:
        table, _, prior, constraints, _ = self.study
        if not isinstance(to_json(prior.chosen), str):
            # The fingerprint of the table and the settings stand for all of it.
            return ()
        # What the user's own code says may have changed.
        lists = constraints.parent_lists(table.names, self.max_parents)
        return tuple(log_prior_of_lists(table.names, lists, prior, constraints))


class ExactPasses:
    """From a completed table to exact sums over all graphs, or orders, and independent graphs."""

    def __init__(self, study: Study, modularity: str, workers: int, *, by_components: bool) -> None:
        table, score, prior, constraints, max_parents = study
        self.study, self.modularity, self.workers, self.by_components = study, modularity, workers, by_components
        self.nodes, self.max_parents = len(table.names), min(max_parents, len(table.names) - 1)
        self.cell_rules = CellRules(table)
        mixture = score.mixture()
        self.log_priors = np.zeros(1) if mixture is None else np.array(mixture.log_priors)
        self.scores = scores_within(score)
        self.completers: Sequence[Completer] = [completer_of(each, table, self.max_parents) for each in self.scores]
        if len(self.scores) > 1:
            self._list_scorers = [each.list_scorer(table, self.max_parents, workers) for each in self.scores]
        self._modelled = np.array([name not in constraints.exogenous for name in table.names])
        self.keeps_pairs = self.nodes <= MOST_PAIRED
        if by_components:
            lists = constraints.parent_lists(table.names, self.max_parents)
            self.family_count = sum(family_count(len(own), self.max_parents) for own in lists.candidates)
            return
        self.family_count = self.nodes * family_count(self.nodes - 1, self.max_parents)
        self._rescorers = [each.rescorer(table, self.max_parents, workers) for each in self.scores]
        self._log_prior = log_prior(table.names, self.max_parents, prior, constraints)

    def __reduce__(self) -> Any:
        # What scores and completers keep between tables is made anew in another process.
        return partial(ExactPasses, by_components=self.by_components), (self.study, self.modularity, self.workers)

    def weighed(self, cells: Floats, value: int, engine: Engine) -> SummingWorkspace:
        """The weights of one completed table."""
        if self.by_components:
            study = self.study._replace(table=self.study.table.filled(cells), score=self.scores[value])
            return weigh_allowed(study, engine, NO_PROGRESS)
        log_weights = self._rescorers[value](cells)
        log_weights += self._log_prior
        self.study.constraints.leave_unmodelled(self.study.table.names, log_weights)
        return ExactWorkspace(log_weights, self.max_parents, engine, NO_PROGRESS)

    def over(
        self,
        cells: Floats,
        value: int,
        before: Masks,
        graphs: int,
        generator: np.random.Generator,
        cancel: Integers,
    ) -> Pass:
        """Exact sums of the completed table, and independent graphs."""
        del before
        workspace = self.weighed(cells, value, InlineEngine(cancel))
        sums = workspace.summed(self.modularity)
        seed = np.random.SeedSequence(int(generator.integers(2**63)))
        if self.modularity == "order":
            assert isinstance(workspace, ExactWorkspace)
            parents, log_joint = draw_in_orders(workspace, Wanted(self.study.table.names, graphs, seed))
        else:
            parents, log_joint, _ = workspace.draw_layers(graphs, seed)
        families = np.concatenate([np.asarray(own) for own in sums.families])
        log_state = sums.log_evidence + float(self.log_priors[value])
        return Pass(parents, log_joint, log_state, sums.edges, sums.paths, families)

    def log_joints(self, cells: Floats, parents: Masks) -> Floats:
        """Log p(value, graph, completed table) of any one graph, for each value."""
        return log_joints_of(self._list_scorers, self.log_priors, cells, parents, self._modelled, self.max_parents)


def exactly(workspace: AugmentedWorkspace, *, by_components: bool) -> ExactPasses:
    """The way by exact sums over all graphs, or orders, of each completed table."""
    workers = workspace.engine.workers
    return ExactPasses(workspace.study, workspace.modularity, workers, by_components=by_components)


def by_blocks(workspace: AugmentedWorkspace) -> BlockPasses:
    """Graphs that are moved by blocks, on lists that are found first."""
    table, score, prior, constraints, _ = workspace.study
    mixture, limit = score.mixture(), workspace.max_parents
    log_priors = np.zeros(1) if mixture is None else np.array(mixture.log_priors)
    completers = [completer_of(each, table, limit) for each in workspace.scores]
    scorers = [each.list_scorer(table, limit, workspace.engine.workers) for each in workspace.scores]
    incomplete = Incomplete(table, workspace.scores, log_priors, prior, constraints, limit, completers, scorers)
    passes = block_passes(incomplete, workspace.engine, workspace.reporter)
    node = node_without_core(passes.lists)
    if node is not None:
        raise without_core(table.names[node])
    return passes


def completer_of(score: Score, table: Table, max_parents: int) -> Completer:
    """What draws the missing cells; refuses a score that cannot."""
    completer = score.completer(table, max_parents)
    if completer is None:
        raise _without_completer(score, table)
    return completer


def refuse_gaps_that_stay(study: Study) -> None:
    """Refuse gaps, and limits in the place of numbers, where the score completes none.

    That is before it is said what chains will do.
    """
    for score in scores_within(study.score):
        if study.table.gap_count and type(score).completer is Score.completer:
            refuse_censored(study.table)
            raise _without_completer(score, study.table)


def _without_completer(score: Score, table: Table) -> InputError:
    many = "one gap" if table.gap_count == 1 else f"{table.gap_count:,} gaps"
    return InputError(
        f"The score {(score.name or score)!r} cannot complete the {many} of the table. Drop the "
        f"incomplete rows ({setting('missing', 'drop')}), give gaps a level of their own "
        f"({setting('missing', 'level')}), or use a score that completes them."
    )


def modelled_table(fitted: Fitted) -> Table:
    """The rows of a model as its score takes them, of latent numbers where it does; refused where there are none."""
    table = fitted.rows("Latent numbers")
    return fitted.once("modelled", lambda: resolve_score(fitted.score).modelled(table, fitted.exogenous))


def modelled_levels(fitted: Fitted) -> tuple[tuple[Any, ...] | None, ...]:
    """The levels of every column as the score takes them, None where they are numbers: in linear networks all are."""
    score = resolve_score(fitted.score)
    if isinstance(scores_within(score)[0].parameter_prior(), NormalWishartPrior):
        return (None,) * len(fitted.names)
    return fitted.data.levels


def images_of(fitted: Fitted) -> Images | None:
    """The columns as images of latent numbers, row for row those of the completed tables; None where they are not."""
    return fitted.once("images", lambda: _images(fitted))


def _images(fitted: Fitted) -> Images | None:
    if isinstance(fitted.score, str) or type(fitted.score).images is Score.images:
        return None
    latent = modelled_table(fitted)
    table = written_out_like(fitted.rows("Latent numbers"), latent)
    workspace = fitted.workspace
    latent = workspace.table if isinstance(workspace, AugmentedWorkspace) else written_out(latent)
    return resolve_score(fitted.score).images(table, latent)
