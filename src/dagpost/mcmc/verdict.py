"""The verdict on chains in words: what was checked, what was found, and what was not checked.

Chains are trusted where their edges were compared with the exact ones and found near; or else where chains from
opposite orders agree and a probe from elsewhere (mcmc/probe.py) found nothing against them, which the words do not call
a proof. Agreement alone is never enough: chains that all missed the same graphs agree too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dagpost.mcmc.checks import BETTER, SAME, ChainChecks, ExactCompared, ProbeFound

#: Edges no further than this from the exact ones are right, whatever R-hat says; up to the second if chains agree.
#: Without exact edges a share of one half must be known to within the second, too (400 independent graphs): the worst
#: of many edges is off by up to twice as much.
NEAR, NEAR_ENOUGH = 0.02, 0.05
#: What to do where chains are worth too little.
MORE = "Run longer, or use more thinning."


@dataclass(frozen=True)
class Agreement:
    """What chains say of each other: words that begin in lower case, and what to do where they do not agree.

    `error`: how far a share of one half may be off, where they do.
    """

    words: str
    remedy: str = ""
    error: float = 0.0
    #: Whether there are too few graphs for any comparison.
    too_few: bool = False

    @property
    def agreed(self) -> bool:
        """Whether they agree and are worth enough."""
        return not self.remedy


def verdict_on(agreement: Agreement, checks: ChainChecks | None, names: Sequence[str]) -> tuple[str, bool]:
    """The verdict in words, and whether to trust the chains."""
    if checks is not None and checks.exact is not None and not agreement.too_few:
        return _compared(agreement, checks.exact, names)
    if not agreement.agreed:
        return f"Do not trust it yet: {agreement.words}. {agreement.remedy}", False
    if agreement.error > NEAR_ENOUGH:
        return (
            f"Do not trust it yet: {agreement.words}, which leaves a share of one half uncertain by "
            f"±{agreement.error:.2f}, and the worst of many shares by more. {MORE}",
            False,
        )
    why = f" Not compared with exact probabilities: {checks.unchecked}." if checks and checks.unchecked else ""
    if checks is None or checks.probe is None:
        return (
            f"Not enough was checked to trust it: {agreement.words}, but so do chains that all missed the same "
            f"graphs.{why}",
            False,
        )
    if not checks.probe.agrees:
        return _contradicted(agreement, checks.probe, names), False
    started = ", in pairs from opposite orders," if checks.opposite else ""
    kept = agreement.words.replace(" agree ", f"{started} agree ", 1)
    told = "found the same" if checks.probe.outcome == SAME else "ended among less probable graphs"
    return (
        f"Nothing speaks against it, to about ±{agreement.error:.2f}: {kept}; {checks.probe.chains} more, from "
        f"annealed starts, {told}. That is not proof.{why}",
        True,
    )


def _compared(agreement: Agreement, exact: ExactCompared, names: Sequence[str]) -> tuple[str, bool]:
    edge, off = _edge(exact.edge, names), exact.difference
    if off <= NEAR or (agreement.agreed and off <= NEAR_ENOUGH):
        reach = max(off, agreement.error, 0.01)
        return (
            f"Trust it to about ±{reach:.2f}: compared with the exact edge probabilities, the largest difference is "
            f"{off:.3f} ({edge}); {agreement.words}.",
            True,
        )
    but = "although" if agreement.agreed else "and"
    return (
        f"Do not trust it: compared with the exact edge probabilities, {edge} is off by {off:.2f}, {but} "
        f"{agreement.words}. Leave the choice of the method to dagpost: edges can be exact here.",
        False,
    )


def _contradicted(agreement: Agreement, probe: ProbeFound, names: Sequence[str]) -> str:
    apart = f"the share of {_edge(probe.edge, names)} differs by {probe.difference:.2f}"
    if probe.outcome == BETTER:
        found = f"more probable graphs (log weight higher by {probe.gain:.1f}; {apart})"
    else:
        found = f"other graphs that weigh as much ({apart})"
    return (
        f"Do not trust it: {agreement.words}, but a probe from annealed starts found {found}. Run longer, with more "
        "chains, or use another method."
    )


def _edge(edge: tuple[int, int], names: Sequence[str]) -> str:
    parent, child = edge
    return f"{names[parent]} -> {names[child]}"
