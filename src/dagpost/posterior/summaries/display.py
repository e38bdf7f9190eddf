"""How summaries show themselves in a notebook, and graphs in one line of text; names are never obeyed as markup."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dagpost._tools.text import printable
from dagpost.families.masks import members_of

if TYPE_CHECKING:
    import pandas as pd


def html_of(sentence: str, frame: pd.DataFrame, rows: int = 20) -> str:
    """One sentence and the first rows of a table."""
    return f"<p>{html.escape(sentence)}</p>{frame.head(rows).to_html(escape=True, index=False)}"


def edges_text(masks: Sequence[int], names: Sequence[str]) -> str:
    """The edges of a graph: `A -> B` where only A is in the mask of B, `A -- B` where each is in that of the other.

    >>> edges_text([0, 5, 2], ["A", "B", "C"])
    'A -> B, B -- C'
    """
    edges = [(parent, child) for child, mask in enumerate(masks) for parent in members_of(mask)]
    parts = []
    for parent, child in sorted(edges, key=sorted):
        both = masks[parent] >> child & 1
        if not both or parent < child:
            parts.append(f"{printable(names[parent])} {'--' if both else '->'} {printable(names[child])}")
    return ", ".join(parts) or "no edges"
