"""The graph of a report: the picture for wide screens and the one for narrow ones, their frame and their legend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from dagpost.plots.box_layout import Shape
from dagpost.plots.marks import CROSS, EXOGENOUS, LEGEND, LOCK, WORDS, exogenous_mark, listed, mark
from dagpost.plots.scene import Scene, scene_of
from dagpost.plots.svg import svg_of
from dagpost.plots.time_scene import time_scene
from dagpost.posterior.pair_direction import Word
from dagpost.posterior.sensitivity import label_under_choices
from dagpost.report.content import Content
from dagpost.report.many_columns import is_many, pairs_shown
from dagpost.report.tables import text

#: What the legend says of what has changed.
_CHANGES = {
    "grew": "more than before",
    "shrank": "less than before",
    "turned": "another direction than before, or a clearer one",
}
_SHAPES: tuple[Shape, ...] = ("wide", "narrow")


class GraphSection(NamedTuple):
    """Markup: both pictures, the style of the frame around them (their sizes), and the items of the legend."""

    pictures: str
    frame: str
    legend: str


def graph_section(content: Content, threshold: float, signs: Sequence[str]) -> GraphSection:
    """The graph of a report; lines below the threshold are hidden at first, `signs` are those of the pairs' effects."""
    scenes = _scenes_in_time(content, threshold) if content.in_time else _scenes(content, threshold, signs)
    frame = ";".join(
        f"--{shape}-width:{scene.width:.0f};--{shape}-height:{scene.height:.0f}" for shape, scene in scenes.items()
    )
    return GraphSection("\n".join(map(svg_of, scenes.values())), frame, _legend(content, scenes["wide"]))


def _scenes(content: Content, threshold: float, signs: Sequence[str]) -> dict[Shape, Scene]:
    pairs = pairs_shown(content)
    said = [label_under_choices(pair, content.sensitivity) for pair in pairs]
    return {
        shape: scene_of(
            content.directions,
            pairs,
            threshold=threshold,
            shape=shape,
            said=said,
            signs=signs,
            measure=content.target.measure,
        )
        for shape in _SHAPES
    }


def _scenes_in_time(content: Content, threshold: float) -> dict[Shape, Scene]:
    """Series as rows and times as columns, on any screen; each line knows its place among the pairs of the report."""
    places = {frozenset((pair.source, pair.target)): place for place, pair in enumerate(pairs_shown(content))}
    scene = time_scene(content.directions, measure=content.target.measure)
    lines = [
        replace(line, pair=places[ends], hidden=line.joined < threshold)
        for line in scene.lines
        if (ends := frozenset((line.source, line.target))) in places
    ]
    return {shape: replace(scene, shape=shape, lines=tuple(lines)) for shape in _SHAPES}


def _legend(content: Content, scene: Scene) -> str:
    """What the lines of the graph mean, the same words and marks as in plots, and what is not drawn."""
    labels = {**LEGEND, **(scene.labels or {})}
    items = [f"{mark(word)} direction {labels[word]}" for word in listed(line.word for line in scene.lines)]
    if scene.lines:
        number, about = "0.97", f"{content.target.measure} of an edge, either way"
        if any(line.sign for line in scene.lines):
            number, about = f"{number} +", f"{about}; + raises, −&nbsp;lowers"
        items.append(f"{_number(number)} {about}")
    items += [f"{exogenous_mark()} {EXOGENOUS}"] if content.exogenous else []
    # Of very many columns the line below the slider says what is drawn now.
    items += [] if is_many(content) else [text(remark) for remark in scene.remarks]
    return "".join(f"<li>{item}</li>" for item in items) + _more_legend(scene, labels)


def _more_legend(scene: Scene, labels: Mapping[Word, str]) -> str:
    """What the legend says besides once something is assumed: a script takes what it needs from here."""
    said = {**labels, "rules": "decided by your rules or assumptions"}
    # Where directions were computed, they are under assumptions too.
    missing = [word for word in WORDS if word not in {"unknown", *(line.word for line in scene.lines)}]
    items = [f'<li data-word="{word}">{mark(word)} direction {said[word]}</li>' for word in missing]
    items += [f'<li data-word="{kind}">{_change(kind)} {words}</li>' for kind, words in _CHANGES.items()]
    items += [
        f'<li data-word="{kind}">{_assumption(kind)} {words}</li>'
        for kind, words in (("required", "assumed"), ("forbidden", "assumed away"))
    ]
    return f"<template>{''.join(items)}</template>"


def _change(kind: str) -> str:
    """The mark of what has changed."""
    words = {"grew": "▲.20", "shrank": "▼.20"}.get(kind, "")
    changed = f'<text x="30" y="11.5" text-anchor="middle" font-size="12" class="change">{words}</text>'
    return _sample("number sample", f'<g class="{kind}"><path class="halo" d="M6,7H54"/>{changed}</g>')


def _assumption(kind: str) -> str:
    """The mark of what is assumed, or assumed away."""
    drawn = f'<path class="lock" d="{LOCK}"/>' if kind == "required" else f'<path class="cross" d="{CROSS}"/>'
    line = '<path d="M4,7H22M38,7H56" fill="none" stroke="currentColor" stroke-width="1.2"/>'
    return _sample("sample", f'{line}<g transform="translate(30 6)">{drawn}</g>')


def _number(words: str) -> str:
    """The mark of the numbers on lines."""
    return _sample("number", f'<text x="30" y="11.5" text-anchor="middle" font-size="14">{words}</text>')


def _sample(kind: str, inside: str) -> str:
    """A mark of the legend."""
    return f'<svg class="mark {kind}" viewBox="0 0 60 14" width="45" height="11" aria-hidden="true">{inside}</svg>'
