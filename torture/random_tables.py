"""Random tables with everything that can be asked of a model, and what the oracle is to make of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dagpost import BDe, BDeu, BGe, EdgePrior, GivenOrder, Trees
from torture import oracle
from torture.choices import Choices

NAMES = ("A", "B", "C", "D", "E", "F", "G", "H")
_AVERAGED = (2.0, 10.0, 50.0, 200.0)


@dataclass(frozen=True)
class RandomTable:
    """A table as a user would give it, and the same for the oracle."""

    names: tuple[str, ...]
    columns: tuple[tuple[Any, ...], ...]
    #: The levels of each column that is a pandas category, or None.
    declared: tuple[tuple[Any, ...] | None, ...]
    counts: tuple[int, ...] | None
    settings: tuple[frozenset[int], ...] | None
    missing: str | None
    continuous: bool
    parameters: dict[str, Any] = field(default_factory=dict)
    scores: tuple[oracle.Score, ...] = ()
    prior: str | float = "uniform"
    rules: oracle.Rules = field(default_factory=lambda: oracle.Rules(5))

    @property
    def all_graphs(self) -> bool:
        """Whether the model is about all graphs, and not about trees or one order."""
        return not isinstance(self.parameters.get("method"), GivenOrder | Trees) and not self.rules.one_root

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.columns[0])

    def frame(self) -> pd.DataFrame:
        """The cells as pandas keeps them."""
        made: dict[str, Any] = {}
        for name, cells, levels in zip(self.names, self.columns, self.declared, strict=True):
            series: Any = pd.Series(list(cells), dtype=object) if levels is not None or None in cells else list(cells)
            made[name] = series if levels is None else pd.Categorical(series, categories=list(levels))
        return pd.DataFrame(made)

    def given(self, kind: str, folder: Path) -> Any:
        """The table in one of the forms that dagpost takes."""
        frame = self.frame()
        if kind == "polars":
            import polars

            return polars.from_pandas(frame)
        if kind == "arrow":
            import pyarrow

            return pyarrow.Table.from_pandas(frame)
        if kind == "csv":
            frame.to_csv(folder / "table.csv", index=False)
            return folder / "table.csv"
        return frame

    def kinds(self) -> list[str]:
        """The forms in which this table says the same."""
        plain = all(levels is None for levels in self.declared)
        # What is not declared has to be found anew, and an integer with gaps is a float then.
        kinds = ["pandas"]
        if plain and not any(None in cells for cells in self.columns):
            kinds += ["csv"]
            kinds += [kind for kind, module in (("polars", "polars"), ("arrow", "pyarrow")) if find_spec(module)]
        return kinds

    def extras(self) -> dict[str, Any]:
        """`counts` and `interventions` as `fit` takes them."""
        made: dict[str, Any] = {}
        if self.counts is not None:
            made["counts"] = list(self.counts)
        if self.settings is not None:
            made["interventions"] = [";".join(self.names[node] for node in sorted(set_)) for set_ in self.settings]
        return made

    def permuted_rows(self, order: Sequence[int]) -> RandomTable:
        """The rows in another order; or some of them, or some twice."""
        return replace(
            self,
            columns=tuple(tuple(cells[row] for row in order) for cells in self.columns),
            counts=None if self.counts is None else tuple(self.counts[row] for row in order),
            settings=None if self.settings is None else tuple(self.settings[row] for row in order),
        )

    def permuted_columns(self, order: Sequence[int]) -> RandomTable:
        """The columns in another order, each with its name."""
        place = {old: new for new, old in enumerate(order)}
        settings = None
        if self.settings is not None:
            settings = tuple(frozenset(place[node] for node in set_) for set_ in self.settings)
        return replace(
            self,
            names=tuple(self.names[column] for column in order),
            columns=tuple(self.columns[column] for column in order),
            declared=tuple(self.declared[column] for column in order),
            settings=settings,
        )

    def oracle_rows(self) -> oracle.Rows:
        """The table as the oracle reads it: levels as numbers, gaps dropped or a level of their own."""
        kept = [row for row in range(self.rows) if self.missing != "drop" or None not in self._row(row)]
        coded, levels = [], []
        for cells, declared in zip(self.columns, self.declared, strict=True):
            if self.continuous:
                coded.append([float(cells[row]) for row in kept])
                levels.append(0)
                continue
            known = list(dict.fromkeys(cell for cell in (declared or cells) if cell is not None))
            if None in cells and self.missing == "level":
                known.append(None)
            coded.append([float(known.index(cells[row])) for row in kept])
            levels.append(len(known))
        counts = [1] * self.rows if self.counts is None else self.counts
        settings = [frozenset[int]()] * self.rows if self.settings is None else self.settings
        return oracle.Rows(
            tuple(zip(*coded, strict=True)),
            tuple(levels),
            tuple(counts[row] for row in kept),
            tuple(settings[row] for row in kept),
        )

    def posterior(self) -> oracle.Posterior:
        """What the oracle makes of it."""
        by_order = self.parameters.get("modularity") == "order"
        return oracle.Posterior(self.oracle_rows(), self.scores, self.prior, self.rules, by_order=by_order)

    def tolerance(self, posterior: oracle.Posterior) -> float:
        """How far probabilities may differ by rounding: scores are as large as this, and so are their last digits."""
        usual = 1e-9 + 1e-13 * posterior.largest_score * len(self.names)
        if not self.continuous:
            return usual
        bge: Any = BGe(1.0) if self.parameters["score"] == "bge" else self.parameters["score"]
        settings = (bge.mean_weight, bge.degrees_of_freedom, bge.prior_mean, bge.prior_scale)
        return usual + 1e-15 * oracle.bge_rounding(self.oracle_rows(), *settings)

    def words(self) -> str:
        """The case as a piece of Python, to be tried by hand."""
        frame = {name: list(cells) for name, cells in zip(self.names, self.columns, strict=True)}
        declared = {
            name: list(levels) for name, levels in zip(self.names, self.declared, strict=True) if levels is not None
        }
        return f"DagPosterior(**{self.parameters}).fit({frame}, **{self.extras()})\ndeclared levels: {declared}"

    def _row(self, row: int) -> list[Any]:
        return [cells[row] for cells in self.columns]


def random_table(choices: Choices, *, least: int = 2, most: int = 4) -> RandomTable:
    """A table of a few columns and rows with settings; the simplest is two rows of two columns with BDeu."""
    nodes = choices.integer(least, most)
    rows = choices.pick((2, 3, 5, 10, 20, 40, 1, 80))
    continuous = choices.chance(0.15) and rows > 1
    columns, declared = _numbers(choices, nodes, rows) if continuous else _levels(choices, nodes, rows)
    missing = None
    if not continuous and choices.chance(0.2):
        columns, declared, missing = _with_gaps(choices, columns, declared)
    counts = None
    if choices.chance(0.25):
        # Whether a level that only rows without a count have is there has to be said.
        fewest = 0 if None not in declared else 1
        counts = tuple(max(fewest, choices.pick((1, 2, 3, 0, 17, 1000))) for _ in range(rows))
        counts = (max(counts[0], 1), *counts[1:])
    settings = None
    if choices.chance(0.25):
        settings = tuple(frozenset(choices.some(range(nodes), 0.2)) for _ in range(rows))
    table = RandomTable(NAMES[:nodes], columns, declared, counts, settings, missing, continuous)
    parameters, scores, prior, rules = _random_settings(choices, nodes, continuous)
    if missing is not None:
        parameters["missing"] = missing
    return replace(table, parameters=parameters, scores=scores, prior=prior, rules=rules)


def _levels(choices: Choices, nodes: int, rows: int) -> tuple[Any, Any]:
    """Columns of levels: noisy copies of each other, text, whole numbers, truth values or categories."""
    columns: list[tuple[Any, ...]] = []
    declared: list[tuple[Any, ...] | None] = []
    codes: list[Any] = []
    generator = choices.generator()
    for _ in range(nodes):
        arity = choices.integer(2, 4)
        code = generator.integers(0, arity, rows)
        if codes and choices.chance(0.6):
            copied = generator.random(rows) < choices.pick((0.5, 0.8, 0.95, 1.0))
            code = np.where(copied, codes[choices.integer(0, len(codes) - 1)] % arity, code)
        codes.append(code)
        labels: tuple[Any, ...] = choices.pick(
            (("a", "b", "c", "d"), (0, 1, 2, 3), ("x1", "10", "no", "Ä"), (-1, 7, 2**40, 3))
        )
        if arity == 2 and choices.chance(0.15):
            labels = (False, True)
        cells = tuple(labels[level] for level in code.tolist())
        columns.append(cells)
        needed = len(set(cells)) < 2
        unseen = labels[:arity] + (("unseen",) if isinstance(labels[0], str) and choices.chance(0.3) else ())
        declared.append(unseen if needed or choices.chance(0.4) else None)
    return tuple(columns), tuple(declared)


def _numbers(choices: Choices, nodes: int, rows: int) -> tuple[Any, Any]:
    """Columns of numbers: Gaussian, some of them sums of others, in several units and far from 0 or near it."""
    generator = choices.generator()
    columns: list[Any] = []
    for _ in range(nodes):
        values = generator.normal(size=rows)
        if columns and choices.chance(0.6):
            values = values * choices.pick((1.0, 0.1)) + columns[choices.integer(0, len(columns) - 1)]
        columns.append(values)
    scaled = []
    for values in columns:
        moved = (values + choices.pick((0.0, 3.0, 100.0))) * choices.pick((1.0, 1e-3, 1e4))
        cells = tuple(float(f"{value:.6g}") for value in moved)
        scaled.append(cells if len(set(cells)) > 1 else tuple(float(row) + 0.5 for row in range(rows)))
    return tuple(scaled), (None,) * nodes


def _with_gaps(choices: Choices, columns: Any, declared: Any) -> tuple[Any, Any, str]:
    """Some cells taken out, of columns whose levels are declared, so that they stay what they are."""
    holed, known = [], []
    missing = choices.pick(("drop", "level"))
    for cells, levels in zip(columns, declared, strict=True):
        holes = choices.chance(0.5)
        # The first rows stay whole, so that something is left.
        made = (*cells[:2], *(None if holes and choices.chance(0.15) else cell for cell in cells[2:]))
        holed.append(made)
        distinct = tuple(dict.fromkeys(cells))
        known.append(levels if levels is not None else distinct)
    return tuple(holed), tuple(known), missing


def _random_settings(
    choices: Choices, nodes: int, continuous: bool
) -> tuple[dict[str, Any], tuple[oracle.Score, ...], str | float, oracle.Rules]:
    score, scores = _random_score(choices, nodes, continuous)
    prior: Any = choices.pick(("uniform", "indegree", "edge"))
    asked_prior: Any = prior
    if prior == "edge":
        prior = choices.pick((0.1, 0.5, 0.9, 0.001))
        asked_prior = choices.pick((EdgePrior(prior), f"edge:{prior}"))
    max_parents = choices.pick((5, 2, 1, 3, 0, 12))
    modularity = choices.pick(("structure", "order"))
    order = choices.shuffled(range(nodes))
    parameters: dict[str, Any] = {
        "score": score,
        "prior": asked_prior,
        "modularity": modularity,
        "max_parents": max_parents,
        "threads": 1,
        "samples": choices.pick((200, 1000, 5000)),
        "seed": choices.integer(0, 1000),
        "progress": False,
    }
    rules = oracle.Rules(max_parents)
    if choices.chance(0.4):
        rules = _random_rules(choices, order, max_parents)
        names = [[(NAMES[a], NAMES[b]) for a, b in sorted(edges)] for edges in (rules.required, rules.forbidden)]
        if choices.chance(0.5):
            names[0] = [f"{a} -> {b}" for a, b in names[0]]  # type: ignore[misc]
        parameters |= {"required": names[0], "forbidden": names[1]}
        if rules.tiers:
            parameters["tiers"] = [[NAMES[node] for node in sorted(tier)] for tier in rules.tiers]
    method = choices.pick(("auto", "auto", "exact", "kbest", "weighted", "trees", "given-order"))
    if method == "exact":
        parameters["method"] = "exact-layers" if modularity == "structure" else "dds"
    elif method == "weighted" and modularity == "structure":
        parameters["method"] = choices.pick(("linear-extensions", "iw-dds"))
    elif method == "kbest" and modularity == "structure":
        parameters["method"] = "kbest"
    elif method == "trees" and not parameters.get("required") and modularity == "structure":
        spanning = choices.chance(0.5) and max_parents > 0 and not parameters.get("tiers") and not rules.forbidden
        parameters["method"] = "trees" if spanning else Trees(spanning=False)
        rules = replace(rules, max_parents=min(1, max_parents), one_root=spanning)
    elif method == "given-order" and modularity == "structure":
        place = {node: position for position, node in enumerate(order)}
        backwards = {(a, b) for a in range(nodes) for b in range(nodes) if place[a] > place[b]}
        rules = replace(rules, forbidden=rules.forbidden | backwards)
        parameters["method"] = GivenOrder([NAMES[node] for node in order])
    return parameters, scores, prior, rules


def _random_rules(choices: Choices, order: Sequence[int], max_parents: int) -> oracle.Rules:
    """Rules that some graph obeys: one that fits the order."""
    required: set[tuple[int, int]] = set()
    forbidden: set[tuple[int, int]] = set()
    for child in range(len(order)):
        parents = choices.some(range(child), 0.25)[:max_parents]
        required |= {(order[parent], order[child]) for parent in parents}
        allowed = [node for node in order if node != order[child] and (node, order[child]) not in required]
        forbidden |= {(node, order[child]) for node in choices.some(allowed, 0.2)}
    tiers: tuple[frozenset[int], ...] = ()
    if choices.chance(0.5):
        cut = choices.integer(1, len(order))
        kept = [node for node in order if not choices.chance(0.2)]
        tiers = tuple(part for part in (frozenset(kept[:cut]), frozenset(kept[cut:])) if part)
    return oracle.Rules(max_parents, frozenset(required), frozenset(forbidden), tiers)


def _random_score(choices: Choices, nodes: int, continuous: bool) -> tuple[Any, tuple[oracle.Score, ...]]:
    if continuous:
        if choices.chance(0.5):
            return "bge", (oracle.bge(1.0, None, None, None),)
        weight = choices.pick((1.0, 0.5, 5.0))
        degrees = choices.pick((None, nodes + 2.0, nodes + 10.5))
        mean = choices.pick((None, 0.0, 2.5))
        scale = choices.pick((None, 1.0, 0.25))
        return BGe(weight, degrees, mean, scale), (oracle.bge(weight, degrees, mean, scale),)
    size = choices.pick((1.0, 10.0, 0.1, 100.0, 1e-3))
    kind = choices.pick(("bdeu", "BDeu", "auto", "several", "k2", "bde", "bic"))
    if kind == "bdeu":
        return "bdeu", (oracle.bdeu(1.0),)
    if kind == "BDeu":
        return BDeu(size), (oracle.bdeu(size),)
    if kind == "auto":
        score = choices.pick(("auto", BDeu("average")))
        return score, tuple(oracle.bdeu(size) for size in _AVERAGED)
    if kind == "several":
        sizes = tuple(sorted((1.0, size * 3, 40.0)))
        return BDeu(sizes), tuple(oracle.bdeu(size) for size in sizes)
    if kind == "k2":
        return "k2", (oracle.bde(1.0),)
    if kind == "bde":
        count = choices.pick((0.5, 1.0, 0.01, 30.0))
        return BDe(count), (oracle.bde(count),)
    return "bic", (oracle.bic,)


def close(first: float, second: float, tolerance: float) -> bool:
    """Whether two numbers agree, or are both not there."""
    if math.isnan(first) or math.isnan(second):
        return math.isnan(first) and math.isnan(second)
    return first == second or abs(first - second) <= tolerance
