"""What scores of levels add up, node by node, for drawing the missing cells of rows (row_completion.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dagpost.data.table import Table
from dagpost.scores.cells import CellFunction, has_own_rows
from dagpost.scores.columns import with_gaps
from dagpost.scores.discrete_runs import terms_of
from dagpost.scores.family_counts import CellParameters
from dagpost.scores.set_functions import runs_of

if TYPE_CHECKING:
    from dagpost.scores.counted import CountedScore


def counted_parameters(score: CountedScore, table: Table, max_parents: int) -> CellParameters:
    """What the score sums, node by node: nodes that were set in different rows may sum different terms."""
    variant_of, nodes = score.variants(table.arities), len(table.names)
    result = CellParameters(
        arities=np.array(table.arities, dtype=np.int64),
        exclusive=np.ascontiguousarray(table.exclusive),
        has_gaps=with_gaps(table),
        cell=np.ones(nodes),
        pooled=np.ones(nodes),
        strength=np.zeros(nodes),
        entropy=np.zeros(nodes, dtype=np.bool_),
    )
    for run in runs_of(table.interventions, nodes):
        variants = sorted({variant_of[node] for node in run.nodes})
        observations = int(table.weights[slice(None) if run.observed is None else run.observed].sum())
        cells = terms_of(score, table, max_parents + 1, variants, max(observations, 1))
        for node in run.nodes:
            place = variants.index(variant_of[node]) + 1 if has_own_rows(cells) else 0
            result.cell[node], result.pooled[node] = cells.parameters[0], cells.parameters[place]
            result.strength[node] = cells.strength if cells.products.size else 0.0
            result.entropy[node] = cells.entropy
    return result


def completes(cells: CellFunction) -> bool:
    """Whether the terms are those of their parameters, so that what a row adds to them is known."""
    counts = np.arange(min(cells.tables.shape[1], 3))
    parameters = cells.parameters[:, np.newaxis]
    rising = np.where(counts > 0, np.log(parameters), 0.0) + np.where(counts > 1, np.log1p(parameters), 0.0)
    expected = counts * np.log(np.maximum(counts, 1)) if cells.entropy else rising
    return bool(np.allclose(cells.tables[:, : len(counts)], expected, rtol=1e-9, atol=1e-9))
