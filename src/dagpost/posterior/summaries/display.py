"""How summaries show themselves in a notebook, and graphs in one line of text; names are never obeyed as markup."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dagpost._tools.text import printable
from dagpost.families.masks import members_of

if TYPE_CHECKING:
    import pandas as pd

#: Longer texts in a table are cut in a notebook; the table itself has them whole.
_LONGEST = 400
#: Edges of a graph that are written in one line of text.
MOST_EDGES = 24


def html_of(sentence: str, frame: pd.DataFrame, rows: int = 20) -> str:
    """One sentence and the first rows of a table; of very long texts, such as hundreds of edges, the beginning."""
    shown = frame.head(rows).map(lambda value: _beginning(value) if isinstance(value, str) else value)
    return f"<p>{html.escape(sentence)}</p>{shown.to_html(escape=True, index=False)}"


def _beginning(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST].rsplit(',', 1)[0]}, …"


def edges_text(masks: Sequence[int], names: Sequence[str], most: int | None = None) -> str:
    """The edges of a graph: `A -> B` where only A is in the mask of B, `A -- B` where each is in that of the other.

    Of more than `most` edges, where that is given, the first are written and the others counted.

    >>> edges_text([0, 5, 2], ["A", "B", "C"]), edges_text([0, 5, 2], ["A", "B", "C"], most=1)
    ('A -> B, B -- C', 'A -> B, and 1 more')
    """
    edges = [(parent, child) for child, mask in enumerate(masks) for parent in members_of(mask)]
    parts = []
    for parent, child in sorted(edges, key=sorted):
        both = masks[parent] >> child & 1
        if not both or parent < child:
            parts.append(f"{printable(names[parent])} {'--' if both else '->'} {printable(names[child])}")
    if most is not None and len(parts) > most:
        parts = [*parts[:most], f"and {len(parts) - most:,} more"]
    return ", ".join(parts) or "no edges"
