"""What a notebook shows of a fitted model or a sample: the sentence that matters, a picture and the first pairs."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from dagpost._tools.setting_text import given_columns
from dagpost._tools.text import printable
from dagpost.plots.marks import mark
from dagpost.plots.scene import THRESHOLD, scene_of
from dagpost.plots.sources import averaged_words
from dagpost.plots.svg import svg_of
from dagpost.posterior.condition_words import given_provenance, given_words
from dagpost.posterior.directions import Directions, about_cuts, directions_of_sample, quick_directions
from dagpost.posterior.sensitivity import Sensitivity, label_under_choices
from dagpost.posterior.variations import known_sensitivity

if TYPE_CHECKING:
    from dagpost.data.recipe import Recipe
    from dagpost.posterior.fitted import Fitted
    from dagpost.posterior.sample import DagSample

#: How many pairs are listed, and the least probability of those.
_PAIRS, _LEAST = 10, 0.0005


def model_html(fitted: Fitted, title: str) -> str:
    """HTML of a fitted model under its `repr`."""
    results, target = fitted.recall("results"), fitted.target
    under = given_words(given_provenance(fitted.condition))
    words = "; ".join(filter(None, (target.words, given_columns(fitted.exogenous), under)))
    if results is None:
        later = "Evidence and edges are computed when they are first used."
        return f"<p>{html.escape(title)}</p><p>{html.escape(f'{fitted.method.name} ({words})')}. {later}</p>"
    how = "Exact" if results.exact else f"Estimated from graphs by {fitted.method.name}"
    if results.tables:
        how = averaged_words(fitted)
    sentence = f"{how} ({words}). {results.verdict or ''}"
    directions = quick_directions(fitted)
    if not directions.computed:
        sentence += " Directions are not computed yet: own_sample() draws the graphs that they come from."
    shown = _shown(directions, target.measure, known_sensitivity(fitted), fitted.data.recipe)
    return f"<p>{html.escape(title)}</p><p>{html.escape(sentence)}</p>{shown}"


def sample_html(sample: DagSample) -> str:
    """HTML of a sample under its `repr`."""
    sentence = f"{sample!r}. {sample.diagnosed.verdict if sample.from_chains else ''}"
    return f"<p>{html.escape(sentence)}</p>{_shown(directions_of_sample(sample), sample.target.measure)}"


def _shown(directions: Directions, measure: str, tried: Sensitivity | None = None, recipe: Recipe | None = None) -> str:
    """The picture, and the pairs that are joined most often, with the marks and words of every picture."""
    names = [html.escape(printable(name)) for name in directions.names]
    rows = "".join(
        f"<tr><td>{names[pair.source]}</td><td>{mark(pair.word)}</td><td>{names[pair.target]}</td>"
        f"<td>{pair.joined:.3f}</td><td>{label_under_choices(pair, tried)}</td></tr>"
        for pair in directions.pairs(_LEAST)[:_PAIRS]
    )
    heads = "".join(f"<th>{head}</th>" for head in ("from", "", "to", "joined", "direction"))
    remarks = [directions.assumption, directions.note, about_cuts(directions, recipe)] if directions.computed else []
    note = html.escape(" ".join(filter(None, remarks)))
    table = f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
    return f"{small_picture(directions, measure, tried)}{table}<p>{note}</p>"


def small_picture(directions: Directions, measure: str = "probability", tried: Sensitivity | None = None) -> str:
    """The graph as SVG with its legend."""
    pairs = directions.pairs(THRESHOLD)
    said = [label_under_choices(pair, tried) for pair in pairs]
    return svg_of(scene_of(directions, pairs, said=said, measure=measure), standalone=True)
