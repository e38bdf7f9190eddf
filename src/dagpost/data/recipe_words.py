"""A recipe in words: the table of its steps, and the notices about what a person did not ask for."""

from __future__ import annotations

import html
from collections.abc import Sequence

from dagpost._tools.spelling import either, setting
from dagpost._tools.text import printable, shortened
from dagpost.data.encoding import number_text
from dagpost.data.recipe_steps import Step

#: Columns that a notice names.
_NAMED = 4
_HEADER = ("column", "what it is", "what is done", "levels")


def summary(steps: Sequence[Step], dropped: int, rows: int) -> str:
    """How many columns are used, and how many rows were dropped, in one line."""
    used = sum(step.use != "left out" for step in steps)
    text = f"Recipe for {len(steps)} columns: {used} used"
    if used < len(steps):
        text += f", {len(steps) - used} left out"
    return text + (f"; {dropped:,} of {rows:,} rows dropped for gaps" if dropped else "")


def lines(steps: Sequence[Step]) -> list[str]:
    """The steps as an aligned table, with its header."""
    rows = [_HEADER, *(tuple(map(printable, cells(step))) for step in steps)]
    widths = [max(len(row[place]) for row in rows) for place in range(len(_HEADER) - 1)]
    return ["  ".join([*(f"{row[i]:<{width}}" for i, width in enumerate(widths)), row[-1]]).rstrip() for row in rows]


def cells(step: Step) -> tuple[str, str, str, str]:
    """One row of the table: column, what it is, what is done, levels."""
    gaps = f"; {step.gaps:,} gaps" if step.gaps else ""
    done = {"levels": "levels", "number": "stays a number", "regimes": "indicators", "left out": "left out"}[step.use]
    if step.cuts is not None:
        done = f"cut: {step.rule}"
    levels = "" if step.levels is None else shortened([number_text(level) for level in step.levels])
    return step.name, f"{step.why}{gaps}", done, levels


def to_html(steps: Sequence[Step], caption: str) -> str:
    """The same for a notebook or a page."""

    def row(texts: tuple[str, ...], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(text)}</{tag}>" for text in texts) + "</tr>"

    body = "".join(row(cells(step), "td") for step in steps)
    return f"<table><caption>{html.escape(caption)}</caption>{row(_HEADER, 'th')}{body}</table>"


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
