"""Small files and checkpoint folders of every kind, which the campaign `model_files` changes.

All of them are made once, in the process from which the workers are forked.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dagpost import (
    BDeu,
    Bootstrap,
    Checkpoint,
    DagPosterior,
    DagSample,
    HybridMCMC,
    OrderMCMC,
    PartialOrderMCMC,
    PartitionMCMC,
    Recipe,
    StructureMCMC,
)
from dagpost.files import archive

#: Graphs of a sample of chains, and of the longer one that resumes from it.
GRAPHS, MORE_GRAPHS = 220, 330
NAMES = ["A", "B", "number", "D"]

_CHAINS: dict[str, Any] = {
    "order": OrderMCMC(chains=2, thinning=2, burn_in=100),
    "partial order": PartialOrderMCMC(bucket_size=2, chains=2, thinning=2, burn_in=100),
    "partition": PartitionMCMC(chains=2, thinning=2, burn_in=100),
    "structure": StructureMCMC(chains=2, thinning=2, burn_in=100),
    "hybrid": HybridMCMC(chains=2, thinning=2, burn_in=100),
}


@dataclass
class Seed:
    """A file as it was written: its bytes, what is in it, and the model whose chains resume from it."""

    name: str
    kind: str
    content: bytes
    about: dict[str, Any]
    arrays: dict[str, NDArray[Any]]
    model: DagPosterior | None = None


@dataclass
class FolderSeed:
    """A checkpoint folder that a whole run has left, and the call that made it."""

    name: str
    files: dict[str, bytes]
    again: Callable[[Checkpoint], Any]
    found: Any = field(default=None)


def table(rows: int = 40) -> pd.DataFrame:
    """Four columns that depend on each other: text, truth values, numbers and whole numbers."""
    rng = np.random.default_rng(1)
    first = rng.integers(0, 2, rows)
    second = np.where(rng.random(rows) < 0.8, first, 1 - first)
    number = np.round(first + rng.normal(size=rows), 3)
    return pd.DataFrame(
        {
            "A": np.array(["no", "yes"])[first],
            "B": second.astype(bool),
            "number": number,
            "D": (number > 0.5).astype(int) + rng.integers(0, 2, rows),
        }
    )


def file_seeds() -> list[Seed]:
    """One file of every kind."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder) / "seed.dagpost"
        return [_seed(name, thing, path, options) for name, thing, options in _things()]


def _seed(name: str, thing: Any, path: Path, options: dict[str, Any]) -> Seed:
    model = options.pop("model", None)
    thing.save(path, **options)
    kind = "sample" if isinstance(thing, DagSample) else "model"
    about, arrays = archive.read_archive(path, kind)
    own = thing if kind == "model" and model is None else model
    return Seed(name, kind, path.read_bytes(), about, arrays, own)


def _things() -> list[tuple[str, Any, dict[str, Any]]]:
    frame = table()
    codes = np.random.default_rng(2).integers(0, 2, (40, 4))
    numbers = np.random.default_rng(3).normal(size=(30, 4)).cumsum(axis=1)
    usual: dict[str, Any] = {"samples": 20, "seed": 1, "threads": 1, "progress": False}
    cut = DagPosterior("bdeu", recipe=Recipe(cut={"number": [0.0, 1.0]}), required=["A -> B"], **usual).fit(frame)
    cut.sensitivity()
    counted = DagPosterior("bde", tiers=[["V0"], ["V1", "V2"], ["V3"]], **usual).fit(
        np.unique(codes, axis=0), counts=np.unique(codes, axis=0, return_counts=True)[1]
    )
    targets = [("V1" if row % 3 == 0 else None) for row in range(len(codes))]
    things: list[tuple[str, Any, dict[str, Any]]] = [
        ("recipe, rows and sensitivity", cut, {"rows": True}),
        ("counts", counted, {"rows": True}),
        ("interventions", DagPosterior("bic", **usual).fit(codes, interventions=targets), {"rows": True}),
        ("mixture", DagPosterior(BDeu((1, 5)), **usual).fit(codes), {}),
        ("bge", DagPosterior("bge", **usual).fit(numbers), {"rows": True}),
        ("order-modular", DagPosterior("k2", modularity="order", prior="indegree", **usual).fit(codes), {}),
        ("bootstrap", DagPosterior("bdeu", method=Bootstrap(8), **usual).fit(codes), {}),
    ]
    for method in ("iw-dds", "linear-extensions", "kbest", "trees", "given-order"):
        model = DagPosterior("bdeu", method=method, **usual).fit(codes)
        things += [(method, model, {}), (f"sample of {method}", model.sample(12, seed=2), {"model": model})]
    sample = counted.sample(precision=0.3, confidence=0.9, seed=1)
    things += [("sample with a precision", sample, {"model": counted}), ("part", sample[[0, 2]], {"model": counted})]
    for name, method in _CHAINS.items():
        model = DagPosterior("bdeu", method=method, modularity=method.modularity, **{**usual, "samples": GRAPHS}).fit(
            codes
        )
        things += [(f"{name} chains", model, {}), (f"sample of {name} chains", model.own_sample(), {"model": model})]
    return things


def folder_seeds() -> list[FolderSeed]:
    """Checkpoint folders of fits and samples."""
    codes = np.random.default_rng(2).integers(0, 2, (40, 4))
    usual: dict[str, Any] = {"samples": 20, "seed": 1, "threads": 1, "progress": False}
    fits: dict[str, dict[str, Any]] = {
        "fit": {"score": "bdeu"},
        "fit of a mixture": {"score": BDeu((1, 5))},
        "order-modular fit": {"score": "bdeu", "modularity": "order"},
        "replicates": {"score": "bdeu", "method": Bootstrap(8)},
    }
    samples: dict[str, dict[str, Any]] = {
        "graphs": {"score": "bdeu"},
        "weighted graphs": {"score": "bdeu", "method": "linear-extensions"},
        **{
            f"{name} chains": {"score": "bdeu", "method": method, "modularity": method.modularity}
            for name, method in _CHAINS.items()
        },
    }
    seeds = [_folder(name, _fit(codes, {**usual, **options})) for name, options in fits.items()]
    for name, options in samples.items():
        model = DagPosterior(**{**usual, **options}).fit(codes)
        seeds.append(_folder(name, _sample(model)))
    return seeds


def _fit(codes: NDArray[Any], options: dict[str, Any]) -> Callable[[Checkpoint], Any]:
    def again(checkpoint: Checkpoint) -> Any:
        return DagPosterior(**options).fit(codes, checkpoint=checkpoint).edge_probabilities_.to_numpy()

    return again


def _sample(model: DagPosterior) -> Callable[[Checkpoint], Any]:
    def again(checkpoint: Checkpoint) -> Any:
        return model.sample(GRAPHS, seed=3, checkpoint=checkpoint).parents

    return again


def _folder(name: str, again: Callable[[Checkpoint], Any]) -> FolderSeed:
    with tempfile.TemporaryDirectory() as place, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        folder = Path(place) / "work.partial"
        found = again(Checkpoint(folder, seconds=0))
        return FolderSeed(name, {path.name: path.read_bytes() for path in folder.iterdir()}, again, found)
