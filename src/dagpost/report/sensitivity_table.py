"""The section of a report on other choices: every pair under each of them, and a mark on what does not survive."""

from __future__ import annotations

from itertools import groupby

from dagpost.posterior.sensitivity import FOUND, PairUnderChoices, Sensitivity
from dagpost.report.content import Content
from dagpost.report.tables import heat_cell, name, text

_EXPLANATION = (
    "The score, the prior, the number of bins and the limit on parents are choices, and other people would have chosen "
    "otherwise. Here one choice at a time is made otherwise and everything is computed again. A pair that is lost, or "
    "found, by such a change rests on the choice as much as on the data."
)
_OF_SAMPLE = "A sample of graphs does not say. The report of the model it was drawn from does."


def sensitivity_section(content: Content) -> str:
    """The sentence, the table, and what was left out; or why there is none."""
    found = content.sensitivity
    if found is None:
        return f'<p class="omitted">{text(content.omitted.get("sensitivity") or _OF_SAMPLE)}</p>'
    not_tried = "".join(f'<p class="omitted">Not tried: {text(reason)}.</p>' for reason in found.left_out)
    if not found.pairs() or not found.variations:
        return f"<p>{text(found.summary())}</p>{not_tried}"
    return f"<p><strong>{text(found.summary())}</strong> {text(_EXPLANATION)}</p>{_table(found)}{not_tried}"


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
    head = (
        f'<tr><th scope="col" rowspan="2">Pair</th><th scope="col" rowspan="2">This model</th>{spans}'
        f'<th scope="col" rowspan="2">What becomes of it</th></tr><tr>{values}</tr>'
    )
    rows = "".join(_row(found, pair) for pair in shown)
    return (
        f'<p class="caption" id="about-choices">{text(caption)}</p><div class="scroll" tabindex="0" role="region" '
        f'aria-labelledby="about-choices"><table class="choices" aria-labelledby="about-choices"><thead>{head}</thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _row(found: Sensitivity, pair: PairUnderChoices) -> str:
    cells = "".join(map(heat_cell, (pair.own, *pair.others)))
    verdict = text(f"{found.mark(pair)} {found.verdict(pair)}".strip())
    return (
        f'<tr><th scope="row">{name(found.names[pair.first])} — {name(found.names[pair.second])}</th>{cells}'
        f'<td class="{pair.fate}">{verdict}</td></tr>'
    )
