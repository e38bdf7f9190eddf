"""Where questions are handed in: each waits for its turn in a thread, and its answer comes back as JSON."""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from dagpost._tools.progress import UnwantedError
from dagpost._tools.spelling import in_python
from dagpost.errors import DagpostError, collected_warnings
from dagpost.explorer.questions import QUESTIONS, Question
from dagpost.explorer.session import PatienceError, Session, in_a_hurry
from dagpost.explorer.work import Lane, RefusedError

#: The status and the JSON of an answer.
Answer = tuple[int, bytes]


class Desk:
    """Takes the questions on one session; no quick one waits for a patient one.

    One that cannot be answered quickly waits with the patient ones, though it was not said to be one of them.
    """

    def __init__(self, session: Session, questions: Mapping[str, Question] = QUESTIONS) -> None:
        self.questions = questions
        self._session = session
        self._quick, self._patient = Lane("dagpost explorer: quick"), Lane("dagpost explorer: patient")

    async def answer(self, name: str, asked: Mapping[str, Any]) -> Answer:
        """The answer to a question that there is. It is given up when the caller is cancelled."""
        question = self.questions[name]
        try:
            if asked.get("patient") is not True:
                with suppress(PatienceError):
                    return await self._quick.ask(lambda: _hurried(question, self._session, asked))  # type: ignore[no-any-return]
            return await self._patient.ask(lambda: _answered(question, self._session, asked))  # type: ignore[no-any-return]
        except RefusedError as refused:
            return 503, error_json(str(refused))

    @property
    def waiting(self) -> int:
        """How many questions wait for their turn."""
        return self._quick.waiting + self._patient.waiting

    def close(self) -> None:
        """Answer no more questions; one that is being worked on ends in its own time, and nobody hears of it."""
        self._quick.close()
        self._patient.close()


def error_json(words: str, at: int | None = None) -> bytes:
    """What is wrong, as the page reads it; `at` is the place of the character in the statement."""
    return json.dumps({"error": words} if at is None else {"error": words, "at": at}).encode("ascii")


def _hurried(question: Question, session: Session, asked: Mapping[str, Any]) -> Answer:
    """The same as `_answered`, unless it takes long: that ends in a `PatienceError`."""
    with in_a_hurry():
        return _answered(question, session, asked)


def _answered(question: Question, session: Session, asked: Mapping[str, Any]) -> Answer:
    """Ask in this thread; whatever happens, there is an answer."""
    try:
        with collected_warnings() as said:
            answer = question(session, asked)
        if said:
            answer = {**answer, "notes": [*answer.get("notes", []), *map(in_python, said)]}
        return 200, json.dumps(answer, allow_nan=False, separators=(",", ":")).encode("ascii")
    except (UnwantedError, PatienceError):
        raise
    except DagpostError as error:
        return 400, error_json(error.plain, error.at)
    except MemoryError:
        return 503, error_json("The memory ran out.")
    except Exception:  # noqa: BLE001  a fault of ours: said where the server was started, and the server lives on
        traceback.print_exc(file=sys.stderr)
        return 500, error_json("Something went wrong. Where the explorer was started, there is more about it.")
