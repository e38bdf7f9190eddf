"""How to read a report: how far to trust it and what it rests on in two sentences, and the rest folded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dagpost.plots.readable_part import MANY
from dagpost.report import assumption, direction_words, words
from dagpost.report.content import Content
from dagpost.report.tables import folded, paragraph

_FAR = (
    "The page says how many are left and how far the numbers may therefore be off, and when too few are left; changes "
    "that chance alone would make are not marked. It takes a browser of 2023 or later with scripts turned on."
)
_OTHERWISE = "dagpost explore MODEL opens a page on your computer on which you can assume things."


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


def what_if(content: Content, packed: Mapping[str, Any] | None) -> str:
    """How to assume something, and how far to trust what is then said; `packed` are the graphs in the page."""
    if packed is not None:
        return f"{_how(packed)} {_FAR} {_better(content)}"
    if len(content.names) > MANY:
        return (
            f"Nothing can be assumed in this file: graphs of more than {MANY} variables would make it too large. "
            f"{_OTHERWISE}"
        )
    why = content.omitted.get("directions", "No graphs were drawn")
    return f"Nothing can be assumed in this file, for it holds no graphs. {why}."


def _how(packed: Mapping[str, Any]) -> str:
    draws, whole, different = packed["draws"], packed["of"], packed["graphs"]
    graphs = f"the {draws:,} graphs in this file" if draws != 1 else "the one graph in this file"
    if different < draws:
        graphs += f", {different:,} of them different,"
    if draws < whole:
        graphs += f" (the sample has {whole:,}, too many for one page)"
    return (
        "Click a line of the graph to assume that it is there, points the other way, or is absent. Everything is then "
        f"told from those of {graphs} in which that holds."
    )


def _better(content: Content) -> str:
    if content.exact:
        return "dagpost explore MODEL sums over all graphs instead, exactly, and also takes any other statement."
    if content.of_sample:
        return "dagpost explore MODEL, with the model that drew these graphs, also takes any other statement."
    return "dagpost explore MODEL also takes any other statement."
