"""One run of a block chain, or of a rival, in a process of its own: what it knows of the edges as time goes by.

`python -m benchmarks.block_gibbs_runs '{"data": "child", ...}'` makes one chain ready, lets it walk for some CPU
seconds of one thread, and writes down at certain times the sums over its graphs so far. The estimate at time `T` is the
mean over the graphs from `T / 10` to `T`: a tenth is burn-in. `benchmarks.block_gibbs` puts runs together.

A rival is a program that reads the same parent sets as a .jkl file and writes the same sums:

    PROGRAM scores.jkl SEED OUTPUT TIME TIME ...

OUTPUT has for each time, as doubles: the CPU seconds of sampling, the graphs counted, the log weight of the last graph,
and how many graphs had each edge (parent, child). Around the sampler of Gibby this is a `main` of thirty lines.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from benchmarks.measuring import RESULTS, peak_bytes

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from dagpost import DagPosterior, StructurePrior
    from dagpost.families.considered_sets import ConsideredSets

    Matrices = NDArray[np.float64]

GIBBY = Path(__file__).resolve().parents[2] / "shared" / "data" / "real" / "gibby"
#: When runs are compared, in seconds, and a finer grid to see how long they take to agree. A tenth is burn-in.
TIMES = (10.0, 30.0, 120.0)
_FINE = 10
MAX_PARENTS = 5
_MANY_COLUMNS = 64
#: Rounds of about so many seconds.
_ROUND_SECONDS = 0.05
#: For a rival, a set that was left out weighs this many nats less than the lightest that stayed.
_LIGHTER = 20.0


class Snapshots(NamedTuple):
    """Of one run: times, graphs so far, and for each edge the sums of what was drawn and of what was expected."""

    seconds: Matrices
    graphs: Matrices
    drawn: Matrices
    expected: Matrices

    def estimate(self, at: float, kind: str = "drawn") -> Matrices:
        """The edges that the graphs between `at / 10` and `at` seconds give."""
        sums, now = getattr(self, kind), self._place(at)
        before = self._place(at / 10)
        return np.asarray((sums[now] - sums[before]) / (self.graphs[now] - self.graphs[before]))

    def _place(self, at: float) -> int:
        return int(np.argmin(np.abs(np.log(self.seconds / at))))


def grid_of(longest: float) -> list[float]:
    """Times to look at: ten a decade, down to a thousandth of the longest, and `TIMES` with their tenths."""
    fine = {longest * 10 ** (-step / _FINE) for step in range(3 * _FINE + 1)}
    return sorted(fine | {part for at in TIMES if at <= longest for part in (at, at / 10)})


def gibby_table(data: str) -> pd.DataFrame:
    """A table that comes with Gibby; its second row says how many levels a column has."""
    import pandas as pd

    values = pd.read_csv(GIBBY / f"{data}1k.dat", sep=r"\s+|,", engine="python", dtype=np.int64)
    levels, rows = values.iloc[0], values.iloc[1:]
    return pd.DataFrame(
        {
            f"V{place}": pd.Categorical(rows.iloc[:, place], categories=range(int(levels.iloc[place])))
            for place in range(values.shape[1])
        }
    )


def prior_of(columns: int, prior: str = "auto") -> StructurePrior:
    """All graphs alike, or as Gibby's experiments have it: each edge divides the weight by the number of columns.

    Of a hundred columns and more, with all graphs alike, 1,000 rows leave most parents to chance: millions of parent
    sets matter, and hardly any says something. So `auto` takes the other prior there.
    """
    from dagpost import EdgePrior, UniformPrior

    sparse = prior == "sparse" or (prior == "auto" and columns > _MANY_COLUMNS)
    return EdgePrior(1.0 / (columns + 1.0)) if sparse else UniformPrior()


def model_of(columns: int, settings: dict[str, Any], prior: str = "auto") -> DagPosterior:
    """One chain on one thread."""
    from dagpost import BDeu, BlockGibbs, DagPosterior

    return DagPosterior(
        BDeu(1.0),
        prior_of(columns, prior),
        max_parents=MAX_PARENTS,
        method=BlockGibbs(chains=1, **settings),
        threads=1,
        progress=False,
    )


def run_chain(request: dict[str, Any]) -> dict[str, Any]:
    """Let one chain walk, and write its snapshots to the file of the request."""
    from dagpost.families.edge_counts import edge_counts
    from dagpost.mcmc.chains import advance_chain

    table = gibby_table(request["data"])
    model = model_of(table.shape[1], request.get("settings", {}), request["prior"])
    # What is compiled for the first table is not counted.
    model.fit(table.iloc[:, : 8 if table.shape[1] <= _MANY_COLUMNS else 70])
    began = time.process_time()
    model.fit(table)
    workspace, method = model.fitted_.workspace, model.fitted_.method
    considered = workspace.considered
    context, nodes = method.prepare(workspace), considered.nodes
    set_up = time.process_time() - began
    cancel, seeds = np.zeros(1, dtype=np.int64), np.random.SeedSequence(request["seed"])
    state = method.start(context, np.random.default_rng(seeds.spawn(1)[0]))
    # Compiles; what it draws is thrown away.
    advance_chain(method, context, nodes, (state, 1, seeds), cancel)
    grid = grid_of(request["seconds"])
    drawn, expected = np.zeros((nodes, nodes)), np.zeros((nodes, nodes))
    walked, graphs, length, moves = 0.0, 0, 1, 0
    found: list[tuple[float, int, Matrices, Matrices]] = []
    while len(found) < len(grid):
        started = time.thread_time()
        state, output, *_ = advance_chain(method, context, nodes, (state, length, seeds.spawn(1)[0]), cancel)
        took = time.thread_time() - started
        walked, graphs, moves = walked + took, graphs + length, moves + int(output.proposed.sum())
        drawn += edge_counts(output.parents)
        expected += output.edges
        while len(found) < len(grid) and walked >= grid[len(found)]:
            found.append((walked, graphs, drawn.copy(), expected.copy()))
        # No round longer than the next look is away.
        ahead = grid[len(found)] - walked if len(found) < len(grid) else 0.0
        length = max(1, min(2 * length, int(length * min(_ROUND_SECONDS, 1.1 * ahead) / max(took, 1e-6))))
    np.savez(request["file"], **dict(zip(Snapshots._fields, map(np.array, zip(*found, strict=True)), strict=True)))
    about = {"sets": int(considered.start[-1]), "lost": float(considered.lost.sum()), "scored": considered.scored}
    rates = {"sweeps": graphs / walked, "blocks": moves / walked, "log_joint": float(output.log_joint[-1])}
    about["missed"] = float(considered.missed.sum())
    return {**about, **rates, "nodes": nodes, "set_up": set_up, "peak": peak_bytes()}


def run_rival(request: dict[str, Any]) -> dict[str, Any]:
    """The same for another program."""
    grid = [str(at) for at in grid_of(request["seconds"])]
    with tempfile.TemporaryDirectory() as folder:
        scores, output = Path(folder) / "scores.jkl", Path(folder) / "sums"
        table = gibby_table(request["data"])
        considered = model_of(table.shape[1], {}, request["prior"]).fit(table).fitted_.workspace.considered
        nodes = considered.nodes
        with scores.open("w", encoding="ascii") as file:
            file.writelines(_jkl_lines(considered))
        subprocess.run([request["rival"], scores, str(request["seed"]), output, *grid], check=True, capture_output=True)
        found = np.fromfile(output).reshape(len(grid), 3 + nodes**2)
    seconds, graphs = found[:, 0], found[:, 1]
    drawn = found[:, 3:].reshape(len(grid), nodes, nodes)
    np.savez(request["file"], **Snapshots(seconds, graphs, drawn, np.zeros_like(drawn))._asdict())
    return {"nodes": nodes, "sweeps": graphs[-1] / seconds[-1], "log_joint": found[-1, 2]}


def _jkl_lines(considered: ConsideredSets) -> list[str]:
    """The considered sets, and every set of one parent: Gibby never leaves those out, and hangs where they are not."""
    nodes = considered.nodes
    lines = [f"{nodes}\n"]
    for node in range(nodes):
        own = slice(considered.start[node], considered.start[node + 1])
        sets = {
            tuple(int(parent) for parent in members if parent < nodes): float(weight)
            for members, weight in zip(considered.members[own], considered.log_weights[own], strict=True)
        }
        lightest = min(sets.values())
        for parent in range(nodes):
            if parent != node:
                sets.setdefault((parent,), lightest - _LIGHTER)
        lines.append(f"{node} {len(sets)}\n")
        lines += [f"{weight!r} {len(parents)} {' '.join(map(str, parents))}\n" for parents, weight in sets.items()]
    return lines


def exact_file(data: str) -> Path:
    """Where the exact edges of a table are, once they were computed."""
    return RESULTS / f"exact_edges_{data}.npy"


def exact_edges(request: dict[str, Any]) -> dict[str, Any]:
    """The exact edges of a table, written to their file."""
    from dagpost import BDeu, DagPosterior

    began = time.perf_counter()
    table = gibby_table(request["data"])
    model = DagPosterior(
        BDeu(1.0), prior="uniform", method="exact-layers", max_parents=MAX_PARENTS, engine=request["engine"]
    )
    edges = model.fit(table).edge_probabilities_.to_numpy()
    RESULTS.mkdir(exist_ok=True)
    np.save(exact_file(request["data"]), edges)
    return {"seconds": time.perf_counter() - began}


KINDS = {"chain": run_chain, "rival": run_rival, "exact": exact_edges}

if __name__ == "__main__":
    asked = json.loads(sys.argv[1])
    print(json.dumps(KINDS[asked.pop("what")](asked)))
