"""The bundled data sets: small, well known, and made or kept in code, so that nothing has to be fetched.

Each is a `Table` of discrete columns, ready for any discrete score.

A simulated cohort: 36 columns of people who are seen as children, at 30, at 45 and at 60; nobody in it ever lived.

It is what a longitudinal study looks like, with its true graph known: `datasets.load("cohort")` draws it. A column is
drawn after its causes. The levels of each cause are numbered 0, 1, 2; these numbers, each times the strength of that
cause, are added up with logistic noise, and the level of the column says how many of its cuts the sum passes.
"""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.checks import refusal, whole_number
from dagpost._tools.spelling import quoted
from dagpost._tools.text import shown
from dagpost.data.cutting import interval_names
from dagpost.data.table import Table
from dagpost.errors import InputError

#: How many people, unless the user says otherwise.
COHORT_ROWS = 1500

_NO_YES = ("no", "yes")
_THREE = ("low", "middle", "high")
_MOOD = ("good", "poor")


class _Column(NamedTuple):
    """The levels of a column, the cuts between them, and the strength of each of its causes."""

    levels: tuple[str, ...]
    cuts: tuple[float, ...]
    causes: Mapping[str, float] = MappingProxyType({})


#: The number at the end of a name is the age at which it was measured. Every cause stands before its effects.
COLUMNS: dict[str, _Column] = {
    "sex": _Column(("female", "male"), (0.0,)),
    "birth_year": _Column(("1946-50", "1951-55", "1956-60"), (-0.7, 0.7)),
    # Childhood
    "parents_education_7": _Column(_THREE, (0.2, 2.0), {"birth_year": 0.4}),
    "parents_smoke_7": _Column(("none", "one", "both"), (-1.5, 0.4), {"parents_education_7": -0.9}),
    "crowding_7": _Column(_NO_YES, (0.1,), {"parents_education_7": -1.1}),
    "damp_home_7": _Column(_NO_YES, (1.3,), {"crowding_7": 1.2}),
    "infections_7": _Column(("none", "some", "many"), (0.9, 2.5), {"parents_smoke_7": 0.8, "damp_home_7": 1.4}),
    "asthma_7": _Column(_NO_YES, (2.7,), {"infections_7": 1.0}),
    "reading_7": _Column(_THREE, (-0.4, 1.5), {"parents_education_7": 1.0}),
    "overweight_7": _Column(_NO_YES, (1.2,), {"parents_education_7": -0.5}),
    # The exam at 30
    "education_30": _Column(_THREE, (1.0, 3.0), {"parents_education_7": 0.8, "reading_7": 1.0}),
    "smoking_30": _Column(("never", "former", "current"), (0.0, 0.8), {"parents_smoke_7": 0.9, "education_30": -0.8}),
    "exercise_30": _Column(("low", "high"), (0.7,), {"education_30": 0.7}),
    "bmi_30": _Column(("normal", "overweight", "obese"), (0.3, 2.2), {"overweight_7": 1.4, "exercise_30": -0.8}),
    "work_dust_30": _Column(_NO_YES, (0.9,), {"education_30": -1.1, "sex": 1.2}),
    "lung_30": _Column(_THREE, (-3.0, -0.8), {"infections_7": -0.8, "asthma_7": -1.2, "smoking_30": -0.6}),
    "alcohol_30": _Column(("low", "moderate", "heavy"), (0.8, 2.5), {"smoking_30": 0.5, "sex": 0.9}),
    "pressure_30": _Column(("normal", "raised"), (2.3,), {"bmi_30": 0.8, "sex": 0.8}),
    "mood_30": _Column(_MOOD, (1.5,), {"alcohol_30": 0.6}),
    # The exam at 45
    "smoking_45": _Column(("never", "former", "current"), (0.9, 2.7), {"smoking_30": 2.0, "education_30": -0.7}),
    "exercise_45": _Column(("low", "high"), (0.9,), {"exercise_30": 1.4, "mood_30": -0.8}),
    "bmi_45": _Column(("normal", "overweight", "obese"), (0.3, 2.7), {"bmi_30": 1.7, "exercise_45": -0.8}),
    "work_dust_45": _Column(_NO_YES, (1.3,), {"work_dust_30": 2.3}),
    "lung_45": _Column(_THREE, (-0.7, 1.7), {"lung_30": 1.4, "smoking_45": -0.7, "work_dust_45": -1.4}),
    "pressure_45": _Column(("normal", "raised"), (2.0,), {"pressure_30": 1.7, "bmi_45": 0.8}),
    "cholesterol_45": _Column(("normal", "raised"), (1.1,), {"bmi_45": 0.8}),
    "income_45": _Column(_THREE, (0.4, 2.2), {"education_30": 1.0, "sex": 0.7}),
    "mood_45": _Column(_MOOD, (0.7,), {"mood_30": 1.5, "income_45": -0.6}),
    # Outcomes at 60
    "lung_60": _Column(_THREE, (-0.1, 2.2), {"lung_45": 1.5, "smoking_45": -0.6}),
    "bronchitis_60": _Column(_NO_YES, (0.7,), {"lung_60": -1.3, "smoking_45": 0.7}),
    "diabetes_60": _Column(_NO_YES, (2.9,), {"bmi_45": 1.1}),
    "heart_60": _Column(_NO_YES, (3.1,), {"pressure_45": 1.4, "cholesterol_45": 1.1, "smoking_45": 0.6}),
    "retired_60": _Column(_NO_YES, (1.3,), {"heart_60": 1.4, "income_45": -0.5}),
    "mood_60": _Column(_MOOD, (1.1,), {"mood_45": 1.4, "retired_60": 0.9}),
    "walking_60": _Column(("slow", "usual", "brisk"), (-0.4, 1.8), {"lung_60": 0.8, "bmi_45": -0.7}),
    "disability_60": _Column(_NO_YES, (1.1,), {"walking_60": -1.2, "bronchitis_60": 1.2, "mood_60": 0.9}),
}

#: The true graph: (cause, effect).
COHORT_EDGES = tuple((cause, name) for name, column in COLUMNS.items() for cause in column.causes)


def cohort(rows: int, seed: int) -> Table:
    """The table; its first rows are the same however many are drawn."""
    generator = np.random.default_rng(whole_number(seed, "seed", least=0))
    uniform = generator.random((whole_number(rows, "rows", "the data set 'cohort'"), len(COLUMNS))).T
    codes: dict[str, NDArray[Any]] = {}
    for (name, column), own in zip(COLUMNS.items(), uniform, strict=True):
        noise = np.log(own / (1.0 - own))
        total = noise + sum(strength * codes[cause] for cause, strength in column.causes.items())
        codes[name] = np.searchsorted(np.array(column.cuts), total).astype(np.uint8)
    return Table(tuple(COLUMNS), tuple(codes.values()), tuple(column.levels for column in COLUMNS.values()))


# Smoking, M. Work, P. Work, Pressure, Proteins, Family: the last runs fastest, "no", "<" and "neg" come
# first. These are the published counts. Another copy in circulation, the one that He, Tian & Wu (2016) analysed,
# has 107 and 0 smokers without and with strenuous mental work and no other risk factor, where 40 and 67 were
# published; all other cells agree.
_CORONARY_COUNTS = """
    44 5 23 7 35 4 24 4 129 9 50 9 109 14 51 5 112 21 70 14 80 11 73 13 12 1 7 2 7 5 7 4
    40 7 32 3 12 3 25 0 145 17 80 16 67 17 63 14 67 9 66 14 33 8 57 11 23 4 13 3 9 2 16 4
"""
_CORONARY_LEVELS = {
    "Smoking": ("no", "yes"),
    "M. Work": ("no", "yes"),
    "P. Work": ("no", "yes"),
    "Pressure": ("<140", ">140"),
    "Proteins": ("<3", ">3"),
    "Family": ("neg", "pos"),
}

_SQUARES = tuple(f"{row}-{column}" for row in ("top", "middle", "bottom") for column in ("left", "middle", "right"))
_LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
_BLANK, _NOUGHT, _CROSS = 0, 1, 2

_ASIA_COLUMNS = ("asia", "tub", "smoke", "lung", "bronc", "either", "xray", "dysp")
_ASIA_ROWS = 1000
_ASIA_EDGES = (
    ("asia", "tub"),
    ("smoke", "lung"),
    ("smoke", "bronc"),
    ("tub", "either"),
    ("lung", "either"),
    ("either", "xray"),
    ("either", "dysp"),
    ("bronc", "dysp"),
)


@dataclass(frozen=True)
class _Entry:
    make: Callable[..., Table]
    description: str
    #: Of data that is drawn: how many rows unless the user says otherwise, and the graph that it is drawn from.
    rows: int | None = None
    edges: tuple[tuple[str, str], ...] = ()


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
        return entry.make(entry.rows if rows is None else rows, 0 if seed is None else seed)
    if rows is not None or seed is not None:
        raise InputError(
            f"The data set {name!r} is what it is: {quoted('rows')} and {quoted('seed')} are for data that is drawn, "
            f"such as {_of_drawn_data()}. Leave them out."
        )
    return entry.make()


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
    edges = _entry(name).edges
    if not edges:
        raise InputError(
            f"Nobody knows the true graph of {name!r}: these are real data. It is known of data that is drawn: "
            f"{_of_drawn_data()}."
        )
    return edges


def _of_drawn_data() -> str:
    return " and ".join(repr(name) for name, entry in _ENTRIES.items() if entry.edges)


def _entry(name: str) -> _Entry:
    if not isinstance(name, str):
        raise refusal(name, "name", None, f"one of {', '.join(map(repr, names()))}")
    if name in _ENTRIES:
        return _ENTRIES[name]
    close = difflib.get_close_matches(name[:100], names(), n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise InputError(f"There is no bundled data set {shown(name)}.{hint} Bundled are: {', '.join(names())}.")


def _coronary() -> Table:
    cells = np.array(list(itertools.product((0, 1), repeat=6)), dtype=np.uint8)
    return Table(
        names=tuple(_CORONARY_LEVELS),
        columns=_columns(cells),
        levels=tuple(_CORONARY_LEVELS.values()),
        counts=np.array(_CORONARY_COUNTS.split(), dtype=np.int64),
    )


def _tic_tac_toe() -> Table:
    ends = sorted(_end_positions())
    cells = np.array([(*board, _wins(board, _CROSS)) for board in ends], dtype=np.uint8)
    squares: tuple[tuple[object, ...], ...] = (("blank", "o", "x"),) * len(_SQUARES)
    return Table((*_SQUARES, "class"), _columns(cells), (*squares, ("negative", "positive")))


def _wins(board: tuple[int, ...], player: int) -> bool:
    return any(all(board[square] == player for square in line) for line in _LINES)


def _end_positions() -> set[tuple[int, ...]]:
    """Play every game, move by move, each position once; keep the positions in which the game is over."""
    positions = {(_BLANK,) * len(_SQUARES)}
    ends = set()
    for move in range(len(_SQUARES)):
        player = _CROSS if move % 2 == 0 else _NOUGHT
        reached = {
            (*board[:square], player, *board[square + 1 :])
            for board in positions
            for square in range(len(_SQUARES))
            if board[square] == _BLANK
        }
        over = {board for board in reached if _wins(board, player)}
        positions = reached - over
        ends |= over
    return ends | positions


def _iris() -> Table:
    from sklearn.datasets import load_iris

    source: Any = load_iris()
    names = ("sepal_length", "sepal_width", "petal_length", "petal_width", "species")
    columns, levels = _equal_width(source.data)
    species: tuple[object, ...] = tuple(str(name) for name in source.target_names)
    return Table(names, (*columns, source.target.astype(np.uint8)), (*levels, species))


def _wine() -> Table:
    from sklearn.datasets import load_wine

    source: Any = load_wine()
    features = [name.removesuffix("_of_diluted_wines").replace("/", "_") for name in source.feature_names]
    kept = [position for position, name in enumerate(features) if name != "proline"]
    columns, levels = _equal_width(source.data[:, kept])
    classes: tuple[object, ...] = tuple(str(name) for name in source.target_names)
    names = ("class", *(features[position] for position in kept))
    return Table(names, (source.target.astype(np.uint8), *columns), (classes, *levels))


def _equal_width(data: NDArray[np.float64]) -> tuple[list[NDArray[Any]], list[tuple[object, ...]]]:
    """Three bins of equal width that hold their upper edges, as He, Tian & Wu (2016) cut these data.

    `discretise` puts a value on an edge into the bin above; 17 cells of iris lie on one.
    """
    edges = [np.linspace(column.min(), column.max(), 4) for column in data.T]
    columns: list[NDArray[Any]] = [
        np.searchsorted(edge[1:-1], column, side="left").astype(np.uint8)
        for edge, column in zip(edges, data.T, strict=True)
    ]
    return columns, [interval_names(edge) for edge in edges]


def _asia(rows: int, seed: int) -> Table:
    """Ancestral sampling; the probabilities are those of the paper's section 2."""
    generator = np.random.default_rng(whole_number(seed, "seed", least=0))
    uniform = generator.random((whole_number(rows, "rows", "the data set 'asia'"), len(_ASIA_COLUMNS))).T
    asia = uniform[0] < 0.01
    tub = uniform[1] < np.where(asia, 0.05, 0.01)
    smoke = uniform[2] < 0.5
    lung = uniform[3] < np.where(smoke, 0.1, 0.01)
    bronc = uniform[4] < np.where(smoke, 0.6, 0.3)
    either = tub | lung
    xray = uniform[6] < np.where(either, 0.98, 0.05)
    dysp = uniform[7] < np.where(either, np.where(bronc, 0.9, 0.7), np.where(bronc, 0.8, 0.1))
    cells = np.stack([asia, tub, smoke, lung, bronc, either, xray, dysp], axis=1).astype(np.uint8)
    return Table(_ASIA_COLUMNS, _columns(cells), (("no", "yes"),) * len(_ASIA_COLUMNS))


def _columns(cells: NDArray[np.uint8]) -> tuple[NDArray[Any], ...]:
    return tuple(np.ascontiguousarray(column) for column in cells.T)


_ENTRIES = {
    "coronary": _Entry(
        _coronary,
        "Six yes/no risk factors of 1,841 Czech car workers, as a table of 64 counts (Reinis et al. 1981; "
        "Edwards & Havranek, Biometrika 1985).",
    ),
    "tic-tac-toe": _Entry(
        _tic_tac_toe,
        "All 958 end positions of tic-tac-toe, x playing first, and whether x wins; generated (Aha, UCI "
        "repository, 1991).",
    ),
    "iris": _Entry(
        _iris, "150 irises: four measurements in 3 equal-width bins, and the species; scikit-learn (Fisher 1936)."
    ),
    "wine": _Entry(
        _wine,
        "178 Italian wines: the class and 12 measurements (without proline) in 3 bins of equal width; from "
        "scikit-learn (Forina et al., UCI repository, 1991).",
    ),
    "asia": _Entry(
        _asia,
        "Rows drawn from the 8-node chest clinic network, any number of them (Lauritzen & Spiegelhalter, "
        "Journal of the Royal Statistical Society B 1988).",
        rows=_ASIA_ROWS,
        edges=_ASIA_EDGES,
    ),
    "cohort": _Entry(
        cohort,
        "A simulated cohort, any number of people: 36 columns from childhood and from exams at 30, 45 and 60, drawn "
        "from a known graph (made up for the guide of dagpost: nobody in it ever lived).",
        rows=COHORT_ROWS,
        edges=COHORT_EDGES,
    ),
}
