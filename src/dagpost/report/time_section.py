"""The part of a report on time: how to read its graph, and what each series depends on, lag by lag."""

from __future__ import annotations

from dagpost.data.time_columns import time_columns
from dagpost.plots.time_scene import times_of
from dagpost.posterior.time_edges import TimeEdge, time_edges
from dagpost.report.content import Content
from dagpost.report.tables import folded, name, number, table, text

#: Parents that are less probable than this are not listed.
_LEAST = 0.05
_WORDS = (
    "Rows of the graph are series, columns are times, the present at the right; the same edges lead into every time."
)


def time_section(content: Content) -> str:
    """The section of a model with time; nothing for others."""
    if not content.in_time:
        return ""
    said = "".join(f"<li>{text(line)}</li>" for line in content.time)
    return (
        f'<section id="time">\n<h2>In time</h2>\n<p>{_WORDS}</p>\n'
        f"{_parents(content)}\n{folded('What was done with the rows', f'<ul>{said}</ul>')}</section>\n"
    )


def _parents(content: Content) -> str:
    """For each series its parents, series as rows and lags as columns."""
    columns = time_columns(content.names)
    heads = times_of(columns)
    found: dict[tuple[str, str], list[tuple[float, TimeEdge]]] = {}
    for edge in time_edges(content.names):
        chance = float(content.edges[edge.parent, edge.child])
        if chance >= _LEAST:
            when = "static" if edge.lag is None else "now" if not edge.lag else heads[-1 - edge.lag]
            found.setdefault((edge.target, when), []).append((chance, edge))
    rows = []
    for series in columns.series:
        cells = [
            "<br>".join(
                f"{name(edge.source)} {number(chance)}"
                for chance, edge in sorted(found.get((series, when), []), key=lambda item: -item[0])
            )
            for when in heads
        ]
        rows.append(f"<tr><td>{name(series)}</td>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>")
    caption = f"Parents of each series by when they were, with their {content.target.measure} if at least {_LEAST:g}."
    return table(caption, ["Series", *(head.capitalize() for head in heads)], rows, "in-time")
