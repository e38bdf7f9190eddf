"""The scores that are known by name: ours, in the order in which they are listed to people, and other packages'.

A new score is one file and one line here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dagpost._tools.registry import Registry

if TYPE_CHECKING:
    from dagpost.scores.base import Score

SCORES: Registry[Score] = Registry(
    "score",
    "dagpost.scores",
    [
        "dagpost.scores.bdeu:BDeu",
        "dagpost.scores.bde:BDe",
        "dagpost.scores.k2:K2",
        "dagpost.scores.bic:BIC",
        "dagpost.scores.bge:BGe",
        "dagpost.scores.additive:Additive",
        "dagpost.scores.conditional_gaussian:ConditionalGaussian",
        "dagpost.scores.latent_gaussian:LatentGaussian",
        "dagpost.scores.committee:Committee",
    ],
)
