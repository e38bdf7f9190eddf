"""What the page assumes at the moment, as it comes with every request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dagpost._tools.mixture import Value
from dagpost._tools.text import position_of
from dagpost.errors import InputError

#: Nobody argues with more assumptions, or longer ones.
_MOST_STATEMENTS, _LONGEST = 200, 2_000

#: Values of what a model averages over, by name, in the order of the names.
Setting = tuple[tuple[str, Value], ...]


@dataclass(frozen=True)
class State:
    """Statements that are taken for true, and perhaps values of what the model averages over."""

    given: tuple[str, ...] = ()
    setting: Setting = ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing is assumed."""
        return not self.given and not self.setting

    @property
    def sorted(self) -> State:
        """The same for all states in which the same statements are assumed."""
        return State(tuple(sorted(set(self.given))), self.setting)

    @classmethod
    def of(cls, asked: Mapping[str, Any]) -> State:
        """The state in a request, checked."""
        given, setting = asked.get("given", []), asked.get("setting", {})
        if not isinstance(given, list) or len(given) > _MOST_STATEMENTS:
            raise InputError(f"'given' must be a list of at most {_MOST_STATEMENTS} statements.")
        if not all(isinstance(text, str) and len(text) <= _LONGEST for text in given):
            raise InputError(f"Each statement in 'given' must be text of at most {_LONGEST:,} characters.")
        return cls(tuple(given), setting_of(setting))


def setting_of(values: object) -> Setting:
    """Values of what a model averages over, checked as far as that needs no model."""
    if not isinstance(values, Mapping) or not all(
        isinstance(name, str) and isinstance(value, int | float | str) and not isinstance(value, bool)
        for name, value in values.items()
    ):
        raise InputError("'setting' must have values by name, such as {\"edge density\": 0.5}.")
    return tuple(sorted((name, value if isinstance(value, str) else float(value)) for name, value in values.items()))


def text_in(asked: Mapping[str, Any], name: str) -> str:
    """A text in a request, checked."""
    text = asked.get(name)
    if not isinstance(text, str) or len(text) > _LONGEST:
        raise InputError(f"'{name}' must be text of at most {_LONGEST:,} characters.")
    return text


def place_in(place: object, names: Sequence[str], what: str) -> int:
    """The place of a variable in a request, which has it as a number or by its name."""
    if isinstance(place, str):
        return position_of(place, names)
    if isinstance(place, bool) or not isinstance(place, int) or not 0 <= place < len(names):
        raise InputError(f"'{what}' must be the name of a variable, or its place from 0 to {len(names) - 1}.")
    return place
