"""Who may ask: only a page that came from this very server, with its token, on this machine.

The token in the address keeps other people of this machine out, the Host header pages of others that have had their
name pointed at this machine (DNS rebinding), Origin and Sec-Fetch-Site any other page that the browser has open. There
are no CORS headers, so no other page could read an answer. Every answer, errors too, carries a policy by which the page
loads nothing but what comes from here, runs nothing that stands inside the markup, and cannot be framed.
"""

from __future__ import annotations

import hmac
import secrets
import sys
import traceback
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Headers = dict[bytes, list[bytes]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
_HEADERS = [(name.encode("ascii"), value.encode("ascii")) for name, value in HEADERS.items()]
_NAMES = frozenset(name for name, _ in _HEADERS)
_METHODS = frozenset(("GET", "HEAD", "POST"))


class Guard:
    """An application behind which another one answers only to those who may ask; it sees paths without the token."""

    def __init__(self, inner: Application, token: str, port: int) -> None:
        self._inner, self._token = inner, token
        self._ticket: str | None = None
        self._hosts = frozenset(f"{name}:{port}".encode("ascii") for name in ("127.0.0.1", "localhost"))
        self._origins = frozenset(b"http://" + host for host in self._hosts)

    def new_ticket(self) -> str:
        """A path that leads to the page, but only once.

        A browser is started with an address that everybody on this machine can see in the list of processes.
        """
        self._ticket = secrets.token_urlsafe(24)
        return self._ticket

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        begun = False

        async def send_guarded(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                kept = [(name, value) for name, value in message.get("headers", []) if name.lower() not in _NAMES]
                message = {**message, "headers": [*kept, *_HEADERS]}
            await send(message)

        try:
            await self._answer(scope, receive, send_guarded)
        except Exception:  # noqa: BLE001  a fault of ours: said where the server was started, and the server lives on
            traceback.print_exc(file=sys.stderr)
            if not begun:
                await _say(send_guarded, 500, "Something went wrong.")

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers: Headers = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.lower(), []).append(value)
        refusal = self._refusal(scope, headers)
        first, slash, rest = scope["path"][1:].partition("/")
        if refusal is not None:
            await _say(send, *refusal)
        elif not (slash and _same(first, self._token)):
            self._ticket = None if self._ticket == first else self._ticket
            await _say(send, 303, "The page is elsewhere.", (b"location", f"/{self._token}/".encode("ascii")))
        else:
            await self._inner({**scope, "path": f"/{rest}", "root_path": ""}, receive, send)

    def _refusal(self, scope: Scope, headers: Headers) -> tuple[int, str] | None:
        """Why a request is not answered; nothing that is not behind the token is told apart from nothing at all."""
        hosts = headers.get(b"host", [])
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return 421, "This is not the address of this server."
        if not self._may_pass(scope):
            return 404, "Not found."
        foreign = any(origin not in self._origins for origin in headers.get(b"origin", []))
        other_site = any(site not in (b"same-origin", b"none") for site in headers.get(b"sec-fetch-site", []))
        if foreign or (other_site and not _is_visit(scope, headers)):
            return 403, "Only the page of the explorer may ask."
        if scope["method"] not in _METHODS:
            return 405, "Only GET and POST are answered."
        return None

    def _may_pass(self, scope: Scope) -> bool:
        """Whether the path has the token; or is the ticket, and nothing else."""
        path: str = scope["path"]
        first, _, rest = path[1:].partition("/")
        ticket = self._ticket is not None and _same(first, self._ticket) and not rest and scope["method"] == "GET"
        return path.startswith("/") and (_same(first, self._token) or ticket)


def _same(given: str, secret: str) -> bool:
    """Whether two texts are the same, in a time that does not tell how far they are."""
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), secret.encode("ascii"))


def _is_visit(scope: Scope, headers: Headers) -> bool:
    """Whether somebody follows a link to the page, as that in a notebook: the only thing other pages may lead to."""
    return (
        scope["method"] == "GET"
        and headers.get(b"sec-fetch-mode") == [b"navigate"]
        and headers.get(b"sec-fetch-dest") == [b"document"]
        and scope["path"].count("/") == 2
        and scope["path"].endswith("/")
    )


async def _say(send: Send, status: int, words: str, *more: tuple[bytes, bytes]) -> None:
    """A plain sentence as the answer, after which the connection is closed: its body may not have been read."""
    body = words.encode("utf-8")
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode("ascii")),
        (b"connection", b"close"),
        *more,
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
