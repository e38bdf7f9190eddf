"""Statements over many DAGs against their slow twins, and what evaluation must refuse."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import features as naive_features
from tests.naive import wide as naive_wide
from tests.naive.posterior import all_dags
from tests.tools.examples import examples
from tests.tools.smaller_blocks import in_blocks_of
from tests.tools.wording import Said

from dagpost import (
    adjacent,
    ancestor_set,
    custom,
    d_separated,
    descendant_set,
    edge,
    in_markov_blanket,
    parent_set,
    path,
    topological_position,
    v_structure,
)
from dagpost.errors import InputError
from dagpost.features import And, Not, Or, ancestors, blocks, evaluate, evaluation, parse, weighted_matrix
from dagpost.features.blocks import BLOCK_SIZE
from dagpost.features.names import quoted
from dagpost.features.statements import d_separation
from dagpost.features.statements import topological_position as position_file
from dagpost.features.statements.topological_position import COMPARISONS

NAMES = ["A", "B", "M. Work", "in", "é", "P", 'say "x"', "pa"]
TYPES = [np.uint8, np.uint16, np.uint32, np.uint64]


def even_number_of_edges(dag: Any) -> Any:
    return dag.number_of_edges() % 2 == 0


def leaf_kinds(names: Any) -> Any:
    """One strategy for each kind of statement about these names."""
    two = st.permutations(names).map(lambda order: order[:2])
    one_and_rest = st.permutations(names).flatmap(
        lambda order: st.tuples(st.just(order[0]), st.sets(st.sampled_from(order[1:])))
    )
    number = st.integers(0, len(names))
    kinds = [
        two.map(lambda ends: edge(*ends)),
        two.map(lambda ends: path(*ends)),
        st.tuples(two, st.integers(1, len(names) + 1)).map(lambda drawn: path(drawn[0][0], drawn[0][1], drawn[1])),
        two.map(lambda ends: adjacent(*ends)),
        two.map(lambda ends: in_markov_blanket(*ends)),
        one_and_rest.map(lambda drawn: parent_set(*drawn)),
        one_and_rest.map(lambda drawn: ancestor_set(*drawn)),
        one_and_rest.map(lambda drawn: descendant_set(*drawn)),
        st.tuples(st.sampled_from(names), st.sampled_from(list(COMPARISONS)), number).map(
            lambda drawn: topological_position(*drawn)
        ),
        st.tuples(st.permutations(names), st.lists(st.integers(0, 3), min_size=8, max_size=8)).map(separation),
    ]
    if len(names) > 2:
        kinds.append(st.permutations(names).map(lambda order: v_structure(*order[:3])))
    return kinds


def separation(drawn: Any) -> Any:
    """The first two names on the two sides, and each other name on a side, in the condition, or left out."""
    order, places = drawn
    sides = {place: [name for name, at in zip(order[2:], places, strict=False) if at == place] for place in range(3)}
    return d_separated([order[0], *sides[0]], [order[1], *sides[1]], sides[2])


def features(names: Any) -> Any:
    leaves = st.one_of(leaf_kinds(names))
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            inner.map(lambda part: ~part),
            inner.map(Not),
            st.lists(inner, min_size=2, max_size=3).map(lambda parts: And(tuple(parts))),
            st.lists(inner, min_size=2, max_size=3).map(lambda parts: Or(tuple(parts))),
        ),
        max_leaves=6,
    )


@st.composite
def cases(draw: Any, kinds: Any = features) -> Any:
    """Names, some DAGs on them, from sparse to dense, and a statement."""
    nodes = draw(st.sampled_from([8, 7, 6, 5, 4, 3, 2]))
    names = NAMES[:nodes]
    seed = draw(st.integers(0, 2**32))
    dags = [naive_features.random_dags(nodes, 10, density, seed) for density in (0.15, 0.3, 0.6)]
    return names, np.concatenate(dags).astype(draw(st.sampled_from(TYPES))), draw(kinds(names))


def check(names: Any, dags: Any, feature: Any) -> None:
    expected = [naive_features.holds(feature, naive_features.graph_of(row, names)) for row in dags]
    assert evaluate([feature], dags, names)[0].tolist() == expected
    # Columns without edges change nothing, however many there are.
    wide, places = naive_wide.place_among(dags, 65 + len(expected), seed=len(str(feature)))
    among = naive_wide.names_for(places, names, wide.shape[1])
    assert evaluate([feature], wide, among)[0].tolist() == expected


@pytest.mark.parametrize("kind", range(11))
@settings(max_examples=40)
@given(data=st.data())
def test_every_kind_of_statement_agrees_with_its_definition(kind: Any, data: Any) -> None:
    check(*data.draw(cases(lambda names: leaf_kinds(names)[min(kind, len(leaf_kinds(names)) - 1)])))


@settings(max_examples=examples(200))
@given(cases())
def test_combinations_of_statements_agree_with_their_definition(case: Any) -> None:
    check(*case)


@settings(max_examples=examples(300))
@given(cases())
def test_a_statement_written_and_read_again_is_the_same(case: Any) -> None:
    names, _, feature = case
    assert parse(str(feature), names).feature == feature
    assert feature.variables <= set(names)


@pytest.mark.parametrize("longest", [1, 2, 3, 4, 6, 7, 8, None])
def test_paths_between_all_pairs_are_right_at_every_length(longest: Any) -> None:
    dags = naive_features.random_dags(8, 100, 0.25, seed=11)
    pairs = [path(first, second, longest) for first in NAMES for second in NAMES if first != second]
    held = evaluate(pairs, dags, NAMES)
    for column, row in enumerate(dags):
        graph = naive_features.graph_of(row, NAMES)
        assert held[:, column].tolist() == [naive_features.holds(pair, graph) for pair in pairs]


@pytest.mark.parametrize("kind", range(11))
def test_every_kind_of_statement_is_right_on_all_dags_of_four_nodes(kind: Any) -> None:
    names = NAMES[:4]
    dags = np.array(all_dags(4), dtype=np.uint8)
    graphs = [naive_features.graph_of(row, names) for row in dags]
    a, b, c, d = names
    feature = [
        edge(a, b),
        path(a, b),
        path(c, b, longest=2),
        adjacent(a, d),
        v_structure(a, c, b),
        parent_set(d, [a, b]),
        ancestor_set(d, [a, c]),
        descendant_set(a, [c, d]),
        in_markov_blanket(b, d),
        d_separated([a, b], c, given=d),
        topological_position(c, "=", 2),
    ][kind]
    held = evaluate([feature], dags, names)[0]
    assert held.tolist() == [naive_features.holds(feature, graph) for graph in graphs]
    assert 0 < held.sum() < len(dags)


def test_python_functions_take_part_and_see_a_frozen_graph_with_names() -> Any:
    names = NAMES[:5]
    dags = naive_features.random_dags(5, 50, 0.4, seed=3)
    calls = []

    def watching(dag: Any) -> Any:
        calls.append(list(dag.nodes))
        with pytest.raises(Exception, match="Frozen graph"):
            dag.add_node("another")
        return even_number_of_edges(dag)

    twice = np.concatenate([dags, dags])
    asked: list[Any] = [custom(watching) & ~edge("A", "B"), custom(watching), even_number_of_edges]
    held = evaluate(asked, twice, names)
    check(names, twice, custom(even_number_of_edges) & ~edge("A", "B"))
    assert held[1].tolist() == held[2].tolist()
    assert held[0].tolist() == (held[1] & ~evaluate([edge("A", "B")], twice, names)[0]).tolist()
    # Equal parts are worked out once, and equal DAGs asked about once.
    assert len(calls) == len(np.unique(dags, axis=0))
    assert calls[0] == names


def test_a_python_function_that_forgets_to_answer_is_named(said: Said) -> None:
    def forgetful(dag: Any) -> None:
        dag.number_of_edges()

    with said.raises(InputError):
        evaluate([custom(forgetful)], np.zeros((2, 2), dtype=np.uint8), ["A", "B"])


@pytest.mark.parametrize("relation", ["->", "~>", "--", "~>{1}", "~>{2}", " ~> { 3 } ", "~>{99}"])
def test_matrices_agree_with_single_statements(relation: Any) -> None:
    names = NAMES[:6]
    dags = naive_features.random_dags(6, 300, 0.4, seed=5)
    weights = np.random.default_rng(6).random(300)
    matrix = weighted_matrix(relation, dags, weights)
    assert matrix.shape == (6, 6)
    for row, first in enumerate(names):
        for column, second in enumerate(names):
            if first == second:
                assert matrix[row, column] == 0.0
                continue
            text = f"{quoted(first)} {relation} {quoted(second)}"
            held = evaluate([parse(text, names).feature], dags, names)[0]
            assert matrix[row, column] == pytest.approx(weights[held].sum(), abs=1e-12)


def test_ancestors_agree_with_networkx() -> None:
    names = NAMES
    dags = naive_features.random_dags(8, 200, 0.3, seed=7)
    found = ancestors(dags)
    assert found.dtype == np.uint64
    assert found.shape == dags.shape
    for row, masks in zip(dags, found, strict=True):
        reversed_graph = naive_features.graph_of(row, names)
        for node, mask in enumerate(masks.tolist()):
            members = {name for bit, name in enumerate(names) if mask >> bit & 1}
            assert members == nx.ancestors(reversed_graph, names[node])


def test_sixty_four_nodes_are_enough_for_every_bit() -> None:
    names = [f"X{node}" for node in range(64)]
    chain = np.array([[0] + [1 << node for node in range(63)]], dtype=np.uint64)
    asked = [
        path("X0", "X63"),
        path("X0", "X63", longest=62),
        path("X0", "X63", longest=63),
        topological_position("X63", "=", 63),
        topological_position("X63", "<", 10**30),
        d_separated("X0", "X63", given="X31"),
        d_separated("X0", "X63"),
        descendant_set("X0", names[1:]),
        ancestor_set("X63", names[:63]),
        in_markov_blanket("X62", "X63"),
    ]
    held = evaluate(asked, chain, names)[:, 0].tolist()
    assert held == [True, False, True, True, True, True, False, True, True, True]
    assert [parse(str(feature), names).feature for feature in asked] == asked
    matrix = weighted_matrix("~>", chain, np.ones(1))
    assert matrix.tolist() == np.triu(np.ones((64, 64)), 1).tolist()


def test_blocks_do_not_show() -> None:
    names = NAMES[:5]
    dags = naive_features.random_dags(5, 333, 0.4, seed=8)
    asked = [
        path("A", "B"),
        path("A", "in", longest=2),
        d_separated("A", "B", "in"),
        topological_position("é", ">", 1),
        custom(even_number_of_edges),
    ]
    weights = np.full(333, 1 / 333)
    found = []
    for size in (BLOCK_SIZE, 100):
        with in_blocks_of(size):
            matrix = weighted_matrix("~>{2}", dags, weights)
            found.append((evaluate(asked, dags, names), ancestors(dags), matrix))
    whole, parts = found
    assert (whole[0] == parts[0]).all()
    assert (whole[1] == parts[1]).all()
    assert np.allclose(whole[2], parts[2], rtol=0, atol=1e-12)


def test_kernels_are_compiled_for_one_signature_only() -> None:
    names = NAMES[:4]
    asked = [path("A", "B"), path("A", "B", 2), d_separated("A", "B"), topological_position("A", "=", 0)]
    one = naive_features.random_dags(4, 1, 0.5, seed=1)
    frozen = one.astype(np.uint64)
    frozen.flags.writeable = False
    for dags in (one, frozen, np.asfortranarray(np.repeat(frozen, 5, axis=0)), np.zeros((0, 4), np.uint8)):
        evaluate(asked, dags, names)
        weights = np.ones(2 * len(dags))[::2]
        weights.flags.writeable = False
        weighted_matrix("~>{2}", dags, weights)
    kernels = (
        blocks._close,
        blocks._extend_lists,
        position_file._longest_paths,
        d_separation._separate,
        evaluation._add_weights,
    )
    for kernel in kernels:
        assert len(kernel.signatures) == 1


def test_no_dags_give_empty_answers() -> None:
    none = np.zeros((0, 3), dtype=np.uint8)
    assert evaluate([edge("A", "B")], none, ["A", "B", "C"]).shape == (1, 0)
    assert evaluate([], np.zeros((4, 3), dtype=np.uint8), ["A", "B", "C"]).shape == (0, 4)
    assert ancestors(none).shape == (0, 3)
    assert weighted_matrix("~>", none, np.zeros(0)).tolist() == [[0.0] * 3] * 3


@pytest.mark.parametrize("cycle", [[2, 1, 0], [1, 0, 0], [4, 1, 2]])
@pytest.mark.parametrize("sample", [0, 63, 64, 70, 149])
def test_a_cycle_is_refused_by_the_number_of_its_sample(cycle: Any, sample: Any) -> None:
    dags = np.zeros((200, 3), dtype=np.uint16)
    dags[sample] = cycle
    dags[150] = cycle
    message = f"Graph number {sample} has a directed cycle"
    with pytest.raises(InputError, match=message):
        evaluate([path("A", "B")], dags, ["A", "B", "C"])
    with pytest.raises(InputError, match=message):
        ancestors(dags)
    for relation in ("->", "~>{2}"):
        with pytest.raises(InputError, match=message):
            weighted_matrix(relation, dags, np.ones(200))


def test_a_cycle_in_a_later_block_keeps_its_number() -> None:
    dags = np.zeros((300, 2), dtype=np.uint8)
    dags[217] = [2, 1]
    with in_blocks_of(100), pytest.raises(InputError, match="Graph number 217"):
        ancestors(dags)


def test_what_is_not_masks_of_parents_is_refused(said: Said) -> None:
    for wrong in (np.zeros((2, 3)), np.zeros((2, 3), dtype=np.int64), np.zeros(3, dtype=np.uint8)):
        with said.raises(InputError):
            ancestors(wrong)
    with said.raises(InputError):
        ancestors([[0, 1]])
    with said.raises(InputError):
        ancestors(np.zeros((1, 65), dtype=np.uint64))
    with said.raises(InputError):
        ancestors(np.zeros((1, 0), dtype=np.uint64))
    with said.raises(InputError):
        ancestors(np.array([[0, 1, 2], [0, 8, 0]], dtype=np.uint8))
    with said.raises(InputError):
        evaluate([edge("A", "B")], np.zeros((1, 3), dtype=np.uint8), ["A", "B"])
    with said.raises(InputError):
        evaluate([edge("Smoknig", "A")], np.zeros((1, 2), dtype=np.uint8), ["Smoking", "A"])


@pytest.mark.parametrize("relation", ["<-", "~>{0}", "~>{}", "", "~>{-1}", "-->", None])
def test_an_unknown_relation_is_refused(relation: Any, said: Said) -> None:
    with said.raises(InputError):
        weighted_matrix(relation, np.zeros((1, 3), dtype=np.uint8), np.ones(1))


def test_weights_must_fit_the_dags(said: Said) -> None:
    with said.raises(InputError):
        weighted_matrix("->", np.zeros((2, 3), dtype=np.uint8), np.ones(3))
