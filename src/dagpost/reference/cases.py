"""The reference cases, which cases.toml describes, an entry each: by name, by kind and by tag."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Any

from dagpost._tools.checks import refusal
from dagpost._tools.spelling import either
from dagpost._tools.text import nearest, shown
from dagpost.errors import InputError
from dagpost.reference.case import DISCRETE, GAUSSIAN, KINDS, MIXED, Case
from dagpost.reference.sources import Bundled, Drawn
from dagpost.scores import BDeu, BGe, ConditionalGaussian

_SCORES = {DISCRETE: BDeu(1.0), GAUSSIAN: BGe(prior_scale=1.0), MIXED: ConditionalGaussian()}


def _case(
    name: str,
    *,
    kind: str,
    max_parents: int,
    description: str,
    tags: list[str],
    network: dict[str, Any] | None = None,
    rows: int = 0,
    seed: int = 0,
) -> Case:
    source = Bundled(name) if network is None else Drawn(name, rows, seed, network)
    return Case(name, description, kind, _SCORES[kind], max_parents, tuple(tags), source=source)


def _read() -> dict[str, Case]:
    described = tomllib.loads(files("dagpost.reference").joinpath("cases.toml").read_text(encoding="utf-8"))
    return {name: _case(name, **about) for name, about in described.items()}


#: Every case by its name, small ones first.
CASES = _read()


def names(kind: str | None = None, tag: str | None = None) -> tuple[str, ...]:
    """The names of the reference cases, small ones first; all of them, or those of a kind or with a tag.

    Parameters
    ----------
    kind
        "discrete", "gaussian" or "mixed": what the columns of the table hold.
    tag
        What a case is chosen for, such as "hard" or "few rows"; `Case.tags` has those of a case.

    >>> names(kind="mixed", tag="few rows")
    ('mixed-7-few', 'mixed-16-few')
    """
    tags = sorted({own for case in CASES.values() for own in case.tags})
    for value, called, known in ((kind, "kind", KINDS), (tag, "tag", tags)):
        if value is not None and not (isinstance(value, str) and value in known):
            python = f"None or one of {', '.join(map(repr, known))}"
            raise refusal(value, called, "reference.names", either(python, f"one of {', '.join(known)}"))
    chosen = (case for case in CASES.values() if kind in (None, case.kind) and (tag is None or tag in case.tags))
    return tuple(case.name for case in chosen)


def load(name: str) -> Case:
    """A reference case by its name; `names` lists them.

    >>> load("parity-5").description
    '400 rows of four coins and their parity: five modes, far from each other and from the empty graph.'
    """
    if not isinstance(name, str):
        raise refusal(name, "name", "reference.load", "the name of a reference case")
    if name not in CASES:
        raise InputError(f"There is no reference case {shown(name)}.{nearest(name, list(CASES))}")
    return CASES[name]
