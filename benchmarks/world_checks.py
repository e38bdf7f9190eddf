"""Two questions to a prior: does it invent relations where there are none, and are its own probabilities right?

Unrelated columns: tables of the worlds without relations, of 6 to 12 columns and 100 to 5,000 rows, a third of them of
levels, of numbers and of both; and complete rows of real tables, each column shuffled by itself (at most 12 columns,
drawn anew each time from those that are not identifiers).

Graphs from the prior: under BDeu a table of a single row says nothing about the graph (its probability is the same
under all graphs), so the posterior given such a table is the prior, whichever that is, and can be drawn from. Graphs so
drawn, parameters from the Dirichlet distributions of the score, a table from both: then pairs are joined as often as is
said, and the truth has uniform ranks among the draws of the posterior (Talts et al. 2018). The graphs come out of the
library itself: whether its prior is the one that is meant is for tests by enumeration.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from benchmarks.gaps_calibration import (
    DRAWS,
    RANKED,
    Outcome,
    adjacency,
    covariance_of_edges,
    edge_count,
    normal_statistics,
    rank,
    rank_statistics,
)
from benchmarks.gaps_simulation import Graph, Levels, members
from benchmarks.world_fits import Settings, compare, measured
from benchmarks.world_measures import Answer, figures_of, share, table_text, total
from benchmarks.world_networks import Truth, stream
from benchmarks.world_tables import MOST, draw_case, seed_of
from scipy.stats import chi2, norm

from dagpost import Table, local_scores
from dagpost.cli.arguments import parse_score
from dagpost.scores.resolve import resolve_score

#: Where real tables are, if they are there.
CLINIC = Path(__file__).resolve().parents[2] / "shared" / "data" / "real" / "clinic"
UNRELATED = ("levels-none", "numbers-none", "mixed-none")
FEWEST_ROWS, MOST_ROWS = 100, 5_000
_IDENTIFIERS = ("id", "rownames")
#: Levels of the columns of tables whose graphs come from the prior, and their rows.
ARITIES, ROWS = (2, 3, 2, 2, 3), 60


class UnrelatedJob(NamedTuple):
    """A table without relations, simulated, or shuffled from a file."""

    purpose: str
    number: int
    seed: int
    file: Path | None
    settings: Settings


def unrelated(job: UnrelatedJob) -> dict[str, Any]:
    """Fit columns that have nothing to do with each other."""
    if job.file is None:
        rng = stream(seed_of(job.purpose, "unrelated", 0, job.number, job.seed))
        rows = round(np.exp(rng.uniform(np.log(FEWEST_ROWS), np.log(MOST_ROWS))))
        world = UNRELATED[job.number % len(UNRELATED)]
        frame = draw_case(job.purpose, world, rows, job.number, job.seed).frame
    else:
        world, frame = f"{job.file.stem}, shuffled", shuffled(job)
    nothing = np.zeros((frame.shape[1],) * 2, dtype=np.bool_)
    about = {"world": world, "rows": len(frame), "number": job.number}
    return compare(about, frame, Truth(nothing, nothing, nothing), job.settings)


def shuffled(job: UnrelatedJob) -> pd.DataFrame:
    """Complete rows of a real table, every column in an order of its own."""
    assert job.file is not None
    frame = pd.read_csv(job.file).dropna()
    names = [name for name in frame.columns if name.lower() not in _IDENTIFIERS and frame[name].nunique() > 1]
    rng = stream(seed_of(job.purpose, job.file.stem, 0, job.number, job.seed))
    kept = sorted(rng.permutation(len(names))[:MOST].tolist())
    return pd.DataFrame({names[place]: rng.permutation(frame[names[place]].to_numpy()) for place in kept})


def unrelated_jobs(
    purpose: str, seed: int, tables: int, folder: Path, shuffles: int, settings: Iterable[Settings]
) -> list[UnrelatedJob]:
    """All tables under all settings; says so if there is no folder of real ones."""
    files = sorted(folder.glob("*.csv"))
    if not files:
        print(f"No real tables are shuffled: there is no CSV file in {folder}.")
    sources = [(number, None) for number in range(tables)]
    sources += [(number, file) for file in files for number in range(shuffles)]  # type: ignore[misc]
    return [UnrelatedJob(purpose, number, seed, file, own) for own in settings for number, file in sources]


def show_unrelated(found: Iterable[Mapping[str, Any]]) -> str:
    """How many pairs are said to be joined although none is."""
    groups: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for own in found:
        simulated = own["world"] in UNRELATED
        for world in (own["world"], "all simulated" if simulated else "all shuffled"):
            groups.setdefault((own["score"], own["prior"], world), []).append(own)
    rows = []
    for key, tables in sorted(groups.items()):
        figures = total(tables)
        with_any = sum(own["likely"] > 0 for own in tables)
        likely, sure = (share(figures[name], figures["pairs"]) for name in ("likely", "sure"))
        counts = f"{figures['likely']} of {figures['pairs']}"
        rows.append(
            [*key, str(len(tables)), counts, likely, sure, f"{figures['largest']:.2f}", share(with_any, len(tables)),
             f"{figures['log_loss']:.3f}"]
        )  # fmt: skip
    more = "pairs ≥ 0.5", "share", "≥ 0.9", "largest", "tables with one", "log loss"
    return table_text(("score", "prior", "world", "tables", *more), rows)


class PriorJob(NamedTuple):
    """A graph that was drawn from the prior, as masks of parents."""

    purpose: str
    number: int
    seed: int
    graph: Graph
    settings: Settings


def empty_table() -> Table:
    """One row, which under BDeu every graph explains equally well."""
    return Table(
        tuple("ABCDE"), tuple(np.zeros(1, dtype=np.uint8) for _ in ARITIES), tuple(tuple(range(k)) for k in ARITIES)
    )


def prior_jobs(purpose: str, seed: int, tables: int, settings: Iterable[Settings]) -> list[PriorJob]:
    """Graphs from each prior."""
    jobs = []
    for own in settings:
        wanted = own._replace(samples=max(tables, own.samples))
        root = seed_of(purpose, f"prior {own.prior}", 0, 0, seed).generate_state(1)
        masks = wanted.fit(empty_table()).sample(tables, seed=int(root[0])).parents
        graphs = [tuple(members(int(mask)) for mask in graph) for graph in masks]
        jobs += [PriorJob(purpose, number, seed, graph, own) for number, graph in enumerate(graphs)]
    return jobs


def prior_check(job: PriorJob) -> dict[str, Any]:
    """A table from this graph, and where the graph stands in the posterior."""
    rng = stream(seed_of(job.purpose, f"table {job.settings.prior}", 0, job.number, job.seed))
    score: Any = resolve_score(parse_score(job.settings.score, None))
    sizes = np.atleast_1d(score.equivalent_sample_size)
    single = type(score)(float(rng.choice(sizes)))
    world = Levels(ARITIES, (single,))
    table = world.table(job.graph, world.draw(job.graph, single, rng), ROWS, rng)
    scores, names = local_scores(table, type(score)(float(sizes[0])), max_parents=len(ARITIES) - 1), table.names

    def looked_at(graph: Graph) -> tuple[float, ...]:
        own = (scores.score(names[child], [names[parent] for parent in above]) for child, above in enumerate(graph))
        return edge_count(graph), sum(own), len(graph[-1])

    def figures() -> dict[str, Any]:
        # Draws by the same random numbers for all tables would have ranks that go together.
        model = job.settings.fit(table, seed=job.number)
        sample = model.own_sample()
        places = np.linspace(0, len(sample.parents) - 1, DRAWS).astype(np.int64)
        drawn = [looked_at(tuple(members(int(mask)) for mask in sample.parents[place])) for place in places]
        ranks = [
            rank(true, np.array(others), rng)
            for true, others in zip(looked_at(job.graph), zip(*drawn, strict=True), strict=True)
        ]
        edges, there = model.edge_probabilities_.to_numpy(), adjacency(job.graph)
        joined, nothing = there | there.T, np.zeros_like(there)
        return {
            **figures_of(Truth(joined, there, nothing), Answer(edges + edges.T, np.zeros_like(edges))),
            "outcome": Outcome(edges, covariance_of_edges(model), there, tuple(ranks)).to_json(),
        }

    about = {"world": "from the prior", "rows": ROWS, "number": job.number, "columns": len(ARITIES)}
    return {**about, "score": job.settings.score, "prior": job.settings.prior, **measured(figures)}


#: The three numbers that `looked_at` ranks.
_RANKED = ("number of edges", "score of the graph", "parents of the last column")
assert len(_RANKED) == len(RANKED)


def show_prior(found: Iterable[Mapping[str, Any]]) -> str:
    """P-values of what must hold if probabilities are right, and what they are by tenths."""
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for own in found:
        groups.setdefault((own["score"], own["prior"]), []).append(own)
    rows = []
    for key, tables in groups.items():
        outcomes = [Outcome.from_json(own["outcome"]) for own in tables]
        many, sure = (2 * norm.sf(abs(own)) for own in normal_statistics(outcomes))
        ranks = [chi2.sf(own, DRAWS) for own in rank_statistics(outcomes)]
        rows.append([*key, str(len(tables)), *(f"{own:.3f}" for own in (many, sure, *ranks))])
    head = "score", "prior", "tables", "too many or few edges", "too sure or unsure", *_RANKED
    return table_text(head, rows)
