"""When is what is finished of a run written down, and for whom?

Nothing is written before a run has taken some seconds, and then so rarely that writing takes a few percent of the time:
a write is due once its expected duration, with all before it, is within that share. A stage writes what its steps have
finished since its last write, once and for all, and anew what every step changes. Where writing fails, the run goes on
without and says so once.

A folder belongs to what was asked for: data, settings, seed, version. What a run decides for itself (a seed that was
not given, a method that was left open, which may depend on the speed of the machine) is kept too, and holds for the
run that goes on.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from numpy.typing import NDArray

from dagpost._tools.memory import readable
from dagpost.checkpoints.differences import difference
from dagpost.checkpoints.folder import DamagedError, Folder, InUseError, Part, digest_of, size_of
from dagpost.errors import InputError, warn

if TYPE_CHECKING:
    from dagpost.engines import Engine
    from dagpost.engines.base import CancelFlag, Result

Step = TypeVar("Step")
Arrays = Sequence[NDArray[Any]]

#: Seconds before the first write and between two, unless the environment says otherwise; 0: after every step.
_SECONDS, _SECONDS_VARIABLE = 10.0, "DAGPOST_CHECKPOINT_SECONDS"
#: Share of the time that may go into writing.
_SHARE = 0.03
#: Bytes a second, until they have been measured.
_FIRST_RATE = 200e6
#: A disk is not filled further than this: the result has to fit, too.
_SPARED_BYTES = 200_000_000


class Stage(Generic[Step]):
    """The steps of one stage: iterating gives those that are left; between two of them, a checkpoint may be written."""

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
        """The steps that are left; asking for the next one says that the last is finished."""
        for number, step in enumerate(self.left, start=self._done + 1):
            yield step
            if self._after is not None:
                self._after(number)

    def run(
        self, engine: Engine, block: Callable[[Step, CancelFlag], Result], steps: Sequence[Step]
    ) -> Iterator[tuple[Step, Result]]:
        """Those of the next `steps` that are left, with what `block` gives for each: asking for the next says the same.

        They run at the same time, so a block writes to the arrays of its own step only, and its result is what changes
        the others.
        """
        before = max(self._done - self._passed, 0)
        left, number = steps[before:], self._passed + before
        self._passed += len(steps)
        for step, result in zip(left, engine.run(block, left) if left else (), strict=True):
            yield step, result
            number += 1
            if self._after is not None:
                self._after(number)


def _nothing(*_: object) -> Arrays:
    return ()


class Checkpoint:
    """Where a long `fit` or `sample` keeps what it has finished, so that the same call goes on after a kill.

    Parameters
    ----------
    folder
        Made when a run has taken long enough to be worth it. It belongs to one fit and one sample of it.
    seconds
        Write nothing before so many seconds, and wait as long between two writes; 0: write after every step, however
        long it takes. Unless given: 10, or what the environment variable ``DAGPOST_CHECKPOINT_SECONDS`` says.
    when_resumed
        Called, with nothing, once it is sure that a call goes on from what an earlier one left.

    Attributes
    ----------
    resumed
        Whether the last call went on from what an earlier one left.

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
        self.folder = Path(folder)
        self.when_resumed = when_resumed
        self.resumed = False
        self.seconds = _seconds(seconds)
        self._files = Folder(self.folder)
        self._content: dict[str, Any] = {"tasks": {}}
        self._task: dict[str, Any] = {}
        self._begin()

    @contextmanager
    def task(self, kind: str, identity: Mapping[str, Any]) -> Iterator[Self]:
        """Keep one "fit" or "sample", which `identity` tells from all others; read what an earlier one left."""
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

    def decided(self, what: str, decide: Callable[[], Any]) -> Any:
        """What was decided before the kill, or else what `decide` says now; anything that JSON can hold."""
        decisions = self._task["decisions"]
        if what not in decisions:
            decisions[what] = decide()
        return decisions[what]

    def identify(self, what: str, arrays: Arrays) -> None:
        """Refuse to go on if these were other arrays before the kill."""
        self._identify({what: digest_of(arrays)})

    def stage(
        self,
        name: str,
        steps: Sequence[Step],
        pieces: Callable[[Step], Arrays] = _nothing,
        running: Callable[[], Arrays] = _nothing,
    ) -> Stage[Step]:
        """Open a stage, and fill the arrays of the steps that are finished.

        `pieces(step)` are arrays that a step fills and no later step changes, `running()` those that each step changes;
        views of larger arrays will do. They are filled in place. Steps that run at the same time may write to the
        latter only what is theirs alone and does not depend on what is there: it is written again after a kill.
        """
        done = self._restore(name, steps, pieces, running)

        def after(number: int) -> None:
            self._save(name, steps, number, pieces, running)

        return Stage(steps, done, after)

    def remove(self) -> None:
        """Remove the folder, once the result is safely somewhere else; nothing in it that is not ours.

        If another run has taken it since, it is left to that one.
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
        """Take the folder and read its manifest; what cannot be read is forgotten."""
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
        self._files.sweep(_named_in(content))
        return content

    def _identify(self, identity: Mapping[str, Any]) -> None:
        """Compare with the run that the folder belongs to."""
        plain = json.loads(json.dumps(identity, default=str))
        known = self._task["identity"]
        other = [name for name in plain if name in known and known[name] != plain[name]]
        if other:
            differences = "; ".join(difference(name, known[name], plain[name]) for name in other)
            raise InputError(
                f"The folder {str(self.folder)!r} holds the checkpoint of another run ({differences}). Repeat the very "
                "call that began it to go on, or remove the folder to start anew."
            )
        known |= plain

    def _restore(
        self, name: str, steps: Sequence[Step], pieces: Callable[[Step], Arrays], running: Callable[[], Arrays]
    ) -> int:
        """Fill the arrays of the finished steps from their parts; how many steps that are."""
        entry = self._task["stages"].get(name)
        if entry is None:
            return 0
        parts = []
        for part in entry["parts"]:
            if not self._fits(part, [array for step in steps[part["first"] : part["last"]] for array in pieces(step)]):
                break
            parts.append(part)
        whole = len(parts) == len(entry["parts"])
        state = entry["running"]
        if state is not None and not (whole and self._fits(state, running())):
            # What every step changes fits the last step only, and is lost with any part.
            whole, parts, state = False, [], None
        if not whole:
            warn(f"A part of {name!r} in {str(self.folder)!r} is damaged: it is computed again.")
        for part in parts:
            arrays = [array for step in steps[part["first"] : part["last"]] for array in pieces(step)]
            self._files.read_part(part, arrays)
        if state is not None:
            self._files.read_part(state, running())
        done = int(entry["done"]) if whole else parts[-1]["last"] if parts else 0
        self._task["stages"][name] = {"done": done, "parts": parts, "running": state}
        return done

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
        """Write what a stage has finished since its last write, if it is time for that."""
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
            self._files.sweep(_named_in(self._content))
            return
        self._files.sweep(_named_in(self._content))
        ended = time.monotonic()
        self._not_before = ended + self.seconds
        self._writing_seconds += ended - began
        self._written_bytes += size

    def _is_worth(self, size: int) -> bool:
        """Whether writing so many bytes keeps within its share of the time; if not, do not ask again until it does."""
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
                f"Another run has used the checkpoint folder {str(self.folder)!r} since this one began. Remove it, or "
                "give this run another place for its result."
            )

    def _give_up(self, reason: str) -> None:
        self._given_up = True
        warn(f"No more checkpoints are written to {str(self.folder)!r}, and the run goes on without. {reason}")


class _None(Checkpoint):
    """The checkpoint of an ordinary run."""

    def __init__(self) -> None:
        self.resumed = False

    @contextmanager
    def task(self, kind: str, identity: Mapping[str, Any]) -> Iterator[Self]:  # noqa: ARG002
        yield self

    def decided(self, what: str, decide: Callable[[], Any]) -> Any:  # noqa: ARG002
        return decide()

    def identify(self, what: str, arrays: Arrays) -> None:
        pass

    def stage(
        self,
        name: str,  # noqa: ARG002
        steps: Sequence[Step],
        pieces: Callable[[Step], Arrays] = _nothing,  # noqa: ARG002
        running: Callable[[], Arrays] = _nothing,  # noqa: ARG002
    ) -> Stage[Step]:
        return Stage(steps)

    def remove(self) -> None:
        pass


NO_CHECKPOINT: Checkpoint = _None()


def _seconds(given: float | None) -> float:
    value: Any = os.environ.get(_SECONDS_VARIABLE, _SECONDS) if given is None else given
    try:
        seconds = float(value)
    except (TypeError, ValueError):
        seconds = -1.0
    if not 0.0 <= seconds < float("inf"):
        owner = f"environment variable {_SECONDS_VARIABLE}" if given is None else "'seconds' parameter of Checkpoint"
        raise InputError(f"The {owner} must be a number of at least 0. Got {value!r} instead.")
    return seconds


def _reason(error: Exception) -> str:
    """What the system says of a write that failed, without its numbers."""
    return f"{error.strerror}." if isinstance(error, OSError) and error.strerror else str(error)


def _named_in(content: Mapping[str, Any]) -> set[str]:
    """The files that a manifest names."""
    entries = [entry for task in content["tasks"].values() for entry in task["stages"].values()]
    states = [entry["running"] for entry in entries if entry["running"] is not None]
    return {part["file"] for part in [*states, *(part for entry in entries for part in entry["parts"])]}
