"""What the page says of assumptions: how much was assumed away, and where the numbers come from."""

from __future__ import annotations

from typing import Any

import pytest
from tests.browser.pages import Seen


@pytest.fixture(scope="module")
def page(opened: Seen) -> Any:
    opened.open()
    return opened.page


@pytest.mark.parametrize(
    ("chance", "said"),
    [
        (None, "Nothing is assumed."),
        ([0.07], "Your assumption has probability 0.07: you have assumed away 93% of the posterior."),
        ([0.0004], "Your assumption has probability 0.0004: you have assumed away over 99.9% of the posterior."),
        ([0.004], "Your assumption has probability 0.004: you have assumed away 99.6% of the posterior."),
        ([3.14e-9], "Your assumption has probability 3.1 × 10⁻⁹: you have assumed away over 99.9% of the posterior."),
        ([0.985], "Your assumption has probability 0.985: you have assumed away 1.5% of the posterior."),
        ([0.99996], "Your assumption has probability >0.999: you have assumed away less than 0.1% of the posterior."),
        ([1.0], "You have assumed nothing that the data do not already say."),
        (
            [1.0, 0.998, 1.0],
            "You have assumed nothing that the drawn graphs do not already say: it holds in all of them.",
        ),
        (
            [0.0712, 0.062, 0.0809],
            "Your assumption has probability 0.071 (0.062 to 0.081): you have assumed away about 93% of the posterior.",
        ),
        ([0.0, 0.0, 0.0012], "No drawn graph meets your assumption: its probability is at most 0.0012."),
    ],
)
def test_the_sentence_on_the_chance_rounds_honestly(page: Any, chance: list[float] | None, said: str) -> None:
    value, lower, upper = (chance * 3)[:3] if chance and len(chance) == 1 else chance or [0, 0, 0]
    given = chance and {"value": value, "lower": lower, "upper": upper, "exact": lower == upper, "said": ""}
    assert page.evaluate("(chance) => Report.chanceSentence(chance)", given) == said


@pytest.mark.parametrize(
    ("view", "asking", "command", "said"),
    [
        ({"source": "exact", "few": False}, True, None, "Exact: all graphs that are left are summed."),
        (
            {"source": "draws", "few": False, "graphs": {"left": 2140, "of": 30000, "worth": 1800.4}},
            False,
            None,
            "From 2,140 of 30,000 distinct graphs drawn, worth 1,800 independent draws: numbers are within ±0.02.",
        ),
        (
            {"source": "draws", "few": False, "graphs": {"left": 2140, "of": 30000, "worth": 1800.4}, "seconds": 2.2},
            True,
            None,
            "For now from 2,140 of 30,000 distinct graphs drawn, worth 1,800 independent draws: "
            "numbers are within ±0.02. A better answer comes in about 2 s.",
        ),
        (
            {"source": "draws", "few": True, "graphs": {"left": 37, "of": 187, "worth": 37}},
            False,
            "dagpost explore MODEL",
            "Too few graphs left: 37 of 187 distinct ones drawn, worth 37 independent draws. "
            "dagpost explore MODEL would answer exactly.",
        ),
        (
            {"source": "draws", "few": True, "graphs": {"left": 9098, "of": 30000, "worth": 1.2}},
            False,
            None,
            "Too few to trust: 9,098 of 30,000 distinct graphs drawn are left, but worth only 1 independent draw. "
            "Only more draws would tell more.",
        ),
    ],
)
def test_it_is_said_where_numbers_come_from(
    page: Any, view: dict[str, Any], asking: bool, command: str | None, said: str
) -> None:
    asked = [view, {"asking": asking, "command": command}]
    assert page.evaluate("([view, about]) => Report.sourceSentence(view, about)", asked) == said
