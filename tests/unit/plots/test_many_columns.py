"""Pictures of more than 64 columns: what can be read is drawn, and what is not drawn is said."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from tests.tools.wording import Said

from dagpost import plots
from dagpost.plots.notebook import small_picture
from dagpost.plots.readable_part import readable_part
from dagpost.posterior.directions import Directions, not_computed

_COUNT = 220
#: Parents that are never children, one of them a parent of two, and pairs below the thresholds.
_EDGES = {(3, 210): 0.9, (3, 215): 0.8, (7, 210): 0.3, (210, 215): 0.7, (100, 219): 0.06, (5, 6): 0.001}


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    names = [f"g{place}" for place in range(_COUNT)]
    matrix = np.zeros((_COUNT, _COUNT))
    for way, probability in _EDGES.items():
        matrix[way] = probability
    return pd.DataFrame(matrix, index=names, columns=names)


def boxes(ax: Axes) -> set[str]:
    return {text.get_text() for text in ax.texts if text.get_gid() == "node"}


def caption(ax: Axes) -> str:
    written = " ".join(text.get_text() for text in ax.texts if text.get_gid() == "caption")
    return " ".join(f"{written} {ax.get_title()}".split())


def test_columns_that_are_joined_are_drawn_and_the_others_counted(table: pd.DataFrame, said: Said) -> None:
    ax = plots.graph(table)
    assert boxes(ax) == {"g3", "g7", "g210", "g215"}
    said(caption(ax))
    said(caption(ax))
    assert boxes(plots.graph(table, threshold=0.75)) == {"g3", "g210", "g215"}
    assert boxes(plots.graph(table, layout={name: (k % 9, k // 9) for k, name in enumerate(map(str, table))})) == boxes(
        ax
    )


def test_a_graph_without_any_line_says_so(table: pd.DataFrame, said: Said) -> None:
    ax = plots.graph(table, threshold=0.95)
    assert not boxes(ax)
    said(caption(ax))


def test_sixty_four_columns_are_all_drawn(table: pd.DataFrame) -> None:
    ax = plots.graph(table.iloc[:64, :64])
    assert len(boxes(ax)) == 64
    assert "not drawn." not in caption(ax).replace("Not drawn:", "")


def test_the_part_that_is_drawn_is_limited_and_misses_no_line_between_its_columns() -> None:
    rng = np.random.default_rng(1)
    joined = np.triu(rng.random((100, 100)) ** 4, 1)
    joined += joined.T
    pairs = [(int(i), int(j)) for i, j in np.argwhere(np.triu(joined) >= 0.2)]
    part = readable_part(joined, pairs, 0.2, most_pairs=10_000, most_nodes=20)
    assert len(part.nodes) == 20
    assert {*part.pairs} == {pair for pair in pairs if {*pair} <= {*part.nodes}}
    assert max(pairs, key=lambda pair: joined[pair]) in part.pairs
    assert part.remarks[0].startswith(f"Drawn: {len(part.pairs)} of {len(pairs):,} pairs of at least 0.2")
    own = part.nodes[0]
    hidden = sum(own in pair for pair in pairs) - sum(own in pair for pair in part.pairs)
    assert part.missing[own] == hidden > 0
    assert part.suffix(own) == f" (+{hidden})"
    few = readable_part(joined, pairs, 0.2, most_pairs=15, most_nodes=100)
    assert {*few.pairs} == {*sorted(pairs, key=lambda pair: -joined[pair])[:15]}


def test_a_heat_map_leaves_out_rows_and_columns_without_a_dark_square(table: pd.DataFrame, said: Said) -> None:
    ax = plots.heat_map(table)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["g3", "g7", "g100", "g210"]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["g210", "g215", "g219"]
    said(caption(ax))
    unknown = table.copy()
    unknown.iloc[11, 12] = np.nan
    assert "g11" in [label.get_text() for label in plots.heat_map(unknown, numbers=False).get_yticklabels()]


def test_names_of_a_wide_heat_map_do_not_stand_on_each_other() -> None:
    names = [f"column {place}" for place in range(150)]
    full = pd.DataFrame(np.full((150, 150), 0.3), index=names, columns=names)
    ax = plots.heat_map(full)
    ax.figure.draw_without_rendering()
    labels = [label.get_window_extent() for label in ax.get_yticklabels()]
    assert 20 < len(labels) < 150
    assert all(one.y0 >= two.y1 for one, two in pairwise(labels))
    assert re.search(r"One in \d has its name written", caption(ax))


def test_the_picture_of_a_notebook_names_the_columns_it_draws(table: pd.DataFrame) -> None:
    found: Directions = not_computed(tuple(table), table.to_numpy())
    picture = small_picture(found)
    assert picture.count('class="node"') == 4
    written = " ".join(re.sub("<[^>]*>", " ", picture).split())
    assert "216 of 220 columns have no edge of at least 0.1 and are not drawn." in written


def test_pairs_of_many_columns_are_those_of_the_matrix(table: pd.DataFrame) -> None:
    found = not_computed(tuple(table), table.to_numpy())
    listed = [(pair.source, pair.target, pair.joined) for pair in found.pairs(0.05)]
    assert listed == [(3, 210, 0.9), (3, 215, 0.8), (210, 215, 0.7), (7, 210, 0.3), (100, 219, 0.06)]
    assert len(found.pairs()) == _COUNT * (_COUNT - 1) // 2


def test_a_box_counts_its_lines_that_are_not_drawn(said: Said) -> None:
    names = [f"g{place}" for place in range(300)]
    matrix = np.zeros((300, 300))
    matrix[0, 1:150] = np.linspace(0.99, 0.6, 149)
    ax = plots.graph(pd.DataFrame(matrix, index=names, columns=names))
    assert len(boxes(ax)) == 100
    assert "g0 (+50)" in boxes(ax)
    assert "g1" in boxes(ax)
    said(caption(ax))
