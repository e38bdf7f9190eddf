"""A node given its parents on the columns' own scale: regressions with curves and products, and draws of coefficients.

Features (local_columns.py, local_families.py), of n rows. A number among the parents: its normal score z, and natural
cubic splines of z with max(3, 1.2 n^(1/4)) knots, evenly between its 1.5% and 98.5% points, in the basis in which
roughness is a sum of squares, made free of 1 and z and of mean square 1 together. A level: orthonormal contrasts times
the root of 2. Two columns: products of features whose degrees (z 1, freed square 2, freed cube 3, contrast 1) sum to at
most 4; three columns: products of z's and contrasts, where these are at most 12. Prior variances in units of the noise:
intercept 100, lines and contrasts 4; each curve and each block of products its own v by 25 steps of EM,
v = (sum of E[b^2] + 2 * 0.03) / (k + 2) for its k coefficients, from 0.03 on. Without that prior (`firm=0`) curves and
products vanish where data say little, and intervals are too narrow: 90% at 150 rows and, through products, at 30,000.

A number (`NumberModel`), standardised: mode b = A m with A = (X'X + 1/V)^-1, noise s2 = (y'y - m'b + 1) / (n + 2);
covariance A (X' diag(e^2 / (1 - h)^2) X + s2 / V) A, h = leverages; b is drawn with t's tails of n - sum of h degrees.
As the last column of a question: on its own scale, and a mean is a prediction. In between: on the scale (own, log,
log(1 + x), asinh of quartile units) of the largest evidence, 0.5 log|A| - 0.5 log|V| - (n/2 + 1) log s2 + log slope;
values keep their place among quantiles around their prediction (local_noise.py), their spread goes with exp of
a regression of log |e| on the same features where its evidence is better by 3 and no value has 10% of the rows.

Levels (`LevelModel`): logistic regression of each level but the last among rows with none before it, Newton's method
with EM on at most 6,000 rows, then 3 steps on all rows; covariance as above with e = y - p and weights p (1 - p).

Effects: local_effects.py. Seeds for reporting, 95% intervals of effects that are not zero, 150 / 1,000 / 5,000 / 30,000
rows (762 / 786 / 709 / 231 effects): with the graph known 92.4 / 93.3 / 94.2 / 95.7% hold the truth, with the order
known 82.0 / 89.9 / 92.4 / 95.2% (of intervals that do not end at zero 91.7 / 92.9 / 93.9 / 95.2%); conditional
Gaussian, order known, 55.5 / 53.4 / 51.6 / 51.5%. Weakest: number to level with at most 1,000 rows, 88%. The command is
`python -m benchmarks.world_effects --estimator prototype bge conditional-gaussian --known graph order --seeds reported`
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from benchmarks.local_families import Coefficients, Family, Settings, beginning, root, updated
from benchmarks.local_noise import Noise, State
from benchmarks.world_columns import Floats
from scipy.special import expit

#: Rows by which variances of logistic regressions are chosen.
ROWS_FOR_VARIANCES = 6_000
#: Of Newton's method, in log odds.
LONGEST_STEP = 3.0
#: A value that this share of the rows has is no number among others; what the evidence for unequal spread must be.
ATOM, SURE_OF_SPREAD = 0.1, 3.0


class Scale(NamedTuple):
    """A monotone change of scale, its inverse, and the log of its slope."""

    there: Callable[[Floats], Floats]
    back: Callable[[Floats], Floats]
    log_slope: Callable[[Floats], Floats]


def scales_of(column: Floats, names: str) -> list[Scale]:
    """Those that a column can have."""
    found = [Scale(lambda x: x, lambda y: y, np.zeros_like)]
    if "log" in names.split("+") and column.min() > 0:
        found.append(Scale(np.log, np.exp, lambda x: -np.log(x)))
    if "log1p" in names and column.min() == 0:
        found.append(Scale(np.log1p, np.expm1, lambda x: -np.log1p(x)))
    lower, middle, upper = np.quantile(column, [0.25, 0.5, 0.75])
    if "asinh" in names and upper > lower:
        unit = float(upper - lower) / 2
        found.append(
            Scale(
                lambda x: np.arcsinh((x - middle) / unit),
                lambda y: middle + unit * np.sinh(y),
                lambda x: -0.5 * np.log1p(((x - middle) / unit) ** 2) - math.log(unit),
            )
        )
    return found


class NumberModel:
    """A number given its parents."""

    def __init__(
        self, column: Floats, family: Family, features: Floats, settings: Settings, *, own: bool, seed: int
    ) -> None:
        self.family, rows = family, len(column)
        gram = features.T @ features
        best = -math.inf
        for scale in scales_of(column, "own" if own else settings.scales):
            shown = scale.there(column)
            centre, size = shown.mean(), max(float(shown.std()), 1e-300)
            target = (shown - centre) / size
            mode, variances, noise, inverse, evidence = _normal(gram, features.T @ target, rows, family, settings)
            evidence += float(scale.log_slope(column).sum()) - rows * math.log(size)
            if evidence > best:
                best, self.scale, unit = evidence, scale, size
                kept, centre_kept = (target, mode, variances, noise, inverse), centre
        target, mode, variances, noise, inverse = kept
        left = target - features @ mode
        reach = ((features @ inverse) * features).sum(axis=1)
        degrees = max(rows - float(reach.sum()), 3.0)
        covariance = noise * inverse
        if settings.sandwich:
            scaled = features * (left / np.maximum(1 - reach, 0.1))[:, np.newaxis]
            middle = scaled.T @ scaled + np.diag(noise / variances)
            covariance = inverse @ middle @ inverse
        self.posterior = Coefficients(mode * unit, unit * root(covariance), degrees)
        self.noise, self.spread = None, None
        if not own:
            predicted, values = features @ self.posterior.mode, self.scale.there(column) - centre_kept
            if settings.spread and np.bincount(np.unique(column, return_inverse=True)[1]).max() < ATOM * rows:
                self.spread = _spread(values - predicted, gram, features, family, settings)
            self.width = np.ones(rows) if self.spread is None else np.exp(features @ self.spread)
            self.centre = centre_kept
            self.noise = Noise(predicted + (values - predicted) / self.width, predicted, seed, settings.bins)

    def moved(self, column: Floats, state: State | None, change: Floats, columns: Sequence[Floats]) -> Floats:
        """Values whose prediction changes; each stays at its place among those of its prediction."""
        if self.noise is None or state is None:
            return column + change
        shown = self.noise.moved(state, change)
        if self.spread is not None:
            predicted = state.predicted[:, np.newaxis] + change
            width = np.exp(self.family.predicted(columns, self.spread[np.newaxis]))
            shown = predicted + (shown - predicted) * width
        with np.errstate(over="ignore"):
            return self.scale.back(self.centre + shown)


def _spread(left: Floats, gram: Floats, features: Floats, family: Family, settings: Settings) -> Floats | None:
    """Coefficients of the log of the deviation of the noise; None: it seems to be the same everywhere."""
    target = 0.5 * np.log(left**2 + 1e-4 * float((left**2).mean()))
    centre, size = target.mean(), max(float(target.std()), 1e-300)
    rows = len(left)
    scaled = (target - centre) / size
    mode, _, _, _, evidence = _normal(gram, features.T @ scaled, rows, family, settings)
    nothing = -(rows / 2 + 1) * math.log((rows + 1.0) / (rows + 2.0)) - 0.5 * math.log(rows)
    if evidence - nothing < SURE_OF_SPREAD:
        return None
    found = mode * size
    found[0] = 0.0
    return found


def _normal(
    gram: Floats, moments: Floats, rows: int, family: Family, settings: Settings
) -> tuple[Floats, Floats, float, Floats, float]:
    """Mode, variances, variance of the noise, inverse of the penalised gram and log evidence, of a target of size 1."""
    variances, noise = beginning(family, settings), 0.5
    for step in range(settings.steps + 1):
        inverse: Floats = np.linalg.inv(gram + np.diag(1 / variances)).astype(np.float64)
        mode = inverse @ moments
        noise = (rows - float(moments @ mode) + 1.0) / (rows + 2.0)
        if step < settings.steps:
            variances = updated(variances, mode**2 / noise + np.diag(inverse), family, settings)
    _, log_inverse = np.linalg.slogdet(inverse)
    evidence = 0.5 * (log_inverse - np.log(variances).sum()) - (rows / 2 + 1) * math.log(noise)
    return mode, variances, noise, inverse, float(evidence)


class LevelModel:
    """Levels given their parents: of each but the last, whether it is that one, among rows with none before it."""

    def __init__(self, codes: Floats, levels: int, family: Family, features: Floats, settings: Settings) -> None:
        self.family, self.levels = family, levels
        self.stages = []
        for level in range(levels - 1):
            left = codes >= level
            own = _logistic(features[left], (codes[left] == level).astype(np.float64), family, settings)
            self.stages.append(own)

    def draw(self, count: int, rng: np.random.Generator) -> list[Floats]:
        """Coefficients of every stage."""
        return [own.draw(count, rng) for own in self.stages]

    @property
    def modes(self) -> list[Floats]:
        """The most probable coefficients of every stage."""
        return [own.mode[np.newaxis] for own in self.stages]

    def chances(self, columns: Sequence[Floats], stages: Sequence[Floats]) -> list[Floats]:
        """The probability of each level."""
        found, left = [], np.ones(())
        for draws in stages:
            own = expit(self.family.predicted(columns, draws))
            found.append(left * own)
            left = left * (1 - own)
        return [*found, left]


def _near(mode: Floats, wanted: Floats, features: Floats) -> Floats:
    """As much of the way that log odds change little enough for the next step to come closer."""
    step = wanted - mode
    return mode + step * min(1.0, LONGEST_STEP / max(float(np.abs(features @ step).max()), 1e-300))


def _logistic(features: Floats, there: Floats, family: Family, settings: Settings) -> Coefficients:
    """Laplace's approximation; variances by EM on some of the rows."""
    variances, mode = beginning(family, settings), np.zeros(features.shape[1])
    share = float((there.sum() + 0.5) / (len(there) + 1))
    mode[0] = math.log(share / (1 - share))
    every = max(1, len(there) // ROWS_FOR_VARIANCES)
    some, some_there = features[::every], there[::every]
    for step in range(settings.steps):
        if step < 8 or step % 4 == 0:
            chance = expit(some @ mode)
            weight = every * chance * (1 - chance)
            gram = (some * weight[:, np.newaxis]).T @ some
            moments = gram @ mode + every * (some.T @ (some_there - chance))
        inverse = np.linalg.inv(gram + np.diag(1 / variances))
        mode = _near(mode, inverse @ moments, some)
        if step >= 2:
            variances = updated(variances, mode**2 + np.diag(inverse), family, settings)
    for _ in range(3):
        chance = expit(features @ mode)
        gram = (features * (chance * (1 - chance))[:, np.newaxis]).T @ features
        inverse = np.linalg.inv(gram + np.diag(1 / variances))
        mode = _near(mode, inverse @ (gram @ mode + features.T @ (there - chance)), features)
    covariance = inverse
    if settings.level_sandwich:
        chance = expit(features @ mode)
        reach = ((features @ inverse) * features).sum(axis=1) * chance * (1 - chance)
        scaled = features * ((there - chance) / np.maximum(1 - reach, 0.1))[:, np.newaxis]
        covariance = inverse @ (scaled.T @ scaled + np.diag(1 / variances)) @ inverse
    return Coefficients(mode, root(covariance), 1e9)
