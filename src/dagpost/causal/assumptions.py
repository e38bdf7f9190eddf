"""What every number about an effect assumes, in sentences: what no data can show, and who decided the directions.

An effect is that of the graphs, and data without interventions cannot tell the graphs of an equivalence class apart. So
it matters for every edge on the way from cause to outcome who says which way it points: the data, the user's rules, the
model, or nobody.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost._tools.text import printable, shortened
from dagpost.causal.graphs import Alike, Graphs
from dagpost.causal.question import Question
from dagpost.features import ancestors
from dagpost.posterior.directions import Directions
from dagpost.posterior.pair_direction import Word

#: From this probability on an edge on the way is spoken of.
_SPOKEN_OF = 0.1
_GENERAL = (
    "No common cause of two columns is missing from the table.",
    "How rows came into the table does not depend on the values in them (no selection).",
    "Nothing feeds back: causes form a graph without cycles.",
)
_WORDS: dict[tuple[Word, ...], str] = {
    ("clear",): "compelled by the data: {}",
    ("leaning",): "leaning one way by the data, not surely: {}",
    ("rules",): "decided by your rules: {}",
    ("model",): "following from the model: {}",
    ("open", "unknown"): "open, the data cannot tell: {}",
}


def assumptions_of(
    graphs: Graphs, groups: Sequence[Alike], question: Question, directions: Directions | None
) -> tuple[str, ...]:
    """What the numbers about an effect assume."""
    sentences = [*_GENERAL, graphs.kind.assumption]
    if graphs.columns.exogenous:
        names = shortened(list(map(printable, graphs.columns.exogenous)))
        sentences.append(f"Exogenous columns ({names}) are not caused by others; they are distributed as in the table.")
    if directions is not None:
        sentences += _about_directions(directions, _on_the_way(graphs, groups, question))
    return tuple(sentences)


def _on_the_way(graphs: Graphs, groups: Sequence[Alike], question: Question) -> Floats:
    """The probability that an edge (parent, child) lies on a directed path from a changed cause to the outcome."""
    nodes, y = len(graphs.columns.names), question.outcome
    shares = np.zeros((nodes, nodes))
    changed = np.uint64(sum(1 << column for column in question.changed))
    set_columns = [own.column for own in question.causes]
    bits = np.uint64(1) << np.arange(nodes, dtype=np.uint64)
    for part, own in zip(graphs.parts, groups, strict=True):
        cut = part.graphs[own.rows][own.reached]
        cut[:, set_columns] = 0
        above = ancestors(cut)
        starts = (above & changed != 0) | (bits & changed != 0)
        ends = (above[:, [y]] & bits != 0) | (np.arange(nodes) == y)
        weights = own.weights[own.reached]
        for child in range(nodes):
            edges = cut[:, [child]] & bits != 0
            shares[:, child] += (weights * ends[:, child]) @ (edges & starts)
    return shares


def _about_directions(directions: Directions, shares: Floats) -> Iterable[str]:
    both = shares + shares.T
    pairs = np.argwhere(np.triu(both >= _SPOKEN_OF, 1)).tolist()
    if not pairs:
        return []
    found = [directions.pair(*ends) for ends in sorted(pairs, key=lambda ends: -both[tuple(ends)])]
    names = directions.names
    parts = []
    for words, sentence in _WORDS.items():
        own = [
            f"{printable(names[pair.source])} {pair.mark()} {printable(names[pair.target])}"
            for pair in found
            if pair.word in words
        ]
        if own:
            said = sentence.replace("rules", "rules or assumptions") if directions.assumed else sentence
            parts.append(said.format(shortened(own)))
    return [f"Directions on the way from cause to outcome: {'; '.join(parts)}."]
