"""How long does the first answer take, and the second? `python -m benchmarks.first_start PLACE ...`.

A PLACE is a wheel or a checkout; this checkout unless given. Each answers `dagpost fit` for the six columns of the
bundled study, edges, directions and other choices included: first with an empty cache for compiled kernels, then again.
The libraries are those of this environment. CPU seconds of all threads, least of `--runs` runs, since a busy computer
only adds to them; elapsed time of the same run.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path
from typing import NamedTuple

from benchmarks.measuring import RESULTS

PROJECT = Path(__file__).resolve().parents[1]
COMMAND = "from dagpost.cli import main; main()"


class Run(NamedTuple):
    """One run of the command."""

    cpu_seconds: float
    seconds: float
    kernels_compiled: int


def main() -> None:
    """Measure, print a table and write benchmarks/results/first_start.json."""
    parser = argparse.ArgumentParser(description="The first answer of a wheel or a checkout, and the second.")
    parser.add_argument("places", nargs="*", type=Path, default=[PROJECT])
    parser.add_argument("--runs", type=int, default=2)
    chosen = parser.parse_args()
    found = {str(place): measure(place.resolve(), chosen.runs) for place in chosen.places}
    print("| | cold: CPU s | elapsed s | kernels compiled | warm: CPU s | elapsed s |")
    print("|---|---:|---:|---:|---:|---:|")
    for place, (cold, warm) in found.items():
        figures = f"{cold.cpu_seconds:.1f} | {cold.seconds:.1f} | {cold.kernels_compiled}"
        print(f"| {place} | {figures} | {warm.cpu_seconds:.1f} | {warm.seconds:.1f} |")
    RESULTS.mkdir(exist_ok=True)
    content = {place: [run._asdict() for run in runs] for place, runs in found.items()}
    (RESULTS / "first_start.json").write_text(json.dumps(content, indent=1) + "\n")


def measure(place: Path, runs: int) -> tuple[Run, Run]:
    """The cold run and the warm one that took the least processor time."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        package = place / "src"
        if place.suffix == ".whl":
            package = folder / "package"
            with zipfile.ZipFile(place) as wheel:
                wheel.extractall(package)
        # As pip does when it installs.
        compileall.compile_dir(package, quiet=2)
        found = []
        for number in range(runs):
            cache = folder / f"cache-{number}"
            found.append((_run(package, cache, folder), _run(package, cache, folder)))
    return min(cold for cold, _ in found), min(warm for _, warm in found)


def _run(package: Path, cache: Path, folder: Path) -> Run:
    environment = os.environ | {"PYTHONPATH": str(package), "NUMBA_CACHE_DIR": str(cache)}
    table = folder / "coronary.csv"
    base = [sys.executable, "-c", COMMAND]
    if not table.exists():
        export = [*base, "data", "export", "coronary", "-o", table]
        subprocess.run(export, env=environment, check=True, cwd=folder, capture_output=True)
    had = _kernels_in(cache)
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    fit = [*base, "fit", table, "--counts", "counts", "-o", folder / "model.dagpost"]
    subprocess.run(fit, env=environment, check=True, cwd=folder, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Run(used, time.monotonic() - began, _kernels_in(cache) - had)


def _kernels_in(cache: Path) -> int:
    return sum(1 for _ in cache.rglob("*.nbc"))


if __name__ == "__main__":
    main()
