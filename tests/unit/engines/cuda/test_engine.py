"""What a user without a CUDA device is told, and which engine is taken."""

from __future__ import annotations

import builtins
import pickle
import sys
from types import SimpleNamespace
from typing import Any

import pytest
from tests.tools import fake_cupy

from dagpost import DagPosterior, datasets
from dagpost.engines.cuda import device, layout
from dagpost.engines.cuda.device import DeviceError, load_cupy
from dagpost.posterior import settings


def without_cupy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `import cupy` fail, as where it is not installed."""
    real = builtins.__import__

    def refuse(name: str, *arguments: Any, **options: Any) -> Any:
        if name == "cupy":
            raise ImportError("No module named 'cupy'")
        return real(name, *arguments, **options)

    monkeypatch.delitem(sys.modules, "cupy", raising=False)
    monkeypatch.setattr(builtins, "__import__", refuse)


def with_devices(monkeypatch: pytest.MonkeyPatch, count: int | Exception) -> None:
    """A CuPy that sees so many devices, or whose driver fails."""

    def devices() -> int:
        if isinstance(count, Exception):
            raise count
        return count

    runtime = SimpleNamespace(getDeviceCount=devices)
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(cuda=SimpleNamespace(runtime=runtime)))


def test_without_cupy_the_error_names_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    without_cupy(monkeypatch)
    with pytest.raises(DeviceError, match=r'pip install "dagpost\[cuda\]"'):
        DagPosterior(engine="cuda").fit(datasets.load("coronary"))


@pytest.mark.parametrize("count", [0, RuntimeError("CUDA driver version is insufficient")])
def test_without_a_device_the_error_names_the_other_engine(
    monkeypatch: pytest.MonkeyPatch, count: int | Exception
) -> None:
    with_devices(monkeypatch, count)
    with pytest.raises(DeviceError, match="engine='threads'"):
        load_cupy()


def test_auto_takes_the_threads_where_there_is_no_device(monkeypatch: pytest.MonkeyPatch) -> None:
    without_cupy(monkeypatch)
    model = DagPosterior(engine="auto", seed=1).fit(datasets.load("coronary"))
    assert model.sample(10, seed=1).provenance["engine"] == "threads"


def test_auto_takes_the_device_once_there_are_variables_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    table = datasets.load("coronary")
    with fake_cupy.installed():
        for fewest, engine in ((len(table.names), "cuda"), (len(table.names) + 1, "threads")):
            monkeypatch.setattr(settings, "_FEWEST_FOR_A_DEVICE", fewest)
            model = DagPosterior(engine="auto", seed=1, progress=False).fit(table)
            assert model.sample(10, seed=1).provenance["engine"] == engine


def test_auto_leaves_a_device_alone_that_has_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    table = datasets.load("coronary")
    with fake_cupy.installed():
        monkeypatch.setattr(settings, "_FEWEST_FOR_A_DEVICE", 2)
        monkeypatch.setattr(device, "free_bytes", lambda: 1000)
        model = DagPosterior(engine="auto", seed=1, progress=False).fit(table)
        assert model.sample(10, seed=1).provenance["engine"] == "threads"


def test_a_copy_of_a_model_leaves_the_table_on_the_device_behind() -> None:
    with fake_cupy.installed():
        model = DagPosterior(engine="cuda", modularity="order", seed=1, progress=False).fit(datasets.load("coronary"))
        model.sample(10, seed=1)
        copied = pickle.loads(pickle.dumps(model))
        assert copied._tables._forward is None
        assert (copied.sample(10, seed=1).parents == model.sample(10, seed=1).parents).all()


@pytest.mark.parametrize("kilobytes", [48, 64, 99, 227])
def test_what_a_kernel_asks_for_fits_the_shared_memory_of_any_device(kilobytes: int) -> None:
    for nodes in (1, 2, 12, 20, 34):
        found = layout.make_layout(nodes, 5, kilobytes << 10)
        assert max(found.tile_bytes, found.block_bytes) <= kilobytes << 10
        assert found.low + found.mid + found.top == nodes
        assert found.low >= 1
    # Where there is enough, nothing is given away.
    assert layout.make_layout(34, 5, 227 << 10) == layout.make_layout(34, 5)
