"""The graph of a report: the picture for wide screens and the one for narrow ones, their frame and their legend."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dagpost.plots.box_layout import Shape
from dagpost.plots.marks import EXOGENOUS, LEGEND, exogenous_mark, listed, mark
from dagpost.plots.scene import Scene, scene_of
from dagpost.plots.svg import svg_of
from dagpost.posterior.sensitivity import label_under_choices
from dagpost.report.content import Content
from dagpost.report.many_columns import pairs_shown
from dagpost.report.tables import text

_SHAPES: tuple[Shape, ...] = ("wide", "narrow")


class GraphSection(NamedTuple):
    """Markup: both pictures, the style of the frame around them (their sizes), and the items of the legend."""

    pictures: str
    frame: str
    legend: str


def graph_section(content: Content, threshold: float, signs: Sequence[str]) -> GraphSection:
    """The graph of a report; lines below the threshold are hidden at first, `signs` are those of the pairs' effects."""
    pairs = pairs_shown(content)
    said = [label_under_choices(pair, content.sensitivity) for pair in pairs]
    scenes = {
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
    frame = ";".join(
        f"--{shape}-width:{scene.width:.0f};--{shape}-height:{scene.height:.0f}" for shape, scene in scenes.items()
    )
    return GraphSection("\n".join(map(svg_of, scenes.values())), frame, _legend(content, scenes["wide"]))


def _legend(content: Content, scene: Scene) -> str:
    """What the lines of the graph mean, the same words and marks as in plots, and what is not drawn."""
    items = [f"{mark(word)} direction {LEGEND[word]}" for word in listed(line.word for line in scene.lines)]
    if scene.lines:
        signed = any(line.sign for line in scene.lines)
        about = f"{content.target.measure} of an edge, either way"
        items.append(
            f"{_number('0.97 +' if signed else '0.97')} {about}{'; + raises, −&nbsp;lowers' if signed else ''}"
        )
    items += [f"{exogenous_mark()} {EXOGENOUS}"] if content.exogenous else []
    items += [text(remark) for remark in scene.remarks]
    return "".join(f"<li>{item}</li>" for item in items)


def _number(words: str) -> str:
    """The mark of the numbers on lines."""
    return (
        '<svg class="mark number" viewBox="0 0 60 14" width="45" height="11" aria-hidden="true">'
        f'<text x="30" y="11.5" text-anchor="middle" font-size="14">{words}</text></svg>'
    )
