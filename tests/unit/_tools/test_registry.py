"""Things known by a name: ours, those that derive from a base of ours, and those of entry points, sound or broken."""

from __future__ import annotations

import importlib.metadata

import pytest
from tests.tools.wording import Said

from dagpost._tools import registry as module
from dagpost._tools.registry import Registry
from dagpost.errors import DagpostWarning, InputError


class Red:
    name = "red"


class AlsoRed:
    name = "red"


def test_a_name_belongs_to_the_first_that_takes_it(said: Said) -> None:
    colours: Registry[Red] = Registry("colour", "dagpost.colours", [])
    colours.add(Red)
    colours.add(Red)
    with said.raises(InputError):
        colours.add(AlsoRed)


def test_an_unknown_name_is_an_error_that_suggests_the_nearest(said: Said) -> None:
    colours: Registry[Red] = Registry("colour", "dagpost.colours", [])
    colours.add(Red)
    with said.raises(InputError):
        colours.named("rde")


def test_words_beside_the_names_are_listed_too(said: Said) -> None:
    colours: Registry[Red] = Registry("colour", "dagpost.colours", [])
    colours.add(Red)
    with said.raises(InputError):
        colours.named("x", beside=("auto",))


def test_what_a_test_adds_is_forgotten_though_the_test_fails(said: Said) -> None:
    colours: Registry[Red] = Registry("colour", "dagpost.colours", [])

    def failing() -> None:
        with colours.forgetting():
            colours.add(Red)
            colours.add(AlsoRed)

    with said.raises(InputError):
        failing()
    assert colours.names() == ()
    colours.add(AlsoRed)


def test_a_package_that_cannot_be_loaded_is_a_warning_and_stops_nothing(
    monkeypatch: pytest.MonkeyPatch, said: Said
) -> None:
    broken = importlib.metadata.EntryPoint("blue", "no_such_package:Blue", "dagpost.colours")
    monkeypatch.setattr(module, "entry_points", lambda **_: [broken])
    colours: Registry[Red] = Registry("colour", "dagpost.colours", [])
    colours.add(Red)
    with said.warns(DagpostWarning):
        assert colours.names() == ("red",)
    assert colours.names() == ("red",)
