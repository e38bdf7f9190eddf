"""Independent graphs in blocks, each of which a checkpoint can keep; the random numbers depend on the seed alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Unpack

import numpy as np

from dagpost._tools.arrays import Floats, Masks
from dagpost._tools.progress import Stage
from dagpost._tools.schema import check_graphs
from dagpost._tools.uniforms import row_blocks, uniform_rows
from dagpost.checkpoints import Tracking, tracked


def draw_in_blocks(
    draw: Callable[[Floats, Stage], tuple[Masks, Floats]],
    count: int,
    nodes: int,
    most: int,
    *,
    seed: np.random.SeedSequence,
    columns: int | None = None,
    units: int = 1,
    **tracking: Unpack[Tracking],
) -> tuple[Masks, Floats]:
    """Draw `count` independent graphs, `most` at a time: parent masks (graphs, nodes), and the log weight of each.

    `draw` makes one graph of each row of uniform numbers, two for each node unless `columns` says otherwise, and counts
    every graph as `units` units.
    """
    parents, log_joint = np.zeros((count, nodes), dtype=np.uint64), np.zeros(count)
    with tracked(
        "graphs",
        row_blocks(count, most),
        lambda rows: [parents[rows], log_joint[rows]],
        check=lambda: check_graphs(parents, log_joint),
        units=count * units,
        units_of=lambda rows: (rows.stop - rows.start) * units,
        **tracking,
    ) as (saved, stage):
        for rows in saved:
            parents[rows], log_joint[rows] = draw(uniform_rows(seed, rows, columns or 2 * nodes), stage)
    return parents, log_joint
