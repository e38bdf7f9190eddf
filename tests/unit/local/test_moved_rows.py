"""Rows that move when columns are set: beside plain recursion, and networks whose effects are known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive.moved_rows import Rows

from dagpost.data import as_table
from dagpost.features import ancestors
from dagpost.local.additive import fitter
from dagpost.local.models import LocalModels, models_of, seen_in
from dagpost.local.moved_rows import Asked, outcomes, people_of, ways_of
from dagpost.local.networks import Draws, networks_of
from dagpost.scores import Additive


def table_of_all_kinds(seed: int, rows: int = 60) -> pd.DataFrame:
    """Numbers of several scales, levels of two, three in an order, and three in none; all are related."""
    rng = np.random.default_rng(seed)
    a = rng.normal(size=rows)
    b = np.exp(0.6 * a + 0.4 * rng.normal(size=rows))
    c = np.round(3.0 + a + np.log(b) + rng.normal(size=rows))
    pull = np.column_stack([a, -a, 0.5 * c]) + rng.gumbel(size=(rows, 3))
    d = np.array(["red", "blue", "grey"])[pull.argmax(axis=1)]
    e = np.where(a + (d == "red") + rng.logistic(size=rows) > 0.0, "yes", "no")
    f = np.array(["low", "middle", "high"])[np.clip(np.round(1.0 + a), 0, 2).astype(int)]
    return pd.DataFrame(
        {"a": a, "b": b, "c": c + 0.25, "d": d, "e": e, "f": pd.Categorical(f, ["low", "middle", "high"], ordered=True)}
    )


def random_graph(rng: np.random.Generator, nodes: int) -> list[int]:
    """Parent masks of any acyclic graph, with many edges."""
    order = rng.permutation(nodes)
    masks = [0] * nodes
    for place, node in enumerate(order):
        before = [other for other in order[:place] if rng.random() < 0.6][:3]
        masks[node] = sum(1 << int(other) for other in before)
    return masks


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_rows_move_as_plain_recursion_says(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = as_table(table_of_all_kinds(int(rng.integers(5))))
    fit, nodes = fitter(table, Additive().parameter_prior()), len(table.names)
    models = LocalModels(seen_in(table), fit)
    graph = random_graph(rng, nodes)
    graphs = np.array([graph], dtype=np.uint64)
    cause, outcome = (int(node) for node in rng.permutation(nodes)[:2])
    set_to, other = np.full(nodes, np.nan), [np.nan, np.nan]
    also = [own for own in range(nodes) if own not in (cause, outcome)][: rng.integers(2)]
    for node in [cause, *also]:
        levels = table.levels[node]
        values = [float(rng.integers(len(levels))) if levels else float(rng.choice(table.columns[node])) for _ in "12"]
        set_to[node] = values[0]
        other = values if node == cause else other
    between = [node for node in range(nodes) if np.isnan(set_to[node]) and node != outcome]
    # Mediators are asked about where one column is set.
    mediator = int(rng.choice(between)) if not also and rng.random() < 0.7 else -1
    seen = other[1] if mediator < 0 and rng.random() < 0.5 else float("nan")
    asked = Asked(outcome, set_to, cause, seen, mediator, other[1] if mediator >= 0 else float("nan"))
    ways = ways_of(graphs, asked)
    draws = Draws(int(rng.integers(100)), graphs, np.zeros(1, dtype=np.int64))
    networks = networks_of(models, graphs, ways.needed, draws)
    people = people_of(models).first(7)
    found = outcomes(networks, ways, people, asked, len(table.levels[outcome] or ()))[0]
    if mediator >= 0 and not ways.needed[0, mediator]:
        assert not found.any()
        return
    families = {node: int(networks.families[0, node]) for node in range(nodes) if networks.families[0, node] >= 0}
    fitted: Any = {node: networks.models[family] for node, family in families.items()}
    theta = {node: np.split(networks.theta[family][0], fitted[node]._begins[1:-1]) for node, family in families.items()}
    by_hand = Rows(fit, graph, theta, fitted)
    expected = [by_hand.outcome(people, row, asked) for row in range(7)]
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


def test_what_nothing_set_acts_on_stays_as_it_is() -> None:
    table = as_table(table_of_all_kinds(1))
    models, graphs = (
        models_of(table, Additive().parameter_prior()),
        np.array([[0, 1, 2, 0, 0, 0]], dtype=np.uint64),
    )
    asked = Asked(0, np.array([np.nan, 2.0, np.nan, np.nan, np.nan, np.nan]))
    ways = ways_of(graphs, asked)
    networks = networks_of(models, graphs, ways.needed)
    people = people_of(models)
    found = outcomes(networks, ways, people, asked, 0)
    np.testing.assert_array_equal(found[0, :, 0], people.values[0])


@pytest.mark.parametrize("seed", range(3))
def test_the_effect_in_a_linear_network_is_the_sum_over_paths(seed: int) -> None:
    rng, rows = np.random.default_rng(seed), 4_000
    x = rng.normal(size=rows)
    m = 0.8 * x + rng.normal(size=rows)
    y = 0.5 * m - 0.7 * x + rng.normal(size=rows)
    models = models_of(as_table(pd.DataFrame({"x": x, "m": m, "y": y})), Additive().parameter_prior())
    graphs = np.array([[0, 1, 3]], dtype=np.uint64)
    sides = []
    for value in (1.0, 0.0):
        asked = Asked(2, np.array([value, np.nan, np.nan]))
        ways = ways_of(graphs, asked)
        networks = networks_of(models, graphs, ways.needed)
        sides.append(outcomes(networks, ways, people_of(models), asked, 0).mean())
    # The standard error is about 0.02; 6 of these have a false-alarm rate below 1e-6 each.
    assert abs(sides[0] - sides[1] - (0.5 * 0.8 - 0.7)) < 0.12


def test_the_draws_of_some_graphs_are_those_among_all() -> None:
    table = as_table(table_of_all_kinds(2))
    models, rng = models_of(table, Additive().parameter_prior()), np.random.default_rng(1)
    together = np.array([random_graph(rng, 6) for _ in range(5)] * 3, dtype=np.uint64)
    asked = Asked(5, np.array([1.0] + [np.nan] * 5))

    def found(rows: np.ndarray[Any, Any]) -> Any:
        graphs = together[rows]
        ways = ways_of(graphs, asked)
        networks = networks_of(models, graphs, ways.needed, Draws(7, together, rows))
        return outcomes(networks, ways, people_of(models).first(9), asked, 3)

    every, some = found(np.arange(15)), np.array([2, 3, 11])
    np.testing.assert_allclose(found(some), every[some], rtol=1e-9)
    # Graphs that are alike have parameters of their own.
    acted_on = [row for row in range(5) if ancestors(together[row][np.newaxis])[0, 5] & np.uint64(1)]
    assert acted_on
    assert all((every[row] != every[row + 5]).any() for row in acted_on)
