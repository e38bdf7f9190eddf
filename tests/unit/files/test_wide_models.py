"""Models and samples of more than 64 columns: in files, for other programs, and in a report."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from tests.tools.wording import Said

from dagpost import BDeu, DagPosterior, DagSample
from dagpost.errors import InputError
from dagpost.files.archive import read_archive
from dagpost.files.frames import long_table
from dagpost.files.graph_files import to_dot, write_graphml

_GIVEN, _MODELLED, _ROWS = 70, 4, 300


def table() -> pd.DataFrame:
    """Columns of coins, and four that hang on some of them, beyond the first word of bits too."""
    rng = np.random.default_rng(5)
    cells = rng.integers(0, 2, (_ROWS, _GIVEN + _MODELLED))
    for child, parents in enumerate([(3, 68), (66, 70), (1, 2), (69, 72)], start=_GIVEN):
        cells[:, child] = cells[:, list(parents)].max(axis=1) ^ (rng.random(_ROWS) < 0.05)
    return pd.DataFrame(cells, columns=[f"g{place}" for place in range(cells.shape[1])])


def fitted(score: Any) -> DagPosterior:
    given = [f"g{place}" for place in range(_GIVEN)]
    return DagPosterior(prior="uniform", score=score, max_parents=2, exogenous=given, samples=100, seed=1).fit(table())


@pytest.fixture(scope="module")
def model() -> DagPosterior:
    return fitted("bdeu")


def test_a_wide_model_comes_back_to_the_last_bit(model: DagPosterior, tmp_path: Path) -> None:
    model.save(tmp_path / "wide.dagpost", rows=True)
    back = DagPosterior.load(tmp_path / "wide.dagpost")
    np.testing.assert_array_equal(back.edge_probabilities_, model.edge_probabilities_)
    assert back.log_evidence_ == model.log_evidence_
    assert back.own_sample() == model.own_sample()
    assert back.own_sample().parents.shape == (100, _GIVEN + _MODELLED, 2)
    assert back.family_probabilities("g71").equals(model.family_probabilities("g71"))
    assert back.probability("g66 -> g71").value == model.probability("g66 -> g71").value > 0.5
    assert back.sample(20, seed=4) == model.sample(20, seed=4)
    assert back.fitted_.table is not None
    assert back.fitted_.table.fingerprint() == back.fitted_.data.fingerprint
    back.save(tmp_path / "again.dagpost", rows=True)
    first, second = (read_archive(tmp_path / name, "model")[0] for name in ("wide.dagpost", "again.dagpost"))
    assert first["checksums"] == second["checksums"]


def test_a_wide_sample_comes_back_from_a_file_much_smaller_than_its_words(model: DagPosterior, tmp_path: Path) -> None:
    sample = model.sample(500, seed=2)
    sample.save(tmp_path / "dags.dagpost")
    assert DagSample.load(tmp_path / "dags.dagpost") == sample
    _, arrays = read_archive(tmp_path / "dags.dagpost", "sample")
    assert sum(arrays[name].nbytes for name in ("parent_counts", "parent_columns")) < sample.parents.nbytes / 10


def test_wide_graphs_for_other_programs_have_the_probable_edges(model: DagPosterior, tmp_path: Path) -> None:
    edges = model.edge_probabilities_
    expected = {(a, b) for a in edges for b in edges if edges.loc[a, b] > 0.5}
    write_graphml(model, tmp_path / "wide.graphml")
    read = nx.read_graphml(tmp_path / "wide.graphml")
    assert len(read) == _GIVEN + _MODELLED
    assert set(read.edges) == expected
    assert {tuple(found) for found in re.findall(r'"(g\d+)" -> "(g\d+)"', to_dot(model))} == expected
    assert len(long_table(model)) == (_GIVEN + _MODELLED) * (_GIVEN + _MODELLED - 1)


def test_the_report_of_a_wide_model_is_small(model: DagPosterior, tmp_path: Path) -> None:
    written = model.report(tmp_path / "wide.html").read_text(encoding="utf-8")
    assert len(written) < 900_000
    assert "given 70 exogenous columns" in written
    sampled = model.own_sample().report(tmp_path / "sample.html").read_text(encoding="utf-8")
    assert "Save the " in sampled


def test_predictions_are_refused_in_a_sentence(model: DagPosterior, said: Said) -> None:
    with said.raises(InputError):
        model.score_samples(table())


def test_the_best_wide_graphs_under_an_average_are_those_of_most_weight() -> None:
    mixed = fitted(BDeu("average"))
    best = mixed.best(3)
    assert best.parents.shape == (3, _GIVEN + _MODELLED, 2)
    assert (np.diff(best.log_joint) <= 0.0).all()
    assert mixed.own_sample().log_joint.max() <= best.log_joint[0] + 1e-9
