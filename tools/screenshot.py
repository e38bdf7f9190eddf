"""Take the picture of the report anew that README and the documentation show: `python tools/screenshot.py`.

It is kept in the repository, so that it shows where the pages are read unbuilt. Needs Playwright and Chromium, as the
browser tests do. 64 colours are enough for a page of text and lines, and keep the file small.
"""

from __future__ import annotations

import io
import shutil
import sys
import tempfile
from pathlib import Path

from dagpost import DagPosterior, datasets

TARGET = Path(__file__).parents[1] / "docs" / "_static" / "report.png"
TITLE = "Heart disease among 1,841 car workers"
PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
_WIDTH, _HEIGHT, _COLOURS = 1280, 640, 64


def main() -> None:
    """Write the report of the coronary study, look at it as a person with a laptop would, and keep what is seen."""
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        sys.exit(f"No browser: none of {', '.join(PROGRAMS)} is installed.")
    with tempfile.TemporaryDirectory() as folder:
        page = DagPosterior(seed=1).fit(datasets.load("coronary")).report(Path(folder) / "report.html", title=TITLE)
        TARGET.write_bytes(smaller(_seen(page, program)))


def _seen(page: Path, program: str) -> bytes:
    """The first screen of a page."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as running:
        browser = running.chromium.launch(executable_path=program, args=["--no-sandbox"])
        window = browser.new_page(viewport={"width": _WIDTH, "height": _HEIGHT}, color_scheme="light")
        window.goto(page.as_uri())
        window.wait_for_timeout(1_500)
        content: bytes = window.screenshot()
        browser.close()
    return content


def smaller(content: bytes) -> bytes:
    """A picture with few colours."""
    from PIL import Image

    file = io.BytesIO()
    few = Image.open(io.BytesIO(content)).convert("RGB").quantize(_COLOURS, dither=Image.Dither.NONE)
    few.save(file, format="png", optimize=True)
    return file.getvalue()


if __name__ == "__main__":
    main()
