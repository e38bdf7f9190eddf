"""Measures, beside a plain implementation and what was to be reached.

    python -m benchmarks.run [order] [sampling] [structure] [components] [claims] [--quick] [--large]

- order: scoring and the exact order-modular posterior;
- sampling: graphs and orders from that posterior, path features, linear extensions;
- structure: the sums over all graphs and independent graphs from the structure-modular posterior;
- components: the same where rules split the table: tiers, exogenous columns, series;
- claims: the guarantee, our estimators and a rival's correction, see paper_claims.py.

The tables of the paper have a command of their own: python -m benchmarks.paper.

Without a name: the first four, which take some eight minutes on two cores. `--quick` stops at 18 to 20 nodes;
`--large` adds 28 nodes (order; 2.2 GB) and 21 and 22 nodes (structure; some minutes), and
24 columns in one piece (components). Prints tables and writes the
same, with all repetitions and a description of the machine, as JSON to benchmarks/results.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

from benchmarks import components, suite_order, suite_sampling, suite_structure
from benchmarks.measuring import CORES, RESULTS, load, machine

SUITES = {"order": suite_order, "sampling": suite_sampling, "structure": suite_structure, "components": components}


def measure_suite(name: str, *, quick: bool, large: bool, folder: Path) -> None:
    """Measure, print, write."""
    started = time.monotonic()
    description = machine()
    where = f"{description['processor']}, {CORES} cores, load {description['load_before']:.1f} before the start"
    print(f"\n=== {name}: {where}")
    found = SUITES[name].run(quick, large)
    description["load_after"] = load()
    target = folder / f"{name}.json"
    target.write_text(json.dumps({"machine": description, **found}, indent=1) + "\n")
    print(f"\n{time.monotonic() - started:.0f} s; load {description['load_after']:.1f}. Written to {target}")


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description=(__doc__ or "").split("\n")[0])
    parser.add_argument(
        "suites", nargs="*", metavar="suite", help=f"{', '.join(SUITES)} (these if none is named), claims"
    )
    parser.add_argument("--quick", action="store_true", help="stop at 18 to 20 nodes")
    parser.add_argument("--large", action="store_true", help="add 28 nodes (order), 21 and 22 nodes (structure)")
    parser.add_argument("--output", type=Path, default=RESULTS, help="folder that the JSON goes to")
    options = parser.parse_args()
    unknown = set(options.suites) - {*SUITES, "claims"}
    if unknown:
        parser.error(f"no suite {', '.join(sorted(unknown))}; there are {', '.join([*SUITES, 'claims'])}")
    options.output.mkdir(parents=True, exist_ok=True)
    for name in options.suites or SUITES:
        if name != "claims":
            measure_suite(name, quick=options.quick, large=options.large, folder=options.output)
    if "claims" in options.suites:
        # Imported here, after everything whose memory is measured.
        from benchmarks import paper_claims

        sys.exit(0 if paper_claims.run([], options.output / "paper_claims.json") else 1)


if __name__ == "__main__":
    main()
