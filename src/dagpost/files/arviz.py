"""Chains as ArviZ holds them, for its plots and diagnostics.

Independent draws are left out on purpose: R-hat and autocorrelation ask whether chains have forgotten where they
started, which independent draws have by construction. Memory: a byte for each pair of variables and each graph.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dagpost._tools import memory
from dagpost._tools.json_settings import from_json
from dagpost.errors import InputError
from dagpost.mcmc.diagnostics import by_chain
from dagpost.methods.choice import resolve_method
from dagpost.methods.registry import METHODS
from dagpost.posterior.sources import sample_of

if TYPE_CHECKING:
    from dagpost.mcmc.records import ChainRecord
    from dagpost.posterior.sample import DagSample
    from dagpost.posterior.sources import GraphSource


def to_arviz(source: GraphSource) -> Any:
    """The chains behind a sample, or behind a model's own one, as ArviZ's `DataTree`.

    Group `posterior` has `edge` (chain, draw, parent, child), 1 where the edge is there; `sample_stats` has `lp`, the
    log joint probability of each graph, and `log_state`, the log weight of the state it was drawn from. Chains over
    completed tables have a draw a table: `edge` and `path` (chain, draw, source, target) are exact probabilities given
    it, and `log_state` is its log weight. Chains are cut to the length of the shortest.
    """
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
    try:
        import arviz_base
    except ImportError as error:
        raise InputError(
            "ArviZ's data tree needs the package arviz-base, which is not installed: pip install arviz-base"
        ) from error
    names = list(sample.names)
    given_tables = len(record.series.get("edges", ())) > 0
    posterior, stats = _given_tables(sample, record) if given_tables else _of_graphs(sample, record)
    return arviz_base.from_dict(
        {"posterior": posterior, "sample_stats": stats},
        coords={"parent": names, "child": names, "source": names, "target": names},
        dims={"edge": ["parent", "child"], "path": ["source", "target"]},
        attrs={"posterior": {"method": sample.method, "modularity": str(sample.target)}},
    )


def _of_graphs(sample: DagSample, record: ChainRecord) -> tuple[dict[str, Any], dict[str, Any]]:
    """Every edge of every graph, 0 or 1, and the log weights."""
    needed = 3 * len(sample) * len(sample.names) ** 2
    memory.require(needed, f"Every edge of {len(sample):,} graphs", "Draw fewer graphs, with more thinning.")
    edges = by_chain(sample.adjacency().astype(np.int8), record.lengths)
    stats = {"lp": sample.log_joint, "log_state": record.log_state}
    return {"edge": edges}, {key: by_chain(values, record.lengths) for key, values in stats.items()}


def _given_tables(sample: DagSample, record: ChainRecord) -> tuple[dict[str, Any], dict[str, Any]]:
    """The exact probability of every edge and path given each completed table, and the log weight of the table."""
    series, lengths = record.series, record.series_lengths
    pairs = {name: by_chain(series[f"{name}s"], lengths[f"{name}s"]) for name in ("edge", "path")}
    # Of the graphs that were drawn from one table the first stands for it.
    graphs = np.split(record.log_state, np.cumsum(record.lengths)[:-1])
    method: Any = resolve_method(from_json(sample.provenance.get("method", sample.method), METHODS))
    first = np.concatenate([own[:: method.graphs] for own in graphs])
    return pairs, {"log_state": by_chain(first, lengths["edges"])}
