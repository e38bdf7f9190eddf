"""Chains as ArviZ holds them, for its plots and diagnostics.

Independent draws are left out on purpose: R-hat and autocorrelation ask whether chains have forgotten where they
started, which independent draws have by construction. Memory: a byte for each pair of variables and each graph.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dagpost._tools import memory
from dagpost.errors import InputError
from dagpost.files.frames import optional
from dagpost.posterior.sources import sample_of

if TYPE_CHECKING:
    from dagpost.posterior.sources import GraphSource


def to_arviz(source: GraphSource) -> Any:
    """The chains behind a sample, or behind a model's own one, as ArviZ's `DataTree`.

    Group `posterior` has `edge` (chain, draw, parent, child), 1 where the edge is there; `sample_stats` has `lp`, the
    log joint probability of each graph, and `log_state`, the log weight of the state it was drawn from. Chains are
    cut to the length of the shortest.
    """
    from dagpost.mcmc.diagnostics import by_chain

    sample = sample_of(source)
    record: Any = sample.chains
    if record is None:
        if sample.independent:
            raise InputError(
                f"ArviZ judges chains, and this is a {sample!r}. Independent draws need no R-hat and no trace plot: "
                "there is nothing they could not have forgotten. Use sample.effective_samples."
            )
        raise InputError(
            f"ArviZ judges chains, and there are none behind this {sample!r}. Give the whole sample of a chain, as it "
            "was drawn with a method such as 'block-gibbs'."
        )
    arviz_base = optional("arviz_base", "arviz-base", "ArviZ's data tree")
    names = list(sample.names)
    needed = 3 * len(sample) * len(names) ** 2
    memory.require(needed, f"Every edge of {len(sample):,} graphs", "Draw fewer graphs, with more thinning.")
    edges = by_chain(sample.adjacency().astype(np.int8), record.lengths)
    stats = {"lp": sample.log_joint, "log_state": record.log_state}
    return arviz_base.from_dict(
        {
            "posterior": {"edge": edges},
            "sample_stats": {key: by_chain(values, record.lengths) for key, values in stats.items()},
        },
        coords={"parent": names, "child": names},
        dims={"edge": ["parent", "child"]},
        attrs={"posterior": {"method": sample.method, "modularity": str(sample.target)}},
    )
