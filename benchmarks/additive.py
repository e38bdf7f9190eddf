"""What the additive score costs: CPU seconds and memory of scoring and of the whole fit, and how they grow.

    python -m benchmarks.additive [--quick] [--only TEXT]

Each case is a process of its own on one thread, after a small run of the same kind that loads the kernels. Scoring is
that of all families; the fit is that with the default prior, scoring included; memory is the peak above what the
process held before. Each column is a noisy sum of up to two earlier ones; every other
one is cut into three levels, or none is.

Growth is measured where all columns are numbers, beside what the operations of the factors let expect (`operations`):
each set of parents is factored once with its lines, and once more for each set of curves, of which only the last
parent's four rows are new. Rows count only in the products of the features, once.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from math import comb
from typing import TYPE_CHECKING, Any

from benchmarks.measuring import CORES, Case, machine, measure_once, peak_bytes

if TYPE_CHECKING:
    import pandas as pd

SEED = 3501
#: Curves of a parent.
CURVES = 4


def case(columns: int, rows: int, max_parents: int, *, numbers: bool = False, fit: bool = True) -> Case:
    """So many columns, all numbers or every other one; fitted as well as scored."""
    return {"columns": columns, "rows": rows, "max_parents": max_parents, "numbers": numbers, "fit": fit}


COSTS = [
    case(10, 1_000, 3),
    case(10, 1_000, 5),
    case(20, 1_000, 3),
    case(20, 1_000, 5),
    case(10, 1_000_000, 3),
    case(10, 1_000_000, 5),
]
#: Beyond tables over all sets, families are scored as chains ask for them.
BLOCKS = [case(100, 500, 3, numbers=True)]
ROWS = [case(10, rows, 3, numbers=True, fit=False) for rows in (1_000, 10_000, 100_000, 1_000_000)]
COLUMNS = [case(columns, 1_000, 5, numbers=True, fit=False) for columns in (12, 16, 20, 24)]
PARENTS = [case(20, 1_000, parents, numbers=True, fit=False) for parents in (3, 4, 5, 6)]
QUICK = [case(6, 200, 2), case(6, 200, 2, numbers=True, fit=False)]


def frame_of(columns: int, rows: int, *, numbers: bool) -> pd.DataFrame:
    """Each column a noisy sum of up to two earlier ones."""
    import numpy as np
    import pandas as pd

    rng = np.random.default_rng(SEED)
    values = rng.normal(size=(columns, rows))
    for place in range(1, columns):
        for parent in rng.choice(place, size=min(place, 2), replace=False):
            values[place] += 0.7 * values[parent]
        values[place] /= values[place].std()
    labels = np.array(["low", "middle", "high"])
    levels = [not numbers and place % 2 == 0 for place in range(columns)]
    own = [labels[np.digitize(each, [-0.5, 0.5])] if cut else each for each, cut in zip(values, levels, strict=True)]
    return pd.DataFrame({f"V{place}": each for place, each in enumerate(own)})


def measured(columns: int, rows: int, max_parents: int, *, numbers: bool, fit: bool) -> dict[str, Any]:
    """CPU seconds and peak memory of a case, in this process."""
    from dagpost import Additive, DagPosterior, DagpostWarning, Recipe, local_scores
    from dagpost.engines import ThreadEngine

    # Chains of a benchmark are not told to run longer.
    warnings.simplefilter("ignore", DagpostWarning)

    def fitted(table: Any) -> DagPosterior:
        return DagPosterior(Additive(), max_parents=max_parents, threads=1, seed=1, progress=False).fit(table)

    def used(work: Any) -> float:
        before = time.process_time()
        work()
        return time.process_time() - before

    one, blocks = ThreadEngine(1), columns > max(own["columns"] for own in COLUMNS)
    few = 40 if blocks else 4
    small = Recipe().fit_transform(frame_of(few, 100, numbers=numbers))
    if not blocks:
        local_scores(small, Additive(), 2, engine=one)
    if fit:
        DagPosterior(Additive(), max_parents=2, threads=1, samples=100, seed=1, progress=False).fit(small)
    table = Recipe().fit_transform(frame_of(columns, rows, numbers=numbers))
    held = peak_bytes()
    found: dict[str, Any] = {}
    if not blocks:
        found["score_seconds"] = used(lambda: local_scores(table, Additive(), max_parents, engine=one))
        found["score_bytes"] = peak_bytes() - held
    if fit:
        found["fit_seconds"] = used(lambda: fitted(table))
        found["fit_bytes"] = peak_bytes() - held
    return found


def operations(columns: int, rows: int, max_parents: int) -> tuple[float, float]:
    """Multiplications of all factors, and of the products of features, where all columns are numbers."""
    factors = 0.0
    for parents in range(max_parents + 1):
        for curved in range(parents + 1):
            before = 1 + parents + CURVES * max(curved - 1, 0)
            new = 1 + parents if curved == 0 else CURVES
            # Each new row goes through those before it, for all columns of the features and of the children.
            width = before + new + columns - parents
            factors += comb(columns, parents) * comb(parents, curved) * new * before * width
    features = 1 + (1 + CURVES) * columns
    return factors, rows * features * features / 2


def show_costs(found: list[Case]) -> None:
    """A line a case."""
    print("\n| columns | rows | parents | scoring, CPU s | memory, MB | fit, CPU s | memory, MB |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for own in found:
        kinds = "numbers" if own["numbers"] else "levels and numbers"
        cells = [f"{own['columns']} ({kinds})", f"{own['rows']:,}", str(own["max_parents"])]
        for what in ("score", "fit"):
            there = f"{what}_seconds" in own
            cells += [f"{own[f'{what}_seconds']:.2f}", f"{own[f'{what}_bytes'] / 1e6:.0f}"] if there else ["–", "–"]
        print("| " + " | ".join(cells) + " |")


def show_growth(title: str, found: list[Case]) -> None:
    """Seconds and operations, as multiples of the case before."""
    print(f"\nGrowth with {title}:\n\n| columns | rows | parents | CPU s | times as many | expected |")
    print("| --- | --- | --- | --- | --- | --- |")
    before: Case | None = None
    for own in found:
        grown = ["", ""]
        if before is not None:
            expected = sum(_operations(own)) / sum(_operations(before))
            grown = [f"{own['score_seconds'] / before['score_seconds']:.1f}", f"{expected:.1f}"]
        cells = [
            str(own["columns"]),
            f"{own['rows']:,}",
            str(own["max_parents"]),
            f"{own['score_seconds']:.3f}",
            *grown,
        ]
        print("| " + " | ".join(cells) + " |")
        before = own


def _operations(own: Case) -> tuple[float, float]:
    return operations(own["columns"], own["rows"], own["max_parents"])


def main() -> None:
    """Command line; with a case as JSON, the figures of that case alone."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.additive", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("case", nargs="?", help=argparse.SUPPRESS)
    parser.add_argument("--quick", action="store_true", help="two small cases")
    parts = {"costs": COSTS, "blocks": BLOCKS, "rows": ROWS, "columns": COLUMNS, "parents": PARENTS}
    parser.add_argument("--only", nargs="+", choices=parts, default=[*parts])
    options = parser.parse_args()
    if options.case is not None:
        print(json.dumps(measured(**json.loads(options.case))))
        return
    print(f"{machine()['processor']}, {CORES} cores")
    for name in ["costs"] if options.quick else options.only:
        found = []
        for own in QUICK if options.quick else parts[name]:
            found.append(own | measure_once("additive", own))
            print(f"  {found[-1]}", file=sys.stderr, flush=True)
        if name in ("costs", "blocks"):
            show_costs(found)
        else:
            show_growth(name, found)


if __name__ == "__main__":
    main()
