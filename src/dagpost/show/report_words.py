"""What a report says in words: what was computed, under which prior, how sure it is, and what an arrow means.

Written for someone who knows the data and not the method, a physician say. Nothing here is markup: the page escapes it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from dagpost.estimates import MODULARITY_WORDS
from dagpost.names import printable, shortened
from dagpost.posterior import DagSample
from dagpost.show.report_content import Content

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
    "bootstrap": "",
}

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
        return "Exact", "good"
    if content.trusted is False:
        return "Do not trust it yet", "poor"
    return "Estimated", "fair"


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


def certainty(content: Content) -> str:
    """What was computed and how far to trust it."""
    if content.target == "bootstrap":
        number = "" if content.sample is None else f"{len(content.sample):,} "
        return (
            f"The rows were drawn anew {number}times, and each time a greedy search looked for one good graph. The "
            "numbers are the share of these graphs that have an edge. A high share says that the finding does not hang "
            "on single rows; it is not the probability that the edge is there."
        )
    if content.exact:
        return _exactly(content)
    return _estimated(content.sample, content.verdict)


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
        bound = f" Rounding may have moved a probability by at most {content.error_bound:.0e}{relative}{size}."
    text = (
        f"The probabilities of edges are exact: they are sums over {what}, not estimates from some of them.{bound} "
        "What remains uncertain is what the data leave uncertain, and that is what the probabilities say: 0.7 means "
        "that graphs with this edge have 70% of the probability in all, given the data, the prior and the score."
    )
    if content.sample is not None:
        worth = _worth(content.sample)
        text += (
            f" Some other parts, marked as estimated, come from {len(content.sample):,} graphs that stand for the same "
            f"posterior{worth}."
        )
        if content.verdict is not None:
            text += f" About these: {printable(content.verdict)}"
    return text


def _estimated(sample: DagSample | None, verdict: str | None) -> str:
    if sample is None:
        return "The probabilities are estimates."
    text = f"The probabilities are estimates, from {len(sample):,} graphs{_worth(sample)}, and not exact. "
    if sample.estimator == "given weights":
        return (
            f"The probabilities are the weighted shares of {len(sample):,} graphs that were picked. How far they are "
            "from those of all graphs is not known."
        )
    if sample.method == "kbest":
        text = (
            f"The probabilities are those among the {len(sample):,} most probable graphs, which are no sample: what "
            "the graphs that are left out would say is not known. "
        )
    elif sample.guarantee is not None:
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
        error = 2.0 * math.sqrt(0.25 / sample.effective_samples)
        text += f"An edge with a probability near one half is known to about ±{min(error, 0.5):.2g} (95%). "
    covered = sample.covered
    if math.isfinite(covered):
        text += f"The graphs that were seen have together {_percent(min(covered, 1.0))} of the whole posterior. "
    return text.strip()


def _worth(sample: DagSample) -> str:
    """What the draws are worth; where their exact probabilities are known, more than any count of them could say."""
    effective, count = sample.effective_samples, len(sample)
    if math.isnan(effective) or abs(effective - count) <= 0.001 * count:
        return ""
    if effective > count:
        return ", each weighted by its exact probability"
    return f", worth about {effective:,.0f} independent ones"


def _recorded(value: Any) -> str:
    return "not recorded" if value is None else str(value)


def _percent(share: float) -> str:
    return f"{100.0 * share:.1f}%" if share < 0.9995 else "over 99.9%"


def prior(content: Content) -> str:
    """Under which assumptions the numbers hold."""
    settings = content.settings
    if content.target == "bootstrap":
        return f"The graphs were scored by {score_text(settings.get('score'))}."
    limit = settings.get("max_parents")
    parents = ""
    if limit is not None and content.target not in ("trees", "forests"):
        parents = f" A variable has at most {limit} parent{'' if limit == 1 else 's'}."
    rules = [f"{key} edges" for key in ("required", "forbidden") if settings.get(key)]
    rules += ["tiers"] if settings.get("tiers") else []
    fixed = f" The user fixed {' and '.join(rules)} beforehand (see the settings)." if rules else ""
    return (
        f"{_TARGETS[content.target]}The prior: {prior_text(settings.get('prior'))}. How well a graph fits the data is "
        f"measured by {score_text(settings.get('score'))}.{parents}{fixed} Other choices give other numbers."
    )


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
    return f"Estimated from {len(sample):,} graphs{_worth(sample)}; {MODULARITY_WORDS[content.target]}."


def setting_rows(content: Content) -> list[tuple[str, str]]:
    """The settings as names and values, for the table at the end."""
    settings, sample = content.settings, content.sample
    rows = [
        ("Method", content.method + (f" ({printable(content.reason)})" if content.reason else "")),
        ("Counted", MODULARITY_WORDS[content.target]),
        ("Score", score_text(settings.get("score"))),
        ("Prior", prior_text(settings.get("prior"))),
        ("Most parents", "1" if content.target in ("trees", "forests") else _recorded(settings.get("max_parents"))),
    ]
    for key in ("required", "forbidden"):
        if settings.get(key):
            edges = [f"{printable(parent)} → {printable(child)}" for parent, child in settings[key]]
            rows.append((f"{key.capitalize()} edges", shortened(edges)))
    if settings.get("tiers"):
        rows.append(("Tiers", " | ".join(", ".join(map(printable, tier)) for tier in settings["tiers"])))
    own = settings.get("method")
    if isinstance(own, Mapping):
        values = ", ".join(f"{key}={value!r}" for key, value in own.items() if key != "kind")
        rows.append(("Settings of the method", printable(values) or "none"))
    if sample is not None:
        seeds = sample.provenance.get("seeds", [sample.provenance.get("seed")])
        known = [str(seed) for seed in seeds if seed is not None]
        rows.append(("Graphs drawn", f"{len(sample):,}{_worth(sample)}"))
        rows.append(("Seed", ", ".join(known) or "none needed"))
    if math.isfinite(content.log_evidence):
        rows.append(("Log evidence", f"{content.log_evidence:.6f}"))
    rows.append(("Data fingerprint", content.fingerprint or "not recorded"))
    return rows
