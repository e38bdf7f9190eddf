"""Do chains over completed tables agree, and how well are their averages known?

Every sweep of such a chain leaves the probability of each edge and path given its completed table. Where the sums over
all graphs are exact, a graph given a table is an independent draw: only the completed cells can be stuck, and chains
start from cells that were drawn independently of each other. So the chains are judged by these probabilities: R-hat and
effective size of every one that depends on the completed cells by more than `NEAR`, and the largest Monte Carlo
standard error of all. (One that varies by less is right to that, whichever table it was computed from.)
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost.mcmc.diagnostics import LARGEST_R_HAT, SMALLEST_EFFECTIVE, ChainDiagnostics
from dagpost.mcmc.number_series import Averages, averages_of
from dagpost.mcmc.verdict import NEAR, NEAR_ENOUGH

#: What to do where chains are worth too little.
_MORE = "Run longer, or redraw the {drawn} more often in each sweep."
#: Series that vary by less than this have errors below it, whatever their autocorrelation.
_NEGLIGIBLE = 1e-4

#: One array (sweeps, ...) a chain, or all of them in one array (chains, sweeps, ...).
SeriesByChain = Sequence[NDArray[np.floating[Any]]] | NDArray[np.floating[Any]]


class SweepAgreement(NamedTuple):
    """How chains over completed tables agree.

    `largest_r_hat` and `smallest_effective` are over the probabilities that depend on the completed cells, of which
    there are `telling`; where there are none, R-hat is 1 and all sweeps count. `largest_error` is the largest standard
    error of any average.
    """

    largest_r_hat: float
    smallest_effective: float
    largest_error: float
    telling: int = 0

    @property
    def within(self) -> float:
        """How far the average that is known worst may be off: two standard errors."""
        return 2.0 * self.largest_error

    def is_enough(self, error: float) -> bool:
        """Whether chains agree, are worth enough to say so, and every average is as sure as asked for."""
        agree = self.largest_r_hat <= LARGEST_R_HAT and self.smallest_effective >= SMALLEST_EFFECTIVE
        return agree and self.largest_error <= error


def agreement_of(*series: SeriesByChain) -> SweepAgreement:
    """The agreement of chains from what each has written so far, such as its edges and its paths.

    Chains are cut to the shortest; a probability that some sweep does not know (nan) is left out. Cheap: some 0.4 ms
    for each probability that varies, with 4 chains of 1,000 sweeps.

    >>> generator = np.random.default_rng(1)
    >>> found = agreement_of(generator.beta(2.0, 2.0, size=(4, 500, 3, 3)))
    >>> found.largest_r_hat < 1.01, found.smallest_effective > 1_000, round(found.largest_error, 3)
    (True, True, 0.005)
    """
    worst, smallest, error, telling = 1.0, math.inf, 0.0, 0
    for own in series:
        values = stacked(own)
        if not values.shape[1]:
            # Of very many columns no series are kept.
            return SweepAgreement(math.inf, 0.0, math.inf)
        smallest = min(smallest, float(values.shape[0] * values.shape[1]))
        flat = values.reshape(*values.shape[:2], -1)
        spreads = flat.std(axis=(0, 1), dtype=np.float64)
        found = averages_of(flat[:, :, spreads > _NEGLIGIBLE])
        error = max(error, float(found.errors.max(initial=0.0)))
        error = max(error, float(spreads.max(initial=0.0, where=spreads <= _NEGLIGIBLE)))
        tells = found.spreads > NEAR
        telling += int(tells.sum())
        worst = max(worst, float(found.r_hats.max(initial=1.0, where=tells)))
        smallest = min(smallest, float(found.effective.min(initial=smallest, where=tells)))
    return SweepAgreement(worst, smallest, error, telling)


def sweep_agreement(edges: SeriesByChain, paths: SeriesByChain | None) -> SweepAgreement:
    """The agreement about every edge, every pair to be joined whichever way and, where these are known, every path.

    An edge and its reverse may be wrong together: of a pair, both are asked.
    """
    own = stacked(edges)
    joined = own + own.transpose(0, 1, 3, 2)
    return agreement_of(own, joined[:, :, *np.triu_indices(own.shape[2], 1)], *([] if paths is None else [paths]))


def stacked(series: SeriesByChain) -> NDArray[np.floating[Any]]:
    """Series as one array (chains, sweeps, ...), cut to the shortest chain."""
    if isinstance(series, np.ndarray):
        return series
    shortest = min(map(len, series))
    return np.stack([own[:shortest] for own in series])


def diagnose_sweeps(
    edges: SeriesByChain,
    paths: SeriesByChain | None,
    names: Sequence[str],
    draws: int,
    acceptance: Mapping[str, float],
    *,
    exact: bool = True,
    called: tuple[str, str] = ("cells", "completed tables"),
) -> ChainDiagnostics:
    """Judge chains over completed tables by their edges and, where these are known, their paths, sweep by sweep.

    `draws`: how many graphs each chain has kept. `exact`: whether the graphs given a table come from sums over all of
    them; else they were moved by a chain as well, and agreement does not show that it moved everywhere. `called`: what
    the chains drew, and what tables are called that have it.
    """
    import pandas as pd

    series = stacked(edges)
    agreement, own = sweep_agreement(series, paths), averages_of(series)
    chains, sweeps = series.shape[:2]
    child, parent = np.nonzero((own.means > 0.0).T)
    verdict, trusted, agreed = _verdict(agreement, _worst(own, names), chains, sweeps, called, exact=exact)
    varies = own.spreads[parent, child] > _NEGLIGIBLE
    return ChainDiagnostics(
        edges=pd.DataFrame(
            {
                "parent": [names[place] for place in parent.tolist()],
                "child": [names[place] for place in child.tolist()],
                "frequency": own.means[parent, child],
                "r_hat": np.where(varies, own.r_hats[parent, child], math.nan),
                "effective_samples": np.where(varies, own.effective[parent, child], math.nan),
                "error": own.errors[parent, child],
            }
        ),
        acceptance=dict(acceptance),
        chains=chains,
        draws=draws,
        uncertain=int((own.spreads > NEAR).sum()),
        largest_r_hat=agreement.largest_r_hat,
        smallest_effective=agreement.smallest_effective,
        trusted=trusted,
        verdict=verdict,
        agreed=agreed,
    )


def _worst(edges: Averages, names: Sequence[str]) -> str:
    """The edge that chains disagree about most, in words; nothing where no edge depends on the cells."""
    values = np.where(edges.spreads > NEAR, edges.r_hats, -math.inf)
    if not (values > -math.inf).any():
        return ""
    parent, child = divmod(int(np.argmax(values)), values.shape[1])
    return f", most about {names[parent]} -> {names[child]}"


def _verdict(
    found: SweepAgreement, worst: str, chains: int, sweeps: int, called: tuple[str, str], *, exact: bool
) -> tuple[str, bool, bool]:
    """The verdict in words, whether to trust the averages, and whether the chains agree."""
    drawn, tables = called
    more = _MORE.format(drawn=drawn)
    kept = f"{chains} chain{'' if chains == 1 else 's'} of {sweeps:,} {tables}"
    several = f"{kept}, from {drawn} drawn independently,"
    depend = f"{found.telling} probabilit{'y that depends' if found.telling == 1 else 'ies that depend'} on the {drawn}"
    if chains < 2:
        why = "one chain alone cannot show whether it has found everything. Run at least two."
        return f"Do not trust it yet: {why}", False, False
    if chains * sweeps < SMALLEST_EFFECTIVE:
        return f"Do not trust it yet: {kept} are too few to say anything. Run longer.", False, False
    if found.largest_r_hat > LARGEST_R_HAT:
        wide = f"R-hat {found.largest_r_hat:.2f}, should be below {LARGEST_R_HAT}, over {depend}"
        return f"Do not trust it yet: {several} disagree{worst} ({wide}). {more}", False, False
    agree = f"agree (R-hat at most {found.largest_r_hat:.3f} over {depend})" if found.telling else "agree"
    if found.smallest_effective < SMALLEST_EFFECTIVE:
        worth = f"are worth only {found.smallest_effective:.0f} independent tables for some of these"
        return f"Do not trust it yet: {several} {agree}, but {worth}. {more}", False, False
    error = f"the standard errors of the averages are at most {found.largest_error:.4f}"
    if found.within > NEAR_ENOUGH:
        return f"Do not trust it yet: {several} {agree}, but {error}. {more}", False, True
    about = f"to about ±{max(found.within, 0.01):.2f}"
    if exact:
        return f"Trust it {about}: {several} {agree}; {error}.", True, True
    moved = "Given a table, the graph was moved by a chain, which may have missed some graphs in all of them"
    return f"Nothing speaks against it, {about}: {several} {agree}; {error}. {moved}: that is not proof.", True, True
