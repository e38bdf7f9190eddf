"""From what is written on the command line to the objects that the library takes."""

from __future__ import annotations

import csv
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from dagpost.cli.choices import Strategy
from dagpost.cli.files import refuse_results
from dagpost.errors import InputError

if TYPE_CHECKING:
    from dagpost.data.table import Table


_BINS = 3


def parse_table(
    source: str, *, counts: str | None, interventions: str | None, discretise: Strategy | None, bins: int | None
) -> Table:
    """The table of a file or of standard input, cut into levels if that is asked for."""
    from dagpost.data import discretise as discretise_table
    from dagpost.data import read_table

    if discretise is None and bins is not None:
        raise InputError("--bins says how many levels --discretise makes. Add --discretise quantile, or leave it out.")
    refuse_results(source)
    table = read_table(source, counts=counts, interventions=interventions)
    return (
        table
        if discretise is None
        else discretise_table(table, bins=_BINS if bins is None else bins, strategy=discretise.value)
    )


def parse_score(name: str, ess: float | None) -> Any:
    """A score by its name; --ess is its equivalent sample size, where it has one."""
    from dagpost.scores.registry import SCORES

    kind: Any = SCORES.named(name)
    if ess is None:
        return kind()
    if "equivalent_sample_size" not in {entry.name for entry in fields(kind)}:
        raise InputError(f"--ess is the equivalent sample size of a score; {name} has none.")
    return kind(equivalent_sample_size=ess)


def parse_prior(text: str) -> Any:
    """A prior by its name, such as `uniform`, with what follows a colon, such as `edge:0.1`."""
    from dagpost.priors.registry import PRIORS

    name, colon, argument = text.partition(":")
    return PRIORS.named(name).from_text(argument if colon else None)


def parse_tiers(texts: list[str] | None) -> list[list[str]] | None:
    """Tiers of columns, each written as `A,B`; a name with a comma stands in double quotes."""
    if texts is None:
        return None
    tiers = [[name.strip() for name in row] for row in csv.reader(texts, skipinitialspace=True)]
    for text, tier in zip(texts, tiers, strict=False):
        if not all(tier) or not tier:
            raise InputError(f"A tier is written A,B. Got {text!r} instead.")
    if len(tiers) == 1:
        raise InputError("One --tier alone says nothing. Give one for each group of columns, the earliest first.")
    return tiers


def parse_edges(texts: list[str] | None) -> list[tuple[str, str]]:
    """Edges, each written as `A -> B`; names may stand in quotes."""
    return [_parse_edge(text) for text in texts or []]


def _parse_edge(text: str) -> tuple[str, str]:
    parent, arrow, child = (_unquoted(part.strip()) for part in text.partition("->"))
    if not (parent and arrow and child):
        raise InputError(f'An edge is written "A -> B". Got {text!r} instead.')
    return parent, child


def _unquoted(name: str) -> str:
    return name[1:-1] if len(name) > 1 and name[0] == name[-1] and name[0] in "\"'" else name


def parse_method(text: str) -> Any:
    """A method by its name, with settings after a colon."""
    from dagpost._tools.text import nearest
    from dagpost.methods.choice import AUTO
    from dagpost.methods.registry import METHODS

    name, colon, settings = text.partition(":")
    names = (AUTO, *METHODS.names())
    if name not in names:
        raise InputError(f"--method has no {name!r}.{nearest(name, names)}")
    if not colon:
        return name
    method = None if name == AUTO else METHODS.named(name)()
    if method is None or not fields(method):  # type: ignore[arg-type]
        raise InputError(f"The method {name} has no settings. Got {text!r}: leave out what follows the colon.")
    return type(method)(**_parse_settings(name, method, settings))


def _parse_settings(name: str, method: Any, text: str) -> dict[str, Any]:
    """Settings as `name=value,name=value`; the kind of a value is that of the default."""
    defaults = {field.name: getattr(method, field.name) for field in fields(method)}
    chosen: dict[str, Any] = {}
    for part in text.split(","):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not (key and equals and value):
            raise InputError(f"Settings of a method are written {name}:setting=value,setting=value. Got {part!r}.")
        if key not in defaults:
            raise InputError(f"{name} has no setting {key!r}. It has: {', '.join(defaults)}.")
        if key in chosen:
            raise InputError(f"The setting {key!r} of {name} is given twice. Give it once.")
        chosen[key] = _parse_value(f"{name}:{key}", value, defaults[key])
    return chosen


def _parse_value(setting: str, text: str, default: Any) -> Any:
    if isinstance(default, bool):
        if text.lower() not in ("true", "false"):
            raise InputError(f"{setting} must be true or false. Got {text!r} instead.")
        return text.lower() == "true"
    if default is None:
        return [_unquoted(name.strip()) for name in text.split(">")]
    kind, words = (int, "a whole number") if isinstance(default, int) else (float, "a number")
    try:
        return kind(text)
    except ValueError:
        raise InputError(f"{setting} must be {words}. Got {text!r} instead.") from None
