"""How fast a sample comes near the truth: the error of its edges, or the mass of its graphs, against their number.

SAD is the sum of absolute differences from the exact edge probabilities; Delta is the posterior mass of all distinct
graphs drawn so far (He, Tian & Wu 2016). Both are worked out for some thirty beginnings of a sample, whose sizes grow
by a constant factor: about as much work as a few whole samples. A beginning of several chains takes the same share
of each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost._tools.checks import one_of, whole_number
from dagpost._tools.spelling import either, setting
from dagpost.errors import InputError
from dagpost.plots.figures import COLOURS, DASHES, SHAPES, SMALL, axes_for, plain
from dagpost.plots.sources import probabilities_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from dagpost.model import DagPosterior
    from dagpost.posterior.sample import DagSample

    Samples: TypeAlias = DagSample | Sequence[DagSample] | Mapping[str, DagSample | Sequence[DagSample]]

_MEASURES = {"SAD": "SAD (summed errors of all edges)", "Delta": "Delta (mass of the graphs drawn)"}
_FIRST = 10
#: A sum of errors below this is rounding.
_ROUNDING = 1e-9


def convergence(
    samples: Samples,
    exact: DagPosterior | pd.DataFrame | None = None,
    *,
    measure: str = "SAD",
    points: int = 30,
    ax: Axes | None = None,
) -> Axes:
    """Draw SAD or Delta against the number of graphs, for one sample or several.

    Parameters
    ----------
    samples
        A `DagSample`; several runs, of which the mean and the range are drawn; or either by names for the legend.
    exact
        For SAD: a model whose edges are exact, or the table of exact edge probabilities.
    measure
        "SAD" or "Delta". A dotted line beside SAD is what counting independent graphs would give.
    points
        How many beginnings of each sample are looked at.
    ax
        Where to draw; None: in a new figure.

    >>> from dagpost import DagPosterior, datasets
    >>> model = DagPosterior().fit(datasets.load("coronary"))
    >>> ax = convergence(model.sample(2000, seed=1), model)
    >>> ax.get_xlabel()
    'graphs drawn'
    """
    one_of(measure, "measure", _MEASURES)
    points = whole_number(points, "points", least=2)
    groups = _groups(samples)
    truth = _truth(exact, groups) if measure == "SAD" else None
    ax = axes_for(ax, 5.6, 3.8)
    for number, (label, runs) in enumerate(groups.items()):
        sizes = _sizes(min(map(len, runs)), points)
        curves = np.array([[_measured(run, size, truth) for size in sizes] for run in runs])
        colour = COLOURS[number % len(COLOURS)]
        if len(runs) > 1:
            ax.fill_between(sizes, curves.min(axis=0), curves.max(axis=0), color=colour, alpha=0.2, linewidth=0)
        ax.plot(
            sizes,
            curves.mean(axis=0),
            color=colour,
            linestyle=DASHES[number % len(DASHES)],
            marker=SHAPES[number % len(SHAPES)],
            markersize=4,
            label=plain(f"{label} (mean and range of {len(runs)} runs)" if len(runs) > 1 else label, 60),
        )
    ax.set_xscale("log")
    ax.set_xlabel("graphs drawn")
    ax.set_ylabel(_MEASURES[measure])
    if truth is not None:
        longest = max(len(run) for runs in groups.values() for run in runs)
        _draw_counting(ax, truth, _sizes(longest, points))
        # An error of zero has no logarithm.
        if any((np.asarray(line.get_ydata()) > 0.0).any() for line in ax.lines):
            ax.set_yscale("log")
    else:
        ax.set_ylim(-0.03, 1.03)
    ax.grid(color="0.92")
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(fontsize=SMALL, framealpha=0.9)
    return ax


def _groups(samples: Any) -> dict[str, list[Any]]:
    """The runs by the names of their lines."""
    if isinstance(samples, Mapping):
        named = {str(name): _runs(one) for name, one in samples.items()}
    else:
        runs = _runs(samples)
        named = {getattr(runs[0], "method", "") if runs else "": runs}
    if not named or not all(named.values()):
        raise InputError("There is no sample to look at. Give at least one DagSample.")
    for runs in named.values():
        for run in runs:
            if not hasattr(run, "edge_frequencies") or not hasattr(run, "covered"):
                raise InputError(
                    "Convergence is drawn of a DagSample, of a list of them, or of a dict of either. "
                    f"Got {type(run).__name__} instead."
                )
    return named


def _runs(samples: Any) -> list[Any]:
    return list(samples) if isinstance(samples, list | tuple) else [samples]


def _truth(exact: Any, groups: dict[str, list[Any]]) -> Floats:
    if exact is None:
        wanted = either(
            "exact=model, or the table of exact edge probabilities", "a model with exact edges, --with MODEL"
        )
        raise InputError(f"SAD is an error from the truth: give {wanted}.")
    if getattr(exact, "exact_", True) is False or hasattr(exact, "parents"):
        wanted = either("whose exact_ is True", "whose edges are exact, as `dagpost info MODEL` says")
        given = either("'exact'", "--with")
        raise InputError(f"The edges of {given} are themselves estimated. Give a model {wanted}.")
    known = probabilities_of(exact)
    for runs in groups.values():
        for run in runs:
            if run.names != known.names:
                raise InputError("The samples and 'exact' must be of the same variables in the same order.")
    if np.isnan(known.matrix).any():
        raise InputError("The table of exact edge probabilities has entries that are not known (nan).")
    return known.matrix


def _sizes(most: int, points: int) -> list[int]:
    first = min(_FIRST, most)
    return sorted({int(size) for size in np.rint(np.geomspace(first, most, points))})


def _beginning(sample: Any, size: int) -> Any:
    """The first graphs of a sample; of one of chains, the first of each."""
    lengths = sample.chain_lengths if sample.from_chains else (len(sample),)
    if len(lengths) == 1:
        return sample[:size]
    ends = np.cumsum(lengths)
    each = -(-size // len(lengths))
    rows = [np.arange(end - length, min(end - length + each, end)) for end, length in zip(ends, lengths, strict=True)]
    return sample[np.concatenate(rows)]


def _measured(sample: Any, size: int, truth: Floats | None) -> float:
    part = _beginning(sample, size)
    if truth is not None:
        error = float(np.abs(part.edge_frequencies().to_numpy() - truth).sum())
        return error if error > _ROUNDING else 0.0
    covered = float(part.covered)
    if np.isnan(covered):
        raise InputError(
            "Delta needs the evidence of the data, with each graph counted once. This sample has none: use a model "
            f"with {setting('modularity', 'structure')} whose edges are exact."
        )
    return covered


def _draw_counting(ax: Axes, truth: Floats, sizes: Sequence[int]) -> None:
    """The mean error that shares among independent draws would have: sqrt(2 p (1 - p) / (pi N)) for each edge."""
    spread = float(np.sqrt(2.0 / np.pi * truth * (1.0 - truth)).sum())
    if spread > 0.0:
        label = "counting independent graphs"
        ax.plot(sizes, spread / np.sqrt(sizes), color="0.35", linestyle=":", linewidth=1.2, label=label)
