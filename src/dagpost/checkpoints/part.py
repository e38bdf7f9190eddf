"""A part of a run: what it decides and keeps has its own name, so that several parts of one kind share a checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self, TypeVar

from dagpost._tools.schema import Rule
from dagpost._tools.schema import anything as any_value
from dagpost.checkpoints.checkpoint import Arrays, Checkpoint, SavedSteps, anything, nothing

if TYPE_CHECKING:
    from collections.abc import Iterator

Step = TypeVar("Step")


class CheckpointPart(Checkpoint):
    """The checkpoint of one part of the run that `whole` belongs to; the parts have different names."""

    def __init__(self, whole: Checkpoint, name: str) -> None:
        self._whole, self._name = whole, name
        self.resumed = whole.resumed

    @contextmanager
    def task(self, kind: str, identity: Mapping[str, Any]) -> Iterator[Self]:
        """The task is that of the whole."""
        with self._whole.task(kind, identity):
            yield self

    def decided(self, what: str, decide: Callable[[], Any], rule: Rule = any_value) -> Any:
        """What this part decided before the kill, or decides now."""
        return self._whole.decided(self._named(what), decide, rule)

    def identify(self, what: str, arrays: Arrays) -> None:
        """Refuse to resume if these arrays of this part were different before the kill."""
        self._whole.identify(self._named(what), arrays)

    def stage(
        self,
        name: str,
        steps: Sequence[Step],
        pieces: Callable[[Step], Arrays] = nothing,
        running: Callable[[], Arrays] = nothing,
        check: Callable[[], None] = anything,
    ) -> SavedSteps[Step]:
        """Open a stage of this part."""
        return self._whole.stage(self._named(name), steps, pieces, running, check)

    def remove(self) -> None:
        """Remove the folder of the whole."""
        self._whole.remove()

    def _named(self, what: str) -> str:
        return f"{self._name}: {what}"
