"""Priors that others write: as an object with one method, or derived from `StructurePrior` or `SizePrior`."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from tests.tools.wording import Said

from dagpost import DagPosterior, SizePrior, StructurePrior, datasets
from dagpost._tools.json_settings import from_json, to_json
from dagpost.errors import InputError
from dagpost.priors import PRIORS, CustomPrior, EdgePrior, UniformPrior, resolve_prior

NAMES = ("a", "b", "c")
#: No parents, b, and both of the others of a.
SETS = np.array([[3, 3], [1, 3], [1, 2]], dtype=np.int16)


class Bare:
    """An object that gives weights and nothing else."""

    def log_weights(self, names: tuple[str, ...], max_parents: int) -> Any:
        return UniformPrior().log_weights(names, max_parents)

    def __repr__(self) -> str:
        return "a bare prior"


class BareOnSize(Bare):
    """One that looks at the number of parents only."""

    def log_weight_of_size(self, nodes: int, size: int) -> float:
        return float(-size)


@dataclass(frozen=True)
class Halving(SizePrior):
    """A prior by the number of parents."""

    def log_weight_of_size(self, nodes: int, size: int) -> float:
        return float(-size)


def test_a_bare_object_gives_weights_and_shows_itself(said: Said) -> None:
    resolved = resolve_prior(Bare())
    assert isinstance(resolved, StructurePrior)
    assert repr(resolved) == resolved.in_words() == to_json(resolved) == "a bare prior"
    np.testing.assert_array_equal(resolved.log_weights(NAMES, 1), np.zeros((3, 3)))
    assert resolved.log_weights_of_members(NAMES, 0, SETS).tolist() == [0.0, 0.0, 0.0]
    many = tuple(f"v{column}" for column in range(40))
    with said.raises(InputError):
        resolved.log_weights_of_members(many, 0, np.full((1, 9), 40, dtype=np.int16))


@pytest.mark.parametrize("prior", [BareOnSize(), Halving(), CustomPrior(lambda _, parents: -len(parents))])
def test_weights_of_some_sets_come_from_the_number_of_parents_or_a_function(prior: Any) -> None:
    assert resolve_prior(prior).log_weights_of_members(NAMES, 0, SETS).tolist() == [0.0, -1.0, -2.0]


def test_a_model_takes_a_prior_by_object_and_by_name_with_its_argument() -> None:
    table = datasets.load("coronary")
    assert DagPosterior(score="bdeu", prior=Halving()).fit(table).exact_
    by_name = DagPosterior(score="bdeu", prior="edge:0.2").fit(table)
    assert by_name.log_evidence_ == DagPosterior(score="bdeu", prior=EdgePrior(0.2)).fit(table).log_evidence_


def test_ours_say_what_others_ask_of_them() -> None:
    assert PRIORS.names()[:3] == ("uniform", "indegree", "edge")
    for prior in (
        UniformPrior(),
        resolve_prior("indegree"),
        EdgePrior(0.25),
        EdgePrior("average"),
        EdgePrior((0.1, 0.3)),
    ):
        assert prior.summary
        assert "before the data" in prior.in_words()
        assert from_json(to_json(prior), PRIORS) == prior
    assert to_json(EdgePrior(0.25)) == {"kind": "EdgePrior", "probability": 0.25}
    assert isinstance(to_json(CustomPrior(len)), str)


def test_a_named_prior_takes_its_argument_from_text() -> None:
    code = """
from dataclasses import dataclass
from typing import ClassVar
from dagpost import SizePrior
from dagpost.priors import PRIORS, resolve_prior

@dataclass(frozen=True)
class Geometric(SizePrior):
    name: ClassVar[str] = "geometric"
    argument: ClassVar[str] = "RATE"
    rate: float = 0.5

    @classmethod
    def from_text(cls, argument=None):
        return cls() if argument is None else cls(float(argument))

assert resolve_prior("geometric:0.25") == Geometric(0.25)
assert resolve_prior("geometric") == Geometric()
try:
    resolve_prior("flat")
except ValueError as error:
    assert "'edge:P', 'geometric:RATE' or a prior object" in str(error), error
"""
    subprocess.run([sys.executable, "-c", code], check=True)
