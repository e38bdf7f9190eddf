"""Tables that are handed out: changing one changes nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from dagpost import DagPosterior, datasets
from dagpost._tools.arrays import labelled


def test_a_labelled_table_is_a_copy() -> None:
    matrix = np.eye(2)
    table = labelled(matrix, ("A", "B"))
    table.iloc[:, :] = 0.5
    np.testing.assert_array_equal(matrix, np.eye(2))


@pytest.mark.parametrize("relation", ["->", "~>", "--"])
def test_changing_a_matrix_does_not_change_the_model(relation: str) -> None:
    model = DagPosterior(score="bdeu", seed=1, samples=200).fit(datasets.load("coronary"))
    for matrix in (lambda: model.probability_matrix(relation), lambda: model.edge_probabilities_):
        found = matrix()
        before = found.to_numpy().copy()
        found.iloc[:, :] = 0.5
        np.testing.assert_array_equal(matrix().to_numpy(), before)
