"""What is written as TOML is read back as it was."""

from __future__ import annotations

import math
import tomllib

from hypothesis import given
from hypothesis import strategies as st
from tests.tools.wording import Said

from dagpost._tools.toml_text import toml_comment, toml_key, toml_value
from dagpost.errors import InputError

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = TEXTS | st.booleans() | st.integers() | st.floats(allow_nan=False)


@given(TEXTS, VALUES | st.lists(VALUES), TEXTS)
def test_names_and_values_are_read_back_exactly(name: str, value: object, words: str) -> None:
    text = f"{toml_comment(words)}\n[table.{toml_key(name)}]\nkey = {toml_value(value)}\n"
    read = tomllib.loads(text)["table"]
    assert list(read) == [name]
    assert repr(read[name]["key"]) == repr(value)


def test_a_tuple_is_written_as_a_list_and_a_long_list_on_many_lines() -> None:
    assert toml_value((1, 2.5)) == "[1, 2.5]"
    long = [f"level {i}" for i in range(30)]
    assert tomllib.loads(f"key = {toml_value(long)}")["key"] == long
    assert toml_value(long).count("\n") == 31
    assert math.isinf(tomllib.loads(f"key = {toml_value(math.inf)}")["key"])


def test_half_a_character_is_refused(said: Said) -> None:
    with said.raises(InputError):
        toml_key("\ud800")
