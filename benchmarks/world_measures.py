"""How far a posterior is from what is known to be true: pairs, clear directions, calibration.

Pairs. "Joined" is the probability of an edge between two columns. Log loss: the mean over pairs of -log of the
probability given to what is true, which counts as no closer to 0 or 1 than 0.001; Brier score: the mean squared
distance. Invented: pairs that are not joined and are said to be so with 0.5 (0.9) or more. Missed: pairs that are
joined and are said to be so with less than 0.5.

Clear directions: those of `DagPosterior.directions()` with the word "clear" (the data compel them in at least 90% of
the probability of being joined), of pairs that are joined with 0.5 or more. Right: the edge is there, with this
direction, and compelled by the truth (directed in its essential graph). Wrong: the edge points the other way, or is not
there. Lucky: as in the truth, but no data could tell. Found: the share of compelled edges that were called clear.
Where causes are hidden see world_networks.py: all arrows of the truth count as compelled.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from benchmarks.world_networks import Flags, Truth
from numpy.typing import NDArray

from dagpost import DagPosterior
from dagpost.posterior.pair_direction import CLEAR

Floats = NDArray[np.float64]
Figures = dict[str, Any]

#: No probability counts as closer to 0 or 1 than this in a log loss: one sure error costs 6.9, not infinity.
CLIP = 0.001
TENTHS = 10
JOINED, SURE = 0.5, 0.9
#: Probabilities are kept with this many digits.
DIGITS = 6


class Answer(NamedTuple):
    """Of each pair, the probability that it is joined, and that it is and the data compel `[a, b]` to point to b."""

    joined: Floats
    compelled: Floats

    @property
    def clear(self) -> Flags:
        """Directions that are clear, of pairs that are likely joined."""
        return (self.joined >= JOINED) & (self.compelled >= CLEAR * self.joined)


def answer_of(model: DagPosterior, names: list[str]) -> Answer:
    """What a model says of the columns; one that was left out is joined with nothing."""
    place = {name: number for number, name in enumerate(names)}
    joined, compelled = np.zeros((2, len(names), len(names)))
    rows = [place[name] for name in model.names_]
    edges = model.edge_probabilities_.to_numpy()
    joined[np.ix_(rows, rows)] = edges + edges.T
    found: pd.DataFrame = model.directions()
    first, second = found["from"].map(place).to_numpy(), found["to"].map(place).to_numpy()
    compelled[first, second], compelled[second, first] = found["by_data"], found["by_data_back"]
    return Answer(joined.clip(0.0, 1.0), compelled)


def written(matrices: NamedTuple) -> dict[str, list[list[float]]]:
    """An answer or a truth as JSON keeps it."""
    return {name: np.round(np.asarray(own, np.float64), DIGITS).tolist() for name, own in matrices._asdict().items()}


def figures_of(truth: Truth, answer: Answer) -> Figures:
    """Sums over the pairs of one table, so that tables can be added up."""
    joined, clear = answer.joined, answer.clear
    upper = np.triu_indices(len(joined), 1)
    said, true = joined[upper], truth.joined[upper]
    inside = said.clip(CLIP, 1 - CLIP)
    tenth = np.minimum((said * TENTHS).astype(np.int64), TENTHS - 1)
    parts = np.ones_like(said), said, true
    return {
        "pairs": len(said),
        "true": int(true.sum()),
        "log_loss": float(-np.log(np.where(true, inside, 1 - inside)).sum()),
        "squares": float(((said - true) ** 2).sum()),
        "likely": int((said >= JOINED).sum()),
        "sure": int((said >= SURE).sum()),
        "invented": int(((said >= JOINED) & ~true).sum()),
        "invented_sure": int(((said >= SURE) & ~true).sum()),
        "missed": int(((said < JOINED) & true).sum()),
        "tenths": [np.bincount(tenth, weights=own, minlength=TENTHS).tolist() for own in parts],
        "clear": int(clear.sum()),
        "right": int((clear & truth.compelled).sum()),
        "wrong": int((clear & ~truth.arrows).sum()),
        "compelled": int(truth.compelled.sum()),
        "largest": float(said.max()),
    }


def total(tables: Iterable[Mapping[str, Any]]) -> Figures:
    """Many tables as one: sums, and the mean over tables of each one's losses a pair, with its standard error."""
    each = list(tables)
    sums = {name: sum(own[name] for own in each) for name in each[0] if isinstance(each[0][name], int)}
    losses = np.array([own["log_loss"] / own["pairs"] for own in each])
    squares = np.array([own["squares"] / own["pairs"] for own in each])
    error = losses.std(ddof=1) / np.sqrt(len(each)) if len(each) > 1 else np.nan
    return {
        **sums,
        "tables": len(each),
        "log_loss": float(losses.mean()),
        "log_loss_error": float(error),
        "brier": float(squares.mean()),
        "tenths": np.sum([own["tenths"] for own in each], axis=0).tolist(),
        "largest": max(own["largest"] for own in each),
        "cpu_seconds": sum(own["cpu_seconds"] for own in each),
    }


def share(part: float, whole: float) -> str:
    """In per cent."""
    return f"{100 * part / whole:.1f}%" if whole else "–"


HEAD = (
    "tables", "log loss", "Brier", "said ≥ 0.9: true", "invented ≥ 0.5", "≥ 0.9", "missed",
    "clear: right", "lucky", "wrong", "found", "CPU s",
)  # fmt: skip


def cells(own: Mapping[str, Any]) -> list[str]:
    """The figures of a total, as `HEAD` names them."""
    absent = own["pairs"] - own["true"]
    lucky = own["clear"] - own["right"] - own["wrong"]
    return [
        str(own["tables"]),
        f"{own['log_loss']:.3f} ± {own['log_loss_error']:.3f}",
        f"{own['brier']:.3f}",
        f"{share(own['sure'] - own['invented_sure'], own['sure'])} of {own['sure']}",
        f"{share(own['invented'], absent)}",
        f"{share(own['invented_sure'], absent)}",
        f"{share(own['missed'], own['true'])}",
        str(own["right"]),
        str(lucky),
        f"{own['wrong']} of {own['clear']}",
        share(own["right"], own["compelled"]),
        f"{own['cpu_seconds']:.1f}",
    ]


BRIEF_HEAD = "log loss", "said ≥ 0.9: true", "invented ≥ 0.5", "missed", "clear: wrong", "found"


def brief_cells(settings: Iterable[Mapping[str, Any]]) -> list[str]:
    """Several settings beside each other in each cell, in the columns of `BRIEF_HEAD`."""
    each = [dict(zip(HEAD, cells(own), strict=True)) for own in settings]
    for own in each:
        own["log loss"] = own["log loss"].split(" ")[0]
        own["clear: wrong"] = own["wrong"]
    return [" / ".join(own[name] for own in each) for name in BRIEF_HEAD]


def calibration_cells(own: Mapping[str, Any]) -> list[str]:
    """Tenth by tenth: what was said on average, how often it was true, how many pairs."""
    count, said, true = own["tenths"]
    return [
        f"{said[k] / count[k]:.3f} → {true[k] / count[k]:.3f} ({count[k]:,.0f})" if count[k] else "–"
        for k in range(TENTHS)
    ]


def table_text(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table in Markdown."""
    lines = [list(head), *map(list, rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
