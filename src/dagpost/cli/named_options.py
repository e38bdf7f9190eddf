"""Options about the model of a fit; those that take a name list in their help what the registries have.

Apart from the other options, since the registries take longer to load than a stored model takes to answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from dagpost.cli import choices
from dagpost.cli.arguments import parse_edges, parse_prior, parse_score
from dagpost.cli.options import MaxParentsOption, option, setting
from dagpost.methods.choice import AUTO

MethodOption = Annotated[
    str,
    setting(
        "METHOD",
        f"How graphs are found: {', '.join(choices.methods())}. Settings follow a colon, as in block-gibbs:chains=8,"
        "thinning=50; an order is written given-order:order=A>B>C, causes first.",
        autocompletion=choices.complete_method,
    ),
]


@dataclass(frozen=True)
class ModelOptions:
    """How well graphs explain a table, and which graphs there are."""

    score: Annotated[
        str,
        setting(
            "SCORE",
            f"How well a parent set explains a column: {', '.join(choices.scores())}. Settings follow a colon, as in "
            "bde:pseudocount=1.",
            autocompletion=choices.complete_score,
        ),
    ] = AUTO
    ess: Annotated[
        str | None,
        option(
            "NUMBER",
            "Equivalent sample size of the bdeu score, 1 if that is named without one. average, or several as 1,5,10: "
            "averaged over them, weighted by their evidence.",
        ),
    ] = None
    prior: Annotated[
        str,
        setting(
            "PRIOR",
            f"What was believed before: {', '.join(choices.priors())}; edge:FILE.csv has a probability for each edge.",
            autocompletion=choices.complete_prior,
        ),
    ] = AUTO
    max_parents: MaxParentsOption = 5
    required: Annotated[
        list[str] | None, option("EDGE", 'An edge that every graph has, as "A -> B". May be repeated.')
    ] = None
    forbidden: Annotated[
        list[str] | None, option("EDGE", 'An edge that no graph has, as "A -> B". May be repeated.')
    ] = None

    def settings(self) -> dict[str, Any]:
        """The same as `DagPosterior` takes it."""
        return {
            "score": parse_score(self.score, self.ess),
            "prior": parse_prior(self.prior),
            "max_parents": self.max_parents,
            "required": parse_edges(self.required, "required"),
            "forbidden": parse_edges(self.forbidden, "forbidden"),
        }
