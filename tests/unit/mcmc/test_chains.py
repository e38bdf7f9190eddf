"""What all chains have in common: rounds, seeds, records, breaking off and going on.

Two methods are run: order MCMC, and a plain one whose states and figures are known beforehand.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytest
from tests.tools.chain_checks import random_tables
from tests.tools.wording import Said

from dagpost._tools.progress import NO_PROGRESS, Reporter, reporter_for
from dagpost.engines import Engine, ThreadEngine
from dagpost.errors import InputError
from dagpost.mcmc.chains import run_chains
from dagpost.mcmc.records import ROUND_GRAPHS, ChainRun, Round
from dagpost.methods.chain import ChainMethod
from dagpost.methods.order_mcmc import OrderMCMC

NODES = 5
SEED = np.random.SeedSequence(2024, spawn_key=(7,))
ENGINE = ThreadEngine(2)


class CountingState(NamedTuple):
    steps: np.ndarray


@dataclass(frozen=True)
class Counting(ChainMethod):
    """Counts its steps; every graph is the count, and every edge has the probability of the count."""

    chains: int = 2
    thinning: int = 3
    burn_in: int = 0
    gives_edges: bool = True  # type: ignore[misc]

    moves_module: ClassVar[None] = None
    moves: ClassVar[tuple[str, ...]] = ("one step", "never tried")
    takes_orders: ClassVar[bool] = False
    state: ClassVar[type[CountingState]] = CountingState

    def start(self, context: None, generator: np.random.Generator, wanted: Any = None) -> CountingState:
        return CountingState(np.zeros(1, dtype=np.int64))

    def warming_up(self, context: None, number: int, rounds: int) -> None:
        return context

    def advance(
        self,
        context: None,
        state: CountingState,
        generator: np.random.Generator,
        output: Round,
        cancel: np.ndarray,
        *beside: Any,
    ) -> None:
        for kept in range(len(output.log_joint)):
            state.steps[0] += output.thinning
            output.parents[kept] = state.steps[0]
            output.log_joint[kept] = generator.random()
            output.log_state[kept] = -float(state.steps[0])
            output.edges[...] += float(state.steps[0])
            output.proposed[0] += output.thinning
            output.accepted[0] += 1


class Interrupted(Engine):
    """An engine during whose work the interrupt key is pressed, after some results."""

    workers = 2

    def __init__(self, results: int) -> None:
        self.left = results

    def run(self, block: Callable[..., Any], items: Sequence[Any]) -> Iterator[Any]:
        for result in ThreadEngine(2).run(block, items):
            if self.left == 0:
                raise KeyboardInterrupt
            self.left -= 1
            yield result


@pytest.fixture(scope="module")
def families() -> Any:
    return random_tables(NODES, 2, 1, 1.5).families


def order_chains(number: int = 3) -> OrderMCMC:
    return OrderMCMC(chains=number, thinning=3, burn_in=450)


def run(
    method: ChainMethod,
    context: Any,
    count: int,
    *,
    engine: Engine = ENGINE,
    reporter: Reporter = NO_PROGRESS,
    previous: ChainRun | None = None,
) -> ChainRun:
    return run_chains(method, context, NODES, count, seed=SEED, engine=engine, reporter=reporter, previous=previous)


def of_chain(found: ChainRun, chain: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Graphs, log weights and log states of one chain."""
    start = sum(found.record.lengths[:chain])
    rows = slice(start, start + found.record.lengths[chain])
    return found.parents[rows], found.log_joint[rows], found.record.log_state[rows]


def assert_same(first: ChainRun, second: ChainRun) -> None:
    """Bit for bit, also where they stand."""
    np.testing.assert_array_equal(first.parents, second.parents)
    np.testing.assert_array_equal(first.log_joint, second.log_joint)
    one, two = first.record, second.record
    assert (one.lengths, one.rounds, one.moves) == (two.lengths, two.rounds, two.moves)
    assert (one.edges is None) == (two.edges is None)
    if one.edges is not None:
        np.testing.assert_array_equal(one.edges, two.edges)
    for name in ("log_state", "proposed", "accepted"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    assert one.standing.keys() == two.standing.keys()
    for name in one.standing:
        np.testing.assert_array_equal(one.standing[name], two.standing[name])


# The same graphs every time


@pytest.mark.parametrize("count", [30, 300, 301, 740])
def test_graphs_do_not_depend_on_the_number_of_threads(count: int, families: Any) -> None:
    assert_same(*(run(order_chains(), families, count, engine=ThreadEngine(threads)) for threads in (1, 2)))


@pytest.mark.parametrize(("fewer", "more"), [(3, 299), (100, 1000), (299, 301), (300, 600), (450, 451), (731, 1400)])
def test_a_longer_run_begins_with_the_shorter_one(fewer: int, more: int, families: Any) -> None:
    short, long = (run(order_chains(), families, count) for count in (fewer, more))
    for chain in range(3):
        for one, other in zip(of_chain(short, chain), of_chain(long, chain), strict=True):
            np.testing.assert_array_equal(one, other[: len(one)])


def test_more_chains_leave_the_first_ones_alone(families: Any) -> None:
    few, many = run(order_chains(2), families, 300), run(order_chains(4), families, 600)
    for chain in range(2):
        for one, other in zip(of_chain(few, chain), of_chain(many, chain), strict=True):
            np.testing.assert_array_equal(one, other)


def test_chains_and_seeds_differ(families: Any) -> None:
    found = run(order_chains(2), families, 600)
    assert (of_chain(found, 0)[0] != of_chain(found, 1)[0]).any()
    other = run_chains(
        order_chains(2), families, NODES, 600, seed=np.random.SeedSequence(2024, spawn_key=(8,)), engine=ENGINE
    )
    assert (found.parents != other.parents).any()


# Lengths and figures


@pytest.mark.parametrize("count", [2, 3, 5, 99, 198, 199, 200, 201, 202, 399, 400, 401, 555])
def test_there_are_as_many_graphs_as_asked_for(count: int) -> None:
    method = Counting()
    found = run(method, None, count)
    longer, shorter = math.ceil(count / 2), count // 2
    assert found.record.lengths == (longer, shorter)
    assert not found.interrupted
    assert len(found.parents) == len(found.log_joint) == len(found.record.log_state) == count
    for chain, length in enumerate((longer, shorter)):
        steps = 3 * np.arange(1, length + 1)
        parents, _, log_state = of_chain(found, chain)
        np.testing.assert_array_equal(parents, np.tile(steps[:, None], (1, NODES)))
        np.testing.assert_array_equal(log_state, -steps)
        assert found.record.edges is not None
        np.testing.assert_allclose(found.record.edges[chain], steps.mean(), rtol=1e-12)
        assert found.record.proposed[chain].tolist() == [3 * length, 0]
        assert found.record.accepted[chain].tolist() == [length, 0]
    acceptance = found.record.acceptance
    assert acceptance["one step"] == pytest.approx(1 / 3)
    assert math.isnan(acceptance["never tried"])


@pytest.mark.parametrize("count", [40, 399, 400, 1001])
def test_order_chains_count_every_step(count: int, families: Any) -> None:
    method = order_chains(4)
    found = run(method, families, count)
    assert found.parents.shape == (count, NODES)
    np.testing.assert_array_equal(found.record.proposed.sum(axis=1), 3 * np.array(found.record.lengths))
    assert (found.record.accepted <= found.record.proposed).all()
    assert set(found.record.acceptance) == set(OrderMCMC.moves)
    assert found.record.edges is not None
    assert (found.record.edges.min() >= 0.0) & (found.record.edges.max() <= 1.0 + 1e-12)


@pytest.mark.parametrize(
    ("burn_in", "rounds"), [(0, 0), (1, 1), (3 * ROUND_GRAPHS, 1), (3 * ROUND_GRAPHS + 1, 2), (2000, 7)]
)
def test_the_burn_in_is_rounded_up_to_whole_rounds(burn_in: int, rounds: int) -> None:
    found = run(Counting(burn_in=burn_in), None, 2)
    assert found.parents[:, 0].tolist() == [3 * (rounds * ROUND_GRAPHS + 1)] * 2
    # The moves of the burn-in are not counted.
    assert found.record.proposed[:, 0].tolist() == [3, 3]


def test_a_chain_without_edge_probabilities_has_none() -> None:
    assert run(Counting(gives_edges=False), None, 300).record.edges is None


@pytest.mark.parametrize("count", [-1, 0, 1])
def test_fewer_graphs_than_chains_are_refused(count: int, said: Said) -> None:
    with said.raises(InputError):
        run(Counting(), None, count)


@pytest.mark.parametrize("value", [0, -3, 2.0, True, "4", None])
@pytest.mark.parametrize("name", ["chains", "thinning", "burn_in"])
def test_settings_that_are_no_whole_numbers_or_too_small_are_refused(name: str, value: Any, said: Said) -> None:
    if name == "burn_in" and value == 0:
        assert OrderMCMC(burn_in=value).burn_in == 0
        return
    with said.raises(InputError):
        OrderMCMC(**{name: value})


# Going on


@pytest.mark.parametrize(
    "counts",
    [(300, 600), (5, 900), (299, 303), (450, 451), (451, 1000), (740, 1333), (4, 350, 351, 799), (600, 600)],
    ids=str,
)
def test_going_on_gives_what_an_unbroken_run_gives(counts: tuple[int, ...], families: Any) -> None:
    unbroken = run(order_chains(), families, counts[-1])
    found = None
    for count in counts:
        found = run(order_chains(), families, count, previous=found)
        assert len(found.parents) == count
    assert found is not None
    assert_same(found, unbroken)


def test_going_on_leaves_the_shorter_run_as_it_was(families: Any) -> None:
    short, copy = (run(order_chains(), families, 450) for _ in range(2))
    run(order_chains(), families, 900, previous=short)
    assert_same(short, copy)


def test_graphs_that_were_stored_in_fewer_bytes_can_be_gone_on_from(families: Any) -> None:
    short = run(order_chains(), families, 450)
    stored = ChainRun(short.parents.astype(np.uint8), short.log_joint, short.record)
    found = run(order_chains(), families, 900, previous=stored)
    assert found.parents.dtype == np.uint64
    assert_same(found, run(order_chains(), families, 900))


# Breaking off


def broken_off(families: Any, count: int, engine: Engine = ENGINE, reporter: Reporter = NO_PROGRESS) -> ChainRun:
    """What an interrupted run gives; an interrupt that gets through would end the tests."""
    try:
        found = run(order_chains(), families, count, engine=engine, reporter=reporter)
    except KeyboardInterrupt:
        pytest.fail("the graphs that there were are lost")
    assert found.interrupted
    return found


@pytest.mark.parametrize("results", [0, 2, 3, 5])
def test_an_interrupt_during_the_burn_in_is_passed_on(results: int, families: Any) -> None:
    """Two rounds of burn-in for three chains."""
    with pytest.raises(KeyboardInterrupt):
        run(order_chains(), families, 900, engine=Interrupted(results))


@pytest.mark.parametrize("results", [6, 8])
def test_an_interrupt_before_the_first_round_is_whole_is_passed_on(results: int, families: Any) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(order_chains(), families, 900, engine=Interrupted(results))


@pytest.mark.parametrize(("results", "rounds"), [(9, 1), (11, 1), (12, 2), (14, 2)])
@pytest.mark.parametrize("count", [900, 1000])
def test_an_interrupt_gives_the_rounds_that_are_whole(count: int, results: int, rounds: int, families: Any) -> None:
    broken = broken_off(families, count, Interrupted(results))
    whole = run(order_chains(), families, 3 * ROUND_GRAPHS * rounds)
    assert_same(broken, whole)
    assert_same(run(order_chains(), families, count, previous=broken), run(order_chains(), families, count))


@pytest.mark.parametrize("results", [12, 13, 14])
def test_an_interrupt_in_the_last_round_that_is_not_whole_loses_only_that(results: int, families: Any) -> None:
    """730 graphs of three chains: two rounds of burn-in, two whole ones, and some more."""
    broken = broken_off(families, 730, Interrupted(results))
    assert_same(broken, run(order_chains(), families, 600))


def test_an_interrupt_from_a_progress_bar_gives_what_there_is(families: Any) -> None:
    def press(title: str, done: int, total: int) -> None:
        if done == 11:
            raise KeyboardInterrupt

    broken = broken_off(families, 900, reporter=reporter_for(press))
    assert_same(broken, run(order_chains(), families, 300))


def test_another_error_is_passed_on(families: Any) -> None:
    def fail(title: str, done: int, total: int) -> None:
        if done == 11:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run(order_chains(), families, 900, reporter=reporter_for(fail))


# Progress


@pytest.mark.parametrize("count", [30, 299, 300, 301, 740])
def test_progress_counts_the_rounds_of_all_chains(count: int, families: Any) -> None:
    seen: list[tuple[int, int]] = []

    def note(title: str, done: int, total: int) -> None:
        seen.append((done, total))

    reporter = reporter_for(note)
    found = run(order_chains(), families, count, reporter=reporter)
    total = 3 * (2 + math.ceil(math.ceil(count / 3) / ROUND_GRAPHS))
    assert seen == [(done, total) for done in range(1, total + 1)]
    seen.clear()
    run(order_chains(), families, 1200, reporter=reporter, previous=found)
    assert seen[0] == (3 * (2 + found.record.rounds), 18)
    assert seen[-1] == (18, 18)
