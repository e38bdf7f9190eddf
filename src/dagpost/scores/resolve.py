"""From what a user gives as a score, a name or an object, to a `Score`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dagpost._tools.checks import refusal
from dagpost._tools.spelling import either
from dagpost._tools.text import shown
from dagpost.data.conversion import TableLike, wanted_table
from dagpost.data.table import Table
from dagpost.errors import InputError
from dagpost.scores.base import Score
from dagpost.scores.bdeu import BDeu
from dagpost.scores.custom import CustomScore
from dagpost.scores.parameter_priors import ParameterPrior
from dagpost.scores.registry import SCORES

#: The setting that leaves the choice to us: automatic.py makes it.
AUTO = "auto"
AVERAGED = BDeu("average")


def is_automatic(score: Any) -> bool:
    """Whether the choice of the score is left to us."""
    return isinstance(score, str) and score == AUTO


def resolve_score(score: Any) -> Score:
    """The score that a name stands for; an object that can fill a table is taken as it is.

    >>> resolve_score("bdeu")
    BDeu(equivalent_sample_size=1.0)
    """
    if isinstance(score, Score):
        return score
    if is_automatic(score):
        # Which it is in the end depends on the table and the method; what is asked of it before does not.
        return AVERAGED
    if isinstance(score, str) and score in SCORES.names():
        return SCORES.named(score)()
    if callable(getattr(score, "fill", None)) and not isinstance(score, type | np.ndarray):
        return BareScore(score)
    names = [AUTO, *SCORES.names()]
    allowed = either(
        f"one of {', '.join(map(repr, names))} or a score object such as BDeu(equivalent_sample_size=1.0)",
        f"one of {', '.join(names)}",
    )
    hint = ""
    if isinstance(score, type):
        hint = f"Make an object of it: {score.__name__}()."
    elif callable(score):
        hint = "A function goes into CustomScore(function)."
    elif isinstance(score, str) and score.startswith(f"{CustomScore.__name__}("):
        hint = "A file does not keep a function: give it again, set_params(score=CustomScore(function))."
    raise refusal(score, "score", None, allowed, hint)


def class_of(score: Any) -> type[Score]:
    """The class of a score, or of what a file says of one; `Score` where that is not known here.

    >>> class_of({"kind": "LatentGaussian"}).tables, class_of("given scores").tables
    ('tables of latent numbers', 'completed tables')
    """
    if isinstance(score, Mapping):
        return SCORES.of_class(str(score.get("kind")), str(score.get("package", "dagpost"))) or Score
    return type(score) if isinstance(score, Score) else Score


def table_for(score: str | Score, data: TableLike, **given: Any) -> Table:
    """The table of whatever `as_table` takes, as a score wants it; what may be `given` beside it: `wanted_table`.

    A score that is left to us takes both levels and numbers; an object of the user's that does not say which columns it
    takes gets them as they are.
    """
    chosen = resolve_score(score)
    wanted = "mixed" if is_automatic(score) else None if isinstance(chosen, BareScore) else chosen.columns
    return wanted_table(data, wanted, bins=chosen.bins if isinstance(chosen, BDeu) else None, **given)


def parameter_prior_of(score: Any, what: str) -> ParameterPrior:
    """The prior of the parameters behind a score; a score that does not say is an error, for `what` needs it."""
    chosen = resolve_score(score)
    prior = chosen.parameter_prior()
    if prior is None:
        raise InputError(
            f"{what} the prior of the parameters behind a score, and {shown(chosen.name or score)} does not say which "
            f"it is. Fit with a score that does: {_with_parameters()}."
        )
    return prior


def _with_parameters() -> str:
    """The scores that say which prior their parameters have."""
    kinds = [kind for kind in SCORES.classes().values() if kind.parameter_prior is not Score.parameter_prior]
    return ", ".join(kind.__name__ for kind in kinds)


@dataclass(frozen=True, repr=False)
class BareScore(Score):
    """An object of the user's that has `fill` and nothing else; its `repr` is its own."""

    score: Any

    def fill(self, *arguments: Any) -> None:
        """Let the object fill the values."""
        self.score.fill(*arguments)

    def __repr__(self) -> str:
        return repr(self.score)
