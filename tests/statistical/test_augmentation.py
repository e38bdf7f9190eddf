"""Chains over completed tables against the exact sum over all completions, over many random tables.

Tables have 4 or 5 columns, up to 12 gaps, 2 to 4 levels or numbers; rows with counts, cells that were set, rules, both
ways to count graphs, several scores and an average over equivalent sample sizes are among them.

Chains are independent of each other, so the error of an average is known from how their own averages differ, whatever
the dependence from sweep to sweep. Each table gives three numbers that are 0 on average: a random contrast of its
edges, one of its paths, and the log ratio of the evidences of two conditions (to first order), each with Student's
distribution once divided by its error. Their p-values are combined over tables by Fisher's method, for each of the
three; and the expected number of edges is compared in all tables together, where small errors of the same sign add up.
Seeds are fixed. The false-alarm rate of each of the four statistics is `RATE`, that of a test below one in a million.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2, norm, t
from tests.naive import completed_scores, completions
from tests.tools.gap_tables import levels_table, numbers_table

from dagpost import K2, BDeu, DagPosterior
from dagpost.data.table import Table
from dagpost.methods.augmentation import Augmentation

# Chains of a few sweeps say that they are not to be trusted yet.
pytestmark = pytest.mark.filterwarnings("ignore::dagpost.DagpostWarning")

RATE = 2e-7
KINDS = ("edges", "paths", "conditions")


@dataclass(frozen=True)
class Case:
    """A table, the settings of the model, and the exact posterior."""

    table: Table
    settings: dict[str, Any]
    truth: completions.Posterior
    nodes: int


def case_of(number: int, *, large: bool) -> Case:
    """A table depends on its number alone; kinds of tables take turns."""
    make = MAKERS[number % len(MAKERS)]
    return make(number, large)


def _levels(number: int, large: bool, columns: int = 4, **how: Any) -> Table:
    few = {
        "gaps": 12 if large else 7,
        "completions": (4_096 if columns == 4 else 512) if large else 128 >> 2 * columns - 8,
    }
    return levels_table(number, columns, 10 + number % 7, **(few | how))


def _case(table: Table, scores: list[completed_scores.FamilyScore], settings: dict[str, Any], **how: Any) -> Case:
    rows = completed_scores.rows_of(table)
    return Case(table, settings, completions.posterior(rows, scores, **how), len(table.names))


def _plain(number: int, large: bool) -> Case:
    return _case(_levels(number, large), [completed_scores.bdeu(1.0)], {"score": "bdeu"})


def _many_levels(number: int, large: bool) -> Case:
    return _case(_levels(number, large, most_levels=4), [completed_scores.bdeu(3.0)], {"score": BDeu(3.0)})


def _orders(number: int, large: bool) -> Case:
    settings = {"score": K2(), "modularity": "order"}
    return _case(_levels(number, large, most_levels=3), [completed_scores.k2()], settings, orders=True)


def _bic(number: int, large: bool) -> Case:
    settings = {"score": "bic", "max_parents": 2}
    return _case(_levels(number, large), [completed_scores.bic], settings, max_parents=2)


def _counted(number: int, large: bool) -> Case:
    table = _levels(number, large, counted=True, experiments=number % 2 == 0)
    return _case(table, [completed_scores.bdeu(2.0)], {"score": BDeu(2.0)})


def _ruled(number: int, large: bool) -> Case:
    # With tiers, sums go part by part, which takes several times as long for a small table.
    tiers = number % 27 == 5

    def prior(child: int, parents: list[int]) -> float:
        early = tiers and child < 2 and any(parent >= 2 for parent in parents)
        return -np.inf if early or (child == 3 and 0 in parents) or (child == 2 and 1 not in parents) else 0.0

    rules: dict[str, Any] = {"forbidden": ["A -> D"], "required": ["B -> C"]}
    if tiers:
        rules["tiers"] = [["A", "B"], ["C", "D"]]
    return _case(_levels(number, large), [completed_scores.bdeu(1.0)], {"score": "bdeu", **rules}, prior=prior)


def _averaged(number: int, large: bool) -> Case:
    sizes = (0.5, 4.0, 30.0)
    table = _levels(number, large, most_levels=3)
    modularity = "order" if number % 2 else "structure"
    settings = {"score": BDeu(sizes), "modularity": modularity}
    scores = [completed_scores.bdeu(size) for size in sizes]
    return _case(table, scores, settings, orders=modularity == "order")


def _numbers(number: int, large: bool) -> Case:
    table = numbers_table(number, 4, 15, 2 if large else 1)
    return _case(table, [completed_scores.bge(completed_scores.rows_of(table))], {"score": "bge"}, points=33)


def _five_columns(number: int, large: bool) -> Case:
    return _case(_levels(number, large, columns=5), [completed_scores.bdeu(1.0)], {"score": "bdeu"})


MAKERS: tuple[Callable[[int, bool], Case], ...] = (
    _plain,
    _many_levels,
    _orders,
    _bic,
    _counted,
    _ruled,
    _averaged,
    _numbers,
    _five_columns,
)


@dataclass(frozen=True)
class Found:
    """Differences from the exact sum, one of each chain: by kind, and of the number of edges."""

    contrasts: dict[str, np.ndarray]
    edge_count: np.ndarray


def differences(case: Case, chains: int, sweeps: int, seed: int, way: str = "auto") -> Found:
    """Run the chains and compare each of them with the exact sum; `way` is how graphs are found given a table."""
    method = Augmentation(chains=chains, burn_in=sweeps // 2, error=1e-9, given_table=way)
    settings = {"max_parents": case.nodes - 1} | case.settings
    model = DagPosterior(
        **{"prior": "uniform", **settings},
        method=method,
        samples=10 * chains * sweeps,
        missing="augment",
        seed=seed,
        threads=1,
        progress=False,
    ).fit(case.table)
    sample = model.fitted_.own_sample()
    rng = np.random.default_rng(seed)
    contrasts = {}
    for name, exact in (("edges", case.truth.edges), ("paths", case.truth.paths)):
        means = np.array([own.mean(axis=0, dtype=float) for own in sample.chains.series_of(name)])
        contrasts[name] = ((means - exact) * rng.normal(size=exact.shape)).sum(axis=(1, 2))
        if name == "edges":
            edge_count = (means - exact).sum(axis=(1, 2))
    contrasts["conditions"] = log_ratios(case, sample, rng)
    return Found(contrasts, edge_count)


def log_ratios(case: Case, sample: Any, rng: np.random.Generator) -> np.ndarray:
    """How far each chain is from the log ratio of two conditions, to first order, by the graphs that it drew."""
    one, other = conditions_of(case, rng)
    graphs, _ = completions.every_dag(case.nodes)
    place = {tuple(graph): number for number, graph in enumerate(graphs.tolist())}
    drawn = np.array([place[tuple(graph)] for graph in sample.parents.tolist()])
    by_chain = np.split(drawn, np.cumsum(sample.chains.lengths)[:-1])
    above, below = case.truth.probability(one), case.truth.probability(other)
    return np.array([one[own].mean() / above - other[own].mean() / below for own in by_chain])


def conditions_of(case: Case, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Two conditions that are neither all but certain nor all but excluded: the best of some random ones."""
    tried = []
    for _ in range(10):
        a, b, c, d = rng.permutation(case.nodes)[:4].tolist()
        one = completions.has_path(case.nodes, a, b) & ~completions.has_edge(case.nodes, c, d)
        other = completions.has_edge(case.nodes, b, d) | completions.has_path(case.nodes, d, a)
        shares = np.array([case.truth.probability(one), case.truth.probability(other)])
        tried.append((float((shares * (1 - shares)).min()), one, other))
    _, one, other = max(tried, key=lambda found: found[0])
    return one, other


def log_p_value(values: np.ndarray) -> float:
    """Of Student's test that the mean is 0; a contrast that is 0 in every chain says nothing."""
    spread = values.std(ddof=1)
    if spread < 1e-7:
        return 0.0 if np.abs(values).max() < 1e-5 else -np.inf
    statistic = abs(values.mean()) / (spread / np.sqrt(len(values)))
    return float(np.log(2.0) + t.logsf(statistic, len(values) - 1))


def combined(found: list[Found]) -> dict[str, float]:
    """P-values over all tables: of each kind, and of the number of edges."""
    result = {}
    for kind in KINDS:
        logs = [log_p_value(own.contrasts[kind]) for own in found]
        result[kind] = float(chi2.sf(-2.0 * sum(logs), 2 * len(logs)))
    total = sum(own.edge_count.mean() for own in found)
    variance = sum(own.edge_count.var(ddof=1) / len(own.edge_count) for own in found)
    result["number of edges"] = float(2.0 * norm.sf(abs(total) / np.sqrt(variance)))
    return result


def test_averages_are_those_of_the_exact_sum() -> None:
    """At most 8e-7 of the time by chance."""
    found = [differences(case_of(number, large=False), 3, 20, number) for number in range(54)]
    assert min(combined(found).values()) > RATE


@pytest.mark.long
def test_long_chains_meet_the_exact_sum() -> None:
    """At most 8e-7 of the time by chance."""
    found = [differences(case_of(number, large=True), 8, 500, number) for number in range(90)]
    assert min(combined(found).values()) > RATE


def test_another_posterior_would_be_seen() -> None:
    """The same statistics, against the posterior of the complete rows."""
    found = []
    for number in range(0, 54, 9):
        case = case_of(number, large=False)
        kept = ~np.asarray(case.table.gaps).any(axis=0)
        whole = replace(case.table, columns=tuple(own[kept] for own in case.table.columns), gaps=None)
        other = completions.posterior(completed_scores.rows_of(whole), [completed_scores.bdeu(1.0)])
        found.append(differences(replace(case, truth=other), 4, 40, number))
    assert combined(found)["edges"] < RATE
