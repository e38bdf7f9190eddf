"""The section of a report on other choices: what survives them in a sentence, and a table of what does not."""

from __future__ import annotations

from itertools import groupby

from dagpost.posterior.pair_direction import CLEAR, FOUND
from dagpost.posterior.sensitivity import PairUnderChoices, Sensitivity
from dagpost.report.content import Content
from dagpost.report.tables import folded, heat_cell, name, scrolled, text

_EXPLANATION = "One choice at a time was made otherwise, and everything computed again."
_UNDER_ASSUMPTION = "What is assumed here was assumed each time."
_OF_DIRECTIONS = (
    f"A direction stays clear if the data compel it in at least {100 * CLEAR:g}% of the probability of being joined "
    "under the other choice too."
)
#: A table of more rows is not read.
_MOST_ROWS = 25
_OF_SAMPLE = "A sample of graphs does not say. The report of the model it was drawn from does."


def sensitivity_section(content: Content) -> str:
    """The sentence, the table, and what was left out; or why there is none."""
    found = content.sensitivity
    if found is None:
        return f'<p class="omitted">{text(content.omitted.get("sensitivity") or _OF_SAMPLE)}</p>'
    reasons = "".join(f"<p>{text(reason)}.</p>" for reason in found.left_out)
    not_tried = folded("What was not tried", reasons) if reasons else ""
    if not found.pairs() or not found.variations:
        return f"<p>{text(found.summary())}</p>{not_tried}"
    under = f" {_UNDER_ASSUMPTION}" if content.given else ""
    explained = f"{_EXPLANATION}{under} Tried: {found.choices()}."
    sentence = f"<p><strong>{text(found.summary())}</strong> {text(explained)}</p>"
    return f"{sentence}{_table(found)}{_directions(found)}{not_tried}"


def choices_of(found: Sensitivity | None) -> dict[frozenset[int], str]:
    """What becomes of each pair, and of its direction, under other choices, by the ends of the pair."""
    if found is None or not found.variations:
        return {}
    said = {}
    for pair in found.pairs():
        # Without the arrow in front, which goes by the order of the columns.
        _, _, direction = found.direction_verdict(pair).partition(" ")
        joined = f"Joined: {found.verdict(pair)}."
        said[frozenset((pair.first, pair.second))] = f"{joined} Direction: {direction}." if direction else joined
    return said


def _table(found: Sensitivity) -> str:
    changing = found.changing()
    if not changing:
        return ""
    shown = changing[:_MOST_ROWS]
    caption = f"What changes: the probability that two variables are joined, either way (found from {FOUND:g} on)"
    if len(shown) < len(changing):
        caption += f"; {len(changing) - len(shown)} more pairs that change are not listed"
    groups = [
        (choice, [own.value for own in same]) for choice, same in groupby(found.variations, lambda own: own.choice)
    ]
    spans = "".join(f'<th scope="colgroup" colspan="{len(values)}">{text(choice)}</th>' for choice, values in groups)
    values = "".join(f'<th scope="col">{text(value)}</th>' for _, own in groups for value in own)
    direction = '<th scope="col" rowspan="2">And of its direction</th>' if found.directions() else ""
    head = (
        '<tr><th scope="col" rowspan="2">Pair</th><th scope="col" rowspan="2">What becomes of it</th>'
        f'{direction}<th scope="col" rowspan="2">This model</th>{spans}</tr><tr>{values}</tr>'
    )
    rows = "".join(_row(found, pair) for pair in shown)
    whole = f'<table class="choices" aria-labelledby="about-choices"><thead>{head}</thead><tbody>{rows}</tbody></table>'
    return f'<p class="caption" id="about-choices">{text(caption)}</p>{scrolled(whole, "about-choices")}'


def _row(found: Sensitivity, pair: PairUnderChoices) -> str:
    cells = "".join(map(heat_cell, (pair.own, *pair.others)))
    verdict = text(f"{found.mark(pair)} {found.verdict(pair)}".strip())
    return (
        f'<tr><th scope="row">{name(found.names[pair.first])} — {name(found.names[pair.second])}</th>'
        f'<td class="{pair.fate}">{verdict}</td>{_direction_cell(found, pair)}{cells}</tr>'
    )


def _direction_cell(found: Sensitivity, pair: PairUnderChoices) -> str:
    """What becomes of a direction that is clear or leaning; nothing where the model has none at all."""
    if not found.directions():
        return ""
    own = found.direction(pair.first, pair.second)
    if own is None:
        return "<td></td>"
    fate = "holds" if own.survives else "falls"
    sign = "" if own.word != "clear" or not own.known else "✓ " if own.survives else "✗ "
    return f'<td class="{fate}">{text(sign + found.direction_verdict(pair))}</td>'


def _directions(found: Sensitivity) -> str:
    """Which choices take clear directions away, and when one does; nothing where none does."""
    lost = found.directions_lost()
    return f"<p>{text(f'{lost} {_OF_DIRECTIONS}')}</p>" if lost else ""
