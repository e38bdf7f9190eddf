"""The report of a model with time."""

from __future__ import annotations

import re
from pathlib import Path

from tests.unit.data.test_unroll import PANEL

from dagpost import DagPosterior, datasets, unroll
from dagpost.report.content import gather
from dagpost.report.time_section import time_section


def test_a_report_has_a_section_on_time_where_there_is_time(tmp_path: Path) -> None:
    frame = PANEL[["id", "week", "x", "y"]].rename(columns={"y": "<y>"})
    model = DagPosterior("bge", max_parents=2, samples=100, seed=1).fit(unroll(frame, time="week", subject="id"))
    page = model.report(tmp_path / "report.html").read_text(encoding="utf-8")
    section = re.search(r'<section id="time">.*?</section>', page, re.DOTALL)
    assert section is not None
    assert '<a href="#time">' in page
    assert 'class="in-time"' in section[0]
    assert "180 rows of 30 subjects" in section[0]
    assert "<y>" not in page
    rows = re.findall(r"<tr><td><bdi>(.*?)</bdi></td>(.*?)</tr>", section[0])
    assert [name for name, _ in rows] == ["x", "&lt;y&gt;"]
    assert "<bdi>x</bdi> &gt;0.9999" in rows[0][1] or "<bdi>x</bdi> 1.0000" in rows[0][1]
    assert time_section(gather(model.sample(50, seed=1))) != ""


def test_other_reports_have_none(tmp_path: Path) -> None:
    model = DagPosterior("bdeu", max_parents=1, samples=100, seed=1).fit(datasets.load("coronary"))
    page = model.report(tmp_path / "report.html").read_text(encoding="utf-8")
    assert 'id="time"' not in page
    assert "In time" not in page
