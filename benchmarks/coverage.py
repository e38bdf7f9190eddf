"""How often do intervals of weighted graphs hold the truth? Few draws, uneven weights, statements of all kinds.

    python -m benchmarks.coverage               32 tables, two minutes on one core
    python -m benchmarks.coverage --tables 2    a first look

Tables of 8 to 14 columns and 20 to 200 rows: graphs drawn from the order posterior then fit anything from one order to
millions, and weigh one over that. Samples of 30 to 1,000 draws are asked for statements with a probability between 0.05
and 0.95; the truth is their share among 100,000 independent graphs of the posterior itself (known to 0.002). What goes
with the weights is hardest: the longest path and the number of edges. Printed are the share of the 95% intervals that
hold the truth and their mean width, by kind of statement and by effective draws: before, by the rule of Korn & Graubard
as they wrote it, and now.
"""

from __future__ import annotations

import argparse
import warnings
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from typing import Any
from unittest import mock

import numpy as np
from benchmarks.networks import draw_codes, random_network
from benchmarks.verdict_data import table_of_codes
from numpy.typing import NDArray

from dagpost import DagPosterior, DagSample, Table
from dagpost.features import evaluate, parse
from dagpost.posterior import intervals
from dagpost.posterior.estimate import clopper_pearson
from dagpost.posterior.weights import weigh

Flags = NDArray[np.bool_]

SEED = 2033
COLUMNS = (8, 10, 12, 14)
ROWS = (20, 50, 100, 200)
DRAWS = (30, 100, 300, 1_000)
#: Samples of each size from a table, as far as the drawn graphs go.
SAMPLES = 50
POOL = 30_000
TRUTH_DRAWS = 100_000
#: Statements of each kind that a table is asked.
ASKED = 3
TOLERANCE = 0.002
#: Effective draws (Kish 1965), from here to the next.
BANDS = (1, 4, 16, 64)
ESTIMATORS = ("linear-extensions", "distinct")


def main() -> None:
    """Draw, ask, and print a table for each estimator."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=32, help="how many tables (default 32)")
    found: dict[tuple[str, str, int], list[tuple[float, ...]]] = defaultdict(list)
    for number in range(parser.parse_args().tables):
        for key, result in outcomes(number):
            found[key].append(result)
    for estimator in ESTIMATORS:
        print_table(estimator, {key[1:]: results for key, results in found.items() if key[0] == estimator})


def outcomes(number: int) -> Iterator[tuple[tuple[str, str, int], tuple[float, ...]]]:
    """Of one table: whether each interval holds the truth and how wide it is, before and now."""
    table = table_of(number)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exact = DagPosterior(prior="uniform", score="bdeu", method="exact-layers", max_parents=3).fit(table)
        order = DagPosterior(prior="uniform", score="bdeu", method="linear-extensions", max_parents=3).fit(table)
    truths = {
        name: float(held.mean()) for name, held in statements(exact.sample(TRUTH_DRAWS, seed=number), None).items()
    }
    truths = some_of(truths, np.random.default_rng([SEED, number, 1]))
    pool = order.sample(POOL, seed=number)
    held = statements(pool, set(truths))
    for draws in DRAWS:
        for sample in range(min(SAMPLES, POOL // draws)):
            rows = slice(sample * draws, (sample + 1) * draws)
            kish = weigh("linear-extensions", pool.parents[rows], log_extensions=pool.log_extensions[rows])
            band = max(start for start in BANDS if start <= kish.effective_samples + 1e-9)
            for estimator in ESTIMATORS:
                for name, truth in truths.items():
                    yield (
                        (estimator, shown(name[0], len(pool.names)), band),
                        compared(pool, rows, estimator, held[name][rows], truth),
                    )


def shown(kind: str, columns: int) -> str:
    """The line of the printed table; the widest tables have one of their own for what is hardest."""
    return f"{kind}, {columns} columns" if kind == "longest path" and columns == max(COLUMNS) else kind


def compared(pool: DagSample, rows: slice, estimator: str, hit: Flags, truth: float) -> tuple[float, ...]:
    """Whether the interval before holds the truth, its width, and the same of the interval now."""
    weighed = weigh(
        estimator,
        pool.parents[rows],
        log_joint=pool.log_joint[rows],
        log_proposal=pool.log_proposal[rows],
        log_extensions=pool.log_extensions[rows],
    )
    now = intervals.weighted_estimate(weighed, hit)
    with mock.patch.object(intervals, "_korn_graubard", as_written):
        before = intervals.weighted_estimate(weighed, hit)
    return tuple(
        value
        for answer in (before, now)
        for value in (answer.lower - TOLERANCE <= truth <= answer.upper + TOLERANCE, answer.upper - answer.lower)
    )


def as_written(weights: Any, variances: Any, hit: Flags, confidence: float) -> tuple[float, float]:
    """Korn & Graubard (1998): Clopper & Pearson's interval for as many draws as have the variance of the share."""
    total, spread = float(weights.sum()), float(variances.sum())
    if spread <= 0.0:
        return 0.0, 1.0
    draws = total * (total / spread)
    value = float(weights[hit].sum()) / total
    deviation = float((variances * (hit - value) ** 2).sum())
    if deviation > 0.0:
        draws = min(draws, value * (1.0 - value) * total * (total / deviation))
    return clopper_pearson(value * draws, draws, confidence) if draws > 1e-6 else (0.0, 1.0)


def table_of(number: int) -> Table:
    """A table depends on its number alone."""
    columns, rows = COLUMNS[number % len(COLUMNS)], ROWS[number // len(COLUMNS) % len(ROWS)]
    rng = np.random.default_rng([SEED, number])
    network = random_network(columns, int(rng.integers(2**31)), mean_parents=float(rng.choice([1.0, 1.5, 2.5])))
    codes = draw_codes(network, rows, int(rng.integers(2**31)))
    return table_of_codes(codes)


def statements(sample: DagSample, wanted: set[tuple[str, str]] | None) -> dict[tuple[str, str], Flags]:
    """Statements by kind and text, with the graphs in which they hold; all of them, or those wanted."""
    names = sample.names
    texts = [("no parents", f"pa({name}) = {{}}") for name in names]
    texts += [("position", f"pos({name}) <= {most}") for name in names for most in (1, 2, 3)]
    texts += [("longest path", " & ".join(f"pos({name}) <= {most}" for name in names)) for most in range(1, len(names))]
    pairs = [(one, other) for one in names for other in names if one != other]
    for kind, relation in (("edge", "->"), ("path", "~>"), ("d-separation", "_||_")):
        texts += [(kind, f"{one} {relation} {other}") for one, other in pairs]
    texts = [text for text in texts if wanted is None or text in wanted]
    features = [parse(text, names).feature for _, text in texts]
    held = dict(zip(texts, evaluate(features, sample.parents, names), strict=True))
    edges = np.bitwise_count(sample.parents).sum(axis=1)
    counts = {("number of edges", f"<= {most}"): edges <= most for most in range(4 * len(names))}
    return held | {text: flags for text, flags in counts.items() if wanted is None or text in wanted}


def some_of(truths: dict[tuple[str, str], float], rng: np.random.Generator) -> dict[tuple[str, str], float]:
    """A few statements of each kind that are neither nearly certain nor nearly excluded."""
    chosen = {}
    for kind in dict.fromkeys(kind for kind, _ in truths):
        open_ones = [text for text in truths if text[0] == kind and 0.05 < truths[text] < 0.95]
        for place in rng.permutation(len(open_ones))[:ASKED]:
            chosen[open_ones[place]] = truths[open_ones[place]]
    return chosen


def print_table(estimator: str, found: dict[tuple[str, int], list[tuple[float, ...]]]) -> None:
    """Coverage and width before and now, a line for each kind, a column for each band of effective draws."""
    ends = [*(f"{start}-{end}" for start, end in pairwise(BANDS)), f"from {BANDS[-1]}"]
    print(f"\n{estimator}: coverage of 95% intervals in % (mean width), before -> now, by effective draws\n")
    print(f"| {'statement':24} |" + "".join(f" {end:>28} |" for end in ends))
    print("| --- |" + " ---: |" * len(ends))
    for kind in [*sorted({kind for kind, _ in found}), "all"]:
        line = f"| {kind:24} |"
        for band in BANDS:
            results = [row for key, rows in found.items() if key[1] == band and kind in (key[0], "all") for row in rows]
            if not results:
                line += f" {'':28} |"
                continue
            before, width_before, now, width_now = np.mean(results, axis=0)
            line += f" {100 * before:5.1f} ({width_before:.2f}) -> {100 * now:5.1f} ({width_now:.2f}) |"
        print(line)


if __name__ == "__main__":
    main()
