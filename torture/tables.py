"""Random tables and settings against the brute-force oracle, and against themselves in another form."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dagpost import DagPosterior, DagpostWarning
from torture import oracle
from torture.campaign import Campaign, Defect, require
from torture.choices import Choices
from torture.random_tables import RandomTable, close, random_table
from torture.statements import random_statement, text, truth


@contextmanager
def described(words: str) -> Iterator[None]:
    """Put a description of the case into whatever goes wrong."""
    try:
        yield
    except Defect as defect:
        raise Defect(f"{defect}\n{words}") from None
    except Exception as error:
        error.add_note(words)
        raise


def run_case(seed: int, folder: Path) -> int:
    """One table: evidence, edges, families, paths, best graphs, statements, and an invariance."""
    choices = Choices(seed)
    small = choices.chance(0.93)
    table = random_table(choices) if small else random_table(choices, least=5, most=8)
    with warnings.catch_warnings(), described(table.words()):
        warnings.simplefilter("ignore", DagpostWarning)
        model = fitted(table, table.frame())
        checks = 1
        if small:
            posterior = table.posterior()
            checks += against_oracle(table, model, posterior, choices)
        checks += same_again(table, model, choices, folder)
    return checks


def fitted(table: RandomTable, data: Any, **others: Any) -> DagPosterior:
    """The model of a table, in whatever form it is given."""
    return DagPosterior(**{**table.parameters, **others}).fit(data, **table.extras())


def against_oracle(table: RandomTable, model: DagPosterior, posterior: oracle.Posterior, choices: Choices) -> int:
    """Everything that is exact, and some statements; how many statements there were."""
    tolerance = table.tolerance(posterior)
    names = table.names
    nodes = range(len(names))
    large = tolerance * max(1.0, abs(posterior.log_evidence))
    require(
        close(model.log_evidence_, posterior.log_evidence, large),
        "The log evidence is that of the oracle",
        model.log_evidence_,
        posterior.log_evidence,
    )
    if model.exact_:
        edges = model.edge_probabilities_.to_numpy()
        for parent in nodes:
            for child in nodes:
                found, expected = float(edges[parent, child]), posterior.edge(parent, child)
                law = "The probability of an edge is that of the oracle"
                require(close(found, expected, tolerance), law, names[parent], names[child], found, expected)
        for node in nodes if table.all_graphs else ():
            _families_agree(table, model, posterior, node, tolerance)
    if len(table.scores) > 1:
        weights = model.mixture_weights_.to_numpy()
        law = "The probabilities of the sizes are those of the oracle"
        require(np.allclose(weights, posterior.mixture, rtol=0, atol=tolerance), law, weights, posterior.mixture)
    if table.all_graphs:
        _best_agree(model, posterior, choices, large)
        if choices.chance(0.3):
            _draws_agree(model, posterior, choices, large, tolerance)
    return sum(_statement_agrees(table, model, posterior, choices, tolerance) for _ in range(choices.integer(0, 6)))


def _families_agree(
    table: RandomTable, model: DagPosterior, posterior: oracle.Posterior, node: int, tolerance: float
) -> None:
    found = model.family_probabilities(table.names[node])
    expected: dict[Any, float] = {
        frozenset(table.names[parent] for parent in parents): weight
        for parents, weight in posterior.families(node).items()
    }
    law = "The sets of parents are those that the rules allow"
    positive = {parents for parents, weight in expected.items() if weight > tolerance}
    require(positive <= set(found.index), law, table.names[node], positive, set(found.index))
    for parents, weight in found.items():
        law = "The probability of a set of parents is that of the oracle"
        require(close(weight, expected.get(parents, 0.0), tolerance), law, table.names[node], parents, weight)
    require(bool((np.diff(found.to_numpy()) <= 0).all()), "The most probable set of parents comes first", found)


def _best_agree(model: DagPosterior, posterior: oracle.Posterior, choices: Choices, tolerance: float) -> None:
    """The best graphs have the largest weights there are, and the weights that the oracle gives them."""
    count = choices.integer(1, 5)
    best = model.best(count)
    expected = sorted(posterior.log_joints.values(), reverse=True)[:count]
    law = "The best graphs are as good as the best of the oracle"
    require(len(best) == len(expected), law, len(best), len(expected))
    for row, log_joint, wanted in zip(best.parents, best.log_joint, expected, strict=True):
        graph = graph_of(row)
        require(close(float(log_joint), wanted, tolerance), law, graph, log_joint, wanted)
        require(close(posterior.log_joints.get(graph, math.nan), wanted, tolerance), law, graph, wanted)


def _draws_agree(
    model: DagPosterior, posterior: oracle.Posterior, choices: Choices, large: float, tolerance: float
) -> None:
    """Drawn graphs are allowed, have the weights that the oracle gives them, and cover what they cover."""
    sample = model.sample(choices.integer(1, 100), seed=choices.integer(0, 1000))
    drawn = [graph_of(row) for row in sample.parents]
    for graph, log_joint in zip(drawn, sample.log_joint, strict=True):
        expected = posterior.log_joints.get(graph, math.nan)
        require(close(float(log_joint), expected, large), "A drawn graph has its weight", graph, log_joint, expected)
    total = oracle.log_sum(list(posterior.log_joints.values()))
    covered = math.fsum(math.exp(posterior.log_joints[graph] - total) for graph in set(drawn))
    if model.target_ == "structure" and not math.isnan(sample.covered):
        law = "The mass that drawn graphs cover is that of the oracle"
        require(close(sample.covered, covered, tolerance), law, sample.covered, covered)
    weight = float(np.asarray(sample.weights).sum())
    require(close(weight, 1.0, 1e-9), "The weights of drawn graphs sum to 1", weight)


def graph_of(row: Any) -> oracle.Graph:
    """A row of masks as the oracle writes a graph."""
    masks = [int(mask) for mask in row]
    return tuple(frozenset(j for j in range(len(masks)) if mask >> j & 1) for mask in masks)


def _statement_agrees(
    table: RandomTable, model: DagPosterior, posterior: oracle.Posterior, choices: Choices, tolerance: float
) -> int:
    nodes = len(table.names)
    statement = random_statement(choices, nodes, choices.integer(0, 2))
    given = random_statement(choices, nodes, choices.integer(0, 1)) if choices.chance(0.3) else None
    written = text(statement, table.names, choices)
    condition = None if given is None else text(given, table.names, choices)
    answer = model.probability(written, condition)
    part = truth(statement, nodes)
    weight = 1.0
    if given is not None:
        weight = posterior.probability(truth(given, nodes))
        part &= truth(given, nodes)
    if answer.rule == "exact":
        expected = posterior.probability(part) / weight if weight > 0 else math.nan
        law = "An exact answer is that of the oracle"
        within = tolerance / max(weight, 1e-12)
        require(close(answer.value, expected, within), law, written, f"given {condition}", answer, expected)
    return 1


def same_again(table: RandomTable, model: DagPosterior, choices: Choices, folder: Path) -> int:
    """The same table in another form: what has to be the same, and whether to the last bit."""
    form = choices.pick(("threads", "rows", "columns", "counts", "kind", "file", "labels"))
    if form == "threads":
        other = fitted(table, table.frame(), threads=2)
        _agree(model, other, 0.0, "Threads change nothing, to the last bit")
        first, second = model.sample(300, seed=5), other.sample(300, seed=5)
        law = "Threads change no draw"
        require(np.array_equal(first.parents, second.parents), law, first.parents, second.parents)
        return 2
    if form == "rows":
        shuffled = table.permuted_rows(choices.shuffled(range(table.rows)))
        # The order of sums is another one.
        _agree(model, fitted(shuffled, shuffled.frame()), 1e-8, "The order of the rows changes nothing")
        return 1
    if form == "columns":
        order = choices.shuffled(range(len(table.names)))
        moved = table.permuted_columns(order)
        _agree(model, fitted(moved, moved.frame()), 1e-8, "The order of the columns changes nothing")
        return 1
    if form == "counts" and table.counts is not None and sum(table.counts) < 5000:
        order = [row for row, count in enumerate(table.counts) for _ in range(count)]
        if not _levels_kept(table, order):
            return 0
        repeated = replace(table.permuted_rows(order), counts=None)
        _agree(model, fitted(repeated, repeated.frame()), 1e-8, "Counts are rows repeated")
        return 1
    if form == "kind":
        kind = choices.pick(table.kinds())
        _agree(model, fitted(table, table.given(kind, folder)), 1e-8, f"A table says the same as {kind}")
        return 1
    if form == "file":
        model.save(folder / "model.dagpost")
        _agree(model, DagPosterior.load(folder / "model.dagpost"), 0.0, "A model from a file answers as the model did")
        return 1
    return _other_labels(table, model)


def _levels_kept(table: RandomTable, order: list[int]) -> bool:
    """Whether rows that count 0 times have no level, no gap and no number that the others lack."""
    other = table.permuted_rows(order)
    return all(
        set(cells) == set(before)
        or (levels is not None and not table.continuous and (None in cells) == (None in before))
        for cells, before, levels in zip(other.columns, table.columns, table.declared, strict=True)
    )


def _other_labels(table: RandomTable, model: DagPosterior) -> int:
    """Levels under other names, in another order, say the same."""
    if table.continuous:
        return 0
    columns, declared = [], []
    for cells, levels in zip(table.columns, table.declared, strict=True):
        known = list(levels) if levels is not None else sorted(set(cells))
        labels = {cell: f"level {len(known) - number}" for number, cell in enumerate(known)}
        columns.append(tuple(None if cell is None else labels[cell] for cell in cells))
        declared.append(tuple(sorted(labels.values())))
    other = replace(table, columns=tuple(columns), declared=tuple(declared))
    _agree(model, fitted(other, other.frame()), 1e-8, "The names of levels change nothing")
    return 1


def _agree(model: DagPosterior, other: DagPosterior, tolerance: float, law: str) -> None:
    """Evidence and edges of two models are the same."""
    scale = max(1.0, abs(model.log_evidence_))
    evidences = (model.log_evidence_, other.log_evidence_)
    require(close(*evidences, tolerance * scale), law, *evidences)
    if not model.exact_:
        return
    first = model.edge_probabilities_
    second = other.edge_probabilities_.loc[list(first.index), list(first.columns)]
    difference = float(np.abs(first.to_numpy() - second.to_numpy()).max())
    require(difference <= tolerance * scale, law, first, second, difference)


def prepare() -> None:
    """Load the kernels: some cases that are known to go well."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        for seed in range(40):
            run_case(seed, Path(folder))


CAMPAIGN = Campaign(
    "tables",
    "random tables and settings against brute force over all graphs, and against themselves in another form",
    run_case,
    counted="tables and queries",
    prepare=prepare,
    seconds=120,
    share=3,
)
