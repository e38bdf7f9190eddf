"""Which pairs are joined, where columns were cut into levels? Five ways to treat them, beside the uncut numbers.

`recovery`: random linear Gaussian networks of 8 to 12 columns and 200 to 2,000 rows; every other column is cut into 2
to 5 levels at random quantiles. The same posterior over graphs is asked for by

    bins    all numbers cut into three bins, BDeu averaged over sample sizes
    codes   BGe on the numbers of the levels
    conditional, latent    the scores for mixed tables
    uncut   BGe on the numbers before anything was cut: what could be known at best

and judged by which pairs are joined in the true network: log loss a pair (probabilities within 1e-3 of 0 and 1 are
moved there) and area under the precision-recall curve, all pairs of all networks together.

`ocd`: 26 ordinal symptoms of 408 patients, with a file of the picture. `clinic`: an ordinary clinical table on the
command line.

Run as `python -m benchmarks.mixed recovery [--networks 20]`, `python -m benchmarks.mixed ocd FILE.csv`, `python -m
benchmarks.mixed clinic`.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dagpost import BDeu, DagPosterior, Recipe, plots
from dagpost.errors import DagpostWarning

#: Probabilities are not taken to be more certain than this.
_CERTAIN = 1e-3


class Network(NamedTuple):
    """Numbers from a linear Gaussian network, the same with some columns cut, and which pairs are joined."""

    numbers: pd.DataFrame
    cut: pd.DataFrame
    joined: NDArray[np.bool_]


def random_network(rng: np.random.Generator) -> Network:
    """Two parents on average, coefficients of 0.4 to 0.9 of either sign, and half of the columns cut."""
    nodes, rows = int(rng.integers(8, 13)), int(rng.choice([200, 500, 1000, 2000]))
    edges = np.triu(rng.random((nodes, nodes)) < 3.0 / (nodes - 1), k=1)
    sizes = rng.uniform(0.4, 0.9, (nodes, nodes)) * rng.choice([-1, 1], (nodes, nodes))
    data = np.zeros((rows, nodes))
    for node in range(nodes):
        data[:, node] = data @ (edges[:, node] * sizes[:, node]) + rng.standard_normal(rows)
        data[:, node] /= data[:, node].std()
    shuffled = rng.permutation(nodes)
    edges, data = edges[np.ix_(shuffled, shuffled)], data[:, shuffled]
    numbers = pd.DataFrame(data, columns=[f"V{node}" for node in range(nodes)])
    cut = numbers.copy()
    for name in rng.permutation(numbers.columns)[: nodes // 2]:
        levels = int(rng.integers(2, 6))
        # No level has less than a tenth of an equal share.
        shares = np.cumsum(0.1 / levels + 0.9 * rng.dirichlet(np.full(levels, 4.0)))[:-1]
        codes = np.searchsorted(np.quantile(numbers[name], shares), numbers[name])
        cut[name] = pd.Categorical(codes, ordered=True)
    return Network(numbers, cut, edges | edges.T)


def _codes(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.apply(lambda column: column.cat.codes.astype(float) if column.dtype == "category" else column)


WAYS: dict[str, Callable[[Network, int], DagPosterior]] = {
    "bins": lambda own, seed: DagPosterior(score=BDeu("average"), recipe=Recipe(bins=3), seed=seed).fit(own.cut),
    "codes": lambda own, seed: DagPosterior(score="bge", seed=seed).fit(_codes(own.cut)),
    "conditional": lambda own, seed: DagPosterior(score="conditional-gaussian", seed=seed).fit(own.cut),
    "latent": lambda own, seed: DagPosterior(score="latent-gaussian", seed=seed).fit(own.cut),
    "uncut": lambda own, seed: DagPosterior(score="bge", seed=seed).fit(own.numbers),
}


def losses(probabilities: NDArray[np.float64], joined: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The log loss of each pair."""
    held = probabilities.clip(_CERTAIN, 1.0 - _CERTAIN)
    found: NDArray[np.float64] = -np.log(np.where(joined, held, 1.0 - held))
    return found


def area(probabilities: NDArray[np.float64], joined: NDArray[np.bool_]) -> float:
    """The area under the precision-recall curve, as average precision."""
    from sklearn.metrics import average_precision_score

    return float(average_precision_score(joined, probabilities))


class Judged(NamedTuple):
    """What each way says of the pairs of one network, how long it took, and whether latent chains are to be trusted."""

    joined: NDArray[np.bool_]
    found: dict[str, NDArray[np.float64]]
    seconds: dict[str, float]
    trusted: bool
    size: tuple[int, ...]


def judge(seed: int, number: int) -> Judged:
    """Fit one network in every way."""
    own = random_network(np.random.default_rng([seed, number]))
    pairs = np.triu_indices(len(own.joined), k=1)
    found, seconds, trusted = {}, {}, True
    for way, fit in WAYS.items():
        begun = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DagpostWarning)
            model = fit(own, number)
        seconds[way] = time.process_time() - begun
        edges = model.edge_probabilities_.to_numpy()
        found[way] = (edges + edges.T)[pairs]
        trusted &= "Do not trust" not in (model.fitted_.results.verdict or "")
    return Judged(own.joined[pairs], found, seconds, trusted, own.cut.shape)


def recovery(networks: int, seed: int, processes: int) -> None:
    """Print what each way makes of the same networks."""
    judged = []
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        for one in pool.map(partial(judge, seed), range(networks)):
            judged.append(one)
            shown = ", ".join(f"{way} {losses(own, one.joined).mean():.3f}" for way, own in one.found.items())
            print(f"  {len(judged)}: {one.size[1]} columns, {one.size[0]} rows: {shown}", flush=True)
    truth = np.concatenate([one.joined for one in judged])
    print(f"{'way':12} {'log loss':>9} {'(s.e.)':>8} {'area':>7} {'CPU s a network':>16}")
    for way in WAYS:
        each = [losses(one.found[way], one.joined).mean() for one in judged]
        error = np.std(each, ddof=1) / np.sqrt(len(each))
        whole = np.concatenate([one.found[way] for one in judged])
        loss, curve = losses(whole, truth).mean(), area(whole, truth)
        seconds = np.median([one.seconds[way] for one in judged])
        print(f"{way:12} {loss:9.3f} {error:8.3f} {curve:7.3f} {seconds:16.1f}")
    untrusted = sum(not one.trusted for one in judged)
    print(f"latent chains that say not to trust them yet: {untrusted} of {networks}")


def ocd(path: Path, picture: Path, samples: int) -> None:
    """Time, verdict and picture of a table of ordinal symptoms."""
    frame = pd.read_csv(path)
    begun, before = time.process_time(), time.perf_counter()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", DagpostWarning)
        model = DagPosterior(score="latent-gaussian", seed=1, samples=samples).fit(frame)
    print(
        f"{frame.shape[0]} rows, {frame.shape[1]} columns: {time.process_time() - begun:.0f} CPU s, "
        f"{time.perf_counter() - before:.0f} s; {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB"
    )
    print(model)
    print(*dict.fromkeys(str(one.message) for one in said), sep="\n")
    edges = model.edge_probabilities_.to_numpy()
    joined = np.triu(edges + edges.T, k=1)
    order = np.dstack(np.unravel_index(np.argsort(-joined, axis=None)[:15], joined.shape))[0]
    for a, b in order.tolist():
        print(f"  {frame.columns[a]} -- {frame.columns[b]}: {joined[a, b]:.3f}")
    plots.graph(model).figure.savefig(picture, dpi=120)


def clinic() -> None:
    """From the command to the report, on the clinical table of the tests."""
    from tests.tools.clinical import clinical_frame

    with tempfile.TemporaryDirectory() as folder:
        table, model, report = (Path(folder) / name for name in ("clinic.csv", "clinic.dagpost", "clinic.html"))
        clinical_frame().to_csv(table, index=False)
        for arguments in (
            ["fit", table, "-o", model, "--seed", "1"],
            ["report", model, "-o", report],
            ["edges", model],
        ):
            begun = time.perf_counter()
            done = subprocess.run(
                [sys.executable, "-m", "dagpost.cli", *map(str, arguments)], capture_output=True, text=True, check=False
            )
            print(f"$ dagpost {arguments[0]}: {time.perf_counter() - begun:.1f} s (status {done.returncode})")
            print(done.stdout[-3000:], done.stderr[-3000:])
        found = DagPosterior.load(model)
        # In the network that made the rows: 6 mmHg for current smokers, 1.3 for each unit of BMI.
        for cause, do in (("smoking", ("current", "never")), ("BMI", (30.0, 25.0))):
            print(found.effect(cause, "systolic", do=do))
            tiers = [["age", "sex", "smoking"], ["BMI"], ["systolic"], ["diastolic", "diagnosis"]]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DagpostWarning)
                in_tiers = DagPosterior(seed=1, tiers=tiers).fit(clinical_frame())
            print(f"with tiers: {in_tiers.effect(cause, 'systolic', do=do)}")


def main(arguments: Any = None) -> None:
    """Read the command line and run one of the comparisons."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("recovery")
    command.add_argument("--networks", type=int, default=20)
    command.add_argument("--seed", type=int, default=1)
    command.add_argument("--processes", type=int, default=1)
    command = commands.add_parser("ocd")
    command.add_argument("table", type=Path)
    command.add_argument("--picture", type=Path, default=Path("ocd.png"))
    command.add_argument("--samples", type=int, default=30_000)
    commands.add_parser("clinic")
    given = parser.parse_args(arguments)
    if given.command == "recovery":
        recovery(given.networks, given.seed, given.processes)
    elif given.command == "ocd":
        ocd(given.table, given.picture, given.samples)
    else:
        clinic()


if __name__ == "__main__":
    main()
