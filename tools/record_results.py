"""Record what the library gives, as hashes: to show that moving code about has changed no result.

    python tools/record_results.py BEFORE.json                    # with the code as it was
    python tools/record_results.py AFTER.json                     # with the code as it is
    python tools/record_results.py --compare BEFORE.json AFTER.json
    python tools/record_results.py --files FOLDER                 # a few small model and sample files

Every case is written as {"exact": hash of the bytes, "rounded": hash of the numbers at 9 significant digits, "shown":
an excerpt}, or as {"error": ...} where it raised. Cases called "words: ..." hold wording, which may change on purpose:
they never make a comparison fail. Only public names are used, so that one script works on either side of a move; the
one exception is the stand-in for CuPy of the tests. Which code is measured is decided by PYTHONPATH; all seeds are
fixed.
"""

from __future__ import annotations

import argparse
import hashlib
import html
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import warnings
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import dagpost
from dagpost import DagPosterior, DagSample, datasets

Case = tuple[str, Callable[[], Any]]
Entry = dict[str, str]

WORDS = "words: "
NOT_AVAILABLE = "not available"
LAST_DIGITS = "only last digits"
OTHER_MESSAGE = "error in both, another message"
#: Differences that say nothing against the numbers.
HARMLESS = (LAST_DIGITS, OTHER_MESSAGE)
DIGITS = 9
SHOWN_CHARACTERS = 200
#: Attributes and keys that get another name while results stay the same.
RENAMED = {"modularity": "target"}
#: Keys of JSON that say when, where and how large, not what was found.
PASSING_KEYS = frozenset(("bytes", "created", "file", "fits", "format", "model", "sample", "seconds", "version"))
_FRACTION = re.compile(r"-?\d+\.\d+(?:[eE][+-]?\d+)?")
#: What changes from run to run or from release to release in text.
_PASSING_WORDS = (
    (re.compile(r"\d{4}-\d{2}-\d{2}(?:[ T]\d{2}:\d{2}(?::\d{2})?)?(?: UTC)?"), "DATE"),
    (re.compile(r"\b(dagpost|Python|NumPy) \d[\w.+]*"), r"\1 VERSION"),
    (re.compile(r"[\d.,]+ (?:bytes|[kMG]i?B)\b"), "SIZE"),
    (re.compile(r"under a second|[\d.,]+ (?:milli)?seconds?\b"), "TIME"),
)


class NotAvailableError(Exception):
    """What a case needs is not there, such as the twins of the CUDA kernels."""


@dataclass(frozen=True)
class Found:
    """What a case gives where there are words beside the numbers: they become a case of their own."""

    numbers: Any
    words: Any = None


# From results to leaves: (where it stands, an array or text)


def leaves(value: Any, place: str = "") -> Iterator[tuple[str, np.ndarray | str]]:
    """Every number and text of a result in a fixed order, whatever it is wrapped in."""
    if value is None or isinstance(value, bool | int | str):
        yield place, str(value)
    elif isinstance(value, float):
        yield place, np.float64(value).reshape(())
    elif isinstance(value, np.generic):
        yield from leaves(value.item(), place)
    elif isinstance(value, np.ndarray):
        yield from _leaves_of_array(value, place)
    elif isinstance(value, pd.DataFrame):
        yield from leaves(value.index, f"{place}.index")
        for name in value.columns:
            yield from leaves(value[name], f"{place}.{_label(name)}")
    elif isinstance(value, pd.Series | pd.Index):
        if isinstance(value, pd.Series) and not isinstance(value.index, pd.RangeIndex):
            yield from leaves(value.index, f"{place}.index")
        yield from _leaves_of_array(np.asarray(value), place)
    elif isinstance(value, Mapping):
        for key in sorted(value, key=_label):
            yield from leaves(value[key], f"{place}.{_label(key)}")
    elif isinstance(value, list | tuple):
        for position, part in enumerate(value):
            yield from leaves(part, f"{place}[{position}]")
    elif isinstance(value, set | frozenset):
        yield place, _label(value)
    else:
        raise TypeError(f"no way to record a {type(value).__name__} at {place!r}")


def _leaves_of_array(array: np.ndarray, place: str) -> Iterator[tuple[str, np.ndarray | str]]:
    wide = {"f": np.float64, "u": np.uint64, "b": np.uint64, "i": np.int64}.get(array.dtype.kind)
    if wide is None:
        yield place, "\n".join(_label(part) for part in array.reshape(-1).tolist())
    else:
        yield place, np.ascontiguousarray(array, dtype=wide)


def _label(name: Any) -> str:
    """A name as text: of a set the members in order, of what has been renamed the new name."""
    if isinstance(name, set | frozenset):
        return "{" + ", ".join(sorted(map(str, name))) + "}"
    return RENAMED.get(str(name), str(name))


def numbers_of(content: Any) -> Any:
    """What is left of JSON without text, and without what is true of one run only."""
    if isinstance(content, dict):
        kept = {key: numbers_of(part) for key, part in content.items() if key not in PASSING_KEYS}
        return {key: part for key, part in kept.items() if part is not None}
    if isinstance(content, list):
        return [numbers_of(part) for part in content]
    return None if isinstance(content, str) else content


def words_of(content: Any) -> Any:
    """The text in JSON with the keys it stands under."""
    if isinstance(content, dict):
        kept = {key: words_of(part) for key, part in content.items() if key not in PASSING_KEYS}
        return {key: part for key, part in kept.items() if part not in (None, [], {})}
    if isinstance(content, list):
        kept_parts = [words_of(part) for part in content]
        return [part for part in kept_parts if part not in (None, [], {})]
    return plain(content) if isinstance(content, str) else None


def both_of(content: Any) -> Found:
    """JSON as numbers and words."""
    return Found(numbers_of(content), words_of(content))


def plain(text: str) -> str:
    """Text without dates, versions, sizes, times and line breaks."""
    for pattern, replacement in _PASSING_WORDS:
        text = pattern.sub(replacement, text)
    return " ".join(text.split())


# From leaves to hashes


def entry_of(value: Any) -> Entry:
    """The hashes and the excerpt of one result."""
    listed = list(leaves(value))
    exact, rounded = hashlib.sha256(), hashlib.sha256()
    for place, leaf in listed:
        head = f"\0{place}\0{getattr(leaf, 'shape', 'text')}\0".encode()
        exact.update(head + _exact_bytes(leaf))
        rounded.update(head + _rounded_bytes(leaf))
    shown = "; ".join(f"{place.lstrip('.')}={_excerpt(leaf)}" if place else _excerpt(leaf) for place, leaf in listed)
    return {"exact": exact.hexdigest(), "rounded": rounded.hexdigest(), "shown": shown[:SHOWN_CHARACTERS]}


def _exact_bytes(leaf: np.ndarray | str) -> bytes:
    if isinstance(leaf, str):
        return leaf.encode()
    if leaf.dtype.kind == "f":
        # One nan is as good as another.
        leaf = np.where(np.isnan(leaf), np.nan, leaf)
    return leaf.tobytes()


def _rounded_bytes(leaf: np.ndarray | str) -> bytes:
    if isinstance(leaf, str):
        return _FRACTION.sub(lambda found: _rounded(float(found[0])), leaf).encode()
    if leaf.dtype.kind != "f":
        return leaf.tobytes()
    return " ".join(map(_rounded, leaf.reshape(-1).tolist())).encode()


def _rounded(number: float) -> str:
    # Adding zero makes 0 of -0.
    return f"{number + 0.0:.{DIGITS - 1}e}"


def _excerpt(leaf: np.ndarray | str) -> str:
    if isinstance(leaf, str):
        return " ".join(leaf.split())
    if leaf.ndim == 0:
        return f"{leaf.item():.10g}"
    first = [f"{number:.6g}" for number in leaf.reshape(-1)[:4].tolist()]
    return f"{'x'.join(map(str, leaf.shape))}[{' '.join(first)}{' ...' if leaf.size > 4 else ''}]"


@dataclass
class Recorder:
    """Runs cases one after the other and keeps what each gave; one that raises does not end the others."""

    only: str = ""
    entries: dict[str, Entry] = field(default_factory=dict)

    def run(self, name: str, function: Callable[[], Any]) -> None:
        """Run one case, with a line on standard error."""
        if self.only not in name:
            return
        started = time.perf_counter()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                given = function()
            found = given if isinstance(given, Found) else Found(given)
            recorded = {WORDS + name: entry_of(found.words)} if found.words is not None else {}
            recorded = {name: entry_of(found.numbers), **recorded}
        except Exception as error:  # noqa: BLE001
            recorded = {name: {"error": _error_text(error)}}
        for key, entry in recorded.items():
            if key in self.entries:
                raise ValueError(f"two cases are called {key!r}")
            self.entries[key] = entry
        trouble = next((f" ERROR {entry['error']}" for entry in recorded.values() if "error" in entry), "")
        sys.stderr.write(f"{time.perf_counter() - started:6.2f} s  {name}{trouble}\n")
        sys.stderr.flush()

    def run_all(self, groups: Iterable[Callable[[], Iterator[Case]]]) -> None:
        """Run groups of cases; a group may hold something open, such as a cluster, from case to case."""
        for group in groups:
            try:
                for name, function in group():
                    self.run(name, function)
            except Exception as error:  # noqa: BLE001
                name = f"group {group.__name__}"
                self.entries[name] = {"error": _error_text(error)}
                sys.stderr.write(f"          {name} ERROR {self.entries[name]['error']}\n")


def _error_text(error: Exception) -> str:
    if isinstance(error, NotAvailableError):
        return f"{NOT_AVAILABLE}: {error}"
    return f"{type(error).__name__}: {plain(str(error))}"


# Tables


@cache
def coronary() -> Any:
    """Six columns with counts."""
    return datasets.load("coronary")


@cache
def coronary_rows() -> pd.DataFrame:
    """Some rows of the same columns, to predict."""
    return coronary().to_pandas().drop(columns="counts").head(12)


@cache
def asia() -> Any:
    """Eight columns."""
    return datasets.load("asia", rows=300, seed=1)


@cache
def tic_tac_toe() -> Any:
    """Ten columns of three levels and two."""
    return datasets.load("tic-tac-toe")


@cache
def iris_values() -> pd.DataFrame:
    """Four continuous columns."""
    from sklearn.datasets import load_iris

    return pd.DataFrame(load_iris().data, columns=["sepal_length", "sepal_width", "petal_length", "petal_width"])


@cache
def wine_values() -> pd.DataFrame:
    """Eight continuous columns, standardised."""
    from sklearn.datasets import load_wine

    source: Any = load_wine()
    values = source.data[:, :8]
    names = [str(name).replace("/", "_") for name in source.feature_names[:8]]
    return pd.DataFrame((values - values.mean(axis=0)) / values.std(axis=0), columns=names)


@cache
def random_table(columns: int, rows: int = 120, levels: int = 3, seed: int = 5) -> pd.DataFrame:
    """Columns that each resemble, more or less, one or two of those before."""
    generator = np.random.default_rng(seed)
    made: list[np.ndarray] = []
    for place in range(columns):
        noise = generator.integers(0, levels, rows)
        chosen = generator.integers(0, place, 2) if place else []
        copied = sum((made[int(other)] for other in chosen), start=np.zeros(rows, dtype=np.int64)) % levels
        made.append(np.where(generator.random(rows) < 0.4, noise, copied))
    return pd.DataFrame({f"V{place}": column for place, column in enumerate(made)})


@cache
def experiment() -> pd.DataFrame:
    """Four columns, and one that says which of them were set."""
    frame = random_table(4, rows=90, levels=2, seed=8).copy()
    frame["set"] = [("", "V1", "V0;V3", "V2", "")[row % 5] for row in range(len(frame))]
    return frame


# Models and what is recorded of them


def make(table: Any, *, counts: Any = None, interventions: Any = None, **settings: Any) -> DagPosterior:
    """A fitted model that says nothing while it works."""
    usual = {"seed": 1, "samples": 2_000, "progress": False}
    return DagPosterior(**{"prior": "uniform", **usual, **settings}).fit(
        table, counts=counts, interventions=interventions
    )


@cache
def coronary_model(modularity: str = "structure") -> DagPosterior:
    """The model that most is asked of."""
    return make(coronary(), modularity=modularity)


@cache
def gaussian_model() -> DagPosterior:
    """A model of continuous columns."""
    return make(iris_values(), score="bge", samples=500)


def chains() -> dict[str, Any]:
    """Short chains of every kind, by name."""
    return {
        "order-mcmc": dagpost.OrderMCMC(chains=2, thinning=5, burn_in=500),
        "partial-order-mcmc": dagpost.PartialOrderMCMC(bucket_size=3, chains=2, thinning=5, burn_in=500),
        "partition-mcmc": dagpost.PartitionMCMC(chains=2, thinning=5, burn_in=500),
        "structure-mcmc": dagpost.StructureMCMC(chains=2, thinning=20, burn_in=2_000),
        "hybrid-mcmc": dagpost.HybridMCMC(chains=2, thinning=3, burn_in=1_000),
    }


def modularity_of(name: str) -> str:
    """The posterior that a method speaks of."""
    return "order" if name in ("dds", "order-mcmc", "partial-order-mcmc") else "structure"


@cache
def chain_model(name: str) -> DagPosterior:
    """Coronary by one kind of chains."""
    return make(coronary(), method=chains()[name], modularity=modularity_of(name), samples=600)


def target_of(result: Any) -> Any:
    """What a sample or an estimate speaks of, by its new name or its old one."""
    return getattr(result, "target", getattr(result, "modularity", None))


def fit_of(model: DagPosterior) -> Found:
    """What a fit leaves."""
    numbers = {
        "edges": model.edge_probabilities_,
        "log_evidence": float(model.log_evidence_),
        "exact": bool(model.exact_),
        "method": model.method_,
        "target": model.target_,
        "max_parents": model.max_parents_,
        "engine": model.engine_,
    }
    return Found(numbers, {"reason": model.method_reason_, "verdict": model.verdict_})


def sample_of(sample: DagSample) -> dict[str, Any]:
    """All arrays of a sample, and what it is worth."""
    arrays = ("parents", "log_joint", "log_proposal", "log_extensions", "weights")
    return {
        **{name: getattr(sample, name) for name in arrays},
        "log_evidence": float(sample.log_evidence),
        "effective_samples": float(sample.effective_samples),
        "covered": float(sample.covered),
        "distinct": len(sample.unique()),
        "edges": sample.edge_frequencies(),
        "method": sample.method,
        "estimator": sample.estimator,
        "target": target_of(sample),
    }


def chain_sample_of(sample: DagSample) -> Found:
    """A sample of chains, with what the chains say of themselves."""
    summary = sample.diagnostics().summary()
    record: Any = sample.chains
    kept = {
        "log_state": record.log_state,
        "proposed": record.proposed,
        "accepted": record.accepted,
        "rounds": record.rounds,
        "edges": record.edges,
    }
    numbers = {**sample_of(sample), "diagnostics": numbers_of(summary), "chains": kept}
    return Found(numbers, {"verdict": sample.diagnostics().verdict, "moves": list(summary["acceptance"])})


def estimates_of(estimates: Iterable[Any]) -> Found:
    """The numbers of answers, and the rules behind them as words."""
    listed = list(estimates)
    names = ("value", "lower", "upper", "confidence", "samples", "effective_samples")
    numbers = {name: np.array([float(getattr(estimate, name)) for estimate in listed]) for name in names}
    targets = [target_of(estimate) for estimate in listed]
    return Found({**numbers, "target": targets}, [str(estimate) for estimate in listed])


def graph_of(graph: Any) -> list[Any]:
    """The edges of a networkx graph with what they carry."""
    return [[str(parent), str(child), dict(data)] for parent, child, data in sorted(graph.edges(data=True), key=str)]


def few_edges(graph: Any) -> bool:
    """A statement of a user's own."""
    return bool(graph.number_of_edges() <= 7)


def sparing(child: str, parents: frozenset[str]) -> float:
    """A prior of a user's own."""
    return -0.5 * len(parents) - (0.25 if child in ("Smoking", "V1") else 0.0)


# Cases: methods


def table_methods() -> Iterator[Case]:
    """Every method without chains."""
    order = ["Family", "M. Work", "P. Work", "Smoking", "Proteins", "Pressure"]
    methods: dict[str, Any] = {
        **{name: name for name in ("auto", "exact-layers", "dds", "iw-dds", "linear-extensions", "kbest", "trees")},
        "given-order": "given-order",
        "forests": dagpost.Trees(spanning=False),
        "given-order of names": dagpost.GivenOrder(order),
        "bootstrap": dagpost.Bootstrap(replicates=20),
    }
    for name, method in methods.items():
        fitted = cache(partial(make, coronary(), method=method, modularity=modularity_of(name)))
        yield f"fit: {name}", lambda fitted=fitted: fit_of(fitted())
        count = 20 if name == "bootstrap" else 2_000
        yield f"sample: {name}", lambda fitted=fitted, count=count: sample_of(fitted().sample(count, seed=1))
    ordered = cache(partial(make, coronary(), modularity="order"))
    yield "fit: auto, order", lambda: fit_of(ordered())
    precise = partial(coronary_model().sample, precision=0.05, confidence=0.9, seed=3)
    yield "sample: for a precision", lambda: sample_of(precise())


def larger_tables() -> Iterator[Case]:
    """Some methods on tables of 5 to 13 columns."""
    wine = cache(partial(datasets.load, "wine"))
    cases = {
        "exact-layers, tic-tac-toe": (tic_tac_toe, {"method": "exact-layers", "max_parents": 3}),
        "dds, tic-tac-toe": (tic_tac_toe, {"method": "dds", "modularity": "order"}),
        "exact-layers, asia": (asia, {"method": "exact-layers"}),
        "linear-extensions, asia": (asia, {"method": "linear-extensions"}),
        "iw-dds, iris": (partial(datasets.load, "iris"), {"method": "iw-dds"}),
        "kbest, random 9": (partial(random_table, 9), {"method": "kbest", "samples": 300}),
        "exact-layers, wine": (wine, {"method": "exact-layers", "max_parents": 2}),
        "dds, wine": (wine, {"method": "dds", "modularity": "order", "max_parents": 3}),
        "trees, wine": (wine, {"method": "trees"}),
        "bootstrap, random 12": (
            partial(random_table, 12),
            {"method": dagpost.Bootstrap(replicates=10), "max_parents": 3},
        ),
    }
    for name, (table, settings) in cases.items():
        fitted = cache(lambda table=table, settings=settings: make(table(), **settings))
        yield f"fit: {name}", lambda fitted=fitted: fit_of(fitted())
        count = 10 if "bootstrap" in name else 500
        yield f"sample: {name}", lambda fitted=fitted, count=count: sample_of(fitted().sample(count, seed=1))


def chain_methods() -> Iterator[Case]:
    """Every kind of chain, one that goes on, and chains where nothing is exact."""
    for name in chains():
        yield f"fit: {name}", lambda name=name: fit_of(chain_model(name))
        yield f"sample: {name}", lambda name=name: chain_sample_of(chain_model(name).sample(2_000, seed=1))
        yield f"sample: {name}, resumed", partial(_resumed, name)
    for name in ("partition-mcmc", "partial-order-mcmc", "structure-mcmc"):
        settings = {"method": chains()[name], "modularity": modularity_of(name), "max_parents": 2, "samples": 600}
        fitted = cache(lambda settings=settings: make(random_table(40, 80, 2), **settings))
        yield f"fit: {name}, 40 columns", lambda fitted=fitted: fit_of(fitted())
        yield f"sample: {name}, 40 columns", lambda fitted=fitted: chain_sample_of(fitted().own_sample())
    yield (
        "fit: partition-mcmc, tic-tac-toe",
        lambda: fit_of(make(tic_tac_toe(), method=chains()["partition-mcmc"], max_parents=3, samples=400)),
    )


def _resumed(name: str) -> Found:
    model = chain_model(name)
    return chain_sample_of(model.sample(1_000, resume=model.sample(450, seed=2)))


# Cases: scores, priors, constraints


def scores() -> Iterator[Case]:
    """All scores, with counts and interventions."""
    discrete = {
        **{f"bdeu {size:g}": dagpost.BDeu(size) for size in (0.1, 1.0, 10.0)},
        "bde": "bde",
        "bde 2": dagpost.BDe(2.0),
        "k2": "k2",
        "bic": "bic",
    }
    for name, score in discrete.items():
        yield f"score: {name}", lambda score=score: _scored(coronary(), score)
    yield "score: bdeu, tic-tac-toe", lambda: _scored(tic_tac_toe(), "bdeu")
    gaussian = {
        "bge": "bge",
        "bge settings": dagpost.BGe(mean_weight=0.5, degrees_of_freedom=20.0, prior_mean=0.0),
    }
    for name, score in gaussian.items():
        for title, values in (("iris", iris_values), ("wine", wine_values)):
            yield f"score: {name}, {title}", lambda score=score, values=values: _fit_only(values(), score=score)
    for name in ("bdeu", "bic"):
        yield f"score: {name}, counts", lambda name=name: _counted(name)
        yield (
            f"score: {name}, interventions",
            lambda name=name: _fit_only(experiment(), score=name, interventions="set"),
        )
    yield (
        "score: bge, interventions",
        lambda: _fit_only(
            iris_values(),
            score="bge",
            interventions=[(None, "petal_width", ("sepal_length", "sepal_width"))[row % 3] for row in range(150)],
        ),
    )
    yield "tables: fingerprints and levels", _tables


def _scored(table: Any, score: Any) -> dict[str, Any]:
    """All local scores and, so that a model is seen too, its edges."""
    local = dagpost.local_scores(table, score, 4)
    return {"scores": local.values, "max_parents": local.max_parents, **_fit_only(table, score=score)}


def _fit_only(table: Any, **settings: Any) -> dict[str, Any]:
    numbers: dict[str, Any] = fit_of(make(table, **settings)).numbers
    return numbers


def _counted(score: str) -> dict[str, Any]:
    frame = random_table(5, rows=40, levels=2)
    by_number = make(frame, score=score, counts=[1 + row % 4 for row in range(len(frame))])
    by_name = make(coronary().to_pandas(), score=score, counts="counts", modularity="order")
    return {"by number": fit_of(by_number).numbers, "by name": fit_of(by_name).numbers}


def _tables() -> dict[str, Any]:
    cut = {
        strategy: dagpost.discretise(iris_values(), bins=3, strategy=strategy)
        for strategy in ("quantile", "uniform", "kmeans")
    }
    bundled = {name: datasets.load(name) for name in datasets.names()}
    return {
        name: {"fingerprint": table.fingerprint(), "levels": [list(map(str, own)) for own in table.levels]}
        for name, table in {**cut, **bundled}.items()
    }


def priors_and_constraints() -> Iterator[Case]:
    """All priors, constraints and limits on parents, under both posteriors."""
    tiers = [["Smoking", "Family"], ["M. Work", "P. Work"], ["Pressure", "Proteins"]]
    settings: dict[str, dict[str, Any]] = {
        "uniform": {"prior": dagpost.UniformPrior()},
        "indegree": {"prior": "indegree"},
        "edge": {"prior": dagpost.EdgePrior(0.1)},
        "custom": {"prior": dagpost.CustomPrior(sparing)},
        "required": {"required": [("Smoking", "Pressure"), ("M. Work", "Family")]},
        "forbidden": {"forbidden": [("M. Work", "Proteins"), ("Smoking", "Pressure")]},
        "tiers": {"tiers": tiers},
        "tiers by name": {"tiers": {name: number for number, own in enumerate(tiers) for name in own}},
        "all together": {
            "prior": "indegree",
            "required": [("Smoking", "Pressure")],
            "forbidden": [("Family", "Proteins")],
            "tiers": tiers,
            "max_parents": 3,
        },
        **{f"at most {limit} parents": {"max_parents": limit} for limit in (0, 1, 2, 4)},
    }
    for name, own in settings.items():
        yield f"setting: {name}", partial(_under_both, own)
    for name in ("partition-mcmc", "structure-mcmc", "trees", "given-order", "kbest"):
        method = chains().get(name, name)
        yield (
            f"setting: constraints with {name}",
            lambda method=method: _fit_and_sample(
                make(coronary(), method=method, required=[("Smoking", "Pressure")], prior="indegree", samples=300)
                if method != "trees"
                else make(coronary(), method=method, forbidden=[("Smoking", "Pressure")], prior="indegree", samples=300)
            ),
        )


def _under_both(settings: dict[str, Any]) -> dict[str, Any]:
    return {
        modularity: _fit_and_sample(make(coronary(), modularity=modularity, **settings))
        for modularity in ("structure", "order")
    }


def _fit_and_sample(model: DagPosterior, count: int = 300) -> dict[str, Any]:
    return {"fit": fit_of(model).numbers, "sample": sample_of(model.sample(count, seed=1))}


# Cases: answers


def statements() -> dict[str, Any]:
    """One of every kind, as text, as an object or as a function."""
    texts = (
        "Smoking -> Pressure",
        "Smoking in pa(Pressure)",
        "Smoking -- Pressure",
        "Smoking ~> Pressure",
        "Pressure in de(Smoking)",
        "Smoking ~>{2} Pressure",
        '"M. Work" -> Smoking -> Pressure',
        '"M. Work" ~> Smoking ~> Pressure',
        "Smoking -> Pressure <- Proteins",
        'pa(Pressure) = {Smoking, "M. Work"}',
        "an(Pressure) = {}",
        "de(Family) = {}",
        "Smoking in mb(Pressure)",
        'Smoking _||_ Family | "M. Work"',
        'Smoking _||_ Family | "M. Work", "P. Work", Pressure, Proteins',
        "pos(Smoking) = 0",
        "pos(Smoking) <= 1",
        "!(Smoking -> Pressure)",
        "Smoking ~> Pressure & !(Smoking ~> Family)",
        "Smoking -> Pressure | Proteins -> Pressure",
        "P(Smoking ~> Pressure | Smoking ~> Proteins)",
        "P(Smoking -> Family | Family -> Smoking & Smoking -> Family)",
    )
    smoking, pressure = "Smoking", "Pressure"
    objects = (
        dagpost.path(smoking, pressure) & ~dagpost.edge(smoking, pressure),
        dagpost.path(smoking, pressure, longest=3) | dagpost.adjacent("Family", "Proteins"),
        dagpost.v_structure(smoking, pressure, "M. Work"),
        dagpost.parent_set(pressure, [smoking]),
        dagpost.ancestor_set(pressure, [smoking, "M. Work"]),
        dagpost.descendant_set(smoking, [pressure]),
        dagpost.in_markov_blanket("Family", pressure) & dagpost.custom(few_edges),
        dagpost.d_separated(smoking, ["Family", "P. Work"], given=["M. Work"]),
        dagpost.topological_position(pressure, ">", 1),
    )
    return {**{text: text for text in texts}, **{str(made): made for made in objects}, "few edges": few_edges}


def answers() -> Iterator[Case]:
    """Statements, tables of pairs, parent sets and best graphs."""
    models: dict[str, Callable[[], DagPosterior]] = {
        "structure": partial(coronary_model, "structure"),
        "order": partial(coronary_model, "order"),
        "partition-mcmc": partial(chain_model, "partition-mcmc"),
        "trees": cache(partial(make, coronary(), method="trees")),
        "iw-dds": cache(partial(make, coronary(), method="iw-dds")),
    }
    for name, model in models.items():
        yield f"answers: {name}", lambda model=model: estimates_of(model().probability(list(statements().values())))
        yield (
            f"answers: {name}, of a sample",
            lambda model=model: estimates_of(
                model().sample(700, seed=4).probability(list(statements().values()), confidence=0.9)
            ),
        )
    for name in ("structure", "order"):
        model = models[name]
        yield f"answers: {name}, given", lambda model=model: estimates_of(_conditionals(model()))
        yield f"answers: {name}, pairs", lambda model=model: _pairs(model())
        yield f"answers: {name}, parent sets", lambda model=model: _parent_sets(model())
        yield f"answers: {name}, best graphs", lambda model=model: sample_of(model().best(10))
    yield "answers: pairs of a chain", lambda: _pairs(models["partition-mcmc"]())
    yield "answers: one graph", _one_graph


def _conditionals(model: DagPosterior) -> list[Any]:
    asked: list[Any] = ["Smoking -> Pressure", "Smoking ~> Pressure", few_edges]
    conditions = ('"M. Work" -> Smoking', "Smoking ~> Proteins", few_edges, "pos(Family) = 1")
    return [estimate for given in conditions for estimate in model.probability(asked, given, confidence=0.99)]


def _pairs(model: DagPosterior) -> dict[str, Any]:
    relations = ("->", "~>", "~>{2}", "--")
    return {relation: model.probability_matrix(relation) for relation in relations}


def _parent_sets(model: DagPosterior) -> dict[str, Any]:
    children = ("Pressure", "Family")
    return {
        "all": {child: model.family_probabilities(child) for child in children},
        "top": {child: model.top_families(child, 5) for child in children},
    }


def _one_graph() -> dict[str, Any]:
    model = coronary_model()
    pairs = [("Smoking", "Pressure"), ("M. Work", "Proteins")]
    standing: Any = model.standing(pairs, model.sample(500, seed=1))
    best: Any = model.standing(model.best(1)[0])
    names = ("rank", "distinct", "draws", "frequency", "weight", "log_joint", "probability")
    return {
        "log_joint": model.log_joint(pairs),
        "standing": {name: getattr(standing, name) for name in names},
        "of the best": {name: getattr(best, name) for name in names},
    }


def estimators() -> Iterator[Case]:
    """Every way to weigh a sample."""
    asked = list(statements().values())[:8]
    for method, names in {
        "exact-layers": ("counting", "distinct", "iw"),
        "iw-dds": ("distinct", "iw", "linear-extensions"),
        "linear-extensions": ("distinct", "iw", "linear-extensions"),
        "kbest": ("iw",),
        "partition-mcmc": ("counting",),
    }.items():
        drawn = cache(lambda method=method: make(coronary(), method=chains().get(method, method)).sample(800, seed=1))
        for name in names:
            yield f"estimator: {name} of {method}", lambda drawn=drawn, name=name: _weighed(drawn(), name, asked)
    yield "estimator: parts and sums of samples", _parts


def _weighed(sample: DagSample, estimator: str, asked: list[Any]) -> Found:
    found = estimates_of(sample.probability(asked, estimator=estimator))
    matrices = {relation: sample.probability_matrix(relation, estimator) for relation in ("->", "~>", "~>{2}", "--")}
    return Found({"answers": found.numbers, "pairs": matrices}, found.words)


def _parts() -> dict[str, Any]:
    model = coronary_model()
    first, second = model.sample(300, seed=1), model.sample(200, seed=2)
    return {
        "slice": sample_of(first[10:60]),
        "picked": sample_of(first[[3, 5, 8]]),
        "unique": sample_of(first.unique()),
        "joined": sample_of(first + second),
        "adjacency": first[:20].adjacency(),
        "posterior": first[:20].posterior_probabilities(),
        "summary": numbers_of(first.summary()),
    }


# Cases: prediction and effects


def prediction() -> Iterator[Case]:
    """New rows, parameters, effects and cross-validation, discrete and continuous."""
    rows, values = coronary_rows, iris_values
    discrete = cache(partial(make, coronary(), samples=500))
    for name, score in {"bdeu": "bdeu", "k2": "k2", "bde": "bde"}.items():
        fitted = cache(partial(make, coronary(), score=score, samples=500))
        yield f"predict: rows, {name}", lambda fitted=fitted: fitted().score_samples(rows())
        yield (
            f"predict: levels, {name}",
            lambda fitted=fitted: {
                target: fitted().predict_proba(rows(), target=target) for target in ("Pressure", "Family")
            },
        )
    yield (
        "predict: unseen levels",
        lambda: discrete().score_samples(rows().astype(str).replace({"Smoking": {"no": "seldom"}}), unseen="prior"),
    )
    yield "predict: rows, bge", lambda: gaussian_model().score_samples(values().head(20))
    yield "predict: rows, a chain", lambda: chain_model("partition-mcmc").score_samples(rows())
    yield "predict: network, bdeu", lambda: _network(discrete())
    yield "predict: network, bge", _gaussian_network
    yield "predict: network of trees", lambda: _network(make(coronary(), method="trees", samples=300))
    yield "predict: effect, bdeu", lambda: _effect(discrete(), "Smoking", "Pressure")
    yield (
        "predict: effect, levels named",
        lambda: _effect(discrete(), "M. Work", "Proteins", do=("no", "yes"), outcome_level="<3"),
    )
    yield "predict: effect, bge", lambda: _effect(gaussian_model(), "petal_length", "petal_width")
    settings = {"samples": 200, "progress": False}
    yield (
        "predict: cross-validation, bdeu",
        lambda: _validated(DagPosterior(**{"prior": "uniform", **settings}), coronary()),
    )
    yield (
        "predict: cross-validation, order",
        lambda: _validated(DagPosterior(modularity="order", **{"prior": "uniform", **settings}), asia()),
    )
    yield (
        "predict: cross-validation, bge",
        lambda: _validated(DagPosterior(score="bge", **{"prior": "uniform", **settings}), values()),
    )


def _network(model: DagPosterior) -> dict[str, Any]:
    network: Any = model.to_bayesian_network()
    drawn = network.sample(20, seed=1)
    return {
        "names": list(network.names),
        "parents": [list(own) for own in network.parents],
        "levels": [list(map(str, own)) for own in network.levels],
        "tables": list(network.tables),
        "drawn": drawn.astype(str),
    }


def _gaussian_network() -> dict[str, Any]:
    network: Any = gaussian_model().to_bayesian_network()
    return {
        "parents": [list(own) for own in network.parents],
        "coefficients": list(network.coefficients),
        "intercepts": network.intercepts,
        "variances": network.variances,
        "frame": network.to_frame(),
        "drawn": network.sample(20, seed=1),
    }


def _effect(model: DagPosterior, treatment: str, outcome: str, **settings: Any) -> Found:
    effect = model.effect(treatment, outcome, seed=1, draws=800, **settings)
    summary = effect.summary()
    numbers = {
        "summary": numbers_of(summary),
        "samples": effect.samples,
        "parts": effect.parts_table(),
        "outcomes": effect.outcome_table(),
        "draws of parts": effect.to_frame(),
    }
    return Found(numbers, {**words_of(summary), "text": repr(effect)})


def _validated(model: DagPosterior, table: Any) -> dict[str, Any]:
    found = dagpost.cross_validate(model, table, folds=3, seed=1)
    return {
        "log_scores": found.log_scores,
        "folds": found.folds,
        "mean": found.mean,
        "standard_error": found.standard_error,
        "method": found.method,
    }


# Cases: summaries and exports


def summaries() -> Iterator[Case]:
    """What is said of edges and of samples."""
    edges = coronary_model().edge_probabilities_
    drawn = {
        "structure": cache(partial(coronary_model().sample, 800, seed=1)),
        "order": cache(partial(coronary_model("order").sample, 800, seed=1)),
        "partition-mcmc": cache(partial(chain_model("partition-mcmc").sample, 800, seed=1)),
    }
    yield (
        "summary: edges",
        lambda: {
            "adjacency": dagpost.adjacency_table(edges),
            "orientation": dagpost.orientation_table(edges),
        },
    )
    yield "summary: threshold", lambda: [_threshold(edges, threshold) for threshold in (0.5, 0.1)]
    for name, sample in drawn.items():
        yield f"summary: graphs, {name}", lambda sample=sample: _summary_of_graphs(sample())
        yield f"summary: classes, {name}", lambda sample=sample: _classes(sample())
        yield f"summary: blankets, {name}", lambda sample=sample: dagpost.markov_blanket_table(sample())


def _threshold(edges: pd.DataFrame, threshold: float) -> dict[str, Any]:
    found = dagpost.threshold_graph(edges, threshold)
    names = ("threshold", "expected_true", "expected_false", "expected_missed", "cyclic")
    return {**{name: getattr(found, name) for name in names}, "table": found.table(), "graph": graph_of(found.graph)}


def _summary_of_graphs(sample: DagSample) -> Found:
    top = dagpost.top_graphs(sample, 10)
    numbers = {
        "parents": top.parents,
        "probabilities": top.probabilities,
        "log_joint": top.log_joint,
        "covered": float(top.covered),
        "table": top.table(),
    }
    return Found(numbers, [repr(top)])


def _classes(sample: DagSample) -> dict[str, Any]:
    classes = dagpost.equivalence_classes(sample)
    names = ("patterns", "probabilities", "lower", "upper", "graphs")
    return {**{name: getattr(classes, name) for name in names}, "table": classes.table(5)}


def exports() -> Iterator[Case]:
    """Results as other tools read them."""
    edges = coronary_model().edge_probabilities_
    graph = cache(partial(dagpost.to_networkx, edges, 0.1))
    yield "export: long table", lambda: dagpost.long_table(edges)
    yield "export: networkx", lambda: graph_of(graph())
    yield "export: dot", lambda: dagpost.to_dot(graph())
    yield (
        "export: dot of a class",
        lambda: dagpost.to_dot(dagpost.equivalence_classes(coronary_model().best(10)).graph(0)),
    )
    yield "export: dot file", lambda: _written(dagpost.write_dot, graph())
    yield "export: graphml", lambda: _written(dagpost.write_graphml, graph())
    yield "export: arviz", _arviz
    yield "export: jkl", _jkl
    yield (
        "fit: given scores",
        lambda: fit_of(
            DagPosterior(prior="uniform", seed=1, progress=False).fit_scores(dagpost.local_scores(coronary(), "bic", 3))
        ),
    )


def _written(write: Callable[..., Any], *content: Any) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "written"
        _write(write, path, *content)
        return path.read_text(encoding="utf-8")


def _write(write: Callable[..., Any], path: Path, *content: Any) -> None:
    try:
        write(*content, path)
    except (TypeError, dagpost.InputError):  # as older versions take it
        write(path, *content)


def _arviz() -> dict[str, Any]:
    tree: Any = dagpost.to_arviz(chain_model("partition-mcmc").sample(200, seed=1))
    return {
        "edge": tree["posterior"]["edge"].to_numpy(),
        "lp": tree["sample_stats"]["lp"].to_numpy(),
        "log_state": tree["sample_stats"]["log_state"].to_numpy(),
    }


def _jkl() -> dict[str, Any]:
    local = dagpost.local_scores(coronary(), "bdeu", 3)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scores.jkl"
        dagpost.write_jkl(local, path)
        back = dagpost.read_jkl(path)
        text = path.read_text(encoding="utf-8")
    return {"text": text, "names": list(back.names), "values": back.values, "max_parents": back.max_parents}


# Cases: files


def small_models() -> dict[str, Callable[[], DagPosterior]]:
    """One model of every kind that has a file of its own shape, small enough to keep."""
    few = {"samples": 200}
    return {
        "exact-layers": lambda: make(coronary(), method="exact-layers", **few),
        "order": lambda: make(coronary(), modularity="order", **few),
        "bootstrap": lambda: make(coronary(), method=dagpost.Bootstrap(replicates=20), **few),
        "partition-mcmc": lambda: make(coronary(), method=chains()["partition-mcmc"], **few),
        "kbest": lambda: make(coronary(), method="kbest", samples=100),
        "bge": lambda: make(iris_values(), score="bge", **few),
        "forests": lambda: make(coronary(), method=dagpost.Trees(spanning=False), **few),
        "given-order": lambda: make(coronary(), method="given-order", **few),
    }


def small_samples() -> dict[str, Callable[[], DagSample]]:
    """Samples with weights, with chains that can go on, and with a guarantee."""
    return {
        "chains": lambda: chain_model("partition-mcmc").sample(400, seed=1),
        "iw-dds": lambda: make(coronary(), method="iw-dds").sample(500, seed=1),
        "precision": lambda: coronary_model().sample(precision=0.1, confidence=0.9, seed=1),
    }


def candidates_model() -> DagPosterior:
    """A model of so many families that only those among candidates were scored.

    Nearly all edges are forbidden: nearly all weights are then minus infinity, and the file can be packed.
    """
    table = random_table(49, rows=40, levels=2)
    names = list(table.columns)
    forbidden = [(a, b) for i, a in enumerate(names) for j, b in enumerate(names) if i != j and not 0 < j - i <= 2]
    return make(table, method=chains()["partition-mcmc"], max_parents=4, forbidden=forbidden, samples=200)


def candidates() -> Iterator[Case]:
    """The one model whose families are not all scored."""
    fitted = cache(candidates_model)
    yield "fit: candidates only", lambda: fit_of(fitted())
    yield "sample: candidates only", lambda: chain_sample_of(fitted().sample(400, seed=1))


def files() -> Iterator[Case]:
    """What a model or a sample gives after it was written and read."""
    for name, model in small_models().items():
        yield f"file: model, {name}", lambda model=model: _loaded_model(model())
    for name, sample in small_samples().items():
        yield f"file: sample, {name}", lambda sample=sample: _loaded_sample(sample())
    yield "file: chains that go on", _loaded_chains


def _loaded_model(model: DagPosterior) -> Found:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.dagpost"
        model.save(path, rows=True)
        loaded = DagPosterior.load(path)
    fit = fit_of(loaded)
    first, second = loaded.names_[:2]
    asked = [dagpost.edge(first, second), dagpost.path(second, first), dagpost.in_markov_blanket(first, second)]
    found = estimates_of(loaded.probability(asked))
    gaussian = first == "sepal_length"
    numbers = {
        "fit": fit.numbers,
        "own sample": sample_of(loaded.own_sample()),
        "sample": sample_of(loaded.sample(20, seed=3)),
        "answers": found.numbers,
        "rows": loaded.score_samples(iris_values().head(5) if gaussian else coronary_rows()),
        "effect": loaded.effect(first, second, draws=100, seed=1).samples,
        "best": sample_of(loaded.best(3)),
    }
    return Found(numbers, {"fit": fit.words, "answers": found.words})


def _loaded_sample(sample: DagSample) -> Found:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sample.dagpost"
        sample.save(path)
        loaded = DagSample.load(path)
    found = estimates_of(loaded.probability(list(statements().values())[:8]))
    return Found({"same": loaded == sample, "sample": sample_of(loaded), "answers": found.numbers}, found.words)


def _loaded_chains() -> Found:
    with tempfile.TemporaryDirectory() as folder:
        model_file, sample_file = Path(folder) / "model.dagpost", Path(folder) / "sample.dagpost"
        chain_model("partition-mcmc").save(model_file)
        chain_model("partition-mcmc").sample(300, seed=5).save(sample_file)
        model, sample = DagPosterior.load(model_file), DagSample.load(sample_file)
    return chain_sample_of(model.sample(700, resume=sample))


# Cases: engines


def threads() -> Iterator[Case]:
    """The same work on one thread and on two."""
    for count in (1, 2):
        engine = {"engine": "threads", "threads": count}
        yield from _engine_cases(f"{count} thread{'s' if count > 1 else ''}", engine)


def dask() -> Iterator[Case]:
    """Two processes of this machine."""
    with ExitStack() as held:
        started = cache(lambda: held.enter_context(dagpost.DaskEngine(threads=2)))
        yield from _engine_cases("dask", {}, started)
        yield (
            "engine: dask, bootstrap",
            lambda: _fit_and_sample(make(asia(), engine=started(), method=dagpost.Bootstrap(replicates=8)), 8),
        )
        yield (
            "engine: dask, cross-validation",
            lambda: _validated(DagPosterior(prior="uniform", samples=100, engine=started(), progress=False), asia()),
        )


def _engine_cases(title: str, settings: dict[str, Any], engine: Callable[[], Any] | None = None) -> Iterator[Case]:
    def fitted(table: Any, **own: Any) -> dict[str, Any]:
        chosen = settings if engine is None else {**settings, "engine": engine()}
        return _fit_and_sample(make(table, **chosen, **own), 400)

    yield f"engine: {title}, structure", lambda: fitted(tic_tac_toe(), max_parents=3)
    yield f"engine: {title}, order", lambda: fitted(tic_tac_toe(), modularity="order")
    yield f"engine: {title}, iw-dds", lambda: fitted(asia(), method="iw-dds")
    yield f"engine: {title}, chain", lambda: fitted(asia(), method=chains()["partition-mcmc"], samples=400)
    yield f"engine: {title}, bge", lambda: fitted(wine_values(), score="bge")


def cuda_twins() -> Iterator[Case]:
    """The CUDA engine where there is no device: on the plain twins of its kernels, which the tests have."""
    with ExitStack() as held:
        try:
            held.enter_context(_twins())
        except NotAvailableError as missing:
            reason: NotAvailableError | None = missing
        else:
            reason = None
        for modularity in ("structure", "order"):
            yield f"engine: cuda twins, {modularity}", partial(_on_twins, reason, coronary, modularity=modularity)
        yield "engine: cuda twins, iw-dds", partial(_on_twins, reason, coronary, method="iw-dds")
        yield "engine: cuda twins, 8 columns", partial(_on_twins, reason, asia, max_parents=2)


@contextmanager
def _twins() -> Iterator[None]:
    """The stand-in for CuPy in its place; the tests are looked for beside the code that is measured."""
    root = str(Path(dagpost.__file__).resolve().parents[2])
    if root not in sys.path:
        sys.path.insert(0, root)
    with ExitStack() as held:
        try:
            held.enter_context(_fake_cupy().installed())
        except (ImportError, AttributeError) as error:
            raise NotAvailableError(f"{type(error).__name__}: {error}") from error
        yield


def _fake_cupy() -> Any:
    try:
        return import_module("tests.fake_cupy")
    except ImportError:
        return import_module("tests.tools.fake_cupy")


def _on_twins(missing: NotAvailableError | None, table: Callable[[], Any], **settings: Any) -> dict[str, Any]:
    if missing is not None:
        raise missing
    # Before step 9 the stand-in itself brought the small sizes; now the engine takes them.
    sizes = getattr(_fake_cupy(), "SMALL_SIZES", None)
    engine = "cuda" if sizes is None else dagpost.CudaEngine(sizes=sizes)
    return _fit_and_sample(make(table(), engine=engine, **settings), 100)


# Cases: reports


def reports() -> Iterator[Case]:
    """The numbers inside the page of a report, and its words."""
    sources: dict[str, Callable[[], Any]] = {
        **{f"model, {name}": model for name, model in small_models().items()},
        "sample": lambda: coronary_model().sample(500, seed=1),
        "sample of chains": lambda: chain_model("structure-mcmc").sample(500, seed=1),
        "interventions": lambda: make(experiment(), interventions="set", samples=200),
    }
    for name, source in sources.items():
        yield f"report: {name}", lambda source=source: _page(source())


def _page(source: Any) -> Found:
    with tempfile.TemporaryDirectory() as folder:
        path = source.report(Path(folder) / "report.html", title="A title")
        text = Path(path).read_text(encoding="utf-8")
    data = re.search(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', text, re.DOTALL)
    if data is None:
        raise ValueError("the page holds no JSON")
    content = json.loads(data[1])
    without_code = re.sub(r"<(script|style)\b.*?</\1>", " ", text, flags=re.DOTALL)
    words = plain(html.unescape(re.sub(r"<[^>]*>", " ", without_code)))
    return Found(numbers_of(content), {"page": words, "data": words_of(content)})


# Cases: commands


def commands() -> Iterator[Case]:
    """The `dagpost` command, in a folder of its own; later commands read what earlier ones have written."""
    with tempfile.TemporaryDirectory() as folder:
        run = partial(_command, Path(folder))
        (Path(folder) / "new.csv").write_text(coronary_rows().to_csv(index=False), encoding="utf-8")
        fit = ("fit", "coronary.csv", "--counts", "counts", "--seed", "1", "--quiet", "--json")
        chain = ("--method", "partition-mcmc:chains=2,thinning=5,burn_in=500", "--samples", "400")
        asked = ("Smoking -> Pressure", "Smoking ~> Pressure", "Smoking ~>{2} Pressure", 'Family _||_ "M. Work"')
        lines: dict[str, tuple[str, ...]] = {
            "fit": (*fit, "--samples", "500", "-o", "model.dagpost"),
            "fit, order": (*fit, "--modularity", "order", "--ess", "10", "--prior", "edge:0.2", "-o", "order.dagpost"),
            "fit, chain": (*fit, *chain, "-o", "chain.dagpost"),
            "edges": ("edges", "model.dagpost", "--json"),
            "query": ("query", "model.dagpost", *asked, "--json"),
            "sample": ("sample", "model.dagpost", "-n", "300", "--seed", "1", "--json", "-o", "graphs.dagpost"),
            "sample, chain": ("sample", "chain.dagpost", "-n", "400", "--seed", "1", "--json", "-o", "some.dagpost"),
            "sample, resumed": (
                *("sample", "chain.dagpost", "-n", "800", "--resume", "some.dagpost"),
                *("--json", "-o", "more.dagpost"),
            ),
            "query, sample": ("query", "more.dagpost", *asked, "--confidence", "0.9", "--json"),
            "best": ("best", "model.dagpost", "-k", "5", "--json"),
            "best, table": ("best", "coronary.csv", "--counts", "counts", "-k", "3", "--score", "k2", "--json"),
            "predict": ("predict", "model.dagpost", "new.csv", "--json"),
            "predict, target": ("predict", "model.dagpost", "new.csv", "--target", "Pressure", "--json"),
            "info, model": ("info", "model.dagpost", "--json"),
            "info, sample": ("info", "more.dagpost", "--json"),
            "info, table": ("info", "coronary.csv", "--counts", "counts", "--json"),
            "data list": ("data", "list", "--json"),
        }
        yield "command: data export", lambda: _exported(run, Path(folder))
        for name, line in lines.items():
            yield f"command: {name}", lambda line=line: both_of(json.loads(run(*line)))
        texts: dict[str, tuple[str, ...]] = {
            "fit": ("fit", "coronary.csv", "--counts", "counts", "--seed", "1", "-o", "text.dagpost"),
            "query": ("query", "model.dagpost", *asked),
            "predict": ("predict", "model.dagpost", "new.csv", "--target", "Pressure"),
            "info": ("info", "chain.dagpost"),
            "info, table": ("info", "coronary.csv", "--counts", "counts"),
            "report": ("report", "model.dagpost", "-o", "page.html"),
        }
        for name, line in texts.items():
            yield f"{WORDS}text of command: {name}", lambda line=line: plain(run(*line))
        named = ("fit", "edges", "query", "sample", "best", "predict", "report", "info", "demo", "data")
        asked_for_help = [(), *((name,) for name in named), ("data", "list"), ("data", "export")]
        for words in asked_for_help:
            name = " ".join(("dagpost", *words))
            yield f"{WORDS}help of {name}", lambda words=words: plain(run(*words, "--help"))


def _exported(run: Callable[..., str], folder: Path) -> str:
    run("data", "export", "coronary", "-o", "coronary.csv")
    return (folder / "coronary.csv").read_text(encoding="utf-8")


def _command(folder: Path, *words: str) -> str:
    """What a command prints; the lines are as wide on every terminal."""
    width = {"COLUMNS": "100", "TERM": "dumb", "NO_COLOR": "1"}
    path = os.pathsep.join(str(Path(part).resolve()) for part in sys.path if part and Path(part).is_dir())
    finished = subprocess.run(
        [sys.executable, "-m", "dagpost.cli", *words],
        cwd=folder,
        env={**os.environ, **width, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    if finished.returncode != 0:
        raise RuntimeError(f"dagpost {' '.join(words)} ended with {finished.returncode}: {finished.stderr[-500:]}")
    return finished.stdout


GROUPS: tuple[Callable[[], Iterator[Case]], ...] = (
    table_methods,
    larger_tables,
    chain_methods,
    candidates,
    scores,
    priors_and_constraints,
    answers,
    estimators,
    prediction,
    summaries,
    exports,
    files,
    threads,
    dask,
    cuda_twins,
    reports,
    commands,
)


# Files to keep


def write_files(folder: Path) -> None:
    """Save small models and samples, for tests that read what an older version wrote."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, model in {**small_models(), "candidates": candidates_model}.items():
        target = folder / f"model-{name}.dagpost"
        model().save(target, rows=name == "exact-layers")
        if name == "candidates":
            _pack(target)
        _say_size(target)
    for name, sample in small_samples().items():
        target = folder / f"sample-{name}.dagpost"
        sample().save(target)
        _say_size(target)


def _pack(path: Path) -> None:
    """Compress the arrays of a file, which are stored as they are; it reads the same."""
    with zipfile.ZipFile(path) as archive:
        members = [(member.filename, archive.read(member)) for member in archive.infolist()]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in members:
            archive.writestr(name, content)


def _say_size(path: Path) -> None:
    sys.stderr.write(f"{path.stat().st_size:>9,} bytes  {path}\n")


# Comparing


def compare(before: dict[str, Entry], after: dict[str, Entry]) -> int:
    """Say what differs, case by case; 1 if any number does beyond its last digits, or is no longer there."""
    counted: dict[str, int] = {}
    failed = False
    for name in sorted(before.keys() | after.keys()):
        old, new = before.get(name), after.get(name)
        difference = _difference(old, new)
        counted[difference] = counted.get(difference, 0) + 1
        if not difference:
            continue
        failed |= not name.startswith(WORDS) and difference not in HARMLESS
        sys.stdout.write(f"{name}: {difference}\n    before {_shown(old)}\n    after  {_shown(new)}\n")
    same = counted.pop("", 0)
    parts = [f"{same} cases are the same to the last bit", *(f"{count} {what}" for what, count in counted.items())]
    sys.stdout.write("; ".join(parts) + ("; NUMBERS DIFFER" if failed else "; no number differs") + "\n")
    return int(failed)


def _difference(old: Entry | None, new: Entry | None) -> str:
    if old is None or new is None:
        return "missing before" if old is None else "missing after"
    if old == new or ("error" not in old and "error" not in new and old["exact"] == new["exact"]):
        return ""
    if "error" in old or "error" in new:
        return OTHER_MESSAGE if "error" in old and "error" in new else "error in one"
    return LAST_DIGITS if old["rounded"] == new["rounded"] else "rounded too"


def _shown(entry: Entry | None) -> str:
    if entry is None:
        return "-"
    return f"ERROR {entry['error']}" if "error" in entry else entry["shown"]


def _read(path: Path) -> dict[str, Entry]:
    content: dict[str, Entry] = json.loads(path.read_text(encoding="utf-8"))
    return content


def main() -> int:
    """Record, compare or write files."""
    parser = argparse.ArgumentParser(description="Record what the library gives, as hashes, or compare two records.")
    parser.add_argument("output", nargs="?", type=Path, metavar="OUT.json", help="where to write the record")
    parser.add_argument("--compare", nargs=2, type=Path, metavar=("BEFORE.json", "AFTER.json"))
    parser.add_argument("--files", type=Path, metavar="FOLDER", help="save small model and sample files there")
    parser.add_argument("--only", default="", metavar="TEXT", help="only cases with this in their name")
    chosen = parser.parse_args()
    if chosen.compare:
        return compare(*map(_read, chosen.compare))
    if chosen.output is None and chosen.files is None:
        parser.error("name a file for the record, or --files, or --compare")
    sys.stderr.write(f"dagpost from {Path(dagpost.__file__).resolve().parent}\n")
    if chosen.files is not None:
        write_files(chosen.files)
    if chosen.output is not None:
        started = time.perf_counter()
        recorder = Recorder(chosen.only)
        recorder.run_all(GROUPS)
        text = json.dumps(recorder.entries, indent=1, ensure_ascii=False)
        chosen.output.write_text(text + "\n", encoding="utf-8")
        wrong = sum("error" in entry for entry in recorder.entries.values())
        seconds = time.perf_counter() - started
        sys.stderr.write(f"{len(recorder.entries)} cases, {wrong} errors, {seconds:.0f} s: {chosen.output}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
