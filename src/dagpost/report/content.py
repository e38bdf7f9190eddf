"""What a report shows, gathered from a model or a sample: numbers only, no words and no markup.

Everything that a fit has left is taken as it is; what has to be computed anew is computed only where that is quick
beside the fit. A sample is drawn if the model draws one quickly or has the tables for it at hand; the best graphs are
looked for where every graph counts once and the evidence is known; path probabilities under the order-modular prior, a
sum over 3^n, only where they take no longer than the fit; other choices are tried where all of them together take
seconds. What is left out is in `omitted`, with the reason.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats
from dagpost._tools.spelling import in_python
from dagpost._tools.text import shortened
from dagpost.data.recipe import Recipe
from dagpost.data.time_columns import time_columns
from dagpost.data.unrolled import Unrolling
from dagpost.errors import InputError, ResourceError
from dagpost.exact import order
from dagpost.families.masks import distinct_rows, edges_of_pairs
from dagpost.families.numbering import MAX_NODES
from dagpost.families.parent_lists import columns_of
from dagpost.methods.targets import STRUCTURE, Target
from dagpost.posterior.answers import exact_sums
from dagpost.posterior.condition_words import GIVEN_FROM, GIVEN_KEYS, GIVEN_STATEMENTS, given_provenance
from dagpost.posterior.directions import LEAST_SHOWN, Directions, directions_of_sample, quick_directions
from dagpost.posterior.fitted import Fitted
from dagpost.posterior.lists import mixture_facts
from dagpost.posterior.probabilities import families_listed, known_paths, pair_intervals
from dagpost.posterior.regime_effects import RegimeEffects, has_regimes, regime_effects_of
from dagpost.posterior.sample import DagSample
from dagpost.posterior.sensitivity import Sensitivity
from dagpost.posterior.shares import GIVEN, estimate_share
from dagpost.posterior.summaries import equivalence_classes, markov_blanket_table, top_graphs
from dagpost.posterior.variations import sensitivity_if_quick
from dagpost.prediction.gaussian_answers import DirectEffect, quick_effects
from dagpost.report.gap_facts import GapFacts, gap_facts
from dagpost.report.sizes import Sizes, sizes_of

if TYPE_CHECKING:
    from dagpost.mcmc.diagnostics import ChainDiagnostics
    from dagpost.posterior.summaries import EquivalenceClasses, TopGraphs

#: Parent sets listed for a variable, graphs and classes listed in all.
FAMILIES, _GRAPHS = 8, 10
#: Graphs of very many columns hardly ever repeat, and each takes half a page.
_GRAPHS_OF_MANY = 3
#: Exact path probabilities that take no longer than this are always worth it.
_QUICK_SECONDS = 1.0
#: An interval takes a look at the whole sample; at most this many are made.
_MOST_INTERVALS = 400
#: How sure intervals are.
_CONFIDENCE = 0.95
#: An estimate that differs from the number shown by more than this is of something else.
_SAME = 1e-9

Family = tuple[tuple[int, ...], float]


@dataclass(frozen=True, eq=False)
class Column:
    """One variable of the data, as far as it is known."""

    name: str
    kind: str
    description: str


@dataclass(frozen=True, eq=False)
class Content:
    """The numbers of a report.

    `edges` are the probabilities of edges (parent, child), `exact` says whether these are exact; `error_bound` is how
    far rounding may have moved them (nan where unknown), `relative_error` whether that is in proportion. `intervals`
    are those of being joined, where that is an estimate. Everything that is not exact comes from `sample`, directions
    too. `omitted` says why a part is missing.
    """

    names: tuple[str, ...]
    target: Target
    method: str
    reason: str
    edges: Floats
    exact: bool
    directions: Directions
    columns: tuple[Column, ...]
    observations: int | None
    rows: str
    settings: Mapping[str, Any]
    fingerprint: str | None
    log_evidence: float
    verdict: str | None = None
    trusted: bool | None = None
    #: The figures behind these two, where chains drew the sample.
    diagnostics: ChainDiagnostics | None = None
    error_bound: float = math.nan
    #: How probable it is before the data that two columns are joined, where that is known.
    joined_before: float | None = None
    relative_error: bool = False
    interventions: bool = False
    sample: DagSample | None = None
    intervals: Mapping[tuple[int, int], tuple[float, float]] = field(default_factory=dict)
    interval_confidence: float = math.nan
    families: tuple[tuple[Family, ...], ...] | None = None
    families_exact: bool = False
    blankets: Floats | None = None
    paths: Floats | None = None
    paths_exact: bool = False
    graphs: TopGraphs | None = None
    graphs_are_best: bool = False
    classes: EquivalenceClasses | None = None
    sensitivity: Sensitivity | None = None
    recipe: Recipe | None = None
    #: How the table was unrolled in time, a sentence each.
    time: tuple[str, ...] = ()
    unrolling: Unrolling | None = None
    #: The settings as they were asked for; `settings` are as they were used.
    asked: Mapping[str, Any] = field(default_factory=dict)
    #: Whether this is a sample, and not the model that it was drawn from.
    of_sample: bool = False
    #: What the regimes of the table changed.
    regimes: RegimeEffects | None = None
    omitted: Mapping[str, str] = field(default_factory=dict)
    #: What the model averages over: settings, their values and the shares of these (posterior/lists.py).
    mixture: Mapping[str, Any] | None = None
    #: Which cells of the table have no value, where that is so: then edges, parent sets and paths are averages.
    gaps: GapFacts | None = None
    #: Direct effects of edges (parent, child) given that they are there, in standard deviations.
    effects: Mapping[tuple[int, int], DirectEffect] = field(default_factory=dict)
    #: Total effects of pairs that are probably joined.
    sizes: Sizes | None = None
    #: What is taken for true, as the provenance of samples has it (posterior/condition_words.py); empty: nothing.
    given: Mapping[str, Any] = field(default_factory=dict)
    #: The probabilities of edges without it, where they are known.
    without: Floats | None = None

    @property
    def in_time(self) -> bool:
        """Whether columns are values of series at several times."""
        return bool(self.time) and time_columns(self.names).lags > 0

    @property
    def assumes(self) -> bool:
        """Whether something about the graph is taken for true."""
        return bool(self.given.get(GIVEN_STATEMENTS))

    @property
    def exogenous(self) -> tuple[str, ...]:
        """The columns that are not modelled: all that is said is conditional on these."""
        return tuple(self.settings.get("exogenous", ()))


def gather(source: Fitted | DagSample) -> Content:
    """The numbers of a fitted model or of a sample."""
    return _of_sample(source) if isinstance(source, DagSample) else _of_model(source)


def _of_model(fitted: Fitted) -> Content:
    results, sample = fitted.results, fitted.quick_sample()
    edges, directions = np.clip(results.edges, 0.0, 1.0), quick_directions(fitted)
    known = {"families": _families(fitted), "paths": _known_paths(fitted), "graphs": _best(fitted)}
    parts = _parts(sample, known)
    sensitivity, why_not = sensitivity_if_quick(fitted)
    about_sample = {} if sample is None else _about(sample, None if results.exact or results.tables else edges)
    if results.tables:
        intervals = pair_intervals(fitted, _pairs_with_intervals(edges), _CONFIDENCE)
        about_sample |= {"intervals": intervals, "interval_confidence": _CONFIDENCE}
    omitted = {part: _no_sample(fitted) for part, found in parts.items() if found is None}
    omitted |= {} if directions.computed else {"directions": _no_sample(fitted)}
    omitted |= {} if sensitivity else {"sensitivity": in_python(why_not)}
    return replace(
        content_of_fit(fitted, directions),
        columns=_columns(fitted),
        rows="" if fitted.table is None else fitted.table.summary(),
        settings={**fitted.settings, "max_parents": fitted.workspace.max_parents, "engine": results.engine},
        mixture=mixture_facts(fitted),
        error_bound=math.nan if results.sums is None else results.sums.error_bound,
        joined_before=fitted.joined_before,
        relative_error=results.sums is not None and results.sums.modularity == "order",
        interventions=fitted.data.interventions,
        families_exact=known["families"] is not None and not results.tables,
        paths_exact=known["paths"] is not None and not results.tables,
        gaps=gap_facts(fitted),
        effects=quick_effects(fitted),
        sizes=sizes_of(fitted, directions, parts["paths"]),
        graphs_are_best=known["graphs"] is not None or (sample is not None and sample.listed),
        sensitivity=sensitivity,
        given=given_provenance(fitted.condition),
        without=None if fitted.condition is None else np.clip(fitted.condition.base.results.edges, 0.0, 1.0),
        regimes=regime_effects_of(fitted) if has_regimes(fitted) else None,
        omitted=omitted,
        **parts,
        **{**about_sample, "verdict": results.verdict or about_sample.get("verdict")},
    )


def content_of_fit(fitted: Fitted, directions: Directions) -> Content:
    """How a model was fitted, with the edges that it found: of all numbers those that are at hand."""
    data = fitted.data
    return Content(
        names=fitted.names,
        target=fitted.target,
        method=fitted.method.name,
        reason=fitted.reason,
        edges=np.clip(fitted.results.edges, 0.0, 1.0),
        exact=fitted.results.exact,
        directions=directions,
        columns=(),
        observations=data.observations,
        rows="",
        settings=fitted.settings,
        fingerprint=data.fingerprint,
        log_evidence=fitted.results.log_evidence,
        recipe=data.recipe,
        time=() if data.time is None else tuple(data.time.sentences()),
        unrolling=data.time,
        asked=fitted.settings,
    )


def content_of_graph(fitted: Fitted) -> Content:
    """Of the same numbers those that the picture of the graph and the words around it need; all others are left out."""
    sample, known = fitted.quick_sample(), _known_paths(fitted)
    return replace(
        content_of_fit(fitted, quick_directions(fitted)),
        trusted=sample.diagnostics().trusted if sample is not None and sample.from_chains else None,
        sample=sample,
        paths=sample.probability_matrix("~>").to_numpy() if known is None and sample is not None else known,
        paths_exact=known is not None and not fitted.results.tables,
        gaps=gap_facts(fitted),
    )


def _of_sample(sample: DagSample) -> Content:
    provenance = sample.provenance
    edges = sample.edge_frequencies().to_numpy()
    unrolling = None if provenance.get("time") is None else Unrolling.from_json(provenance["time"])
    return Content(
        names=sample.names,
        target=sample.target,
        method=sample.method,
        reason="",
        edges=edges,
        exact=False,
        directions=directions_of_sample(sample),
        columns=tuple(Column(name, "", "") for name in sample.names),
        observations=provenance.get("observations"),
        rows="",
        settings=dict(provenance),
        fingerprint=provenance.get("data_fingerprint"),
        interventions=bool(provenance.get("interventions", False)),
        time=() if unrolling is None else tuple(unrolling.sentences()),
        unrolling=unrolling,
        asked={} if sample.estimator == GIVEN and GIVEN_FROM not in provenance else provenance,
        given={key: provenance[key] for key in GIVEN_KEYS if key in provenance},
        of_sample=True,
        log_evidence=sample.log_evidence,
        **_parts(sample, {}),
        **_about(sample, edges),
    )


def graphs_listed(names: Sequence[str]) -> int:
    """How many graphs, and classes, of these columns are listed."""
    return _GRAPHS if len(names) <= MAX_NODES else _GRAPHS_OF_MANY


def _parts(sample: DagSample | None, known: Mapping[str, Any]) -> dict[str, Any]:
    """Parts of the report: as known exactly, else as the sample has them; None without one."""
    makers: dict[str, Callable[[DagSample], Any]] = {
        "families": _families_in,
        "blankets": lambda drawn: markov_blanket_table(drawn).to_numpy(),
        "paths": lambda drawn: drawn.probability_matrix("~>").to_numpy(),
        "graphs": lambda drawn: top_graphs(drawn, graphs_listed(drawn.names)),
        "classes": equivalence_classes,
    }
    found = {part: known.get(part) for part in makers}
    return {
        part: make(sample) if sample is not None and found[part] is None else found[part]
        for part, make in makers.items()
    }


def _about(sample: DagSample, edges: Floats | None) -> dict[str, Any]:
    """What a sample says of itself: whether to trust it, and how close it is where edges are estimates."""
    diagnosed = sample.diagnostics() if sample.from_chains else None
    intervals, confidence = ({}, math.nan) if edges is None else _intervals(sample, edges)
    return {
        "sample": sample,
        "verdict": None if diagnosed is None else diagnosed.verdict,
        "trusted": None if diagnosed is None else diagnosed.trusted,
        "diagnostics": diagnosed,
        "intervals": intervals,
        "interval_confidence": confidence,
    }


# What may be computed for a report


def _no_sample(fitted: Fitted) -> str:
    if fitted.method.draws == "listed":
        return (
            f"This needs the list of the {fitted.usual_count:,} best graphs, and finding it could take longer than the "
            "fit. To have it, or a shorter one: in a terminal, dagpost sample MODEL -n 1000 -o DAGS, then dagpost "
            "report DAGS; in Python, call own_sample() on the model before report(), or model.best(1_000).report(...)"
        )
    return (
        f"This needs a sample of graphs, and drawing one of {len(fitted.names)} variables by {fitted.method.name!r} "
        "could take longer than the fit. To have it: in a terminal, dagpost sample MODEL -n 10000 -o DAGS, then "
        "dagpost report DAGS; in Python, call own_sample() on the model before report()"
    )


def _families(fitted: Fitted) -> tuple[tuple[Family, ...], ...] | None:
    listed = [families_listed(fitted, child, FAMILIES) for child in fitted.names]
    return None if any(own is None for own in listed) else tuple(tuple(own or ()) for own in listed)


def _known_paths(fitted: Fitted) -> Floats | None:
    """Exact paths where the fit has them, or where they take no longer than the fit; averages where there are gaps."""
    workspace = fitted.workspace
    patience = max(_QUICK_SECONDS, order.expected_seconds(workspace.nodes, workspace.engine.workers))
    try:
        found = known_paths(fitted, patience)
    except ResourceError:
        return None
    return None if found is None or np.isnan(found).any() else found


def _best(fitted: Fitted) -> TopGraphs | None:
    """The best of all graphs, where that is cheap beside the sums over all of them and speaks of the same posterior."""
    if exact_sums(fitted) is None or fitted.target != STRUCTURE:
        return None
    try:
        count = graphs_listed(fitted.names)
        return top_graphs(fitted.best(count), count)
    except (ResourceError, InputError):
        return None


def _families_in(sample: DagSample) -> tuple[tuple[Family, ...], ...]:
    """The parent sets of most weight in a sample."""
    nodes = range(len(sample.names))
    return tuple(tuple(weighted_sets(sample.parents[:, node], sample.weights)[:FAMILIES]) for node in nodes)


def weighted_sets(masks: NDArray[Any], weights: Floats) -> list[Family]:
    """The distinct sets among those of some graphs, each with the weight of its graphs, heaviest first."""
    words = masks.reshape(len(masks), 1, -1)
    first, member = distinct_rows(words)
    whole = np.bincount(member, weights=weights)
    falling = np.argsort(-whole, kind="stable")
    return [(columns_of(words[first[place], 0]), float(whole[place])) for place in falling]


def _intervals(sample: DagSample, edges: Floats) -> tuple[dict[tuple[int, int], tuple[float, float]], float]:
    """Intervals of being joined, where the sample gives any and the edges shown are its own frequencies.

    And how sure they are: a sample may have a confidence of its own, and some bounds are certain.
    """
    joined, pairs = edges + edges.T, _pairs_with_intervals(edges)
    held = edges_of_pairs(sample.parents, pairs) | edges_of_pairs(sample.parents, [(j, i) for i, j in pairs])
    estimates = [estimate_share(sample, own, None, "auto", _CONFIDENCE) for own in held]
    found = {
        pair: (estimate.lower, estimate.upper)
        for pair, estimate in zip(pairs, estimates, strict=True)
        if abs(estimate.value - joined[pair]) < _SAME and estimate.upper - estimate.lower < 1.0
    }
    return found, min((estimate.confidence for estimate in estimates), default=math.nan)


def _pairs_with_intervals(edges: Floats) -> list[tuple[int, int]]:
    """The pairs that are joined most probably."""
    joined = edges + edges.T
    pairs = [(int(i), int(j)) for i, j in np.argwhere(np.triu(joined, 1) >= LEAST_SHOWN)]
    return sorted(pairs, key=lambda pair: -joined[pair])[:_MOST_INTERVALS]


def _columns(fitted: Fitted) -> tuple[Column, ...]:
    if fitted.data.observations is None:
        # Scores from elsewhere: nothing is known of the columns but their names.
        return tuple(Column(name, "", "") for name in fitted.names)
    levels, gaussian = fitted.data.levels, getattr(fitted.score, "columns", "discrete") == "continuous"
    kinds = ["continuous" if own is None or gaussian else "discrete" for own in levels]
    if fitted.table is not None:
        described = [text.removeprefix("continuous, ") for text in fitted.table.descriptions()]
    else:
        described = ["" if own is None else f"{len(own)} levels: {shortened(list(map(str, own)))}" for own in levels]
    return tuple(Column(*parts) for parts in zip(fitted.names, kinds, described, strict=True))
