"""Every method behind `DagPosterior(method=...)`: the same sample, the same questions, the same files."""

from __future__ import annotations

import math
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.tools.wording import Said

from dagpost import (
    BlockGibbs,
    Bootstrap,
    DagPosterior,
    DagpostWarning,
    DagSample,
    GivenOrder,
    HybridMCMC,
    InputError,
    OrderMCMC,
    PartialOrderMCMC,
    PartitionMCMC,
    StructureMCMC,
    Trees,
    datasets,
)
from dagpost._tools import memory
from dagpost.families.numbering import parent_sets, unsqueeze_all
from dagpost.methods.choice import resolve_method, target_named
from dagpost.methods.registry import METHODS
from dagpost.posterior.exact_workspace import ExactWorkspace

#: Short chains: these tests are about the plumbing; tests/statistical holds the chains to their posteriors.
CHAINS = [
    (OrderMCMC(chains=2, thinning=2, burn_in=100), "order"),
    (PartialOrderMCMC(bucket_size=3, chains=2, thinning=2, burn_in=100), "order"),
    (PartitionMCMC(chains=2, thinning=2, burn_in=100), "structure"),
    (StructureMCMC(chains=2, thinning=2, burn_in=100), "structure"),
    (HybridMCMC(chains=2, thinning=2, burn_in=100), "structure"),
    (BlockGibbs(chains=2, thinning=1, burn_in=20), "structure"),
]
OTHERS = [
    (Trees(), "trees"),
    (Trees(spanning=False), "forests"),
    (GivenOrder(), "given-order"),
    (Bootstrap(replicates=30), "bootstrap"),
]
IDS = {"ids": lambda value: str(value) if isinstance(value, str) else type(value).__name__}


@pytest.fixture(scope="module")
def table() -> Any:
    return datasets.load("coronary")


def fitted(table: Any, method: Any, modularity: str = "structure", **settings: Any) -> DagPosterior:
    return DagPosterior(
        method=method, modularity=modularity, seed=1, **{"prior": "uniform", "score": "bdeu", **settings}
    ).fit(table)


def drawn(model: DagPosterior, count: int, **settings: Any) -> DagSample:
    """A sample, whatever its chains are worth."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DagpostWarning)
        return model.sample(count, **settings)


@pytest.mark.parametrize("name", METHODS.names())
def test_a_method_is_known_by_its_name(name: str) -> None:
    method = resolve_method(name)
    assert method is not None
    assert method.name == name


@pytest.mark.parametrize("wrong", ["mcmc", "", 5, None, PartitionMCMC, Trees])
def test_an_unknown_method_is_refused_with_the_known_ones(wrong: Any, table: Any) -> None:
    with pytest.raises(InputError, match=r"'partition-mcmc'.*BlockGibbs"):
        DagPosterior(prior="uniform", score="bdeu", method=wrong).fit(table)


@pytest.mark.parametrize(("method", "modularity"), CHAINS, **IDS)
def test_a_chain_of_the_other_posterior_is_refused(method: Any, modularity: str, table: Any) -> None:
    other = "order" if modularity == "structure" else "structure"
    with pytest.raises(InputError, match=f"Set modularity='{modularity}'"):
        fitted(table, method, other)


@pytest.mark.parametrize(("method", "modularity"), CHAINS, **IDS)
def test_a_chain_gives_a_sample_that_says_what_it_is_worth(
    method: Any, modularity: str, table: Any, said: Said
) -> None:
    model = fitted(table, method, modularity)
    assert model.fitted_.recall("results") is None, "nothing is drawn before somebody asks"
    sample = drawn(model, 501, seed=2)
    assert len(sample) == 501
    assert (sample.method, sample.target, sample.independent) == (method.name, modularity, False)
    assert sample.chains is not None
    assert sample.chains.lengths == (251, 250)
    assert sample.summary()["diagnostics"]["chains"] == 2
    estimate = sample.probability("Smoking ~> Pressure")
    assert estimate.rule == "effective draws"
    assert estimate.effective_samples < 501
    assert estimate.lower < estimate.value < estimate.upper
    assert sample.effective_samples == sample.diagnostics().smallest_effective
    conditional = sample.probability("Smoking -> Pressure", given="Smoking ~> Pressure")
    assert conditional.value >= estimate.value * conditional.value
    with said.raises(InputError):
        model.sample(precision=0.1)


@pytest.mark.parametrize(("method", "modularity"), CHAINS, **IDS)
def test_the_edges_of_a_chain_that_was_asked_for_are_its_own(method: Any, modularity: str, table: Any) -> None:
    """Exact sums would be quick here, but then nobody would see what the chain found."""
    model = DagPosterior(prior="uniform", score="bdeu", method=method, modularity=modularity, samples=2000, seed=1)
    assert not model.plan(table).exact
    model.fit(table)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DagpostWarning)
        found = model.edge_probabilities_.to_numpy()
    exact = DagPosterior(prior="uniform", score="bdeu", modularity=modularity).fit(table).edge_probabilities_.to_numpy()
    sample = model.own_sample()
    assert (model.exact_, model.verdict_) == (False, sample.diagnostics().verdict)
    assert math.isnan(model.log_evidence_)
    assert 0.0 < np.abs(found - exact).max() < 0.2
    assert np.abs(found - sample.edge_frequencies().to_numpy()).max() < 0.2
    answer = model.probability("Smoking -> Pressure")
    assert answer.as_dict() == sample.probability("Smoking -> Pressure").as_dict()
    assert answer.rule == "effective draws"
    assert "estimated by " + method.name in repr(model)


@pytest.mark.parametrize(("method", "modularity"), CHAINS, **IDS)
def test_the_weight_of_every_graph_is_that_of_its_families(method: Any, modularity: str, table: Any) -> None:
    """Twice: once by the chain, once from the scores of all families."""
    model = fitted(table, method, modularity)
    sample = drawn(model, 60, seed=3)
    workspace = model.fitted_.workspace
    assert isinstance(workspace, ExactWorkspace)
    scored = {}
    for node in range(6):
        sets = parent_sets(5, 5)
        spread = unsqueeze_all(sets.copy(), node)
        scored.update({(node, int(mask)): float(workspace.log_weights[node, k]) for k, mask in enumerate(spread)})
    expected = [sum(scored[node, int(mask)] for node, mask in enumerate(row)) for row in sample.parents]
    np.testing.assert_allclose(sample.log_joint, expected, rtol=0, atol=1e-8)


@pytest.mark.parametrize(("method", "modularity"), CHAINS, **IDS)
def test_chains_go_on_from_a_file_as_if_never_broken_off(
    method: Any, modularity: str, table: Any, tmp_path: Path
) -> None:
    model = fitted(table, method, modularity)
    model.save(tmp_path / "model")
    drawn(model, 330, seed=4).save(tmp_path / "some")
    again = DagPosterior.load(tmp_path / "model")
    resumed = drawn(again, 777, resume=DagSample.load(tmp_path / "some"))
    unbroken = drawn(model, 777, seed=4)
    assert resumed == unbroken
    assert resumed.chains is not None
    assert unbroken.chains is not None
    for name in ("log_state", "proposed", "accepted", "edges"):
        np.testing.assert_array_equal(getattr(resumed.chains, name), getattr(unbroken.chains, name))


def test_what_cannot_be_gone_on_from_is_refused(table: Any, said: Said) -> None:
    model = fitted(table, CHAINS[2][0])
    sample = drawn(model, 400, seed=1)
    with said.raises(InputError):
        model.sample(300, resume=sample)
    with said.raises(InputError):
        fitted(table, PartitionMCMC(chains=2, thinning=3, burn_in=100)).sample(800, resume=sample)
    with pytest.raises(InputError, match="whole sample"):
        model.sample(800, resume=sample[:300])
    with pytest.raises(InputError, match="whole sample"):
        model.sample(800, resume=model.best(3))
    with said.raises(InputError):
        model.sample(800, resume=sample, seed=5)
    with pytest.raises(InputError, match="Only chains"):
        DagPosterior(prior="uniform", score="bdeu").fit(table).sample(800, resume=sample)


def test_a_part_of_a_chain_is_taken_for_one_chain(table: Any) -> None:
    sample = drawn(fitted(table, CHAINS[2][0]), 400, seed=1)
    part = sample[50:150]
    assert part.chains is None
    assert part.diagnostics().chains == 1
    assert not part.diagnostics().trusted
    assert part.probability("Smoking -> Pressure").rule == "effective draws"


def test_independent_graphs_have_nothing_to_diagnose(table: Any, said: Said) -> None:
    with said.raises(InputError):
        DagPosterior(prior="uniform", score="bdeu").fit(table).sample(10, seed=1).diagnostics()


def test_chains_that_disagree_warn_at_the_line_of_the_user(table: Any, said: Said) -> None:
    model = fitted(table, HybridMCMC(chains=2, thinning=1, burn_in=0))
    with said.warns(DagpostWarning) as caught:
        model.sample(60, seed=1)
    assert caught[0].filename == __file__


def test_an_interrupt_ends_chains_with_what_they_have(table: Any) -> None:
    calls = []

    def interrupt(stage: str, done: int, total: int) -> None:
        calls.append(stage)
        if stage.startswith("chains") and done >= 8:
            raise KeyboardInterrupt

    model = DagPosterior(
        prior="uniform", score="bdeu", method=PartitionMCMC(chains=2, thinning=2, burn_in=0), progress=interrupt
    ).fit(table)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sample = model.sample(5_000, seed=1)
    assert re.match(r"Interrupted: these are the \d+ graphs .* of 5,000", str(caught[0].message))
    assert 0 < len(sample) < 5_000
    assert sample.chains is not None
    assert len(calls) > 8


@pytest.mark.parametrize(("method", "target"), OTHERS, **IDS)
def test_a_method_with_a_target_of_its_own_says_so(
    method: Any, target: str, table: Any, tmp_path: Path, said: Said
) -> None:
    model = fitted(table, method)
    assert model.target_ == target
    assert model.exact_ == (target != "bootstrap")
    estimate = model.probability("Smoking -> Pressure")
    assert estimate.modularity == target
    assert target_named(target).words in str(estimate)
    assert (estimate.rule == "exact") == model.exact_
    sample = model.sample(30, seed=1)
    assert sample.target == target
    assert sample.independent
    assert target in repr(sample)
    sample.save(tmp_path / "sample")
    assert DagSample.load(tmp_path / "sample") == sample
    model.save(tmp_path / "model")
    again = DagPosterior.load(tmp_path / "model")
    assert again.target_ == target
    assert again.sample(30, seed=1) == sample
    pd.testing.assert_frame_equal(again.edge_probabilities_, model.edge_probabilities_)
    with said.raises(InputError):
        sample.probability("Smoking -> Pressure", estimator="iw")


def test_a_sampled_answer_of_trees_covers_the_exact_edge(table: Any) -> None:
    model = fitted(table, Trees())
    sampled = model.sample(4000, seed=1).probability("Smoking -> Pressure", confidence=1 - 1e-6)
    assert sampled.lower <= float(model.probability("Smoking -> Pressure")) <= sampled.upper


def test_forests_are_the_graphs_of_at_most_one_parent(table: Any) -> None:
    forests = fitted(table, Trees(spanning=False))
    exact = DagPosterior(prior="uniform", score="bdeu", max_parents=1).fit(table)
    np.testing.assert_allclose(forests.edge_probabilities_, exact.edge_probabilities_, rtol=0, atol=1e-9)
    assert forests.log_evidence_ == pytest.approx(exact.log_evidence_, abs=1e-9)


def test_a_given_order_is_the_posterior_without_the_edges_against_it(table: Any) -> None:
    order = ["Family", "P. Work", "M. Work", "Smoking", "Proteins", "Pressure"]
    given = fitted(table, GivenOrder(order))
    exact = DagPosterior(prior="uniform", score="bdeu", tiers=[[name] for name in order]).fit(table)
    np.testing.assert_allclose(given.edge_probabilities_, exact.edge_probabilities_, rtol=0, atol=1e-9)
    assert given.log_evidence_ == pytest.approx(exact.log_evidence_, abs=1e-9)


@pytest.mark.parametrize(
    ("order", "problem"),
    [(["Smoking"], "lacks"), (["Smoking"] * 6, "lacks|more than once"), (["Smok"], "Smoking"), ("Smoking", "list")],
)
def test_a_wrong_order_is_refused_before_any_work(order: Any, problem: str, table: Any) -> None:
    with pytest.raises(InputError, match=problem):
        fitted(table, GivenOrder(order))


def test_more_replicates_than_there_are_cannot_be_asked_for(table: Any, said: Said) -> None:
    model = fitted(table, Bootstrap(replicates=5))
    assert len(model.sample()) == 5
    with said.raises(InputError):
        model.sample(6)


def test_replicates_cannot_be_joined_with_themselves(table: Any, said: Said) -> None:
    """Another seed draws no other replicates."""
    model = fitted(table, Bootstrap(replicates=20))
    with said.raises(InputError):
        model.sample(20, seed=1) + model.sample(20, seed=2)


def test_numbers_of_numpy_go_into_files_too(table: Any, tmp_path: Path) -> None:
    model = fitted(table, PartitionMCMC(chains=np.int64(2), thinning=2, burn_in=0), samples=np.int64(200))
    drawn(model, np.int64(201), seed=1).save(tmp_path / "sample")
    assert len(DagSample.load(tmp_path / "sample")) == 201
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DagpostWarning)
        model.save(tmp_path / "model")
    assert DagPosterior.load(tmp_path / "model").method_ == "partition-mcmc"


def test_a_sample_of_a_given_order_joins_one_from_a_file(table: Any, tmp_path: Path) -> None:
    order = ["Family", "P. Work", "M. Work", "Smoking", "Proteins", "Pressure"]
    model = fitted(table, GivenOrder(order))
    model.sample(10, seed=1).save(tmp_path / "sample")
    assert len(DagSample.load(tmp_path / "sample") + model.sample(10, seed=2)) == 20


def test_a_fit_that_is_broken_off_leaves_no_model(table: Any, said: Said) -> None:
    model = DagPosterior(prior="uniform", score="bdeu").fit(table)

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    model.set_params(progress=interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(table)
    for ask in (model.own_sample, model.sample, model.best):
        with said.raises(InputError):
            ask()
    assert not [name for name in vars(model) if name.endswith("_")]


# Many variables


@pytest.fixture
def crowded(monkeypatch: pytest.MonkeyPatch) -> pd.DataFrame:
    """Seven columns that are treated as too many: tables do not fit, families are too many, few candidates."""
    monkeypatch.setattr("dagpost.exact.order.fits", lambda *_, **__: False)
    monkeypatch.setattr("dagpost.families.family_sums.MOST_FAMILIES", 50)
    monkeypatch.setattr("dagpost.families.family_sums.ALL_CANDIDATES", 3)
    monkeypatch.setattr("dagpost.families.family_sums.CANDIDATES", 4)
    codes = np.random.default_rng(1).integers(0, 2, (60, 7))
    codes[:, 3] = codes[:, 1] ^ codes[:, 2]
    codes[:, 6] = codes[:, 3]
    return pd.DataFrame(codes, columns=list("ABCDEFG"))


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:Do not trust it:dagpost.errors.DagpostWarning")
@pytest.mark.parametrize(("modularity", "name"), [("structure", "block-gibbs"), ("order", "partial-order-mcmc")])
def test_chains_take_over_where_tables_do_not_fit(
    modularity: Any, name: str, crowded: pd.DataFrame, tmp_path: Path
) -> None:
    model = DagPosterior(prior="uniform", score="bdeu", modularity=modularity, samples=400, seed=1)
    with pytest.warns(DagpostWarning, match=f"estimated from 400 graphs .{name}"):
        model.fit(crowded)
    assert model.method_ == name
    assert "do not fit into memory" in model.method_reason_
    assert not model.exact_
    assert model.verdict_ is not None
    assert np.isnan(model.log_evidence_)
    assert model.edge_probabilities_.loc["D", "G"] + model.edge_probabilities_.loc["G", "D"] > 0.9
    with pytest.raises(InputError, match="too many"):
        model.best(3)
    with pytest.raises(InputError, match="not computed here"):
        model.family_probabilities("A")
    model.save(tmp_path / "model")
    again = DagPosterior.load(tmp_path / "model")
    assert again.verdict_ == model.verdict_
    pd.testing.assert_frame_equal(again.edge_probabilities_, model.edge_probabilities_)
    assert drawn(again, 100, seed=9) == drawn(model, 100, seed=9)


@pytest.mark.parametrize(("method", "target"), OTHERS, **IDS)
def test_other_targets_take_many_columns_too(
    method: Any, target: str, crowded: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = fitted(crowded, method)
    assert model.target_ == target
    monkeypatch.undo()  # From here on every family is scored. B and C together say as much of G as D does.
    edges, of_all = (one.edge_probabilities_ for one in (model, fitted(crowded, method)))
    assert edges.loc["D", "G"] + edges.loc["G", "D"] == pytest.approx(
        of_all.loc["D", "G"] + of_all.loc["G", "D"], abs=0.03
    )


def test_a_method_with_tables_is_refused_where_they_cannot_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 10**9)
    codes = np.random.default_rng(0).integers(0, 2, (40, 40))
    with pytest.raises(MemoryError, match="block-gibbs"):
        fitted(codes, "hybrid-mcmc", max_parents=2)


def test_what_is_no_sample_and_no_scores_is_refused(table: Any, said: Said) -> None:
    with pytest.raises(InputError, match="whole sample"):
        fitted(table, CHAINS[0][0], "order").sample(200, resume="file")
    with pytest.raises(InputError, match="read_jkl"):
        DagPosterior(prior="uniform", score="bdeu").fit_scores("scores.jkl")
    with said.raises(InputError):
        PartitionMCMC(chains=10**9)
