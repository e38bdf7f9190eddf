"""Questions to a model whose condition can be met in several ways: some statements are impossible in some of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from dagpost import DagPosterior
from dagpost.features import evaluate, resolve
from dagpost.posterior.all_graphs import all_graphs

NAMES = ("A", "B", "C", "D")


@pytest.fixture(scope="module", params=["structure", "order"])
def model(request: pytest.FixtureRequest) -> DagPosterior:
    rng = np.random.default_rng(3)
    table = pd.DataFrame(rng.integers(0, 2, (40, 4)).astype(str), columns=list(NAMES))
    return DagPosterior(prior="uniform", seed=1, modularity=request.param).fit(table)


def _by_enumeration(model: DagPosterior, statement: str, given: str) -> float:
    every = all_graphs(model.fitted_)
    assert every is not None
    features = [resolve(text, NAMES, None, ()).feature for text in (statement, given)]
    held: Any = evaluate(features, every.parents, NAMES)
    return float(every.weights[held[0] & held[1]].sum() / every.weights[held[1]].sum())


@pytest.mark.parametrize("given", ["A -- B", "B -- A & B -- C", "!(A -> B & C -> D)"])
def test_a_statement_that_some_ways_rule_out_is_not_impossible(model: DagPosterior, given: str) -> None:
    """The other ways count: each part of the model answers for itself."""
    left = model.given(given)
    for asked in ("A -> B & B -> C", "B -> A & C -> B", "A -> B & D ~> C", "B -> A & !(C -> D) & A ~> D"):
        found = left.probability(asked)
        assert found.rule == "exact"
        assert float(found) == pytest.approx(_by_enumeration(model, asked, given), abs=1e-9)
        assert float(model.probability(asked, given=given)) == pytest.approx(float(found), abs=1e-9)


@pytest.mark.parametrize("modularity", ["structure", "order"])
@pytest.mark.parametrize("given", ["!(A -- B)", "pa(A) = {} & pa(B) = {} & pa(C) = {}"])
def test_a_condition_that_is_all_but_impossible_is_not_called_so(given: str, modularity: str) -> None:
    """Its probability may be less than a number can hold: what holds under it is exact all the same."""
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 2, (3000, 4))
    codes[:, 1] = codes[:, 0]
    codes[:, 2] = codes[:, 0] ^ (rng.random(3000) < 0.02)
    model = DagPosterior(prior="uniform", seed=1, modularity=modularity).fit(
        pd.DataFrame(codes.astype(str), columns=list(NAMES))
    )
    left = model.given(given)
    assert left.condition_.log_probability < -250.0
    assert float(model.probability(given)) == pytest.approx(float(left.condition_.probability), rel=1e-6, abs=1e-300)
    for asked in ("C -> D", "C ~> D", "C -- D & D -> B"):
        found = model.probability(asked, given=given)
        assert found.rule == "exact"
        assert float(found) == pytest.approx(float(left.probability(asked)), rel=1e-6)
