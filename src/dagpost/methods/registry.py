"""All methods, one line each, in the order in which people see them. Each class says its own name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dagpost._tools.registry import Registry

if TYPE_CHECKING:
    from dagpost.methods.base import Method

METHODS: Registry[Method] = Registry(
    "method",
    "dagpost.methods",
    [
        "dagpost.methods.exact_layers:ExactLayers",
        "dagpost.methods.dds:DDS",
        "dagpost.methods.iw_dds:IWDDS",
        "dagpost.methods.linear_extensions:LinearExtensions",
        "dagpost.methods.kbest:KBest",
        "dagpost.methods.block_gibbs:BlockGibbs",
        "dagpost.methods.order_mcmc:OrderMCMC",
        "dagpost.methods.partial_order_mcmc:PartialOrderMCMC",
        "dagpost.methods.partition_mcmc:PartitionMCMC",
        "dagpost.methods.structure_mcmc:StructureMCMC",
        "dagpost.methods.hybrid_mcmc:HybridMCMC",
        "dagpost.methods.augmentation:Augmentation",
        "dagpost.methods.bootstrap:Bootstrap",
        "dagpost.methods.trees:Trees",
        "dagpost.methods.given_order:GivenOrder",
    ],
)
