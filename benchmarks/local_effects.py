"""Effects by local models: what changes of an outcome, on average over the rows of a table, if a column is set.

Of every row, columns that the cause does not act on stay as they are. A number below the cause moves by the difference
of predictions, its residual kept; a level is drawn by the same uniform number for both values of the cause; of an
outcome of levels its probability is taken. Coefficients are shared between the two.

An effect is the mean over all rows at the most probable coefficients, with Bayesian-bootstrap weights, and the change
that drawn coefficients make to it, which a few rows tell well enough because these rows are the same for all draws.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from benchmarks.local_columns import level_source, number_source
from benchmarks.local_families import Family, Settings, settings_of
from benchmarks.local_noise import State
from benchmarks.local_prototype import LevelModel, NumberModel
from benchmarks.world_columns import Floats

#: The bootstrap of more rows than these is a normal distribution.
MANY_ROWS = 2_000
#: Quantiles of a column without parents, where rows are not kept.
KEPT = 200
Ask = Callable[[str, str, tuple[Any, Any], str | None, np.random.Generator], Floats]


def prototype(frame: pd.DataFrame, names: Sequence[str], graphs: np.ndarray, weights: Floats, text: str) -> Ask:
    """What answers questions about a table, with these graphs (masks of parents)."""
    return _Table(frame, list(names), graphs, weights, settings_of(text)).effect


class People(NamedTuple):
    """Rows of the table, or simulated ones: columns, where numbers are around their prediction, uniform numbers."""

    columns: list[Floats]
    states: dict[int, State]
    uniforms: dict[int, Floats]

    def some(self, rows: np.ndarray) -> People:
        """Some of them."""
        states = {node: State(*(own[rows] for own in state)) for node, state in self.states.items()}
        return People([own[rows] for own in self.columns], states, {k: own[rows] for k, own in self.uniforms.items()})


class _Table:
    def __init__(
        self, frame: pd.DataFrame, names: list[str], graphs: np.ndarray, weights: Floats, settings: Settings
    ) -> None:
        self.names, self.weights, self.settings = names, weights, settings
        self.graphs = [[_members(int(mask)) for mask in graph] for graph in graphs]
        self.labels: list[list[Any] | None] = []
        self.columns, self.sources = [], []
        knots = round(settings.knots * len(frame) ** 0.25)
        for name in names:
            column = frame[name]
            if pd.api.types.is_numeric_dtype(column):
                self.labels.append(None)
                self.columns.append(column.to_numpy(np.float64))
                self.sources.append(number_source(self.columns[-1], knots))
                continue
            category = column.astype("category").cat
            labels = list(category.categories)
            counts = np.bincount(category.codes, minlength=len(labels))
            # Levels that no row has are left out.
            kept = [label for label, count in zip(labels, counts, strict=True) if count]
            codes = (np.cumsum(counts > 0) - 1)[category.codes].astype(np.float64)
            self.labels.append(kept)
            self.columns.append(codes)
            self.sources.append(level_source(len(kept)))
        self.model = cache(self._model)
        self.rows = len(frame)

    def _model(self, child: int, parents: tuple[int, ...], own: bool) -> NumberModel | LevelModel:
        family = Family(parents, self.sources, self.settings.products)
        features = family.rows(self.columns)
        labels = self.labels[child]
        if labels is None:
            return NumberModel(self.columns[child], family, features, self.settings, own=own, seed=child)
        return LevelModel(self.columns[child], len(labels), family, features, self.settings)

    def effect(
        self, cause: str, outcome: str, values: tuple[Any, Any], level: str | None, rng: np.random.Generator
    ) -> Floats:
        """Draws of an effect."""
        x, y = self.names.index(cause), self.names.index(outcome)
        labels, outcome_labels = self.labels[x], self.labels[y]
        set_to = [float(value) if labels is None else float(labels.index(value)) for value in values]
        code = None if outcome_labels is None else outcome_labels.index(level)
        kinds: dict[tuple[tuple[int, tuple[int, ...]], ...], float] = {}
        examples = {}
        for graph, weight in zip(self.graphs, self.weights, strict=True):
            way = _on_the_way(graph, x, y)
            kinds[way] = kinds.get(way, 0.0) + weight
            examples[way] = graph
        share = np.array(list(kinds.values()))
        counts = _rounded(share / share.sum() * self.settings.draws)
        parts = []
        for way, count in zip(kinds, counts, strict=True):
            if count:
                parts.append(
                    self._given(way, examples[way], x, set_to, y, code, count, rng) if way else np.zeros(count)
                )
        return np.concatenate(parts)

    def _given(
        self,
        way: tuple[tuple[int, tuple[int, ...]], ...],
        graph: list[tuple[int, ...]],
        cause: int,
        values: Sequence[float],
        outcome: int,
        code: int | None,
        count: int,
        rng: np.random.Generator,
    ) -> Floats:
        """Draws given the families between cause and outcome, parents first."""
        own_last = bool(self.settings.own_last)
        models = [(node, self.model(node, parents, own_last and node == outcome)) for node, parents in way]
        times = max(1, -(-self.settings.particles // self.rows))
        if all(isinstance(model, NumberModel) or node == outcome for node, model in models):
            times = 1
        if self.settings.rowless:
            people = self._simulated(graph, models, outcome, self.settings.rowless, rng)
            times = 1
        else:
            rows = np.tile(np.arange(self.rows), times)
            states = {
                node: model.noise.of_rows(rows)
                for node, model in models
                if isinstance(model, NumberModel) and model.noise is not None
            }
            uniforms = {node: rng.random((len(rows), 1)) for node, _ in models}
            people = People([column[rows] for column in self.columns], states, uniforms)
        size = len(people.columns[0])
        modes = {
            node: model.posterior.mode[np.newaxis] if isinstance(model, NumberModel) else model.modes
            for node, model in models
        }
        whole = self._contrast(models, cause, values, outcome, code, people, modes)[:, 0]
        each = whole.reshape(times, -1).mean(axis=0)
        if self.rows > MANY_ROWS or self.settings.rowless:
            over_rows = each.mean() + each.std() / np.sqrt(self.rows) * rng.normal(size=count)
        else:
            weights = rng.exponential(size=(count, self.rows))
            over_rows = weights @ each / weights.sum(axis=1)
        some = rng.permutation(size)[: self.settings.particles]
        drawn = {
            node: model.posterior.draw(count, rng) if isinstance(model, NumberModel) else model.draw(count, rng)
            for node, model in models
        }
        changed = self._contrast(models, cause, values, outcome, code, people.some(some), drawn)
        found: Floats = over_rows + changed.mean(axis=0) - whole[some].mean()
        return found

    def _simulated(
        self,
        graph: list[tuple[int, ...]],
        models: list[tuple[int, Any]],
        outcome: int,
        size: int,
        rng: np.random.Generator,
    ) -> People:
        """People as they would be without the table: margins of columns without parents, local models of others."""
        columns = [np.zeros(size)] * len(self.columns)
        states: dict[int, State] = {}
        for node in _in_order(graph):
            column, even = self.columns[node], (rng.permutation(size) + 0.5) / size
            if not graph[node]:
                margin = np.quantile(column, (np.arange(KEPT) + 0.5) / KEPT) if self.labels[node] is None else column
                wanted = even * len(margin)
                columns[node] = np.sort(margin)[wanted.astype(np.int64)]
                continue
            model = self.model(node, graph[node], False)
            ready = [own[:, np.newaxis] for own in columns]
            if isinstance(model, NumberModel):
                assert model.noise is not None
                predicted = model.family.predicted(ready, model.posterior.mode[np.newaxis])[:, 0]
                states[node] = model.noise.drawn(predicted, rng)
                columns[node] = model.moved(columns[node], states[node], np.zeros((size, 1)), ready)[:, 0]
            else:
                reached = np.cumsum(np.array(model.chances(ready, model.modes)[:-1]), axis=0)[:, :, 0]
                columns[node] = (even > reached).sum(axis=0).astype(np.float64)
        states.pop(outcome, None)
        return People(columns, states, {node: rng.random((size, 1)) for node, _ in models})

    def _contrast(
        self,
        models: list[tuple[int, Any]],
        cause: int,
        values: Sequence[float],
        outcome: int,
        code: int | None,
        people: People,
        coefficients: dict[int, Any],
    ) -> Floats:
        """The difference between the two settings, `[particle, draw]`."""
        before = [column[:, np.newaxis] for column in people.columns]
        sides = []
        predicted = {
            node: model.family.predicted(before, coefficients[node])
            for node, model in models
            if isinstance(model, NumberModel)
        }
        for value in values:
            now = list(before)
            now[cause] = np.full((len(before[0]), 1), value)
            for node, model in models:
                if isinstance(model, NumberModel):
                    after = model.family.predicted(now, coefficients[node])
                    now[node] = model.moved(before[node], people.states.get(node), after - predicted[node], now)
                    continue
                chances = model.chances(now, coefficients[node])
                if node == outcome:
                    assert code is not None
                    now[node] = chances[code]
                else:
                    reached = np.cumsum(np.array(chances[:-1]), axis=0)
                    now[node] = (people.uniforms[node] > reached).sum(axis=0).astype(np.float64)
            sides.append(now[outcome])
        return np.asarray(sides[0] - sides[1])


def _members(mask: int) -> tuple[int, ...]:
    return tuple(place for place in range(mask.bit_length()) if mask >> place & 1)


def _in_order(graph: list[tuple[int, ...]]) -> list[int]:
    """The columns, parents first."""
    order: list[int] = []
    left = set(range(len(graph)))
    while left:
        ready = [node for node in left if not left & set(graph[node])]
        order += sorted(ready)
        left -= set(ready)
    return order


def _on_the_way(graph: list[tuple[int, ...]], cause: int, outcome: int) -> tuple[tuple[int, tuple[int, ...]], ...]:
    """The families of the columns between cause and outcome, and of the outcome, parents first; none without a path."""
    below, order = {cause}, _in_order(graph)
    for node in order:
        if node != cause and below & set(graph[node]):
            below.add(node)
    if outcome not in below:
        return ()
    needed = {outcome}
    for node in reversed(order):
        if node in needed and node != cause:
            needed |= set(graph[node])
    return tuple((node, graph[node]) for node in order if node in below & needed and node != cause)


def _rounded(shares: Floats) -> list[int]:
    """Whole numbers near these, with their sum."""
    steps = np.concatenate([[0.0], np.cumsum(shares)])
    found: list[int] = np.diff(np.round(steps)).astype(np.int64).tolist()
    return found
