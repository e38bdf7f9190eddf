"""Choices with settings as JSON, and back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from tests.tools.wording import Said

import dagpost
from dagpost import Score
from dagpost._tools.json_settings import from_json, to_json
from dagpost._tools.registry import Registry
from dagpost.errors import InputError
from dagpost.scores.registry import SCORES


@dataclass(frozen=True)
class Toy:
    """A choice of another package."""

    name: ClassVar[str] = "toy"
    sizes: tuple[int, ...] = (1, 2)
    weight: Any = 1.0
    function: Callable[..., Any] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "sizes", tuple(self.sizes))


@dataclass(frozen=True)
class Derived(Toy):
    """A class without a name of its own."""


@pytest.fixture
def toys() -> Registry[Toy]:
    registry: Registry[Toy] = Registry("toy", "dagpost.nothing", [])
    registry.add(Toy)
    return registry


def test_a_choice_comes_back(toys: Registry[Toy]) -> None:
    described = to_json(Toy((3, 4), np.float64(0.5)))
    assert described == {"kind": "Toy", "package": "tests", "sizes": [3, 4], "weight": 0.5}
    assert from_json(described, toys) == Toy((3, 4), 0.5)


def test_text_stays_text(toys: Registry[Toy]) -> None:
    assert from_json(to_json("auto"), toys) == "auto"


def test_what_json_cannot_hold_or_no_registry_knows_is_shown() -> None:
    assert to_json(Toy(function=len)) == repr(Toy(function=len))
    assert to_json(Derived()) == repr(Derived())
    assert to_json(3.5) == "3.5"


def test_an_unknown_kind_says_what_to_install(toys: Registry[Toy], said: Said) -> None:
    with said.raises(InputError):
        from_json({"kind": "Other", "package": "others"}, toys)
    with said.raises(InputError):
        from_json({"kind": "Other"}, toys)


def test_settings_that_a_choice_does_not_take_are_refused(toys: Registry[Toy], said: Said) -> None:
    with said.raises(InputError):
        from_json({"kind": "Toy", "package": Toy.__module__.partition(".")[0], "colour": "red"}, toys)


def test_a_class_of_another_package_is_not_taken_for_one_of_the_same_name() -> None:
    with SCORES.forgetting():

        @dataclass(frozen=True)
        class BIC(Score):
            name = "my-bic"

            def fill(self, *arguments: object, **options: object) -> None: ...

        described = to_json(BIC())
        assert isinstance(described, dict)
        assert type(from_json(described, SCORES)) is BIC
        assert type(from_json({"kind": "BIC"}, SCORES)) is dagpost.BIC
    assert "my-bic" not in SCORES.names()
