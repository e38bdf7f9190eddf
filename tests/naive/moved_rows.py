"""What becomes of a row when columns are set: recursively, one column at a time, from the features of its parents."""

from __future__ import annotations

import math

import numpy as np

from dagpost.local.additive import _Regressions
from dagpost.local.curved import CurvedNumber
from dagpost.local.layout import CURVE, PRODUCT, parts_of
from dagpost.local.moved_rows import Asked, People


def spline(position: float, coefficients: np.ndarray) -> float:
    """A cubic spline with evenly spaced knots, by its recursion (de Boor), straight beyond its ends."""
    pieces = len(coefficients) - 3
    inside = min(max(position, 0.0), float(pieces))
    if inside != position:
        step = 1e-6 if position < 0.0 else -1e-6
        slope = (spline(inside + step, coefficients) - spline(inside, coefficients)) / step
        return spline(inside, coefficients) + slope * (position - inside)

    def basis(number: int, degree: int) -> float:
        left = number - 3.0
        if degree == 0:
            last = number - 3 == pieces - 1 and inside == pieces
            return 1.0 if last or (left <= inside < left + 1.0 and left < pieces) else 0.0
        first = (inside - left) / degree * basis(number, degree - 1)
        return first + (left + degree + 1.0 - inside) / degree * basis(number + 1, degree - 1)

    return float(sum(own * basis(number, 3) for number, own in enumerate(coefficients)))


def hermite(degree: int, x: float) -> float:
    """Hermite's polynomial, by its recursion, with variance 1 where x is standard normal."""
    before, now = 0.0, 1.0
    for own in range(degree):
        before, now = now, x * now - own * before
    return now / math.sqrt(math.factorial(degree))


class Rows:
    """The rows of a table with the numbers of all families of one graph."""

    def __init__(
        self,
        fit: _Regressions,
        graph: list[int],
        theta: dict[int, list[np.ndarray]],
        models: dict[int, CurvedNumber],
    ) -> None:
        self.fit, self.graph, self.theta, self.models = fit, graph, theta, models
        everyone = fit._margins
        self.bounds = [(float(low), float(step)) for low, step in zip(everyone.lowest, everyone.steps, strict=True)]

    def score(self, node: int, value: float) -> float:
        """The normal score of a value."""
        margins = self.fit._margins
        begin, end = margins.begins[node], margins.begins[node + 1]
        values, scores = margins.values[begin:end], margins.scores[begin:end]
        if self.fit._levels[node] is not None:
            return float(scores[int(value)])
        beyond = value - min(max(value, values[0]), values[-1])
        return float(np.interp(value, values, scores) + margins.slopes[node] * beyond)

    def predictor(self, node: int, numbers: np.ndarray, row: dict[int, float]) -> float:
        """A regression at the values of a row."""
        fit, total, at = self.fit, float(numbers[0]), 1
        members = [other for other in range(len(self.graph)) if self.graph[node] >> other & 1]
        for part in parts_of(members, fit._margins, fit._features):
            own = numbers[at : at + part.numbers]
            at += part.numbers
            if part.kind != PRODUCT:
                (only,) = part.columns
                low, step = self.bounds[only]
                position = (self.score(only, row[only]) - low) / step
                total += spline(position, own) if part.kind == CURVE else float(own[int(row[only])])
                continue
            levels = part.columns[: len(part.columns) - len(part.degrees[0])]
            arities = [len(fit._levels[column] or ()) for column in levels]
            terms = own.reshape(*arities, len(part.degrees))[tuple(int(row[column]) for column in levels)]
            for coefficient, way in zip(terms, part.degrees, strict=True):
                scores = (
                    min(max(self.score(column, row[column]), -8.0), 8.0) for column in part.columns[len(levels) :]
                )
                term = [hermite(degree, x) for degree, x in zip(way, scores, strict=True)]
                total += math.prod(term, start=float(coefficient))
        return total

    def chances(self, node: int, row: dict[int, float]) -> list[float]:
        """The probability of each level."""
        left, found = 1.0, []
        for numbers in self.theta[node]:
            own = left / (1.0 + math.exp(min(-self.predictor(node, numbers, row), 700.0)))
            found.append(own)
            left -= own
        return [*found, left]

    def moved(self, node: int, own: dict[int, float], row: dict[int, float]) -> float:
        """A number whose parents have changed; `own` is the row that it takes what it has of its own from."""
        model = self.models[node]
        kind, place, unit, centre, spread, least, most = model._moving
        numbers = self.theta[node][-1]
        before, after = self.predictor(node, numbers, own), self.predictor(node, numbers, row)
        there = {0: lambda x: x, 1: lambda x: math.log(x + place), 2: lambda x: math.asinh((x - place) / unit)}
        back = {
            0: lambda y: y,
            1: lambda y: math.exp(min(y, 700.0)) - place,
            2: lambda y: place + unit * math.sinh(min(max(y, -700.0), 700.0)),
        }
        residual = (there[kind](own[node]) - centre) / spread - before
        bins = model._spread.bins
        if bins > 1:
            centres = model._spread.centres[:bins]
            table = model._spread.quantiles[:bins]
            old, new = ([np.interp(at, centres, column) for column in table.T] for at in (before, after))
            low = int(np.clip(np.searchsorted(old[:-1], residual, side="right") - 1, 0, len(old) - 2))
            share = min(max((residual - old[low]) / max(old[low + 1] - old[low], 1e-12), 0.0), 1.0)
            beyond = residual - (old[low] + share * (old[low + 1] - old[low]))
            residual = new[low] + share * (new[low + 1] - new[low]) + beyond
        return min(max(back[kind](centre + spread * (after + residual)), least), most)

    def below(self, node: int) -> set[int]:
        """A node and all that it acts on."""
        found = {node}
        while True:
            more = {other for other, mask in enumerate(self.graph) if any(mask >> own & 1 for own in found)} - found
            if not more:
                return found
            found |= more

    def outcome(self, people: People, number: int, asked: Asked) -> list[float]:
        """What is seen of the outcome."""
        start = dict(enumerate(people.values[:, number].tolist()))
        set_to = {node: value for node, value in enumerate(asked.set_to.tolist()) if not math.isnan(value)}
        cut = Rows(
            self.fit, [0 if node in set_to else mask for node, mask in enumerate(self.graph)], self.theta, self.models
        )
        if asked.mediator >= 0:
            fresh = (number + 1) % people.values.shape[1]
            world = cut._world(people, number, {asked.cause: asked.other}, fresh)
            set_to = {**set_to, asked.mediator: world(asked.mediator)}
        world = cut._world(people, number, set_to, number)
        members = [other for other in range(len(self.graph)) if self.graph[asked.outcome] >> other & 1]
        row = start | {other: world(other) for other in members}
        if not math.isnan(asked.seen):
            row[asked.cause] = asked.seen
        if self.fit._levels[asked.outcome] is not None:
            return self.chances(asked.outcome, row)
        numbers = self.theta[asked.outcome][0]
        step = self.predictor(asked.outcome, numbers, row) - self.predictor(asked.outcome, numbers, start)
        return [start[asked.outcome] + self.models[asked.outcome]._size * step]

    def _world(self, people: People, number: int, set_to: dict[int, float], fresh: int):  # type: ignore[no-untyped-def]
        start, own = (dict(enumerate(people.values[:, row].tolist())) for row in (number, fresh))
        changed = set().union(*(self.below(node) for node in set_to)) if set_to else set()

        def value(node: int) -> float:
            if node in set_to:
                return set_to[node]
            if node not in changed:
                return start[node]
            row = start | {other: value(other) for other in range(len(self.graph)) if self.graph[node] >> other & 1}
            if self.fit._levels[node] is not None:
                running = np.cumsum(self.chances(node, row))[:-1]
                return float((people.uniforms[node, fresh] >= running).sum())
            return self.moved(node, own, row)

        return value
