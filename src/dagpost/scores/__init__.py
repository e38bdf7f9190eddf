"""How well does a parent set explain a node? Scores of families, and the table of all of them."""

from __future__ import annotations

from dagpost.scores.base import Score
from dagpost.scores.bde import BDe
from dagpost.scores.bdeu import BDeu
from dagpost.scores.bge import BGe
from dagpost.scores.bic import BIC
from dagpost.scores.k2 import K2
from dagpost.scores.local_scores import LocalScores, local_scores
from dagpost.scores.parameter_priors import DirichletPrior, NormalWishartPrior, ParameterPrior
from dagpost.scores.registry import SCORES
from dagpost.scores.resolve import parameter_prior_of, resolve_score

__all__ = [
    "BIC",
    "K2",
    "SCORES",
    "BDe",
    "BDeu",
    "BGe",
    "DirichletPrior",
    "LocalScores",
    "NormalWishartPrior",
    "ParameterPrior",
    "Score",
    "local_scores",
    "parameter_prior_of",
    "resolve_score",
]
