"""What a user without a CUDA device is told, and which engine is taken."""

from __future__ import annotations

import builtins
import pickle
import re
import sys
from types import SimpleNamespace
from typing import Any

import pytest
from tests.tools import fake_cupy
from tests.tools.wording import Said

from dagpost import DagPosterior, datasets
from dagpost.engines import ThreadEngine
from dagpost.engines.cuda import device, layers, layout, order, sampling, scores, structure
from dagpost.engines.cuda.device import DeviceError, load_cupy
from dagpost.engines.cuda.engine import CudaEngine
from dagpost.engines.registry import resolve_engine


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


def test_without_cupy_the_error_names_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch, said: Said) -> None:
    without_cupy(monkeypatch)
    with said.raises(DeviceError):
        DagPosterior(prior="uniform", score="bdeu", engine="cuda").fit(datasets.load("coronary"))


@pytest.mark.parametrize("count", [0, RuntimeError("CUDA driver version is insufficient")])
def test_without_a_device_the_error_names_the_other_engine(
    monkeypatch: pytest.MonkeyPatch, count: int | Exception
) -> None:
    with_devices(monkeypatch, count)
    with pytest.raises(DeviceError, match="engine='threads'"):
        load_cupy()


def test_auto_takes_the_threads_where_there_is_no_device(monkeypatch: pytest.MonkeyPatch) -> None:
    without_cupy(monkeypatch)
    model = DagPosterior(prior="uniform", score="bdeu", engine="auto", seed=1).fit(datasets.load("coronary"))
    assert model.sample(10, seed=1).provenance["engine"] == "threads"


def test_auto_takes_the_device_once_there_are_enough_variables() -> None:
    with fake_cupy.installed():
        assert [type(resolve_engine("auto", 3, nodes)) for nodes in (5, 19, 20)] == [
            ThreadEngine,
            ThreadEngine,
            CudaEngine,
        ]
        assert resolve_engine("auto", 3, 20).workers == 3


def test_auto_leaves_a_device_alone_that_has_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    with fake_cupy.installed():
        monkeypatch.setattr(device, "free_bytes", lambda: 1000)
        assert type(resolve_engine("auto", None, 20)) is ThreadEngine


def test_chains_of_a_model_on_the_device_run_on_threads() -> None:
    with fake_cupy.installed():
        engine = CudaEngine(3)
        assert (engine.name, engine.tasks.name, engine.tasks.workers) == ("cuda", "threads", 3)


def test_a_copy_of_a_model_leaves_the_table_on_the_device_behind() -> None:
    with fake_cupy.installed():
        model = DagPosterior(
            prior="uniform", score="bdeu", engine="cuda", modularity="order", seed=1, progress=False
        ).fit(datasets.load("coronary"))
        model.sample(10, seed=1)
        assert model.fitted_.workspace.has_forward
        copied = pickle.loads(pickle.dumps(model))
        assert not copied.fitted_.workspace.has_forward
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


def test_every_size_of_a_kernel_is_written_once() -> None:
    """What Python defines for the compiler is not defined in the sources again, and they use no other names."""
    with fake_cupy.installed():
        modules: list[Any] = [
            order.kernels_for(layout.make_layout(9, 3))[0],
            sampling.kernels_for(9, 3),
            scores.kernels_for(9, 3, 8),
            structure.kernels_for(9, 93),
            layers.kernels_for(9, 2),
        ]
    for module in modules:
        code = re.sub(r"//.*", "", module.code)
        in_source = set(re.findall(r"#define (\w+)", code))
        of_templates = set(re.findall(r"(?:int|bool) (?:\.\.\.)?([A-Z]\w*)", code)) | {"HIGH", "PER"}
        assert not in_source & set(module.constants)
        assert set(re.findall(r"\b[A-Z][A-Z_]+\b", code)) <= in_source | of_templates | set(module.constants)
        # A plain number in a source is a limit that Python does not know.
        assert set(re.findall(r"#define (\w+) -?\d+$", code, re.MULTILINE)) <= {"LARGEST_SHIFT"}
