"""Tables 1 to 4 of He, Tian & Wu (2016) again, every method in one house, beside the printed figures.

    python -m benchmarks.paper [--rows wine,glass] [--quick] [--runs 5] [--fresh] [--output FOLDER]

Tables 1 and 2: partial order MCMC, DOS and DDS against the exact order-modular edges (K2, in-degree prior). Tables 3
and 4: the order-modular edges themselves (DP), DP + MCMC, K-best, IW-DDS and ours (exact layers with distinct weights)
against the exact structure-modular ones (BDeu, uniform prior). SAD, Delta and the time of each phase; mean and standard
deviation over the runs. Written to FOLDER (benchmarks/results/paper) as paper.md, runs.jsonl, sad.png and delta.png.

Every run is written down when it is done: the same command goes on where it was stopped, unless `--fresh`. Methods that
draw exactly what the paper's do must agree with it within four standard errors; chains are shown beside, not judged.
All rows with all runs take an hour or two on two cores (partial order MCMC most of it); `--quick`, with
less of everything on the smallest tables, some seconds. The tables of data are not part of the project: rows whose file
is not there are left out, but for those that come with dagpost.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, replace
from math import isnan, nan, sqrt
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.journal import Journal
from benchmarks.measuring import CORES, RESULTS, SHARED, machine
from benchmarks.paper_methods import CERTAIN, ORDER_COLUMNS, STRUCTURE_COLUMNS, Effort, Method, Row, curves

from dagpost import __version__, datasets, read_table
from dagpost.engines import ThreadEngine

FAMILIES = {"syn15": 15, "letter": 17, "insur19": 19, "child": 20}
ROWS = (
    *("tictactoe", "glass", "wine", "housing", "credit", "zoo", "tumor", "vehicle", "german"),
    *(f"{family}_m{rows}" for family in FAMILIES for rows in (100, 200, 500, 1000, 2000, 5000)),
)
BUNDLED = {"tictactoe": "tic-tac-toe", "wine": "wine"}
CURVE_ROWS = ("tictactoe", "glass", "wine", "housing", "syn15_m100", "syn15_m1000")
QUICK_ROWS = ("tictactoe", "wine")
QUICK = Effort(
    order_graphs=500,
    structure_graphs=500,
    order_runs=2,
    structure_runs=2,
    partial_order_steps=400,
    partial_order_states=20,
    hybrid_burn_in=1000,
    curve_runs=1,
)
STANDARD_ERRORS = 4.0
#: Where the printed figures of a column are; those judged must come out the same.
PRINTED = {
    "PO-MCMC": ("table1_sad_order_modular", "po_mcmc", False),
    "DOS": ("table1_sad_order_modular", "dos", True),
    "DDS": ("table1_sad_order_modular", "dds", True),
    "DP": ("table3_sad_structure_modular", "dp", True),
    "DP+MCMC": ("table3_sad_structure_modular", "hybrid", False),
    "K-best": ("table3_sad_structure_modular", "kbest", False),
    "IW-DDS": ("table3_sad_structure_modular", "iwdds", True),
}
PRINTED_SECONDS = {
    "PO-MCMC": ("table2_seconds_order_modular", "po_mcmc_total"),
    "DOS": ("table2_seconds_order_modular", "dos_total"),
    "DDS": ("table2_seconds_order_modular", "dds_total"),
    "DP+MCMC": ("table4_seconds_structure_modular", "hybrid_dp_plus_mcmc"),
    "K-best": ("table4_seconds_structure_modular", "kbest_total"),
    "IW-DDS": ("table4_seconds_structure_modular", "iwdds_total"),
}


def journal_of(file: Path, effort: Effort, *, fresh: bool) -> Journal:
    """The runs that were done with this effort."""
    # How many runs there are does not change any of them.
    many = ("order_runs", "structure_runs", "curve_runs")
    return Journal(file, {name: value for name, value in asdict(effort).items() if name not in many}, fresh=fresh)


def tasks(effort: Effort, row: str) -> Iterator[tuple[str, Method, int]]:
    """What is to be run on a row: column, method, number of the run."""
    for columns, runs in ((ORDER_COLUMNS, effort.order_runs), (STRUCTURE_COLUMNS, effort.structure_runs)):
        for column, method in columns.items():
            for run in range(1 if column in CERTAIN else runs):
                yield column, method, run
    if row in CURVE_ROWS:
        for run in range(effort.curve_runs):
            yield "curves", curves, run


def table_of(name: str) -> Any:
    """The data of a row, or None where they are not to be had."""
    if (SHARED / f"{name}.csv").exists():
        return read_table(SHARED / f"{name}.csv")
    return datasets.load(BUNDLED[name]) if name in BUNDLED else None


def run_rows(names: list[str], effort: Effort, journal: Journal) -> list[str]:
    """Do what has not been done; the rows whose data there are."""
    engine, present = ThreadEngine(), []
    for name in names:
        table = table_of(name)
        if table is None:
            print(f"{name}: left out, its table is not there", file=sys.stderr)
            continue
        present.append(name)
        row = Row(name, table, engine)
        for column, method, number in tasks(effort, name):
            if journal.find(name, column, number) is None:
                journal.add(name, column, number, method(row, number, effort))
                print(f"{name}: {column}, run {number + 1}", file=sys.stderr, flush=True)
    return present


def deviation(values: list[float], mean: float, sd: float, printed_runs: int) -> float:
    """Ours less theirs in standard errors of the difference."""
    own = float(np.std(values, ddof=1)) if len(values) > 1 else sd
    error = sqrt(own**2 / len(values) + sd**2 / printed_runs)
    return (float(np.mean(values)) - mean) / error if error > 0.0 else nan


def describe(values: list[float]) -> str:
    """Mean and, for several runs, standard deviation."""
    spread = f" ({np.std(values, ddof=1):.2g})" if len(values) > 1 else ""
    return f"{np.mean(values):.4f}{spread}"


def report(names: list[str], journal: Journal, full_effort: bool) -> tuple[str, list[str]]:
    """Everything as Markdown, and the comparisons that came out apart."""
    printed = {}
    if (SHARED.parent / "paper_tables.json").exists():
        printed = json.loads((SHARED.parent / "paper_tables.json").read_text())
    about = machine()
    lines = [
        "# The tables of He, Tian & Wu (2016), again",
        "",
        f"{about['processor']}, {CORES} cores, dagpost {__version__}. Mean (standard "
        "deviation) over the runs, the printed figures below ours; `z` is the difference in standard errors.",
    ]
    apart: list[str] = []
    for title, columns in (
        ("Table 1: SAD, order-modular (K2, in-degree prior)", ORDER_COLUMNS),
        ("Table 3: SAD, structure-modular (BDeu, uniform prior)", STRUCTURE_COLUMNS),
    ):
        lines += ["", f"## {title}", "", *_head(["row", *columns])]
        for name in names:
            cells = [name]
            for column in columns:
                cell, differs = _sad_cell(name, column, journal, printed, full_effort)
                cells.append(cell)
                apart += [f"{name}, {column}: {cell}"] if differs else []
            lines.append(_line(cells))
    lines += ["", "## Table 3, Delta: posterior mass of the graphs found", "", *_head(["row", *_DELTA_COLUMNS])]
    lines += [_line([name, *(_delta_cell(name, c, journal, printed) for c in _DELTA_COLUMNS)]) for name in names]
    for title, columns in (
        ("Table 2: seconds, order-modular", ORDER_COLUMNS),
        ("Table 4: seconds, structure-modular", STRUCTURE_COLUMNS),
    ):
        lines += ["", f"## {title}", "", "Total, then by phase.", "", *_head(["row", *columns])]
        lines += [_line([name, *(_seconds_cell(name, c, journal, printed) for c in columns)]) for name in names]
    verdict = "All that must agree with the paper does." if not apart else "APART: " + "; ".join(apart)
    return "\n".join([*lines, "", verdict if full_effort and printed else "No comparison: less was done.", ""]), apart


_DELTA_COLUMNS = ("K-best", "IW-DDS", "exact layers")


def _sad_cell(name: str, column: str, journal: Journal, printed: dict[str, Any], full_effort: bool) -> tuple[str, bool]:
    values = [entry["sad"] for entry in journal.runs(name, column)]
    if not values:
        return "", False
    cell = describe(values)
    table, prefix, judged = PRINTED.get(column, ("", "", False))
    row = printed.get(table, {}).get(name, {})
    single = row.get(f"{prefix}_sad")
    if single is not None:
        same = f"{values[0]:.4f}" == f"{single:.4f}"
        return f"{cell}<br>{single:.4f}", judged and full_effort and not same
    mean, sd = row.get(f"{prefix}_mean", nan), row.get(f"{prefix}_sd", nan)
    if isnan(mean):
        return cell, False
    printed_runs = Effort().order_runs if column in ORDER_COLUMNS else Effort().structure_runs
    z = deviation(values, mean, sd, printed_runs)
    return f"{cell}<br>{mean:.4f} ({sd:.2g}), z = {z:.1f}", judged and full_effort and abs(z) > STANDARD_ERRORS


def _delta_cell(name: str, column: str, journal: Journal, printed: dict[str, Any]) -> str:
    values = [entry["delta"] for entry in journal.runs(name, column)]
    row = printed.get("table3_sad_structure_modular", {}).get(name, {})
    theirs = {"K-best": row.get("kbest_delta"), "IW-DDS": row.get("iwdds_delta_mean")}.get(column)
    shown = describe(values) if values else ""
    return shown if theirs is None else f"{shown}<br>{theirs:.4f}"


def _seconds_cell(name: str, column: str, journal: Journal, printed: dict[str, Any]) -> str:
    runs = [entry["phases"] for entry in journal.runs(name, column)]
    if not runs:
        return ""
    phases = {phase: float(np.mean([run[phase] for run in runs])) for phase in runs[0]}
    table, key = PRINTED_SECONDS.get(column, ("", ""))
    theirs = printed.get(table, {}).get(name, {}).get(key)
    detail = ", ".join(f"{phase} {seconds:.2f}" for phase, seconds in phases.items() if seconds >= 0.005)
    shown = f"{sum(phases.values()):.2f}: {detail}"
    return shown if theirs is None else f"{shown}<br>{theirs}"


def _head(columns: list[str]) -> list[str]:
    return [_line(columns), _line(["---"] * len(columns))]


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def draw_curves(journal: Journal, folder: Path) -> list[Path]:
    """SAD and Delta against the number of graphs, one panel a row; the means of the runs."""
    points = [dict(point, row=e["row"]) for e in journal.done if e["column"] == "curves" for point in e["points"]]
    rows = [row for row in CURVE_ROWS if any(point["row"] == row for point in points)]
    if not rows:
        return []
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    styles = {"IW-DDS": ("#D55E00", "s", "--"), "exact layers, distinct weights": ("#0072B2", "o", "-")}
    pictures = []
    for figure_name, title in (("sad", "SAD over all edges"), ("delta", "posterior mass of the graphs found (Delta)")):
        columns = min(3, len(rows))
        figure, axes = plt.subplots(
            -(-len(rows) // columns), columns, figsize=(3.4 * columns, 2.8 * -(-len(rows) // columns)),
            layout="constrained", squeeze=False, sharex=True,
        )  # fmt: skip
        for panel, row in zip(axes.flat, rows, strict=False):
            for way, (colour, marker, line) in styles.items():
                own = [point for point in points if point["row"] == row and point["way"] == way]
                sizes = sorted({point["graphs"] for point in own})
                means = [np.mean([point[figure_name] for point in own if point["graphs"] == size]) for size in sizes]
                panel.plot(sizes, means, color=colour, marker=marker, linestyle=line, markersize=4, label=way)
            panel.set_xscale("log")
            if figure_name == "sad":
                panel.set_yscale("log")
            else:
                panel.set_ylim(-0.03, 1.03)
            panel.set_title(row, loc="left", fontsize=10)
            panel.spines[["top", "right"]].set_visible(False)
        for panel in list(axes.flat)[len(rows) :]:
            panel.set_visible(False)
        figure.supxlabel("graphs drawn", fontsize=10)
        figure.suptitle(f"{title[0].upper()}{title[1:]}, against the number of graphs", fontsize=11)
        # Below the panels: inside one of them it would lie on the curves.
        handles, labels = axes.flat[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False, fontsize=9)
        pictures.append(folder / f"{figure_name}.png")
        figure.savefig(pictures[-1], dpi=150)
        plt.close(figure)
    return pictures


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.paper", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rows", help=f"names, by commas; all of them: {', '.join(ROWS)}")
    parser.add_argument("--quick", action="store_true", help="some seconds: less of everything on two small tables")
    parser.add_argument("--runs", type=int, help="runs of every method, instead of the paper's 15 and 20")
    parser.add_argument("--fresh", action="store_true", help="do not go on from an earlier run")
    parser.add_argument("--output", type=Path, default=RESULTS / "paper", help="folder for all that is written")
    options = parser.parse_args()
    names = options.rows.split(",") if options.rows else list(QUICK_ROWS if options.quick else ROWS)
    unknown = [name for name in names if name not in ROWS]
    if unknown:
        parser.error(f"no row {unknown[0]!r}; there are {', '.join(ROWS)}")
    effort = QUICK if options.quick else Effort()
    if options.runs is not None:
        if options.runs < 2:
            parser.error("a standard deviation takes at least 2 runs")
        effort = replace(effort, order_runs=options.runs, structure_runs=options.runs, curve_runs=options.runs)
    journal = journal_of(options.output / "runs.jsonl", effort, fresh=options.fresh)
    try:
        present = run_rows(names, effort, journal)
    except KeyboardInterrupt:
        print("\nStopped; the same command goes on from here.", file=sys.stderr)
        sys.exit(130)
    text, apart = report(present, journal, full_effort=not options.quick)
    (options.output / "paper.md").write_text(text)
    print(text)
    pictures = draw_curves(journal, options.output)
    print("Written:", *[str(path) for path in (options.output / "paper.md", *pictures)])
    sys.exit(1 if apart else 0)


if __name__ == "__main__":
    main()
