"""Forty variables, where tables over all sets end: how soon do chains agree?

    python -m benchmarks.many [--seconds 300] [--nodes 40] [--rows 1000] [--output FILE]

A table drawn from a random sparse network (networks.py) is given to partition MCMC and partial order MCMC, four chains
each, for the same time. After every chunk: seconds, graphs, and the largest R-hat over all edges with a probability
between 0.05 and 0.95 or that chains see very differently; at the end the smallest effective sample size, and how well
the edges tell the skeleton that the table was drawn from. The goal is an R-hat below 1.05 within five minutes on two
cores. For `sumu` on the same table see rival_sumu.py.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from benchmarks.measuring import RESULTS, machine
from benchmarks.networks import draw_table, random_network

from dagpost._tools.progress import NO_PROGRESS
from dagpost.engines import ThreadEngine
from dagpost.mcmc.chains import run_chains
from dagpost.mcmc.considered import weights_among_candidates
from dagpost.mcmc.diagnostics import LARGEST_R_HAT, diagnose
from dagpost.mcmc.records import ROUND_GRAPHS, ChainRun
from dagpost.methods.partial_order_mcmc import PartialOrderMCMC
from dagpost.methods.partition_mcmc import PartitionMCMC
from dagpost.posterior.workspace import Workspace
from dagpost.priors import UniformPrior
from dagpost.priors.constraints import Constraints
from dagpost.priors.study import Study
from dagpost.scores import BDeu

if TYPE_CHECKING:
    from benchmarks.networks import Network


def measure(method: Any, tables: Workspace, network: Network, seconds: float) -> dict[str, Any]:
    """Run a method for so long, looking at it now and then."""
    names = [f"V{node}" for node in range(tables.nodes)]
    started = time.monotonic()
    context = method.prepare(tables)
    run: ChainRun | None = None
    count, looks = 2 * method.chains * ROUND_GRAPHS, []
    while True:
        run = run_chains(
            method,
            context,
            tables.nodes,
            count,
            seed=np.random.SeedSequence(1),
            engine=tables.engine,
            previous=run,
        )
        passed = time.monotonic() - started
        worst = diagnose(run.parents, names, run.record.lengths, run.record.acceptance).largest_r_hat
        looks.append({"seconds": passed, "graphs": len(run.parents), "r_hat": worst})
        print(f"  {passed:6.0f} s {len(run.parents):>9,} graphs   R-hat {worst:.3f}", flush=True)
        if passed > seconds:
            break
        # About a tenth of the time until the next look, as far as the speed so far can tell.
        share = max(0.02, min(1.0, 0.1 * seconds / passed))
        count += max(1, round(share * len(run.parents) / (method.chains * ROUND_GRAPHS))) * method.chains * ROUND_GRAPHS
    verdict = diagnose(run.parents, names, run.record.lengths, run.record.acceptance)
    assert run.record.edges is not None
    joined = run.record.edges.mean(axis=0)
    joined = joined + joined.T
    truth = np.zeros_like(joined, dtype=bool)
    for child, parents in enumerate(network.parents):
        truth[list(parents), child] = truth[child, list(parents)] = True
    upper = np.triu_indices(len(joined), 1)
    found, true = joined[upper] > 0.5, truth[upper]
    print(f"  {verdict}")
    print(f"  acceptance: {', '.join(f'{kind} {share:.2f}' for kind, share in verdict.acceptance.items())}")
    print(
        f"  pairs joined with probability above one half: {found.sum()}, of which in the network {(found & true).sum()}"
    )
    return {
        "method": repr(method),
        "looks": looks,
        "reached": next((look["seconds"] for look in looks if look["r_hat"] < LARGEST_R_HAT), None),
        "diagnostics": verdict.summary(),
        "pairs": {"found": int(found.sum()), "true": int((found & true).sum()), "network": int(true.sum())},
    }


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.many", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--seconds", type=float, default=300.0, help="for each method")
    parser.add_argument("--nodes", type=int, default=40)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--network-seed", type=int, default=1)
    parser.add_argument("--data-seed", type=int, default=1)
    parser.add_argument("--output", type=Path, default=RESULTS / "many.json", help="where the JSON goes")
    options = parser.parse_args()
    network = random_network(options.nodes, options.network_seed)
    table = draw_table(network, options.rows, options.data_seed)
    engine = ThreadEngine()
    started = time.monotonic()
    weights = weights_among_candidates(Study(table, BDeu(1.0), UniformPrior(), Constraints(), 5), engine=engine)
    scored = time.monotonic() - started
    print(f"{options.nodes} variables, {options.rows:,} rows, {network.edges} edges: scored in {scored:.1f} s")
    print(f"({weights.describe()})")
    tables = Workspace(weights, engine, NO_PROGRESS)
    results = []
    for method in (PartitionMCMC(), PartialOrderMCMC()):
        print(f"\n{method}")
        results.append(measure(method, tables, network, options.seconds))
    options.output.parent.mkdir(parents=True, exist_ok=True)
    about = {name: value for name, value in vars(options).items() if name != "output"}
    content = {"machine": machine(), "settings": about, "scoring": scored, "results": results}
    options.output.write_text(json.dumps(content, indent=1) + "\n")
    print(f"\nWritten to {options.output}")


if __name__ == "__main__":
    main()
