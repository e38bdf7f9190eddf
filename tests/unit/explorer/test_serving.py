from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from queue import SimpleQueue
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pandas as pd
import pytest
from tests.tools.cli_checks import COMMAND
from tests.tools.wording import Said

from dagpost import DagPosterior
from dagpost.errors import InputError
from dagpost.explorer import serving
from dagpost.explorer.questions import QUESTIONS
from dagpost.explorer.serving import Explorer

PATIENCE_SECONDS = 300.0
HOSTILE = "</script><img src=x onerror=alert(1)>\"&'"


@pytest.fixture(scope="module")
def model() -> DagPosterior:
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"A": rng.integers(0, 2, 60), "B": rng.integers(0, 2, 60), HOSTILE: rng.integers(0, 2, 60)})
    return DagPosterior(score="bdeu", samples=50, seed=1, threads=1).fit(table)


@pytest.fixture(scope="module")
def explorer(model: DagPosterior) -> Iterator[Explorer]:
    with model.explore(open_browser=False, title=HOSTILE) as found:
        yield found


def _connection(explorer: Explorer) -> http.client.HTTPConnection:
    return http.client.HTTPConnection("127.0.0.1", explorer.port, timeout=PATIENCE_SECONDS)


def _get(explorer: Explorer, path: str) -> tuple[int, bytes, dict[str, str]]:
    connection = _connection(explorer)
    connection.request("GET", urlsplit(explorer.address).path + path)
    reply = connection.getresponse()
    found = reply.status, reply.read(), {name.lower(): value for name, value in reply.getheaders()}
    connection.close()
    return found


def _ask(explorer: Explorer, question: str, **asked: Any) -> tuple[int, Any]:
    connection = _connection(explorer)
    path = f"{urlsplit(explorer.address).path}ask/{question}"
    connection.request("POST", path, json.dumps(asked), {"Content-Type": "application/json"})
    reply = connection.getresponse()
    found = reply.status, json.loads(reply.read())
    connection.close()
    return found


def test_the_page_and_everything_it_loads_comes_from_the_server(explorer: Explorer) -> None:
    status, page, headers = _get(explorer, "")
    assert (status, headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "server" not in headers
    loaded = re.findall(r'(?:src|href)="([^"#][^"]*)"', page.decode("utf-8"))
    own = [path for path in loaded if path != "data:,"]
    assert {"style.css", "scripts/server.js", "scripts/graph.js"} <= set(own)
    assert all(_get(explorer, path)[0] == 200 for path in own)
    assert _get(explorer, "graphs")[0] == 200


def test_nothing_in_the_page_stands_where_it_could_run(explorer: Explorer) -> None:
    page = _get(explorer, "")[1].decode("utf-8")
    assert "<img" not in page
    assert not re.findall(r"<script(?![^>]* src=)(?![^>]*application/json)", page)
    assert not re.findall(r"<[^>]* (?:on\w+|style)=", page)
    assert "<style" not in page


def test_a_view_says_what_the_model_says(explorer: Explorer, model: DagPosterior) -> None:
    status, view = _ask(explorer, "view", given=["A -> B"])
    assert status == 200
    assert view["chance"]["value"] == pytest.approx(float(model.probability("A -> B")), abs=1e-12)
    expected = model.given("A -> B").edge_probabilities_.to_numpy()
    np.testing.assert_allclose(view["edges"], expected, atol=1e-9)


def test_it_listens_to_this_machine_only(explorer: Explorer) -> None:
    assert explorer._socket.getsockname()[0] == "127.0.0.1"


def test_several_are_served_at_once_and_each_has_its_own_token(explorer: Explorer, model: DagPosterior) -> None:
    with model.given("A -> B").explore(open_browser=False) as other:
        assert other.port != explorer.port
        assert urlsplit(other.address).path != urlsplit(explorer.address).path
        assert _get(other, "")[0] == _get(explorer, "")[0] == 200
        crossed = http.client.HTTPConnection("127.0.0.1", other.port, timeout=PATIENCE_SECONDS)
        crossed.request("GET", urlsplit(explorer.address).path)
        assert crossed.getresponse().status == 404
        crossed.close()
        assert b'"given":["A -\\u003e B"]' in _get(other, "")[1]
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", other.port), timeout=PATIENCE_SECONDS)


def test_a_port_can_be_chosen_and_is_free_afterwards(model: DagPosterior, said: Said) -> None:
    with model.explore(open_browser=False) as first:
        port = first.port
        with said.raises(InputError, {r"Port \d+": "Port <port>"}):
            model.explore(port=port, open_browser=False)
    for _ in range(2):
        with model.explore(port=port, open_browser=False) as again:
            assert again.port == port
            assert _get(again, "style.css")[0] == 200
    assert repr(again) == "Explorer that was stopped"
    again.stop()


@pytest.mark.parametrize("port", [0, -1, 65_536, True, 80.0, "8000"])
def test_a_port_that_is_none_is_refused(model: DagPosterior, port: Any, said: Said) -> None:
    with said.raises(InputError):
        model.explore(port=port, open_browser=False)


def test_a_notebook_shows_a_link(explorer: Explorer) -> None:
    assert f'href="{explorer.address}"' in explorer._repr_html_()
    assert repr(explorer) == f"Explorer at {explorer.address}"


def test_a_missing_package_is_named(model: DagPosterior, monkeypatch: pytest.MonkeyPatch, said: Said) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with said.raises(InputError):
        model.explore(open_browser=False)


def test_the_browser_gets_a_ticket_and_not_the_token(explorer: Explorer, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: SimpleQueue[str] = SimpleQueue()
    monkeypatch.setattr("webbrowser.open", opened.put)
    monkeypatch.setattr(serving, "_has_screen", lambda: True)
    assert explorer.open()
    address = opened.get(timeout=PATIENCE_SECONDS)
    assert urlsplit(explorer.address).path.strip("/") not in address
    connection = _connection(explorer)
    connection.request("GET", urlsplit(address).path)
    assert connection.getresponse().headers["location"] == urlsplit(explorer.address).path
    connection.close()


def test_two_hundred_requests_at_once_are_all_answered(explorer: Explorer) -> None:
    def one(number: int) -> int:
        return _get(explorer, "style.css")[0] if number % 2 else _ask(explorer, "view", given=["A -> B"])[0]

    with ThreadPoolExecutor(50) as pool:
        statuses = list(pool.map(one, range(200)))
    assert set(statuses[1::2]) == {200}
    assert set(statuses[::2]) <= {200, 503}
    assert _ask(explorer, "view")[0] == 200


def test_clients_that_hang_up_in_the_middle_leave_the_server_as_it_was(
    explorer: Explorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, let_go, seen = threading.Event(), threading.Event(), []

    def slow(_: Any, asked: Any) -> dict[str, Any]:
        seen.append(asked["name"])
        begun.set()
        assert let_go.wait(PATIENCE_SECONDS)
        return {"name": asked["name"]}

    monkeypatch.setitem(QUESTIONS, "slow", slow)
    path = urlsplit(explorer.address).path
    head = f"POST {path}ask/slow HTTP/1.1\r\nHost: 127.0.0.1:{explorer.port}\r\nContent-Type: application/json\r\n"

    def client(text: str) -> socket.socket:
        found = socket.create_connection(("127.0.0.1", explorer.port), timeout=PATIENCE_SECONDS)
        found.sendall(text.encode("ascii"))
        return found

    def question(name: str) -> str:
        body = json.dumps({"name": name})
        return f"{head}Content-Length: {len(body)}\r\n\r\n{body}"

    working = client(question("working"))
    assert begun.wait(PATIENCE_SECONDS)
    waiting = [client(question(f"gone {number}")) for number in range(3)]
    while explorer._desk.waiting < 3:
        time.sleep(0.001)
    halves = [head, f"{head}Content-Length: 1000\r\n\r\n{{", "GET / HT", "\x00 nonsense\r\n\r\n"]
    for leaving in (*waiting, *map(client, halves)):
        leaving.close()
    while explorer._desk.waiting:
        time.sleep(0.001)
    let_go.set()
    with working.makefile("rb") as answer:
        assert any(line == b'{"name":"working"}' for line in iter(lambda: answer.readline(18), b""))
    working.close()
    assert seen == ["working"]
    assert _ask(explorer, "view")[0] == 200


def test_chunks_without_end_are_cut_off(explorer: Explorer) -> None:
    path = urlsplit(explorer.address).path
    connection = socket.create_connection(("127.0.0.1", explorer.port), timeout=PATIENCE_SECONDS)
    head = (
        f"POST {path}ask/view HTTP/1.1\r\nHost: 127.0.0.1:{explorer.port}\r\nContent-Type: application/json\r\n"
        "Transfer-Encoding: chunked\r\n\r\n"
    )
    connection.sendall(head.encode("ascii"))
    sent = 0
    with suppress(OSError):
        while sent < 2**28:
            connection.sendall(b"1000\r\n" + b" " * 4096 + b"\r\n")
            sent += 4096
    connection.close()
    # The server has closed the connection long before.
    assert sent < 2**28
    assert _ask(explorer, "view")[0] == 200


def test_connections_are_bounded_in_number(model: DagPosterior, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(serving._SETTINGS, "limit_concurrency", 3)
    with model.explore(open_browser=False) as explorer, ExitStack() as open_ones:
        address = ("127.0.0.1", explorer.port)
        for _ in range(3):
            open_ones.enter_context(socket.create_connection(address, timeout=PATIENCE_SECONDS))
        _until(lambda: len(explorer._server.server_state.connections) == 3)
        assert _get(explorer, "")[0] == 503
        open_ones.close()
        _until(lambda: not explorer._server.server_state.connections)
        assert _get(explorer, "")[0] == 200


def _until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_stopping_does_not_wait_for_a_question(model: DagPosterior, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, let_go = threading.Event(), threading.Event()

    def slow(*_: Any) -> dict[str, Any]:
        begun.set()
        assert let_go.wait(PATIENCE_SECONDS)
        return {}

    monkeypatch.setitem(QUESTIONS, "slow", slow)
    with model.explore(open_browser=False) as found, ThreadPoolExecutor(1) as pool:
        asked = pool.submit(_ask, found, "slow")
        assert begun.wait(PATIENCE_SECONDS)
        found.stop()
        assert not found.running
        assert asked.result()[0] == 503
        let_go.set()


@pytest.mark.skipif(os.name != "posix", reason="signals of Unix")
@pytest.mark.parametrize(
    ("number", "status"),
    [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, -signal.SIGTERM, marks=pytest.mark.long)],
)
def test_a_signal_ends_the_command_at_once_and_frees_the_port(
    model: DagPosterior, tmp_path: Path, number: int, status: int
) -> None:
    model.save(tmp_path / "m.dagpost")
    line = [*COMMAND, "explore", "m.dagpost", "--no-browser", "--threads", "1"]
    with subprocess.Popen(line, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as command:
        assert command.stdout is not None
        found = re.search(r"http://127\.0\.0\.1:\d+/\S+/", command.stdout.readline())
        assert found is not None
        address = urlsplit(found[0])
        # A page is open, and keeps its connection.
        page = http.client.HTTPConnection("127.0.0.1", address.port, timeout=PATIENCE_SECONDS)
        page.request("GET", address.path)
        assert page.getresponse().status == 200
        command.send_signal(number)
        rest, errors = command.communicate(timeout=PATIENCE_SECONDS)
    assert (command.returncode, rest) == (status, "")
    assert "Traceback" not in errors
    assert address.path not in errors
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(("127.0.0.1", address.port))
    page.close()
