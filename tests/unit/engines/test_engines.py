"""Engines: blocks in, results out in order, and a clean end whatever happens."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.tools.interrupts import at_work, interrupted
from tests.tools.wording import Said

from dagpost._tools.progress import reporter_for
from dagpost.engines import Engine, ThreadEngine
from dagpost.engines.threads import available_cores
from dagpost.errors import InputError
from dagpost.exact.structure import structure_posterior

if TYPE_CHECKING:
    from dagpost.engines.base import CancelFlag

# Runs tables that take minutes, after a small one that compiles or loads the kernels.
LONG_RUN = """
import sys, time
import numpy as np
from dagpost.engines import ThreadEngine
from dagpost.exact.order import family_probabilities, forward_table
from dagpost.families.numbering import family_count

def weights(nodes, max_parents):
    return np.random.default_rng(1).normal(size=(nodes, family_count(nodes - 1, max_parents)))

engine = ThreadEngine(1)
family_probabilities(forward_table(weights(4, 3), 3, engine=engine), engine=engine)
large = weights(26, 5)
if sys.argv[1] == "backward":
    large = weights(24, 5)
    forward = forward_table(large, 5, engine=engine)
print("started", flush=True)
try:
    for _ in range(100):
        if sys.argv[1] == "backward":
            family_probabilities(forward, engine=engine)
        else:
            forward_table(large, 5, engine=engine)
except KeyboardInterrupt:
    print("interrupted", flush=True)
    raise
print("finished", flush=True)
"""


def pool_threads() -> list[threading.Thread]:
    """Those of pools; tests of the explorer may leave one of theirs, which waits for work, in the same process."""
    return [thread for thread in threading.enumerate() if thread.name.startswith("dagpost_")]


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_results_come_in_the_order_of_the_items(threads: int) -> None:
    def block(item: int, cancel: object) -> int:
        time.sleep(0.005 * (item % 3))
        return item * item

    found = list(ThreadEngine(threads).run(block, range(20)))
    assert found == [item * item for item in range(20)]


def test_no_items_give_no_results() -> None:
    assert list(ThreadEngine(2).run(lambda item, _cancel: item, [])) == []


def test_blocks_run_at_the_same_time_but_no_more_than_there_are_workers() -> None:
    lock, together = threading.Lock(), threading.Barrier(3)
    running, most = 0, 0

    def block(item: int, cancel: object) -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        together.wait(timeout=60)
        with lock:
            running -= 1

    list(ThreadEngine(3).run(block, range(12)))
    assert most == 3


def test_results_not_yet_taken_are_bounded() -> None:
    finished: list[int] = []
    run: Any = ThreadEngine(2).run(lambda item, _cancel: finished.append(item), range(100))
    next(run)
    time.sleep(0.1)
    assert len(finished) <= 6
    run.close()
    assert not pool_threads()


@pytest.mark.parametrize("threads", [1, 3])
def test_an_error_in_a_block_comes_out_and_the_pool_ends(threads: int) -> None:
    flags: list[CancelFlag] = []

    def block(item: int, cancel: CancelFlag) -> int:
        flags.append(cancel)
        if item == 4:
            raise ZeroDivisionError("block 4")
        return item

    found: list[int] = []
    run = ThreadEngine(threads).run(block, range(1000))

    def take_all() -> None:
        found.extend(run)

    with pytest.raises(ZeroDivisionError, match="block 4"):
        take_all()
    assert not pool_threads()
    assert len(flags) < 100
    assert flags[0][0] == 1


def test_leaving_early_raises_the_cancel_flag_and_waits_for_running_blocks() -> None:
    ended = []

    def block(item: int, cancel: CancelFlag) -> int:
        while item and not cancel[0]:
            time.sleep(0.001)
        ended.append(item)
        return item

    run: Any = ThreadEngine(2).run(block, [0, 1, 2, 3])
    assert next(run) == 0
    run.close()
    assert not pool_threads()
    assert 0 in ended


def test_a_long_computation_tells_of_all_its_work() -> None:
    told: list[tuple[str, int, int]] = []
    reporter = reporter_for(lambda *progress: told.append(progress))
    weights = np.zeros((17, 17))
    structure_posterior(weights, 1, engine=ThreadEngine(2), reporter=reporter)
    stages = {title: (done, total) for title, done, total in told}
    assert set(stages) == {"forward table", "sums over graphs", "families and paths"}
    assert all(done == total for done, total in stages.values())


def test_all_cores_are_used_unless_told_otherwise() -> None:
    assert ThreadEngine().workers == available_cores() >= 1
    assert ThreadEngine(7).workers == 7
    engine: Engine = ThreadEngine(1)
    assert engine.workers == 1


@pytest.mark.parametrize("threads", [0, -1, 1.5, "two", True, 100_000])
def test_a_number_of_threads_that_is_none_is_refused(threads: object, said: Said) -> None:
    with said.raises(InputError):
        ThreadEngine(threads)


@pytest.mark.skipif(sys.platform == "win32", reason="signals work otherwise there")
@pytest.mark.parametrize("stage", ["forward", "backward"])
def test_an_interrupt_ends_a_long_run_at_once(stage: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", LONG_RUN, stage],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "started\n"
    # Left alone, it would go on for a minute or more.
    output, errors = interrupted(process, at_work(process, 0.3))
    assert output == "interrupted\n"
    assert "KeyboardInterrupt" in errors
    assert process.returncode not in (0, None)
