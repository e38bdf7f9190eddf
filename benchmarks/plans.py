"""Plans against what runs take: time and memory that `model.plan(table)` announces, and what is measured.

    python -m benchmarks.plans [--quick] [--only WORD]

Each case is a process of its own on one thread. Kernels are loaded by a small run of the same kind first; what counts
is the CPU time of fit, edges and own sample, and the peak of memory above what the process held before. A plan is kept
if the measured figure is between half and twice the planned one; what takes less than a second, or less than 50 MB, is
shown and not judged.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.measuring import Case, measure_once, peak_bytes

LEAST_SECONDS, LEAST_BYTES, FACTOR = 1.0, 50e6, 2.0


def case(method: str, nodes: int, score: str = "bdeu", modularity: str = "structure", **more: Any) -> Case:
    """One run to plan and to measure."""
    return {"method": method, "nodes": nodes, "score": score, "modularity": modularity, "samples": 10_000, **more}


QUICK = [
    case("exact-layers", 14),
    case("dds", 18, modularity="order"),
    case("order-mcmc", 18, modularity="order", samples=20_000),
    case("partition-mcmc", 25, "bge", samples=2_000),
    case("structure-mcmc", 25, samples=20_000),
    case("exact-layers", 24, tiers=3),
]
CASES = [
    *QUICK,
    case("exact-layers", 8),
    case("exact-layers", 14, "average"),
    case("exact-layers", 16),
    case("exact-layers", 14, "bge"),
    case("exact-layers", 14, "bic", rows=20_000),
    case("exact-layers", 60, tiers=4, max_parents=3),
    case("exact-layers", 60, "average", tiers=4, max_parents=3),
    case("exact-layers", 60, "bge", tiers=4, max_parents=3),
    case("exact-layers", 36, tiers=2, exogenous=18, max_parents=3),
    case("exact-layers", 40, tiers=2, exogenous=20, max_parents=3),
    case("exact-layers", 220, tiers=1, exogenous=200, max_parents=3),
    case("dds", 20, modularity="order"),
    case("dds", 20, "bge", modularity="order"),
    case("iw-dds", 16),
    case("linear-extensions", 16),
    case("kbest", 12, samples=100),
    case("trees", 16),
    case("given-order", 20, order=True),
    case("bootstrap", 12, samples=50),
    case("order-mcmc", 12, modularity="order", samples=20_000),
    case("order-mcmc", 25, "bge", modularity="order", samples=2_000),
    case("order-mcmc", 25, modularity="order", samples=2_000),
    case("partition-mcmc", 12, samples=10_000),
    case("partition-mcmc", 25, samples=2_000),
    case("partial-order-mcmc", 20, modularity="order", samples=5_000),
    case("hybrid-mcmc", 20, samples=20_000),
    case("structure-mcmc", 25, "bge", samples=20_000),
    case("block-gibbs", 25, "bge", samples=30_000, table="breast cancer"),
    *(case("block-gibbs", nodes, samples=30_000) for nodes in (20, 37, 56, 109, 223, 441)),
]


def table_of(nodes: int, rows: int, continuous: bool) -> Any:
    """Columns that depend on two earlier ones each: numbers, or levels."""
    import numpy as np
    import pandas as pd

    generator = np.random.default_rng(nodes)
    values = generator.normal(size=(rows, nodes))
    for node in range(1, nodes):
        for parent in generator.choice(node, size=min(node, 2), replace=False):
            values[:, node] += 0.7 * values[:, parent]
    values /= values.std(axis=0)
    columns = [f"V{node}" for node in range(nodes)]
    return pd.DataFrame(values if continuous else np.digitize(values, [-0.5, 0.5]), columns=columns)


def breast_cancer(columns: int) -> Any:
    """Measurements of cell nuclei, the first columns of them."""
    import pandas as pd
    from sklearn.datasets import load_breast_cancer

    values = load_breast_cancer().data[:, :columns]
    return pd.DataFrame((values - values.mean(axis=0)) / values.std(axis=0), columns=[f"V{c}" for c in range(columns)])


def model_of(request: Case, nodes: int, small: bool = False) -> Any:
    """The model of a case; the small one has the same kernels and little to do."""
    from dagpost import BDeu, DagPosterior, GivenOrder

    score: Any = BDeu("average") if request["score"] == "average" else request["score"]
    method: Any = request["method"]
    if request.get("order"):
        method = GivenOrder(order=[f"V{node}" for node in range(nodes)])
    samples = 20 if small else request["samples"]
    settings = {"modularity": request["modularity"], "samples": samples, "seed": 1, "threads": 1, "progress": False}
    if "tiers" in request:
        names, size = [f"V{node}" for node in range(nodes)], -(-nodes // request["tiers"])
        settings["tiers"] = [names[first : first + size] for first in range(0, nodes, size)]
        settings["exogenous"] = names[: 0 if small else request.get("exogenous", 0)]
        settings["max_parents"] = request.get("max_parents", 5)
    return DagPosterior(score=score, method=method, **settings)


def run_all(model: Any, table: Any) -> None:
    """All that a plan speaks of: the fit, its edges and its own sample."""
    model.fit(table)
    _ = model.edge_probabilities_
    if not model.exact_ or model.fitted_.workspace.largest <= model.fitted_.method.quick_nodes:
        model.own_sample()


def measure_here(request: Case) -> Case:
    """Plan a case, run it in this process, and say what it took."""
    import warnings

    import psutil

    continuous, nodes, rows = request["score"] == "bge", request["nodes"], request.get("rows", 1_000)
    warnings.simplefilter("ignore")
    # Beyond 21 columns chains work with lists of candidates, and beyond 64 with sets of several words: other kernels.
    few = 5 if nodes <= 21 else 22 if nodes <= 64 else 66
    few = 6 if "tiers" in request else few
    run_all(model_of(request, few, small=True), table_of(few, 100, continuous))
    table, model = table_of(nodes, rows, continuous), model_of(request, nodes)
    if request.get("table") == "breast cancer":
        table = breast_cancer(nodes)
    plan = model.plan(table)
    with contextlib.suppress(OSError):
        # Linux forgets the peak of before.
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    held, started = psutil.Process().memory_info().rss, time.process_time()
    run_all(model, table)
    stages = {stage.stage: stage.seconds for stage in plan.stages}
    seconds, size = time.process_time() - started, max(peak_bytes() - held, 0)
    return {"planned": plan.seconds, "seconds": seconds, "size": plan.size, "peak": size, "stages": stages}


def _ratio(measured: float, planned: float, least: float) -> str:
    judged = max(measured, planned) >= least
    ratio = measured / planned if planned else float("inf")
    return f"{ratio:7.2f}{' ' if not judged or 1 / FACTOR <= ratio <= FACTOR else '!'}{' ' if judged else '-'}"


def main() -> None:
    """Measure all cases and print a table; the exit status says whether every plan was kept."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="five cases only")
    parser.add_argument("--only", default="", help="cases that have this word in them")
    options = parser.parse_args()
    broken = 0
    print("method              columns score   posterior     planned s  measured  ratio   planned MB  measured  ratio")
    for request in QUICK if options.quick else CASES:
        if options.only and options.only not in json.dumps(request):
            continue
        found = measure_once("plans", request)
        time_ratio = _ratio(found["seconds"], found["planned"], LEAST_SECONDS)
        size_ratio = _ratio(found["peak"], found["size"], LEAST_BYTES)
        broken += "!" in time_ratio + size_ratio
        print(
            f"{request['method']:20}{request['nodes']:6}  {request['score']:8}{request['modularity']:11}"
            f"{found['planned']:11.2f}{found['seconds']:10.2f}{time_ratio}"
            f"{found['size'] / 1e6:11.1f}{found['peak'] / 1e6:10.1f}{size_ratio}",
            flush=True,
        )
    print(f"!: not within a factor of {FACTOR:g} ({broken} cases); -: too small to be judged")
    sys.exit(broken > 0)


if __name__ == "__main__":
    if len(sys.argv) == 2 and sys.argv[1].startswith("{"):
        print(json.dumps(measure_here(json.loads(sys.argv[1]))))
    else:
        main()
