"""Additive local models as arrays, and made of these again: coefficients of features, margins, residuals as quantiles.

A regression is kept by its features' coefficients. What these are follows from the margins of its parents, so that a
file cannot name parts that are not there. Of the covariance the directions are kept that matter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats, Integers
from dagpost._tools.schema import require
from dagpost.local.base import LocalModel
from dagpost.local.curved import CurvedLevel, CurvedNumber, Moving
from dagpost.local.density import Density, shares_of
from dagpost.local.layout import Part, form_of, numbers_matrix, parts_of
from dagpost.local.margins import IN_ORDER, NUMBER, UNORDERED, Features, Margins
from dagpost.local.regression import Posterior
from dagpost.local.scales import BOTH_WAYS, LOG, OWN
from dagpost.local.spread import Spread

Arrays = Mapping[str, NDArray[Any]]
_VECTORS = ("kinds", "arities", "begins", "values", "scores", "slopes", "lowest", "steps")
#: What numbers of a file may be at most; pieces of a spline.
_LARGEST, _MOST_PIECES = 1e100, 64


def margin_arrays(margins: Margins, features: Sequence[Features]) -> dict[str, NDArray[Any]]:
    """What all families share."""
    arrays = {name: np.asarray(getattr(margins, name)) for name in _VECTORS}
    arrays["pieces"] = np.array([margins.pieces])
    arrays["lines"] = np.array([own.lines for own in features])
    arrays["widths"] = np.array([own.basis.shape[1] for own in features])
    arrays["bases"] = np.concatenate([own.basis.reshape(-1) for own in features])
    return arrays


def restorer(levels: Sequence[Any], arrays: Arrays) -> Callable[[int, tuple[int, ...], Arrays], LocalModel]:
    """What makes local models of their arrays; what does not fit together is a ValueError."""
    margins, features = _margins(levels, arrays)

    def restore(child: int, parents: tuple[int, ...], own: Arrays) -> LocalModel:
        parts = parts_of(parents, margins, features)
        form, turn = form_of(parts, parents), numbers_matrix(parts, features)
        posteriors = _posteriors(own, parts)
        if levels[child] is not None:
            require(len(posteriors) == len(levels[child]) - 1, "regressions of other levels")
            return CurvedLevel(form, margins, posteriors, turn)
        require(1 <= len(posteriors) <= 2, "regressions of a number")
        facts = _finite(own, "facts", (1, 9))[0]
        moving = Moving(int(facts[2]), *map(float, facts[3:]))
        require(moving.kind in (OWN, LOG, BOTH_WAYS) and moving.unit > 0.0 and moving.size > 0.0, "an unknown scale")
        centres = _finite(own, "centres", (1, -1))[0]
        quantiles = _finite(own, "quantiles", (len(centres), -1))
        require(quantiles.shape[1] > 1 and len(centres) > 0, "quantiles of residuals")
        require(
            bool((np.diff(centres) >= 0.0).all() and (np.diff(quantiles, axis=1) >= 0.0).all()), "quantiles in order"
        )
        at, logs = _finite(own, "at", (1, -1))[0], _finite(own, "logs", (1, -1))[0]
        require(len(at) == len(logs) > 0 and bool((np.diff(at) > 0.0).all()), "sizes of residuals")
        reach = float(_finite(own, "reach", (1, 1))[0, 0])
        heights = _finite(own, "heights", (1, -1))[0].astype(np.float64)
        require(reach > 1.0 and bool((heights > 0.0).all()), "a density below zero")
        density = Density(at, logs, reach, *shares_of(heights, reach))
        spread = Spread(len(centres), centres, quantiles)
        return CurvedNumber(
            form, margins, posteriors, turn, (float(facts[0]), float(facts[1])), moving, spread, density
        )

    return restore


def _finite(arrays: Arrays, name: str, shape: tuple[int, int]) -> Floats:
    """Numbers of a shape, in which -1 stands for any size."""
    found: Floats = np.ascontiguousarray(arrays[name], dtype=np.float64)
    fits = found.ndim == 2 and all(size in (-1, own) for size, own in zip(shape, found.shape, strict=True))
    require(fits and bool((np.abs(found) <= _LARGEST).all()), f"{name} that cannot be")
    return found


def _posteriors(own: Arrays, parts: Sequence[Part]) -> list[Posterior]:
    width = 1 + sum(part.features for part in parts)
    freedoms = np.asarray(own["freedoms"], dtype=np.float64).reshape(-1)
    require(bool((freedoms > 0.0).all()), "freedoms that cannot be")
    coefficients = _finite(own, "coefficients", (len(freedoms), width if len(freedoms) else -1))
    factors = _finite(own, "factors", (len(freedoms) * width, -1))
    return [
        Posterior(coefficients[place], factors[place * width : (place + 1) * width], float(freedom))
        for place, freedom in enumerate(freedoms)
    ]


def _margins(levels: Sequence[Any], arrays: Arrays) -> tuple[Margins, list[Features]]:
    nodes = len(levels)
    whole: dict[str, Integers] = {
        name: np.asarray(arrays[name]).astype(np.int64).reshape(-1)
        for name in ("kinds", "arities", "begins", "pieces", "lines", "widths")
    }
    real: dict[str, Floats] = {
        name: np.ascontiguousarray(arrays[name], dtype=np.float64).reshape(-1)
        for name in ("values", "scores", "slopes", "lowest", "steps", "bases")
    }
    require(all(bool((np.abs(array) <= _LARGEST).all()) for array in real.values()), "margins that are not finite")
    sizes = {"kinds": nodes, "arities": nodes, "begins": nodes + 1, "pieces": 1, "lines": nodes, "widths": nodes}
    require(all(len(whole[name]) == size for name, size in sizes.items()), "margins of other columns")
    require(all(len(real[name]) == nodes for name in ("slopes", "lowest", "steps")), "margins of other columns")
    pieces = int(whole["pieces"][0])
    require(1 <= pieces <= _MOST_PIECES and bool((real["steps"] > 0.0).all()), "splines that cannot be")
    counts = np.diff(whole["begins"])
    fits = whole["begins"][0] == 0 and whole["begins"][-1] == len(real["values"]) == len(real["scores"])
    require(bool(fits and (counts > 0).all()), "margins of other sizes")
    features, at = [], 0
    for node, own in enumerate(levels):
        arity, kind, width = len(own or ()), int(whole["kinds"][node]), int(whole["widths"][node])
        require(whole["arities"][node] == arity and (kind == NUMBER) == (own is None), "margins of another kind")
        lines = int(whole["lines"][node])
        require(kind in (NUMBER, IN_ORDER, UNORDERED) and 0 <= lines <= width < 2**10, "unknown features")
        require(own is None or counts[node] == arity, "margins of other levels")
        values = real["values"][whole["begins"][node] : whole["begins"][node + 1]]
        require(own is not None or bool((np.diff(values) > 0.0).all()), "quantiles in order")
        rows = pieces + 3 if own is None else arity
        basis = real["bases"][at : at + rows * width]
        require(len(basis) == rows * width, "features of another size")
        at += rows * width
        none = np.zeros(0, dtype=np.int64)
        features.append(Features(none, np.zeros((0, width)), lines, basis.reshape(rows, width)))
    vectors: dict[str, Any] = {name: whole[name] if name in whole else real[name] for name in _VECTORS}
    return Margins(**vectors, pieces=pieces), features
