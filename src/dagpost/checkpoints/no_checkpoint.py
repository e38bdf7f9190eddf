"""The checkpoint of an ordinary run: no step is finished yet, and nothing is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Self

from dagpost._tools.schema import Rule
from dagpost._tools.schema import anything as any_value
from dagpost.checkpoints.checkpoint import Arrays, Checkpoint, SavedSteps, Step, anything, nothing


class _None(Checkpoint):
    """The checkpoint of an ordinary run."""

    def __init__(self) -> None:
        self.resumed = False

    @contextmanager
    def task(self, kind: str, identity: Mapping[str, Any]) -> Iterator[Self]:  # noqa: ARG002
        yield self

    def decided(self, what: str, decide: Callable[[], Any], rule: Rule = any_value) -> Any:  # noqa: ARG002
        return decide()

    def identify(self, what: str, arrays: Arrays) -> None:
        pass

    def stage(
        self,
        name: str,  # noqa: ARG002
        steps: Sequence[Step],
        pieces: Callable[[Step], Arrays] = nothing,  # noqa: ARG002
        running: Callable[[], Arrays] = nothing,  # noqa: ARG002
        check: Callable[[], None] = anything,  # noqa: ARG002
    ) -> SavedSteps[Step]:
        return SavedSteps(steps)

    def remove(self) -> None:
        pass


NO_CHECKPOINT: Checkpoint = _None()
