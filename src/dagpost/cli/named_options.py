"""Options that take the name of a score, a prior, a method or an engine: their help lists what the registries have.

Apart from the other options, since the registries take longer to load than a stored model takes to answer.
"""

from __future__ import annotations

from typing import Annotated

from dagpost.cli import choices
from dagpost.cli.options import setting

EngineOption = Annotated[
    str,
    setting(
        "ENGINE",
        f"Where exact tables are made: {', '.join(choices.engines())}.",
        autocompletion=choices.complete_engine,
    ),
]
ScoreOption = Annotated[
    str,
    setting(
        "SCORE",
        f"How well a parent set explains a column: {', '.join(choices.scores())}. Settings follow a colon, as in "
        "bde:pseudocount=1.",
        autocompletion=choices.complete_score,
    ),
]
PriorOption = Annotated[
    str,
    setting(
        "PRIOR",
        f"What was believed before: {', '.join(choices.priors())}; edge:FILE.csv has a probability for each edge.",
        autocompletion=choices.complete_prior,
    ),
]
MethodOption = Annotated[
    str,
    setting(
        "METHOD",
        f"How graphs are found: {', '.join(choices.methods())}. Settings follow a colon, as in block-gibbs:chains=8,"
        "thinning=50; an order is written given-order:order=A>B>C, causes first.",
        autocompletion=choices.complete_method,
    ),
]
