"""Things known by a name: ours, those that derive from a base of ours, and those of entry points, sound or broken."""

from __future__ import annotations

import importlib.metadata

import pytest

from dagpost._tools import registry as module
from dagpost._tools.registry import Registry
from dagpost.errors import DagpostWarning, InputError


class Red:
    name = "red"


class AlsoRed:
    name = "red"


def test_a_name_belongs_to_the_first_that_takes_it() -> None:
    colours: Registry[Red] = Registry("colour", "dagpost.colours", [])
    colours.add(Red)
    colours.add(Red)
    with pytest.raises(InputError, match="The colour name 'red' is taken by"):
        colours.add(AlsoRed)


def test_an_unknown_name_is_an_error_that_suggests_the_nearest() -> None:
    colours: Registry[Red] = Registry("colour", "dagpost.colours", [])
    colours.add(Red)
    with pytest.raises(InputError, match=r"There is no colour 'rde'\. Did you mean 'red'\?"):
        colours.named("rde")


def test_words_beside_the_names_are_listed_too() -> None:
    colours: Registry[Red] = Registry("colour", "dagpost.colours", [])
    colours.add(Red)
    with pytest.raises(InputError, match=r"There is no colour 'x'\. There are: 'auto', 'red'\."):
        colours.named("x", beside=("auto",))


def test_what_a_test_adds_is_forgotten_though_the_test_fails() -> None:
    colours: Registry[Red] = Registry("colour", "dagpost.colours", [])

    def failing() -> None:
        with colours.forgetting():
            colours.add(Red)
            colours.add(AlsoRed)

    with pytest.raises(InputError, match="is taken by"):
        failing()
    assert colours.names() == ()
    colours.add(AlsoRed)


def test_a_package_that_cannot_be_loaded_is_a_warning_and_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = importlib.metadata.EntryPoint("blue", "no_such_package:Blue", "dagpost.colours")
    monkeypatch.setattr(module, "entry_points", lambda **_: [broken])
    colours: Registry[Red] = Registry("colour", "dagpost.colours", [])
    colours.add(Red)
    with pytest.warns(DagpostWarning, match=r"The colour 'blue' of another package cannot be loaded"):
        assert colours.names() == ("red",)
    assert colours.names() == ("red",)
