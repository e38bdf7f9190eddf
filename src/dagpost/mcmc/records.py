"""What chains write and leave: a round, a whole run, and the record of it that samples and files keep."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost._tools.schema import ArrayRule, Sizes, check_arrays, graphs, numbers, require, wholes
from dagpost.mcmc.checks import ChainChecks

if TYPE_CHECKING:
    from dagpost.methods.chain import ChainMethod

ROUND_GRAPHS = 100

#: What `ChainRecord.standing` has beside the states.
TOTALS: Mapping[str, ArrayRule] = {
    "proposed": wholes("chains", "moves"),
    "accepted": wholes("chains", "moves"),
    "edges": numbers("chains", "nodes", "nodes", least=0.0, most=1e15),
}
KEPT = graphs("graphs", "nodes")


class Round(NamedTuple):
    """What a chain writes in one round; a method without such figures leaves `edges` alone.

    After each `thinning` steps one graph is kept, a row of masks (families/masks.py), with its log weight and that of
    the state it was drawn from; the probability of every edge (parent, child) given the state is added to `edges`.
    `proposed` and `accepted` count the moves of each kind.
    """

    thinning: int
    parents: Masks
    log_joint: Floats
    log_state: Floats
    edges: Floats
    proposed: Integers
    accepted: Integers


@dataclass(frozen=True, eq=False)
class ChainRecord:
    """What is known of the chains behind a sample, beside the graphs, which stand chain after chain.

    `lengths`: graphs of each chain. `log_state`: the log weight of the state behind each graph. `proposed` and
    `accepted`: moves of each chain by kind. `edges`: for each chain the mean, over its kept states, of the exact
    probability of every edge given the state; None for a chain over graphs. `rounds` whole rounds were kept; after
    them the chains stood at `standing`, from where a longer run resumes. `checks`: what was checked beside agreement;
    None where it is not known.
    """

    lengths: tuple[int, ...]
    log_state: Floats
    moves: tuple[str, ...]
    proposed: Integers
    accepted: Integers
    edges: Floats | None
    rounds: int
    standing: Mapping[str, NDArray[Any]] = field(repr=False)
    checks: ChainChecks | None = None
    #: What a method keeps beside graphs, by name: rows of all chains, one after the other, and how many of each.
    series: Mapping[str, NDArray[Any]] = field(default_factory=dict, repr=False)
    series_lengths: Mapping[str, tuple[int, ...]] = field(default_factory=dict, repr=False)
    #: What it adds up, by name (chains, ...).
    sums: Mapping[str, Floats] = field(default_factory=dict, repr=False)

    def series_of(self, name: str) -> list[NDArray[Any]]:
        """A series, chain by chain."""
        return np.split(self.series[name], np.cumsum(self.series_lengths[name])[:-1])

    @property
    def acceptance(self) -> dict[str, float]:
        """Share of the proposed moves of each kind that were accepted; nan where none was proposed."""
        proposed, accepted = self.proposed.sum(axis=0), self.accepted.sum(axis=0)
        shares = [float(a / p) if p else math.nan for a, p in zip(accepted, proposed, strict=True)]
        return dict(zip(self.moves, shares, strict=True))


#: Arrays that a method keeps beside graphs, or adds up, by name.
Beside = dict[str, NDArray[Any]]


class Advanced(NamedTuple):
    """A chain after one more round: where it stands, and what it wrote."""

    state: Any
    output: Round
    series: Beside
    sums: Beside


@dataclass(frozen=True, eq=False)
class ChainRun:
    """The graphs of a run, chain after chain, and its record; `interrupted` if it was broken off before its end."""

    parents: Masks
    log_joint: Floats
    record: ChainRecord
    interrupted: bool = False


def check_standing(method: ChainMethod, standing: Mapping[str, NDArray[Any]], nodes: int) -> None:
    """Refuse arrays that cannot say where the chains of a method stand, with a `ValueError`."""
    sizes = Sizes(chains=method.chains, moves=len(method.moves), nodes=nodes)
    check_arrays(TOTALS, standing, sizes)
    check_arrays({f"state_{name}": rule for name, rule in method.state_rules.items()}, standing, sizes)
    few = bool((standing["accepted"] <= standing["proposed"]).all())
    require(few, "more moves were accepted than proposed")
