"""Scoring and the exact order-modular posterior, beside the textbook and what was to be reached."""

from __future__ import annotations

from itertools import product
from math import comb
from typing import Any

from benchmarks.measuring import CORES, Case, Target, has_data, measure_all, measure_once, quotient, show_targets

MODULE = "bench_order"


def cases(quick: bool, large: bool) -> list[Case]:
    """Everything to measure, in the order of the table."""
    counts = sorted({1, CORES})
    sizes = [16, 18, 20] if quick else [16, 18, 20, 22, 24]
    there = [name for name in ("child_m500", "child_m5000") if has_data(name)]
    result: list[Case] = [{"what": "agreement", "nodes": 16, "threads": 1}]
    for what, table, count in product(("scoring", "end_to_end"), ("random-20-5000", *there), counts):
        result.append({"what": what, "table": table, "threads": count})
    for what, nodes, count in product(("forward", "families"), sizes, counts):
        result.append({"what": what, "nodes": nodes, "threads": count})
    result += [{"what": "textbook_forward", "nodes": nodes, "threads": 1} for nodes in sizes if nodes <= 22]
    result += [{"what": "textbook_families", "nodes": nodes, "threads": 1} for nodes in sizes if nodes <= 20]
    if not quick:
        result.append({"what": "forward", "nodes": 25, "threads": min(2, CORES)})
    if large:
        result += [{"what": what, "nodes": 28, "threads": CORES} for what in ("forward", "families")]
    return result


class Measurements:
    """What was measured, to look figures up in."""

    def __init__(self, results: list[Case], idle_bytes: int) -> None:
        self.results = results
        self.idle_bytes = idle_bytes

    def find(self, what: str, *, threads: int, **wanted: Any) -> Case | None:
        """The case of this kind, if it was measured."""
        wanted |= {"what": what, "threads": threads}
        for result in self.results:
            if all(result.get(key) == value for key, value in wanted.items()):
                return result
        return None

    def seconds(self, what: str, *, threads: int, **wanted: Any) -> float | None:
        """The best time of a case, if it was measured."""
        found = self.find(what, threads=threads, **wanted)
        return None if found is None else float(found["best_seconds"])

    def ratio_to_textbook(self, result: Case) -> float | None:
        """How many times faster than the textbook on one thread."""
        if result["what"] not in ("forward", "families"):
            return None
        textbook = self.seconds("textbook_" + result["what"], threads=1, nodes=result["nodes"])
        return None if textbook is None else textbook / float(result["best_seconds"])


def entry_nanoseconds(result: Case) -> float | None:
    """Time per pair of a node and a set of others."""
    nodes = result.get("nodes")
    return None if nodes is None else 1e9 * float(result["best_seconds"]) / (nodes * 2.0 ** (nodes - 1))


def targets(found: Measurements) -> list[Target]:
    """What was to be reached: what it is, what was measured, "<" or ">", the limit."""
    forward_20 = found.seconds("forward", threads=1, nodes=20)
    two = min(2, CORES)
    largest = found.find("forward", threads=two, nodes=25)
    per_entry = [found.find("forward", threads=1, nodes=nodes) for nodes in (24, 18)]
    entries = [None if case is None else entry_nanoseconds(case) for case in per_entry]
    return [
        (
            "forward, n = 20, one thread: times faster than the textbook",
            quotient(found.seconds("textbook_forward", threads=1, nodes=20), forward_20),
            ">",
            10.0,
        ),
        *(
            (
                f"all families, n = {nodes}, one thread: times the forward pass",
                quotient(
                    found.seconds("families", threads=1, nodes=nodes),
                    found.seconds("forward", threads=1, nodes=nodes),
                ),
                "<",
                6.0,
            )
            for nodes in (16, 18, 20, 22, 24)
        ),
        (
            f"forward, n = 25, {two} threads: seconds",
            None if largest is None else float(largest["best_seconds"]),
            "<",
            20.0,
        ),
        (
            f"forward, n = 25, {two} threads: GB, interpreter and all",
            None if largest is None else largest["peak_bytes"] / 1e9,
            "<",
            0.7,
        ),
        *(
            (
                f"{what}, n = {nodes}: memory beside weights and result, in tables",
                None if case is None else tables_held(case, found.idle_bytes),
                "<",
                1.25,
            )
            for what, nodes, case in (
                ("forward", 25, largest),
                ("all families", 24, found.find("families", threads=1, nodes=24)),
            )
        ),
        (
            "scoring child_m500, one thread: seconds",
            found.seconds("scoring", threads=1, table="child_m500"),
            "<",
            0.8,
        ),
        (
            "scoring child_m5000, one thread: seconds",
            found.seconds("scoring", threads=1, table="child_m5000"),
            "<",
            5.0,
        ),
        ("time per entry, one thread: n = 24 over n = 18", quotient(entries[0], entries[1]), "<", 2.0),
    ]


def tables_held(result: Case, idle_bytes: int) -> float | None:
    """Peak memory, less the weights given and the probabilities handed back, in tables of 2^n times 8 bytes.

    Below 22 nodes other things weigh more than a table.
    """
    nodes = result.get("nodes", 0)
    if nodes < 22:
        return None
    weights = 8 * nodes * sum(comb(nodes - 1, size) for size in range(6))
    given = weights * (2 if result["what"].endswith("families") else 1)
    return float(result["peak_bytes"] - idle_bytes - given) / (8.0 * 2.0**nodes)


def table_line(result: Case, found: Measurements) -> str:
    """One line of the table."""
    subject = result.get("table") or f"n = {result['nodes']}"
    memory = max(result["peak_bytes"] - found.idle_bytes, 0) / 1e6
    figures = [entry_nanoseconds(result), found.ratio_to_textbook(result), memory]
    figures.append(tables_held(result, found.idle_bytes))
    shown = [
        "" if figure is None else format(figure, digits)
        for figure, digits in zip(figures, (".2f", ".1f", ".0f", ".2f"), strict=True)
    ]
    return (
        f"{result['what']:<18}{subject:<16}{result['threads']:>7}{result['best_seconds']:>11.3f}"
        f"{shown[0]:>10}{shown[1]:>12}{shown[2]:>10}{shown[3]:>10}"
    )


HEADING = f"{'':<34}{'threads':>7}{'seconds':>11}{'ns/entry':>10}{'x textbook':>12}{'MB':>10}{'tables':>10}"


def report(found: Measurements) -> list[dict[str, Any]]:
    """Print the table and the targets; hand the targets back as data."""
    print(f"\n{HEADING}")
    for result in found.results:
        if result["what"] != "agreement":
            print(table_line(result, found))
    print(f"\nMB: peak beyond the {found.idle_bytes / 1e6:.0f} MB of an idle process with all kernels loaded;")
    print("tables: the same, less weights given and probabilities handed back, in tables of 2^n times 8 bytes.")
    print("The textbook runs on one thread only.")
    for result in found.results:
        if result["what"] == "agreement":
            print(
                f"Largest difference from the textbook at n = {result['nodes']}: "
                f"{result['of_log_forward']:.1e} in log L, {result['of_families']:.1e} in families."
            )
    return show_targets(targets(found))


def run(quick: bool, large: bool) -> dict[str, Any]:
    """Measure and print; what was found as data."""
    # Twice: the first fills the cache of compiled kernels, and a compiler takes memory.
    measure_once(MODULE, {"what": "nothing", "threads": 1})
    idle = measure_once(MODULE, {"what": "nothing", "threads": 1})["peak_bytes"]
    results = measure_all(MODULE, cases(quick, large))
    return {"idle_bytes": idle, "results": results, "targets": report(Measurements(results, idle))}
