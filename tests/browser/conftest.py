"""One browser for all tests of the report, and the report of a small model; skipped without Chromium or Playwright."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from tests.browser.pages import Seen, opened_page
from tests.tools.reference import coronary_of_the_paper

from dagpost import DagPosterior

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        pytest.skip(f"no browser: none of {', '.join(PROGRAMS)} is installed")
    with playwright.sync_playwright() as running:
        started = running.chromium.launch(executable_path=program, args=list(FLAGS))
        yield started
        started.close()


@pytest.fixture(scope="session")
def model() -> DagPosterior:
    return DagPosterior(score="bdeu", prior="uniform", seed=1, samples=2_000).fit(coronary_of_the_paper())


@pytest.fixture(scope="session")
def opened(browser: Any, model: DagPosterior, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seen]:
    path = model.report(tmp_path_factory.mktemp("report") / "coronary.html")
    yield from opened_page(browser, path)


@pytest.fixture
def seen(opened: Seen) -> Iterator[Seen]:
    """The page as it is when just opened; whatever a test does, there must be no trouble and no request."""
    opened.open()
    yield opened
    assert opened.trouble == []
    assert set(opened.requests) == {opened.path.as_uri()}
