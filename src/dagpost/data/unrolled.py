"""A table of present and earlier values, with what was done to have it: what `unroll` gives and `fit` takes.

`Unrolling` is what a model keeps of it: which columns are series, how far back they reach, how many rows were used and
why others were not. No cell and no subject's name is in it.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from dagpost._tools.schema import anything, list_of, mapping, optional, text, truth, whole
from dagpost._tools.text import printable, shortened
from dagpost.data.encoding import Cells
from dagpost.data.number_words import with_limit_texts
from dagpost.data.time_columns import earlier

if TYPE_CHECKING:
    import pandas

_COUNTS = (
    *("rows", "used", "beginnings", "gaps", "subjects", "shortest", "longest", "left_out_subjects", "unplaced"),
    *("missing_cells", "filled_cells"),
)
#: What an `Unrolling` must be in a file.
RULE = mapping(
    {
        "series": list_of(text, distinct=True),
        "static": list_of(text, distinct=True),
        "lags": whole(1, 999),
        "contemporaneous": truth,
        "time": optional(text),
        "subject": optional(text),
        "step": text,
        **dict.fromkeys(_COUNTS, whole()),
        "was_sorted": truth,
        "found_static": truth,
        "wide": truth,
    },
    more=anything,
)


@dataclass(frozen=True)
class Unrolling:
    """How a table was unrolled; the counts are of rows, subjects and cells of the original."""

    series: tuple[str, ...]
    static: tuple[str, ...]
    lags: int
    contemporaneous: bool
    time: str | None
    subject: str | None
    #: One step in words, such as "1" or "7 days".
    step: str
    rows: int
    used: int
    #: Rows that have too little before them because their subject begins there, and those that follow a gap.
    beginnings: int
    gaps: int
    subjects: int = 1
    shortest: int = 0
    longest: int = 0
    #: Subjects without a single row that could be used.
    left_out_subjects: int = 0
    #: Rows without a time or a subject.
    unplaced: int = 0
    missing_cells: int = 0
    filled_cells: int = 0
    was_sorted: bool = True
    found_static: bool = False
    #: Whether it had one row a subject.
    wide: bool = False

    @property
    def exogenous(self) -> tuple[str, ...]:
        """The columns that are not modelled: earlier values, and what is the same at all times."""
        return (*(earlier(one, lag) for lag in range(1, self.lags + 1) for one in self.series), *self.static)

    @property
    def names(self) -> tuple[str, ...]:
        """All columns: the present values, those a step earlier and so on, and the static ones."""
        return (*self.series, *self.exogenous)

    def sentences(self) -> list[str]:
        """What was done, a sentence each."""
        back = "the step before" if self.lags == 1 else f"the {self.lags} steps before"
        said = [
            f"{_count(self.rows, 'row')}{self._of_subjects()} became {_count(self.used, 'row')} of {len(self.series)} "
            f"series at present and at {back} (one step: {self.step})."
        ]
        if self.unplaced:
            said.append(f"{_count(self.unplaced, 'row')} without a time or a subject {_were(self.unplaced)} left out.")
        if self.beginnings:
            where = "a subject" if self.subjects > 1 else "the series"
            said.append(
                f"{_count(self.beginnings, 'row')} at the beginning of {where} "
                f"{_have(self.beginnings)} too little before {'it' if self.beginnings == 1 else 'them'} and only "
                f"{'serves' if self.beginnings == 1 else 'serve'} as earlier values."
            )
        if self.gaps:
            said.append(
                f"{_count(self.gaps, 'row')} {'follows' if self.gaps == 1 else 'follow'} a gap in time and "
                f"{_were(self.gaps)} not used as present values."
            )
        if self.left_out_subjects:
            said.append(f"{_count(self.left_out_subjects, 'subject')} {_have(self.left_out_subjects)} no usable row.")
        if self.static:
            listed = shortened([repr(name) for name in self.static])
            how = "the same at all times of a subject, so taken once" if self.found_static else "taken once"
            filled = f" ({_count(self.filled_cells, 'empty cell')} filled in from other rows)"
            said.append(f"Static ({how}): {listed}{filled if self.filled_cells else ''}.")
        if self.missing_cells:
            empty = "is empty" if self.missing_cells == 1 else "are empty"
            said.append(f"{_count(self.missing_cells, 'cell')} of the series {empty}.")
        if not self.was_sorted:
            said.append("The rows were not in the order of time; they were sorted.")
        if not self.contemporaneous:
            said.append("Edges among present values are not considered.")
        return said

    def _of_subjects(self) -> str:
        if self.subject is None and self.subjects == 1:
            return ""
        length = f"{self.shortest:,}" if self.shortest == self.longest else f"{self.shortest:,} to {self.longest:,}"
        return f" of {_count(self.subjects, 'subject')} ({length} each)"

    def to_json(self) -> dict[str, Any]:
        """The record as JSON can hold it."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}

    @classmethod
    def from_json(cls, described: Mapping[str, Any]) -> Unrolling:
        """The record that `to_json` described; what a later version added is left out."""
        known = {entry.name for entry in fields(cls)}
        given: dict[str, Any] = {name: value for name, value in described.items() if name in known}
        return cls(**given | {name: tuple(given[name]) for name in ("series", "static")})


@dataclass(frozen=True, eq=False, repr=False)
class Unrolled:
    """A table of present and earlier values, one row for every present time that can be used; made by `unroll`.

    `DagPosterior.fit` takes it as it is: earlier and static columns are exogenous. `report` says in sentences what was
    done with the rows; `record` is what a model keeps of it.
    """

    columns: Mapping[str, Cells]
    record: Unrolling
    #: The subjects of which no row could be used.
    left_out: tuple[str, ...] = ()
    #: The position of each row in the original table, the first row being row 0.
    positions: Any = None

    @property
    def names(self) -> tuple[str, ...]:
        """The columns: present values, those a step earlier and so on, and the static ones."""
        return tuple(self.columns)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return self.record.used

    @property
    def series(self) -> tuple[str, ...]:
        """The columns of the original that change with time."""
        return self.record.series

    @property
    def exogenous(self) -> tuple[str, ...]:
        """The columns that are not modelled."""
        return self.record.exogenous

    @property
    def report(self) -> list[str]:
        """What was done with the rows, a sentence each."""
        named = f"No usable row: {shortened([repr(one) for one in self.left_out])}."
        return [*self.record.sentences(), *([named] if self.left_out else [])]

    def to_pandas(self) -> pandas.DataFrame:
        """The rows as a data frame."""
        import pandas

        return pandas.DataFrame({name: _plain_column(cells) for name, cells in self.columns.items()})

    def __repr__(self) -> str:
        title = f"Unrolled table of {len(self.columns)} columns and {self.rows:,} rows"
        return "\n".join([title, *(f"  {printable(line)}" for line in self.report)])

    def _repr_html_(self) -> str:
        items = "".join(f"<li>{html.escape(printable(line))}</li>" for line in self.report)
        return f"<p>Unrolled table of {len(self.columns)} columns and {self.rows:,} rows</p><ul>{items}</ul>"


def _plain_column(cells: Cells) -> Any:
    import pandas

    if cells.kind == "declared":
        return pandas.Categorical.from_codes(cells.places, pandas.Index(cells.values), ordered=bool(cells.ordered))
    if cells.numeric and cells.kind == "whole" and not cells.missing.any():
        return np.asarray(cells.values)[cells.places]
    if cells.numeric:
        return with_limit_texts(cells.numbers(), cells.bounds)
    return np.array([*cells.values, None], dtype=object)[cells.places]


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _were(number: int) -> str:
    return "was" if number == 1 else "were"


def _have(number: int) -> str:
    return "has" if number == 1 else "have"
