"""Parquet files, read by pyarrow in a process of its own.

The format is intricate, and a file that was changed can bring its reader down with the whole process, or let it ask for
any amount of memory. So a short-lived process reads and checks the file, and hands over a plain table; if it crashes,
hangs or grows too large, that is an error like any other. It costs some 0.4 CPU seconds a file, and one more copy of
the table on its way.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from dagpost._tools.memory import available_bytes
from dagpost.data import parquet_child
from dagpost.errors import InputError

#: Processor time that every file is granted, and how much more for each of its bytes: far more than reading takes.
_SECONDS = 60
_SECONDS_A_BYTE = 1e-6
_INDEX = re.compile(r"__index_level_\d+__")


def read_parquet(file: Path) -> Any:
    """The cells of a Parquet file as a pyarrow table."""
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError:
        raise InputError(
            f'{file}: Parquet files are read with pyarrow, which is not installed: pip install "dagpost[parquet]"'
        ) from None
    # A program in which Python is only a part, or that was frozen, cannot be started once more as Python.
    alone = sys.executable and not getattr(sys, "frozen", False)
    table = _read_apart(file) if alone else _read_here(file)
    # The row labels of a data frame, which pandas saves along.
    return table.drop_columns([name for name in table.column_names if _INDEX.fullmatch(name)])


def _read_here(file: Path) -> Any:
    try:
        return parquet_child.table_of(str(file))
    except Exception as error:
        raise _unreadable(file, (str(error).splitlines() or [""])[0]) from error


def _read_apart(file: Path, reader: str = parquet_child.__file__) -> Any:
    """What the program `reader` hands over."""
    import pyarrow.ipc

    seconds = _SECONDS + int(_SECONDS_A_BYTE * file.stat().st_size)
    # The libraries of this process, wherever they were found; never what lies in the folder of the table.
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(place for place in sys.path if place)}
    arguments = [sys.executable, "-P", reader, str(file.resolve()), str(available_bytes()), str(seconds)]
    ended = subprocess.run(arguments, stdin=subprocess.DEVNULL, capture_output=True, env=environment, check=False)
    if ended.returncode == parquet_child.WRONG:
        raise _unreadable(file, ended.stderr.decode("utf-8", "replace"))
    if ended.returncode != 0:
        raise _unreadable(file, _ended(ended.returncode))
    try:
        table = pyarrow.ipc.open_stream(ended.stdout).read_all()
        table.validate(full=True)
    except (pyarrow.ArrowException, OSError) as error:
        raise _unreadable(file, str(error)) from error
    return table


def _ended(status: int) -> str:
    """How a process ended that was not to end so."""
    if status >= 0:
        return f"its reader ended with status {status}"
    if hasattr(signal, "SIGXCPU") and -status == signal.SIGXCPU:
        return "its reader did not come to an end"
    return f"its reader crashed, signal {-status}"


def _unreadable(file: Path, reason: str) -> InputError:
    return InputError(f"{file}: is not a readable Parquet file ({reason}). Make it again, or save the table as CSV.")
