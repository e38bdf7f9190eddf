"""The reference cases: one entry each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from dagpost.data import datasets
from dagpost.data.table import Table
from dagpost.reference import written_networks as written
from dagpost.reference.case import DISCRETE, GAUSSIAN, MIXED, Case
from dagpost.reference.drawing import Network, draw, random_network
from dagpost.scores import BDeu, BGe, ConditionalGaussian

_SCORES = {DISCRETE: BDeu(1.0), GAUSSIAN: BGe(prior_scale=1.0), MIXED: ConditionalGaussian()}


def _bundled(name: str, **settings: int) -> Table:
    """A bundled table with one row for each observation, as other programs want it."""
    table = datasets.load(name, **settings)
    if table.counts is None:
        return table
    columns = tuple(np.repeat(column, table.counts) for column in table.columns)
    return replace(table, columns=columns, counts=None)


def _case(
    name: str, kind: str, max_parents: int, description: str, tags: tuple[str, ...], make: Callable[[], Table]
) -> Case:
    return Case(name, description, kind, _SCORES[kind], max_parents, tags, make=make)


def _drawn(network: Network, rows: int, seed: int) -> Callable[[], Table]:
    return partial(draw, network, rows, seed)


#: Every case by its name, small ones first.
CASES: dict[str, Case] = {
    case.name: case
    for case in (
        _case(
            "discrete-5-few",
            DISCRETE,
            4,
            "50 rows of a random network of 2 and 3 levels: little is certain, and many graphs share the posterior.",
            ("few rows", "flat"),
            _drawn(random_network(5, 11, arities=(2, 3)), 50, 1),
        ),
        _case(
            "discrete-5-many",
            DISCRETE,
            4,
            "3,000 rows of a random network of 2 to 4 levels: one equivalence class has most of the posterior.",
            ("many rows", "peaked"),
            _drawn(random_network(5, 12), 3000, 1),
        ),
        _case(
            "gaussian-5-few",
            GAUSSIAN,
            4,
            "40 rows of a random Gaussian network.",
            ("few rows", "flat"),
            _drawn(random_network(5, 13, levels=0), 40, 1),
        ),
        _case(
            "gaussian-5-many",
            GAUSSIAN,
            4,
            "2,000 rows of a random Gaussian network.",
            ("many rows", "peaked"),
            _drawn(random_network(5, 14, levels=0), 2000, 1),
        ),
        _case(
            "mixed-5",
            MIXED,
            4,
            "300 rows of two columns of levels and three of numbers.",
            (),
            _drawn(random_network(5, 15, levels=2, arities=(2, 3)), 300, 1),
        ),
        _case(
            "iris",
            DISCRETE,
            4,
            "150 irises, four measurements cut in three and the species (Fisher 1936).",
            ("bundled",),
            partial(_bundled, "iris"),
        ),
        _case(
            "parity-5",
            DISCRETE,
            4,
            "400 rows of four coins and their parity: no step of one edge leads from the empty graph to the posterior.",
            ("hard", "unfaithful"),
            _drawn(written.parity(5, noise=50), 400, 1),
        ),
        _case(
            "coronary",
            DISCRETE,
            5,
            "1,841 Czech car workers and six risk factors of coronary disease (Edwards & Havranek 1985).",
            ("bundled",),
            partial(_bundled, "coronary"),
        ),
        _case(
            "collinear-6",
            GAUSSIAN,
            5,
            "200 rows of two groups of three numbers that are nearly the same one.",
            ("hard", "near-copies"),
            _drawn(written.collinear(2, 3, deviation=0.1), 200, 1),
        ),
        _case(
            "copies-6",
            DISCRETE,
            5,
            "600 rows of two columns of three levels, a near-copy of each, and two effects: who is the cause?",
            ("hard", "near-copies"),
            _drawn(written.copies(2, arity=3, same=970), 600, 1),
        ),
        _case(
            "mixed-7-few",
            MIXED,
            6,
            "60 rows of three columns of levels and four of numbers.",
            ("few rows", "flat"),
            _drawn(random_network(7, 16, levels=3, arities=(2, 3)), 60, 1),
        ),
        _case(
            "asia",
            DISCRETE,
            7,
            "1,000 rows of the chest clinic network, in which one column is a logical or of two others.",
            ("bundled",),
            partial(_bundled, "asia"),
        ),
        _case(
            "chain-8",
            DISCRETE,
            7,
            "2,000 rows of a strong chain of columns of three levels: eight graphs are equally good.",
            ("hard", "many rows", "strong"),
            _drawn(written.level_chain(8, arity=3, same=900), 2000, 1),
        ),
        _case(
            "mixed-8-many",
            MIXED,
            7,
            "2,000 rows of four columns of levels and four of numbers.",
            ("many rows", "peaked"),
            _drawn(random_network(8, 17, levels=4, arities=(2, 3)), 2000, 1),
        ),
        _case(
            "tic-tac-toe",
            DISCRETE,
            5,
            "All 958 end positions of the game, and whether cross won; a row of the tables of He, Tian & Wu (2016).",
            ("bundled", "paper"),
            partial(_bundled, "tic-tac-toe"),
        ),
        _case(
            "discrete-10-few",
            DISCRETE,
            4,
            "60 rows of a random network of 2 and 3 levels.",
            ("few rows", "flat"),
            _drawn(random_network(10, 18, arities=(2, 3)), 60, 1),
        ),
        _case(
            "gaussian-10-few",
            GAUSSIAN,
            4,
            "40 rows of a random Gaussian network.",
            ("few rows", "flat"),
            _drawn(random_network(10, 19, levels=0), 40, 1),
        ),
        _case(
            "gaussian-10-chain",
            GAUSSIAN,
            4,
            "1,000 rows of a strong Gaussian chain: reversing an edge in the middle first makes a collider.",
            ("hard", "strong"),
            _drawn(written.gaussian_chain(10, 0.95, 0.3), 1000, 1),
        ),
        _case(
            "copies-10",
            DISCRETE,
            4,
            "1,000 rows of four columns of two levels, a near-copy of each, and two effects of all four.",
            ("hard", "near-copies"),
            _drawn(written.copies(4, arity=2, same=980), 1000, 1),
        ),
        _case(
            "discrete-12-many",
            DISCRETE,
            4,
            "3,000 rows of a random network of 2 to 4 levels.",
            ("many rows", "peaked"),
            _drawn(random_network(12, 20), 3000, 1),
        ),
        _case(
            "gaussian-12-dense",
            GAUSSIAN,
            5,
            "500 rows of a dense random Gaussian network with weak effects.",
            ("dense",),
            _drawn(random_network(12, 21, levels=0, degree=7.0, max_parents=5, coefficients=(0.2, 0.6)), 500, 1),
        ),
        _case(
            "mixed-12",
            MIXED,
            4,
            "500 rows of five columns of levels and seven of numbers.",
            (),
            _drawn(random_network(12, 22, levels=5, arities=(2, 3)), 500, 1),
        ),
        _case(
            "wine",
            DISCRETE,
            5,
            "178 Italian wines, class and 12 measurements cut in three; a row of the tables of He, Tian & Wu (2016).",
            ("bundled", "paper"),
            partial(_bundled, "wine"),
        ),
        _case(
            "collinear-15",
            GAUSSIAN,
            4,
            "200 rows of five groups of three numbers that are nearly the same one.",
            ("hard", "near-copies"),
            _drawn(written.collinear(5, 3, deviation=0.1), 200, 1),
        ),
        _case(
            "gaussian-16-few",
            GAUSSIAN,
            3,
            "30 rows, not two a column, of a random Gaussian network.",
            ("few rows", "flat"),
            _drawn(random_network(16, 23, levels=0), 30, 1),
        ),
        _case(
            "mixed-16-few",
            MIXED,
            3,
            "100 rows of six columns of two levels and ten of numbers.",
            ("few rows", "flat"),
            _drawn(random_network(16, 24, levels=6, arities=(2, 2)), 100, 1),
        ),
        _case(
            "discrete-18-sparse",
            DISCRETE,
            3,
            "2,000 rows of a sparse random network of 2 to 4 levels.",
            ("many rows", "sparse"),
            _drawn(random_network(18, 25, degree=1.5), 2000, 1),
        ),
        _case(
            "discrete-20-few",
            DISCRETE,
            3,
            "100 rows of a random network of 2 and 3 levels.",
            ("few rows", "flat"),
            _drawn(random_network(20, 32, arities=(2, 3)), 100, 1),
        ),
        _case(
            "gaussian-20-sparse",
            GAUSSIAN,
            3,
            "5,000 rows of a sparse random Gaussian network.",
            ("many rows", "sparse"),
            _drawn(random_network(20, 27, levels=0, degree=1.5), 5000, 1),
        ),
        _case(
            "discrete-22-sparse",
            DISCRETE,
            3,
            "1,000 rows of a sparse random network of 2 to 4 levels.",
            ("sparse",),
            _drawn(random_network(22, 28, degree=1.5), 1000, 1),
        ),
    )
}
