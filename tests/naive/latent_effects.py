"""What setting latent numbers does, by drawing rows one column after the other."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
#: Of every column, parents before children: intercept, coefficients of parents, deviation.
Network = Mapping[int, tuple[float, Mapping[int, float], float]]


def drawn_rows(network: Network, world: Mapping[int, float], rows: int, generator: np.random.Generator) -> Numbers:
    """Rows in which some columns are set: (columns, rows)."""
    drawn = np.zeros((len(network), rows))
    for column, (intercept, coefficients, deviation) in network.items():
        drawn[column] = intercept + sum(value * drawn[parent] for parent, value in coefficients.items())
        drawn[column] += deviation * generator.normal(size=rows)
        if column in world:
            drawn[column] = world[column]
    return drawn


def with_mediator_redrawn(
    network: Network, cause: int, mediator: int, value: float, other: float, rows: int, generator: np.random.Generator
) -> Numbers:
    """Rows with the cause set to a value; the mediator is from rows with another value, given what does not follow it.

    All columns that the cause acts on are drawn apart in both, those that it does not act on are the same.
    """
    below = {cause}
    for column, (_, coefficients, _) in network.items():
        if below & set(coefficients):
            below.add(column)
    apart, drawn = np.zeros((2, len(network), rows))
    for column, (intercept, coefficients, deviation) in network.items():
        noise = deviation * generator.normal(size=(2, rows))
        for own, which in ((apart, 0), (drawn, 1 if column in below else 0)):
            own[column] = intercept + sum(value * own[parent] for parent, value in coefficients.items()) + noise[which]
        if column == cause:
            apart[column], drawn[column] = other, value
        if column == mediator:
            drawn[column] = apart[column]
    return drawn
