"""What is gained by completing gaps: against dropping rows and imputing; and what two real tables with gaps take.

    python -m benchmarks.gaps erased [--shares 0.1 0.3 0.5] [--times 10] [--score bdeu]
    python -m benchmarks.gaps simulated [--tables 100] [--share 0.3]
    python -m benchmarks.gaps real [--folder FOLDER] [--tables votes tumor_missing] [--score bdeu]

- erased: cells of the coronary table (1,841 men, 6 columns) are erased at random. The edges of the complete table are
  what is to be found; the distance is the sum of absolute differences of edges. Compared are the posterior over all
  completions, complete rows alone, each gap filled with the mode of its column, and the average of the posteriors of 20
  tables filled by scikit-learn's IterativeImputer (drawn from its posterior, rounded to codes). Differences from ours
  are of the same erased tables, with their standard errors.
- simulated: the same for tables of five columns whose graph and chances are drawn from the prior, so that it is known
  what is true: beside distances to the posterior of the complete table, the losses of the true edges.
- real: votes.csv (435 congressmen, 17 columns, 392 gaps) and tumor_missing.csv (339 patients, 18 columns, 225 gaps),
  both of the UCI repository, in FOLDER/real: CPU seconds, R-hat, errors of edges; and how far edges are from those of
  the tumor table whose gaps are filled with modes (FOLDER/paper/tumor.csv).

Every graph counts once, at most 5 parents; "bdeu" has an equivalent sample size of 1, "auto" averages over several. All
sums over graphs are exact given each completed table.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from benchmarks.gaps_simulation import Levels, draw_graph
from benchmarks.measuring import RESULTS
from numpy.typing import NDArray

from dagpost import BDeu, DagPosterior, Table, as_table, datasets
from dagpost.mcmc.number_series import averages_of

Floats = NDArray[np.float64]
Result = dict[str, Any]

SEED = 2034
SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
IMPUTATIONS = 20
SIMULATED_ROWS = 300
#: Graphs, ten from each completed table.
SAMPLES = 10_000
REAL = ["votes", "tumor_missing"]
WAYS = ("all completions", "complete rows", "mode", "IterativeImputer")


def edges_of(table: Table, score: Any = "bdeu") -> Floats:
    """Exact edges of a complete table."""
    return DagPosterior(prior="uniform", score=score, threads=1).fit(table).edge_probabilities_.to_numpy()


def written_out(table: Table) -> Table:
    """One row for each observation."""
    kept = np.repeat(np.arange(table.rows), table.weights)
    return replace(table, columns=tuple(column[kept] for column in table.columns), counts=None)


def erased(table: Table, share: float, seed: list[int]) -> Table:
    """The table with a share of its cells erased, whichever they are."""
    shape = (len(table.names), table.rows)
    places = np.random.default_rng(seed).permutation(shape[0] * shape[1])
    gaps = (places < round(share * len(places))).reshape(shape)
    columns = tuple(
        np.where(own, 0, column).astype(column.dtype) for column, own in zip(table.columns, gaps, strict=True)
    )
    return replace(table, columns=columns, gaps=gaps)


def complete_rows(table: Table) -> Table:
    """The rows without gaps."""
    kept = np.flatnonzero(~np.asarray(table.gaps).any(axis=0))
    return replace(table, columns=tuple(column[kept] for column in table.columns), gaps=None)


def filled_with_modes(table: Table) -> Table:
    """Each gap filled with the most frequent level of its column."""
    gaps = np.asarray(table.gaps)
    modes = [np.bincount(column[~own]).argmax() for column, own in zip(table.columns, gaps, strict=True)]
    return table.filled(np.repeat(modes, gaps.sum(axis=1)).astype(float))


def imputed(table: Table, seed: int) -> Table:
    """Gaps filled by scikit-learn: each column drawn from a regression on the others, rounded to its codes."""
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer

    gaps = np.asarray(table.gaps)
    values = np.where(gaps, np.nan, np.stack(table.columns)).T
    with warnings.catch_warnings():
        # It says that it did not converge, which chained draws never do.
        warnings.simplefilter("ignore")
        full = IterativeImputer(sample_posterior=True, random_state=seed).fit_transform(values).T
    codes = np.clip(np.rint(full), 0, np.array(table.arities)[:, None] - 1)
    return table.filled(codes[gaps])


def answers(table: Table, number: int, score: str = "bdeu") -> tuple[dict[str, Floats], dict[str, float]]:
    """The edges that each way to deal with gaps ends at, and its CPU seconds."""
    found, seconds = {}, {}
    for way in WAYS:
        start = time.process_time()
        if way == "all completions":
            model = DagPosterior(
                score, prior="uniform", missing="augment", samples=SAMPLES, seed=number, progress=False
            ).fit(table)
            found[way] = model.edge_probabilities_.to_numpy()
        elif way == "complete rows":
            found[way] = edges_of(complete_rows(table), score)
        elif way == "mode":
            found[way] = edges_of(filled_with_modes(table), score)
        else:
            drawn = [imputed(table, seed) for seed in range(number * IMPUTATIONS, (number + 1) * IMPUTATIONS)]
            found[way] = np.mean([edges_of(own, score) for own in drawn], axis=0)
        seconds[way] = time.process_time() - start
    return found, seconds


def distances(complete: Table, truth: Floats, share: float, number: int, score: str) -> Result:
    """How far each way ends from the edges of the complete table."""
    table = erased(complete, share, [SEED, round(100 * share), number])
    found, seconds = answers(table, number, score)
    return {
        "share": share,
        "number": number,
        "rows": complete_rows(table).rows,
        "distance": {way: float(np.abs(edges - truth).sum()) for way, edges in found.items()},
        "seconds": seconds,
    }


def run_erased(shares: list[float], times: int, score: str) -> None:
    """All erased tables; a line each in the results, and a table of means."""
    complete = written_out(datasets.load("coronary"))
    truth = edges_of(complete, score)
    path = RESULTS / f"gaps-erased-{score}.jsonl"
    path.parent.mkdir(exist_ok=True)
    found = []
    with path.open("w", encoding="utf-8") as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for share in shares:
            for number in range(times):
                found.append(distances(complete, truth, share, number, score))
                file.write(json.dumps(found[-1]) + "\n")
                file.flush()
    print(table_of_distances(found))


def table_of_distances(found: list[Result]) -> str:
    """Means with standard errors, and the mean difference of each rival from ours."""
    lines = ["| erased | complete rows left | " + " | ".join(WAYS) + " |", "| --- |" + " ---: |" * (len(WAYS) + 1)]
    for share in dict.fromkeys(line["share"] for line in found):
        own = [line for line in found if line["share"] == share]
        cells = [f"{share:.0%}", f"{np.mean([line['rows'] for line in own]):,.0f}"]
        ours = np.array([line["distance"][WAYS[0]] for line in own])
        for way in WAYS:
            values = np.array([line["distance"][way] for line in own])
            text = with_error(values)
            cells.append(text if way == WAYS[0] else f"{text} ({with_error(values - ours, '+')})")
        lines.append("| " + " | ".join(cells) + " |")
        seconds = {way: round(float(np.mean([line["seconds"][way] for line in own])), 1) for way in WAYS}
        print(f"{share:.0%} erased, CPU seconds: {seconds}", flush=True)
    return "\n".join(lines)


def with_error(values: Floats, sign: str = "") -> str:
    """A mean and its standard error."""
    return f"{values.mean():{sign}.2f} ± {values.std(ddof=1) / np.sqrt(len(values)):.2f}"


def run_simulated(tables: int, share: float) -> None:
    """Worlds drawn from the prior: distance to the complete table's posterior, and losses of the true edges."""
    world = Levels((2, 2, 2, 2, 2), (BDeu(1.0),))
    off = ~np.eye(len(world.arities), dtype=bool)
    found: dict[str, list[Floats]] = {way: [] for way in (*WAYS, "nothing erased")}
    for number in range(tables):
        rng = np.random.default_rng([SEED, number])
        graph = draw_graph(len(world.arities), rng, orders=False)
        complete = world.table(graph, world.draw(graph, world.scores[0], rng), SIMULATED_ROWS, rng)
        there = np.array([[parent in own for own in graph] for parent in range(len(graph))])
        truth = edges_of(complete)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            edges, _ = answers(erased(complete, share, [SEED, number, 1]), number)
        for way, own in {**edges, "nothing erased": truth}.items():
            inside = np.clip(own, 1e-6, 1 - 1e-6)
            log_loss = -np.where(there, np.log(inside), np.log1p(-inside))[off].sum()
            squared = ((own - truth) ** 2).sum()
            found[way].append(np.array([np.abs(own - truth).sum(), squared, ((own - there) ** 2)[off].sum(), log_loss]))
    print(f"{tables} tables of {SIMULATED_ROWS} rows, {share:.0%} erased: sums over the {off.sum()} edges")
    print(
        "| | distance | squared distance | squared error of true edges | log loss of true edges |\n| --- |"
        + " ---: |" * 4
    )
    for way, rows in found.items():
        print(f"| {way} | " + " | ".join(with_error(values) for values in np.array(rows).T) + " |")


def run_real(folder: Path, names: list[str], score: str) -> None:
    """Votes and tumor: what they take, and what filling with modes does to the second."""
    for name in names:
        table = pd.read_csv(folder / "real" / f"{name}.csv", dtype=str, keep_default_na=False, na_values=[""])
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = DagPosterior(score, prior="uniform", missing="augment", seed=1, progress=False).fit(table)
            edges = model.edge_probabilities_.to_numpy()
        seconds = time.process_time() - start
        print(f"{name}, {score}: {seconds:.1f} CPU seconds; {about_chains(model, edges)}", flush=True)
        if name == "tumor_missing":
            filled = as_table(pd.read_csv(folder / "paper" / "tumor.csv").astype(str))
            with_modes = edges_of(filled, model.fitted_.score)
            print(compared(list(model.names_), edges, with_modes), flush=True)


def about_chains(model: DagPosterior, edges: Floats) -> str:
    """How many sweeps there were, R-hat of the edges given the completed tables, and what the model says itself."""
    record = model.fitted_.own_sample().chains
    series = np.stack(record.series_of("edges"))
    chains, sweeps = series.shape[:2]
    telling = (edges > 0.05) & (edges < 0.95)
    largest = np.nanmax(averages_of(series[:, :, telling]).r_hats, initial=1.0)
    error = model.fitted_.augmented.edge_errors.max()
    return (
        f"{chains} chains of {sweeps:,} sweeps, R-hat at most {largest:.3f}, error of an edge at most {error:.4f}. "
        f"{model.verdict_}"
    )


def compared(names: list[str], edges: Floats, other: Floats) -> str:
    """How far the edges are from others, and which pairs differ most."""
    pairs, others = edges + edges.T, other + other.T
    upper = np.triu_indices(len(names), 1)
    difference = np.abs(pairs - others)[upper]
    order = np.argsort(-difference)[:6]
    listed = [
        f"{names[a]} -- {names[b]}: {pairs[a, b]:.2f} ({others[a, b]:.2f} filled with modes)"
        for a, b in zip(upper[0][order], upper[1][order], strict=True)
    ]
    return (
        f"  from the table filled with modes: edges differ by {np.abs(edges - other).sum():.2f} in sum, "
        f"{np.abs(edges - other).max():.2f} at most; {int((difference > 0.1).sum())} of {len(difference)} pairs by "
        f"over 0.1\n  " + "\n  ".join(listed)
    )


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    first = commands.add_parser("erased")
    first.add_argument("--shares", nargs="+", type=float, default=[0.1, 0.3, 0.5])
    first.add_argument("--times", type=int, default=10)
    first.add_argument("--score", choices=["bdeu", "auto"], default="bdeu")
    third = commands.add_parser("simulated")
    third.add_argument("--tables", type=int, default=100)
    third.add_argument("--share", type=float, default=0.3)
    second = commands.add_parser("real")
    second.add_argument("--folder", type=Path, default=SHARED)
    second.add_argument("--tables", nargs="+", choices=REAL, default=REAL)
    second.add_argument("--score", choices=["bdeu", "auto"], default="bdeu")
    options = parser.parse_args()
    if options.command == "erased":
        run_erased(options.shares, options.times, options.score)
    elif options.command == "simulated":
        run_simulated(options.tables, options.share)
    else:
        run_real(options.folder, options.tables, options.score)


if __name__ == "__main__":
    main()
