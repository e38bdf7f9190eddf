"""Chains that redraw the parents of several variables at once, exactly; the moves are in mcmc/block_gibbs.py."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from dagpost._tools.checks import whole_number
from dagpost._tools.schema import ArrayRule, wholes
from dagpost._tools.spelling import setting
from dagpost.errors import InputError
from dagpost.families.parent_lists import MOST_COLUMNS
from dagpost.methods.base import Cost, Draws, Wanted
from dagpost.methods.chain import ChainMethod, StepCost

if TYPE_CHECKING:
    from dagpost.mcmc.probe import Annealed
    from dagpost.posterior.workspace import Workspace

#: The largest blocks that pay; each node more makes a block take two to three times as long.
_MOST_IN_BLOCK = 10

# What it costs, in seconds on one core: a variable that is redrawn in blocks of up to 8, and each parent set that is
# read for it: one in so many of those in play, up to those that lead a list and a group of the others. On seven
# discrete tables of 20 to 441 columns a variable took 3 to 6 microseconds (43 on one that is nearly flat), with BGe on
# 25 columns some 75.
_A_VARIABLE, _A_SET = 3.5e-6, 10e-9
_IN_PLAY_FOR_READ, _MOST_READ = 12, 8000
#: What a variable more in the largest block adds to that.
_A_LARGER_BLOCK = 1.15
_USUAL_BLOCK = 8
#: What it takes to decide whether a set is considered.
_TO_CONSIDER = 0.15e-6
#: Beyond 64 columns only sets among so many promising parents are in play.
_PROMISING = 20

#: A shorter burn-in is spent on the posterior itself.
_COOLING_ROUNDS = 10


@dataclass(frozen=True)
class BlockGibbs(ChainMethod):
    """Chains that redraw the parents of several variables at once, from their exact joint distribution.

    Each block of variables is drawn given all others, so nothing is ever rejected. A step is a sweep: blocks until as
    many variables were redrawn as there are columns.

    Parameters
    ----------
    chains
        How many chains, in pairs from graphs that fit opposite random orders.
    thinning
        Sweeps from one kept graph to the next.
    burn_in
        Sweeps before the first kept graph.
    block_size
        The most variables of a block, from 2 to 10.

    >>> BlockGibbs(thinning=5)
    BlockGibbs(chains=4, thinning=5, burn_in=1000, block_size=8)
    """

    chains: int = 4
    thinning: int = 1
    burn_in: int = 1_000
    block_size: int = 8

    name = "block-gibbs"
    summary = "chains that redraw several variables at once"
    citation = (
        "Goudie, R. J. B., & Mukherjee, S. (2016). A Gibbs sampler for learning DAGs. Journal of Machine Learning "
        "Research, 17(30)."
    )
    modularity = "structure"
    moves_in = "dagpost.mcmc.block_gibbs"
    anneals = True
    moves = ("block",)
    takes_orders = True
    gives_edges = True
    most_columns = MOST_COLUMNS
    costs = StepCost(0.0, 0.0, _A_SET, 1e-6, 0.05e-6, 0.0)
    state_rules: ClassVar[Mapping[str, ArrayRule]] = {"numbers": wholes("chains", "nodes")}

    def __post_init__(self) -> None:
        """Check the settings."""
        super().__post_init__()
        whole_number(self.block_size, "block_size", "BlockGibbs", least=2, most=_MOST_IN_BLOCK)

    def prepare(self, workspace: Workspace) -> Any:
        """The considered parent sets, and which variables go into a block together."""
        from dagpost.mcmc.block_choice import block_context

        return workspace.once("blocks", lambda: block_context(workspace.considered))

    def draw(self, workspace: Workspace, wanted: Wanted) -> Draws:
        """Run the chains, if they can reach every graph that has any weight."""
        from dagpost.families.pruning import node_without_core

        node = node_without_core(workspace.considered)
        if node is not None:
            raise without_core(wanted.names[node])
        return super().draw(workspace, wanted)

    def warming_up(self, context: Any, number: int, rounds: int) -> Any:
        """In the first half of a burn-in that is long enough, every weight is taken to a power that rises to 1."""
        from dagpost.mcmc.annealed_blocks import POWERS, with_power

        place = 2 * (number - 1) * len(POWERS) // max(rounds, 1)
        return with_power(context, POWERS[place]) if rounds >= _COOLING_ROUNDS and place < len(POWERS) else context

    def annealed(self, workspace: Workspace, context: Any) -> Annealed | None:
        """Graphs that cool by blocks."""
        from dagpost.mcmc.annealed_blocks import start_from_blocks

        return partial(start_from_blocks, self, context)

    @property
    def step_settings(self) -> tuple[Any, ...]:
        """The most variables of a block."""
        return (int(self.block_size),)

    # What it costs

    def sets_scanned(self, nodes: int, max_parents: int) -> int:
        """Parent sets that are read in a sweep."""
        from dagpost.families.numbering import MAX_NODES, family_count

        others = nodes - 1 if nodes <= MAX_NODES else _PROMISING
        return nodes * min(family_count(others, max_parents) // _IN_PLAY_FOR_READ, _MOST_READ)

    def step_and_graph(self, nodes: int, sets: int) -> tuple[float, float]:
        """Seconds of a sweep and of a kept graph."""
        step, graph = super().step_and_graph(nodes, sets)
        return step + nodes * _A_VARIABLE * _A_LARGER_BLOCK ** (self.block_size - _USUAL_BLOCK), graph

    def cost_of_tables(self, nodes: int, max_parents: int, workers: int) -> Cost:
        """The lists of the parent sets that are considered, out of all that were scored."""
        from dagpost.families.family_sums import MOST_FAMILIES
        from dagpost.families.numbering import family_count

        sets = min(nodes * family_count(nodes - 1, max_parents), MOST_FAMILIES)
        return Cost("tables", "lists of the parent sets to consider", _TO_CONSIDER * sets / workers, 40 * sets)


def without_core(name: str) -> InputError:
    """Why blocks may not reach every graph: no parent set of a variable is part of all its others."""
    from dagpost.methods.partition_mcmc import PartitionMCMC

    return InputError(
        f"{BlockGibbs.name!r} may not reach every graph: the prior or the scores leave {name!r} parent sets none of "
        "which is part of all the others. Let the set of what they have in common have a weight, or use "
        f"{setting('method', PartitionMCMC.name)}."
    )
