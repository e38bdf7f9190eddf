"""The command as a process: its signals, its streams and its exit status.

Ctrl-C may fall anywhere, also into the import of a library that turns it into an error of its own. So the signal is
noted when it comes, and whatever goes wrong after it is taken for its consequence.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from dagpost.cli.streams import LostOutputError, lost_output, secure_streams

INTERRUPTED = 130

#: What a disk, a quota or permissions do to a command; other errors of the system are faults of ours.
EXPECTED_OS_ERRORS = frozenset(
    (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EACCES, errno.EPERM, errno.EROFS, errno.ENAMETOOLONG)
)

#: Interrupts that came so far.
SIGNALS: list[int] = []


def run(load: Callable[[], Callable[..., Any]], leave: Callable[[int], object] = os._exit) -> None:
    """Run the application that `load` imports on the arguments of this process, and end the process.

    After an interrupt `leave` ends it at once, without waiting for threads that are still at work.
    """
    status = INTERRUPTED
    try:
        signal.signal(signal.SIGINT, _note)
        secure_streams()
        load()(prog_name="dagpost")
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 0 if end.code is None else 2
    except BaseException as error:
        if was_interrupted(error):
            _say("dagpost: interrupted.")
        elif isinstance(error, LostOutputError | BrokenPipeError):
            # Outside of any command, as the help and the version are; `_end` says what is lost.
            status = 0
        else:
            raise
    # Chains that were broken off give what they have; a script that goes on must know nevertheless.
    _end(INTERRUPTED if was_interrupted() else status, leave)


def was_interrupted(error: BaseException | None = None) -> bool:
    """Whether an error is Ctrl-C, or came after it."""
    return isinstance(error, KeyboardInterrupt) or bool(SIGNALS)


def _note(number: int, frame: FrameType | None) -> Any:
    SIGNALS.append(number)
    return signal.default_int_handler(number, frame)


def not_written(error: OSError) -> str:
    """The sentence about output that was lost."""
    return f"Cannot write the output: {error.strerror}; what arrived is not all of it."


def _say(text: str) -> None:
    with contextlib.suppress(OSError):
        sys.stderr.write(text + "\n")


def _end(status: int, leave: Callable[[int], object]) -> None:
    lost = lost_output()
    if lost is not None and status == 0:
        _say(f"dagpost: {not_written(lost)}")
        status = 2
    if status == INTERRUPTED:
        # An interrupt inside code that a library makes up as it goes would let Python end itself by the signal; and
        # threads that are still at work need not be waited for.
        leave(status)
    raise SystemExit(status)
