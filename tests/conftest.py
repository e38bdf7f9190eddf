"""Fixtures shared by all tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from tests.tools import reference

# Examples are drawn from a fixed seed: a run that passes once passes again. Compilation makes the first example
# slow, so no deadline. `make test-all` takes more examples.
_USUAL = settings(derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow], database=None)
settings.register_profile("dagpost", _USUAL, max_examples=50)
settings.register_profile("thorough", _USUAL, max_examples=200)
settings.load_profile("dagpost")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of reference data, which is not part of the project."""
    return reference.shared_folder()
