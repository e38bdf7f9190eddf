"""One long stage of work, of which someone is told how far it is, and whose finished steps are kept.

Functions that do such work take `**tracking: Unpack[Tracking]` and pass it on, down to the stages themselves:

    with tracked("graphs", blocks, lambda block: [what it fills], **tracking) as (saved, stage):
        for block in saved:
            ...
            stage.advance(1)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypedDict

from dagpost._tools.progress import NO_PROGRESS, Reporter, Stage
from dagpost.checkpoints.checkpoint import Arrays, Checkpoint, SavedSteps, Step, anything, nothing
from dagpost.checkpoints.kinds import NO_CHECKPOINT


class Tracking(TypedDict, total=False):
    """Who is told how far the work is, and where it keeps what it has finished; without them, nobody and nowhere."""

    reporter: Reporter
    checkpoint: Checkpoint


@contextmanager
def tracked(
    title: str,
    steps: Sequence[Step],
    pieces: Callable[[Step], Arrays] = nothing,
    running: Callable[[], Arrays] = nothing,
    *,
    check: Callable[[], None] = anything,
    units: int | None = None,
    units_of: Callable[[Step], int] = lambda _: 1,
    kept_as: str | None = None,
    reporter: Reporter = NO_PROGRESS,
    checkpoint: Checkpoint = NO_CHECKPOINT,
) -> Iterator[tuple[SavedSteps[Step], Stage]]:
    """Open a stage of a run: the steps as `Checkpoint.stage` returns them, and the stage that counts its units.

    All steps together are `units` units (one each, unless told otherwise), one of them is `units_of(step)`. The steps
    that were read from a checkpoint have been counted; the caller counts the others. The checkpoint calls the stage
    `kept_as` if that is given, and `title` otherwise.
    """
    saved = checkpoint.stage(kept_as or title, steps, pieces, running, check)
    with reporter.stage(title, len(steps) if units is None else units) as stage:
        for step in saved.finished:
            stage.advance(units_of(step))
        yield saved, stage
