"""Model files that somebody has changed, with checksums that are right."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from dagpost import DagPosterior
from dagpost.files import archive


def changed(model: DagPosterior, tmp_path: Path, change: Callable[[dict[str, Any], dict[str, Any]], Any]) -> Path:
    """A file whose checksums are right, though somebody has changed it."""
    model.save(tmp_path / "x")
    about, arrays = archive.read_archive(tmp_path / "x", "model")
    change(about, arrays)
    archive.write_archive(tmp_path / "y", "model", about, arrays)
    return tmp_path / "y"


def cell(name: str, value: Any) -> Callable[[dict[str, Any], dict[str, Any]], None]:
    def change(about: dict[str, Any], arrays: dict[str, Any]) -> None:
        arrays[name] = arrays[name].copy()
        arrays[name].reshape(-1)[-1] = value

    return change


def shorter(name: str) -> Callable[[dict[str, Any], dict[str, Any]], None]:
    def change(about: dict[str, Any], arrays: dict[str, Any]) -> None:
        arrays[name] = np.ascontiguousarray(arrays[name][..., :-1])

    return change


def entry(value: Any, *path: str) -> Callable[[dict[str, Any], dict[str, Any]], None]:
    def change(about: dict[str, Any], arrays: dict[str, Any]) -> None:
        place: Any = about
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value

    return change


def without(name: str) -> Callable[[dict[str, Any], dict[str, Any]], None]:
    def change(about: dict[str, Any], arrays: dict[str, Any]) -> None:
        del arrays[name]

    return change
