"""What the page's scripts need to say everything again under assumptions: words, thresholds, matrices and graphs.

Matrices stand in the page row after row, with ten digits after the point; what is more than 0 stays so. One number
stands for a matrix of equal numbers. Of more than 64 columns there are none, and no graphs: the page says so.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost.plots.marks import LOOKS
from dagpost.posterior.condition import FEWEST_EFFECTIVE
from dagpost.posterior.knowledge import knowledge_of_sample
from dagpost.posterior.pair_direction import CLEAR, FOUND, LABELS, LEANING, NEVER, PairDirection
from dagpost.report.content import Content
from dagpost.report.many_columns import is_many
from dagpost.report.packed_graphs import packed_graphs

#: The least probability that is not written as 0.
_LEAST = 1e-10
_DIGITS = 10


def terms() -> dict[str, Any]:
    """The words of directions, from which shares on each is used, and how many graphs are too few to trust."""
    return {
        "found": FOUND,
        "clear": CLEAR,
        "leaning": LEANING,
        "labels": LABELS,
        "assumed": PairDirection("rules", 0, 1, 1.0, 1.0, assumed=True).label,
        "never": NEVER,
        "fewest": FEWEST_EFFECTIVE,
        "headed": [word for word, look in LOOKS.items() if look.head is not None],
    }


def base_view(content: Content) -> dict[str, Any] | None:
    """The view without assumptions (templates/views.js); None where there are too many columns."""
    if is_many(content):
        return None
    found = content.directions
    own = found.computed
    return {
        "given": [],
        "assumed": found.assumed,
        "setting": {},
        "chance": None,
        "source": _source(content),
        "final": True,
        "seconds": None,
        "graphs": None,
        "few": False,
        "edges": flat(content.edges),
        "paths": None if content.paths is None else flat(content.paths),
        "paths_exact": content.paths_exact,
        "by_data": flat(found.by_data) if own else None,
        "by_rules": flat(found.by_rules) if own else None,
        "by_model": flat(found.by_model) if own else None,
        "settled": np.argwhere(found.settled).tolist(),
        "fixed": np.argwhere(found.fixed).tolist(),
        "notes": [],
    }


def graphs_of(content: Content) -> dict[str, Any] | None:
    """The packed graphs of the report's sample; None where there is none, or too many columns."""
    sample = content.sample
    return None if sample is None or is_many(content) else packed_graphs(sample, knowledge_of_sample(sample))


def flat(matrix: Floats) -> list[float] | float:
    """A matrix of probabilities for the page.

    >>> flat(np.array([[0.0, 1e-20], [1 / 3, 1.0]])), flat(np.zeros((2, 2)))
    ([0, 1e-10, 0.3333333333, 1], 0)
    """
    values = np.clip(matrix, 0.0, 1.0).ravel()
    rounded = np.where(values > 0.0, np.maximum(np.round(values, _DIGITS), _LEAST), 0.0).tolist()
    short = [int(value) if value in (0.0, 1.0) else value for value in rounded]
    return short[0] if len(set(short)) == 1 else short


def _source(content: Content) -> str:
    if content.gaps is not None and content.gaps.exact_given_table:
        return "averaged"
    return "exact" if content.exact else "draws"
