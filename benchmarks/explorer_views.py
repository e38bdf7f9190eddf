"""How long a view of the explorer takes at the server, and what a session holds in memory.

    python -m benchmarks.explorer_views [--columns 14 16 18 40] [--views 15] [--many 10000] [--json]

Tables of 300 rows of two levels, from random networks with weak edges, so that the drawn graphs are nearly all
different: the most work. Each view assumes one edge more than the one before, up to three, then starts afresh with
other edges, as a person does. "first" is the answer to a quick request, "patient" the one after it where the first was
not final. Up to 18 columns also under an average over equivalent sample sizes; 40 columns by chains. Medians in
milliseconds, of wall time and of CPU time of all threads. `--many` views with different assumptions show whether
memory stays bounded (12 columns).
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import time
import warnings
from typing import Any

import numpy as np
import pandas as pd

from dagpost import DagPosterior
from dagpost.errors import NoGraphError
from dagpost.explorer.session import Session
from dagpost.explorer.views import view

SEED, ROWS = 17, 300


def frame_of(columns: int) -> pd.DataFrame:
    """Columns of two levels, each of which depends weakly on two earlier ones."""
    rng = np.random.default_rng(SEED)
    data = np.zeros((ROWS, columns), dtype=int)
    for column in range(columns):
        parents = rng.choice(column, min(column, 2), replace=False)
        data[:, column] = rng.random(ROWS) < 0.3 + 0.4 * data[:, parents].sum(axis=1) / 2
    return pd.DataFrame(data, columns=[f"V{column:02}" for column in range(columns)]).astype(str)


def session_of(columns: int, score: str) -> Session:
    """A session on a model, ready for questions."""
    settings: dict[str, Any] = {"method": "block-gibbs", "samples": 30_000} if columns > 20 else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = DagPosterior("bdeu" if score == "single" else "auto", seed=1, progress=False, **settings)
        session = Session(model.fit(frame_of(columns)).fitted_, "benchmark")
        session.prepare()
    return session


def assumptions(session: Session, views: int) -> list[list[str]]:
    """What is assumed in each view: edges that are there in some graphs, or are not, up to three."""
    rng = np.random.default_rng(SEED)
    edges, names = np.array(view(session, {})["edges"]), session.fitted.names
    open_edges = np.argwhere((edges > 0.02) & (edges < 0.98)).tolist()
    found: list[list[str]] = []
    while len(found) < views:
        given: list[str] = []
        for place in rng.choice(len(open_edges), 3, replace=False).tolist():
            edge = " -> ".join(names[node] for node in open_edges[place])
            given = [*given, edge if rng.random() < 0.7 else f"!({edge})"]
            try:
                view(session, {"given": given})
            except NoGraphError:
                break
            found.append(given)
    return found[:views]


def timed(session: Session, asked: dict[str, Any]) -> tuple[tuple[float, float], dict[str, Any]]:
    """Milliseconds of a view, as JSON, by the clock and of all threads, and the view."""
    started = time.perf_counter(), time.process_time()
    found = view(session, asked)
    json.dumps(found, allow_nan=False)
    return (1e3 * (time.perf_counter() - started[0]), 1e3 * (time.process_time() - started[1])), found


def measured(columns: int, score: str, views: int) -> dict[str, Any]:
    """Medians over some views."""
    session = session_of(columns, score)
    timed(session, {})
    timed(session, {"given": ["V00 -> V01"], "patient": True})
    first, patient, sources, few = [], [], [], 0
    asked = assumptions(session, views)
    session._models.clear()
    for given in asked:
        took, found = timed(session, {"given": given})
        first.append(took)
        sources.append(found["source"])
        few += found["few"]
        if not found["final"]:
            patient.append(timed(session, {"given": given, "patient": True})[0])
    assert session.graphs is not None
    return {
        "columns": columns,
        "score": score,
        "graphs": len(session.graphs.parents),
        "first_ms": _median(first),
        "first_worst_ms": round(max(first)[0], 1),
        "sources": {own: sources.count(own) for own in sorted(set(sources))},
        "few": few,
        "patient_ms": _median(patient) if patient else None,
    }


def _median(times: list[tuple[float, float]]) -> dict[str, float]:
    wall, cpu = (round(statistics.median(own), 1) for own in zip(*times, strict=True))
    return {"wall": wall, "cpu": cpu}


def memory_of_many(views: int) -> dict[str, Any]:
    """The peak of memory after a tenth of the views, and after all."""
    session = session_of(12, "single")
    names = session.fitted.names
    rng, seen, peaks = np.random.default_rng(SEED), set(), []
    for count in range(1, views + 1):
        # Along one order no cycle closes.
        ends = [sorted(rng.choice(12, 2, replace=False).tolist()) for _ in range(3)]
        given = [f"{names[one]} -> {names[two]}" for one, two in ends[:2]]
        given.append(f"!({names[ends[2][1]]} -> {names[ends[2][0]]})")
        seen.add(tuple(sorted(given)))
        view(session, {"given": given})
        if count in (views // 10, views):
            peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
    return {"views": views, "different": len(seen), "peaks_mb": peaks}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--columns", type=int, nargs="*", default=[14, 16, 18, 40])
    parser.add_argument("--views", type=int, default=15)
    parser.add_argument("--many", type=int, default=10_000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = []
    for columns in options.columns:
        for score in ("single", "averaged") if columns <= 18 else ("single",):
            found.append(measured(columns, score, options.views))
            print(json.dumps(found[-1]) if options.json else _row(found[-1]), flush=True)
    if options.many:
        print(json.dumps(memory_of_many(options.many)))


def _row(figures: dict[str, Any]) -> str:
    return "  ".join(f"{name} {value}" for name, value in figures.items())


if __name__ == "__main__":
    main()
