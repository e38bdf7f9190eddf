"""The section of a report on other choices: what does not survive them, and, folded, every pair under each."""

from __future__ import annotations

from itertools import groupby

from dagpost.posterior.directions import CLEAR, FOUND
from dagpost.posterior.sensitivity import PairUnderChoices, Sensitivity
from dagpost.report.content import Content
from dagpost.report.tables import heat_cell, name, scrolled, table, text

_EXPLANATION = (
    "The score, the prior, the number of bins and the limit on parents are choices, and other people would have chosen "
    "otherwise. Here one choice at a time is made otherwise and everything is computed again. A pair that is lost, or "
    "found, by such a change rests on the choice as much as on the data."
)
_OF_DIRECTIONS = (
    f"A direction stays clear if the data compel it in at least {100 * CLEAR:g}% of the probability of being joined "
    "under the other choice too, by graphs that are drawn under that choice."
)
_OF_SAMPLE = "A sample of graphs does not say. The report of the model it was drawn from does."


def sensitivity_section(content: Content) -> str:
    """The sentence, what changes, and, folded, every pair under each choice; or why there is none."""
    found = content.sensitivity
    if found is None:
        return f'<p class="omitted">{text(content.omitted.get("sensitivity") or _OF_SAMPLE)}</p>'
    not_tried = "".join(f'<p class="omitted">Not tried: {text(reason)}.</p>' for reason in found.left_out)
    if not found.pairs() or not found.variations:
        return f"<p>{text(found.summary())}</p>{not_tried}"
    sentence = f"<p><strong>{text(found.summary())}</strong></p>"
    every = (
        f"<details><summary>Every pair under each choice</summary><p>{text(_EXPLANATION)}</p>"
        f"{_table(found)}{_directions(found)}</details>"
    )
    return f"{sentence}{_changing(found)}{every}{not_tried}"


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


def _changing(found: Sensitivity) -> str:
    """The pairs that are lost or found by another choice, or whose direction is, a few words each."""
    changing = [pair for pair in found.shown() if pair.fate in ("falls", "rises") or _is_lost(found, pair)]
    if not changing:
        return ""
    heads = ["Pair", "What becomes of it", *(["And of its direction"] if found.directions() else [])]
    rows = [f"<tr>{_words(found, pair)}</tr>" for pair in changing]
    return table("What rests on a choice as much as on the data", heads, rows, "changing")


def _is_lost(found: Sensitivity, pair: PairUnderChoices) -> bool:
    own = found.direction(pair.first, pair.second)
    return own is not None and own.word == "clear" and own.known and not own.survives


def _table(found: Sensitivity) -> str:
    shown, every = found.shown(), len(found.pairs())
    caption = f"The probability that two variables are joined, either way; a pair is found from {FOUND:g} on"
    if len(shown) < every:
        caption += f" ({every - len(shown)} more pairs are not listed)"
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
    return f"<tr>{_words(found, pair)}{''.join(map(heat_cell, (pair.own, *pair.others)))}</tr>"


def _words(found: Sensitivity, pair: PairUnderChoices) -> str:
    """The cells of a row that are words: the pair, what becomes of it, and of its direction."""
    verdict = text(f"{found.mark(pair)} {found.verdict(pair)}".strip())
    return (
        f'<th scope="row">{name(found.names[pair.first])} — {name(found.names[pair.second])}</th>'
        f'<td class="{pair.fate}">{verdict}</td>{_direction_cell(found, pair)}'
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
    """Which choices take clear directions away, and what the column of directions rests on."""
    if not found.directions():
        return ""
    return f"<p>{text(f'{found.directions_lost()} {_OF_DIRECTIONS}'.strip())}</p>"
