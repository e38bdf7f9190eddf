"""Take the pictures of docs/explore.md anew: `python tools/explorer_pictures.py`.

The walk is the one that the browser tests take (tests/browser/walk.py), so that the pictures show what is tested.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

PROJECT = Path(__file__).parents[1]
sys.path[:0] = [str(PROJECT), str(PROJECT / "tools")]

from screenshot import PROGRAMS, smaller  # noqa: E402
from tests.browser.walk import STATEMENT, Walk  # noqa: E402

from dagpost import DagPosterior, datasets  # noqa: E402

TITLE = "Heart disease among 1,841 car workers"


def main() -> None:
    """Take the walk, and a picture at each of its stations."""
    from playwright.sync_api import sync_playwright

    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        sys.exit(f"No browser: none of {', '.join(PROGRAMS)} is installed.")
    model = DagPosterior(seed=2).fit(datasets.load("coronary"))
    with model.explore(open_browser=False, title=TITLE) as explorer, sync_playwright() as running:
        browser = running.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 760}, color_scheme="light")

        def keep(name: str) -> None:
            page.mouse.move(5, 5)
            page.wait_for_timeout(600)
            (PROJECT / "docs" / "_static" / f"explore-{name}.png").write_bytes(smaller(page.screenshot()))

        walk = Walk(page, explorer.address)
        walk.open()
        keep("start")
        walk.click_line("Smoking", "Pressure")
        walk.choose("Smoking → Pressure is there")
        keep("assumed")
        walk.ask(STATEMENT)
        walk.watch()
        walk.click_line("Proteins", "Pressure")
        walk.choose("not joined")
        keep("two")
        walk.undo()
        page.get_by_role("button", name="One graph on").click()
        page.locator("#player").scroll_into_view_if_needed()
        keep("graph")
        browser.close()


if __name__ == "__main__":
    main()
