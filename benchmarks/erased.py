"""Cells of tables with known truth are erased: which way to deal with gaps comes nearest to the complete table?

    python -m benchmarks.erased --world 'mixed-*' numbers-dense --rows 300 1000 --share 0.1 0.3 0.5 --tables 4
    python -m benchmarks.erased --pattern seen --way ours iterative --prior edge:0.2 --seeds reported

Cells are erased completely at random (`--pattern random`), or more of them, in all columns but the first, in rows where
the first column is high (`seen`). Ways: `ours`, what `--score` makes of the table with gaps; `rows`, complete rows
alone; `usual`, each gap filled with the median or the most frequent level; `iterative`, the average over 20 tables
filled by scikit-learn's IterativeImputer (drawn from its posterior; codes of levels rounded).

Counted: the mean over pairs of -log of the probability given to what is true (world_measures.py), and the distance, the
sum over pairs of how far "joined" is from what the complete table says; CPU seconds.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from benchmarks.world_fits import each
from benchmarks.world_measures import CLIP, table_text
from benchmarks.world_networks import stream
from benchmarks.world_tables import PURPOSES, SEED, WORLDS, draw_case
from numpy.typing import NDArray

from dagpost import DagPosterior, DagpostError
from dagpost.cli.arguments import parse_score

Floats = NDArray[np.float64]
COMPLETE, OURS, ROWS, USUAL, ITERATIVE = "complete", "ours", "rows", "usual", "iterative"
WAYS = OURS, ROWS, USUAL, ITERATIVE
IMPUTATIONS = 20
#: More cells are erased where the first column is high: this many times as many.
TIMES = 3.0
#: How many columns a table has at least and at most.
COLUMNS = 6, 8


def joined_by(frame: pd.DataFrame, names: Sequence[str], score: str, prior: str) -> Floats:
    """The probability that two columns are joined; one that was left out is joined with nothing."""
    model = DagPosterior(parse_score(score, None), prior=prior, threads=1, seed=1, progress=False).fit(frame)
    edges = model.edge_probabilities_.reindex(index=names, columns=names, fill_value=0.0).to_numpy()
    found: Floats = np.clip(edges + edges.T, 0.0, 1.0)
    return found


def erased(frame: pd.DataFrame, share: float, pattern: str, rng: np.random.Generator) -> pd.DataFrame:
    """The table with about this share of its cells erased."""
    chances = np.full(frame.shape, share)
    if pattern == "seen":
        first = frame.iloc[:, 0]
        codes = first.cat.codes if isinstance(first.dtype, pd.CategoricalDtype) else first
        high = (codes.rank(pct=True) > 0.5).to_numpy()
        factors = np.where(high, TIMES, 1.0)
        chances = np.outer(factors / factors.mean(), np.full(len(frame.columns), share))
        chances[:, 0] = 0.0
    return frame.mask(rng.random(frame.shape) < chances)


def usual(frame: pd.DataFrame) -> pd.DataFrame:
    """Gaps filled with the median, or the most frequent level."""
    numbers = frame.select_dtypes("number")
    return frame.fillna({name: frame[name].median() if name in numbers else frame[name].mode()[0] for name in frame})


def imputed(frame: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Gaps filled by scikit-learn: each column drawn from a linear regression on the others, levels as codes."""
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer

    result = frame.copy()
    levels = {name: sorted(frame[name].dropna().unique()) for name in frame.select_dtypes(exclude="number")}
    codes = frame.assign(**{name: frame[name].map({own: k for k, own in enumerate(levels[name])}) for name in levels})
    full = IterativeImputer(sample_posterior=True, random_state=seed).fit_transform(codes.astype(np.float64))
    for place, name in enumerate(frame):
        if name in levels:
            rounded = np.clip(np.rint(full[:, place]), 0, len(levels[name]) - 1).astype(int)
            result[name] = np.array(levels[name], dtype=object)[rounded]
        else:
            result[name] = full[:, place]
    return result


class Job(NamedTuple):
    """One complete table, erased once, and all ways."""

    purpose: str
    world: str
    rows: int
    number: int
    share: float
    pattern: str
    score: str
    prior: str
    ways: tuple[str, ...]


def answered(job: Job, way: str, frame: pd.DataFrame) -> Floats:
    """What one way says of the table with gaps."""
    names = list(frame.columns)
    if way == OURS:
        return joined_by(frame, names, job.score, job.prior)
    if way == ROWS:
        return joined_by(frame.dropna(), names, job.score, job.prior)
    if way == USUAL:
        return joined_by(usual(frame), names, job.score, job.prior)
    drawn = [joined_by(imputed(frame, seed), names, job.score, job.prior) for seed in range(IMPUTATIONS)]
    found: Floats = np.mean(drawn, axis=0)
    return found


def work(job: Job) -> dict[str, Any]:
    """How far each way is from the truth, and from the complete table."""
    case = draw_case(job.purpose, job.world, job.rows, job.number, columns=COLUMNS)
    names, truth = list(case.frame.columns), case.network.truth().joined
    # Levels as text, so that gaps do not make numbers of them.
    full = case.frame.apply(lambda own: own if own.dtype.kind in "fiu" else own.astype(str).astype(object))
    frame = erased(full, job.share, job.pattern, stream(case.seed, 6, round(100 * job.share)))
    upper, found = np.triu_indices(len(names), 1), []
    reference = joined_by(full, names, job.score, job.prior)
    for way in (COMPLETE, *job.ways):
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                said = reference if way == COMPLETE else answered(job, way, frame)
            except (DagpostError, ValueError) as error:
                found.append({"way": way, "refused": str(error)})
                continue
        inside = said[upper].clip(CLIP, 1.0 - CLIP)
        losses = -np.log(np.where(truth[upper], inside, 1.0 - inside))
        distance = float(np.abs(said - reference)[upper].sum())
        seconds = time.process_time() - start
        found.append({"way": way, "log_loss": float(losses.mean()), "distance": distance, "seconds": seconds})
    return {"about": job._asdict(), "found": found}


def lines_of(tables: Sequence[Mapping[str, Any]], by: Sequence[str]) -> list[list[str]]:
    """A line for each way in each cell."""
    cells: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for table in tables:
        key = tuple(str(table["about"][name]) for name in by)
        for own in table["found"]:
            cells.setdefault((*key, own["way"]), []).append(own)
    lines = []
    for key, found in cells.items():
        taken = [own for own in found if "refused" not in own]
        figures = [
            f"{np.mean([own[name] for own in taken]):.{digits}f}" if taken else "–"
            for name, digits in (("log_loss", 3), ("distance", 2), ("seconds", 1))
        ]
        lines.append([*key, str(len(taken)), *figures])
    return lines


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.erased", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--world", nargs="+", default=["numbers-dense", "mixed-dense", "mixed-sparse", "nominal-dense"])
    parser.add_argument("--rows", nargs="+", type=int, default=[300, 1_000])
    parser.add_argument("--share", nargs="+", type=float, default=[0.3])
    parser.add_argument("--pattern", choices=["random", "seen"], default="random")
    parser.add_argument("--way", nargs="+", choices=WAYS, default=list(WAYS))
    parser.add_argument("--score", default="additive")
    parser.add_argument("--prior", default="edge:0.2")
    parser.add_argument("--tables", type=int, default=4, help="of each world, number of rows and share")
    parser.add_argument("--by", nargs="+", default=["world", "rows", "share"], help="what each line is about")
    parser.add_argument("--seeds", choices=[*PURPOSES], default="choosing", help="what the tables are for")
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    worlds = [name for name in WORLDS if any(fnmatchcase(name, pattern) for pattern in options.world)]
    ways = tuple(options.way)
    jobs = [
        Job(options.seeds, world, rows, number, share, options.pattern, options.score, options.prior, ways)
        for number in range(options.tables) for rows in options.rows for share in options.share for world in worlds
    ]  # fmt: skip
    tables = list(each(work, jobs, options.processes))
    print(f"{len(tables)} tables; --seeds {options.seeds} --seed {SEED} --pattern {options.pattern}\n")
    for by in [*([own] for own in options.by), []]:
        print(table_text((*by, "way", "tables", "log loss", "distance", "CPU s"), lines_of(tables, by)), end="\n\n")


if __name__ == "__main__":
    main()
