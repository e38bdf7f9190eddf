"""How well do discrete parents explain a discrete node? The marginal likelihood under Dirichlet priors.

With `N(x, p)` rows in which node `i` has level `x` and its parents configuration `p`,

    score_i(P) = sum over p of [ log Gamma(a r) - log Gamma(a r + N(p)) ]
               + sum over p, x of [ log Gamma(a + N(x, p)) - log Gamma(a) ]

for a node of `r` levels (Cooper & Herskovits 1992; Heckerman, Geiger & Chickering 1995). The scores differ in
the parameter `a` of a cell: `BDeu` shares an equivalent sample size out evenly among the cells, so that DAGs
which say the same about independence get the same score; `BDe` and `K2` take the same `a` for every cell.
Configurations that do not occur add nothing, so cost and memory are those of counting
(`dagpost.scores.counting`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dagpost.checkpoints import NO_CHECKPOINT, Checkpoint
from dagpost.scores.parameters import positive

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dagpost._tools.progress import Reporter
    from dagpost.data.table import Table
    from dagpost.engines import Engine
    from dagpost.scores.cells import CellFunction


@dataclass(frozen=True)
class BDeu:
    """The Bayesian Dirichlet score with a likelihood-equivalent uniform prior.

    Parameters
    ----------
    equivalent_sample_size
        How many imagined rows the prior is worth, in all. The result can depend on it a good deal: small
        values favour few edges, large ones many. Try several, such as 1, 5 and 10, before relying on an edge.

    >>> BDeu(equivalent_sample_size=5)
    BDeu(equivalent_sample_size=5.0)

    References
    ----------
    Heckerman, Geiger & Chickering (1995), Learning Bayesian networks: the combination of knowledge and
    statistical data. Machine Learning 20.
    """

    equivalent_sample_size: float = 1.0

    def __post_init__(self) -> None:
        """Check the parameter."""
        checked = positive("BDeu", "equivalent_sample_size", self.equivalent_sample_size)
        object.__setattr__(self, "equivalent_sample_size", checked)

    def fill(
        self,
        table: Table,
        max_parents: int,
        values: NDArray[np.float64],
        engine: Engine,
        reporter: Reporter,
        checkpoint: Checkpoint = NO_CHECKPOINT,
    ) -> None:
        """Write the score of every family of at most `max_parents` parents into `values`."""
        from dagpost.scores.cells import shared_terms
        from dagpost.scores.discrete_runs import fill_by_counting

        def terms(variants: list[int], observations: int) -> CellFunction:  # noqa: ARG001
            return shared_terms(self.equivalent_sample_size, table.arities, max_parents + 1, observations)

        same = (0,) * len(table.names)
        fill_by_counting(table, max_parents, values, same, terms, engine, reporter, checkpoint)


@dataclass(frozen=True)
class BDe:
    """The Bayesian Dirichlet score with the same Dirichlet parameter for every cell.

    Parameters
    ----------
    pseudocount
        How often each level of a node is imagined to have been seen in each configuration of its parents. One
        half is the prior of Jeffreys, 1 the score `K2`. DAGs that say the same about independence may differ
        in score.

    >>> BDe()
    BDe(pseudocount=0.5)

    References
    ----------
    Heckerman, Geiger & Chickering (1995), Learning Bayesian networks: the combination of knowledge and
    statistical data. Machine Learning 20.
    """

    pseudocount: float = 0.5

    def __post_init__(self) -> None:
        """Check the parameter."""
        object.__setattr__(self, "pseudocount", positive("BDe", "pseudocount", self.pseudocount))

    def fill(
        self,
        table: Table,
        max_parents: int,
        values: NDArray[np.float64],
        engine: Engine,
        reporter: Reporter,
        checkpoint: Checkpoint = NO_CHECKPOINT,
    ) -> None:
        """Write the score of every family of at most `max_parents` parents into `values`."""
        _fill_fixed(self.pseudocount, table, max_parents, values, engine, reporter, checkpoint)


@dataclass(frozen=True)
class K2:
    """The score of the K2 algorithm: every conditional distribution is equally likely beforehand.

    >>> K2()
    K2()

    References
    ----------
    Cooper & Herskovits (1992), A Bayesian method for the induction of probabilistic networks from data.
    Machine Learning 9.
    """

    def fill(
        self,
        table: Table,
        max_parents: int,
        values: NDArray[np.float64],
        engine: Engine,
        reporter: Reporter,
        checkpoint: Checkpoint = NO_CHECKPOINT,
    ) -> None:
        """Write the score of every family of at most `max_parents` parents into `values`."""
        _fill_fixed(1.0, table, max_parents, values, engine, reporter, checkpoint)


def _fill_fixed(
    pseudocount: float,
    table: Table,
    max_parents: int,
    values: NDArray[np.float64],
    engine: Engine,
    reporter: Reporter,
    checkpoint: Checkpoint,
) -> None:
    """The parents' cells pool those of the node's levels, so `B` has the parameter `pseudocount * arity`."""
    from dagpost.scores.cells import fixed_terms
    from dagpost.scores.discrete_runs import fill_by_counting

    def terms(variants: list[int], observations: int) -> CellFunction:
        parameters = [pseudocount, *(pseudocount * arity for arity in variants)]
        return fixed_terms(parameters, len(variants), observations)

    fill_by_counting(table, max_parents, values, table.arities, terms, engine, reporter, checkpoint)
