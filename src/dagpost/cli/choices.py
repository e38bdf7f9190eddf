"""The names that options take, as shells complete them and the help lists them.

They are written here once more because the modules that own them load numba, and `dagpost --help` must not: a test
holds both lists together.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

import typer

#: Every method, with what one word can say of it.
METHODS = {
    "auto": "the best that is affordable",
    "exact-layers": "independent graphs, each counted once",
    "dds": "independent graphs, with --modularity order",
    "iw-dds": "those of dds, weighted",
    "linear-extensions": "those of dds, weighted by the orders they fit",
    "kbest": "the most probable graphs instead of a sample",
    "order-mcmc": "chains over orders, with --modularity order",
    "partial-order-mcmc": "chains over partial orders, with --modularity order",
    "partition-mcmc": "chains over partitions",
    "structure-mcmc": "chains over graphs",
    "hybrid-mcmc": "chains over graphs with exact edges behind them",
    "bootstrap": "greedy search in resampled rows",
    "trees": "trees only, exact",
    "given-order": "graphs that fit one order only, exact",
}

PRIORS = {
    "uniform": "every parent set weighs the same",
    "indegree": "every number of parents weighs the same",
    "edge:": "edge:P, every edge is there with probability P",
}


class ScoreName(StrEnum):
    """Scores that have a name."""

    BDEU = "bdeu"
    BDE = "bde"
    K2 = "k2"
    BIC = "bic"
    BGE = "bge"


class EngineName(StrEnum):
    """Where the tables of exact sums stand."""

    AUTO = "auto"
    THREADS = "threads"
    CUDA = "cuda"
    DASK = "dask"


class Modularity(StrEnum):
    """What is counted once."""

    STRUCTURE = "structure"
    ORDER = "order"


class Strategy(StrEnum):
    """How continuous columns are cut."""

    QUANTILE = "quantile"
    UNIFORM = "uniform"
    KMEANS = "kmeans"


class Unseen(StrEnum):
    """What to do about levels that were not seen in training."""

    ERROR = "error"
    PRIOR = "prior"


def complete_method(incomplete: str) -> list[tuple[str, str]]:
    """Methods that begin so."""
    return [(name, words) for name, words in METHODS.items() if name.startswith(incomplete)]


def complete_prior(incomplete: str) -> list[tuple[str, str]]:
    """Priors that begin so."""
    return [(name, words) for name, words in PRIORS.items() if name.startswith(incomplete)]


def complete_dataset(incomplete: str) -> list[tuple[str, str]]:
    """Bundled data sets that begin so."""
    from dagpost.data import datasets

    return [(name, datasets.describe(name)) for name in datasets.names() if name.startswith(incomplete)]


def complete_variable(ctx: typer.Context, incomplete: str) -> list[str]:
    """Variables, that begin so, of the model that stands on the command line."""
    # An option that still waits for its value keeps the arguments from being told apart.
    words = [str(ctx.params.get("model") or ""), *ctx.args]
    return [name for name in _first_names(words) if name.startswith(incomplete)]


def complete_statement(words: Sequence[str], incomplete: str) -> list[str]:
    """What is typed of a statement, with its last name completed from the file that stands before it.

    >>> complete_statement(["no such file"], "A ~> B")
    []
    """
    begun = re.search(r"\"[^\"]*$|[^\s\"()|&!{},=<>~-]*$", incomplete)
    assert begun is not None
    stem, typed = incomplete[: begun.start()], begun[0].removeprefix('"')
    return [stem + _quoted(name) for name in _first_names(words) if name.startswith(typed)]


def _first_names(words: Sequence[str]) -> list[str]:
    """The variables of the first model or sample among some words."""
    return next((found for word in words if (found := _names_in(word))), [])


def _names_in(file: str) -> list[str]:
    """The variables of a model or sample file; nothing where it is none."""
    try:
        if not Path(file).is_file():
            return []
        with zipfile.ZipFile(file) as archive:
            return [str(name) for name in json.loads(archive.read("about.json"))["names"]]
    except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile):
        return []


def _quoted(name: str) -> str:
    """A name as the language takes it (features.names.quoted, which loads numba, is more careful)."""
    return name if re.fullmatch(r"\w+", name) else json.dumps(name, ensure_ascii=False)
