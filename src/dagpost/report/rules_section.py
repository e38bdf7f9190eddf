"""The section of a report on what was fixed beforehand: rules, what hangs on them, and what the model bars."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dagpost._tools.json_settings import from_json
from dagpost._tools.setting_text import conditional_on, readable_setting
from dagpost._tools.text import position_of, printable, shortened
from dagpost.posterior.pair_direction import FOUND, PairDirection
from dagpost.priors.edge import EdgePrior
from dagpost.priors.registry import PRIORS
from dagpost.report import assumption
from dagpost.report.content import Content
from dagpost.report.tables import bar, folded, name, table, text
from dagpost.report.words import counted, edges_listed

#: Rows of a table, and names in a list.
_MOST_ROWS, _MOST_NAMES = 40, 24
#: A direction that follows from the rules with less than this share of being joined does not hang on them.
_HANGS = 0.1


def rules_section(content: Content) -> str:
    """What was fixed or believed beforehand, and which findings rest on it; nothing where nothing was."""
    rules = _rules(content)
    prior = _prior_table(content)
    if not rules and not prior:
        return ""
    listed = f"<ul>{''.join(f'<li>{text(rule)}</li>' for rule in rules)}</ul>\n" if rules else ""
    title = "What was assumed, and fixed beforehand" if content.given else "What was fixed beforehand"
    changed = assumption.changes(content) if content.given else ""
    return (
        f'<section id="rules">\n<h2>{title}</h2>\n<p>{text(_decided(content))}</p>\n'
        f"{listed}{changed}{_directions_table(content)}{prior}</section>\n"
    )


def _rules(content: Content) -> list[str]:
    """Every rule in a few words."""
    settings, said = content.settings, assumption.rule(content)
    for key, words in (("required", "Every graph has"), ("forbidden", "No graph has")):
        if settings.get(key):
            said.append(f"{words} {shortened(edges_listed(settings[key]), _MOST_NAMES)}.")
    if settings.get("tiers"):
        tiers = [shortened(list(map(printable, tier)), _MOST_NAMES) for tier in settings["tiers"]]
        said.append(f"No edge leads back in this order: {' | '.join(tiers)}.")
    order = settings.get("method")
    if isinstance(order, Mapping) and order.get("order"):
        said.append(f"Edges lead only onward in the given order: {readable_setting(list(order['order']))}.")
    if content.exogenous:
        said.append(conditional_on(content.exogenous))
    if settings.get("sinks"):
        numbers = shortened([printable(own) for own in settings["sinks"]], _MOST_NAMES)
        said.append(f"The model itself has no edges from numbers ({numbers}) to levels.")
    if settings.get("apart"):
        said.append("No edge joins values of the same time.")
    return said


def _decided(content: Content) -> str:
    """How many directions of joined pairs hang on rules, and how many on the model."""
    pairs = content.directions.pairs(FOUND)
    often = "probably joined" if content.target.posterior else "joined in at least half of the replicates"
    found = f"{counted(len(pairs), 'pair')} {often}"
    ruled, fixed = ([pair for pair in pairs if pair.word == word] for word in ("rules", "model"))
    parts, rules = [], "rules or assumptions" if content.assumes else "rules"
    if ruled:
        parts.append(f"your {rules} decide the direction of {len(ruled)}")
    if fixed:
        parts.append(f"the model that of {len(fixed)}" if ruled else f"the model decides the direction of {len(fixed)}")
    if not parts:
        return f"Of {found}, no direction is decided by {rules} alone."
    return f"Of {found}, {' and '.join(parts)}; none of these is a finding."


def _directions_table(content: Content) -> str:
    """The pairs whose direction hangs on rules or the model."""
    rows = []
    for pair in content.directions.pairs(FOUND):
        by = _share(content, pair)
        if pair.word in ("rules", "model") or by >= _HANGS:
            rows.append(
                f"<tr><td>{name(content.names[pair.source])} {pair.mark()} {name(content.names[pair.target])}</td>"
                f"{bar(pair.joined)}{bar(by)}<td>{text(pair.label)}</td></tr>"
            )
    if not rows:
        return ""
    more = f" ({len(rows) - _MOST_ROWS} more are not listed)" if len(rows) > _MOST_ROWS else ""
    caption = f"Directions that hang on what was fixed{more}"
    heads = ["Pair", "Joined", "Share decided so", "Direction"]
    listed = table(caption, heads, rows[:_MOST_ROWS], "ruled")
    return folded(f"{counted(len(rows), 'direction')} that hang{'s' if len(rows) == 1 else ''} on it", listed)


def _share(content: Content, pair: PairDirection) -> float:
    """Which share of being joined has its direction from rules or the model."""
    directions, way = content.directions, (pair.source, pair.target)
    if directions.settled[way] or directions.fixed[way]:
        return 1.0
    if not directions.computed or not pair.joined > 0.0:
        return 0.0
    parts = (part[own] for part in (directions.by_rules, directions.by_model) for own in (way, way[::-1]))
    return min(float(sum(parts)) / pair.joined, 1.0)


def _prior_table(content: Content) -> str:
    """Edges and pairs that had a probability before the data, and what they have now."""
    described: Any = content.settings.get("prior")
    if not isinstance(described, Mapping) or not PRIORS.knows(described):
        return ""
    prior = from_json(dict(described), PRIORS)
    if not isinstance(prior, EdgePrior) or not prior.links:
        return ""
    rows = []
    for first, arrow, second, before in prior.links:
        if first not in content.names or second not in content.names:
            continue
        way = position_of(first, content.names), position_of(second, content.names)
        after = content.edges[way] if arrow == "->" else content.directions.joined[way]
        sign = "→" if arrow == "->" else "—"
        rows.append(f"<tr><td>{name(first)} {sign} {name(second)}</td>{bar(before)}{bar(float(after))}</tr>")
    more = f" ({len(rows) - _MOST_ROWS} more are not listed)" if len(rows) > _MOST_ROWS else ""
    caption = f"What you believed before the data, and the {content.target.measure} now{more}"
    return table(caption, ["Edge or pair", "Before", "Now"], rows[:_MOST_ROWS], "believed")
