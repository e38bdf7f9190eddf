"""What does `sumu` say of the same table? Its graphs, chain by chain, to hold beside those of dagpost.

    python -m benchmarks.rival_sumu DATA.csv --python sumu-venv/bin/python --seconds 300 --chains 4 -o OUT.npz

sumu 0.1.2 (Viinikka, Hyttinen, Pensar & Koivisto 2020, "Towards scalable Bayesian learning of causal DAGs") samples
root partitions with 16 tempered chains for each cold one and draws graphs from them. It is a source distribution that
today's Cython turns into code that crashes, so it lives in an environment of its own, of Python 3.11 or 3.12, made with
a C++ compiler at hand:

    python3.11 -m venv sumu-venv
    printf 'Cython<3\nnumpy<2.4\n' > sumu-build.txt
    CYTHON_FORCE_REGEN=1 PIP_CONSTRAINT=sumu-build.txt sumu-venv/bin/pip install --no-cache-dir sumu==0.1.2

This file is run by both interpreters: by ours as a module, and by the other one, by its path, for everything that
needs sumu. What is the same as ours: BDeu with the same equivalent sample size, the same bound on the parents inside
the candidates, the same prior. sumu's own prior, "fair", is dagpost's `InDegreePrior`; the uniform one is there in its
scores but not in its front door, so it is set from outside. What is not: of parents outside the candidates a node has
at most three, and their sum is off by up to a tenth. Scores and candidates are made once; then two chains run at a
time. Half of the seconds of a chain are burn-in.

OUT.npz holds `parents`, uint64 of (chains, draws, nodes), bit j of an entry being set where j is a parent;
`log_joint`, (chains, draws), score and prior of each graph; `candidates`, (nodes, candidates); and `report`, JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

#: As in sumu's own example.
TEMPERATURES, MOST_OUTSIDE, CANDIDATE_METHOD, TOLERANCE = 16, 3, "greedy-lite", 2.0**-32
PROCESSES = 2
#: For the candidates, the scores and the drawing of graphs; they took 2 minutes in all with 40 nodes and 1,000 rows.
LIMIT_BESIDE_CHAINS = 1800.0
#: A weight that is no weight. sumu itself writes minus infinity, and a sum of two of those is not a number.
NOTHING = -1e300
#: Edges that are nearly sure either way say little about how a chain moves.
DOUBTFUL = (0.05, 0.95)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.rival_sumu", description=(__doc__ or "").split("\n", maxsplit=1)[0]
    )
    parser.add_argument("data", type=Path, help="a table of discrete columns, CSV or Parquet")
    parser.add_argument("--python", required=True, help="the interpreter that has sumu")
    parser.add_argument("--seconds", type=float, default=300.0, help="for each chain (default: %(default)g)")
    parser.add_argument("--chains", type=int, default=4, help="default: %(default)s")
    parser.add_argument("--draws", type=int, default=1000, help="graphs to keep of each chain (default: %(default)s)")
    parser.add_argument("--ess", type=float, default=1.0, help="equivalent sample size (default: %(default)g)")
    parser.add_argument("--max-parents", type=int, default=5, help="default: %(default)s")
    parser.add_argument("--candidates", type=int, default=15, help="parents to choose from (default: %(default)s)")
    parser.add_argument("--prior", choices=("uniform", "fair"), default="uniform", help="default: %(default)s")
    parser.add_argument("--seed", type=int, default=1, help="default: %(default)s")
    parser.add_argument("-o", "--output", type=Path, help="the file to write; without it, only the report is printed")
    options = parser.parse_args()
    trouble = why_not(options.python)
    if trouble:
        print(f"sumu was not run, because {options.python} cannot import it: {trouble}")
        return
    settings = {name: value for name, value in vars(options).items() if name not in ("data", "python", "output")}
    try:
        found = sample(codes_of(options.data), options.python, settings)
    except RuntimeError as error:
        sys.exit(str(error))
    report = json.loads(str(found["report"])) | mixing(found["parents"])
    print(json.dumps(report, indent=1))
    if options.output:
        found["report"] = np.array(json.dumps(report))
        np.savez_compressed(options.output, **found)


def codes_of(path: Path) -> NDArray[np.int32]:
    """The level codes of a table, a row for each row."""
    from dagpost import read_table

    return np.ascontiguousarray(read_table(path).codes().T, dtype=np.int32)


def why_not(python: str) -> str:
    """Why an interpreter cannot import sumu; nothing if it can."""
    try:
        tried = subprocess.run([python, "-c", "import sumu"], capture_output=True, text=True, check=False)
    except OSError as error:
        return str(error)
    return "" if tried.returncode == 0 else last_line(tried.stderr)


def last_line(text: str) -> str:
    """The last line of an error message, which says what it was."""
    lines = text.strip().splitlines()
    return lines[-1] if lines else "it said nothing"


def sample(codes: NDArray[np.int32], python: str, settings: dict[str, Any]) -> dict[str, NDArray[Any]]:
    """Run sumu in the other interpreter and read what it leaves behind; RuntimeError if it fails or takes too long."""
    limit = LIMIT_BESIDE_CHAINS + settings["seconds"] * -(-settings["chains"] // PROCESSES)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.save(folder / "codes.npy", codes)
        (folder / "settings.json").write_text(json.dumps(settings))
        with (folder / "errors.txt").open("w") as errors:
            # A session of its own, so that its chains end with it.
            process = subprocess.Popen(
                [python, str(Path(__file__).resolve()), str(folder)], stderr=errors, start_new_session=True
            )
            try:
                status = process.wait(timeout=limit)
            except subprocess.TimeoutExpired:
                raise RuntimeError(f"sumu was stopped, since it was not done after {limit:.0f} s.") from None
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
        if status != 0 or not (folder / "found.npz").exists():
            trouble = last_line((folder / "errors.txt").read_text())
            raise RuntimeError(f"sumu failed with status {status}: {trouble}")
        with np.load(folder / "found.npz") as found:
            return dict(found)


def mixing(parents: NDArray[np.uint64]) -> dict[str, Any]:
    """How many edges are in doubt, and the largest rank-normalised split R-hat among them."""
    from arviz_stats.base import array_stats

    nodes = parents.shape[2]
    bits = (parents[..., None] >> np.arange(nodes, dtype=np.uint64)) & np.uint64(1)
    edges = bits.reshape(*parents.shape[:2], -1).astype(np.float64)
    mean = edges.mean(axis=(0, 1))
    doubtful = edges[:, :, (mean > DOUBTFUL[0]) & (mean < DOUBTFUL[1])]
    # An edge that never changes within any chain but differs between chains has no variance: that is as bad as it gets.
    rhat = np.nan_to_num(array_stats.rhat(doubtful, chain_axis=0, draw_axis=1), nan=np.inf)
    return {
        "doubtful_edges": len(rhat),
        "largest_rhat": float(rhat.max(initial=1.0)),
        "edges_above_1.05": int((rhat > 1.05).sum()),
    }


# What follows is run by the other interpreter.


def work(folder: Path) -> None:
    """Everything that needs sumu, from the codes in a folder to the file of graphs in it."""
    np.seterr(over="ignore", invalid="ignore")
    settings = json.loads((folder / "settings.json").read_text())
    began = time.perf_counter()
    gadget = prepare(np.load(folder / "codes.npy"), settings)
    prepared = time.perf_counter()
    seeds = np.random.SeedSequence(settings["seed"]).generate_state(settings["chains"] + PROCESSES)
    chains = [folder / f"chain{number}.npz" for number in range(settings["chains"])]
    in_parallel(
        [partial(run_chain, gadget, settings, int(seed), file) for seed, file in zip(seeds, chains, strict=False)]
    )
    sampled = time.perf_counter()
    runs = [dict(np.load(file)) for file in chains]
    layers = np.concatenate([run["layers"] for run in runs])
    groups = [range(start, gadget.n, PROCESSES) for start in range(PROCESSES)]
    drawn = [folder / f"drawn{number}.npz" for number in range(PROCESSES)]
    in_parallel(
        [
            partial(draw_parents, gadget, layers, group, int(seed), file)
            for group, seed, file in zip(groups, seeds[-PROCESSES:], drawn, strict=True)
        ]
    )
    parents = np.zeros(layers.shape, dtype=np.uint64)
    log_joint = np.zeros(len(layers))
    for group, file in zip(groups, drawn, strict=True):
        part = np.load(file)
        parents[:, list(group)] = part["parents"]
        log_joint += part["log_scores"]
    report = {
        "settings": settings,
        "preparation_seconds": prepared - began,
        "chains_seconds": sampled - prepared,
        "drawing_seconds": time.perf_counter() - sampled,
        "iterations": [int(run["iterations"]) for run in runs],
        "accepted_swaps": [[round(float(share), 3) for share in run["swaps"]] for run in runs],
        "mean_log_joint": [float(part.mean()) for part in np.split(log_joint, len(runs))],
    }
    shape = (len(runs), -1)
    np.savez(
        folder / "found.npz",
        parents=parents.reshape(*shape, gadget.n),
        log_joint=log_joint.reshape(shape),
        candidates=gadget.C_array,
        report=np.array(json.dumps(report)),
    )


def in_parallel(tasks: list[Callable[[], None]]) -> None:
    """Run tasks in processes that share the memory of this one, a few at a time."""
    forking = get_context("fork")
    for start in range(0, len(tasks), PROCESSES):
        started = [forking.Process(target=task) for task in tasks[start : start + PROCESSES]]
        for process in started:
            process.start()
        for process in started:
            process.join()
        failed = [process.exitcode for process in started if process.exitcode]
        if failed:
            sys.exit(f"a process ended with status {failed[0]}")


def prepare(codes: NDArray[np.int32], settings: dict[str, Any]) -> Any:
    """Candidates, scores and their sums: the steps of `Gadget.sample` before its chains."""
    from sumu import Data, gadget

    # The front door does not hand the prior on to the scores.
    gadget.LocalScore = partial(gadget.LocalScore, prior=settings["prior"])
    candidates = min(settings["candidates"], codes.shape[1] - 1)
    sampler = gadget.Gadget(
        data=Data(codes, discrete=True),
        scoref="bdeu",
        ess=settings["ess"],
        max_id=min(settings["max_parents"], candidates),
        K=candidates,
        d=min(MOST_OUTSIDE, settings["max_parents"]),
        cp_algo=CANDIDATE_METHOD,
    )
    sampler._find_candidate_parents()
    sampler._precompute_scores_for_all_candidate_psets()
    sampler.score_array[np.isneginf(sampler.score_array)] = NOTHING
    sampler._precompute_candidate_restricted_scoring()
    sampler._precompute_candidate_complement_scoring()
    sampler.score = gadget.Score(
        C=sampler.C, score_array=sampler.score_array, c_r_score=sampler.c_r_score, c_c_score=sampler.c_c_score
    )
    return sampler


def run_chain(gadget: Any, settings: dict[str, Any], seed: int, file: Path) -> None:
    """One cold chain with its hot ones: half of the time burn-in, then equally spaced root partitions.

    A partition is kept as the number of the part of each node. Not knowing how many will come, it keeps every one
    at first, and every second of them each time that there are twice as many as wanted.
    """
    from sumu import MC3

    np.random.seed(seed)
    stats: dict[str, Any] = {}
    ladder = MC3([start_of_chain(gadget, step / (TEMPERATURES - 1)) for step in range(TEMPERATURES)], stats=stats)
    began = time.perf_counter()
    iterations, stride, kept = 0, 1, []
    while time.perf_counter() < began + settings["seconds"] / 2:
        ladder.sample()
        iterations += 1
    burned_in = iterations
    while time.perf_counter() < began + settings["seconds"] or len(kept) < settings["draws"]:
        partition, _ = ladder.sample()
        if (iterations - burned_in) % stride == 0:
            kept.append(layers_of(partition, gadget.n))
        iterations += 1
        if len(kept) == 2 * settings["draws"]:
            kept, stride = kept[::2], 2 * stride
    chosen = np.linspace(0, len(kept) - 1, settings["draws"]).round().astype(np.int64)
    proposed, accepted = stats["MC3"]["swaps proposed"], stats["MC3"]["swaps accepted"]
    swaps = np.array(accepted[:-1]) / np.maximum(proposed[:-1], 1)
    np.savez(file, layers=np.array(kept)[chosen], iterations=iterations, swaps=swaps)


def start_of_chain(gadget: Any, temperature: float) -> Any:
    """A chain at a random start whose score is a number: sumu's sums are not always, and it would stay there."""
    from sumu import PartitionMCMC

    while True:
        chain = PartitionMCMC(gadget.C, gadget.score, gadget.d, temperature=temperature)
        if np.isfinite(chain.R_score):
            return chain


def layers_of(partition: Any, nodes: int) -> NDArray[np.int8]:
    """For each node the number of its part."""
    layers = np.empty(nodes, dtype=np.int8)
    for number, part in enumerate(partition):
        layers[list(part)] = number
    return layers


def draw_parents(gadget: Any, layers: NDArray[np.int8], nodes: range, seed: int, file: Path) -> None:
    """For each partition the parents of some nodes, drawn anew: the last step of `Gadget.sample`."""
    from sumu.gadget import DAGR

    np.random.seed(seed)
    partitions = [
        [{int(node) for node in np.flatnonzero(row == number)} for number in range(row.max() + 1)] for row in layers
    ]
    sampler = DAGR(gadget.score, gadget.C, tolerance=TOLERANCE)
    parents = np.zeros((len(layers), len(nodes)), dtype=np.uint64)
    log_scores = np.zeros(len(layers))
    for column, node in enumerate(nodes):
        sampler.precompute_pset_sampling(node)
        for row, partition in enumerate(partitions):
            (_, *drawn), score = sampler.sample_pset(node, partition, score=True)
            parents[row, column] = sum(1 << int(parent) for parent in drawn[0]) if drawn else 0
            log_scores[row] += score
    np.savez(file, parents=parents, log_scores=log_scores)


if __name__ == "__main__":
    if __package__:
        main()
    else:
        work(Path(sys.argv[1]))
