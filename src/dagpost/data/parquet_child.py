"""What the process of its own does that reads a Parquet file: `python parquet_child.py FILE BYTES SECONDS`.

It imports nothing of dagpost, so that it starts quickly. The table goes to standard output as an Arrow stream, and a
sentence about what is wrong to standard error, with exit status 3. It takes no more memory and processor time than it
is told, where the system knows such limits.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import Any

WRONG = 3
#: Address space for the libraries themselves and for the stacks of threads.
_LIBRARIES = 2**31
_MOST_THREADS = 4


def table_of(path: str) -> Any:
    """The table in a Parquet file, checked to the last cell, without what libraries have noted along with it."""
    import pyarrow
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(path)
    table.validate(full=True)
    # A name that is not text fails here and not in the middle of the work.
    schema = pyarrow.schema([pyarrow.field(str(field.name), field.type) for field in table.schema])
    return pyarrow.Table.from_arrays(table.columns, schema=schema)


def _limit(memory: int, seconds: int) -> None:
    try:
        import resource
    except ImportError:
        return
    limits = ((resource.RLIMIT_AS, memory + _LIBRARIES), (resource.RLIMIT_CPU, seconds), (resource.RLIMIT_CORE, 0))
    for kind, value in limits:
        most = resource.getrlimit(kind)[1]
        # macOS has a limit of the address space by name, and refuses to set it.
        with suppress(OSError, ValueError):
            resource.setrlimit(kind, (value if most == resource.RLIM_INFINITY else min(value, most), most))


def _main(path: str, memory: str, seconds: str) -> int:
    # Other allocators reserve much more address space than they use.
    os.environ["ARROW_DEFAULT_MEMORY_POOL"] = "system"
    _limit(int(memory), int(seconds))
    try:
        import pyarrow
        import pyarrow.ipc

        pyarrow.set_cpu_count(min(_MOST_THREADS, os.cpu_count() or 1))
        table = table_of(path)
        with pyarrow.ipc.new_stream(sys.stdout.buffer, table.schema) as stream:
            stream.write_table(table)
        sys.stdout.flush()
    except MemoryError:
        reason = "it needs more memory than is free"
    except Exception as error:  # noqa: BLE001
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
    else:
        return 0
    sys.stderr.write(reason)
    return WRONG


if __name__ == "__main__":
    sys.exit(_main(*sys.argv[1:4]))
