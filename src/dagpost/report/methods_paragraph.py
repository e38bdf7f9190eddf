"""A paragraph on the methods, ready to be pasted into a paper: this very analysis in prose, and the works it cites.

Every sentence is true of the result at hand, or left out: what is not known is not said.
"""

from __future__ import annotations

import math
import platform
from collections.abc import Mapping
from importlib.metadata import version
from typing import NamedTuple

from dagpost._tools.json_settings import from_json
from dagpost._tools.setting_text import joined_before, readable_shares
from dagpost._tools.text import printable, shortened
from dagpost._version import __version__
from dagpost.methods.registry import METHODS
from dagpost.methods.targets import MODULARITIES, ORDER
from dagpost.plots.sources import percent
from dagpost.posterior.pair_direction import CLEAR
from dagpost.posterior.shares import GIVEN
from dagpost.report import assumption, citations
from dagpost.report.content import Content
from dagpost.report.data_sentences import about_columns, about_gaps, about_table
from dagpost.report.tables import folded, paragraph
from dagpost.report.words import counted, edges_listed, prior_in_words
from dagpost.scores import scores_filled
from dagpost.scores.registry import SCORES


class Paragraph(NamedTuple):
    """The prose, and the works that it names."""

    words: str
    works: tuple[str, ...]


class _Works(list[str]):
    """The works that are named, in their order."""

    def cite(self, *works: str, first: str = "") -> str:
        """The works in brackets, after a blank and what stands `first` there; nothing where there is nothing."""
        named = [work for work in works if work]
        self.extend(work for work in named if work not in self)
        inside = [*([first] if first else []), *map(citations.in_text, named)]
        return f" ({'; '.join(inside)})" if inside else ""


def methods_paragraph(content: Content) -> Paragraph:
    """How this was done, for a paper."""
    works = _Works()
    sentences = [
        about_table(content),
        *about_columns(content),
        *about_gaps(content, works.cite),
        *_set_from_outside(content, works),
        _scored(content, works),
        _weighed(content),
        *_rules(content),
        *assumption.for_paper(content),
        *(_shares(content, works) if not content.target.posterior else _computed(content, works)),
        *_directions(content, works),
        *_sizes(content, works),
        *_choices(content),
        _software(content, works),
    ]
    return Paragraph(" ".join(filter(None, sentences)), tuple(works))


def methods_section(content: Content) -> str:
    """The paragraph as a part of the page."""
    words = paragraph(methods_paragraph(content).words)
    return folded("A methods paragraph to paste", f'<div class="paste">{words}</div>')


def cited(content: Content) -> str:
    """Everything to cite, one a line."""
    return citations.listed(methods_paragraph(content).works)


def _set_from_outside(content: Content, works: _Works) -> list[str]:
    said = []
    if content.interventions:
        said.append(
            "In some rows variables had been set from outside; the score of a variable leaves out the rows in which "
            f"it was set{works.cite(citations.INTERVENTIONS)}."
        )
    if content.regimes is not None:
        said.append(
            f"Which variables differ between the regimes named by {printable(content.regimes.column)} was inferred "
            f"with the graph{works.cite(citations.REGIMES)}."
        )
    return said


def _scored(content: Content, works: _Works) -> str:
    described = content.settings.get("score")
    if isinstance(described, Mapping) and SCORES.knows(described):
        score = from_json(dict(described), SCORES)
        assumed = f" {printable(score.assumes())}" if score.assumes() else ""
        for axis in [] if content.mixture is None else content.mixture["settings"]:
            if not axis.get("fixed"):
                assumed += (
                    f" The {axis['setting']} has the posterior {readable_shares(axis['values'], axis['shares'])}."
                )
        cited = dict.fromkeys(own.citation for own in (score, *scores_filled(score)))
        return f"Graphs were scored with {printable(score.in_detail())}{works.cite(*cited)}.{assumed}"
    if described is None:
        return ""
    if content.observations is None:
        return "The local scores had been computed elsewhere."
    return f"Graphs were scored with {printable(described)}."


def _weighed(content: Content) -> str:
    """The prior on graphs, and the limit on parents."""
    settings, said = content.settings, []
    if settings.get("prior") is not None:
        said.append(f"Structure prior: {prior_in_words(settings['prior'])}")
    most = content.target.most_parents or settings.get("max_parents")
    if most is not None:
        beside = " beside the regimes" if content.regimes is not None else ""
        said.append(f"{'a' if said else 'A'} variable had at most {counted(int(most), 'parent')}{beside}")
    if content.target == ORDER:
        said.append("a graph was counted once for every order of the variables that it fits")
    words = f"{'; '.join(said)}." if said else ""
    return " ".join(filter(None, [words, joined_before(content.joined_before)]))


def _rules(content: Content) -> list[str]:
    """What was fixed beforehand."""
    settings, said = content.settings, []
    for key in ("required", "forbidden"):
        if settings.get(key):
            said.append(f"{key} edges ({shortened(edges_listed(settings[key]))})")
    if settings.get("tiers"):
        tiers = [", ".join(map(printable, tier)) for tier in settings["tiers"]]
        said.append(f"an order of groups, with no edge from a later to an earlier one ({' < '.join(tiers)})")
    return [f"Fixed beforehand: {'; '.join(said)}."] if said else []


def _computed(content: Content, works: _Works) -> list[str]:
    """How the numbers came about, and how close they are."""
    citation = MODULARITIES[content.target].citation if content.target in MODULARITIES else ""
    own = METHODS.named(content.method).citation if content.method in METHODS.names() else ""
    said, which = [], " and meet it" if content.assumes else ""
    if content.exact:
        said.append(
            f"Posterior probabilities of edges are exact: sums over {content.target.summed_over}{which}"
            f"{works.cite(citation or own)}."
        )
    if content.gaps is not None:
        # How each completed table was worked with; the chains over tables are told with the gaps.
        given = "exact sums over all graphs" if content.gaps.exact_given_table else "graphs drawn by the same chains"
        cited = works.cite(citation) if content.gaps.exact_given_table else ""
        said.append(f"Given each of these tables, probabilities of edges came from {given}{cited}.")
    return [*said, *_drawn(content, own, works), *_agreement(content, works)]


def _drawn(content: Content, own: str, works: _Works) -> list[str]:
    sample = content.sample
    if sample is None:
        return []
    which = "Other probabilities come" if content.exact or content.gaps is not None else "Probabilities come"
    chains = "" if sample.chains is None else f", {counted(len(sample.chains.lengths), 'chain')}"
    found_by = works.cite(own or citations.PAPER, first=f"{sample.method}{chains}")
    graphs = counted(len(sample), "graph")
    if sample.listed:
        share = f" ({percent(sample.covered)} of the posterior)" if math.isfinite(sample.covered) else ""
        return [f"{which} from {len(sample):,} of the most probable graphs{share}{found_by}."]
    if sample.from_chains:
        considered = content.reason.partition("parents considered: ")[2].partition(";")[0]
        only = f" The chains considered {printable(considered)}." if considered else ""
        return [f"{which} from {graphs} that Markov chains drew{found_by}.{only}"]
    if sample.estimator == GIVEN and content.given:
        return [f"{which} from the {graphs} in which it holds, of those that were drawn{found_by}."]
    if not sample.independent and sample.draws != "weighted":
        return [f"{which} from {graphs} that were picked from a sample."]
    how = "drawn independently from the posterior" if sample.independent else "drawn and weighted by importance"
    under = " under this assumption" if content.given else ""
    return [f"{which} from {graphs} {how}{under}{found_by}."]


def _agreement(content: Content, works: _Works) -> list[str]:
    """Whether chains agree, in figures."""
    found = content.diagnostics
    if found is None:
        return []
    figures = []
    if math.isfinite(found.largest_r_hat):
        figures.append(f"the largest R-hat of an edge is {found.largest_r_hat:.3f}")
    if math.isfinite(found.smallest_effective):
        figures.append(f"the smallest effective number of graphs is {found.smallest_effective:,.0f}")
    said = []
    if figures:
        joined = " and ".join(figures)
        said.append(f"{joined[0].upper()}{joined[1:]}{works.cite(citations.DIAGNOSTICS)}.")
    return said if found.trusted else [*said, "The chains did not pass all checks of convergence."]


def _shares(content: Content, works: _Works) -> list[str]:
    """A bootstrap has no posterior."""
    sample = content.sample
    times = "repeatedly" if sample is None else counted(len(sample), "time")
    own = METHODS.named(content.method).citation if content.method in METHODS.names() else ""
    return [
        f"Rows were resampled {times}, and each time a greedy search looked for the graph of highest score; numbers "
        f"are shares of these graphs, not posterior probabilities{works.cite(own)}."
    ]


def _directions(content: Content, works: _Works) -> list[str]:
    if not content.directions.computed:
        return []
    if content.target.posterior and content.target.directions:
        return [content.target.directions]
    return [
        "A direction counts as compelled by the data in a graph if it is the same in all graphs of its Markov "
        f"equivalence class{works.cite(citations.CLASSES)}, and as clear from {100 * CLEAR:g}% of the "
        f"{content.target.measure} of being joined on. No hidden common causes are assumed."
    ]


def _sizes(content: Content, works: _Works) -> list[str]:
    if content.sizes is None or not content.sizes.pairs:
        return []
    return [
        "Effects are changes of an outcome when another variable is set from outside"
        f"{works.cite(citations.EFFECTS)}, averaged over the posterior of graphs and parameters; the effect is zero in "
        "graphs without a directed path."
    ]


def _choices(content: Content) -> list[str]:
    found = content.sensitivity
    if found is None or not found.variations:
        return []
    same = " and the same assumption" if content.given else ""
    choices = printable(found.choices())
    return [f"As a check, the analysis was repeated under other choices{same}, one at a time ({choices})."]


def _software(content: Content, works: _Works) -> str:
    seed = content.settings.get("seed")
    sample = content.sample
    if sample is not None:
        seeds = sample.provenance.get("seeds", [sample.provenance.get("seed")])
        seed = next((own for own in seeds if own is not None), seed)
    known = f", seed {seed}" if seed is not None else ""
    made = f"dagpost {__version__}, Python {platform.python_version()}, NumPy {version('numpy')}{known}"
    return f"Software: {made}{works.cite(citations.PAPER)}."
