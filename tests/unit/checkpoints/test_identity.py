"""A folder belongs to one call: only that one goes on from it, and others are told what differs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.tools.broken_off import eager
from tests.tools.wording import Said

from dagpost.checkpoints import Checkpoint
from dagpost.errors import InputError

IDENTITY = {"data": "some", "seed": 1}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "run.partial"


def write(folder: Path, identity: dict[str, Any]) -> None:
    """A run with one step, which is written."""
    with eager(folder).task("fit", identity) as kept:
        list(kept.stage("stage", [1], lambda _: [np.zeros(1)]))


def test_a_call_that_goes_on_says_so_once_and_before_its_first_step(folder: Path) -> None:
    said: list[str] = []

    def attempt(identity: dict[str, Any]) -> None:
        checkpoint = Checkpoint(folder, seconds=0, when_resumed=lambda: said.append("resumed"))
        with checkpoint.task("fit", identity) as kept:
            for step in kept.stage("stage", range(3), lambda _: [np.zeros(1)]):
                said.append(f"step {step}")
                if step == 1:
                    break

    attempt(IDENTITY)
    assert said == ["step 0", "step 1"]
    said.clear()
    with pytest.raises(InputError, match="another run"):
        attempt({**IDENTITY, "seed": 2})
    assert said == []
    attempt(IDENTITY)
    assert said == ["resumed", "step 1"]


def test_decisions_hold_for_the_run_that_goes_on(folder: Path) -> None:
    answers = iter(["first", "second"])
    for _ in range(2):
        with eager(folder).task("fit", IDENTITY) as kept:
            assert kept.decided("method", lambda: next(answers)) == "first"
            for _ in kept.stage("stage", [1], lambda _: [np.zeros(1)]):
                pass


def test_another_identity_is_refused_with_what_differs(folder: Path) -> None:
    write(folder, IDENTITY)
    said = r"another run \(seed: 1 there, 2 here\).*to start anew, remove the folder"
    with pytest.raises(InputError, match=said), eager(folder).task("fit", {**IDENTITY, "seed": 2}):
        pytest.fail("it was opened")
    with eager(folder).task("fit", IDENTITY) as kept:
        assert kept.resumed


@pytest.mark.parametrize(
    ("name", "there", "here", "words"),
    [
        ("required", [], [["v1", "v2"]], "required: none there, v1 -> v2 here"),
        ("tiers", None, [["a", "b"], ["c"]], "tiers: none there, a, b before c here"),
        (
            "prior",
            {"kind": "UniformPrior"},
            {"kind": "EdgePrior", "probability": 0.2},
            "prior: uniform there, edge (probability 0.2) here",
        ),
        (
            "method",
            "auto",
            {"kind": "PartialOrderMCMC", "burn_in": 20, "swaps_only": False, "order": None},
            "method: auto there, PartialOrderMCMC (burn in 20, swaps only no) here",
        ),
        ("method", {"kind": "GivenOrder", "order": ["b", "a\x9b"]}, "dds", r"GivenOrder (order b > a\x9b) there"),
        ("resumed_from", None, "0" * 32, "resumed_from: others there than here"),
        ("forbidden", [], [["long", "x" * 99]], f"none there, long -> {'x' * 52} ... here"),
    ],
)
def test_what_differs_is_said_without_words_of_python_or_json(
    name: str, there: Any, here: Any, words: str, folder: Path
) -> None:
    write(folder, {name: there})
    with pytest.raises(InputError) as refused, eager(folder).task("fit", {name: here}):
        pytest.fail("it was opened")
    assert words in str(refused.value)


def test_other_weights_are_refused(folder: Path, said: Said) -> None:
    for value in (0.0, 0.0, 1.0):
        with eager(folder).task("fit", IDENTITY) as kept:
            if value == 1.0:
                with said.raises(InputError):
                    kept.identify("weights", [np.array([value])])
                continue
            kept.identify("weights", [np.array([value])])
            for _ in kept.stage("stage", [1], lambda _: [np.zeros(1)]):
                pass
