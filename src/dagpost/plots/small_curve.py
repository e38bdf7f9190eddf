"""The curve of an effect as a small drawing in a page, which has the colours: of a report, and of the explorer."""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import NamedTuple

from dagpost._tools.text import printable
from dagpost.causal.results import Effect
from dagpost.causal.sentences import seen_text
from dagpost.plots.effect_curve_plot import few_of, gaps_between

_WIDTH, _HEIGHT = 280.0, 150.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 48.0, 272.0, 8.0, 128.0
_MOST_TICKS = 100


class SmallCurve(NamedTuple):
    """Outlines by what they are, numbers with their places and how they are set, and what all of it shows."""

    caption: str
    size: tuple[float, float]
    outlines: dict[str, str]
    numbers: tuple[tuple[float, float, str, str], ...]

    def figure(self) -> str:
        """As HTML."""
        outlines = "".join(f'<path class="{kind}" d="{course}"/>' for kind, course in self.outlines.items())
        numbers = "".join(
            f'<text x="{x:g}" y="{y:g}" text-anchor="{side}">{words}</text>' for x, y, side, words in self.numbers
        )
        said, box = html.escape(self.caption), f"0 0 {self.size[0]:g} {self.size[1]:g}"
        svg = f'<svg viewBox="{box}" role="img" aria-label="{said}">{outlines}{numbers}</svg>'
        return f'<figure class="curve">{svg}<figcaption>{said}</figcaption></figure>'


def small_curve(effect: Effect) -> SmallCurve:
    """The outcome along all numbers of the cause; of an outcome of levels, the one that the effect is about."""
    found = effect.along(rough=True)
    rows = [own for own in found.outcomes if own.level == effect.outcome_level]
    first, last = float(rows[0].do[0]), float(rows[-1].do[0])
    least, most = min(own.lower for own in rows), max(own.upper for own in rows)

    def across(value: float) -> float:
        return _LEFT + (_RIGHT - _LEFT) * ((value - first) / (last - first) if last > first else 0.5)

    def up(value: float) -> float:
        return _BOTTOM + (_TOP - _BOTTOM) * ((value - least) / (most - least) if most > least else 0.5)

    def along(points: Iterable[tuple[float, float]]) -> str:
        return "M" + "L".join(f"{across(x):.1f} {up(y):.1f}" for x, y in points)

    upper, lower = [(own.do[0], own.upper) for own in rows], [(own.do[0], own.lower) for own in rows[::-1]]
    seen = () if found.observed is None else few_of(found.observed, _MOST_TICKS)
    gaps = [] if found.observed is None else gaps_between(found.observed)
    outlines = {
        "grey": "".join(
            f"M{across(start):.1f} {_TOP}H{across(end):.1f}V{_BOTTOM}H{across(start):.1f}Z" for start, end in gaps
        ),
        "band": f"{along([*upper, *lower])}Z",
        "line": along((own.do[0], own.mean) for own in rows),
        "rows": "".join(f"M{across(value):.1f} {_BOTTOM}v-5" for value in seen),
        "frame": f"M{_LEFT} {_TOP}V{_BOTTOM}H{_RIGHT}",
    }
    numbers = (
        (_LEFT, _HEIGHT - 8.0, "start", _number(first, last - first)),
        (_RIGHT, _HEIGHT - 8.0, "end", _number(last, last - first)),
        (_LEFT - 4.0, _BOTTOM, "end", _number(least, most - least)),
        (_LEFT - 4.0, _TOP + 8.0, "end", _number(most, most - least)),
    )
    return SmallCurve(f"{effect.measured} along {printable(effect.cause)}", (_WIDTH, _HEIGHT), outlines, numbers)


def _number(value: float, span: float) -> str:
    return seen_text(value, span).replace("-", "−")
