"""How well does a parent set explain a node? Scores of families, and the table of all of them."""

from __future__ import annotations

from dagpost.scores.bge import BGe
from dagpost.scores.bic import BIC
from dagpost.scores.dirichlet import K2, BDe, BDeu
from dagpost.scores.local_scores import LocalScores, Score, local_scores, resolve_score, score_of_columns

__all__ = [
    "BIC",
    "K2",
    "BDe",
    "BDeu",
    "BGe",
    "LocalScores",
    "Score",
    "local_scores",
    "resolve_score",
    "score_of_columns",
]
