"""Every plot by the name that the command line has for it, with what it is drawn from: one line a plot.

The options of a plot are those of its function, so that a plot has them here as soon as it has them in Python.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from dagpost._tools.spelling import bare, setting
from dagpost._tools.text import nearest
from dagpost.data.time_columns import time_columns
from dagpost.errors import InputError
from dagpost.posterior.sources import is_model

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Parameters of the functions that are settled otherwise, or belong to a figure that Python arranges.
_NOT_ASKED = ("ax", "labels", "layout", "colour_bar")


class Asked(NamedTuple):
    """What a plot may be drawn from: a model or a sample, another one, and the two ends of an effect."""

    source: Any
    name: str = ""
    other: Any = None
    other_name: str = ""
    cause: str | None = None
    outcome: str | None = None


#: The arguments of the function of a plot, by position and by name.
Arguments = tuple[tuple[Any, ...], dict[str, Any]]


def _one(asked: Asked) -> Arguments:
    return (asked.source,), {}


def _two(asked: Asked) -> Arguments:
    if asked.other is None:
        raise InputError(f"A comparison needs a second model or sample. Name it: {bare('with')} FILE.")
    names = asked.name, asked.other_name
    return (asked.source, asked.other), {"labels": names if names[0] != names[1] else ("first", "second")}


def _effect(asked: Asked) -> Arguments:
    for given, name in ((asked.cause, "cause"), (asked.outcome, "outcome")):
        if given is None:
            raise InputError(f"A picture of an effect needs two columns. Name one with {bare(name)}, too.")
    if not is_model(asked.source):
        raise InputError("Effects come from a model, and this is a sample of graphs. Give the model that drew it.")
    return (asked.source.effect(asked.cause, asked.outcome),), {}


class Kind(NamedTuple):
    """What a plot shows, in a few words for its title; how its arguments are found; what it asks for beside options."""

    words: str
    arguments: Callable[[Asked], Arguments] = _one
    also: tuple[str, ...] = ()


KINDS = {
    "graph": Kind("which variables are joined, and which way"),
    "in-time": Kind("what leads from earlier values to present ones"),
    "edges": Kind("the most probable edges"),
    "heat-map": Kind("the probability of every pair"),
    "effect-density": Kind("how large an effect may be", _effect, ("cause", "outcome")),
    "effect-parts": Kind("through what an effect goes", _effect, ("cause", "outcome")),
    "effect-curve": Kind("what would be seen along all values", _effect, ("cause", "outcome")),
    "effect-outcomes": Kind("what would be seen if a value were set", _effect, ("cause", "outcome")),
    "comparison": Kind("where two posteriors differ most", _two, ("with",)),
    "traces": Kind("the way of each chain"),
    "r-hat": Kind("whether the chains agree"),
}


def kind_for(name: str | None, source: Any) -> str:
    """The kind of this name; unless one is given, the graph, or where columns have times, that in time."""
    if name is None:
        columns = source.names_ if is_model(source) else source.names
        return "in-time" if time_columns(tuple(columns)).lags else "graph"
    if name not in KINDS:
        raise InputError(f"{bare('kind')} has no {name!r}.{nearest(name, tuple(KINDS))}")
    return name


def options_of(kind: str) -> tuple[str, ...]:
    """The options that a kind of plot takes.

    >>> options_of("edges"), options_of("comparison")
    (('count', 'confidence'), ('relation', 'count', 'with'))
    """
    parameters = inspect.signature(_function(kind)).parameters.values()
    named = [own.name for own in parameters if own.default is not own.empty and own.name not in _NOT_ASKED]
    # A second posterior is a position, though it has a default.
    return (*(name for name in named if name != "second"), *KINDS[kind].also)


def check_options(kind: str, given: Mapping[str, Any]) -> None:
    """Refuse what a kind of plot does not take, and say which ones would."""
    allowed = options_of(kind)
    for name in given:
        if name not in allowed:
            takers = [other for other in KINDS if name in options_of(other)]
            raise InputError(
                f"{bare(name)} is not for the plot {kind!r}, but for {', '.join(takers)}. Leave it out, or choose "
                f"{setting('kind', takers[0])}."
            )


def draw(kind: str, asked: Asked, options: Mapping[str, Any], ax: Axes | None = None) -> Axes:
    """Draw a plot into `ax` or into a figure of fitting size."""
    positional, named = KINDS[kind].arguments(asked)
    named |= {name: value for name, value in options.items() if name not in KINDS[kind].also}
    axes: Axes = _function(kind)(*positional, **named, ax=ax)
    return axes


def _function(kind: str) -> Callable[..., Any]:
    from dagpost import plots

    function: Callable[..., Any] = getattr(plots, kind.replace("-", "_"))
    return function
