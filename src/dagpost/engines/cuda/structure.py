"""The structure-modular posterior on a CUDA device: the sums of exact/structure.py, in the same `3^n` terms.

First comes alpha of every node at every set: one dense table for each node, summed over subsets. A block of threads
takes the sixteen sets that differ only in the four lowest nodes, so that a number it reads serves up to sixteen sums;
all sets with the same number of upper nodes are taken at once:

    sums_over_graphs      A(S), from the smallest sets up: every set gives to the sets that hold it
    completions_of_sets   B(U), from the largest sets down, and with A the sums G_i(U) of every node outside

after which G, summed over supersets, gives the families, and alpha times G the paths. Every term is a double times a
power of two, on a scale that no term of its sum exceeds (exact/completions.py; for the terms that add an upper node,
the largest of those that add one upper node alone).

Memory: `n 2^n` wide floats, and some 5 doubles a set. Many blocks give to one set of `A`, in no fixed order: the last
digits of A, and with it of families, paths and the evidence where that alone is asked for, may differ from run to run.
The evidence of a whole posterior comes from B, which does not vary. The result has the same tables as that of the host.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost._tools.progress import NO_PROGRESS, Reporter, Stage
from dagpost._tools.spelling import setting
from dagpost._tools.wide_floats import FRACTION_BITS, ZERO
from dagpost.engines.cuda import device
from dagpost.engines.cuda.layout import STRUCTURE, STRUCTURE_THREADS, USUAL_SIZES, WIDE, Sizes, sets_of_size
from dagpost.engines.cuda.order import DeviceForward, forward_table, on_host
from dagpost.exact.order import posterior_of_families
from dagpost.exact.structure import StructurePosterior, StructureTables, cancelled, error_bound
from dagpost.exact.walk import by_complement, leaf_layout
from dagpost.families.numbering import family_count, parent_sets

_ROWS, _NOTHING = STRUCTURE["ROWS"], STRUCTURE["NOTHING"]
#: Fewer nodes have no lowest ones to spare; the host is done before a kernel is launched.
FEWEST_NODES = _ROWS + 1
_PATH_BLOCKS = 64
#: A wave of equal sets runs in pieces of about this share of all terms, between which a run can be stopped.
_PIECES = 200
_FILES = ("widefloat.cuh", "structure.cu", "set_sums.cu", "descendants.cu")


def structure_posterior(
    log_weights: Floats, max_parents: int, sizes: Sizes = USUAL_SIZES, reporter: Reporter = NO_PROGRESS
) -> StructurePosterior:
    """Evidence, families and paths under the prior in which every graph counts once, summed on the device."""
    cupy = device.load_cupy()
    nodes = len(log_weights)
    require_memory(nodes, max_parents)
    forward = forward_table(log_weights, max_parents, sizes, reporter)
    run = _Run(forward)
    graphs = run.sum_over_graphs(reporter)
    completions, exponents, given, errors = run.complete(graphs, reporter)
    evidence, exponent = float(completions[0]), int(exponents[0])
    total = float(graphs[-1])
    if exponent <= _NOTHING // 2 or not total > 0.0:
        raise cancelled(math.inf)
    bound = error_bound(float(errors.sum()) / total, nodes)
    log_total = math.log(evidence) + exponent * math.log(2.0)
    paths = run.paths(given, evidence, exponent)
    families = posterior_of_families(run.families(given), log_weights, forward.log_scales, log_total)
    del given
    # The samplers of the host expect 1 where a set cannot be completed.
    completions[exponents == _NOTHING] = 1.0
    tables = StructureTables(
        on_host(forward),
        leaf_layout(nodes, max_parents),
        cupy.asnumpy(graphs),
        cupy.asnumpy(completions),
        cupy.asnumpy(exponents),
        log_total + float(forward.log_scales.sum()),
        bound,
    )
    return StructurePosterior(tables, families, paths)


def structure_evidence(
    log_weights: Floats, max_parents: int, sizes: Sizes = USUAL_SIZES, reporter: Reporter = NO_PROGRESS
) -> float:
    """Natural log of the sum over all graphs, each counted once."""
    require_memory(len(log_weights), max_parents)
    forward = forward_table(log_weights, max_parents, sizes, reporter)
    graphs = _Run(forward).sum_over_graphs(reporter)
    total, exponent = float(graphs[-1]), int(forward.sums[-1]) >> FRACTION_BITS
    if not total > 0.0:
        raise cancelled(math.inf)
    return math.log(total) + exponent * math.log(2.0) + float(forward.log_scales.sum())


def descendant_sets(
    tables: StructureTables, node: int, *, sizes: Sizes = USUAL_SIZES, reporter: Reporter = NO_PROGRESS
) -> Floats:
    """Entry `D`, a mask without `node`: the probability that the descendants of `node` are exactly `D`."""
    nodes, max_parents = tables.layout.nodes, tables.layout.max_parents
    require_memory(nodes, max_parents)
    run = _Run(forward_table(tables.forward.log_weights, max_parents, sizes, reporter))
    completions, exponents, given, _ = run.complete(run.cupy.asarray(tables.graphs), reporter)
    by_rest = run.chances(given, float(completions[0]), int(exponents[0]), node)
    return by_complement(by_rest, node)


def memory_needed(nodes: int, max_parents: int) -> int:
    """Bytes on the device: alpha and G of every node, L, A and B of every set, what comes in and goes out by family."""
    families = family_count(nodes - 1, min(max_parents, nodes - 1))
    return (nodes << (nodes + 3)) + (40 << nodes) + 8 * (2 * nodes + 1) * families + (64 << 20)


def require_memory(nodes: int, max_parents: int) -> None:
    """Refuse, with both figures and the largest size that fits, what does not fit on the device."""
    device.require_for_nodes(
        nodes,
        lambda count: memory_needed(count, max_parents),
        f"The exact posterior of {nodes} variables, every graph counted once,",
        f"{setting('modularity', 'order')}, which needs far less.",
    )


class _Run:
    """The kernels for one forward table, and alpha of every node at every set."""

    def __init__(self, forward: DeviceForward) -> None:
        self.cupy = device.load_cupy()
        self.forward, self.nodes = forward, forward.layout.nodes
        self.families_each = forward.layout.families
        self.module = kernels_for(self.nodes, self.families_each)
        self.alpha = dense_alpha(self.nodes, forward.layout.max_parents, forward.weights)

    def sum_over_graphs(self, reporter: Reporter) -> Any:
        """`A(S)` for every set, relative to the exponent of `L(S)`."""
        graphs = self.cupy.zeros(1 << self.nodes)
        kernel = self.module.get_function("sums_over_graphs")
        with reporter.stage("sums over graphs", 3 ** (self.nodes - _ROWS)) as stage:
            for size in range(self.nodes - _ROWS + 1):
                self._wave(kernel, (self.alpha, self.forward.sums, graphs), size, stage)
        return graphs

    def complete(self, graphs: Any, reporter: Reporter) -> tuple[Any, Any, Any, Any]:
        """`B(U)` with its exponents, the sums `G_i(U)`, and what each block adds to the bound on the error."""
        cupy, nodes = self.cupy, self.nodes
        completions, exponents = cupy.empty(1 << nodes), cupy.empty(1 << nodes, dtype=np.int32)
        given = cupy.empty(nodes << (nodes - 1), dtype=np.int64)
        errors = cupy.empty(1 << (nodes - _ROWS))
        kernel = self.module.get_function("completions_of_sets")
        arrays = (self.alpha, self.forward.sums, graphs, completions, exponents, given, errors)
        with reporter.stage("families and paths", 3 ** (nodes - _ROWS)) as stage:
            for size in range(nodes - _ROWS, -1, -1):
                self._wave(kernel, arrays, size, stage)
        return completions, exponents, given, errors

    def paths(self, given: Any, evidence: float, exponent: int) -> Floats:
        """Probability of a directed path for every pair of nodes."""
        partial = self.cupy.zeros((_PATH_BLOCKS, self.nodes, self.nodes))
        arguments = (self.alpha, given, _wide(evidence, exponent), partial)
        self.module.get_function("sum_paths")((_PATH_BLOCKS, self.nodes), (STRUCTURE_THREADS,), arguments)
        result: Floats = np.clip(self.cupy.asnumpy(partial).sum(axis=0), 0.0, 1.0)
        return result

    def chances(self, given: Any, evidence: float, exponent: int, node: int) -> Floats:
        """The chance that a node and its descendants are all nodes but a set, by that set, the node squeezed out."""
        result = self.cupy.empty(1 << (self.nodes - 1))
        blocks = max(len(result) // STRUCTURE_THREADS, 1)
        arguments = (self.alpha, given, _wide(evidence, exponent), np.int32(node), result)
        self.module.get_function("chances_of_node")((blocks,), (STRUCTURE_THREADS,), arguments)
        found: Floats = self.cupy.asnumpy(result)
        return found

    def families(self, given: Any) -> Any:
        """What the sums give to each weight. Destroys `given`."""
        _sum_bits(self.module, given, self.nodes, supersets=True)
        gathered = self.cupy.empty((self.nodes, self.families_each), dtype=np.int64)
        sets = self.cupy.asarray(parent_sets(self.nodes - 1, self.forward.layout.max_parents).copy())
        _over_families(self.module, "pick_weights", (given, sets, gathered), gathered.size)
        return self.cupy.asnumpy(gathered)

    def _wave(self, kernel: Any, arrays: tuple[Any, ...], size: int, stage: Stage) -> None:
        upper = self.nodes - _ROWS
        members = sets_of_size(upper, size)
        terms = 1 << (upper - size)
        piece = max(3**upper // _PIECES // terms, 1024)
        for begin in range(0, len(members), piece):
            part = self.cupy.asarray(members[begin : begin + piece])
            kernel((len(part),), (STRUCTURE_THREADS,), (*arrays, part))
            self.cupy.cuda.get_current_stream().synchronize()
            stage.advance(terms * len(part))


def dense_alpha(nodes: int, max_parents: int, weights: Any) -> Any:
    """Alpha of every node at every set without it: one table of `2^(n-1)` wide floats a node."""
    cupy = device.load_cupy()
    module = kernels_for(nodes, weights.shape[1])
    alpha = cupy.full(nodes << (nodes - 1), ZERO, dtype=np.int64)
    sets = cupy.asarray(parent_sets(nodes - 1, max_parents).copy())
    _over_families(module, "place_weights", (weights, sets, alpha), weights.size)
    _sum_bits(module, alpha, nodes, supersets=False)
    return alpha


def _over_families(module: Any, name: str, arguments: tuple[Any, ...], count: int) -> None:
    module.get_function(name)((-(-count // STRUCTURE_THREADS),), (STRUCTURE_THREADS,), arguments)


def _sum_bits(module: Any, values: Any, nodes: int, *, supersets: bool) -> None:
    """Sums over subsets, or supersets, of every table of `2^(n-1)` entries."""
    bits, first = nodes - 1, 0
    while first < bits:
        count = 3 if bits - first >= 3 else 1
        kernel = module.get_function("sum_three_bits" if count == 3 else "sum_one_bit")
        blocks = min(max((nodes << (bits - count)) // STRUCTURE_THREADS, 1), 1 << 20)
        kernel((blocks,), (STRUCTURE_THREADS,), (values, np.int32(first), np.int32(supersets)))
        first += count


def _wide(evidence: float, exponent: int) -> np.int64:
    """A number in [1, 2) times a power of two, as a wide float."""
    return np.int64((exponent << FRACTION_BITS) + round((evidence - 1.0) * (1 << FRACTION_BITS)))


@lru_cache(maxsize=32)
def kernels_for(nodes: int, families: int) -> Any:
    """The kernels compiled for a number of nodes, and of families of each."""
    return device.compiled(_FILES, **WIDE, **STRUCTURE, NODES=nodes, FAMILIES=families)
