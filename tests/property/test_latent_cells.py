"""Latent numbers against slow twins: shares of truncated normals, and rounds over tables with ranks and bounds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.naive import latent as naive

from dagpost import LatentGaussian
from dagpost.data.table import Table
from dagpost.scores.latent_completion import LatentCompleter
from dagpost.scores.truncated_normals import normals_between

RUNNING = np.zeros(1, dtype=np.int64)


def between(share: float, low: float, high: float) -> float:
    found = np.empty(1)
    normals_between(np.array([share]), np.array([low]), np.array([high]), found)
    return float(found[0])


@given(
    share=st.floats(1e-6, 1 - 1e-6),
    low=st.floats(-45, 45),
    width=st.one_of(st.floats(-12, 1.5).map(lambda power: 10.0**power), st.just(math.inf)),
    mirrored=st.booleans(),
)
@example(share=0.3, low=24.99999, width=math.inf, mirrored=False)
@example(share=0.3, low=25.00001, width=math.inf, mirrored=True)
@example(share=0.7, low=40.0, width=1.00001e-5, mirrored=False)
@example(share=0.7, low=40.0, width=0.99999e-5, mirrored=True)
@example(share=0.5, low=8.0, width=1e-12, mirrored=False)
def test_a_share_of_the_numbers_between_bounds_lies_below(
    share: float, low: float, width: float, mirrored: bool
) -> None:
    high = low + width
    if mirrored:
        low, high = -high, -low
    found = between(share, low, high)
    assert low <= found <= high
    # What rounding of the bounds themselves leaves open.
    rounding = 4 * np.spacing(max(abs(found), 1.0)) / min(width, 1.0 / max(abs(found), 1.0))
    assert naive.share_below(found, low, high) == pytest.approx(share, abs=1e-8 + rounding)


@pytest.mark.parametrize("low", [0.0, 8.0, 40.0])
def test_bounds_next_to_each_other_leave_no_other_number(low: float) -> None:
    high = float(np.nextafter(low, np.inf))
    assert between(0.5, low, high) in (low, high)
    assert between(0.5, -high, -low) in (-low, -high)


@st.composite
def tables(draw: st.DrawFn) -> tuple[Table, np.ndarray]:
    """Ranks, bounds and missing cells; each column has a known number, so that it has a place; and latent numbers."""
    generator = np.random.default_rng(draw(st.integers(0, 2**32)))
    columns, rows = draw(st.integers(1, 4)), draw(st.integers(3, 6))
    values = generator.standard_normal((rows, columns)) @ generator.standard_normal((columns, columns))
    gaps = np.ones((columns, rows), dtype=bool)
    gaps[:, 0] = False
    bounds, ranks = [], []
    for column in range(columns):
        levels = np.searchsorted(np.sort(generator.standard_normal(2)), values[:, column]).astype(np.int32)
        open_ends, around = generator.random((2, rows)) < 0.5, values[:, column] + np.array([[-0.5], [0.5]])
        low, high = np.where(open_ends, [[-np.inf], [np.inf]], around)
        kind = draw(st.sampled_from(["ranks", "bounds", "missing"]))
        missing = (generator.random(rows) < 0.2) | (np.arange(rows) == 0)
        ranks.append(np.where(missing, -1, levels).astype(np.int32) if kind == "ranks" else None)
        bounds.append(np.column_stack([low, high]) if kind == "bounds" else None)
    shown = tuple(np.where(own, np.nan, column) for own, column in zip(gaps, values.T, strict=True))
    names = tuple("abcd"[:columns])
    table = Table(names, shown, (None,) * columns, gaps=gaps, bounds=tuple(bounds), ranks=tuple(ranks))
    return table, values


@settings(max_examples=8)
@given(drawn=tables(), seed=st.integers(0, 2**32))
def test_a_round_draws_what_the_twin_draws(drawn: tuple[Table, np.ndarray], seed: int) -> None:
    table, values = drawn
    assert table.gaps is not None
    nodes, generator = len(table.names), np.random.default_rng(seed)
    score = LatentGaussian(0.5, nodes + 2.5, prior_mean=0.2, prior_scale=tuple(np.linspace(0.7, 1.4, nodes)))
    families = np.full((nodes, max(nodes - 1, 1)), nodes, dtype=np.int16)
    for node in range(nodes):
        own = [parent for parent in range(node) if generator.random() < 0.6]
        families[node, : len(own)] = own
    cells = values.T[table.gaps]
    LatentCompleter(score.coefficient_prior(), table).redraw(cells, families, np.random.default_rng(seed), RUNNING)
    expected = naive.redraw(table, values, families, score, np.random.default_rng(seed))
    assert cells == pytest.approx(expected.T[table.gaps], rel=1e-6, abs=1e-6)
    assert naive.agrees(table, expected)
