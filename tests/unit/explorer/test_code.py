from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.tools.explored import HOSTILE, model, session

from dagpost.errors import InputError
from dagpost.explorer.code import code, report
from dagpost.explorer.session import Session
from dagpost.features.names import quoted

GIVEN = [f"{quoted(HOSTILE[0])} -> {quoted(HOSTILE[1])}", f"!({quoted(HOSTILE[2])} -> {quoted(HOSTILE[4])})"]

BOTH = {"equivalent sample size": 10.0, "edge density": 0.5}


def _in_a_file(kind: str, folder: Path) -> Session:
    path = folder / 'it\'s a "study" $HOME.dagpost'
    model(kind).save(path)
    return Session(model(kind).fitted_, "A study", path)


@pytest.mark.parametrize(("kind", "asked"), [("hostile", {}), ("hostile", {"given": GIVEN}),
                                             ("averaged", {"given": ["A -> B"], "setting": BOTH})])  # fmt: skip
def test_code_gives_the_state_again(
    kind: str, asked: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = code(_in_a_file(kind, tmp_path), asked)
    ran: dict[str, Any] = {}
    exec(found["python"], ran)
    shown = capsys.readouterr().out
    again = ran.get("given", ran["model"])
    expected = model(kind).given(*asked.get("given", []), setting=asked.get("setting", {})) if asked else model(kind)
    np.testing.assert_allclose(again.edge_probabilities_, expected.edge_probabilities_, atol=1e-9)
    assert not asked or str(expected.condition_.probability) in shown


def test_a_command_opens_the_same_state(tmp_path: Path) -> None:
    own = _in_a_file("hostile", tmp_path)
    words = shlex.split(code(own, {"given": GIVEN})["command"])
    assert words == ["dagpost", "explore", str(own.path), "--given", GIVEN[0], "--given", GIVEN[1]]
    assert code(own, {})["command"] == shlex.join(["dagpost", "explore", str(own.path)])


def test_a_setting_cannot_be_said_in_a_command(tmp_path: Path) -> None:
    assert code(_in_a_file("averaged", tmp_path), {"setting": BOTH})["command"] is None


def test_a_model_that_is_in_no_file_is_fitted_again() -> None:
    found = code(session("averaged"), {"given": ["A -> B"]})
    assert found["command"] is None
    assert "model.fit(" in found["python"]
    assert ".report(" not in found["python"]
    compile(found["python"], "<state>", "exec")


def test_what_cannot_be_read_is_refused() -> None:
    with pytest.raises(InputError, match="no variable"):
        code(session("averaged"), {"given": ["A -> nobody"]})


def test_a_report_says_what_is_assumed(tmp_path: Path) -> None:
    own = _in_a_file("hostile", tmp_path)
    found = report(own, {"given": GIVEN[:1]})
    assert found["name"].endswith("-given.html")
    assert "</script><b>" not in found["html"]
    assert "A study, given &quot;say" in found["html"]
    assert report(own, {})["name"] == f"{own.path.stem}.html"
