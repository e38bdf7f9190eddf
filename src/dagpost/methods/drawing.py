"""Drawing graphs: which method suits a model, and the sample that a method gives.

Every method returns the same `DagSample`; they differ in what the graphs are drawn from and in how each graph is
weighted afterwards (posterior.py). From tables over all sets of nodes:

    exact-layers        independent graphs from the structure-modular posterior itself
    dds                 independent graphs from the order-modular posterior (He, Tian & Wu 2016)
    iw-dds              those of dds, distinct ones weighted by their joint probability: structure-modular
    linear-extensions   those of dds, weighted with the number of orders that each fits: structure-modular
    kbest               no draws: the most probable graphs, weighted by their joint probability: structure-modular

By chains, which need no such tables (but for the hybrid): order-mcmc and partial-order-mcmc (order-modular),
partition-mcmc, structure-mcmc and hybrid-mcmc (structure-modular). And three that speak of something else than all
graphs: trees, given-order (both exact) and bootstrap. A method that has settings is named (`"partition-mcmc"`) or given
as an object (`PartitionMCMC(chains=8)`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dagpost._tools import memory
from dagpost._tools.arrays import Floats, Masks
from dagpost._tools.uniforms import row_blocks, uniform_rows
from dagpost.engines import Engine
from dagpost.engines.host.backend import HostBackend, backend_of
from dagpost.errors import InputError, warn
from dagpost.exact.kbest import BestDags, best_dags
from dagpost.exact.trees import draw_trees
from dagpost.families.family_sums import MOST_FAMILIES
from dagpost.families.numbering import family_count
from dagpost.mcmc.chains import ChainRun, run_chains
from dagpost.mcmc.hybrid import HybridMCMC
from dagpost.mcmc.partial_order import PartialOrderMCMC
from dagpost.mcmc.partition import PartitionMCMC
from dagpost.methods.own_targets import Bootstrap, Trees
from dagpost.posterior.sample import DagSample, make_sample
from dagpost.posterior.settings import CHAIN_KINDS, OWN_TARGET_KINDS, describe, restore
from dagpost.posterior.workspace import PATIENCE_SECONDS, ExactWorkspace, Workspace
from dagpost.sampling.given_order import draw_given_order
from dagpost.sampling.linear_extensions import log_linear_extensions
from dagpost.sampling.orders import MOVED_TOGETHER

#: Methods without settings, from tables over all sets of nodes, and the posterior that each speaks of.
TABLE_METHODS = {
    "exact-layers": "structure",
    "dds": "order",
    "iw-dds": "structure",
    "linear-extensions": "structure",
    "kbest": "structure",
}
CHAINS: dict[str, Any] = {kind.name: kind for kind in CHAIN_KINDS}
#: Those that speak of something else than the posterior over all graphs.
OWN_TARGETS: dict[str, Any] = {kind.name: kind for kind in OWN_TARGET_KINDS}
_SETTINGS: dict[str, Any] = {**CHAINS, **OWN_TARGETS}
METHODS = (*TABLE_METHODS, *_SETTINGS)

#: Beside the masks: four numbers a graph, and as much again while they are made.
_BYTES_A_GRAPH = 100
#: Up to so many variables the usual sample takes seconds, its tables included.
_USUALLY_QUICK = 20
_QUICKLY_DRAWN = {"dds": 24}


def resolve_method(method: Any) -> Any:
    """The settings that a name stands for; "auto", and names of methods without settings, as they are.

    >>> resolve_method("order-mcmc")
    OrderMCMC(chains=4, thinning=20, burn_in=20000)
    """
    if isinstance(method, tuple(_SETTINGS.values())):
        return method
    if isinstance(method, str) and method in _SETTINGS:
        return _SETTINGS[method]()
    if isinstance(method, str) and (method == "auto" or method in TABLE_METHODS):
        return method
    hint = f" Make an object of it: {method.__name__}()." if isinstance(method, type) else ""
    known = ", ".join(map(repr, ["auto", *METHODS]))
    raise InputError(
        f"The 'method' parameter of DagPosterior must be one of {known}, or an object such as PartitionMCMC(chains=8). "
        f"Got {method!r} instead.{hint}"
    )


def name_of(method: Any) -> str:
    """The name of a method as `resolve_method` gives it."""
    return method if isinstance(method, str) else str(method.name)


def check_modularity(method: Any, modularity: str) -> None:
    """Refuse a method that samples the other posterior."""
    name = name_of(method)
    if name == "auto" or name in OWN_TARGETS:
        return
    own = TABLE_METHODS[name] if name in TABLE_METHODS else CHAINS[name].modularity
    if own != modularity:
        raise InputError(
            f"The method {name!r} samples the {own}-modular posterior. "
            f"Set modularity={own!r}, or choose another method."
        )


def scores_candidates_only(method: Any, nodes: int, max_parents: int, engine: Engine) -> bool:
    """Whether to score only the parent sets among candidates; what cannot fit is refused before any work."""
    name, limit = name_of(method), min(max_parents, nodes - 1)
    if name in TABLE_METHODS or name == HybridMCMC.name:
        # Scoring takes long where the tables cannot fit anyway. The best graphs are searched for here, on any engine.
        sums = HostBackend(engine) if name == "kbest" else backend_of(engine)
        sums.require_order(nodes, limit)
        return False
    if name == "auto" and backend_of(engine).order_fits(nodes, limit):
        return False
    return nodes * family_count(nodes - 1, limit) > MOST_FAMILIES


def choose_method(method: Any, modularity: str, tables: Workspace) -> tuple[Any, str]:
    """The method that is meant, and in a few words why."""
    if method != "auto":
        return method, "as asked"
    if not isinstance(tables, ExactWorkspace) or not tables.order_fits():
        chain = PartitionMCMC() if modularity == "structure" else PartialOrderMCMC()
        return chain, f"tables over all sets of {tables.nodes} variables do not fit into memory"
    if modularity == "order":
        return "dds", "independent graphs from the order-modular posterior"
    if tables.structure_is_affordable():
        return "exact-layers", "independent graphs from the posterior itself"
    return "linear-extensions", (
        f"the sums over all graphs of {tables.nodes} variables would take over {PATIENCE_SECONDS / 60:.0f} minutes "
        "or more memory than is free"
    )


def draw(
    method: Any,
    tables: Workspace,
    names: tuple[str, ...],
    count: int,
    seed: int | None,
    guarantee: tuple[float, float] | None,
    provenance: Mapping[str, Any],
    previous: DagSample | None = None,
) -> DagSample:
    """Draw `count` graphs; chains go on from `previous`, if that is given, until there are so many in all."""
    name = name_of(method)
    if name == "kbest":
        return best(tables, names, count, provenance)
    needed = int(count) * (_BYTES_A_GRAPH + 20 * tables.nodes)
    memory.require(needed, f"A sample of {count:,} graphs", "Draw fewer at a time, or ask for less precision.")
    sequence = new_seed(seed, tables)
    about = {**provenance, "seed": sequence.entropy, "method": describe(method), "engine": engine_of(method, tables)}
    if name in CHAINS:
        return _draw_chains(method, tables, names, count, sequence, about, previous)
    if name in OWN_TARGETS:
        return _draw_own(method, tables, names, count, sequence, guarantee, about)
    exact = _all_families(tables, name)
    nan = np.full(count, np.nan)
    if name == "exact-layers":
        posterior = exact.structure().tables
        about["engine"] = engine_of(method, exact)
        parents, log_joint = exact.sums.sample_layers(
            posterior,
            exact.ranked,
            count,
            seed=sequence,
            reporter=tables.reporter,
            checkpoint=tables.checkpoint,
        )
        log_proposal = log_joint - posterior.log_evidence
        return make_sample(
            names, parents, log_joint, log_proposal, nan, posterior.log_evidence, name, "structure", guarantee, about
        )
    parents, log_joint = _draw_dds(exact, count, sequence)
    if name == "dds":
        log_evidence = exact.order_log_evidence
        return make_sample(names, parents, log_joint, nan, nan, log_evidence, name, "order", guarantee, about)
    log_extensions = log_linear_extensions(
        parents, engine=tables.engine, reporter=tables.reporter, checkpoint=tables.checkpoint
    )
    log_proposal = log_extensions + log_joint - exact.order_log_evidence
    log_evidence = _structure_log_evidence(exact)
    return make_sample(
        names, parents, log_joint, log_proposal, log_extensions, log_evidence, name, "structure", guarantee, about
    )


def draws_quickly(name: str, nodes: int) -> bool:
    """Whether the usual sample takes seconds at most: it is then drawn for a file or a report that has none yet."""
    if name == "kbest":
        return False
    return name in OWN_TARGETS or nodes <= _QUICKLY_DRAWN.get(name, _USUALLY_QUICK)


def engine_of(method: Any, tables: Workspace) -> str:
    """What the sums, chains or replicates of a method ran on, once they have: kept in the provenance."""
    name = name_of(method)
    if name in CHAINS:
        return tables.engine.tasks.name
    if isinstance(method, Bootstrap):
        return tables.replicates_engine
    if name == "kbest" or name in OWN_TARGETS or not isinstance(tables, ExactWorkspace):
        return HostBackend.name
    return tables.structure_engine if name == "exact-layers" else tables.sums.name


def new_seed(seed: int | None, tables: Workspace) -> np.random.SeedSequence:
    """The seed that was given, or else a new one, which a run that goes on after a kill takes again."""

    def entropy() -> Any:
        return np.random.SeedSequence(None if seed is None else int(seed)).entropy

    return np.random.SeedSequence(tables.checkpoint.decided("seed", entropy))


def best(tables: Workspace, names: tuple[str, ...], count: int, provenance: Mapping[str, Any]) -> DagSample:
    """The `count` most probable graphs, best first, when every graph counts once (fewer, if there are not so many)."""
    exact = _all_families(tables, "kbest")
    found = _best_dags(exact, count)
    about = {**provenance, "method": "kbest", "engine": engine_of("kbest", tables), "tied": found.tied}
    nan = np.full(len(found.log_joint), np.nan)
    log_evidence = _structure_log_evidence(exact)
    return make_sample(names, found.parents, found.log_joint, nan, nan, log_evidence, "kbest", "structure", None, about)


def _best_dags(tables: ExactWorkspace, count: int) -> BestDags:
    """The best graphs; a checkpoint has all of them or none, since the search jumps to and fro between graphs."""
    searched: list[BestDags] = []

    def search() -> BestDags:
        if not searched:
            weights = tables.log_weights
            searched.append(
                best_dags(weights, tables.max_parents, count, engine=tables.engine, reporter=tables.reporter)
            )
        return searched[0]

    number, tied = tables.checkpoint.decided("best graphs", lambda: [len(search().log_joint), bool(search().tied)])
    found = BestDags(np.empty((number, tables.nodes), dtype=np.uint64), np.empty(number), tied)
    for _ in tables.checkpoint.stage("best graphs", ["all"], lambda _: [found.parents, found.log_joint]):
        found.parents[:], found.log_joint[:] = search().parents, search().log_joint
    return found


def _all_families(tables: Workspace, name: str) -> ExactWorkspace:
    if isinstance(tables, ExactWorkspace):
        return tables
    raise InputError(
        f"{name!r} needs tables over all sets of variables; {tables.nodes} are too many. Use fewer columns, or a chain "
        "such as method='partition-mcmc'."
    )


def _draw_chains(
    method: Any,
    tables: Workspace,
    names: tuple[str, ...],
    count: int,
    sequence: np.random.SeedSequence,
    about: dict[str, Any],
    previous: DagSample | None,
) -> DagSample:
    before = None
    if previous is not None and (not isinstance(previous, DagSample) or previous.chains is None):
        raise InputError(f"Chains go on from a whole sample of chains. Got {previous!r}, or a part of one, instead.")
    if previous is not None:
        sequence = np.random.SeedSequence(previous.provenance["seed"])
        about["seed"] = sequence.entropy
        if len(previous) > count:
            raise InputError(
                "Chains go on from a sample of the same model and settings until there are as many graphs in all as "
                f"are asked for: {len(previous):,} are there already, and {count:,} are asked for. Ask for more."
            )
        _check_same_run(previous.provenance, about)
        assert previous.chains is not None
        before = ChainRun(previous.parents.astype(np.uint64), previous.log_joint, previous.chains)
    run = run_chains(
        method,
        method.prepare(tables),
        tables.nodes,
        count,
        seed=sequence,
        engine=tables.engine,
        reporter=tables.reporter,
        previous=before,
        checkpoint=tables.checkpoint,
    )
    nan = np.full(len(run.log_joint), np.nan)
    exact = isinstance(tables, ExactWorkspace) and method.modularity == "structure"
    log_evidence = tables.structure_log_evidence if exact else None  # type: ignore[attr-defined]
    sample = make_sample(
        names,
        run.parents,
        run.log_joint,
        nan,
        nan,
        np.nan if log_evidence is None else log_evidence,
        method.name,
        method.modularity,
        None,
        about,
        run.record,
    )
    if run.interrupted:
        warn(f"Interrupted: these are the {len(sample):,} graphs that the chains had by then, of {count:,}.")
    try:
        verdict = sample.diagnostics()
    except (KeyboardInterrupt, MemoryError):
        warn("The chains were not compared with each other; sample.diagnostics() does it.")
        return sample
    if not verdict.trusted:
        warn(verdict.verdict)
    return sample


def _check_same_run(before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Refuse to go on from a sample of another model, and say where the two differ; the engine makes no difference."""
    differences = [
        f"{key} is {_shown(before.get(key))} there and {_shown(now.get(key))} here"
        for key in sorted((before.keys() | now.keys()) - {"engine"})
        if before.get(key) != now.get(key)
    ]
    if differences:
        raise InputError(
            f"Chains go on from a sample of the same model and settings, and these differ: {'; '.join(differences)}. "
            "Take the model that the sample was drawn from, or draw a new one."
        )


def _shown(described: Any) -> str:
    """A score, prior or method as it is written in Python; all else as it is."""
    return repr(restore(described) if isinstance(described, dict) and "kind" in described else described)


def _draw_own(
    method: Any,
    tables: Workspace,
    names: tuple[str, ...],
    count: int,
    sequence: np.random.SeedSequence,
    guarantee: tuple[float, float] | None,
    about: dict[str, Any],
) -> DagSample:
    log_evidence = np.nan
    if isinstance(method, Bootstrap):
        parents, log_joint = tables.replicates_of(method, count)
        about["seed"] = tables.replicates_seed
    elif isinstance(method, Trees):
        posterior = tables.tree_posterior(method, names)
        log_evidence = posterior.log_evidence
        parents, log_joint = draw_trees(posterior, count, seed=sequence, engine=tables.engine, reporter=tables.reporter)
    else:
        given = tables.given_order_posterior(method, names)
        log_evidence = given.log_evidence
        parents, log_joint = draw_given_order(
            tables.families, given, count, seed=sequence, engine=tables.engine, reporter=tables.reporter
        )
    nan = np.full(count, np.nan)
    return make_sample(names, parents, log_joint, nan, nan, log_evidence, method.name, method.target, guarantee, about)


def _structure_log_evidence(tables: ExactWorkspace) -> float:
    """Where the evidence is to be had, the mass that a sample covers is known."""
    if tables.structure_log_evidence is None and tables.checkpoint.decided(
        "whether to sum over all graphs", tables.structure_is_affordable
    ):
        tables.structure_log_evidence = tables.structure_evidence()
    return np.nan if tables.structure_log_evidence is None else tables.structure_log_evidence


def _draw_dds(tables: ExactWorkspace, count: int, seed: np.random.SeedSequence) -> tuple[Masks, Floats]:
    """Independent pairs of an order and a graph; the orders are not kept."""
    forward, sums, nodes = tables.forward(), tables.sums, tables.nodes
    parents, log_joint = np.empty((count, nodes), dtype=np.uint64), np.empty(count)
    blocks = row_blocks(count, MOVED_TOGETHER)
    saved = tables.checkpoint.stage("graphs", blocks, lambda rows: [parents[rows], log_joint[rows]])
    units = sums.draw_units(forward)
    with tables.reporter.stage("graphs", count * units) as stage:
        for rows in saved.finished:
            stage.advance((rows.stop - rows.start) * units)
        for rows in saved:
            uniforms = uniform_rows(seed, rows, 2 * nodes)
            parents[rows], log_joint[rows] = sums.draw_dags(forward, lambda: tables.ranked, uniforms, stage=stage)
    return parents, log_joint
