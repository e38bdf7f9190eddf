"""What every chain is held to: long runs against what is exact, runs that are resumed, states that cannot be left.

The steps of each chain, one by one, are in a file of its own. Every test has a fixed seed. Where chance decides, the
false-alarm rate is 1e-6 (chain_checks.py) for each table of edges.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.tools.chain_checks import (
    Edge,
    assert_agreed,
    assert_edges_given_states,
    assert_long_run,
    constrained,
    diagnosed,
    empty_round,
    exact_edges,
    generator,
    random_tables,
    run,
    tables_of,
)

from dagpost import HybridMCMC, OrderMCMC, PartialOrderMCMC, PartitionMCMC, StructureMCMC, datasets
from dagpost.errors import InputError, NoGraphError
from dagpost.mcmc.chains import run_chains
from dagpost.mcmc.records import ChainRun
from dagpost.posterior.exact_workspace import ExactWorkspace

ORDER = OrderMCMC(chains=4, thinning=30, burn_in=6_000)
BUCKETS_OF_TWO = PartialOrderMCMC(bucket_size=2, thinning=10, burn_in=2_000)
BUCKETS_OF_THREE = PartialOrderMCMC(bucket_size=3, thinning=10, burn_in=2_000)
PARTITION = PartitionMCMC(chains=4, thinning=10, burn_in=2_000)
STRUCTURE = StructureMCMC(chains=4, thinning=60, burn_in=12_000, reversals=0.2)
HYBRID = HybridMCMC(chains=4, thinning=40, burn_in=8000, local=0.5)
#: Chains whose target counts a graph once for every order that it fits.
OVER_ORDERS = (OrderMCMC, PartialOrderMCMC)
#: Chains that know the probability of every edge given a state.
WITH_EDGES = (*OVER_ORDERS, PartitionMCMC)


def cases(rows: Iterable[tuple[Any, ...]]) -> list[Any]:
    """Parameters of a test, named after the chain and what follows it."""
    return [
        pytest.param(method, *rest, id="-".join([type(method).__name__, *(str(value) for value in rest)]))
        for method, *rest in rows
    ]


def assert_exact(method: Any, tables: ExactWorkspace, chains: ChainRun) -> None:
    """The run has converged, to the exact edges."""
    exact = exact_edges(tables, "order" if isinstance(method, OVER_ORDERS) else "structure")
    assert_agreed(chains)
    assert_long_run(chains, exact)
    assert (chains.record.edges is not None) == isinstance(method, WITH_EDGES)
    if isinstance(method, WITH_EDGES):
        assert_edges_given_states(chains, exact, 0.03)


SIZES = [(5, 4), (6, 2), (8, 3)]
WITHOUT_GRAPHS = (ORDER, BUCKETS_OF_TWO, BUCKETS_OF_THREE, PARTITION)
SPREADS = [1.5, 6.0]
#: With more nodes, weights as far apart as 6.0 have modes that no step of the hybrid chain crosses.
HYBRID_SIZES = [((5, 4), 1.5), ((6, 2), 1.5), ((8, 3), 1.5), ((5, 3), 6.0), ((5, 4), 6.0)]


@pytest.mark.parametrize(
    ("method", "size", "spread"),
    cases(
        [
            *((method, *size) for method in (ORDER, PARTITION, STRUCTURE) for size in product(SIZES, SPREADS)),
            *((BUCKETS_OF_TWO, *size) for size in product([(5, 4), (7, 3)], SPREADS)),
            *((BUCKETS_OF_THREE, *size) for size in product([(6, 2), (8, 3)], SPREADS)),
            *((HYBRID, *size) for size in HYBRID_SIZES),
        ]
    ),
)
def test_long_run_matches_exact_edges_of_random_weights(method: Any, size: tuple[int, int], spread: float) -> None:
    nodes, max_parents = size
    tables = random_tables(nodes, max_parents, nodes, spread)
    assert_exact(method, tables, run(method, tables, 8000, 5))


@pytest.mark.parametrize(
    ("method", "nodes", "required", "forbidden"),
    cases(
        [
            *((method, 7, [(0, 1)], [(2, 0), (0, 3)]) for method in WITHOUT_GRAPHS),
            (STRUCTURE, 6, [(0, 4)], [(3, 2), (5, 2), (1, 0)]),
            (HYBRID, 5, [(0, 3), (3, 1)], []),
            (HybridMCMC(chains=4, thinning=40, burn_in=8000, local=0.0), 5, [(0, 3), (3, 1)], []),
        ]
    ),
)
def test_long_run_matches_exact_edges_under_constraints(
    method: Any, nodes: int, required: list[Edge], forbidden: list[Edge]
) -> None:
    tables = constrained(random_tables(nodes, 3, 2, 1.5), required, forbidden)
    chains = run(method, tables, 8000, 6)
    assert np.isfinite(chains.log_joint).all()
    assert_exact(method, tables, chains)


@pytest.mark.parametrize(
    "method",
    [
        ORDER,
        BUCKETS_OF_TWO,
        PartialOrderMCMC(bucket_size=4, thinning=10, burn_in=2_000),
        PARTITION,
        StructureMCMC(chains=4, thinning=100, burn_in=20_000, reversals=0.0),
        StructureMCMC(chains=4, thinning=100, burn_in=20_000, reversals=1 / 15),
        HYBRID,
    ],
    ids=repr,
)
def test_long_run_matches_exact_edges_on_coronary(method: Any) -> None:
    tables = tables_of(datasets.load("coronary"))
    assert_exact(method, tables, run(method, tables, 8000, 7))


def tic_tac_toe(rows: int | None = None) -> ExactWorkspace:
    """K2 scores of this many rows, or of all."""
    frame = pd.DataFrame(np.stack(datasets.load("tic-tac-toe").columns, axis=1)).rename(columns=str)
    return tables_of(frame if rows is None else frame.sample(rows, random_state=0), "k2", "indegree")


@pytest.mark.parametrize(
    ("method", "rows", "count"),
    cases(
        [
            (ORDER, 100, 8000),
            # Buckets of five cross what catches chains over orders of one node after another.
            (PartialOrderMCMC(bucket_size=5, thinning=20), None, 8000),
            (PARTITION, 100, 8000),
            (STRUCTURE, 100, 16_000),
            (HybridMCMC(chains=4, thinning=400, burn_in=40_000, local=0.8), 60, 8000),
        ]
    ),
)
def test_long_run_matches_exact_edges_on_tic_tac_toe(method: Any, rows: int | None, count: int) -> None:
    """The whole table has modes that most chains do not cross (the next test)."""
    tables = tic_tac_toe(rows)
    chains = run(method, tables, count, 8)
    assert_agreed(chains)
    assert_long_run(chains, exact_edges(tables, "order" if isinstance(method, OVER_ORDERS) else "structure"))


@pytest.mark.parametrize("method", [OrderMCMC(), PartitionMCMC(), StructureMCMC(burn_in=20_000)], ids=repr)
def test_chains_caught_by_different_modes_of_tic_tac_toe_are_not_trusted(method: Any) -> None:
    found = diagnosed(run(method, tic_tac_toe(), 2000, 9))
    assert found.largest_r_hat > 1.05
    assert not found.trusted


FIVE_NODES = {"chains": 2, "thinning": 5, "burn_in": 700}
SIX_NODES = {"bucket_size": 2, "chains": 2, "thinning": 2, "burn_in": 300}


@pytest.mark.parametrize(
    ("method", "nodes", "fewer", "count"),
    cases(
        [
            (OrderMCMC(**FIVE_NODES), 5, 300, 500),
            (PartitionMCMC(**FIVE_NODES), 5, 300, 500),
            (StructureMCMC(**FIVE_NODES), 5, 300, 500),
            (HybridMCMC(**FIVE_NODES, local=0.3), 5, 300, 500),
            (PartialOrderMCMC(**SIX_NODES), 6, 333, 650),
        ]
    ),
)
def test_a_run_that_is_resumed_equals_an_unbroken_one(method: Any, nodes: int, fewer: int, count: int) -> None:
    tables = random_tables(nodes, 2, 1, 2.0)
    context = method.prepare(tables)

    def chains(number: int, previous: ChainRun | None = None) -> ChainRun:
        seed = np.random.SeedSequence(1)
        return run_chains(method, context, nodes, number, seed=seed, engine=tables.engine, previous=previous)

    unbroken, resumed = chains(count), chains(count, chains(fewer))
    assert (resumed.parents == unbroken.parents).all()
    assert (resumed.log_joint == unbroken.log_joint).all()
    assert (resumed.record.log_state == unbroken.record.log_state).all()
    assert (resumed.record.accepted == unbroken.record.accepted).all()
    if isinstance(method, OVER_ORDERS):
        assert np.array_equal(resumed.record.edges, unbroken.record.edges)
    elif isinstance(method, PartitionMCMC):
        assert resumed.record.edges == pytest.approx(unbroken.record.edges, abs=1e-12)
    else:
        assert resumed.record.edges is None


@pytest.mark.parametrize(
    "method", [ORDER, BUCKETS_OF_TWO, PARTITION, STRUCTURE, HYBRID], ids=lambda method: type(method).__name__
)
def test_a_round_is_given_up_when_asked_to(method: Any) -> None:
    tables = random_tables(4, 2, 1, 1.0)
    context = method.prepare(tables)
    output = empty_round(method, 4, 1, 10**12)
    method.advance(context, method.start(context, generator(1)), generator(2), output, np.ones(1, dtype=np.int64))
    assert output.proposed.sum() == 0


#: The moves that are not even tried where there is only one state: of chains over graphs, those to a neighbour.
ALL, LOCAL, NONE = slice(None), slice(3), slice(0)
ALONE = {"chains": 1, "burn_in": 0}


@pytest.mark.parametrize(
    ("method", "nodes", "untried"),
    cases(
        [
            (OrderMCMC(**ALONE), 1, ALL),
            (PartialOrderMCMC(**ALONE), 1, ALL),
            *((PartitionMCMC(**ALONE), nodes, NONE) for nodes in (1, 3)),
            *((StructureMCMC(**ALONE), nodes, LOCAL) for nodes in (1, 3)),
            *((HybridMCMC(**ALONE, local=0.5), nodes, LOCAL) for nodes in (1, 3)),
        ]
    ),
)
def test_the_only_state_is_kept(method: Any, nodes: int, untried: slice) -> None:
    chains = run(method, random_tables(nodes, 0, 1, 1.0), 10, 1)
    assert not chains.parents.any()
    assert not chains.record.proposed[0, untried].any()
    # Global steps propose that state, too.
    assert isinstance(method, HybridMCMC) or not chains.record.accepted.any()


@pytest.mark.parametrize(
    "method",
    [ORDER, PartialOrderMCMC(bucket_size=1), PARTITION, STRUCTURE, HYBRID],
    ids=lambda method: type(method).__name__,
)
def test_constraints_that_no_graph_satisfies_are_named(method: Any) -> None:
    tables = random_tables(2, 1, 1, 1.0)
    tables.log_weights[:, 0] = -np.inf
    with pytest.raises(NoGraphError, match="No graph satisfies the constraints"):
        run(method, tables, 10, 1)


@pytest.mark.parametrize("kind", [OrderMCMC, PartialOrderMCMC, PartitionMCMC, StructureMCMC, HybridMCMC])
@pytest.mark.parametrize(
    ("setting", "value"),
    [("chains", 0), ("chains", "four"), ("chains", True), ("thinning", 0), ("thinning", 0.5), ("burn_in", -1)],
)
def test_settings_out_of_range_are_refused(kind: Any, setting: str, value: Any) -> None:
    allowed = r"in \[1, 1000\]" if setting == "chains" else "of at least"
    with pytest.raises(InputError, match=f"'{setting}' parameter of {kind.__name__} must be an int {allowed}"):
        kind(**{setting: value})
