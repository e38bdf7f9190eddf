"""How well does a parent set explain a node? Scores of families, and the table of all of them."""

from __future__ import annotations

from dagpost._tools.mixture import Mixture as Mixture
from dagpost.scores.additive import Additive as Additive
from dagpost.scores.base import Filling as Filling
from dagpost.scores.base import Score as Score
from dagpost.scores.base import scores_filled as scores_filled
from dagpost.scores.base import scores_within as scores_within
from dagpost.scores.bde import BDe as BDe
from dagpost.scores.bdeu import BDeu as BDeu
from dagpost.scores.bge import BGe as BGe
from dagpost.scores.bic import BIC as BIC
from dagpost.scores.committee import Committee as Committee
from dagpost.scores.conditional_gaussian import ConditionalGaussian as ConditionalGaussian
from dagpost.scores.custom import CustomScore as CustomScore
from dagpost.scores.k2 import K2 as K2
from dagpost.scores.latent_gaussian import LatentGaussian as LatentGaussian
from dagpost.scores.local_scores import LocalScores as LocalScores
from dagpost.scores.local_scores import local_scores as local_scores
from dagpost.scores.parameter_priors import ConditionalGaussianPrior as ConditionalGaussianPrior
from dagpost.scores.parameter_priors import DirichletPrior as DirichletPrior
from dagpost.scores.parameter_priors import LocalPrior as LocalPrior
from dagpost.scores.parameter_priors import NormalWishartPrior as NormalWishartPrior
from dagpost.scores.parameter_priors import ParameterPrior as ParameterPrior
from dagpost.scores.parameter_priors import standard_deviations as standard_deviations
from dagpost.scores.registry import SCORES as SCORES
from dagpost.scores.resolve import class_of as class_of
from dagpost.scores.resolve import parameter_prior_of as parameter_prior_of
from dagpost.scores.resolve import resolve_score as resolve_score
from dagpost.scores.resolve import table_for as table_for
