"""The report of more than 64 columns: bounded, and honest about what it does not list."""

from __future__ import annotations

import datetime
import json
import re

import numpy as np
import pytest
from tests.tools.wide_content import wide_content

from dagpost.posterior.directions import LEAST_SHOWN
from dagpost.report.content import Content
from dagpost.report.many_columns import FIRST_LINES, MOST_PAIRS, first_threshold
from dagpost.report.page import data_of, page
from dagpost.report.tables import _described, _joints

_NOW = datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC)


@pytest.fixture(scope="module")
def content() -> Content:
    return wide_content()


@pytest.fixture(scope="module")
def html(content: Content) -> str:
    return page(content, None, _NOW)


def test_the_most_probable_pairs_have_a_row_and_all_others_a_number(content: Content, html: str) -> None:
    data = data_of(content)
    joined = np.where(content.directions.asked, content.directions.joined, 0.0)
    worth = np.sort(joined[joined >= LEAST_SHOWN])[::-1]
    assert len(worth) > MOST_PAIRS
    assert [pair["joined"] for pair in data["pairs"]] == pytest.approx(worth[:MOST_PAIRS])
    assert [entry[2] for entry in data["more"]] == pytest.approx(worth[MOST_PAIRS:], rel=1e-3)
    listed = {frozenset((pair["from"], pair["to"])) for pair in data["pairs"]}
    assert not listed & {frozenset(entry[:2]) for entry in data["more"]}
    table = html.split('<table class="pairs sortable"')[1].split("</table>", maxsplit=1)[0]
    assert table.count("<tr") == 1 + MOST_PAIRS
    left = int(content.directions.asked.sum()) - MOST_PAIRS
    assert f"({left:,} more joined with at most 0.0" in html
    assert f"Save the {len(worth):,} most probable pairs as CSV" in html


def test_paths_are_listed_rather_than_laid_out_in_a_square(content: Content, html: str) -> None:
    section = html.split('<section id="paths">')[1].split("</section>", maxsplit=1)[0]
    assert 'class="matrix' not in section
    assert content.paths is not None
    assert section.count("<tr>") == 1 + int((content.paths >= 0.05).sum())


def test_rows_for_each_column_are_folded_and_long_lists_shortened(html: str) -> None:
    data = html.split('<section id="data">')[1].split("</section>", maxsplit=1)[0]
    assert data.index("<details>") < data.index("150 variables") < data.index("</details>")
    assert "age_7 and 92 more | gene &lt;100&gt;, " in html


def test_the_size_of_the_page_does_not_grow_with_the_square_of_the_columns(html: str) -> None:
    wider = page(wide_content(600, 300), None, _NOW)
    assert len(html) < 1_500_000
    assert len(wider) < 3_000_000


def test_the_slider_starts_where_lines_can_be_read(content: Content) -> None:
    falling = [0.9] * FIRST_LINES + [0.834, 0.7]
    assert first_threshold(falling, 0.5) == 0.84
    assert first_threshold(falling[:FIRST_LINES], 0.5) == 0.5
    data = data_of(content)
    assert sum(pair["joined"] >= data["threshold"] for pair in data["pairs"]) <= FIRST_LINES


def test_up_to_64_columns_everything_is_listed_as_ever() -> None:
    small = wide_content(64, 30)
    html, data = page(small, None, _NOW), data_of(small)
    assert data["more"] is None
    assert len(data["pairs"]) == int(
        (np.where(small.directions.asked, small.directions.joined, 0) >= LEAST_SHOWN).sum()
    )
    assert 'class="matrix wide"' in html
    assert 'id="save-pairs"' not in html
    numbers = re.search(r'id="numbers">(.*?)</script>', html)
    assert numbers is not None
    assert json.loads(numbers[1])["threshold"] == 0.5


def test_a_long_graph_is_described_by_its_first_edges() -> None:
    names = [f"g{place}" for place in range(100)]
    chain = np.zeros((100, 2), dtype=np.uint64)
    for child in range(1, 100):
        chain[child, (child - 1) // 64] = 1 << (child - 1) % 64
    joints = _joints(chain)
    assert len(joints) == 99
    assert set(joints.values()) == {"→"}
    assert _described(0, joints, joints, names).endswith("; and 19 more")
    turned = dict(joints)
    turned[63, 64] = "←"
    assert "instead of" in _described(1, turned, joints, names)
