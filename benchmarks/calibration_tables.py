"""The results of benchmarks/calibration.py as a page of the documentation: tables, and what follows from them.

Every number of the page, and every comparison in its sentences, is worked out here from the results. Standard errors
are those of differences on the same tables, tables counting as independent.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "calibration.md"

Result = dict[str, Any]
Rows = list[Result]

_SHOWN = ("1", "5", "10", "average")
_KINDS = ("pairs", "edges", "paths")
_LOSSES = (("brier", "Brier"), ("log", "log loss"))
_STEPS = ("below 0.02", "0.02 to 0.1", "0.1 to 0.3", "0.3 to 0.5", "0.5 to 0.7", "0.7 to 0.9", "0.9 to 0.98", "above")


def document(found: dict[str, Rows]) -> str:
    """The page, or as much of it as there are results for."""
    sections = {"sizes": _sizes, "directions": _directions, "bins": _bins}
    parts = [_INTRODUCTION, *(write(found[part]) for part, write in sections.items() if part in found)]
    return "\n\n".join(parts) + "\n"


_INTRODUCTION = """\
# Are the probabilities right?

Tables are drawn from networks whose structure is known, fitted, and the exact probabilities compared with the truth.
This is what the defaults rest on. The page is written by

    python -m benchmarks.calibration

which draws everything from one seed (2027, in `benchmarks/calibration_data.py`), and takes some minutes.

**Networks.** asia (8 variables) and sachs (11) as published; child and insurance cut to the first 14 variables in
topological order (such a set holds the parents of all its members, so the rows of these variables come from the
sub-network, and no cause is hidden); random networks of 8, 10, 12 and 15 nodes, new ones for every table. 100, 300,
1,000 and 5,000 rows, 20 tables each. Variables have the levels of the network, whether they occur in the table or not.

**Fits.** Every graph counts once, parent sets of at most 5 variables are equally probable, all sums are exact.

**Losses.** For every pair (joined or not), every possible edge and every possible directed path: the Brier score
(mean squared distance of the probability from 0 or 1) and the log loss, in which a probability counts as no closer to 0
or 1 than 10⁻⁶. An edge whose direction no data can tell is at best 0.5 each way, so edges and paths never reach 0.
Differences stand with their standard errors, over tables."""


def _sizes(rows: Rows) -> str:
    names = list(rows[0]["results"])
    best = min(names, key=lambda name: _mean(rows, name, "pairs", "log"))
    sections = [
        "## The equivalent sample size of BDeu",
        f'{len(rows)} tables. "Average" mixes 1, 2, 5, 10, 20 and 50 in proportion to the evidence of each; "average, '
        'wide" does so over all sizes of the table.',
        _overall(rows, names, "equivalent sample size"),
        "Log loss less that of size 1 (negative is better), by what is asked:",
        _differences(rows, [name for name in names if name != "1"], "1", "equivalent sample size"),
        "Log loss of pairs and of paths by the number of rows:",
        _by(rows, "rows", _SHOWN, "pairs", "log") + "\n\n" + _by(rows, "rows", _SHOWN, "paths", "log"),
        "Log loss of pairs by network:",
        _by(rows, "network", _SHOWN, "pairs", "log"),
        "How often what was given a probability is true:",
        _calibration(rows, ("1", "10", "average"), "pairs"),
        _calibration(rows, ("1", "10", "average"), "paths"),
        f"**What follows.** {_size_words(rows, names, best)}",
    ]
    return "\n\n".join(sections)


def _size_words(rows: Rows, names: Sequence[str], best: str) -> str:
    singles = [name for name in names if not name.startswith("average")]
    single = min(singles, key=lambda name: _mean(rows, name, "pairs", "log"))

    def against(base: str) -> str:
        return ", ".join(_difference(rows, "average", base, kind) for kind in _KINDS)

    words = [
        f"Of single sizes, {single} has the least log loss of pairs ({_mean(rows, single, 'pairs', 'log'):.4f}).",
        f"Averaging changes the log loss of pairs, edges and paths by {against('1')} against size 1, and by "
        f"{against(single)} against size {single}.",
        f"The least of all is that of {'the average' if best == 'average' else best}. Averaging takes as many fits as "
        "there are sizes.",
    ]
    return " ".join(words)


def _bins(rows: Rows) -> str:
    names = [name for name in rows[0]["results"] if not name.endswith("size 1")]
    cut = [name for name in names if not name.startswith("uncut")]
    quantiles = [name for name in cut if name.endswith("quantile")]
    return "\n\n".join(
        [
            "## How many bins",
            f"{len(rows)} tables of numbers from random networks of 8 to 12 nodes: linear with normal noise, linear "
            "with exponential, uniform or Student's noise, and curved (squares, hyperbolic tangents, sines, absolute "
            "values). Columns are cut into quantiles, bins of equal width, or k-means clusters; the equivalent sample "
            "size is averaged as above. The evidence of tables that were cut differently is not comparable, so numbers "
            "of bins are never weighted by it.",
            _overall(rows, names, "bins"),
            f"Log loss less that of {quantiles[1]} bins:",
            _differences(rows, [name for name in cut if name != quantiles[1]], quantiles[1], "bins"),
            "Log loss of pairs by the number of rows, and by what the network is like:",
            _by(rows, "rows", names, "pairs", "log"),
            _by(rows, "network", names, "pairs", "log"),
            "Log loss of paths by the number of rows:",
            _by(rows, "rows", names, "paths", "log"),
            f"**What follows.** {_bin_words(rows, quantiles, cut)}",
        ]
    )


def _bin_words(rows: Rows, quantiles: Sequence[str], cut: Sequence[str]) -> str:
    best = min(cut, key=lambda name: _mean(rows, name, "pairs", "log"))
    words = [f"Of all cuts, {best} has the least log loss of pairs ({_mean(rows, best, 'pairs', 'log'):.4f})."]
    for count in sorted({row["rows"] for row in rows}):
        some = [row for row in rows if row["rows"] == count]
        winner = min(quantiles, key=lambda name: _mean(some, name, "pairs", "log"))
        words.append(
            f"With {count:,} rows it is {winner} among quantiles; 4 quantiles less 3: "
            f"{_difference(some, '4 quantile', '3 quantile', 'pairs')} for pairs, "
            f"{_difference(some, '4 quantile', '3 quantile', 'paths')} for paths."
        )
    for network in _values(rows, "network"):
        some = [row for row in rows if row["network"] == network]
        words.append(f"Uncut less {best}, {network}: {_difference(some, 'uncut (BGe)', best, 'pairs')}.")
    alone = _difference(rows, "3 quantile, size 1", "3 quantile", "pairs")
    words.append(f"With equivalent sample size 1 instead of the average, 3 quantiles lose {alone} more.")
    return " ".join(words)


def _directions(rows: Rows) -> str:
    return "\n\n".join(
        [
            "## Clear directions",
            "A direction is called clear if the data compel it in at least 90% of the probability of being joined. "
            "Counted are those of pairs that are joined with probability 0.5 or more. Wrong: not so directed in the "
            "true network, because the edge points the other way or is not there at all. Found: the share of edges "
            "that are directed in the essential graph of the true network and were called clear. Numbers of clear "
            "directions are in brackets. Directions are worked out from 4,000 graphs drawn from each posterior.",
            _direction_table(rows, "network", "0.5"),
            _direction_table(rows, "rows", "0.5"),
            "The same for pairs that are joined with probability 0.9 or more:",
            _direction_table(rows, "rows", "0.9"),
            f"**What follows.** {_direction_words(rows)}",
        ]
    )


def _direction_words(rows: Rows) -> str:
    words = []
    for name in _SHOWN:
        count = _counts(rows, name, "0.5")
        words.append(
            f"{_title(name)}: {_share(count['wrong'], count['clear'])} of {count['clear']:,} clear directions are "
            f"wrong ({_share(count['reversed'], count['clear'])} point the other way), and "
            f"{_share(count['found'], count['compelled'])} of {count['compelled']:,} compelled edges are found."
        )
    return " ".join(words)


def _direction_table(rows: Rows, by: str, joined: str) -> str:
    names = [name for name in _SHOWN if name in rows[0]["results"]]
    head = [by, *(f"{_title(name)}: wrong" for name in names), *(f"{_title(name)}: found" for name in names)]
    lines = []
    for value in [*_values(rows, by), "all"]:
        counts = [_counts([row for row in rows if value in ("all", row[by])], name, joined) for name in names]
        wrong = [f"{_share(count['wrong'], count['clear'])} ({count['clear']})" for count in counts]
        lines.append([_number(value), *wrong, *(_share(count["found"], count["compelled"]) for count in counts)])
    return _table(head, lines)


def _counts(rows: Rows, name: str, joined: str) -> dict[str, int]:
    found = [row["results"][name][joined] for row in rows]
    return {part: sum(counts[part] for counts in found) for part in found[0]}


def _overall(rows: Rows, names: Sequence[str], what: str) -> str:
    head = [what, *(f"{kind}: {title}" for kind in _KINDS for _, title in _LOSSES)]
    lines = [
        [name, *(f"{_mean(rows, name, kind, loss):.4f}" for kind in _KINDS for loss, _ in _LOSSES)] for name in names
    ]
    for column in range(1, len(head)):
        least = min(lines, key=lambda line: float(line[column].strip("*")))
        least[column] = f"**{least[column]}**"
    return _table(head, lines)


def _differences(rows: Rows, names: Sequence[str], base: str, what: str) -> str:
    lines = [[name, *(_difference(rows, name, base, kind) for kind in _KINDS)] for name in names]
    return _table([what, *_KINDS], lines)


def _difference(rows: Rows, name: str, base: str, kind: str) -> str:
    """The mean difference of log losses and its standard error, from the same tables."""
    values = _losses(rows, name, kind, "log") - _losses(rows, base, kind, "log")
    error = float(values.std(ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else math.nan
    return f"{values.mean():+.4f} ± {error:.4f}"


def _by(rows: Rows, by: str, names: Sequence[str], kind: str, loss: str) -> str:
    lines = []
    for value in _values(rows, by):
        some = [row for row in rows if row[by] == value]
        lines.append([_number(value), *(f"{_mean(some, name, kind, loss):.4f}" for name in names)])
    return _table([f"{by} ({kind})", *names], lines)


def _calibration(rows: Rows, names: Sequence[str], kind: str) -> str:
    """For each range of probabilities, how many there were, their mean, and the share that is true."""
    sums = {name: np.sum([row["results"][name][kind]["bins"] for row in rows], axis=0) for name in names}
    lines = []
    for place, step in enumerate(_STEPS):
        line = [step]
        for name in names:
            count, predicted, observed = sums[name][:, place]
            line.append(f"{predicted / count:.3f} → {observed / count:.3f} ({count:,.0f})" if count else "none")
        lines.append(line)
    head = [f"probability of {kind}", *(f"{_title(name)}: mean → true (number)" for name in names)]
    return _table(head, lines)


def _losses(rows: Rows, name: str, kind: str, loss: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.array([row["results"][name][kind][loss] for row in rows])


def _mean(rows: Rows, name: str, kind: str, loss: str) -> float:
    return float(_losses(rows, name, kind, loss).mean())


def _values(rows: Rows, by: str) -> list[Any]:
    return list(dict.fromkeys(row[by] for row in rows))


def _title(name: str) -> str:
    return name if name.startswith("average") else f"size {name}"


def _number(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}%" if whole else "none"


def _table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    rule = ["---", *("---:" for _ in head[1:])]
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, rule, *lines))
