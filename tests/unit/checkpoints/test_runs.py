"""A fit or a sample that is broken off anywhere, and made again with the same call, gives the same numbers."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.tools.broken_off import Stopped, StoppingEngine, broken_off, eager, flip, parts, same_fit, same_sample
from tests.tools.engines import SlowEngine
from tests.tools.wording import Said

from dagpost import DagPosterior, DagSample, LocalScores, datasets, local_scores
from dagpost._tools.progress import NO_PROGRESS, reporter_for
from dagpost.checkpoints import Checkpoint
from dagpost.checkpoints.folder import MANIFEST
from dagpost.data import as_table
from dagpost.engines import ThreadEngine
from dagpost.errors import DagpostWarning, InputError
from dagpost.families.numbering import family_count
from dagpost.methods.block_gibbs import BlockGibbs
from dagpost.methods.bootstrap import Bootstrap
from dagpost.methods.order_mcmc import OrderMCMC
from dagpost.methods.partition_mcmc import PartitionMCMC
from dagpost.scores import K2
from dagpost.scores.set_functions import tasks_of


def table_of(columns: int) -> pd.DataFrame:
    generator = np.random.default_rng(1)
    rows = generator.integers(0, 2, (200, columns))
    for column in range(1, columns):
        rows[:, column] = np.where(generator.random(200) < 0.7, rows[:, column - 1], rows[:, column])
    return pd.DataFrame(rows, columns=[f"c{column}" for column in range(columns)])


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    """With 13 variables, the sums over graphs come in several waves."""
    return table_of(13)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "run.partial"


@pytest.mark.parametrize(
    ("modularity", "columns"), [("structure", 13), pytest.param("order", 18, marks=pytest.mark.long)]
)
def test_a_fit_that_is_broken_off_anywhere_gives_the_same_numbers(modularity: Any, columns: int, folder: Path) -> None:
    # With 18 variables, the order-modular tables come in several waves, too.
    table = table_of(columns)

    def attempt(engine: ThreadEngine, checkpoint: Checkpoint | None) -> DagPosterior:
        model = DagPosterior(prior="uniform", score="bdeu", modularity=modularity, max_parents=2, engine=engine, seed=1)
        return model.fit(table, checkpoint=checkpoint)

    counting = StoppingEngine(math.inf)
    counting.left = 10**6
    whole = attempt(counting, None)
    results = 10**6 - int(counting.left)
    # All places where a wave ends, and some in between.
    places = [*range(results - 12, results), *range(1, results - 12, 17)]
    assert all(same_fit(broken_off(attempt, folder, place), whole) for place in places)


def test_a_fit_goes_on_from_the_tables_that_it_has(table: pd.DataFrame, folder: Path) -> None:
    stages: list[tuple[str, int]] = []

    def note(title: str, done: int, total: int) -> None:
        stages.append((title, done))

    def attempt(results: float, progress: Any) -> DagPosterior:
        model = DagPosterior(
            prior="uniform", score="bdeu", max_parents=2, engine=StoppingEngine(results), seed=1, progress=progress
        )
        return model.fit(table, checkpoint=eager(folder))

    attempt(math.inf, False)
    # Every stage is read and each bar is full at once; only what is taken off the scores of 13 variables at their end
    # is taken off again.
    attempt(13, note)
    assert ("local scores", 13 + len(tasks_of(13, 3))) in stages
    assert ("forward table", 1) in stages
    assert ("sums over graphs", 9) in stages
    assert ("families and paths", 9) in stages


@pytest.mark.parametrize(
    ("settings", "count"),
    [
        ({"method": BlockGibbs(chains=3, thinning=2, burn_in=500)}, 1234),
        ({"method": OrderMCMC(chains=2, thinning=2, burn_in=0), "modularity": "order"}, 500),
        pytest.param({"method": "hybrid-mcmc"}, 450, marks=pytest.mark.long),
        ({"method": "exact-layers"}, 70_000),
        ({"method": "linear-extensions"}, 3_000),
        ({"modularity": "order"}, 70_000),
    ],
    ids=["block-gibbs", "order-mcmc", "hybrid-mcmc", "exact-layers", "linear-extensions", "dds"],
)
@pytest.mark.filterwarnings("ignore::dagpost.errors.DagpostWarning")
def test_a_sample_that_is_broken_off_anywhere_has_the_same_graphs(
    settings: dict[str, Any], count: int, folder: Path
) -> None:
    model = DagPosterior(max_parents=2, **{"prior": "uniform", "score": "bdeu", **settings}).fit(
        datasets.load("coronary")
    )

    def attempt(engine: ThreadEngine, checkpoint: Checkpoint | None) -> DagSample:
        model.fitted_.workspace.run_on(engine, NO_PROGRESS)
        return model.sample(count, seed=3, checkpoint=checkpoint)

    whole = attempt(ThreadEngine(1), None)
    counting = StoppingEngine(10**6)
    attempt(counting, None)
    results = 10**6 - int(counting.left)
    for place in sorted({0, 1, results // 3, results // 2, results - 2, results - 1}):
        assert same_sample(broken_off(attempt, folder, place), whole)


@pytest.mark.filterwarnings("ignore::dagpost.errors.DagpostWarning")
def test_chains_that_were_gone_on_with_may_be_broken_off_too(folder: Path) -> None:
    method = PartitionMCMC(chains=2, thinning=2, burn_in=300)
    model = DagPosterior(prior="uniform", score="bdeu", max_parents=2, method=method).fit(datasets.load("coronary"))
    shorter, whole = model.sample(450, seed=3), model.sample(1_100, seed=3)

    def attempt(engine: ThreadEngine, checkpoint: Checkpoint) -> DagSample:
        model.fitted_.workspace.run_on(engine, NO_PROGRESS)
        return model.sample(1_100, resume=shorter, checkpoint=checkpoint)

    assert all(same_sample(broken_off(attempt, folder, place), whole) for place in (0, 1, 2, 3, 5, 6, 7))


@pytest.mark.filterwarnings("ignore::dagpost.errors.DagpostWarning")
def test_damaged_rounds_of_chains_are_run_again(folder: Path, said: Said) -> None:
    method = PartitionMCMC(chains=2, thinning=2, burn_in=300)
    model = DagPosterior(prior="uniform", score="bdeu", max_parents=2, method=method).fit(datasets.load("coronary"))
    whole = model.sample(1_000, seed=3)
    for which in (0, 2, -1):
        model.sample(1_000, seed=3, checkpoint=eager(folder))
        flip(parts(folder)[which])
        with said.warns(DagpostWarning):
            assert same_sample(model.sample(1_000, seed=3, checkpoint=eager(folder)), whole)
        eager(folder).remove()


def test_bootstrap_replicates_that_were_found_are_not_looked_for_again(folder: Path) -> None:
    table = datasets.load("coronary")

    def attempt(engine: ThreadEngine, checkpoint: Checkpoint | None) -> DagPosterior:
        return DagPosterior(prior="uniform", score="bdeu", method=Bootstrap(replicates=9), engine=engine, seed=4).fit(
            table, checkpoint=checkpoint
        )

    whole = attempt(ThreadEngine(2), None)
    counting = StoppingEngine(10**6)
    attempt(counting, None)
    results = 10**6 - int(counting.left)
    for place in (results - 9, results - 5, results - 1):
        found = broken_off(attempt, folder, place)
        assert same_sample(found.own_sample(), whole.own_sample())


def test_scores_among_candidates_are_kept_part_by_part(
    table: pd.DataFrame, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dagpost.families.family_sums.MOST_FAMILIES", 100)

    def stop(title: str, done: int, total: int) -> None:
        if (title, done) == ("candidates: local scores", total):
            raise Stopped

    def attempt(progress: Any, checkpoint: Checkpoint | None) -> DagPosterior:
        method = PartitionMCMC(chains=2, thinning=2, burn_in=0)
        model = DagPosterior(
            prior="uniform", score="bdeu", method=method, max_parents=3, progress=progress, seed=4, samples=300
        )
        return model.fit(table, checkpoint=checkpoint)

    with pytest.warns(DagpostWarning):
        whole = attempt(False, None).own_sample()
    with pytest.raises(Stopped):
        attempt(stop, eager(folder))
    manifest = json.loads((folder / MANIFEST).read_text())["content"]["tasks"]["fit"]
    assert manifest["decisions"]["whether to score candidates only"]
    assert manifest["stages"]["small sets: allowed families"]["done"] == 1
    assert any(name.startswith("candidates: group 0") and stage["done"] for name, stage in manifest["stages"].items())
    with pytest.warns(DagpostWarning):
        found = attempt(False, eager(folder))
    assert same_sample(found.own_sample(), whole)


def columns_of(kind: str) -> pd.DataFrame:
    """Six columns: levels, two to four of them in a column, or numbers."""
    generator = np.random.default_rng(5)
    numbers = generator.normal(size=(300, 6)).cumsum(axis=1)
    if kind == "bge":
        return pd.DataFrame(numbers, columns=list("abcdef"))
    levels = [np.digitize(numbers[:, place], np.linspace(-1.0, 1.0, 1 + place % 3)) for place in range(6)]
    return pd.DataFrame(dict(zip("abcdef", levels, strict=True)))


@pytest.mark.parametrize("set_from_outside", [False, True], ids=["seen", "set"])
@pytest.mark.parametrize("score", ["bdeu", "bde", "k2", "bic", "bge"])
def test_scores_that_are_broken_off_anywhere_are_the_same(score: str, set_from_outside: bool, folder: Path) -> None:
    frame = columns_of(score)
    # Columns that were set in other rows are scored by themselves, in a run of their own.
    interventions = np.resize(["", "a", "", "c", "a"], len(frame)) if set_from_outside else None
    table = as_table(frame, interventions=interventions)

    def attempt(engine: ThreadEngine, checkpoint: Checkpoint) -> LocalScores:
        with checkpoint.task("fit", {}) as kept:
            return local_scores(table, score, 3, engine=engine, checkpoint=kept)

    counting = StoppingEngine(10**6)
    whole = local_scores(table, score, 3, engine=counting)
    results = 10**6 - int(counting.left)
    for place in (*range(0, results - 6, 5), *range(results - 6, results)):
        assert np.array_equal(broken_off(attempt, folder, place).values, whole.values)


def test_scores_that_are_done_are_not_counted_again(folder: Path) -> None:
    table = as_table(columns_of("bdeu"))
    tasks = len(tasks_of(6, 4))
    done: list[int] = []

    def attempt(engine: ThreadEngine) -> LocalScores:
        with eager(folder).task("fit", {}) as kept:
            reporter = reporter_for(lambda _, units, __: done.append(units))
            return local_scores(table, "bdeu", 3, engine=engine, reporter=reporter, checkpoint=kept)

    with pytest.raises(Stopped):
        attempt(StoppingEngine(tasks - 1))
    done.clear()
    # The one task that was not kept, and then B is taken off each of six nodes.
    engine = StoppingEngine(1 + 6)
    found = attempt(engine)
    assert engine.left == 0
    assert done == list(range(1, tasks + 7))
    assert np.array_equal(found.values, local_scores(table, "bdeu", 3).values)


class CountingEngine(ThreadEngine):
    """Has all sums at once, as a device does, and says how often it was asked; the sums of `elsewhere` are not ours."""

    def __init__(self, elsewhere: float = 0.0) -> None:
        super().__init__(1)
        self.asked, self.elsewhere = 0, elsewhere

    def sum_cells(self, rows: Any, cells: Any, max_size: int) -> Any:
        self.asked += 1
        nodes = len(rows.order)
        return np.full((1 + len(cells.penalties), family_count(nodes, max_size)), self.elsewhere)


def test_sums_that_an_engine_has_counted_are_kept_whole_and_hold_for_any_engine(folder: Path) -> None:
    table = as_table(columns_of("k2"))

    def attempt(engine: ThreadEngine) -> LocalScores:
        with eager(folder).task("fit", {}) as kept:
            return local_scores(table, "k2", 3, engine=engine, checkpoint=kept)

    first = CountingEngine(2.0)
    attempt(first)
    assert first.asked == 1
    again = CountingEngine(3.0)
    assert not attempt(again).values.any()
    assert again.asked == 0
    assert not attempt(ThreadEngine(1)).values.any()


def test_scores_that_threads_have_begun_are_ended_by_threads(folder: Path) -> None:
    table = as_table(columns_of("k2"))
    with pytest.raises(Stopped), eager(folder).task("fit", {}) as kept:
        local_scores(table, "k2", 3, engine=StoppingEngine(5), checkpoint=kept)
    engine = CountingEngine()
    with eager(folder).task("fit", {}) as kept:
        found = local_scores(table, "k2", 3, engine=engine, checkpoint=kept)
    assert engine.asked == 0
    assert np.array_equal(found.values, local_scores(table, "k2", 3).values)


def test_damaged_scores_are_counted_again(folder: Path, said: Said) -> None:
    table = as_table(columns_of("bdeu"))
    with eager(folder).task("fit", {}) as kept:
        whole = local_scores(table, "bdeu", 3, checkpoint=kept)
    flip(parts(folder)[-1])
    damaged = said.warns(DagpostWarning)
    with damaged, eager(folder).task("fit", {}) as kept:
        found = local_scores(table, "bdeu", 3, checkpoint=kept)
    assert np.array_equal(found.values, whole.values)


def test_a_seed_that_was_drawn_is_drawn_once(folder: Path) -> None:
    model = DagPosterior(prior="uniform", score="bdeu", max_parents=2).fit(datasets.load("coronary"))
    first = model.sample(500, checkpoint=eager(folder))
    again = model.sample(500, checkpoint=eager(folder))
    assert same_sample(first, again)
    assert first.provenance["seed"] == again.provenance["seed"]
    assert not same_sample(first, model.sample(500))


def test_the_method_that_was_chosen_stays_chosen(folder: Path) -> None:
    table = datasets.load("coronary")
    first = DagPosterior(prior="uniform", score="bdeu", max_parents=2, seed=1).fit(table, checkpoint=eager(folder))
    # By now the machine seems too slow for the sums over all graphs.
    slow = SlowEngine()
    second = DagPosterior(prior="uniform", score="bdeu", max_parents=2, engine=slow, seed=1).fit(
        table, checkpoint=eager(folder)
    )
    assert first.method_ == second.method_ == "exact-layers"
    assert first.method_reason_ == second.method_reason_
    assert same_fit(first, second)
    with pytest.warns(DagpostWarning, match="estimated"):
        assert (
            DagPosterior(prior="uniform", score="bdeu", max_parents=2, engine=slow, seed=1).fit(table).method_
            == "linear-extensions"
        )


def test_scores_that_leave_a_variable_nothing_are_refused_by_its_name(said: Said) -> None:
    scores = local_scores(datasets.load("coronary"), "bdeu", 2)
    scores.values[2] = -np.inf
    with said.raises(InputError):
        DagPosterior(prior="uniform", score="bdeu").fit_scores(scores)


def test_scores_from_elsewhere_go_on_too(folder: Path) -> None:
    scores = local_scores(datasets.load("coronary"), "bdeu", 2)
    whole = DagPosterior(prior="uniform", score="bdeu").fit_scores(scores)
    DagPosterior(prior="uniform", score="bdeu").fit_scores(scores, checkpoint=eager(folder))
    checkpoint = eager(folder)
    assert same_fit(DagPosterior(prior="uniform", score="bdeu").fit_scores(scores, checkpoint=checkpoint), whole)
    assert checkpoint.resumed


@pytest.mark.parametrize(
    "change",
    [
        {"max_parents": 1},
        {"score": "k2"},
        {"seed": 5},
        {"forbidden": [("Smoking", "Family")]},
        {"modularity": "order"},
    ],
)
def test_a_fit_with_other_settings_is_refused(change: dict[str, Any], folder: Path, said: Said) -> None:
    table, settings = datasets.load("coronary"), {"max_parents": 2, "seed": 1}
    DagPosterior(**{"prior": "uniform", "score": "bdeu", **settings}).fit(table, checkpoint=eager(folder))
    with said.raises(InputError):
        DagPosterior(**{"prior": "uniform", **settings, **change}).fit(table, checkpoint=eager(folder))


def test_a_fit_of_other_data_or_another_version_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch, said: Said
) -> None:
    table = datasets.load("coronary")
    DagPosterior(prior="uniform", score="bdeu", max_parents=2).fit(table, checkpoint=eager(folder))
    other = table.to_pandas().iloc[1:]
    with pytest.raises(InputError, match="data: "):
        DagPosterior(prior="uniform", score="bdeu", max_parents=2).fit(other, counts="counts", checkpoint=eager(folder))
    monkeypatch.setattr("dagpost.posterior.study.__version__", "0.0.1")
    with said.raises(InputError):
        DagPosterior(prior="uniform", score="bdeu", max_parents=2).fit(table, checkpoint=eager(folder))


def test_threads_and_progress_may_change(folder: Path) -> None:
    table = datasets.load("coronary")
    whole = DagPosterior(prior="uniform", score="bdeu", max_parents=2, threads=1).fit(table, checkpoint=eager(folder))
    checkpoint = eager(folder)
    again = DagPosterior(prior="uniform", score="bdeu", max_parents=2, threads=2, progress=False).fit(
        table, checkpoint=checkpoint
    )
    assert checkpoint.resumed
    assert same_fit(whole, again)


class OwnScore:
    """A score that a user might write."""

    def __init__(self, shift: float) -> None:
        self.shift = shift

    def fill(self, table: Any, max_parents: int, values: Any, engine: Any, reporter: Any) -> None:
        values[:] = local_scores(table, "k2", max_parents, engine=engine, reporter=reporter).values + self.shift


def test_a_score_of_the_users_own_is_asked_again(folder: Path, said: Said) -> None:
    table = datasets.load("coronary")
    whole = DagPosterior(OwnScore(0.0), prior="uniform", max_parents=2).fit(table, checkpoint=eager(folder))
    checkpoint = eager(folder)
    assert same_fit(
        DagPosterior(OwnScore(0.0), prior="uniform", max_parents=2).fit(table, checkpoint=checkpoint), whole
    )
    assert checkpoint.resumed
    with said.raises(InputError):
        DagPosterior(OwnScore(1.0), prior="uniform", max_parents=2).fit(table, checkpoint=eager(folder))


class DerivedScore(K2):
    """One of ours, with a way of its own to fill in the scores, which knows of no checkpoint."""

    def fill(self, table: Any, max_parents: int, values: Any, engine: Any, reporter: Any) -> None:  # type: ignore[override]
        OwnScore(1.0).fill(table, max_parents, values, engine, reporter)


def test_a_score_that_is_derived_from_one_of_ours_fills_in_its_own_way() -> None:
    table = as_table(datasets.load("coronary"))
    assert np.array_equal(local_scores(table, DerivedScore()).values, local_scores(table, "k2").values + 1.0)


def test_a_path_is_no_checkpoint(folder: Path, said: Said) -> None:
    with said.raises(InputError):
        DagPosterior(prior="uniform", score="bdeu").fit(datasets.load("coronary"), checkpoint=str(folder))


def test_a_broken_off_fit_lets_go_of_its_folder_and_its_model(folder: Path) -> None:
    model = DagPosterior(prior="uniform", score="bdeu", max_parents=2, engine=StoppingEngine(20))
    with pytest.raises(Stopped):
        model.fit(datasets.load("coronary"), checkpoint=eager(folder))
    assert not hasattr(model, "edge_probabilities_")
    eager(folder).remove()
    assert not folder.exists()
