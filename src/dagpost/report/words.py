"""What a report says in words: what was computed, under which prior, how sure it is, and what an arrow means.

Written for someone who knows the data and not the method, a physician say. Nothing here is markup: the page escapes it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import ROUND_CEILING, Context, Decimal
from typing import Any

from dagpost._tools.setting_text import readable_setting
from dagpost._tools.text import printable, shortened
from dagpost.plots.direction import CLEAR, direction_of
from dagpost.plots.sources import PICKED, percent
from dagpost.posterior.estimate import MODULARITY_WORDS
from dagpost.posterior.sample import DagSample
from dagpost.report.content import Content

_TARGETS = {
    "structure": (
        "Each graph is counted once: before the data were seen, every graph had the weight that the prior gives it, "
        "and no graph counts more than once. "
    ),
    "order": (
        "Each graph is counted once for every order of the variables that it fits. This makes the sums much cheaper, "
        "but it favours graphs that fit many orders; the numbers can differ from those with each graph counted once. "
    ),
    "trees": (
        "Only trees are considered, each counted once: every variable but one has exactly one direct predecessor. If "
        "the truth is no tree, the nearest trees are shown instead. "
    ),
    "forests": (
        "Only graphs in which no variable has more than one direct predecessor are considered, each counted once. If "
        "the truth needs more, it cannot be seen here. "
    ),
    "given-order": (
        "Only graphs that fit the given order of the variables are considered, each counted once: no arrow points from "
        "a later variable to an earlier one, because that was asked for and not because the data say so. "
    ),
    "bootstrap": "The search looks for the graph of highest score and prior. ",
}
_PARTS = {
    "families": "Parent sets",
    "blankets": "Markov blanket",
    "paths": "Path matrix",
    "graphs": "Most probable graphs",
    "classes": "Classes of equivalent graphs",
}
#: A variable with so much weight on as many parents as are allowed may well have more.
_CROWDED = 0.5
#: Pairs that are at least so often joined are counted in the first sentence of a report.
_FOUND = 0.5
#: What is less than this is not seen in the four digits of a table.
_SEEN = 5e-5

ARROWS = (
    "An arrow from A to B says that knowing A helps to predict B directly, beyond the other variables that point to B. "
    "It is not a statement about cause and effect. Data that were only observed often cannot tell A → B from B → A, "
    "and a common cause that was not measured, or a choice of who was observed, can look like an arrow. To read arrows "
    "as causes one has to assume that no common cause is missing and that nobody was selected by what is studied; "
    "whether that holds is a question about the study, not about these numbers."
)
INTERVENTIONS = (
    "In some rows variables were set from outside; these rows do inform about direction, for the variables that were "
    "set."
)

_PRIORS = {
    "UniformPrior": "before the data every set of parents has the same weight",
    "InDegreePrior": "before the data every number of parents has the same weight",
    "EdgePrior": "before the data an edge has the weight {probability:g}, and its absence what is missing to 1",
}
_SCORES = {
    "BDeu": "BDeu, equivalent sample size {equivalent_sample_size:g}",
    "BDe": "BDe",
    "K2": "K2",
    "BIC": "BIC",
    "BGe": "BGe (continuous columns, Gaussian)",
}


def heading(content: Content) -> str:
    """The title of a report that was given none."""
    probable = "Connections" if content.target == "bootstrap" else "Probable connections"
    return f"{probable} among {len(content.names)} variables"


def standing(content: Content) -> tuple[str, str]:
    """How sure the numbers are, in a word, and in which mood the page shows it: "good", "fair" or "poor"."""
    if content.target == "bootstrap":
        return "Not a posterior", "fair"
    if content.exact and content.trusted is False:
        return "Edges exact, the rest not to be trusted yet", "fair"
    if content.exact:
        return "Exact probabilities", "good"
    if content.trusted is False:
        return "Do not trust it yet", "poor"
    if content.sample is not None and listed(content.sample):
        return "From some of the best graphs only", "fair"
    return "Estimated probabilities", "fair"


def measure(content: Content) -> str:
    """What the numbers are."""
    return "share" if content.target == "bootstrap" else "probability"


def measure_of(content: Content) -> str:
    """What the numbers are, before the thing that they are numbers of."""
    return "share of graphs with" if content.target == "bootstrap" else "probability of"


def best(content: Content) -> str:
    """What the first ones of a list are."""
    return "most frequent" if content.target == "bootstrap" else "most probable"


def summary(content: Content) -> str:
    """One line under the title."""
    parts = [f"{len(content.names)} variables"]
    if content.observations is not None:
        parts.append(f"{content.observations:,} observations")
    return ", ".join([*parts, MODULARITY_WORDS[content.target]])


def direction(content: Content, source: int, target: int) -> str:
    """The word for the direction of a pair, as the pictures draw it."""
    if content.target == "bootstrap":
        return "picked"
    return direction_of(float(content.edges[source, target]), float(content.edges[target, source]))


def _counted(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def found(content: Content) -> str:
    """What a reader takes away from the picture: how many pairs are joined, and how sure their directions are."""
    joined, count = content.edges + content.edges.T, len(content.names)
    pairs = [(i, j) for i in range(count) for j in range(i + 1, count) if joined[i, j] >= _FOUND]
    total = count * (count - 1) // 2
    often = "in a share of the replicates" if content.target == "bootstrap" else "with a probability"
    of_all = f"{len(pairs):,} of {_counted(total, 'pair')} of variables"
    text = f"{of_all} {'is' if len(pairs) == 1 else 'are'} joined {often} of at least {_FOUND:g}."
    if content.trusted is False and not content.exact:
        return f"Not to be trusted yet: {text}"
    if content.target == "bootstrap":
        return f"{text} {PICKED}"
    if not pairs:
        return text
    directions = [direction(content, *pair) for pair in pairs]
    clear, leaning, undecided = (directions.count(word) or "none" for word in ("clear", "leaning", "open"))
    if content.target == "given-order":
        return f"{text} Their directions are those of the given order, and no finding."
    fixed = " Rules that the user set decide some of this." if _rules(content.settings) else ""
    return (
        f"{text} The direction is clear for {clear} of these (at least {100 * CLEAR:g}%), leans one way for {leaning}, "
        f"and is open for {undecided}.{fixed}"
    )


def about_edges(content: Content) -> str:
    """What the numbers of the table of edges are."""
    given = {"given-order": " All directions are those of the given order.", "bootstrap": f" {PICKED}"}
    return provenance_of_part(content, content.exact) + given.get(content.target, "")


def certainty(content: Content) -> str:
    """What was computed and how far to trust it."""
    if content.target == "bootstrap":
        return _replicated(content.sample)
    words = _exactly(content) if content.exact else _estimated(content.sample, content.verdict)
    return " ".join([words, *_crowded(content)])


def _replicated(sample: DagSample | None) -> str:
    often, close = "many times", ""
    if sample is not None:
        often, size = _counted(len(sample), "time"), _near_one_half(len(sample))
        close = f" With so many replicates a share near one half is known to about ±{size:.2g} (95%)."
    return (
        f"The rows were drawn anew {often}, and each time a greedy search looked for one good graph. The numbers are "
        "the share of these graphs that have an edge. A high share says that the finding does not hang on single "
        f"rows; it is not the probability that the edge is there. {PICKED} That all replicates agree on a direction "
        f"does not say that the data do; the classes of equivalent graphs below leave it open where they do not.{close}"
    )


def _exactly(content: Content) -> str:
    what = {
        "structure": "all graphs that are allowed",
        "order": "all orders and all graphs that fit them",
        "trees": "all trees",
        "forests": "all graphs of at most one parent a variable",
        "given-order": "all graphs that fit the given order",
    }[content.target]
    bound = ""
    if not math.isnan(content.error_bound):
        relative = " of itself" if content.relative_error else ""
        size = ", far below the digits shown" if content.error_bound < 1e-6 else ""
        bound = f" Rounding may have moved a probability by at most {_at_most(content.error_bound, 1)}{relative}{size}."
    text = (
        f"The probabilities of edges are exact: they are sums over {what}, not estimates from some of them.{bound} "
        "What remains uncertain is what the data leave uncertain, and that is what the probabilities say: 0.7 means "
        "that graphs with this edge have 70% of the probability in all, given the data, the prior and the score."
    )
    sample = content.sample
    if sample is None:
        return text
    if listed(sample):
        return f"{text} Some other parts, marked so, are those {_among(sample)}."
    text += (
        f" Some other parts, marked as estimated, come from {_counted(len(sample), 'graph')} ({sample.method})"
        f"{_worth(sample)}, which stand for the same posterior."
    )
    return text if content.verdict is None else f"{text} About these: {printable(content.verdict)}"


def _estimated(sample: DagSample | None, verdict: str | None) -> str:
    if sample is None:
        return "The probabilities are estimates."
    if sample.estimator == "given weights":
        return (
            f"The probabilities are the weighted shares of {_counted(len(sample), 'graph')} that were picked. How "
            "far they are from those of all graphs is not known."
        )
    if listed(sample):
        return f"The probabilities are those {_among(sample)}."
    text = f"The probabilities are estimates, from {_counted(len(sample), 'graph')}{_worth(sample)}, and not exact. "
    if sample.guarantee is not None:
        precision, confidence = sample.guarantee
        text += (
            f"As many were drawn as bring any one of them within {precision:g} of the exact value with "
            f"{100 * confidence:g}% confidence (Hoeffding's inequality). "
        )
    elif verdict is not None:
        text += (
            "They come from chains that wander among the graphs; R-hat compares these chains with each other, and is "
            f"near 1 where they agree. {printable(verdict)} "
        )
    elif math.isfinite(sample.effective_samples) and sample.effective_samples > 0.0:
        close = _near_one_half(sample.effective_samples)
        size = f"to about ±{close:.2g} (95%)" if close >= _SEEN else "far more closely than the digits shown"
        text += f"An edge with a probability near one half is known {size}. "
    covered = sample.covered
    if math.isfinite(covered):
        text += f"The graphs that were seen have together {percent(covered)} of the whole posterior. "
    return text.strip()


def listed(sample: DagSample) -> bool:
    """Whether these are some of the most probable graphs, found and not drawn: no sample, worth no number of draws."""
    return sample.method == "kbest" and sample.estimator != "given weights"


def _among(sample: DagSample) -> str:
    """A list of most probable graphs, and how much it leaves out: that bounds what is wrong with its numbers.

    Not "the" most probable ones: a slice of a list does not know whether it begins with the best graph.
    """
    text = f"among {len(sample):,} of the most probable graphs, which are no sample"
    covered = sample.covered
    if not math.isfinite(covered):
        return f"{text}: what the graphs that are left out would say is not known, nor how much they weigh"
    return (
        f"{text}: these graphs have together {percent(covered)} of the whole posterior, and what the others would say "
        f"is not known. A probability among all graphs differs from the one shown by at most "
        f"{_at_most(max(1.0 - covered, 0.0005), 2)}"
    )


def _at_most(value: float, digits: int) -> str:
    """A bound with so many digits, none of which makes it smaller than it is."""
    return f"{float(Context(prec=digits, rounding=ROUND_CEILING).create_decimal(Decimal(value))):.{digits}g}"


def _near_one_half(draws: float) -> float:
    """Half the width of a 95% interval for a share near one half."""
    return min(2.0 * math.sqrt(0.25 / draws), 0.5)


def _crowded(content: Content) -> list[str]:
    """A warning where the limit on parents decides: most of the weight on sets as large as allowed."""
    limit = content.settings.get("max_parents")
    if content.families is None or not isinstance(limit, int) or content.target in ("trees", "forests"):
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
    more = f", and {others} other variable{'' if others == 1 else 's'} with one above {_CROWDED:g}" if others else ""
    bound, plural = "at least" if content.families_exact else "about", "" if limit == 1 else "s"
    return [
        f"Mind the limit of {limit} parent{plural}: {printable(name)} has that many with a probability of {bound} "
        f"{weight:.2f}{more}. Allow more parents and see what changes."
    ]


def _worth(sample: DagSample) -> str:
    """What the draws are worth; where their exact probabilities are known, more than any count of them could say."""
    effective, count = sample.effective_samples, len(sample)
    if listed(sample) or math.isnan(effective) or abs(effective - count) <= 0.001 * count:
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
    if limit is not None and content.target not in ("trees", "forests"):
        parents = f" A variable has at most {limit} parent{'' if limit == 1 else 's'}."
    rules = _rules(settings)
    fixed = f" The user fixed {' and '.join(rules)} beforehand (see the settings)." if rules else ""
    return (
        f"{_TARGETS[content.target]}The prior: {prior_text(settings.get('prior'))}. How well a graph fits the data is "
        f"measured by {score_text(settings.get('score'))}.{parents}{fixed} Other choices give other numbers."
    )


def _rules(settings: Mapping[str, Any]) -> list[str]:
    rules = [f"{key} edges" for key in ("required", "forbidden") if settings.get(key)]
    return [*rules, "tiers"] if settings.get("tiers") else rules


def prior_text(description: Any) -> str:
    """A prior in words."""
    return _described(description, _PRIORS)


def score_text(description: Any) -> str:
    """A score in words."""
    return _described(description, _SCORES)


def _described(description: Any, words: Mapping[str, str]) -> str:
    if isinstance(description, Mapping) and description.get("kind") in words:
        return words[description["kind"]].format(**description)
    return "not recorded" if description is None else printable(description)


def provenance_of_part(content: Content, exact: bool) -> str:
    """Whether a part of the report is exact or estimated, and from what."""
    if exact:
        return f"Exact; {MODULARITY_WORDS[content.target]}."
    sample = content.sample
    if sample is None:
        return ""
    if content.target == "bootstrap":
        return f"Shares of {_counted(len(sample), 'bootstrap replicate')}, not posterior probabilities."
    if listed(sample):
        covered = f", {percent(sample.covered)} of the posterior" if math.isfinite(sample.covered) else ""
        return f"Among {len(sample):,} of the most probable graphs only{covered}; {MODULARITY_WORDS[content.target]}."
    return f"Estimated from {_counted(len(sample), 'graph')}{_worth(sample)}; {MODULARITY_WORDS[content.target]}."


def omitted(content: Content, part: str) -> str:
    """The sentence that stands where a part was left out."""
    return f"{_PARTS[part]}: left out. {content.omitted[part]}."


def setting_rows(content: Content) -> list[tuple[str, str]]:
    """The settings as names and values, for the table at the end."""
    settings, sample = content.settings, content.sample
    rows = [
        ("Method", content.method + (f" ({printable(content.reason)})" if content.reason else "")),
        ("Counted", MODULARITY_WORDS[content.target]),
        ("Score", score_text(settings.get("score"))),
        ("Prior", prior_text(settings.get("prior"))),
        ("Most parents", "1" if content.target in ("trees", "forests") else _recorded(settings.get("max_parents"))),
        ("Computed on", printable(_recorded(settings.get("engine")))),
    ]
    for key in ("required", "forbidden"):
        if settings.get(key):
            edges = [f"{printable(parent)} → {printable(child)}" for parent, child in settings[key]]
            rows.append((f"{key.capitalize()} edges", shortened(edges)))
    if settings.get("tiers"):
        rows.append(("Tiers", " | ".join(", ".join(map(printable, tier)) for tier in settings["tiers"])))
    own = settings.get("method")
    if isinstance(own, Mapping):
        # How many replicates these results rest on stands below.
        said = {key: value for key, value in own.items() if key != "replicates" or sample is None}
        rows.append(("Settings of the method", readable_setting(said)))
    if sample is not None:
        seeds = sample.provenance.get("seeds", [sample.provenance.get("seed")])
        known = [str(seed) for seed in seeds if seed is not None]
        kept = "Graphs listed" if listed(sample) else "Replicates" if content.target == "bootstrap" else "Graphs drawn"
        rows.append((kept, f"{len(sample):,}{_worth(sample)}"))
        rows.append(("Seed", ", ".join(known) or ("none needed" if listed(sample) else "not recorded")))
    if math.isfinite(content.log_evidence):
        rows.append(("Log evidence", f"{content.log_evidence:.6f}"))
    rows.append(("Data fingerprint", content.fingerprint or "not recorded"))
    return rows
