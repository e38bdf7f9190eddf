from __future__ import annotations

import asyncio
import json
import math
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import pytest
from tests.tools import explored
from tests.tools.asgi import PORT, TOKEN, ask, run

from dagpost._tools.progress import NO_PROGRESS
from dagpost.errors import InputError, ResourceError, warn
from dagpost.explorer.application import application
from dagpost.explorer.desk import Desk
from dagpost.explorer.safety import Guard
from dagpost.explorer.state import State
from dagpost.explorer.work import MOST_WAITING

#: Longer than anything takes here; nothing waits for it unless the test fails.
PATIENCE_SECONDS = 20.0


class Place:
    """Questions of a test: some wait until they are let go, and all of them leave a trace."""

    def __init__(self) -> None:
        self.begun: list[Any] = []
        self.given_up: list[Any] = []
        self.let_go, self.works = threading.Event(), threading.Event()
        self.desk = Desk(None, {"echo": self.echo, "wait": self.wait, "step": self.step, "raise": self.fail})
        self.app: Guard = application(self.desk, {}, TOKEN, PORT)
        self.error: BaseException = InputError("")

    def echo(self, _: Any, asked: Any) -> dict[str, Any]:
        self.begun.append(asked.get("name"))
        if asked.get("warn"):
            warn("Something is unusual.")
        return {"asked": dict(asked), "thread": threading.current_thread().name, **asked.get("answer", {})}

    def wait(self, _: Any, asked: Any) -> dict[str, Any]:
        self.begun.append(asked.get("name"))
        self.works.set()
        assert self.let_go.wait(PATIENCE_SECONDS)
        return {"name": asked.get("name")}

    def step(self, _: Any, asked: Any) -> dict[str, Any]:
        """Work in steps that does not end by itself."""
        try:
            with NO_PROGRESS.stage("steps", 10**9) as stage:
                for _ in range(int(PATIENCE_SECONDS * 1000)):
                    stage.advance(1)
                    self.works.set()
                    time.sleep(0.001)
        finally:
            self.given_up.append(asked.get("name"))
        return {}

    def fail(self, *_: Any) -> dict[str, Any]:
        raise self.error

    def run(self, story: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
        """Run what a test does at the same time as questions are worked on."""

        async def limited() -> Any:
            async with asyncio.timeout(PATIENCE_SECONDS):
                return await story()

        return run(limited())

    async def until_waiting(self, count: int) -> None:
        while self.desk.waiting != count:
            await asyncio.sleep(0)

    async def until_it_works(self) -> None:
        await asyncio.to_thread(self.works.wait, PATIENCE_SECONDS)


@pytest.fixture
def place() -> Iterator[Place]:
    found = Place()
    yield found
    found.let_go.set()
    found.desk.close()


def test_an_answer_comes_back_as_json_from_a_thread_of_its_own(place: Place) -> None:
    reply = place.run(lambda: ask(place.app, "echo", {"name": 'é "\u2028'}))
    assert reply.status == 200
    assert reply.headers["content-type"] == "application/json"
    assert reply.json["asked"] == {"name": 'é "\u2028'}
    assert reply.json["thread"] != threading.current_thread().name


def test_numbers_come_back_in_full(place: Place) -> None:
    value = math.pi * 1e-7
    assert place.run(lambda: ask(place.app, "echo", {"answer": {"value": value}})).json["value"] == value


def test_warnings_are_notes_of_the_answer(place: Place) -> None:
    asked = {"warn": True, "answer": {"notes": ["First."]}}
    assert place.run(lambda: ask(place.app, "echo", asked)).json["notes"] == ["First.", "Something is unusual."]


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (InputError("There is no variable 'x'."), 400, "There is no variable 'x'."),
        (ResourceError("This takes 3 TB."), 400, "This takes 3 TB."),
        (MemoryError(), 503, "The memory ran out."),
        (RecursionError("deep"), 500, None),
        (StopIteration(), 500, None),
        (SystemExit(3), 500, None),
        (KeyboardInterrupt(), 500, None),
    ],
    ids=lambda value: type(value).__name__,
)
def test_whatever_a_question_raises_is_answered_and_the_next_one_too(
    place: Place, error: BaseException, status: int, words: str | None
) -> None:
    place.error = error

    async def story() -> Any:
        return await ask(place.app, "raise", {}), await ask(place.app, "echo", {})

    failed, next_one = place.run(story)
    assert failed.status == status
    assert words is None or failed.json == {"error": words}
    assert next_one.status == 200


def test_an_error_in_a_statement_says_at_which_character(place: Place) -> None:
    place.error = InputError("Wrong.\n  A -> B\n    ^")
    place.error.at = 2
    assert place.run(lambda: ask(place.app, "raise", {})).json == {"error": "Wrong.", "at": 2}


def test_an_answer_that_is_not_json_is_a_fault_of_ours(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    place.desk = Desk(None, {"nan": lambda *_: {"value": math.nan}})
    place.app = application(place.desk, {}, TOKEN, PORT)
    assert place.run(lambda: ask(place.app, "nan", {})).status == 500
    assert "ValueError" in capsys.readouterr().err


def test_no_more_questions_wait_than_are_allowed(place: Place) -> None:
    async def story() -> Any:
        first = asyncio.create_task(ask(place.app, "wait", {"name": "first"}))
        await place.until_it_works()
        waiting = []
        for number in range(MOST_WAITING):
            waiting.append(asyncio.create_task(ask(place.app, "wait", {"name": number})))
            await place.until_waiting(number + 1)
        refused = [await ask(place.app, "wait", {}) for _ in range(3)]
        place.let_go.set()
        return refused, [await task for task in (first, *waiting)]

    refused, answered = place.run(story)
    assert [(reply.status, reply.json) for reply in refused] == [(503, {"error": "busy"})] * 3
    assert [reply.json["name"] for reply in answered] == ["first", *range(MOST_WAITING)]


def test_a_question_whose_client_has_gone_is_not_begun(place: Place) -> None:
    async def story() -> Any:
        first = asyncio.create_task(ask(place.app, "wait", {"name": "first"}))
        await place.until_it_works()
        gone = asyncio.Event()
        left = asyncio.create_task(ask(place.app, "wait", {"name": "left"}, gone=gone))
        stays = asyncio.create_task(ask(place.app, "wait", {"name": "stays"}))
        await place.until_waiting(2)
        gone.set()
        assert (await left).status == 499
        place.let_go.set()
        return [(await task).json["name"] for task in (first, stays)]

    assert place.run(story) == ["first", "stays"]
    assert place.begun == ["first", "stays"]


def test_a_client_that_goes_before_its_question_is_complete_is_forgotten(place: Place) -> None:
    from tests.tools.asgi import behind_token, send

    async def story() -> Any:
        gone = asyncio.Event()
        gone.set()
        headers = {"content-type": "application/json"}
        path = behind_token("ask/echo")
        return await send(place.app, "POST", path, headers=headers, body=b"{", unfinished=True, gone=gone)

    assert place.run(story).status == 499
    assert place.begun == []


def test_work_that_nobody_waits_for_any_more_is_given_up_between_two_steps(place: Place) -> None:
    async def story() -> Any:
        gone = asyncio.Event()
        left = asyncio.create_task(ask(place.app, "step", {"name": "long", "patient": True}, gone=gone))
        await place.until_it_works()
        gone.set()
        await left
        return await ask(place.app, "echo", {"name": "next", "patient": True})

    assert place.run(story).status == 200
    assert place.given_up == ["long"]


def test_quick_questions_do_not_wait_for_patient_ones(place: Place) -> None:
    async def story() -> Any:
        patient = asyncio.create_task(ask(place.app, "wait", {"name": "patient", "patient": True}))
        await place.until_it_works()
        quick = await ask(place.app, "echo", {"name": "quick"})
        assert not patient.done()
        place.let_go.set()
        return quick, await patient

    quick, patient = place.run(story)
    assert (quick.status, patient.status) == (200, 200)


def test_when_the_server_ends_nobody_is_left_waiting(place: Place) -> None:
    async def story() -> Any:
        tasks = [asyncio.create_task(ask(place.app, "wait", {"name": 0}))]
        await place.until_it_works()
        tasks += [asyncio.create_task(ask(place.app, "wait", {"name": n})) for n in (1, 2)]
        await place.until_waiting(2)
        place.desk.close()
        return [await task for task in tasks], await ask(place.app, "echo", {})

    ended, late = place.run(story)
    assert [reply.status for reply in (*ended, late)] == [503] * 4
    assert late.json == {"error": "The explorer has ended."}
    assert place.begun == [0]


def test_what_takes_long_leaves_the_thread_of_quick_questions_by_itself() -> None:
    session = explored.session("chains")
    names = session.fitted.names

    def which(own: Any, asked: Any) -> dict[str, Any]:
        quick = threading.current_thread().name
        own.under(State((f"{names[0]} -> {names[1]}",)), patient=asked["long"])
        return {"thread": quick}

    desk = Desk(session, {"which": which})

    async def threads() -> list[str]:
        return [json.loads((await desk.answer("which", {"long": long}))[1])["thread"] for long in (False, True, False)]

    assert [name.rpartition(" ")[2] for name in run(threads())] == ["quick", "patient", "quick"]
    desk.close()
