"""How far an answer is from the exact posterior: the results of `score`, and how they read.

Every distance is 0 for the posterior itself. `scorer.py` says how each is computed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dagpost._tools.text import printable

if TYPE_CHECKING:
    import pandas as pd

#: From so many draws on, the worth of an answer is not told apart from that of the posterior itself.
MOST_DRAWS = 10**9
#: Shown as 0: what rounding leaves of a distance.
_NOTHING = 1e-9


@dataclass(frozen=True)
class PairDistance:
    """Distances over all ordered pairs of columns.

    `sad` is the sum of absolute differences (He, Tian & Wu 2016), `mean` that over the number of pairs, `maximum` the
    largest one and `where` the pair that has it.
    """

    sad: float
    mean: float
    maximum: float
    where: tuple[str, str]


@dataclass(frozen=True)
class FamilyDistance:
    """Total variation between the stated and the exact probabilities of the parent sets of a column.

    `mean` and `maximum` are over the columns, `where` is the column that has the largest. Sets that the truth does not
    list count as one, so that each of these figures may be too small, by at most `left_out`.
    """

    mean: float
    maximum: float
    where: str
    left_out: float


@dataclass(frozen=True)
class ClassDistance:
    """Total variation between the stated and the exact probabilities of the equivalence classes.

    Where the truth lists all classes it is `exact`. Elsewhere the classes that it does not list count as one, and
    `total_variation` is a lower bound, too small by at most `left_out`.
    """

    total_variation: float
    exact: bool
    left_out: float


@dataclass(frozen=True, eq=False)
class Calibration:
    """Whether of the edges stated with probability 0.3, say, 0.3 are there.

    `table` has a row for each tenth in which probabilities are stated: `least`, `most`, `pairs`, `stated` and `exact`
    (means over the pairs). `error` is the expected calibration error: the mean of |stated - exact| over the rows, each
    counted by its pairs.
    """

    table: pd.DataFrame
    error: float


@dataclass(frozen=True)
class Divergence:
    """How much is lost by believing the stated edge probabilities, in nats, summed over all ordered pairs.

    It is the sum of p log(p / q) + (1 - p) log((1 - p) / (1 - q)) with p exact and q stated, and infinite where 0 or 1
    is stated of an edge that is neither impossible nor certain: there are `pairs` such edges, and `where` is the one
    furthest off, with its `stated` and `exact` probability. A 0 or 1 within 1e-9 of the truth counts as right.
    """

    nats: float
    pairs: int = 0
    where: tuple[str, str] | None = None
    stated: float | None = None
    exact: float | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Distances:
    """How far an answer is from the exact posterior of a case; every distance of the posterior itself is 0.

    `families`, `classes` and `paths` are None where only edge probabilities are known, `classes` also where the truth
    lists none because every one of them is improbable.

    `worth` is the number of independent draws from the exact posterior whose expected SAD equals that of this answer:
    infinite beyond a thousand million, 0 for an answer that is further off than one draw on average. `graphs` is how
    many graphs were scored. `dropped` graphs with directed cycles were left out, which is an error of the sampler that
    no distance shows; they had `dropped_weight` of all weight.
    """

    case: str
    columns: int
    graphs: int | None
    edges: PairDistance
    paths: PairDistance | None
    families: FamilyDistance | None
    classes: ClassDistance | None
    calibration: Calibration
    divergence: Divergence
    worth: float
    dropped: int = 0
    dropped_weight: float = 0.0

    def __repr__(self) -> str:
        return self.summary()

    def summary(self) -> str:
        """The distances as text, a line each."""
        what = "edge probabilities" if self.graphs is None else f"{self.graphs:,} graph{'s' * (self.graphs != 1)}"
        title = f"{self.case or 'a posterior'}, {self.columns} columns: {what} against the exact posterior"
        lines = [
            ("edges", _pairs_text(self.edges)),
            ("paths", None if self.paths is None else _pairs_text(self.paths)),
            ("families", None if self.families is None else _families_text(self.families)),
            ("classes", None if self.classes is None else _classes_text(self.classes)),
            ("calibration", f"stated and exact probabilities differ by {_figure(self.calibration.error)} on average"),
            ("divergence", _divergence_text(self.divergence)),
            ("worth", _worth_text(self.worth)),
            ("cyclic", _dropped_text(self.dropped, self.dropped_weight) if self.dropped else None),
        ]
        return "\n".join([title, *(f"  {name:<12} {text}" for name, text in lines if text is not None)])

    def to_frame(self) -> pd.DataFrame:
        """One row with a column for each figure; what is not known is missing."""
        import pandas as pd

        return pd.DataFrame([self._row()])

    def to_json(self) -> dict[str, Any]:
        """The same, with the table of the calibration, as JSON can hold it: infinite and unknown figures are None."""
        about: dict[str, Any] = {name: _json(value) for name, value in self._row().items()}
        about["calibration"] = _records(self.calibration.table)
        return about

    def _row(self) -> dict[str, Any]:
        row: dict[str, Any] = {"case": self.case, "columns": self.columns, "graphs": self.graphs}
        for name, parts in (
            ("edges", ("sad", "mean", "maximum", "where")),
            ("paths", ("sad", "mean", "maximum", "where")),
            ("families", ("mean", "maximum", "where", "left_out")),
        ):
            row |= {f"{name}_{part}": _plain(getattr(getattr(self, name), part, None)) for part in parts}
        row["classes"] = getattr(self.classes, "total_variation", None)
        row |= {f"classes_{part}": getattr(self.classes, part, None) for part in ("exact", "left_out")}
        row["calibration_error"] = self.calibration.error
        row["divergence"] = self.divergence.nats
        row["divergence_where"] = _plain(self.divergence.where)
        row["worth"] = self.worth
        row["dropped"], row["dropped_weight"] = self.dropped, self.dropped_weight
        return row


# How the lines read


def _pairs_text(found: PairDistance) -> str:
    largest = f"largest {_figure(found.maximum)}"
    where = f" ({printable(' -> '.join(found.where))})" if found.maximum >= _NOTHING else ""
    return f"SAD {_figure(found.sad)}, mean {_figure(found.mean)}, {largest}{where}"


def _families_text(found: FamilyDistance) -> str:
    where = f" ({printable(found.where)})" if found.maximum >= _NOTHING else ""
    rest = f"; up to {_figure(found.left_out)} more from sets not listed" if found.left_out > 1e-4 else ""
    return f"total variation {_figure(found.mean)} on average, largest {_figure(found.maximum)}{where}{rest}"


def _classes_text(found: ClassDistance) -> str:
    if found.exact:
        return f"total variation {_figure(found.total_variation)}"
    upper = min(1.0, found.total_variation + found.left_out)
    return f"total variation between {_figure(found.total_variation)} and {_figure(upper)} (classes not listed are one)"


def _divergence_text(found: Divergence) -> str:
    if found.where is None or found.exact is None:
        return f"{_figure(found.nats)} nats"
    others = f" (and {found.pairs - 1:,} more such pair{'s' * (found.pairs > 2)})" if found.pairs > 1 else ""
    stated = "certain" if found.stated else "impossible"
    pair = printable(" -> ".join(found.where))
    return f"infinite: {pair} is stated as {stated} and has probability {found.exact:.4g}{others}"


def _worth_text(worth: float) -> str:
    if math.isinf(worth):
        return f"as good as more than {MOST_DRAWS:,} independent draws of the exact posterior, judged by SAD"
    if worth < 1.0:
        return "further off than a single draw of the exact posterior on average, judged by SAD"
    return f"as good as {worth:,.0f} independent draw{'s' * (worth != 1.0)} of the exact posterior, judged by SAD"


def _dropped_text(dropped: int, weight: float) -> str:
    graphs = "1 graph with a directed cycle was" if dropped == 1 else f"{dropped:,} graphs with directed cycles were"
    return f"{graphs} left out, with {weight:.2%} of the weight"


def _figure(value: float) -> str:
    """Three digits; what rounding leaves is 0."""
    return "0" if abs(value) < _NOTHING else f"{value:.3g}"


def _plain(value: Any) -> Any:
    """A figure, or a pair of columns as text."""
    return "->".join(value) if isinstance(value, tuple) else value


def _json(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): _json(value) for name, value in row.items()} for row in table.to_dict("records")]
