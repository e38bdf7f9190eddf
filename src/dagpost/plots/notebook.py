"""What a notebook shows of a fitted model: the sentence that matters, the first edges and a picture."""

from __future__ import annotations

import html

from dagpost.files.frames import long_table
from dagpost.plots.small_graph import small_graph
from dagpost.posterior.fitted import Fitted
from dagpost.posterior.lists import edge_table


def model_html(fitted: Fitted, title: str) -> str:
    """HTML of a fitted model under its `repr`."""
    results, target = fitted.recall("results"), fitted.target
    if results is None:
        later = "Evidence and edges are computed when they are first used."
        return f"<p>{html.escape(title)}</p><p>{html.escape(fitted.method.name)} ({target.words}). {later}</p>"
    how = "Exact" if results.exact else f"Estimated from graphs by {fitted.method.name}"
    sentence = f"{how} ({target.words}). {results.verdict or ''}"
    edges = edge_table(fitted)
    best_first = long_table(edges).sort_values("probability", ascending=False).head(10)
    table = best_first.round(3).to_html(index=False, escape=True)
    picture = small_graph(fitted.names, edges.to_numpy(), measure=target.measure)
    return f"<p>{html.escape(title)}</p><p>{html.escape(sentence)}</p>{picture}{table}"
