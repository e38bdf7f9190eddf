"""Effects against sums over all graphs, combinations of levels and paths, in code that shares nothing with the library.

With few columns a model sums over all graphs, so its means and probabilities are exact. Draws are compared with those
of a plain sampler: seeds are fixed, and each comparison has a false-alarm rate of `RATE`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats
from tests.naive import edge_priors
from tests.naive import effect_posteriors as naive
from tests.naive import effects as networks
from tests.naive.causal import Graph, has_path
from tests.tools.examples import examples

from dagpost import BDeu, DagPosterior, EdgePrior, edge, path
from dagpost.causal import Effect
from dagpost.data.table import Table

pytestmark = pytest.mark.filterwarnings("ignore::dagpost.errors.DagpostWarning")

RATE = 1e-6
NAMES = ("A", "B", "C", "D")
#: All else follows from the seed: choices made one by one would mostly be the simplest ones.
SEEDS = st.integers(0, 2**64 - 1)
#: Graphs that weigh less change no sum by a visible digit.
NEGLIGIBLE = 1e-14
AVERAGED = (2.0, 10.0, 50.0, 200.0)

Parts = Callable[[Table], list[naive.Part]]

#: A score, its twin, and the columns that it takes.
SCORES: dict[str, tuple[Any, Parts, str]] = {
    "bdeu": (BDeu(2.5), lambda table: [naive.of_levels(table, 2.5)], "levels"),
    "bdeu averaged": (BDeu("average"), lambda table: [naive.of_levels(table, size) for size in AVERAGED], "levels"),
    "k2": ("k2", lambda table: [naive.of_pseudocount(table, 1.0)], "levels"),
    "bic": ("bic", lambda table: [naive.of_bic(table)], "levels"),
    "bge": ("bge", lambda table: [naive.of_numbers(table)], "numbers"),
}


def table_of(generator: np.random.Generator, columns: str, nodes: int, rows: int | None = None) -> Table:
    """Columns that depend on those before them, of two or three levels or of numbers, some rows counted twice."""
    count = int(generator.choice([3, 12, 40])) if rows is None else rows
    kinds = [columns == "numbers"] * nodes
    made: list[np.ndarray] = []
    levels: list[tuple[int, ...] | None] = []
    for numeric in kinds:
        behind = sum((generator.normal() * column for column in made), np.zeros(count)) + generator.normal(size=count)
        if numeric:
            made.append(behind * generator.choice([0.5, 3.0]) + generator.choice([0.0, 5.0]))
            levels.append(None)
        else:
            arity = int(generator.integers(2, 4))
            made.append(np.clip(np.floor(behind + arity / 2), 0, arity - 1))
            levels.append(tuple(range(arity)))
    cells = tuple(column if kind else column.astype(np.uint8) for column, kind in zip(made, kinds, strict=True))
    extra: dict[str, Any] = {}
    if generator.random() < 0.3:
        extra["counts"] = generator.integers(1, 3, count)
    return Table(NAMES[:nodes], cells, tuple(levels), **extra)


@dataclass(frozen=True)
class Case:
    """A fitted model, its table, all graphs with their weights, and the columns that are not modelled."""

    model: DagPosterior
    table: Table
    weighed: list[naive.Weighed]
    unmodelled: tuple[int, ...] = ()

    @cached_property
    def mean_networks(self) -> list[tuple[float, networks.Network]]:
        """All graphs with the means of their parameters."""
        return [
            (own.weight, naive.mean_network(self.table, own, self.unmodelled))
            for own in self.weighed
            if own.weight > NEGLIGIBLE
        ]

    def averaged(self, value: Callable[[networks.Network], np.ndarray]) -> np.ndarray:
        return sum((weight * value(network) for weight, network in self.mean_networks), np.zeros(1))

    def probability(self, holds: Callable[[Graph], bool]) -> float:
        return math.fsum(own.weight for own in self.weighed if holds(own.graph))


def case_of(generator: np.random.Generator, score: str, nodes: int, rows: int | None = None) -> Case:
    """Without any rules."""
    chosen, parts, columns = SCORES[score]
    table = table_of(generator, columns, nodes, rows)
    weighed = naive.posterior_of(table, parts(table), naive.allowed(nodes - 1))
    return Case(fitted(chosen, table), table, weighed)


def fitted(score: Any, table: Table, **rules: Any) -> DagPosterior:
    return DagPosterior(
        score, **{"prior": "uniform", "max_parents": len(table.names) - 1, "progress": False, "seed": 1, **rules}
    ).fit(table)


def values_of(table: Table, node: int, generator: np.random.Generator) -> tuple[float, float]:
    """Two values to set a column to."""
    own = table.levels[node]
    if own is None:
        return float(generator.normal()), float(generator.normal())
    first, second = generator.permutation(len(own))[:2].tolist()
    return first, second


def assert_agrees(case: Case, generator: np.random.Generator, model: DagPosterior | None = None, **given: Any) -> None:
    """Every exact number of one effect, of columns, values and a level chosen by chance."""
    table, nodes = case.table, len(case.table.names)
    y = int(generator.choice([node for node in range(nodes) if node not in case.unmodelled]))
    x = int(generator.choice([node for node in range(nodes) if node != y]))
    values = values_of(table, x, generator)
    own = table.levels[y]
    code = 0 if own is None else int(generator.integers(len(own)))
    effect = (model or case.model).effect(
        NAMES[x], NAMES[y], do=values, outcome_level=None if own is None else code, draws=40, seed=1, **given
    )
    assert effect.exact
    assert_means(effect, case, x, y, values, code)
    assert_parts(effect, case, x, y, values, code)


def seen(y: int, world: networks.World) -> Callable[[networks.Network], np.ndarray]:
    """What is seen of a column when others are set."""
    return lambda network: networks.distribution(network, y, world)


def passing(x: int, m: int, y: int) -> Callable[[Graph], bool]:
    """Whether a path leads from one column through another to a third."""
    return lambda graph: has_path(graph, x, m) and has_path(graph, m, y)


def close(value: Any) -> Any:
    return pytest.approx(value, abs=1e-9, rel=1e-9)


def assert_means(effect: Effect, case: Case, x: int, y: int, values: tuple[float, float], code: int) -> None:
    own = case.table.levels[x]
    worlds = values if own is None else range(len(own))
    found = {(outcome.do[0], outcome.level): outcome for outcome in effect.outcomes}
    assert len(found) == len(worlds) * (len(case.table.levels[y] or ()) or 1)
    means = {value: case.averaged(seen(y, {x: value})) for value in worlds}
    for (value, level), outcome in found.items():
        assert outcome.mean == close(means[value][level or 0])
        assert outcome.lower <= outcome.upper
    assert effect.mean == close(means[values[0]][code] - means[values[1]][code])
    assert effect.zero_probability == close(naive.no_path(case.weighed, x, y))


def assert_parts(effect: Effect, case: Case, x: int, y: int, values: tuple[float, float], code: int) -> None:
    assert effect.direct is not None
    direct = case.averaged(lambda network: networks.direct(network, x, y, values))
    assert effect.direct.mean == close(direct[code])
    assert effect.direct.probability == close(case.probability(lambda graph: bool(graph[y] >> x & 1)))
    on_the_way = {}
    for m in range(len(case.table.names)):
        if m not in (x, y):
            share = case.probability(passing(x, m, y))
            if share > 0.0:
                on_the_way[NAMES[m]] = share
    assert {part.through: part.probability for part in effect.through} == close(on_the_way)
    # Elsewhere this mean has no closed form, and comes from draws.
    if case.model.fitted_.score.name == "bge":
        for part in effect.through:
            m = NAMES.index(part.through)
            expected = case.averaged(partial(networks.through, cause=x, outcome=y, mediator=m, values=values))
            assert part.mean == close(expected[0])


@pytest.mark.parametrize("score", SCORES)
@settings(max_examples=examples(2))
@given(seed=SEEDS)
def test_effects_are_sums_over_all_graphs_of_three_columns(score: str, seed: int) -> None:
    generator = np.random.default_rng(seed)
    assert_agrees(case_of(generator, score, 3), generator)


@pytest.mark.parametrize(
    ("score", "seed"),
    [
        pytest.param(score, seed, marks=[] if score == "bge" and seed == 0 else pytest.mark.long)
        for score in ("bge", "bdeu")
        for seed in range(6)
    ],
)
def test_effects_are_sums_over_all_graphs_of_four_columns(score: str, seed: int) -> None:
    generator = np.random.default_rng(seed)
    assert_agrees(case_of(generator, score, 4), generator)


RULES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "order": ({"modularity": "order"}, {"orders": True}),
    "few parents": ({"max_parents": 1}, {"log_prior": naive.allowed(1)}),
    "tiers": ({"tiers": [["C"], ["A", "B"]]}, {"log_prior": naive.allowed(2, tiers=[[2], [0, 1]])}),
    "required": ({"required": [("A", "B")]}, {"log_prior": naive.allowed(2, required=[(0, 1)])}),
    "forbidden": ({"forbidden": [("B", "C"), ("A", "C")]}, {"log_prior": naive.allowed(2, forbidden=[(1, 2), (0, 2)])}),
    "one exogenous": ({"exogenous": ["B"]}, {"unmodelled": (1,)}),
    "two exogenous": ({"exogenous": ["A", "C"]}, {"unmodelled": (0, 2)}),
    "exogenous, by order": ({"exogenous": ["A"], "modularity": "order"}, {"unmodelled": (0,), "orders": True}),
    "sparse": ({"prior": EdgePrior(0.1)}, {"log_prior": lambda graph: _edges(graph) * math.log(0.1 / 0.9)}),
    "edge by edge": (
        {"prior": EdgePrior({"A -> B": 0.7, "B -- C": 0.2}, otherwise=0.25)},
        {"links": ({(0, 1): {"->": 0.7}, (1, 2): {"--": 0.2}}, 0.25)},
    ),
    "a condition": ({}, {"given": path("A", "C") | ~edge("B", "A")}),
}


def log_prior_of(twin: dict[str, Any]) -> Callable[[Graph], float]:
    """What a rule says of graphs."""
    if "links" not in twin:
        return twin.get("log_prior", naive.allowed(2))
    said, otherwise = twin["links"]
    weights = edge_priors.graph_weights(said, otherwise, 3, [], 2)
    return lambda graph: _log(weights[tuple(graph)])


def _edges(graph: Graph) -> int:
    return sum(int(mask).bit_count() for mask in graph)


def _log(weight: float) -> float:
    return math.log(weight) if weight > 0.0 else -math.inf


#: Every rule with every score, one of them by default.
RULED = [
    pytest.param(rule, score, marks=[] if (place - number) % 3 == 0 and number < 3 else pytest.mark.long)
    for place, rule in enumerate(RULES)
    for number, score in enumerate(("bdeu", "bge", "bdeu averaged"))
]


@pytest.mark.parametrize(("rule", "score"), RULED)
@settings(max_examples=examples(2))
@example(seed=58)
@given(seed=SEEDS)
def test_effects_under_rules_and_priors_are_sums_over_all_graphs(rule: str, score: str, seed: int) -> None:
    generator = np.random.default_rng(seed)
    chosen, parts, columns = SCORES[score]
    table = table_of(generator, columns, 3)
    settings_of_model, twin = RULES[rule]
    more = {key: value for key, value in twin.items() if key not in {"links", "log_prior"}}
    weighed = naive.posterior_of(table, parts(table), log_prior_of(twin), **more)
    case = Case(fitted(chosen, table, **settings_of_model), table, weighed, twin.get("unmodelled", ()))
    assert_agrees(case, generator, **({"given": twin["given"]} if "given" in twin else {}))


@pytest.mark.parametrize("score", ["bdeu", "bge"])
@settings(max_examples=examples(2))
@given(seed=SEEDS)
def test_setting_several_columns_at_once_is_the_truncated_factorisation(score: str, seed: int) -> None:
    generator = np.random.default_rng(seed)
    case = case_of(generator, score, 3)
    order = generator.permutation(3).tolist()
    y, causes = order[0], order[1:]
    values = {node: values_of(case.table, node, generator) for node in causes}
    # One of them may be held while the other changes.
    if generator.random() < 0.3:
        values[causes[1]] = (values[causes[1]][0],) * 2
    own = case.table.levels[y]
    code = 0 if own is None else int(generator.integers(len(own)))
    effect = case.model.effect(
        {NAMES[node]: pair if pair[0] != pair[1] else pair[0] for node, pair in values.items()},
        NAMES[y],
        outcome_level=None if own is None else code,
        draws=40,
        seed=1,
    )
    first, second = (case.averaged(seen(y, {node: pair[side] for node, pair in values.items()})) for side in (0, 1))
    assert effect.mean == close(first[code] - second[code])
    moved = [node for node, pair in values.items() if pair[0] != pair[1]]
    held = [node for node in causes if node not in moved]
    assert effect.zero_probability == close(
        case.probability(lambda graph: not any(_reaches(graph, node, y, held + moved) for node in moved))
    )
    assert effect.direct is None
    assert effect.through == ()


def _reaches(graph: Graph, source: int, target: int, cut: Sequence[int]) -> bool:
    """Whether a directed path leads on that enters none of the columns that are set."""
    masks = [0 if node in cut else int(mask) for node, mask in enumerate(graph)]
    return has_path(masks, source, target)


@pytest.mark.parametrize("score", ["bdeu averaged", "bge"])
def test_a_model_that_was_saved_without_rows_says_the_same(score: str, tmp_path: Path) -> None:
    case = case_of(np.random.default_rng(5), score, 3, rows=12)
    case.model.save(tmp_path / "model.dagpost")
    loaded = DagPosterior.load(tmp_path / "model.dagpost")
    for seed in range(3):
        assert_agrees(case, np.random.default_rng(seed), loaded)


# Draws


def drawn(case: Case, value: Callable[[networks.Network], np.ndarray], code: int, draws: int, seed: int) -> np.ndarray:
    """A value in graphs and parameters drawn from the posterior, one after the other."""
    generator = np.random.default_rng(seed)
    chosen = generator.choice(len(case.weighed), draws, p=np.array([own.weight for own in case.weighed]))
    return np.array(
        [
            value(naive.drawn_network(case.table, case.weighed[place], generator, case.unmodelled))[code]
            for place in chosen.tolist()
        ]
    )


def assert_same_law(found: np.ndarray, twin: np.ndarray) -> None:
    """The share of zeros, and the distribution of all others."""
    zeros = [[int((own == 0.0).sum()), int((own != 0.0).sum())] for own in (found, twin)]
    if all(sum(column) for column in zip(*zeros, strict=True)):
        assert stats.fisher_exact(zeros).pvalue > RATE
    others = found[found != 0.0], twin[twin != 0.0]
    assert min(map(len, others)) > 10
    assert stats.ks_2samp(*others).pvalue > RATE


@pytest.mark.parametrize("score", ["bdeu", "bge"])
@pytest.mark.parametrize("draws", [pytest.param(200, id="few"), pytest.param(6_000, marks=pytest.mark.long, id="many")])
def test_draws_of_an_effect_and_its_parts_are_from_the_posterior(score: str, draws: int) -> None:
    chosen, parts, columns = SCORES[score]
    generator = np.random.default_rng(12)
    kinds = {"levels": (3, 2, 2), "numbers": (0, 0, 0)}[columns]
    table = chained_table(generator, kinds, 25)
    weighed = naive.posterior_of(table, parts(table), naive.allowed(2, tiers=[[0], [1], [2]]))
    case = Case(fitted(chosen, table, tiers=[["A"], ["B"], ["C"]]), table, weighed)
    effect = case.model.effect("A", "C", do=(1, 0), outcome_level=1 if kinds[2] else None, draws=20_000, seed=3)
    code = 1 if kinds[2] else 0
    values = (1.0, 0.0)
    total = drawn(
        case,
        lambda network: networks.distribution(network, 2, {0: 1}) - networks.distribution(network, 2, {0: 0}),
        code,
        draws,
        4,
    )
    assert_same_law(effect.samples, np.where(np.abs(total) < 1e-12, 0.0, total))
    assert effect.direct is not None
    assert_same_law(
        effect.direct.samples, drawn(case, lambda network: networks.direct(network, 0, 2, values), code, draws, 5)
    )
    (through,) = effect.through
    other = drawn(case, lambda network: networks.through(network, 0, 2, 1, values), code, draws, 6)
    assert_same_law(through.samples, np.where(np.abs(other) < 1e-12, 0.0, other))
    if not any(kinds):
        return
    # The mean of a part through levels has no closed form: it is that of the draws, within what chance allows.
    error = math.hypot(through.samples.std() / math.sqrt(len(through.samples)), other.std() / math.sqrt(draws))
    assert abs(through.mean - other.mean()) < stats.norm.isf(RATE / 2) * error


def chained_table(generator: np.random.Generator, arities: Sequence[int], rows: int) -> Table:
    """Three columns, each of which depends on those before it, with little data: parameters stay uncertain."""
    first = generator.normal(size=rows)
    second = 0.7 * first + generator.normal(size=rows)
    third = 0.6 * first + 0.8 * second + generator.normal(size=rows)
    columns = tuple(
        np.clip(np.floor(column + arity / 2), 0, arity - 1).astype(np.uint8) if arity else column
        for column, arity in zip((first, second, third), arities, strict=True)
    )
    return Table(NAMES[:3], columns, tuple(tuple(range(arity)) if arity else None for arity in arities))
