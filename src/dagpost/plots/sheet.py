"""What stands around a scene in a picture of its own: below it the legend and what has to be said.

Places are in points, counted to the right and downwards, as in the scene. `svg` and `canvas` draw the same sheet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from dagpost.plots.letters import text_width, wrapped_text
from dagpost.plots.marks import EXOGENOUS, LEGEND
from dagpost.plots.ports import Point
from dagpost.plots.scene import Scene
from dagpost.posterior.pair_direction import Word

#: How wide a mark of the legend is, and a short one that shows a probability.
MARK, SHORT_MARK = 34.0, 24.0
#: Probabilities of which the legend shows how wide and strong a line is.
CHANCES = (0.25, 0.5, 1.0)
#: Size of the words below a picture, and from line to line there.
SMALL, _STEP = 10.5, 15.5
_LEFT, _BESIDE = 10.0, 8.0
#: Narrower than this, the words below a picture would be a column.
_NARROWEST = 330.0
#: What compelled directions rest on.
_ASSUMED = "Directions that the data compel assume that there are no hidden common causes."

Kind = Literal["legend", "caption"]


@dataclass(frozen=True)
class Words:
    """A line of text; `place` is where it begins, half-way up its capitals."""

    kind: Kind
    text: str
    place: Point


@dataclass(frozen=True)
class Sample:
    """A mark of the legend, from `place` to the right: the line of a word, "exogenous" for a box, None for no head."""

    word: Word | Literal["exogenous"] | None
    chance: float
    place: Point


@dataclass(frozen=True)
class Sheet:
    """A scene with its words: the sides of the whole, and how far the scene is moved to the right."""

    scene: Scene
    width: float
    height: float
    step: float
    words: tuple[Words, ...]
    samples: tuple[Sample, ...]

    @property
    def bare(self) -> Word:
        """The word whose lines show how wide and strong each probability is."""
        return self.scene.words[0] if self.scene.words else "open"


def sheet_of(scene: Scene, *, legend: bool = True) -> Sheet:
    """The sheet of a scene; without a legend it has no remarks either.

    >>> import numpy as np
    >>> from dagpost.plots.scene import scene_of
    >>> from dagpost.posterior.directions import not_computed
    >>> found = sheet_of(scene_of(not_computed(("a", "b"), np.array([[0.0, 0.8], [0.1, 0.0]]))))
    >>> [words.text for words in found.words]
    ['direction not computed', 'probability of an edge:', '0.25', '0.5', '1']
    """
    width = max(scene.width, _NARROWEST) if legend else scene.width
    words: list[Words] = []
    y = scene.height
    samples: list[Sample] = []
    if legend:
        y = _add_legend(scene, width, y + 12.0, words, samples)
        assumed = _ASSUMED if {"clear", "leaning"} & {*scene.words} else ""
        # What the numbers are comes first, names that are written out last.
        first = " ".join(filter(None, [*scene.remarks[:1], assumed]))
        y = _add_remarks([first, *scene.remarks[1:]], width, y, words) + 4.0
    return Sheet(scene, width, y, (width - scene.width) / 2.0, tuple(words), tuple(samples))


def _add_legend(scene: Scene, width: float, y: float, words: list[Words], samples: list[Sample]) -> float:
    """Put the legend below `y`, and say where it ends."""
    labels = scene.labels or {}
    items: list[tuple[Word | Literal["exogenous"], str]] = [
        (word, f"direction {labels.get(word, LEGEND[word])}") for word in scene.words
    ]
    if scene.exogenous:
        items.append(("exogenous", EXOGENOUS))
    for word, text in items:
        samples.append(Sample(word, 1.0, (_LEFT, y)))
        for line in wrapped_text(text, width - 2.0 * _LEFT - MARK - _BESIDE, SMALL):
            words.append(Words("legend", line, (_LEFT + MARK + _BESIDE, y)))
            y += _STEP
    if scene.words:
        x = _LEFT
        measured = "share with an edge" if "share" in scene.measure else "probability of an edge"
        for text, chance in zip(("", *(f"{chance:g}" for chance in CHANCES)), (None, *CHANCES), strict=True):
            shown = f"{measured}:" if chance is None else text
            if chance is not None:
                samples.append(Sample(None, chance, (x, y)))
                x += SHORT_MARK + 4.0
            words.append(Words("legend", shown, (x, y)))
            x += text_width(shown, SMALL) + 11.0
        y += _STEP
    return y


def _add_remarks(remarks: Sequence[str], width: float, y: float, words: list[Words]) -> float:
    for remark in remarks:
        for line in wrapped_text(remark, width - 2.0 * _LEFT, SMALL):
            words.append(Words("caption", line, (_LEFT, y)))
            y += 1.32 * SMALL
    return y
