"""Are the probabilities right? Losses and calibration against known networks, behind the defaults.

    python -m benchmarks.calibration            everything; resumes where it stopped, some 25 minutes on one core
    python -m benchmarks.calibration --quick    a few tables, a minute; writes no document

Tables are drawn from networks (calibration_data.py), fitted with exact sums over all graphs, each counted once, at most
5 parents and no preference among parent sets, and the probabilities of pairs, edges and paths are compared with the
truth. `sizes` compares equivalent sample sizes and their average by evidence; `bins` ways to cut numbers; `directions`
counts how many directions that are called clear are wrong, `cut-directions` after cutting. The results of each table
are a line in benchmarks/results/calibration-PART.jsonl; docs/calibration.md is written from them
(calibration_tables.py).
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.calibration_data import Case, continuous_cases, discrete_cases
from benchmarks.calibration_tables import DOCUMENT, document
from numpy.typing import NDArray

from dagpost import BDeu, BGe, DagPosterior, Table, discretise
from dagpost.data.cutting import Strategy
from dagpost.posterior.summaries import essential_graphs
from dagpost.scores.bdeu import SIZES as USUAL_GRID

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Result = dict[str, Any]

RESULTS = Path(__file__).resolve().parent / "results"
ROWS = (100, 300, 1_000, 5_000)
REPLICATES = {"sizes": 20, "bins": 12, "directions": 20, "cut-directions": 6}
#: Single sizes, and what they are averaged over.
SIZES = (0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
AVERAGES = {"average": USUAL_GRID, "average, wide": SIZES}
SHOWN_SIZES = (1.0, 5.0, 10.0)
CUTS: tuple[tuple[Strategy, int], ...] = (
    *(("quantile", bins) for bins in (2, 3, 4, 5, 7)),
    ("uniform", 3),
    ("kmeans", 3),
    ("uniform", 5),
    ("kmeans", 5),
)
#: Where predicted probabilities are divided in tables of calibration.
STEPS = (0.0, 0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98, 1.0)
#: No probability counts as closer to 0 or 1 than this in a log loss: one sure error costs 13.8, not infinity.
CLIP = 1e-6
#: A direction is counted if the pair is joined with at least this probability.
JOINED = (0.5, 0.9)
CLEAR = 0.9
DRAWS = 4_000


class Answers:
    """Evidence and exact probabilities of one fit."""

    def __init__(self, table: Table, score: Any) -> None:
        self.model = DagPosterior(score, threads=1, samples=DRAWS, seed=1).fit(table)
        self.log_evidence = self.model.log_evidence_
        self.edges = self.model.edge_probabilities_.to_numpy()
        self.paths = self.model.probability_matrix("~>").to_numpy()


def sizes_of(case: Case) -> Result:
    """Losses under each equivalent sample size, and averaged."""
    fits = {size: Answers(case.table, BDeu(size)) for size in SIZES}
    result = {f"{size:g}": losses(case.truth, fit.edges, fit.paths) for size, fit in fits.items()}
    for name, grid in AVERAGES.items():
        result[name] = losses(case.truth, *averaged([fits[size] for size in grid]))
    return result


def bins_of(case: Case) -> Result:
    """Losses with each way to cut the columns, averaged over sizes, and with the uncut columns."""
    result = {}
    for strategy, bins in CUTS:
        table = discretise(case.table, bins, strategy)
        result[f"{bins} {strategy}"] = losses(case.truth, *averaged([Answers(table, BDeu(s)) for s in USUAL_GRID]))
        if strategy == "quantile":
            one = Answers(table, BDeu(1.0))
            result[f"{bins} {strategy}, size 1"] = losses(case.truth, one.edges, one.paths)
    uncut = Answers(case.table, BGe())
    result["uncut (BGe)"] = losses(case.truth, uncut.edges, uncut.paths)
    return result


def directions_of(case: Case) -> Result:
    """How many directions are clear, how many of them are wrong, and how many of the compelled ones were found."""
    found, mixed = _directions_by_size(case.table)
    result = {f"{size:g}": clear_directions(case.truth, *found[size]) for size in SHOWN_SIZES}
    return {**result, "average": clear_directions(case.truth, *mixed)}


def cut_directions_of(case: Case) -> Result:
    """The same for numbers: cut, with sizes averaged, and uncut."""
    result = {}
    for bins in (3, 4):
        _, mixed = _directions_by_size(discretise(case.table, bins))
        result[f"{bins} quantile"] = clear_directions(case.truth, *mixed)
    uncut = _directions(Answers(case.table, BGe()).model)
    return {**result, "uncut (BGe)": clear_directions(case.truth, *uncut)}


def _directions_by_size(table: Table) -> tuple[dict[float, tuple[Floats, Floats]], tuple[Floats, Floats]]:
    """What `_directions` gives for each size, and mixed by evidence."""
    fits = [Answers(table, BDeu(size)) for size in USUAL_GRID]
    found = [_directions(fit.model) for fit in fits]
    joined, by_data = np.einsum("s,spab->pab", evidence_weights(fits), np.array(found))
    return dict(zip(USUAL_GRID, found, strict=True)), (joined, by_data)


def _directions(model: DagPosterior) -> tuple[Floats, Floats]:
    """Matrices of the probabilities of being joined, and joined with this direction compelled by the data."""
    place = {name: number for number, name in enumerate(model.names_)}
    joined, by_data = np.zeros((2, len(place), len(place)))
    for row in model.directions().to_dict("records"):
        a, b = place[row["from"]], place[row["to"]]
        joined[a, b] = joined[b, a] = row["joined"]
        by_data[a, b], by_data[b, a] = row["by_data"], row["by_data_back"]
    return joined, by_data


def clear_directions(truth: Flags, joined: Floats, by_data: Floats) -> Result:
    """Counts of clear directions; `joined` and `by_data` as `_directions` gives them."""
    compelled = compelled_edges(truth)
    result = {}
    for least in JOINED:
        clear = (joined >= least) & (by_data >= CLEAR * joined)
        result[f"{least:g}"] = {
            "clear": int(clear.sum()),
            "wrong": int((clear & ~truth).sum()),
            "reversed": int((clear & truth.T).sum()),
            "compelled": int(compelled.sum()),
            "found": int((clear & compelled).sum()),
        }
    return result


def compelled_edges(truth: Flags) -> Flags:
    """The edges that are directed in the essential graph of the true network."""
    masks = (truth * (1 << np.arange(len(truth)))[:, None]).sum(axis=0).astype(np.uint64)
    pattern = essential_graphs(masks[None])[0]
    there = (pattern[None, :] >> np.arange(len(truth), dtype=np.uint64)[:, None] & np.uint64(1)).astype(bool)
    result: Flags = there & ~there.T
    return result


def evidence_weights(fits: list[Answers]) -> Floats:
    """Weights in proportion to the evidence, all sizes having been equally probable before."""
    log_evidence = np.array([fit.log_evidence for fit in fits])
    weights = np.exp(log_evidence - log_evidence.max())
    result: Floats = weights / weights.sum()
    return result


def averaged(fits: list[Answers]) -> tuple[Floats, Floats]:
    """Edges and paths, mixed by evidence."""
    weights = evidence_weights(fits)
    edges = np.einsum("s,sab->ab", weights, np.stack([fit.edges for fit in fits]))
    return edges, np.einsum("s,sab->ab", weights, np.stack([fit.paths for fit in fits]))


def losses(truth: Flags, edges: Floats, paths: Floats) -> Result:
    """Brier score, log loss and calibration of pairs, edges and paths."""
    upper = np.triu_indices(len(truth), 1)
    off = ~np.eye(len(truth), dtype=bool)
    return {
        "pairs": _losses((edges + edges.T)[upper], (truth | truth.T)[upper]),
        "edges": _losses(edges[off], truth[off]),
        "paths": _losses(paths[off], ancestors(truth)[off]),
    }


def ancestors(truth: Flags) -> Flags:
    """Whether there is a directed path from a to b."""
    reached = truth.copy()
    for node in range(len(truth)):
        reached |= reached[:, [node]] & reached[[node]]
    return reached


def _losses(predicted: Floats, observed: Flags) -> Result:
    predicted = np.clip(predicted, 0.0, 1.0)
    inside = np.clip(predicted, CLIP, 1 - CLIP)
    cell = np.clip(np.searchsorted(STEPS, predicted, side="right") - 1, 0, len(STEPS) - 2)
    parts = (np.ones_like(predicted), predicted, observed)
    return {
        "brier": float(np.mean((predicted - observed) ** 2)),
        "log": float(-np.mean(np.where(observed, np.log(inside), np.log1p(-inside)))),
        "bins": [np.bincount(cell, weights=part, minlength=len(STEPS) - 1).tolist() for part in parts],
    }


PARTS = {"sizes": sizes_of, "directions": directions_of, "bins": bins_of, "cut-directions": cut_directions_of}


def run(part: str, cases: Iterable[Case], path: Path | None) -> list[Result]:
    """The results of all cases; those that are in the file already are read, the others added to it."""
    done: dict[str, Result] = {}
    if path is not None and path.exists():
        done = {line["key"]: line for line in map(json.loads, path.read_text(encoding="utf-8").splitlines())}
    results = []
    for case in cases:
        if case.key not in done:
            with warnings.catch_warnings():
                # Columns with a level that does not occur, or that is always the same.
                warnings.simplefilter("ignore")
                found = PARTS[part](case)
            about = {"key": case.key, "network": case.network, "rows": case.rows, "nodes": len(case.truth)}
            done[case.key] = {**about, "results": found}
            if path is not None:
                path.parent.mkdir(exist_ok=True)
                with path.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(done[case.key]) + "\n")
        results.append(done[case.key])
    print(f"{part}: {len(results)} tables", flush=True)
    return results


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.calibration", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--quick", action="store_true", help="a few tables; print, and write nothing")
    parser.add_argument("--parts", nargs="+", choices=[*PARTS], default=[*PARTS])
    options = parser.parse_args()
    rows = (100, 1_000) if options.quick else ROWS
    found = {}
    for part in options.parts:
        count = 1 if options.quick else REPLICATES[part]
        cases = continuous_cases(rows, count) if part in ("bins", "cut-directions") else discrete_cases(rows, count)
        found[part] = run(part, cases, None if options.quick else RESULTS / f"calibration-{part}.jsonl")
    text = document(found)
    if options.quick or len(found) < len(PARTS):
        print(text)
    else:
        DOCUMENT.write_text(text, encoding="utf-8")
        print(f"{DOCUMENT} is written", flush=True)


if __name__ == "__main__":
    main()
