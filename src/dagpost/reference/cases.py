"""The reference cases: one entry each.

What a case is for is said of what was seen: "hard" ones are those in which chains that move one edge at a time
(`StructureMCMC(chains=1, reversals=0.0)`, four runs of a million steps) end with edges off by more than 0.3.
"""

from __future__ import annotations

from functools import partial

from dagpost.reference import written_networks as networks
from dagpost.reference.case import DISCRETE, GAUSSIAN, MIXED, Case
from dagpost.reference.drawing import random_network
from dagpost.reference.sources import Bundled, Drawn, Source
from dagpost.scores import BDeu, BGe, ConditionalGaussian

_SCORES = {DISCRETE: BDeu(1.0), GAUSSIAN: BGe(prior_scale=1.0), MIXED: ConditionalGaussian()}


def _case(name: str, kind: str, max_parents: int, description: str, tags: tuple[str, ...], source: Source) -> Case:
    return Case(name, description, kind, _SCORES[kind], max_parents, tags, source=source)


#: Every case by its name, small ones first.
CASES: dict[str, Case] = {
    case.name: case
    for case in (
        _case(
            "discrete-5-few",
            DISCRETE,
            4,
            "50 rows of a random network of 2 and 3 levels: hundreds of graphs share the posterior.",
            ("few rows", "flat"),
            Drawn(50, partial(random_network, 5, 11, arities=(2, 3)), seed=1),
        ),
        _case(
            "discrete-5-many",
            DISCRETE,
            4,
            "3,000 rows of a random network of 2 to 4 levels: few graphs are left, and any sampler finds them.",
            ("many rows", "peaked"),
            Drawn(3000, partial(random_network, 5, 12), seed=1),
        ),
        _case(
            "gaussian-5-few",
            GAUSSIAN,
            4,
            "40 rows of a random Gaussian network: hundreds of graphs share the posterior.",
            ("few rows", "flat"),
            Drawn(40, partial(random_network, 5, 13, levels=0), seed=1),
        ),
        _case(
            "gaussian-5-many",
            GAUSSIAN,
            4,
            "2,000 rows of a random Gaussian network: few graphs are left, and any sampler finds them.",
            ("many rows", "peaked"),
            Drawn(2000, partial(random_network, 5, 14, levels=0), seed=1),
        ),
        _case(
            "mixed-5",
            MIXED,
            4,
            "300 rows of two columns of levels and three of numbers: the smallest conditional Gaussian case.",
            ("peaked",),
            Drawn(300, partial(random_network, 5, 15, levels=2, arities=(2, 3)), seed=1),
        ),
        _case(
            "iris",
            DISCRETE,
            4,
            "150 irises, four measurements cut in three and the species (Fisher 1936).",
            ("bundled",),
            Bundled("iris"),
        ),
        _case(
            "parity-5",
            DISCRETE,
            4,
            "400 rows of four coins and their parity: five modes, far from each other and from the empty graph.",
            ("hard", "unfaithful"),
            Drawn(400, partial(networks.parity, 5, noise=50), seed=1),
        ),
        _case(
            "ring-5",
            DISCRETE,
            4,
            "5,000 rows of a ring of five columns: a mode for each place where arrows meet, with deep valleys.",
            ("hard", "many rows", "multimodal"),
            Drawn(5000, partial(networks.ring, 5, arity=3, same=3), seed=14),
        ),
        _case(
            "coronary",
            DISCRETE,
            5,
            "1,841 Czech car workers and six risk factors of coronary disease (Edwards & Havranek 1985).",
            ("bundled",),
            Bundled("coronary"),
        ),
        _case(
            "collinear-6",
            GAUSSIAN,
            5,
            "200 rows of two groups of three numbers that are nearly the same one: many graphs, none far from another.",
            ("flat", "near-copies"),
            Drawn(200, partial(networks.collinear, 2, deviation=0.1), seed=1),
        ),
        _case(
            "copies-6",
            DISCRETE,
            5,
            "1,000 rows of two columns of four levels, a near-copy of each, and two effects of one of each pair.",
            ("hard", "multimodal", "near-copies"),
            Drawn(1000, partial(networks.copies, 2, arity=4, same=991), seed=1),
        ),
        _case(
            "ring-6",
            DISCRETE,
            5,
            "5,000 rows of a ring of six columns: two halves of the posterior that even good chains do not both visit.",
            ("hard", "many rows", "multimodal"),
            Drawn(5000, partial(networks.ring, 6, arity=3, same=3), seed=7),
        ),
        _case(
            "hamming-7",
            DISCRETE,
            6,
            "300 rows of a noisy Hamming code: every column is a parity of three others in four ways.",
            ("hard", "multimodal", "unfaithful"),
            Drawn(300, partial(networks.hamming, noise=50), seed=1),
        ),
        _case(
            "mixed-7-few",
            MIXED,
            6,
            "60 rows of three columns of levels and four of numbers.",
            ("few rows", "flat"),
            Drawn(60, partial(random_network, 7, 16, levels=3, arities=(2, 3)), seed=1),
        ),
        _case(
            "asia",
            DISCRETE,
            7,
            "1,000 rows of the chest clinic network, in which one column is a logical or of two others.",
            ("bundled", "unfaithful"),
            Bundled("asia"),
        ),
        _case(
            "mixed-8-many",
            MIXED,
            7,
            "2,000 rows of four columns of levels and four of numbers.",
            ("many rows", "peaked"),
            Drawn(2000, partial(random_network, 8, 17, levels=4, arities=(2, 3)), seed=1),
        ),
        _case(
            "mixed-copies-8",
            MIXED,
            7,
            "1,000 rows of two columns of four levels, near-copies of them, and four numbers: some chains stick.",
            ("hard", "near-copies"),
            Drawn(1000, partial(networks.mixed_copies, same=994), seed=2),
        ),
        _case(
            "tic-tac-toe",
            DISCRETE,
            5,
            "All 958 end positions of the game, and whether cross won; a row of the tables of He, Tian & Wu (2016).",
            ("bundled", "hard", "multimodal", "paper"),
            Bundled("tic-tac-toe"),
        ),
        _case(
            "gaussian-10-few",
            GAUSSIAN,
            4,
            "40 rows of a random Gaussian network.",
            ("few rows", "flat"),
            Drawn(40, partial(random_network, 10, 19, levels=0), seed=1),
        ),
        _case(
            "pyramid-10",
            GAUSSIAN,
            3,
            "2,000 rows of layers of strong colliders: chains stay in graphs of a wrong order, with many edges.",
            ("hard", "many rows"),
            Drawn(2000, partial(networks.pyramid, 4, coefficient=0.7, deviation=0.3), seed=1),
        ),
        _case(
            "copies-10",
            DISCRETE,
            4,
            "1,000 rows of four columns of two levels, a near-copy of each, and two effects of all four.",
            ("hard", "multimodal", "near-copies"),
            Drawn(1000, partial(networks.copies, 4, arity=2, same=990), seed=1),
        ),
        _case(
            "ring-10",
            DISCRETE,
            4,
            "5,000 rows of a ring of ten columns: two modes for each place where arrows may meet, with deep valleys.",
            ("hard", "many rows", "multimodal"),
            Drawn(5000, partial(networks.ring, 10, arity=3, same=3), seed=3),
        ),
        _case(
            "discrete-12-many",
            DISCRETE,
            4,
            "3,000 rows of a random network of 2 to 4 levels.",
            ("many rows", "peaked"),
            Drawn(3000, partial(random_network, 12, 20), seed=1),
        ),
        _case(
            "gaussian-12-dense",
            GAUSSIAN,
            5,
            "500 rows of a dense random Gaussian network with weak effects: chains stay in graphs of a wrong order.",
            ("dense", "hard"),
            Drawn(
                500,
                partial(random_network, 12, 21, levels=0, degree=7.0, max_parents=5, coefficients=(0.2, 0.6)),
                seed=1,
            ),
        ),
        _case(
            "mixed-12",
            MIXED,
            4,
            "500 rows of five columns of levels and seven of numbers.",
            (),
            Drawn(500, partial(random_network, 12, 22, levels=5, arities=(2, 3)), seed=1),
        ),
        _case(
            "wine",
            DISCRETE,
            5,
            "178 Italian wines, class and 12 measurements cut in three; a row of the tables of He, Tian & Wu (2016).",
            ("bundled", "hard", "paper"),
            Bundled("wine"),
        ),
        _case(
            "chain-14",
            GAUSSIAN,
            4,
            "1,000 rows of a strong Gaussian chain: the chain is certain, where it starts is not.",
            ("peaked",),
            Drawn(1000, partial(networks.gaussian_chain, 14, coefficient=0.95, deviation=0.3), seed=1),
        ),
        _case(
            "tree-15",
            DISCRETE,
            3,
            "5,000 rows of a strong binary tree of columns of three levels: one class of graphs; some chains miss it.",
            ("hard", "many rows", "peaked"),
            Drawn(5000, partial(networks.tree, 15, arity=3, same=900), seed=1),
        ),
        _case(
            "gaussian-16-few",
            GAUSSIAN,
            3,
            "30 rows, not two a column, of a random Gaussian network.",
            ("few rows", "flat"),
            Drawn(30, partial(random_network, 16, 23, levels=0), seed=1),
        ),
        _case(
            "mixed-16-few",
            MIXED,
            3,
            "100 rows of six columns of two levels and ten of numbers.",
            ("few rows", "flat"),
            Drawn(100, partial(random_network, 16, 24, levels=6, arities=(2, 2)), seed=1),
        ),
        _case(
            "discrete-18-sparse",
            DISCRETE,
            3,
            "2,000 rows of a sparse random network of 2 to 4 levels.",
            ("many rows", "peaked", "sparse"),
            Drawn(2000, partial(random_network, 18, 25, degree=1.5), seed=1),
        ),
        _case(
            "discrete-20-few",
            DISCRETE,
            3,
            "100 rows of a random network of 2 and 3 levels.",
            ("few rows", "flat"),
            Drawn(100, partial(random_network, 20, 32, arities=(2, 3)), seed=1),
        ),
        _case(
            "gaussian-20-sparse",
            GAUSSIAN,
            3,
            "5,000 rows of a sparse random Gaussian network: chains stay in graphs of a wrong order.",
            ("hard", "many rows", "sparse"),
            Drawn(5000, partial(random_network, 20, 27, levels=0, degree=1.5), seed=1),
        ),
        _case(
            "discrete-22-sparse",
            DISCRETE,
            3,
            "1,000 rows of a sparse random network of 2 to 4 levels: the largest case, which some chains miss.",
            ("hard", "sparse"),
            Drawn(1000, partial(random_network, 22, 28, degree=1.5), seed=1),
        ),
    )
}
