"""How long does a question about values take, on 20 columns and 30,000 graphs? And graph by graph with pyAgrum?

    python -m benchmarks.values [--rows 80] [--graphs 30000] [--compared 300]

A random network of 20 columns of three levels; few rows, so that most of the graphs differ. Times are CPU seconds of
all threads, after a first question has compiled what it needs; memory is the peak of the process. pyAgrum (where it is
installed) is asked the same of some of the distinct graphs, each with the posterior means of its parameters, which is
what averages to the answer; its time is that of building the network and of lazy propagation, scaled up to all distinct
graphs. Answers are compared where both have one.
"""

from __future__ import annotations

import argparse
import importlib
import resource
from typing import Any

import numpy as np
import pandas as pd

from dagpost import DagPosterior
from dagpost.families.masks import distinct_rows
from dagpost.prediction.counted_parts import counted_parts
from dagpost.prediction.parameters import mean_tables
from dagpost.scores import parameter_prior_of
from dagpost.values.levels import exact_logs

COLUMNS, LEVELS = 20, ("a", "b", "c")
QUESTIONS = (
    "P(v19 = a | v3 = a, v10 = b)",
    "P(v0 = a | v12 = b, v15 = c, v19 = a)",
    "P(v19 = a & v12 = b | v3 != a, do(v5 = c))",
    "P(v19 = a | v3 = a, v10 = b, v3 ~> v19)",
)


def random_rows(rows: int, seed: int = 1) -> pd.DataFrame:
    """Rows of a random network, every column with up to three parents among the six before it."""
    generator = np.random.default_rng(seed)
    codes: list[Any] = []
    for node in range(COLUMNS):
        parents = [other for other in range(max(0, node - 6), node) if generator.random() < 1 / 3][:3]
        configuration = np.zeros(rows, dtype=np.int64)
        for parent in parents:
            configuration = configuration * len(LEVELS) + codes[parent]
        tables = generator.dirichlet(np.full(len(LEVELS), 0.7), size=len(LEVELS) ** len(parents))
        below = generator.random(rows)[:, np.newaxis] > np.cumsum(tables[configuration], axis=1)
        codes.append(np.minimum(below.sum(axis=1), len(LEVELS) - 1))
    return pd.DataFrame({f"v{node}": np.array(LEVELS)[own] for node, own in enumerate(codes)})


def cpu_seconds() -> float:
    """Of all threads of this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def with_pyagrum(model: DagPosterior, compared: int) -> None:
    """The first question, graph by graph."""
    try:
        gum: Any = importlib.import_module("pyagrum")
    except ImportError:
        print("pyAgrum is not installed: not compared.")
        return
    (part, statistics), *_ = counted_parts(model.fitted_)
    prior: Any = parameter_prior_of(part.score, "The benchmark needs")
    graphs, member = distinct_rows(part.sample.parents)
    weights = np.bincount(member, weights=part.sample.weights)
    chosen = np.argsort(-weights, kind="stable")[:compared]
    names, built, asked = model.names_, 0.0, 0.0
    both = np.zeros(2)
    for place in chosen:
        parents = part.sample.parents[graphs[place]].astype(np.uint64)
        tables = mean_tables(statistics, prior, parents)  # type: ignore[arg-type]
        start = cpu_seconds()
        network = gum.BayesNet()
        for name, levels in zip(names, model.fitted_.data.levels, strict=True):
            network.add(gum.LabelizedVariable(name, name, list(levels or ())))
        for child, name in enumerate(names):
            own = [other for other in range(COLUMNS) if int(parents[child]) >> other & 1]
            for parent in own:
                network.addArc(names[parent], name)
            order = [names[parent] for parent in own] + [name]
            axes = [order.index(other) for other in reversed(network.cpt(name).names)]
            network.cpt(name)[:] = np.ascontiguousarray(tables[child].transpose(axes))
        built += cpu_seconds() - start
        start = cpu_seconds()
        inference = gum.LazyPropagation(network)
        inference.setEvidence({"v3": "a", "v10": "b"})
        inference.addTarget("v19")
        inference.makeInference()
        share, evidence = inference.posterior("v19")[0], inference.evidenceProbability()
        asked += cpu_seconds() - start
        both += weights[place] * evidence * np.array([share, 1.0])
    scale, count = len(graphs) / len(chosen), len(chosen)
    print(
        f"pyAgrum {gum.__version__}, {count} of {len(graphs):,} distinct graphs: {1e3 * built / count:.2f} ms to build "
        f"and {1e3 * asked / count:.2f} ms to ask each; all of them {scale * (built + asked):.1f} s. Over these "
        f"graphs the answer is {both[0] / both[1]:.12f},"
    )
    cells = np.zeros((COLUMNS, len(model.fitted_.data.levels[19] or ())), dtype=np.int64)
    cells[10], cells[19] = 1, np.arange(cells.shape[1])
    known = sum(1 << node for node in (3, 10, 19))
    compared_graphs = part.sample.parents[graphs[chosen]].astype(np.uint64)
    logs = exact_logs(statistics, prior, compared_graphs, weights[chosen], cells, known, 0)  # type: ignore[arg-type]
    print(f"ours {np.exp(logs[0] - np.logaddexp.reduce(logs)):.12f}.")


def main() -> None:
    """Print a line for each question."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=80)
    parser.add_argument("--graphs", type=int, default=30_000)
    parser.add_argument("--compared", type=int, default=300)
    options = parser.parse_args()
    settings: dict[str, Any] = {"modularity": "order", "method": "order-mcmc", "max_parents": 4, "seed": 1}
    model = DagPosterior("bdeu", samples=options.graphs, **{"prior": "uniform", **settings}).fit(
        random_rows(options.rows)
    )
    sample = model.own_sample()
    print(f"{len(sample):,} graphs of {COLUMNS} columns, {len(distinct_rows(sample.parents)[0]):,} of them distinct")
    model.probability(QUESTIONS[0])
    for question in QUESTIONS:
        start = cpu_seconds()
        answer = model.probability(question)
        interval = f"({answer.lower:.3f} to {answer.upper:.3f})"
        print(f"{question:<45} {float(answer):.6f} {interval}  {cpu_seconds() - start:.2f} s")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")
    with_pyagrum(model, options.compared)


if __name__ == "__main__":
    main()
