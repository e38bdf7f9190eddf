"""Which programs are compared, in which ways, and what each of them cannot do: one entry a program."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

#: What the figures of a way are: probabilities of the posterior, shares of resampled tables, or one graph.
POSTERIOR, BOOTSTRAP, ONE_GRAPH = "posterior", "bootstrap", "one graph"


@dataclass(frozen=True)
class Way:
    """One row of the table: a way to use a program. `score` says by which score graphs are judged."""

    name: str
    answers: str
    score: str


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


def searched(score: str, *algorithms: str) -> tuple[Way, ...]:
    """The two ways of algorithms that find one graph."""
    return tuple(
        Way(f"{algorithm}, {answers}", answers, score) for algorithm in algorithms for answers in (ONE_GRAPH, BOOTSTRAP)
    )


TOOLS = (
    Tool(
        "dagpost",
        "dagpost",
        (
            Way("exact", POSTERIOR, "the case's"),
            Way("exact, drawn graphs", POSTERIOR, "the case's"),
            Way("structure MCMC", POSTERIOR, "the case's"),
            Way("bootstrap", BOOTSTRAP, "the case's"),
        ),
        "exact sums end at about 24 columns in one group; no latent common causes; no functional models (LiNGAM, ANM)",
    ),
    Tool(
        "pgmpy",
        "pgmpy",
        (
            *searched("BDeu 1; BIC for numbers", "hill climbing"),
            Way("all graphs", POSTERIOR, "BDeu 1; BIC for numbers"),
        ),
        "no posterior beyond the scores of all graphs, which end at 5 columns; no BGe",
    ),
    Tool("pyagrum", "pyagrum", searched("its BDeu", "hill climbing", "MIIC"), "no posterior; columns of levels only"),
    Tool(
        "causallearn",
        "causal-learn",
        (*searched("BDeu 1; BIC for numbers", "GES"), *searched("tests at 5%", "PC"), *searched("BIC", "exact search")),
        "no posterior; no mixed columns; exact search for numbers only",
    ),
    Tool(
        "castle",
        "gcastle",
        (*searched("least squares", "NOTEARS"), *searched("non-Gaussian noise", "DirectLiNGAM"), *searched("BIC", "GES")),
        "no posterior; nothing for mixed columns",
    ),
    Tool(
        "dibs",
        "dibs-lib",
        (Way("particles", POSTERIOR, "BGe as the case's"), Way("weighted particles", POSTERIOR, "BGe as the case's")),
        "Gaussian columns only; a relaxation of the posterior, at as many graphs as there are particles",
    ),
    Tool(
        "sumu",
        "sumu",
        (Way("as it comes", POSTERIOR, "as the case's"), Way("mended", POSTERIOR, "as the case's")),
        "no mixed columns; no limit on time and no report of convergence from its front door",
    ),
    Tool(
        "gobnilp",
        "pygobnilp",
        (Way("best graphs", POSTERIOR, "the case's"),),
        "a proprietary solver, which is limited without a licence; only the best graphs",
    ),
)
