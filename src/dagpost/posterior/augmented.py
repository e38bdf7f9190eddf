"""What chains over completed tables found: averages of exact posteriors, and how well these are known.

A table with gaps has no posterior of its own that sums can reach. But given the cells that one sweep of a chain drew,
edges, paths and parent sets have exact probabilities, and these are kept: their averages over the sweeps are the
posterior given the cells that were observed (Rao-Blackwell: no graph has to be drawn for them). What is left is Monte
Carlo error, from the series of each chain (mcmc/number_series.py).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats, Integers
from dagpost.mcmc.augmented_agreement import stacked
from dagpost.mcmc.number_series import Averages, averages_of
from dagpost.mcmc.records import ROUND_GRAPHS, ChainRecord

#: What chains over completed tables keep beside graphs, and what they add up (mcmc/augmentation.py).
CELLS, EDGES, PATHS, VALUES = "cells", "edges", "paths", "values"
FAMILIES, SHARES = "families", "shares"
#: Edges whose probability varies by less than this from table to table do not show how fast cells move.
_TELLING = 1e-3


@dataclass(frozen=True, eq=False)
class Augmented:
    """The completed tables of a fitted model and what was averaged over them.

    Everything comes from the record of the chains. `edges[a, b]` is the probability of `a -> b`, `paths[a, b]` that of
    a directed path; `..._errors` are Monte Carlo standard errors. Of very many columns no series are kept: then paths
    are None, and errors come from the differences between chains.
    """

    record: ChainRecord

    @cached_property
    def sweeps(self) -> tuple[int, ...]:
        """How many sweeps each chain made, each with a completed table of its own."""
        return tuple(self.record.series_lengths[VALUES])

    @property
    def tables(self) -> int:
        """How many completed tables the averages are over."""
        return sum(self.sweeps)

    @property
    def has_series(self) -> bool:
        """Whether what was found given each table is kept, and not only its average."""
        return len(self.record.series[EDGES]) > 0

    @property
    def exact_given_table(self) -> bool:
        """Whether all graphs were summed over, given each table."""
        return self.record.sums[FAMILIES].size > 0

    @property
    def edges(self) -> Floats:
        """The probability of every edge (parent, child)."""
        return self._edges.means

    @property
    def edge_errors(self) -> Floats:
        """The standard errors of these."""
        return self._edges.errors

    @cached_property
    def joined_errors(self) -> Floats:
        """The standard errors of the probability that two columns are joined, whichever way."""
        own = self.by_chain(EDGES)
        return averages_of(own + own.transpose(0, 1, 3, 2)).errors

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
        """The probabilities of all parent sets, those of the first node first; None where these were not summed."""
        return self.record.sums[FAMILIES].sum(axis=0) / self.tables if self.exact_given_table else None

    @property
    def shares(self) -> tuple[float, ...]:
        """The posterior probability of each value that the score averages over."""
        return tuple((self.record.sums[SHARES].sum(axis=0) / self.tables).tolist())

    def series(self, name: str) -> NDArray[np.floating[Any]]:
        """What was found given each completed table, as (chains, sweeps, ...), cut to the shortest chain."""
        return stacked(self.record.series_of(name))

    def by_chain(self, name: str) -> NDArray[np.floating[Any]]:
        """The same; of very many columns, the mean edges of each chain in the place of its sweeps."""
        if self.has_series or name != EDGES:
            return self.series(name)
        assert self.record.edges is not None
        return self.record.edges[:, None]

    @property
    def completions(self) -> NDArray[np.generic]:
        """The cells of the completed tables that are kept (tables, cells), chain after chain."""
        return self.record.series[CELLS]

    @property
    def chain_of(self) -> Integers:
        """The chain of each of these."""
        lengths = self.record.series_lengths[CELLS]
        return np.repeat(np.arange(len(lengths)), lengths)

    @cached_property
    def value_of(self) -> Integers:
        """Which value of the setting that the score averages over goes with each of these: 0 where it does not."""
        pairs = zip(self.record.series_of(VALUES), self._kept_sweeps, strict=True)
        return np.concatenate([own[sweeps] for own, sweeps in pairs]).astype(int)

    @cached_property
    def _kept_sweeps(self) -> list[list[int]]:
        """The sweeps of each chain whose cells were kept."""
        round_sweeps = ROUND_GRAPHS * self.sweeps[0] // max(self.record.lengths[0], 1)
        pairs = zip(self.sweeps, self.record.series_lengths[CELLS], strict=True)
        return [kept_sweeps(sweeps, cells, round_sweeps) for sweeps, cells in pairs]

    def graphs_of(self, place: int, graphs: int) -> slice:
        """Where in the sample the graphs stand that were drawn from one of these; a sweep draws `graphs` of them."""
        chain = int(self.chain_of[place])
        sweep = self._kept_sweeps[chain][place - sum(map(len, self._kept_sweeps[:chain]))]
        start, end = (sum(self.record.lengths[:count]) for count in (chain, chain + 1))
        return slice(start + sweep * graphs, min(start + (sweep + 1) * graphs, end))

    def worth(self, children: Sequence[int]) -> float:
        """How many independent tables all of them are worth for the parents of some nodes: as for the worst edge."""
        sizes, spreads = self._edges.effective[:, children], self._edges.spreads[:, children]
        # An edge that hardly depends on the cells tells nothing of how fast these move.
        return float(np.min(sizes, initial=self.tables, where=spreads > _TELLING))

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
        # Without series each chain is one draw of a mean.
        return self._averages(EDGES) if self.has_series else averages_of(self.by_chain(EDGES))

    @cached_property
    def _paths(self) -> Averages | None:
        return self._averages(PATHS) if self.has_series else None

    def _averages(self, name: str) -> Averages:
        found = averages_of(self.series(name))
        # The means are over all sweeps; chains differ in length by a few where a run was broken off.
        return found._replace(means=self.record.series[name].mean(axis=0, dtype=np.float64))


def augmented_of(record: ChainRecord | None) -> Augmented | None:
    """What chains over completed tables found; None for other chains."""
    return Augmented(record) if record is not None and {CELLS, EDGES, VALUES} <= record.series.keys() else None


def kept_sweeps(sweeps: int, kept: int, round_sweeps: int) -> list[int]:
    """The sweeps of a chain whose cells were kept: all, or in each round every so many, from its first one on.

    >>> kept_sweeps(5, 5, 10), kept_sweeps(23, 5, 10)
    ([0, 1, 2, 3, 4], [0, 5, 10, 15, 20])
    """
    rounds = [min(round_sweeps, sweeps - start) for start in range(0, sweeps, round_sweeps)]
    for every in (1, 2, 5, round_sweeps):
        counts = [math.ceil(own / every) for own in rounds]
        if sum(counts) == kept:
            starts = range(0, sweeps, round_sweeps)
            places = zip(starts, rounds, counts, strict=True)
            return [start + place for start, own, count in places for place in range(0, own, math.ceil(own / count))]
    raise ValueError(f"{kept} completed tables of {sweeps} sweeps")
