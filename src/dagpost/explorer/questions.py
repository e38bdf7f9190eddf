"""What the page may ask: one function each. A question comes as JSON and its answer goes as JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dagpost.explorer.about import about
from dagpost.explorer.asking import ask, words
from dagpost.explorer.code import code, report
from dagpost.explorer.effects_under import effect
from dagpost.explorer.session import Session
from dagpost.explorer.views import view

#: Takes the session and the request; what comes back can be written as JSON. An `InputError` is the fault of who asks.
Question = Callable[[Session, Mapping[str, Any]], dict[str, Any]]

#: By name.
QUESTIONS: dict[str, Question] = {own.__name__: own for own in (view, ask, words, about, effect, code, report)}
