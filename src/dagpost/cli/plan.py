"""Print what a long run will do and take; the library makes the plan (posterior/plan.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from dagpost.cli.messages import in_words

if TYPE_CHECKING:
    from dagpost.posterior.plan import Plan

#: Shorter runs are not announced.
_LONG_SECONDS = 2.0


def announce(plan: Plan, what: str) -> None:
    """Say what a long run will do and take; say nothing of a short one, or of one that the memory does not allow."""
    if plan.seconds < _LONG_SECONDS or not plan.fits:
        return
    lines = [f"{what}. What will be done:", *plan.lines()]
    if plan.hint:
        lines.append(in_words(plan.hint))
    if plan.chains:
        lines.append("After their burn-in, Ctrl-C ends the chains early, with the graphs that they have.")
    typer.echo("\n".join(lines), err=True)
