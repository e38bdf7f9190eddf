"""What a report says of what it is given: at the top, in every paragraph that would else be wrong, and what changed.

A statement stands as it was written, in the language of statements: "Smoking -> Pressure".
"""

from __future__ import annotations

import numpy as np

from dagpost.posterior.condition_words import assumption_words, chance_name, chance_words
from dagpost.report.content import Content
from dagpost.report.tables import bar, folded, name, table, text

#: A title has room for a condition of so many letters.
_LONGEST = 32
#: Edges that are listed as changed, and the least change.
_MOST_ROWS, _LEAST = 12, 0.01


def in_heading(content: Content) -> str:
    """What follows the title: ", given Smoking -> Pressure", or where that is long, that something is assumed."""
    said = assumption_words(content.given)
    if not said:
        return ""
    return f", given {said}" if len(said) <= _LONGEST else ", given what was assumed"


def sentence(content: Content) -> str:
    """What all numbers of the report hold under, and how probable that is; nothing where nothing is assumed."""
    said = assumption_words(content.given)
    return f"Given that {said}{_chance(content)}." if said else ""


def banner(content: Content) -> str:
    """The same as a line of its own, under the title."""
    said = sentence(content)
    return f'<p class="given">{text(said)} Every number below holds under this assumption.</p>\n' if said else ""


def how_to_read(content: Content) -> str:
    """The same for a reader who looks for what to trust: how much was assumed away."""
    said = assumption_words(content.given)
    if not said:
        return ""
    known = content.given.get("given_probability") or {}
    away = ""
    if known.get("probability") is not None:
        away = f" {_percent(1.0 - float(known['probability']))} of the posterior was assumed away."
    left = ""
    if not content.exact and content.sample is not None:
        left = f" {len(content.sample):,} of the graphs that were drawn are left."
    return f"All of it holds only if {said}, which was assumed and is not a finding.{away}{left}"


def for_paper(content: Content) -> list[str]:
    """The sentence of a methods paragraph."""
    said = assumption_words(content.given)
    which = _chance(content, "posterior ")
    return [f"All results are conditional on the assumption that {said}{which}."] if said else []


def rule(content: Content) -> list[str]:
    """The assumption in the list of what was fixed beforehand."""
    said = assumption_words(content.given)
    if not said:
        return []
    chance = chance_words(content.given)
    return [f"Assumed, not found: {said}{f' ({chance_name(content.given)} {chance})' if chance else ''}."]


def _chance(content: Content, posterior: str = "") -> str:
    """How probable the assumption is, with how that is known in brackets: ", which has probability 0.7731 (exact)"."""
    chance, name = chance_words(content.given), chance_name(content.given)
    if not chance:
        return ""
    known = f"{chance.removesuffix(', exact')} (exact)" if chance.endswith(", exact") else chance
    return f", which has {f'{posterior}{name}' if name == 'probability' else f'the {name}'} {known}"


def changes(content: Content) -> str:
    """The edges whose probability the assumption changed most; nothing where that is not known."""
    if content.without is None:
        return ""
    edges = content.edges - content.without
    falling = np.argsort(-np.abs(edges), axis=None, kind="stable")
    ways = [divmod(int(place), len(content.names)) for place in falling if abs(edges.flat[place]) >= _LEAST]
    rows = [
        f"<tr><td>{name(content.names[parent])} → {name(content.names[child])}</td>"
        f"{bar(float(content.without[parent, child]))}{bar(float(content.edges[parent, child]))}</tr>"
        for parent, child in ways[:_MOST_ROWS]
    ]
    if not rows:
        return f"<p>{text(f'No edge changed by {_LEAST:g} or more.')}</p>\n"
    more = f" ({len(ways) - _MOST_ROWS} more are not listed)" if len(ways) > _MOST_ROWS else ""
    caption = f"Edges whose {content.target.measure} the assumption changed most{more}"
    listed = table(caption, ["Edge", "Without the assumption", "Given it"], rows, "changed")
    return folded(f"What the assumption changed: {len(ways)} edge{'' if len(ways) == 1 else 's'}", listed)


def _percent(share: float) -> str:
    """A share in whole percent; one that only looks like none or all says so."""
    if share < 0.005:
        return "Under 1%"
    return "Over 99%" if 0.995 <= share < 1.0 else f"{100.0 * share:.0f}%"
