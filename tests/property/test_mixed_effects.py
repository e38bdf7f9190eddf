"""What setting columns of levels or numbers does, against sums over all levels."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive import level_effects, mixed_effects
from tests.naive.conditional_gaussian import Cloud, prior_of
from tests.naive.level_effects import columns_to_ask
from tests.property.test_prediction import sample_of
from tests.tools.wording import Said

from dagpost.causal import effect, mixed
from dagpost.causal.level_tables import level_tables
from dagpost.causal.regression_tables import regression_tables
from dagpost.data.table import Table
from dagpost.errors import DagpostWarning
from dagpost.families.masks import members_of
from dagpost.prediction.background import count_background
from dagpost.prediction.statistics import sufficient_statistics
from dagpost.scores import ConditionalGaussian

SCORE = ConditionalGaussian()


class Case:
    """A table of levels and numbers, some of them exogenous, and a graph over it."""

    def __init__(self, seed: int, kinds: str, exogenous: int, rows: int) -> None:
        generator = np.random.default_rng(seed)
        nodes = len(kinds)
        self.kinds = "".join(np.array(list(kinds))[generator.permutation(nodes)])
        self.numbers = tuple(node for node, kind in enumerate(self.kinds) if kind == "n")
        self.arities = tuple(1 if kind == "n" else int(generator.integers(2, 4)) for kind in self.kinds)
        columns: list[np.ndarray] = []
        levels: list[tuple[str, ...] | None] = []
        for arity, kind in zip(self.arities, self.kinds, strict=True):
            if kind == "n":
                columns.append(generator.normal(generator.normal(0, 3), 2, rows))
                levels.append(None)
            else:
                shares = generator.dirichlet(np.full(arity, 0.6))
                columns.append(generator.choice(arity, rows, p=shares).astype(np.uint8))
                levels.append(tuple(f"l{level}" for level in range(arity)))
        self.table = Table(tuple("ABCDEF"[:nodes]), tuple(columns), tuple(levels))
        order = [*generator.permutation([n for n in range(nodes) if n not in self.numbers]).tolist()]
        for number in generator.permutation(self.numbers).tolist():
            # Numbers lead to numbers only, wherever they stand.
            order.insert(int(generator.integers(len(order) + 1)), number)
        self.exogenous = tuple(order[:exogenous])
        masks = np.zeros((2, nodes), dtype=np.uint64)
        for graph in range(2):
            for place, child in enumerate(order):
                for parent in order[:place]:
                    allowed = child in self.numbers or parent not in self.numbers
                    if place >= exogenous and allowed and generator.random() < 0.7:
                        masks[graph, child] |= np.uint64(1 << parent)
        self.graphs, self.prior = masks, SCORE.parameter_prior()
        names = [self.table.names[column] for column in self.exogenous]
        self.background = count_background(self.table, names, self.prior)
        self.statistics = sufficient_statistics(self.table, masks, SCORE)

    def network(self, mechanisms: mixed.MixedMechanisms, graph: int) -> mixed_effects.MixedNetwork:
        """A graph with the parameters that come back when all parents of a node are set."""
        parents = tuple(tuple(members_of(int(mask))) for mask in self.graphs[graph])
        known = {}
        for node, own in enumerate(parents):
            discrete = [parent for parent in own if parent not in self.numbers]
            of_numbers = [parent for parent in own if parent in self.numbers]
            for levels in product(*(range(self.arities[parent]) for parent in discrete)):
                if node in self.exogenous:
                    continue
                world = dict(zip(discrete, map(float, levels), strict=True))
                if node not in self.numbers:
                    known[node, levels] = mechanisms.outcome(node, world)[graph]
                    continue
                world |= dict.fromkeys(of_numbers, 0.0)
                constant = float(mechanisms.outcome(node, world)[graph, 0])
                slopes = {
                    parent: float(mechanisms.outcome(node, {**world, parent: 1.0})[graph, 0]) - constant
                    for parent in of_numbers
                }
                known[node, levels] = constant, slopes

        def at(node: int, levels: tuple[int, ...]) -> Any:
            return known[node, tuple(levels[parent] for parent in parents[node] if parent not in self.numbers)]

        exogenous_levels = tuple(column for column in self.exogenous if column not in self.numbers)
        combinations = [tuple(row[list(exogenous_levels)].tolist()) for row in self.background.levels]
        shares = dict(zip(combinations, self.background.shares.tolist(), strict=True))

        def exogenous_mean(column: int, levels: tuple[int, ...], world: Mapping[int, int]) -> float:
            rows = [
                place
                for place, own in enumerate(combinations)
                if all(levels[c] == code for c, code in zip(exogenous_levels, own, strict=True) if c not in world)
            ]
            weights = self.background.shares[rows]
            return float(weights @ self.background.means[rows, column] / weights.sum()) if rows else 0.0

        ignored = (*self.numbers, *exogenous_levels)
        among = tuple(() if node in self.numbers else own for node, own in enumerate(parents))
        of_levels = level_effects.Network(
            self.arities,
            among,
            lambda node, own: 1.0 if node in ignored else float(at(node, own)[own[node]]),
            exogenous_levels,
            shares,
        )
        exogenous = tuple(column for column in self.exogenous if column in self.numbers)
        return mixed_effects.MixedNetwork(of_levels, parents, self.numbers, at, exogenous, exogenous_mean)


cases = st.builds(
    Case,
    seed=st.integers(0, 2**32 - 1),
    kinds=st.sampled_from(["lln", "lnn", "llnn", "lnnn", "lllnn", "llnnn", "nnn"]),
    exogenous=st.integers(0, 2),
    rows=st.sampled_from([3, 15, 200]),
)


def both(case: Case, tables: bool) -> list[mixed.MixedMechanisms]:
    generator = np.random.default_rng(1)
    about = case.statistics, case.prior, case.graphs
    made = [mixed.expected(*about, case.background), mixed.drawn(*about, case.background, generator)]
    if tables:
        return made
    own = made[0]
    columns, levels, exogenous = own._columns, case.statistics.level_columns, case.background.exogenous
    if not len(levels):
        return made
    of_levels = level_tables(
        case.statistics.discrete, case.prior.dirichlet, own._levels.graphs,
        np.flatnonzero(np.isin(levels, exogenous)), generator, table_cells=0,
    )  # fmt: skip
    of_numbers = regression_tables(*about, of_levels.arities, exogenous, generator, table_combinations=0)
    return [mixed.MixedMechanisms(case.graphs, of_levels, of_numbers, columns, case.background)]


@given(cases)
def test_mean_regressions_are_those_of_the_rows_of_their_combination(case: Case) -> None:
    network = case.network(both(case, True)[0], 0)
    prior = prior_of(case.table)
    for node in case.numbers:
        if node in case.exogenous:
            continue
        numbers = [parent for parent in network.parents[node] if parent in case.numbers]
        levels = [parent for parent in network.parents[node] if parent not in case.numbers]
        for own in product(*(range(case.arities[parent]) for parent in levels)):
            cloud = Cloud([*numbers, node], prior)
            for row in range(case.table.rows):
                if all(case.table.columns[parent][row] == code for parent, code in zip(levels, own, strict=True)):
                    cloud.add(np.array([case.table.columns[column][row] for column in [*numbers, node]]))
            slopes = np.linalg.solve(cloud.matrix[:-1, :-1], cloud.matrix[:-1, -1])
            full = [0] * len(case.arities)
            for parent, code in zip(levels, own, strict=True):
                full[parent] = code
            constant, found = network.regression(node, tuple(full))
            np.testing.assert_allclose([found[parent] for parent in numbers], slopes, rtol=0, atol=1e-8)
            assert constant == pytest.approx(cloud.mean[-1] - slopes @ cloud.mean[:-1], abs=1e-8)


@given(cases, st.randoms(use_true_random=False), st.booleans())
def test_outcomes_and_parts_match_sums_over_all_levels(case: Case, random: Random, tables: bool) -> None:
    for mechanisms in both(case, tables):
        for graph in range(len(case.graphs)):
            _compare(case, mechanisms, case.network(mechanisms, graph), graph, random)


def _compare(
    case: Case, mechanisms: mixed.MixedMechanisms, network: mixed_effects.MixedNetwork, graph: int, random: Random
) -> None:
    x, y, z = columns_to_ask(network.parents, case.exogenous, random)
    others = [node for node in range(len(case.arities)) if node != y]
    pairs = [(1.0, 0.0)] if x not in case.numbers else [(1.0, 0.0), (-2.5, 4.0)]
    for world in ({}, {x: 1.0}, {x: 0.0, z: 1.0}):
        _same(mechanisms.outcome(y, world)[graph], _outcome(case, network, y, world))
    for values in pairs:
        codes = int(values[0]), int(values[1])
        found = mechanisms.direct(x, y, values)[graph]
        if y in case.numbers:
            _same(found, [mixed_effects.direct(network, x, y, values)])
        else:
            wanted = level_effects.direct(network.levels, x, y, codes) if x not in case.numbers else 0.0
            _same(found, wanted)
        for mediator in others:
            if mediator != x:
                found = mechanisms.through(x, y, mediator, values)[graph]
                if y in case.numbers:
                    _same(found, [mixed_effects.through(network, x, y, mediator, values)])
                elif x in case.numbers or mediator in case.numbers:
                    assert not found.any()
                else:
                    _same(found, level_effects.through(network.levels, x, y, mediator, codes))


def _outcome(case: Case, network: mixed_effects.MixedNetwork, y: int, world: dict[int, float]) -> Any:
    if y in case.numbers:
        return [mixed_effects.outcome(network, y, world)]
    return level_effects.outcome(
        network.levels, y, {column: int(value) for column, value in world.items() if column not in case.numbers}
    )


def _same(found: Any, wanted: Any) -> None:
    """Equal, relative to the largest numbers on the way: slopes of the prior may be of any size."""
    scale = 1.0 + float(np.abs(np.asarray(wanted)).max())
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-8 * scale)


def smoking(rows: int, seed: int = 1) -> Table:
    """Sex leads to all others, smoking to weight and pressure, weight to pressure by 2 or, in men, by 3."""
    generator = np.random.default_rng(seed)
    sex = generator.integers(0, 2, rows)
    smokes = (generator.random(rows) < np.where(sex == 1, 0.7, 0.3)).astype(np.int64)
    weight = 70 + 10 * sex - 4 * smokes + generator.normal(size=rows)
    pressure = 120 + (2 + sex) * (weight - 75) + 5 * smokes + 3 * generator.normal(size=rows)
    columns = sex.astype(np.uint8), smokes.astype(np.uint8), weight, pressure
    return Table(("sex", "smokes", "weight", "pressure"), columns, (("f", "m"), ("no", "yes"), None, None))


TRUE = np.array([[0, 1, 3, 7]], dtype=np.uint8)


def test_effects_through_levels_and_numbers_are_those_of_the_network() -> None:
    table = smoking(4000)
    sample = sample_of(table.names, TRUE, np.ones(1))
    asked: dict[str, Any] = {"draws": 500, "seed": 1}
    slope = effect(sample, table, "conditional-gaussian", "weight", "pressure", **asked)
    # Half of the rows are of men.
    assert slope.mean == pytest.approx(2.5, abs=0.1)
    assert slope.samples.std() < 0.1
    total = effect(sample, table, "conditional-gaussian", "smokes", "pressure", **asked)
    # 5 directly, and 4 less of weight.
    assert total.mean == pytest.approx(5 - 4 * 2.5, abs=0.5)
    assert total.interval()[0] < 5 - 4 * 2.5 < total.interval()[1]
    assert total.direct is not None
    assert total.direct.mean == pytest.approx(5, abs=0.7)
    assert {part.through: round(part.mean) for part in total.through} == {"weight": -10}
    sex = effect(sample, table, "conditional-gaussian", "sex", "smokes", **asked)
    assert sex.mean == pytest.approx(0.4, abs=0.04)


def test_numbers_have_no_effect_on_levels_and_a_notice_says_why(said: Said) -> None:
    table = smoking(50)
    sample = sample_of(table.names, TRUE, np.ones(1))
    with said.warns(DagpostWarning):
        found = effect(sample, table, "conditional-gaussian", "weight", "smokes", draws=10)
    assert found.zero_probability == 1.0
    assert found.mean == 0.0
    assert not found.samples.any()
