"""The explorer of a committee in a real browser: kinds of models on a slider, their weights, and links to them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import numpy as np
import pandas as pd
import pytest
from tests.browser.test_explorer_page import Explored

from dagpost import BDeu, BGe, Committee, DagPosterior

KIND = "kind of model"


@pytest.fixture(scope="module")
def explored(browser: Any) -> Iterator[Explored]:
    pytest.importorskip("uvicorn", reason="the extra [explore] is not installed")
    from dagpost.explorer.serving import explore

    generator = np.random.default_rng(5)
    weight = generator.normal(size=200)
    frame = pd.DataFrame({"weight": weight, "salt": weight**2 + 0.5 * generator.normal(size=200)})
    members = [BGe(), BDeu(5, bins=4), BDeu(1, bins=4)]
    model = DagPosterior(Committee(members, [2, 1, 1]), seed=1, samples=200).fit(frame)
    served = explore(model.fitted_, open_browser=False)
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    yield Explored(context.new_page(), path=None, model=model, address=served.address)
    context.close()
    served.stop()


def test_a_slider_takes_one_kind_and_says_that_its_weight_is_fixed(explored: Explored) -> None:
    explored.open()
    page, label = explored.page, "linear (BGe)"
    slider, said = page.locator("#setting-0"), page.locator(".setting output").first
    assert slider.get_attribute("aria-label") == "Kind of model"
    slider.focus()
    page.keyboard.press("ArrowRight")
    explored.until("Object.keys(Report.view.setting).length === 1")
    explored.wait()
    assert said.inner_text() == f"{label} (weight 0.500)"
    under = explored.model.given(setting={KIND: label})
    assert page.evaluate("Report.view.edges[0][1]") == pytest.approx(
        float(under.probability("weight -> salt")), abs=1e-9
    )
    sentence = "Your assumption has the fixed weight 0.5: you have assumed away 50% of the posterior."
    # Once in the panel, and once for those who hear the page.
    assert page.evaluate("document.body.textContent").count(sentence) == 2
    # Under an assumption about the graph it is a probability again.
    page.evaluate("Report.assume({ kind: 'joined', from: 0, to: 1 })")
    explored.wait()
    assert "fixed weight" not in page.locator("#assumptions").inner_text()


def test_a_link_to_a_kind_whose_name_has_an_equals_sign_opens_it(explored: Explored) -> None:
    label = repr(BDeu(1, bins=4))
    explored.open(f"setting={quote(KIND)}={quote(label)}")
    assert explored.page.evaluate("Report.state.setting") == {KIND: label}
