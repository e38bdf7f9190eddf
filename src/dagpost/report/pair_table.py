"""The table of pairs: joined or not, which way, who says so, and the numbers behind it."""

from __future__ import annotations

import html
from collections.abc import Sequence

from dagpost.plots.marks import LOOKS, WORDS, mark
from dagpost.plots.sources import interval_words
from dagpost.posterior.directions import LEAST_SHOWN, Directions
from dagpost.posterior.pair_direction import PairDirection, Word
from dagpost.posterior.sensitivity import label_under_choices
from dagpost.report.content import Content
from dagpost.report.many_columns import MOST_PAIRS, is_many, pairs_for_file, pairs_shown
from dagpost.report.tables import bar, bounds, name, number, table
from dagpost.report.words import counted, measure_of

#: Pairs joined less often than this fill pages and are not printed; on the screen they stand at the end.
_SLIGHT = 0.01
#: Intervals that end below this are not seen in their three digits.
_SEEN = 0.0005
_ONWARD, _BACK, _REVERSIBLE = "Compelled →", "Compelled ←", "Reversible"


def pair_table(content: Content) -> str:
    """One row a pair of variables."""
    pairs = pairs_shown(content)
    slight = sum(pair.joined < _SLIGHT for pair in pairs)
    note = f'<p class="on-paper">{slight} of them, below {_SLIGHT:g}, are left out on paper.</p>' if slight else ""
    rows = (_row(content, pair) for pair in pairs)
    marks = _marks(pairs)
    save = _button(len(pairs) + len(pairs_for_file(content, pairs) or ())) if is_many(content) else ""
    return marks + table(_caption(content, pairs), _heads(content), rows, "pairs sortable") + note + save


def _marks(pairs: Sequence[PairDirection]) -> str:
    """All marks, drawn once: each row refers to its own, which changes with what is assumed."""
    drawn = "".join(
        f'<g id="mark-{word}">{mark(word).partition(">")[2].removesuffix("</svg>")}</g>'
        for word in (WORDS if pairs else ())
    )
    return f'<svg class="unseen" aria-hidden="true"><defs>{drawn}</defs></svg>'


def _mark(word: Word) -> str:
    strength = LOOKS[word].strength(1.0)
    return (
        f'<svg class="mark {word}" viewBox="0 0 60 14" opacity="{strength:g}" aria-hidden="true">'
        f'<use href="#mark-{word}"/></svg>'
    )


def _button(number: int) -> str:
    """A button that saves more pairs than the table has."""
    words = f"Save the {number:,} most probable pairs as CSV"
    return f'<p class="needs-script"><button type="button" id="save-pairs">{words}</button></p>'


def _caption(content: Content, pairs: Sequence[PairDirection]) -> str:
    left_out = int(content.directions.asked.sum()) - len(pairs)
    caption = f"{counted(len(pairs), 'pair')} of variables, by the {measure_of(content)} an edge between them"
    if left_out:
        most = len(pairs) == MOST_PAIRS and is_many(content)
        below = f"joined with at most {number(pairs[-1].joined)}" if most else f"below {LEAST_SHOWN:g}"
        caption += f" ({left_out:,} more {html.unescape(below)} are not listed)"
    kinds = [content.interval_confidence] if content.intervals else []
    ways = [(pair.source, pair.target) for pair in pairs]
    if any(_within(content, way) or _within(content, way[::-1]) for way in ways):
        kinds.append(content.directions.confidence)
    small = " and ".join(dict.fromkeys(map(interval_words, kinds)))
    if small:
        caption += f". Small figures: {small}"
    return caption


def _heads(content: Content) -> list[str]:
    heads = ["From", '<span class="unseen">Mark</span>', "To", "Joined", "Direction"]
    if content.directions.computed:
        heads += [_ONWARD, _BACK, *([decided_by(content.directions)] if with_rules(content) else []), _REVERSIBLE]
    return heads


def with_rules(content: Content) -> bool:
    """Whether rules or the model decide any direction."""
    directions = content.directions
    decided = directions.by_rules + directions.by_model
    return bool(directions.settled.any() or directions.fixed.any() or (directions.computed and (decided > 0.0).any()))


def decided_by(directions: Directions) -> str:
    """Who decides directions beside the data: the user's rules, the model behind the score, or both."""
    rules = "rules or assumptions" if directions.assumed else "rules"
    if not directions.fixed.any():
        return f"By {rules}"
    return f"By {rules} or model" if directions.settled.any() or directions.assumed else "By the model"


def _row(content: Content, pair: PairDirection) -> str:
    way, names = (pair.source, pair.target), content.names
    row = '<tr class="slight">' if pair.joined < _SLIGHT else "<tr>"
    cells = [
        f"<td>{name(names[pair.source])}</td>",
        f'<td class="sign">{_mark(pair.word)}</td>',
        f"<td>{name(names[pair.target])}</td>",
        bar(pair.joined, within_of(content, pair)),
        f'<td class="said">{label_under_choices(pair, content.sensitivity)}</td>',
    ]
    if content.directions.computed:
        directions = content.directions
        cells += [_compelled(content, way, _ONWARD), _compelled(content, way[::-1], _BACK)]
        if with_rules(content):
            decided = directions.by_rules + directions.by_model
            cells.append(bar(float(decided[way] + decided[way[::-1]]), head=decided_by(directions)))
        cells.append(bar(float(directions.reversible[way]), head=_REVERSIBLE))
    return f"{row}{''.join(cells)}</tr>"


def within_of(content: Content, pair: PairDirection) -> str:
    """Between what the probability of being joined is; nothing where that is exact."""
    within = content.intervals.get((min(pair.source, pair.target), max(pair.source, pair.target)))
    return "" if within is None else bounds(*within, 3)


def effect_of(content: Content, pair: PairDirection) -> str:
    """The direct effect given the edge, in standard deviations; nothing where edges have none."""
    ways = ((pair.source, pair.target), (pair.target, pair.source))
    own = next((content.effects[way] for way in ways if way in content.effects), None)
    return (
        ""
        if own is None
        else f"direct effect {own.mean:+.2f} SD ({own.lower:+.2f} to {own.upper:+.2f})".replace("-", "−")
    )


def sign_of(content: Content, pair: PairDirection) -> str:
    """The sign of the direct effect where it is clear; else nothing."""
    ways = ((pair.source, pair.target), (pair.target, pair.source))
    own = next((content.effects[way].sign for way in ways if way in content.effects), "")
    return own if own in ("+", "-") else ""


def _compelled(content: Content, way: tuple[int, int], head: str) -> str:
    """How probably the data compel one direction, and between what that is."""
    return bar(float(content.directions.by_data[way]), _within(content, way), head)


def _within(content: Content, way: tuple[int, int]) -> str:
    """What the probability of a compelled direction is between; nothing where that is exact, or not known at all."""
    directions = content.directions
    if not directions.computed:
        return ""
    lower, upper = float(directions.lower[way]), float(directions.upper[way])
    return bounds(lower, upper, 3) if upper >= _SEEN and 0.0 < upper - lower < 1.0 else ""
