"""What is said of directions: never more than the data compel, and never a rule of the user as a finding."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.naive import essential as naive
from tests.naive.posterior import all_dags
from tests.naive.summaries import sample_of
from tests.tools.wording import Said

from dagpost import BDeu, CustomScore, DagPosterior, DagSample, GivenOrder, PartitionMCMC, compelled, datasets
from dagpost.errors import InputError
from dagpost.features import evaluate
from dagpost.posterior.directions import (
    ASSUMPTION,
    Directions,
    by_data_of,
    directions_of,
    directions_of_sample,
    quick_directions,
)
from dagpost.posterior.pair_direction import CLEAR, LABELS, MARKS, PairDirection

COLUMNS = ["Smoking", "M. Work", "P. Work", "Pressure"]


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    """Four columns, a row an observation."""
    coronary = datasets.load("coronary").to_pandas()
    rows = coronary.loc[coronary.index.repeat(coronary["counts"]), COLUMNS]
    return rows.reset_index(drop=True)


@pytest.fixture(scope="module")
def collider() -> pd.DataFrame:
    """A and B are causes of C, which is a cause of D: everything is compelled."""
    generator = np.random.default_rng(5)
    # As many rows of each kind, so that A and B are independent in this very table.
    a, b = np.tile([[0, 0, 1, 1], [0, 1, 0, 1]], 500)
    c = np.where(generator.random(2000) < 0.1, generator.integers(0, 3, 2000), a + b)
    d = np.where(generator.random(2000) < 0.9, c >= 1, c < 1).astype(int)
    return pd.DataFrame({"A": a, "B": b, "C": c, "D": d})


def pairs_of(model: Any) -> dict[tuple[str, str], str]:
    return {(row["from"], row["to"]): row["direction"] for row in model.directions().to_dict("records")}


def add_up(found: Directions) -> None:
    decided = found.by_data + found.by_rules
    np.testing.assert_allclose(decided + decided.T + found.reversible, found.joined, atol=1e-9)
    np.testing.assert_array_equal(found.joined, found.joined.T)
    assert (found.lower <= found.by_data).all()
    assert (found.by_data <= found.upper).all()


def test_a_collider_is_clear_and_is_said_so(collider: Any) -> None:
    found = pairs_of(DagPosterior(prior="uniform", score="bdeu", seed=1).fit(collider))
    assert found["A", "C"] == found["B", "C"] == found["C", "D"] == "clear"


def test_no_direction_is_clear_where_the_posterior_is_one_class_of_17_graphs() -> None:
    """A tree of 17 nodes: 17 graphs say the same, one for each root; a leaf is below 16 of them."""
    hub = [(0, node) for node in range(1, 7)]
    joined = [*hub, *((node, node + 6) for node in range(1, 7)), (1, 13), (2, 14), (3, 15), (4, 16)]
    graphs = []
    for root in range(17):
        parents, waiting = [0] * 17, [root]
        placed = {root}
        while waiting:
            node = waiting.pop()
            for one, other in joined:
                for near, far in ((one, other), (other, one)):
                    if near == node and far not in placed:
                        parents[far] = 1 << near
                        placed.add(far)
                        waiting.append(far)
        graphs.append(parents)
    names = tuple(f"V{node}" for node in range(17))
    sample = sample_of(graphs, np.full(17, 1 / 17), np.zeros(17), names, log_evidence=float(np.log(17)))
    assert sample.covered == pytest.approx(1.0)
    most = sample.edge_frequencies().to_numpy().max(axis=1).max()
    assert most >= CLEAR
    found = directions_of_sample(sample)
    shown = found.pairs(0.5)
    assert len(shown) == 16
    assert {pair.word for pair in shown} == {"open"}
    assert found.by_data.max() == 0.0
    np.testing.assert_allclose(found.reversible[found.joined > 0.0], 1.0)


def test_no_direction_is_clear_in_a_table_whose_best_class_is_a_chain() -> None:
    generator = np.random.default_rng(2)
    columns = [generator.integers(0, 2, 3000)]
    for _ in range(4):
        columns.append(np.where(generator.random(3000) < 0.85, columns[-1], 1 - columns[-1]))
    model = DagPosterior(prior="uniform", score="bdeu", seed=1).fit(
        pd.DataFrame(dict(zip("abcde", columns, strict=True)))
    )
    found = directions_of(model.fitted_)
    joined = found.pairs(0.5)
    assert len(joined) == 4
    assert {pair.word for pair in joined} == {"open"}


def test_intervals_hold_what_all_graphs_together_say(table: Any) -> None:
    model = DagPosterior(prior="uniform", score="bdeu", seed=1).fit(table)
    everything = model.best(543)
    assert everything.covered == pytest.approx(1.0)
    truth, found = directions_of_sample(everything), directions_of(model.fitted_)
    add_up(truth)
    add_up(found)
    np.testing.assert_allclose(found.joined, truth.joined, atol=1e-9)
    # At 95%, each of 12; with this seed all hold.
    assert (found.lower - 1e-9 <= truth.by_data).all()
    assert (truth.by_data <= found.upper + 1e-9).all()
    assert (found.by_data <= model.edge_probabilities_.to_numpy() + 1e-12).all()
    # The listed graphs are all there are, so nothing is left to be uncertain about.
    assert (truth.upper - truth.lower)[truth.joined >= 0.001].max() < 1e-6


def test_what_is_exact_for_edges_bounds_what_is_compelled(table: Any) -> None:
    model = DagPosterior(prior="uniform", score="bdeu", seed=1, samples=50).fit(table)
    found = directions_of(model.fitted_)
    edges = model.edge_probabilities_.to_numpy()
    np.testing.assert_allclose(found.joined, edges + edges.T, atol=1e-9)
    add_up(found)
    assert (found.upper <= edges + 1e-12).all()
    np.testing.assert_array_equal(by_data_of(model.fitted_, model.own_sample()), found.by_data)


def test_k2_is_judged_by_equivalence_although_its_score_is_not_equivalent(table: Any) -> None:
    model = DagPosterior(prior="uniform", score="k2", seed=1).fit(table)
    found, sample = directions_of(model.fitted_), model.best(543)
    rows = [tuple(row) for row in sample.parents.tolist()]
    by_data, _, _ = naive.shares(rows, sample.weights.tolist())
    for (a, b), share in by_data.items():
        assert found.lower[a, b] - 1e-9 <= share <= found.upper[a, b] + 1e-9


@pytest.mark.parametrize(
    ("score", "equivalent"),
    [
        ("bdeu", True),
        (BDeu("average"), True),
        ("bic", True),
        ("k2", False),
        ("bde", False),
        (CustomScore(lambda _, parents: -float(parents.shape[1])), False),
    ],
)
def test_a_score_that_may_prefer_graphs_of_a_class_is_said_to(
    score: Any, equivalent: bool, table: Any, tmp_path: Path
) -> None:
    model = DagPosterior(prior="uniform", score=score, seed=1, samples=50).fit(table[:200])
    model.save(tmp_path / "model.dagpost")
    model.own_sample().save(tmp_path / "graphs.dags")
    for found in (
        directions_of(model.fitted_),
        directions_of(DagPosterior.load(tmp_path / "model.dagpost").fitted_),
        directions_of_sample(DagSample.load(tmp_path / "graphs.dags")),
    ):
        assert ("may itself prefer some graphs" in found.note) is not equivalent


def test_a_score_of_continuous_columns_prefers_no_graph_of_a_class(table: Any) -> None:
    model = DagPosterior(prior="uniform", score="bge", seed=1, samples=50).fit(
        np.random.default_rng(1).normal(size=(50, 3))
    )
    assert directions_of(model.fitted_).note == ""

    class Other(BDeu):
        def terms(self, *arguments: Any) -> Any:
            return super().terms(*arguments)

    # It may score in any way.
    assert (
        "may itself prefer"
        in directions_of(DagPosterior(prior="uniform", score=Other(), seed=1).fit(table[:200]).fitted_).note
    )


def test_order_modular_directions_are_of_the_order_modular_posterior(table: Any) -> None:
    model = DagPosterior(prior="uniform", score="bdeu", modularity="order", seed=1).fit(table)
    found = directions_of(model.fitted_)
    add_up(found)
    np.testing.assert_allclose(found.joined, model.probability_matrix("--").to_numpy(), atol=1e-9)


def test_chains_give_directions_with_intervals_for_what_they_are_worth(table: Any) -> None:
    sample = (
        DagPosterior(prior="uniform", score="bdeu", method=PartitionMCMC(chains=2, burn_in=2000), seed=1)
        .fit(table)
        .sample(4000, seed=2)
    )
    found = directions_of_sample(sample)
    add_up(found)
    assert found.confidence == 0.95
    shown = found.joined >= 0.001
    np.fill_diagonal(shown, False)
    assert (found.upper > found.lower)[shown].all()
    truth = directions_of_sample(DagPosterior(prior="uniform", score="bdeu").fit(table).best(543))
    assert (np.abs(found.by_data - truth.by_data) < 0.1).all()


def test_shares_of_replicates_are_of_their_classes(collider: Any) -> None:
    model = DagPosterior(prior="uniform", score="bdeu", method="bootstrap", samples=20, seed=1).fit(collider)
    found, sample = directions_of(model.fitted_), model.own_sample()
    by_data, _, reversible = naive.shares([tuple(row) for row in sample.parents.tolist()], sample.weights.tolist())
    assert found.joined.max() == pytest.approx(1.0)
    for a, b in [(a, b) for a in range(4) for b in range(4) if a != b]:
        assert found.by_data[a, b] == pytest.approx(by_data[a, b], abs=1e-9)
        assert found.reversible[a, b] == pytest.approx(reversible[frozenset((a, b))], abs=1e-9)


def test_all_edges_of_trees_are_reversible(collider: Any) -> None:
    found = DagPosterior(prior="uniform", score="bdeu", method="trees", seed=1).fit(collider).directions()
    assert set(found["direction"]) == {"open"}
    np.testing.assert_allclose(found["reversible"], found["joined"])


def test_a_given_order_is_a_rule_and_not_a_finding(collider: Any) -> None:
    model = DagPosterior(prior="uniform", score="bdeu", method=GivenOrder(["A", "B", "C", "D"]), seed=1).fit(collider)
    assert set(pairs_of(model).values()) == {"rules"}
    assert set(pairs_of(model)) == {(a, b) for a in "ABCD" for b in "ABCD" if a < b}
    assert set(pairs_of(model.own_sample()).values()) == {"rules"}


def test_what_tiers_decide_is_never_a_finding(collider: Any) -> None:
    plain, ruled = (
        DagPosterior(prior="uniform", score="bdeu", seed=1).fit(collider),
        DagPosterior(prior="uniform", score="bdeu", seed=1, tiers=[["A"], ["C"]]).fit(collider),
    )
    assert pairs_of(plain)["A", "C"] == "clear"
    assert pairs_of(ruled)["A", "C"] == "rules"
    assert pairs_of(ruled)["B", "C"] == "clear"
    # Still, how far the data would have said so is there to be read.
    (share,) = [row["by_data"] for row in ruled.directions().to_dict("records") if row["from"] + row["to"] == "AC"]
    assert share > 0.9


def test_what_directions_rest_on_is_said_with_and_without_rules(collider: Any, said: Said) -> None:
    free, tiers, ordered = (
        directions_of(DagPosterior(score="bdeu", seed=1, **{"prior": "uniform", **rules}).fit(collider).fitted_)
        for rules in ({}, {"tiers": [["A"], ["C", "D"]]}, {"method": GivenOrder(["A", "B", "C", "D"])})
    )
    assert free.assumption == ASSUMPTION
    assert tiers.assumption.startswith(ASSUMPTION)
    assert tiers.assumption.endswith("without your rules some may be open.")
    said(ordered.assumption)


def test_a_clear_direction_is_tried_without_the_rules(collider: Any, said: Said) -> None:
    """Tiers that allow one collider only compel what hangs on it, among the graphs that they allow."""
    chain = collider[["A", "C", "D"]]
    model = DagPosterior(prior="uniform", score="bdeu", seed=1, tiers=[["A"], ["C", "D"]]).fit(chain)
    found = model.sensitivity()
    said(found.variations[-1].words)
    free = DagPosterior(prior="uniform", score="bdeu", seed=1).fit(chain).edge_probabilities_.to_numpy()
    np.testing.assert_allclose(found.joined[-1], free + free.T, atol=1e-9)


@pytest.mark.parametrize(("joined", "word"), [(0.49, "open"), (0.5, "clear")])
def test_only_a_pair_that_is_found_has_a_clear_direction(joined: float, word: str) -> None:
    pairs, none = np.array([[0.0, joined], [joined, 0.0]]), np.zeros((2, 2))
    by_data = np.array([[0.0, 0.95 * joined], [0.0, 0.0]])
    settled = np.zeros((2, 2), dtype=bool)
    rest = pairs - by_data - by_data.T
    found = Directions(("A", "B"), pairs, by_data, none, none, rest, settled, settled, none, pairs, 0.95)
    assert found.pair(0, 1).word == word


def test_what_follows_from_a_rule_is_decided_by_rules(table: Any) -> None:
    generator = np.random.default_rng(2)
    first = generator.integers(0, 2, 3000)
    second = np.where(generator.random(3000) < 0.85, first, 1 - first)
    third = np.where(generator.random(3000) < 0.85, second, 1 - second)
    chain = pd.DataFrame({"a": first, "b": second, "c": third})
    found = pairs_of(DagPosterior(prior="uniform", score="bdeu", seed=1, required=[("a", "b")]).fit(chain))
    assert found["a", "b"] == found["b", "c"] == "rules"
    found = pairs_of(DagPosterior(prior="uniform", score="bdeu", seed=1, forbidden=[("b", "a")]).fit(chain))
    assert found["a", "b"] == found["b", "c"] == "rules"
    assert pairs_of(DagPosterior(prior="uniform", score="bdeu", seed=1, max_parents=1).fit(chain))["a", "b"] == "open"


# Interventions


@pytest.fixture(scope="module")
def experiment() -> tuple[pd.DataFrame, list[str]]:
    """A chain a -> b -> c; b was set at random in a third of the rows."""
    generator = np.random.default_rng(2)
    a = generator.integers(0, 2, 3000)
    b = np.where(generator.random(3000) < 0.85, a, 1 - a)
    b[:1000] = generator.integers(0, 2, 1000)
    c = np.where(generator.random(3000) < 0.85, b, 1 - b)
    return pd.DataFrame({"a": a, "b": b, "c": c}), ["b"] * 1000 + [""] * 2000


def test_setting_a_column_makes_directions_clear(experiment: Any) -> None:
    rows, what = experiment
    model = DagPosterior(prior="uniform", score="bdeu", seed=1).fit(rows, interventions=what)
    assert model.fitted_.data.targets == ((), ("b",))
    found = pairs_of(model)
    assert found["a", "b"] == found["b", "c"] == "clear"
    assert pairs_of(model.own_sample()) == found
    assert pairs_of(DagPosterior(prior="uniform", score="bdeu", seed=1).fit(rows))["b", "c"] == "open"


def test_files_keep_what_was_set(experiment: Any, tmp_path: Path) -> None:
    rows, what = experiment
    model = DagPosterior(prior="uniform", score="bdeu", seed=1).fit(rows, interventions=what)
    model.save(tmp_path / "model.dagpost")
    model.own_sample().save(tmp_path / "graphs.dags")
    loaded = DagPosterior.load(tmp_path / "model.dagpost")
    assert loaded.fitted_.data.targets == ((), ("b",))
    pd.testing.assert_frame_equal(loaded.directions(), model.directions())
    assert pairs_of(DagSample.load(tmp_path / "graphs.dags")) == pairs_of(model)


def test_samples_that_do_not_name_what_was_set_go_together_with_those_that_do(experiment: Any) -> None:
    """The fingerprint of the data says whether it is the same."""
    rows, what = experiment
    model = DagPosterior(prior="uniform", score="bdeu", seed=1).fit(rows, interventions=what)
    new, old = model.sample(50, seed=1), model.sample(50, seed=2)
    old = old._with(provenance={key: value for key, value in old.provenance.items() if key != "targets"})
    assert pairs_of(new + old)["b", "c"] == "clear"


def test_a_column_that_was_set_in_every_row_has_no_parents_to_be_found(experiment: Any) -> None:
    rows, _ = experiment
    model = DagPosterior(prior="uniform", score="bdeu", seed=1).fit(rows, interventions=["b"] * len(rows))
    found = directions_of(model.fitted_)
    assert found.by_data[:, 1].max() == 0.0
    assert pairs_of(model)["b", "c"] == "clear"


# Words and tables


def test_the_table_has_one_row_a_pair_most_probably_joined_first(table: Any) -> None:
    found = DagPosterior(prior="uniform", score="bdeu", seed=1).fit(table).directions()
    assert list(found.columns) == [
        *("from", "to", "joined", "by_data", "by_data_back", "lower", "upper"),
        *("by_rules", "by_rules_back", "by_model", "by_model_back", "reversible", "direction"),
    ]
    assert len(found) == 6
    assert found["joined"].round(9).is_monotonic_decreasing


def test_every_word_has_a_label_and_a_mark_of_its_own() -> None:
    assert LABELS.keys() == MARKS.keys()
    assert PairDirection("clear", 0, 1, 0.96, 1.0).label == "clear: the data compel it (96%)"
    assert PairDirection("clear", 0, 1, 0.9999, 1.0).label == "clear: the data compel it (over 99%)"
    assert PairDirection("open", 0, 1, 0.3, 1.0).label == "open: the data cannot tell"
    assert PairDirection("unknown", 0, 1, 0.0, 0.5).label == "not computed"
    assert PairDirection("unknown", 0, 1, 0.0, 0.0).label == "never joined"
    headed = [MARKS[word] for word in ("clear", "leaning", "rules", "open")]
    assert len({mark for mark, _ in headed}) == len({plain for _, plain in headed}) == 4
    assert all(plain.isascii() for _, plain in headed)
    assert PairDirection("rules", 0, 1, 1.0, 1.0).mark(plain=True) == "=>"


def test_directions_that_would_take_a_slow_sample_are_unknown(table: Any, monkeypatch: Any) -> None:
    model = DagPosterior(prior="uniform", score="bdeu", seed=1, tiers=[["Smoking"], ["Pressure"]]).fit(table)
    monkeypatch.setattr(type(model.fitted_), "draws_quickly", False)
    monkeypatch.setattr(type(model.fitted_.method), "tables_at_hand", lambda *_: False)
    found = quick_directions(model.fitted_)
    assert not found.computed
    words = {pair.word for pair in found.pairs(0.001)}
    assert words == {"rules", "unknown"}
    model.own_sample()
    assert quick_directions(model.fitted_).computed


def test_a_confidence_out_of_range_is_refused(table: Any) -> None:
    model = DagPosterior(prior="uniform", score="bdeu", seed=1).fit(table)
    for source in (model, model.sample(10, seed=1)):
        with pytest.raises(InputError, match="confidence"):
            source.directions(confidence=1.5)
    wide, narrow = (directions_of(model.fitted_, level) for level in (0.99, 0.8))
    assert (wide.upper - wide.lower).sum() > (narrow.upper - narrow.lower).sum()


def test_an_edge_can_be_asked_whether_it_is_compelled(collider: Any) -> None:
    model = DagPosterior(prior="uniform", score="bdeu", seed=1).fit(collider)
    assert float(model.probability(compelled("A", "C"), given="A -- C")) > 0.9
    rows = np.array(all_dags(4), dtype=np.uint8)
    (held,) = evaluate([compelled("A", "C")], rows, list("ABCD"))
    assert held.tolist() == [(0, 2) in naive.compelled(tuple(row)) for row in rows.tolist()]
