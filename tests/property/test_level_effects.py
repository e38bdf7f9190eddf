"""What setting columns of levels does, against sums over the joint distribution of all columns."""

from __future__ import annotations

from itertools import product
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive import level_effects as naive

from dagpost.causal import discrete
from dagpost.causal.level_tables import level_tables
from dagpost.data.table import Table
from dagpost.families.masks import members_of
from dagpost.prediction.background import count_background
from dagpost.prediction.statistics import sufficient_statistics
from dagpost.scores import BDeu, DirichletPrior


class Case:
    """A table of levels with skewed columns, some exogenous, and a graph over it."""

    def __init__(self, seed: int, nodes: int, exogenous: int, rows: int, strength: float) -> None:
        generator = np.random.default_rng(seed)
        self.arities = tuple(generator.integers(2, 4, nodes).tolist())
        codes = [generator.choice(arity, rows, p=generator.dirichlet(np.full(arity, 0.4))) for arity in self.arities]
        levels = tuple(tuple(f"l{level}" for level in range(arity)) for arity in self.arities)
        self.table = Table(tuple("ABCDE"[:nodes]), tuple(own.astype(np.uint8) for own in codes), levels)
        order = generator.permutation(nodes)
        self.exogenous = tuple(order[:exogenous].tolist())
        masks = np.zeros((2, nodes), dtype=np.uint64)
        for graph in range(2):
            for place, child in enumerate(order.tolist()):
                for parent in order[:place].tolist():
                    if place >= exogenous and generator.random() < 0.6:
                        masks[graph, child] |= np.uint64(1 << parent)
        self.graphs = masks
        self.prior = DirichletPrior(strength, shared=True)
        names = [self.table.names[column] for column in self.exogenous]
        self.background = count_background(self.table, names, self.prior)
        self.statistics = sufficient_statistics(self.table, masks, BDeu(equivalent_sample_size=strength))

    def network(self, mechanisms: discrete.LevelMechanisms, graph: int) -> naive.Network:
        """A graph with the parameters that come back when all parents of a node are set."""
        parents = tuple(tuple(members_of(int(mask))) for mask in self.graphs[graph])
        known = {}
        for node, own in enumerate(parents):
            for levels in product(*(range(self.arities[parent]) for parent in own)):
                if node not in self.exogenous:
                    world = dict(zip(own, map(float, levels), strict=True))
                    known[node, levels] = mechanisms.outcome(node, world)[graph]

        def probability(node: int, levels: tuple[int, ...]) -> float:
            return float(known[node, tuple(levels[parent] for parent in parents[node])][levels[node]])

        shares = {
            tuple(int(row[column]) for column in self.exogenous): float(share)
            for row, share in zip(self.background.levels, self.background.shares, strict=True)
        }
        return naive.Network(self.arities, parents, probability, self.exogenous, shares)


cases = st.builds(
    Case,
    seed=st.integers(0, 2**32 - 1),
    nodes=st.integers(3, 5),
    exogenous=st.integers(0, 2),
    rows=st.sampled_from([1, 12, 300]),
    strength=st.sampled_from([0.1, 1.0, 8.0]),
)


def both(case: Case, tables: bool = True) -> list[discrete.LevelMechanisms]:
    generator = np.random.default_rng(1)
    about = case.statistics, case.prior, case.graphs
    if tables:
        return [discrete.expected(*about, case.background), discrete.drawn(*about, case.background, generator)]
    own = level_tables(*about, case.background.exogenous, generator, table_cells=0)
    return [discrete.LevelMechanisms(own, case.background, case.statistics.exclusive)]


@given(cases)
def test_the_parameters_of_means_are_those_of_prediction(case: Case) -> None:
    network = case.network(both(case)[0], 0)
    codes = case.table.codes()
    for node, parents in enumerate(network.parents):
        if node in case.exogenous:
            continue
        levels = [case.arities[parent] for parent in parents]
        parameter = case.prior.pseudocount / (np.prod(levels) * case.arities[node])
        for own in product(*map(range, levels)):
            there = np.all([codes[parent] == level for parent, level in zip(parents, own, strict=True)], axis=0)
            counts = np.bincount(codes[node][np.broadcast_to(there, codes[node].shape)], minlength=case.arities[node])
            full = np.zeros(len(case.arities), dtype=int)
            full[list(parents)] = own
            for level in range(case.arities[node]):
                full[node] = level
                expected = (parameter + counts[level]) / (parameter * case.arities[node] + counts.sum())
                assert network.probability(node, tuple(full.tolist())) == pytest.approx(expected, abs=1e-12)


@given(cases, st.randoms(use_true_random=False), st.booleans())
def test_outcomes_and_parts_match_sums_over_the_joint_distribution(case: Case, random: Random, tables: bool) -> None:
    for mechanisms in both(case, tables):
        for graph in range(len(case.graphs)):
            network = case.network(mechanisms, graph)
            _compare(case, mechanisms, network, graph, random)


def _compare(
    case: Case, mechanisms: discrete.LevelMechanisms, network: naive.Network, graph: int, random: Random
) -> None:
    x, y, z = naive.columns_to_ask(network.parents, case.exogenous, random)
    others = [node for node in range(len(case.arities)) if node != y]
    for world in ({}, {x: 0}, {x: 1, z: 0}):
        found = mechanisms.outcome(y, {column: float(level) for column, level in world.items()})[graph]
        np.testing.assert_allclose(found, naive.outcome(network, y, world), rtol=0, atol=1e-11)
    for values in ((1, 0), (0, case.arities[x] - 1)):
        change = float(values[0]), float(values[1])
        found = mechanisms.direct(x, y, change)[graph]
        np.testing.assert_allclose(found, naive.direct(network, x, y, values), rtol=0, atol=1e-11)
        for mediator in others:
            if mediator != x:
                found = mechanisms.through(x, y, mediator, change)[graph]
                wanted = naive.through(network, x, y, mediator, values)
                np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-9)


def test_large_families_are_made_when_needed_and_are_the_same() -> None:
    case = Case(3, 5, 1, 40, 1.0)
    about = case.statistics, case.prior, case.graphs, case.background.exogenous
    for generator in (None, 7):
        made = []
        for cells in (0, 5000):
            own = None if generator is None else np.random.default_rng(generator)
            made.append(
                discrete.LevelMechanisms(
                    level_tables(*about, own, table_cells=cells), case.background, case.statistics.exclusive
                )
            )
        for y in range(5):
            for x in range(5):
                if x != y and y not in case.exogenous:
                    one, other = (own.outcome(y, {x: 1.0}) for own in made)
                    np.testing.assert_allclose(one, other, rtol=0, atol=1e-13)


def test_some_of_the_graphs_keep_their_parameters() -> None:
    case = Case(5, 4, 0, 40, 1.0)
    graphs = np.ascontiguousarray(case.graphs[[0, 1, 0, 1, 0]])
    rows = np.array([4, 1])
    for cells in (0, 5000):
        tables = level_tables(
            case.statistics, case.prior, graphs, np.array([]), np.random.default_rng(1), table_cells=cells
        )
        every = discrete.LevelMechanisms(tables, case.background, case.statistics.exclusive)
        found = every.outcome(2, {})
        assert len(np.unique(found[:, 0])) == len(graphs)
        np.testing.assert_array_equal(every.some(rows).outcome(2, {}), found[rows])
