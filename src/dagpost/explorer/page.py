"""The page of the explorer: the report's graph and numbers in a frame of its own, its scripts and its style.

Everything is made once, when the server starts, and lies in one table by its path: nothing else can be asked for.
"""

from __future__ import annotations

import json
import shlex
from importlib.resources import files
from typing import Any, NamedTuple

from dagpost._tools.text import printable
from dagpost._version import __version__
from dagpost.explorer.session import Session
from dagpost.posterior.lists import mixture_facts
from dagpost.report import tables, words
from dagpost.report.content import Content, content_of_graph
from dagpost.report.graph_section import graph_section
from dagpost.report.page import SCRIPTS, STYLES, as_data, data_of, filled
from dagpost.report.view_data import graphs_of

#: The explorer's own scripts, which run after those of the report.
_OWN = (
    "server.js",
    "completion.js",
    "statement.js",
    "player.js",
    "details.js",
    "settings.js",
    "share.js",
    "explorer.js",
)


class Asset(NamedTuple):
    """Something to send as it is: its bytes, and what they are."""

    content: bytes
    kind: str


def assets_of(session: Session) -> dict[str, Asset]:
    """What the page consists of, by the path behind the token: also the graphs of the model's own sample, packed."""
    session.prepare()
    # All else is asked for when it is looked at.
    content = content_of_graph(session.fitted)
    scripts = {
        **{name: _template("dagpost.report", name) for name in SCRIPTS},
        **{name: _template("dagpost.explorer", name) for name in _OWN},
    }
    style = "".join(_template("dagpost.report", name) for name in STYLES) + _template(
        "dagpost.explorer", "explorer.css"
    )
    return {
        "": _asset(page(session, content, tuple(scripts)), "text/html"),
        "style.css": _asset(style, "text/css"),
        "graphs": _asset(json.dumps(graphs_of(content), allow_nan=False), "application/json"),
        **{f"scripts/{name}": _asset(script, "text/javascript") for name, script in scripts.items()},
    }


def page(session: Session, content: Content, scripts: tuple[str, ...]) -> str:
    """The whole page."""
    data = {**data_of(content), "explorer": _about(session)}
    graph = graph_section(content, data["threshold"], [pair.get("sign", "") for pair in data["pairs"]])
    standing = words.standing(content)
    parts = {
        "title": tables.text(session.title if session.title.strip() else words.heading(content)),
        "summary": tables.text(words.summary(content)),
        "standing": tables.text(standing.word),
        "mood": standing.mood,
        "graph": graph.pictures,
        "frame": graph.frame,
        "legend": graph.legend,
        "measure": content.target.measure,
        "version": tables.text(__version__),
        "data": as_data(data),
        "scripts": "\n".join(f'<script src="scripts/{name}" defer></script>' for name in scripts),
    }
    return filled(_template("dagpost.explorer", "explorer.html"), parts)


def _about(session: Session) -> dict[str, Any]:
    """What the scripts of the explorer know of the session at the beginning."""
    path = session.path
    return {
        "given": list(session.start.given),
        "setting": dict(session.start.setting),
        "settings": _settings(session),
        "command": f"dagpost explore {'MODEL' if path is None else printable(shlex.quote(str(path)))}",
        "file": "model" if path is None else printable(path.stem),
    }


def _settings(session: Session) -> list[dict[str, Any]]:
    """What the model averages over: the name of each setting, its values and their posterior weights."""
    facts = mixture_facts(session.fitted) if session.settings else None
    return [
        {
            "name": axis["setting"],
            "values": axis["values"],
            "weights": axis["shares"],
            "fixed": bool(axis.get("fixed")),
        }
        for axis in ([] if facts is None else facts["settings"])
    ]


def _asset(text: str, kind: str) -> Asset:
    # Half of a character, as in a name of a file that is not text, stays readable.
    return Asset(text.encode("utf-8", "backslashreplace"), f"{kind}; charset=utf-8")


def _template(package: str, name: str) -> str:
    return files(package).joinpath("templates", name).read_text(encoding="utf-8")
