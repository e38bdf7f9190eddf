"""Draws graphs from the posterior of one data set of Benchpress, and writes them as its trajectory.

Snakemake runs this file with an object `snakemake` in front: `input` has the data and perhaps a file of edge
constraints, `wildcards` the fields of the JSON object as texts (null is "None"), `output` the files to write.
"""

import csv
import json
import math
import os
import threading
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import dagpost
from dagpost import InputError

TIER_SETTINGS = ("forbid_within_tiers", "can_only_cause_next_tier")
CONSTRAINTS = ("forbidden_edges", "required_edges", "tiers", "tier_settings", "forbidden_groups", "required_groups")


# The fields of the JSON object


class Fields:
    """The fields of one JSON object under "dagpost"."""

    def __init__(self, wildcards: Any) -> None:
        self.texts = dict(wildcards.items())

    def text(self, name: str) -> str:
        """What a field holds, as text."""
        if name not in self.texts:
            raise InputError(
                f'The field {name!r} is missing. Every object under "dagpost" needs all fields that schema.json lists '
                "as required."
            )
        return str(self.texts[name])

    def word(self, name: str, known: tuple[str, ...]) -> str:
        """One of some words."""
        found = self.text(name)
        if found not in known:
            raise InputError(f"The field {name!r} must be one of {', '.join(known)}. Got {found!r} instead.")
        return found

    def number(self, name: str, kind: Any = float, least: float = -math.inf, above: float = -math.inf) -> Any:
        """A number, or None for null."""
        found = self.text(name)
        if found == "None":
            return None
        try:
            value = kind(found)
        except ValueError:
            value = math.nan
        if not (least <= value < math.inf and value > above):
            limit = f"above {above:g}" if least == -math.inf else f"of at least {least:g}"
            what = "a whole number" if kind is int else "a number"
            raise InputError(f"The field {name!r} must be {what} {limit}. Got {found!r} instead.")
        return value

    def needed(self, name: str, why: str, **limits: Any) -> Any:
        """A number that must be given."""
        value = self.number(name, **limits)
        if value is None:
            raise InputError(f"The field {name!r} must be a number{why}. Got null instead.")
        return value

    def unused(self, name: str, why: str) -> None:
        """Refuse a field that would have no effect."""
        if self.text(name) != "None":
            raise InputError(f"The field {name!r} must be null{why}. Got {self.text(name)!r} instead.")


def score_of(fields: Fields) -> Any:
    """The score with its parameters."""
    score = fields.word("score", ("bdeu", "bge"))
    why = f" with the score {score}"
    if score == "bge":
        fields.unused("equivalent_sample_size", why)
        weight = fields.needed("mean_weight", why, above=0.0)
        return dagpost.BGe(mean_weight=weight, prior_scale=fields.number("prior_scale", above=0.0))
    fields.unused("mean_weight", why)
    fields.unused("prior_scale", why)
    return dagpost.BDeu(fields.needed("equivalent_sample_size", why, above=0.0))


def prior_of(fields: Fields) -> Any:
    """The prior over graphs with its parameters."""
    prior = fields.word("prior", ("uniform", "indegree", "edge"))
    why = f" with the prior {prior}"
    if prior == "edge":
        return dagpost.EdgePrior(fields.needed("edge_probability", why, above=0.0))
    fields.unused("edge_probability", why)
    return prior


def model_of(fields: Fields, threads: int) -> dagpost.DagPosterior:
    """The model that the fields describe, without constraints."""
    return dagpost.DagPosterior(
        score=score_of(fields),
        prior=prior_of(fields),
        modularity=fields.word("modularity", ("structure", "order")),  # type: ignore[arg-type]
        max_parents=fields.needed("max_parents", "", kind=int, least=0),
        method=fields.text("method"),
        samples=fields.needed("samples", "", kind=int, least=1),
        seed=fields.needed("mcmc_seed", "", kind=int, least=0),
        threads=threads,
        engine="threads",
        progress=False,
    )


# The data


def read_data(path: str, levels: bool) -> tuple[pd.DataFrame, list[str] | None]:
    """The table of a data file, and the columns that were set in each row (None: nothing was set).

    Data of levels has the number of levels of each column in its second line. A name that comes a second time heads a
    column that says in which rows the first one was set.
    """
    with open(path, newline="", encoding="utf-8") as file:
        names, *rows = [line for line in csv.reader(file) if line] or [[]]
    sizes, rows = (rows[:1], rows[1:]) if levels else ([], rows)
    first = 2 + len(sizes)
    for line, row in enumerate([*sizes, *rows], start=2):
        if len(row) != len(names):
            raise InputError(f"{path!r}, line {line}: there are {len(row)} values for {len(names)} columns.")
    if not rows:
        raise InputError(f"{path!r} has no rows{' below the numbers of levels' if levels else ''}.")
    count = len({*names})
    if len({*names[:count]}) < count:
        raise InputError(f"{path!r}: columns whose names come a second time (interventions) must follow all others.")
    cells = np.array([row_numbers(path, names, row, line) for line, row in enumerate(rows, start=first)])
    columns: dict[str, Any] = {name: cells[:, place] for place, name in enumerate(names[:count])}
    if levels:
        columns = {
            name: categories(path, name, size, columns[name], first)
            for name, size in zip(names[:count], sizes[0][:count], strict=True)
        }
    return pd.DataFrame(columns), targets_of(path, names[count:], cells[:, count:])


def row_numbers(path: str, names: list[str], row: list[str], line: int) -> list[float]:
    """The numbers of a row; nan where there is no value."""
    found = []
    for name, cell in zip(names, row, strict=True):
        try:
            found.append(float(cell) if cell not in ("", "NA") else math.nan)
        except ValueError:
            raise InputError(f"{path!r}, line {line}, column {name!r}: {cell!r} is not a number.") from None
    return found


def categories(path: str, name: str, size: str, codes: Any, first: int) -> Any:
    """Levels from 0 on; those that no row has count too, since the second line says how many there are."""
    if not (size.isdecimal() and int(size) >= 1):
        raise InputError(
            f"{path!r}, line 2, column {name!r}: with the score bdeu the second line has the number of levels of each "
            f"column, and {size!r} is not such a number."
        )
    wrong = np.flatnonzero(~(np.isnan(codes) | np.isin(codes, np.arange(int(size)))))
    if len(wrong):
        code, line = codes[wrong[0]], first + int(wrong[0])
        raise InputError(
            f"{path!r}, line {line}, column {name!r}: {code:g} is not one of the levels 0 to {int(size) - 1}."
        )
    whole = np.where(np.isnan(codes), -1, codes).astype(int)
    return pd.Categorical.from_codes(whole, categories=pd.Index(range(int(size))))


def targets_of(path: str, names: list[str], flags: Any) -> list[str] | None:
    """The names of the columns that were set in each row, as dagpost reads them."""
    if not names:
        return None
    if not np.isin(flags, (0, 1)).all():
        row = int(np.flatnonzero(~np.isin(flags, (0, 1)).all(axis=1))[0]) + 1
        raise InputError(f"{path!r}: whether a column was set must be 0 or 1, and in row {row} it is neither.")
    return [";".join(name for name, flag in zip(names, row, strict=True) if flag) for row in flags]


# Edge constraints


def read_constraints(path: str, names: list[str]) -> dict[str, Any]:
    """What a file of edge constraints means to dagpost; names that the data does not have are passed over."""
    content = json.loads(Path(path).read_text(encoding="utf-8"))
    settings = content.get("tier_settings") or {}
    for given, known in ((content, CONSTRAINTS), (settings, TIER_SETTINGS)):
        strange = sorted(set(given) - set(known))
        if strange:
            raise InputError(f"{path!r}: {strange[0]!r} is not known here. There are: {', '.join(known)}.")
    tiers = [[name for name in tier if name in names] for tier in content.get("tiers") or ()]
    return {
        "required": known_edges(edges_in(content, "required"), names),
        "forbidden": known_edges(edges_in(content, "forbidden") + tier_edges(tiers, settings), names),
        "tiers": [tier for tier in tiers if tier] or None,
    }


def edges_in(content: dict[str, Any], kind: str) -> list[tuple[str, str]]:
    """The edges that are listed, and those from every cause to every effect of a group."""
    groups = content.get(f"{kind}_groups") or ()
    pairs = [(cause, effect) for group in groups for cause in group["cause"] for effect in group["effect"]]
    return [(parent, child) for parent, child in content.get(f"{kind}_edges") or ()] + pairs


def tier_edges(tiers: list[list[str]], settings: dict[str, bool]) -> list[tuple[str, str]]:
    """The edges that the settings forbid, beside those that lead back to an earlier tier."""
    within, skipping = (settings.get(name) for name in TIER_SETTINGS)
    return [
        (parent, child)
        for place, tier in enumerate(tiers)
        for other, later in enumerate(tiers)
        if (within and place == other) or (skipping and other > place + 1)
        for parent in tier
        for child in later
        if parent != child
    ]


def known_edges(edges: list[tuple[str, str]], names: list[str]) -> list[tuple[str, str]]:
    """Each edge once, without those of other data."""
    return [edge for edge in dict.fromkeys(edges) if set(edge) <= set(names)]


# The run


def warm_up(model: dagpost.DagPosterior, frame: pd.DataFrame, targets: list[str] | None) -> None:
    """Have the code compiled that will be used: no other method is timed with its compiler."""
    method: Any = model.plan(frame, interventions=targets).method
    method = model.method if method == "augmentation" else method  # that of gaps, of which there are none here
    numbers = np.random.default_rng(1).normal(size=(20, 4))
    small = pd.DataFrame(numbers, columns=list("abcd"))
    settings = model.get_params() | {"required": (), "forbidden": (), "tiers": None, "method": method}
    levels = isinstance(model.score, dagpost.BDeu)
    dagpost.DagPosterior(**{"prior": "uniform", **settings}).fit((small > 0.0).astype(str) if levels else small).sample(
        10, seed=1
    )


class Clock:
    """Seconds since the start, and the end of the run when time is up.

    Compiled code does not notice an alarm. So a thread writes what Benchpress expects of a run that took too long, an
    empty trajectory and the time None, and ends the process, unless the results are being written by then.
    """

    def __init__(self, limit: float | None, output: Any) -> None:
        self.start, self.limit, self.output = time.perf_counter(), limit, output
        self.writing = threading.Lock()
        if limit is not None:
            timer = threading.Timer(limit, self.give_up)
            timer.daemon = True
            timer.start()

    def seconds(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self.start

    def give_up(self) -> None:
        """End the process."""
        if self.writing.acquire(blocking=False):
            print(f"Timeout after {self.limit:g} seconds: the trajectory is left empty.", flush=True)
            Path(self.output["seqgraph"]).write_text("")
            Path(self.output["time"]).write_text("None\n")
            os._exit(0)


def run(job: Any) -> None:
    """Do what Snakemake asks for."""
    fields = Fields(job.wildcards)
    model = model_of(fields, job.threads)
    limit = fields.number("timeout", above=0.0)
    frame, targets = read_data(job.input["data"], levels=isinstance(model.score, dagpost.BDeu))
    constraints = job.input.get("edge_constraints")
    if constraints:
        model.set_params(**read_constraints(str(constraints), frame.columns.tolist()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warm_up(model, frame, targets)
    clock = Clock(limit, job.output)
    # Its own one: where edges are estimated, fitting has drawn it already.
    sample = model.fit(frame, interventions=targets).own_sample()
    seconds = clock.seconds()
    # Never given back: from here on the run has made it in time.
    clock.writing.acquire()
    dagpost.write_trajectory(sample, job.output["seqgraph"])
    Path(job.output["time"]).write_text(f"{seconds}\n")


if "snakemake" in globals():
    run(globals()["snakemake"])
