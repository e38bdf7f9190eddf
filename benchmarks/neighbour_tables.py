"""The runs of `neighbours.py` as tables in Markdown: one for each kind of columns, one case by case, one of limits."""

from __future__ import annotations

import math
from statistics import mean, median
from typing import Any

from benchmarks.neighbour_tools.registry import TOOLS

Row = dict[str, Any]
KINDS = {"discrete": "Columns of levels", "gaussian": "Columns of numbers", "mixed": "Levels and numbers"}
HEADER = (
    "program",
    "way",
    "judged by",
    "cases",
    "mean error",
    "largest error",
    "families",
    "worth",
    "CPU s",
    "MB",
)


def markdown(rows: list[Row], versions: dict[str, str | None], cases: list[str], tools: Any = TOOLS) -> str:
    """All tables."""
    parts = [
        f"### {title}\n\n{table(HEADER, of_kind(rows, kind, tools))}"
        for kind, title in KINDS.items()
        if any(row["kind"] == kind for row in rows)
    ]
    parts.append(f"### Case by case: the mean error of an edge\n\n{by_case(rows, cases, tools)}")
    limits = [[tool.package, versions.get(tool.name) or "not run", tool.cannot] for tool in tools]
    parts.append(f"### What each cannot do\n\n{table(('program', 'version', 'cannot'), limits)}")
    troubles = [
        [f"{row['tool']}: {row['way']}", row["case"], row["status"]]
        for row in rows
        if row["status"].startswith("failed") or row["status"] == "no answer in time"
    ]
    if troubles:
        parts.append(f"### No answer\n\n{table(('program', 'case', 'what happened'), troubles)}")
    return "\n\n".join(parts) + "\n"


def of_kind(rows: list[Row], kind: str, tools: Any) -> list[list[str]]:
    """The averages over the cases of one kind, a line for each way that can take such cases."""
    lines = []
    for tool in tools:
        for way in tool.ways:
            tried = [row for row in rows if (row["tool"], row["way"], row["kind"]) == (tool.name, way.name, kind)]
            if tried:
                lines.append([tool.package, way.name, way.score, *averages(tried)])
    return lines


def averages(tried: list[Row]) -> list[str]:
    """What a line says in figures."""
    answered = [row for row in tried if "mean_error" in row]
    cases = f"{len(answered)} of {len(tried)}"
    cpu, memory = mean(row["cpu_seconds"] for row in tried), max(row["peak_mb"] for row in tried)
    used = [f"{cpu:.1f}", f"{memory:.0f}"]
    if not answered:
        return [cases, "", "", "", "", *used]
    families = [row["families"] for row in answered if row["families"] is not None]
    return [
        cases,
        small(mean(row["mean_error"] for row in answered)),
        small(max(row["largest_error"] for row in answered)),
        small(mean(families)) if len(families) == len(answered) else "",
        whole(median(row["worth"] for row in answered)),
        *used,
    ]


def by_case(rows: list[Row], cases: list[str], tools: Any) -> str:
    """A line for each way, a column for each case: the mean error, or a word."""
    found = {(row["tool"], row["way"], row["case"]): row for row in rows}
    cases = [case for case in cases if any(row["case"] == case for row in rows)]
    lines = [
        [f"{tool.package}: {way.name}", *(cell(found.get((tool.name, way.name, case))) for case in cases)]
        for tool in tools
        for way in tool.ways
        if any((tool.name, way.name, case) in found for case in cases)
    ]
    return table(("", *cases), lines)


def cell(row: Row | None) -> str:
    """The mean error of a run, or what became of it."""
    if row is None:
        return ""
    if "mean_error" in row:
        return small(row["mean_error"])
    return "failed" if row["status"].startswith("failed") else "no answer"


def table(header: tuple[str, ...], lines: list[list[str]]) -> str:
    """A table in Markdown."""
    return "\n".join("| " + " | ".join(line) + " |" for line in [list(header), ["---"] * len(header), *lines])


def small(value: float) -> str:
    """An error with as many digits as matter; what is below a millionth is rounding."""
    return "0" if value < 1e-6 else f"{value:.4f}" if value >= 5e-5 else f"{value:.0e}"


def whole(value: float) -> str:
    """How many draws an answer is worth."""
    return "all" if math.isinf(value) else f"{value:,.0f}" if value >= 10 else f"{value:.1f}"
