"""Which parent sets matter, whatever the missing cells are? The union over several completed tables.

A set that holds nothing of the posterior of one completed table may matter in another one. So a few tables are
completed, cell by cell at first, and the sets that matter in each are found as for any table (considered.py). Then
short chains over graphs and cells run on what was found so far, and the tables that they come to are looked at in the
same way, again and again, until fresh tables bring next to nothing new. After that the lists stay as they are, so
that the chains that count are chains in the proper sense, on these lists.

How much is lost is known for the tables that were looked at last, before what they have was added: `lost` bounds, for
each variable, the probability in the posterior of such a table that its parents are not in the lists.

Cost: that of `considered_among_candidates` for each table, 8 to 20 of them, with fewer candidates: 20 CPU seconds for
37 columns and 1,000 rows, 3 for 20 columns.
"""

from __future__ import annotations

import numpy as np

from dagpost._tools.arrays import Integers
from dagpost._tools.progress import NO_PROGRESS, Reporter
from dagpost.engines import Engine
from dagpost.families.considered_sets import ConsideredSets
from dagpost.families.grouped_lists import lost_of
from dagpost.families.masks import shape_of_sets
from dagpost.mcmc.augmentation import AugmentedState, members_of_masks
from dagpost.mcmc.augmented_blocks import BlockPasses, Incomplete
from dagpost.mcmc.considered import Sizes, considered_among_candidates
from dagpost.priors.study import Study

#: Tables that are completed side by side, and how often they are looked at, at least and at most.
_TABLES = 2
_FEWEST_LOOKS, _MOST_LOOKS = 4, 10
#: No more looks once fresh tables lack no more than this.
_ENOUGH = 0.02
#: Sweeps from one look to the next, graphs of each, and rounds over the cells.
_SWEEPS, _GRAPHS, _ROUNDS = 20, 4, 2
#: Less than for a table that is looked at once: what one look misses, another may find.
_SIZES = Sizes(families=400_000, candidates=12, all_candidates=16, rounds=3)
_SEED = 14


def block_passes(incomplete: Incomplete, engine: Engine, reporter: Reporter = NO_PROGRESS) -> BlockPasses:
    """What chains over graphs and cells read, with the union of what matters in several completed tables."""
    found: list[ConsideredSets] = []
    lost = np.ones(len(incomplete.table.names))
    seeds = np.random.SeedSequence(_SEED).spawn(_TABLES)
    generators = [np.random.Generator(np.random.PCG64(seed)) for seed in seeds]
    states = [_begin(incomplete, place, generator) for place, generator in enumerate(generators)]
    passes = None
    with reporter.stage("parent sets that matter", _MOST_LOOKS * _TABLES) as stage:
        for look in range(_MOST_LOOKS):
            if passes is not None:
                _move_all(passes, states, generators, engine)
            fresh = [_considered(incomplete, state, engine) for state in states]
            if passes is not None:
                lost = np.max([lost_of(passes.lists, own) for own in fresh], axis=0)
            found += fresh
            passes = BlockPasses(incomplete, found)
            stage.advance(_TABLES)
            if look + 1 >= _FEWEST_LOOKS and lost.sum() <= _ENOUGH:
                break
    assert passes is not None
    passes.lost = lost
    return passes


def _begin(incomplete: Incomplete, place: int, generator: np.random.Generator) -> AugmentedState:
    """A table completed cell by cell, and no edges; values of the setting are taken in turn."""
    nodes, value = len(incomplete.table.names), place % len(incomplete.scores)
    parents = np.zeros((nodes, *shape_of_sets(nodes)), dtype=np.uint64)
    return AugmentedState(incomplete.completers[value].begin(generator), parents, np.array([value]))


def _considered(incomplete: Incomplete, state: AugmentedState, engine: Engine) -> ConsideredSets:
    """The sets that matter in one completed table."""
    table, score = incomplete.table.filled(state.cells), incomplete.scores[int(state.value[0])]
    study = Study(table, score, incomplete.prior, incomplete.constraints, incomplete.max_parents)
    return considered_among_candidates(study, engine=engine, sizes=_SIZES)


def _move_all(
    passes: BlockPasses, states: list[AugmentedState], generators: list[np.random.Generator], engine: Engine
) -> None:
    """Move all tables on, each on a thread of its own."""

    def move(place: int, cancel: Integers) -> None:
        _move(passes, states[place], generators[place], cancel)

    for _ in engine.run(move, range(len(states))):
        pass


def _move(passes: BlockPasses, state: AugmentedState, generator: np.random.Generator, cancel: Integers) -> None:
    """Some sweeps over the graph and the cells; the setting takes its next value."""
    for _ in range(_SWEEPS):
        value = int(state.value[0])
        drawn = passes.over(state.cells, value, state.parents, _GRAPHS, generator, cancel)
        state.parents[...] = drawn.parents[-1].reshape(state.parents.shape)
        families = members_of_masks(state.parents.reshape(passes.nodes, -1), passes.max_parents)
        for _ in range(_ROUNDS):
            passes.completers[value].redraw(state.cells, families, generator, cancel)
    state.value[0] = (state.value[0] + 1) % len(passes.log_priors)
