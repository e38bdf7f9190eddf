"""Chains over completed tables that are broken off, interrupted or gone on with: the same tables and graphs."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.tools.broken_off import StoppingEngine, broken_off, eager, flip, parts
from tests.tools.gapped import SHORT, answers_to, same_chains
from tests.tools.latent import clinic
from tests.tools.wording import Said

from dagpost import BDeu, DagPosterior, DagSample
from dagpost._tools.progress import NO_PROGRESS
from dagpost.checkpoints import Checkpoint
from dagpost.checkpoints.folder import Folder
from dagpost.engines import ThreadEngine
from dagpost.errors import DagpostWarning, InputError
from dagpost.methods.augmentation import Augmentation

pytestmark = pytest.mark.filterwarnings("ignore::dagpost.errors.DagpostWarning")

TABLE = answers_to(30)


def fit(engine: ThreadEngine, checkpoint: Checkpoint | None, **settings: Any) -> DagPosterior:
    own = {"score": BDeu((1.0, 10.0)), "method": SHORT, "samples": 530, **settings}
    return DagPosterior(**{"prior": "uniform", **own}, seed=1, engine=engine).fit(TABLE, checkpoint=checkpoint)


@pytest.fixture(scope="module")
def whole() -> DagPosterior:
    """Two rounds of burn-in and two that are kept, of two chains, and a rest."""
    return fit(ThreadEngine(2), None)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "run.partial"


def results_of(run: Callable[[ThreadEngine], Any]) -> int:
    """How many results of blocks a run takes."""
    counting = StoppingEngine(10**6)
    run(counting)
    return 10**6 - int(counting.left)


def test_a_fit_with_gaps_that_is_broken_off_anywhere_has_the_same_tables(whole: DagPosterior, folder: Path) -> None:
    results = results_of(lambda engine: fit(engine, None))
    assert results >= 8
    # In the burn-in, at its end, in a round that is kept, and in the rest after the last whole one.
    for place in (1, 4, 7, results - 1):
        found = broken_off(fit, folder, place)
        assert same_chains(found.own_sample(), whole.own_sample())
        assert found.edge_probabilities_.equals(whole.edge_probabilities_)


def test_a_fit_of_latent_numbers_that_is_broken_off_has_the_same_ones(folder: Path) -> None:
    def attempt(engine: ThreadEngine, checkpoint: Checkpoint | None) -> DagPosterior:
        own = DagPosterior(
            "latent-gaussian", prior="uniform", method=SHORT, samples=430, max_parents=1, seed=1, engine=engine
        )
        return own.fit(clinic(), checkpoint=checkpoint)

    expected = attempt(ThreadEngine(2), None)
    for place in (3, 6):
        assert same_chains(broken_off(attempt, folder, place).own_sample(), expected.own_sample())
    interrupted = attempt(InterruptedEngine(7), None)
    interrupted.fitted_.workspace.run_on(ThreadEngine(2), NO_PROGRESS)
    assert same_chains(interrupted.sample(430, resume=interrupted.own_sample()), expected.own_sample())


def test_chains_that_stop_by_their_rule_stop_there_again_when_they_were_broken_off(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Augmentation, "is_enough", lambda self, series: len(series[0]["values"]) >= 20)  # noqa: ARG005
    method = Augmentation(chains=2, burn_in=0, graphs=50)

    def attempt(engine: ThreadEngine, checkpoint: Checkpoint | None) -> DagPosterior:
        return fit(engine, checkpoint, method=method, samples=3_000)

    expected = attempt(ThreadEngine(1), None).own_sample()
    assert len(expected) == 2_000
    results = results_of(lambda engine: attempt(engine, None))
    for place in (results // 2, results - 1):
        assert same_chains(broken_off(attempt, folder, place).own_sample(), expected)


def test_a_sample_with_gaps_that_goes_on_and_is_broken_off_has_the_same_tables(
    whole: DagPosterior, folder: Path
) -> None:
    expected, shorter = whole.sample(900, seed=1), whole.own_sample()

    def attempt(engine: ThreadEngine, checkpoint: Checkpoint) -> DagSample:
        whole.fitted_.workspace.run_on(engine, NO_PROGRESS)
        return whole.sample(900, resume=shorter, checkpoint=checkpoint)

    for place in (1, 2):
        assert same_chains(broken_off(attempt, folder, place), expected)


class InterruptedEngine(ThreadEngine):
    """Gives so many results, and is then interrupted as by Ctrl-C."""

    def __init__(self, results: int) -> None:
        super().__init__(1)
        self.left = results

    def run(self, block: Callable[[Any, Any], Any], items: Sequence[Any]) -> Iterator[Any]:
        for result in super().run(block, items):
            if self.left == 0:
                raise KeyboardInterrupt
            self.left -= 1
            yield result


def test_an_interrupt_leaves_the_tables_of_whole_rounds_and_they_can_be_gone_on_with(whole: DagPosterior) -> None:
    # Two chains: two rounds of burn-in are behind them, one is kept, and the next has begun.
    model = fit(InterruptedEngine(7), None)
    found = model.own_sample()
    assert found.chains is not None
    assert found.chains.lengths == (100, 100)
    assert found.chains.checks is not None
    assert found.chains.checks.interrupted
    assert found.chains.series_lengths["cells"] == (10, 10)
    assert np.isfinite(model.edge_probabilities_.to_numpy()).all()
    model.fitted_.workspace.run_on(ThreadEngine(2), NO_PROGRESS)
    assert same_chains(model.sample(530, resume=found), whole.own_sample())


def test_an_interrupt_of_the_burn_in_leaves_no_model() -> None:
    with pytest.raises(KeyboardInterrupt):
        fit(InterruptedEngine(1), None)


def test_two_runs_do_not_share_a_checkpoint(folder: Path, said: Said) -> None:
    fit(ThreadEngine(1), eager(folder))
    other = Folder(folder)
    other.lock()
    try:
        with said.raises(InputError):
            fit(ThreadEngine(1), eager(folder))
    finally:
        other.unlock()


def test_a_full_disk_ends_the_checkpoints_and_not_the_run(
    whole: DagPosterior, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(folder.parent)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=1_000_000))
    with warnings.catch_warnings(record=True) as remarks:
        warnings.simplefilter("always", DagpostWarning)
        found = fit(ThreadEngine(1), eager(folder))
    assert sum("continues without them" in str(remark.message) for remark in remarks) == 1
    assert same_chains(found.own_sample(), whole.own_sample())


def test_damaged_tables_of_a_checkpoint_are_drawn_again(whole: DagPosterior, folder: Path, said: Said) -> None:
    for which in (0, 2):
        fit(ThreadEngine(1), eager(folder))
        flip(parts(folder)[which])
        with said.warns(DagpostWarning):
            found = fit(ThreadEngine(1), eager(folder))
        assert same_chains(found.own_sample(), whole.own_sample())
        eager(folder).remove()
