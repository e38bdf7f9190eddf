"""How to read a report: how far to trust it and what it rests on in two sentences, and the rest folded."""

from __future__ import annotations

from dagpost.report import assumption, direction_words, words
from dagpost.report.content import Content
from dagpost.report.tables import folded, paragraph


def about(content: Content) -> str:
    """The sentences, and three folds."""
    folds = {
        "How sure are the numbers?": words.certainty(content),
        "What is assumed?": words.prior(content),
        "What do lines and heads mean?": direction_words.arrows(content),
    }
    said = (assumption.how_to_read(content), words.trusting(content), direction_words.caveat(content))
    first = paragraph(" ".join(filter(None, said)))
    return f"{first}\n{''.join(folded(question, paragraph(said)) for question, said in folds.items())}"
