"""The parts of a report on cells that chains drew: latent numbers and missing values, and how sure averages are."""

from __future__ import annotations

from collections.abc import Iterable

from dagpost.plots.sources import percent
from dagpost.report.gap_facts import GapFacts, assumed_of_gaps, how_many, how_sure, what_was_drawn
from dagpost.report.tables import folded, name, table, text


def gap_section(facts: GapFacts | None) -> str:
    """The section of a model whose table has gaps; nothing for others."""
    if facts is None or not facts.cells:
        return ""
    columns = sorted(facts.columns.items(), key=lambda item: -item[1])
    rows = (
        f'<tr><td>{name(own)}</td><td class="number">{count:,}</td><td class="number">{percent(share)}</td></tr>'
        for own, count in columns
        for share in [count / facts.observations]
    )
    whole = len(facts.columns)
    caption = f"The {whole} columns with missing values" if whole > 1 else "The column with missing values"
    # With latent numbers, the section before this one says how sure averages are.
    said = (how_many(facts), assumed_of_gaps(facts), *([how_sure(facts)] if facts.latent is None else []))
    listed = table(caption, ["Column", "Missing", "Share of its cells"], rows, "gaps")
    return f'<section id="gaps">\n<h2>Missing values</h2>\n{_paragraphs(said)}{folded(caption, listed)}</section>\n'


def latent_section(facts: GapFacts | None) -> str:
    """The section of a model of latent numbers that chains drew; nothing for others."""
    if facts is None or facts.latent is None:
        return ""
    rows = (f"<tr><td>{name(own)}</td><td>{text(known)}</td></tr>" for own, known in facts.latent)
    caption = "Columns whose latent numbers are not all known"
    listed = table(caption, ["Column", "What is known of them"], rows, "latent") if facts.latent else ""
    said = _paragraphs((what_was_drawn(facts), how_sure(facts)))
    shown = folded(caption, listed) if listed else ""
    return f'<section id="latent">\n<h2>Latent numbers</h2>\n{said}{shown}</section>\n'


def _paragraphs(said: Iterable[str]) -> str:
    return "".join(f"<p>{text(words)}</p>\n" for words in said)
