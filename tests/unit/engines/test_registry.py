"""What `engine=` may be: a name, an engine of ours, one that somebody else has written, or neither."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from tests.tools.wording import Said

from dagpost import Bootstrap, DagPosterior, datasets
from dagpost.engines import Engine, ThreadEngine, as_engine
from dagpost.engines.cuda.backend import CudaBackend
from dagpost.engines.dask.backend import DaskBackend
from dagpost.engines.host.backend import ExactBackend, HostBackend, backend_of
from dagpost.engines.registry import ENGINES, resolve_engine
from dagpost.errors import InputError
from dagpost.scores import local_scores

CORONARY = datasets.load("coronary")


class OneByOne(Engine):
    """The least that an engine has to bring."""

    name, workers = "one-by-one", 1

    def run(self, block: Callable[..., Any], items: Sequence[Any]) -> Iterator[Any]:
        for item in items:
            yield block(item, np.zeros(1, dtype=np.int64))


class FromElsewhere:
    """An engine that knows nothing of ours."""

    workers = 2

    def __init__(self) -> None:
        self.blocks = 0

    def run(self, block: Callable[..., Any], items: Sequence[Any]) -> Iterator[Any]:
        for item in items:
            self.blocks += 1
            yield block(item, np.zeros(1, dtype=np.int64))


def test_engines_are_listed_with_a_few_words_each() -> None:
    assert ENGINES.names()[:3] == ("threads", "cuda", "dask")
    assert all(found.summary and issubclass(found, Engine) for found in ENGINES.classes().values())


def test_classes_are_listed_without_loading_what_they_need() -> None:
    code = (
        "import sys\n"
        "from dagpost.engines.registry import ENGINES\n"
        "ENGINES.names()\n"
        "print([name for name in ('numba', 'scipy', 'pandas', 'cupy', 'dask', 'distributed') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_what_an_engine_does_not_bring_has_a_default() -> None:
    engine = OneByOne()
    assert engine.tasks is engine
    assert engine.backend() is None
    assert isinstance(backend_of(engine), HostBackend)
    assert not engine.holds(1)
    assert not OneByOne.suits(20)
    assert engine.with_threads(3) is engine
    with engine as entered:
        assert entered is engine


def test_back_ends_fall_back_to_the_host() -> None:
    for backend in (CudaBackend, DaskBackend):
        assert issubclass(backend, ExactBackend)
        assert backend.ancestor_sets is HostBackend.ancestor_sets


@pytest.mark.parametrize("engine", [OneByOne, FromElsewhere])
@pytest.mark.parametrize(
    "settings", [{}, {"modularity": "order", "method": "dds"}, {"method": Bootstrap(replicates=5)}], ids=str
)
def test_an_engine_of_somebody_else_gives_what_threads_give(engine: type[Any], settings: dict[str, Any]) -> None:
    found, expected = (
        DagPosterior(engine=where, seed=1, samples=5, **{"prior": "uniform", "score": "bdeu", **settings}).fit(CORONARY)
        for where in (engine(), "threads")
    )
    assert found.edge_probabilities_.equals(expected.edge_probabilities_)
    assert np.array_equal(found.own_sample().parents, expected.own_sample().parents)


def test_results_say_which_engine_ran_them() -> None:
    model = DagPosterior(prior="uniform", score="bdeu", engine=OneByOne(), method=Bootstrap(replicates=5), seed=1).fit(
        CORONARY
    )
    assert model.own_sample().provenance["engine"] == "one-by-one"


def test_scores_run_on_an_engine_of_somebody_else() -> None:
    engine = FromElsewhere()
    found = local_scores(CORONARY, "bdeu", 2, engine=engine)
    assert engine.blocks > 0
    assert np.array_equal(found.values, local_scores(CORONARY, "bdeu", 2).values)
    assert as_engine(engine).workers == 2


def test_threads_are_the_default_of_auto() -> None:
    assert type(resolve_engine("auto", 2, 5)) is ThreadEngine
    assert resolve_engine("threads", 2, 5).workers == 2
    engine = ThreadEngine(3)
    assert resolve_engine(engine, None, 5) is engine


@pytest.mark.parametrize("setting", ["gpu", None, 7, object()])
def test_anything_else_is_refused_with_what_is_allowed(setting: object, said: Said) -> None:
    with said.raises(InputError):
        resolve_engine(setting, None, 5)
    with said.raises(InputError):
        as_engine(setting)
