"""The report looks at some of its graphs alone: each number is compared with what Python says of these graphs."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.browser.pages import Seen, opened_page

from dagpost import DagPosterior, DagSample
from dagpost.features import evaluate, resolve
from dagpost.methods.targets import STRUCTURE
from dagpost.posterior.directions import Directions, directions_of, not_computed
from dagpost.posterior.distinct import compelled_shares
from dagpost.posterior.knowledge import knowledge_of_sample
from dagpost.posterior.pair_direction import CLEAR, FOUND, LEANING
from dagpost.report.packed_graphs import packed_graphs

#: How each kind of assumption is written as a statement.
TEXTS = {
    "edge": "{} -> {}", "no-edge": "!({} -> {})", "joined": "{} -- {}", "apart": "!({} -- {})",
    "path": "{} ~> {}", "no-path": "!({} ~> {})",
}  # fmt: skip
#: The views under several states, and what is said of every pair in each.
VIEWS = """async ([packed, states]) => {
    if (packed) Report.data.base = Report.draws.base = null;
    await (packed ? Report.loadDraws(packed) : Report.draws.ready);
    return states.map((given) => {
        const view = Report.draws.view({ given, setting: {} });
        const pairs = view && view.edges.flatMap((_, first) => view.edges.slice(first + 1).map(
            (__, more) => Report.pairIn(view, first, first + 1 + more)));
        return [view, pairs];
    });
}"""

State = list[dict[str, Any]]


def random_graphs(nodes: int, count: int, seed: int, **about: Any) -> DagSample:
    """Graphs of equal weight, some of them several times; edges lead from lower to higher places of random orders."""
    rng = np.random.default_rng(seed)
    parents = np.zeros((count, nodes), dtype=np.uint64)
    for graph in range(count):
        order = rng.permutation(nodes) if graph % 3 else np.arange(nodes)
        for place, node in enumerate(order):
            for parent in order[max(0, place - 4) : place]:
                if rng.random() < 0.4:
                    parents[graph, node] |= np.uint64(1) << np.uint64(parent)
    parents[count // 2 :: 3] = parents[: len(parents[count // 2 :: 3])]
    nothing, weights = np.full(count, np.nan), np.full(count, 1.0 / count)
    names = tuple(f"v{number}" for number in range(nodes))
    return DagSample(
        names, parents, nothing, nothing, nothing, weights, STRUCTURE, "exact-layers", "independent", "counting",
        provenance=about,
    )  # fmt: skip


def assumption(names: tuple[str, ...], kind: str, source: int, target: int) -> dict[str, Any]:
    text = TEXTS[kind].format(*(f'"{names[place]}"' for place in (source, target)))
    return {"kind": kind, "from": source, "to": target, "text": text}


def states_of(names: tuple[str, ...], ways: list[tuple[int, int]]) -> list[State]:
    """Every kind of assumption, some of them together."""
    alone = [[assumption(names, kind, *way)] for kind in TEXTS for way in ways[:2]]
    pairs = [
        [assumption(names, one, *ways[0]), assumption(names, two, *ways[-1])]
        for one, two in itertools.product(("edge", "no-edge", "path"), ("apart", "joined", "no-path"))
    ]
    return alone + pairs


def left_by(sample: DagSample, state: State) -> DagSample | None:
    """The graphs in which all assumptions hold, under these assumptions."""
    texts = [own["text"] for own in state]
    features = [resolve(text, sample.names, None, sample.exogenous).feature for text in texts]
    held = np.logical_and.reduce(evaluate(features, sample.parents, sample.names))
    if not held.any():
        return None
    return sample[np.flatnonzero(held)]._with(provenance={**sample.provenance, "given": texts})


def directions_in(part: DagSample) -> Directions:
    """The directions of a sample without their intervals, which take long."""
    known = knowledge_of_sample(part)
    edges, shares = part.edge_frequencies().to_numpy(), compelled_shares(part, known)
    opened = edges - shares.with_model
    return replace(
        not_computed(part.names, edges, known),
        by_data=shares.by_data,
        by_rules=shares.with_rules - shares.by_data,
        by_model=shares.with_model - shares.with_rules,
        reversible=opened + opened.T,
    )


def on_the_edge(number: float) -> bool:
    """Whether rounding decides on which side of a threshold a number is."""
    return any(abs(number - threshold) < 1e-9 for threshold in (FOUND, CLEAR, LEANING))


def compare(view: dict[str, Any], pairs: list[dict[str, Any]], sample: DagSample, state: State) -> None:
    """All numbers and words of a view against those of Python."""
    part = left_by(sample, state)
    if part is None:
        assert view["graphs"]["left"] == 0
        return
    found = directions_in(part)
    assert view["graphs"]["left"] == len(part.distinct)
    for key, expected in (
        ("edges", part.edge_frequencies().to_numpy()),
        ("paths", part.probability_matrix("~>").to_numpy()),
        ("by_data", found.by_data),
        ("by_rules", found.by_rules),
        ("by_model", found.by_model),
    ):
        np.testing.assert_allclose(view[key], expected, atol=1e-9, err_msg=f"{key} {state}")
    assert sorted(view["settled"]) == np.argwhere(found.settled).tolist()
    assert sorted(view["fixed"]) == np.argwhere(found.fixed).tolist()
    for own in pairs:
        said = found.pair(*sorted((own["from"], own["to"])))
        if on_the_edge(said.joined) or on_the_edge(said.share):
            continue
        about = (own["word"], own["from"], own["to"], own["said"])
        assert about == (said.word, said.source, said.target, said.label), state
        numbers = (own["joined"], own["share"], own["parts"][3])
        own_numbers = (said.joined, said.share, float(found.reversible[said.source, said.target]))
        assert max(abs(one - two) for one, two in zip(numbers, own_numbers, strict=True)) < 1e-9


def rules_held(sample: DagSample, about: dict[str, Any]) -> DagSample:
    """Those of the graphs that obey the rules that they are said to obey."""
    bit = {name: 1 << place for place, name in enumerate(sample.names)}
    sinks = sum(bit[name] for name in about.get("sinks", ()))
    kept = [
        place
        for place, row in enumerate(sample.parents.tolist())
        if all(row[sample.names.index(child)] & bit[parent] for parent, child in about.get("required", ()))
        and not any(row[sample.names.index(child)] & bit[parent] for parent, child in about.get("forbidden", ()))
        and not any(mask & sinks for node, mask in enumerate(row) if not sinks >> node & 1)
    ]
    return sample[np.array(kept)].weighted(np.full(len(kept), 1.0 / len(kept)))


@pytest.mark.parametrize(
    "about",
    [
        {},
        {"required": [("v0", "v1")], "forbidden": [("v5", "v2"), ("v2", "v5")]},
        {"sinks": ["v3", "v4"], "required": [("v0", "v1")]},
        {"interventions": True, "targets": [["v1"], ["v1", "v2"]]},
        {"exogenous": ["v0"]},
    ],
    ids=["plain", "rules", "model", "interventions", "exogenous"],
)
def test_all_numbers_and_words_are_those_of_python(seen: Seen, about: dict[str, Any]) -> None:
    drawn = random_graphs(7, 400, 1, **about)
    if "exogenous" in about:
        drawn.parents[:, 0] = 0
    sample = rules_held(drawn, about)
    states = states_of(sample.names, [(2, 3), (4, 1), (5, 6)])
    packed = packed_graphs(sample, knowledge_of_sample(sample))
    found = seen.page.evaluate(VIEWS, [packed, states])
    for (view, pairs), state in zip(found, states, strict=True):
        compare(view, pairs, sample, state)


def test_graphs_of_more_than_32_variables_are_judged_the_same(seen: Seen) -> None:
    sample = random_graphs(36, 60, 2)
    ways = [(33, 35), (3, 31), (31, 34)]
    states = [[assumption(sample.names, kind, *way)] for kind, way in zip(TEXTS, ways * 2, strict=True)]
    found = seen.page.evaluate(VIEWS, [packed_graphs(sample, knowledge_of_sample(sample)), states])
    for (view, pairs), state in zip(found, states, strict=True):
        compare(view, pairs, sample, state)


def test_base_view_and_exact_chances_are_those_of_the_model(seen: Seen, model: DagPosterior) -> None:
    names = model.fitted_.names
    states: list[State] = [[], *([assumption(names, kind, 1, 3)] for kind in TEXTS)]
    (base, pairs), *others = seen.page.evaluate(VIEWS, [None, states])
    assert base["source"] == "exact"
    for own in pairs:
        said = directions_of(model.fitted_).pair(*sorted((own["from"], own["to"])))
        assert (own["word"], own["from"], own["to"], own["said"]) == (said.word, said.source, said.target, said.label)
    for key, relation in (("edges", "->"), ("paths", "~>")):
        expected = model.probability_matrix(relation).to_numpy()
        np.testing.assert_allclose(base[key], expected, atol=1e-9)
    for (view, _), (own,) in zip(others, states[1:], strict=True):
        chance = view["chance"]
        assert chance["exact"]
        assert chance["value"] == pytest.approx(float(model.probability(own["text"])), abs=1e-9)
        assert chance["lower"] == chance["value"] == chance["upper"]


def test_views_of_weighted_graphs_are_those_of_the_sample(seen: Seen, model: DagPosterior) -> None:
    sample = model.own_sample()
    assert sample.estimator == "distinct"
    states = states_of(sample.names, [(1, 3), (2, 4), (0, 5)])
    for (view, pairs), state in zip(seen.page.evaluate(VIEWS, [None, states]), states, strict=True):
        compare(view, pairs, sample, state)


@pytest.mark.parametrize(
    "estimator", ["counting", "distinct", "linear-extensions", "iw", "given", "hoeffding", "unknown evidence"]
)
def test_chances_have_the_intervals_of_python(seen: Seen, model: DagPosterior, estimator: str) -> None:
    sample = sample_weighed(model, estimator)
    names = sample.names
    states = [
        [assumption(names, "path", 1, 3), assumption(names, "no-edge", 2, 4)],
        [assumption(names, "apart", 0, 5), assumption(names, "joined", 1, 2)],
        [assumption(names, "no-path", 3, 0)],
    ]
    found = seen.page.evaluate(VIEWS, [packed_graphs(sample, knowledge_of_sample(sample)), states])
    for (view, _), state in zip(found, states, strict=True):
        expected = sample.probability(" & ".join(own["text"] for own in state))
        chance = view["chance"]
        assert not chance["exact"]
        assert chance["value"] == pytest.approx(expected.value, abs=1e-9)
        assert chance["lower"] == pytest.approx(expected.lower, abs=1e-4)
        assert chance["upper"] == pytest.approx(expected.upper, abs=1e-4)
        assert chance["said"] == str(expected)


def sample_weighed(model: DagPosterior, estimator: str) -> DagSample:
    """A sample of each kind."""
    own = model.own_sample()
    if estimator == "given":
        return own[np.arange(0, 2_000, 2)]
    if estimator == "iw":
        return model.best(200)
    if estimator == "hoeffding":
        return model.sample(precision=0.05, confidence=0.9, seed=2)
    if estimator == "unknown evidence":
        return own._with(log_evidence=float("nan")).reweighed()
    # Any numbers of orders will do, if they are the same for the same graph.
    orders = np.log(1.0 + own.distinct.member % 7)
    return own._with(estimator=estimator, log_extensions=orders).reweighed()


def test_a_click_on_a_line_conditions_the_whole_page(seen: Seen, model: DagPosterior) -> None:
    names, sample = model.fitted_.names, model.own_sample()
    seen.page.evaluate("Report.draws.ready")
    pair = seen.page.evaluate("Report.data.pairs.findIndex(({ joined }) => joined < 0.9)")
    ends = seen.page.evaluate("(pair) => [Report.data.pairs[pair].from, Report.data.pairs[pair].to]", pair)
    seen.set_threshold(0.05)
    seen.page.mouse.click(*seen.line_of(pair))
    seen.page.locator(".pair-choices:visible button").first.click()
    seen.page.wait_for_function("Report.view.given.length === 1")
    own = assumption(names, "edge", *ends)
    compare_shown(seen, sample, [own])
    words = seen.page.locator("#assumptions").inner_text()
    exact = float(model.probability(own["text"]))
    assert f"probability {round(exact, 3):g}" in words
    part = left_by(sample, [own])
    assert part is not None
    assert f"From {len(part.distinct):,} of {len(sample.distinct):,} " in words
    assert seen.page.locator("#numbers-are").inner_text() == "From drawn graphs"
    # A second one, taken back again; then all of them.
    other = assumption(names, "path", 4, 0)
    seen.page.evaluate("(own) => Report.assume(own)", other)
    seen.page.wait_for_function("Report.view.given.length === 2")
    compare_shown(seen, sample, [own, other])
    seen.page.get_by_role("button", name="Undo").click()
    seen.page.wait_for_function("Report.view.given.length === 1")
    compare_shown(seen, sample, [own])
    seen.page.get_by_role("button", name="Free all").click()
    seen.page.wait_for_function("Report.view.given.length === 0")
    assert seen.page.locator("#numbers-are").inner_text() == "Exact probabilities"


def compare_shown(seen: Seen, sample: DagSample, state: State) -> None:
    """The view that is shown, and each conditional probability by the name of Python's own function."""
    part = left_by(sample, state)
    assert part is not None
    for key, relation in (("edges", "->"), ("paths", "~>")):
        found = seen.page.evaluate(f"Report.view.{key}")
        np.testing.assert_allclose(found, part.probability_matrix(relation).to_numpy(), atol=1e-9)


def test_every_probability_given_an_assumption_is_that_of_the_sample(seen: Seen) -> None:
    sample = random_graphs(6, 300, 7)
    names = sample.names
    state = [assumption(names, "edge", 1, 2), assumption(names, "no-path", 0, 5)]
    ((view, _),) = seen.page.evaluate(VIEWS, [packed_graphs(sample, knowledge_of_sample(sample)), [state]])
    given = " & ".join(own["text"] for own in state)
    for one, two in itertools.permutations(range(6), 2):
        for key, sign in (("edges", "->"), ("paths", "~>")):
            expected = sample.probability(f"{names[one]} {sign} {names[two]}", given=given)
            assert abs(view[key][one][two] - expected.value) < 1e-9
    # Draws of equal weight are worth their number.
    assert view["graphs"]["worth"] == pytest.approx(expected.samples)


def test_too_few_graphs_and_none_are_said_to_be_that(seen: Seen, model: DagPosterior) -> None:
    seen.page.evaluate("Report.draws.ready")
    names = model.fitted_.names
    rare = assumption(names, "edge", *rarest(model.own_sample()))
    seen.page.evaluate("(own) => Report.assume(own)", rare)
    seen.page.wait_for_function("Report.view.given.length === 1")
    assert seen.page.evaluate("Report.view.few")
    words = seen.page.locator("#assumptions").inner_text()
    assert all(said in words for said in ("Too few graphs left", "dagpost explore MODEL would answer exactly"))
    cycle = [assumption(names, kind, *way) for kind, way in (("edge", (3, 1)), ("edge", (1, 2)), ("path", (2, 3)))]
    view = seen.page.evaluate("(given) => Report.draws.view({ given, setting: {} })", cycle)
    assert (view["graphs"]["left"], view["few"]) == (0, True)
    assert (view["chance"]["value"], view["chance"]["lower"]) == (0.0, 0.0)
    assert 0.0 < view["chance"]["upper"] < 0.01
    seen.page.evaluate("Report.reset()")
    for own in cycle:
        before = seen.page.evaluate("JSON.stringify(Report.view.edges)")
        seen.page.evaluate("(own) => Report.assume(own)", own)
        seen.page.wait_for_function("!Report.progress.asking")
    # The last one leaves no graph: the picture stays as it was, and the page says why.
    assert seen.page.evaluate("JSON.stringify(Report.view.edges)") == before
    assert seen.page.evaluate("Report.progress.trouble.impossible")
    assert seen.page.evaluate("Report.progress.trouble.words") in seen.page.locator("#assumptions").inner_text()


def rarest(sample: DagSample) -> tuple[int, int]:
    """An edge that was drawn, though in hardly any graph."""
    edges = sample.edge_frequencies().to_numpy()
    source, target = np.unravel_index(np.where(edges > 0.0, edges, 1.0).argmin(), edges.shape)
    return int(source), int(target)


def test_what_chance_alone_would_change_is_not_called_a_change(seen: Seen) -> None:
    """Half of a sample differs from the whole by chance, and an edge that is assumed in truth.

    A difference is a change from 4.2 of its standard deviations on: 63 of them raise a false alarm in 2 of 1,000 seeds.
    """
    sample = random_graphs(7, 400, 8)
    changed = seen.page.evaluate(
        """async ([one, two, given]) => {
            Report.data.base = Report.draws.base = null;
            await Report.loadDraws(one);
            const nothing = Report.draws.view({ given: [], setting: {} });
            const assumed = Report.draws.view({ given, setting: {} });
            await Report.loadDraws(two);
            const other = Report.draws.view({ given: [], setting: {} });
            return [[nothing, other, 0], [nothing, assumed, 0.05]].map((asked) => Report.changes(...asked));
        }""",
        [
            *(packed_graphs(part, knowledge_of_sample(part)) for part in (sample, sample[::2])),
            [assumption(sample.names, "edge", 5, 0)],
        ],
    )
    by_chance, in_truth = changed
    assert by_chance == []
    assert {in_truth[0]["from"], in_truth[0]["to"]} == {0, 5}
    assert in_truth[0]["after"]["joined"] == pytest.approx(1.0)
    assert [own["size"] for own in in_truth] == sorted((own["size"] for own in in_truth), reverse=True)


def test_other_statements_and_settings_are_not_judged(seen: Seen) -> None:
    views = seen.page.evaluate(
        """async () => {
            await Report.draws.ready;
            const text = { kind: "statement", text: "pa(A) = {}" };
            const states = [{ given: [text], setting: {} }, { given: [], setting: { size: 3 } }];
            return states.map((state) => Report.draws.view(state));
        }"""
    )
    assert views == [None, None]


def test_damaged_graphs_and_old_browsers_leave_the_rest_of_the_page(browser: Any, seen: Seen) -> None:
    told = seen.page.evaluate(
        """async () => {
            await Report.loadDraws({ ...Report.data.graphs, data: "AAAA" });
            return Report.draws.trouble;
        }"""
    )
    assert told.startswith("The graphs in this file cannot be read.")
    for old in opened_page(browser, seen.path):
        old.page.add_init_script("delete window.DecompressionStream;")
        old.open()
        assert "too old" in old.page.locator("#assumptions").inner_text()
        assert old.page.locator("#shown").inner_text() != ""
        assert old.trouble == []


def test_chances_from_chains_have_the_interval_of_python_for_an_edge(seen: Seen) -> None:
    drawn = random_graphs(6, 600, 9)
    # Two chains that stay where they are for a while.
    sample = drawn[np.repeat(np.arange(150), 4)]._with(draws="chains", estimator="counting").reweighed()
    names = sample.names
    states = [[assumption(names, kind, 1, 2)] for kind in ("edge", "no-edge")]
    found = seen.page.evaluate(VIEWS, [packed_graphs(sample, knowledge_of_sample(sample)), states])
    for (view, pairs), state in zip(found, states, strict=True):
        expected = sample.probability(state[0]["text"])
        assert expected.effective_samples < 400
        assert view["chance"]["value"] == pytest.approx(expected.value, abs=1e-9)
        # Its number of independent draws stands in the page with one digit after the point.
        assert view["chance"]["lower"] == pytest.approx(expected.lower, abs=1e-3)
        assert view["chance"]["upper"] == pytest.approx(expected.upper, abs=1e-3)
        assert 0.0 < view["graphs"]["worth"] < expected.effective_samples
        compare(view, pairs, sample, state)
