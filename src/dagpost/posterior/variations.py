"""Which other choices is a model tried with, what do these refits cost, and what do they find?

One choice at a time: what the score says could be otherwise (`Score.alternatives`), another score for the same columns,
how many bins numbers are cut into, the usual priors on edges, one parent less and one more. Each is a fit of the same
table, with exact sums; where these are out of reach, as for chains, nothing is tried, since the answers would differ by
chance alone. What a model is given is given each of them. Where the model has directions that are clear or leaning, and
draws are quick, each refit also draws graphs and says what it finds of these.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dagpost._tools.arrays import Flags, Floats
from dagpost._tools.json_settings import to_json
from dagpost._tools.spelling import either, setting
from dagpost._tools.text import duration
from dagpost.data.cut_tables import bins_of, cut_otherwise, cut_whole
from dagpost.errors import DagpostError, InputError, ResourceError, collected_warnings
from dagpost.families.numbering import MAX_NODES
from dagpost.methods.base import Decided
from dagpost.methods.choice import AUTO
from dagpost.posterior.directions import LEAST_SHOWN, by_data_of, quick_directions
from dagpost.posterior.fitting import fit_table
from dagpost.posterior.given import conditioned
from dagpost.posterior.knowledge import assumed_edges
from dagpost.posterior.plan import plan_fit
from dagpost.posterior.sensitivity import Sensitivity, Variation
from dagpost.priors.base import StructurePrior
from dagpost.priors.constraints import Constraints
from dagpost.priors.edge import DENSITY
from dagpost.priors.resolve import other_priors
from dagpost.priors.study import Study
from dagpost.scores import BIC, Additive, BDeu, BGe, ConditionalGaussian, Score
from dagpost.scores.committee import FEWEST_FOR_BINS

if TYPE_CHECKING:
    from dagpost.data.table import Table
    from dagpost.posterior.fitted import Fitted

#: All refits together are made unasked if they take no longer than this: as long as one waits without wondering why.
QUICK_SECONDS = 5.0
_NAME, _WHO = "sensitivity", "Fits under other choices"
_BINS = (2, 3, 4, 5)
#: Numbers as levels: this many for each, and the equivalent sample size of the score.
_BINNED, _BINNED_SIZE = 4, 5.0
#: Graphs that a refit draws for directions: a share near 0.9, from which on a direction is clear, is known to 0.005
#: (one standard error). The seed is fixed, so that a model is always judged alike.
_GRAPHS, _SEED = 4_000, 1
#: Stages of a plan that every refit goes through.
_STAGES = ("scores", "tables")


class _Pairs(NamedTuple):
    """Every pair: how probably joined, and in which share of that the data compel each direction."""

    joined: Floats
    compelled: Floats


class Refit(NamedTuple):
    """A variation: the settings that differ in it, and what it makes of the table where that differs."""

    variation: Variation
    changes: Mapping[str, Any]
    recut: Callable[[Table], Table] | None = None


def sensitivity_of(fitted: Fitted) -> Sensitivity:
    """The sensitivity table of a model: made once, then remembered."""
    return fitted.once(_NAME, lambda: _computed(fitted))


def known_sensitivity(fitted: Fitted) -> Sensitivity | None:
    """The sensitivity table, where it was made before."""
    found: Sensitivity | None = fitted.recall(_NAME)
    return found


def remember_sensitivity(fitted: Fitted, found: Sensitivity) -> None:
    """Take over the sensitivity table that a file holds."""
    fitted.remember(_NAME, found)


def sensitivity_if_quick(fitted: Fitted) -> tuple[Sensitivity | None, str]:
    """The table if it is there or quickly made; otherwise a sentence on why not, and how to have it."""
    known = known_sensitivity(fitted)
    if known is not None:
        return known, ""
    try:
        refits = refits_of(fitted)
    except InputError as error:
        return None, error.marked
    seconds = expected_seconds(fitted, refits)
    # Nobody knows how long code of the user's takes.
    ours = not any(isinstance(to_json(own), str) for own in (fitted.score, fitted.recall("prior")))
    if ours and seconds <= QUICK_SECONDS:
        return sensitivity_of(fitted), ""
    how = either("Call model.sensitivity(), or fit with --sensitivity in a terminal.", "Fit with --sensitivity.")
    time = f", {duration(seconds)} in all" if ours else ""
    return None, f"Whether this depends on our choices takes {len(refits)} more fits{time}. {how}"


def refits_of(fitted: Fitted) -> list[Refit]:
    """Every choice made otherwise, one at a time; an error where no other choice can be tried."""
    prior = fitted.recall("prior")
    _check(fitted, prior)
    table = fitted.rows(_WHO)
    # Where a value of what is averaged over is given, another score, or prior, would not have it.
    given = set() if fitted.condition is None else set(fitted.condition.setting)
    scores = () if given - {DENSITY} else fitted.score.alternatives()
    priors = () if DENSITY in given else other_priors(prior)
    refits = [
        Refit(Variation(choice, value, f"{choice} {value}"), {key: other})
        for key, alternatives in (("score", scores), ("prior", priors))
        for choice, value, other in alternatives
    ]
    if not given - {DENSITY}:
        refits += _other_scores(fitted.score, table)
    return [*refits, *_other_bins(table), *_other_limits(fitted), *_other_targets(fitted), *_without_rules(fitted)]


def expected_seconds(fitted: Fitted, refits: list[Refit]) -> float:
    """Roughly how long the refits take, without those that are out of reach."""
    return sum(seconds for refit in refits if math.isfinite(seconds := _seconds(fitted, refit)))


def _check(fitted: Fitted, prior: Any) -> None:
    if fitted.completes:
        raise InputError(
            f"Other choices are tried with exact sums only, and here {fitted.unknown.done}. Compare models of your own "
            f"({either('compare', 'dagpost edges')}), or {fitted.unknown.ways_out}."
        )
    if not fitted.results.exact and fitted.condition is not None and fitted.condition.base.results.exact:
        raise InputError(
            "Other choices are tried with exact sums only, and what is given here is not a condition on parents, so "
            "that the probabilities given it are estimates. Try other choices without it."
        )
    if not fitted.results.exact:
        raise InputError(
            "Other choices are tried with exact sums only, and the probabilities of this model are estimates. "
            f"{_way_to_exact_sums(fitted)}"
        )
    for what, own, kind in (("score", fitted.score, Score), ("prior", prior, StructurePrior)):
        if not isinstance(own, kind):
            raise InputError(
                f"Other choices cannot be tried: the {what} of this model was not kept, since it is an object of your "
                "own or the model was made from scores. Fit it to a table."
            )


def _way_to_exact_sums(fitted: Fitted) -> str:
    many = len(fitted.names) > MAX_NODES
    if fitted.settings["method"] != AUTO and not many:
        return f"Use {setting('method', AUTO)}, which sums exactly where it can."
    orders = fitted.modularity == "structure" and fitted.workspace.order_fits()
    other = f", or {setting('modularity', 'order')}" if orders else ""
    return f"Use fewer columns{other}."


def _other_scores(own: Score, table: Table) -> list[Refit]:
    """Other scores for the same columns: lines or curves, a criterion with no prior for levels, levels for numbers.

    Levels for numbers where there are rows enough: in few rows bins see next to nothing, whatever is true. Of a
    committee it is one of its members that is tried (`Score.alternatives`).
    """
    if not own.has_evidence:
        return []
    if own.columns == "discrete":
        return [_scored(BDeu() if isinstance(own, BIC) else BIC())]
    kinds = [_scored(other) for other in _other_regressions(own, table)]
    if table.recipe is None or (not table.discrete and table.observations < FEWEST_FOR_BINS):
        return kinds
    words = "bdeu" if table.discrete else f"bdeu on {_BINNED} bins"
    recut = partial(cut_whole, bins=_BINNED)
    return [*kinds, Refit(Variation("score", words, f"the score {words}"), {"score": BDeu(_BINNED_SIZE)}, recut)]


def _scored(other: Score) -> Refit:
    return Refit(Variation("score", other.name, f"the score {other.name}"), {"score": other})


def _other_regressions(own: Score, table: Table) -> list[Score]:
    """Curves in the place of lines, and lines in the place of curves."""
    if isinstance(own, BGe | ConditionalGaussian):
        return [Additive()]
    numbers = [levels is None for levels in table.levels]
    if not isinstance(own, Additive) or not any(numbers):
        return []
    return [BGe() if all(numbers) else ConditionalGaussian()]


def _other_bins(table: Table) -> list[Refit]:
    """The usual numbers of bins, where columns were cut by a rule; they change the data, so evidence cannot choose."""
    own = bins_of(table)
    return [
        Refit(Variation("bins", str(bins), f"{bins} bins"), {}, partial(cut_otherwise, bins=bins))
        for bins in _BINS
        if own and own != {bins}
    ]


def _other_limits(fitted: Fitted) -> list[Refit]:
    """One parent less and one more, unless that leaves no edge or allows no other graph."""
    if fitted.target.most_parents is not None:
        return []
    own, most = fitted.workspace.max_parents, len(fitted.names) - 1
    if fitted.most_regimes:
        # They have a limit of their own.
        own = int(fitted.settings["max_parents"])
    return [
        Refit(
            Variation("most parents", str(limit), f"at most {limit} parent{'' if limit == 1 else 's'}"),
            {"max_parents": limit},
        )
        for limit in (own - 1, own + 1)
        if 1 <= limit <= most
    ]


def _other_targets(fitted: Fitted) -> list[Refit]:
    """Fewer targets of a regime, and more, where there are regimes."""
    if not fitted.most_regimes:
        return []
    own, variables = dict(fitted.settings["regimes"]), len(fitted.names) - len(fitted.exogenous)
    return [
        Refit(
            Variation("targets a regime", f"{expected:g}", f"{expected:g} expected targets of a regime"),
            {"regimes": {**own, "expected_targets": expected}},
        )
        for expected in (own["expected_targets"] * factor for factor in (0.25, 4.0))
        if expected < variables
    ]


def _without_rules(fitted: Fitted) -> list[Refit]:
    """No rules of the user's, where there are some: a direction that needs them is not a finding of the data."""
    if not any(fitted.settings[rule] for rule in ("required", "forbidden", "tiers")):
        return []
    return [Refit(Variation("rules", "none", "none of your rules"), {"required": (), "forbidden": (), "tiers": None})]


def _seconds(fitted: Fitted, refit: Refit) -> float:
    """Roughly how long one refit takes; infinite where its sums would not be exact."""
    settings, table = {**fitted.settings, **refit.changes}, fitted.rows(_WHO)
    score = refit.changes.get("score", fitted.score)
    rules = Constraints(
        **{rule: settings[rule] for rule in ("required", "forbidden", "tiers", "exogenous")},
        apart=settings.get("apart", ()),
        sinks=score.sinks(table),
    )
    study = Study(table, score, fitted.recall("prior"), rules, int(settings["max_parents"]))
    # Sums that would not be started unasked are not started here: without tiers, they may take days.
    method = None if settings["method"] == AUTO else fitted.method
    try:
        plan = plan_fit(Decided(method, fitted.modularity, study, fitted.workspace.engine), _GRAPHS)
    except ResourceError:
        return math.inf
    if not plan.exact or not plan.fits:
        return math.inf
    seconds = sum(stage.seconds for stage in plan.stages if stage.stage in _STAGES)
    # A condition takes the sums once more.
    seconds *= 1 if fitted.condition is None else 2
    if _with_direction(fitted).any():
        seconds += sum(stage.seconds for stage in plan.stages if stage.stage == "samples")
    return seconds


def _computed(fitted: Fitted) -> Sensitivity:
    refits, names = refits_of(fitted), fitted.names
    variations, found, left_out = [], [_own(fitted)], []
    with fitted.workspace.reporter.stage("other choices", len(refits)) as stage:
        for refit in refits:
            try:
                found.append(_refitted(fitted, refit))
                variations.append(refit.variation)
            except DagpostError as error:
                left_out.append(f"{refit.variation.words} ({str(error).rstrip('.')})")
            stage.advance(1)
    required = tuple((names.index(parent), names.index(child)) for parent, child in fitted.settings["required"])
    if fitted.condition is not None:
        assumed = assumed_edges(fitted.condition.statements, names, fitted.exogenous).required
        required += tuple((parent, child) for parent, child in np.argwhere(assumed).tolist())
    joined = np.stack([own.joined for own in found])
    compelled = np.stack([own.compelled for own in found]) if _with_direction(fitted).any() else None
    return Sensitivity(names, tuple(variations), joined, required, tuple(left_out), compelled, fitted.exogenous)


def _refitted(fitted: Fitted, refit: Refit) -> _Pairs:
    """What a variation says of every pair; what a refit says of its table was said of the model's own."""
    if not math.isfinite(_seconds(fitted, refit)):
        raise ResourceError("its exact sums would take too long or too much memory")
    settings = {
        "regimes": None,
        **fitted.settings,
        "score": fitted.score,
        "prior": fitted.recall("prior"),
        "method": fitted.method,
        "engine": fitted.workspace.engine,
        "threads": None,
        "progress": False,
        # The table is as it is to be.
        "recipe": None,
        "missing": None,
        **refit.changes,
    }
    table = fitted.rows(_WHO)
    with collected_warnings():
        table = table if refit.recut is None else refit.recut(table)
        refitted = fit_table(SimpleNamespace(**settings), table, None)
        if fitted.condition is not None:
            refitted = conditioned(refitted, fitted.condition.statements, fitted.condition.setting)
        joined, of_pairs = _joined(refitted), _with_direction(fitted)
        return _Pairs(joined, _shares(_drawn(refitted, bool(of_pairs.any())), joined, of_pairs))


def _own(fitted: Fitted) -> _Pairs:
    """What the model itself says of every pair."""
    joined = _joined(fitted)
    return _Pairs(joined, _shares(quick_directions(fitted).by_data, joined, _with_direction(fitted)))


def _with_direction(fitted: Fitted) -> Flags:
    """The pairs whose direction is clear or leaning in the model, both ways."""

    def find() -> Flags:
        flags = np.zeros((len(fitted.names), len(fitted.names)), dtype=np.bool_)
        for pair in quick_directions(fitted).pairs(LEAST_SHOWN):
            if pair.word in ("clear", "leaning"):
                flags[pair.source, pair.target] = flags[pair.target, pair.source] = True
        return flags

    return fitted.once("pairs with a direction", find)


def _drawn(refitted: Fitted, wanted: bool) -> Floats:
    """How probably the data compel each direction, by graphs drawn for this; nan where that is not quick."""
    unknown = np.full((len(refitted.names),) * 2, np.nan)
    if not wanted or not refitted.can_draw_quickly:
        return unknown
    try:
        sample = refitted.draw(refitted.method.usual_count(_GRAPHS), _SEED)
    except ResourceError:
        return unknown
    return by_data_of(refitted, sample)


def _shares(by_data: Floats, joined: Floats, of_pairs: Flags) -> Floats:
    """Which share of being joined points one way; nothing of a pair that is never joined, nan of all but some."""
    shares = np.divide(by_data, joined, out=np.zeros_like(joined), where=joined > 0.0)
    return np.where(of_pairs, np.minimum(shares, 1.0), np.nan)


def _joined(fitted: Fitted) -> Floats:
    edges = np.clip(fitted.results.edges, 0.0, 1.0)
    joined: Floats = np.clip(edges + edges.T, 0.0, 1.0)
    return joined
