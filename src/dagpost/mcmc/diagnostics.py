"""Whether chains can be trusted: do they agree with each other, and how many independent graphs are they worth?

For every edge the rank-normalised split R-hat and the effective sample size of Vehtari, Gelman, Simpson, Carpenter &
Bürkner (2021): of edges from counts and bits (mcmc/edge_series.py), of other series from ArviZ. Edges that are all but
certain, one way or the other, say little about mixing, so agreement is judged by those between 0.05 and 0.95 and those
that two chains see differently by more than one half; R-hat is for these and for all between 0.01 and 0.99. Agreement
alone earns no trust: the verdict (mcmc/verdict.py) rests on what else was checked, too.
"""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats
from dagpost.mcmc.checks import ChainChecks
from dagpost.mcmc.edge_series import count_edges, effective_sizes_of_edges
from dagpost.mcmc.verdict import MORE, Agreement, verdict_on

if TYPE_CHECKING:
    import pandas as pd

#: What the verdict rests on: edges whose probability lies between these.
UNCERTAIN = (0.05, 0.95)
#: The usual bounds for chains that agree, and for enough draws to say so.
LARGEST_R_HAT = 1.05
SMALLEST_EFFECTIVE = 100.0
#: Edges that are rarer than this, or as rarely missing, are listed without R-hat and effective size.
_TELLING = 0.01
#: An edge whose share differs by more than this between two chains is uncertain, however rare it is in all.
_APART = 0.5


def r_hat(series: Floats) -> Floats:
    """Rank-normalised split R-hat of series (chains, draws, quantities); nan where nothing varies.

    Chains that stand still at different values are infinitely far apart.

    >>> stuck = np.zeros((2, 10, 1)); stuck[1] = 1.0
    >>> float(r_hat(stuck)[0])
    inf
    """
    return _of_varying(series, "rhat", constant=math.nan, stuck=math.inf)


def effective_sizes(series: Floats) -> Floats:
    """Effective sample size of the means of series (chains, draws, quantities); nan where nothing varies."""
    return _of_varying(series, "ess", constant=math.nan, stuck=float(series.shape[0]))


def largest_r_hat(parents: NDArray[np.unsignedinteger[Any]]) -> float:
    """The largest R-hat of an uncertain edge; 1.0 if no edge is uncertain.

    `parents` are masks (chains, draws, nodes), beyond 64 nodes with the words of each behind.

    >>> largest_r_hat(np.zeros((2, 10, 3), dtype=np.uint8))
    1.0
    """
    counted = count_edges(parents)
    values, shares = counted.r_hats(), counted.shares
    telling = (shares > UNCERTAIN[0]) & (shares < UNCERTAIN[1]) & ~np.isnan(values)
    return float(np.max(values, initial=1.0, where=telling))


def by_chain(rows: NDArray[Any], lengths: Sequence[int]) -> NDArray[Any]:
    """Rows that stand chain after chain as an array (chains, draws, ...), cut to the shortest chain."""
    if min(lengths) == max(lengths) and len(rows) == sum(lengths):
        # Not copied: the graphs of hundreds of columns can be gigabytes.
        return rows.reshape(len(lengths), lengths[0], *rows.shape[1:])
    starts = np.concatenate([[0], np.cumsum(lengths)])[:-1]
    return np.stack([rows[start : start + min(lengths)] for start in starts])


@dataclass(frozen=True, eq=False, repr=False)
class ChainDiagnostics:
    """How far to trust the chains behind a sample.

    `edges` lists every edge that was ever seen: its frequency, R-hat and effective sample size. `acceptance` is the
    share of proposed moves that were accepted, by kind. `agreed`: whether the chains agree with each other and are
    worth enough; `checks`: what else was checked. `verdict` says it in words, and `trusted` whether nothing speaks
    against them.
    """

    edges: pd.DataFrame
    acceptance: Mapping[str, float]
    chains: int
    draws: int
    uncertain: int
    largest_r_hat: float
    smallest_effective: float
    trusted: bool
    verdict: str
    agreed: bool
    checks: ChainChecks | None = None

    def __repr__(self) -> str:
        return self.verdict

    def summary(self) -> dict[str, Any]:
        """The figures behind the verdict, as JSON can hold them."""
        return {
            "trusted": self.trusted,
            "verdict": self.verdict,
            "agreed": self.agreed,
            "checks": None if self.checks is None else self.checks.to_json(),
            "chains": self.chains,
            "uncertain_edges": self.uncertain,
            "largest_r_hat": self.largest_r_hat if math.isfinite(self.largest_r_hat) else None,
            "smallest_effective": None if math.isnan(self.smallest_effective) else self.smallest_effective,
            "acceptance": {kind: None if math.isnan(share) else share for kind, share in self.acceptance.items()},
        }

    def _repr_html_(self) -> str:
        worst = self.edges.sort_values("r_hat", ascending=False).head(10).round(3)
        return f"<p>{html.escape(self.verdict)}</p>{worst.to_html(escape=True, index=False)}"


def diagnose(
    parents: NDArray[np.unsignedinteger[Any]],
    names: Sequence[str],
    lengths: Sequence[int],
    acceptance: Mapping[str, float],
    checks: ChainChecks | None = None,
) -> ChainDiagnostics:
    """Compare the chains of a sample, whose graphs stand chain after chain, and judge them by all that was checked."""
    import pandas as pd

    chains = by_chain(parents, lengths)
    counted = count_edges(chains)
    child, parent = np.nonzero(counted.whole.any(axis=0).T)
    frequency, disagreement = counted.shares[parent, child], counted.r_hats()[parent, child]
    # One chain of many that went astray hardly changes a share.
    apart = np.ptp(counted.whole, axis=0)[parent, child] > _APART * chains.shape[1]
    # Only those that vary enough to tell anything.
    telling = ((frequency > _TELLING) & (frequency < 1.0 - _TELLING)) | apart
    effective = np.where(telling, float(len(chains)), math.nan)
    varying = telling & counted.varies[parent, child]
    effective[varying] = effective_sizes_of_edges(chains, np.stack([parent, child], axis=1)[varying])
    disagreement[~telling] = math.nan
    uncertain = ((frequency > UNCERTAIN[0]) & (frequency < UNCERTAIN[1])) | apart
    # Chains that are too short to be split have no R-hat, which is not a reason to trust them.
    disagreement = np.where(np.isnan(disagreement) & uncertain, math.inf, disagreement)
    edges = pd.DataFrame(
        {
            "parent": [names[place] for place in parent.tolist()],
            "child": [names[place] for place in child.tolist()],
            "frequency": frequency,
            "r_hat": disagreement,
            "effective_samples": effective,
        }
    )
    worst = float(np.max(disagreement, initial=1.0, where=uncertain))
    smallest = float(np.min(effective, initial=float(chains.shape[0] * chains.shape[1]), where=uncertain))
    agreement = _agreement(edges, uncertain, worst, smallest, chains.shape[0], chains.shape[1])
    verdict, trusted = verdict_on(agreement, checks, names)
    return ChainDiagnostics(
        edges=edges,
        acceptance=dict(acceptance),
        chains=chains.shape[0],
        draws=chains.shape[1],
        uncertain=int(uncertain.sum()),
        largest_r_hat=worst,
        smallest_effective=smallest,
        trusted=trusted,
        verdict=verdict,
        agreed=agreement.agreed,
        checks=checks,
    )


def _agreement(
    edges: pd.DataFrame, uncertain: NDArray[np.bool_], worst: float, smallest: float, chains: int, draws: int
) -> Agreement:
    if chains < 2:
        return Agreement("one chain alone cannot show whether it has found everything", "Run at least two.")
    kept = f"{chains} chains of {draws:,} graphs"
    if chains * draws < SMALLEST_EFFECTIVE:
        return Agreement(f"{kept} are too few to say anything", "Run longer.", too_few=True)
    if not uncertain.any():
        return Agreement(f"{kept} agree that no edge is uncertain", error=0.01)
    number = f"{int(uncertain.sum())} uncertain edges"
    if worst > LARGEST_R_HAT:
        row = edges[uncertain].sort_values("r_hat", ascending=False).iloc[0]
        where = f"{row['parent']} -> {row['child']}"
        wide = f"R-hat {worst:.2f}, should be below {LARGEST_R_HAT}, over {number}"
        return Agreement(f"{kept} disagree, most about {where} ({wide})", MORE)
    if smallest < SMALLEST_EFFECTIVE:
        worth = f"are worth only {smallest:.0f} independent graphs for some of {number}"
        return Agreement(f"{kept} agree (R-hat {worst:.2f}), but {worth}", MORE)
    worth = f"are worth at least {smallest:.0f} independent graphs"
    error = max(2.0 * math.sqrt(0.25 / smallest), 0.01)
    return Agreement(f"{kept} agree (R-hat at most {worst:.3f} over {number}) and {worth}", error=error)


def _of_varying(series: Floats, statistic: str, *, constant: float, stuck: float) -> Floats:
    """ArviZ's statistic of every quantity that varies in at least one chain."""
    from arviz_stats.base import array_stats  # type: ignore[attr-defined]

    within = (series.max(axis=1) > series.min(axis=1)).any(axis=0)
    between = series[:, 0].max(axis=0) > series[:, 0].min(axis=0)
    result = np.where(between, stuck, constant)
    if within.any():
        compute = getattr(array_stats, statistic)
        options = {"method": "rank"} if statistic == "rhat" else {"method": "mean"}
        # Half a chain in which nothing changes has no variance to divide by.
        with np.errstate(divide="ignore", invalid="ignore"):
            result[within] = compute(series[:, :, within], chain_axis=0, draw_axis=1, **options)
    return result
