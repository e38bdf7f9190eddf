"""Who may ask: only a page that came from this very server, with its token, on this machine.

The token in the address keeps other people of this machine out, the Host header pages of others that have had their
name pointed at this machine (DNS rebinding), Origin and Sec-Fetch-Site any other page that the browser has open. There
are no CORS headers, so no other page could read an answer. Every answer, errors too, carries a policy by which the page
loads nothing but what comes from here, runs nothing that stands inside the markup, and cannot be framed.
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
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
_METHODS = frozenset(("GET", "HEAD", "POST"))


class Guard:
    """An application behind which another one answers only to those who may ask; it sees paths without the token."""

    def __init__(self, inner: Application, token: str, port: int) -> None:
        self._inner, self._token = inner, token.encode("ascii")
        self._hosts = frozenset(f"{name}:{port}".encode("ascii") for name in ("127.0.0.1", "localhost"))
        self._origins = frozenset(b"http://" + host for host in self._hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = {name for name, _ in _HEADERS}
                kept = [(name, value) for name, value in message.get("headers", []) if name.lower() not in own]
                message = {**message, "headers": [*kept, *_HEADERS]}
            await send(message)

        refusal = self._refusal(scope)
        if refusal is not None:
            await answer_text(send_with_headers, *refusal)
            return
        _, _, rest = scope["path"][1:].partition("/")
        await self._inner({**scope, "path": f"/{rest}", "root_path": ""}, receive, send_with_headers)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        """Why a request is not answered; nothing that is not behind the token is told apart from nothing at all."""
        headers: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.lower(), []).append(value)
        hosts = headers.get(b"host", [])
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return 421, "This address is not served here."
        if not self._has_token(scope["path"]):
            return 404, "Not found."
        if any(origin not in self._origins for origin in headers.get(b"origin", [])):
            return 403, "Only the page of the explorer may ask."
        sites = headers.get(b"sec-fetch-site", [])
        if any(site not in (b"same-origin", b"none") for site in sites) and not _is_visit(scope, headers):
            return 403, "Only the page of the explorer may ask."
        if scope["method"] not in _METHODS:
            return 405, "Only GET and POST are answered."
        return None

    def _has_token(self, path: str) -> bool:
        first, slash, _ = path[1:].partition("/")
        same = hmac.compare_digest(first.encode("utf-8", "surrogatepass"), self._token)
        return same and path.startswith("/") and bool(slash)


def _is_visit(scope: Scope, headers: dict[bytes, list[bytes]]) -> bool:
    """Whether somebody follows a link to the page, as that in a notebook: the only thing other pages may lead to."""
    return (
        scope["method"] == "GET"
        and headers.get(b"sec-fetch-mode") == [b"navigate"]
        and headers.get(b"sec-fetch-dest") == [b"document"]
        and scope["path"].count("/") == 2
        and scope["path"].endswith("/")
    )


async def answer_text(send: Send, status: int, words: str) -> None:
    """A plain sentence as the answer, after which the connection is closed: its body may not have been read."""
    body = words.encode("utf-8")
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode("ascii")),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
