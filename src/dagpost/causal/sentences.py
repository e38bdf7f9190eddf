"""An effect in sentences that an epidemiologist reads once: what changes, by how much, and how sure that is.

The command line, the report and the demo say the same.
"""

from __future__ import annotations

import math

from dagpost._tools.text import printable, shortened
from dagpost.causal.results import Effect, EffectPart, interval_of

#: A share of the posterior that only looks like none or all says so.
_LEAST = 0.0005
#: Sums of weights are 0 or 1 up to this.
_ROUNDING = 1e-9
#: A smaller change of a probability is shown as none.
_LEAST_CHANGE = 0.00005
#: Numbers below this, with no more decimals than that, are written without an exponent.
_PLAIN_MOST, _PLAIN_DECIMALS = 1e9, 5
#: How many variables on the way a sentence names.
_NAMED = 3
OVERLAP = "Parts through different variables overlap where one path passes several: they need not add up to the total."


def probability_text(share: float) -> str:
    """A probability with three digits.

    >>> probability_text(0.215), probability_text(0.00001), probability_text(1.0), probability_text(0.9999)
    ('0.215', 'under 0.001', '1', 'over 0.999')
    """
    if not _ROUNDING < share < 1.0 - _ROUNDING:
        return f"{share:.0f}"
    if share < _LEAST:
        return "under 0.001"
    return "over 0.999" if share > 1.0 - _LEAST else f"{share:.3f}"


def change_text(change: float, level: bool = False) -> str:
    """A change with its sign: of a probability with four decimals, of a mean in three digits.

    >>> change_text(-12.345), change_text(0.06123, level=True), change_text(0.00001, level=True), change_text(0.0)
    ('-12.3', '+0.0612', '0', '0')
    """
    if abs(change) < _LEAST_CHANGE * level or not change:
        return "0"
    return f"{change:+.4f}" if level else f"{change:+.3g}"


def range_text(interval: tuple[float, float], level: bool = False) -> str:
    """The two ends of an interval of changes.

    >>> range_text((-0.01, 0.1234))
    '-0.01 to +0.123'
    """
    return f"{change_text(interval[0], level)} to {change_text(interval[1], level)}"


def no_effect(effect: Effect) -> bool:
    """Whether no graph has a path from cause to outcome."""
    return effect.zero_probability >= 1.0 - _ROUNDING


def main_sentence(effect: Effect) -> str:
    """What changes when the causes are set, by how much, and from what to what."""
    given = "" if effect.condition is None else f"Given {printable(effect.condition.statement)}: "
    deed = f"{given}{'with' if given else 'With'} {effect.deed}"
    if no_effect(effect):
        return f"{deed}, {effect.measured} does not change: no directed path leads there in any graph."
    way = "rises" if effect.mean > 0.0 else "falls"
    lower, upper = effect.interval()
    return (
        f"{deed}, {effect.measured} {way} by {abs(effect.mean):.3g} on average{_from_to(effect)}; the "
        f"{100 * effect.confidence:.6g}% interval of the change is {range_text((lower, upper))}."
    )


def _from_to(effect: Effect) -> str:
    """The outcome under both settings, where these are compared."""
    sides = [tuple(pair[side] for pair in effect.values if pair is not None) for side in (0, 1)]
    means = {own.do: own.mean for own in effect.outcomes if own.level == effect.outcome_level}
    if not all(pair is not None for pair in effect.values) or not all(side in means for side in sides):
        return ""
    return f", from {seen_text(means[sides[1]], effect.mean)} to {seen_text(means[sides[0]], effect.mean)}"


def seen_text(value: float, change: float) -> str:
    """A number with as many decimals as a change of it needs to be seen; very large and small ones with an exponent.

    >>> seen_text(120.04, 0.31), seen_text(-0.0001, 0.2), seen_text(-1.31e-5, 2.8e-5), seen_text(3.2e20, 1e19)
    ('120.04', '0.00', '-1.3e-05', '3.20e+20')
    """
    finest = math.floor(math.log10(abs(change))) - 1 if change else -2
    if finest >= -_PLAIN_DECIMALS and abs(value) < _PLAIN_MOST:
        # Rounded to 0 from below, it has no sign.
        return f"{round(value, max(0, -finest)) + 0.0:.{max(0, -finest)}f}"
    digits = max(0, math.floor(math.log10(abs(value))) - finest) if value else 0
    return f"{value:.{digits}e}"


def sign_sentence(effect: Effect) -> str:
    """How probably it rises, falls, or stays."""
    exact = " (exact)" if effect.zero_exact or effect.exact else ""
    # Where some graphs have no path, no sign is certain, even if all draws have it.
    most = 1.0 - effect.zero_probability
    up, down = (
        probability_text(min(share, most)) for share in (effect.positive_probability, effect.negative_probability)
    )
    ways = f"It rises with probability {up}, falls with {down}"
    path = f"directed path leads from {printable(effect.cause)} to {printable(effect.outcome)}"
    if effect.zero_probability <= _ROUNDING:
        return f"{ways}; a {path} in every graph."
    return (
        f"{ways}, and does not change at all with {probability_text(effect.zero_probability)}{exact}, where no {path}."
    )


def moving_sentence(effect: Effect) -> str:
    """By how much it changes where it changes at all, if that is open."""
    moving = effect.samples[effect.samples != 0.0]
    if not (_LEAST < effect.zero_probability < 1.0 - _LEAST and len(moving)):
        return ""
    interval = range_text(interval_of(moving, effect.confidence))
    return (
        f"If there is an effect, it is {change_text(effect.mean / (1.0 - effect.zero_probability))} on average, "
        f"{100 * effect.confidence:.6g}% interval {interval}."
    )


def way_sentence(effect: Effect) -> str:
    """Along which ways it goes, where there is one cause: directly, and through which other variables."""
    if effect.direct is None or no_effect(effect):
        return ""
    said = [f"directly {_part_text(effect.direct)}"]
    said += [f"through {printable(part.through)} {_part_text(part)}" for part in effect.through[:_NAMED]]
    return f"Of this, {shortened(said, _NAMED + 1)}."


def _part_text(part: EffectPart) -> str:
    return f"{change_text(part.mean)} (there with probability {probability_text(part.probability)})"


def _note(effect: Effect) -> str:
    """Why these values are compared; "one unit more" is said already, and without an effect none was chosen by it."""
    return "" if no_effect(effect) or all(pair is None for pair in effect.values) else effect.note


def in_sentences(effect: Effect) -> list[str]:
    """What is to be said beside a table of the parts; `way_sentence` has these in words."""
    condition = effect.condition
    given = (
        ""
        if condition is None
        else f"{printable(condition.statement)} itself has probability {probability_text(condition.probability)}."
    )
    sure = "" if no_effect(effect) else sign_sentence(effect)
    said = main_sentence(effect), sure, moving_sentence(effect), given, _note(effect)
    return [sentence for sentence in said if sentence]
