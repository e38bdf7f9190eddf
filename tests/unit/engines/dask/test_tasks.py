"""Chains, bootstrap replicates and folds run as tasks of a cluster, and give what they give on threads."""

from __future__ import annotations

import copy
import pickle
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import joblib  # type: ignore[import-untyped]
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from tests.tools.wording import Said

distributed = pytest.importorskip("distributed")

from dagpost import BDeu, Bootstrap, DagPosterior, PartitionMCMC, datasets  # noqa: E402
from dagpost.checkpoints import NO_CHECKPOINT  # noqa: E402
from dagpost.engines import ThreadEngine  # noqa: E402
from dagpost.engines.dask import DaskEngine, cluster  # noqa: E402
from dagpost.engines.dask.tasks import Tasks  # noqa: E402
from dagpost.engines.registry import resolve_engine  # noqa: E402
from dagpost.errors import DagpostWarning, InputError  # noqa: E402
from dagpost.families.family_sums import family_tables  # noqa: E402
from dagpost.families.numbering import family_count  # noqa: E402
from dagpost.mcmc.chains import run_chains  # noqa: E402
from dagpost.methods.order_mcmc import OrderMCMC  # noqa: E402
from dagpost.posterior.sample import DagSample  # noqa: E402
from dagpost.prediction import cross_validate  # noqa: E402
from dagpost.scores import local_scores  # noqa: E402

CORONARY = datasets.load("coronary")
CHAINS = PartitionMCMC(chains=2, burn_in=2000)


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with cluster.local_cluster(2) as local, distributed.Client(local) as own:
        yield own


@pytest.fixture(scope="module")
def engine(client: Any) -> DaskEngine:
    return DaskEngine(client, threads=2)


def weights_of(nodes: int, max_parents: int) -> Any:
    return 5.0 * np.random.default_rng(nodes).normal(size=(nodes, family_count(nodes - 1, max_parents)))


def tasks_on(client: Any) -> set[str]:
    """Keys of the tasks that the scheduler knows of."""
    return set(client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.tasks)))


def wait_for_no_tasks(client: Any, before: set[str]) -> None:
    """Until the scheduler has heard of what was taken back; what runs already runs to its end."""
    for _ in range(600):
        if tasks_on(client) <= before:
            return
        threading.Event().wait(0.1)
    raise AssertionError(tasks_on(client) - before)


def test_chains_run_as_tasks_and_give_the_same_graphs(engine: DaskEngine) -> None:
    from dagpost.mcmc.candidates import weights_of_all

    weights = weights_of_all(weights_of(8, 2), 2)
    method = OrderMCMC(chains=3, thinning=5, burn_in=100)
    context = method.prepare(_Tables(family_tables(weights, engine=ThreadEngine(1))))
    runs = [
        run_chains(method, context, 8, 700, seed=np.random.SeedSequence(1), engine=where)
        for where in (ThreadEngine(1), engine.tasks)
    ]
    assert np.array_equal(runs[0].parents, runs[1].parents)
    assert np.array_equal(runs[0].log_joint, runs[1].log_joint)


class _Tables:
    def __init__(self, families: Any) -> None:
        self.families = families
        self.weights = families


def test_bootstrap_replicates_run_as_tasks_and_give_the_same_graphs(engine: DaskEngine) -> None:
    from dagpost.mcmc.candidates import weights_of_all
    from dagpost.priors import UniformPrior
    from dagpost.priors.constraints import Constraints
    from dagpost.scores import BDeu
    from dagpost.search.replicates import bootstrap_dags

    table = datasets.load("coronary")
    families = family_tables(weights_of_all(local_scores(table, BDeu(), 2).values, 2), engine=ThreadEngine(1))
    found = [
        bootstrap_dags(
            table,
            BDeu(),
            UniformPrior(),
            Constraints(),
            2,
            12,
            families=families,
            seed=np.random.SeedSequence(1),
            engine=where,
            checkpoint=NO_CHECKPOINT,
        )[0]
        for where in (ThreadEngine(1), engine.tasks)
    ]
    assert np.array_equal(*found)


@pytest.mark.parametrize("method", [PartitionMCMC(chains=2, burn_in=2000), Bootstrap(replicates=10)])
def test_a_model_of_chains_or_replicates_spreads_them_by_itself(engine: DaskEngine, method: Any) -> None:
    table = datasets.load("coronary")
    options: dict[str, Any] = {"method": method, "seed": 4, "samples": 10 if method.name == "bootstrap" else 300}
    spread = DagPosterior(engine=engine, **{"prior": "uniform", "score": "bdeu", **options}).fit(table).own_sample()
    here = DagPosterior(engine="threads", **{"prior": "uniform", "score": "bdeu", **options}).fit(table).own_sample()
    np.testing.assert_array_equal(spread.parents, here.parents)


def test_blocks_that_return_run_in_order_and_an_error_comes_out(engine: DaskEngine) -> None:
    assert list(engine.tasks.run(lambda item, _cancel: item**2, range(20))) == [item**2 for item in range(20)]
    assert list(engine.tasks.run(lambda item, _cancel: item, [])) == []

    def fails_at_four(item: int, cancel: object) -> int:
        if item == 4:
            raise ZeroDivisionError("block 4")
        return item

    with pytest.raises(ZeroDivisionError, match="block 4"):
        list(engine.tasks.run(fails_at_four, range(50)))


# Folds


def validated(where: Any, **settings: Any) -> Any:
    options = {"samples": 300, "seed": 1, **settings}
    return cross_validate(
        DagPosterior(engine=where, **{"prior": "uniform", "score": "bdeu", **options}), CORONARY, folds=4
    )


@pytest.mark.filterwarnings("ignore:In . of 4 folds. Do not trust it")
@pytest.mark.parametrize(
    "settings",
    [{}, {"modularity": "order"}, {"method": CHAINS}, {"method": "trees", "score": BDeu(10.0)}],
    ids=["exact", "order", "chains", "trees"],
)
def test_folds_run_as_tasks_and_give_the_same_scores(
    engine: DaskEngine, monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any]
) -> None:
    submitted: list[str] = []
    submit = engine.cluster.submit

    def noted(name: str, *arguments: Any, **options: Any) -> Any:
        submitted.append(name)
        return submit(name, *arguments, **options)

    monkeypatch.setattr(engine.cluster, "submit", noted)
    spread = validated(engine, **settings)
    assert submitted == ["function"] + ["fold-on-worker"] * 4, "the table is handed over once"
    here = validated("threads", threads=1, **settings)
    assert np.array_equal(spread.log_scores, here.log_scores)
    assert np.array_equal(spread.folds, here.folds)
    assert spread.method == here.method


class SmallTasks(Tasks):
    """On workers with hardly any memory."""

    def holds(self, size: int) -> bool:
        return False


class EngineOfSmallTasks(DaskEngine):
    @property
    def tasks(self) -> Tasks:
        return SmallTasks(self.cluster)


def test_folds_whose_tables_are_too_large_for_a_worker_run_one_after_the_other(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = EngineOfSmallTasks(client, threads=2)
    submitted: list[str] = []
    submit = engine.cluster.submit

    def noted(name: str, *arguments: Any, **options: Any) -> Any:
        submitted.append(name)
        return submit(name, *arguments, **options)

    monkeypatch.setattr(engine.cluster, "submit", noted)
    found = validated(engine, modularity="order")
    assert submitted.count("forward-table") >= 4, "their tables are on the cluster instead"
    assert "fold-on-worker" not in submitted
    assert np.array_equal(found.log_scores, validated("threads", modularity="order").log_scores)


def test_a_thread_has_room_for_a_small_fold_and_not_for_a_huge_one(engine: DaskEngine) -> None:
    assert engine.tasks.holds(1 << 20)
    assert not engine.tasks.holds(1 << 50)


def test_folds_tell_how_far_they_are(engine: DaskEngine) -> None:
    told: list[tuple[str, int, int]] = []
    validated(engine, progress=lambda *what: told.append(what))
    assert told == [("folds", done, 4) for done in (1, 2, 3, 4)]


@pytest.mark.long
def test_remarks_are_those_of_all_folds_however_many_threads_a_worker_has() -> None:
    """And the worker's own warnings are left as they were, though folds end in any order."""
    quick = {"method": PartitionMCMC(chains=2, burn_in=0, thinning=1), "samples": 10, "seed": 1}
    shown = "__import__('warnings')._showwarnmsg_impl.__name__"
    options = {"n_workers": 1, "threads_per_worker": 4, "processes": True, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as local, distributed.Client(local) as client:
        with pytest.warns(DagpostWarning, match=r"^In 12 of 12 folds: Do not trust it") as remarks:
            cross_validate(
                DagPosterior(engine=client, **{"prior": "uniform", "score": "bdeu", **quick}), CORONARY, folds=12
            )
        assert len(remarks) == 1
        assert client.submit(eval, shown).result() == "_showwarnmsg_impl"


def test_remarks_of_folds_on_workers_come_out_here(engine: DaskEngine, said: Said) -> None:
    with said.warns(DagpostWarning) as there:
        validated(engine, method=PartitionMCMC(chains=2, burn_in=0, thinning=1), samples=10)
    with said.warns(DagpostWarning) as here:
        validated("threads", method=PartitionMCMC(chains=2, burn_in=0, thinning=1), samples=10)
    assert [str(one.message) for one in there] == [str(one.message) for one in here]


@pytest.mark.parametrize("work", ["folds", "replicates", "chains"])
def test_an_interrupt_leaves_no_tasks_behind(engine: DaskEngine, client: Any, work: str) -> None:
    """Even while somebody holds the traceback, as an interactive session does."""
    before = tasks_on(client)

    def interrupt(stage: str, done: int, total: int) -> None:
        if stage.startswith(work) and done:
            raise KeyboardInterrupt

    methods = {"replicates": Bootstrap(replicates=50), "chains": PartitionMCMC(chains=8, burn_in=2000)}
    model = DagPosterior(
        prior="uniform",
        score="bdeu",
        engine=engine,
        method=methods.get(work, "auto"),
        seed=1,
        samples=800,
        progress=interrupt,
    )
    with pytest.raises(KeyboardInterrupt) as looked_at:
        cross_validate(model, CORONARY, folds=50) if work == "folds" else model.fit(CORONARY).own_sample()
    wait_for_no_tasks(client, before)
    assert looked_at.tb is not None


def test_an_interrupt_while_waiting_for_a_task_takes_that_task_back_too(engine: DaskEngine, client: Any) -> None:
    before = tasks_on(client)

    def interrupted(future: Any) -> None:
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine.cluster, "result", interrupted)
        with pytest.raises(KeyboardInterrupt) as looked_at:
            list(engine.tasks.run(lambda _item, _cancel: threading.Event().wait(0.2), range(20)))
    wait_for_no_tasks(client, before)
    assert looked_at.tb is not None


def test_threads_that_come_later_get_work_too(engine: DaskEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    threads, submitted = iter([1, 1, 4, 4, 4]), []
    monkeypatch.setattr(engine.cluster, "threads", lambda: next(threads, 4))
    submit = engine.cluster.submit

    def noted(name: str, *arguments: Any, **options: Any) -> Any:
        submitted.append(name)
        return submit(name, *arguments, **options)

    monkeypatch.setattr(engine.cluster, "submit", noted)
    results = Tasks(engine.cluster, look_seconds=0.0).run(abs_of, range(-40, 0))
    counts = []
    for number, result in enumerate(results, 1):
        assert result == 41 - number
        counts.append(len(submitted) - 1)
    assert counts[:3] == [4, 14, 15], "three ahead for one thread, then twelve for four"


def abs_of(item: int, cancel: object) -> int:
    return abs(item)


# Copies


def test_a_model_with_a_client_is_copied_and_pickled_as_one_with_an_engine(client: Any) -> None:
    model = DagPosterior(
        prior="uniform", score="bdeu", engine=client, method="dds", modularity="order", seed=1, samples=50
    )
    assert isinstance(model.engine, DaskEngine)
    for other in (
        clone(model),
        copy.copy(model),
        copy.deepcopy(model),
        DagPosterior(prior="uniform", score="bdeu").set_params(engine=client),
    ):
        assert other.engine.cluster.client is client
    fitted = model.fit(CORONARY)
    again = pickle.loads(pickle.dumps(fitted))
    assert repr(again.engine) == f"DaskEngine for {client.scheduler.address}"
    with again.engine as reached:
        assert np.array_equal(again.sample(50, seed=2).parents, fitted.sample(50, seed=2).parents)
        assert reached.cluster.client is not client


def mean_log_predictive(model: Any, rows: Any, y: None = None) -> float:
    return float(model.score_samples(rows).mean())


def test_scikit_learn_validates_models_that_work_on_a_cluster(client: Any) -> None:
    rows = datasets.load("iris").codes().T[np.random.default_rng(1).permutation(150)]
    settings: dict[str, Any] = {"modularity": "order", "samples": 100, "seed": 1}
    here = cross_val_score(
        DagPosterior(engine="threads", **{"prior": "uniform", "score": "bdeu", **settings}),
        rows,
        cv=3,
        scoring=mean_log_predictive,
    )
    assert np.isfinite(here).all()
    assert np.array_equal(
        cross_val_score(
            DagPosterior(engine=client, **{"prior": "uniform", "score": "bdeu", **settings}),
            rows,
            cv=3,
            scoring=mean_log_predictive,
        ),
        here,
    )
    # As tasks, in which the models work on their own thread: waiting for tasks of theirs they would wait forever.
    with joblib.parallel_config(backend="dask"):
        for where in (client, "dask"):
            spread = cross_val_score(
                DagPosterior(engine=where, **{"prior": "uniform", "score": "bdeu", **settings}),
                rows,
                cv=3,
                scoring=mean_log_predictive,
                n_jobs=3,
            )
            assert np.array_equal(spread, here)


# Provenance


@pytest.mark.filterwarnings("ignore:Do not trust it")
@pytest.mark.parametrize(
    ("method", "modularity", "ran", "edges"),
    [
        (CHAINS, "structure", "dask", "dask"),
        (Bootstrap(replicates=20), "structure", "dask", "dask"),
        ("dds", "order", "dask", "dask"),
        ("linear-extensions", "structure", "dask", "threads"),
        ("exact-layers", "structure", "threads", "threads"),
        ("trees", "structure", "threads", "threads"),
        ("kbest", "structure", "threads", "threads"),
    ],
    ids=str,
)
def test_models_and_samples_say_what_ran(
    engine: DaskEngine, tmp_path: Path, method: Any, modularity: Any, ran: str, edges: str
) -> None:
    model = DagPosterior(
        prior="uniform", score="bdeu", engine=engine, method=method, modularity=modularity, samples=20, seed=1
    ).fit(CORONARY)
    assert model.engine_ == edges
    sample = model.own_sample()
    assert sample.provenance["engine"] == ran
    sample.save(tmp_path / "graphs.dagpost")
    assert DagSample.load(tmp_path / "graphs.dagpost").provenance["engine"] == ran
    model.save(tmp_path / "model.dagpost")
    read = DagPosterior.load(tmp_path / "model.dagpost")
    assert read.engine_ == edges
    if method != "kbest":
        assert read.own_sample().provenance["engine"] == ran
    drawn_anew = read.sample(20, seed=2).provenance["engine"]
    assert drawn_anew == ("dask" if isinstance(method, Bootstrap) else "threads"), "replicates are not found again"


def test_a_model_can_be_saved_after_its_cluster_is_gone(tmp_path: Path, said: Said) -> None:
    with cluster.local_cluster(1) as local, distributed.Client(local) as client:
        model = DagPosterior(prior="uniform", score="bdeu", engine=client, modularity="order", samples=20, seed=1).fit(
            CORONARY
        )
    with said.warns(DagpostWarning):
        model.save(tmp_path / "model.dagpost")
    read = DagPosterior.load(tmp_path / "model.dagpost")
    assert read.edge_probabilities_.equals(model.edge_probabilities_)
    assert len(read.own_sample()) == 20


@pytest.mark.filterwarnings("ignore:Do not trust it:dagpost.errors.DagpostWarning")
def test_chains_go_on_and_samples_are_joined_wherever_they_ran(engine: DaskEngine) -> None:
    models = [
        DagPosterior(prior="uniform", score="bdeu", engine=where, method=CHAINS, seed=1).fit(CORONARY)
        for where in ("threads", engine)
    ]
    begun = models[0].sample(300, seed=1)
    longer = models[1].sample(600, resume=begun)
    assert np.array_equal(longer.parents, models[0].sample(600, seed=1).parents)
    assert (begun.provenance["engine"], longer.provenance["engine"]) == ("threads", "dask")
    assert (begun + models[1].sample(300, seed=2)).provenance["engine"] == "dask and threads"


# Threads


def test_threads_are_those_of_this_process_and_the_cluster_stays_the_same(
    engine: DaskEngine, client: Any, said: Said
) -> None:
    assert resolve_engine(engine, None, 5) is engine
    other = resolve_engine(engine, 1, 5)
    assert (other.workers, engine.workers) == (1, 2)
    assert isinstance(other, DaskEngine)
    assert other.cluster is engine.cluster
    with said.raises(InputError):
        resolve_engine(engine, 0, 5)
