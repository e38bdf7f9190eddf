"""Sampling from the order-modular posterior, and what is asked of samples, beside a plain implementation."""

from __future__ import annotations

from itertools import product
from typing import Any

from benchmarks.measuring import (
    CORES,
    Case,
    Target,
    best_seconds,
    figure,
    measure_all,
    show_targets,
    with_data,
)

MODULE = "bench_sampling"
TWO = min(2, CORES)
PARTS = ("table", "ranking", "orders", "graphs")


def cases(quick: bool) -> list[Case]:
    """Everything to measure, in the order of the table."""
    counts = sorted({1, TWO})
    hard = ["child_m100", "child_m500"] if quick else ["child_m100", "child_m500", "insur19_m100"]
    result: list[Case] = []
    for table in hard:
        result += [{"what": "dds", "table": table, "count": 20_000, "threads": count} for count in counts]
        result.append({"what": "plain_dds", "table": table, "count": 20_000, "threads": 1})
    if not quick:
        result.append({"what": "million", "table": "syn15_m100", "count": 1_000_000, "threads": TWO})
    result += [
        {"what": what, "table": "child_m100", "count": 100_000, "threads": TWO} for what in ("paths", "path_statements")
    ]
    for table, count in product(("child_m100", "child_m500"), counts):
        result.append({"what": "extensions", "table": table, "count": 30_000, "threads": count})
    result += [{"what": "plain_extensions", "table": table, "count": 50, "threads": 1} for table in hard[:2]]
    return result


def per_graph(result: Case) -> float:
    """Microseconds for one graph."""
    return 1e6 * float(result["best_seconds"]) / float(result["count"])


def times_plain(result: Case, results: list[Case]) -> float | None:
    """How many times faster than the plain implementation, for each graph."""
    for other in results:
        if other["what"] == f"plain_{result['what']}" and other["table"] == result["table"]:
            return per_graph(other) / per_graph(result)
    return None


def show(results: list[Case]) -> None:
    """Print the table."""
    print(f"\n{'':<18}{'':<14}{'graphs':>10}{'threads':>9}{'seconds':>10}{'us/graph':>11}{'x plain':>9}{'MB':>7}")
    for result in results:
        ratio = times_plain(result, results)
        faster = "" if ratio is None else format(ratio, ".1f")
        print(
            f"{result['what']:<18}{result['table']:<14}{result['count']:>10,}{result['threads']:>9}"
            f"{result['best_seconds']:>10.3f}{per_graph(result):>11.2f}{faster:>9}"
            f"{result['peak_bytes'] / 1e6:>7.0f}"
        )
    print(
        "\nMB: the most memory of the whole process. The plain implementation runs on one thread only; its stored table"
    )
    print("of alpha, which ours does without, was made before the clock started; for linear extensions it is Python.")
    for result in results:
        if result["what"] in ("dds", "plain_dds"):
            shown = [f"{part} {result[f'{part}_seconds']:.2f}" for part in PARTS if f"{part}_seconds" in result]
            shown.append(f"table and graphs together {result['table_seconds'] + result['best_seconds']:.2f}")
            print(f"{result['what']}, {result['table']}, threads {result['threads']}: seconds for {', '.join(shown)}")
    agreement(results)


def agreement(results: list[Case]) -> None:
    """Say how far both implementations are apart in what they found."""
    for result in results:
        for other in results:
            if other["what"] == f"plain_{result['what']}" and other["table"] == result["table"] and "shares" in result:
                apart = max(abs(one - two) for one, two in zip(result["shares"], other["shares"], strict=True))
                print(
                    f"{result['what']}, {result['table']}, threads {result['threads']}: shares of edges differ from "
                    f"the plain ones by at most {apart:.3f} ({other['count']:,} graphs)"
                )


def targets(results: list[Case]) -> list[Target]:
    """What was to be reached."""
    found: list[Target] = [
        (
            f"20,000 graphs, {table}, {TWO} threads, after the table: seconds",
            best_seconds(results, "dds", table=table, threads=TWO),
            "<",
            2.0,
        )
        for table in ("child_m100", "child_m500", "insur19_m100")
    ]
    memory = figure(results, "peak_bytes", "million")
    found.append(
        ("1,000,000 graphs, n = 15: GB, interpreter and all", None if memory is None else memory / 1e9, "<", 1.0)
    )
    found.append(
        ("all paths of 100,000 graphs, n = 20: seconds", best_seconds(results, "paths", table="child_m100"), "<", 0.5)
    )
    for table in ("child_m100", "child_m500"):
        seconds = best_seconds(results, "extensions", table=table, threads=TWO)
        rate = None if seconds is None else 30_000 / seconds
        found.append((f"linear extensions, {table}, n = 20, {TWO} threads: graphs a second", rate, ">", 2000.0))
    return found


def run(quick: bool, large: bool) -> dict[str, Any]:  # noqa: ARG001
    """Measure and print; what was found as data."""
    results = measure_all(MODULE, with_data(cases(quick)))
    show(results)
    return {"results": results, "targets": show_targets(targets(results))}
