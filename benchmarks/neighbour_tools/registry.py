"""Which programs are compared, in which ways, and what each of them cannot do: one entry a program."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dagpost.reference import Case

#: What the figures of a way are: probabilities of the posterior, shares of resampled tables, or one graph.
POSTERIOR, BOOTSTRAP, ONE_GRAPH = "posterior", "bootstrap", "one graph"


@dataclass(frozen=True)
class Way:
    """One row of the table: a way to use a program. `score` says by which score graphs are judged.

    `kinds` are the kinds of cases that it can take, with at most `most_columns` columns.
    """

    name: str
    answers: str
    score: str
    kinds: tuple[str, ...] = ("discrete", "gaussian", "mixed")
    most_columns: int = 1024

    def takes(self, case: Case) -> bool:
        """Whether it can take a case."""
        return case.kind in self.kinds and len(case.names) <= self.most_columns


@dataclass(frozen=True)
class Tool:
    """A program with its ways; `package` is what its interpreter calls the distribution."""

    name: str
    package: str
    ways: tuple[Way, ...]
    cannot: str

    @property
    def script(self) -> Path:
        """The adapter, which the program's own interpreter runs."""
        return Path(__file__).with_name(f"use_{self.name}.py")


def searched(algorithm: str, score: str, *kinds: str) -> tuple[Way, ...]:
    """The two ways of an algorithm that finds one graph."""
    return tuple(Way(f"{algorithm}, {answers}", answers, score, kinds) for answers in (ONE_GRAPH, BOOTSTRAP))


_D, _G, _M = "discrete", "gaussian", "mixed"

TOOLS = (
    Tool(
        "dagpost",
        "dagpost",
        (
            Way("exact", POSTERIOR, "the case's score"),
            Way("exact, drawn graphs", POSTERIOR, "the case's score"),
            Way("structure MCMC", POSTERIOR, "the case's score"),
            Way("bootstrap", BOOTSTRAP, "the case's score"),
        ),
        "exact sums end at about 24 columns that are not in tiers; no latent common causes; no functional models",
    ),
    Tool(
        "pgmpy",
        "pgmpy",
        (
            *searched("hill climbing", "BDeu 1; BIC for numbers", _D, _G, _M),
            Way("all graphs", POSTERIOR, "BDeu 1; BIC for numbers", (_D, _G), most_columns=5),
        ),
        "no posterior beyond the scores of all graphs, for at most 5 columns; no BGe",
    ),
    Tool(
        "pyagrum",
        "pyagrum",
        (*searched("hill climbing", "BDeu 1", _D), *searched("MIIC", "information", _D)),
        "no posterior; columns of levels only",
    ),
    Tool(
        "causallearn",
        "causal-learn",
        (
            *searched("GES", "its BDeu; BIC for numbers", _D, _G),
            *searched("PC", "tests at 5%", _D, _G),
            *searched("exact search", "BIC", _G),
        ),
        "no posterior; levels and numbers not in one table; no BGe",
    ),
    Tool(
        "castle",
        "gcastle",
        searched("NOTEARS", "least squares", _G),
        "no posterior; NOTEARS takes numbers only, and depends on their units",
    ),
    Tool(
        "dibs",
        "dibs-lib",
        (
            Way("particles", POSTERIOR, "the case's score", (_G,)),
            Way("weighted particles", POSTERIOR, "the case's score", (_G,)),
        ),
        "numbers only; as many graphs as there are particles; a smooth stand-in for the posterior",
    ),
    Tool(
        "sumu",
        "sumu",
        (
            Way("as it comes", POSTERIOR, "the case's score", (_D, _G)),
            Way("mended", POSTERIOR, "the case's score", (_D, _G)),
            Way("aps, exact", POSTERIOR, "the case's score"),
        ),
        "no score for levels and numbers in one table; neither this prior nor a limit of time by its front door",
    ),
    Tool(
        "gobnilp",
        "pygobnilp",
        (Way("best graphs", POSTERIOR, "the case's score"),),
        "needs Gurobi, whose free version takes small problems only; nothing but the best graphs",
    ),
)
