"""Every run that a benchmark ever did, one line of JSON each, so that none is done twice."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any


class Journal:
    """The finished runs of one effort in a file; a run is known by its row, its column and its number.

    `effort` is all that a run depends on beside these three. Runs of another effort stay in the file and are not
    counted. `fresh` begins an empty file.
    """

    def __init__(self, file: Path, effort: Mapping[str, Any], *, fresh: bool = False) -> None:
        # As it will be read again: tuples become lists.
        self.file, self.effort = file, json.loads(json.dumps(dict(effort)))
        file.parent.mkdir(parents=True, exist_ok=True)
        if fresh:
            file.unlink(missing_ok=True)
        lines = file.read_text().splitlines() if file.exists() else []
        self.done = [entry for entry in map(_parsed, lines) if entry and entry["effort"] == self.effort]

    def find(self, row: str, column: str, run: int = 0) -> dict[str, Any] | None:
        """A run that was done before."""
        found = (e for e in self.done if (e["row"], e["column"], e["run"]) == (row, column, run))
        return next(found, None)

    def add(self, row: str, column: str, run: int, figures: Mapping[str, Any]) -> None:
        """Write a run down."""
        entry = {"row": row, "column": column, "run": run, "effort": self.effort, **figures}
        with self.file.open("a") as file:
            file.write(json.dumps(entry) + "\n")
        self.done.append(entry)

    def runs(self, row: str, column: str) -> list[dict[str, Any]]:
        """All runs of a column on a row, in the order in which they were done."""
        return [entry for entry in self.done if entry["row"] == row and entry["column"] == column]


def _parsed(line: str) -> dict[str, Any] | None:
    """A line that was cut short by a kill counts as not there."""
    try:
        entry: dict[str, Any] = json.loads(line)
    except ValueError:
        return None
    return entry
