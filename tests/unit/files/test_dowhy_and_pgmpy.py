"""DoWhy and pgmpy take our graphs as they are: names with spaces and dots, levels that are texts."""

from __future__ import annotations

import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dagpost import BayesianNetwork, DagPosterior, top_graphs

NAMES = ("the cause", "2nd. cause", "out-come (x)")
_ABSENT = "it is not installed; it comes with requirements-docs.lock"
needs_dowhy = pytest.mark.skipif(find_spec("dowhy") is None, reason=f"DoWhy: {_ABSENT}")
needs_pgmpy = pytest.mark.skipif(find_spec("pgmpy") is None, reason=f"pgmpy: {_ABSENT}")


@pytest.fixture(scope="module")
def rows() -> Any:
    """A common cause, a cause and an outcome, all of two levels that are texts."""
    rng = np.random.default_rng(8)
    common = rng.random(600) < 0.5
    cause = rng.random(600) < np.where(common, 0.8, 0.3)
    outcome = rng.random(600) < 0.1 + 0.3 * common + 0.4 * cause
    columns = np.where(np.stack([cause, common, outcome]), "> 1", "no")
    return pd.DataFrame(dict(zip(NAMES, columns, strict=True)))


@pytest.fixture(scope="module")
def model(rows: Any) -> DagPosterior:
    return DagPosterior(prior="uniform", score="bdeu", seed=1, samples=200, threads=1, progress=False).fit(rows)


@pytest.fixture(scope="module")
def graph(model: DagPosterior) -> Any:
    """The most probable graph in which the first cause acts on the outcome, and the second on both."""
    cause, common, outcome = NAMES
    wanted = {(cause, outcome), (common, cause), (common, outcome)}
    return next(graph for graph in top_graphs(model, None) if set(graph.edges) == wanted)


def adjusted(rows: Any, pseudocount: float) -> float:
    """The effect by its definition: the difference within each level of the common cause, averaged over them."""
    cause, common, outcome = ((rows[name] == "> 1").to_numpy() for name in NAMES)
    total = 0.0
    for level in (False, True):
        here = common == level
        share = [
            (outcome[here & (cause == value)].sum() + pseudocount)
            / ((here & (cause == value)).sum() + 2.0 * pseudocount)
            for value in (True, False)
        ]
        # Of the common cause, two cells of 1/2 make up the one pseudo-observation.
        total += (share[0] - share[1]) * (here.sum() + 4.0 * pseudocount) / (len(rows) + 8.0 * pseudocount)
    return total


@needs_dowhy
def test_dowhy_identifies_and_estimates_an_effect_in_our_graph(rows: Any, graph: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from dowhy import CausalModel

        numbers = (rows == "> 1").astype(float)
        question = CausalModel(numbers, treatment=NAMES[0], outcome=NAMES[2], graph=graph)
        estimand = question.identify_effect(proceed_when_unidentifiable=True)
        found = question.estimate_effect(estimand, method_name="backdoor.linear_regression").value
    assert estimand.get_backdoor_variables() == [NAMES[1]]
    design = np.column_stack([np.ones(len(rows)), numbers[NAMES[0]], numbers[NAMES[1]]])
    assert found == pytest.approx(np.linalg.lstsq(design, numbers[NAMES[2]], rcond=None)[0][1], abs=1e-9)


@needs_pgmpy
def test_pgmpy_answers_about_an_intervention_in_our_graph(rows: Any, model: DagPosterior, graph: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pgmpy.inference import CausalInference
        from pgmpy.models import DiscreteBayesianNetwork
        from pgmpy.parameter_estimator import DiscreteBayesianEstimator

        network = DiscreteBayesianNetwork(graph)
        network.fit(rows, estimator=DiscreteBayesianEstimator(prior_type="BDeu", equivalent_sample_size=1))
        asked = CausalInference(network)
        cause, _, outcome = NAMES
        high, low = (
            asked.query([outcome], do={cause: level}, show_progress=False).get_value(**{outcome: "> 1"})
            for level in ("> 1", "no")
        )
    assert high - low == pytest.approx(adjusted(rows, 1 / 8), abs=1e-9)
    assert set(network.nodes) == set(NAMES)


@needs_pgmpy
def test_pgmpy_reads_the_network_that_we_write(model: DagPosterior, graph: Any, tmp_path: Path) -> None:
    model.to_bayesian_network(graph).write(tmp_path / "network.bif")
    ours = BayesianNetwork.read(tmp_path / "network.bif")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pgmpy.models import DiscreteBayesianNetwork

        network = DiscreteBayesianNetwork.load(str(tmp_path / "network.bif"))
    assert network.check_model()
    # BIF has no spaces in names, so pgmpy knows the columns by other ones.
    theirs = sorted(sorted(table.get_values().ravel().tolist()) for table in network.get_cpds())
    mine = sorted(sorted(ours.to_frame(name).to_numpy().ravel().tolist()) for name in ours.names)
    assert [len(numbers) for numbers in theirs] == [len(numbers) for numbers in mine]
    for found, expected in zip(theirs, mine, strict=True):
        assert found == pytest.approx(expected)
