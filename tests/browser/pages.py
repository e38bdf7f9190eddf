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
        """Load it anew."""
        self.page.goto(self.path.as_uri())

    def point_of(self, name: str) -> tuple[float, float]:
        """Where the middle of a variable is on the screen."""
        box = self.page.evaluate(
            """(name) => {
                const place = Report.data.names.indexOf(name);
                const box = Report.boxes(Report.picture()).find((node) => Report.nodeOf(node) === place);
                box.scrollIntoView({ block: "nearest" });
                return box.querySelector("rect").getBoundingClientRect().toJSON();
            }""",
            name,
        )
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def line_of(self, pair: int) -> tuple[float, float]:
        """Where the middle of a line is on the screen."""
        at = self.page.evaluate(
            """(pair) => {
                const line = Report.lines(Report.picture()).find((own) => own.dataset.pair === String(pair));
                line.scrollIntoView({ block: "nearest" });
                return Report.middleOf(line);
            }""",
            pair,
        )
        return at["x"], at["y"]

    def places(self) -> list[list[float]]:
        """The boxes of the variables of the picture in sight: left, top, right, bottom, in points of the drawing."""
        found: list[list[float]] = self.page.evaluate(
            """Report.boxes(Report.picture()).filter((node) => !node.matches(".lonely")).map((node) => {
                const { x, y, width, height } = node.querySelector("rect").getBBox();
                return [x, y, x + width, y + height];
            })"""
        )
        return found

    def resize(self, width: int, height: int) -> None:
        """Make the window as large as that."""
        self.page.set_viewport_size({"width": width, "height": height})

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
