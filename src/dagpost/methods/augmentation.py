"""Chains over completed tables, for tables with gaps; the moves are in mcmc/augmentation.py."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dagpost._tools import memory, schema
from dagpost._tools.checks import number, one_of, refusal, whole_number
from dagpost._tools.schema import ArrayRule
from dagpost._tools.spelling import setting
from dagpost.families.parent_lists import MOST_COLUMNS
from dagpost.mcmc.records import ROUND_GRAPHS
from dagpost.methods.base import Cost, Draws, Wanted
from dagpost.methods.block_gibbs import BlockGibbs
from dagpost.methods.chain import ChainMethod
from dagpost.methods.dds import DDS
from dagpost.methods.exact_layers import ExactLayers
from dagpost.methods.targets import MODULARITIES, Target

if TYPE_CHECKING:
    from dagpost.mcmc.cell_rules import CellRules
    from dagpost.mcmc.checks import ChainChecks
    from dagpost.mcmc.records import Beside, ChainRun
    from dagpost.posterior.workspace import Workspace

_MOST_GRAPHS = 100
#: Seconds of a sweep on one core, for itself and, where graphs are moved by blocks, for each variable; and how many
#: times as long, or as short, it may take.
_A_SWEEP, _A_VARIABLE, _UNCERTAINTY = 4e-3, 1e-3, 3.0
#: How graphs are found given a completed table.
AUTO = "auto"
WAYS = (AUTO, ExactLayers.name, DDS.name, BlockGibbs.name)


@dataclass(frozen=True)
class Augmentation(ChainMethod):
    """Chains over completed tables: graphs given the table, then the missing cells given a graph.

    What is exact given each completed table (edges, paths, families) is averaged over the tables. A step is a sweep.

    Parameters
    ----------
    chains
        How many chains, each from a random completion of its own.
    burn_in
        Sweeps before the first kept table.
    graphs
        Graphs that are drawn from each completed table.
    rounds
        How often the missing cells are redrawn from one graph to the next.
    error
        The chains of a model stop once the Monte Carlo error of every edge and path is at most this, and they agree;
        at the latest when there are as many graphs as the model has `samples`.
    given_table
        How graphs are found given a table: ``"exact-layers"``, ``"dds"`` (where a graph counts once for every order it
        fits), ``"block-gibbs"``, or what suits the table (``"auto"``).

    >>> Augmentation(chains=2)
    Augmentation(chains=2, burn_in=100, graphs=10, rounds=2, error=0.005, given_table='auto')
    """

    chains: int = 4
    burn_in: int = 100
    graphs: int = 10
    rounds: int = 2
    error: float = 0.005
    given_table: str = AUTO

    name = "augmentation"
    summary = "chains over completed tables, for tables with gaps"
    citation = (
        "Tanner, M. A., & Wong, W. H. (1987). The calculation of posterior distributions by data augmentation. Journal "
        "of the American Statistical Association, 82. "
        "https://doi.org/10.1080/01621459.1987.10478458"
    )
    moves_in = "dagpost.mcmc.augmentation"
    moves = ("sweep",)
    thinning = 1
    gives_edges = True
    edges_at_fit = True
    mixes = True
    needs_rows = True
    by_components = True
    most_columns = MOST_COLUMNS
    state_rules: ClassVar[Mapping[str, ArrayRule]] = {
        "cells": schema.numbers("chains", "cells"),
        "parents": schema.graphs("chains", "nodes"),
        "value": schema.wholes("chains", 1),
    }
    series_rules: ClassVar[Mapping[str, ArrayRule]] = {
        # Codes, or numbers.
        "cells": ArrayRule(("kept tables", "cells"), "uf", -schema.LARGEST, schema.LARGEST),
        "edges": schema.probabilities("paired tables", "nodes", "nodes"),
        "paths": schema.probabilities("paired tables", "nodes", "nodes"),
        "values": schema.wholes("tables"),
    }
    sums_rules: ClassVar[Mapping[str, ArrayRule]] = {
        "families": schema.numbers("chains", "all families", least=0.0),
        "shares": schema.numbers("chains", "values of the score", least=0.0),
    }

    def __post_init__(self) -> None:
        """Check the settings."""
        super().__post_init__()
        whole_number(self.graphs, "graphs", "Augmentation", most=_MOST_GRAPHS)
        if ROUND_GRAPHS % self.graphs:
            raise refusal(self.graphs, "graphs", "Augmentation", f"a divisor of {ROUND_GRAPHS}, such as 10 or 20")
        whole_number(self.rounds, "rounds", "Augmentation")
        number(self.error, "error", "Augmentation", above=0.0, most=0.5, allowed="a number above 0 and at most 0.5")
        one_of(self.given_table, "given_table", WAYS, "Augmentation")

    @property
    def modularity(self) -> str | None:  # type: ignore[override]
        """The posterior that it belongs to, once it is settled how graphs are found."""
        return {AUTO: None, DDS.name: DDS.modularity}.get(self.given_table, ExactLayers.modularity)

    @property
    def target(self) -> Target:
        """What is counted."""
        return MODULARITIES[self.modularity or ExactLayers().target]

    @property
    def exact_given_table(self) -> bool:
        """Whether graphs are independent draws from the exact posterior of each completed table."""
        return self.given_table in (ExactLayers.name, DDS.name)

    @property
    def step_settings(self) -> tuple[Any, ...]:
        """Graphs from each table, and rounds of its cells."""
        return int(self.graphs), int(self.rounds)

    @property
    def steps_a_round(self) -> int:
        """Sweeps of a round."""
        return int(ROUND_GRAPHS // self.graphs)

    def sweeps_of(self, count: int) -> int:
        """The sweeps of a chain, where all chains together keep `count` graphs."""
        return math.ceil(math.ceil(count / self.chains) / self.graphs)

    def prepare(self, workspace: Workspace) -> Any:
        """The table with its gaps, and the way from a completed one to graphs."""
        assert workspace.passes is not None
        return workspace.passes

    def empty_series(self, context: Any, nodes: int, length: int) -> Beside:
        """The completed cells, exact edges and paths, and the value of the score's setting, sweep by sweep."""
        sweeps = math.ceil(length / self.graphs)
        cells, every = context.cell_rules, context.cell_rules.kept_every(self.steps_a_round)
        pairs = (sweeps, nodes, nodes) if context.keeps_pairs else (0, nodes, nodes)
        return {
            "cells": np.zeros((math.ceil(sweeps / every), cells.count), dtype=cells.kept_as),
            "edges": np.zeros(pairs, dtype=np.float32),
            "paths": np.zeros(pairs, dtype=np.float32),
            "values": np.zeros(sweeps, dtype=np.uint8),
        }

    def bytes_kept(self, cells: CellRules, nodes: int, count: int) -> int:
        """What all chains together keep beside `count` graphs."""
        sweeps = self.sweeps_of(count)
        tables = math.ceil(sweeps / cells.kept_every(self.steps_a_round))
        return int(self.chains * (tables * cells.size + sweeps * 8 * nodes**2))

    def draw(self, workspace: Workspace, wanted: Wanted) -> Draws:
        """Run the chains, if there is room for what they keep: round by round, and joined."""
        kept = self.bytes_kept(self.prepare(workspace).cell_rules, workspace.nodes, wanted.number)
        memory.require(
            2 * kept,
            f"What {self.chains} chains keep of the tables that they complete, for {wanted.number:,} graphs,",
            f"Draw fewer graphs ({setting('samples', max(wanted.number // 10, 1))}).",
        )
        return super().draw(workspace, wanted)

    def empty_sums(self, context: Any, nodes: int) -> Beside:
        """The probabilities of all families, and of the values of the score's setting."""
        return {"families": np.zeros(context.family_count), "shares": np.zeros(len(context.log_priors))}

    def check_beside(self, context: Any, nodes: int, beside: Beside) -> None:
        """Refuse cells that cannot fill the gaps of this table, and series and sums of other columns."""
        own = self.series_rules if "cells" in beside else self.sums_rules
        schema.require(beside.keys() == own.keys(), f"no {', '.join(own.keys() - beside.keys())}")
        room = self.empty_series(context, nodes, ROUND_GRAPHS) | self.empty_sums(context, nodes)
        for name, array in beside.items():
            # The sums of a chain are one row of those of all.
            shape = own[name].shape[-array.ndim :]
            replace(own[name], shape=shape).check(name, array, schema.Sizes(nodes=nodes))
            same = array.dtype == room[name].dtype and array.shape[-1:] == room[name].shape[-1:]
            schema.require(same or name == "values", f"{name} of another table")
        if "cells" in beside:
            schema.require(context.cell_rules.hold(beside["cells"]), "cells that cannot be in these places")
            schema.require(int(beside["values"].max(initial=0)) < len(context.log_priors), "values that are not there")

    def is_enough(self, series: Sequence[Beside]) -> bool:
        """Whether chains agree about every edge and path, and their average is as sure as asked for."""
        from dagpost.mcmc.augmented_agreement import sweep_agreement

        found = sweep_agreement([own["edges"] for own in series], [own["paths"] for own in series])
        return found.is_enough(self.error)

    def cost_of_tables(self, nodes: int, max_parents: int, workers: int) -> None:  # type: ignore[override]
        """There are none: sums are made in every sweep."""

    def cost_of_draws(self, count: int, nodes: int, max_parents: int, workers: int) -> Cost:
        """From what the sums of a sweep take; what its scores take hangs on the rows, which are not known here."""
        from dagpost.exact.structure import expected_seconds

        sums = expected_seconds(nodes, 1) if self.exact_given_table else nodes * _A_VARIABLE
        sweeps = self.burn_in + self.sweeps_of(count)
        seconds = math.ceil(self.chains / workers) * sweeps * (_A_SWEEP + 2.0 * sums)
        what, size = f"{count:,} graphs from {self.chains} chains", count * (100 + 2 * nodes)
        return Cost("samples", what, seconds, size, _UNCERTAINTY)

    def _checked(self, workspace: Workspace, context: Any, run: ChainRun, seed: np.random.SeedSequence) -> ChainChecks:
        """Nothing is exact where there are gaps."""
        from dagpost.mcmc.checks import INTERRUPTED, ChainChecks

        return ChainChecks(False, unchecked=INTERRUPTED if run.interrupted else "with gaps there are none")
