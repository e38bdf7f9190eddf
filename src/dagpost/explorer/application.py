"""What the server answers: the page, its scripts and its style as they are, and questions as JSON."""

from __future__ import annotations

import asyncio
import json
import sys
import traceback
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dagpost.errors import DagpostError, ResourceError, collected_warnings
from dagpost.explorer.bodies import GoneError, TooLargeError, TooSlowError, question_in, read_body
from dagpost.explorer.page import Asset, assets_of
from dagpost.explorer.questions import QUESTIONS, Question
from dagpost.explorer.safety import Application, Guard
from dagpost.explorer.session import Session
from dagpost.explorer.state import State
from dagpost.explorer.work import BusyError, Lane, ReplacedError

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

_JSON = "application/json"
#: What nginx calls it when a client hangs up before the answer; nobody reads it.
_GONE = 499


class Desk:
    """Takes the questions on one session: each waits for its turn, and its answer is written as JSON."""

    def __init__(self, session: Session, questions: Mapping[str, Question] = QUESTIONS) -> None:
        self.session, self.questions = session, questions
        self._quick, self._patient = Lane("dagpost explorer, quick"), Lane("dagpost explorer, patient")

    async def answer(self, name: str, asked: dict[str, Any]) -> tuple[int, bytes]:
        """The status and the JSON of an answer."""
        question = self.questions[name]
        patient = asked.get("patient") is True
        lane, kind = (self._patient, name) if patient else (self._quick, None)
        try:
            return await lane.ask(lambda: _answered(question, self.session, asked), kind)  # type: ignore[no-any-return]
        except BusyError:
            return 503, _error("busy")
        except ReplacedError:
            return 409, _error("A newer question has taken the place of this one.")

    def close(self) -> None:
        """Take no more questions."""
        self._quick.close()
        self._patient.close()


def application(
    session: Session,
    token: str,
    port: int,
    start: State | None = None,
    questions: Mapping[str, Question] = QUESTIONS,
) -> Application:
    """The whole application for the server at a port of this machine; everything lies behind the token.

    The page begins with the assumptions of `start`.
    """
    from starlette.applications import Starlette
    from starlette.responses import Response
    from starlette.routing import Route

    desk, assets = Desk(session, questions), assets_of(session, start or State())

    async def asset(request: Request) -> Response:
        found: Asset | None = assets.get(request.path_params["name"])
        if found is None:
            return Response("Not found.", 404, media_type="text/plain")
        return Response(found.content, media_type=found.kind)

    async def ask(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in desk.questions:
            return Response(_error("There is no such question."), 404, media_type=_JSON)
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _JSON:
            return Response(_error("A question must be application/json."), 415, media_type=_JSON)
        try:
            asked = question_in(await read_body(request.receive))
        except DagpostError as error:
            return Response(_error(str(error)), 400, media_type=_JSON)
        except TooLargeError:
            return _closing(413, "The question is too long.")
        except TooSlowError:
            return _closing(408, "The question came too slowly.")
        except GoneError:
            return Response(status_code=_GONE)
        status, content = await _unless_gone(request, desk.answer(name, asked))
        return Response(content, status, media_type=_JSON)

    routes = [
        Route("/ask/{name}", ask, methods=["POST"]),
        Route("/{name:path}", asset, methods=["GET"]),
    ]
    return Guard(Starlette(routes=routes), token, port)


async def _unless_gone(request: Request, answer: Any) -> tuple[int, bytes]:
    """The answer; if the client hangs up before, the question is given up."""
    asking = asyncio.ensure_future(answer)
    leaving = asyncio.ensure_future(_hung_up(request))
    try:
        await asyncio.wait((asking, leaving), return_when=asyncio.FIRST_COMPLETED)
        return asking.result() if asking.done() else (_GONE, b"")
    finally:
        asking.cancel()
        leaving.cancel()


async def _hung_up(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _closing(status: int, words: str) -> Response:
    from starlette.responses import Response

    return Response(_error(words), status, {"connection": "close"}, media_type=_JSON)


def _answered(question: Question, session: Session, asked: dict[str, Any]) -> tuple[int, bytes]:
    """Ask in this thread: the status and the JSON, whatever happens."""
    try:
        with collected_warnings() as said:
            answer = question(session, asked)
        if said:
            answer = {**answer, "notes": [*answer.get("notes", []), *said]}
        return 200, json.dumps(answer, allow_nan=False, separators=(",", ":")).encode("utf-8")
    except ResourceError as error:
        return 400, _error(str(error))
    except DagpostError as error:
        place = getattr(error, "at", None)
        return 400, _error(getattr(error, "plain", None) or str(error), **({} if place is None else {"at": place}))
    except MemoryError:
        return 503, _error("The memory ran out.")
    except Exception:  # noqa: BLE001  a fault of ours: said where the server was started, and the server lives on
        traceback.print_exc(file=sys.stderr)
        return 500, _error("Something went wrong; the terminal in which the explorer was started says what.")


def _error(words: str, **more: Any) -> bytes:
    return json.dumps({"error": words, **more}).encode("utf-8")
