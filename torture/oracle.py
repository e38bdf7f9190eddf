"""The posterior of a small table by brute force: every graph, every order, in plain Python.

Written from docs/mathematics.md and docs/scores.md, with nothing of dagpost and nothing of NumPy, so that the two share
no mistake but those of the page. Determinants are exact fractions. Up to 4 columns (543 graphs) an answer takes about a
millisecond, with 5 (29,281 graphs) a tenth of a second.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from itertools import combinations, permutations, product

Parents = frozenset[int]
Graph = tuple[Parents, ...]
Family = tuple[int, Parents]


@dataclass(frozen=True)
class Rows:
    """A table without gaps. `levels` are the numbers of levels, of columns of numbers nothing is asked."""

    cells: tuple[tuple[float, ...], ...]
    levels: tuple[int, ...]
    counts: tuple[int, ...]
    settings: tuple[frozenset[int], ...]

    @property
    def columns(self) -> int:
        """The number of columns."""
        return len(self.levels)

    def heeded(self, node: int) -> list[tuple[tuple[float, ...], int]]:
        """The rows in which a column was not set from outside, each with its count."""
        rows = zip(self.cells, self.counts, self.settings, strict=True)
        return [(cells, count) for cells, count, settings in rows if node not in settings and count]


Score = Callable[[Rows, int, Parents], float]


@lru_cache
def subsets(members: Parents) -> tuple[Parents, ...]:
    """All subsets of a set."""
    sizes = range(len(members) + 1)
    return tuple(frozenset(chosen) for size in sizes for chosen in combinations(sorted(members), size))


@lru_cache
def graphs(nodes: int) -> tuple[Graph, ...]:
    """Every directed graph without a cycle."""
    choices = [subsets(frozenset(range(nodes)) - {node}) for node in range(nodes)]
    return tuple(graph for graph in product(*choices) if acyclic(graph))


def acyclic(graph: Graph) -> bool:
    """Whether sources can be taken away until nothing is left."""
    left = set(range(len(graph)))
    while left:
        sources = {node for node in left if not graph[node] & left}
        if not sources:
            return False
        left -= sources
    return True


@cache
def orders(graph: Graph) -> int:
    """In how many orders of the nodes no arrow of the graph points backwards."""
    found = 0
    for order in permutations(range(len(graph))):
        place = {node: position for position, node in enumerate(order)}
        found += all(place[parent] < place[node] for node, parents in enumerate(graph) for parent in parents)
    return found


def _cells_of(rows: Rows, node: int, parents: Parents) -> tuple[dict[tuple[float, ...], dict[float, int]], int]:
    """The counts of each level in each configuration of the parents that occurs, and how many configurations can."""
    found: dict[tuple[float, ...], dict[float, int]] = {}
    members = sorted(parents)
    for cells, count in rows.heeded(node):
        levels = found.setdefault(tuple(cells[parent] for parent in members), {})
        levels[cells[node]] = levels.get(cells[node], 0) + count
    return found, math.prod(rows.levels[parent] for parent in members)


def _dirichlet(rows: Rows, node: int, parents: Parents, parameter: float) -> float:
    together = parameter * rows.levels[node]
    terms = []
    for levels in _cells_of(rows, node, parents)[0].values():
        terms += [math.lgamma(together), -math.lgamma(together + sum(levels.values()))]
        for count in levels.values():
            terms += [math.lgamma(parameter + count), -math.lgamma(parameter)]
    return math.fsum(terms)


def bde(pseudocount: float) -> Score:
    """The same Dirichlet parameter in every cell; K2 is that with 1."""
    return lambda rows, node, parents: _dirichlet(rows, node, parents, pseudocount)


def bdeu(size: float) -> Score:
    """An equivalent sample size, spread over the cells of the family."""

    def score(rows: Rows, node: int, parents: Parents) -> float:
        configurations = _cells_of(rows, node, parents)[1]
        return _dirichlet(rows, node, parents, size / (configurations * rows.levels[node]))

    return score


def bic(rows: Rows, node: int, parents: Parents) -> float:
    """The largest log likelihood, less half a log of the observations for each parameter."""
    found, configurations = _cells_of(rows, node, parents)
    observations = sum(count for _, count in rows.heeded(node))
    likelihood = math.fsum(
        count * math.log(count / sum(levels.values())) for levels in found.values() for count in levels.values()
    )
    if not observations:
        return 0.0
    return likelihood - math.log(observations) / 2 * (rows.levels[node] - 1) * configurations


def bge(mean_weight: float, degrees: float | None, mean: float | None, scale: float | None) -> Score:
    """A Gaussian network; the prior mean and scale are those of the columns unless they are given."""

    def score(rows: Rows, node: int, parents: Parents) -> float:
        heeded = rows.heeded(node)
        with_node = _gaussian(rows, heeded, sorted(parents | {node}), mean_weight, degrees, mean, scale)
        return with_node - _gaussian(rows, heeded, sorted(parents), mean_weight, degrees, mean, scale)

    return score


def bge_rounding(
    rows: Rows, mean_weight: float, degrees: float | None, mean: float | None, scale: float | None
) -> float:
    """By how much rounding errors of a score grow: its determinants may be what is left of far larger products."""
    members, largest = range(rows.columns), 1.0
    for heeded in (rows.heeded(node) for node in members):
        _, matrix = _matrices(rows, heeded, members, mean_weight, degrees, mean, scale)
        product_of_all = math.prod((matrix[place][place] for place in members), start=Fraction(1))
        total = sum(count for _, count in heeded)
        largest = max(largest, float(product_of_all / determinant(matrix)) * (total + rows.columns))
    return largest


def _gaussian(
    rows: Rows,
    heeded: Sequence[tuple[tuple[float, ...], int]],
    members: Sequence[int],
    mean_weight: float,
    degrees: float | None,
    mean: float | None,
    scale: float | None,
) -> float:
    """Log p(Y) of some of the columns: the formula of the page, with exact determinants."""
    nodes, size = rows.columns, len(members)
    freedom = nodes + mean_weight + 1 if degrees is None else degrees
    total = sum(count for _, count in heeded)
    half = (freedom - nodes + size) / 2
    prior, matrix = _matrices(rows, heeded, members, mean_weight, degrees, mean, scale)
    result = size / 2 * math.log(mean_weight / (total + mean_weight)) - size * total / 2 * math.log(math.pi)
    for step in range(size):
        result += math.lgamma(half + total / 2 - step / 2) - math.lgamma(half - step / 2)
    return result + half * _log(math.prod(prior, start=Fraction(1))) - (half + total / 2) * _log(determinant(matrix))


def _matrices(
    rows: Rows,
    heeded: Sequence[tuple[tuple[float, ...], int]],
    members: Sequence[int],
    mean_weight: float,
    degrees: float | None,
    mean: float | None,
    scale: float | None,
) -> tuple[list[Fraction], list[list[Fraction]]]:
    """The prior scale of each column, and the matrix after the data."""
    nodes, size, total = rows.columns, len(members), sum(count for _, count in heeded)
    freedom = nodes + mean_weight + 1 if degrees is None else degrees
    factor = Fraction(mean_weight) * (Fraction(freedom) - nodes - 1) / (Fraction(mean_weight) + 1)
    everything = [(cells, count) for cells, count in zip(rows.cells, rows.counts, strict=True) if count]
    prior_means = [_mean(everything, column) if mean is None else Fraction(mean) for column in members]
    prior = [factor * (_variance(everything, column) if scale is None else Fraction(scale) ** 2) for column in members]
    matrix = [[prior[row] if row == column else Fraction(0) for column in range(size)] for row in range(size)]
    if total:
        means = [_mean(heeded, column) for column in members]
        weight = total * Fraction(mean_weight) / (total + Fraction(mean_weight))
        for row, column in product(range(size), repeat=2):
            for cells, count in heeded:
                first, second = Fraction(cells[members[row]]), Fraction(cells[members[column]])
                matrix[row][column] += count * (first - means[row]) * (second - means[column])
            distance = (means[row] - prior_means[row]) * (means[column] - prior_means[column])
            matrix[row][column] += weight * distance
    return prior, matrix


def _mean(rows: Sequence[tuple[tuple[float, ...], int]], column: int) -> Fraction:
    total = sum(count for _, count in rows)
    return sum((Fraction(cells[column]) * count for cells, count in rows), start=Fraction(0)) / total


def _variance(rows: Sequence[tuple[tuple[float, ...], int]], column: int) -> Fraction:
    """The square of the standard deviation; a column that does not vary has the unit 1."""
    mean = _mean(rows, column)
    squares = sum((count * (Fraction(cells[column]) - mean) ** 2 for cells, count in rows), start=Fraction(0))
    return squares / max(sum(count for _, count in rows) - 1, 1) if squares else Fraction(1)


def determinant(matrix: Sequence[Sequence[Fraction]]) -> Fraction:
    """By the first row."""
    if not matrix:
        return Fraction(1)
    result = Fraction(0)
    for column, entry in enumerate(matrix[0]):
        smaller = [[*row[:column], *row[column + 1 :]] for row in matrix[1:]]
        result += (-1) ** column * entry * determinant(smaller)
    return result


def _log(number: Fraction) -> float:
    """The log of a fraction whose numerator and denominator may be out of the range of floats."""
    return math.log(number.numerator) - math.log(number.denominator)


def log_prior(prior: str | float, columns: int, size: int) -> float:
    """The log weight of a set of parents: "uniform", "indegree", or the probability of an edge."""
    if prior == "uniform":
        return 0.0
    if prior == "indegree":
        return -math.log(math.comb(columns - 1, size))
    assert isinstance(prior, float)
    return size * math.log(prior) + (columns - 1 - size) * math.log(1 - prior)


@dataclass(frozen=True)
class Rules:
    """What rules parent sets out: too many parents, edges that must be there, edges that must not, tiers."""

    max_parents: int
    required: frozenset[tuple[int, int]] = frozenset()
    forbidden: frozenset[tuple[int, int]] = frozenset()
    tiers: tuple[frozenset[int], ...] = ()
    #: Whether there is just one node without parents.
    one_root: bool = False

    def allow(self, node: int, parents: Parents) -> bool:
        """Whether a node may have these parents."""
        if len(parents) > self.max_parents:
            return False
        if any(child == node and parent not in parents for parent, child in self.required):
            return False
        if any((parent, node) in self.forbidden for parent in parents):
            return False
        tier = {member: number for number, members in enumerate(self.tiers) for member in members}
        return not any(parent in tier and node in tier and tier[parent] > tier[node] for parent in parents)


def log_sum(logs: Sequence[float]) -> float:
    """The log of a sum of exponentials."""
    largest = max(logs, default=-math.inf)
    if largest == -math.inf:
        return largest
    return largest + math.log(math.fsum(math.exp(value - largest) for value in logs))


class Posterior:
    """Every graph of a table with its weight: the sum over the settings of the score that are averaged over."""

    def __init__(
        self, rows: Rows, scores: Sequence[Score], prior: str | float, rules: Rules, *, by_order: bool = False
    ) -> None:
        self.rows, self.rules, self.columns = rows, rules, rows.columns
        self.largest_score = 0.0
        self._families = [self._weigh(score, prior) for score in scores]
        mixture = -math.log(len(scores))
        #: The log weight of each graph that the rules allow, each counted once.
        self.log_joints: dict[Graph, float] = {}
        #: The number of each such graph in `graphs(columns)`, and its log weight, as the posterior counts it.
        self._numbered: dict[int, float] = {}
        each: list[list[float]] = [[] for _ in scores]
        for number, graph in enumerate(graphs(self.columns)):
            weights = [self._log_weight(families, graph) for families in self._families]
            if weights[0] == -math.inf or (rules.one_root and sum(not parents for parents in graph) != 1):
                continue
            for total, weight in zip(each, weights, strict=True):
                total.append(weight + (math.log(orders(graph)) if by_order else 0.0))
            self.log_joints[graph] = mixture + log_sum(weights)
            self._numbered[number] = self.log_joints[graph] + (math.log(orders(graph)) if by_order else 0.0)
        self.log_evidence = log_sum(list(self._numbered.values()))
        evidences = [log_sum(total) for total in each]
        #: How probable each setting of the score is, given the data.
        self.mixture = [math.exp(evidence + mixture - self.log_evidence) for evidence in evidences]
        self.probabilities = {number: math.exp(log - self.log_evidence) for number, log in self._numbered.items()}

    def _weigh(self, score: Score, prior: str | float) -> dict[Family, float]:
        found: dict[Family, float] = {}
        for node in range(self.columns):
            for parents in subsets(frozenset(range(self.columns)) - {node}):
                if self.rules.allow(node, parents):
                    value = score(self.rows, node, parents)
                    self.largest_score = max(self.largest_score, abs(value))
                    found[node, parents] = value + log_prior(prior, self.columns, len(parents))
        return found

    @staticmethod
    def _log_weight(families: Mapping[Family, float], graph: Graph) -> float:
        return math.fsum(families.get((node, parents), -math.inf) for node, parents in enumerate(graph))

    def probability(self, truth: int) -> float:
        """The weight of the graphs whose bit is set, as a part of the whole."""
        return math.fsum(weight for number, weight in self.probabilities.items() if truth >> number & 1)

    def edge(self, parent: int, child: int) -> float:
        """How probable an edge is."""
        every = graphs(self.columns)
        return math.fsum(weight for number, weight in self.probabilities.items() if parent in every[number][child])

    def families(self, node: int) -> dict[Parents, float]:
        """How probable every set of parents of a node is that the rules allow."""
        every = graphs(self.columns)
        found = {parents: [0.0] for child, parents in self._families[0] if child == node}
        for number, weight in self.probabilities.items():
            found[every[number][node]].append(weight)
        return {parents: math.fsum(weights) for parents, weights in found.items()}
