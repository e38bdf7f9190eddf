"""How well do discrete parents explain a discrete node? The marginal likelihood under Dirichlet priors.

With `N(x, p)` rows in which node `i` has level `x` and its parents configuration `p`,

    score_i(P) = sum over p of [ log Gamma(a r) - log Gamma(a r + N(p)) ]
               + sum over p, x of [ log Gamma(a + N(x, p)) - log Gamma(a) ]

for a node of `r` levels (Cooper & Herskovits 1992; Heckerman, Geiger & Chickering 1995). The scores differ in
the parameter `a` of a cell: `BDeu` shares an equivalent sample size out evenly among the cells; `BDe` and `K2` take the
same `a` for every cell, which is what is here.
Configurations that do not occur add nothing, so cost and memory are those of counting
(`dagpost.scores.counting`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dagpost.scores.cells import CellFunction, fixed_terms
from dagpost.scores.discrete_runs import fill_by_counting

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dagpost._tools.progress import Reporter
    from dagpost.checkpoints import Checkpoint
    from dagpost.data.table import Table
    from dagpost.engines import Engine


def fill_with_pseudocount(
    pseudocount: float,
    table: Table,
    max_parents: int,
    values: NDArray[np.float64],
    engine: Engine,
    reporter: Reporter,
    checkpoint: Checkpoint,
) -> None:
    """Fill `values` with the scores whose parameter `a` is `pseudocount`.

    The parents' cells pool those of the node's levels, so `B` has the parameter `pseudocount * arity`.
    """

    def terms(variants: list[int], observations: int) -> CellFunction:
        parameters = [pseudocount, *(pseudocount * arity for arity in variants)]
        return fixed_terms(parameters, len(variants), observations)

    fill_by_counting(table, max_parents, values, table.arities, terms, engine, reporter, checkpoint)
