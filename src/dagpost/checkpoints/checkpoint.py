"""When does a run write down what it has finished, and which run may resume from it?

Nothing is written during the first seconds of a run. After that, a write is due once its expected duration, together
with all writes before it, is within a few percent of the time so far. A stage writes what its steps have finished since
its last write, once and for all, and writes again what every step changes. Where writing fails, the run continues
without checkpoints and warns once.

A folder belongs to one request: data, settings, seed, version. What a run decides for itself (a seed that was not
given, a method that was left open, which may depend on the speed of the machine) is kept as well, and holds for the
run that resumes.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from numpy.typing import NDArray

from dagpost._tools.checks import callable_with, file_path
from dagpost._tools.checks import number as checked_number
from dagpost._tools.memory import readable
from dagpost._tools.schema import Rule, Sizes
from dagpost._tools.schema import anything as any_value
from dagpost._tools.spelling import either
from dagpost._tools.text import shown
from dagpost.checkpoints.differences import difference
from dagpost.checkpoints.folder import DamagedError, Folder, InUseError, Part, digest_of, size_of
from dagpost.checkpoints.manifest import parts_in
from dagpost.errors import InputError, warn

if TYPE_CHECKING:
    from dagpost.engines import Engine
    from dagpost.engines.base import CancelFlag, Result

Step = TypeVar("Step")
Arrays = Sequence[NDArray[Any]]

#: Seconds before the first write and between two writes, unless the environment says otherwise; 0: after every step.
_SECONDS, _SECONDS_VARIABLE = 10.0, "DAGPOST_CHECKPOINT_SECONDS"
#: Share of the time that may go into writing.
_SHARE = 0.03
#: Bytes written in a second, until that has been measured.
_FIRST_RATE = 200e6
#: Bytes that are left free on the disk, for the result.
_SPARED_BYTES = 200_000_000


class SavedSteps(Generic[Step]):
    """The steps of one stage. Iterating gives those that are left; a checkpoint may be written between any two."""

    def __init__(self, steps: Sequence[Step], done: int = 0, after: Callable[[int], None] | None = None) -> None:
        self._steps, self._done, self._after = steps, done, after
        self._passed = 0

    @property
    def finished(self) -> Sequence[Step]:
        """Steps whose results have been read from a checkpoint."""
        return self._steps[: self._done]

    @property
    def left(self) -> Sequence[Step]:
        """Steps that are still to be done."""
        return self._steps[self._done :]

    def __iter__(self) -> Iterator[Step]:
        """The steps that are left. Asking for the next one means that the last is finished."""
        for number, step in enumerate(self.left, start=self._done + 1):
            yield step
            if self._after is not None:
                self._after(number)

    def run(
        self, engine: Engine, block: Callable[[Step, CancelFlag], Result], steps: Sequence[Step]
    ) -> Iterator[tuple[Step, Result]]:
        """Those of the next `steps` that are left, each with what `block` gives for it.

        As above, asking for the next one means that the last is finished. The blocks run at the same time, so each
        writes to the arrays of its own step only; the caller changes the others from the results.
        """
        before = max(self._done - self._passed, 0)
        left, number = steps[before:], self._passed + before
        self._passed += len(steps)
        for step, result in zip(left, engine.run(block, left) if left else (), strict=True):
            yield step, result
            number += 1
            if self._after is not None:
                self._after(number)


def anything() -> None:
    """The check of a stage whose arrays may hold any numbers."""


def nothing(*_: object) -> Arrays:
    """The arrays of a step that fills or changes none."""
    return ()


class Checkpoint:
    """Where a long `fit` or `sample` keeps what it has finished, so that the same call resumes after a kill.

    Parameters
    ----------
    folder
        Created once a run has taken long enough to be worth it. It belongs to one fit and one sample of it.
    seconds
        Write nothing during this many seconds, and wait as long between two writes; 0: write after every step, however
        long it takes. By default 10, or what the environment variable ``DAGPOST_CHECKPOINT_SECONDS`` says.
    when_resumed
        Called without arguments once it is certain that a call resumes from what an earlier one left.

    Attributes
    ----------
    resumed
        Whether the last call resumed from what an earlier one left.

    >>> import tempfile
    >>> from dagpost import DagPosterior, datasets
    >>> checkpoint = Checkpoint(tempfile.mkdtemp() + "/coronary.partial")
    >>> model = DagPosterior().fit(datasets.load("coronary"), checkpoint=checkpoint)
    >>> checkpoint.resumed, checkpoint.folder.exists()  # too quick to be worth a checkpoint
    (False, False)
    >>> checkpoint.remove()  # once the result is safe
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        seconds: float | None = None,
        when_resumed: Callable[[], None] | None = None,
    ) -> None:
        self.folder = file_path(folder, "folder", "Checkpoint")
        if when_resumed is not None:
            callable_with(when_resumed, "when_resumed", "Checkpoint", written="when_resumed()")
        self.when_resumed = when_resumed
        self.resumed = False
        self.seconds = _seconds_between_writes(seconds)
        self._files = Folder(self.folder)
        self._content: dict[str, Any] = {"tasks": {}}
        self._task: dict[str, Any] = {}
        self._begin()

    @contextmanager
    def task(self, kind: str, identity: Mapping[str, Any]) -> Iterator[Self]:
        """Keep one "fit" or "sample", identified by `identity`; read what an earlier one left."""
        self._files.check_place()
        self.resumed = False
        self._begin()
        try:
            self._content = self._read() if self.folder.exists() else {"tasks": {}}
            fresh: dict[str, Any] = {"identity": {}, "decisions": {}, "stages": {}}
            resumed = kind in self._content["tasks"]
            self._task = self._content["tasks"].setdefault(kind, fresh)
            self._identify(identity)
            self.resumed = resumed
            if resumed and self.when_resumed is not None:
                self.when_resumed()
            yield self
        finally:
            self._files.unlock()

    def decided(self, what: str, decide: Callable[[], Any], rule: Rule = any_value) -> Any:
        """What was decided before the kill, if it follows a rule, or what `decide` returns now: JSON can hold it."""
        decisions = self._task["decisions"]
        if what not in decisions:
            decisions[what] = decide()
        elif not rule.holds(decisions[what], Sizes()):
            raise self._impossible(what, f"it must be {rule.words}")
        return decisions[what]

    def identify(self, what: str, arrays: Arrays) -> None:
        """Refuse to resume if these arrays were different before the kill."""
        self._identify({what: digest_of(arrays)})

    def stage(
        self,
        name: str,
        steps: Sequence[Step],
        pieces: Callable[[Step], Arrays] = nothing,
        running: Callable[[], Arrays] = nothing,
        check: Callable[[], None] = anything,
    ) -> SavedSteps[Step]:
        """Open a stage, and fill the arrays of the steps that are finished.

        `pieces(step)` are arrays that a step fills and no later step changes; `running()` are arrays that every step
        changes. Both are filled in place, so views of larger arrays will do. Steps that run at the same time may write
        to the latter only in places of their own, whatever is there: after a kill they write again. `check()` raises a
        `ValueError` if what was filled in cannot be: a folder may come from somebody else.
        """
        done = self._restore(name, steps, pieces, running)
        if done:
            try:
                check()
            except ValueError as error:
                raise self._impossible(name, str(error)) from error

        def after(number: int) -> None:
            self._save(name, steps, number, pieces, running)

        return SavedSteps(steps, done, after)

    def _impossible(self, what: str, why: str) -> InputError:
        return InputError(
            f"The checkpoint in {str(self.folder)!r} holds what no run writes ({what}: {why}). Remove the folder to "
            "start anew."
        )

    def remove(self) -> None:
        """Remove the folder once the result is safe somewhere else; files that are not ours stay.

        A folder that another run has taken in the meantime is left to that run.
        """
        if self.folder.is_dir():
            with suppress(InUseError):
                self._files.remove()

    def _begin(self) -> None:
        self._given_up = False
        self._started = time.monotonic()
        self._not_before = self._started + self.seconds
        self._writing_seconds, self._written_bytes = 0.0, 0

    def _read(self) -> dict[str, Any]:
        """Lock the folder and read its manifest; what cannot be read is dropped."""
        self._files.refuse_strangers()
        self._files.lock()
        try:
            content = self._files.read_manifest()
            wrong = "no manifest" if self._files.has_parts() else ""
        except DamagedError as error:
            content, wrong = None, f"a damaged manifest ({error})"
        if content is None and wrong:
            warn(f"The checkpoint in {str(self.folder)!r} has {wrong}: the run starts from the beginning.")
        content = content or {"tasks": {}}
        self._files.sweep(parts_in(content))
        return content

    def _identify(self, identity: Mapping[str, Any]) -> None:
        """Compare with the run that the folder belongs to."""
        plain = json.loads(json.dumps(identity, default=str))
        known = self._task["identity"]
        other = [name for name in plain if name in known and known[name] != plain[name]]
        if other:
            differences = "; ".join(difference(name, known[name], plain[name]) for name in other)
            raise InputError(
                f"The folder {str(self.folder)!r} holds the checkpoint of another run ({differences}). To resume, "
                f"repeat exactly the {either('call', 'command')} that began it; to start anew, remove the folder."
            )
        known |= plain

    def _restore(
        self, name: str, steps: Sequence[Step], pieces: Callable[[Step], Arrays], running: Callable[[], Arrays]
    ) -> int:
        """Fill the arrays of the finished steps from their parts; returns how many steps are finished."""
        entry = self._task["stages"].get(name)
        if entry is None:
            return 0

        def arrays_of(first: int, last: int) -> list[NDArray[Any]]:
            return [array for step in steps[first:last] for array in pieces(step)]

        kept: list[tuple[Part, Arrays]] = []
        # Steps between two parts fill no arrays.
        between, covered = [], 0
        for part in entry["parts"]:
            between += arrays_of(covered, part["first"])
            kept.append((part, arrays_of(part["first"], part["last"])))
            covered = part["last"]
        between += arrays_of(covered, entry["done"])
        if entry["running"] is not None:
            kept.append((entry["running"], running()))
        if entry["done"] > len(steps) or between or not all(self._fits(part, arrays) for part, arrays in kept):
            warn(f"A part of {name!r} in {str(self.folder)!r} is damaged: it is computed again.")
            del self._task["stages"][name]
            return 0
        for part, arrays in kept:
            self._files.read_part(part, arrays)
        return int(entry["done"])

    def _fits(self, part: Part, arrays: Arrays) -> bool:
        return part["bytes"] == size_of(arrays) and self._files.is_intact(part)

    def _save(
        self,
        name: str,
        steps: Sequence[Step],
        done: int,
        pieces: Callable[[Step], Arrays],
        running: Callable[[], Arrays],
    ) -> None:
        """Write what a stage has finished since its last write, if a write is due."""
        if self._given_up or time.monotonic() < self._not_before:
            return
        before = self._task["stages"].get(name, {"done": 0, "parts": [], "running": None})
        finished = [array for step in steps[before["done"] : done] for array in pieces(step)]
        changing = running()
        size = size_of(finished) + size_of(changing)
        if not self._is_worth(size):
            return
        began = time.monotonic()
        try:
            self._require_room(size)
            self._take_folder()
            parts = list(before["parts"])
            if finished:
                parts.append({"first": before["done"], "last": done, **self._files.write_part(finished)})
            state = self._files.write_part(changing) if changing else None
            self._task["stages"][name] = {"done": done, "parts": parts, "running": state}
            self._files.write_manifest(self._content)
        except (OSError, InputError) as error:
            if isinstance(error, InputError) and not isinstance(error.__cause__, OSError):
                raise
            self._task["stages"][name] = before
            self._give_up(_reason(error))
            self._files.sweep(parts_in(self._content))
            return
        self._files.sweep(parts_in(self._content))
        ended = time.monotonic()
        self._not_before = ended + self.seconds
        self._writing_seconds += ended - began
        self._written_bytes += size

    def _is_worth(self, size: int) -> bool:
        """Whether writing this many bytes keeps within its share of the time; if not, sets the time when it will."""
        if self.seconds == 0.0:
            return True
        rate = self._written_bytes / self._writing_seconds if self._written_bytes else _FIRST_RATE
        due = self._started + (self._writing_seconds + size / rate) / _SHARE
        self._not_before = max(self._not_before, due)
        return due <= time.monotonic()

    def _require_room(self, size: int) -> None:
        free = shutil.disk_usage(self.folder if self.folder.exists() else self.folder.parent).free
        if size + _SPARED_BYTES > free:
            raise OSError(f"A part takes {readable(size)} and {readable(free)} are free on the disk.")

    def _take_folder(self) -> None:
        """Make and lock the folder at the first write."""
        if self._files.locked:
            return
        self._files.refuse_strangers()
        self._files.lock()
        if self._files.has_parts():
            raise InputError(
                f"Another run has used the checkpoint folder {str(self.folder)!r} since this one began. Remove the "
                "folder, or give this run another place for its result."
            )

    def _give_up(self, reason: str) -> None:
        self._given_up = True
        warn(f"No more checkpoints are written to {str(self.folder)!r}; the run continues without them. {reason}")


def _reason(error: Exception) -> str:
    """Why a write failed, in the words of the system, without its error number."""
    return f"{error.strerror}." if isinstance(error, OSError) and error.strerror else str(error)


def _seconds_between_writes(given: float | None) -> float:
    """The seconds that were asked for, or those of the environment, or the usual ones."""
    if given is not None:
        return checked_number(given, "seconds", "Checkpoint", least=0.0, allowed="a number of at least 0")
    text = os.environ.get(_SECONDS_VARIABLE, str(_SECONDS))
    with suppress(ValueError):
        if 0.0 <= float(text) < math.inf:
            return float(text)
    raise InputError(
        f"The environment variable {_SECONDS_VARIABLE} must be a number of at least 0. Got {shown(text)} instead."
    )
