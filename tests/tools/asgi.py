"""Requests to a web application within this process: no server, no socket."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar
from urllib.parse import unquote

Made = TypeVar("Made")

TOKEN, PORT = "a-token-of-a-test", 8123
HOST = f"127.0.0.1:{PORT}"


class Reply(NamedTuple):
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def run(story: Coroutine[Any, Any, Made]) -> Made:
    """What a coroutine returns, from a thread of its own: a browser that is open keeps a loop running in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, story).result()


async def send(
    app: Any,
    method: str,
    path: str,
    *,
    headers: Mapping[str, str] | Iterable[tuple[str, str]] = (),
    body: bytes | Iterable[bytes] = b"",
    host: str | None = HOST,
    gone: asyncio.Event | None = None,
    unfinished: bool = False,
) -> Reply:
    """One request, as uvicorn would pass it on; the client hangs up when `gone` is set.

    A body of several pieces comes piece by piece; one that is `unfinished` never ends.
    """
    pieces = [body] if isinstance(body, bytes) else list(body)
    given = list(headers.items()) if isinstance(headers, Mapping) else list(headers)
    hosts = [] if host is None else [("host", host)]
    waiting = [
        {"type": "http.request", "body": piece, "more_body": unfinished or number < len(pieces) - 1}
        for number, piece in enumerate(pieces)
    ]
    gone = gone or asyncio.Event()
    messages: list[Any] = []

    async def receive() -> Any:
        if waiting:
            return waiting.pop(0)
        await gone.wait()
        return {"type": "http.disconnect"}

    async def take(message: Any) -> None:
        messages.append(message)

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": unquote(path),
        "raw_path": path.encode("utf-8"),
        "query_string": b"",
        "root_path": "",
        "headers": [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in [*hosts, *given]],
        "client": ("127.0.0.1", 50_000),
        "server": ("127.0.0.1", PORT),
    }
    await app(scope, receive, take)
    return Reply(
        messages[0]["status"],
        {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in messages[0]["headers"]},
        b"".join(message.get("body", b"") for message in messages[1:]),
    )


def request(app: Any, method: str, path: str, **more: Any) -> Reply:
    """One request and its answer."""
    return run(send(app, method, path, **more))


def behind_token(path: str) -> str:
    """A path of the application."""
    return f"/{TOKEN}/{path}"


async def ask(app: Any, question: str, asked: Any, **more: Any) -> Reply:
    """A question, as the page asks it."""
    headers = {"content-type": "application/json", "origin": f"http://{HOST}", "sec-fetch-site": "same-origin"}
    body = json.dumps(asked).encode("utf-8")
    return await send(app, "POST", behind_token(f"ask/{question}"), headers=headers, body=body, **more)
