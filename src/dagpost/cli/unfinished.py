"""Long runs that are interrupted and resumed: where the unfinished work is kept, and what the user is told about it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from dagpost.cli.application import BrokenOffError, say
from dagpost.cli.files import PARTIAL
from dagpost.cli.process import was_interrupted
from dagpost.errors import InputError

if TYPE_CHECKING:
    from dagpost.checkpoints import Checkpoint


def checkpoint_for(output: Path | None, *, quiet: bool) -> Checkpoint | None:
    """A checkpoint beside the result, under its name; None where no result is kept. Says when a run resumes from it."""
    from dagpost.checkpoints import Checkpoint

    if output is None:
        return None
    folder = output.with_name(output.name + PARTIAL)

    def announce() -> None:
        say(f"an earlier run was interrupted; resuming from {folder}.")

    return Checkpoint(folder, when_resumed=None if quiet else announce)


@contextmanager
def keeping(checkpoint: Checkpoint | None) -> Iterator[None]:
    """Where Ctrl-C ends the work inside, say whether the same command can resume it."""
    try:
        yield
    except BaseException as error:
        if not was_interrupted(error):
            raise
        kept = _kept(checkpoint)
        if checkpoint is not None and not kept:
            checkpoint.remove()
        raise BrokenOffError(kept or "Nothing was written.") from None


@contextmanager
def saving(checkpoint: Checkpoint | None) -> Iterator[None]:
    """Where the result cannot be written, say whether the same command can resume: the work may have taken days."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{error.marked} {_kept(checkpoint)}".rstrip()) from error


def _kept(checkpoint: Checkpoint | None) -> str:
    """A sentence on what is kept, or nothing."""
    if checkpoint is None or not _can_resume(checkpoint):
        return ""
    return f"What was done is kept in {checkpoint.folder}; {how_to_resume(checkpoint)}."


def how_to_resume(checkpoint: Checkpoint | None) -> str:
    """What the same command would do now."""
    return f"the same command {'resumes from there' if _can_resume(checkpoint) else 'starts anew'}"


def _can_resume(checkpoint: Checkpoint | None) -> bool:
    """Whether anything was kept; a run of a few seconds leaves nothing to resume from."""
    from dagpost.checkpoints.folder import MANIFEST

    return checkpoint is not None and (checkpoint.folder / MANIFEST).exists()
