"""What do words say that stand for numbers or truth values? All words of a column are looked at together.

A number has a decimal point, or a decimal comma if all words of the column agree with that. A censored number is known
to lie below or above a limit, or between two: "<0.05", "> 100", "<=3", "≥ 200", "[3, 5]". Linear in the words.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

#: What is longer is text: no number that means something has as many digits.
_LONGEST_NUMBER = 300
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?inf(inity)?", re.IGNORECASE)
_COMMA_NUMBER = re.compile(r"[+-]?(\d+,?\d*|,\d+)([eE][+-]?\d+)?")
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+")
#: Larger whole numbers are not exact in a float.
_EXACT = 2.0**53
_TRUTH = {"true": True, "false": False}
_LIMIT = re.compile(r"(?P<sign><=?|>=?|[≤≥])\s*(?P<limit>[^\s<>].*)")
_BETWEEN = re.compile(r"\[\s*(?P<low>[^\s;\]]+?)\s*(?:;|,\s)\s*(?P<high>[^\s;\]]+)\s*\]")


class Limits(NamedTuple):
    """Words of numbers, some of them censored: the number of each (None: censored), and between which it lies."""

    numbers: list[int | float | None]
    bounds: list[tuple[float, float]]


def parsed(words: Sequence[str]) -> list[Any] | None:
    """The words as numbers, or as truth values, if all of them are; else None.

    >>> parsed(["56", "1.5"]), parsed(["true", "False"]), parsed(["1,5", "2"]), parsed(["56", "old"])
    ([56, 1.5], [True, False], [1.5, 2], None)
    """
    if any(len(word) > _LONGEST_NUMBER for word in words):
        return None
    if all(_NUMBER.fullmatch(word) for word in words):
        return [number_of(word) for word in words]
    if all(word.lower() in _TRUTH for word in words):
        return [_TRUTH[word.lower()] for word in words]
    if all(_COMMA_NUMBER.fullmatch(word) for word in words):
        # "1,234" may mean a thousand or a fraction: if all could, none is decided.
        with_comma = [word for word in words if "," in word]
        if not all(_THOUSANDS.fullmatch(word) for word in with_comma):
            return [number_of(word.replace(",", ".")) for word in words]
    return None


def parsed_limits(words: Sequence[str]) -> Limits | None:
    """The words as numbers and censored numbers, if all of them are and some are censored; else None.

    >>> parsed_limits(["0.3", "<0.05", ">= 9"]).numbers
    [0.3, None, None]
    >>> parsed_limits(["0.3", "<0.05"]).bounds
    [(-inf, inf), (-inf, 0.05)]
    """
    apart = [_taken_apart(word) for word in words]
    found = parsed([text for _, texts in apart for text in texts])
    if not any(sign for sign, _ in apart) or found is None or any(isinstance(number, bool) for number in found):
        return None
    left, limits = iter(found), Limits([], [])
    for sign, texts in apart:
        own = [next(left) for _ in texts]
        bounds = _bounds(sign, [float(number) for number in own])
        if not all(map(math.isfinite, own)) or bounds[0] >= bounds[1]:
            return None
        limits.numbers.append(None if sign else own[0])
        limits.bounds.append(bounds)
    return limits


def limit_text(lower: float, upper: float) -> str:
    """A censored number as a word that `parsed_limits` reads.

    >>> [limit_text(*bounds) for bounds in parsed_limits(["<0.05", "<= 3", "≥200", "[3, 5]"]).bounds]
    ['<0.05', '<=3', '>=200', '[3, 5]']
    """
    low, high = _rounded(math.nextafter(lower, math.inf)), _rounded(math.nextafter(upper, -math.inf))
    if math.isfinite(lower) and math.isfinite(upper):
        return f"[{low or _text(lower)}, {high or _text(upper)}]"
    if math.isfinite(upper):
        return f"<={high}" if high else f"<{_text(upper)}"
    return f">={low}" if low else f">{_text(lower)}"


def with_limit_texts(numbers: NDArray[np.float64], bounds: NDArray[np.float64] | None) -> NDArray[Any]:
    """A column of numbers, with words such as "<0.05" in the place of nan where numbers are censored."""
    if bounds is None:
        return numbers
    censored = np.flatnonzero(np.isnan(numbers) & np.isfinite(bounds).any(axis=1))
    column: NDArray[Any] = numbers.astype(object) if len(censored) else numbers
    for row in censored.tolist():
        column[row] = limit_text(*bounds[row].tolist())
    return column


def reads_as_number(text: str) -> bool:
    """Whether text is a number, with a decimal point or comma."""
    return len(text) <= _LONGEST_NUMBER and bool(_NUMBER.fullmatch(text) or _COMMA_NUMBER.fullmatch(text))


def number_of(word: str) -> int | float:
    """The number that a word with a decimal point stands for."""
    return int(word) if word.lstrip("+-").isdecimal() else float(word)


def _taken_apart(word: str) -> tuple[str, tuple[str, ...]]:
    """The sign of a censored number, empty for a number, and the words of the numbers in it."""
    if found := _LIMIT.fullmatch(word):
        return found["sign"], (found["limit"],)
    found = _BETWEEN.fullmatch(word)
    return ("[", (found["low"], found["high"])) if found else ("", (word,))


def _bounds(sign: str, limits: list[float]) -> tuple[float, float]:
    """Open bounds: a limit that is allowed itself lies within them."""
    match sign:
        case "<":
            return -math.inf, limits[0]
        case "<=" | "≤":
            return -math.inf, math.nextafter(limits[0], math.inf)
        case ">":
            return limits[0], math.inf
        case ">=" | "≥":
            return math.nextafter(limits[0], -math.inf), math.inf
        case "[":
            return math.nextafter(limits[0], -math.inf), math.nextafter(limits[1], math.inf)
    return -math.inf, math.inf


def _rounded(number: float) -> str:
    """The text of a number that people write, in at most 15 digits; empty for any other."""
    short = float(f"{number:.15g}") if math.isfinite(number) else math.nan
    return _text(number) if short == number else ""


def _text(number: float) -> str:
    return str(int(number)) if number.is_integer() and abs(number) < _EXACT else repr(number)
