"""Through how many files and functions a question passes: `PYTHONPATH=src python tools/walk.py [SCORE]`.

A fit of the bundled study, an effect, and a report, one after the other in a process that has done each once before.
Kernels are not seen. `PYTHONPATH` may name the source of another commit.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any


def walked(ask: Callable[[], object]) -> tuple[int, int]:
    """How many files and functions of dagpost are passed through."""
    import dagpost

    package = str(Path(dagpost.__file__).parent) + os.sep
    seen: set[tuple[str, str]] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(package):
            seen.add((frame.f_code.co_filename, f"{frame.f_code.co_qualname}:{frame.f_code.co_firstlineno}"))

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        ask()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    return len({file for file, _ in seen}), len(seen)


def main() -> None:
    """A line for each question."""
    from dagpost import DagPosterior, datasets

    score = sys.argv[1] if len(sys.argv) > 1 else "auto"
    table = datasets.load("coronary")

    def fitted() -> DagPosterior:
        return DagPosterior(score, seed=1, samples=2_000, progress=False).fit(table)

    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        model = fitted()
        asked: dict[str, Callable[[], object]] = {
            "fit": fitted,
            "effect": lambda: model.effect("Smoking", "Pressure", seed=1, draws=500),
            "report": lambda: fitted().report(page),
        }
        for name, ask in asked.items():
            ask()
            files, functions = walked(ask)
            sys.stdout.write(f"{name:8} {files:4} files {functions:5} functions\n")


if __name__ == "__main__":
    main()
