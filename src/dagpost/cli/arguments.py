"""From what is written on the command line to the objects that the library takes."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import TYPE_CHECKING, Any

from dagpost._tools.text import nearest, shown
from dagpost.errors import InputError
from dagpost.methods.choice import AUTO
from dagpost.methods.registry import METHODS
from dagpost.scores.bdeu import BDeu
from dagpost.scores.registry import SCORES

if TYPE_CHECKING:
    from dagpost._tools.registry import Registry

_ESS = "equivalent_sample_size"


def parse_score(text: str, ess: str | None) -> Any:
    """A score by its name, with settings after a colon; --ess is its equivalent sample size, where it has one."""
    if text == AUTO:
        return text if ess is None else parse_choice(BDeu.name, SCORES, **{_ESS: _parse_sizes(ess)})
    name = text.partition(":")[0]
    if ess is None:
        return parse_choice(text, SCORES)
    if name in SCORES.names() and _ESS not in _settings_of(SCORES.named(name)):
        raise InputError(f"--ess is the equivalent sample size of a score; {name} has none.")
    return parse_choice(text, SCORES, **{_ESS: _parse_sizes(ess)})


def _parse_sizes(text: str) -> float | str | list[float]:
    """One equivalent sample size, or several to average over."""
    try:
        sizes = [float(part) for part in text.split(",")]
    except ValueError:
        # Left to the score, which knows the words that it takes.
        return text
    return sizes if len(sizes) > 1 else sizes[0]


def parse_prior(text: str) -> Any:
    """A prior by its name, with an argument after a colon."""
    from dagpost.priors import resolve_prior

    return text if text == AUTO else resolve_prior(text)


def parse_method(text: str) -> Any:
    """A method by its name, with settings after a colon."""
    return text if text == AUTO else parse_choice(text, METHODS)


def parse_choice(text: str, registry: Registry[Any], **given: Any) -> Any:
    """What a registry has under a name, with settings as in `order-mcmc:chains=8,thinning=50`; without: the name."""
    name, colon, written = text.partition(":")
    if name not in registry.names():
        raise InputError(f"--{registry.kind} has no {name!r}.{nearest(name, registry.names())}")
    kind = registry.named(name)
    known = _settings_of(kind)
    if colon and not known:
        raise InputError(
            f"The {registry.kind} {name} has no settings. Got {shown(text)}: leave out what follows the colon."
        )
    chosen = dict(given)
    for part in written.split(",") if colon else ():
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not (key and equals and value):
            raise InputError(
                f"Settings of a {registry.kind} are written {name}:setting=value,setting=value. Got {shown(part)}."
            )
        if key not in known:
            raise InputError(f"{name} has no setting {key!r}. It has: {', '.join(known)}.")
        if key in chosen:
            raise InputError(f"The setting {key!r} of {name} is given twice. Give it once.")
        chosen[key] = _parse_value(f"{name}:{key}", value, str(known[key].type))
    usual = {key for key, own in known.items() if not own.default is own.default_factory is MISSING}
    missing = [key for key in known if key not in chosen and key not in usual]
    if missing:
        raise InputError(f"{name} needs the setting {missing[0]!r}. Write it as {name}:{missing[0]}=value.")
    return kind(**chosen) if chosen else name


def _settings_of(kind: type) -> dict[str, Field[Any]]:
    return {field.name: field for field in fields(kind) if field.init} if is_dataclass(kind) else {}


def _parse_value(setting: str, text: str, annotation: str) -> Any:
    """A value of the type that a setting has; several values are written A>B>C."""
    types = set(re.findall(r"\w+", annotation))
    if not types & {"Sequence", "tuple", "list"}:
        return _parse_one(setting, text, types)
    values = [_parse_one(setting, part.strip(), types) for part in text.split(">")]
    return values if "str" in types or len(values) > 1 else values[0]


def _parse_one(setting: str, text: str, types: set[str]) -> Any:
    if "Literal" in types and text in types:
        return text
    if "bool" in types:
        if text.lower() not in ("true", "false"):
            raise InputError(f"{setting} must be true or false. Got {shown(text)} instead.")
        return text.lower() == "true"
    if not types & {"int", "float"}:
        return _unquoted(text)
    kind, words = (float, "a number") if "float" in types else (int, "a whole number")
    try:
        return kind(text)
    except ValueError:
        raise InputError(f"{setting} must be {words}. Got {shown(text)} instead.") from None


def parse_tiers(texts: list[str] | None) -> list[list[str]] | None:
    """Tiers of columns, each written as `A,B`; a name with a comma stands in double quotes."""
    if texts is None:
        return None
    tiers = [[name.strip() for name in row] for row in csv.reader(texts, skipinitialspace=True)]
    for text, tier in zip(texts, tiers, strict=False):
        if not all(tier) or not tier:
            raise InputError(f"A tier is written A,B. Got {shown(text)} instead.")
    if len(tiers) == 1:
        raise InputError("One --tier alone says nothing. Give one for each group of columns, the earliest first.")
    return tiers


def columns_of_tiers(tiers: list[list[str]] | None, names: Sequence[str]) -> list[list[str]] | None:
    """The tiers with the columns that a pattern stands for: `*` is any text, unless a column has that very name.

    >>> columns_of_tiers([["sex"], ["*_30"], ["*_60"]], ["sex", "smoking_30", "lung_30", "lung_60"])
    [['sex'], ['smoking_30', 'lung_30'], ['lung_60']]
    """
    return tiers and [columns_like(tier, names, "--tier") for tier in tiers]


def columns_like(written: Sequence[str], names: Sequence[str], option: str) -> list[str]:
    """The columns that names and patterns stand for.

    >>> columns_like(["age", "gene*"], ["gene1", "gene2", "age", "weight"], "--exogenous")
    ['age', 'gene1', 'gene2']
    """
    return list(dict.fromkeys(name for own in written for name in _matching(own, names, option)))


def _matching(written: str, names: Sequence[str], option: str) -> list[str]:
    if "*" not in written or written in names:
        return [written]
    pattern = re.compile(".*".join(map(re.escape, written.split("*"))), re.DOTALL)
    found = [name for name in names if pattern.fullmatch(name)]
    if not found:
        raise InputError(f"{option} has {shown(written)}, but no column has a name like that.{nearest(written, names)}")
    return found


def parse_edges(texts: list[str] | None, option: str) -> list[tuple[str, str]]:
    """Edges, each written as `A -> B`; names may stand in quotes."""
    from dagpost.priors.edge_table import read_edge

    return [read_edge(text, option) for text in texts or []]


def _unquoted(name: str) -> str:
    return name[1:-1] if len(name) > 1 and name[0] == name[-1] and name[0] in "\"'" else name
