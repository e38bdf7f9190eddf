"""Which numbers may the missing cells of a row have, given a graph and all other cells? First parameters, then rows.

BGe integrates over the parameters of each family: with `R` of its formula (bge.py) over a node `i` and its parents `P`,
`m` the posterior mean, `w` degrees of freedom, `n` columns and `N` rows in which the node was not set,

    s^2       ~  R_ii.P / chi^2 with w + N - n + |P| + 1 degrees of freedom,   R_ii.P what the parents leave of R at i
    b         ~  N(R_PP^-1 R_Pi, s^2 R_PP^-1)                                  the coefficients of the parents
    a         ~  N(m_i - b' m_P, s^2 / (u + N))                                the intercept

(Geiger & Heckerman 2002). They are drawn from this posterior given the completed table, and the missing cells of each
row then jointly, given its other cells and the parameters: these are least squares of the residuals of all families
that they touch, divided by `s`, with normal errors. What is solved is the matrix of the coefficients itself, by
orthogonal columns, and not its square, so that columns that nearly determine each other do no harm. Rows with the same
gaps share it.

Columns are centred at their observed means and divided by the deviations of the prior. Time of a round: rows times the
square of the columns for `R`; for every pattern of `g` gaps that touch `f` families `f g^2`, and for every row `f g`.
"""

from __future__ import annotations

import math
import queue
from typing import NamedTuple

import numpy as np

from dagpost._tools.arrays import Flags, Floats, Integers
from dagpost._tools.kernels import inline_no_refcount, kernel
from dagpost.data.table import Table
from dagpost.families.considered_sets import Members
from dagpost.scores.cholesky import draw_regression, factorise
from dagpost.scores.columns import check_written_out
from dagpost.scores.family_counts import list_families
from dagpost.scores.parameter_priors import NormalWishartPrior, standard_deviations
from dagpost.scores.set_functions import runs_of


class GapPatterns(NamedTuple):
    """Incomplete rows by their gaps and by the nodes that were set in them.

    Pattern `k` has the rows from `rows[k]` to `rows[k + 1]`, with gaps in `columns[gaps[k]:gaps[k + 1]]`; the families
    of nodes with `counted[k]` say something about them.
    """

    rows: Integers
    gaps: Integers
    columns: Integers
    counted: Flags


class Sums(NamedTuple):
    """What complete rows add to the moments of nodes that count the same rows, and which incomplete rows count."""

    weight: float
    first: Floats
    second: Floats
    rows: Integers | None


class Families(NamedTuple):
    """The families of a graph, the node itself last, and their parameters; `spread` is the deviation `s`."""

    members: Integers
    sizes: Integers
    starts: Integers
    lists: Integers
    intercept: Floats
    coefficients: Floats
    spread: Floats


class Work(NamedTuple):
    """What a pattern needs: the place of each gap, the families that they touch, and orthogonal columns."""

    place_of: Integers
    touched: Integers
    seen: Integers
    columns: Floats
    triangle: Floats
    residuals: Floats
    solution: Floats
    cholesky: Floats


class GaussianCompleter:
    """Draws missing cells given a graph, under the posterior of BGe (base.Completer)."""

    def __init__(self, prior: NormalWishartPrior, table: Table) -> None:
        check_written_out(table)
        nodes = len(table.names)
        self._prior, self._weights = prior, table.weights.astype(np.float64)
        self._spare, self._scale = prior.spare(nodes), prior.scale(nodes)
        self._data, self._gaps = observed_values(table)
        self._centre, found = observed_moments(table)
        self._unit = prior.deviations(table.names, found)
        mean = prior.mean(table.names, self._centre[np.newaxis], np.ones(1))
        self._mean = (mean - self._centre) / self._unit
        runs, counted = runs_of(table.interventions, nodes), np.ones((table.rows, nodes), dtype=np.bool_)
        self._group = np.zeros(nodes, dtype=np.int64)
        for number, run in enumerate(runs):
            self._group[list(run.nodes)] = number
            if run.observed is not None:
                counted[:, list(run.nodes)] = run.observed[:, np.newaxis]
        order = self._group_rows(counted)
        standard = (self._data - self._centre) / self._unit
        self._rows = standard[order]
        self._sums = [self._complete_sums(standard, run.observed, order) for run in runs]
        self._pool: queue.SimpleQueue[tuple[Floats, Families, Work]] = queue.SimpleQueue()

    def _group_rows(self, counted: Flags) -> Integers:
        """Incomplete rows in the order of their patterns; where the cells stand among them."""
        gaps = self._gaps
        incomplete = np.flatnonzero(gaps.any(axis=1))
        alike = np.hstack([gaps[incomplete], counted[incomplete]])
        patterns, which = np.unique(alike, axis=0, return_inverse=True)
        patterns, which = patterns.reshape(-1, alike.shape[1]), which.ravel()
        nodes, order = gaps.shape[1], incomplete[np.argsort(which, kind="stable")]
        missing = patterns[:, :nodes]
        self._patterns = GapPatterns(
            rows=np.searchsorted(np.sort(which), np.arange(len(patterns) + 1)).astype(np.int64),
            gaps=np.concatenate([[0], np.cumsum(missing.sum(axis=1))]).astype(np.int64),
            columns=np.nonzero(missing)[1].astype(np.int64),
            counted=np.ascontiguousarray(patterns[:, nodes:]),
        )
        place = np.zeros(len(gaps), dtype=np.int64)
        place[order] = np.arange(len(order))
        columns, rows = np.nonzero(gaps.T)
        self._cell_rows, self._cell_columns = place[rows], columns
        return order

    def _complete_sums(self, standard: Floats, observed: Flags | None, order: Integers) -> Sums:
        """The moments of the complete rows, which no round changes."""
        used = ~np.isin(np.arange(len(standard)), order)
        rows = None
        if observed is not None:
            used &= observed
            rows = np.flatnonzero(observed[order])
        data, weights = standard[used], self._weights[used]
        incomplete = len(order) if rows is None else len(rows)
        return Sums(float(weights.sum()) + incomplete, weights @ data, (data * weights[:, np.newaxis]).T @ data, rows)

    def begin(self, generator: np.random.Generator) -> Floats:
        """Each cell drawn from the observed values of its column; the prior mean, where none was observed."""
        drawn = []
        for column, gaps in enumerate(self._gaps.T):
            own = self._data[:, column]
            drawn.append(random_numbers(own, gaps, self._weights, float(self._centre[column]), generator))
        return np.concatenate(drawn)

    def redraw(self, cells: Floats, families: Members, generator: np.random.Generator, cancel: Integers) -> None:
        """One round: parameters given all cells, then all cells given the parameters, in place."""
        rows, graph, work = self._scratch(families)
        self._put(cells, rows)
        self._draw_parameters(rows, families, graph, work, generator)
        normals = generator.standard_normal(len(cells))
        _draw_rows(self._patterns, graph, rows, normals, work, cancel)
        self._take(cells, rows)
        self._pool.put((rows, graph, work))

    def _put(self, cells: Floats, rows: Floats) -> None:
        """Write the cells into the incomplete rows, standardised."""
        columns = self._cell_columns
        rows[self._cell_rows, columns] = (cells - self._centre[columns]) / self._unit[columns]

    def _take(self, cells: Floats, rows: Floats) -> None:
        """Read the cells out of the incomplete rows, in their own units."""
        columns = self._cell_columns
        cells[:] = rows[self._cell_rows, columns] * self._unit[columns] + self._centre[columns]

    def _draw_parameters(
        self, rows: Floats, families: Members, graph: Families, work: Work, generator: np.random.Generator
    ) -> None:
        """Parameters of every family, from their posterior given the completed table."""
        weight, columns = self._prior.mean_weight, len(self._mean)
        floors = np.full(columns, self._scale)
        weights = np.array([sums.weight + weight for sums in self._sums])
        means, matrices = np.empty((len(weights), columns)), np.empty((len(weights), columns, columns))
        for group, sums in enumerate(self._sums):
            own = rows if sums.rows is None else rows[sums.rows]
            means[group] = (weight * self._mean + sums.first + own.sum(axis=0)) / weights[group]
            # Around the posterior mean: that of the rows and that of the prior are both in it.
            moments = sums.second + own.T @ own + weight * np.outer(self._mean, self._mean)
            matrices[group] = np.diag(floors) + moments - weights[group] * np.outer(means[group], means[group])
        parents = (families < columns).sum(axis=1)
        observations = weights[self._group[: len(families)]] - weight
        squares = generator.chisquare(self._spare + observations + parents + 2)
        normals = generator.standard_normal((len(families), families.shape[1] + 1))
        _draw_families(families, self._group, means, matrices, weights, floors, squares, normals, graph, work)

    def _scratch(self, families: Members) -> tuple[Floats, Families, Work]:
        """Working memory that no other thread uses, with room for such families."""
        nodes, members, columns = len(families), families.shape[1] + 1, len(self._unit)
        try:
            rows, graph, work = self._pool.get_nowait()
            if graph.members.shape == (nodes, members):
                return rows, graph, work
        except queue.Empty:
            rows = self._rows.copy(order="K")
        graph = Families(
            members=np.zeros((nodes, members), dtype=np.int64),
            sizes=np.zeros(nodes, dtype=np.int64),
            starts=np.zeros(columns + 1, dtype=np.int64),
            lists=np.zeros(nodes * members, dtype=np.int64),
            intercept=np.zeros(nodes),
            coefficients=np.zeros((nodes, members)),
            spread=np.zeros(nodes),
        )
        work = Work(
            place_of=np.full(columns, -1, dtype=np.int64),
            touched=np.zeros(nodes, dtype=np.int64),
            seen=np.full(nodes, -1, dtype=np.int64),
            columns=np.zeros((columns, nodes)),
            triangle=np.zeros((columns, columns)),
            residuals=np.zeros(nodes),
            solution=np.zeros(columns),
            cholesky=np.zeros((members, members)),
        )
        return rows, graph, work


def random_numbers(
    column: Floats, gaps: Flags, weights: Floats, otherwise: float, generator: np.random.Generator
) -> Floats:
    """A number for each gap of a column, drawn from the observed ones; `otherwise`, where none was observed."""
    uniforms, known = generator.random(int(gaps.sum())), np.flatnonzero(~gaps & (weights > 0))
    if not len(known):
        return np.full(len(uniforms), otherwise)
    chances = np.cumsum(weights[known])
    chosen = np.searchsorted(chances, uniforms * chances[-1], side="right").clip(max=len(known) - 1)
    drawn: Floats = column[known[chosen]]
    return drawn


def observed_values(table: Table) -> tuple[Floats, Flags]:
    """The values (rows, columns), nan in the gaps, and where those are."""
    data = table.filled(np.zeros(table.gap_count)).values()
    gaps = np.zeros(data.shape, dtype=np.bool_) if table.gaps is None else np.ascontiguousarray(table.gaps.T)
    data[gaps] = math.nan
    return data, gaps


def observed_moments(table: Table) -> tuple[Floats, Floats]:
    """Mean and standard deviation of what was observed of each column: 0 and 1, if nothing was."""
    data, gaps = observed_values(table)
    weights = table.weights.astype(np.float64)
    means, deviations = np.zeros(data.shape[1]), np.ones(data.shape[1])
    for column in range(data.shape[1]):
        known = ~gaps[:, column] & (weights > 0)
        if known.any():
            own = data[known, column : column + 1]
            means[column] = np.average(own[:, 0], weights=weights[known])
            deviations[column] = standard_deviations(own, weights[known])[0]
    return means, deviations


@kernel
def _draw_families(
    families: Members,
    group_of: Integers,
    means: Floats,
    matrices: Floats,
    weights: Floats,
    floors: Floats,
    squares: Floats,
    normals: Floats,
    graph: Families,
    work: Work,
) -> None:
    """Lists of the families, and a draw of their parameters; no pivot is below the floor of its column."""
    columns, cholesky = means.shape[1], work.cholesky
    for node in range(len(families)):
        members, size = graph.members[node], 0
        for place in range(families.shape[1]):
            if families[node, place] < columns:
                members[size] = families[node, place]
                size += 1
        members[size] = node
        graph.sizes[node] = size + 1
        group = group_of[node]
        factorise(matrices[group], members, size + 1, floors, cholesky)
        graph.intercept[node], graph.spread[node] = draw_regression(
            members, size, cholesky, means[group], weights[group], squares[node], normals[node],
            graph.coefficients[node],
        )  # fmt: skip
    list_families(graph.members, graph.sizes, graph.starts, graph.lists)


@kernel
def _draw_rows(
    patterns: GapPatterns, graph: Families, rows: Floats, normals: Floats, work: Work, cancel: Integers
) -> None:
    """Draw the missing cells of every row jointly, given its other cells and the parameters."""
    used = 0
    for node in range(len(work.seen)):
        work.seen[node] = -1
    for pattern in range(len(patterns.rows) - 1):
        if cancel[0] != 0:
            return
        first = patterns.gaps[pattern]
        gaps = patterns.gaps[pattern + 1] - first
        touched = 0
        for place in range(gaps):
            column = patterns.columns[first + place]
            work.place_of[column] = place
            for entry in range(graph.starts[column], graph.starts[column + 1]):
                node = graph.lists[entry]
                if work.seen[node] != pattern and patterns.counted[pattern, node]:
                    work.seen[node] = pattern
                    work.touched[touched] = node
                    touched += 1
        _orthogonalise(gaps, touched, graph, work)
        for row in range(patterns.rows[pattern], patterns.rows[pattern + 1]):
            _draw_row(gaps, touched, patterns.columns[first : first + gaps], graph, rows[row], normals, used, work)
            used += gaps
        for place in range(gaps):
            work.place_of[patterns.columns[first + place]] = -1


@inline_no_refcount
def _orthogonalise(gaps: int, touched: int, graph: Families, work: Work) -> None:
    """Coefficients of the gaps in each family, divided by its deviation, as orthonormal columns times a triangle."""
    for gap in range(gaps):
        for place in range(touched):
            work.columns[gap, place] = 0.0
    for place in range(touched):
        node = work.touched[place]
        last = graph.sizes[node] - 1
        for member in range(last + 1):
            gap = work.place_of[graph.members[node, member]]
            if gap >= 0:
                coefficient = 1.0 if member == last else -graph.coefficients[node, member]
                work.columns[gap, place] = coefficient / graph.spread[node]
    _orthonormalise(gaps, touched, work.columns, work.triangle)


@inline_no_refcount
def _orthonormalise(count: int, length: int, columns: Floats, triangle: Floats) -> None:
    """Make the first columns, each of some `length`, orthonormal; `triangle` gets what they were made of."""
    for gap in range(count):
        column = columns[gap]
        for before in range(gap):
            triangle[before, gap] = 0.0
        # Twice, which is enough: what rounding leaves of the earlier columns goes the second time.
        for _ in range(2):
            for before in range(gap):
                earlier = columns[before]
                share = 0.0
                for place in range(length):
                    share += earlier[place] * column[place]
                triangle[before, gap] += share
                for place in range(length):
                    column[place] -= share * earlier[place]
        square = 0.0
        for place in range(length):
            square += column[place] * column[place]
        triangle[gap, gap] = math.sqrt(square)
        for place in range(length):
            column[place] /= triangle[gap, gap]


@inline_no_refcount
def _draw_row(
    gaps: int, touched: int, columns: Integers, graph: Families, row: Floats, normals: Floats, used: int, work: Work
) -> None:
    """Least squares of the residuals of a row, with normal errors."""
    for place in range(touched):
        node = work.touched[place]
        last = graph.sizes[node] - 1
        target = graph.intercept[node]
        if work.place_of[node] < 0:
            target -= row[node]
        for member in range(last):
            column = graph.members[node, member]
            if work.place_of[column] < 0:
                target += graph.coefficients[node, member] * row[column]
        work.residuals[place] = target / graph.spread[node]
    for gap in range(gaps):
        value = normals[used + gap]
        for place in range(touched):
            value += work.columns[gap, place] * work.residuals[place]
        work.solution[gap] = value
    for gap in range(gaps - 1, -1, -1):
        value = work.solution[gap]
        for later in range(gap + 1, gaps):
            value -= work.triangle[gap, later] * work.solution[later]
        work.solution[gap] = value / work.triangle[gap, gap]
        row[columns[gap]] = work.solution[gap]
