"""What to cite: the program, the paper that it builds on, and the works that the methods paragraph names."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dagpost._version import __version__

SOFTWARE = (
    f"The dagpost developers. dagpost: the posterior over Bayesian network structures (version {__version__}) "
    "[computer software]."
)
PAPER = (
    "He, R., Tian, J., & Wu, H. (2016). Structure learning in Bayesian networks of moderate size by efficient "
    "sampling. Journal of Machine Learning Research, 17. https://doi.org/10.48550/arXiv.1501.04370"
)
REGIMES = (
    "Eaton, D., & Murphy, K. (2007). Exact Bayesian structure learning from uncertain interventions. Proceedings of "
    "Machine Learning Research, 2 (AISTATS 11). https://proceedings.mlr.press/v2/eaton07a.html"
)
GAPS = "Rubin, D. B. (1976). Inference and missing data. Biometrika, 63. https://doi.org/10.1093/biomet/63.3.581"
INTERVENTIONS = (
    "Cooper, G. F., & Yoo, C. (1999). Causal discovery from a mixture of experimental and observational data. "
    "Uncertainty in Artificial Intelligence, 15. https://doi.org/10.48550/arXiv.1301.6686"
)
CLASSES = (
    "Andersson, S. A., Madigan, D., & Perlman, M. D. (1997). A characterization of Markov equivalence classes for "
    "acyclic digraphs. Annals of Statistics, 25. https://doi.org/10.1214/aos/1031833662"
)
DIAGNOSTICS = (
    "Vehtari, A., Gelman, A., Simpson, D., Carpenter, B., & Bürkner, P.-C. (2021). Rank-normalization, folding, and "
    "localization: an improved R-hat for assessing convergence of MCMC. Bayesian Analysis, 16. "
    "https://doi.org/10.1214/20-BA1221"
)
EFFECTS = (
    "Pearl, J. (2009). Causality: models, reasoning, and inference (2nd ed.). Cambridge University Press. "
    "https://doi.org/10.1017/CBO9780511803161"
)
#: From this many authors on only the first is named in a text.
_MANY = 3
_AUTHOR = re.compile(r"(?:^|, & |, )([^,&()]+), (?:[A-Z]\.[ -]?)+")


def in_text(work: str) -> str:
    """How a text names a work.

    >>> in_text("Tian, J., & He, R. (2009). Computing ..."), in_text("Rubin, D. B. (1976). Inference ...")
    ('Tian & He 2009', 'Rubin 1976')
    >>> in_text(PAPER), in_text(DIAGNOSTICS)
    ('He et al. 2016', 'Vehtari et al. 2021')
    """
    people, _, rest = work.partition(" (")
    names = _AUTHOR.findall(people)
    year = rest.partition(")")[0]
    if len(names) >= _MANY:
        return f"{names[0]} et al. {year}"
    return f"{' & '.join(names)} {year}"


def listed(works: Sequence[str]) -> str:
    """The program, the paper that it builds on and some other works, one a line, each once."""
    return "\n".join(dict.fromkeys(filter(None, [SOFTWARE, PAPER, *works])))
