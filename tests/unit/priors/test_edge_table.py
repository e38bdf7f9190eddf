"""Prior probabilities of single edges and pairs: every form, the weights they give, and what is refused."""

from __future__ import annotations

import json
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from tests.naive import edge_priors as naive
from tests.naive.posterior import weights_by_mask
from tests.tools.examples import examples
from tests.tools.wording import Said

from dagpost import DagPosterior, EdgePrior, LocalScores, prior_edges
from dagpost._tools.json_settings import from_json, to_json
from dagpost._tools.setting_text import readable_setting
from dagpost.errors import InputError, ResourceError
from dagpost.families.numbering import family_count, parent_sets, unsqueeze_all
from dagpost.families.parent_lists import all_others
from dagpost.priors import PRIORS, log_prior, log_prior_of_lists, resolve_prior
from dagpost.priors.constraints import Constraints
from dagpost.priors.regimes import RegimePrior

NAMES = ("age", "bmi", "pressure", "smoking")
LINKS = {"smoking -> pressure": 0.6, "bmi -- pressure": 0.8, "age -> bmi": 0.3, "bmi -> age": 0.2}


@st.composite
def cases(draw: st.DrawFn) -> Any:
    """What is said of some pairs of up to four columns, and edges that the rules leave out."""
    nodes = draw(st.integers(2, 4))
    share = st.floats(0.02, 0.9)
    said: dict[tuple[int, int], dict[str, float]] = {}
    for pair in combinations(range(nodes), 2):
        form = draw(st.sampled_from(["", "", "->", "<-", "--", "-> <-", "-> --", "<- --"]))
        first = draw(share)
        rest = first + (1 - first) * draw(st.floats(0.05, 0.95))
        signs = form.split()
        values = [first, rest - first if signs[-1:] == ["<-"] else rest]
        said[pair] = dict(zip(signs, values, strict=False))
    every = list(permutations(range(nodes), 2))
    forbidden = draw(st.lists(st.sampled_from(every), max_size=4, unique=True))
    return nodes, said, draw(st.sampled_from([None, 0.05, 0.45])), forbidden, draw(st.integers(1, 3))


def in_python(said: naive.Said, names: tuple[str, ...]) -> dict[str, float]:
    written = {}
    for (i, j), own in said.items():
        for sign, probability in own.items():
            first, second = (j, i) if sign == "<-" else (i, j)
            written[f"{names[first]} {'->' if sign == '<-' else sign} {names[second]}"] = probability
    return written


@given(cases())
@settings(max_examples=examples(60))
def test_every_graph_weighs_the_product_of_the_states_of_its_pairs(case: Any) -> None:
    nodes, said, otherwise, forbidden, max_parents = case
    names, limit = NAMES[:nodes], min(max_parents, nodes - 1)
    prior = EdgePrior(in_python(said, names), otherwise=otherwise)
    rules = Constraints(forbidden=[(names[parent], names[child]) for parent, child in forbidden])
    by_mask = weights_by_mask(log_prior(names, limit, prior, rules), limit)
    expected = naive.graph_weights(said, 1 / 3 if otherwise is None else otherwise, nodes, forbidden, limit)
    found = {dag: np.exp(sum(by_mask[node, mask] for node, mask in enumerate(dag))) for dag in expected}
    assert list(found.values()) == pytest.approx(list(expected.values()), rel=1e-9, abs=1e-300)
    model = DagPosterior(prior=prior, forbidden=rules.forbidden, max_parents=max_parents)
    edges = prior_edges(model, names).to_numpy()
    assert edges == pytest.approx(naive.edges(expected, nodes), abs=1e-9)


def test_edges_before_the_data_by_order_and_from_scores_of_nothing(said: Said) -> None:
    heard = {(1, 2): {"--": 0.8}, (2, 3): {"<-": 0.6}, (0, 1): {"->": 0.3, "<-": 0.2}}
    expected = naive.graph_weights(heard, 1 / 3, 4, [], 3)
    model = DagPosterior(prior=EdgePrior(LINKS), modularity="order", max_parents=3)
    assert prior_edges(model, NAMES).to_numpy() == pytest.approx(naive.edges(expected, 4, by_order=True), abs=1e-9)
    flat = LocalScores(NAMES, 3, np.zeros((4, family_count(3, 3))))
    assert model.fit_scores(flat).edge_probabilities_.to_numpy() == pytest.approx(prior_edges(model, NAMES).to_numpy())
    with said.raises(ResourceError):
        prior_edges(DagPosterior(prior="uniform"), [f"v{column}" for column in range(40)])


def test_every_way_to_ask_for_weights_agrees() -> None:
    prior = EdgePrior(LINKS, otherwise=0.1)
    whole, lists = prior.log_weights(NAMES, 3), prior.log_weights_of_lists(NAMES, all_others(4, 3))
    settled = prior.settled(NAMES, np.zeros((4, 4), dtype=bool))
    assert (settled.chosen, settled.columns, repr(settled)) == (prior, prior.columns, repr(prior))
    assert settled.in_words() == prior.in_words()
    for node in range(4):
        masks = unsqueeze_all(parent_sets(3, 3), node)
        members = np.array([[bit if mask >> bit & 1 else 4 for bit in range(4)] for mask in masks.tolist()])
        for own in (
            prior.log_weights_of_members(NAMES, node, members.astype(np.int16)),
            lists[node],
        ):
            assert own == pytest.approx(whole[node], rel=1e-12)


def test_more_than_64_columns_and_rules_of_one_way() -> None:
    names = tuple(f"v{column}" for column in range(200))
    rules = Constraints(exogenous=names[3:], forbidden="v1 -> v0")
    prior = EdgePrior({"v100 -- v1": 0.8, "v0 -- v1": 0.6})
    lists = rules.parent_lists(names, 2)
    weights = log_prior_of_lists(names, lists, prior, rules)
    # Nothing leads to an exogenous column, so that the whole 0.8 is that of the other way.
    assert weights[1][lists.number(1, [100])] - weights[1][0] == pytest.approx(np.log(0.8 / 0.2))
    assert weights[1][lists.number(1, [0, 100])] - weights[1][0] == pytest.approx(np.log(4 * 0.6 / 0.4))
    assert weights[1][lists.number(1, [101])] - weights[1][0] == pytest.approx(0.0)


def test_regimes_have_a_prior_of_their_own_beside_that_of_edges() -> None:
    names = (*NAMES, "arm=1")
    wrapped = RegimePrior(EdgePrior({"bmi -- pressure": 0.8}), 1, 0.25, 3, 1)
    _, barred = Constraints(forbidden="pressure -> bmi", exogenous="arm=1").matrices(names, 4)
    settled = wrapped.settled(names, barred)
    assert settled.chosen == wrapped.chosen
    own = settled.log_weights_of_members(names, 2, np.array([[5, 5], [1, 5], [1, 4]], dtype=np.int16))
    assert np.diff(own) == pytest.approx([np.log(4.0), np.log(0.25 / 0.75)])
    assert RegimePrior(EdgePrior(0.2), 1, 0.25, 3, 1).settled(names, barred).chosen == EdgePrior(0.2)


def matrix_of(links: dict[tuple[str, str], float]) -> pd.DataFrame:
    frame = pd.DataFrame(np.nan, index=list(NAMES), columns=list(NAMES))
    for (parent, child), probability in links.items():
        frame.loc[parent, child] = probability
    return frame


def test_every_form_says_the_same(tmp_path: Path) -> None:
    edges = {("smoking", "pressure"): 0.6, ("age", "bmi"): 0.3}
    expected = EdgePrior(edges)
    matrix = matrix_of(edges)
    long = pd.DataFrame([(*edge, p) for edge, p in edges.items()], columns=["parent", "child", "probability"])
    written = pd.DataFrame({"edge": ["smoking -> pressure", "age -> bmi"], "probability": [0.6, 0.3]})
    assert EdgePrior(matrix) == EdgePrior(matrix.iloc[::-1]) == EdgePrior(long) == EdgePrior(written) == expected
    assert hash(EdgePrior(long)) == hash(expected)
    polars = pytest.importorskip("polars")
    assert EdgePrior(polars.from_pandas(long)) == expected
    np.fill_diagonal(array := matrix.to_numpy().copy(), 1.0)
    unnamed = EdgePrior(array)
    assert unnamed.log_weights(NAMES, 2) == pytest.approx(expected.log_weights(NAMES, 2))
    assert repr(unnamed) == "EdgePrior(array of 4 x 4)"
    for name, frame, index in (("matrix", matrix, True), ("long", long, False), ("written", written, False)):
        frame.to_csv(tmp_path / f"{name}.csv", index=index)
        assert resolve_prior(f"edge:{tmp_path / f'{name}.csv'}") == expected
    pairs = "parent,arrow,child,probability\nbmi,--,pressure,0.8\nage,,bmi,0.5\nsmoking,->,pressure,0.6\n*,,*,0.1\n"
    (tmp_path / "pairs.csv").write_text(pairs)
    said = EdgePrior({"pressure -- bmi": 0.8, "age -- bmi": 0.5, "smoking -> pressure": 0.6}, otherwise=0.1)
    assert resolve_prior(f"edge:{tmp_path / 'pairs.csv'}") == said


@pytest.mark.parametrize(
    "prior", [EdgePrior(LINKS), EdgePrior(LINKS, otherwise=0.2), EdgePrior([[None, 0.3], [0.1, 0]])]
)
def test_a_prior_goes_into_files_and_back(prior: EdgePrior) -> None:
    described = to_json(prior)
    assert isinstance(described, dict)
    assert from_json(json.loads(json.dumps(described)), PRIORS) == prior
    assert clone(DagPosterior(prior=prior)).prior == prior
    assert len(readable_setting(described)) < 200


def test_words_name_what_was_said(said: Said) -> None:
    assert repr(EdgePrior(LINKS)) == (
        "EdgePrior({'age -> bmi': 0.3, 'bmi -- pressure': 0.8, 'bmi -> age': 0.2, 'smoking -> pressure': 0.6})"
    )
    words = EdgePrior({"smoking -> pressure": 0.6}, otherwise=0.1).in_words()
    said(words)
    assert len(repr(EdgePrior({f"a -> v{column}": 0.5 for column in range(300)}))) < 200


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"smoking -> presure": 0.6}, "no column 'presure'. Did you mean 'pressure'"),
        ({"smoking -> pressure": 0}, "is 0, which no data could change. .* must not be there, use forbidden"),
        ({"smoking -> pressure": 1.0}, "is 1, which no data could change. .* must be there, use required"),
        ({"smoking -> pressure": 1.2}, "between 0 and 1. Got 1.2"),
        ({"smoking -> pressure": "often"}, "between 0 and 1. Got 'often'"),
        ({"smoking": 0.2}, 'written "A -> B".* Got \'smoking\''),
        ({3: 0.2}, "3 is not an edge"),
        ({"age -> age": 0.2}, "no node is its own parent"),
        ({"age -- bmi": 0.2, "bmi -- age": 0.3}, "more than once"),
        ({"age -> bmi": 0.6, "bmi -> age": 0.4}, "together they must be below 1"),
        ({"age -> bmi": 0.6, "age -- bmi": 0.5}, "at least as probably as one way"),
        ({"age -> bmi": 0.1, "bmi -> age": 0.1, "age -- bmi": 0.2}, "says the same twice"),
        ([[0.1, 0.2]], r"Got shape \(1, 2\)"),
        ([["a", 0.2], [0.1, 0.3]], "Prior probabilities of edges are"),
        (np.full((3, 3), 0.2), "has 3 rows and columns, and the table has 4"),
        (np.full((4, 4), 0.0), "column 1 -> column 2 is 0"),
        (pd.DataFrame({"x": [0.1]}), "need the columns parent, child and probability"),
        (pd.DataFrame({"parent": ["age", None], "child": ["bmi"] * 2, "probability": [0.1] * 2}), "Row 2 .* no parent"),
        (
            pd.DataFrame({"parent": ["age"], "arrow": ["<-"], "child": ["bmi"], "probability": [0.1]}),
            "Row 1 .* has the arrow '<-'",
        ),
        ({"age", "bmi"}, "Prior probabilities of edges are"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused(said: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        EdgePrior(said).log_weights(NAMES, 2)


def test_otherwise_is_for_single_edges_and_below_one_half(said: Said) -> None:
    with said.raises(InputError):
        EdgePrior(0.1, otherwise=0.1)
    with pytest.raises(InputError, match=r"between 0 and 0\.5"):
        EdgePrior(LINKS, otherwise=0.5)
    everyone = pd.DataFrame({"edge": ["* -- *"], "probability": [0.2]})
    assert EdgePrior(everyone).otherwise == 0.2
    with pytest.raises(InputError, match="Keep one"):
        EdgePrior(everyone, otherwise=0.1)


def test_the_posterior_changes_by_the_odds(tmp_path: Path) -> None:
    """The ratio of two graphs moves by the ratio of their priors, and a file keeps what was given."""
    generator = np.random.default_rng(3)
    table = pd.DataFrame(generator.integers(0, 2, (40, 4)), columns=list(NAMES))
    plain = DagPosterior(prior="uniform", score="bdeu", seed=1).fit(table)
    model = DagPosterior(score="bdeu", prior=EdgePrior({"age -> bmi": 0.5, "bmi -> age": 0.1}), seed=1).fit(table)
    one, other = [("age", "bmi")], [("smoking", "bmi")]
    moved = model.log_joint(one) - model.log_joint(other) - plain.log_joint(one) + plain.log_joint(other)
    assert moved == pytest.approx(np.log(0.5 / 0.4))
    model.save(tmp_path / "m.dagpost", rows=True)
    read = DagPosterior.load(tmp_path / "m.dagpost")
    assert read.prior == model.prior
    tried = read.sensitivity()
    assert {"prior uniform", "prior indegree"} <= {variation.words for variation in tried.variations}
    edges = model.edge_probabilities_.to_numpy()
    assert tried.joined[0] == pytest.approx(edges + edges.T)


@pytest.mark.filterwarnings("ignore:Do not trust it yet")
@pytest.mark.parametrize("method", ["block-gibbs", "structure-mcmc"])
def test_chains_walk_under_the_same_weights(method: str) -> None:
    """By the log joint of each graph that they drew, which is that of exact sums."""
    generator = np.random.default_rng(5)
    table = pd.DataFrame(generator.integers(0, 2, (30, 4)), columns=list(NAMES))
    prior = EdgePrior(LINKS, otherwise=0.1)
    settings: Any = {"score": "bdeu", "prior": prior, "forbidden": "pressure -> bmi", "seed": 1}
    exact = DagPosterior(**{"prior": "uniform", **settings}).fit(table)
    sample = DagPosterior(**{"prior": "uniform", **settings}, method=method, samples=50).fit(table).own_sample()
    for log_joint, parents in zip(sample.log_joint[:5], sample.parents[:5], strict=True):
        assert exact.log_joint(parents) == pytest.approx(log_joint)


@pytest.mark.filterwarnings("ignore:Do not trust it yet")
def test_gaps_are_completed_under_the_prior_and_resumed_from_a_file(tmp_path: Path) -> None:
    generator = np.random.default_rng(5)
    table = pd.DataFrame(generator.integers(0, 2, (30, 3)), columns=list(NAMES[:3])).astype(object)
    table.iloc[0, 0] = table.iloc[3, 2] = None
    prior = EdgePrior({"bmi -- pressure": 0.9})
    settings: Any = {"score": "bdeu", "prior": prior, "forbidden": "pressure -> bmi", "missing": "augment"}
    model = DagPosterior(**{"prior": "uniform", **settings}, samples=200, seed=1).fit(table)
    model.save(tmp_path / "m.dagpost")
    workspaces = [own.fitted_.workspace for own in (model, DagPosterior.load(tmp_path / "m.dagpost"))]
    odds = [workspace.study.prior.log_odds for workspace in workspaces]  # type: ignore[attr-defined]
    assert odds[0][2, 1] == pytest.approx(np.log(9.0))
    assert np.array_equal(*odds)
