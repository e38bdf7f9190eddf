"""How much memory is free, and a clear refusal before more than that is asked for."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from dagpost.errors import ResourceError

#: Where Linux says how much memory a container may take.
CONTROL_GROUP = Path("/sys/fs/cgroup")
#: For how long what was found is not looked up again: exact sums over few nodes take less time than looking.
_FRESH_SECONDS = 0.05


def available_bytes() -> int:
    """Memory this process can still take: what the system has free, or less if a container sets a limit."""
    return _found_at(int(time.monotonic() / _FRESH_SECONDS))


@lru_cache(maxsize=1)
def _found_at(moment: int) -> int:
    del moment
    return bytes_in(CONTROL_GROUP)


def bytes_in(control_group: Path) -> int:
    """The same, looked up now, for the container that a folder describes."""
    import psutil

    free = int(psutil.virtual_memory().available)
    try:
        limit = int((control_group / "memory.max").read_text())
        used = int((control_group / "memory.current").read_text())
    except (OSError, ValueError):
        return free
    return min(free, max(limit - used + _reclaimable_bytes(control_group), 0))


def _reclaimable_bytes(control_group: Path) -> int:
    """Files that were read stay in the memory of a container until it is needed for something else."""
    try:
        entries = dict(line.split() for line in (control_group / "memory.stat").read_text().splitlines())
        return int(entries["inactive_file"])
    except (OSError, ValueError, KeyError):
        return 0


def readable(size: float) -> str:
    """A number of bytes as people say it.

    >>> readable(8.59e9)
    '8.6 GB'
    """
    if size > 1e18:
        # A float may not hold it, and nobody needs the figure.
        return "more than a million TB"
    for unit in ("bytes", "kB", "MB", "GB", "TB"):
        if size < 1000 or unit == "TB":
            break
        size /= 1000
    return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"


def require(needed: int, what: str, remedy: str) -> None:
    """Raise `ResourceError` with both figures when `needed` bytes are more than there are."""
    available = available_bytes()
    if needed > available:
        raise ResourceError(f"{what} needs {readable(needed)} of memory and {readable(available)} are free. {remedy}")


def largest_that_fits(nodes: int, needed: Callable[[int], int]) -> int:
    """The largest number of nodes, up to `nodes`, whose `needed` bytes are free."""
    available = available_bytes()
    return next((fewer for fewer in range(nodes, 1, -1) if needed(fewer) <= available), 1)


def require_for_nodes(nodes: int, needed: Callable[[int], int], what: str, remedy: str) -> None:
    """`require` for work whose memory grows with the number of nodes: says also how many would fit."""
    fits = largest_that_fits(nodes, needed)
    if fits < nodes:
        require(needed(nodes), what, f"The largest number of variables that fits now is {fits}: {remedy}")
