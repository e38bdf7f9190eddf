"""Scores of families with indicators of regimes against a column that pools them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import regimes as naive

from dagpost import BIC, K2, BDe, BDeu, Score
from dagpost.data.regimes import Regimes
from dagpost.data.table import Table
from dagpost.scores import local_scores, table_for

TWINS = [
    (BDeu(1.0), partial(naive.bdeu, size=1.0)),
    (BDeu(7.5), partial(naive.bdeu, size=7.5)),
    (K2(), partial(naive.dirichlet, pseudocount=1.0)),
    (BDe(0.5), partial(naive.dirichlet, pseudocount=0.5)),
    (BIC(), naive.bic),
]


def random_table(
    seed: int, columns: int, regimes: int, rows: int, *, counts: bool = False, known: bool = False
) -> Table:
    """Random levels under random regimes, all of which occur; perhaps with counts and with known targets."""
    generator = np.random.default_rng(seed)
    arities = generator.integers(2, 4, columns)
    frame = pd.DataFrame({f"v{place}": generator.integers(0, arity, rows) for place, arity in enumerate(arities)})
    for place, arity in enumerate(arities):
        frame.loc[: arity - 1, f"v{place}"] = range(arity)
    names = [f"r{regime}" for regime in range(regimes + 1)]
    frame["regime"] = [*names, *generator.choice(names, rows - len(names))]
    if counts:
        frame["n"] = generator.integers(1, 5, rows)
    if known:
        frame["set"] = generator.choice(["none", "v0", "v0;v1"], rows)
    return table_for(
        "bdeu",
        frame,
        counts="n" if counts else None,
        interventions="set" if known else None,
        regimes=Regimes("regime", reference="r0"),
    )


@pytest.mark.parametrize(("score", "twin"), TWINS, ids=lambda value: repr(value) if not callable(value) else "")
@settings(max_examples=12)
@given(
    seed=st.integers(0, 2**32 - 1),
    columns=st.integers(2, 3),
    regimes=st.integers(1, 3),
    counts=st.booleans(),
    known=st.booleans(),
)
def test_scores_with_indicators_match_a_pooled_column(
    score: Score,
    twin: Callable[[Table, int, list[int]], float],
    seed: int,
    columns: int,
    regimes: int,
    counts: bool,
    known: bool,
) -> None:
    table = random_table(seed, columns, regimes, 30, counts=counts, known=known)
    found = local_scores(table, score, columns + regimes - 1)
    places = range(len(table.names))
    for child in range(columns):
        others = [place for place in places if place != child]
        for size in range(len(others) + 1):
            for parents in combinations(others, size):
                expected = twin(table, child, list(parents))
                assert found.score(child, parents) == pytest.approx(expected, rel=1e-10, abs=1e-9)


def test_counting_alone_does_not_tell_indicators_from_other_columns() -> None:
    """What differs is the number of configurations in the prior: BDeu and BIC change, K2 does not."""
    table = random_table(3, 2, 3, 60)
    plain = replace(table, regimes=())
    family = ["regime=r1", "regime=r2", "regime=r3"]
    for score, differs in ((BDeu(), True), (BIC(), True), (K2(), False)):
        with_regimes, without = (local_scores(own, score, 4).score("v0", family) for own in (table, plain))
        assert (abs(with_regimes - without) > 1e-6) is differs
    # One indicator has two configurations either way.
    assert local_scores(table, BDeu(), 1).score("v0", family[:1]) == local_scores(plain, BDeu(), 1).score(
        "v0", family[:1]
    )
