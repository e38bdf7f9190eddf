"""What does smoking do to blood pressure, and through what? A clinical table, from the command line, beside the truth.

    python -m benchmarks.clinical_effects [--rows 900] [--quick]

The table is that of tests/tools/clinical.py: identifiers, dates, gaps, levels and numbers, made by a network whose
effects are known. It is written to a CSV file and fitted with nothing set; with what any clinician knows, that age and
sex come before habits, and those before measurements (`--tier`); and with numbers as they are rather than by their
normal scores. `dagpost effect` answers; printed is each answer with its 95% interval beside the truth.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.tools.clinical import TIERS, TRUE_EFFECTS, TrueEffect, clinical_frame


def dagpost(*arguments: str) -> str:
    """What a command prints."""
    command = [sys.executable, "-m", "dagpost.cli", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    return done.stdout


def answer(model: Path, true: TrueEffect) -> dict[str, Any]:
    """The effect that the command line gives, as JSON."""
    first, second = map(str, true.do)
    asked = ("effect", str(model), true.cause, true.outcome, "--do", first, "--rather-than", second, "--json")
    result: dict[str, Any] = json.loads(dagpost(*asked))
    return result


def show(model: Path, effects: Sequence[TrueEffect]) -> None:
    """Truth and answer, part by part."""
    print(f"{'':<46}{'truth':>7}{'mean':>8}{'95% interval':>18}  there  holds")
    for true in effects:
        found = answer(model, true)
        print(found["quantity"])
        parts = [("total", true.total, found, 1.0 - found["zero_probability"])]
        if "direct" in found:
            parts.append(("direct", true.direct, found["direct"], found["direct"]["probability"]))
        for own in found["through"]:
            if own["through"] in true.through:
                parts.append((f"through {own['through']}", true.through[own["through"]], own, own["probability"]))
        for label, truth, part, there in parts:
            lower, upper = part["interval"]
            holds = "yes" if lower <= truth <= upper else "NO"
            between = f"{lower:.2f} to {upper:.2f}"
            print(f"    {label:<42}{truth:>7.2f}{part['mean']:>8.2f}{between:>18}{there:>7.2f}  {holds}")


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=900)
    parser.add_argument("--quick", action="store_true", help="100 rows, tiers only, one effect")
    parser.add_argument("--report", type=Path, help="also write the report with tiers there")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        table, model = Path(folder) / "clinic.csv", Path(folder) / "clinic.dagpost"
        clinical_frame(100 if options.quick else options.rows).to_csv(table, index=False)
        tiers = [part for tier in TIERS for part in ("--tier", ",".join(tier))]
        for rules in [tiers] if options.quick else ([], tiers):
            print(f"\n{' '.join(rules) or 'nothing set'}")
            dagpost("fit", str(table), "-o", str(model), "--seed", "1", *rules)
            show(model, TRUE_EFFECTS[:1] if options.quick else TRUE_EFFECTS)
        if options.report is not None:
            dagpost("report", str(model), "-o", str(options.report))
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"\nCPU seconds of all commands: {used.ru_utime + used.ru_stime:.0f}")


if __name__ == "__main__":
    main()
