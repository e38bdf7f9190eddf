"""What chains over completed tables found: averages of exact posteriors, and how well these are known.

A table with gaps has no posterior of its own that sums can reach. But given the cells that one sweep of a chain drew,
edges, paths and parent sets have exact probabilities, and these are kept: their averages over the sweeps are the
posterior given the cells that were observed (Rao-Blackwell: no graph has to be drawn for them). What is left is Monte
Carlo error, from the series of each chain (mcmc/number_series.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats, Integers
from dagpost.families.masks import UnsignedMasks, distinct_rows, matrices_of_masks
from dagpost.mcmc.augmented_agreement import stacked
from dagpost.mcmc.number_series import Averages, averages_of
from dagpost.mcmc.records import ChainRecord
from dagpost.methods.augmentation import Augmentation
from dagpost.methods.base import Method

#: What chains over completed tables keep beside graphs (mcmc/augmentation.py).
CELLS, EDGES, PATHS, VALUES, FAMILIES = "cells", "edges", "paths", "values", "families"

#: Edges whose probability varies by less than this from table to table do not show how fast cells move.
_TELLING = 1e-3
#: Probabilities below this are taken as this where their logs are added.
_LEAST = 1e-300


@dataclass(frozen=True, eq=False)
class Augmented:
    """The completed tables of a fitted model and what was averaged over them.

    Everything comes from the record of the chains. `edges[a, b]` is the probability of `a -> b`, `paths[a, b]` that of
    a directed path (None where none were summed, nan for a pair without); `..._errors` are Monte Carlo standard errors.
    """

    record: ChainRecord
    #: Sweeps of a round of the chains, of which as many tables are kept as fit into memory, and graphs of a sweep.
    sweeps_a_round: int
    graphs_a_sweep: int

    @property
    def tables(self) -> int:
        """How many completed tables the averages are over."""
        return len(self.record.series[EDGES])

    @property
    def edges(self) -> Floats:
        """The probability of every edge (parent, child)."""
        return self._edges.means

    @property
    def edge_errors(self) -> Floats:
        """The standard errors of these."""
        return self._edges.errors

    @property
    def paths(self) -> Floats | None:
        """The probability of a directed path (source, target)."""
        return None if self._paths is None else self._paths.means

    @property
    def path_errors(self) -> Floats | None:
        """The standard errors of these."""
        return None if self._paths is None else self._paths.errors

    @cached_property
    def families(self) -> Floats | None:
        """The probability of every parent set of every node, by their numbers; None where these were not summed."""
        found = self.record.sums.get(FAMILIES)
        return None if found is None else np.asarray(found).sum(axis=0) / self.tables

    def series(self, name: str) -> Floats:
        """What was found given each completed table, as (chains, sweeps, ...), cut to the shortest chain."""
        return stacked(self.record.series_of(name))

    @property
    def completions(self) -> NDArray[np.generic]:
        """The cells of the completed tables that are kept (tables, cells), chain after chain."""
        return self.record.series[CELLS]

    @property
    def chain_of(self) -> Integers:
        """The chain of each of these."""
        lengths = self.record.series_lengths[CELLS]
        return np.repeat(np.arange(len(lengths)), lengths)

    @property
    def value_of(self) -> Integers:
        """Which value of the setting that the score averages over goes with each of these: 0 where it does not."""
        own = self.record.series.get(VALUES)
        return np.zeros(len(self.completions), dtype=np.int64) if own is None else own[self.sweep_of].astype(np.int64)

    @cached_property
    def sweep_of(self) -> Integers:
        """The sweep of each of these, all sweeps of one chain after those of another: large tables are not all kept."""
        starts = np.cumsum([0, *(len(own) for own in self.record.series_of(VALUES))])
        pairs = zip(self.record.series_of(CELLS), self.record.series_of(VALUES), starts[:-1].tolist(), strict=True)
        return np.concatenate([start + self._kept_sweeps(len(cells), len(own)) for cells, own, start in pairs])

    def _kept_sweeps(self, kept: int, sweeps: int) -> Integers:
        """Which sweeps of one chain are kept, as mcmc/augmentation.py does it: evenly from each round."""
        whole = self.sweeps_a_round
        for every in range(1, whole + 1):
            places = []
            for start in range(0, sweeps, whole):
                length = min(whole, sweeps - start)
                count = -(-length // every)
                places.append(start + np.arange(count) * -(-length // count))
            found = np.concatenate(places)
            if len(found) == kept:
                return found
        raise AssertionError(f"{kept} of {sweeps} tables cannot have been kept")

    def graphs_of(self, place: int) -> slice:
        """Where in the sample the graphs stand that were drawn from one of these."""
        chain = int(self.chain_of[place])
        sweep = int(self.sweep_of[place]) - sum(len(own) for own in self.record.series_of(VALUES)[:chain])
        start = sum(self.record.lengths[:chain])
        first = start + sweep * self.graphs_a_sweep
        return slice(first, min(first + self.graphs_a_sweep, start + self.record.lengths[chain]))

    @property
    def shares(self) -> tuple[float, ...]:
        """The posterior probability of each value that the score averages over: how often chains were there."""
        own = self.record.series[VALUES]
        return tuple((np.bincount(own) / len(own)).tolist())

    def likeliest(self, parents: UnsignedMasks) -> int:
        """The place of the graph that was drawn most often; among equals, of the one with the most probable edges.

        Log weights of graphs cannot be compared where they come from different completed tables.
        """
        first, member = distinct_rows(parents)
        often = np.bincount(member)
        leading = first[often == often.max()]
        chances = np.where(matrices_of_masks(parents[leading]), self.edges, 1.0 - self.edges)
        return int(leading[np.log(np.maximum(chances, _LEAST)).sum(axis=(1, 2)).argmax()])

    def worth(self, children: Sequence[int]) -> float:
        """How many independent tables all of them are worth for the parents of some nodes: as for the worst edge."""
        sizes, spreads = self._edges.effective[:, children], self._edges.spreads[:, children]
        # An edge that hardly depends on the cells tells nothing of how fast these move.
        return float(np.nanmin(sizes, initial=self.tables, where=spreads > _TELLING))

    def spread(self, count: int) -> Integers:
        """Which completed tables to take where `count` are enough, as (chains, tables): evenly from every chain."""
        lengths = self.record.series_lengths[CELLS]
        each = max(min(count // len(lengths), *lengths), 1)
        starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
        return np.stack(
            [
                start + np.linspace(0, length - 1, each).round().astype(np.int64)
                for start, length in zip(starts, lengths, strict=True)
            ]
        )

    @cached_property
    def _edges(self) -> Averages:
        return self._averages(EDGES)

    @cached_property
    def _paths(self) -> Averages | None:
        return self._averages(PATHS) if PATHS in self.record.series else None

    def _averages(self, name: str) -> Averages:
        found = averages_of(self.series(name))
        # The means are over all sweeps; chains differ in length by a few where a run was broken off.
        return found._replace(means=self.record.series[name].mean(axis=0, dtype=np.float64))


def augmented_of(record: ChainRecord | None, method: Method) -> Augmented | None:
    """What chains over completed tables found; None for other chains."""
    if record is None or not isinstance(method, Augmentation) or EDGES not in record.series:
        return None
    return Augmented(record, method.steps_a_round, method.graphs)
