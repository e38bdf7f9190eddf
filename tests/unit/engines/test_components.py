"""Sums by components on every engine: the answers of threads, wherever the tables of a component are made.

Dask runs on one worker, with even the smallest sums sent to it; CUDA on the plain twins of its kernels.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.tools import fake_cupy

from dagpost import DagPosterior
from dagpost._tools import progress
from dagpost._tools.progress import NO_PROGRESS, Reporter, Stage
from dagpost.checkpoints import Checkpoint
from dagpost.engines import Engine, ThreadEngine
from dagpost.engines.cuda.engine import CudaEngine
from dagpost.families.parent_lists import ParentLists
from dagpost.posterior.component_workspace import ComponentWorkspace

#: The tier of each column: two groups of five columns, the fewest that are worth a device, and one column between them.
TIERS = np.array([0, 2, 0, 2, 0, 1, 0, 2, 0, 2, 2])
MAX_PARENTS = 2
BITS = np.uint64(1) << np.arange(11, dtype=np.uint64)


def lists_of(tiers: np.ndarray) -> ParentLists:
    allowed = tiers[None, :] <= tiers[:, None]
    np.fill_diagonal(allowed, False)
    return ParentLists.of_matrix(allowed, MAX_PARENTS)


def workspace_on(engine: Engine, reporter: Reporter = NO_PROGRESS) -> ComponentWorkspace:
    lists, rng = lists_of(TIERS), np.random.default_rng(5)
    weights = tuple(4.0 * rng.normal(size=count) for count in lists.counts.tolist())
    return ComponentWorkspace(lists, weights, engine, reporter)


@pytest.fixture(scope="module")
def here() -> ComponentWorkspace:
    return workspace_on(ThreadEngine(2))


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with fake_cupy.installed():
        yield CudaEngine(2, sizes=fake_cupy.SMALL_SIZES)


@pytest.mark.long
def test_every_answer_by_components_is_that_of_threads(engine: Engine, here: ComponentWorkspace) -> None:
    there = workspace_on(engine)
    assert [len(part) for part in there.components.parts] == [5, 1, 5]
    expected, found = here.summed("structure"), there.summed("structure")
    assert found.engine == engine.name
    assert found.log_evidence == pytest.approx(expected.log_evidence, abs=1e-9)
    for one, other in zip(found.families, expected.families, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.edges, expected.edges, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.paths, expected.paths, rtol=0, atol=1e-9)
    assert workspace_on(engine).structure_evidence() == pytest.approx(expected.log_evidence, abs=1e-9)

    drawn, wanted = (own.draw_layers(300, np.random.SeedSequence(3)) for own in (there, here))
    same = (drawn.parents == wanted.parents).all(axis=1)
    # A draw may differ where a number falls on a rounding.
    assert same.mean() > 0.99
    np.testing.assert_allclose(drawn.log_joint[same], wanted.log_joint[same], rtol=1e-12)

    best, listed = there.best_graphs(20), here.best_graphs(20)
    np.testing.assert_array_equal(best.parents, listed.parents)

    allowed = {1: here.masks_of_sets(1, BITS) & np.uint64(1) == 0, 2: np.arange(11) % 3 != 1}
    left = [own.restricted(allowed).structure_evidence() for own in (there, here)]
    assert left[0] == pytest.approx(left[1], abs=1e-9)
    # With no time for more, what is reached within the component.
    sets = [own.reach_sets(1, "ancestors", -1.0) for own in (there, here)]
    np.testing.assert_array_equal(sets[0][0], sets[1][0])
    np.testing.assert_allclose(sets[0][1], sets[1][1], rtol=0, atol=1e-9)


def test_the_evidence_by_components_on_the_twins_of_a_device_is_that_of_threads(here: ComponentWorkspace) -> None:
    with fake_cupy.installed():
        found = workspace_on(CudaEngine(2, sizes=fake_cupy.SMALL_SIZES)).structure_evidence()
    assert found == pytest.approx(here.summed("structure").log_evidence, abs=1e-9)


def test_any_number_of_threads_gives_the_same_bits(here: ComponentWorkspace) -> None:
    expected, drawn = here.summed("structure"), here.draw_layers(500, np.random.SeedSequence(3))
    for threads in (1, 3):
        other = workspace_on(ThreadEngine(threads))
        found, again = other.summed("structure"), other.draw_layers(500, np.random.SeedSequence(3))
        assert found.log_evidence == expected.log_evidence
        assert all(map(np.array_equal, found.families, expected.families))
        assert np.array_equal(again.parents, drawn.parents)
        assert np.array_equal(again.log_joint, drawn.log_joint)


# Which engine is chosen


def tiered_table(columns: int) -> tuple[pd.DataFrame, list[list[str]]]:
    names = [f"V{column}" for column in range(columns)]
    values = np.random.default_rng(7).integers(2, size=(30, columns))
    return pd.DataFrame(values, columns=names), [names[start : start + 2] for start in range(0, columns, 2)]


def test_the_automatic_engine_looks_at_the_largest_group(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def suits(nodes: int) -> bool:
        asked.append(nodes)
        return False

    monkeypatch.setattr(CudaEngine, "suits", suits)
    table, tiers = tiered_table(22)
    for modularity in ("structure", "order"):
        DagPosterior(
            prior="uniform", score="bdeu", tiers=tiers, max_parents=1, engine="auto", modularity=modularity
        ).plan(table)
    assert asked == [2, 22]


# Progress


def stages_of(tiers: list[int]) -> list[tuple[str, int]]:
    """The stages that the sums over columns in these tiers report, with their totals."""
    seen: dict[str, int] = {}

    class Noted(Stage):
        def __init__(self, title: str, total: int) -> None:
            super().__init__(title, total)
            seen[title] = total

    lists = lists_of(np.array(tiers))
    weights = tuple(np.zeros(count) for count in lists.counts.tolist())
    ComponentWorkspace(lists, weights, ThreadEngine(1), Reporter(Noted)).summed("structure")
    return list(seen.items())


def test_many_small_components_share_one_bar() -> None:
    assert stages_of([0, 0, 1, 2, 2, 2, *range(3, 60)]) == [("sums over parts", 9 + 3 + 27 + 57 * 3)]


def test_a_component_that_takes_long_has_bars_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE_SECONDS", 1e-6)
    titles = [title for title, _ in stages_of([0, 0, 0, 0, 0, 0, 0, 1, 2, 2])]
    assert titles
    assert all(title.startswith("part 1 of 3: ") for title in titles)


# Checkpoints


class Killed(BaseException):
    """What stands for the end of the process."""


class Fatal(Stage):
    """Ends the run in the middle of the last component."""

    def advance(self, units: int) -> None:
        super().advance(units)
        if self.title == "part 3 of 3: families and paths":
            raise Killed


def test_a_run_that_ends_inside_a_component_resumes_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE_SECONDS", 0.0)
    workspace = workspace_on(ThreadEngine(1), Reporter(Fatal))
    expected = workspace_on(ThreadEngine(1)).summed("structure")
    kept = Checkpoint(tmp_path / "kept", seconds=0)
    with pytest.raises(Killed), kept.task("fit", {}) as task, workspace.checkpointed(task):
        workspace.summed("structure")
    again = Checkpoint(tmp_path / "kept", seconds=0)
    resumed = workspace_on(ThreadEngine(1))
    with again.task("fit", {}) as task, resumed.checkpointed(task):
        found = resumed.summed("structure")
    assert again.resumed
    assert found.log_evidence == expected.log_evidence
    assert all(map(np.array_equal, found.families, expected.families))
