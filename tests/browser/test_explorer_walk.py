"""The walk of docs/explore.md in a real browser: every number on the way is the model's own, and stands on the page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.browser.walk import FIRST, SECOND, STATEMENT, Walk

from dagpost import DagPosterior, datasets

PAGE = Path(__file__).parents[2] / "docs" / "explore.md"
ALIKE = 1e-9


@pytest.fixture(scope="module")
def study() -> DagPosterior:
    # As `dagpost demo` makes it.
    return DagPosterior(seed=2).fit(datasets.load("coronary"))


@pytest.fixture(scope="module")
def walk(browser: Any, study: DagPosterior) -> Iterator[Walk]:
    pytest.importorskip("uvicorn", reason="the extra [explore] is not installed")
    with study.explore(open_browser=False) as explorer:
        context = browser.new_context(viewport={"width": 1280, "height": 800})
        made = Walk(context.new_page(), explorer.address)
        made.open()
        yield made
        context.close()


def all_alike(walk: Walk, study: DagPosterior, given: str | None) -> None:
    """Every edge and path on the page against the model."""
    names = list(study.names_)
    edges, paths = walk.page.evaluate("[Report.view.edges, Report.view.paths]")
    pairs = [(one, two) for one in range(len(names)) for two in range(len(names)) if one != two]
    for sign, matrix in (("->", edges), ("~>", paths)):
        statements = [f'"{names[one]}" {sign} "{names[two]}"' for one, two in pairs]
        expected = study.probability(statements, given=given)
        found = [matrix[one][two] for one, two in pairs]
        assert found == pytest.approx([float(value) for value in expected], abs=ALIKE)
        assert all(value.lower == value.upper for value in expected)


def test_every_number_of_the_walk_is_the_models_own_and_stands_in_the_documentation(
    walk: Walk, study: DagPosterior
) -> None:
    told = PAGE.read_text(encoding="utf-8")

    def stands(value: float, digits: int = 3) -> None:
        assert f"{value:.{digits}f}" in told

    all_alike(walk, study, None)
    stands(walk.edge("Smoking", "P. Work"))
    walk.click_line("Smoking", "Pressure")
    walk.choose("Smoking → Pressure is there")
    all_alike(walk, study, FIRST)
    chance = walk.number("Report.view.chance.value")
    assert chance == pytest.approx(float(study.probability(FIRST)), abs=ALIKE)
    stands(chance)
    assert "assumed away 28%" in walk.chance
    assert "assumed away 28%" in told
    stands(walk.edge("Smoking", "P. Work"))
    asked = walk.ask(STATEMENT)
    assert asked == pytest.approx(float(study.probability(STATEMENT, given=FIRST)), abs=ALIKE)
    stands(asked)
    walk.watch()
    walk.click_line("Proteins", "Pressure")
    walk.choose("not joined")
    both = f"{FIRST} & {SECOND}"
    all_alike(walk, study, both)
    chance = walk.number("Report.view.chance.value")
    assert chance == pytest.approx(float(study.probability(both)), abs=ALIKE)
    stands(chance)
    assert "assumed away 97%" in walk.chance
    assert "assumed away 97%" in told
    walk.undo()
    all_alike(walk, study, FIRST)
