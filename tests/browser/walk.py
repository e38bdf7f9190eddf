"""The two-minute walk of docs/explore.md, as a hand would take it: tests check it, and pictures are taken of it."""

from __future__ import annotations

from typing import Any

#: What is assumed on the way.
FIRST, SECOND = "Smoking -> Pressure", "!(Proteins -- Pressure)"
STATEMENT = "Smoking ~> Proteins"


class Walk:
    """The explorer of the coronary study in a window."""

    def __init__(self, page: Any, address: str) -> None:
        self.page, self.address = page, address

    def open(self) -> None:
        """Load the page and wait until it shows its numbers."""
        self.page.goto(self.address)
        self.page.wait_for_selector("html.ready")
        self.wait()
        self.page.evaluate("Report.draws.ready")

    def wait(self) -> None:
        """Wait until nothing is being computed, and what was computed is drawn."""
        for _ in range(800):
            if self.page.evaluate("Report.view !== null && !Report.progress.asking"):
                break
            self.page.wait_for_timeout(25)
        else:
            raise AssertionError("The explorer never finished.")
        self.page.wait_for_timeout(350)

    def click_line(self, one: str, two: str) -> None:
        """Click the line between two variables: a menu opens."""
        at = self.page.evaluate(
            """([one, two]) => {
                const ends = [one, two].map((name) => Report.data.names.indexOf(name));
                const line = Report.lines(Report.picture()).find((own) => {
                  const { from, to } = Report.pairOf(own);
                  return ends.includes(from) && ends.includes(to);
                });
                const path = line.querySelector(".line");
                const place = path.getPointAtLength(0.3 * path.getTotalLength()).matrixTransform(path.getScreenCTM());
                return [place.x, place.y];
            }""",
            [one, two],
        )
        self.page.mouse.click(*at)

    def choose(self, words: str) -> None:
        """Choose from the menu, and wait for what follows."""
        self.page.get_by_role("menuitemradio", name=words).click()
        self.wait()
        # Nothing is lit, nothing is pointed at.
        self.page.keyboard.press("Escape")
        self.page.mouse.move(5, 5)

    def ask(self, statement: str) -> float:
        """Write a statement into the box; its answer, when it is the last word."""
        field = self.page.locator("#statement")
        field.fill(statement)
        answer = self.page.wait_for_selector("#statement-answer:not(.old):not([hidden])[data-final=true]")
        return float(answer.get_attribute("data-value"))

    def watch(self) -> None:
        """Keep the statement below the box."""
        self.page.locator("#statement").press("Enter")

    def undo(self) -> None:
        """Take the last assumption back."""
        self.page.get_by_role("button", name="Undo").click()
        self.wait()

    @property
    def chance(self) -> str:
        """The sentence about the probability of the assumptions."""
        return str(self.page.locator("#assumptions").inner_text())

    def number(self, expression: str) -> float:
        """A number of the view that is drawn."""
        return float(self.page.evaluate(expression))

    def edge(self, one: str, two: str) -> float:
        """The probability of an edge in the view that is drawn."""
        return float(
            self.page.evaluate(
                "([one, two]) => Report.view.edges[Report.data.names.indexOf(one)][Report.data.names.indexOf(two)]",
                [one, two],
            )
        )
