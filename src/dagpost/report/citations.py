"""What to cite: the program, the paper that it builds on, and the papers of the method and the score."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dagpost._version import __version__

_PAPER = (
    "He, R., Tian, J., & Wu, H. (2016). Structure learning in Bayesian networks of moderate size by efficient "
    "sampling. Journal of Machine Learning Research, 17."
)
_EXACT_ORDER = (
    "Koivisto, M., & Sood, K. (2004). Exact Bayesian structure discovery in Bayesian networks. "
    "Journal of Machine Learning Research, 5."
)
_EXACT_STRUCTURE = (
    "Tian, J., & He, R. (2009). Computing posterior probabilities of structural features in Bayesian networks. "
    "Uncertainty in Artificial Intelligence, 25."
)
_METHODS = {
    "kbest": (
        "Tian, J., He, R., & Ram, L. (2010). Bayesian model averaging using the k-best Bayesian network structures. "
        "Uncertainty in Artificial Intelligence, 26."
    ),
    "order-mcmc": ("Friedman, N., & Koller, D. (2003). Being Bayesian about network structure. Machine Learning, 50."),
    "partial-order-mcmc": (
        "Niinimäki, T., Parviainen, P., & Koivisto, M. (2011). Partial order MCMC for structure discovery in Bayesian "
        "networks. Uncertainty in Artificial Intelligence, 27."
    ),
    "partition-mcmc": (
        "Kuipers, J., & Moffa, G. (2017). Partition MCMC for inference on acyclic digraphs. Journal of the American "
        "Statistical Association, 112."
    ),
    "structure-mcmc": (
        "Madigan, D., & York, J. (1995). Bayesian graphical models for discrete data. International Statistical "
        "Review, 63."
    ),
    "hybrid-mcmc": (
        "Eaton, D., & Murphy, K. (2007). Bayesian structure learning using dynamic programming and MCMC. Uncertainty "
        "in Artificial Intelligence, 23."
    ),
    "bootstrap": (
        "Friedman, N., Goldszmidt, M., & Wyner, A. (1999). Data analysis with Bayesian networks: a bootstrap approach. "
        "Uncertainty in Artificial Intelligence, 15."
    ),
    "trees": (
        "Meilă, M., & Jaakkola, T. (2006). Tractable Bayesian learning of tree belief networks. Statistics and "
        "Computing, 16."
    ),
    "given-order": (
        "Dash, D., & Cooper, G. (2004). Model averaging for prediction with discrete Bayesian networks. Journal of "
        "Machine Learning Research, 5."
    ),
}
_DIRICHLET = (
    "Heckerman, D., Geiger, D., & Chickering, D. M. (1995). Learning Bayesian networks: the combination of knowledge "
    "and statistical data. Machine Learning, 20."
)
_SCORES = {
    "BDeu": _DIRICHLET,
    "BDe": _DIRICHLET,
    "K2": (
        "Cooper, G. F., & Herskovits, E. (1992). A Bayesian method for the induction of probabilistic networks from "
        "data. Machine Learning, 9."
    ),
    "BIC": "Schwarz, G. (1978). Estimating the dimension of a model. Annals of Statistics, 6.",
    "BGe": (
        "Kuipers, J., Moffa, G., & Heckerman, D. (2014). Addendum on the scoring of Gaussian directed acyclic "
        "graphical models. Annals of Statistics, 42."
    ),
}


def citation(method: str, target: str, exact: bool, settings: Mapping[str, Any]) -> str:
    """The works behind one result, one a line.

    >>> print(citation("dds", "order", False, {}).splitlines()[1])
    He, R., Tian, J., & Wu, H. (2016). Structure learning in Bayesian networks of moderate size by efficient sampling. \
Journal of Machine Learning Research, 17.
    """
    works = [
        f"The dagpost developers. dagpost: the posterior over Bayesian network structures (version {__version__}) "
        "[computer software].",
        _PAPER,
    ]
    if exact and target in ("structure", "order"):
        works.append(_EXACT_STRUCTURE if target == "structure" else _EXACT_ORDER)
    if method in _METHODS and not (exact and target in ("structure", "order")):
        works.append(_METHODS[method])
    score = settings.get("score")
    if isinstance(score, Mapping) and score.get("kind") in _SCORES:
        works.append(_SCORES[score["kind"]])
    return "\n".join(works)
