"""Whether chains can be trusted: do they agree with each other, and how many independent graphs are they worth?

For every edge the split R-hat and the effective sample size of Vehtari, Gelman, Simpson, Carpenter & Bürkner (2021),
from its series of zeros and ones (mcmc/number_series.py): ranks of two values only shift and scale it. Edges that are
all but certain, one way or the other, say little about mixing, so agreement is judged by those between 0.05 and 0.95
and those that two chains see differently by more than one half; R-hat is for these and for all between 0.01 and 0.99.
Agreement alone earns no trust: the verdict (mcmc/verdict.py) rests on what else was checked, too.
"""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Integers
from dagpost.families.edge_counts import edge_counts
from dagpost.families.masks import UnsignedMasks, edges_of_pairs
from dagpost.mcmc.checks import ChainChecks
from dagpost.mcmc.number_series import Averages, averages_of
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
#: Edges whose series are written out together.
_EDGES_TOGETHER = 256


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
    count, draws = chains.shape[:2]
    counts = np.stack([edge_counts(own) for own in chains])
    child, parent = np.nonzero(counts.any(axis=0).T)
    frequency = counts.sum(axis=0)[parent, child] / (count * draws)
    # One chain of many that went astray hardly changes a share.
    apart = np.ptp(counts, axis=0)[parent, child] > _APART * draws
    # Only those that vary enough to tell anything.
    telling = ((frequency > _TELLING) & (frequency < 1.0 - _TELLING)) | apart
    averages = _averages_of_edges(chains, np.stack([parent, child], axis=1)[telling])
    disagreement, effective = np.full((2, len(parent)), math.nan)
    disagreement[telling], effective[telling] = averages.r_hats, averages.effective
    uncertain = ((frequency > UNCERTAIN[0]) & (frequency < UNCERTAIN[1])) | apart
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
    smallest = float(np.min(effective, initial=float(count * draws), where=uncertain))
    agreement = _agreement(edges, uncertain, worst, smallest, count, draws)
    verdict, trusted = verdict_on(agreement, checks, names)
    return ChainDiagnostics(
        edges=edges,
        acceptance=dict(acceptance),
        chains=count,
        draws=draws,
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


def _averages_of_edges(chains: UnsignedMasks, edges: Integers) -> Averages:
    """The averages of some edges (parent, child), a row each, over the graphs of chains."""
    graphs = chains.reshape(-1, *chains.shape[2:])
    parts = []
    for start in range(0, max(len(edges), 1), _EDGES_TOGETHER):
        held = edges_of_pairs(graphs, edges[start : start + _EDGES_TOGETHER])
        series = held.reshape(-1, *chains.shape[:2])
        parts.append(averages_of(np.moveaxis(series, 0, 2)))
    return Averages(*(np.concatenate(figures) for figures in zip(*parts, strict=True)))
