"""How many random examples a test takes: half of what it asks for by default, twice as many with `make test-all`."""

from __future__ import annotations

from hypothesis import settings


def examples(count: int) -> int:
    """The number of examples under the profile of this run (tests/conftest.py)."""
    return max(1, count * settings().max_examples // 100)
