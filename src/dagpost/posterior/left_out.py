"""Statements that no graph can satisfy because the model behind a score does not have all edges.

Columns of numbers never lead to columns of levels in the conditional Gaussian model (Lauritzen 1992). A probability of
0 is then a statement of the model, not a finding, and is said to be that.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

from dagpost.features import Query, evaluate
from dagpost.features.feature import And, Feature
from dagpost.features.statements.edge import Edge
from dagpost.features.statements.path import Path
from dagpost.posterior.estimate import RULED_OUT, Estimate
from dagpost.posterior.shares import estimate_share

if TYPE_CHECKING:
    from dagpost.posterior.sample import DagSample


def left_out_by_model(query: Query, sinks: Collection[str]) -> bool:
    """Whether a statement holds in no graph because columns (the `sinks` of a model) lead only to each other.

    >>> from dagpost.features import parse
    >>> names = ["bmi", "sex"]
    >>> [left_out_by_model(parse(text, names), {"bmi"}) for text in ("bmi -> sex", "bmi ~> sex", "sex -> bmi")]
    [True, True, False]
    """
    return bool(sinks) and query.given is None and _holds_nowhere(query.feature, sinks)


def _holds_nowhere(feature: Feature, sinks: Collection[str]) -> bool:
    if isinstance(feature, And):
        return any(_holds_nowhere(part, sinks) for part in feature.parts)
    if isinstance(feature, Edge):
        return feature.parent in sinks and feature.child not in sinks
    return isinstance(feature, Path) and feature.source in sinks and feature.target not in sinks


def ruled_out(modularity: str) -> Estimate:
    """The answer to such a statement."""
    return Estimate(0.0, 0.0, 0.0, 1.0, RULED_OUT, 0, float("inf"), modularity)


def answers_of_sample(sample: DagSample, queries: Sequence[Query], estimator: str, confidence: float) -> list[Estimate]:
    """How probable statements are among the graphs of a sample, where the model leaves them open."""

    def others(asked: Sequence[Query]) -> list[Estimate]:
        conditions = [query.given for query in asked if query.given is not None]
        held = evaluate([*(query.feature for query in asked), *conditions], sample.parents, sample.names)
        conditions_held = iter(held[len(asked) :])
        return [
            estimate_share(sample, hit, None if query.given is None else next(conditions_held), estimator, confidence)
            for query, hit in zip(asked, held, strict=False)
        ]

    return with_left_out(queries, sample.provenance.get("sinks", ()), sample.target, others)


def with_left_out(
    queries: Sequence[Query],
    sinks: Collection[str],
    modularity: str,
    others: Callable[[Sequence[Query]], list[Estimate]],
) -> list[Estimate]:
    """Answers in the order of the queries; `others` gives those that the model leaves open."""
    barred = [left_out_by_model(query, sinks) for query in queries]
    open_ones = [query for query, out in zip(queries, barred, strict=True) if not out]
    found = iter(others(open_ones) if open_ones else [])
    return [ruled_out(modularity) if out else next(found) for out in barred]
