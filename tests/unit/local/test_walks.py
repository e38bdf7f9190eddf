"""People made up column by column: beside sums over all combinations of levels, and integrals over numbers."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from tests.unit.local.test_moved_rows import table_of_all_kinds

from dagpost.data import as_table
from dagpost.local.base import LevelModel, NumberModel
from dagpost.local.models import LocalModels, models_of
from dagpost.local.networks import Networks, networks_of
from dagpost.local.walks import Among, Fixed, Known, Observed, Within, needed_for, uniforms_for, walked
from dagpost.scores import Additive


def models_of_levels() -> LocalModels:
    """Four columns of levels that depend on each other."""
    rng = np.random.default_rng(1)
    a = rng.integers(0, 2, 400)
    b = (a + rng.integers(0, 2, 400)) % 3
    c = (b + (rng.random(400) < 0.4)) % 2
    d = (a + c + (rng.random(400) < 0.3)) % 2
    frame = pd.DataFrame({"a": a, "b": b, "c": c, "d": d}).astype(str)
    return models_of(as_table(frame), Additive().parameter_prior())


def network_for(models: LocalModels, graph: list[int], known: Known, wanted: int = 0) -> Networks:
    """One graph with the likeliest parameters."""
    graphs = np.array([graph], dtype=np.uint64)
    return networks_of(models, graphs, needed_for(graphs, known, wanted))


@pytest.mark.parametrize(
    "known",
    [
        {3: Observed(np.array(1.0))},
        {1: Among((0, 2)), 3: Observed(np.array(0.0))},
        {0: Fixed(np.array(1.0)), 2: Observed(np.array(1.0)), 3: Among((0,))},
        {},
    ],
)
def test_what_is_known_is_as_probable_as_the_sum_over_all_combinations_says(known: dict[int, object]) -> None:
    models, graph = models_of_levels(), [0, 0b1, 0b10, 0b101]
    whole = network_for(models, graph, {}, 0b1111)
    total = 0.0
    for row in product(range(2), range(3), range(2), range(2)):
        probability = 1.0
        for member in whole.in_order():
            node, what = member.node, known.get(member.node)
            if isinstance(what, Fixed):
                probability *= float(row[node] == int(what.values))
                continue
            allowed = (
                what.codes if isinstance(what, Among) else [int(what.values)] if isinstance(what, Observed) else None
            )
            if allowed is not None and row[node] not in allowed:
                probability = 0.0
            values = np.array([float(row[parent]) for parent in member.parents]).reshape(-1, 1, 1)
            assert isinstance(member.model, LevelModel)
            probability *= float(member.model.chances(values, member.theta)[0, 0, row[node]])
        total += probability
    people = 40_000
    uniforms = uniforms_for(4, 1, people, np.random.default_rng(2))
    walk = walked(network_for(models, graph, known), known, uniforms)
    # The standard error of a mean of weights between 0 and 1 is below 0.0025: five of them.
    assert np.exp(walk.log_probabilities()[0]) == pytest.approx(total, abs=0.0125)


def test_intervals_of_numbers_weigh_what_lies_in_them_and_are_kept_to() -> None:
    models = models_of(as_table(table_of_all_kinds(1, 300)), Additive().parameter_prior())
    graph = [0, 0b1, 0b11, 0, 0, 0]
    known = {1: Within(0.5, 2.0), 2: Observed(np.array(4.25))}
    uniforms = uniforms_for(6, 1, 20_000, np.random.default_rng(3))
    networks = network_for(models, graph, known)
    walk = walked(networks, known, uniforms)
    assert (walk.values[1] >= 0.5).all()
    assert (walk.values[1] <= 2.0).all()
    # The same by a grid of a, and of b within its limits.
    by_node = {member.node: member for member in networks.in_order()}

    def density(node: int, parents: list[np.ndarray], numbers: np.ndarray) -> np.ndarray:
        model = by_node[node].model
        assert isinstance(model, NumberModel)
        values = np.stack(parents)[:, np.newaxis] if parents else np.zeros((0, 1, numbers.size))
        return np.exp(model.log_density(values, by_node[node].theta, numbers[np.newaxis]))[0]

    a, b = np.linspace(-8.0, 8.0, 801), np.linspace(0.5, 2.0, 301)
    first, second = (axis.reshape(-1) for axis in np.meshgrid(a, b, indexing="ij"))
    joint = density(0, [], first) * density(1, [first], second) * density(2, [first, second], np.full(first.size, 4.25))
    expected = np.trapezoid(np.trapezoid(joint.reshape(801, 301), b, axis=1), a)
    assert np.exp(walk.log_probabilities()[0]) == pytest.approx(expected, rel=0.05)


def test_only_what_leads_to_what_is_asked_is_needed() -> None:
    graphs = np.array([[0, 0b1, 0b10, 0b100], [0b10, 0, 0, 0]], dtype=np.uint64)
    assert needed_for(graphs, {}, 0b10).tolist() == [[True, True, False, False], [False, True, False, False]]
    fixed: Known = {1: Fixed(np.array(0.0))}
    assert needed_for(graphs, fixed, 0b100).tolist() == [[False, False, True, False], [False, False, True, False]]


def test_people_are_as_even_as_they_can_be() -> None:
    uniforms = uniforms_for(3, 5, 16, np.random.default_rng(1))
    assert (np.sort((uniforms * 16).astype(int), axis=2) == np.arange(16)).all()
