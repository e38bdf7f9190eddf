"""Messages in the words of the command line, where a parameter of the library is an option."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass

from dagpost._tools.spelling import in_options

#: Options that are not named after their parameter.
_OPTIONS = {
    "count": "--number",
    "equivalent_sample_size": "--ess",
    "graphs": "--number",
    "resumed_from": "--resume",
    "strategy": "--discretise",
    "tiers": "--tier",
}


def in_words(marked: str) -> str:
    """A marked message (_tools/spelling.py) with options in the place of parameters.

    >>> from dagpost._tools.spelling import parameter
    >>> in_words(f"{parameter('chains', 'OrderMCMC')} and {parameter('max_parents')} must be whole numbers.")
    'order-mcmc:chains and --max-parents must be whole numbers.'
    """
    from dagpost.methods.registry import METHODS
    from dagpost.scores.registry import SCORES

    # Some settings of scores are options of their own; those of methods never are.
    settings = _spelled(METHODS.classes(), {}) | _spelled(SCORES.classes(), _OPTIONS)
    return in_options(marked, settings | _OPTIONS)


def _spelled(kinds: Mapping[str, type], options: Mapping[str, str]) -> dict[str, str]:
    """How the settings of some methods or scores are written on the command line."""
    return {
        f"{kind.__name__}.{field.name}": options.get(field.name, f"{name}:{field.name}")
        for name, kind in kinds.items()
        if is_dataclass(kind)
        for field in fields(kind)
    }


def plain_complaint(message: str, arguments: Sequence[str], options: Sequence[str]) -> str:
    """What the reader of the command line says of a value, without the words of its libraries.

    >>> words = "Input should be a valid integer, unable to parse string as an integer"
    >>> plain_complaint(words, ["t.csv", "--seed", "x"], ["--seed"])
    "'x' is not a whole number."
    >>> plain_complaint("'x' is not a valid integer.", ["t.csv", "--seed", "x"], ["--seed"])
    "'x' is not a whole number."
    """
    message = message.removeprefix("Value error, ")
    for kind, words in (("integer", "a whole number"), ("number", "a number"), ("float", "a number")):
        if f"valid {kind}" in message:
            value = _value_of(options, arguments)
            return f"This is not {words}." if value is None else f"{value!r} is not {words}."
    return message


def _value_of(options: Sequence[str], arguments: Sequence[str]) -> str | None:
    """The value that was given for an option, where that can be told."""
    for place, word in enumerate(arguments):
        for option in options:
            if word == option and place + 1 < len(arguments):
                return arguments[place + 1]
            glued = f"{option}=" if option.startswith("--") else option
            if word.startswith(glued) and word != option:
                return word.removeprefix(glued)
    return None
