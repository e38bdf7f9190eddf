"""How long will chains take? From what a step and a kept graph cost, measured by number of columns.

The constants are seconds on one core of a machine of 2024, with the bundled tables and with made-up ones of 6 to 60
columns. Up to 21 columns every sum is a look-up, and the time depends on the number of columns alone: the figures held
to within a factor of two. Beyond, lists of parent sets are scanned until nothing that matters is left
(mcmc/families.py), which depends on how much the data say: then a range is given.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

#: What is scanned, beyond 21 columns: hardly ever a set of more parents than this.
_SCANNED_PARENTS = 3
#: Beyond 21 columns the time may be so many times as long, or as short.
_SPREAD = 3.0


class _Cost(NamedTuple):
    """Seconds a step: at least, for each pair of columns, for each set to scan; and the same of a kept graph."""

    step: float
    step_a_pair: float
    step_a_set: float
    graph: float
    graph_a_column: float
    graph_a_set: float

    def of_step(self, nodes: int, sets: int) -> float:
        return self.step + self.step_a_pair * nodes**2 + self.step_a_set * sets

    def of_graph(self, nodes: int, sets: int) -> float:
        return self.graph + self.graph_a_column * nodes + self.graph_a_set * sets


_COSTS = {
    "order-mcmc": _Cost(0.05e-6, 3.5e-9, 0.4e-9, 2e-6, 0.8e-6, 9e-9),
    "partial-order-mcmc": _Cost(0.3e-6, 0.0, 1e-9, 10e-6, 0.0, 0.0),
    "partition-mcmc": _Cost(1.5e-6, 13e-9, 2e-9, 2e-6, 0.8e-6, 15e-9),
    "structure-mcmc": _Cost(0.12e-6, 0.0, 0.01e-9, 5e-6, 0.0, 0.0),
    "hybrid-mcmc": _Cost(2e-6, 0.0, 0.01e-9, 5e-6, 0.0, 0.0),
}
#: For each of the `bucket_size 2^bucket_size` sums of a bucket: two of them a step, all of them a kept graph.
_STEP_A_SUM, _GRAPH_A_SUM = 4.4e-9, 45e-9


def expected_seconds(method: Any, count: int, nodes: int, max_parents: int, workers: int) -> tuple[float, float]:
    """Seconds that chains take for `count` graphs, and how many times as long or as short it may be."""
    from dagpost.families.family_sums import ALL_CANDIDATES
    from dagpost.families.numbering import family_count
    from dagpost.mcmc.chains import ROUND_GRAPHS
    from dagpost.mcmc.partition import APPROACH

    scans = nodes - 1 > ALL_CANDIDATES
    sets = nodes * family_count(nodes - 1, min(max_parents, _SCANNED_PARENTS)) if scans else 0
    step, graph = _step_and_graph(method, nodes, sets)
    rounds = math.ceil(method.burn_in / (method.thinning * ROUND_GRAPHS)) + count / method.chains / ROUND_GRAPHS
    seconds = rounds * ROUND_GRAPHS * (method.thinning * step + graph)
    if method.name == "partition-mcmc":
        # Chains over orders lead there.
        seconds += APPROACH * nodes**2 * _COSTS["order-mcmc"].of_step(nodes, sets)
    # All chains make a round before any makes the next.
    return seconds * math.ceil(method.chains / workers), _SPREAD if scans else 1.0


def _step_and_graph(method: Any, nodes: int, sets: int) -> tuple[float, float]:
    cost = _COSTS[method.name]
    step, graph = cost.of_step(nodes, sets), cost.of_graph(nodes, sets)
    if method.name == "partial-order-mcmc" and nodes > method.bucket_size:
        whole, rest = divmod(nodes, method.bucket_size)
        bucket = method.bucket_size << method.bucket_size
        sums = whole * bucket + (rest << rest)
        step += _STEP_A_SUM * min(sums, 2 * bucket)
        graph += _GRAPH_A_SUM * sums
    return step, graph
