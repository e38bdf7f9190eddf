"""DagSample: graphs drawn from a posterior, and what can be said from them.

A graph is a row of parent masks: bit j of `parents[s, i]` says that column j is a parent of column i in graph s. Beyond
64 columns a mask is a row of words: bit j % 64 of `parents[s, i, j // 64]` (families/masks.py). Rows keep the order in
which they were drawn. Memory: n masks of the smallest type that fits, and four numbers, a graph.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from dagpost._tools import memory
from dagpost._tools.arrays import Floats, labelled
from dagpost._tools.checks import floats, texts
from dagpost._tools.setting_text import given_columns
from dagpost._tools.text import shown
from dagpost.errors import InputError
from dagpost.families.masks import check_masks_of, graph_of_masks, matrices_of_masks
from dagpost.features import Feature, Query, evaluate, resolve, weighted_matrix
from dagpost.features.numbers import numbers_in
from dagpost.mcmc.augmented_agreement import diagnose_sweeps
from dagpost.mcmc.diagnostics import ChainDiagnostics, diagnose
from dagpost.mcmc.records import ChainRecord
from dagpost.methods.choice import target_named
from dagpost.methods.targets import MODULARITIES, STRUCTURE, Target
from dagpost.posterior.augmented import EDGES, PATHS, augmented_of
from dagpost.posterior.condition_words import given_content, given_words
from dagpost.posterior.conditioned_sample import joined_provenance
from dagpost.posterior.distinct import DistinctGraphs, distinct_graphs_in
from dagpost.posterior.estimate import Estimate, check_confidence
from dagpost.posterior.evidence_field import Evidence
from dagpost.posterior.expectation import Expectation, expected
from dagpost.posterior.shares import GIVEN, answers_of_sample, check_estimator, weigh_sample
from dagpost.posterior.weights import ESTIMATORS, WeightedSample
from dagpost.scores import class_of

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd
    from matplotlib.axes import Axes

    from dagpost.features.numbers import NumberFunction

UnsignedMasks = NDArray[np.unsignedinteger[Any]]
Statement = str | Feature | Query | Callable[..., bool]

_ARRAYS = ("parents", "log_joint", "log_proposal", "log_extensions", "weights")


@dataclass(frozen=True, eq=False, repr=False)
class DagSample:
    """Graphs drawn from a posterior.

    `log_joint` is log p(graph, data) of each, `log_proposal` the log probability that one draw is this graph and
    `log_extensions` the log of the number of orders it fits (nan where unknown); `weights` is what each contributes to
    an estimate (they sum to 1). `target` says what is counted; `draws` what kind of graphs these are ("independent",
    "weighted", "chains" or "listed", as `Method` has it). `log_evidence` is that of the data (nan where unknown; a
    function is called when it is first needed). `guarantee` is the (precision, confidence) that was asked for when the
    sample was drawn, if any; `provenance` says where it comes from. `chains` is what is known of the chains that drew
    the graphs, chain after chain; None for other methods, and for a part of such a sample.
    """

    names: tuple[str, ...]
    parents: UnsignedMasks
    log_joint: Floats
    log_proposal: Floats
    log_extensions: Floats
    weights: Floats
    target: Target
    method: str
    draws: str
    estimator: str
    log_evidence: Evidence = Evidence()  # noqa: RUF009
    guarantee: tuple[float, float] | None = None
    provenance: Mapping[str, Any] = field(default_factory=dict)
    chains: ChainRecord | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", texts(self.names, "names", "DagSample"))
        object.__setattr__(self, "target", target_named(self.target))
        check_masks_of(self.parents, len(self.names), "DagSample")
        if not isinstance(self.estimator, str) or self.estimator not in (*ESTIMATORS, GIVEN):
            raise InputError(f"A DagSample has no estimator {shown(self.estimator)}. Draw it again.")
        for name in _ARRAYS[1:]:
            floats(getattr(self, name), name, "DagSample", (len(self.parents),))

    @property
    def exogenous(self) -> tuple[str, ...]:
        """The columns that are not modelled: all that is said is conditional on these."""
        return tuple(self.provenance.get("exogenous", ()))

    @property
    def independent(self) -> bool:
        """Whether these are independent draws of equal weight of the very thing that `target` names."""
        return self.draws == "independent" and self.estimator != GIVEN

    @property
    def from_chains(self) -> bool:
        """Whether chains drew these graphs, which therefore resemble each other."""
        return self.draws == "chains" and self.estimator != GIVEN

    @property
    def listed(self) -> bool:
        """Whether these are some of the most probable graphs, found and not drawn."""
        return self.draws == "listed" and self.estimator != GIVEN

    def __getstate__(self) -> dict[str, Any]:
        """A pickle holds the evidence itself, not the tables that it would come from, nor what can be found again."""
        state = {name: value for name, value in self.__dict__.items() if name not in ("distinct", "remembered")}
        return {**state, "log_evidence": self.log_evidence}

    def __len__(self) -> int:
        return len(self.parents)

    def __repr__(self) -> str:
        kind = "independent graphs" if self.independent else "graphs"
        variables = f"{len(self.names)} variables"
        how = f"{self.method}, {self.target}-modular" if self.target in MODULARITIES else str(self.target)
        given = "".join(f"; {own}" for own in (given_columns(self.exogenous), given_words(self.provenance)) if own)
        return f"DagSample of {len(self):,} {kind} over {variables} ({how}{given})"

    def _repr_html_(self) -> str:
        from dagpost.plots.notebook import sample_html

        return sample_html(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DagSample):
            return NotImplemented
        mine, others = ((s.names, s.target, s.method, s.estimator) for s in (self, other))
        return mine == others and all(
            np.array_equal(getattr(self, name), getattr(other, name), equal_nan=name != "parents") for name in _ARRAYS
        )

    __hash__ = None  # type: ignore[assignment]

    @overload
    def __getitem__(self, rows: int) -> nx.DiGraph[str]: ...
    @overload
    def __getitem__(self, rows: slice | NDArray[Any] | Sequence[int]) -> DagSample: ...
    def __getitem__(self, rows: Any) -> nx.DiGraph[str] | DagSample:
        """One graph as a networkx graph, or a sample of some rows.

        A slice is a smaller sample of the same kind. Rows picked one by one may have been picked for what is in them:
        they keep their weights, scaled to sum to 1, and no interval can be given for them.
        """
        if isinstance(rows, int | np.integer):
            return self._graph(self.parents[rows])
        part = self._with(guarantee=None, chains=None, **{name: getattr(self, name)[rows] for name in _ARRAYS})
        if len(part) == 0:
            raise InputError("No graph is left: a DagSample has at least one.")
        if isinstance(rows, slice):
            return part.reweighed()
        return part._with(estimator=GIVEN, weights=part.weights / part.weights.sum())

    def __iter__(self) -> Iterator[nx.DiGraph[str]]:
        return (self._graph(row) for row in self.parents)

    def __add__(self, other: DagSample) -> DagSample:
        """Join another sample of the same posterior, drawn with another seed."""
        if not isinstance(other, DagSample):
            return NotImplemented
        provenance = joined_provenance(self, other)
        joined: dict[str, Any] = {name: np.concatenate([getattr(self, name), getattr(other, name)]) for name in _ARRAYS}
        return self._with(guarantee=None, chains=None, provenance=provenance, **joined).reweighed()

    def unique(self) -> DagSample:
        """The distinct graphs, those of most weight first, each with the weight of all its repeats."""
        distinct = self.distinct
        memory.require(
            len(distinct) * self.parents[0].nbytes,
            f"A copy of {len(distinct):,} distinct graphs of {len(self.names):,} variables",
            "Draw fewer graphs, or use top_graphs() for the best ones.",
        )
        arrays = {name: getattr(self, name)[distinct.rows] for name in _ARRAYS if name != "weights"}
        return self._with(estimator=GIVEN, guarantee=None, chains=None, weights=distinct.weights, **arrays)

    @cached_property
    def distinct(self) -> DistinctGraphs:
        """Which graphs are distinct, found once; `unique` copies them."""
        return distinct_graphs_in(self.parents, self.weights)

    @cached_property
    def remembered(self) -> dict[str, Any]:
        """What took long to find out about these graphs, by name."""
        return {}

    def adjacency(self) -> NDArray[np.bool_]:
        """Array (graphs, parents, children): whether each edge is there."""
        memory.require(
            len(self) * len(self.names) ** 2,
            f"A matrix for each of {len(self):,} graphs of {len(self.names):,} variables",
            "Take some of the graphs, as in dags[:1000].adjacency(), or use edge_frequencies() or probability().",
        )
        return matrices_of_masks(self.parents)

    def edge_frequencies(self, estimator: str = "auto") -> pd.DataFrame:
        """Weighted frequency of every edge: rows parents, columns children."""
        return self.probability_matrix("->", estimator).rename_axis(index="parent", columns="child")

    def probability_matrix(self, relation: str = "~>", estimator: str = "auto") -> pd.DataFrame:
        """Probability of `x relation y` for all pairs, x in the rows.

        `relation` is "->" (edge), "~>" (directed path), "~>{3}" (path of at most 3 edges) or "--" (adjacent).
        """
        check_estimator(estimator)
        weights = self.weights if estimator == "auto" else weigh_sample(self, estimator, math.nan).weights
        return labelled(np.clip(weighted_matrix(relation, self.parents, weights), 0.0, 1.0), self.names)

    @overload
    def probability(  # type: ignore[overload-overlap]
        self, feature: Statement, given: Statement | None = ..., *, estimator: str = ..., confidence: float = ...
    ) -> Estimate: ...
    @overload
    def probability(
        self, feature: Sequence[Statement], given: Statement | None = ...,
        *, estimator: str = ..., confidence: float = ...,
    ) -> list[Estimate]: ...  # fmt: skip
    def probability(
        self,
        feature: Statement | Sequence[Statement],
        given: Statement | None = None,
        *,
        estimator: str = "auto",
        confidence: float = 0.95,
    ) -> Estimate | list[Estimate]:
        """How probable a statement about the graph is, or each of several, which share the work.

        A statement is text (``"Smoking ~> Pressure & !(Smoking -> Family)"``, ``"P(A -> B | B ~> C)"``), a feature
        object, or any function of a networkx graph. `given` restricts to the graphs in which another statement holds.
        `estimator` is "auto" (what suits the method), "counting", "distinct", "iw" or "linear-extensions". A sample
        that was drawn for a precision answers with that precision and its confidence.
        """
        check_confidence(confidence)
        several = isinstance(feature, Sequence) and not isinstance(feature, str)
        statements: Any = feature if several else [feature]
        queries = [resolve(statement, self.names, given, self.exogenous) for statement in statements]
        estimates = [own.given(self.exogenous) for own in answers_of_sample(self, queries, estimator, confidence)]
        return estimates if several else estimates[0]

    def given(self, *statements: Statement) -> DagSample:
        """The graphs in which these statements hold; `provenance` says so. `probability(..., given=)` has intervals."""
        from dagpost.posterior.conditioned_sample import sample_under

        return sample_under(self, statements) if statements else self

    def directions(self, *, confidence: float = 0.95) -> pd.DataFrame:
        """Which way each pair points, and who says so, under the rules of its model; see `DagPosterior.directions`."""
        from dagpost.posterior.directions import directions_of_sample

        return directions_of_sample(self, confidence).table()

    def expectation(
        self, function: NumberFunction, given: Statement | None = None, *, confidence: float = 0.95
    ) -> Expectation:
        """The expected value of a function that returns a number for a networkx graph, such as its number of edges.

        It is called once for each distinct graph. `given` restricts to the graphs in which a statement holds.

        >>> from dagpost import DagPosterior, datasets
        >>> sample = DagPosterior().fit(datasets.load("coronary")).sample(1000, seed=1)
        >>> sample.expectation(lambda graph: graph.number_of_edges())
        6.6067 [6.5689, 6.6445] (distinct graphs, 95%, 1,000 graphs; each graph counted once)
        """
        check_confidence(confidence)
        condition = None if given is None else resolve(given, self.names, None, self.exogenous).feature
        held = None if condition is None else evaluate([condition], self.parents, self.names)[0]
        found = expected(self, numbers_in(function, self.parents, self.names), held, confidence)
        return found.given(self.exogenous)

    def diagnostics(self) -> ChainDiagnostics:
        """Whether the chains that drew these graphs can be trusted, in one sentence and edge by edge.

        >>> from dagpost import DagPosterior, datasets
        >>> model = DagPosterior(method="block-gibbs").fit(datasets.load("coronary"))
        >>> model.sample(4_000, seed=1).diagnostics().trusted
        True
        """
        if not self.from_chains:
            raise InputError(
                f"{self!r} do not come from chains: there is nothing to diagnose. Their estimates carry their own "
                "intervals."
            )
        return self.diagnosed

    @cached_property
    def diagnosed(self) -> ChainDiagnostics:
        """The diagnostics, computed once."""
        acceptance = {} if self.chains is None else self.chains.acceptance
        found = augmented_of(self.chains)
        if found is not None and found.has_series:
            edges, paths = (found.series(name) for name in (EDGES, PATHS))
            exact = found.exact_given_table
            score = class_of(self.provenance.get("score"))
            called = score.drawn, score.tables
            length = min(self.chain_lengths)
            return diagnose_sweeps(edges, paths, self.names, length, acceptance, exact=exact, called=called)
        checks = None if self.chains is None else self.chains.checks
        return diagnose(self.parents, self.names, self.chain_lengths, acceptance, checks)

    @property
    def chain_lengths(self) -> tuple[int, ...]:
        """Graphs of each chain, one after the other."""
        # A part of a sample may be any stretch of it: taken for one chain, it is not thought better than it is.
        return (len(self),) if self.chains is None else self.chains.lengths

    @property
    def effective_samples(self) -> float:
        """How many independent unweighted graphs these are worth."""
        if self.estimator == GIVEN:
            return float(1.0 / (self.weights**2).sum())
        if self.from_chains:
            return self.diagnosed.smallest_effective
        return self.own_weights.effective_samples

    @property
    def covered(self) -> float:
        """The posterior mass of all graphs in the sample together (Delta in the paper); nan where unknown."""
        if self.target != STRUCTURE or math.isnan(self.log_evidence):
            return math.nan
        return float(np.exp(self.log_joint[self.distinct.rows] - self.log_evidence).sum())

    def posterior_probabilities(self) -> list[float | None]:
        """The posterior probability of each graph; None where the evidence is not known."""
        if self.target != STRUCTURE or math.isnan(self.log_evidence):
            return [None] * len(self)
        return [float(probability) for probability in np.exp(self.log_joint - self.log_evidence)]

    def summary(self) -> dict[str, Any]:
        """What a sample is worth, as JSON can hold it."""
        covered = self.covered
        return {
            **({"diagnostics": self.diagnosed.summary()} if self.from_chains else {}),
            **({"exogenous": list(self.exogenous)} if self.exogenous else {}),
            **given_content(self.provenance),
            "method": self.method,
            "estimator": self.estimator,
            "modularity": str(self.target),
            "independent": self.independent,
            "effective_samples": self.effective_samples if math.isfinite(self.effective_samples) else None,
            "covered": None if math.isnan(covered) else covered,
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the sample to one file; an older one is replaced whole."""
        from dagpost.files.sample_file import save_sample

        save_sample(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> DagSample:
        """Read a sample that `save` wrote."""
        from dagpost.files.sample_file import load_sample

        return load_sample(path)

    def report(self, path: str | os.PathLike[str], *, title: str | None = None) -> Path:
        """Write one HTML file that opens in any browser, offline; see `DagPosterior.report`."""
        from dagpost.report.page import write_report

        return write_report(self, path, title)

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw the graph, in `ax` or in a new figure: `dagpost.plots.graph` says how to read it and has the options."""
        from dagpost.plots.graph_plot import graph

        return graph(self, ax=ax, **options)

    @cached_property
    def own_weights(self) -> WeightedSample:
        """The weights by the sample's own estimator, computed once."""
        return weigh_sample(self, self.estimator, self.log_evidence)

    def _with(self, **changes: Any) -> DagSample:
        """A copy with some fields changed; an evidence that nobody has asked for yet stays so."""
        return DagSample(**{**{entry.name: self.__dict__[entry.name] for entry in fields(self)}, **changes})

    def reweighed(self) -> DagSample:
        """The same rows with the weights that they have as a sample of their own."""
        if self.estimator == GIVEN:
            return self._with(weights=self.weights / self.weights.sum())
        # Weights that sum to 1 do not depend on the evidence.
        return self._with(weights=weigh_sample(self, self.estimator, math.nan).weights)

    def weighted(self, weights: Floats) -> DagSample:
        """The same graphs with weights from elsewhere, taken as they are."""
        return self._with(estimator=GIVEN, guarantee=None, chains=None, weights=weights)

    def _graph(self, row: UnsignedMasks) -> nx.DiGraph[str]:
        return graph_of_masks(row, self.names)
