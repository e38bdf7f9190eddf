"""Figures of edges in graphs of chains: they are those that ArviZ gives for the series, one by one."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.naive.chain_figures import effective_sizes, r_hat
from tests.naive.wide import has_edge, random_wide

from dagpost.families.edge_counts import edge_counts
from dagpost.mcmc.diagnostics import by_chain, diagnose


def series_of(chains: int, draws: int, share: float, stay: float, seed: int) -> np.ndarray:
    """0s and 1s (chains, draws, 2): each stays as it was with probability `stay`, else it is drawn anew."""
    rng = np.random.default_rng(seed)
    series = (rng.random((chains, draws, 2)) < share).astype(np.float64)
    stays = rng.random(series.shape) < stay
    for draw in range(1, draws):
        series[:, draw] = np.where(stays[:, draw], series[:, draw - 1], series[:, draw])
    return series


def graphs_of(series: np.ndarray, nodes: int) -> np.ndarray:
    """Graphs with the edges 0 -> last and (last but one) -> last as the two series say."""
    words = () if nodes <= 64 else (-(-nodes // 64),)
    parents = np.zeros((*series.shape[:2], nodes, *words), dtype=np.uint64)
    for place, parent in enumerate((0, nodes - 2)):
        bits = series[:, :, place].astype(np.uint64) << np.uint64(parent % 64)
        if words:
            parents[:, :, -1, parent // 64] |= bits
        else:
            parents[:, :, -1] |= bits
    return parents


@given(
    nodes=st.sampled_from([3, 64, 65, 130]),
    chains=st.integers(1, 4),
    draws=st.integers(4, 300),
    share=st.floats(0.0, 1.0),
    stay=st.sampled_from([0.0, 0.5, 0.98, 1.0]),
    seed=st.integers(0, 2**32),
)
def test_figures_are_those_of_the_series(
    nodes: int, chains: int, draws: int, share: float, stay: float, seed: int
) -> None:
    series = series_of(chains, draws, share, stay, seed)
    graphs, names = graphs_of(series, nodes), [f"V{place}" for place in range(nodes)]
    edges = diagnose(graphs.reshape(-1, *graphs.shape[2:]), names, (draws,) * chains, {}).edges
    rows = edges["parent"].map({"V0": 0, f"V{nodes - 2}": 1}).to_numpy()
    assert rows.tolist() == np.flatnonzero(series.any(axis=(0, 1))).tolist()
    np.testing.assert_allclose(edges["frequency"], series.mean(axis=(0, 1))[rows], rtol=1e-12)
    r_hats, sizes = r_hat(series)[rows], effective_sizes(series)[rows]
    told = edges["effective_samples"].notna().to_numpy()
    means = series.mean(axis=1)[:, rows]
    frequency = means.mean(axis=0)
    assert (told == ((frequency > 0.01) & (frequency < 0.99)) | (np.ptp(means, axis=0) > 0.5)).all()
    # Where nothing varies in any half, ArviZ divides by what rounding leaves.
    finite = told & np.isfinite(edges["r_hat"].to_numpy())
    if chains > 1:
        np.testing.assert_allclose(edges["r_hat"][finite], r_hats[finite], rtol=1e-8)
    np.testing.assert_allclose(edges["effective_samples"][finite], sizes[finite], rtol=1e-8)
    assert not (r_hats[told & ~finite] < 1e6).any()


@given(columns=st.sampled_from([5, 64, 70, 200]), count=st.integers(0, 12), seed=st.integers(0, 2**32))
def test_counts_are_those_of_each_edge(columns: int, count: int, seed: int) -> None:
    wide = random_wide(columns, count, 4, 3, seed)
    parents = wide if columns > 64 else wide[:, :, 0]
    expected = np.zeros((columns, columns), dtype=np.int64)
    for graph in wide:
        for child in range(columns):
            if graph[child].any():
                for parent in range(columns):
                    expected[parent, child] += has_edge(graph, parent, child)
    np.testing.assert_array_equal(edge_counts(parents), expected)


def test_a_sample_of_wide_graphs_is_diagnosed_as_the_narrow_one_in_it() -> None:
    series, names = series_of(4, 400, 0.4, 0.6, 1), [f"V{place}" for place in range(200)]
    wide, narrow = graphs_of(series, 200), graphs_of(series, 10)
    found = diagnose(wide.reshape(1600, 200, -1), names, (400,) * 4, {}).edges
    expected = diagnose(narrow.reshape(1600, 10), names, (400,) * 4, {}).edges
    assert found["parent"].tolist() == ["V0", "V198"]
    assert found["child"].tolist() == ["V199"] * 2
    for figure in ("frequency", "r_hat", "effective_samples"):
        np.testing.assert_array_equal(found[figure], expected[figure])


def test_stuck_chains_of_wide_graphs_are_worth_no_more_than_their_number() -> None:
    series = np.zeros((3, 50, 2))
    series[2, :, 0] = 1.0
    found = diagnose(graphs_of(series, 70).reshape(150, 70, 2), [f"V{place}" for place in range(70)], (50,) * 3, {})
    assert found.largest_r_hat == math.inf
    assert found.smallest_effective == 3.0
    assert not found.agreed


def test_chains_of_one_length_are_not_copied() -> None:
    rows = np.zeros((8, 70, 2), dtype=np.uint64)
    assert np.shares_memory(by_chain(rows, (4, 4)), rows)
