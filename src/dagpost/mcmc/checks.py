"""What was checked of chains beside their agreement, as verdicts, files and reports hold it.

Agreement is not proof: chains that all missed the same graphs agree perfectly. So a run records where its chains
started, what a probe found (mcmc/probe.py), and how far its edges are from the exact ones, where these were summed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from dagpost._tools.schema import Rule, list_of, mapping, number, one_of, optional, text, truth, whole

#: What a probe can find; the first two speak against the chains.
BETTER, OTHER, SAME, WORSE = OUTCOMES = ("better", "other", "the same", "worse")
#: Why nothing was checked of a run that Ctrl-C ended.
INTERRUPTED = "the run was interrupted"

_EDGE = Rule(
    "a pair of different columns",
    lambda value, sizes: list_of(whole(most=sizes["nodes"] - 1), 2).holds(value, sizes) and value[0] != value[1],
)
#: What files may say of checks.
CHECKS = mapping(
    {
        "opposite": truth,
        "probe": optional(
            mapping(
                {
                    "outcome": one_of(*OUTCOMES),
                    "chains": whole(1),
                    "graphs": whole(1),
                    "gain": number(-1e15, 1e15),
                    "difference": number(0.0, 1.0),
                    "edge": _EDGE,
                }
            )
        ),
        "exact": optional(mapping({"difference": number(0.0, 1.0), "edge": _EDGE})),
        "unchecked": text,
    }
)


@dataclass(frozen=True)
class ProbeFound:
    """What a probe found: "the same" as the chains, "better" or "other" graphs, or only "worse" ones.

    `gain`: by how much the mean log weight of its states exceeds that of the chains. `difference`: the largest
    difference of the share of an edge, which is `edge` (parent, child).
    """

    outcome: str
    chains: int
    graphs: int
    gain: float
    difference: float
    edge: tuple[int, int]

    @property
    def agrees(self) -> bool:
        """Whether nothing was found that speaks against the chains."""
        return self.outcome in (SAME, WORSE)


@dataclass(frozen=True)
class ExactCompared:
    """The largest difference between an edge of the chains and its exact probability, and which edge that is."""

    difference: float
    edge: tuple[int, int]


@dataclass(frozen=True)
class ChainChecks:
    """What was checked: a probe, a comparison with what is exact; `unchecked` says why there is none.

    `opposite`: whether the chains started from opposite orders, in pairs.
    """

    opposite: bool
    probe: ProbeFound | None = None
    exact: ExactCompared | None = None
    unchecked: str = ""

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended the run, with fewer graphs than it would have had."""
        return self.unchecked == INTERRUPTED

    def to_json(self) -> dict[str, Any]:
        """The checks as files hold them."""
        return asdict(self)

    @classmethod
    def from_json(cls, about: Mapping[str, Any]) -> ChainChecks:
        """The checks that `to_json` wrote; refuses what it did not.

        >>> checks = ChainChecks(True, exact=ExactCompared(0.013, (0, 2)))
        >>> ChainChecks.from_json(checks.to_json()) == checks
        True
        """
        probe, exact = about["probe"], about["exact"]
        found = None if probe is None else ProbeFound(**{**probe, "edge": _edge(probe["edge"])})
        if found is not None and found.outcome not in OUTCOMES:
            raise ValueError(f"a probe that found {found.outcome!r}")
        compared = None if exact is None else ExactCompared(float(exact["difference"]), _edge(exact["edge"]))
        return cls(bool(about["opposite"]), found, compared, str(about["unchecked"]))


def _edge(pair: Any) -> tuple[int, int]:
    parent, child = pair
    return int(parent), int(child)


def checked_words(about: Mapping[str, Any] | None) -> str:
    """What was checked of chains beside their agreement, in a few words, from what a file says.

    >>> checked_words(None)
    'not recorded'
    >>> checked_words(ChainChecks(True, exact=ExactCompared(0.013, (0, 2))).to_json())
    'opposite starts; exact edge probabilities: largest difference 0.013'
    """
    if about is None:
        return "not recorded"
    checks = ChainChecks.from_json(about)
    words = ["opposite starts"] if checks.opposite else []
    if checks.probe is not None:
        words.append(f"a probe, which found {_FOUND[checks.probe.outcome]}")
    if checks.exact is not None:
        words.append(f"exact edge probabilities: largest difference {checks.exact.difference:.3f}")
    return "; ".join(words) or "nothing"


_FOUND = {BETTER: "more probable graphs", OTHER: "other graphs", SAME: "the same", WORSE: "only less probable graphs"}
