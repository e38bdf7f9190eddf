"""Sums by components on every engine: the answers of threads, wherever the tables of a component are made.

Dask runs on one worker, with even the smallest sums sent to it; CUDA on the plain twins of its kernels.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.tools import fake_cupy

from dagpost import DagPosterior, Table
from dagpost._tools.progress import NO_PROGRESS, Reporter, Stage, reporter_for
from dagpost.checkpoints import Checkpoint
from dagpost.engines import Engine, ThreadEngine
from dagpost.engines.cuda.engine import CudaEngine
from dagpost.families.parent_lists import ParentLists
from dagpost.posterior.component_workspace import ComponentWorkspace

#: The tier of each column: two groups of five and six columns, and one column between them.
TIERS = np.array([0, 2, 0, 2, 0, 1, 0, 2, 0, 2, 2, 2])
MAX_PARENTS = 2


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


@pytest.fixture(scope="module", params=["cuda", "dask"])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    if request.param == "cuda":
        with fake_cupy.installed():
            yield CudaEngine(2, sizes=fake_cupy.SMALL_SIZES)
        return
    distributed = pytest.importorskip("distributed")
    from dagpost.engines.dask import DaskEngine
    from dagpost.engines.dask.backend import DaskBackend
    from dagpost.engines.dask.cluster import local_cluster

    class AlwaysOnCluster(DaskBackend):
        def structure_on_cluster(self, nodes: int, max_parents: int = 5, *, evidence_only: bool = False) -> bool:
            return True

    class EagerEngine(DaskEngine):
        def backend(self) -> DaskBackend:
            return AlwaysOnCluster(self)

    with local_cluster(1) as cluster, distributed.Client(cluster) as client:
        yield EagerEngine(client, threads=2)


def test_every_answer_by_components_is_that_of_threads(engine: Engine, here: ComponentWorkspace) -> None:
    there = workspace_on(engine)
    assert [len(part) for part in there.components.parts] == [5, 1, 6]
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

    allowed = {1: here.masks_of_sets(1, np.arange(12)) & np.uint64(1) == 0, 2: np.arange(11) % 3 != 1}
    left = [own.restricted(allowed).structure_evidence() for own in (there, here)]
    assert left[0] == pytest.approx(left[1], abs=1e-9)
    sets = [own.reach_sets(1, "ancestors", 60.0) for own in (there, here)]
    np.testing.assert_array_equal(sets[0][0], sets[1][0])
    np.testing.assert_allclose(sets[0][1], sets[1][1], rtol=0, atol=1e-9)


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
    settings: dict[str, Any] = {"score": "bdeu", "max_parents": 1, "engine": "auto", "samples": 10}
    DagPosterior(tiers=tiers, **settings).fit(table)
    DagPosterior(tiers=tiers, **settings).plan(table)
    DagPosterior(tiers=tiers, modularity="order", **settings).plan(table)
    assert asked == [2, 2, 22]


# Progress


def test_hundreds_of_groups_share_the_bars_of_a_few() -> None:
    """What is over at once opens no bar, and the stages that a user sees name the part that they belong to."""
    seen: list[tuple[str, int]] = []

    def told(title: str, done: int, total: int, *_: Any) -> None:
        if done == total:
            seen.append((title, total))

    tiers = np.repeat(np.arange(150), 2)
    lists = lists_of(tiers[:40])
    weights = tuple(np.zeros(count) for count in lists.counts.tolist())
    workspace = ComponentWorkspace(lists, weights, ThreadEngine(1), reporter_for(told))
    workspace.summed("structure")
    titles = [title for title, _ in seen]
    assert any("part 20 of 20" in title for title in titles)


# Checkpoints


class Killed(BaseException):
    """What stands for the end of the process."""


class Fatal(Stage):
    """Ends the run in the middle of the second component."""

    def advance(self, units: int) -> None:
        super().advance(units)
        if "part 3 of 3" in self.title and "families" in self.title:
            raise Killed


def fitted_edges(table: Table, checkpoint: Checkpoint | None) -> Any:
    names = list(table.columns)
    tiers = [[names[column] for column in np.flatnonzero(tier == TIERS)] for tier in range(3)]
    model = DagPosterior(score="bdeu", tiers=tiers, max_parents=MAX_PARENTS, seed=1, threads=1)
    return model.fit(table, checkpoint=checkpoint).edge_probabilities_.to_numpy()


def test_a_run_that_ends_inside_a_component_resumes_there(tmp_path: Path) -> None:
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
