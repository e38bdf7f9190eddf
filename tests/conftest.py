"""Fixtures shared by all tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"

# Examples are drawn from a fixed seed: a run that passes once passes again. Compilation makes the first example
# slow, so no deadline.
settings.register_profile(
    "dagpost", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow], database=None
)
settings.load_profile("dagpost")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of reference data, which is not part of the project."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"the reference data is not there ({SHARED_DATA.name} beside the project)")
    return SHARED_DATA
