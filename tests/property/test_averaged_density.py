"""Averaging over how many edges there are, against every graph of up to five nodes under every density and size."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.naive import density as twin
from tests.naive import mixture as naive_mixture
from tests.naive import paths as naive_paths
from tests.naive import posterior as naive
from tests.tools.wording import Said

from dagpost import (
    BDeu,
    Checkpoint,
    CustomPrior,
    CustomScore,
    DagPosterior,
    EdgePrior,
    InputError,
    LocalScores,
    datasets,
)
from dagpost._tools.json_settings import to_json
from dagpost.exact.by_size import sum_by_size
from dagpost.posterior.mixture import NEGLIGIBLE, MixedWorkspace
from dagpost.posterior.prior_edges import prior_edges
from dagpost.priors.edge import densities

TOLERANCE = 1e-9
MODULARITIES = ("structure", "order")
NAMES = ("A", "B", "C", "D", "E")
LETTERS = {name: place for place, name in enumerate(NAMES)}


def random_table(nodes: int, rows: int, seed: int) -> pd.DataFrame:
    """Columns of two or three levels; some depend on the one before."""
    generator = np.random.default_rng(seed)
    columns: dict[str, Any] = {}
    before = np.zeros(rows, dtype=int)
    for name in NAMES[:nodes]:
        noise = generator.integers(0, 2 + (seed + len(columns)) % 2, rows)
        before = np.where(generator.random(rows) < generator.choice([0.0, 0.7]), before, noise)
        before[:2] = (0, 1)
        columns[name] = before
    return pd.DataFrame(columns).astype(str)


def pairs(edges: list[str]) -> list[tuple[int, int]]:
    return [(LETTERS[edge[0]], LETTERS[edge[-1]]) for edge in edges]


def scores_of(frame: pd.DataFrame, sizes: tuple[float, ...], max_parents: int) -> list[NDArray[np.float64]]:
    from dagpost.data import as_table

    table = as_table(frame)
    weights = [naive_mixture.bdeu_weights(table, size, max_parents) for size in sizes]
    return [naive.log_joint_of_every_dag(own, max_parents) for own in weights]


def averaged(
    frame: pd.DataFrame,
    sizes: tuple[float, ...],
    max_parents: int,
    modularity: str,
    required: list[str],
    forbidden: list[str],
) -> twin.AveragedDensity:
    nodes = len(frame.columns)
    allowed = twin.allowed_dags(nodes, max_parents, pairs(required), pairs(forbidden))
    own = scores_of(frame, sizes, min(max_parents, nodes - 1))
    return twin.AveragedDensity(own, densities(nodes), allowed, orders=modularity == "order")


def holds_edge(nodes: int, parent: int, child: int) -> NDArray[np.bool_]:
    return naive.parents_in_every_dag(nodes)[:, child] >> parent & 1 == 1


def holds_path(nodes: int, source: int, target: int) -> NDArray[np.bool_]:
    return naive_paths.descendants_in_every_dag(nodes, source) >> target & 1 == 1


RULES = [
    ([], []),
    ([], ["A -> B"]),
    (["B -> A"], ["A -> C", "C -> A"]),
    # Tiers {A, B} before {C, D}: two components.
    ([], ["C -> A", "C -> B", "D -> A", "D -> B"]),
    (["A -> B", "B -> C"], []),
]

cases = st.tuples(
    st.integers(2, 4),
    st.integers(0, 60),
    st.integers(0, 10_000),
    st.sampled_from([(1.0,), (2.0, 20.0)]),
    st.integers(1, 3),
    st.sampled_from(RULES),
)


def rules_among(nodes: int, rules: tuple[list[str], list[str]]) -> tuple[list[str], list[str]]:
    present = set(NAMES[:nodes])
    required, forbidden = ([edge for edge in edges if {edge[0], edge[-1]} <= present] for edges in rules)
    return required, forbidden


@pytest.mark.parametrize("modularity", MODULARITIES)
@settings(max_examples=30, deadline=None)
@given(case=cases)
def test_evidence_weights_edges_families_and_paths_match_enumeration(modularity: Any, case: Any) -> None:
    nodes, rows, seed, sizes, max_parents, rules = case
    required, forbidden = rules_among(nodes, rules)
    frame = random_table(nodes, rows + 2, seed)
    expected = averaged(frame, sizes, max_parents, modularity, required, forbidden)
    model = DagPosterior(
        BDeu(sizes if len(sizes) > 1 else sizes[0]),
        modularity=modularity,
        max_parents=max_parents,
        required=required,
        forbidden=forbidden,
    ).fit(frame)
    assert model.exact_
    assert model.log_evidence_ == pytest.approx(expected.log_evidence, abs=1e-8)
    assert model.mixture_weights_.to_numpy() == pytest.approx(expected.shares, abs=TOLERANCE)
    matrix = model.probability_matrix("~>").to_numpy()
    for parent in range(nodes):
        for child in range(nodes):
            if parent != child:
                edge = expected.probability(holds_edge(nodes, parent, child))
                assert model.edge_probabilities_.iloc[parent, child] == pytest.approx(edge, abs=TOLERANCE)
                if model.probability(f"{NAMES[parent]} ~> {NAMES[child]}").rule == "exact":
                    path = expected.probability(holds_path(nodes, parent, child))
                    assert matrix[parent, child] == pytest.approx(path, abs=TOLERANCE)
    for child in range(nodes):
        for parents, found in model.family_probabilities(NAMES[child]).items():
            mask = naive.mask_of([LETTERS[name] for name in parents])  # type: ignore[attr-defined]
            truth = naive.parents_in_every_dag(nodes)[:, child] == mask
            assert found == pytest.approx(expected.probability(truth), abs=TOLERANCE)


@pytest.mark.parametrize("modularity", MODULARITIES)
def test_five_nodes_with_rules_match_enumeration(modularity: str) -> None:
    required, forbidden = ["A -> B"], ["C -> A", "D -> E"]
    frame = random_table(5, 80, 5)
    expected = averaged(frame, (1.0, 10.0), 3, modularity, required, forbidden)
    model = DagPosterior(
        BDeu((1, 10)), modularity=modularity, max_parents=3, required=required, forbidden=forbidden
    ).fit(frame)
    assert model.log_evidence_ == pytest.approx(expected.log_evidence, abs=1e-8)
    assert model.mixture_weights_.to_numpy() == pytest.approx(expected.shares, abs=TOLERANCE)
    for parent in range(5):
        for child in range(5):
            if parent != child:
                edge = expected.probability(holds_edge(5, parent, child))
                assert model.edge_probabilities_.iloc[parent, child] == pytest.approx(edge, abs=TOLERANCE)


@pytest.mark.parametrize("modularity", MODULARITIES)
@settings(max_examples=15, deadline=None)
@given(case=cases)
def test_conditions_draws_and_best_graphs_match_enumeration(modularity: Any, case: Any) -> None:
    _, rows, seed, sizes, max_parents, rules = case
    required, forbidden = rules_among(4, rules)
    frame = random_table(4, rows + 2, seed)
    expected = averaged(frame, sizes, max_parents, modularity, required, forbidden)
    score = BDeu(sizes if len(sizes) > 1 else sizes[0])
    own = {"modularity": modularity, "max_parents": max_parents, "required": required, "forbidden": forbidden}
    model = DagPosterior(score, samples=200, seed=1, **own).fit(frame)
    of_graph = {tuple(dag): place for place, dag in enumerate(naive.parents_in_every_dag(4).tolist())}
    joint = np.logaddexp.reduce(expected.log_joint, axis=0)
    sample = model.sample(100, seed=2)
    places = [of_graph[tuple(dag)] for dag in sample.parents.tolist()]
    assert sample.log_joint == pytest.approx(joint[places], abs=1e-8)
    if modularity == "structure":
        assert sample.log_evidence == pytest.approx(expected.log_evidence, abs=1e-8)
    best = model.best(3)
    assert best.log_joint == pytest.approx(np.sort(joint)[::-1][: len(best)], abs=1e-8)
    a_to_b, b_to_c = holds_edge(4, 0, 1), holds_edge(4, 1, 2)
    for among, text in ((a_to_b, "A -> B"), (~b_to_c, "!(B -> C)")):
        if not expected.graphs[among].sum() > 1e-200:
            continue
        under = model.given(text)
        assert float(under.condition_.probability) == pytest.approx(expected.graphs[among].sum(), abs=TOLERANCE)
        found = under.edge_probabilities_.iloc[2, 3]
        assert found == pytest.approx(expected.probability(holds_edge(4, 2, 3), among), abs=1e-8)


def test_a_given_density_is_the_model_of_that_density() -> None:
    frame = random_table(4, 60, 3)
    model = DagPosterior(BDeu((1, 10))).fit(frame)
    for density in densities(4):
        alone = DagPosterior(BDeu((1, 10)), prior=EdgePrior(density)).fit(frame)
        under = model.given(setting={"edge density": density})
        assert under.edge_probabilities_.to_numpy() == pytest.approx(alone.edge_probabilities_.to_numpy(), abs=1e-9)
        share = model.mixture_weights_.xs(density, level="edge density").sum()
        assert float(under.condition_.probability) == pytest.approx(share, abs=1e-9)
        both = model.given(setting={"edge density": density, "equivalent sample size": 10.0})
        fixed = DagPosterior(BDeu(10), prior=EdgePrior(density)).fit(frame)
        assert both.edge_probabilities_.to_numpy() == pytest.approx(fixed.edge_probabilities_.to_numpy(), abs=1e-9)


def test_settings_that_are_not_averaged_over_are_refused(said: Said) -> None:
    model = DagPosterior(BDeu((1, 10))).fit(random_table(3, 40, 3))
    with said.raises(InputError):
        model.given(setting={"density": 0.5})
    with said.raises(InputError):
        model.given(setting={"edge density": 0.3})
    with said.raises(InputError):
        model.given(setting=10.0)


@settings(max_examples=25, deadline=None)
@given(
    nodes=st.integers(1, 5),
    weights=st.lists(st.floats(-2000.0, 2000.0), min_size=5, max_size=5),
    most=st.integers(0, 4),
)
def test_sums_by_size_match_enumeration(nodes: int, weights: list[float], most: int) -> None:
    limit = min(most, nodes - 1)
    if nodes == 1:
        assert sum_by_size(1, weights[:1], "structure").log_sum == pytest.approx(weights[0])
        return
    dags = naive.parents_in_every_dag(nodes).tolist()
    allowed = twin.allowed_dags(nodes, limit)
    logs = np.array([sum(weights[min(mask.bit_count(), 4)] for mask in dag) for dag in dags])
    logs[~allowed] = -np.inf
    edges = twin.edges_of_every_dag(nodes)
    for modularity in MODULARITIES:
        times = np.log(list(naive.orders_of_every_dag(nodes).values())) if modularity == "order" else 0.0
        found = sum_by_size(nodes, weights[: limit + 1], modularity)
        log_sum = naive.log_sum(logs + times)
        assert found.log_sum == pytest.approx(log_sum, abs=1e-9 * max(1.0, abs(log_sum)))
        assert found.edges == pytest.approx(float(np.exp(logs + times - log_sum) @ edges), abs=1e-9)


def test_more_digits_change_no_sum_by_size(monkeypatch: pytest.MonkeyPatch) -> None:
    from dagpost.exact import by_size

    odds = [size * math.log(0.02 / 0.98) for size in range(64)]
    found = sum_by_size(64, odds, "structure")
    monkeypatch.setattr(by_size, "_DIGITS_A_NODE", 20)
    assert sum_by_size(64, odds, "structure") == found


@pytest.mark.parametrize("modularity", MODULARITIES)
@pytest.mark.parametrize("rules", RULES)
def test_what_the_prior_amounts_to_matches_enumeration(modularity: Any, rules: tuple[list[str], list[str]]) -> None:
    required, forbidden = rules
    frame = random_table(4, 30, 1)
    expected = averaged(frame, (1.0,), 2, modularity, required, forbidden)
    prior = expected.prior
    assert prior.sum() == pytest.approx(1.0, abs=1e-9)
    own: Any = {"modularity": modularity, "max_parents": 2, "required": required, "forbidden": forbidden}
    model = DagPosterior(BDeu(1), **own).fit(frame)
    edges = np.array([[prior[holds_edge(4, a, b)].sum() if a != b else 0.0 for b in range(4)] for a in range(4)])
    assert prior_edges(model, frame).to_numpy() == pytest.approx(edges, abs=1e-9)
    barred = {frozenset(pair) for pair in pairs(forbidden) if pair[::-1] in pairs(forbidden)}
    fixed = barred | {frozenset(pair) for pair in pairs(required)}
    left = [(a, b) for a in range(4) for b in range(a) if frozenset((a, b)) not in fixed]
    mean = np.mean([edges[a, b] + edges[b, a] for a, b in left])
    assert model.fitted_.joined_before == pytest.approx(mean, abs=1e-9)


@pytest.mark.parametrize("method", ["trees", "given-order"])
def test_methods_with_a_target_of_their_own_normalise_over_their_graphs(method: str) -> None:
    from dagpost.methods.given_order import GivenOrder

    frame = random_table(4, 50, 4)
    chosen: Any = GivenOrder(NAMES[:4]) if method == "given-order" else method
    model = DagPosterior(BDeu(2), method=chosen).fit(frame)
    dags = naive.parents_in_every_dag(4)
    fits = np.array([all(mask < 1 << child for child, mask in enumerate(dag)) for dag in dags.tolist()])
    # Every column but one has exactly one parent.
    trees = twin.allowed_dags(4, 1) & (twin.edges_of_every_dag(4) == 3)
    allowed = fits if method == "given-order" else trees
    expected = twin.AveragedDensity(scores_of(frame, (2.0,), 3), densities(4), allowed, orders=False)
    assert model.mixture_weights_.to_numpy() == pytest.approx(expected.shares, abs=1e-8)
    for parent, child in ((0, 1), (1, 2), (0, 3)):
        edge = expected.probability(holds_edge(4, parent, child))
        assert model.edge_probabilities_.iloc[parent, child] == pytest.approx(edge, abs=1e-8)


def test_what_is_not_summed_is_said_and_too_little_to_matter() -> None:
    model = DagPosterior(seed=1).fit(datasets.load("coronary"))
    workspace = model.fitted_.workspace
    shares = model.mixture_weights_.to_numpy()
    assert isinstance(workspace, MixedWorkspace)
    left_out = shares[sorted(workspace.negligible)]
    assert len(left_out) > 0
    assert left_out.sum() <= NEGLIGIBLE
    assert model.fitted_.results.sums.error_bound >= left_out.sum()
    every = sum(share * part.summed("structure").edges for share, part in zip(shares, workspace.parts, strict=True))
    assert model.edge_probabilities_.to_numpy() == pytest.approx(every, abs=2 * NEGLIGIBLE)


def test_a_file_gives_the_same_answers_to_the_last_bit(tmp_path: Any) -> None:
    model = DagPosterior(tiers=[["A", "B"], ["C", "D"]], seed=1).fit(random_table(4, 80, 6))
    model.save(tmp_path / "model.dagpost")
    again = DagPosterior.load(tmp_path / "model.dagpost")
    assert (again.mixture_weights_ == model.mixture_weights_).all()
    assert again.probability("A -> B & C -> D").value == model.probability("A -> B & C -> D").value
    assert (again.given("A -> B").edge_probabilities_ == model.given("A -> B").edge_probabilities_).all(axis=None)
    assert (again.sample(50, seed=3).parents == model.sample(50, seed=3).parents).all()


def test_scores_from_elsewhere_are_uniform_unless_an_average_is_asked_for() -> None:
    generator = np.random.default_rng(2)
    scores = LocalScores(("A", "B", "C"), 2, generator.normal(scale=3.0, size=(3, 4)))
    usual = DagPosterior().fit_scores(scores)
    uniform = DagPosterior(prior="uniform").fit_scores(scores)
    assert (usual.edge_probabilities_ == uniform.edge_probabilities_).all(axis=None)
    asked = DagPosterior(prior="edge:average").fit_scores(scores)
    joint = naive.log_joint_of_every_dag(scores.values, 2)
    expected = twin.AveragedDensity([joint], densities(3), twin.allowed_dags(3, 2), orders=False)
    assert asked.mixture_weights_.to_numpy() == pytest.approx(expected.shares, abs=1e-9)


def test_chains_and_gaps_take_one_stated_density(said: Said) -> None:
    frame = random_table(4, 60, 8)
    chain = DagPosterior(method="structure-mcmc", samples=200, seed=1).fit(frame)
    assert chain.fitted_.settings["prior"] == to_json(EdgePrior(1 / 3))
    with said.raises(InputError):
        DagPosterior(method="structure-mcmc", prior="edge:average", score=BDeu(1)).fit(frame)
    with_gaps = frame.copy()
    with_gaps.iloc[3, 1] = None
    with said.raises(InputError):
        DagPosterior(prior="edge:average", missing="augment").fit(with_gaps)


def test_an_average_over_one_density_is_that_density_with_a_constant() -> None:
    frame = random_table(3, 40, 9)
    one, alone = (DagPosterior(BDeu(1), prior=prior).fit(frame) for prior in (EdgePrior((0.2,)), EdgePrior(0.2)))
    assert one.edge_probabilities_.to_numpy() == pytest.approx(alone.edge_probabilities_.to_numpy(), abs=1e-12)
    # A single density keeps its weights as they are; an average is of priors that sum to 1.
    log_sum = sum_by_size(3, [size * math.log(0.25) for size in range(3)], "structure").log_sum
    unnormalised = alone.log_evidence_ - 6 * math.log(0.8)
    assert one.log_evidence_ == pytest.approx(unnormalised - log_sum, abs=1e-9)


@pytest.mark.parametrize("given_densities", [(0.2, 0.2), (0.0, 0.5), (0.5, 1.0)])
def test_densities_that_make_no_average_are_refused(given_densities: tuple[float, ...]) -> None:
    with pytest.raises(InputError):
        EdgePrior(given_densities)


def test_models_with_a_score_of_the_users_own_or_of_none_come_back(tmp_path: Any) -> None:
    frame = random_table(3, 40, 2)

    def counted(child: Any, parents: Any) -> float:
        return -1.5 * len(parents)

    scores = LocalScores(("A", "B", "C"), 2, np.random.default_rng(2).normal(scale=3.0, size=(3, 4)))
    kept = [
        DagPosterior(CustomScore(counted)).fit(frame),
        DagPosterior(prior="edge:average").fit_scores(scores),
        DagPosterior(BDeu((1, 10)), prior=CustomPrior(counted)).fit(frame),
    ]
    for model in kept:
        model.save(tmp_path / "model.dagpost")
        again = DagPosterior.load(tmp_path / "model.dagpost")
        assert (again.edge_probabilities_ == model.edge_probabilities_).all(axis=None)
        assert (again.mixture_weights_ == model.mixture_weights_).all()


def test_edges_before_the_data_are_those_of_the_prior_that_a_fit_takes() -> None:
    frame = random_table(4, 40, 2)
    chain = DagPosterior(method="structure-mcmc", samples=200, max_parents=2, seed=1).fit(frame)
    for data in (frame, list(NAMES[:4])):
        edges = prior_edges(chain, data).to_numpy()
        joined = (edges + edges.T)[np.triu_indices(4, 1)]
        assert joined.mean() == pytest.approx(chain.fitted_.joined_before, abs=1e-9)
    names = [f"c{place}" for place in range(21)]
    many = DagPosterior(max_parents=1, modularity="order")
    one = DagPosterior(max_parents=1, modularity="order", prior=EdgePrior(1 / 20))
    assert prior_edges(many, names).to_numpy() == pytest.approx(prior_edges(one, names).to_numpy(), abs=1e-12)


def test_values_that_look_alike_have_names_of_their_own_in_a_checkpoint(tmp_path: Any) -> None:
    frame = random_table(3, 40, 2)
    prior = EdgePrior((0.05, 0.3001, 0.3004))
    kept = DagPosterior(BDeu(1), prior=prior).fit(frame, checkpoint=Checkpoint(tmp_path / "run"))
    alone = DagPosterior(BDeu(1), prior=prior).fit(frame)
    assert (kept.edge_probabilities_ == alone.edge_probabilities_).all(axis=None)
