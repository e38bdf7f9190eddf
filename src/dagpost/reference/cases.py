"""The reference cases, which cases.toml describes: an entry each."""

from __future__ import annotations

import tomllib
from functools import partial
from importlib.resources import files
from typing import Any

from dagpost.reference import drawing, written_networks
from dagpost.reference.case import DISCRETE, GAUSSIAN, MIXED, Case
from dagpost.reference.drawing import Network
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
    source = Bundled(name) if network is None else Drawn(rows, _network(**network), seed)
    return Case(name, description, kind, _SCORES[kind], max_parents, tuple(tags), source=source)


def _network(name: str, **settings: Any) -> partial[Network]:
    """The function that makes a network, with its settings."""
    make = getattr(drawing if hasattr(drawing, name) else written_networks, name)
    return partial(make, **{key: tuple(own) if isinstance(own, list) else own for key, own in settings.items()})


def _read() -> dict[str, Case]:
    described = tomllib.loads(files("dagpost.reference").joinpath("cases.toml").read_text(encoding="utf-8"))
    return {name: _case(name, **about) for name, about in described.items()}


#: Every case by its name, small ones first.
CASES = _read()
