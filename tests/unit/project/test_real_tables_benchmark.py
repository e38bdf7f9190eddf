"""What the comparison on real tables shows of an answer, and what it does with the tables."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from benchmarks.real_tables import show, shown, table_called
from benchmarks.world_measures import Answer


def test_an_arrow_stands_where_the_direction_is_clear_and_nowhere_else() -> None:
    joined = np.array([[0.0, 0.8, 0.4], [0.8, 0.0, 0.9], [0.4, 0.9, 0.0]])
    compelled = np.array([[0.0, 0.0, 0.4], [0.75, 0.0, 0.5], [0.0, 0.0, 0.0]])
    answer = Answer(joined, compelled)
    assert [shown(answer, *pair) for pair in ((0, 1), (1, 0), (0, 2), (1, 2))] == ["0.80 ←", "0.80 →", "0.40", "0.90"]
    assert shown(None, 0, 1) == ""


def test_a_weight_that_is_cut_and_incomplete_rows_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "clinic").mkdir()
    births = pd.DataFrame({"rownames": [1, 2], "low": [0, 1], "race": [1, 3], "bwt": [2500, 2400]})
    births.to_csv(tmp_path / "clinic" / "birthwt.csv", index=False)
    pd.DataFrame({"rownames": [1, 2], "bp": [70.0, None]}).to_csv(tmp_path / "Pima.tr2.csv", index=False)
    found = table_called("birthwt", tmp_path)
    assert found is not None
    assert found.to_dict("list") == {"race": ["white", "other"], "bwt": [2500, 2400]}
    complete = table_called("Pima.tr2", tmp_path)
    assert complete is not None
    assert complete.to_dict("list") == {"bp": [70.0]}
    assert table_called("ksl", tmp_path) is None
    cancer = table_called("breast cancer", tmp_path)
    assert cancer is not None
    assert cancer.shape == (569, 11)
    assert set(cancer["target"]) == {"malignant", "benign"}


def test_a_score_that_does_not_take_a_table_is_said_to_beside_the_others(capsys: object) -> None:
    rng = np.random.default_rng(1)
    first = rng.normal(size=200)
    frame = pd.DataFrame({"x": first, "y": first + rng.normal(size=200), "group": ["a", "b"] * 100})
    show("made", frame, ["bge", "bdeu/2"])
    said = capsys.readouterr().out  # type: ignore[attr-defined]
    assert "| x – y |  | 1.00 |" in said
    assert "bge does not take it: Column 'group'" in said
