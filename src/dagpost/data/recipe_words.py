"""A recipe in words: the table of its steps, and the notices about what a person did not ask for."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dagpost._tools.spelling import either, setting
from dagpost._tools.text import printable, shortened
from dagpost.data.encoding import number_text
from dagpost.data.recipe_steps import Step, names_of

if TYPE_CHECKING:
    from dagpost.data.table import Table

#: Columns that a notice names.
_NAMED = 4
#: A table of more columns is shown in part: the first ones, and as many of those that a person should look at.
_MOST_SHOWN, _FIRST_SHOWN = 64, 24
_HEADER = ("column", "what it is", "what is done", "levels")


def summary(steps: Sequence[Step], dropped: int, rows: int, missing: str) -> str:
    """How many columns are used, how many rows were dropped, and what becomes of gaps, in one line."""
    used = sum(step.use != "left out" for step in steps)
    text = f"Recipe for {len(steps)} columns: {used} used"
    if used < len(steps):
        text += f", {len(steps) - used} left out"
    text += f"; {dropped:,} of {rows:,} rows dropped for gaps" if dropped else ""
    gaps = sum(step.gaps for step in steps if step.used)
    if not gaps or missing not in ("augment", "level"):
        return text
    # Where rows were dropped, some gaps went with them.
    which = "other gaps are" if dropped else f"{gaps:,} gap{' is' if gaps == 1 else 's are'}"
    return f"{text}; {which} {'completed by chains' if missing == 'augment' else 'a level of their own'}"


def lines(steps: Sequence[Step], exogenous: Sequence[str] = ()) -> list[str]:
    """The steps as an aligned table, with its header; of very many those that matter, and a line on the others."""
    shown, others = _shown(steps)
    rows = [_HEADER, *(tuple(map(printable, cells(step, exogenous))) for step in shown)]
    widths = [max(len(row[place]) for row in rows) for place in range(len(_HEADER) - 1)]
    table = ["  ".join([*(f"{row[i]:<{width}}" for i, width in enumerate(widths)), row[-1]]).rstrip() for row in rows]
    return [*table, *([others] if others else [])]


def _shown(steps: Sequence[Step]) -> tuple[list[Step], str]:
    """The steps to show, in their order, and a sentence on the others, empty if there are none."""
    if len(steps) <= _MOST_SHOWN:
        return list(steps), ""
    # What was left out and what has gaps is what a person has to look at.
    notable = [place for place, step in enumerate(steps) if not step.used or step.gaps]
    plain = [place for place, step in enumerate(steps) if step.used and not step.gaps]
    room = max(_FIRST_SHOWN, 2 * _FIRST_SHOWN - len(plain))
    places = sorted([*notable[:room], *plain[: 2 * _FIRST_SHOWN - min(len(notable), room)]])
    rest = [step for place, step in enumerate(steps) if place not in {*places}]
    kinds = {
        "levels": sum(step.use == "levels" for step in rest),
        "cut": sum(step.cuts is not None for step in rest),
        "numbers": sum(step.use == "number" and step.cuts is None for step in rest),
        "left out": sum(not step.used for step in rest),
        "with gaps": sum(step.used and step.gaps > 0 for step in rest),
    }
    counted = ", ".join(f"{count:,} {words}" for words, count in kinds.items() if count)
    return [steps[place] for place in places], f"and {len(rest):,} more columns: {counted}"


def cells(step: Step, exogenous: Sequence[str] = ()) -> tuple[str, str, str, str]:
    """One row of the table: column, what it is, what is done, levels; some columns are not modelled."""
    gaps = f"; {step.gaps:,} gap{'' if step.gaps == 1 else 's'}" if step.gaps else ""
    done = {"levels": "levels", "number": "stays a number", "regimes": "indicators", "left out": "left out"}[step.use]
    if step.cuts is not None:
        done = f"cut: {step.rule}"
    elif step.in_order is not None:
        done += ", ordered" if step.in_order else ", in no order"
    if step.used and step.name in names_of("exogenous", exogenous):
        done += "; exogenous"
    levels = "" if step.levels is None else shortened([number_text(level) for level in step.levels])
    return step.name, f"{step.why}{gaps}", done, levels


def to_html(steps: Sequence[Step], caption: str, exogenous: Sequence[str] = ()) -> str:
    """The same for a notebook or a page."""

    def row(texts: tuple[str, ...], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(text)}</{tag}>" for text in texts) + "</tr>"

    shown, others = _shown(steps)
    body = "".join(row(cells(step, exogenous), "td") for step in shown)
    more = f'<tr><td colspan="{len(_HEADER)}">{others}</td></tr>' if others else ""
    return f"<table><caption>{html.escape(caption)}</caption>{row(_HEADER, 'th')}{body}{more}</table>"


def notice_of_reading(steps: Sequence[Step], dropped: int, rows: int, *, decided: bool) -> str:
    """What was left out and dropped without being asked for; empty if nothing was."""
    left_out = [step for step in steps if decided and not step.used and ":" in step.why]
    parts = []
    if left_out:
        reasons = [step.why.partition(":")[0] for step in left_out]
        listed = [f"{step.name!r} ({reason})" for step, reason in zip(left_out, reasons, strict=True)]
        parts.append(f"Left out: {_few(listed)}.")
    if dropped:
        gaps = sorted(((step.gaps, step.name) for step in steps if step.used and step.gaps), reverse=True)
        where = _few([f"{name!r} has {count:,}" for count, name in gaps])
        text = f"{dropped:,} of {rows:,} rows have gaps and were dropped ({where})."
        if 2 * dropped > rows:
            text = (
                f"MORE THAN HALF OF THE ROWS WERE DROPPED: {text} What is left may not stand for the rest: leave out "
                f"{gaps[0][1]!r}, or give gaps a level of their own ({setting('missing', 'level')})."
            )
        parts.append(text)
    if left_out:
        shown = either("The 'recipe' of the table or model shows", "dagpost info TABLE shows")
        parts.append(f"{shown} what is done with each column; {either('Recipe(keep=[...])', '--keep')} keeps one.")
    return " ".join(parts)


def notice_of_gaps(table: Table) -> str:
    """What a fit does about the gaps of a table, in one sentence; empty if there are none."""
    if table.gaps is None or not table.gap_count:
        return ""
    said = _notice_of_limits(table)
    gaps = table.gaps & ~table.censored
    count, incomplete = int(gaps.sum()), int(gaps.any(axis=0).sum())
    if not count:
        return said
    each = sorted(zip(gaps.sum(axis=1).tolist(), table.names, strict=True), key=lambda own: -own[0])
    cells = "1 cell has" if count == 1 else f"{count:,} cells have"
    ways = either("missing='drop', 'level' or 'refuse'", "--missing drop, level or refuse")
    return (
        f"{cells} no value ({_few([f'{name!r}: {count:,}' for count, name in each if count])}), so that {incomplete:,} "
        f"of {table.rows:,} rows ({incomplete / table.rows:.1%}) have gaps: chains complete them again and again, "
        "given all cells that are there, which assumes that values are missing at random; other ways are "
        f"{ways}.{said and f' {said}'}"
    )


def _notice_of_limits(table: Table) -> str:
    """What a fit does about censored cells, in one sentence; empty if there are none."""
    each = [(int(count), name) for count, name in zip(table.censored.sum(axis=1), table.names, strict=True) if count]
    if not each:
        return ""
    total = sum(count for count, _ in each)
    cells = "Of 1 cell" if total == 1 else f"Of {total:,} cells"
    where = _few([f"{name!r}: {count:,}" for count, name in sorted(each, reverse=True)])
    return f"{cells} only a limit is known ({where}): chains draw numbers within the limits again and again."


def notice_of_cuts(steps: Sequence[Step]) -> str:
    """How numbers were cut without being asked for; empty if none were."""
    cut = [f"{step.name!r} at {_joined([number_text(cut) for cut in step.cuts])}" for step in steps if step.cuts]
    if not cut:
        return ""
    other = either('Recipe(cut={...}) or score="bge" does otherwise', "--cut, --bins or --score bge does otherwise")
    return f"Cut into levels for a discrete score: {_few(cut)}; {other}."


def _few(items: list[str]) -> str:
    shown = ", ".join(items[:_NAMED])
    return shown if len(items) <= _NAMED else f"{shown} and {len(items) - _NAMED} more"


def _joined(items: list[str]) -> str:
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"
