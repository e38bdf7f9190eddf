"""A report of more than 64 columns: what is listed in it, so that it can be read and its file stays small.

A page with all pairs of a thousand columns would have half a million rows. The most probable pairs stand in the table
and in the graph; all that are worth a number are kept beside them, as numbers only, for a file to download.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dagpost.plots.readable_part import MANY
from dagpost.posterior.directions import LEAST_SHOWN
from dagpost.posterior.pair_direction import PairDirection
from dagpost.report.content import Content

#: Pairs in the table and the graph, lines in the graph when it is opened, pairs in the file to download.
MOST_PAIRS, FIRST_LINES, MOST_IN_FILE = 600, 60, 50_000
#: Directed paths that are listed, and the least probability of one that is.
MOST_PATHS, LEAST_PATH = 200, 0.05
#: Variables of a Markov blanket, and edges of a graph that are written out.
BLANKET, EDGES = 12, 80


def is_many(content: Content) -> bool:
    """Whether there are too many columns to list everything."""
    return len(content.names) > MANY


def pairs_shown(content: Content) -> list[PairDirection]:
    """Every pair that is worth a line, the most probable ones first; of very many columns those alone."""
    if not is_many(content):
        return content.directions.pairs(LEAST_SHOWN)
    joined = np.where(content.directions.asked, content.directions.joined, 0.0)
    worth = joined[joined >= LEAST_SHOWN]
    least = LEAST_SHOWN if len(worth) <= MOST_PAIRS else float(np.partition(worth, -MOST_PAIRS)[-MOST_PAIRS])
    return content.directions.pairs(least)[:MOST_PAIRS]


def pairs_for_file(content: Content, shown: Sequence[PairDirection]) -> list[list[float]] | None:
    """The pairs that are worth a number and have no row: first, second, probability; None where all have one."""
    if not is_many(content):
        return None
    joined = np.where(content.directions.asked, content.directions.joined, 0.0)
    for pair in shown:
        joined[pair.source, pair.target] = joined[pair.target, pair.source] = 0.0
    rows, columns = np.nonzero(joined >= LEAST_SHOWN)
    falling = np.argsort(-joined[rows, columns], kind="stable")[:MOST_IN_FILE]
    triples = zip(rows[falling].tolist(), columns[falling].tolist(), joined[rows, columns][falling], strict=True)
    return [[row, column, float(f"{probability:.4g}")] for row, column, probability in triples]


def first_threshold(joined: Sequence[float], usual: float) -> float:
    """Where the slider stands at first: higher than usual, if more lines would be seen than can be read.

    `joined` are the probabilities of the pairs, in falling order.
    """
    if len(joined) <= FIRST_LINES:
        return usual
    return min(max(usual, int(100.0 * joined[FIRST_LINES] + 1.0) / 100.0), 1.0)
