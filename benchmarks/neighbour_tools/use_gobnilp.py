"""pygobnilp: the best graphs by integer programming, from the scores of the case, each weighted by its score.

It needs Gurobi, whose free version takes 2,000 variables and constraints; beyond, it says so and there is no answer.
"""

from __future__ import annotations

import math

import gurobipy
import numpy as np
from gurobipy import GRB
from pygobnilp import gobnilp
from task import Task, run

#: The number of graphs is multiplied by four as long as there is time.
FIRST_COUNT, MOST_GRAPHS = 4, 4096


class OneConstraint:
    """Today's gurobipy takes a constraint as one expression; pygobnilp 1.0 gives it the two sides apart."""

    def addConstr(self, left, sense=None, right=None, name=""):  # noqa: N802
        """Add a constraint."""
        return super().addConstr(joined(left, sense, right), name=name)

    def cbLazy(self, left, sense=None, right=None):  # noqa: N802
        """Add a constraint while the search is on."""
        return super().cbLazy(joined(left, sense, right))


class Search(OneConstraint, gobnilp.Gobnilp):
    """The search."""


class Model(OneConstraint, gurobipy.Model):
    """What the search itself solves to find cycles."""


gobnilp.Model = Model


def joined(left, sense, right):
    """The two sides of a constraint in one expression."""
    if sense is None:
        return left
    left = gurobipy.LinExpr(left)
    return left == right if sense == GRB.EQUAL else left <= right if sense == GRB.LESS_EQUAL else left >= right


def best_graphs(task: Task) -> None:
    """More and more of the best graphs, as if there were no others."""
    # By its place and not by its name, since the solver dislikes some names.
    scores = {
        f"X{node}": {frozenset(f"X{parent}" for parent in parents): score for parents, score in own.items()}
        for node, own in enumerate(task.scores())
    }
    count, took = FIRST_COUNT, 0.0
    while count <= MOST_GRAPHS and task.left() > 4 * took:
        began = task.used()
        search = Search()
        search.learn(
            local_scores_source=scores,
            nsols=count,
            kbest=True,
            pruning=False,
            palim=task.max_parents,
            plot=False,
            output_dag=False,
            output_cpdag=False,
            Threads=1,
        )
        graphs = [adjacency(bn, task.names) for bn in search.learned_bns]
        logs = np.array([log_score(graph, scores) for graph in graphs])
        task.keep_graphs(graphs, np.exp(logs - logs.max()))
        took, count = task.used() - began, 4 * count


def adjacency(graph, names: list[str]) -> np.ndarray:
    """The matrix of a graph whose nodes are X0, X1, ..."""
    found = np.zeros((len(names),) * 2, dtype=bool)
    for source, target in graph.edges():
        found[int(source[1:]), int(target[1:])] = True
    return found


def log_score(graph: np.ndarray, scores: dict[str, dict[frozenset[str], float]]) -> float:
    """The log score of a graph."""
    return math.fsum(
        scores[f"X{node}"][frozenset(f"X{parent}" for parent in np.flatnonzero(graph[:, node]))]
        for node in range(len(graph))
    )


if __name__ == "__main__":
    run({"best graphs": best_graphs})
