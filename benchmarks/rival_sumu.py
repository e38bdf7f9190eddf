"""What does `sumu` say of the same table? Its graphs, chain by chain, to hold beside those of dagpost.

    python -m benchmarks.rival_sumu DATA.csv --python sumu-venv/bin/python --seconds 300 --chains 4 -o OUT.npz

sumu 0.1.2 (Viinikka, Hyttinen, Pensar & Koivisto 2020, "Towards scalable Bayesian learning of causal DAGs") samples
root partitions, 16 tempered chains for each one that counts. It is a source distribution that today's Cython turns
into code that crashes, so it lives in an environment of its own, of Python 3.11 or 3.12, made with a C++ compiler:

    python3.11 -m venv sumu-venv
    (echo 'Cython<3'; echo 'numpy<2.4') > sumu-build.txt
    CYTHON_FORCE_REGEN=1 PIP_CONSTRAINT=sumu-build.txt sumu-venv/bin/pip install --no-cache-dir sumu==0.1.2

This file is run by both interpreters: by ours as a module, and by the other one, by its path, for everything that
needs sumu. Candidates and scores are made once; then two chains run at a time, with half of their seconds as burn-in.
Equal to ours are BDeu, its equivalent sample size, the prior, and the most parents a node may have among its
candidates. (sumu's prior is "fair", which is `InDegreePrior` here; its scores know a uniform one, but its front door
does not, so that is set from outside.) Not equal: parent sets with members outside the candidates have at most three,
and sumu stops their sum early, so that a tenth of it may be missing.

Three faults of sumu 0.1.2 matter here. Where the sum over the parent sets that meet a part is a small difference of
large sums, it returns noise or not a number: with strong data its chains settle in partitions that are impossible but
seem hundreds of nats too good. It splits a part with other chances than its rule of acceptance takes for granted: it
draws the nodes with replacement, and only one of the first part; of 4 loosely tied columns the partition of one part
came up 94 times in 100 instead of 26. `--mended` puts a right sum and a right split in their places. And its way to
draw parents from a partition may try all sets one by one, in Python, for hours: the graphs are drawn here, always.

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
TEMPERATURES, MOST_OUTSIDE, CANDIDATE_METHOD = 16, 3, "greedy-lite"
PROCESSES = 2
#: For the candidates, the scores and the drawing of graphs, which took a minute with 40 nodes and 1,000 rows.
LIMIT_BESIDE_CHAINS = 1800.0
#: A weight that is no weight. sumu itself writes minus infinity, and a sum of two of those is not a number.
NOTHING = -1e300
#: Logs of sums that differ by less are too close to be subtracted: they have some twelve digits after the point.
FEW_DIGITS_LEFT = 1e-4
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
    parser.add_argument("--mended", action="store_true", help="with right sums and a right split of parts")
    parser.add_argument("--seed", type=int, default=1, help="default: %(default)s")
    parser.add_argument("-o", "--output", type=Path, help="the file to write; without it, only the report is printed")
    options = parser.parse_args()
    # So that the other interpreter is stopped with this one, whoever stops it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
    trouble = why_not(options.python)
    if trouble:
        print(f"sumu was not run, because {options.python} cannot import it ({trouble}).")
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
            raise RuntimeError(
                f"sumu failed with status {status}: {trouble} (The top of rival_sumu.py says how to install it.)"
            )
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
    # An edge that never changes within a chain but differs between chains leaves no variance to divide by.
    with np.errstate(divide="ignore", invalid="ignore"):
        rhat = np.nan_to_num(array_stats.rhat(doubtful, chain_axis=0, draw_axis=1), nan=np.inf, posinf=np.inf)
    return {
        "doubtful_edges": len(rhat),
        "edges_with_rhat_above_1.05": int((rhat > 1.05).sum()),
        "median_rhat": float(np.median(rhat)) if len(rhat) else None,
        "largest_rhat": float(rhat.max(initial=1.0)),
    }


# What follows is run by the other interpreter.


def work(folder: Path) -> None:
    """Everything that needs sumu, from the codes in a folder to the file of graphs in it."""
    np.seterr(over="ignore", invalid="ignore")
    settings = json.loads((folder / "settings.json").read_text())
    began = time.perf_counter()
    gadget = prepare(np.load(folder / "codes.npy"), settings)
    prepared = time.perf_counter()
    *seeds, last = np.random.SeedSequence(settings["seed"]).generate_state(settings["chains"] + 1).tolist()
    files = [folder / f"chain{number}.npz" for number in range(settings["chains"])]
    in_parallel([partial(run_chain, gadget, settings, seed, file) for seed, file in zip(seeds, files, strict=True)])
    sampled = time.perf_counter()
    runs = [dict(np.load(file)) for file in files]
    parents, log_joint = draw_graphs(gadget, np.concatenate([run["layers"] for run in runs]), last)
    log_joint = log_joint.reshape(len(runs), -1)
    report = {
        "settings": settings,
        "preparation_seconds": prepared - began,
        "chains_seconds": sampled - prepared,
        "drawing_seconds": time.perf_counter() - sampled,
        "iterations": [int(run["iterations"]) for run in runs],
        "accepted_moves": [float(run["moves"].round(4)) for run in runs],
        "accepted_swaps": [run["swaps"].round(3).tolist() for run in runs],
        "mean_log_joint": log_joint.mean(axis=1).tolist(),
    }
    np.savez(
        folder / "found.npz",
        parents=parents.reshape(*log_joint.shape, gadget.n),
        log_joint=log_joint,
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
            sys.exit(f"a chain ended with status {failed[0]}")


def prepare(values: NDArray[Any], settings: dict[str, Any]) -> Any:
    """Candidates, scores and their sums: the steps of `Gadget.sample` before its chains. Floats are scored by BGe."""
    from sumu import Data, gadget, mcmc

    # The front door does not hand the prior on to the scores.
    gadget.LocalScore = partial(gadget.LocalScore, prior=settings["prior"])
    if settings["mended"]:
        mcmc.R_basic_move = split_or_merge
        gadget.Score.sum = sum_of_sets
    candidates = min(settings["candidates"], values.shape[1] - 1)
    discrete = bool(np.issubdtype(values.dtype, np.integer))
    sampler = gadget.Gadget(
        data=Data(values, discrete=discrete),
        scoref="bdeu" if discrete else "bge",
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


def sum_of_sets(score: Any, node: int, U: set[int], T: set[int]) -> float:
    """The log of the sum over the parent sets of a node inside U that meet T, or of the empty set if U is empty.

    Takes the place of `Score.sum`: a difference of two sums over all subsets where that keeps its digits.
    """
    places = {candidate: 1 << place for place, candidate in enumerate(score.C[node])}
    allowed, required = (sum(places.get(member, 0) for member in members) for members in (U, T))
    weights = score.score_array[node]
    if not U:
        return float(weights[0])
    inside = -np.inf
    if required:
        everything = score.c_r_score.get_tau_simple(node, allowed)
        lost = everything - score.c_r_score.get_tau_simple(node, allowed & ~required)
        if lost > FEW_DIGITS_LEFT:
            inside = everything + np.log(-np.expm1(-lost))
        else:
            sets = np.flatnonzero(weights > NOTHING)
            inside = np.logaddexp.reduce(weights[sets[(sets & ~allowed == 0) & (sets & required != 0)]])
    if score.c_c_score is None:
        return float(inside)
    return float(score.c_c_score.sum(node, U, T, inside)[0])


def split_or_merge(R: Any, validate: bool = False) -> Any:
    """A neighbour by splitting one part in two or merging two that are next to each other, all equally likely.

    Kuipers & Moffa (2017), section 4.1. Gives what sumu's own move gives: the neighbour, the chance of proposing it,
    the chance of the way back, and the nodes whose scores change.
    """
    if validate:
        return len(R) > 1 or len(R[0]) > 1
    parts = [set(part) for part in R]
    number = int(np.random.randint(neighbours(parts)))  # noqa: NPY002 (sumu draws from NumPy's global generator)
    place = number
    if number < len(parts) - 1:
        proposed = [*parts[:place], parts[place] | parts[place + 1], *parts[place + 2 :]]
        changed = parts[place + 1].union(*parts[place + 2 : place + 3])
    else:
        number -= len(parts) - 1
        place = 0
        while number >= splits(parts[place]):
            number -= splits(parts[place])
            place += 1
        first = {node for bit, node in enumerate(sorted(parts[place])) if (number + 1) >> bit & 1}
        second = parts[place] - first
        proposed = [*parts[:place], first, second, *parts[place + 1 :]]
        changed = second.union(*parts[place + 1 : place + 2])
    return proposed, 1 / neighbours(parts), 1 / neighbours(proposed), changed


def splits(part: set[int]) -> int:
    """In how many ways a part falls into two, in order."""
    return 2 ** len(part) - 2


def neighbours(parts: list[set[int]]) -> int:
    """How many partitions are one split or merge away."""
    return len(parts) - 1 + sum(splits(part) for part in parts)


def run_chain(gadget: Any, settings: dict[str, Any], seed: int, file: Path) -> None:
    """One cold chain with its hot ones: half of the time burn-in, then equally spaced root partitions.

    A partition is kept as the number of the part of each node. Not knowing how many will come, it keeps every one
    at first, and every second of them each time that there are twice as many as wanted.
    """
    from sumu import MC3

    np.random.seed(seed)  # noqa: NPY002 (the generator that sumu draws from)
    stats: dict[str, Any] = {}
    ladder = MC3([start_of_chain(gadget, step / (TEMPERATURES - 1)) for step in range(TEMPERATURES)], stats=stats)
    began = time.perf_counter()
    iterations = burned_in = moves = 0
    stride = 1
    kept: list[NDArray[np.int8]] = []
    while len(kept) < settings["draws"] or time.perf_counter() < began + settings["seconds"]:
        before = ladder.chains[-1].R
        after, _ = ladder.sample()
        moves += before is not after
        iterations += 1
        if time.perf_counter() < began + settings["seconds"] / 2:
            burned_in = iterations
        elif (iterations - burned_in) % stride == 0:
            kept.append(layers_of(after, gadget.n))
            if len(kept) == 2 * settings["draws"]:
                kept, stride = kept[1::2], 2 * stride
    chosen = np.linspace(0, len(kept) - 1, settings["draws"]).round().astype(np.int64)
    proposed, accepted = stats["MC3"]["swaps proposed"], stats["MC3"]["swaps accepted"]
    swaps = np.array(accepted[:-1]) / np.maximum(proposed[:-1], 1)
    np.savez(file, layers=np.array(kept)[chosen], iterations=iterations, moves=moves / iterations, swaps=swaps)


def start_of_chain(gadget: Any, temperature: float) -> Any:
    """A chain at a random start whose score is a number: sumu's need not be, and the chain would stay there."""
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


def draw_graphs(gadget: Any, layers: NDArray[np.int8], seed: int) -> tuple[NDArray[np.uint64], NDArray[np.float64]]:
    """For each partition a graph: parents in the parts before, at least one of them in the last of these.

    Nodes with the same parts before them are drawn together.
    """
    rng = np.random.default_rng(seed)
    bits = np.uint64(1) << np.arange(gadget.n, dtype=np.uint64)
    parents = np.zeros(layers.shape, dtype=np.uint64)
    log_joint = np.zeros(len(layers))
    for node in range(gadget.n):
        sets, log_weights = families_of(gadget, node)
        own = layers[:, node, None]
        bounds = np.stack([(layers < own) @ bits, (layers == own - 1) @ bits], axis=1)
        distinct, group = np.unique(bounds, axis=0, return_inverse=True)
        for number, (allowed, required) in enumerate(distinct):
            rows = np.flatnonzero(group.ravel() == number)
            fits = np.flatnonzero((sets & ~allowed == 0) & ((sets & required != 0) | (required == 0)))
            chances = np.exp(log_weights[fits] - log_weights[fits].max())
            chosen = rng.choice(fits, size=len(rows), p=chances / chances.sum())
            parents[rows, node] = sets[chosen]
            log_joint[rows] += log_weights[chosen]
    return parents, log_joint


def families_of(gadget: Any, node: int) -> tuple[NDArray[np.uint64], NDArray[np.float64]]:
    """The parent sets of a node that sumu reckons with, as masks, and their log weights."""
    chosen = np.flatnonzero(gadget.score_array[node] > NOTHING)
    sets = np.zeros(len(chosen), dtype=np.uint64)
    for place, candidate in enumerate(gadget.C[node]):
        sets |= (chosen >> place & 1).astype(np.uint64) << np.uint64(candidate)
    log_weights = gadget.score_array[node][chosen]
    if gadget.c_c_score is None:
        return sets, log_weights
    outside = np.array(gadget.c_c_score.ordered_psets[node], dtype=np.uint64)
    return np.concatenate([sets, outside]), np.concatenate([log_weights, gadget.c_c_score.ordered_scores[node]])


if __name__ == "__main__":
    if __package__:
        main()
    else:
        work(Path(sys.argv[1]))
