"""Sums by components: tiers, exogenous columns and series, beside sums over the whole table.

    python -m benchmarks.components [--quick] [--large]

or, with the others, `python -m benchmarks.run components`. Each case is a process of its own on two threads: scoring
and priors, then the sums with the probabilities of all families, edges and paths inside components, then 10,000 graphs,
then the ten best. Times are CPU seconds of all threads, after a small run of the same kind that loads the kernels;
memory is the peak above what the process held before. `--quick` leaves out the large
cases, `--large` adds 24 columns in one piece (seven minutes of CPU time).
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.measuring import CORES, Case, Target, figure, measure_once, peak_bytes, quotient, show_targets

if TYPE_CHECKING:
    from collections.abc import Callable

    from dagpost.priors.constraints import Constraints

TWO = min(2, CORES)
ROWS, GRAPHS, BEST = 1_000, 10_000, 10


def case(what: str, tiers: list[int], max_parents: int = 3, **more: Any) -> Case:
    """Columns in tiers of these sizes; `exogenous`: so many of the first are not modelled; `forbid`: none within."""
    return {"what": what, "tiers": tiers, "max_parents": max_parents, **more}


TIERS, SERIES = "60 columns in 4 tiers of 15", "20 series, one lag"
SPLIT, WHOLE = "20 columns in 3 tiers", "20 columns in 3 tiers, as one piece"
SPLIT_24, WHOLE_24 = "24 columns in 3 tiers of 8", "24 columns in 3 tiers of 8, as one piece"
EXOGENOUS, LAGGED = "20 columns, 200 exogenous", "500 series, one lag, no edges within, 2 parents"
SMALL = [
    case(TIERS, [15] * 4),
    case(SPLIT, [7, 7, 6]),
    case(WHOLE, [7, 7, 6], dense=True),
    case(SPLIT_24, [8] * 3, max_parents=5),
    case("20 columns", [20]),
    case(SERIES, [20, 20], exogenous=20),
    case(EXOGENOUS, [200, 20], exogenous=200),
]
LARGE = [case(LAGGED, [500, 500], max_parents=2, exogenous=500, forbid=True)]
LARGEST = [case(WHOLE_24, [8] * 3, max_parents=5, dense=True)]


def table_of(columns: int) -> Any:
    """Three levels, each column a noisy sum of two earlier ones."""
    import numpy as np
    import pandas as pd

    generator = np.random.default_rng(columns)
    values = generator.normal(size=(ROWS, columns))
    for column in range(1, columns):
        for parent in generator.choice(column, size=min(column, 2), replace=False):
            values[:, column] += 0.7 * values[:, parent]
    levels = np.digitize(values / values.std(axis=0), [-0.5, 0.5])
    return pd.DataFrame(levels, columns=[f"V{column}" for column in range(columns)])


def rules_of(request: Case) -> Constraints:
    """The tiers and exogenous columns of a case."""
    from dagpost.priors.constraints import Constraints

    tiers, first = [], 0
    for size in request["tiers"]:
        tiers.append([f"V{column}" for column in range(first, first + size)])
        first += size
    forbidden = (
        [(one, other) for one in tiers[-1] for other in tiers[-1] if one != other] if "forbid" in request else []
    )
    exogenous = [f"V{column}" for column in range(request.get("exogenous", 0))]
    return Constraints((), forbidden, tiers if len(tiers) > 1 else None, exogenous)


def stages_of(request: Case) -> dict[str, Callable[[], Any]]:
    """What is measured one by one; each stage uses what those before have made."""
    import numpy as np

    from dagpost._tools.progress import NO_PROGRESS
    from dagpost.data import as_table
    from dagpost.engines import ThreadEngine
    from dagpost.methods.base import Decided
    from dagpost.methods.exact_layers import ExactLayers
    from dagpost.posterior.weighing import weigh_families
    from dagpost.priors import resolve_prior
    from dagpost.priors.study import Study
    from dagpost.scores import BDeu

    table = as_table(table_of(sum(request["tiers"])))
    study = Study(table, BDeu(), resolve_prior("uniform"), rules_of(request), request["max_parents"])
    engine, made = ThreadEngine(TWO), []

    def score() -> None:
        # Chains count graphs by orders: a modularity for which the whole table is one piece.
        modularity = "order" if request.get("dense") else "structure"
        method = None if request.get("dense") else ExactLayers()
        made.append(weigh_families(Decided(method, modularity, study, engine), NO_PROGRESS))

    return {
        "scoring": score,
        "sums": lambda: made[0].summed("structure"),
        "draws": lambda: made[0].draw_layers(GRAPHS, np.random.SeedSequence(1)),
        "best": lambda: made[0].best_graphs(BEST),
        "families": lambda: sum(len(own) for own in made[0].log_weights),
    }


def measure_here(request: Case) -> Case:
    """Measure one case in this process."""
    import psutil

    smaller = {**request, "tiers": [min(size, 3) for size in request["tiers"]]}
    if "exogenous" in request:
        smaller["exogenous"] = smaller["tiers"][0]
    for run in stages_of(smaller).values():
        run()
    stages = stages_of(request)
    with contextlib.suppress(OSError):
        # Linux forgets the peak of before.
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    held, found = psutil.Process().memory_info().rss, {}
    families = stages.pop("families")
    for name, run in stages.items():
        if name == "best" and request.get("dense"):
            continue
        started = time.process_time()
        run()
        found[name] = time.process_time() - started
    return {**found, "families": families(), "peak": max(peak_bytes() - held, 0)}


def show(results: list[Case]) -> None:
    """Print the table."""
    stages = "scoring", "sums", "draws", "best"
    headings = "".join(f"{stage:>10}" for stage in stages)
    print(f"\n{'CPU seconds':<52}{'parents':>8}{'families':>13}{headings}{'MB':>8}")
    for result in results:
        times = "".join(f"{result[stage]:>10.3f}" if stage in result else f"{'':>10}" for stage in stages)
        what = f"{result['what']:<52}{result['max_parents']:>8}{result['families']:>13,}"
        print(f"{what}{times}{result['peak'] / 1e6:>8.0f}")


def targets(results: list[Case]) -> list[Target]:
    """What was to be reached."""
    sums = {
        what: figure(results, "sums", what) for what in (TIERS, SPLIT, WHOLE, SPLIT_24, WHOLE_24, SERIES, "20 columns")
    }
    both = [figure(results, stage, TIERS) for stage in ("scoring", "sums")]
    found: list[Target] = [
        (f"{TIERS}, 3 parents: exact edges, CPU seconds", sum(one or 0.0 for one in both), "<", 10.0),
        (f"{SERIES}: sums, times those of 20 plain columns", quotient(sums[SERIES], sums["20 columns"]), "<", 2.0),
        (f"{SPLIT}: sums, times faster than as one piece", quotient(sums[WHOLE], sums[SPLIT]), ">", 50.0),
        (f"{EXOGENOUS}: scoring, CPU seconds", figure(results, "scoring", EXOGENOUS), "<", 60.0),
    ]
    if sums[WHOLE_24] is not None:
        found.append((f"{SPLIT_24}: the same", quotient(sums[WHOLE_24], sums[SPLIT_24]), ">", 1000.0))
    return found


def run(quick: bool, large: bool) -> dict[str, Any]:
    """Measure and print; what was found as data."""
    results = []
    for request in [*SMALL, *([] if quick else LARGE), *(LARGEST if large else [])]:
        results.append({**request, **measure_once("components", request)})
        print(f"  {request['what']}: {results[-1]['sums']:.3f} s", file=sys.stderr, flush=True)
    show(results)
    return {"results": results, "targets": show_targets(targets(results))}


if __name__ == "__main__":
    if len(sys.argv) == 2 and sys.argv[1].startswith("{"):
        print(json.dumps(measure_here(json.loads(sys.argv[1]))))
    else:
        parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
        parser.add_argument("--quick", action="store_true", help="without the large cases")
        parser.add_argument("--large", action="store_true", help="with 24 columns in one piece")
        options = parser.parse_args()
        run(options.quick, options.large)
