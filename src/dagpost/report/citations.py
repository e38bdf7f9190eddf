"""What to cite: the program, the paper that it builds on, and the papers of the method and the score."""

from __future__ import annotations

from collections.abc import Mapping

from dagpost._tools.json_settings import from_json
from dagpost._version import __version__
from dagpost.methods.registry import METHODS
from dagpost.methods.targets import MODULARITIES
from dagpost.report.content import Content
from dagpost.scores.registry import SCORES

_PAPER = (
    "He, R., Tian, J., & Wu, H. (2016). Structure learning in Bayesian networks of moderate size by efficient "
    "sampling. Journal of Machine Learning Research, 17."
)
_REGIMES = (
    "Eaton, D., & Murphy, K. (2007). Exact Bayesian structure learning from uncertain interventions. Proceedings of "
    "Machine Learning Research, 2 (AISTATS 11)."
)
_GAPS = "Rubin, D. B. (1976). Inference and missing data. Biometrika, 63."


def citation(content: Content) -> str:
    """The works behind one result, one a line."""
    works = [
        f"The dagpost developers. dagpost: the posterior over Bayesian network structures (version {__version__}) "
        "[computer software].",
        _PAPER,
    ]
    if content.exact and content.target in MODULARITIES:
        works.append(MODULARITIES[content.target].citation)
    elif content.method in METHODS.names():
        works.append(METHODS.named(content.method).citation)
    if content.gaps is not None:
        works += [_GAPS] if content.gaps.cells else []
        works += [MODULARITIES[content.target].citation] if content.gaps.exact_given_table else []
    score = content.settings.get("score")
    if isinstance(score, Mapping) and SCORES.knows(score):
        works.append(from_json(dict(score), SCORES).citation)
    works += [_REGIMES] if content.regimes else []
    return "\n".join(filter(None, works))
