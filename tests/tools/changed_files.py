"""Model files that somebody has changed, with checksums that are right."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dagpost import DagPosterior
from dagpost.files import archive


def write_members(path: Path, about: Mapping[str, Any], members: Mapping[str, bytes]) -> Path:
    """A file with these bytes as its arrays, whatever they are, and checksums that are right."""
    checksums = {name: hashlib.sha256(member).hexdigest() for name, member in members.items()}
    whole = {**about, "arrays": sorted(members), "checksums": checksums}
    whole.pop("checksum", None)
    text = json.dumps(whole, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    whole["checksum"] = hashlib.sha256(text.encode()).hexdigest()
    with zipfile.ZipFile(path, "w") as file:
        for name, member in members.items():
            file.writestr(f"{name}.npy", member)
        file.writestr("about.json", json.dumps(whole))
    return path


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
