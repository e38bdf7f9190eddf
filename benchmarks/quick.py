"""Does every benchmark still run? Each script of this folder that can be run by itself, on its smallest setting.

    python -m benchmarks.quick [NAME ...]

A script is run with `--quick`, or with what SMALLEST says. Where something is missing that it needs (a browser, a
device, tables that are not part of the project), it is only imported, and a line says what is missing. Nothing is
measured here: results go to a folder that is thrown away. The exit status is 1 if a script fails, or runs too long.
"""

from __future__ import annotations

import os
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
#: Tables that are not part of the project.
DATA = "../shared/data"
LIMIT_SECONDS = 600

#: Run by others, with a case as their argument.
PARTS = {"bench_order", "bench_sampling", "bench_structure", "block_gibbs_runs"}
NEEDS = {
    "block_gibbs": f"{DATA}/real/gibby",
    "dynamic": f"{DATA}/real/dbn.csv",
    "paper_claims": f"{DATA}/paper",
    "sachs": f"{DATA}/real/sachs",
}
#: Arguments of scripts that have no `--quick`.
SMALLEST = {
    "block_gibbs": "gibby --data child --runs 2 --seconds 2",
    "conditional_gaussian": "speed --parents 1",
    "coverage": "--tables 1",
    "dask_overhead": "16",
    "dask_simulation": "--sizes 16",
    "dynamic": f"{DATA}/real/dbn.csv {DATA}/real/dbn_true.csv --max-parents 1 --graphs 100 --seeds 1",
    "effect_coverage": "--worlds levels --tables 2",
    "effects": "--kinds levels --columns 6 --graphs 100",
    "explorer_load": "--requests 100 --columns 5",
    "explorer_redraw": "--clicks 1 --columns 5",
    "explorer_views": "--columns 6 --views 3 --many 10",
    "erased": "--world mixed-sparse --rows 150 --tables 1 --way ours usual",
    "first_start": "--runs 1",
    "gaps": "simulated --tables 1",
    "gaps_calibration": "--tables 2 --worlds levels",
    "gaps_speed": "sweeps --sweeps 10",
    "latent_mixing": "--columns 3 --sweeps 20 --rounds 1 --rows 50 --levels 2 --slopes 0.3",
    "many": "--seconds 2 --nodes 12 --rows 100",
    "neighbours": "--cases coronary --seconds 2",
    "networks": f"--nodes 5 --rows 10 -o {os.devnull}",
    "offline_report": "--columns 5 --draws 100 --clicks 2",
    "paper_claims": "ellis-wong",
    "plans": """--only '"nodes": 8,' """,
    "reference_methods": "--quick --cases coronary",
    # Components are a script of their own.
    "run": "order sampling structure --quick",
    "sachs": f"{DATA}/real/sachs",
    "values": "--rows 20 --graphs 100 --compared 2",
    "verdicts": "chains --runs 5",
    "world_effects": "--world mixed-dense --rows 150 --tables 1 --known graph",
}


def main() -> int:
    """Run them one after the other, a line each."""
    here = {path.stem: path.read_text() for path in sorted(FOLDER.glob("*.py"))}
    alone = [name for name, text in here.items() if "__main__" in text and name not in {"quick", *PARTS}]
    names = sys.argv[1:] or alone
    failed = []
    for name in names:
        arguments = shlex.split(SMALLEST.get(name, "--quick"))
        missing = what_is_missing(name)
        command = ["-c", f"import benchmarks.{name}"] if missing else ["-m", f"benchmarks.{name}", *arguments]
        before, started = used(), time.perf_counter()
        wrong, output = run(command)
        seconds = f"{used() - before:6.1f} s of CPU {time.perf_counter() - started:6.1f} s"
        ended = f"FAILED: {wrong}" if wrong else f"skipped, only imported: {missing}" if missing else "ran"
        print(f"{name:22} {seconds}  {ended}", flush=True)
        if wrong:
            failed.append(name)
            print(f"{shlex.join(['python', *command])}\n{output}", flush=True)
    print(f"{len(names) - len(failed)} of {len(names)} are well; {used():.0f} s of CPU. " + ", ".join(failed))
    return int(bool(failed))


def what_is_missing(name: str) -> str | None:
    """What a script needs and this machine does not have."""
    if name in NEEDS and not (FOLDER.parent / NEEDS[name]).exists():
        return f"{NEEDS[name]} is not there"
    if name == "cuda" and (find_spec("cupy") is None or shutil.which("nvidia-smi") is None):
        return "no CUDA device, or no CuPy"
    if name in {"explorer_redraw", "offline_report"} and not any(map(shutil.which, ("chromium", "google-chrome"))):
        return "no chromium"
    if name == "rival_sumu":
        return "it needs an interpreter that has sumu"
    return None


def run(command: list[str]) -> tuple[str, str]:
    """What is wrong, if anything, and the end of what was printed."""
    with tempfile.TemporaryDirectory() as results:
        environment = {**os.environ, "BENCHMARK_RESULTS": results}
        process = subprocess.Popen(
            [sys.executable, *command],
            cwd=FOLDER.parent,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            output, _ = process.communicate(timeout=LIMIT_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # with all that it has started
            output, _ = process.communicate()
            return f"ran for more than {LIMIT_SECONDS} s", output[-4000:]
    return "" if process.returncode == 0 else f"exit status {process.returncode}", output[-4000:]


def used() -> float:
    """CPU seconds of all processes started here that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    sys.exit(main())
