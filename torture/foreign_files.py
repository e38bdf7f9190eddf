"""Files that other programs and other people make, changed at random: tables, scores, networks, edges and recipes.

Each case takes a good file of one kind, changes it (mutations.py), reads it as a user does and goes on with what came
out of it. Allowed are success and an error of ours that names the file; anything else, a crash or a hang is a defect.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from typer.testing import CliRunner

from dagpost import (
    BayesianNetwork,
    DagPosterior,
    DagpostError,
    LocalScores,
    Recipe,
    as_table,
    local_scores,
    read_jkl,
    read_table,
    write_jkl,
)
from dagpost.cli import app
from torture.campaign import Campaign, require
from torture.choices import Choices
from torture.mutations import mutated

_ROWS = 40
#: Endings of files, the kinds that cost most at the end and less often.
_CHEAP = (".csv", ".tsv", ".jkl", ".toml", ".bif")
_DEAR = tuple(
    ending for ending, library in ((".xlsx", "openpyxl"), (".parquet", "pyarrow")) if find_spec(library) is not None
)
_BINARY = (".xlsx", ".parquet")
_MOST_COLUMNS = 6


def _frame() -> pd.DataFrame:
    generator = np.random.default_rng(5)
    rain = generator.integers(0, 2, _ROWS)
    wet = np.where(generator.random(_ROWS) < 0.9, rain, 1 - rain)
    return pd.DataFrame(
        {
            "rain": np.array(["no", "yes"])[rain],
            "wet floor": wet,
            "height": generator.normal(170, 10, _ROWS).round(1),
            "grün": np.array(["x", "y, z", "ü"])[generator.integers(0, 3, _ROWS)],
        }
    )


def _network() -> BayesianNetwork:
    generator = np.random.default_rng(6)
    names, sizes = ("a", "M. Work", "c"), (2, 3, 2)
    parents: tuple[tuple[str, ...], ...] = ((), ("a",), ("a", "M. Work"))
    shapes = ((), (2,), (2, 3))
    levels = tuple(tuple(f"l{level}" for level in range(size)) for size in sizes)
    tables = tuple(
        generator.dirichlet([1.0] * size, shape or None).round(4) for size, shape in zip(sizes, shapes, strict=True)
    )
    return BayesianNetwork(names, levels, parents, tuple(t / t.sum(axis=-1, keepdims=True) for t in tables))


@cache
def _originals() -> dict[str, bytes]:
    """A good file of every kind."""
    frame = _frame()
    with tempfile.TemporaryDirectory() as place, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        folder = Path(place)
        table = as_table(frame)
        frame.to_csv(folder / "good.csv", index=False)
        frame.to_csv(folder / "good.tsv", index=False, sep="\t", quoting=1)
        write_jkl(local_scores(frame, score="bdeu", max_parents=2), folder / "good.jkl")
        Recipe().fit(table).save(folder / "good.toml")
        _network().write(folder / "good.bif")
        if ".xlsx" in _DEAR:
            frame.to_excel(folder / "good.xlsx", index=False)
        if ".parquet" in _DEAR:
            frame.astype({"rain": "category"}).to_parquet(folder / "good.parquet")
        return {ending: (folder / f"good{ending}").read_bytes() for ending in (*_CHEAP, *_DEAR)}


def _prepare() -> None:
    """Load kernels and libraries: every good file once."""
    with tempfile.TemporaryDirectory() as place:
        for ending, content in _originals().items():
            path = Path(place, f"good{ending}")
            path.write_bytes(content)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                _FOLLOWED[ending](_READ[ending](path), Path(place))


# What is read, and what a user does with it


def _fit_table(table: Any, folder: Path) -> None:
    table.summary()
    table.fingerprint()
    if len(table.names) > _MOST_COLUMNS:
        return
    model = DagPosterior(score="bdeu", max_parents=2, samples=20, seed=1).fit(table)
    require(np.isfinite(model.edge_probabilities_.to_numpy()).all(), "edge probabilities are numbers")
    model.save(folder / "model.dagpost")


def _fit_scores(scores: LocalScores, folder: Path) -> None:
    write_jkl(scores, folder / "again.jkl")
    again = read_jkl(folder / "again.jkl")
    require(again.names == scores.names and np.array_equal(again.values, scores.values), "scores come back as written")
    if len(scores.names) > _MOST_COLUMNS:
        return
    model = DagPosterior(samples=20, seed=1).fit_scores(scores)
    require(np.isfinite(model.edge_probabilities_.to_numpy()).all(), "edge probabilities are numbers")


def _use_network(network: BayesianNetwork, folder: Path) -> None:
    repr(network)
    network._repr_html_()
    for name in network.names:
        network.to_frame(name)
    network.sample(5, seed=1)
    network.write(folder / "again.bif")
    again = BayesianNetwork.read(folder / "again.bif")
    same = (again.names, again.levels, again.parents) == (network.names, network.levels, network.parents)
    require(same and all(map(np.array_equal, again.tables, network.tables)), "a network comes back as written")


def _use_recipe(recipe: Recipe, folder: Path) -> None:
    repr(recipe)
    recipe.save(folder / "again.toml")
    Recipe.load(folder / "again.toml")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _fit_table(recipe.transform(_frame()), folder)


_READ: dict[str, Callable[[Path], Any]] = {
    ".csv": read_table,
    ".tsv": read_table,
    ".xlsx": read_table,
    ".parquet": read_table,
    ".jkl": read_jkl,
    ".toml": Recipe.load,
    ".bif": BayesianNetwork.read,
}
_FOLLOWED: dict[str, Callable[[Any, Path], None]] = {
    ".csv": _fit_table,
    ".tsv": _fit_table,
    ".xlsx": _fit_table,
    ".parquet": _fit_table,
    ".jkl": _fit_scores,
    ".toml": _use_recipe,
    ".bif": _use_network,
}


def run_case(seed: int, folder: Path) -> int:
    """Change a good file, read it, and go on with what came out of it."""
    choices = Choices(seed)
    ending = choices.pick(_DEAR if _DEAR and choices.chance(0.05) else _CHEAP)
    content = mutated(_originals()[ending], choices, text=ending not in _BINARY)
    path = folder / f"foreign{ending}"
    path.write_bytes(content)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = _READ[ending](path)
        except DagpostError as error:
            require("foreign" in str(error), "the error names the file", ending, error)
            require(len(str(error)) < 3000, "an error can be read", ending, str(error)[:500])
        else:
            try:
                _FOLLOWED[ending](found, folder)
            except DagpostError as error:
                require(str(error), "an error has words", ending)
    if ending in (".csv", ".tsv") and choices.chance(0.1):
        _through_the_command_line(path)
    return 1


def _through_the_command_line(path: Path) -> None:
    result = CliRunner().invoke(app, ["info", str(path), "--json"], prog_name="dagpost")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    require(result.exit_code in (0, 2), "a command ends with status 0 or 2", result.exit_code, result.output)


CAMPAIGN = Campaign(
    name="foreign_files",
    words="CSV, Excel, Parquet, jkl, BIF and recipe files, changed at random",
    run_case=run_case,
    counted="files",
    prepare=_prepare,
    seconds=120.0,
    share=1.0,
)
