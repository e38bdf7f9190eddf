"""The checkpoint of an ordinary run, and those of the parts of a run, so that several of one kind share a folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Self

from dagpost.checkpoints.checkpoint import Arrays, Checkpoint, SavedSteps, Step


class _None(Checkpoint):
    """The checkpoint of an ordinary run: no step is finished yet, and nothing is written."""

    def __init__(self) -> None:
        self.resumed = False

    @contextmanager
    def task(self, *_: Any) -> Iterator[Self]:
        yield self

    def decided(self, what: str, decide: Callable[[], Any], *_: Any) -> Any:  # noqa: ARG002
        return decide()

    def identify(self, *_: Any) -> None:
        pass

    def stage(self, name: str, steps: Sequence[Step], *_: Any, **__: Any) -> SavedSteps[Step]:  # noqa: ARG002
        return SavedSteps(steps)

    def remove(self) -> None:
        pass


NO_CHECKPOINT: Checkpoint = _None()


class CheckpointPart(Checkpoint):
    """A part of the run that `whole` belongs to: what it decides and keeps has its own name, as other parts have."""

    def __init__(self, whole: Checkpoint, name: str) -> None:
        self._whole, self._name = whole, name
        self.resumed = whole.resumed

    def decided(self, what: str, *how: Any, **more: Any) -> Any:
        """What this part decided before the kill, or decides now."""
        return self._whole.decided(f"{self._name}: {what}", *how, **more)

    def identify(self, what: str, arrays: Arrays) -> None:
        """Refuse to resume if these arrays of this part were different before the kill."""
        self._whole.identify(f"{self._name}: {what}", arrays)

    def stage(self, name: str, *steps: Any, **more: Any) -> SavedSteps[Any]:
        """Open a stage of this part."""
        return self._whole.stage(f"{self._name}: {name}", *steps, **more)
