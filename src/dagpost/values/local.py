"""Answers where nodes are local models: people made up in graphs with drawn parameters, weighed by the evidence.

A draw of graph and parameters has some dozen people. What is said of the target is asked with the same numbers behind
the people as the evidence alone, so that the ratio of both is far less noisy than either (local/walks.py).

Exogenous columns that nothing is said of are those of rows of the table, whole ones, among the rows that agree with
what is said of the others.
"""

from __future__ import annotations

import numpy as np

from dagpost._tools.arrays import Flags, Floats, Integers
from dagpost.causal.graphs import Weighted
from dagpost.errors import InputError
from dagpost.local.models import LocalModels
from dagpost.local.networks import Draws, Networks, networks_of
from dagpost.local.walks import Among, Fixed, Known, Observed, Within, needed_for, uniforms_for, walked
from dagpost.values.draws import Drawn, joined_draws
from dagpost.values.graphs import chosen_graphs
from dagpost.values.question import Cell, Question

#: People in each graph; numbers of all columns (graphs times people) that are held at a time.
_PEOPLE, _TOGETHER = 48, 2**22


def local_draws(
    question: Question, exogenous: list[int], part: Weighted, draws: int, generator: np.random.Generator
) -> Drawn:
    """Draws of graph and parameters, each with its answer."""
    assert isinstance(part.statistics, LocalModels)
    graphs = chosen_graphs(part, draws, generator)
    seed = int(generator.integers(2**62))
    nodes = graphs.shape[1]
    step = max(_TOGETHER // (nodes * _PEOPLE), 1)
    pieces = []
    for start in range(0, len(graphs), step):
        rows = np.arange(start, min(start + step, len(graphs)))
        # People of every graph are others, so that all of them together stand for the table.
        asking = _Asking(question, exogenous, part.statistics, len(rows), generator)
        needed = needed_for(graphs[rows], asking.evidence, asking.wanted)
        networks = networks_of(part.statistics, graphs[rows], needed, Draws(seed, graphs, rows))
        pieces.append(asking.answer(networks, uniforms_for(nodes, len(rows), _PEOPLE, generator)))
    return joined_draws(pieces)


class _Asking:
    """A question in the terms of walks."""

    def __init__(
        self,
        question: Question,
        exogenous: list[int],
        models: LocalModels,
        graphs: int,
        generator: np.random.Generator,
    ) -> None:
        self.question, self._models = question, models
        self.wanted = sum(1 << node for node in question.nodes)
        fixed: dict[int, Fixed] = {node: Fixed(np.array(value)) for node, value in question.do.items()}
        outside = [node for node in exogenous if node not in question.do]
        fixed |= _from_rows(models, {node: question.evidence.get(node) for node in outside}, graphs, generator)
        known = {node: _known(cell) for node, cell in question.evidence.items() if node not in fixed}
        self.evidence: Known = {**fixed, **known}

    def answer(self, networks: Networks, uniforms: Floats) -> Drawn:
        """What some graphs say."""
        question, of = self.question, self.question.of
        if of is not None and self._models.levels[of] is None:
            walk = walked(networks, self.evidence, uniforms)
            deviations = np.zeros(walk.logs.shape)
            return Drawn(walk.log_probabilities(), None, (walk.logs - np.log(_PEOPLE), walk.values[of], deviations))
        if of is not None:
            allowed = question.evidence.get(of)
            codes = range(len(self._models.levels[of] or ()))
            each = [
                walked(networks, {**self.evidence, of: Observed(np.array(float(code)))}, uniforms).log_probabilities()
                if allowed is None or code in (allowed.codes or ())
                else np.full(len(networks.graphs), -np.inf)
                for code in codes
            ]
            logs = np.stack(each, axis=1)
            total = np.logaddexp.reduce(logs, axis=1)
            return Drawn(total, np.exp(logs - _finite(total)[:, np.newaxis]))
        alone = walked(networks, self.evidence, uniforms).log_probabilities()
        both = {
            node: _known(cell.meet(question.evidence[node]) if node in question.evidence else cell)
            for node, cell in question.targets.items()
        }
        together = walked(networks, {**self.evidence, **both}, uniforms).log_probabilities()
        return Drawn(alone, np.clip(np.exp(together - _finite(alone)), 0.0, 1.0)[:, np.newaxis])


def _finite(logs: Floats) -> Floats:
    """Where nothing is left of the evidence, the draw weighs nothing, whatever it says."""
    return np.where(np.isfinite(logs), logs, 0.0)


def _known(cell: Cell) -> Observed | Within | Among:
    """What is said of a column that is modelled."""
    if cell.codes is not None:
        return Observed(np.array(float(cell.codes[0]))) if len(cell.codes) == 1 else Among(cell.codes)
    return Observed(np.array(cell.lower)) if cell.is_point else Within(cell.lower, cell.upper)


def _from_rows(
    models: LocalModels, said: dict[int, Cell | None], graphs: int, generator: np.random.Generator
) -> dict[int, Fixed]:
    """Values of columns that are not modelled: as they are said to be, and otherwise those of rows that agree."""
    people = models.seen.people
    agree: Flags = np.ones(people.shape[1], dtype=np.bool_)
    values: dict[int, Fixed] = {}
    for node, cell in said.items():
        if cell is None:
            continue
        if cell.codes is None and cell.is_point:
            values[node] = Fixed(np.array(cell.lower))
            continue
        inside = (
            np.isin(people[node], cell.codes)
            if cell.codes is not None
            else ((people[node] >= cell.lower) & (people[node] <= cell.upper))
        )
        agree &= inside
        if cell.codes is not None and len(cell.codes) == 1:
            values[node] = Fixed(np.array(float(cell.codes[0])))
    rows: Integers = np.flatnonzero(agree)
    lacking = [node for node in said if node not in values]
    if lacking and not len(rows):
        names = " and ".join(repr(models.names[node]) for node, cell in said.items() if cell is not None)
        raise InputError(
            f"No row of the table has these values of {names}, which are exogenous, so that nothing says what "
            f"{' and '.join(repr(models.names[node]) for node in lacking)} would be. Give one value of each."
        )
    if lacking:
        places = (np.arange(graphs * _PEOPLE) + generator.random()) / (graphs * _PEOPLE) * len(rows)
        chosen = generator.permutation(rows[places.astype(np.int64)]).reshape(graphs, _PEOPLE)
        values |= {node: Fixed(people[node, chosen]) for node in lacking}
    return values
