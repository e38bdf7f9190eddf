"""How to read a report: how far to trust it and what it rests on in two sentences, and the rest folded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dagpost.report import assumption, direction_words, words
from dagpost.report.assuming_words import what_if
from dagpost.report.content import Content
from dagpost.report.tables import folded, paragraph


def about(content: Content, packed: Mapping[str, Any] | None) -> str:
    """The sentences, and four folds; `packed` are the graphs in the page."""
    folds = {
        "How sure are the numbers?": words.certainty(content),
        "What is assumed?": words.prior(content),
        "What do lines and heads mean?": direction_words.arrows(content),
        "What if something is assumed?": what_if(content, packed),
    }
    said = (assumption.how_to_read(content), words.trusting(content), direction_words.caveat(content))
    first = paragraph(" ".join(filter(None, said)))
    return f"{first}\n{''.join(folded(question, paragraph(said)) for question, said in folds.items())}"
