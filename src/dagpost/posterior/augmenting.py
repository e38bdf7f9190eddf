"""From a table with gaps to the workspace of the chains that complete it: which way of finding graphs suits it."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np

from dagpost._tools import memory
from dagpost._tools.progress import Reporter
from dagpost._tools.spelling import either, setting
from dagpost.data.gaps import UnknownCells, size_written_out, written_out
from dagpost.data.table import Table
from dagpost.engines import Engine
from dagpost.engines.host.backend import backend_of
from dagpost.engines.inline import InlineEngine
from dagpost.errors import InputError, ResourceError
from dagpost.families.numbering import MAX_NODES
from dagpost.families.parent_lists import ParentLists
from dagpost.mcmc.cell_rules import CellRules
from dagpost.mcmc.chains import FIRST_LOOK
from dagpost.mcmc.records import ROUND_GRAPHS
from dagpost.methods.augmentation import AUTO, Augmentation
from dagpost.methods.base import Cost, Decided, Method
from dagpost.methods.block_gibbs import BlockGibbs
from dagpost.methods.dds import DDS
from dagpost.methods.exact_layers import ExactLayers
from dagpost.posterior.augmented_workspace import AugmentedWorkspace, by_blocks, exactly
from dagpost.posterior.weighing import division_of, families_of
from dagpost.priors.study import Study
from dagpost.scores import scores_within
from dagpost.scores.scoring_time import seconds_of_rescoring, seconds_of_scoring

#: Exact sums over all graphs, or orders, of a completed table that take longer than this are left to blocks.
_SECONDS_A_PASS = 0.01
#: Blocks do not count orders: such sums that take longer than this are made only if asked for.
_MOST_SECONDS_A_PASS = 10.0

#: Chains of scores whose completers begin near the end: sweeps before the first kept table; graphs from each table,
#: since to score a table takes longer than to complete it; the error at which they stop; and seconds that exact sums
#: may take where there are few tables.
_NEAR, _GRAPHS_A_TABLE, _ERROR, _SECONDS_OF_FEW = 5, 50, 0.02, 5.0

#: Exact sums over all graphs, or orders, of so many columns take a fraction of a second.
_FEW_COLUMNS = 12

# CPU seconds of a sweep beside scores and the terms of sums (benchmarks/gaps_speed.py): for itself, each missing cell
# that is redrawn once, each family that is ranked for drawing graphs, and each set of nodes.
_A_SWEEP, _A_CELL, _A_FAMILY, _A_SET = 0.6e-3, 0.4e-6, 60e-9, 0.6e-6
#: The same for a latent number (benchmarks/latent_mixing.py), and for a column that is regressed on others.
_A_LATENT_NUMBER, _A_REGRESSION = 0.1e-6, 0.7e-3

# Where graphs are moved by blocks: the families in play for each variable, what one takes at 1,000 rows, the sweeps of
# blocks for a graph, and what a variable takes in one; the tables that are looked at before, and how many families of
# all variables and of each are scored for one.
_IN_PLAY, _TO_COUNT, _SWEEPS_A_GRAPH, _A_VARIABLE = 150, 2e-6, 5, 6e-6
_LOOKS, _SMALL_SETS, _AMONG_CANDIDATES = 12, 400_000, 6_000
# Bytes that scores and completers take: for each column of each row, once and for each worker; for each missing cell,
# once and for each chain, which stands at one completion and moves on from a copy of it.
_BYTES_A_PLACE, _BYTES_A_COPY, _BYTES_A_CELL, _BYTES_A_STATE = 32, 10, 48, 16


def as_augmentation(method: Method | None, table: Table) -> Augmentation:
    """The chains that a method asks for where there are gaps: it says how graphs are found given a table."""
    if method is None:
        return Augmentation()
    if isinstance(method, Augmentation):
        return method
    if isinstance(method, ExactLayers | DDS):
        return Augmentation(given_table=method.name)
    if isinstance(method, BlockGibbs):
        return Augmentation(chains=method.chains, given_table=method.name)
    unknown = UnknownCells.of(table)
    needs = f"needs {unknown.words}" if unknown.ranked else f"has {unknown.words}"
    them = "it" if not unknown.ranked and unknown.censored + unknown.missing == 1 else "them"
    cannot = "draw" if unknown.ranked else "complete"
    raise InputError(
        f"The {'score' if unknown.ranked else 'table'} {needs}, and the method {method.name!r} cannot {cannot} {them}. "
        f"Use {setting('method', AUTO)}, or {unknown.ways_out}."
    )


def runs_chains(method: Method | None, modularity: str, nodes: int) -> bool:
    """Whether chains over latent numbers, which nobody asked for, suit a method: sums for each table must be quick."""
    if method is None or (isinstance(method, Augmentation) and method.given_table == AUTO):
        return modularity == "structure" or nodes <= _FEW_COLUMNS
    if isinstance(method, BlockGibbs) or (isinstance(method, Augmentation) and method.given_table == BlockGibbs.name):
        return True
    return isinstance(method, ExactLayers | DDS | Augmentation) and nodes <= _FEW_COLUMNS


def require_gaps(method: Augmentation, table: Table) -> None:
    """Refuse to complete a table that has no gaps."""
    if not table.gap_count:
        raise InputError(
            f"The method {method.name!r} completes tables with gaps, and this one has none. Use "
            f"{setting('method', AUTO)}, or keep the gaps ({setting('missing', 'augment')})."
        )


def settled(method: Augmentation, modularity: str, study: Study) -> Augmentation:
    """The chains with the way of finding graphs that suits the table."""
    near = study.score.begins_near(study.table)
    if near and method == Augmentation(given_table=method.given_table):
        method = replace(method, burn_in=_NEAR, graphs=_GRAPHS_A_TABLE, error=_ERROR)
    if method.given_table != AUTO:
        return method
    backend, nodes = backend_of(InlineEngine()), len(study.table.names)
    divided = division_of(Decided(None, modularity, study, InlineEngine())) is not None
    if modularity == "order":
        return replace(method, given_table=DDS.name)
    most = _SECONDS_OF_FEW if near else _SECONDS_A_PASS
    exact = divided or (nodes <= MAX_NODES and backend.structure_seconds(nodes) <= most)
    return replace(method, given_table=ExactLayers.name if exact else BlockGibbs.name)


def refuse_slow_orders(asked: Augmentation, method: Augmentation, study: Study) -> None:
    """Refuse sums over all orders that would take minutes for every completed table, unless they were asked for."""
    if asked.given_table != AUTO or method.given_table != DDS.name:
        return
    nodes, unknown = len(study.table.names), UnknownCells.of(study.table)
    if backend_of(InlineEngine()).order_seconds(nodes) <= _MOST_SECONDS_A_PASS:
        return
    raise ResourceError(
        f"Chains draw {unknown.words}, and the sums over all orders of {nodes} variables would be made anew for each "
        f"of the {study.score.tables}: that takes too long. Let every graph count once "
        f"({setting('modularity', 'structure')}), where graphs are moved by blocks, or {unknown.ways_out}."
    )


def reason_for(method: Augmentation, study: Study) -> str:
    """Why there are such chains, in a few words."""
    how = "graphs are moved by blocks" if method.given_table == BlockGibbs.name else "graphs are exact given each table"
    unknown = UnknownCells.of(study.table)
    done = "drawn" if unknown.latent else "completed"
    return f"{unknown.brief} {'is' if unknown.brief == '1 gap' else 'are'} {done}; {how}"


def augmented(
    method: Augmentation, modularity: str, study: Study, engine: Engine, reporter: Reporter
) -> AugmentedWorkspace:
    """The workspace of a table with gaps."""
    if study.prior.mixture(len(study.table.names)) is not None:
        raise InputError(
            f"To average over the density of edges takes the exact evidence of each, and here "
            f"{UnknownCells.of(study.table).done}. Choose one, such as {either('EdgePrior(0.1)', '--prior edge:0.1')}, "
            f"or leave the choice to us ({setting('prior', AUTO)})."
        )
    _require_memory(method, study.table, engine)
    table = written_out(study.table)
    study = study._replace(table=table, score=study.score.settled(table))
    if method.given_table == BlockGibbs.name:
        return AugmentedWorkspace(study, modularity, by_blocks, engine, reporter)
    by_components = division_of(Decided(method, modularity, study, InlineEngine())) is not None
    way = partial(exactly, by_components=by_components)
    return AugmentedWorkspace(study, modularity, way, engine, reporter)


def _require_memory(method: Augmentation, table: Table, engine: Engine) -> None:
    """Refuse a table whose rows and missing cells leave no room for the chains."""
    rows, cells = size_written_out(table)
    workers = min(method.chains, engine.workers)
    needed = rows * len(table.names) * (_BYTES_A_PLACE + workers * _BYTES_A_COPY)
    remedy = UnknownCells.of(table).ways_out
    needed += cells * (_BYTES_A_CELL + method.chains * _BYTES_A_STATE)
    memory.require(
        needed,
        f"{'Drawing' if table.ranks else 'Completing'} {cells:,} {'latent numbers' if table.ranks else 'cells'} in "
        f"{rows:,} rows, each row with gaps written out as often as it counts,",
        f"{remedy[0].upper()}{remedy[1:]}.",
    )


def cost_of(method: Augmentation, modularity: str, study: Study, samples: int, engine: Engine) -> Cost:
    """Time and memory of the chains, from as few sweeps as they may stop after to all there can be."""
    table, nodes = study.table, len(study.table.names)
    _, cells = size_written_out(table)
    lists = study.constraints.parent_lists(table.names, min(study.max_parents, nodes - 1))
    if method.given_table == BlockGibbs.name:
        to_count = _TO_COUNT * (0.2 + 0.8 * table.rows / 1000)
        families = min(families_of(lists), _SMALL_SETS + nodes * _AMONG_CANDIDATES)
        before = _LOOKS * families * to_count / engine.workers
        graphs = nodes * (_IN_PLAY * to_count + method.graphs * _SWEEPS_A_GRAPH * _A_VARIABLE)
    else:
        families, before, graphs = families_of(lists), 0.0, _exact_seconds(method, modularity, study, lists)
    near = study.score.begins_near(table)
    drawn = nodes * _A_REGRESSION if near else (_A_LATENT_NUMBER if table.ranks else _A_CELL) * cells
    sweep = _A_SWEEP + graphs + method.rounds * drawn
    least, most = (method.sweeps_of(count) for count in (FIRST_LOOK * ROUND_GRAPHS * method.chains, samples))
    turns = math.ceil(method.chains / engine.workers)
    low, high = (before + turns * (method.burn_in + sweeps) * sweep for sweeps in (min(least, most), most))
    size = 2 * method.bytes_kept(CellRules(table, cells), nodes, samples) + 16 * families
    what = f"up to {most * method.chains:,} {study.score.tables} in {method.chains} chains"
    return Cost("chains", what, math.sqrt(low * high), size, math.sqrt(high / low))


def _exact_seconds(method: Augmentation, modularity: str, study: Study, lists: ParentLists) -> float:
    """Seconds of the scores of a completed table and of exact sums over them, with some graphs."""
    table, nodes = study.table, len(study.table.names)
    limit = min(study.max_parents, nodes - 1)
    levels = [len(own) for own in table.levels if own is not None]
    usual, score = float(np.mean(levels)) if levels else 2.0, scores_within(study.score)[0]
    components = division_of(Decided(method, modularity, study, InlineEngine()))
    sizes = [nodes] if components is None else [size for size in components.sizes if size > 1]
    if components is None:
        scoring = seconds_of_rescoring(table, limit, score, levels=usual)
    else:
        numbers = np.array([own is None for own in table.levels])
        scoring = seconds_of_scoring(lists, table.rows, score, 1, levels=usual, numbers=numbers)
    backend = backend_of(InlineEngine())
    terms = backend.order_seconds if modularity == "order" else backend.structure_seconds
    sums = sum(terms(size) + _A_SET * 2.0 ** min(size, MAX_NODES) for size in sizes) + _A_FAMILY * families_of(lists)
    return scoring + sums
