"""What a run has found, as a table to read and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torture.cases import Finding
from torture.run import Run


def finding_text(finding: Finding) -> str:
    """A finding with the command that shows it again."""
    size = "the smallest case found" if finding.smaller else "as it came"
    return f"\nDEFECT in {finding.campaign} ({size})\n{finding.text.rstrip()}\nAgain: {finding.command}\n"


def summary_text(run: Run) -> str:
    """The table at the end."""
    rows: list[Sequence[str]] = [("campaign", "cases", "checks", "", "CPU s", "defects")]
    for name, tally in run.tallies.items():
        counted = tally.campaign.counted
        numbers = (f"{tally.cases:,}", f"{tally.checks:,}", counted, f"{tally.cpu_seconds:,.0f}", f"{tally.defects:,}")
        rows.append((name, *numbers))
    widths = [max(len(row[place]) for row in rows) for place in range(6)]
    lines = []
    for row in rows:
        cells = [cell.ljust(width) if place in {0, 3} else cell.rjust(width) for place, (cell, width) in
                 enumerate(zip(row, widths, strict=True))]  # fmt: skip
        lines.append("  ".join(cells).rstrip())
    defects = sum(tally.defects for tally in run.tallies.values())
    end = "No defects." if not defects else f"{defects:,} cases with defects."
    return "\n".join([*lines, f"Seed {run.seed}. {end}"])


def summary_json(run: Run) -> dict[str, Any]:
    """The same for programs, with every kind of finding."""
    return {
        "seed": run.seed,
        "campaigns": {
            name: {
                "cases": tally.cases,
                "checks": tally.checks,
                "counted": tally.campaign.counted,
                "cpu_seconds": round(tally.cpu_seconds, 2),
                "defects": tally.defects,
                "findings": [
                    {"kind": kind, "seed": finding.seed, "command": finding.command, "text": finding.text}
                    for kind, finding in tally.kinds.items()
                ],
            }
            for name, tally in run.tallies.items()
        },
    }
