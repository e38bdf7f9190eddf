"""The bundled data sets: small, well known, and part of the package, so that nothing has to be fetched.

Each is a `Table` of discrete columns, ready for any discrete score. Those of real data are kept as they are
(bundled.json): iris and wine have three bins of equal width that hold their upper edges, as He, Tian & Wu (2016) cut
these data. Coronary has the published counts; another copy in circulation, the one that they analysed, has 107 and 0
smokers without and with strenuous mental work and no other risk factor, where 40 and 67 were published.

Two are drawn, a column after its causes (drawn.toml). The cohort is what a longitudinal study looks like, with its true
graph known: 36 columns of people who are seen as children, at 30, at 45 and at 60; nobody in it ever lived.
"""

from __future__ import annotations

import json
import tomllib
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.checks import refusal, whole_number
from dagpost._tools.spelling import quoted
from dagpost._tools.text import nearest, shown
from dagpost.data.table import Table
from dagpost.errors import InputError


class _Entry(NamedTuple):
    description: str
    #: Of data that is drawn: how many rows unless the user says otherwise.
    rows: int | None = None


def load(name: str, *, rows: int | None = None, seed: int | None = None) -> Table:
    """A bundled data set by its name; `names` lists them, `describe` says what each is.

    Parameters
    ----------
    name
        One of "coronary", "tic-tac-toe", "iris", "wine", "asia", "cohort".
    rows, seed
        For data that is drawn, asia and cohort: how many rows (1,000 and 1,500 unless given) and the seed (0 unless
        given). The first rows are the same however many are drawn.

    >>> load("asia", rows=200, seed=1).names
    ('asia', 'tub', 'smoke', 'lung', 'bronc', 'either', 'xray', 'dysp')
    """
    entry = _entry(name)
    if entry.rows is not None:
        return _drawn(name, entry.rows if rows is None else rows, 0 if seed is None else seed)
    if rows is not None or seed is not None:
        raise InputError(
            f"The data set {name!r} is what it is: {quoted('rows')} and {quoted('seed')} are for data that is drawn, "
            f"such as {_of_drawn_data()}. Leave them out."
        )
    return _kept(name)


def names() -> tuple[str, ...]:
    """The names of the bundled data sets.

    >>> names()
    ('coronary', 'tic-tac-toe', 'iris', 'wine', 'asia', 'cohort')
    """
    return tuple(_ENTRIES)


def describe(name: str) -> str:
    """One line on a bundled data set, with its source.

    >>> describe("iris")
    '150 irises: four measurements in 3 equal-width bins, and the species; scikit-learn (Fisher 1936).'
    """
    return _entry(name).description


def true_edges(name: str) -> tuple[tuple[str, str], ...]:
    """The graph that a drawn data set comes from, as pairs (cause, effect), to compare a posterior with.

    >>> true_edges("asia")[:3]
    (('asia', 'tub'), ('smoke', 'lung'), ('smoke', 'bronc'))
    """
    if _entry(name).rows is None:
        raise InputError(
            f"Nobody knows the true graph of {name!r}: these are real data. It is known of data that is drawn: "
            f"{_of_drawn_data()}."
        )
    return tuple((cause, column) for column, about in columns_of(name).items() for cause in about.get("causes", ()))


def _of_drawn_data() -> str:
    return " and ".join(repr(name) for name, entry in _ENTRIES.items() if entry.rows is not None)


def _entry(name: str) -> _Entry:
    if not isinstance(name, str):
        raise refusal(name, "name", None, f"one of {', '.join(map(repr, names()))}")
    if name in _ENTRIES:
        return _ENTRIES[name]
    raise InputError(f"There is no bundled data set {shown(name)}.{nearest(name, names())}")


def _kept(name: str) -> Table:
    kept = json.loads(Path(__file__).with_name("bundled.json").read_text(encoding="utf-8"))[name]
    columns = kept["columns"]
    return Table(
        names=tuple(columns),
        columns=tuple(np.array(list(about["codes"]), dtype=np.uint8) for about in columns.values()),
        levels=tuple(tuple(about["levels"]) for about in columns.values()),
        counts=np.array(kept["counts"], dtype=np.int64) if "counts" in kept else None,
    )


@cache
def columns_of(name: str) -> dict[str, dict[str, Any]]:
    """The columns of a data set that is drawn, each with its levels, its causes, and how it depends on them."""
    described: dict[str, Any] = tomllib.loads(Path(__file__).with_name("drawn.toml").read_text(encoding="utf-8"))[name]
    return described


def _drawn(name: str, rows: int, seed: int) -> Table:
    """The table; its first rows are the same however many are drawn."""
    columns = columns_of(name)
    generator = np.random.default_rng(whole_number(seed, "seed", least=0))
    uniforms = generator.random((whole_number(rows, "rows", f"the data set {name!r}"), len(columns))).T
    codes: dict[str, NDArray[Any]] = {}
    for (column, about), uniform in zip(columns.items(), uniforms, strict=True):
        causes = about.get("causes", {})
        if "yes" in about:
            case = sum(codes[cause].astype(int) << place for place, cause in enumerate(reversed(causes)))
            found = uniform < np.array(about["yes"])[case]
        else:
            noise = np.log(uniform / (1.0 - uniform))
            total = noise + sum(strength * codes[cause] for cause, strength in causes.items())
            found = np.searchsorted(np.array(about["cuts"]), total)
        codes[column] = found.astype(np.uint8)
    return Table(tuple(columns), tuple(codes.values()), tuple(tuple(about["levels"]) for about in columns.values()))


_ENTRIES = {
    "coronary": _Entry(
        "Six yes/no risk factors of 1,841 Czech car workers, as a table of 64 counts (Reinis et al. 1981; "
        "Edwards & Havranek, Biometrika 1985)."
    ),
    "tic-tac-toe": _Entry(
        "All 958 end positions of tic-tac-toe, x playing first, and whether x wins; generated (Aha, UCI "
        "repository, 1991)."
    ),
    "iris": _Entry("150 irises: four measurements in 3 equal-width bins, and the species; scikit-learn (Fisher 1936)."),
    "wine": _Entry(
        "178 Italian wines: the class and 12 measurements (without proline) in 3 bins of equal width; from "
        "scikit-learn (Forina et al., UCI repository, 1991)."
    ),
    "asia": _Entry(
        "Rows drawn from the 8-node chest clinic network, any number of them (Lauritzen & Spiegelhalter, "
        "Journal of the Royal Statistical Society B 1988).",
        rows=1000,
    ),
    "cohort": _Entry(
        "A simulated cohort, any number of people: 36 columns from childhood and from exams at 30, 45 and 60, drawn "
        "from a known graph (made up for the guide of dagpost: nobody in it ever lived).",
        rows=1500,
    ),
}
