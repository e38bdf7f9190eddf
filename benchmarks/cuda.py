"""The CUDA engine on a machine with a device: timings, and the thread engine beside it where it can.

    python -m benchmarks.cuda                 everything (some minutes on an H200)
    python -m benchmarks.cuda --parts forward,structure

`pytest tests/unit/engines/cuda` on the same machine tests that the two agree. Every figure is that of the second of two
runs, so that it contains no compilation; the device is waited for before a clock is read.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from benchmarks.networks import draw_table, random_network

from dagpost import DagPosterior
from dagpost._tools.progress import NO_PROGRESS
from dagpost.engines import ThreadEngine
from dagpost.engines.cuda import device
from dagpost.engines.cuda.engine import CudaEngine
from dagpost.engines.cuda.layout import make_layout
from dagpost.engines.host.backend import HostBackend
from dagpost.errors import ResourceError
from dagpost.families.numbering import family_count
from dagpost.posterior.component_workspace import ComponentWorkspace

MAX_PARENTS = 5


def random_weights(nodes: int) -> np.ndarray:
    """Weights without structure: the cost of the sums does not depend on them."""
    return np.random.default_rng(nodes).normal(0.0, 3.0, (nodes, family_count(nodes - 1, MAX_PARENTS)))


def seconds(work: Callable[[], object]) -> float:
    """How long the second of two runs takes; what it returns is thrown away, on the device too."""
    for _ in range(2):
        started = time.perf_counter()
        result = work()
        taken = time.perf_counter() - started
        del result
        device.free_bytes()
    return taken


def forward_bytes(nodes: int) -> float:
    """Bytes that the forward pass must move: rows written and read once, L read once a high node and written."""
    layout = make_layout(nodes, MAX_PARENTS)
    rows = 2.0 * (layout.below + layout.top / 2) * 2.0 ** (layout.mid + layout.top) * layout.row_sets
    return 8.0 * (rows + 2.0**nodes * (1.0 + (nodes - layout.low) / 2))


def copy_rate() -> float:
    """Bytes a second of a plain copy on the device, read and written."""
    cupy = device.load_cupy()
    source = cupy.zeros(1 << 29, dtype=np.int64)
    target = cupy.empty_like(source)

    def copy() -> None:
        for _ in range(10):
            target[:] = source
        cupy.cuda.get_current_stream().synchronize()

    return 10 * 2 * source.nbytes / seconds(copy)


def forward(results: dict[str, object]) -> None:
    """Forward sums and all families, on the device and on the host."""
    cuda, host = CudaEngine().backend(), HostBackend(ThreadEngine())
    peak = copy_rate()
    print(f"plain copy on the device: {peak / 1e12:.2f} TB/s", flush=True)
    for nodes in (24, 26, 28, 30, 32, 33, 34):
        weights = random_weights(nodes)
        taken = seconds(lambda w=weights: cuda.forward_table(w, MAX_PARENTS, reporter=NO_PROGRESS))
        row: dict[str, object] = {"forward": taken, "bytes": forward_bytes(nodes)}
        row["share of copy"] = forward_bytes(nodes) / taken / peak

        def all_families(w: np.ndarray = weights) -> object:
            table = cuda.forward_table(w, MAX_PARENTS, reporter=NO_PROGRESS)
            return cuda.family_probabilities(table, reporter=NO_PROGRESS, keep_forward=False)

        try:
            row["all families"] = seconds(all_families)
        except ResourceError as error:
            row["all families"] = str(error)
        if nodes <= 26:
            row["forward, threads"] = seconds(lambda w=weights: host.forward_table(w, MAX_PARENTS))
        results[f"forward {nodes}"] = row
        print(nodes, row, flush=True)


def structure(results: dict[str, object]) -> None:
    """Evidence, families and paths when every graph counts once, and 30,000 independent graphs."""
    for nodes in (20, 22, 24, 26):
        table = draw_table(random_network(nodes, nodes), 1000, nodes)
        row: dict[str, float] = {}
        for engine in ("cuda", "threads") if nodes <= 20 else ("cuda",):
            for _ in range(2):
                started = time.perf_counter()
                model = DagPosterior(
                    prior="uniform", score="bdeu", engine=engine, method="exact-layers", progress=False
                ).fit(table)
                fitted = time.perf_counter()
                model.sample(30_000, seed=1)
                row[f"fit, {engine}"] = fitted - started
                row[f"30,000 graphs, {engine}"] = time.perf_counter() - fitted
                device.free_bytes()
        results[f"structure {nodes}"] = row
        print(nodes, row, flush=True)


def components(results: dict[str, object]) -> None:
    """Sixty columns in three tiers of twenty: the sums over each tier by itself, and 30,000 independent graphs."""
    table = draw_table(random_network(60, 60), 1000, 60)
    row: dict[str, float] = {}
    edges = []
    for engine in ("cuda", "threads"):
        for _ in range(2):
            model = DagPosterior(
                prior="uniform",
                score="bdeu",
                engine=engine,
                max_parents=3,
                tiers=[list(table.names[first : first + 20]) for first in (0, 20, 40)],
                method="exact-layers",
                progress=False,
            )
            started = time.perf_counter()
            model.fit(table)
            fitted = time.perf_counter()
            model.sample(30_000, seed=1)
            row[f"fit, {engine}"] = fitted - started
            row[f"30,000 graphs, {engine}"] = time.perf_counter() - fitted
            device.free_bytes()
        own = model.fitted_.workspace
        assert isinstance(own, ComponentWorkspace)
        made = (own.lists, own.log_weights, own.engine, NO_PROGRESS)
        row[f"sums alone, {engine}"] = seconds(lambda made=made: ComponentWorkspace(*made).summed("structure"))
        edges.append(model.edge_probabilities_.to_numpy())
    row["largest difference of an edge"] = float(np.abs(edges[0] - edges[1]).max())
    results["components 3 x 20"] = row
    print("60 columns in 3 tiers of 20", row, flush=True)


def end_to_end(results: dict[str, object]) -> None:
    """From a table of 1,000 rows to 20,000 graphs, each counted once for every order it fits."""
    for nodes in (30, 33):
        table = draw_table(random_network(nodes, nodes), 1000, nodes)
        for _ in range(2):
            started = time.perf_counter()
            model = DagPosterior(
                prior="uniform",
                score="bdeu",
                engine="cuda",
                modularity="order",
                max_parents=MAX_PARENTS,
                progress=False,
            ).fit(table)
            fitted = time.perf_counter()
            model.sample(20_000, seed=1)
            row = {"fit": fitted - started, "20,000 graphs": time.perf_counter() - fitted}
            del model
            device.free_bytes()
        results[f"end to end {nodes}"] = row
        print(nodes, row, flush=True)


def scores(results: dict[str, object]) -> None:
    """Local scores of a million distinct rows."""
    from dagpost.scores import local_scores

    table = draw_table(random_network(25, 1), 1_000_000, 1)
    row = {}
    for name, engine in (("cuda", CudaEngine()), ("threads", ThreadEngine())):
        started = time.perf_counter()
        values = local_scores(table, "bdeu", 3, engine=engine).values
        row[name] = time.perf_counter() - started
        if name == "cuda":
            first = values
    row["largest difference"] = float(np.abs(values - first).max())
    results["scores"] = row
    print("scores of 1,000,000 rows, 25 columns, 3 parents", row, flush=True)


PARTS = {"forward": forward, "structure": structure, "components": components, "end": end_to_end, "scores": scores}


def main() -> None:
    """Run the parts that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    results: dict[str, object] = {}
    for part in arguments.parts.split(","):
        PARTS[part](results)
    if arguments.output is not None:
        arguments.output.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
