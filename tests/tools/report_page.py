"""A report as a parser sees it, for the tests of the report."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd


class Page(HTMLParser):
    """A report as a browser's parser sees it: tags, text by section, scripts."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.sections: dict[str, str] = {}
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.tables: dict[str, list[list[str]]] = {}
        self.words = ""
        self._section: str | None = None
        self._script: dict[str, str | None] | None = None
        self._rows: list[list[str]] | None = None
        self._in_cell = False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        about = dict(attrs)
        self.tags.append((tag, about))
        if tag == "section":
            self._section = about["id"]
        elif tag == "script":
            self._script = about
            self.scripts.append((about, ""))
        elif tag == "table":
            self._rows = self.tables.setdefault(str(about["class"]).split()[0], [])
        elif tag == "tr" and self._rows is not None:
            self._rows.append([])
        elif tag in ("td", "th") and self._rows is not None:
            self._rows[-1].append("")
            self._in_cell = True

    def handle_endtag(self, tag: str) -> None:
        if tag == "script":
            self._script = None
        elif tag == "section":
            self._section = None
        elif tag in ("td", "th"):
            self._in_cell = False
        elif tag == "table":
            self._rows = None

    def handle_data(self, data: str) -> None:
        if self._script is not None:
            about, before = self.scripts[-1]
            self.scripts[-1] = (about, before + data)
            return
        self.words += data
        if self._section is not None:
            self.sections[self._section] = self.sections.get(self._section, "") + data
        if self._in_cell and self._rows:
            self._rows[-1][-1] += data

    @property
    def numbers(self) -> dict[str, Any]:
        """The JSON of the page."""
        (text,) = [text for about, text in self.scripts if about.get("type") == "application/json"]
        return dict(json.loads(text))


def written(source: Any, folder: Path, **options: Any) -> Page:
    return Page(source.report(folder / "report.html", **options).read_text(encoding="utf-8"))


def random_table(names: list[str], rows: int = 200, seed: int = 1) -> pd.DataFrame:
    """Columns that depend on the one before."""
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, 2, rows)]
    for _ in names[1:]:
        columns.append(np.where(rng.random(rows) < 0.75, columns[-1], rng.integers(0, 2, rows)))
    return pd.DataFrame(dict(zip(names, columns, strict=True))).astype("category")
