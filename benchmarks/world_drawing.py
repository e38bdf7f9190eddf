"""A network of columns as people have them, drawn by a recipe: which kinds there are, and how they are related."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from benchmarks.world_columns import (
    CURVED,
    LEAST_CHANCE,
    MONOTONE,
    USUAL,
    Chances,
    Choices,
    Column,
    Floats,
    Levels,
    Number,
    Predictor,
    Relation,
    Steps,
)
from benchmarks.world_networks import Flags, KnownNetwork

#: Rows by which relations and numbers are brought to mean 0 and deviation 1 while a network is drawn.
PILOT = 4_000
#: Columns that act on one column, without hidden ones.
MOST_PARENTS = 4
#: How strongly one column acts on another, in deviations of the noise; of levels in no order, their log odds.
SIZES, OF_CHOICES = (0.35, 1.0), 1.6
#: What parents do by themselves where they act together, as a share of what one alone does.
APART = 0.2
#: How much a driving column changes the spread of what it acts on: deviation of the log.
DRIVEN = 0.8
#: How much likelier (in log odds) the first level of a column that hardly varies is.
RARE = 5.0
#: Columns that a hidden column acts on.
BELOW_HIDDEN = 3
#: Numbers that are shown as levels are cut at these shares of their rows.
CUT_AT = (0.2, 0.45, 0.8)
_NAMES = {"binary": ("no", "yes"), "rare": ("no", "yes"), "nominal": ("red", "blue", "green", "grey")}
_STAGES = ("stage 0", "stage 1", "stage 2", "stage 3", "stage 4")


@dataclass(frozen=True)
class Recipe:
    """What the networks of a world are like.

    `kinds`: what is drawn from for each column. `density`: the chance that a pair is related; None: 1 / (columns - 1),
    half as many edges as columns. `products`: the chance that two parents of a column also act as a product.
    `spreading`: the chance that a parent of a number also acts on the spread of its noise. `strangers`: the share of
    rows in which nothing acts on a number. `hidden`: how many common causes are generated and not shown. `cut`: every
    other number is shown as levels. `together`: what a parent does depends on every other parent, and it does little by
    itself. `driver`: one column acts on the mean and the spread of both ends of a true edge, "told" if whoever fits
    the table knows that nothing acts on it.
    """

    kinds: tuple[str, ...]
    density: float | None = None
    relations: Literal["linear", "monotone", "curved", "any"] = "any"
    noise: tuple[str, ...] = ("normal", "normal", "skewed", "heavy")
    shapes: tuple[str, ...] = USUAL
    products: float = 0.15
    spreading: float = 0.0
    strangers: float = 0.0
    hidden: int = 0
    cut: bool = False
    together: bool = False
    driver: Literal["none", "untold", "told"] = "none"


def draw_network(recipe: Recipe, columns: int, rng: np.random.Generator) -> KnownNetwork:
    """A network of this many columns, and the hidden ones; the columns stand in no order."""
    nodes = columns + recipe.hidden
    order = rng.permutation(nodes)
    hidden = order[: recipe.hidden].tolist()
    edges, kinds = _draw_edges(recipe, order, rng), _draw_kinds(recipe, nodes, rng)
    parents = [tuple(np.flatnonzero(edges[:, node]).tolist()) for node in range(nodes)]
    drawn: dict[int, Column] = {}
    shown, acting = [np.zeros(PILOT)] * nodes, [np.zeros(PILOT)] * nodes
    for node in order.tolist():
        drives = recipe.driver != "none" and node in order[1:3]
        drawing = _Drawing(recipe, parents[node], drawn, acting, rng, int(order[0]) if drives else None)
        column = drawing.number() if kinds[node] == "number" else drawing.levels(kinds[node])
        drawn[node], shown[node] = column, column.draw(acting, PILOT, rng)
        acting[node] = column.act(shown[node])
    numbers = [node for node in range(nodes) if kinds[node] == "number" and node not in hidden]
    cuts = {node: tuple(np.quantile(shown[node], CUT_AT).tolist()) for node in numbers[::2]} if recipe.cut else None
    columns_made = tuple(drawn[node] for node in range(nodes))
    told = (int(order[0]),) if recipe.driver == "told" else ()
    return KnownNetwork(columns_made, tuple(parents), tuple(order.tolist()), tuple(hidden), cuts, told)


def _draw_edges(recipe: Recipe, order: np.ndarray, rng: np.random.Generator) -> Flags:
    """Related pairs by chance; hidden columns come first, have no parents, and act on a few others."""
    nodes, first = len(order), recipe.hidden
    chance = 1 / (nodes - first - 1) if recipe.density is None else recipe.density
    edges = np.zeros((nodes, nodes), dtype=np.bool_)
    for place in range(first, nodes):
        before = order[first:place][rng.random(place - first) < chance]
        edges[rng.permutation(before)[:MOST_PARENTS], order[place]] = True
    for place in range(first):
        edges[order[place], rng.choice(order[first:], BELOW_HIDDEN, replace=False)] = True
    if recipe.driver != "none":
        edges[order[[0, 0, 1]], order[[1, 2, 2]]] = True
    return edges


def _draw_kinds(recipe: Recipe, nodes: int, rng: np.random.Generator) -> list[str]:
    """A kind for each column; numbers and levels both occur if they can."""
    while True:
        kinds = rng.choice(recipe.kinds, nodes).tolist()
        if len({kind == "number" for kind in kinds}) == len({kind == "number" for kind in recipe.kinds}):
            return list(kinds)


class _Drawing:
    """Draws the mechanism of one column, given those that act on it and what a pilot table shows of them."""

    def __init__(
        self,
        recipe: Recipe,
        parents: tuple[int, ...],
        drawn: dict[int, Column],
        acting: list[Floats],
        rng: np.random.Generator,
        driver: int | None = None,
    ) -> None:
        self.recipe, self.parents, self.drawn, self.acting, self.rng = recipe, parents, drawn, acting, rng
        self.driver = driver

    def number(self) -> Number:
        """A column of numbers."""
        recipe, rng = self.recipe, self.rng
        spreading = self._relation(int(rng.choice(self.parents)), 0.5) if self._spreads() else None
        spreading = spreading if self.driver is None else self._relation(self.driver, DRIVEN)
        noise, shape = str(rng.choice(recipe.noise)), str(rng.choice(recipe.shapes))
        column = Number(self._predictor(), noise, shape, spreading, recipe.strangers)
        raw = column.raw(self.acting, PILOT, rng)
        return Number(column.predictor, noise, shape, spreading, recipe.strangers, raw.mean(), raw.std())

    def _spreads(self) -> bool:
        return bool(self.parents) and bool(self.rng.random() < self.recipe.spreading)

    def levels(self, kind: str) -> Column:
        """A column of levels, in one of three ways."""
        rng = self.rng
        ordered = kind == "ordered"
        labels = _STAGES[: rng.integers(3, 6)] if ordered else _NAMES[kind][: rng.integers(3, 5)]
        only_levels = bool(self.parents) and all(isinstance(self.drawn[own], Levels) for own in self.parents)
        if only_levels and kind != "rare" and rng.random() < 0.5:
            arities = tuple(len(self.drawn[own].labels) for own in self.parents)  # type: ignore[union-attr]
            table = rng.dirichlet(np.ones(len(labels)), size=int(np.prod(arities)))
            return Chances(labels, ordered, self.parents, arities, table)
        if ordered:
            predictor = self._predictor()
            raw = predictor(self.acting, PILOT) + rng.normal(size=PILOT)
            shares = np.cumsum(0.4 / len(labels) + 0.6 * rng.dirichlet(np.full(len(labels), 5.0)))[:-1]
            return Steps(labels, ordered, predictor, tuple(np.quantile(raw, shares).tolist()))
        predictors = (Predictor(), *(self._predictor(OF_CHOICES) for _ in labels[1:]))
        base = rng.normal(0, 0.4, len(labels)) + (np.array([RARE, 0.0]) if kind == "rare" else 0.0)
        return Choices(labels, ordered, predictors, tuple(base.tolist()))

    def _predictor(self, factor: float = 1.0) -> Predictor:
        """A relation with each parent, and some products."""
        together = self.recipe.together and len(self.parents) > 1
        sizes = [factor * self.rng.uniform(*SIZES) * (APART if together else 1.0) for _ in self.parents]
        relations = tuple(self._relation(own, size) for own, size in zip(self.parents, sizes, strict=True))
        products = tuple(
            (a, b, factor * self.rng.uniform(*SIZES) / (sizes[a] * sizes[b]))
            for a, b in combinations(range(len(sizes)), 2)
            if self.rng.random() < (1.0 if together else self.recipe.products)
        )
        return Predictor(relations, products)

    def _relation(self, parent: int, size: float) -> Relation:
        """A curve or a figure a level, of either sign."""
        column, rng, curve = self.drawn[parent], self.rng, None
        by_level: tuple[float, ...] = ()
        if isinstance(column, Levels):
            values = rng.uniform(0.2, 1.0, len(column.labels))
            rises = column.ordered and (self.recipe.relations != "any" or rng.random() < 0.5)
            by_level = tuple((values.cumsum() if rises else rng.permutation(values.cumsum())).tolist())
        else:
            curve = self._curve()
        raw = Relation(parent, curve, by_level, 0.0, 1.0)(self.acting)
        sign = rng.choice([-1.0, 1.0])
        return Relation(parent, curve, by_level, float(raw.mean()), float(sign * size / max(raw.std(), LEAST_CHANCE)))

    def _curve(self) -> str:
        kind = self.recipe.relations
        if kind == "any":
            kind = self.rng.choice(["linear", "linear", "monotone", "curved"])
        return str(self.rng.choice({"linear": ("linear",), "monotone": MONOTONE, "curved": CURVED}[kind]))
