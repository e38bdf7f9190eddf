"""The sums over all graphs, and independent graphs drawn with them, beside a plain implementation."""

from __future__ import annotations

from typing import Any

from benchmarks.measuring import (
    CORES,
    Case,
    Target,
    best_seconds,
    measure_all,
    quotient,
    show_targets,
    with_data,
)
from benchmarks.suite_sampling import agreement, per_graph, times_plain

MODULE = "bench_structure"
TWO = min(2, CORES)
GRAPHS = 30_000
#: credit has 16 variables, tumor 18, child 20, german 21.
LARGEST = "random-22-500"


def cases(quick: bool, large: bool) -> list[Case]:
    """Everything to measure, in the order of the table."""
    small, largest = ["credit", "tumor"], [] if quick else ["child_m100", "child_m500"]
    result: list[Case] = []
    for table in (*small, *largest):
        threads = sorted({1, TWO}) if table != "child_m500" else [TWO]
        result += [
            {"what": what, "table": table, "threads": count} for what in ("evidence", "posterior") for count in threads
        ]
    sampled = [table for table in (*small, *largest) if table != "credit"]
    result += [{"what": "layers", "table": table, "count": GRAPHS, "threads": TWO} for table in sampled]
    result += [{"what": "plain_evidence", "table": table, "threads": 1} for table in ("tumor", *largest[:1])]
    result += [
        {"what": "plain_layers", "table": table, "count": 100, "threads": 1} for table in ("tumor", *largest[:1])
    ]
    if large:
        result += [{"what": "posterior", "table": table, "threads": TWO} for table in ("german", LARGEST)]
    return result


def term_nanoseconds(result: Case) -> float | None:
    """Time per pair of a set and a set outside it; both tables need one pass over them each."""
    return None if "nodes" not in result else 1e9 * float(result["best_seconds"]) / 3.0 ** result["nodes"]


def ratio_to_plain(result: Case, results: list[Case]) -> float | None:
    """How many times faster than the plain implementation on one thread."""
    if "count" in result:
        return times_plain(result, results)
    plain = best_seconds(results, f"plain_{result['what']}", table=result["table"])
    return quotient(plain, float(result["best_seconds"]))


def show(results: list[Case]) -> None:
    """Print the table."""
    headings = f"{'seconds':>10}{'ns/term':>9}{'us/graph':>10}{'x plain':>9}{'MB':>7}"
    print(f"\n{'':<16}{'':<15}{'graphs':>8}{'threads':>9}{headings}")
    for result in results:
        count = format(result["count"], ",") if "count" in result else ""
        each = per_graph(result) if "count" in result else None
        figures = (term_nanoseconds(result), each, ratio_to_plain(result, results))
        shown = [
            "" if value is None else format(value, digits)
            for value, digits in zip(figures, (".2f", ".0f", ".1f"), strict=True)
        ]
        print(
            f"{result['what']:<16}{result['table']:<15}{count:>8}{result['threads']:>9}{result['best_seconds']:>10.3f}"
            f"{shown[0]:>9}{shown[1]:>10}{shown[2]:>9}{result['peak_bytes'] / 1e6:>7.0f}"
        )
    print("\nns/term: for each of the 3^n terms. MB: the most memory of the whole process.")
    print("The plain implementation: one thread, doubles without scales, the evidence only; each graph by itself.")
    for result in results:
        if "error_bound" in result and result["threads"] == TWO:
            print(
                f"posterior, {result['table']}: bound on the error of a probability {result['error_bound']:.1e}; "
                f"probabilities of the families of a node sum to 1 within {result['largest_error_of_a_sum']:.1e}"
            )
        if result["what"] == "plain_evidence":
            ours = next(one for one in results if one["what"] == "evidence" and one["table"] == result["table"])
            apart = abs(ours["log_evidence"] - result["log_evidence"])
            print(f"evidence, {result['table']}: log differs from the plain one by {apart:.1e}")
    agreement(results)


def targets(results: list[Case]) -> list[Target]:
    """What was to be reached."""
    found: list[Target] = []
    for table, nodes, limit in (("tumor", 18, 2.0), ("child_m100", 20, 15.0), ("child_m500", 20, 15.0)):
        evidence = best_seconds(results, "evidence", table=table, threads=TWO)
        posterior = best_seconds(results, "posterior", table=table, threads=TWO)
        found.append((f"3^n table, n = {nodes} ({table}), {TWO} threads: seconds", evidence, "<", limit))
        found.append(("  with all families and paths: times that", quotient(posterior, evidence), "<", 4.0))
    for table, nodes, limit in (("credit", 16, 1.5), ("tumor", 18, 10.0)):
        text = f"families, edges and paths, n = {nodes} ({table}), {TWO} threads: seconds"
        found.append((text, best_seconds(results, "posterior", table=table, threads=TWO), "<", limit))
    for table, nodes, limit in (("tumor", 18, 4.0), ("child_m100", 20, 10.0), ("child_m500", 20, 10.0)):
        text = f"{GRAPHS:,} graphs by layers, n = {nodes} ({table}), {TWO} threads: seconds"
        found.append((text, best_seconds(results, "layers", table=table, threads=TWO), "<", limit))
    return found


def run(quick: bool, large: bool) -> dict[str, Any]:
    """Measure and print; what was found as data."""
    results = measure_all(MODULE, with_data(cases(quick, large)))
    show(results)
    return {"results": results, "targets": show_targets(targets(results))}
