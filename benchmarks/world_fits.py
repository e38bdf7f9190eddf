"""Fits in processes of their own, one after the other in each: what is asked of them, and what a refusal looks like."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any, NamedTuple, TypeVar

import pandas as pd
from benchmarks.world_measures import answer_of, figures_of, written
from benchmarks.world_networks import Truth

from dagpost import DagPosterior, DagpostError, Recipe
from dagpost.cli.arguments import parse_score
from dagpost.priors.resolve import resolve_prior

Job = TypeVar("Job")


class Settings(NamedTuple):
    """A score and a prior as the command line of dagpost takes them, and what all fits have in common."""

    score: str
    prior: str
    bins: int | None
    max_parents: int
    samples: int

    @property
    def label(self) -> str:
        """What it is called in tables."""
        return self.score if self.bins is None else f"{self.score}, {self.bins} bins"

    def check(self) -> None:
        """Refuse a score or a prior that there is not."""
        parse_score(self.score, None)
        resolve_prior(self.prior)

    def fit(self, table: Any, seed: int = 1, exogenous: Sequence[str] = ()) -> DagPosterior:
        """A fitted model; directions are worked out from its draws."""
        return DagPosterior(
            parse_score(self.score, None),
            prior=self.prior,
            exogenous=exogenous,
            max_parents=self.max_parents,
            samples=self.samples,
            recipe=None if self.bins is None else Recipe(bins=self.bins),
            threads=1,
            seed=seed,
            progress=False,
        ).fit(table)


def measured(work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """The figures of one fit with its CPU seconds, or the words with which it was refused."""
    start = time.process_time()
    with warnings.catch_warnings():
        # Levels that do not occur, cut columns, chains that want to be longer.
        warnings.simplefilter("ignore")
        try:
            found = work()
        except DagpostError as error:
            return {"refused": str(error)}
    return {**found, "cpu_seconds": time.process_time() - start}


def each(work: Callable[[Job], dict[str, Any]], jobs: list[Job], processes: int) -> Iterator[dict[str, Any]]:
    """The results in the order of the jobs."""
    if processes == 1:
        yield from map(work, jobs)
        return
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        yield from pool.map(work, jobs)


def compare(
    about: Mapping[str, Any], frame: pd.DataFrame, truth: Truth, settings: Settings, exogenous: Sequence[str] = ()
) -> dict[str, Any]:
    """What one setting makes of one table, beside the truth; the answer is kept for committees (committees.py)."""
    names = [str(name) for name in frame.columns]

    def figures() -> dict[str, Any]:
        answer = answer_of(settings.fit(frame, exogenous=exogenous), names)
        return {**figures_of(truth, answer), "answer": written(answer), "truth": written(truth)}

    setting = {"score": settings.label, "prior": settings.prior}
    return {**about, **setting, "columns": len(names), **measured(figures)}
