"""What a report says in words: what was computed, under which prior, how sure it is, and what an arrow means.

Written for someone who knows the data and not the method, a physician say. Nothing here is markup: the page escapes it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from decimal import ROUND_CEILING, Context, Decimal
from typing import Any, NamedTuple

from dagpost._tools.json_settings import from_json
from dagpost._tools.registry import Registry
from dagpost._tools.setting_text import conditional_on, given_columns, joined_before, readable_setting
from dagpost._tools.text import printable
from dagpost.methods.targets import STRUCTURE
from dagpost.plots.sources import percent
from dagpost.posterior.condition_words import assumption_words
from dagpost.posterior.estimate import error_near_one_half
from dagpost.posterior.sample import DagSample
from dagpost.posterior.shares import GIVEN
from dagpost.priors.registry import PRIORS
from dagpost.report.content import Content
from dagpost.report.gap_facts import in_brief
from dagpost.scores import class_of
from dagpost.scores.registry import SCORES

_PARTS = {
    "directions": "Directions",
    "families": "Parent sets",
    "blankets": "Markov blanket",
    "paths": "Path matrix",
    "graphs": "Most probable graphs",
    "classes": "Classes of equivalent graphs",
}
#: A variable with this much weight on sets of as many parents as are allowed may well have more.
_CROWDED = 0.5
#: What is less than this is not seen in the four digits of a table.
_SEEN = 5e-5


def heading(content: Content) -> str:
    """The title of a report that was given none."""
    probable = "Probable connections" if content.target.posterior else "Connections"
    return f"{probable} among {len(content.names)} variables"


class Standing(NamedTuple):
    """How sure the numbers are: in a word, in which mood the page shows it ("good", "fair", "poor"), in a sentence."""

    word: str
    mood: str
    sentence: str


def standing(content: Content) -> Standing:
    """How far to trust the probabilities of a report."""
    sample, estimated = content.sample, "Estimated probabilities"
    if not content.target.posterior:
        said = "Shares say how stable a finding is under resampling, not how probable it is."
        return Standing("Not a posterior", "fair", said)
    if content.exact and content.trusted is False:
        said = "Probabilities of edges are exact; all else comes from chains that are not to be trusted yet."
        return Standing("Edges exact, the rest not to be trusted yet", "fair", said)
    if content.exact:
        return Standing("Exact probabilities", "good", "Probabilities of edges are exact, not estimated.")
    if content.trusted is False:
        said = "The chains behind these numbers do not agree yet: run them longer before you use them."
        return Standing("Do not trust it yet", "poor", said)
    if content.gaps is not None:
        said = f"Probabilities are averages over {content.gaps.tables:,} {content.gaps.called}."
        return Standing(f"Averages over {content.gaps.called}", "fair", said)
    if sample is not None and sample.listed:
        said = f"Probabilities are those among {len(sample):,} of the most probable graphs only."
        return Standing("From some of the best graphs only", "fair", said)
    if sample is not None and sample.estimator == GIVEN and not content.given:
        return Standing(estimated, "fair", "Probabilities are shares of graphs that were picked.")
    graphs = "" if sample is None else f" from {counted(len(sample), 'graph')}"
    return Standing(estimated, "fair", f"Probabilities are estimates{graphs}{_closeness(sample)}.")


def measure_of(content: Content) -> str:
    """What the numbers are, before the thing that they are numbers of."""
    return "probability of" if content.target.posterior else "share of graphs with"


def best(content: Content) -> str:
    """What the first ones of a list are."""
    return "most probable" if content.target.posterior else "most frequent"


def summary(content: Content) -> str:
    """One line under the title."""
    parts = [f"{len(content.names)} variables"]
    if content.observations is not None:
        parts.append(f"{content.observations:,} observations")
    return ", ".join(filter(None, [*parts, content.target.words, given_columns(content.exogenous)]))


def counted(number: int, thing: str) -> str:
    """A number and what it counts.

    >>> counted(1, "pair"), counted(2_000, "pair")
    ('1 pair', '2,000 pairs')
    """
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def trusting(content: Content) -> str:
    """How far to trust it, in one sentence, and what survives other choices in another."""
    kept = content.sensitivity.summary() if content.sensitivity is not None else ""
    differ = "" if content.mixture is None else content.mixture.get("disagreement", "")
    return " ".join(filter(None, (standing(content).sentence, kept, differ)))


def _closeness(sample: DagSample | None) -> str:
    """How close estimates are, where that is known and can be seen."""
    if sample is None or not math.isfinite(sample.effective_samples) or sample.effective_samples <= 0.0:
        return ""
    close = error_near_one_half(sample.effective_samples)
    return f", within about ±{close:.2g} (95%)" if close >= _SEEN else ""


def certainty(content: Content) -> str:
    """What was computed and how far to trust it."""
    if not content.target.posterior:
        return _replicated(content)
    words = _exactly(content) if content.exact else _estimated(content.sample, content.verdict, bool(content.given))
    if content.gaps is not None:
        words = f"{in_brief(content.gaps)} {printable(content.verdict or '')}"
    return " ".join(filter(None, [words, joined_before(content.joined_before), *_crowded(content)]))


def _replicated(content: Content) -> str:
    sample, times, close = content.sample, "many times", ""
    if sample is not None:
        times, size = counted(len(sample), "time"), error_near_one_half(len(sample))
        close = f" A share near one half is known to about ±{size:.2g} (95%)."
    return content.target.trust.format(times=times) + close


def _exactly(content: Content) -> str:
    bound = ""
    if not math.isnan(content.error_bound):
        relative = " of itself" if content.relative_error else ""
        bound = f" (rounding: at most {_at_most(content.error_bound, 1)}{relative})"
    which = " and meet the assumption" if content.assumes else ""
    rest = " that the assumption leaves" if content.given else ""
    text = (
        f"Probabilities of edges are exact sums over {content.target.summed_over}{which}{bound}: 0.7 means that graphs "
        f"with the edge hold 70% of the posterior{rest}."
    )
    sample = content.sample
    if sample is None:
        return text
    if sample.listed:
        return f"{text} Other parts, marked so, are those {_among(sample)}."
    text += f" Parts marked as estimated come from {counted(len(sample), 'graph')} ({sample.method}){_worth(sample)}."
    return text if content.verdict is None else f"{text} About these: {printable(content.verdict)}"


def _estimated(sample: DagSample | None, verdict: str | None, given: bool = False) -> str:
    if sample is None:
        return "Probabilities are estimates."
    if sample.estimator == GIVEN and given:
        return (
            f"Probabilities are weighted shares of the {counted(len(sample), 'graph')} of a sample in which the "
            f"assumption holds, worth about {sample.effective_samples:,.0f} independent ones."
        )
    if sample.estimator == GIVEN:
        return (
            f"Probabilities are weighted shares of {counted(len(sample), 'graph')} that were picked; how far they are "
            "from those of all graphs is not known."
        )
    if sample.listed:
        return f"Probabilities are those {_among(sample)}."
    text = f"Probabilities are estimates from {counted(len(sample), 'graph')}{_worth(sample)}. "
    if sample.guarantee is not None:
        precision, confidence = sample.guarantee
        text += (
            f"Each is within {precision:g} of the exact value with {100 * confidence:g}% confidence (Hoeffding's "
            "inequality). "
        )
    elif verdict is not None:
        text += f"R-hat compares the chains that drew them: near 1 they agree. {printable(verdict)} "
    elif math.isfinite(sample.effective_samples) and sample.effective_samples > 0.0:
        close = error_near_one_half(sample.effective_samples)
        size = f"to about ±{close:.2g} (95%)" if close >= _SEEN else "far more closely than the digits shown"
        text += f"One near one half is known {size}. "
    covered = sample.covered
    if math.isfinite(covered):
        text += f"The graphs seen hold {percent(covered)} of the posterior. "
    return text.strip()


def _among(sample: DagSample) -> str:
    """A list of most probable graphs, and how much it leaves out: that bounds what is wrong with its numbers.

    Not "the" most probable ones: a slice of a list does not know whether it begins with the best graph.
    """
    text = f"among {len(sample):,} of the most probable graphs, which are not a sample"
    covered = sample.covered
    if not math.isfinite(covered):
        return f"{text}; how much the others weigh is not known"
    return (
        f"{text}: these hold {percent(covered)} of the posterior, so a probability among all graphs differs from the "
        f"one shown by at most {_at_most(max(1.0 - covered, 0.0005), 2)}"
    )


def _at_most(value: float, digits: int) -> str:
    """A bound with `digits` digits, rounded up."""
    return f"{float(Context(prec=digits, rounding=ROUND_CEILING).create_decimal(Decimal(value))):.{digits}g}"


def _crowded(content: Content) -> list[str]:
    """A warning where the limit on parents decides: most of the weight on sets as large as allowed."""
    limit = content.settings.get("max_parents")
    if content.families is None or not isinstance(limit, int) or content.target.most_parents is not None:
        return []
    if limit >= len(content.names) - 1:
        return []
    full = [
        (sum(weight for parents, weight in own if len(parents) >= limit), name)
        for name, own in zip(content.names, content.families, strict=True)
    ]
    weight, name = max(full)
    if weight < _CROWDED:
        return []
    others = sum(own >= _CROWDED for own, _ in full) - 1
    more = f", and {counted(others, 'other variable')} too" if others else ""
    bound = "at least" if content.families_exact else "about"
    return [
        f"Mind the limit of {counted(limit, 'parent')}: {printable(name)} has that many with a probability of {bound} "
        f"{weight:.2f}{more}. Allow more."
    ]


def _worth(sample: DagSample) -> str:
    """What the draws are worth; where their exact probabilities are known, more than any count of them could say."""
    effective, count = sample.effective_samples, len(sample)
    if sample.listed or math.isnan(effective) or abs(effective - count) <= 0.001 * count:
        return ""
    if effective > count:
        return ", each weighted by its exact probability"
    return f", worth about {effective:,.0f} independent ones"


def _recorded(value: Any) -> str:
    return "not recorded" if value is None else str(value)


def prior(content: Content) -> str:
    """Under which assumptions the numbers hold."""
    settings = content.settings
    limit = settings.get("max_parents")
    parents = ""
    if limit is not None and content.target.most_parents is None:
        parents = f" A variable has at most {counted(limit, 'parent')}{_beside_regimes(content)}."
    rules = _rules(settings)
    fixed = f" You fixed {' and '.join(rules)} beforehand (see Rules)." if rules else ""
    if content.given:
        fixed += f" You assumed that {assumption_words(content.given)} (see Rules)."
    given = conditional_on(content.exogenous)
    return (
        f"{content.target.explanation} Prior: {_in_words(settings.get('prior'), PRIORS)}. Score: "
        f"{_in_words(settings.get('score'), SCORES)}.{_assumed(settings)}{parents}{fixed}{given and f' {given}'}"
    )


def _assumed(settings: Mapping[str, Any]) -> str:
    """What the model behind the score assumes, where that is known."""
    described = settings.get("score")
    if not isinstance(described, Mapping) or not SCORES.knows(described):
        return ""
    said = from_json(dict(described), SCORES).assumes()
    return f" {printable(said)}" if said else ""


def _beside_regimes(content: Content) -> str:
    """Regimes have a limit of their own."""
    return "" if content.regimes is None else " beside the regimes"


def edges_listed(edges: Iterable[Sequence[str]]) -> list[str]:
    """Edges that were fixed beforehand, with arrows."""
    return [f"{printable(parent)} → {printable(child)}" for parent, child in edges]


def _rules(settings: Mapping[str, Any]) -> list[str]:
    rules = [f"{key} edges" for key in ("required", "forbidden") if settings.get(key)]
    return [*rules, "tiers"] if settings.get("tiers") else rules


def _in_words(description: Any, registry: Registry[Any]) -> str:
    """What a score or prior says of itself; one that is not known here, as the file describes it."""
    if description is None:
        return "not recorded"
    if isinstance(description, Mapping) and registry.knows(description):
        return printable(from_json(dict(description), registry).in_words())
    return readable_setting(description)


def prior_in_words(described: Any) -> str:
    """What a prior on graphs says of itself."""
    return _in_words(described, PRIORS)


def provenance_of_part(content: Content, exact: bool, *, averaged: bool = False) -> str:
    """Whether a part of the report is exact, averaged over completed tables or estimated, from what, given what."""
    # What is counted in most reports stands under the title once.
    counted_as = "" if content.target == STRUCTURE else content.target.words
    words = "".join(f"; {own}" for own in (counted_as, given_columns(content.exogenous)) if own)
    if exact:
        return f"Exact{words}."
    if averaged and content.gaps is not None:
        return f"Averaged over {content.gaps.tables:,} {content.gaps.called}{words}."
    sample = content.sample
    if sample is None:
        return ""
    if not content.target.posterior:
        return f"Shares of {counted(len(sample), 'bootstrap replicate')}, not posterior probabilities."
    if sample.listed:
        covered = f", {percent(sample.covered)} of the posterior" if math.isfinite(sample.covered) else ""
        return f"Among {len(sample):,} of the most probable graphs only{covered}{words}."
    return f"Estimated from {counted(len(sample), 'graph')}{words}."


def omitted(content: Content, part: str) -> str:
    """The sentence in the place of a part that was left out."""
    return f"{_PARTS[part]}: left out. {content.omitted[part]}."


def setting_rows(content: Content) -> list[tuple[str, str]]:
    """The settings as names and values, for the table at the end; sections of their own have rules and gaps."""
    settings, sample = content.settings, content.sample
    rows = [
        ("Method", content.method + (f" ({printable(content.reason)})" if content.reason else "")),
        ("Counted", content.target.words),
        ("Score", _in_words(settings.get("score"), SCORES)),
        ("Prior", _in_words(settings.get("prior"), PRIORS)),
        (
            "Most parents",
            _recorded(content.target.most_parents or settings.get("max_parents")) + _beside_regimes(content),
        ),
        ("Computed on", printable(_recorded(settings.get("engine")))),
    ]
    if content.gaps is not None:
        rows.append((content.gaps.called.capitalize(), f"{content.gaps.tables:,}"))
    own = settings.get("method")
    if isinstance(own, Mapping):
        # How many replicates these results rest on stands below.
        said = {key: value for key, value in own.items() if key != "replicates" or sample is None}
        rows.append(("Settings of the method", readable_setting(said)))
    if sample is not None:
        seeds = sample.provenance.get("seeds", [sample.provenance.get("seed")])
        known = [str(seed) for seed in seeds if seed is not None]
        kept = "Graphs listed" if sample.listed else "Graphs drawn" if content.target.posterior else "Replicates"
        rows.append((kept, f"{len(sample):,}{_worth(sample)}"))
        rows.append(("Seed", ", ".join(known) or ("none needed" if sample.listed else "not recorded")))
    if math.isfinite(content.log_evidence) and class_of(settings.get("score")).has_evidence:
        what = "Log evidence, of the data and the assumption" if content.given else "Log evidence"
        rows.append((what, f"{content.log_evidence:.6f}"))
    rows.append(("Data fingerprint", content.fingerprint or "not recorded"))
    return rows
