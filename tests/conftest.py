"""Fixtures shared by all tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from tests.tools import reference

# Examples are drawn from a fixed seed: a run that passes once passes again. Compilation makes the first example
# slow, so no deadline.
settings.register_profile(
    "dagpost", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow], database=None
)
settings.load_profile("dagpost")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of reference data, which is not part of the project."""
    return reference.shared_folder()
