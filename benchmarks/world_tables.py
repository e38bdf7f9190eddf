"""The worlds by name, a line each, and the tables that are drawn from them.

A purpose, a name, the number of rows and a number of its own decide a table. The purpose comes first in the key of the
seed: tables by which methods and settings are chosen share no random number with those that are reported.
"""

from __future__ import annotations

import zlib
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd
from benchmarks.world_drawing import Recipe, draw_network
from benchmarks.world_networks import KnownNetwork, stream

SEED = 2119
PURPOSES = {"choosing": 0, "reported": 1}
#: Columns of a table.
FEWEST, MOST = 6, 12
#: The chance that a pair is related where relations are many, or there are none.
DENSE, NONE = 0.4, 0.0

_LEVELS = Recipe(("binary", "ordered", "nominal"))
_NUMBERS = Recipe(("number",))
_MIXED = Recipe(("number", "number", "number", "binary", "ordered", "nominal"))
_ORDERED = Recipe(("number", "binary", "ordered"))
_NOMINAL = Recipe(("number", "nominal"))
_LINEAR = Recipe(("number",), None, "linear", ("normal",), ("plain",), products=0.0)
_CURVED = replace(_LINEAR, relations="curved")

WORLDS: dict[str, Recipe] = {
    "levels-none": replace(_LEVELS, density=NONE),
    "levels-sparse": _LEVELS,
    "levels-dense": replace(_LEVELS, density=DENSE),
    "levels-hidden": replace(_LEVELS, hidden=2),
    "numbers-none": replace(_NUMBERS, density=NONE),
    "numbers-sparse": _NUMBERS,
    "numbers-dense": replace(_NUMBERS, density=DENSE),
    "numbers-hidden": replace(_NUMBERS, hidden=2),
    "linear-sparse": _LINEAR,
    "linear-dense": replace(_LINEAR, density=DENSE),
    "linear-skewed": replace(_LINEAR, density=DENSE, noise=("skewed",)),
    "linear-any-noise": replace(_LINEAR, density=DENSE, noise=("skewed", "heavy", "even", "mixture")),
    "curved-sparse": _CURVED,
    "curved-dense": replace(_CURVED, density=DENSE),
    "curved-monotone": replace(_LINEAR, density=DENSE, relations="monotone"),
    "products": replace(_LINEAR, density=DENSE, products=0.7),
    "unequal-noise": replace(_LINEAR, density=DENSE, spreading=0.7),
    "mixtures": replace(_LINEAR, density=DENSE, noise=("normal", "mixture"), strangers=0.35),
    "mixed-none": replace(_MIXED, density=NONE),
    "mixed-sparse": _MIXED,
    "mixed-dense": replace(_MIXED, density=DENSE),
    "mixed-products": replace(_MIXED, density=DENSE, products=0.7),
    "mixed-unequal": replace(_MIXED, density=DENSE, spreading=0.7, strangers=0.2),
    "mixed-hidden": replace(_MIXED, hidden=2),
    "ordered-sparse": _ORDERED,
    "ordered-dense": replace(_ORDERED, density=DENSE),
    "nominal-sparse": _NOMINAL,
    "nominal-dense": replace(_NOMINAL, density=DENSE),
    "cut-sparse": replace(_LINEAR, cut=True),
    "cut-dense": replace(_LINEAR, density=DENSE, cut=True),
    "triangle": replace(_LINEAR, density=DENSE, driver="untold"),
    "triangle-told": replace(_LINEAR, density=DENSE, driver="told"),
    "ceilings": replace(_LINEAR, density=DENSE, shapes=("ceiling", "floor")),
    "rounded": replace(_LINEAR, density=DENSE, shapes=("coarse", "rounded")),
    "rare": replace(_NOMINAL, kinds=("number", "rare", "nominal"), density=DENSE),
    "together": replace(_LINEAR, density=DENSE, together=True),
    "mixed-together": replace(_MIXED, density=DENSE, relations="linear", together=True),
}


class Case(NamedTuple):
    """A table and the network that made it."""

    frame: pd.DataFrame
    network: KnownNetwork
    seed: np.random.SeedSequence


def seed_of(purpose: str, name: str, rows: int, number: int, seed: int = SEED) -> np.random.SeedSequence:
    """All that a table depends on, beside its recipe; whether something is told does not change it.

    >>> [seed_of(purpose, "cut-sparse", 300, 7).spawn_key[0] for purpose in ("choosing", "reported")]
    [0, 1]
    """
    name = name.removesuffix("-told")
    return np.random.SeedSequence(seed, spawn_key=(PURPOSES[purpose], zlib.crc32(name.encode()), rows, number))


def draw_case(
    purpose: str, world: str, rows: int, number: int, seed: int = SEED, columns: tuple[int, int] = (FEWEST, MOST)
) -> Case:
    """A network of its own for every table, of at least and at most so many columns, and rows of it."""
    own = seed_of(purpose, world, rows, number, seed)
    rng = stream(own, 0)
    network = draw_network(WORLDS[world], int(rng.integers(columns[0], columns[1] + 1)), rng)
    return Case(network.frame(rows, np.random.SeedSequence(own.entropy, spawn_key=(*own.spawn_key, 1))), network, own)
