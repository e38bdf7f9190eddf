"""The present state to take away: as Python code, as a command, and as a report."""

from __future__ import annotations

import datetime
import shlex
from collections.abc import Mapping
from typing import Any

from dagpost.explorer.session import Session
from dagpost.explorer.state import State
from dagpost.posterior.condition_words import GIVEN_SETTING, GIVEN_STATEMENTS, assumption_words
from dagpost.posterior.directions import not_computed

_LONGEST_TITLE = 200


def code(session: Session, asked: Mapping[str, Any]) -> dict[str, Any]:
    """What gives this state again: `python`, and a `command` where the model is in a file."""
    state = State.of(asked)
    session.feature(state)
    return {"python": "\n".join([*_model(session), *_under(state)]), "command": _command(session, state)}


def _model(session: Session) -> list[str]:
    """The lines that make the model: read from its file, or else fitted as it was."""
    if session.path is not None:
        return ["from dagpost import DagPosterior", "", f"model = DagPosterior.load({str(session.path)!r})"]
    from dagpost.report.content import content_of_fit
    from dagpost.report.reproduction import python_code

    fitted = session.fitted
    found = python_code(content_of_fit(fitted, not_computed(fitted.names, fitted.results.edges)))
    if found is None:
        return ["# model: the DagPosterior that is explored"]
    # The last line writes a report of the whole model.
    return [line for line in found.split("\n") if not line.startswith("model.report(")]


def _under(state: State) -> list[str]:
    """The lines that assume what is assumed, and show what comes of it."""
    if state.is_empty:
        return ["print(model.edge_probabilities_)"]
    arguments = [repr(text) for text in state.given]
    if state.setting:
        arguments.append(f"setting={dict(state.setting)!r}")
    return [
        "given = model.given(",
        *(f"    {argument}," for argument in arguments),
        ")",
        "print(given.condition_.probability)",
        "print(given.edge_probabilities_)",
    ]


def _command(session: Session, state: State) -> str | None:
    """The command that opens the explorer in this state."""
    # Values of what the model averages over cannot be said on the command line.
    if session.path is None or state.setting:
        return None
    given = [word for text in state.given for word in ("--given", text)]
    path = str(session.path)
    return shlex.join(["dagpost", "explore", f"./{path}" if path.startswith("-") else path, *given])


def report(session: Session, asked: Mapping[str, Any]) -> dict[str, Any]:
    """The report of this state: `html`, and the `name` of a file for it."""
    from dagpost.report.content import gather
    from dagpost.report.page import page

    state = State.of(asked)
    session.feature(state)
    content = gather(session.under(state, patient=True))
    written = datetime.datetime.now(datetime.UTC)
    stem = "model" if session.path is None else session.path.stem
    name = f"{stem}.html" if state.is_empty else f"{stem}-given.html"
    return {"html": page(content, _title(session, state), written), "name": name}


def _title(session: Session, state: State) -> str | None:
    """What the page is called: the title of the session, and what is assumed."""
    if state.is_empty:
        return session.title or None
    assumed = assumption_words({GIVEN_STATEMENTS: state.given, GIVEN_SETTING: dict(state.setting)})
    said = f"{session.title}, given {assumed}"
    return said if len(said) <= _LONGEST_TITLE else f"{said[: _LONGEST_TITLE - 1]}…"
