"""How strong should the prior of the conditional Gaussian score be? Structures and slopes under weaker means.

    python -m benchmarks.conditional_prior

`structure`: 40 random networks of four columns of levels and four of numbers, 200 to 1,000 rows; log loss a pair and
area under the precision-recall curve of which pairs are joined. `slopes`: 60 tables of 400 rows, given the true graph;
how often intervals of 80% hold the slope of weight on pressure, where groups lie 7 to 10 of their deviations apart
("far") and where they differ by half a deviation ("near").
"""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
from benchmarks.mixed import area, losses
from numpy.typing import NDArray
from tests.property.test_mixed_effects import TRUE, smoking
from tests.property.test_prediction import sample_of
from tests.statistical.test_mixed_predictions import modest

from dagpost import ConditionalGaussian, DagPosterior
from dagpost.causal import effect as effect_of
from dagpost.errors import DagpostWarning

_COLUMNS, _OF_LEVELS = 8, 4
_WEIGHTS = (1.0, 0.3, 0.1, 0.03)


def random_table(rng: np.random.Generator) -> tuple[pd.DataFrame, NDArray[np.bool_]]:
    """A table from a random conditional Gaussian network, and which of its columns are joined."""
    rows = int(rng.choice([200, 500, 1000]))
    order, data = np.arange(_COLUMNS), np.zeros((rows, _COLUMNS))
    arities, edges = rng.integers(2, 4, _COLUMNS), np.zeros((_COLUMNS, _COLUMNS), dtype=np.bool_)
    for node in order.tolist():
        parents = [other for other in range(node) if rng.random() < 0.3][:3]
        edges[parents, node] = True
        group = np.zeros(rows, dtype=np.int64)
        for parent in parents:
            if parent < _OF_LEVELS:
                group = group * arities[parent] + data[:, parent].astype(np.int64)
        groups = int(group.max()) + 1
        if node < _OF_LEVELS:
            chances = rng.dirichlet(np.ones(arities[node]), size=groups).cumsum(axis=1)[group]
            data[:, node] = (rng.random(rows)[:, None] > chances).sum(axis=1).clip(max=arities[node] - 1)
            continue
        numbers = [parent for parent in parents if parent >= _OF_LEVELS]
        slopes, spreads = rng.normal(0, 0.7, (groups, len(numbers))), rng.uniform(0.7, 1.3, groups)
        data[:, node] = rng.normal(size=groups)[group] + (data[:, numbers] * slopes[group]).sum(axis=1)
        data[:, node] += spreads[group] * rng.normal(size=rows)
    names = [f"V{node}" for node in range(_COLUMNS)]
    columns = [
        pd.Categorical([f"l{value:g}" for value in data[:, node]]) if node < _OF_LEVELS else data[:, node]
        for node in range(_COLUMNS)
    ]
    return pd.DataFrame(dict(zip(names, columns, strict=True))), edges | edges.T


def structure(weight: float) -> str:
    """Log loss and area of one prior."""
    found, truth = [], []
    for number in range(40):
        frame, joined = random_table(np.random.default_rng([1, number]))
        score = ConditionalGaussian(mean_weight=weight, degrees_of_freedom=_COLUMNS - _OF_LEVELS + 2.0)
        edges = DagPosterior(score=score, method="exact-layers", seed=1).fit(frame).edge_probabilities_.to_numpy()
        pairs = np.triu_indices(_COLUMNS, k=1)
        found.append((edges + edges.T)[pairs])
        truth.append(joined[pairs])
    said, there = np.concatenate(found), np.concatenate(truth)
    return f"log loss {losses(said, there).mean():.3f}, area {area(said, there):.3f}"


def slopes(weight: float) -> str:
    """How often intervals of one prior hold the slope."""
    score, said = ConditionalGaussian(mean_weight=weight, degrees_of_freedom=4.0), []
    for name, tables, truth in (("far", smoking, 2.5), ("near", modest, 0.75)):
        held = []
        for seed in range(60):
            table = tables(400, seed)
            sample = sample_of(table.names, TRUE, np.ones(1))
            effect = effect_of(sample, table, score, "weight", "pressure", draws=500, seed=seed, confidence=0.8)
            lower, upper = effect.interval()
            held.append(lower < truth < upper)
        said.append(f"{name} {np.mean(held):.2f}")
    return f"80% intervals hold the slope: {', '.join(said)}"


if __name__ == "__main__":
    warnings.simplefilter("ignore", DagpostWarning)
    for own in _WEIGHTS:
        print(f"mean_weight {own:g}: {structure(own)}; {slopes(own)}", flush=True)
