"""A case in a process of its own, so that its peak memory is its own; the machine; what was to be reached.

This module and the suites stay light on purpose: a process starts with the peak memory of the one that started it.
"""

from __future__ import annotations

import json
import os
import platform
import resource
import subprocess
import sys
import time
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    #: What a kind of case makes ready: the run to measure, and a small one that loads the same kernels.
    Ready = tuple[Callable[[], dict[str, Any]], Callable[[], Any]]

RESULTS = Path(os.environ.get("BENCHMARK_RESULTS") or Path(__file__).resolve().parent / "results")
SHARED = Path(__file__).resolve().parents[2] / "shared" / "data" / "paper"
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
#: Short cases are repeated, because the noise of the machine is large beside them.
REPEATS_BELOW_SECONDS = 3.0

Case = dict[str, Any]
#: What it is, what was measured, "<" or ">", the limit.
Target = tuple[str, float | None, str, float]


def measure(module: str, case: Case) -> Case:
    """Run a case of `benchmarks.<module>` in a process of its own; best of three unless it takes long."""
    result = measure_once(module, case | {"repeats": 3})
    return case | result | {"best_seconds": min(result["seconds"])}


def measure_once(module: str, request: Case) -> Case:
    """Run a case in a process of its own."""
    command = [sys.executable, "-m", f"benchmarks.{module}", json.dumps(request)]
    process = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if process.returncode != 0:
        sys.exit(f"benchmark {request} failed with status {process.returncode}")
    result: Case = json.loads(process.stdout.splitlines()[-1])
    return result


def measure_all(module: str, cases: list[Case]) -> list[Case]:
    """Run all cases one after the other, saying so."""
    results = []
    for case in cases:
        results.append(measure(module, case))
        shown = ", ".join(str(value) for value in case.values())
        print(f"  {shown}: {results[-1]['best_seconds']:.3f} s", file=sys.stderr, flush=True)
    return results


def measure_here(kinds: dict[str, Callable[..., Ready]], request: Case) -> None:
    """Measure one case in this process, again if it is short, and print the result as one line of JSON."""
    what, repeats = request.pop("what"), request.pop("repeats", 1)
    run, warm_up = kinds[what](**request)
    warm_up()
    seconds = []
    figures: dict[str, Any] = {}
    for _ in range(repeats):
        started = time.perf_counter()
        figures = run()
        seconds.append(time.perf_counter() - started)
        if seconds[0] > REPEATS_BELOW_SECONDS:
            break
    print(json.dumps({"seconds": seconds, "peak_bytes": peak_bytes(), **figures}))


def peak_bytes() -> int:
    """The most memory this process ever held."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def best_seconds(results: list[Case], what: str, **wanted: Any) -> float | None:
    """The best time of the case of this kind, if it was measured."""
    return figure(results, "best_seconds", what, **wanted)


def figure(results: list[Case], name: str, what: str, **wanted: Any) -> float | None:
    """A figure of the case of this kind, if it was measured."""
    wanted["what"] = what
    for result in results:
        if all(result.get(key) == value for key, value in wanted.items()):
            return float(result[name])
    return None


def quotient(above: float | None, below: float | None) -> float | None:
    """A quotient where both figures are there."""
    return None if above is None or below is None else above / below


def with_data(cases: list[Case]) -> list[Case]:
    """The cases whose data are there; says which are not."""
    there = [case for case in cases if "table" not in case or has_data(case["table"])]
    missing = sorted({case["table"] for case in cases if case not in there})
    if missing:
        print(f"Skipped, since they are not in {SHARED}: {', '.join(missing)}")
    return there


def has_data(table: str) -> bool:
    """Whether a table is made here or can be read."""
    return table.startswith("random-") or (SHARED / f"{table}.csv").exists()


def show_targets(targets: list[Target]) -> list[dict[str, Any]]:
    """Print what was to be reached, and hand it back as data."""
    verdicts = []
    print(f"\n{'to reach':<72}{'limit':>9}{'measured':>11}")
    for text, measured, sign, limit in targets:
        reached = None if measured is None else measured > limit if sign == ">" else measured < limit
        verdict = "not measured" if reached is None else "reached" if reached else "NOT REACHED"
        shown = "" if measured is None else f"{measured:.3g}"
        print(f"{text:<72}{sign + ' ' + format(limit, 'g'):>9}{shown:>11}  {verdict}")
        verdicts.append({"target": text, "sign": sign, "limit": limit, "measured": measured, "reached": reached})
    return verdicts


def machine() -> dict[str, Any]:
    """Where this was measured."""
    processor = platform.processor()
    information = Path("/proc/cpuinfo")
    if information.exists():
        lines = information.read_text().splitlines()
        processor = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), processor)
    return {
        "processor": processor,
        "cores": CORES,
        "system": platform.platform(),
        "python": platform.python_version(),
        **{name: version(name) for name in ("numba", "numpy")},
        "load_before": load(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def load() -> float | None:
    """How many processes wanted to run in the last minute, on average."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else None
