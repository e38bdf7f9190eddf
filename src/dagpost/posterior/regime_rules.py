"""What regimes with unknown targets mean for a fit: exogenous indicators, with a prior and a limit of their own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dagpost._tools.checks import whole_number
from dagpost._tools.spelling import bare, either
from dagpost.data.regimes import Regimes, resolve_regimes
from dagpost.errors import InputError
from dagpost.methods.base import Study
from dagpost.priors.regimes import RegimePrior, target_probability
from dagpost.scores.local_scores import MOST_PARENTS


def with_regimes(model: Any, study: Study) -> Study:
    """What a fit knows, once its table has indicators of regimes: as it is, where there are none."""
    table = study.table
    if not table.regimes:
        return study
    # A table with indicators of its own says so itself; what is believed of them is the usual.
    regimes = resolve_regimes(model.regimes) or Regimes(table.regimes[0].partition("=")[0])
    rules = replace(study.constraints, exogenous=tuple(dict.fromkeys((*study.constraints.exogenous, *table.regimes))))
    variables = len(table.names) - len(tuple(rules.exogenous))
    if variables < 1:
        raise InputError(f"No variable is left to be modelled. Take a column out of {bare('exogenous')}.")
    ordinary = min(int(model.max_parents), len(table.names) - len(table.regimes) - 1)
    most = _most_regimes(regimes, len(table.regimes), ordinary)
    probability = target_probability(regimes.expected_targets, variables)
    prior = RegimePrior(study.prior, len(table.regimes), probability, ordinary, most)
    table = replace(table, limits=(ordinary, most))
    return Study(table, study.score, prior, rules, ordinary + most)


def _most_regimes(regimes: Regimes, count: int, max_parents: int) -> int:
    """By how many regimes one variable may be changed."""
    room = MOST_PARENTS - max_parents
    if regimes.max_regimes is None:
        most = min(count, room)
    else:
        most = min(whole_number(regimes.max_regimes, "max_regimes", "Regimes"), count)
    if not 1 <= most <= room:
        wanted = f" and {most} regimes" if most else ""
        raise InputError(
            f"A variable has at most {MOST_PARENTS} parents of both kinds, and {max_parents} ordinary ones{wanted} are "
            f"asked for. Lower {bare('max_parents')} or {either('max_regimes', '--max-regimes')}."
        )
    return most
