"""The explorer as a server on this machine: its socket, its thread, its address, and how it ends.

The server has a thread of its own, which ends with the process. It listens on 127.0.0.1 and nowhere else, so that
nothing outside this machine reaches it.
"""

from __future__ import annotations

import html
import os
import secrets
import socket
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from dagpost._tools.checks import truth, whole_number
from dagpost._tools.spelling import parameter, quoted
from dagpost._tools.text import shown
from dagpost.errors import InputError
from dagpost.explorer.desk import Desk
from dagpost.explorer.page import assets_of
from dagpost.explorer.session import Session

if TYPE_CHECKING:
    from dagpost.posterior.fitted import Fitted

HOST = "127.0.0.1"
_LARGEST_PORT = 65_535
#: Waiting in pieces: on some systems Ctrl-C is noticed only between two of them.
_PIECE_SECONDS = 0.5
_SECONDS_TO_END = 5.0
_NAME = "dagpost explorer"
#: Of uvicorn: no words about itself, no log with the token in it. A browser holds six connections at most.
_SETTINGS: dict[str, Any] = {
    "http": "h11",
    "limit_concurrency": 512,
    "ws": "none",
    "loop": "asyncio",
    "lifespan": "off",
    "interface": "asgi3",
    "log_config": None,
    "access_log": False,
    "server_header": False,
    "proxy_headers": False,
    "timeout_keep_alive": 30,
    "timeout_graceful_shutdown": 1,
}


class Explorer:
    """A page on this machine on which one argues with a posterior: open `address` in a browser.

    It is served until `stop()`, the end of a `with` block, or the end of the process. A script that has nothing else to
    do calls `wait()`.
    """

    def __init__(self, session: Session, port: int | None = None) -> None:
        uvicorn = _uvicorn()
        from dagpost.explorer.application import application

        self._socket = _bound(port)
        try:
            self.port: int = self._socket.getsockname()[1]
            token = secrets.token_urlsafe(24)
            #: Where the page is. Whoever has it can ask: do not pass it on.
            self.address = f"http://{HOST}:{self.port}/{token}/"
            self._desk = Desk(session)
            self._guard = application(self._desk, assets_of(session), token, self.port)
            self._server = uvicorn.Server(uvicorn.Config(self._guard, **_SETTINGS))
        except BaseException:
            self._socket.close()
            raise
        # In a thread other than the first one, uvicorn leaves the signals of the process alone.
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],), name=_NAME, daemon=True)
        self._thread.start()

    @property
    def running(self) -> bool:
        """Whether the page is served."""
        return self._thread.is_alive()

    def open(self) -> bool:
        """Open the page in a browser, if there is a screen; whether that is tried."""
        import webbrowser

        if not _has_screen():
            return False
        # Some browsers keep whoever started them waiting.
        address = f"http://{HOST}:{self.port}/{self._guard.new_ticket()}"
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
        return True

    def wait(self) -> None:
        """Return when the page is no longer served; Ctrl-C ends the waiting."""
        while self.running:
            self._thread.join(_PIECE_SECONDS)

    def stop(self) -> None:
        """Serve no longer; the port is free afterwards. A question that is being worked on is not awaited."""
        self._desk.close()
        self._server.should_exit = True
        self._thread.join(_SECONDS_TO_END)
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"Explorer at {self.address}" if self.running else "Explorer that was stopped"

    def _repr_html_(self) -> str:
        if not self.running:
            return "<p>This explorer was stopped.</p>"
        address = html.escape(self.address)
        return f'<p>Explore the posterior: <a href="{address}" target="_blank" rel="noopener">open the page</a></p>'


def explore(
    fitted: Fitted,
    *,
    port: int | None = None,
    title: str | None = None,
    path: Path | None = None,
    open_browser: bool = True,
) -> Explorer:
    """Serve the page of a fitted model; it begins with what the model takes for true."""
    wanted = truth(open_browser, "open_browser")
    session = Session(fitted, _title(title) or ("" if path is None else path.stem), path)
    explorer = Explorer(session, port)
    if wanted:
        explorer.open()
    return explorer


def _title(title: object) -> str:
    if title is not None and not isinstance(title, str):
        raise InputError(f"{parameter('title')} must be text. Got {shown(title)} instead.")
    return title or ""


def _uvicorn() -> Any:
    """Uvicorn, with Starlette beside it; or one sentence on how to get them."""
    try:
        import starlette.applications  # noqa: F401
        import uvicorn
    except ImportError as missing:
        raise InputError(
            'The explorer needs Starlette and uvicorn, which are not installed: pip install "dagpost[explore]".'
        ) from missing
    return uvicorn


def _bound(port: int | None) -> socket.socket:
    """A socket that listens at a port of this machine: the one asked for, or any that is free."""
    chosen = 0 if port is None else whole_number(port, "port", least=1, most=_LARGEST_PORT)
    # With its protocol named, asyncio sends small pieces at once; otherwise every answer takes 40 ms more.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        # A port that a server has just left can be taken at once. On Windows that would mean to share it with anybody.
        listening.setsockopt(socket.SOL_SOCKET, getattr(socket, "SO_EXCLUSIVEADDRUSE", socket.SO_REUSEADDR), 1)
        listening.bind((HOST, chosen))
        listening.listen(128)
    except OSError as error:
        listening.close()
        raise InputError(
            f"Port {chosen} of this machine cannot be used: {error.strerror}. Without {quoted('port')}, a "
            "free one is taken."
        ) from None
    return listening


def _has_screen() -> bool:
    if sys.platform in ("win32", "darwin"):
        return True
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"))
