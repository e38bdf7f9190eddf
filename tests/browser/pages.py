"""A page of a report in a real browser, and all that happened in it: what the tests of the report share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class Seen:
    """A page of a report, and all that happened in it."""

    page: Any
    path: Path
    trouble: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def watch(self) -> None:
        """Write down whatever should not happen, and every request."""
        self.page.on("console", lambda message: self.trouble.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.trouble.append(f"error: {error}"))
        self.page.on("dialog", self._dismiss)
        self.page.on("request", lambda request: self.requests.append(request.url))

    def _dismiss(self, dialog: Any) -> None:
        self.trouble.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def open(self) -> None:
        """Load it anew and wait until the graph stands."""
        self.page.goto(self.path.as_uri())
        # The drawing for paper is what is made last.
        self.page.locator("#printed[src]").wait_for(state="attached")

    def point_of(self, name: str) -> tuple[float, float]:
        """Where the middle of a variable is on the screen."""
        place = self.page.evaluate("name => Report.data.names.indexOf(name)", name)
        return self.on_screen(f"Report.cy.getElementById('n{place}').renderedPosition()")

    def on_screen(self, position: str) -> tuple[float, float]:
        """A place in the graph, as coordinates of the window."""
        self.page.locator("#graph").scroll_into_view_if_needed()
        self.settle()
        frame, inside = self.page.locator("#graph").bounding_box(), self.page.evaluate(position)
        return frame["x"] + inside["x"], frame["y"] + inside["y"]

    def settle(self) -> None:
        """Wait until the browser has drawn what has changed."""
        self.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def set_threshold(self, value: float) -> None:
        """Move the slider as a hand would."""
        self.page.locator("#threshold").evaluate(
            "(slider, value) => { slider.value = value; slider.dispatchEvent(new Event('input')); }", str(value)
        )


def opened_page(browser: Any, path: Path) -> Iterator[Seen]:
    """The report in a window of its own, without a network; not loaded yet."""
    context = browser.new_context(viewport={"width": 1200, "height": 900}, offline=True)
    seen = Seen(context.new_page(), path)
    seen.watch()
    yield seen
    context.close()
