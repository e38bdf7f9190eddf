"""Averaging over the equivalent sample size, against every graph of up to four nodes under every size."""

from __future__ import annotations

import math
import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.naive import mixture as naive_mixture
from tests.naive import paths as naive_paths
from tests.naive import posterior as naive
from tests.naive import prediction as naive_prediction
from tests.naive import scores as naive_scores
from tests.tools.wording import Said

from dagpost import BDeu, Checkpoint, DagPosterior, InputError, Score, cross_validate, datasets
from dagpost.causal import effect as effect_of
from dagpost.data import as_table
from dagpost.data.table import Table
from dagpost.errors import ResourceError
from dagpost.methods.base import Wanted
from dagpost.methods.kbest import KBest
from dagpost.posterior.all_graphs import all_graphs
from dagpost.posterior.mixture import MixedWorkspace, list_best
from dagpost.scores import Mixture

TOLERANCE = 1e-9
MODULARITIES = ("structure", "order")
NAMES = ("A", "B", "C", "D")


def random_table(nodes: int, rows: int, seed: int) -> Table:
    """Columns of two or three levels that depend on the one before."""
    generator = np.random.default_rng(seed)
    columns: dict[str, Any] = {}
    before = np.zeros(rows, dtype=int)
    for name in NAMES[:nodes]:
        noise = generator.integers(0, 2 + (seed + len(columns)) % 2, rows)
        before = np.where(generator.random(rows) < 0.6, before, noise)
        before[:2] = (0, 1)
        columns[name] = before
    return as_table(pd.DataFrame(columns).astype(str))


def twin(table: Table, sizes: tuple[float, ...], modularity: str, max_parents: int = 3) -> naive_mixture.Mixture:
    weights = [naive_mixture.bdeu_weights(table, size, max_parents) for size in sizes]
    return naive_mixture.Mixture(weights, max_parents, orders=modularity == "order")


def has_edge(nodes: int, parent: int, child: int) -> NDArray[np.bool_]:
    return naive.parents_in_every_dag(nodes)[:, child] >> parent & 1 == 1


def has_path(nodes: int, source: int, target: int) -> NDArray[np.bool_]:
    return naive_paths.descendants_in_every_dag(nodes, source) >> target & 1 == 1


cases = st.tuples(
    st.integers(2, 4),
    st.integers(8, 40),
    st.integers(0, 2**20),
    st.lists(st.sampled_from([1e-3, 0.1, 0.5, 1.0, 2.0, 7.5, 40.0, 1e3]), min_size=1, max_size=4, unique=True),
)


@pytest.mark.parametrize("modularity", MODULARITIES)
@settings(max_examples=25, deadline=None)
@given(case=cases)
def test_evidence_edges_families_and_paths_match_enumeration(modularity: Any, case: Any) -> None:
    nodes, rows, seed, sizes = case
    table, sizes = random_table(nodes, rows, seed), tuple(sorted(sizes))
    model = DagPosterior(BDeu(sizes), prior="uniform", modularity=modularity).fit(table)
    expected = twin(table, sizes, modularity, min(3, nodes - 1))
    assert model.exact_
    assert model.log_evidence_ == pytest.approx(expected.log_evidence, abs=1e-8)
    assert model.mixture_weights_.to_numpy() == pytest.approx(expected.shares, abs=TOLERANCE)
    assert model.mixture_weights_.index.tolist() == list(sizes)
    matrix = model.probability_matrix("~>").to_numpy()
    for parent in range(nodes):
        for child in range(nodes):
            if parent != child:
                edge = expected.probability(has_edge(nodes, parent, child))
                assert model.edge_probabilities_.iloc[parent, child] == pytest.approx(edge, abs=TOLERANCE)
                path = expected.probability(has_path(nodes, parent, child))
                assert matrix[parent, child] == pytest.approx(path, abs=TOLERANCE)
    for child in range(nodes):
        for parents, found in model.family_probabilities(NAMES[child]).items():
            mask = naive.mask_of([NAMES.index(name) for name in parents])  # type: ignore[attr-defined]
            truth = naive.parents_in_every_dag(nodes)[:, child] == mask
            assert found == pytest.approx(expected.probability(truth), abs=TOLERANCE)


@pytest.mark.parametrize("modularity", MODULARITIES)
@settings(max_examples=25, deadline=None)
@given(case=cases)
def test_conditional_probabilities_are_ratios_of_mixtures(modularity: Any, case: Any) -> None:
    _, rows, seed, sizes = case
    table, sizes = random_table(4, rows, seed), tuple(sorted(sizes))
    model = DagPosterior(BDeu(sizes), prior="uniform", modularity=modularity).fit(table)
    expected = twin(table, sizes, modularity)
    a_to_b, b_to_c, c_to_d = (has_edge(4, *pair) for pair in ((0, 1), (1, 2), (2, 3)))
    reaches, above = has_path(4, 0, 2), has_path(4, 0, 3)
    questions = {
        "A -> B & B -> C": (a_to_b & b_to_c, None),
        "P(A -> B | B -> C)": (a_to_b, b_to_c),
        "P(A -> B & C -> D | B -> C)": (a_to_b & c_to_d, b_to_c),
        "P(A -> B | A ~> C)": (a_to_b, reaches),
        "P(A ~> C | C -> D)": (reaches, c_to_d),
        "A ~> C & A ~> D": (reaches & above, None),
    }
    answered = 0
    for text, (holds, among) in questions.items():
        found = model.probability(text)
        if found.rule == "exact":
            answered += 1
            assert found.value == pytest.approx(expected.probability(holds, among), abs=1e-7)
    assert answered >= 4


def test_a_mixture_of_ratios_would_be_something_else() -> None:
    table = random_table(4, 40, 7)
    sizes = (1.0, 10.0)
    model = DagPosterior(BDeu(sizes), prior="uniform").fit(table)
    ratios = [
        float(DagPosterior(BDeu(size), prior="uniform").fit(table).probability("P(A -> B | B -> C)")) for size in sizes
    ]
    wrong = float(model.mixture_weights_.to_numpy() @ ratios)
    expected = twin(table, sizes, "structure").probability(has_edge(4, 0, 1), has_edge(4, 1, 2))
    assert float(model.probability("P(A -> B | B -> C)")) == pytest.approx(expected, abs=TOLERANCE)
    assert abs(wrong - expected) > 1e-3


@settings(max_examples=25, deadline=None)
@given(case=cases, count=st.integers(1, 60))
def test_the_best_graphs_are_those_of_the_mixture(case: Any, count: int) -> None:
    nodes, rows, seed, sizes = case
    table, sizes = random_table(nodes, rows, seed), tuple(sorted(sizes))
    model = DagPosterior(BDeu(sizes), prior="uniform").fit(table)
    expected = twin(table, sizes, "structure", min(3, nodes - 1))
    values, best = expected.best(), model.best(count)
    assert len(best) == min(count, len(values))
    assert best.log_joint == pytest.approx(values[: len(best)], abs=1e-7)
    assert len({tuple(row) for row in best.parents.tolist()}) == len(best)
    tied = count < len(values) and values[count] > values[count - 1] - 1e-9
    assert best.provenance["tied"] == tied
    assert best.covered == pytest.approx(np.exp(values[: len(best)] - expected.log_evidence).sum(), abs=1e-8)
    for row, log_joint in zip(best.parents[:5], best.log_joint, strict=False):
        assert model.log_joint(row) == pytest.approx(log_joint, abs=1e-9)


@pytest.mark.parametrize("modularity", MODULARITIES)
def test_predictions_mix_before_they_divide(modularity: Any) -> None:
    table, sizes = random_table(3, 30, 7), (0.5, 5.0, 80.0)
    model = DagPosterior(BDeu(sizes), prior="uniform", modularity=modularity, samples=20_000, seed=1).fit(table)
    sample = model.own_sample()
    # All graphs are drawn: with their exact probabilities the sample is the whole posterior.
    expected = twin(table, sizes, modularity, 2)
    place = {dag: number for number, dag in enumerate(naive.all_dags(3))}
    rows = np.array(sorted({tuple(int(column[row]) for column in table.columns) for row in range(table.rows)}))
    frame = pd.DataFrame({name: np.array(table.levels[node])[rows[:, node]] for node, name in enumerate(NAMES[:3])})
    given_graph = np.exp(expected.logs - [naive.log_sum(column) for column in expected.logs.T])
    families = [lambda c, p, r, s=size: family_of(table, s, c, p, r) for size in sizes]

    def joint(row: list[int]) -> float:
        total = 0.0
        for graph, weight in zip(sample.parents.tolist(), sample.weights, strict=True):
            for value, family in enumerate(families):
                log = sum(family(child, naive_prediction.members(mask), row) for child, mask in enumerate(graph))
                total += weight * given_graph[value, place[tuple(graph)]] * math.exp(log)
        return total

    model.fitted_.remember("sample", unique := sample.unique())
    sample = unique
    found = model.score_samples(frame)
    assert found == pytest.approx([math.log(joint(row.tolist())) for row in rows], abs=1e-9)
    shares = model.predict_proba(frame.drop(columns="B"), target="B").to_numpy()
    for row, share in zip(rows.tolist(), shares, strict=True):
        joints = [joint([row[0], level, row[2]]) for level in range(len(table.levels[1] or ()))]
        assert share == pytest.approx(np.array(joints) / sum(joints), abs=1e-9)


def family_of(table: Table, size: float, child: int, parents: list[int], row: list[int]) -> float:
    """The log probability of one more row, as the mean of the Dirichlet posterior."""
    cells, pooled = naive_scores.family_counts(table, child, parents)
    configuration = tuple(row[parent] for parent in parents)
    of_cell = size / math.prod(table.arities[node] for node in (*parents, child))
    top = cells[configuration, row[child]] + of_cell
    return math.log(top / (pooled[configuration] + of_cell * table.arities[child]))


def test_parameters_of_a_graph_are_averaged_by_what_it_says_of_the_sizes() -> None:
    table, sizes = random_table(3, 25, 5), (1.0, 30.0)
    model = DagPosterior(BDeu(sizes), prior="uniform").fit(table)
    graph = [("A", "B"), ("B", "C")]
    place = naive.all_dags(3).index((0, 1, 2))
    logs = twin(table, sizes, "structure", 2).log_joint[:, place]
    shares = np.exp(logs - naive.log_sum(logs))
    own = [DagPosterior(BDeu(size), prior="uniform").fit(table).to_bayesian_network(graph).tables[1] for size in sizes]
    found = model.to_bayesian_network(graph).tables[1]
    assert found == pytest.approx(shares[0] * own[0] + shares[1] * own[1], abs=1e-9)
    assert abs(found - own[0]).max() > 1e-3


def test_a_graph_without_weight_has_no_parameters(said: Said) -> None:
    model = DagPosterior(BDeu((1.0, 2.0)), prior="uniform", forbidden=[("A", "B")], max_parents=1).fit(
        random_table(3, 20, 1)
    )
    with said.raises(InputError):
        model.to_bayesian_network([("A", "B")])
    with pytest.raises(InputError, match="parents"):
        model.to_bayesian_network([("A", "C"), ("B", "C")])


def test_effects_are_mixed_exactly_in_weights_and_means() -> None:
    table, sizes = random_table(3, 40, 11), (0.5, 60.0)
    model = DagPosterior(BDeu(sizes), prior="uniform", seed=1).fit(table)
    every, workspace = all_graphs(model.fitted_), model.fitted_.workspace
    assert every is not None
    assert isinstance(workspace, MixedWorkspace)
    levels = table.levels[0] or ()
    options: dict[str, Any] = {"do": (levels[1], levels[0]), "outcome_level": (table.levels[1] or ())[0], "seed": 1}
    found = model.effect("A", "B", **options)
    weights = workspace.shares_given(every.parents) * every.weights
    own = [
        effect_of(every.weighted(w), table, BDeu(s), "A", "B", **options) for w, s in zip(weights, sizes, strict=True)
    ]
    assert found.mean == pytest.approx(sum(w.sum() * effect.mean for w, effect in zip(weights, own, strict=True)))
    assert found.zero_probability == pytest.approx(1.0 - model.probability("A ~> B"))
    assert len(found.samples) == 10_000
    # Six standard errors: one false alarm in 5e8.
    assert found.samples.mean() == pytest.approx(found.mean, abs=6 * found.samples.std() / 100)
    assert (found.samples == 0.0).mean() == pytest.approx(found.zero_probability, abs=1e-3)
    assert len(model.effect("A", "B", draws=1, **options).samples) == 1


@dataclass(frozen=True)
class Shifted(Score):
    """The score of `BDeu(1)`, shifted by some nats; several shifts are averaged over."""

    shifts: tuple[float, ...] = (0.0,)

    def fill(  # type: ignore[override]
        self, table: Table, max_parents: int, values: Any, engine: Any, reporter: Any
    ) -> None:
        BDeu(1.0 if self.shifts[0] == 0.0 else 10.0).fill(table, max_parents, values, engine, reporter)
        values[0] += self.shifts[0]

    def mixture(self) -> Mixture | None:
        if len(self.shifts) == 1:
            return None
        parts = tuple(Shifted((shift,)) for shift in self.shifts)
        return Mixture("shift", self.shifts, parts, (-math.log(len(parts)),) * len(parts))


@pytest.mark.parametrize("modularity", MODULARITIES)
def test_one_value_may_outweigh_the_others_by_thousands_of_nats(modularity: Any) -> None:
    table = random_table(4, 30, 2)
    for shift, winner in ((-5_000.0, BDeu(1.0)), (5_000.0, BDeu(10.0))):
        model = DagPosterior(Shifted((0.0, shift)), prior="uniform", modularity=modularity, seed=1).fit(table)
        alone = DagPosterior(winner, prior="uniform", modularity=modularity).fit(table)
        assert sorted(model.mixture_weights_) == [0.0, 1.0]
        np.testing.assert_allclose(model.edge_probabilities_, alone.edge_probabilities_, rtol=0, atol=1e-12)
        expected = alone.log_evidence_ + max(shift, 0.0) - math.log(2)
        assert model.log_evidence_ == pytest.approx(expected, abs=1e-8)
        for text in ("P(A -> B | B -> C)", "A ~> C & A ~> D"):
            assert float(model.probability(text)) == pytest.approx(float(alone.probability(text)), abs=1e-9)
        best, own = model.best(7), alone.best(7)
        assert best.log_joint == pytest.approx(own.log_joint + max(shift, 0.0) - math.log(2), abs=1e-8)
        assert len(model.sample(50, seed=1)) == 50


def test_values_that_are_as_probable_as_each_other_share_evenly() -> None:
    table = random_table(4, 30, 2)
    model = DagPosterior(Shifted((0.0, 0.0, 0.0)), prior="uniform", seed=1).fit(table)
    alone = DagPosterior(BDeu(1.0), prior="uniform").fit(table)
    assert model.mixture_weights_.tolist() == pytest.approx([1 / 3] * 3, abs=1e-12)
    assert model.log_evidence_ == pytest.approx(alone.log_evidence_, abs=1e-9)
    assert model.best(5).log_joint == pytest.approx(alone.best(5).log_joint, abs=1e-9)
    np.testing.assert_array_equal(model.best(5).parents, alone.best(5).parents)


@pytest.mark.parametrize("method", ["exact-layers", "iw-dds", "linear-extensions", "kbest", "given-order", "trees"])
def test_one_value_is_the_ordinary_model(method: str) -> None:
    table = datasets.load("coronary")
    plain = DagPosterior(BDeu(5), prior="uniform", method=method, samples=500, seed=1).fit(table)
    model = DagPosterior(BDeu((5,)), prior="uniform", method=method, samples=500, seed=1).fit(table)
    np.testing.assert_allclose(model.edge_probabilities_, plain.edge_probabilities_, rtol=0, atol=1e-12)
    assert model.log_evidence_ == pytest.approx(plain.log_evidence_, abs=1e-9)
    assert model.best(20).log_joint == pytest.approx(plain.best(20).log_joint, abs=1e-9)
    np.testing.assert_array_equal(model.best(20).parents, plain.best(20).parents)
    if method == "kbest":
        rows = table.to_pandas().drop(columns="counts").head(5)
        assert model.score_samples(rows) == pytest.approx(plain.score_samples(rows), abs=1e-9)


def test_values_are_weighted_from_the_sample_where_sums_over_all_graphs_are_out_of_reach(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table, sizes = random_table(4, 30, 9), (0.5, 10.0)
    monkeypatch.setattr(MixedWorkspace, "structure_is_affordable", lambda _: False)
    with pytest.warns(UserWarning, match="estimated from"):
        model = DagPosterior(BDeu(sizes), prior="uniform", samples=40_000, seed=1).fit(table)
    expected = twin(table, sizes, "structure")
    assert model.method_ == "linear-extensions"
    assert not model.exact_
    # All graphs that matter are drawn, each weighted by what is known of it: errors are those of what is left.
    assert model.mixture_weights_.to_numpy() == pytest.approx(expected.shares, abs=0.01)
    assert model.log_evidence_ == pytest.approx(expected.log_evidence, abs=0.05)
    assert math.isnan(model.own_sample().log_evidence)


@pytest.mark.parametrize(
    ("modularity", "method"),
    [("structure", "auto"), ("order", "auto"), ("structure", "iw-dds"), ("structure", "given-order")],
)
def test_a_file_gives_back_the_same_answers(modularity: Any, method: str, tmp_path: Path) -> None:
    table = datasets.load("coronary")
    model = DagPosterior(
        BDeu("average"), prior="uniform", modularity=modularity, method=method, samples=300, seed=1
    ).fit(table)
    file = tmp_path / "model.dagpost"
    model.save(file, rows=True)
    again = DagPosterior.load(file)
    assert again.score == BDeu("average")
    pd.testing.assert_frame_equal(again.edge_probabilities_, model.edge_probabilities_)
    pd.testing.assert_series_equal(again.mixture_weights_, model.mixture_weights_)
    assert again.log_evidence_ == model.log_evidence_
    conditional = "P(Smoking -> Pressure | Pressure -> Proteins)"
    for text in ("Smoking ~> Pressure", conditional, "Smoking ~> Pressure & Smoking ~> Proteins"):
        assert again.probability(text) == model.probability(text)
    assert again.sample(200, seed=3) == model.sample(200, seed=3)
    assert again.best(5) == model.best(5)
    rows = table.to_pandas().drop(columns="counts").head(4)
    np.testing.assert_array_equal(again.score_samples(rows), model.score_samples(rows))
    effects = [fitted.effect("Smoking", "Pressure", seed=1) for fitted in (again, model)]
    assert effects[0].mean == effects[1].mean
    again.save(file)
    assert DagPosterior.load(file).log_evidence_ == model.log_evidence_


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda about, _: about["mixture"].update(shares=[0.5, 0.6]), "shares"),
        (lambda about, _: about["mixture"].update(shares=[1.0]), "shares"),
        (lambda about, _: about["mixture"]["settings"][0].update(values=[1.0, 3.0]), "averages over"),
        (lambda about, _: about["mixture"].update(structure_log_evidences=[1.0]), "structure_log_evidences"),
        (lambda _, arrays: arrays.pop("part1_log_weights"), "part1_log_weights"),
        (lambda _, arrays: arrays.update(part1_log_weights=np.zeros((1, 2))), "part1_log_weights of shape"),
        (lambda about, _: about.update(mixture=None), "log_weights"),
    ],
)
def test_a_damaged_file_is_refused(damage: Any, said: str, tmp_path: Path) -> None:
    from dagpost.files import archive

    file = tmp_path / "model.dagpost"
    DagPosterior(BDeu((1.0, 2.0)), prior="uniform", samples=10).fit(random_table(3, 20, 1)).save(file)
    about, arrays = archive.read_archive(file, "model")
    damage(about, arrays)
    about = {key: value for key, value in about.items() if key not in ("dagpost", "format", "version", "arrays")}
    archive.write_archive(file, "model", about, arrays)
    with pytest.raises(InputError, match=said):
        DagPosterior.load(file)


@pytest.mark.parametrize("method", ["partition-mcmc", "order-mcmc", "structure-mcmc", "hybrid-mcmc", "bootstrap"])
def test_methods_without_exact_evidence_are_refused(method: str, said: Said) -> None:
    modularity: Any = "order" if method == "order-mcmc" else "structure"
    model = DagPosterior(BDeu("average"), prior="uniform", method=method, modularity=modularity)
    table = random_table(3, 20, 1)
    for ask in (model.fit, model.plan):
        with said.raises(InputError):
            ask(table)


def test_too_many_columns_are_refused_before_they_are_scored(said: Said) -> None:
    generator = np.random.default_rng(1)
    table = as_table(pd.DataFrame(generator.integers(0, 2, (20, 45)).astype(str)))
    for method in ("auto", "given-order"):
        with said.raises(InputError):
            DagPosterior(BDeu("average"), prior="uniform", method=method).fit(table)


def test_families_and_parameters_need_one_size(said: Said) -> None:
    from dagpost import local_scores

    with said.raises(InputError):
        local_scores(random_table(3, 20, 1), BDeu("average"))
    with said.raises(InputError):
        BDeu((1, 2)).parameter_prior()


@pytest.mark.parametrize("wrong", ["mean", (), (1, 1), (0, 1), ("1",), [[1]], None])
def test_sizes_that_make_no_sense_are_refused(wrong: Any, said: Said) -> None:
    with said.raises(InputError):
        BDeu(wrong)


def test_an_ordinary_model_has_no_weights_of_a_mixture(said: Said) -> None:
    model = DagPosterior(prior="uniform", score="bdeu").fit(random_table(3, 20, 1))
    with said.raises(AttributeError):
        _ = model.mixture_weights_


def test_a_plan_counts_every_size_once_in_time_and_tables_once_in_memory(said: Said) -> None:
    table = random_table(4, 20, 1)
    one, four = (DagPosterior(BDeu(size), prior="uniform").plan(table).stages for size in (1.0, "average"))
    by_name = [{stage.stage: stage for stage in stages} for stages in (one, four)]
    # The evidence of each, and the sums of those that weigh anything.
    assert by_name[1]["tables"].seconds == pytest.approx((4 * 0.4 + 4) * by_name[0]["tables"].seconds)
    assert by_name[1]["tables"].size == by_name[0]["tables"].size
    assert by_name[1]["scores"].seconds == pytest.approx(4 * by_name[0]["scores"].seconds)
    assert by_name[1]["samples"] == by_name[0]["samples"]
    said(by_name[1]["tables"].what)


def test_progress_says_which_size() -> None:
    titles: set[str] = set()
    DagPosterior(BDeu((1, 5)), prior="uniform", progress=lambda title, *_: titles.add(title)).fit(
        random_table(4, 20, 1)
    )
    assert {title.partition(":")[0] for title in titles} == {"equivalent sample size 1", "equivalent sample size 5"}


def test_the_first_graphs_do_not_depend_on_how_many_are_drawn() -> None:
    model = DagPosterior(BDeu((0.1, 20.0)), prior="uniform").fit(random_table(4, 20, 4))
    short, long = model.sample(700, seed=5), model.sample(1_500, seed=5)
    np.testing.assert_array_equal(short.parents, long.parents[:700])


def test_tables_of_the_parts_are_kept_only_if_all_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    from dagpost._tools import memory
    from dagpost.exact import structure

    table = random_table(4, 20, 4)
    model = DagPosterior(BDeu((1.0, 5.0)), prior="uniform", seed=1).fit(table)
    workspace = model.fitted_.workspace
    assert all(part.has_structure for part in workspace.parts)
    one = structure.memory_needed(4, 3, workspace.engine.workers)
    monkeypatch.setattr(memory, "available_bytes", lambda: 7 * one)
    poor = DagPosterior(BDeu((1.0, 5.0)), prior="uniform", seed=1, samples=100).fit(table)
    assert not any(part.has_structure for part in poor.fitted_.workspace.parts)
    monkeypatch.undo()
    assert poor.sample(50, seed=1) == model.sample(50, seed=1)


def test_a_limit_on_the_lists_is_an_error_that_says_so(said: Said) -> None:
    model = DagPosterior(BDeu((1e-3, 1e3)), prior="uniform").fit(random_table(4, 60, 3))
    workspace, wanted = model.fitted_.workspace, Wanted(model.names_, 5, np.random.SeedSequence(1))
    assert isinstance(workspace, MixedWorkspace)
    assert len(list_best(KBest(), workspace, wanted, longest=1_000).parents) == 5
    with said.raises(ResourceError):
        list_best(KBest(), workspace, wanted, longest=6)


def test_a_run_resumes_between_two_sizes(tmp_path: Path) -> None:
    table, score = random_table(4, 60, 3), BDeu((1.0, 2.0, 5.0))
    whole = DagPosterior(score, prior="uniform", seed=1).fit(table)
    seen: list[str] = []

    class StopError(Exception):
        pass

    def stop(title: str, *_: Any) -> None:
        if seen and seen[-1] != title and title.startswith("equivalent sample size 5") and "scores" not in title:
            raise StopError
        seen.append(title)

    with pytest.raises(StopError):
        DagPosterior(score, prior="uniform", seed=1, progress=stop).fit(
            table, checkpoint=Checkpoint(tmp_path / "kept", seconds=0)
        )
    checkpoint = Checkpoint(tmp_path / "kept", seconds=0)
    again = DagPosterior(score, prior="uniform", seed=1).fit(table, checkpoint=checkpoint)
    assert checkpoint.resumed
    pd.testing.assert_frame_equal(again.edge_probabilities_, whole.edge_probabilities_)
    assert again.log_evidence_ == whole.log_evidence_
    with pytest.raises(InputError, match="another run"):
        DagPosterior(BDeu((1.0, 2.0)), prior="uniform", seed=1).fit(table, checkpoint=checkpoint)


def test_an_average_is_cross_validated() -> None:
    table = random_table(3, 60, 3)
    # All graphs are listed, so that nothing depends on draws.
    model = DagPosterior(BDeu((1.0, 10.0)), prior="uniform", method="kbest", samples=100)
    found = cross_validate(model, table, folds=3, seed=1)
    for fold in range(3):
        held_out = (found.folds == fold).astype(np.int64)
        model.fit(table.with_counts(1 - held_out))
        expected = model.score_samples(table.with_counts(held_out))
        assert found.log_scores[found.folds == fold] == pytest.approx(expected, abs=1e-9)


def test_samples_of_an_average_resume_from_a_checkpoint_and_survive_a_pickle(tmp_path: Path) -> None:
    model = DagPosterior(BDeu((0.1, 20.0)), prior="uniform").fit(random_table(4, 20, 4))
    whole = model.sample(2_000, seed=4)
    assert model.sample(2_000, seed=4, checkpoint=Checkpoint(tmp_path / "kept", seconds=0)) == whole
    again = Checkpoint(tmp_path / "kept", seconds=0)
    assert model.sample(2_000, seed=4, checkpoint=again) == whole
    assert again.resumed
    assert pickle.loads(pickle.dumps(model)).sample(2_000, seed=4) == whole
