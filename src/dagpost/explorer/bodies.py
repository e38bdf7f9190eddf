"""The JSON that comes with a question: how much of it is taken, for how long, and what it may hold.

Nothing in it is trusted: the bytes are counted as they come, whatever the header says of their number, and what cannot
be a question of ours (not UTF-8, not JSON, not an object, nested deeply, numbers beyond all bounds) is refused with a
sentence.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Awaitable, Callable
from typing import Any

from dagpost._tools.checks import is_writable
from dagpost.errors import InputError

#: Many times the longest question that the page can ask.
LARGEST_BODY = 64 * 1024
#: A body comes from this very machine.
SECONDS_FOR_BODY = 10.0
_DEEPEST, _MOST_DIGITS = 8, 18

Receive = Callable[[], Awaitable[Any]]


class TooLargeError(Exception):
    """The body is larger than any question."""


class TooSlowError(Exception):
    """The body did not come in time."""


class GoneError(Exception):
    """The client has hung up."""


async def read_body(receive: Receive) -> bytes:
    """All bytes of the body."""
    body, more = bytearray(), True
    try:
        async with asyncio.timeout(SECONDS_FOR_BODY):
            while more:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise GoneError
                body += message.get("body", b"")
                more = message.get("more_body", False)
                if len(body) > LARGEST_BODY:
                    raise TooLargeError
    except TimeoutError:
        raise TooSlowError from None
    return bytes(body)


def question_in(body: bytes) -> dict[str, Any]:
    """The JSON object in a body.

    >>> question_in(b'{"given": ["A -> B"]}')
    {'given': ['A -> B']}
    """
    try:
        found = json.loads(
            body.decode("utf-8"), parse_constant=_refuse_constant, parse_int=_small_number, parse_float=_finite_number
        )
    except UnicodeDecodeError:
        raise InputError("The question must be text in UTF-8.") from None
    except RecursionError:
        raise _too_deep() from None
    except json.JSONDecodeError:
        raise InputError("The question must be JSON.") from None
    if not isinstance(found, dict):
        raise InputError("The question must be a JSON object, such as {}.")
    _check(found)
    return found


def _too_deep() -> InputError:
    return InputError(f"The question is nested too deeply: at most {_DEEPEST} levels.")


def _check(question: dict[str, Any]) -> None:
    """Refuse what is nested deeply, and halves of characters, which can stand in JSON but in no text."""
    level: list[Any] = [question]
    for _ in range(_DEEPEST):
        inner: list[Any] = []
        for own in level:
            if isinstance(own, dict):
                inner += [*own.keys(), *own.values()]
            elif isinstance(own, list):
                inner += own
            elif isinstance(own, str) and not is_writable(own):
                raise InputError("The question has half of a character (a lone surrogate) in it.")
        level = inner
    if level:
        raise _too_deep()


def _refuse_constant(name: str) -> Any:
    raise InputError(f"{name} is not a number of JSON.")


def _small_number(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise InputError(f"A whole number in the question has more than {_MOST_DIGITS} digits.")
    return int(digits)


def _finite_number(digits: str) -> float:
    if not math.isfinite(number := float(digits)):
        raise InputError("A number in the question is too large.")
    return number
