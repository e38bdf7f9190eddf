"""Pages of others in the same browser get nothing out of the explorer, even if they know its address.

What would happen if a name from the data were taken for markup after all is tried too: nothing runs, nothing leaves.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dagpost import DagPosterior
from dagpost.explorer.questions import QUESTIONS
from dagpost.explorer.serving import Explorer

#: What a page of somebody else tries; `address` is the explorer's.
ATTACKS = {
    "asks as our page does": """fetch(address + "ask/view", {method: "POST", body: "{}",
        headers: {"Content-Type": "application/json"}}).then((reply) => reply.text())""",
    "asks without looking": """fetch(address + "ask/view", {method: "POST", body: "{}", mode: "no-cors",
        headers: {"Content-Type": "text/plain"}}).then((reply) => reply.text())""",
    "sends a beacon": """Promise.resolve(navigator.sendBeacon(address + "ask/view",
        new Blob(["{}"], {type: "text/plain"}))).then(() => "")""",
    "reads the page": "fetch(address).then((reply) => reply.text())",
    "reads the page without looking": 'fetch(address, {mode: "no-cors"}).then((reply) => reply.text())',
    "runs our script": """new Promise((done) => {
        const script = document.createElement("script");
        script.src = address + "scripts/numbers.js";
        script.onload = () => done("loaded");
        script.onerror = () => done("");
        document.head.append(script);
    })""",
    "takes a picture of it": """new Promise((done) => {
        const style = document.createElement("link");
        style.rel = "stylesheet";
        style.href = address + "style.css";
        style.onload = () => done("loaded");
        style.onerror = () => done("");
        document.head.append(style);
    })""",
}


class Others:
    """A page of somebody else, on another port of this machine, and what it was sent."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        seen = self.seen

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                seen.append(self.path)
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.end_headers()
                self.wfile.write(b"<!doctype html><title>Another page</title>")

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}/"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture(scope="module")
def others() -> Iterator[Others]:
    found = Others()
    yield found
    found.close()


@pytest.fixture(scope="module")
def explorer() -> Iterator[Explorer]:
    frame = pd.DataFrame(np.random.default_rng(1).integers(0, 2, (60, 3)), columns=list("ABC"))
    with DagPosterior(score="bdeu", samples=50, seed=1, threads=1).fit(frame).explore(open_browser=False) as found:
        yield found


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    found = browser.new_page()
    yield found
    found.close()


def test_another_page_gets_nothing_even_if_it_knows_the_address(
    page: Any, explorer: Explorer, others: Others, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []

    def view(_: Any, question: Any) -> dict[str, Any]:
        asked.append(question)
        return {}

    monkeypatch.setitem(QUESTIONS, "view", view)
    page.goto(others.address)
    got = {
        name: page.evaluate(f"(address) => ({attack}).catch(() => '')", explorer.address)
        for name, attack in ATTACKS.items()
    }
    assert got == dict.fromkeys(ATTACKS, "")
    assert asked == []


def test_another_page_cannot_frame_it_or_reach_its_window(page: Any, explorer: Explorer, others: Others) -> None:
    page.goto(others.address)
    page.evaluate(
        """(address) => new Promise((done) => {
            const frame = document.createElement("iframe");
            frame.src = address;
            frame.onload = done;
            document.body.append(frame);
        })""",
        explorer.address,
    )
    assert all(frame.query_selector("#graph") is None for frame in page.frames)
    with page.expect_popup() as opening:
        page.evaluate("(address) => { window.other = window.open(address); }", explorer.address)
    popup = opening.value
    popup.wait_for_selector("#graph svg", state="attached")
    # A link may lead to the page; whoever opened it has no hold on it.
    assert popup.evaluate("window.opener") is None
    assert page.evaluate("window.other.closed")
    popup.close()


def test_markup_in_the_page_would_not_run_and_nothing_would_leave(
    page: Any, explorer: Explorer, others: Others
) -> None:
    page.goto(explorer.address)
    others.seen.clear()
    # Should a name ever become markup: handlers, scripts, pictures, frames, forms, styles.
    page.evaluate(
        """(there) => new Promise((done) => {
            const place = document.createElement("div");
            place.innerHTML = `<img src="x" onerror="window.ran = 1"><img src="${there}picture">
                <iframe src="${there}frame"></iframe><link rel="stylesheet" href="${there}style">
                <form id="stolen" action="${there}form"><input name="a"></form><base href="${there}">
                <style>body { background: url("${there}background"); }</style>
                <div style="background: url('${there}attribute')"></div>`;
            document.body.append(place);
            const script = document.createElement("script");
            script.textContent = "window.ran = 2";
            document.body.append(script);
            const loaded = document.createElement("script");
            loaded.src = there + "script";
            loaded.onerror = () => fetch(there + "fetch").catch(() => {
                document.getElementById("stolen").submit();
                setTimeout(done, 50);
            });
            document.body.append(loaded);
        })""",
        others.address,
    )
    assert page.evaluate("window.ran") is None
    assert page.url.startswith(explorer.address)
    assert others.seen == []
