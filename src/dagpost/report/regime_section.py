"""The part of a report on regimes: which variables each changed, and how many that makes."""

from __future__ import annotations

from dagpost.posterior.pair_direction import FOUND
from dagpost.report.content import Content
from dagpost.report.tables import name, number, table, text

_WORDS = (
    "A regime changed a variable if, given its parents, it comes about otherwise than under the reference; what it "
    "then passes on to others does not count."
)


def regime_section(content: Content) -> str:
    """The section of a model with regimes; nothing for others."""
    effects = content.regimes
    if effects is None:
        return ""
    rows = []
    for place, regime in enumerate(effects.regimes):
        chances = effects.probabilities[place]
        cells = [
            f"<td>{f'<strong>{number(chance)}</strong>' if chance >= FOUND else number(chance)}</td>"
            for chance in chances.tolist()
        ]
        rows.append(f"<tr><td>{name(regime)}</td>{''.join(cells)}<td>{chances.sum():.1f}</td></tr>")
    heads = ["Regime", *map(name, effects.variables), "Expected"]
    note = f"<p>{text(effects.note)}</p>\n" if effects.note else ""
    return (
        f'<section id="regimes">\n<h2>Regimes</h2>\n<p>{text(_WORDS)}</p>\n'
        f"{table(effects.question, heads, rows, 'regimes')}\n{note}</section>\n"
    )
