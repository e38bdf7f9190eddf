"""Are probabilities right where cells are missing? Worlds drawn from the prior, and cells erased at random.

    python -m benchmarks.gaps_calibration [--tables 300] [--worlds levels numbers ...]

Resumes where it stopped: the results of each table are a line in benchmarks/results/gaps-calibration-WORLD.jsonl.

A graph is drawn from the prior, its parameters from the prior of the score, a table from both, and cells are erased,
depending on a column that is not (gaps_simulation.py). If the posterior is right, then

- edges are there as often as their probabilities say. Edges of one table depend on each other, so each table gives one
  number: the sum over edges of weight times (is it there, less its probability), whose variance under the posterior
  is that of the same sum over drawn graphs. Added up over tables and divided by the root of the sum of these variances,
  it is normal. Weights are 1 (too many or too few edges) and the probability less one half (too sure or too unsure).
- the rank of the truth among drawn graphs, completed tables and parameters is uniform (Cook, Gelman & Rubin 2006;
  Talts et al. 2018), ties being broken by chance: of the number of edges, the log joint of graph and complete table,
  and one number about the parameters. Chi-square.

Each world gives two normal and three chi-square statistics; printed are their p-values. Also, for the eye: how often
what was given a probability is true.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from dataclasses import dataclass
from typing import Literal

import numpy as np
from benchmarks.gaps_simulation import Graph, Levels, Numbers, draw_graph, erased, log_joint, members
from benchmarks.measuring import RESULTS
from numpy.typing import NDArray

from dagpost import K2, BDeu, DagPosterior
from dagpost.methods.augmentation import Augmentation

Floats = NDArray[np.float64]

SEED = 2035
ROWS = 40
#: Draws that a truth is ranked among, so that there are 16 ranks; sweeps of the chains from one to the next.
DRAWS, APART = 15, 20
CHAINS, GRAPHS = 3, 10
RANKED = ("number of edges", "log joint", "parameter")
STEPS = (0.0, 0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98, 1.0)


@dataclass(frozen=True)
class Setting:
    """A world, and what counts a graph how often."""

    world: Levels | Numbers
    modularity: Literal["structure", "order"] = "structure"


SIZES = (1.0, 4.0, 16.0)
SETTINGS = {
    "levels": Setting(Levels((2, 3, 2, 2), (BDeu(2.0),))),
    "five columns": Setting(Levels((2, 2, 2, 3, 2), (BDeu(4.0),))),
    "averaged sizes": Setting(Levels((2, 3, 2, 2), tuple(BDeu(size) for size in SIZES))),
    "orders": Setting(Levels((2, 2, 3, 2), (K2(),)), "order"),
    "numbers": Setting(Numbers(4)),
}


@dataclass(frozen=True)
class Outcome:
    """Of one table: probabilities of edges, how they vary together, which are there; ranks of the truth."""

    edges: Floats
    covariance: Floats
    there: NDArray[np.bool_]
    ranks: tuple[int, ...]

    def to_json(self) -> str:
        """A line of a file."""
        return json.dumps([np.asarray(part).tolist() for part in (self.edges, self.covariance, self.there, self.ranks)])

    @classmethod
    def from_json(cls, line: str) -> Outcome:
        """The other way."""
        edges, covariance, there, ranks = json.loads(line)
        return cls(np.array(edges), np.array(covariance), np.array(there), tuple(ranks))


def outcome(setting: Setting, number: int, rows: int = ROWS) -> Outcome:
    """Draw a world, hide some of its table, fit the rest, and look where the truth stands."""
    rng = np.random.default_rng([SEED, number])
    world, scores = setting.world, setting.world.scores
    score = scores[rng.integers(len(scores))]
    nodes = world.columns if isinstance(world, Numbers) else len(world.arities)
    graph = draw_graph(nodes, rng, orders=setting.modularity == "order")
    parameters = world.draw(graph, score, rng)
    complete = world.table(graph, parameters, rows, rng)
    table = erased(complete, rng)
    fitted = DagPosterior(
        prior="uniform",
        score=BDeu(SIZES) if len(scores) > 1 else score,
        modularity=setting.modularity,
        max_parents=nodes - 1,
        method=Augmentation(chains=CHAINS, burn_in=50, graphs=GRAPHS, error=1e-9),
        samples=DRAWS * APART * GRAPHS,
        missing="augment",
        seed=number,
        threads=1,
        progress=False,
    ).fit(table)
    draws = draws_of(fitted)
    found = []
    for own, cells, value in draws:
        filled = table.filled(cells)
        theta = world.draw(own, scores[value], rng, filled)
        found.append((edge_count(own), log_joint(own, scores[value], filled), world.about_last(own, theta)))
    truth = edge_count(graph), log_joint(graph, score, complete), world.about_last(graph, parameters)
    return Outcome(
        fitted.edge_probabilities_.to_numpy(),
        covariance_of_edges(fitted),
        adjacency(graph),
        tuple(rank(true, np.array(others), rng) for true, others in zip(truth, zip(*found, strict=True), strict=True)),
    )


def draws_of(model: DagPosterior) -> list[tuple[Graph, Floats, int]]:
    """Graphs, the cells of the table that each was drawn from, and the value of the setting, far apart."""
    sample = model.fitted_.own_sample()
    record = sample.chains
    assert record is not None
    cells, values = (record.series_of(name) for name in ("cells", "values"))
    graphs = np.split(sample.parents, np.cumsum(record.lengths)[:-1])
    return [
        (
            tuple(members(mask) for mask in graphs[chain][GRAPHS * sweep].tolist()),
            cells[chain][sweep].astype(float),
            int(values[chain][sweep]),
        )
        for chain in range(CHAINS)
        for sweep in range(APART - 1, len(values[chain]), APART)
    ]


def edge_count(graph: Graph) -> int:
    """How many edges a graph has."""
    return sum(len(own) for own in graph)


def adjacency(graph: Graph) -> NDArray[np.bool_]:
    """Whether there is an edge [parent, child]."""
    there = np.zeros((len(graph), len(graph)), dtype=bool)
    for child, own in enumerate(graph):
        there[list(own), child] = True
    return there


def covariance_of_edges(model: DagPosterior) -> Floats:
    """Of all edges in a row, over the graphs that the chains drew."""
    masks = model.fitted_.own_sample().parents.astype(np.int64)
    there = masks[:, None, :] >> np.arange(masks.shape[1])[:, None] & 1
    return np.cov(there.reshape(len(there), -1).T)


def rank(true: float, others: Floats, rng: np.random.Generator) -> int:
    """The place of the truth among draws, ties being broken by chance."""
    equal = np.isclose(others, true, rtol=1e-12, atol=1e-9)
    return int((others[~equal] < true).sum() + rng.integers(equal.sum() + 1))


def normal_statistics(outcomes: list[Outcome]) -> tuple[float, float]:
    """Too many edges than said, or fewer; and too sure, or not sure enough: standard normal if all is right."""
    sums, variances = np.zeros(2), np.zeros(2)
    for own in outcomes:
        for which, weights in enumerate((np.ones_like(own.edges), own.edges - 0.5)):
            np.fill_diagonal(weights, 0.0)
            sums[which] += (weights * (own.there - own.edges)).sum()
            variances[which] += weights.ravel() @ own.covariance @ weights.ravel()
    first, second = sums / np.sqrt(variances)
    return float(first), float(second)


def rank_statistics(outcomes: list[Outcome]) -> list[float]:
    """Chi-square of each rank, with `DRAWS` degrees of freedom."""
    result = []
    for which in range(len(RANKED)):
        counts = np.bincount([own.ranks[which] for own in outcomes], minlength=DRAWS + 1)
        expected = len(outcomes) / len(counts)
        result.append(float(((counts - expected) ** 2 / expected).sum()))
    return result


def show(name: str, outcomes: list[Outcome], seconds: float) -> None:
    """P-values, and a table of calibration."""
    from scipy.stats import chi2, norm

    first, second = normal_statistics(outcomes)
    print(f"\n{name}: {len(outcomes)} tables, {seconds:.0f} CPU seconds")
    print(f"  edges: sum z = {first:+.2f} (p = {2 * norm.sf(abs(first)):.3f}), ", end="")
    print(f"sureness z = {second:+.2f} (p = {2 * norm.sf(abs(second)):.3f})")
    for what, value in zip(RANKED, rank_statistics(outcomes), strict=True):
        print(f"  rank of {what}: chi-square {value:.1f} on {DRAWS}, p = {chi2.sf(value, DRAWS):.3f}")
    off = ~np.eye(len(outcomes[0].edges), dtype=bool)
    said = np.concatenate([own.edges[off] for own in outcomes])
    there = np.concatenate([own.there[off] for own in outcomes])
    place = np.clip(np.searchsorted(STEPS, said, side="right") - 1, 0, len(STEPS) - 2)
    for step in range(len(STEPS) - 1):
        if (place == step).any():
            own = place == step
            print(f"  {STEPS[step]:4.2f} to {STEPS[step + 1]:4.2f}: ", end="")
            print(f"{said[own].mean():.3f} said, {there[own].mean():.3f} true ({own.sum():,})")


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


def run(name: str, tables: int) -> list[Outcome]:
    """The outcomes of all tables; those that are in the file already are read, the others added to it."""
    path = RESULTS / f"gaps-calibration-{name.replace(' ', '-')}.jsonl"
    path.parent.mkdir(exist_ok=True)
    path.touch()
    outcomes = [Outcome.from_json(line) for line in path.read_text(encoding="utf-8").splitlines()][:tables]
    for number in range(len(outcomes), tables):
        outcomes.append(outcome(SETTINGS[name], number))
        with path.open("a", encoding="utf-8") as file:
            file.write(outcomes[-1].to_json() + "\n")
    return outcomes


if __name__ == "__main__":
    main()
