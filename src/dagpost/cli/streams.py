"""Standard output and standard error that take everything, or say that they did not.

Python's own streams lose what a descriptor does not take at once where they are unbuffered (`python -u`,
PYTHONUNBUFFERED): a disk that fills up takes the first part of a write, and nobody looks at the rest. A pipe that
another program has made non-blocking ends them in an error. Here every write goes on until all of it is taken, waits
where the reader is slow, and fails loudly otherwise.

Results that cannot be written end the command: `LostOutputError`, or `BrokenPipeError` where the reader has gone. A
message that cannot be written does not: hours of work are worth more than a progress bar. It is remembered, and the
exit status says so in the end.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Callable
from typing import Any

#: How the system says that the reader of a pipe or of a socket has gone.
_READER_GONE = frozenset((errno.EPIPE, errno.ECONNRESET, errno.ESHUTDOWN))


class LostOutputError(OSError):
    """Not everything could be written to standard output; `strerror` says why."""


class WholeStream(io.RawIOBase):
    """A descriptor to which everything is written, however little of it is taken at a time.

    The first failure is kept in `failure`, and what follows it is dropped. It is raised too, unless the stream is one
    for messages. A descriptor of None stands for a stream that the caller has closed.
    """

    def __init__(
        self,
        descriptor: int | None,
        *,
        messages: bool = False,
        write: Callable[[int, memoryview], int] = os.write,
    ) -> None:
        super().__init__()
        self._descriptor = descriptor
        self._messages = messages
        self._write = write
        self.failure: OSError | None = None

    @property
    def lost(self) -> bool:
        """Whether something was lost that someone was waiting for."""
        return self.failure is not None and not isinstance(self.failure, BrokenPipeError)

    def writable(self) -> bool:
        """Always."""
        return True

    def fileno(self) -> int:
        """The descriptor that is written to."""
        if self._descriptor is None:
            raise io.UnsupportedOperation("the stream was closed when the command began")
        return self._descriptor

    def isatty(self) -> bool:
        """Whether a person is looking."""
        return self._descriptor is not None and os.isatty(self._descriptor)

    def write(self, content: Any) -> int:
        """Write all of it."""
        rest = memoryview(content).cast("B")
        size = len(rest)
        # Messages have nowhere to go if standard error is closed, and whoever closed it knows that.
        if self.failure is None and not (self._messages and self._descriptor is None):
            try:
                while rest:
                    rest = rest[self._some(rest) :]
            except OSError as error:
                self._fail(error)
        return size

    def settle(self) -> None:
        """Find what the system tells no sooner than when a file is closed: of quotas and of files on other machines."""
        if self._descriptor is None or self.failure is not None:
            return
        try:
            os.close(os.dup(self._descriptor))
        except OSError as error:
            self._fail(error)

    def _some(self, rest: memoryview) -> int:
        if self._descriptor is None:
            raise OSError(errno.EBADF, "Standard output is closed")
        try:
            taken = self._write(self._descriptor, rest)
        except BlockingIOError:
            _wait_for_room(self._descriptor)
            return 0
        if taken <= 0:
            raise OSError(errno.EIO, "Not all of it was taken")
        return taken

    def _fail(self, error: OSError) -> None:
        gone = error.errno in _READER_GONE
        kind = BrokenPipeError if gone else LostOutputError
        self.failure = kind(errno.EPIPE if gone else error.errno, error.strerror or str(error))
        if not self._messages:
            raise self.failure from None


def _wait_for_room(descriptor: int) -> None:
    """Return when a descriptor that does not block takes something again, or will say why it does not."""
    import select

    if hasattr(select, "poll"):
        room = select.poll()
        room.register(descriptor, select.POLLOUT)
        room.poll()
    else:
        import time

        time.sleep(0.01)


def secure_streams() -> None:
    """Put whole streams in the place of Python's.

    A name that a stream has no letters for is shown with escapes instead of ending the run. Python leaves None in the
    place of a stream that the caller has closed, as `>&-` does, and its number to the next file that is opened, which
    must not get what others write there: the number is taken here.
    """
    _take_free_numbers()
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115
    sys.stdout = _secured(sys.stdout, messages=False)
    sys.stderr = _secured(sys.stderr, messages=True)


def _secured(stream: Any, *, messages: bool) -> Any:
    if stream is None:
        return _text(WholeStream(None, messages=messages), "utf-8", by_line=messages)
    buffer = getattr(stream, "buffer", None)
    raw = getattr(buffer, "raw", buffer)
    if isinstance(raw, io.FileIO):
        stream.flush()
        whole = WholeStream(raw.fileno(), messages=messages)
        return _text(whole, stream.encoding, by_line=messages or stream.line_buffering)
    # The console of Windows, and what a program that calls us has put there, stay as they are.
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="backslashreplace")
    return stream


def _text(whole: WholeStream, encoding: str, *, by_line: bool) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BufferedWriter(whole), encoding, "backslashreplace", line_buffering=by_line)


def _take_free_numbers() -> None:
    """Open nothing as whichever of the numbers 0, 1 and 2 is free."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(descriptor)


def lost_output() -> OSError | None:
    """What was lost of the output, once all of it is written; None if nothing was that anyone waits for.

    Messages that were lost are the answer where no result was.
    """
    found: list[OSError] = []
    for stream in (sys.stdout, sys.stderr):
        whole = _under(stream)
        try:
            stream.flush()
            if whole is not None:
                whole.settle()
        except OSError as error:
            found += [] if isinstance(error, BrokenPipeError) else [error]
        else:
            found += [whole.failure] if whole is not None and whole.failure is not None and whole.lost else []
    return next(iter(found), None)


def _under(stream: Any) -> WholeStream | None:
    raw = getattr(getattr(stream, "buffer", None), "raw", None)
    return raw if isinstance(raw, WholeStream) else None
