"""Kernels that came with the package: used where they fit, compiled where they do not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba.core import event

from dagpost._tools import kernels, progress, shipped
from dagpost._tools.kernels import Kernel


def triple(values: Any) -> float:
    total = 0.0
    for value in values:
        total += 3.0 * value
    return total


triple.__module__ = "dagpost.triple"  # so that it counts as ours


def fresh() -> Any:
    """The kernel as a new process has it."""
    return kernels.kernel(triple)


def compilations(kernel: Any) -> int:
    """How many functions are compiled when the kernel is called."""
    with event.install_recorder("numba:compile") as recorder:
        assert kernel(np.array([1.0, 2.0])) == 9.0
    return len([1 for _, happened in recorder.buffer if happened.is_start])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of shipped kernels with one in it, in place of that of the package; nothing is kept on disk."""
    folder = tmp_path / "compiled"
    folder.mkdir()
    monkeypatch.setattr(shipped, "FOLDER", folder)
    monkeypatch.setattr(progress, "NOTICES", False)
    monkeypatch.setattr(shipped, "source_digest", lambda _: "as it was")
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path / "cache"))
    shipped._kernels.cache_clear()
    kernel: Kernel = fresh()
    kernel.dispatcher._cache.disable()
    assert compilations(kernel) == 1
    assert kernel.is_compiled
    shipped.save(folder, "any", {"dagpost.triple.triple": kernel.dispatcher})
    shipped._kernels.cache_clear()
    yield folder
    shipped._kernels.cache_clear()


def test_a_kernel_that_came_with_the_package_is_not_compiled(folder: Path) -> None:
    assert compilations(fresh()) == 0


@pytest.mark.parametrize("damage", [b"", b"nonsense", None])
def test_a_damaged_kernel_is_compiled(folder: Path, damage: bytes | None) -> None:
    file = folder / "dagpost.triple.triple"
    whole = file.read_bytes()
    file.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]) if damage is None else damage)
    assert compilations(fresh()) == 1


def test_a_kernel_that_is_missing_is_compiled(folder: Path) -> None:
    (folder / "dagpost.triple.triple").unlink()
    assert compilations(fresh()) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"made_with": {"numba": "0.1"}},
        {"features": ["a feature of tomorrow"]},
        {"kernels": {}},
        {"kernels": []},
    ],
)
def test_kernels_of_another_version_or_processor_are_compiled(folder: Path, change: dict[str, Any]) -> None:
    manifest = json.loads((folder / shipped.MANIFEST).read_text())
    (folder / shipped.MANIFEST).write_text(json.dumps(manifest | change))
    assert compilations(fresh()) == 1


def test_a_manifest_that_cannot_be_read_is_none(folder: Path) -> None:
    (folder / shipped.MANIFEST).write_text("{")
    assert compilations(fresh()) == 1


def test_kernels_whose_source_changed_are_compiled(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shipped, "source_digest", lambda _: "as it is now")
    assert compilations(fresh()) == 1


def test_who_names_a_processor_gets_code_for_that_one(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("numba.core.config.CPU_NAME", "x86-64")
    assert shipped._kernels() == {}
