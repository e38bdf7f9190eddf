"""Random statements in random spellings, true and damaged, against every graph and against each other."""

from __future__ import annotations

import math
import warnings
from functools import lru_cache
from pathlib import Path

import numpy as np

from dagpost import DagPosterior, DagpostWarning, DagSample, Estimate, InputError
from dagpost.features import parse
from torture import oracle
from torture.campaign import Campaign, require
from torture.choices import Choices
from torture.random_tables import NAMES, RandomTable, close, random_table
from torture.statements import Statement, random_statement, text, truth
from torture.tables import described, fitted, graph_of

#: The chance of a false alarm in one check of an interval.
_FALSE_ALARM = 1e-10
_MODELS = 40

_HOSTILE = (
    *"&|!(){}<>-~=,_ '\"\\0AB\n\t\0",
    "->",
    "~>",
    "<-",
    "_||_",
    "in",
    "pa(",
    "P(",
    "pos(",
    "~>{",
    "compelled(",
    "\u202e",
    "Ａ",
    "é",
    "99999999999999999999",
    "-1",
    "1e9",
    "(" * 300,
    "!" * 300,
    "A -> B & " * 200,
    "💣",
    "\ud800",
)


def run_case(seed: int, folder: Path) -> int:  # noqa: ARG001
    """Many statements on one model."""
    choices = Choices(seed)
    number = choices.integer(0, _MODELS - 1)
    table, model, posterior, sample, graphs = _models(number)
    with warnings.catch_warnings(), described(table.words()):
        warnings.simplefilter("ignore", DagpostWarning)
        checks = 0
        for _ in range(choices.integer(1, 20)):
            nodes = len(table.names)
            statement = random_statement(choices, nodes, choices.integer(0, 3))
            written = text(statement, table.names, choices)
            kind = choices.pick(("exact", "exact", "given", "laws", "sample", "hostile"))
            with described(f"{kind}: {written!r}"):
                if kind == "exact":
                    checks += _against_all_graphs(table, model, posterior, written, truth(statement, nodes), None)
                elif kind == "given":
                    checks += _conditional(table, model, posterior, statement, written, choices)
                elif kind == "laws":
                    checks += _laws(table, model, posterior, written, choices)
                elif kind == "sample":
                    checks += _in_sample(posterior, sample, graphs, statement, written, choices)
                else:
                    checks += _hostile(table, model, written, choices)
    return checks


@lru_cache(maxsize=_MODELS)
def _models(number: int) -> tuple[RandomTable, DagPosterior, oracle.Posterior, DagSample, list[oracle.Graph]]:
    """A model of a random table with the oracle's answers and some of its graphs; made once."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DagpostWarning)
        # The first 1,000 numbers belong to these models.
        table = random_table(Choices(10_000_000 + number), least=2 + number % 3)
        model = fitted(table, table.frame())
        sample = model.own_sample()
    return table, model, table.posterior(), sample, [graph_of(row) for row in sample.parents]


def _against_all_graphs(
    table: RandomTable,
    model: DagPosterior,
    posterior: oracle.Posterior,
    written: str,
    part: int,
    given: tuple[str, int] | None,
) -> int:
    """An exact answer is the oracle's; one from drawn graphs is as near as the graphs that were not drawn allow."""
    answer = model.probability(written, None if given is None else given[0])
    weight = 1.0 if given is None else posterior.probability(given[1])
    tolerance = table.tolerance(posterior) / max(weight, 1e-12)
    _shape_is_right(answer)
    if weight == 0.0:
        require(math.isnan(answer.value), "A condition that no graph meets has no answer", answer)
        return 1
    expected = posterior.probability(part if given is None else part & given[1]) / weight
    if answer.rule == "exact":
        require(close(answer.value, expected, tolerance), "An exact answer is that of the oracle", answer, expected)
    elif table.all_graphs and not math.isnan(answer.value):
        left = 1 - model.own_sample().covered
        within = (2 * left + 1e-9) / max(weight, 1e-12)
        law = "A sampled answer is off by no more than the graphs that were not drawn"
        counted = "Clopper" in answer.rule
        require(counted or abs(answer.value - expected) <= within, law, answer, expected, left)
    return 1


def _shape_is_right(answer: Estimate) -> None:
    law = "An answer lies between 0 and 1, within its interval"
    if not math.isnan(answer.value):
        require(-1e-12 <= answer.lower <= answer.value + 1e-12, law, repr(answer))
        require(answer.value - 1e-12 <= answer.upper <= 1 + 1e-12, law, repr(answer))


def _conditional(
    table: RandomTable,
    model: DagPosterior,
    posterior: oracle.Posterior,
    statement: Statement,
    written: str,
    choices: Choices,
) -> int:
    nodes = len(table.names)
    condition = random_statement(choices, nodes, choices.integer(0, 1))
    given = text(condition, table.names, choices)
    part, whole = truth(statement, nodes), truth(condition, nodes)
    checks = _against_all_graphs(table, model, posterior, written, part, (given, whole))
    first = model.probability(written, given)
    second = model.probability(f"P(({written}) | ({given}))")
    law = "P(f | g) is f given g"
    require(close(first.value, second.value, 0.0), law, given, first, second)
    return checks + 1


def _laws(table: RandomTable, model: DagPosterior, posterior: oracle.Posterior, written: str, choices: Choices) -> int:
    """What holds of any probability."""
    nodes = len(table.names)
    tolerance = 1e-9 + table.tolerance(posterior)
    other = text(random_statement(choices, nodes, 1), table.names, choices)
    asked = [written, f"!({written})", other, f"({written}) & ({other})", f"({written}) | ({other})"]
    answers = model.probability(asked)
    values = [answer.value for answer in answers]
    exact = [answer.rule == "exact" for answer in answers]
    if exact[0] == exact[1]:
        require(abs(values[0] + values[1] - 1) <= tolerance, "P(f) + P(not f) = 1", other, answers)
    if all(exact):
        law = "P(f and g) + P(f or g) = P(f) + P(g)"
        require(abs(values[3] + values[4] - values[0] - values[2]) <= 4 * tolerance, law, other, answers)
        require(values[3] <= min(values[0], values[2]) + tolerance, "P(f and g) <= P(f)", other, answers)
    child = choices.integer(0, nodes - 1)
    sets = oracle.subsets(frozenset(range(nodes)) - {child})
    each = [f"pa({NAMES[child]}) = {{{', '.join(NAMES[node] for node in sorted(members))}}}" for members in sets]
    parts = model.probability(each)
    if all(part.rule == "exact" for part in parts):
        total = math.fsum(part.value for part in parts)
        require(abs(total - 1) <= tolerance, "The sets of parents of a node have probability 1", child, total)
    return len(asked) + len(each)


def _in_sample(
    posterior: oracle.Posterior,
    sample: DagSample,
    graphs: list[oracle.Graph],
    statement: Statement,
    written: str,
    choices: Choices,
) -> int:
    """A sample says of each of its graphs what the definition says; and its intervals hold."""
    nodes = posterior.columns
    part = truth(statement, nodes)
    number = {graph: place for place, graph in enumerate(oracle.graphs(nodes))}
    flags = np.array([bool(part >> number[graph] & 1) for graph in graphs])
    estimator = choices.pick(("counting", "iw", "auto"))
    try:
        answer = sample.probability(written, estimator=estimator, confidence=1 - _FALSE_ALARM)
    except InputError:
        # Not every sample can be weighed in every way.
        return 1
    _shape_is_right(answer)
    expected = posterior.probability(part)
    if estimator == "counting":
        law = "A statement holds in the share of the drawn graphs in which it holds by its definition"
        require(abs(answer.value - float(flags.mean())) < 1e-9, law, answer, float(flags.mean()))
    elif estimator == "auto":
        weight = float(np.asarray(sample.weights)[flags].sum())
        require(set(graphs) <= set(posterior.log_joints), "Every drawn graph is one that the rules allow")
        law = "The weights of the drawn graphs in which a statement holds are its estimate, but for graphs not drawn"
        left = 0.0 if math.isnan(sample.covered) else 1 - sample.covered
        require(abs(answer.value - weight) <= left + 1e-6, law, answer, weight)
    if answer.rule in {"Clopper-Pearson", "Hoeffding", "covered mass"}:
        law = "An interval that is guaranteed covers the truth"
        require(answer.lower - 1e-7 <= expected <= answer.upper + 1e-7, law, repr(answer), expected)
    return 1


def _hostile(table: RandomTable, model: DagPosterior, written: str, choices: Choices) -> int:
    """Damaged text is an error of ours, or a statement that prints as what it means."""
    damaged = written
    for _ in range(choices.integer(1, 3)):
        place = choices.integer(0, len(damaged))
        piece = choices.pick(_HOSTILE)
        cut = choices.integer(0, 3)
        damaged = damaged[:place] + piece + damaged[place + cut :]
    with described(f"damaged: {damaged!r}"):
        try:
            query = parse(damaged, table.names)
        except InputError as error:
            require(str(error).strip(), "An error has words")
            return 1
        if query.given is None:
            again = parse(str(query.feature), table.names)
            require(again.feature == query.feature, "A statement prints as text that means the same", query, again)
        _shape_is_right(model.probability(damaged))
    return 1


def prepare() -> None:
    """Make the models that all cases ask."""
    for number in range(_MODELS):
        _models(number)
    for seed in range(20):
        run_case(seed, Path())


CAMPAIGN = Campaign(
    "queries",
    "random statements, true and damaged, against every graph and against the laws of probability",
    run_case,
    counted="tables and queries",
    prepare=prepare,
    seconds=120,
    share=2,
)
