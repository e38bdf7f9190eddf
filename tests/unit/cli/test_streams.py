"""Standard output and standard error: everything arrives, or the exit status and a sentence say that it did not."""

from __future__ import annotations

import errno
import io
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dagpost.cli.streams import LostOutputError, WholeStream

POSIX = pytest.mark.skipif(os.name != "posix", reason="needs pipes and limits of POSIX")
LINUX = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")

SIZE = 512_856
LIMIT = 376_832
#: A command that writes a large table to standard output, as commands do, and a message before and after it.
PROGRAM = f"""
import sys
import typer
from dagpost.cli.process import run

def application(**_):
    typer.echo("Working.", err=True)
    typer.echo("x" * {SIZE - 1})
    typer.echo("Done.", err=True)

run(lambda: application)
"""


def command(**settings: Any) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONUNBUFFERED": settings.pop("unbuffered", "")}
    return subprocess.Popen([sys.executable, "-c", PROGRAM], env=environment, **settings)


def limited() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))


def sentence(reason: str) -> bytes:
    return f"dagpost: Cannot write the output: {reason}; what arrived is not all of it.\n".encode()


# Descriptors that take little


@pytest.mark.parametrize("at_once", [1, 7, 1000])
def test_all_of_a_text_arrives_however_little_is_taken_at_a_time(at_once: int) -> None:
    arrived = bytearray()

    def some(_: int, rest: memoryview) -> int:
        arrived.extend(rest[:at_once])
        return min(at_once, len(rest))

    stream = io.TextIOWrapper(io.BufferedWriter(WholeStream(1, write=some)), "utf-8")
    stream.write("a table\n" * 100)
    stream.flush()
    assert bytes(arrived) == b"a table\n" * 100


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (errno.ENOSPC, LostOutputError),
        (errno.EIO, LostOutputError),
        (errno.EBADF, LostOutputError),
        (errno.ESTALE, LostOutputError),
        (errno.EPIPE, BrokenPipeError),
        (errno.ECONNRESET, BrokenPipeError),
        (0, LostOutputError),
    ],
)
@pytest.mark.parametrize("messages", [False, True])
def test_what_is_not_taken_is_known(number: int, kind: type[OSError], messages: bool) -> None:
    def three_bytes(_: int, rest: memoryview) -> int:
        if len(rest) > 97:
            return 3
        if number:
            raise OSError(number, os.strerror(number))
        return 0

    stream = WholeStream(1, messages=messages, write=three_bytes)
    if messages:
        stream.write(b"x" * 100)
    else:
        with pytest.raises(kind):
            stream.write(b"x" * 100)
    assert isinstance(stream.failure, kind)
    assert stream.lost == (kind is LostOutputError)
    assert stream.write(b"what Python flushes when it ends") == 32


# Processes


@POSIX
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_file_that_takes_a_part_only_is_an_error(unbuffered: str, tmp_path: Path) -> None:
    with (tmp_path / "out").open("wb") as out:
        running = command(stdout=out, stderr=subprocess.PIPE, unbuffered=unbuffered, preexec_fn=limited)
        errors = running.communicate()[1]
    assert (tmp_path / "out").stat().st_size == LIMIT
    assert running.returncode == 2
    assert errors == b"Working.\n" + sentence("File too large")


@LINUX
def test_a_full_device_is_an_error_for_results_and_for_messages() -> None:
    with Path("/dev/full").open("wb") as full:
        running = command(stdout=full, stderr=subprocess.PIPE)
        assert running.communicate()[1] == b"Working.\n" + sentence("No space left on device")
        assert running.returncode == 2
        running = command(stdout=subprocess.PIPE, stderr=full)
        assert len(running.communicate()[0]) == SIZE
        assert running.returncode == 2


@POSIX
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_pipe_that_does_not_block_gets_everything_however_slow_its_reader(unbuffered: str) -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    running = command(stdout=writing, stderr=subprocess.PIPE, unbuffered=unbuffered)
    os.close(writing)
    arrived = []
    with open(reading, "rb", buffering=0) as pipe:
        while part := pipe.read(10_000):
            arrived.append(len(part))
    assert running.communicate()[1] == b"Working.\nDone.\n"
    assert sum(arrived) == SIZE
    assert running.returncode == 0


@POSIX
def test_a_reader_that_has_gone_is_met_with_silence() -> None:
    reading, writing = os.pipe()
    running = command(stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    os.read(reading, 1000)
    os.close(reading)
    assert running.communicate()[1] == b"Working.\n"
    assert running.returncode == 0


@POSIX
def test_a_closed_standard_output_is_an_error_and_no_other_file_gets_the_results(tmp_path: Path) -> None:
    running = command(stderr=subprocess.PIPE, preexec_fn=lambda: os.close(1))
    assert running.communicate()[1] == b"Working.\n" + sentence("Standard output is closed")
    assert running.returncode == 2


def test_streams_that_a_calling_program_has_put_there_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    from dagpost.cli.streams import lost_output, secure_streams

    text = io.StringIO()
    monkeypatch.setattr(sys, "stdout", text)
    monkeypatch.setattr(sys, "stderr", text)
    secure_streams()
    assert sys.stdout is text
    assert lost_output() is None
