"""Graphs drawn component by component against all graphs with their exact probabilities.

The false-alarm rate of each test is at most a few times `RATE` (1e-7), below one in a million, with a fixed seed.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2
from tests.naive import posterior as naive

from dagpost._tools.progress import NO_PROGRESS
from dagpost.engines import ThreadEngine
from dagpost.families.numbering import parent_sets, unsqueeze_all
from dagpost.families.parent_lists import ParentLists
from dagpost.posterior.component_workspace import ComponentWorkspace

RATE = 1e-7
DRAWS = 60_000
#: Tiers of five columns: a component before and one after others, so that the later has parents outside.
TIERS = {
    "two pairs around a column": [0, 0, 1, 2, 2],
    "three with two before": [1, 0, 1, 0, 1],
    "each by itself": [0, 1, 2, 3, 4],
}


def lists_of(tiers: list[int], max_parents: int) -> ParentLists:
    tier = np.array(tiers)
    allowed = tier[None, :] <= tier[:, None]
    np.fill_diagonal(allowed, False)
    return ParentLists.of_matrix(allowed, max_parents)


def dense(lists: ParentLists, weights: tuple[np.ndarray, ...]) -> np.ndarray:
    """The weights over all parent sets, those that the tiers forbid minus infinity."""
    sets = parent_sets(lists.nodes - 1, lists.max_parents)
    result = np.full((lists.nodes, len(sets)), -np.inf)
    bits = np.uint64(1) << np.arange(lists.nodes, dtype=np.uint64)
    for node in range(lists.nodes):
        number = {mask: place for place, mask in enumerate(unsqueeze_all(sets, node).tolist())}
        for place, mask in enumerate(lists.masks(node, bits).tolist()):
            result[node, number[mask]] = weights[node][place]
    return result


@pytest.mark.parametrize("spread", [1.0, 4.0])
@pytest.mark.parametrize("tiers", TIERS.values(), ids=TIERS)
def test_graphs_by_components_match_enumeration(tiers: list[int], spread: float) -> None:
    """Chi-square over all graphs; those with fewer than ten expected draws are one cell."""
    lists, rng = lists_of(tiers, 3), np.random.default_rng(11)
    weights = tuple(spread * rng.normal(size=count) for count in lists.counts.tolist())
    workspace = ComponentWorkspace(lists, weights, ThreadEngine(2), NO_PROGRESS)
    drawn = workspace.draw_layers(DRAWS, np.random.SeedSequence(17))

    table, nodes = dense(lists, weights), lists.nodes
    sets = parent_sets(nodes - 1, lists.max_parents)
    logs = {}
    place = [{mask: k for k, mask in enumerate(unsqueeze_all(sets, node).tolist())} for node in range(nodes)]
    for row in naive.parents_in_every_dag(nodes).tolist():
        numbers = [place[node].get(mask) for node, mask in enumerate(row)]
        if None not in numbers:
            logs[tuple(row)] = sum(table[node, number] for node, number in enumerate(numbers))
    total = naive.log_sum(np.array(list(logs.values())))
    assert workspace.structure_log_evidence == pytest.approx(total, abs=1e-9)

    rows, counts = np.unique(drawn.parents, axis=0, return_counts=True)
    seen = {tuple(row): int(count) for row, count in zip(rows.tolist(), counts, strict=True)}
    assert all(np.isfinite(logs[row]) for row in seen), "something impossible was drawn"
    possible = [row for row, log in logs.items() if np.isfinite(log)]
    expected = DRAWS * np.exp(np.array([logs[row] for row in possible]) - total)
    observed = np.array([seen.get(row, 0) for row in possible], dtype=float)
    rare = expected < 10
    if rare.any():
        observed = np.append(observed[~rare], observed[rare].sum())
        expected = np.append(expected[~rare], expected[rare].sum())
    statistic = ((observed - expected) ** 2 / expected).sum()
    assert len(expected) > 3
    assert statistic < chi2.isf(RATE, len(expected) - 1)
    np.testing.assert_allclose(drawn.log_joint, [logs[tuple(row)] for row in drawn.parents.tolist()], rtol=1e-12)
