"""What several scores say together, from kept answers, on figures small enough to check by hand."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks import committees
from benchmarks.committees import compared, named, weight_of
from benchmarks.world_measures import Answer, figures_of
from benchmarks.world_networks import Truth


def record(score: str, joined: float, forward: float, *, rows: int = 1_000, number: int = 0) -> dict[str, Any]:
    """A table of two columns, the first of which acts on the second, and data can tell."""
    arrow = [[0, 1], [0, 0]]
    truth = {"joined": [[0, 1], [1, 0]], "arrows": arrow, "compelled": arrow}
    answer = {"joined": [[0, joined], [joined, 0]], "compelled": [[0, forward], [0, 0]]}
    own = {name: np.array(given, dtype=bool) for name, given in truth.items()}
    figures = figures_of(Truth(**own), Answer(*map(np.array, answer.values())))
    return figures | {
        "world": "linear-sparse", "rows": rows, "number": number, "score": score, "prior": "uniform", "columns": 2,
        "cpu_seconds": 1.0, "truth": truth, "answer": answer,
    }  # fmt: skip


def test_a_committee_says_the_weighted_mean_of_what_its_members_say() -> None:
    tables = [record("bge", 0.9, 0.9), record("bdeu, 4 bins", 0.3, 0.0), record("bge", 1.0, 1.0, number=1)]
    # The second table is not that of all members, so that it is left out.
    (own,) = compared(tables, ["bge"], [["bge=3", "bdeu"]])[1:]
    assert own["squares"] == pytest.approx((1 - (3 * 0.9 + 0.3) / 4) ** 2)
    # 0.675 of 0.75 is nine tenths: just clear, and true.
    assert (own["clear"], own["right"], own["wrong"], own["pairs"]) == (1, 1, 0, 1)
    (own,) = compared(tables, ["bge"], [["bge=2", "bdeu"]])[1:]
    assert (own["clear"], own["missed"], own["likely"]) == (0, 0, 1)
    assert own["cpu_seconds"] == 2.0


def test_weights_may_depend_on_the_rows() -> None:
    tables = [
        record(score, joined, 0.0, rows=rows) for rows in (300, 3_000) for score, joined in (("a", 1.0), ("b", 0.0))
    ]
    few, many = compared(tables, ["a"], [["a", "b=rows>=3000"]])[2:]
    assert (few["squares"], many["squares"]) == (0.0, 0.25)
    assert weight_of("0.5 * rows / (rows + 1e3)", 1_000) == 0.25
    for wrong in ("rows +", "columns", "__import__('os')", "max(1, rows)", "rows ** 2"):
        with pytest.raises(SystemExit, match="is not a weight"):
            weight_of(wrong, 1_000)


def test_a_score_is_named_by_how_its_name_begins_and_by_nothing_that_fits_two() -> None:
    assert named("bdeu", ["bdeu", "bdeu, 4 bins"]) == "bdeu"
    assert named("bg", ["bdeu", "bge"]) == "bge"
    for wrong in ("b", "latent"):
        with pytest.raises(SystemExit, match="scores; there are bdeu, bge"):
            named(wrong, ["bdeu", "bge"])


def test_files_of_different_tables_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [tmp_path / "first.json", tmp_path / "second.json"]
    for file, score, seed in zip(files, ("bge", "bdeu"), (1, 2), strict=True):
        options = {"seeds": "choosing", "seed": seed, "columns": [6, 8]}
        file.write_text(json.dumps({"options": options, "tables": [record(score, 0.9, 0.9), {"refused": "no"}]}))
    monkeypatch.setattr(sys, "argv", ["committees", *map(str, files), "--mean", "bge", "bdeu"])
    with pytest.raises(SystemExit, match=r"second\.json has other tables"):
        committees.main()
    files[1].write_text(files[1].read_text().replace('"seed": 2', '"seed": 1'))
    committees.main()
    assert "| all | 1,000 | 0.105 / 0.105 / 0.105 |" in capsys.readouterr().out
