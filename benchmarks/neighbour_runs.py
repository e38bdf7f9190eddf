"""A program of somebody else, run by its own interpreter, with its CPU seconds limited and its memory watched (Linux).

A shared machine makes wall-clock time unfair, so the limit is on CPU seconds, user and system, of the program and all
that it starts, from the start of its interpreter. What it had written when it was stopped is its answer.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from dagpost.reference import Case

#: How often a run is looked at, how many CPU seconds it may take beyond its limit to write its answer, and how much
#: longer than its limit it may take on the clock.
LOOK_EVERY, GRACE, WALL_FACTOR = 0.02, 2.0, 8.0
#: One thread each, whoever asks for more.
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "LOKY_MAX_CPU_COUNT"), "1"
) | {"XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false", "JAX_PLATFORMS": "cpu", "PYTHONHASHSEED": "0"}
ANSWERED, STOPPED, NO_ANSWER, FAILED = "answered", "stopped", "no answer in time", "failed"
ANSWERS = ("graphs.csv", "edges.csv")
_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


def write_task(case: Case, folder: Path, seed: int) -> None:
    """Write what an adapter reads: the table, what is to be known about it, and the scores of all families."""
    from dagpost import write_jkl

    folder.mkdir(parents=True, exist_ok=True)
    table = case.table
    values = np.column_stack([np.asarray(column, dtype=np.float64) for column in table.columns])
    values = np.repeat(values, table.weights, axis=0)
    with (folder / "table.csv").open("w", encoding="utf-8") as file:
        file.write(",".join(table.names) + "\n")
        np.savetxt(file, values, delimiter=",", fmt="%.17g")
    about = {
        "case": case.name,
        "kind": case.kind,
        "names": list(table.names),
        "levels": list(table.arities),
        "max_parents": case.max_parents,
        "seed": seed,
    }
    (folder / "task.json").write_text(json.dumps(about, indent=1), encoding="utf-8")
    write_jkl(case.local_scores(), folder / "scores.jkl")


def run_adapter(
    python: str, script: Path, way: str, folder: Path, seconds: float, grace: float = GRACE
) -> dict[str, Any]:
    """Run an adapter in a folder that has its task; what became of it, its CPU and wall seconds, its peak memory."""
    for name in ANSWERS:
        (folder / name).unlink(missing_ok=True)
    began = time.monotonic()
    with (folder / "log.txt").open("w", encoding="utf-8") as log:
        process = subprocess.Popen(
            [python, str(script), way, str(folder), str(seconds)],
            stdout=log,
            stderr=subprocess.STDOUT,
            env=os.environ | ONE_THREAD,
            # A session of its own, so that whatever it started ends with it.
            start_new_session=True,
        )
        cpu, peak, in_time = _watch(process, seconds + grace, began + WALL_FACTOR * seconds + 60)
    found = {"cpu_seconds": cpu, "wall_seconds": time.monotonic() - began, "peak_mb": peak / 2**20}
    return {"status": _status(process.returncode, folder, in_time), **found}


def answer_in(folder: Path) -> Path | None:
    """The file with a program's answer: one with at least one line below its header."""
    for name in ANSWERS:
        file = folder / name
        if file.exists() and len(file.read_text(encoding="utf-8").splitlines()) > 1:
            return file
    return None


def _watch(process: subprocess.Popen[bytes], most_cpu: float, until: float) -> tuple[float, int, bool]:
    """Wait for the end of a process, or end it; the CPU seconds, the peak of its memory, whether it ended by itself."""
    peak, in_time = 0, True
    try:
        while True:
            ended, status, usage = os.wait4(process.pid, os.WNOHANG)
            if ended:
                process.returncode = os.waitstatus_to_exitcode(status)
                return usage.ru_utime + usage.ru_stime, peak, in_time
            cpu, memory = _usage(process.pid)
            peak = max(peak, memory)
            if in_time and (cpu > most_cpu or time.monotonic() > until):
                in_time = False
                os.killpg(process.pid, signal.SIGKILL)
            time.sleep(LOOK_EVERY)
    finally:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _usage(root: int) -> tuple[float, int]:
    """CPU seconds of a process and its descendants, and the bytes they hold: of the first one the most it ever held."""
    ticks, memory = 0, 0
    for process in _tree(root):
        try:
            # The name, in parentheses, may hold spaces.
            fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
            status = Path(f"/proc/{process}/status").read_text()
        except OSError:
            continue
        ticks += sum(int(field) for field in fields[11:15])
        wanted = "VmHWM:" if process == root else "VmRSS:"
        memory += 1024 * sum(int(line.split()[1]) for line in status.splitlines() if line.startswith(wanted))
    return ticks / _TICKS, memory


def _tree(root: int) -> list[int]:
    """The process and all its descendants."""
    found = [root]
    for process in found:
        for thread in Path(f"/proc/{process}/task").glob("*/children"):
            try:
                found += map(int, thread.read_text().split())
            except OSError:
                continue
    return found


def _status(code: int, folder: Path, in_time: bool) -> str:
    """What became of a run, in words."""
    answered = answer_in(folder) is not None
    if not in_time:
        return STOPPED if answered else NO_ANSWER
    if code:
        lines = (folder / "log.txt").read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return f"{FAILED}: {lines[-1] if lines else f'status {code}'}"[:200]
    return ANSWERED if answered else f"{FAILED}: no answer was written"
