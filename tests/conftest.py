"""Fixtures shared by all tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from tests.tools import reference

pytest_plugins = ["tests.tools.wording"]

# A package of its own: imported here, its scores would be known to every test.
collect_ignore = ["outside"]

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


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--shard", default="1/1", metavar="K/N", help="the K-th of N parts of all chosen tests")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Neighbours take about as long as each other, so they go to different shards."""
    number, _, parts = config.getoption("--shard").partition("/")
    if not (number.isdigit() and parts.isdigit() and 1 <= int(number) <= int(parts)):
        raise pytest.UsageError(f"'--shard' must be like 1/3, the first of three. Got {config.getoption('--shard')!r}.")
    shards = [items[start :: int(parts)] for start in range(int(parts))]
    items[:] = shards.pop(int(number) - 1)
    config.hook.pytest_deselected(items=[item for shard in shards for item in shard])
