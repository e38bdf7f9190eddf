"""What the parts of a model file and of a sample file must be: every array and every field, in one place.

The order matters: sizes ("nodes", "graphs") are those of the first part that has them. What a method keeps, and where
its chains stand, is declared by the method itself (`Method.kept_rules`, `ChainMethod.state_rules`). The rules are
checked when a file is opened, before anything computes with it; that parts fit each other in ways that rules of single
parts cannot say is checked by the functions here and by those that make objects of the parts (statistics, rows).
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.json_settings import from_json
from dagpost._tools.schema import (
    ArrayRule,
    Rule,
    Sizes,
    anything,
    check_arrays,
    check_fields,
    choice,
    counts,
    described_method,
    edges,
    graphs,
    list_of,
    mapping,
    number,
    numbers,
    one_of,
    optional,
    probabilities,
    regimes,
    require,
    text,
    tiers,
    truth,
    whole,
    wholes,
)
from dagpost.data.unrolled import RULE
from dagpost.errors import InputError
from dagpost.families.numbering import MAX_NODES, family_count
from dagpost.files import allowed_families, archive, augmented_model, kept_sets
from dagpost.files.data_schema import (
    LEVELS,
    MIXTURE,
    NAMES,
    NATS,
    check_background,
    check_regressions,
    check_rows,
    check_sensitivity,
    check_statistics,
    sizes_of,
)
from dagpost.files.kept_condition import CONDITION, PROBABILITY, SETTING, STATEMENTS
from dagpost.files.parent_columns import check_parents
from dagpost.mcmc.checks import CHECKS
from dagpost.mcmc.records import ROUND_GRAPHS, check_standing
from dagpost.methods.base import Method
from dagpost.methods.chain import ChainMethod
from dagpost.methods.choice import resolve_method
from dagpost.methods.registry import METHODS
from dagpost.methods.targets import MODULARITIES
from dagpost.posterior.shares import GIVEN
from dagpost.posterior.weights import ESTIMATORS
from dagpost.priors.edge import DENSITY
from dagpost.scores.local_scores import MOST_PARENTS

Arrays = Mapping[str, NDArray[Any]]

#: What to do about a file that is not what it must be.
REMEDIES = {"model": "Fit the model again.", "sample": "Draw it again."}
#: How the arrays begin that say where chains stand, and those that they keep beside graphs, a row a step, or add up.
STANDING, SERIES, SUMS = "standing_", "series_", "sums_"

_SEED = optional(whole(most=2**256))
_TARGETS = list_of(list_of(text, distinct=True))
#: By what share of it rounding may change a log evidence; the log of a weight whose square is neither 0 nor infinite.
_ROUNDED, _HEAVIEST = 1e-6, 300.0

#: What a model and the provenance of a sample say of a fit.
_FIT: Mapping[str, Rule] = {
    "score": choice,
    "prior": choice,
    "max_parents": whole(most=MOST_PARENTS),
    "method": choice,
    "required": edges,
    "forbidden": edges,
    "tiers": tiers,
    "exogenous": list_of(text, distinct=True),
    "apart": list_of(text, distinct=True),
    "sinks": list_of(text, distinct=True),
    "regimes": regimes,
    "seed": _SEED,
    "beside": mapping({}, more=text),
}

# Models

MODEL_FIELDS: Mapping[str, Rule] = {
    "names": NAMES,
    "levels": list_of(optional(LEVELS), "nodes"),
    "observations": optional(whole()),
    "data_fingerprint": text,
    "interventions": truth,
    "targets": _TARGETS,
    "recipe": optional(mapping({}, more=anything)),
    "time": optional(RULE),
    "settings": mapping(
        {
            **_FIT,
            "modularity": one_of(*MODULARITIES),
            "samples": whole(1),
            "recipe": optional(mapping({}, more=anything)),
            "missing": optional(text),
        },
        more=anything,
        may_lack=("recipe", "missing", "exogenous", "apart", "sinks", "regimes", "beside"),
    ),
    "max_parents": whole(most=MOST_PARENTS),
    "small_size": optional(whole(most=MOST_PARENTS)),
    "method": described_method,
    "exact": truth,
    "engine": text,
    "verdict": optional(text),
    "log_evidence": optional(number(-NATS, NATS)),
    "error_bound": optional(number(0.0)),
    "joined_before": optional(number(0.0, 1.0)),
    "gaps": whole(1),
    "censored": whole(1),
    "latent": whole(1),
    "mixture": MIXTURE,
    "sample": optional(mapping({}, more=anything)),
    "statistics": optional(mapping({}, more=anything)),
    "background": optional(mapping({})),
    "rows": optional(mapping({}, more=anything)),
    "sensitivity": optional(mapping({}, more=anything)),
    "given": CONDITION,
}
#: Parts that not every model has.
_MODEL_LACKS = (
    *("mixture", "sample", "statistics", "background", "rows", "sensitivity"),
    *("gaps", "censored", "latent", "given"),
)

_WEIGHTS = numbers("nodes", "families", least=-NATS, most=NATS, minus_infinity=True)
_EDGES: Mapping[str, ArrayRule] = {"edges": probabilities("nodes", "nodes")}
MODEL_ARRAYS: Mapping[str, ArrayRule] = {
    **_EDGES,
    "families": probabilities("nodes", "families", optional=True),
    "paths": probabilities("nodes", "nodes", optional=True),
}
#: The weights of families among candidates.
_CANDIDATE_WEIGHTS: Mapping[str, ArrayRule] = {
    "candidates": wholes("nodes", "candidates", most=MAX_NODES - 1),
    "inner": numbers("nodes", "inner families", least=-NATS, most=NATS, minus_infinity=True),
    "small": numbers("nodes", "small families", least=-NATS, most=NATS, minus_infinity=True),
    "missed": probabilities("nodes", optional=True),
}

# Samples

_SAID: Mapping[str, Rule] = {
    **_FIT,
    "data_fingerprint": text,
    "observations": optional(whole()),
    "interventions": truth,
    "targets": _TARGETS,
    "time": RULE,
    "seeds": list_of(_SEED),
    "engine": text,
    "tied": truth,
    "given": STATEMENTS,
    "given_setting": SETTING,
    "given_probability": PROBABILITY,
    "given_from": list_of(whole(), 2),
}
SAMPLE_FIELDS: Mapping[str, Rule] = {
    "names": NAMES,
    "modularity": text,
    "method": text,
    "draws": one_of("independent", "weighted", "chains", "listed"),
    "estimator": one_of(*ESTIMATORS, GIVEN),
    "log_evidence": optional(number(-NATS, NATS)),
    "guarantee": optional(list_of(number(0.0, 1.0), 2)),
    # A sample that a user makes says what the user likes.
    "provenance": mapping(_SAID, more=anything, may_lack=tuple(_SAID)),
    "chains": optional(
        mapping(
            {
                "lengths": list_of(whole(1), "chains"),
                "moves": list_of(text, "moves"),
                "rounds": whole(),
                "checks": CHECKS,
                "series": mapping({}, more=list_of(whole(), "chains")),
            },
            may_lack=("checks", "series"),
        )
    ),
}
_GRAPHS: Mapping[str, ArrayRule] = {"parents": graphs("graphs", "nodes")}
SAMPLE_ARRAYS: Mapping[str, ArrayRule] = {
    "log_joint": numbers("graphs", least=-NATS, most=NATS, nan=True),
    "log_proposal": numbers("graphs", least=-NATS, most=1.0, nan=True),
    "log_extensions": numbers("graphs", least=-1e-6, nan=True),
    "weights": numbers("graphs", least=0.0, most=1.0 + 1e-6),
}
_CHAIN_ARRAYS: Mapping[str, ArrayRule] = {
    "log_state": numbers("graphs", least=-NATS, most=NATS),
    "proposed": counts("chains", "moves"),
    "accepted": counts("chains", "moves"),
    "state_edges": probabilities("chains", "nodes", "nodes", optional=True),
}


def read_checked(path: str | os.PathLike[str], kind: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """What a file of a kind holds, once it is what it must be."""
    about, arrays = archive.read_archive(path, kind)
    with archive.complete(path, kind, REMEDIES[kind]):
        (check_model if kind == "model" else check_sample)(about, arrays)
    return about, arrays


def check_model(about: Mapping[str, Any], arrays: Arrays) -> None:
    """Refuse what a model file must not hold, with a `ValueError`."""
    sizes = sizes_of(about)
    check_fields(MODEL_FIELDS, about, sizes, may_lack=_MODEL_LACKS)
    mixed = about.get("mixture") is not None
    weights = [f"part{part}_log_weights" for part in range(_scored(about))] if mixed else ["log_weights"]
    if augmented_model.are_in(about):
        augmented_model.check_gaps(about, arrays)
        check_arrays(_EDGES, arrays, sizes)
        require("families" not in arrays and "paths" not in arrays, "sums over all graphs")
    elif allowed_families.are_in(arrays):
        require(about["settings"]["modularity"] == "structure", "sums by components where orders count")
        allowed_families.check_allowed(arrays, sizes, about["max_parents"], dict.fromkeys(weights, NATS))
    elif kept_sets.are_in(arrays):
        require(about["settings"]["modularity"] == "structure", "chains of blocks where orders count")
        require(about["small_size"] is None and not mixed, "weights of other parent sets too")
        kept_sets.check_sets(about, arrays, sizes, about["max_parents"])
        check_arrays(_EDGES, arrays, sizes)
        require("families" not in arrays and "paths" not in arrays, "sums over all graphs")
    else:
        _check_weights(about, arrays, sizes, dict.fromkeys(weights, _WEIGHTS))
    if "edges_by_kind" in arrays:
        kinds = len(about["mixture"]["settings"][0]["values"]) if mixed else 0
        check_arrays({"edges_by_kind": probabilities(kinds, "nodes", "nodes")}, arrays, sizes)
    require("families" not in arrays or about["error_bound"] is not None, "error_bound")
    set_together = {name for names in about["targets"] for name in names}
    require(set_together <= set(about["names"]), "targets of other variables")
    for part, own in _PARTS.items():
        if about.get(part) is not None:
            own(about[part], {k.removeprefix(f"{part}_"): a for k, a in arrays.items() if k.startswith(f"{part}_")})


def _scored(about: Mapping[str, Any]) -> int:
    """Of how many values of its score a mixture has weights: densities of edges tilt those at even odds."""
    sizes = [len(axis["values"]) for axis in about["mixture"]["settings"] if axis["setting"] != DENSITY]
    return math.prod(sizes)


def _check_weights(about: Mapping[str, Any], arrays: Arrays, sizes: Sizes, weights: Mapping[str, ArrayRule]) -> None:
    """The weights of all families, or of those among candidates, and what was found with them."""
    nodes, max_parents, small_size = sizes["nodes"], about["max_parents"], about["small_size"]
    require(nodes <= MAX_NODES, f"{nodes} variables")
    sizes["families"] = family_count(nodes - 1, max_parents)
    check_arrays(MODEL_ARRAYS, arrays, sizes)
    if small_size is None or about.get("mixture") is not None:
        check_arrays(weights, arrays, sizes)
    else:
        check_arrays(_CANDIDATE_WEIGHTS, arrays, sizes)
        _check_candidates(arrays["candidates"], sizes, small_size, max_parents)


def check_sample(about: Mapping[str, Any], arrays: Arrays) -> None:
    """Refuse what a sample file must not hold, with a `ValueError`."""
    sizes = sizes_of(about)
    check_fields(SAMPLE_FIELDS, about, sizes, may_lack=("chains",))
    if sizes["nodes"] <= MAX_NODES:
        check_arrays(_GRAPHS, arrays, sizes)
    else:
        check_parents(arrays, sizes)
    check_arrays(SAMPLE_ARRAYS, arrays, sizes)
    require(sizes["graphs"] > 0, "it has no graphs")
    # A graph fits at most as many orders as there are.
    orders = np.fmax.reduce(arrays["log_extensions"])
    require(not orders > math.lgamma(sizes["nodes"] + 1) + 1e-6, f"log_extensions has {orders}")
    total = float(arrays["weights"].sum())
    require(abs(total - 1.0) < 1e-6, f"its weights sum to {total}")
    _check_log_joint(about, arrays)
    guarantee = about["guarantee"]
    require(guarantee is None or 0.0 < min(guarantee) <= max(guarantee) < 1.0, f"the guarantee {guarantee}")
    if about.get("chains") is not None:
        _check_chains(about, arrays, sizes)


def _check_log_joint(about: Mapping[str, Any], arrays: Arrays) -> None:
    """No graph is more probable than all together, whose evidence may be estimated, and they weigh something."""
    evidence = about["log_evidence"]
    if evidence is None:
        return
    log_shares = arrays["log_joint"].astype(np.float64) - evidence
    most, heaviest = (float(np.fmax.reduce(own)) for own in (log_shares, log_shares - arrays["log_proposal"]))
    rounded = _ROUNDED * (1.0 + abs(evidence))
    require(not most > math.log(len(log_shares)) + rounded, f"log_joint has a graph of probability e^{most:.3g}")
    require(
        not abs(heaviest) > _HEAVIEST, f"log_joint and log_proposal give the heaviest graph the weight e^{heaviest:.3g}"
    )


def _check_chains(about: Mapping[str, Any], arrays: Arrays, sizes: Sizes) -> None:
    lengths, rounds = about["chains"]["lengths"], about["chains"]["rounds"]
    require(
        bool(lengths) and sum(lengths) == sizes["graphs"],
        f"chains of {lengths} graphs where there are {sizes['graphs']}",
    )
    require(rounds * ROUND_GRAPHS <= min(lengths), f"{rounds} rounds of chains of {lengths} graphs")
    check_arrays(_CHAIN_ARRAYS, arrays, sizes)
    require(bool((arrays["accepted"] <= arrays["proposed"]).all()), "more moves were accepted than proposed")
    method = _chain_method(about)
    if method is None:
        # Of a package that is not installed: nobody can resume these chains here.
        return
    require(method.chains == sizes["chains"], f"{sizes['chains']} chains where its method has {method.chains}")
    require(list(method.moves) == about["chains"]["moves"], "moves of another method")
    check_standing(method, beginning_with(STANDING, arrays), sizes["nodes"])
    _check_beside(method, about["chains"].get("series", {}), arrays, sizes)


def _check_beside(method: ChainMethod, lengths: Mapping[str, list[int]], arrays: Arrays, sizes: Sizes) -> None:
    """What chains keep beside graphs is what their method says, and as long as each chain says."""
    series, sums = beginning_with(SERIES, arrays), beginning_with(SUMS, arrays)
    require(set(lengths) == set(series) == set(method.series_rules), f"series {sorted(series)} of another method")
    check_arrays(method.series_rules, series, sizes)
    check_arrays(method.sums_rules, sums, sizes)
    require(set(sums) <= set(method.sums_rules), f"sums {sorted(sums)} of another method")
    for name, own in lengths.items():
        require(sum(own) == len(series[name]), f"{name} of {own} steps where there are {len(series[name])}")


def beginning_with(prefix: str, arrays: Arrays) -> dict[str, NDArray[Any]]:
    """The arrays whose names begin so, without that beginning."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def _chain_method(about: Mapping[str, Any]) -> ChainMethod | None:
    described = about["provenance"].get("method", about["method"])
    try:
        method: Method | None = resolve_method(from_json(described, METHODS))
    except InputError:
        return None
    require(isinstance(method, ChainMethod), f"chains of the method {about['method']!r}")
    require(method is not None and method.name == about["method"], f"chains of {about['method']!r} by another method")
    return method  # type: ignore[return-value]


_PARTS = {
    "sample": check_sample,
    "statistics": check_statistics,
    "regressions": check_regressions,
    "background": check_background,
    "rows": check_rows,
    "sensitivity": check_sensitivity,
}


def _check_candidates(candidates: NDArray[Any], sizes: Sizes, small_size: int, max_parents: int) -> None:
    """Candidates are other nodes in ascending order, and their families are as many as they must be."""
    nodes, width = sizes["nodes"], sizes["candidates"]
    own = (candidates == np.arange(nodes)[:, None]).any()
    ascending = bool((np.diff(candidates.astype(np.int64), axis=1) > 0).all())
    require(candidates.max(initial=0) < nodes and ascending and not own, "candidates that cannot be")
    require(small_size <= max_parents, f"small_size {small_size} above max_parents {max_parents}")
    counts = {"inner families": family_count(width, max_parents), "small families": family_count(nodes - 1, small_size)}
    for name, count in counts.items():
        require(sizes[name] == count, f"{sizes[name]} {name} instead of {count}")
