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
    from dagpost.data import Table, datasets, discretise, read_table
    from dagpost.engines import ThreadEngine
    from dagpost.errors import DagpostError, DagpostWarning, InputError, ResourceError
    from dagpost.estimates import Estimate
    from dagpost.estimator import DagPosterior
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
    from dagpost.posterior import DagSample
    from dagpost.priors import CustomPrior, EdgePrior, InDegreePrior, UniformPrior
    from dagpost.scores import BIC, K2, BDe, BDeu, BGe
    from dagpost.targets import Bootstrap, GivenOrder, Trees

_HOMES = {
    "BDe": "dagpost.scores",
    "BDeu": "dagpost.scores",
    "BGe": "dagpost.scores",
    "BIC": "dagpost.scores",
    "Bootstrap": "dagpost.targets",
    "CustomPrior": "dagpost.priors",
    "DagPosterior": "dagpost.estimator",
    "DagSample": "dagpost.posterior",
    "DagpostError": "dagpost.errors",
    "DagpostWarning": "dagpost.errors",
    "EdgePrior": "dagpost.priors",
    "Estimate": "dagpost.estimates",
    "GivenOrder": "dagpost.targets",
    "HybridMCMC": "dagpost.mcmc.hybrid",
    "InDegreePrior": "dagpost.priors",
    "InputError": "dagpost.errors",
    "K2": "dagpost.scores",
    "OrderMCMC": "dagpost.mcmc.order",
    "PartialOrderMCMC": "dagpost.mcmc.partial_order",
    "PartitionMCMC": "dagpost.mcmc.partition",
    "ResourceError": "dagpost.errors",
    "StructureMCMC": "dagpost.mcmc.structure",
    "Table": "dagpost.data",
    "ThreadEngine": "dagpost.engines",
    "Trees": "dagpost.targets",
    "UniformPrior": "dagpost.priors",
    "adjacent": "dagpost.features",
    "ancestor_set": "dagpost.features",
    "custom": "dagpost.features",
    "d_separated": "dagpost.features",
    "datasets": "dagpost.data",
    "descendant_set": "dagpost.features",
    "discretise": "dagpost.data",
    "edge": "dagpost.features",
    "in_markov_blanket": "dagpost.features",
    "parent_set": "dagpost.features",
    "path": "dagpost.features",
    "read_table": "dagpost.data",
    "topological_position": "dagpost.features",
    "v_structure": "dagpost.features",
}

__all__ = [
    "BIC",
    "K2",
    "BDe",
    "BDeu",
    "BGe",
    "Bootstrap",
    "CustomPrior",
    "DagPosterior",
    "DagSample",
    "DagpostError",
    "DagpostWarning",
    "EdgePrior",
    "Estimate",
    "GivenOrder",
    "HybridMCMC",
    "InDegreePrior",
    "InputError",
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
    "adjacent",
    "ancestor_set",
    "custom",
    "d_separated",
    "datasets",
    "descendant_set",
    "discretise",
    "edge",
    "in_markov_blanket",
    "parent_set",
    "path",
    "read_table",
    "topological_position",
    "v_structure",
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
