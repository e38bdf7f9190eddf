"""Simulated tables are what their truth says: relations where there are edges, none elsewhere, `do` as it should be."""

from __future__ import annotations

from itertools import chain, combinations

import networkx as nx
import numpy as np
import pytest
from benchmarks.world_columns import Choices, Floats, Number, Predictor, Relation, Steps
from benchmarks.world_networks import KnownNetwork, ancestors, compelled_edges, inseparable
from benchmarks.world_tables import FEWEST, MOST, PURPOSES, WORLDS, Case, draw_case, seed_of
from scipy.stats import chi2

#: Each test with many rows asks fewer than a thousand questions: its false-alarm rate is below one in a million.
RATE = 1e-9
ROWS = 20_000

SEED = np.random.SeedSequence(5)


def independent(first: Floats, second: Floats, groups: Floats) -> float:
    """The p-value of a G-test of two columns of levels, group by group."""
    statistic, freedom = 0.0, 0
    for group in np.unique(groups):
        counts = np.zeros((10, 10))
        np.add.at(counts, (first[groups == group].astype(int), second[groups == group].astype(int)), 1)
        counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
        expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
        there = counts > 0
        statistic += 2 * (counts[there] * np.log(counts[there] / expected[there])).sum()
        freedom += (counts.shape[0] - 1) * (counts.shape[1] - 1)
    return float(chi2.sf(statistic, freedom)) if freedom else 1.0


def values_of(case: Case, rows: int = ROWS) -> list[Floats]:
    return case.network.simulate(rows, SEED)


def in_four(values: Floats) -> Floats:
    """Levels as they are, numbers in four levels."""
    if len(np.unique(values)) <= 10:
        return np.unique(values, return_inverse=True)[1].astype(float)
    return np.searchsorted(np.quantile(values, (0.25, 0.5, 0.75)), values).astype(float)


def grouped(columns: list[Floats], members: tuple[int, ...]) -> Floats:
    groups = np.zeros(len(columns[0]))
    for member in members:
        groups = groups * 10 + columns[member]
    return groups


@pytest.mark.parametrize("world", WORLDS)
def test_every_world_has_tables_of_six_to_twelve_columns_none_of_which_is_constant(world: str) -> None:
    for number in range(3):
        case = draw_case("choosing", world, 150, number)
        assert FEWEST <= case.frame.shape[1] <= MOST
        assert len(case.frame) == 150
        assert (case.frame.nunique() > 1).all()
        assert len(ancestors(case.network.edges)) == len(case.network.columns)
        assert not ancestors(case.network.edges).diagonal().any()
        assert case.network.truth().joined.shape == (case.frame.shape[1],) * 2


def test_the_same_seed_gives_the_same_table_and_every_other_part_of_it_another() -> None:
    first, again = (draw_case("choosing", "mixed-dense", 300, 4) for _ in range(2))
    assert first.frame.equals(again.frame)
    assert np.array_equal(first.network.edges, again.network.edges)
    others = [
        draw_case("reported", "mixed-dense", 300, 4),
        draw_case("choosing", "mixed-sparse", 300, 4),
        draw_case("choosing", "mixed-dense", 300, 5),
        draw_case("choosing", "mixed-dense", 300, 4, seed=1),
    ]
    assert not any(first.frame.equals(other.frame) for other in others)


def test_seeds_for_choosing_and_seeds_that_are_reported_never_meet() -> None:
    keys = {
        purpose: {
            seed_of(purpose, world, rows, number).spawn_key
            for world in (*WORLDS, "unrelated", "prior uniform")
            for rows in (0, 150, 30_000)
            for number in range(50)
        }
        for purpose in PURPOSES
    }
    assert not keys["choosing"] & keys["reported"]
    # Worlds do not share seeds either, but for the one that differs in what the fit is told.
    assert len(keys["choosing"]) == 50 * 3 * (len(WORLDS) - 1 + 2)
    # Equal numbers under different keys would be chance: the streams differ from their first number on.
    states = [
        int(seed_of(*key).generate_state(1, np.uint64)[0]) for key in (("choosing", "a", 1, 1), ("reported", "a", 1, 1))
    ]
    assert states[0] != states[1]


@pytest.mark.parametrize("world", [name for name in WORLDS if name.endswith("-none")])
def test_columns_of_worlds_without_relations_are_independent(world: str) -> None:
    case = draw_case("choosing", world, 150, 0)
    assert not case.network.truth().joined.any()
    columns = [in_four(values) for values in values_of(case)]
    for first, second in combinations(columns, 2):
        assert independent(first, second, np.zeros(ROWS)) > RATE


@pytest.mark.parametrize("number", range(3))
def test_levels_depend_on_their_parents_and_given_these_on_nothing_before_them(number: int) -> None:
    case = draw_case("choosing", "levels-dense", 150, number)
    columns, network = values_of(case), case.network
    for place, child in enumerate(network.order):
        parents = network.parents[child]
        # With more of them groups are too small for the chi-square distribution.
        for other in network.order[:place] if len(parents) <= 2 else ():
            groups = grouped(columns, tuple(node for node in parents if node != other))
            found = independent(columns[child], columns[other], groups)
            assert (found < 1e-6) if other in parents else (found > RATE)


@pytest.mark.parametrize("number", range(3))
def test_the_regression_of_a_number_on_all_before_it_finds_its_parents(number: int) -> None:
    case = draw_case("choosing", "linear-dense", 150, number)
    columns, network = np.array(values_of(case)), case.network
    for place, child in enumerate(network.order):
        before = list(network.order[:place])
        design = np.vstack([np.ones(ROWS), columns[before]]).T
        solution, _, _, _ = np.linalg.lstsq(design, columns[child], rcond=None)
        rest = columns[child] - design @ solution
        errors = np.sqrt(np.diag(np.linalg.inv(design.T @ design)) * rest.var())
        # 6.2 standard errors by chance: once in 10^9 times.
        found = {
            node for node, own, error in zip(before, solution[1:], errors[1:], strict=True) if abs(own) > 6.2 * error
        }
        assert found == set(network.parents[child])


@pytest.mark.parametrize("world", WORLDS)
def test_setting_a_column_shifts_its_descendants_and_nothing_else(world: str) -> None:
    network = draw_case("choosing", world, 150, 1).network
    below, before = ancestors(network.edges), network.simulate(2_000, SEED)
    for cause, column in enumerate(network.columns):
        value = 140.0 if isinstance(column, Number) else column.labels[-1]
        after = network.simulate(2_000, SEED, {network.names[cause]: value})
        assert len(np.unique(after[cause])) == 1
        for node in range(len(network.columns)):
            if node != cause and not below[cause, node]:
                assert np.array_equal(before[node], after[node])
        for child in np.flatnonzero(network.edges[cause]):
            assert not np.array_equal(before[child], after[child])


def line(parent: int, slope: float) -> Predictor:
    return Predictor((Relation(parent, "linear", (), 0.0, slope),))


def test_contrasts_of_set_values_are_those_of_the_mechanisms() -> None:
    numbers = [Number(predictor, "normal", "plain") for predictor in (Predictor(), line(0, 0.5), line(1, -0.4))]
    dose = Steps(("low", "high"), True, line(0, 0.0), (0.0,))
    by_dose = Number(Predictor((Relation(3, None, (0.0, 0.6), 0.0, 1.0),)), "normal", "plain")
    network = KnownNetwork((*numbers, dose, by_dose), ((), (0,), (1,), (0,), (3,)), (0, 1, 2, 3, 4))
    # Ten units of a number shown with deviation 15, through slopes 0.5 and -0.4; what is far out is held.
    assert network.contrast("V0", "V1", (130.0, 120.0), SEED) == pytest.approx(5.0, abs=0.01)
    assert network.contrast("V0", "V2", (130.0, 120.0), SEED) == pytest.approx(-2.0, abs=0.01)
    assert network.contrast("V2", "V0", (130.0, 120.0), SEED) == 0.0
    assert network.contrast("V3", "V4", ("high", "low"), SEED) == pytest.approx(9.0, abs=0.01)
    with pytest.raises(ValueError, match="'none' is not a level of this column; it has low, high"):
        network.simulate(10, SEED, {"V3": "none"})


def test_columns_are_shown_as_people_have_them() -> None:
    frame = draw_case("choosing", "mixed-dense", 150, 2).frame
    case = draw_case("choosing", "mixed-dense", 150, 2)
    for node, (name, column) in enumerate(zip(case.network.names, case.network.columns, strict=True)):
        assert case.network.names[node] == name
        if isinstance(column, Number):
            assert frame[name].dtype.kind in "fi"
        elif column.ordered:
            assert frame[name].cat.ordered
            assert set(frame[name]) <= set(column.labels)
        else:
            assert isinstance(column, Choices) or hasattr(column, "table")
            assert set(frame[name]) <= set(column.labels)


def test_in_worlds_of_cut_numbers_the_uncut_number_acts() -> None:
    network = draw_case("choosing", "cut-dense", 150, 0).network
    assert network.cuts
    frame = network.frame(ROWS, SEED)
    shown = network.simulate(ROWS, SEED)
    for node, cuts in network.cuts.items():
        codes = frame[network.names[node]].cat.codes.to_numpy()
        assert np.array_equal(codes, np.searchsorted(cuts, shown[node]))
        assert frame[network.names[node]].cat.ordered
    cut_parent, child = next((a, b) for a in network.cuts for b in np.flatnonzero(network.edges[a]))
    inside = frame[network.names[cut_parent]].cat.codes.to_numpy() == 1
    # Within one level the number behind it still acts (regression on all parents, 6.2 standard errors).
    parents = list(network.parents[child])
    design = np.vstack([np.ones(inside.sum()), np.array(shown)[parents][:, inside]]).T
    solution, _, _, _ = np.linalg.lstsq(design, shown[child][inside], rcond=None)
    rest = shown[child][inside] - design @ solution
    errors = np.sqrt(np.diag(np.linalg.inv(design.T @ design)) * rest.var())
    place = 1 + parents.index(cut_parent)
    assert abs(solution[place]) > 6.2 * errors[place]


def test_hidden_columns_are_not_in_the_table_and_leave_an_ancestral_graph() -> None:
    network = draw_case("choosing", "mixed-hidden", 150, 0).network
    assert len(network.hidden) == 2
    assert not {network.names[node] for node in network.hidden} & set(network.frame(50, SEED).columns)
    assert all(not network.parents[node] and network.edges[node].sum() > 1 for node in network.hidden)
    # a -> b -> c and b <- hidden -> c: no set of columns that are seen separates a and c, since b is on both ways.
    plain = Number(Predictor(), "normal", "plain")
    known = KnownNetwork((plain,) * 4, ((), (0, 3), (1, 3), ()), (0, 3, 1, 2), hidden=(3,))
    truth = known.truth()
    assert truth.joined.sum() == 6
    assert truth.arrows.tolist() == [[False, True, True], [False, False, True], [False, False, False]]
    # b <- hidden -> c alone: joined, and an arrow in either direction is wrong.
    common = KnownNetwork((plain,) * 3, ((2,), (2,), ()), (2, 0, 1), hidden=(2,)).truth()
    assert common.joined.sum() == 2
    assert not common.arrows.any()


@pytest.mark.parametrize("number", range(5))
def test_a_driver_acts_on_the_mean_and_the_spread_of_both_ends_of_an_edge(number: int) -> None:
    """The log of squared residuals goes with the driver: 6.2 standard errors of their correlation."""
    network = draw_case("choosing", "triangle", 150, number).network
    driver, first, second = network.order[:3]
    assert network.edges[driver, [first, second]].all()
    assert network.edges[first, second]
    columns = np.array(network.simulate(ROWS, SEED))
    for end, parents in ((first, [driver]), (second, [driver, first])):
        design = np.vstack([np.ones(ROWS), columns[parents]]).T
        rest = columns[end] - design @ np.linalg.lstsq(design, columns[end], rcond=None)[0]
        assert abs(np.corrcoef(np.log(rest**2), columns[driver])[0, 1]) > 6.2 / np.sqrt(ROWS)
    assert network.exogenous == ()


def test_whoever_fits_is_told_of_a_driver_on_which_nothing_acts() -> None:
    for number in range(5):
        told, untold = (draw_case("choosing", world, 150, number) for world in ("triangle-told", "triangle"))
        assert told.frame.equals(untold.frame)
        assert told.network.exogenous == told.network.order[:1]
        assert not told.network.edges[:, told.network.exogenous].any()


def test_where_parents_act_together_none_shows_much_by_itself() -> None:
    network = draw_case("choosing", "together", 150, 0).network
    child = next(node for node, parents in enumerate(network.parents) if len(parents) == 2)
    first, second = network.parents[child]
    columns = np.array(network.simulate(ROWS, SEED))
    columns = (columns - columns.mean(axis=1, keepdims=True)) / columns.std(axis=1, keepdims=True)
    alone = abs(np.corrcoef(columns[first], columns[child])[0, 1])
    assert abs(np.corrcoef(columns[first] * columns[second], columns[child])[0, 1]) > max(0.3, 1.5 * alone)


def test_bounded_scores_have_many_ties_and_rare_levels_are_rare() -> None:
    frame = draw_case("choosing", "ceilings", 5_000, 0).frame
    assert all(0.1 < frame[name].value_counts(normalize=True).iloc[0] < 0.6 for name in frame)
    case = draw_case("choosing", "rare", 5_000, 0)
    rare = [
        case.frame[name].value_counts(normalize=True).min()
        for name, column in zip(case.network.names, case.network.columns, strict=True)
        if not isinstance(column, Number) and column.labels == ("no", "yes")
    ]
    assert rare
    assert max(rare) < 0.15


def test_tables_have_as_many_columns_as_are_asked_for() -> None:
    found = {draw_case("choosing", "numbers-dense", 100, number, columns=(3, 4)).frame.shape[1] for number in range(20)}
    assert found == {3, 4}


@pytest.mark.parametrize("seed", range(20))
def test_pairs_that_no_set_separates_are_those_that_all_sets_fail_to_separate(seed: int) -> None:
    rng = np.random.default_rng(seed)
    edges = np.triu(rng.random((6, 6)) < 0.4, 1)
    seen = sorted(rng.permutation(6)[:4].tolist())
    graph = nx.DiGraph([(a, b) for a, b in np.argwhere(edges).tolist()])
    graph.add_nodes_from(range(6))
    found = inseparable(edges, seen)
    for a, b in combinations(seen, 2):
        rest = [node for node in seen if node not in (a, b)]
        sets = chain.from_iterable(combinations(rest, size) for size in range(len(rest) + 1))
        assert found[a, b] == (not any(nx.is_d_separator(graph, {a}, {b}, set(own)) for own in sets))


def test_ancestors_and_compelled_edges_of_a_collider_below_a_chain() -> None:
    edges = np.zeros((4, 4), dtype=bool)
    edges[[0, 1, 3], [1, 2, 2]] = True
    assert ancestors(edges).nonzero()[1].tolist() == [1, 2, 2, 2]
    assert np.argwhere(compelled_edges(edges)).tolist() == [[1, 2], [3, 2]]
