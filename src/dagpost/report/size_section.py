"""The section of a report on signs and sizes: the surest effects in sentences, all in a table, and what they assume."""

from __future__ import annotations

from dagpost._tools.text import printable
from dagpost.causal.sentences import change_text
from dagpost.report.content import Content
from dagpost.report.sizes import PairEffect
from dagpost.report.tables import bar, folded, name, paragraph, table, text

#: Effects that are told in sentences.
_TOLD = 3
#: A share of no effect that is worth a word.
_WORTH = 0.005
_VERBS = {"+": "raises", "-": "lowers", "?": "changes"}
_ASSUMED = (
    "Effects are those of setting a variable from outside. They hold only if no common cause of two variables is left "
    "out; where the data leave a direction open, both ways count."
)
_DRAWN = "If the value were set. Shaded: 95% intervals; ticks: rows; grey: no rows."
_DOUBT = "Not to be trusted yet: these effects come from chains that do not agree."


def size_section(content: Content) -> str:
    """The section; where nothing was computed, the reason, and nothing at all for a sample."""
    sizes = content.sizes
    if sizes is None or not (sizes.pairs or sizes.omitted):
        return ""
    left_out = f'<p class="omitted">{text(sizes.omitted)}.</p>\n' if sizes.omitted else ""
    if not sizes.pairs:
        inside = left_out
    else:
        doubt = paragraph(_DOUBT) if content.trusted is False else ""
        told = "".join(f"<li>{text(sentence(own))}</li>" for own in sizes.pairs[:_TOLD])
        curves = "".join(own.figure() for own in sizes.curves)
        drawn = f'<div class="curves">{curves}</div>\n{paragraph(_DRAWN)}\n' if curves else ""
        told = f"{doubt}<ul>{told}</ul>\n{paragraph(_ASSUMED)}\n{drawn}"
        inside = f"{told}{_table(content)}{_assumptions(content)}{left_out}"
    return f'<section id="sizes">\n<h2>Signs and sizes</h2>\n{inside}</section>\n'


def sentence(own: PairEffect) -> str:
    """One effect in a sentence."""
    deed, verb = own.effect.deed, _VERBS[own.sign]
    # Names are written as they are.
    begun = f"O{deed[1:]}" if own.effect.values[0] is None else f"Setting {_set(own)}"
    zero = own.effect.zero_probability
    none = f"; with a probability of {_percent(zero)} there is no effect" if zero >= _WORTH else ""
    return f"{begun} {verb} {own.effect.measured} by {_amount(own)} ({_range(own)}){none}."


def tip(own: PairEffect) -> str:
    """The same for the tip of a line, beside the names of both."""
    zero = own.effect.zero_probability
    none = f"; no effect: {_percent(zero)}" if zero >= _WORTH else ""
    what = "per unit" if own.effect.values[0] is None else f"for {_levels(own)}"
    target = own.effect.measured if own.in_points else printable(own.effect.outcome)
    return f"{printable(own.effect.cause)} {_VERBS[own.sign]} {target} by {_amount(own)} ({_range(own)}) {what}{none}"


def _set(own: PairEffect) -> str:
    first, second = own.effect.values[0] or ("", "")
    return f"{printable(own.effect.cause)} to {_value(first)} rather than {_value(second)}"


def _levels(own: PairEffect) -> str:
    first, second = own.effect.values[0] or ("", "")
    return f"{_value(first)} rather than {_value(second)}"


def _value(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else printable(value)


def _amount(own: PairEffect) -> str:
    """Its size, without the sign where the verb says it."""
    size = own.size if own.sign == "?" else abs(own.size)
    return f"{_number(own, size)}{' points' if own.in_points else ''}"


def _range(own: PairEffect) -> str:
    lower, upper = own.interval
    if own.sign == "-":
        lower, upper = -upper, -lower
    return f"{_number(own, lower)} to {_number(own, upper)}"


def _number(own: PairEffect, change: float) -> str:
    """A change; one of a probability in points of a hundred."""
    shown = f"{100.0 * change:.1f}" if own.in_points else f"{change:.3g}"
    return shown.replace("-", "−") if float(shown) else "0"


def _percent(share: float) -> str:
    return f"{100.0 * share:.0f}%" if share < 1.0 - _WORTH else "over 99%"


def _table(content: Content) -> str:
    assert content.sizes is not None
    pairs = content.sizes.pairs
    # Where all columns are numbers, every row is about one unit and a mean.
    levels = any(own.in_points or own.effect.values[0] is not None for own in pairs)
    through = any(own.through for own in pairs)
    rows = (f"<tr>{''.join(_cells(content, own, levels=levels, through=through))}</tr>" for own in pairs)
    what = "probabilities in points of a hundred" if levels else "of one unit more, on the mean of the other"
    caption = (
        f"Effects where there are any, with 95% intervals; {what}. Direct: along the edge itself, where it is there"
    )
    heads = ["Effect", "Total", "Direct", *(["Through"] if through else [])]
    return table(caption, [*heads, "No effect at all"], rows, "sizes")


def _cells(content: Content, own: PairEffect, *, levels: bool, through: bool) -> list[str]:
    direct = own.direct
    part = "" if direct is None else f"{_signed(own, direct[0])}<small>{_signed_range(own, direct[1:])}</small>"
    what = ""
    if levels:
        deed = "one unit more" if own.effect.values[0] is None else _levels(own)
        what = f"<br><small>{text(own.effect.measured)} with {text(deed)}</small>"
    cells = [
        f"<td>{name(content.names[own.cause])} → {name(content.names[own.outcome])}{what}</td>",
        f'<td class="number">{_signed(own, own.size)}<small>{_signed_range(own, own.interval)}</small></td>',
        f'<td class="number">{part}</td>',
    ]
    if through:
        cells.append(f"<td>{'<br>'.join(f'{name(way)} {_signed(own, change)}' for way, change in own.through)}</td>")
    return [*cells, bar(own.effect.zero_probability)]


def _signed(own: PairEffect, change: float) -> str:
    return change_text(round(100.0 * change, 1) if own.in_points else change).replace("-", "−")


def _signed_range(own: PairEffect, ends: tuple[float, ...]) -> str:
    return f"{_signed(own, ends[0])} to {_signed(own, ends[1])}"


def _assumptions(content: Content) -> str:
    """What all effects assume, and on whose word the directions on the way of each rest."""
    assert content.sizes is not None
    effects = [own.effect for own in content.sizes.pairs]
    shared = [said for said in effects[0].assumptions if all(said in other.assumptions for other in effects)]
    own = [
        f"{printable(effect.cause)} → {printable(effect.outcome)}: {said}"
        for effect in effects
        for said in effect.assumptions
        if said not in shared
    ]
    exact = "exact" if all(effect.zero_exact for effect in effects) else "estimated"
    draws = f"{len(effects[0].samples):,} draws of graphs and parameters"
    figures = f"The probability of no effect at all is {exact}; sizes come from {draws}."
    listed = "".join(f"<li>{text(said)}</li>" for said in [*shared, figures, *own])
    return folded("What do these numbers assume?", f"<ul>{listed}</ul>")
