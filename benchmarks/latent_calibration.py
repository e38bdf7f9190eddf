"""Are probabilities right where only levels are seen? Worlds drawn from the prior, and latent numbers cut into levels.

    python -m benchmarks.latent_calibration [--tables 300] [--worlds levels gaps]

Resumes where it stopped: the results of each table are a line in benchmarks/results/latent-calibration-WORLD.jsonl.

A graph is drawn from the prior, its parameters from the prior of the latent Gaussian score, a latent table from both,
and each column is cut into levels of fixed counts: what is seen is then nothing but the order of the levels, for which
the rank likelihood is exact. In the world "gaps", cells are erased before the others of their column are cut, more of
them where the first column is in its upper level. The statistics are those of gaps_calibration.py: edges are there as
often as their probabilities say, and the truth has uniform ranks among drawn graphs, latent tables and parameters.
"""

from __future__ import annotations

import argparse
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from benchmarks.gaps_calibration import (
    APART,
    CHAINS,
    DRAWS,
    GRAPHS,
    RESULTS,
    ROWS,
    Outcome,
    adjacency,
    covariance_of_edges,
    draws_of,
    edge_count,
    rank,
    show,
)
from benchmarks.gaps_simulation import ERASED, Numbers, draw_graph, log_joint
from numpy.typing import NDArray

from dagpost import BGe, DagPosterior, LatentGaussian, Table
from dagpost.methods.augmentation import Augmentation

SEED = 2037
BURN_IN, ROUNDS = 100, 4


@dataclass(frozen=True)
class Setting:
    """How many levels the columns have, and whether cells are erased."""

    levels: tuple[int, ...]
    gaps: bool = False


SETTINGS = {"levels": Setting((2, 3, 2, 5)), "gaps": Setting((2, 3, 2, 4), gaps=True)}


def cut(latent: Table, setting: Setting, rng: np.random.Generator) -> Table:
    """The table that is seen: each column in levels of counts that are as equal as can be."""
    values, rows = latent.values(), latent.rows
    gaps = np.zeros((len(latent.names), rows), dtype=np.bool_)
    columns: list[NDArray[np.uint8]] = []
    for place, (numbers, levels) in enumerate(zip(values.T, setting.levels, strict=True)):
        if setting.gaps and place:
            gaps[place] = rng.random(rows) < np.where(columns[0] == setting.levels[0] - 1, *ERASED[::-1])
        seen = np.flatnonzero(~gaps[place])
        codes = np.zeros(rows, dtype=np.uint8)
        codes[seen[np.argsort(numbers[seen])]] = np.arange(len(seen)) * levels // len(seen)
        columns.append(codes)
    kinds = tuple(tuple(range(levels)) for levels in setting.levels)
    return Table(latent.names, tuple(columns), kinds, gaps=gaps if gaps.any() else None)


def outcome(setting: Setting, number: int, rows: int = ROWS) -> Outcome:
    """Draw a world, cut its latent table, fit what is seen, and look where the truth stands."""
    rng = np.random.default_rng([SEED, number])
    nodes, score = len(setting.levels), LatentGaussian()
    world, gaussian = Numbers(nodes), BGe(prior_mean=0.0, prior_scale=1.0)
    graph = draw_graph(nodes, rng, orders=False)
    parameters = world.draw(graph, gaussian, rng)
    complete = world.table(graph, parameters, rows, rng)
    table = cut(complete, setting, rng)
    fitted = DagPosterior(
        score=score,
        modularity="structure",
        max_parents=nodes - 1,
        method=Augmentation(chains=CHAINS, burn_in=BURN_IN, graphs=GRAPHS, rounds=ROUNDS, error=1e-9),
        samples=DRAWS * APART * GRAPHS,
        missing="augment",
        seed=number,
        threads=1,
        progress=False,
    ).fit(table)
    latent, found = score.modelled(table), []
    for own, cells, _ in draws_of(fitted):
        filled = latent.filled(cells)
        theta = world.draw(own, gaussian, rng, filled)
        found.append((edge_count(own), log_joint(own, gaussian, filled), world.about_last(own, theta)))
    truth = edge_count(graph), log_joint(graph, gaussian, complete), world.about_last(graph, parameters)
    return Outcome(
        fitted.edge_probabilities_.to_numpy(),
        covariance_of_edges(fitted),
        adjacency(graph),
        tuple(rank(true, np.array(others), rng) for true, others in zip(truth, zip(*found, strict=True), strict=True)),
    )


def run(name: str, tables: int) -> list[Outcome]:
    """The outcomes of all tables; those that are in the file already are read, the others added to it."""
    path = Path(RESULTS) / f"latent-calibration-{name}.jsonl"
    path.parent.mkdir(exist_ok=True)
    path.touch()
    outcomes = [Outcome.from_json(line) for line in path.read_text(encoding="utf-8").splitlines()][:tables]
    for number in range(len(outcomes), tables):
        outcomes.append(outcome(SETTINGS[name], number))
        with path.open("a", encoding="utf-8") as file:
            file.write(outcomes[-1].to_json() + "\n")
    return outcomes


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=300)
    parser.add_argument("--worlds", nargs="+", choices=[*SETTINGS], default=[*SETTINGS])
    options = parser.parse_args()
    for name in options.worlds:
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            outcomes = run(name, options.tables)
        show(name, outcomes, time.process_time() - start)


if __name__ == "__main__":
    main()
