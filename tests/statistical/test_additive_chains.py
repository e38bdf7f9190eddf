"""Chains under the additive score against exact sums: weights of single families, found as chains find them, are right.

Every test has a fixed seed. The false-alarm rate is 1e-6 (chain_checks.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.tools.chain_checks import assert_long_run, exact_edges, run, tables_of
from tests.tools.kinds_of_columns import table_of_kinds

from dagpost import Additive, BlockGibbs, OrderMCMC
from dagpost._tools.progress import NO_PROGRESS
from dagpost.engines import ThreadEngine
from dagpost.mcmc.considered import Sizes, considered_among_candidates
from dagpost.posterior.wide_workspace import WideWorkspace
from dagpost.priors import UniformPrior
from dagpost.priors.constraints import Constraints
from dagpost.priors.study import Study

TABLE = table_of_kinds(("number", "nominal", "rounded", "ordered", "number"), 40, 7, extra=True)
BLOCKS = BlockGibbs(chains=2, burn_in=100)


@pytest.mark.parametrize(
    ("method", "modularity"),
    [(BLOCKS, "structure"), (OrderMCMC(chains=2, thinning=10, burn_in=1_000), "order")],
    ids=["blocks", "orders"],
)
def test_chains_agree_with_exact_sums(method: Any, modularity: str) -> None:
    tables = tables_of(TABLE, "additive")
    exact = exact_edges(tables, modularity)
    assert ((exact > 0.05) & (exact < 0.95)).sum() > 5
    assert_long_run(run(method, tables, 4_000, seed=3), exact)


def test_chains_on_listed_families_agree_with_exact_sums() -> None:
    """As for tables too wide for all families: lists grow from candidates, and families are scored one at a time."""
    engine, sizes = ThreadEngine(1), Sizes(families=10_000, candidates=4, all_candidates=4)
    study = Study(TABLE, Additive(), UniformPrior(), Constraints(), 4)
    listed = considered_among_candidates(study, engine=engine, sizes=sizes)
    assert np.diff(listed.start).tolist() == [16] * 5
    tables = WideWorkspace(listed, 4, engine, NO_PROGRESS)
    assert_long_run(run(BLOCKS, tables, 4_000, seed=4), exact_edges(tables_of(TABLE, "additive"), "structure"))
