"""Models and samples that version 0.1.0 wrote before methods were classes: they load, and answer as they did."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from tests.tools.file_answers import answers_of, resumed_chains

from dagpost import DagPosterior, DagSample

FOLDER = Path(__file__).parents[2] / "data" / "old_files"
EXPECTED = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))
NAMES = [name for name in EXPECTED if name != "resumed"]


def differences(found: Any, expected: Any, where: str = "") -> list[str]:
    """Where two answers differ: numbers by more than the last digits, everything else at all."""
    if isinstance(expected, dict) and isinstance(found, dict):
        missing = [f"{where}: {key} only once" for key in sorted(found.keys() ^ expected.keys())]
        shared = [differences(found[key], expected[key], f"{where}/{key}") for key in expected.keys() & found.keys()]
        return [*missing, *(line for lines in shared for line in lines)]
    if isinstance(expected, list) and isinstance(found, list) and len(found) == len(expected):
        pairs = enumerate(zip(found, expected, strict=True))
        return [line for place, pair in pairs for line in differences(*pair, f"{where}/{place}")]
    if isinstance(expected, float) and isinstance(found, float):
        same = math.isclose(found, expected, rel_tol=1e-12, abs_tol=1e-12) or (
            math.isnan(found) and math.isnan(expected)
        )
    else:
        same = type(found) is type(expected) and found == expected
    return [] if same else [f"{where}: {found!r} instead of {expected!r}"]


def test_every_file_has_its_answers() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.dagpost")) == sorted(NAMES)
    assert len(NAMES) >= 12


@pytest.mark.parametrize("name", NAMES)
def test_a_file_of_the_version_before_answers_as_it_did(name: str) -> None:
    found = json.loads(json.dumps(answers_of(FOLDER / f"{name}.dagpost")))
    assert differences(found, EXPECTED[name]) == []


@pytest.mark.parametrize("name", NAMES)
def test_a_file_of_the_version_before_can_be_written_again(name: str, tmp_path: Path) -> None:
    kind = DagSample if name.startswith("sample") else DagPosterior
    kind.load(FOLDER / f"{name}.dagpost").save(tmp_path / f"{name}.dagpost")
    found = json.loads(json.dumps(answers_of(tmp_path / f"{name}.dagpost")))
    assert differences(found, EXPECTED[name]) == []


def test_chains_of_the_version_before_go_on() -> None:
    model = DagPosterior.load(FOLDER / "model-partition-mcmc.dagpost")
    found = resumed_chains(model, DagSample.load(FOLDER / "sample-chains.dagpost"))
    assert differences(found, EXPECTED["resumed"]) == []
