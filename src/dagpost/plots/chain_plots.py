"""Whether chains can be trusted, as pictures: where each has been, and how far they disagree about edges."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost._tools.checks import whole_number
from dagpost._tools.text import printable
from dagpost.errors import InputError
from dagpost.methods.augmentation import Augmentation
from dagpost.plots.figures import COLOURS, DASHES, SHAPES, SMALL, axes_for, edge_text, escaped, one_a_row, say
from dagpost.posterior.sources import sample_of
from dagpost.scores import class_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dagpost.posterior.sample import DagSample
    from dagpost.posterior.sources import GraphSource

#: More points of a line than this make no visible difference.
_MOST_POINTS = 1000
#: A moving mean is over this share of a chain.
_WINDOWS = 20


def traces(source: GraphSource, *, statement: Any = None, ax: Axes | None = None) -> Axes:
    """Draw the way of each chain: log p(graph, data) draw by draw, or how often a statement has held so far.

    Chains that have found the posterior wander about the same level: the bold lines are moving means. A statement, such
    as ``"A -> B"``, is drawn as the share of a chain's graphs so far in which it holds: lines that come together agree.

    Parameters
    ----------
    source
        A sample that chains drew, such as those of ``method="block-gibbs"``, or a model that was fitted by them.
    statement
        Text or a feature object; None: the log score.
    ax
        Where to draw; None: in a new figure.

    >>> from dagpost import DagPosterior, datasets
    >>> model = DagPosterior("bdeu", method="structure-mcmc").fit(datasets.load("coronary"))
    >>> [text.get_text() for text in traces(model.sample(4000, seed=1)).get_legend().get_texts()][:2]
    ['chain 1', 'chain 2']
    """
    sample = _chains_of(source)
    from dagpost.features import evaluate, resolve
    from dagpost.mcmc.diagnostics import by_chain

    if statement is None:
        tables = class_of(sample.provenance.get("score")).tables.replace("tables", "table")
        values = sample.log_joint
        label = f"log p(graph, {tables if sample.method == Augmentation.name else 'data'})"
    else:
        query = resolve(statement, sample.names, None)
        if query.given is not None:
            raise InputError("A trace is of one statement without a condition. Leave out what stands after '|'.")
        values, label = evaluate([query.feature], sample.parents, sample.names)[0].astype(np.float64), ""
    chains = by_chain(values, sample.chain_lengths)
    draws = chains.shape[1]
    if statement is not None:
        chains = np.cumsum(chains, axis=1) / np.arange(1, draws + 1)
        label = "share so far"
    ax = axes_for(ax, 7.0, 3.2)
    step = -(-draws // _MOST_POINTS)
    numbers = np.arange(1, draws + 1)[::step]
    for number, line in enumerate(chains):
        look = {"color": COLOURS[number % len(COLOURS)], "linestyle": DASHES[number % len(DASHES)]}
        if statement is None:
            # Wandering lines hide each other: they are faint, and their moving means carry the picture.
            ax.plot(numbers, line[::step], color=look["color"], linewidth=0.5, alpha=0.25)
        bold = _moving_mean(line, -(-draws // _WINDOWS)) if statement is None else line
        ax.plot(numbers, bold[::step], linewidth=1.6, label=f"chain {number + 1}", **look)
    ax.set_xlabel("draw of each chain")
    ax.set_ylabel(label)
    if statement is not None:
        ax.set_ylim(-0.03, 1.03)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(loc="lower right", ncols=min(len(chains), 4), fontsize=SMALL, framealpha=0.9)
    if statement is not None:
        say(ax, escaped(printable(statement)))
    return ax


def r_hat(source: GraphSource, *, count: int = 15, ax: Axes | None = None) -> Axes:
    """Draw R-hat of the edges about which the chains disagree most; left of the dashed line they agree well enough.

    Only edges between 0.05 and 0.95, which the verdict rests on. The verdict stands above.

    Parameters
    ----------
    source
        A sample that chains drew, or a model that was fitted by them.
    count
        How many edges at most.
    ax
        Where to draw; None: in a new figure.

    >>> from dagpost import DagPosterior, datasets
    >>> model = DagPosterior("bdeu", method="structure-mcmc").fit(datasets.load("coronary"))
    >>> r_hat(model.sample(4000, seed=1)).get_xlabel()
    'R-hat'
    """
    sample = _chains_of(source)
    whole_number(count, "count")
    from dagpost.mcmc.diagnostics import LARGEST_R_HAT, UNCERTAIN

    found = sample.diagnostics()
    uncertain = found.edges[found.edges["frequency"].between(*UNCERTAIN, inclusive="neither")]
    rows = uncertain.sort_values("r_hat", ascending=False, kind="stable").head(count)
    ax = axes_for(ax, 6.4, 1.5 + 0.26 * max(len(rows), 1))
    values = rows["r_hat"].to_numpy(dtype=np.float64)
    finite = values[np.isfinite(values)]
    # An infinite value is drawn at the border, with a mark of its own.
    most = max(float(np.max(finite, initial=1.0)), LARGEST_R_HAT) * 1.01 + 0.01
    heights = np.arange(len(rows))
    good = values <= LARGEST_R_HAT
    ax.hlines(heights, 1.0, np.minimum(values, most), color="0.75", linewidth=2, zorder=1)
    looks = (
        (good, COLOURS[0], SHAPES[0], "agree"),
        (~good & np.isfinite(values), COLOURS[5], SHAPES[1], "disagree"),
        (~np.isfinite(values), COLOURS[5], ">", "no end: stuck, or too short"),
    )
    for which, colour, shape, label in looks:
        if which.any():
            x = np.minimum(values[which], most)
            ax.plot(
                x, heights[which], linestyle="none", marker=shape, color=colour, markeredgecolor="black", label=label,
                zorder=2, clip_on=False,
            )  # fmt: skip
    ax.axvline(LARGEST_R_HAT, color="0.3", linestyle="--", linewidth=1.0, label=f"{LARGEST_R_HAT}")
    labels = [edge_text(parent, child) for parent, child in zip(rows["parent"], rows["child"], strict=True)]
    one_a_row(ax, labels, "R-hat")
    ax.set_xlim(min(0.998, float(np.min(finite, initial=1.0)) - 0.002), most)
    if len(rows):
        ax.legend(loc="lower right", fontsize=SMALL, framealpha=0.9)
    say(ax, escaped(printable(found.verdict)))
    return ax


def _moving_mean(line: Floats, window: int) -> Floats:
    """The mean of as many draws around each; of fewer near the ends."""
    import pandas as pd

    return pd.Series(line).rolling(2 * (window // 2) + 1, center=True, min_periods=1).mean().to_numpy()


def _chains_of(source: GraphSource) -> DagSample:
    sample = sample_of(source)
    if not sample.from_chains:
        # The sentence of `diagnostics`, which says why.
        sample.diagnostics()
    if math.prod(sample.chain_lengths) == 0:
        raise InputError("Some chains drew no graph: there is nothing to compare.")
    return sample
