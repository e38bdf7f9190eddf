"""Every public function is called with wrong values for each of its parameters in turn.

It may work, for much of what looks wrong is not; else the error is one of ours, in words. Exempt are what Python says
of a wrong number or name of arguments, and what a `progress` function raises: that is how a user breaks off a run.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from tests.tools.valid_calls import Call, Made, is_input, parameters_of, public_callables, small_table, valid_calls
from tests.tools.wrong_values import fault_of, wrong_values

import dagpost
from dagpost import DagPosterior, InputError

PUBLIC = {
    name: parameters
    for name, thing in public_callables()
    if is_input(name) and (parameters := parameters_of(name, thing))
}
#: What takes longest, as it computes whenever a wrong value is none: a third of the values each.
_SLOW = {
    *("DagPosterior", "DagPosterior.fit", "DagPosterior.report", "DagPosterior.explore", "DagSample.report"),
    *("cross_validate", "reference.export"),
}
#: Engines that need a device or start processes.
_ELSEWHERE = {"CudaEngine", "DaskEngine"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder to work in: a wrong value may be the name of a file, which is then written."""
    place = tmp_path_factory.mktemp("wrong")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        patch.setenv("MPLBACKEND", "agg")
        yield place


@pytest.fixture(scope="module")
def calls(folder: Path) -> dict[str, Call]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # so short a run of chains is not to be trusted
        return valid_calls(Made(folder))


@pytest.fixture(scope="module")
def wrong(folder: Path) -> dict[str, Callable[[], Any]]:
    return wrong_values(folder)


@pytest.fixture(autouse=True)
def closed_figures() -> Iterator[None]:
    yield
    from matplotlib import pyplot

    pyplot.close("all")


def test_every_public_function_has_a_valid_call(calls: dict[str, Call]) -> None:
    assert sorted(PUBLIC.keys() - calls.keys()) == [], "add a call to tests/tools/valid_calls.py"
    assert sorted(calls.keys() - PUBLIC.keys()) == [], "take it out of tests/tools/valid_calls.py"


@pytest.mark.parametrize("name", sorted(PUBLIC.keys() - _ELSEWHERE))
def test_wrong_arguments_are_refused_in_words(
    name: str, calls: dict[str, Call], wrong: dict[str, Callable[[], Any]]
) -> None:
    function, arguments = calls[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        function(**arguments)
    faults = {}
    for place, parameter in enumerate(PUBLIC[name]):
        labels = [label for number, label in enumerate(wrong) if name not in _SLOW or number % 3 == place % 3]
        for label in labels:
            if parameter == "progress" and label == "refusing function":
                continue
            fault = fault_of(function, {**arguments, parameter: wrong[label]()})
            if fault is not None:
                faults[f"{parameter}={label}"] = fault
    assert faults == {}


def test_a_valid_call_is_really_looked_at() -> None:
    """The test would find an error that is not ours, a message without words, and one with an address."""

    def broken(value: Any) -> None:
        if value == "raw":
            raise KeyError(value)
        raise InputError({"empty": "", "address": "Got <object at 0x7f00>.", "fine": "It must be a number."}[value])

    found = {value: fault_of(broken, {"value": value}) for value in ("raw", "address", "fine")}
    assert found["raw"] == "KeyError: 'raw'"
    assert "address" in str(found["address"])
    assert found["fine"] is None


def _fails(*_: Any) -> Any:
    raise ZeroDivisionError("division by zero")


@pytest.mark.parametrize(
    ("ask", "named"),
    [
        (lambda _: dagpost.local_scores(small_table(), dagpost.CustomScore(_fails), 1), "CustomScore"),
        (lambda _: DagPosterior(prior=dagpost.CustomPrior(_fails)).fit(small_table()), "CustomPrior"),
        (lambda made: made.sample.probability(_fails), "_fails"),
        (lambda made: made.sample.probability("A -> B", given=_fails), "_fails"),
        (lambda made: made.sample.expectation(_fails), "_fails"),
        (lambda made: made.model.probability(dagpost.custom(_fails) & dagpost.edge("A", "B")), "_fails"),
    ],
    ids=["score", "prior", "statement", "condition", "expectation", "custom"],
)
def test_a_function_of_the_user_that_fails_is_named_and_its_error_kept(
    ask: Callable[[Any], Any], named: str, calls: dict[str, Call]
) -> None:
    made = calls["DagSample.probability"].function.__self__  # type: ignore[attr-defined]
    model = calls["DagPosterior.probability"].function.__self__  # type: ignore[attr-defined]
    with pytest.raises(InputError, match=f"{named}.*failed with ZeroDivisionError: division by zero") as caught:
        ask(type("Made", (), {"sample": made, "model": model}))
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


@pytest.mark.parametrize("nonsense", [None, "nonsense", float("nan"), 1j, 10**400, [], np.zeros(3), nx.DiGraph()])
def test_what_a_function_of_the_user_returns_is_looked_at(nonsense: Any, calls: dict[str, Call]) -> None:
    def function(*_: Any) -> Any:
        return nonsense

    sample = calls["DagSample.probability"].function.__self__  # type: ignore[attr-defined]
    for ask in (
        lambda: dagpost.local_scores(small_table(), dagpost.CustomScore(function), 1),
        lambda: DagPosterior(prior=dagpost.CustomPrior(function)).fit(small_table()),
        lambda: sample.probability(function),
        lambda: sample.expectation(function),
    ):
        with pytest.raises(InputError, match=r"must (give|return)"):
            ask()


def test_what_a_progress_function_raises_reaches_the_user() -> None:
    with pytest.raises(ZeroDivisionError):
        DagPosterior(score="bdeu", progress=_fails).fit(small_table())
    with pytest.raises(InputError, match="'progress' parameter of DagPosterior must be callable as progress"):
        DagPosterior(score="bdeu", progress=small_table).fit(small_table())
