"""What the tests of the command line share: small tables, and what a complaint must look like."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

COMMAND = [sys.executable, "-m", "dagpost.cli"]
ESCAPE_CODE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
Run = Callable[..., Any]


def write_table(folder: Path, name: str = "table.csv", **columns: Any) -> str:
    rng = np.random.default_rng(3)
    a = rng.integers(0, 2, 400)
    frame = pd.DataFrame({"A": a, "B": a ^ (rng.random(400) < 0.1), "C": rng.integers(0, 2, 400)}).assign(**columns)
    frame.astype({"B": int}).to_csv(folder / name, index=False)
    return name


def write_wide_table(folder: Path, columns: int, rows: int = 60) -> str:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 2, (rows, columns)), columns=[f"x{number}" for number in range(columns)])
    frame.to_csv(folder / "wide.csv", index=False)
    return "wide.csv"


def one_message(result: Any) -> str:
    """The complaint of a command that failed: on standard error, by name, with nothing that a terminal obeys."""
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    assert lines[0].startswith("dagpost: ")
    assert "Traceback" not in result.stderr
    assert not ESCAPE_CODE.search(result.stderr)
    return str(result.stderr)


def process(folder: Path, *arguments: str, **more: Any) -> subprocess.CompletedProcess[str]:
    """Run the command as a process of its own in a folder."""
    environment = {**os.environ, **more.pop("environment", {})}
    return subprocess.run(
        [*COMMAND, *arguments], cwd=folder, capture_output=True, text=True, check=False, env=environment, **more
    )
