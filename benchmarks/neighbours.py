"""How far from the exact posterior are the answers of other programs, given the same tables and the same CPU seconds?

    python -m benchmarks.neighbours --tools pgmpy=/venvs/pgmpy/bin/python,dibs=/venvs/dibs/bin/python \
        --seconds 10 --output benchmarks/results/neighbours

Each program runs on reference cases in its own interpreter (`neighbour_tools/use_TOOL.py`), on one thread, until its
CPU seconds are used up; what it wrote is measured with `dagpost.reference.score`. A journal in the output folder keeps
every run, so that the same command goes on where it was stopped; `table.md` and `table.json` are written at the end.
Programs without an interpreter are listed as not run. Linux only, since memory and CPU seconds are read from /proc.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.journal import Journal
from benchmarks.measuring import RESULTS
from benchmarks.neighbour_runs import answer_in, run_adapter, write_task
from benchmarks.neighbour_tables import markdown
from benchmarks.neighbour_tools.registry import TOOLS, Tool

SEED = 1
#: Small and large, few and many rows, peaked and flat.
CASES = (
    "coronary", "gaussian-10-few", "asia", "gaussian-5-few", "mixed-8-many", "ring-6", "discrete-18-sparse",
    "gaussian-20-sparse", "iris", "wine", "discrete-5-few", "gaussian-5-many", "mixed-5", "hamming-7", "tic-tac-toe",
    "copies-10", "gaussian-12-dense", "mixed-12", "tree-15", "gaussian-16-few",
)  # fmt: skip


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.neighbours", description=(__doc__ or "").split("\n", maxsplit=1)[0]
    )
    parser.add_argument("--tools", default="", help="TOOL=INTERPRETER,...; dagpost runs in this one")
    parser.add_argument("--cases", default=",".join(CASES), help="names of reference cases (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=20.0, help="CPU seconds for each run (default: %(default)g)")
    parser.add_argument("--output", type=Path, default=RESULTS / "neighbours", help="default: %(default)s")
    parser.add_argument("--only-tables", action="store_true", help="run nothing; write the tables of what was run")
    options = parser.parse_args()
    pythons = {"dagpost": sys.executable} | dict(part.split("=", 1) for part in options.tools.split(",") if part)
    unknown = set(pythons) - {tool.name for tool in TOOLS}
    if unknown:
        parser.error(f"no adapter for {', '.join(sorted(unknown))}; there are {', '.join(t.name for t in TOOLS)}")
    cases = options.cases.split(",")
    journal = Journal(options.output / "runs.jsonl", {"seconds": options.seconds, "seed": SEED})
    if not options.only_tables:
        run_all(pythons, cases, options.seconds, options.output, journal)
    rows = measured(cases, options.output, journal)
    versions = {tool.name: version_of(tool, pythons.get(tool.name)) for tool in TOOLS}
    (options.output / "table.json").write_text(json.dumps({"versions": versions, "rows": rows}, indent=1))
    text = markdown(rows, versions, cases)
    (options.output / "table.md").write_text(text)
    print(text)


def run_all(
    pythons: dict[str, str], cases: list[str], seconds: float, output: Path, journal: Journal, tools: Any = TOOLS
) -> None:
    """Run every way of every program that has an interpreter on every case, unless the journal has it already."""
    from dagpost import reference

    for name in cases:
        case = reference.load(name)
        for tool in tools:
            for way in tool.ways if tool.name in pythons else ():
                row = f"{tool.name}: {way.name}"
                if not way.takes(case) or journal.find(row, name) is not None:
                    continue
                folder = folder_of(output, row, name)
                write_task(case, folder, SEED)
                found = run_adapter(pythons[tool.name], tool.script, way.name, folder, seconds)
                journal.add(row, name, 0, found)
                print(f"{name}, {row}: {found['status']}, {found['cpu_seconds']:.1f} s", file=sys.stderr, flush=True)


def measured(cases: list[str], output: Path, journal: Journal, tools: Any = TOOLS) -> list[dict[str, Any]]:
    """What the journal says of each run, and how far its answer is from the truth."""
    from dagpost import reference

    rows = []
    for name in cases:
        case = reference.load(name)
        for tool in tools:
            for way in tool.ways:
                row = f"{tool.name}: {way.name}"
                run = journal.find(row, name)
                if run is None:
                    continue
                told = {key: run[key] for key in ("status", "cpu_seconds", "wall_seconds", "peak_mb")}
                rows.append(
                    {"tool": tool.name, "way": way.name, "answers": way.answers, "score": way.score, "case": name}
                    | {"kind": case.kind, **told, **errors(folder_of(output, row, name), case)}
                )
    return rows


def errors(folder: Path, case: Any) -> dict[str, Any]:
    """The distances of an answer from the truth of its case; nothing where there is no answer, or none to be used."""
    from dagpost import InputError, reference

    file = answer_in(folder)
    if file is None:
        return {}
    try:
        found = reference.score(reference.read_answer(file, case, cyclic="drop"), case)
    except InputError as error:
        return {"status": f"failed: {error}"}
    return {
        "mean_error": found.edges.mean,
        "largest_error": found.edges.maximum,
        "families": None if found.families is None else found.families.mean,
        "worth": found.worth,
        "graphs": found.graphs,
    }


def folder_of(output: Path, row: str, case: str) -> Path:
    """Where the task and the answer of a run are."""
    return output / case / "".join(letter if letter.isalnum() else "-" for letter in row)


def version_of(tool: Tool, python: str | None) -> str | None:
    """The version of a program; None if it was not run."""
    if python is None:
        return None
    code = f"from importlib.metadata import version; print(version({tool.package!r}))"
    asked = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
    return asked.stdout.strip() or "unknown"


if __name__ == "__main__":
    main()
