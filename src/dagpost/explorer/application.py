"""What the server answers: the page, its scripts and its style as they are, and questions as JSON.

Nothing in a question is trusted: its bytes are counted as they come, whatever the header says of their number, and what
cannot be a question of ours (not UTF-8, not JSON, not an object, numbers beyond all bounds) is refused with a sentence.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from dagpost.errors import DagpostError, InputError
from dagpost.explorer.desk import Answer, Desk, error_json
from dagpost.explorer.page import Asset
from dagpost.explorer.safety import Application, Guard

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

_JSON = "application/json"
#: How web servers note that a client has hung up; nobody reads it.
_GONE: Answer = (499, b"")
#: Many times the longest question that the page can ask.
LARGEST_BODY = 64 * 1024
#: A body comes from this very machine.
SECONDS_FOR_BODY = 10.0
_MOST_DIGITS = 18

Receive = Callable[[], Awaitable[Any]]


def application(desk: Desk, assets: Mapping[str, Asset], token: str, port: int) -> Guard:
    """The whole application for the server at a port of this machine; everything lies behind the token."""
    return Guard(routes(desk, assets), token, port)


def routes(desk: Desk, assets: Mapping[str, Asset]) -> Application:
    """What is behind the token: what the page consists of, by its path, and the questions."""
    from starlette.applications import Starlette
    from starlette.responses import Response
    from starlette.routing import Route

    async def asset(request: Request) -> Response:
        # The path itself: what a route makes of it has lost a line break at its end.
        found = assets.get(request.scope["path"].removeprefix("/"))
        if found is None:
            return Response("Not found.", 404, media_type="text/plain")
        return Response(found.content, media_type=found.kind)

    async def ask(request: Request) -> Response:
        status, content = await _answer(request, desk)
        # What is left of a body that was not read must not be taken for the next request.
        headers = {"connection": "close"} if status in (404, 408, 413, 415) else None
        return Response(content, status, headers, media_type=_JSON)

    found = Starlette(
        routes=[Route("/ask/{question}", ask, methods=["POST"]), Route("/{path:path}", asset, methods=["GET"])]
    )
    found.router.redirect_slashes = False
    return found


async def _answer(request: Request, desk: Desk) -> Answer:
    name = request.path_params["question"]
    if name not in desk.questions:
        return 404, error_json("There is no such question.")
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _JSON:
        return 415, error_json("A question must be of the type application/json.")
    try:
        asked = question_in(await read_body(request.receive))
    except DagpostError as error:
        return 400, error_json(str(error))
    except UnreadError as unread:
        return unread.answer
    answering = asyncio.ensure_future(desk.answer(name, asked))
    leaving = asyncio.ensure_future(_hung_up(request))
    try:
        await asyncio.wait((answering, leaving), return_when=asyncio.FIRST_COMPLETED)
        return answering.result() if answering.done() else _GONE
    finally:
        # A question that nobody waits for any more is not begun.
        answering.cancel()
        leaving.cancel()


async def _hung_up(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


class UnreadError(Exception):
    """The body was not read to its end: why, as the answer to it."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer)
        self.answer = answer


async def read_body(receive: Receive) -> bytes:
    """All bytes of the body."""
    body, more = bytearray(), True
    try:
        async with asyncio.timeout(SECONDS_FOR_BODY):
            while more:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise UnreadError(_GONE)
                body += message.get("body", b"")
                more = message.get("more_body", False)
                if len(body) > LARGEST_BODY:
                    raise UnreadError((413, error_json("The question is too long.")))
    except TimeoutError:
        raise UnreadError((408, error_json("The question came too slowly."))) from None
    return bytes(body)


def question_in(body: bytes) -> dict[str, Any]:
    """The JSON object in a body: numbers that are finite, and text that can be written.

    >>> question_in(b'{"given": ["A -> B"]}')
    {'given': ['A -> B']}
    """
    try:
        found = json.loads(body.decode("utf-8"), parse_int=_small_number)
        # Refuses what is no number of JSON, and halves of characters, which can stand in JSON but in no text.
        json.dumps(found, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise InputError("The question must be a JSON object in UTF-8, such as {}, with finite numbers in it.")
    return found


def _small_number(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise ValueError(digits)
    return int(digits)
