"""What do graphs of numbers, or of latent numbers, say beside their edges? Effects with their sign, and correlations.

Graphs are taken by their weights, each with a draw of its parameters (parameter_draws.py) given the table, or the
completed table, that it goes with. The coefficient of an edge is then one draw of the direct effect given that the edge
is there; the covariance of all columns follows from all coefficients. Everything is reported in standard deviations of
the columns, latent ones where these are images of latent numbers.

Time: one draw of the parameters a graph, and for correlations a linear system.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dagpost._tools.arrays import Floats, Integers
from dagpost._tools.checks import truth
from dagpost._tools.spelling import setting
from dagpost._tools.text import position_of
from dagpost.errors import InputError
from dagpost.families.masks import refuse_wide
from dagpost.families.numbering import MAX_NODES
from dagpost.posterior.estimate import check_confidence
from dagpost.posterior.fitted import Fitted
from dagpost.posterior.sample import DagSample
from dagpost.prediction.counted_parts import counted_parts, has_rows, refuse_structure_alone
from dagpost.prediction.gaussian_statistics import GaussianStatistics
from dagpost.prediction.parameter_draws import DrawnNetworks, drawn_networks

if TYPE_CHECKING:
    import pandas as pd

#: Graphs that are drawn with their parameters, and how many of them matrices are made of.
_DRAWS, _MATRICES = 20_000, 2_000
#: How probable a sign must be to be shown as clear.
_CLEAR = 0.95


class DirectEffect(NamedTuple):
    """The direct effect of a parent on a child given the edge, in standard deviations; nan where no graph drawn has it.

    `positive` is the probability that it is above zero.
    """

    positive: float
    mean: float
    lower: float
    upper: float

    @property
    def sign(self) -> str:
        """The sign: "+" or "-" where it is clear, "?" where it is not, and nothing where nothing is known."""
        if np.isnan(self.positive):
            return ""
        return "+" if self.positive >= _CLEAR else "-" if self.positive <= 1.0 - _CLEAR else "?"


NOTHING_KNOWN = DirectEffect(*[float("nan")] * 4)


def direct_effects(fitted: Fitted, confidence: float = 0.95) -> pd.DataFrame:
    """One row an edge, most probable first: how large the direct effect is given the edge, with its sign."""
    import pandas as pd

    check_confidence(confidence)
    edges, names = fitted.results.edges, fitted.names
    found = effects_of_edges(fitted, confidence)
    rows = [
        (names[parent], names[child], float(edges[parent, child]), own.sign, *own)
        for parent, child in zip(*np.nonzero(edges > 0.0), strict=True)
        for own in [found.get((int(parent), int(child)), NOTHING_KNOWN)]
    ]
    columns = ["parent", "child", "probability", "sign", "positive", "mean", "lower", "upper"]
    frame = pd.DataFrame(rows, columns=columns)
    return frame.sort_values("probability", ascending=False, kind="stable", ignore_index=True)


def has_coefficients(fitted: Fitted) -> bool:
    """Whether edges have coefficients: the columns, or their latent numbers, follow a Gaussian network."""
    # A score that averages over a setting has no one prior of parameters, and is about levels.
    if isinstance(fitted.score, str) or fitted.score.mixture() is not None:
        return False
    return fitted.score.coefficient_prior() is not None


def quick_effects(fitted: Fitted) -> Mapping[tuple[int, int], DirectEffect]:
    """The direct effects of edges (parent, child); none where there are no coefficients, or these would take long."""

    def found() -> Mapping[tuple[int, int], DirectEffect]:
        many = len(fitted.names) > MAX_NODES
        if not has_coefficients(fitted) or many or not has_rows(fitted) or fitted.quick_sample() is None:
            return {}
        return effects_of_edges(fitted)

    return fitted.once("direct effects", found)


def effects_of_edges(fitted: Fitted, confidence: float = 0.95) -> dict[tuple[int, int], DirectEffect]:
    """The direct effect of every edge (parent, child) that some graph has."""
    children, parents, values = [], [], []
    for own, statistics in networks_of(fitted, _DRAWS):
        places = np.nonzero(own.parents >= 0)
        parent, child = own.parents[places], places[1]
        children.append(child)
        parents.append(parent)
        values.append(own.coefficients[places] * statistics.deviations[parent] / statistics.deviations[child])
    return _summaries(np.concatenate(parents), np.concatenate(children), np.concatenate(values), confidence)


def _summaries(
    parents: Integers, children: Integers, values: Floats, confidence: float
) -> dict[tuple[int, int], DirectEffect]:
    order = np.lexsort((children, parents))
    parents, children, values = parents[order], children[order], values[order]
    new = np.flatnonzero((np.diff(parents, prepend=-1) != 0) | (np.diff(children, prepend=-1) != 0))
    tails = (1.0 - confidence) / 2.0
    found = {}
    for start, own in zip(new.tolist(), np.split(values, new[1:]), strict=True):
        if len(own):
            lower, upper = np.quantile(own, [tails, 1.0 - tails])
            share = float((own > 0.0).mean())
            found[int(parents[start]), int(children[start])] = DirectEffect(
                share, float(own.mean()), float(lower), float(upper)
            )
    return found


class Correlations(NamedTuple):
    """Of all pairs of columns: mean and standard deviation of the correlation, and the ends of its interval."""

    mean: Floats
    sd: Floats
    lower: Floats
    upper: Floats


def correlations_of(fitted: Fitted, confidence: float = 0.95) -> Correlations:
    """The posterior of the correlations of all columns, latent where these are images of latent numbers."""
    check_confidence(confidence)
    drawn = []
    for own, _ in networks_of(fitted, _MATRICES, joined=fitted.exogenous):
        covariances = own.covariances()
        deviations = np.sqrt(np.einsum("gii->gi", covariances))
        drawn.append(covariances / (deviations[:, :, np.newaxis] * deviations[:, np.newaxis, :]))
    matrices, tails = np.concatenate(drawn), (1.0 - confidence) / 2.0
    lower, upper = np.quantile(matrices, [tails, 1.0 - tails], axis=0)
    return Correlations(matrices.mean(axis=0), matrices.std(axis=0), lower, upper)


def correlation_table(fitted: Fitted, pairs: bool = False, confidence: float = 0.95) -> pd.DataFrame:
    """The means of all correlations; or one row a pair, strongest first: mean, standard deviation and interval."""
    import pandas as pd

    pairs, found = bool(truth(pairs, "pairs")), correlations_of(fitted, confidence)
    if not pairs:
        return pd.DataFrame(found.mean, index=list(fitted.names), columns=list(fitted.names))
    first, second = np.triu_indices(len(fitted.names), 1)
    names = np.array(fitted.names, dtype=object)
    table = {"first": names[first], "second": names[second]}
    table |= {what: matrix[first, second] for what, matrix in found._asdict().items()}
    frame = pd.DataFrame(table)
    order = np.argsort(-np.abs(frame["mean"].to_numpy()), kind="stable")
    return frame.iloc[order].reset_index(drop=True)


def networks_of(
    fitted: Fitted, draws: int, joined: tuple[str, ...] = ()
) -> Iterator[tuple[DrawnNetworks, GaussianStatistics]]:
    """Graphs by their weights with drawn parameters, part by part; `joined` columns are all joined with each other."""
    refuse_wide(len(fitted.names), "Direct effects and correlations are computed")
    refuse_structure_alone(fitted)
    if not has_coefficients(fitted):
        raise InputError(
            "Direct effects and correlations are those of numbers, or of latent numbers, behind every column, and "
            "under the score of this model some columns are levels. Fit with "
            f"{setting('score', 'latent-gaussian')} or {setting('score', 'bge')}."
        )
    generator = np.random.default_rng(fitted.settings["seed"] or 0)
    parts = counted_parts(fitted)
    for part, statistics in parts:
        prior = part.score.coefficient_prior()
        assert prior is not None
        assert isinstance(statistics, GaussianStatistics)
        count = max(round(draws * float(part.sample.weights.sum())), 1)
        graphs = _with_joined(part.sample, _chosen(part.sample, count, generator), joined)
        yield drawn_networks(statistics, prior, graphs, generator), statistics


def _chosen(sample: DagSample, count: int, generator: np.random.Generator) -> Integers:
    """As many graphs as asked for, by their weights (systematic resampling)."""
    borders = np.cumsum(sample.weights)
    points = (np.arange(count) + generator.random()) / count * borders[-1]
    places: Integers = np.searchsorted(borders, points, side="right")
    return np.minimum(places, len(borders) - 1)


def _with_joined(sample: DagSample, chosen: Integers, joined: tuple[str, ...]) -> np.ndarray:
    """The graphs, in which some columns are joined with each other: nothing is assumed of how they hang together."""
    graphs, before = sample.parents[chosen].astype(np.uint64), 0
    for name in joined:
        place = position_of(name, sample.names)
        graphs[:, place] = np.uint64(before)
        before |= 1 << place
    return graphs
