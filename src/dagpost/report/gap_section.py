"""The part of a report on missing values: how many, where, what was assumed, and how sure the averages are."""

from __future__ import annotations

from dagpost.plots.sources import percent
from dagpost.report.gap_facts import MISSING_AT_RANDOM, OTHERWISE, GapFacts, how_many, how_sure
from dagpost.report.tables import name, table, text


def gap_section(facts: GapFacts | None) -> str:
    """The section of a model whose table has gaps; nothing for others."""
    if facts is None:
        return ""
    columns = sorted(facts.columns.items(), key=lambda item: -item[1])
    rows = (
        f'<tr><td>{name(own)}</td><td class="number">{count:,}</td><td class="number">{percent(share)}</td></tr>'
        for own, count in columns
        for share in [count / facts.observations]
    )
    whole = len(facts.columns)
    caption = f"The {whole} columns with missing values" if whole > 1 else "The column with missing values"
    said = (how_many(facts), f"{MISSING_AT_RANDOM} {OTHERWISE}", how_sure(facts))
    paragraphs = "".join(f"<p>{text(words)}</p>\n" for words in said)
    listed = table(caption, ["Column", "Missing", "Share of its cells"], rows, "gaps")
    return f'<section id="gaps">\n<h2>Missing values</h2>\n{paragraphs}{listed}\n</section>\n'
