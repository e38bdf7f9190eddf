"""dagpost: the posterior over Bayesian network structures.

    >>> import dagpost
    >>> model = dagpost.DagPosterior().fit(dagpost.datasets.load("coronary"))
    >>> float(model.edge_probabilities_.loc["Smoking", "Proteins"].round(3))
    0.511

Names are loaded when they are first used, so that `import dagpost` costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dagpost._version import __version__

if TYPE_CHECKING:
    from dagpost.causal import CausalEffect
    from dagpost.checkpoints import Checkpoint
    from dagpost.data import Table, datasets, discretise, read_table
    from dagpost.engines import ThreadEngine
    from dagpost.engines.cuda.engine import CudaEngine
    from dagpost.engines.dask.engine import DaskEngine
    from dagpost.errors import DagpostError, DagpostWarning, InputError, ResourceError
    from dagpost.estimates import Estimate
    from dagpost.estimator import DagPosterior
    from dagpost.export import (
        long_table,
        read_jkl,
        read_json,
        to_arviz,
        to_dot,
        to_networkx,
        to_xarray,
        write_dot,
        write_graphml,
        write_jkl,
        write_json,
    )
    from dagpost.features import (
        adjacent,
        ancestor_set,
        custom,
        d_separated,
        descendant_set,
        edge,
        in_markov_blanket,
        parent_set,
        path,
        topological_position,
        v_structure,
    )
    from dagpost.mcmc.hybrid import HybridMCMC
    from dagpost.mcmc.order import OrderMCMC
    from dagpost.mcmc.partial_order import PartialOrderMCMC
    from dagpost.mcmc.partition import PartitionMCMC
    from dagpost.mcmc.structure import StructureMCMC
    from dagpost.network import BayesianNetwork
    from dagpost.posterior import DagSample
    from dagpost.prediction import cross_validate
    from dagpost.priors import CustomPrior, EdgePrior, InDegreePrior, UniformPrior
    from dagpost.scores import BIC, K2, BDe, BDeu, BGe
    from dagpost.scores.local_scores import LocalScores, local_scores
    from dagpost.show import plots
    from dagpost.summaries import (
        adjacency_table,
        compare,
        distance_distribution,
        edge_entropy,
        edge_recovery,
        equivalence_classes,
        graph_entropy,
        graph_standing,
        markov_blanket_table,
        orientation_table,
        plot_comparison,
        threshold_graph,
        top_graphs,
    )
    from dagpost.targets import Bootstrap, GivenOrder, Trees

_HOMES = {
    "BDe": "dagpost.scores",
    "BDeu": "dagpost.scores",
    "BGe": "dagpost.scores",
    "BIC": "dagpost.scores",
    "BayesianNetwork": "dagpost.network",
    "Bootstrap": "dagpost.targets",
    "CausalEffect": "dagpost.causal",
    "Checkpoint": "dagpost.checkpoints",
    "CudaEngine": "dagpost.engines.cuda.engine",
    "CustomPrior": "dagpost.priors",
    "DagPosterior": "dagpost.estimator",
    "DagSample": "dagpost.posterior",
    "DagpostError": "dagpost.errors",
    "DagpostWarning": "dagpost.errors",
    "DaskEngine": "dagpost.engines.dask.engine",
    "EdgePrior": "dagpost.priors",
    "Estimate": "dagpost.estimates",
    "GivenOrder": "dagpost.targets",
    "HybridMCMC": "dagpost.mcmc.hybrid",
    "InDegreePrior": "dagpost.priors",
    "InputError": "dagpost.errors",
    "K2": "dagpost.scores",
    "LocalScores": "dagpost.scores",
    "OrderMCMC": "dagpost.mcmc.order",
    "PartialOrderMCMC": "dagpost.mcmc.partial_order",
    "PartitionMCMC": "dagpost.mcmc.partition",
    "ResourceError": "dagpost.errors",
    "StructureMCMC": "dagpost.mcmc.structure",
    "Table": "dagpost.data",
    "ThreadEngine": "dagpost.engines",
    "Trees": "dagpost.targets",
    "UniformPrior": "dagpost.priors",
    "adjacency_table": "dagpost.summaries",
    "adjacent": "dagpost.features",
    "ancestor_set": "dagpost.features",
    "compare": "dagpost.summaries",
    "cross_validate": "dagpost.prediction",
    "custom": "dagpost.features",
    "d_separated": "dagpost.features",
    "datasets": "dagpost.data",
    "descendant_set": "dagpost.features",
    "discretise": "dagpost.data",
    "distance_distribution": "dagpost.summaries",
    "edge": "dagpost.features",
    "edge_entropy": "dagpost.summaries",
    "edge_recovery": "dagpost.summaries",
    "equivalence_classes": "dagpost.summaries",
    "graph_entropy": "dagpost.summaries",
    "graph_standing": "dagpost.summaries",
    "in_markov_blanket": "dagpost.features",
    "local_scores": "dagpost.scores",
    "long_table": "dagpost.export",
    "markov_blanket_table": "dagpost.summaries",
    "orientation_table": "dagpost.summaries",
    "parent_set": "dagpost.features",
    "path": "dagpost.features",
    "plot_comparison": "dagpost.summaries",
    "plots": "dagpost.show",
    "read_jkl": "dagpost.export",
    "read_json": "dagpost.export",
    "read_table": "dagpost.data",
    "threshold_graph": "dagpost.summaries",
    "to_arviz": "dagpost.export",
    "to_dot": "dagpost.export",
    "to_networkx": "dagpost.export",
    "to_xarray": "dagpost.export",
    "top_graphs": "dagpost.summaries",
    "topological_position": "dagpost.features",
    "v_structure": "dagpost.features",
    "write_dot": "dagpost.export",
    "write_graphml": "dagpost.export",
    "write_jkl": "dagpost.export",
    "write_json": "dagpost.export",
}

__all__ = [
    "BIC",
    "K2",
    "BDe",
    "BDeu",
    "BGe",
    "BayesianNetwork",
    "Bootstrap",
    "CausalEffect",
    "Checkpoint",
    "CudaEngine",
    "CustomPrior",
    "DagPosterior",
    "DagSample",
    "DagpostError",
    "DagpostWarning",
    "DaskEngine",
    "EdgePrior",
    "Estimate",
    "GivenOrder",
    "HybridMCMC",
    "InDegreePrior",
    "InputError",
    "LocalScores",
    "OrderMCMC",
    "PartialOrderMCMC",
    "PartitionMCMC",
    "ResourceError",
    "StructureMCMC",
    "Table",
    "ThreadEngine",
    "Trees",
    "UniformPrior",
    "__version__",
    "adjacency_table",
    "adjacent",
    "ancestor_set",
    "compare",
    "cross_validate",
    "custom",
    "d_separated",
    "datasets",
    "descendant_set",
    "discretise",
    "distance_distribution",
    "edge",
    "edge_entropy",
    "edge_recovery",
    "equivalence_classes",
    "graph_entropy",
    "graph_standing",
    "in_markov_blanket",
    "local_scores",
    "long_table",
    "markov_blanket_table",
    "orientation_table",
    "parent_set",
    "path",
    "plot_comparison",
    "plots",
    "read_jkl",
    "read_json",
    "read_table",
    "threshold_graph",
    "to_arviz",
    "to_dot",
    "to_networkx",
    "to_xarray",
    "top_graphs",
    "topological_position",
    "v_structure",
    "write_dot",
    "write_graphml",
    "write_jkl",
    "write_json",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'dagpost' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
