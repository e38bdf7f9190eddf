"""Independent draws of graphs that fit one given order: every node draws its parents among its predecessors.

All draws have the same order, so they share one scan of the parent sets of each node (exact/given_order.py has the sums
and the reference). Memory: some 50 bytes a node for each of `DRAWN_TOGETHER` draws.
"""

from __future__ import annotations

import numpy as np

from dagpost._tools.arrays import Floats, Masks
from dagpost._tools.progress import NO_PROGRESS, Reporter, Stage
from dagpost._tools.uniforms import SEED_BLOCK
from dagpost.engines import Engine
from dagpost.exact.given_order import GivenOrderPosterior
from dagpost.families.family_sums import FamilyTables
from dagpost.sampling.blocks import draw_in_blocks
from dagpost.sampling.dags import RankedFamilies, draw_dags

#: Draws that share one scan of the parent sets.
DRAWN_TOGETHER = 32 * SEED_BLOCK


def draw_given_order(
    families: FamilyTables,
    posterior: GivenOrderPosterior,
    count: int,
    *,
    seed: np.random.SeedSequence,
    engine: Engine,
    reporter: Reporter = NO_PROGRESS,
    drawn_together: int = DRAWN_TOGETHER,
) -> tuple[Masks, Floats]:
    """Draw `count` independent graphs: parent masks (draws, nodes), and the log weight of each graph.

    >>> from dagpost.engines import ThreadEngine
    >>> from dagpost.exact.given_order import given_order_posterior
    >>> from dagpost.mcmc.candidates import weights_of_all
    >>> from dagpost.families.family_sums import family_tables
    >>> engine, seed = ThreadEngine(1), np.random.SeedSequence(1)
    >>> families = family_tables(weights_of_all(np.log([[1.0, 3.0], [1.0, 2.0]]), 1), engine=engine)
    >>> posterior = given_order_posterior(families, [1, 0])
    >>> parents, _ = draw_given_order(families, posterior, 4_000, seed=seed, engine=engine)
    >>> bool(abs((parents[:, 0] == 2).mean() - 0.75) < 0.03)
    True
    """
    nodes, ranked, order = len(posterior.order), _ranked(families), posterior.order.astype(np.uint8)

    def draw(uniforms: Floats, stage: Stage) -> tuple[Masks, Floats]:
        # Every draw has the same order, so that all share one scan of each node's parent sets.
        rows = (len(uniforms), 1)
        drawn = draw_dags(ranked, np.tile(order, rows), np.tile(posterior.log_sums, rows), uniforms, engine=engine)
        stage.advance(len(uniforms))
        return drawn

    parents, log_joint = draw_in_blocks(draw, count, nodes, drawn_together, seed=seed, columns=nodes, reporter=reporter)
    return parents, log_joint + families.heaviest.sum()


def _ranked(families: FamilyTables) -> RankedFamilies:
    pairs = zip(families.ranked_start[:-1].tolist(), families.ranked_start[1:].tolist(), strict=True)
    parts = [slice(start, end) for start, end in pairs]
    return RankedFamilies(
        tuple(families.ranked_masks[part] for part in parts), tuple(families.ranked_logs[part] for part in parts)
    )
