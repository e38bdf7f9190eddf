from __future__ import annotations

from typing import Any

import pytest
from tests.tools.asgi import HOST, PORT, TOKEN, Reply, behind_token, request

from dagpost.explorer.application import LARGEST_BODY, application
from dagpost.explorer.desk import Desk
from dagpost.explorer.page import Asset
from dagpost.explorer.safety import HEADERS, Guard

JSON = {"content-type": "application/json"}


def _fail(*_: Any) -> Any:
    raise ZeroDivisionError("a secret")


@pytest.fixture(scope="module")
def app() -> Guard:
    assets = {
        "": Asset(b"the page", "text/html; charset=utf-8"),
        "scripts/graph.js": Asset(b"a script", "text/javascript; charset=utf-8"),
    }
    desk = Desk(None, {"echo": lambda _, asked: dict(asked), "fail": _fail})
    return application(desk, assets, TOKEN, PORT)


def _is_safe(reply: Reply) -> bool:
    """Whether the answer has every header that keeps the page in, and none that lets others in."""
    cors = [name for name in reply.headers if name.startswith("access-control-")]
    return not cors and all(reply.headers.get(name) == value for name, value in HEADERS.items())


def test_the_page_and_its_scripts_are_behind_the_token(app: Guard) -> None:
    page, script = request(app, "GET", behind_token("")), request(app, "GET", behind_token("scripts/graph.js"))
    assert (page.status, page.body, script.body) == (200, b"the page", b"a script")
    assert script.headers["content-type"] == "text/javascript; charset=utf-8"
    assert _is_safe(page)
    assert _is_safe(script)


@pytest.mark.parametrize(
    "path",
    [
        "/", "", "*", "/wrong/", f"/{TOKEN[:-1]}/", f"/{TOKEN}x/", f"/{TOKEN.upper()}/", f"//{TOKEN}/",
        "/ask/echo", f"/x/{TOKEN}/", f"http://{HOST}/{TOKEN}/", "/%00/", "/%F0%9F%92%A9/", "/favicon.ico", "/docs",
        "/openapi.json", "/scripts/graph.js",
    ],
)  # fmt: skip
@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
def test_without_the_token_there_is_nothing_and_no_hint(app: Guard, method: str, path: str) -> None:
    reply = request(app, method, path, headers=JSON, body=b"{}")
    assert (reply.status, reply.body) == (404, b"Not found.")
    assert _is_safe(reply)


@pytest.mark.parametrize(
    "path",
    [
        "../page.py", "%2e%2e/page.py", "..%2f..%2fpage.py", "scripts/../page.py", "scripts/..%2Fpage.py", "scripts/",
        "scripts/%2e%2e/%2e%2e/etc/passwd", "/etc/passwd", "//etc/passwd", "scripts/graph.js%00", "%00", "%00.js",
        "scripts/graph.js/", "scripts\\graph.js", "..\\..\\page.py", "scripts/GRAPH.js", "C:/Windows/win.ini", "%0a",
        "scripts/graph.js%0a", ".git/config", "file:///etc/passwd", "%c0%ae%c0%ae/page.py",
    ],
)  # fmt: skip
def test_only_what_is_listed_can_be_fetched(app: Guard, path: str) -> None:
    reply = request(app, "GET", behind_token(path))
    assert reply.status == 404
    assert _is_safe(reply)


@pytest.mark.parametrize(
    "host",
    [
        "evil.example", f"evil.example:{PORT}", "127.0.0.1", "localhost", "127.0.0.1:80", None,
        f"127.0.0.1:{PORT}.evil.example",
        f"127.0.0.1.evil.example:{PORT}", f"localhost.evil.example:{PORT}", f"0.0.0.0:{PORT}", f"[::1]:{PORT}", "",
        f"127.0.0.1:{PORT}@evil.example", f"2130706433:{PORT}", f"127.1:{PORT}", f" {HOST}", f"{HOST},evil.example",
    ],
)  # fmt: skip
def test_a_name_that_is_not_ours_is_refused_even_with_the_token(app: Guard, host: str | None) -> None:
    reply = request(app, "GET", behind_token(""), host=host)
    assert reply.status == 421
    assert b"page" not in reply.body
    assert _is_safe(reply)


def test_two_host_headers_are_refused(app: Guard) -> None:
    assert request(app, "GET", behind_token(""), headers=[("host", HOST)]).status == 421


@pytest.mark.parametrize("host", [HOST, f"localhost:{PORT}", f"LOCALHOST:{PORT}"])
def test_both_names_of_this_machine_are_ours(app: Guard, host: str) -> None:
    assert request(app, "GET", behind_token(""), host=host).status == 200


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "", f"https://{HOST}", "http://127.0.0.1", f"http://{HOST}.evil.example"]
)
@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
def test_other_origins_are_refused_even_with_the_token(app: Guard, method: str, origin: str) -> None:
    path = behind_token("ask/echo" if method == "POST" else "")
    reply = request(app, method, path, headers={**JSON, "origin": origin}, body=b"{}")
    assert reply.status == 403
    assert _is_safe(reply)


@pytest.mark.parametrize("site", ["cross-site", "same-site", "", "anything"])
def test_what_a_browser_fetches_for_another_site_is_refused(app: Guard, site: str) -> None:
    for method, path in [("POST", "ask/echo"), ("GET", "scripts/graph.js"), ("GET", "")]:
        reply = request(app, method, behind_token(path), headers={**JSON, "sec-fetch-site": site}, body=b"{}")
        assert reply.status == 403
        assert _is_safe(reply)


def test_a_link_from_a_notebook_leads_to_the_page_and_to_nothing_else(app: Guard) -> None:
    link = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    assert request(app, "GET", behind_token(""), headers=link).status == 200
    assert request(app, "GET", behind_token("scripts/graph.js"), headers=link).status == 403
    assert request(app, "POST", behind_token("ask/echo"), headers={**link, **JSON}, body=b"{}").status == 403
    assert request(app, "GET", behind_token(""), headers={**link, "sec-fetch-dest": "iframe"}).status == 403


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PATCH", "POST"])
def test_other_methods_are_refused(app: Guard, method: str) -> None:
    reply = request(app, method, behind_token(""))
    assert reply.status == 405
    assert _is_safe(reply)


def test_a_question_cannot_be_asked_by_a_link(app: Guard) -> None:
    assert request(app, "GET", behind_token("ask/echo")).status == 404


@pytest.mark.parametrize("kind", ["", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "json"])
def test_what_a_form_of_another_page_could_send_is_refused(app: Guard, kind: str) -> None:
    reply = request(app, "POST", behind_token("ask/echo"), headers={"content-type": kind}, body=b"{}")
    assert reply.status == 415
    assert _is_safe(reply)


@pytest.mark.parametrize("name", ["nothing", "", "..", "__class__", "echo/", "echo%00", "ECHO"])
def test_there_are_no_other_questions(app: Guard, name: str) -> None:
    reply = request(app, "POST", behind_token(f"ask/{name}"), headers=JSON, body=b"{}")
    assert reply.status in (404, 405)
    assert _is_safe(reply)


BAD = {
    "nothing": b"",
    "half of it": b'{"given": [',
    "a list": b"[]",
    "a text": b'"given"',
    "nan": b'{"setting": NaN}',
    "infinity": b'{"setting": -Infinity}',
    "beyond floats": b'{"setting": 1e999}',
    "thirty digits": b'{"setting": ' + b"9" * 30 + b"}",
    "ten thousand digits": b'{"setting": ' + b"9" * 10_000 + b"}",
    "not utf-8": b'{"given": ["\xff\xfe"]}',
    "utf-16": '{"given": []}'.encode("utf-16"),
    "half a character": b'{"given": ["\\ud800"]}',
    "half a character as a name": b'{"\\udfff": 1}',
    "nested beyond all measure": b'{"given": ' + b"[" * 30_000 + b"]" * 30_000 + b"}",
    "objects nested beyond all measure": b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
    "never closed": b"[" * 60_000,
    "two of them": b"{}{}",
    "a control character": b'{"given": ["\x00"]}',
}


@pytest.mark.parametrize("body", BAD.values(), ids=BAD.keys())
def test_what_is_not_a_question_gets_a_plain_sentence(
    app: Guard, body: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    reply = request(app, "POST", behind_token("ask/echo"), headers=JSON, body=body)
    assert reply.status == 400
    assert reply.json["error"].endswith(".")
    assert set(reply.json) == {"error"}
    assert _is_safe(reply)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("pieces", [1, 7, 1000], ids=["at once", "in pieces", "in very many pieces"])
@pytest.mark.parametrize("length", [None, "2", "99999999999999999999", "-1", "x"])
def test_a_body_that_is_too_long_is_refused_whatever_it_says_of_its_length(
    app: Guard, length: str | None, pieces: int
) -> None:
    body = [b" " * (LARGEST_BODY // pieces + 1)] * pieces
    headers = JSON if length is None else {**JSON, "content-length": length}
    reply = request(app, "POST", behind_token("ask/echo"), headers=headers, body=body)
    assert (reply.status, reply.json["error"]) == (413, "The question is too long.")
    assert reply.headers["connection"] == "close"
    assert _is_safe(reply)


def test_the_longest_body_that_is_allowed_is_read(app: Guard) -> None:
    body = b'{"a": "' + b"x" * (LARGEST_BODY - 9) + b'"}'
    assert len(body) == LARGEST_BODY
    assert request(app, "POST", behind_token("ask/echo"), headers=JSON, body=body).status == 200


def test_a_body_that_never_ends_is_given_up(app: Guard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dagpost.explorer.application.SECONDS_FOR_BODY", 0.05)
    reply = request(app, "POST", behind_token("ask/echo"), headers=JSON, body=[b"{", b'"a"'], unfinished=True)
    assert (reply.status, reply.headers["connection"]) == (408, "close")
    assert _is_safe(reply)


def test_a_fault_of_ours_is_told_on_the_terminal_and_not_to_the_page(
    app: Guard, capsys: pytest.CaptureFixture[str]
) -> None:
    reply = request(app, "POST", behind_token("ask/fail"), headers=JSON, body=b"{}")
    assert reply.status == 500
    assert b"secret" not in reply.body
    assert b"ZeroDivisionError" not in reply.body
    assert _is_safe(reply)
    assert "ZeroDivisionError: a secret" in capsys.readouterr().err


def test_a_fault_outside_of_any_question_is_answered_too(capsys: pytest.CaptureFixture[str]) -> None:
    async def broken(*_: Any) -> None:
        raise ZeroDivisionError("a secret")

    reply = request(Guard(broken, TOKEN, PORT), "GET", behind_token(""))
    assert (reply.status, reply.body) == (500, b"Something went wrong.")
    assert _is_safe(reply)
    assert "ZeroDivisionError" in capsys.readouterr().err


def test_a_ticket_leads_to_the_page_once(app: Guard) -> None:
    ticket = app.new_ticket()
    assert request(app, "POST", f"/{ticket}").status == 404
    assert request(app, "GET", f"/{ticket}/scripts/graph.js").status == 404
    assert request(app, "GET", f"/{ticket}", host="evil.example").status == 421
    first, second = request(app, "GET", f"/{ticket}"), request(app, "GET", f"/{ticket}")
    assert (first.status, first.headers["location"]) == (303, behind_token(""))
    assert second.status == 404


def test_the_address_without_its_last_slash_leads_to_the_page(app: Guard) -> None:
    reply = request(app, "GET", f"/{TOKEN}")
    assert (reply.status, reply.headers["location"]) == (303, behind_token(""))
