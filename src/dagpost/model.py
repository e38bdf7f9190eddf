"""DagPosterior, the front door: from a table to the posterior over the graphs that may have made it."""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Self, overload

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from dagpost._tools.arrays import Floats
from dagpost._tools.progress import ProgressCallback, reporter_for
from dagpost._tools.text import position_of, readable_level
from dagpost.checkpoints import NO_CHECKPOINT, Checkpoint
from dagpost.checkpoints.folder import digest_of
from dagpost.data import as_table
from dagpost.engines import Engine
from dagpost.engines.host.backend import backend_of
from dagpost.errors import InputError
from dagpost.exact.order import check_weights
from dagpost.features import Edge, Query, resolve
from dagpost.methods.drawing import CHAINS, check_modularity, draw, draws_quickly, engine_of, name_of, resolve_method
from dagpost.methods.own_targets import Bootstrap, GivenOrder
from dagpost.posterior.answers import ExactResults, exact_probability
from dagpost.posterior.estimate import Estimate, check_confidence, exact_estimate, hoeffding_draws
from dagpost.posterior.fitting import compute, find_replicates, settle_method, weigh_families
from dagpost.posterior.listing import Listing, labelled
from dagpost.posterior.sample import DagSample, Statement
from dagpost.posterior.settings import (
    EngineSetting,
    check_count,
    check_seed,
    check_settings,
    describe,
    described_settings,
    identity_of,
    resolve_engine,
)
from dagpost.posterior.workspace import ExactWorkspace, Workspace
from dagpost.prediction.predicting import Predicting
from dagpost.priors.constraints import Constraints
from dagpost.priors.structure_priors import StructurePrior, log_prior, resolve_prior
from dagpost.report.reporting import Reporting
from dagpost.score_setting import ScoreSetting
from dagpost.scores import BGe, LocalScores, Score, resolve_score

if TYPE_CHECKING:
    import pandas as pd

    from dagpost.data.table import Table
    from dagpost.prediction import Statistics

Edges = Iterable[tuple[str, str]]

#: What a fit leaves beside the attributes that end with an underscore.
_FITTED = frozenset(
    ("_about_data", "_drawn", "_method", "_results", "_score", "_settings", "_statistics", "_table", "_tables")
)


class UnfittedError(InputError, NotFittedError):  # type: ignore[misc]
    """A model was asked before it was fitted."""


class DagPosterior(Listing, Predicting, Reporting, BaseEstimator):  # type: ignore[misc]
    """The posterior over all Bayesian network structures of a table.

    Exact for up to about 24 variables (30 with ``modularity="order"``), from weighted samples beyond, by chains (MCMC)
    for up to 64.

    Parameters
    ----------
    score
        How well a parent set explains a column: ``"bdeu"``, ``"bde"``, ``"k2"``, ``"bic"``, ``"bge"`` (for continuous
        columns), or an object such as ``BDeu(equivalent_sample_size=10)``.
    prior
        Weight of a parent set before the data: ``"uniform"``, ``"indegree"``, or an object such as ``EdgePrior(0.1)``.
    modularity
        ``"structure"``: every graph counts once. ``"order"``: a graph counts once for every order of the variables it
        fits (Koivisto & Sood 2004); much cheaper, and exact for more variables.
    max_parents
        No variable has more parents than this.
    method
        How graphs are sampled: ``"auto"``; ``"exact-layers"``, ``"linear-extensions"``, ``"iw-dds"`` or ``"kbest"``
        (the best ones instead of a sample) where every graph counts once; ``"dds"`` where one counts once for every
        order. By chains, without tables over all sets of variables: ``"partition-mcmc"``, ``"structure-mcmc"`` and
        ``"hybrid-mcmc"``, or ``"partial-order-mcmc"`` and ``"order-mcmc"`` where a graph counts once for every order.
        Over something else than all graphs: ``"trees"``, ``"given-order"``, ``"bootstrap"``. Or an object with
        settings, such as ``PartitionMCMC(chains=8)``.
    samples
        How many graphs are drawn when an answer needs a sample and none is given.
    required, forbidden
        Edges, as pairs ``(parent, child)`` of names, that every graph has, or that none has.
    tiers
        Groups of names, earliest first: no edge leads back from a later group to an earlier one.
    engine, threads
        Where the work runs: ``"threads"``; ``"cuda"``, with the exact tables on a CUDA device; ``"dask"``, spread over
        processes of this machine, or a Dask client or ``DaskEngine(address)`` for a cluster; ``"auto"``, a device
        where there is one with room enough and 20 variables or more, else threads. And on how many threads of this
        process (None: every core); ``"dask"`` starts as many processes. Exact numbers do not depend on any of it beyond
        their last digits, samples not on the number of threads; what is affordable, and so ``method="auto"``, does.
    seed
        Seed of the samples that are drawn when an answer needs one; None: a new one each time.
    progress
        None: a bar on a terminal for whatever takes longer than two seconds; True, False, or a function that is called
        with the stage, the steps done and the steps in all.

    Attributes
    ----------
    log_evidence_
        Natural log of the weight of the data under all graphs together.
    edge_probabilities_
        Table of the probability of every edge: rows are parents, columns children.
    exact_
        Whether these are exact; where the sums over all graphs, or orders, are out of reach they are estimated from
        samples.
    method_
        The name of the method that draws graphs.
    target_
        What is counted: ``"structure"`` or ``"order"`` as in `modularity`, or the own target of the method, such as
        ``"trees"``.
    engine_
        What the edges were computed on: ``"threads"``, ``"cuda"`` or ``"dask"``.
    verdict_
        Where the edges come from chains, one sentence that says whether to trust them; else None.

    Examples
    --------
    >>> from dagpost import DagPosterior, datasets
    >>> model = DagPosterior(score="bdeu").fit(datasets.load("coronary"))
    >>> round(model.log_evidence_, 3)
    -6727.998
    >>> model.top_families("Family", 2).round(3)
    M. Work    0.732
    {}         0.249
    Name: P(parents of Family), dtype: float64
    >>> model.probability("Smoking ~> Pressure")
    0.7402 (exact; each graph counted once)

    References
    ----------
    He, Tian & Wu, "Structure Learning in Bayesian Networks of Moderate Size by Efficient Sampling", JMLR 17 (2016).
    """

    score: Any = ScoreSetting()
    engine: Any = EngineSetting()
    names_: tuple[str, ...]
    log_evidence_: float
    edge_probabilities_: pd.DataFrame
    exact_: bool
    method_: str
    target_: str
    engine_: str
    verdict_: str | None
    max_parents_: int

    def __init__(
        self,
        score: str | Score = "bdeu",
        prior: str | StructurePrior = "uniform",
        modularity: Literal["structure", "order"] = "structure",
        max_parents: int = 5,
        method: Any = "auto",
        samples: int = 30_000,
        required: Edges = (),
        forbidden: Edges = (),
        tiers: Sequence[Iterable[str]] | Mapping[str, int] | None = None,
        engine: str | Engine = "auto",
        threads: int | None = None,
        seed: int | None = None,
        progress: bool | ProgressCallback | None = None,
    ) -> None:
        self.score = score
        self.prior = prior
        self.modularity = modularity
        self.max_parents = max_parents
        self.method = method
        self.samples = samples
        self.required = required
        self.forbidden = forbidden
        self.tiers = tiers
        self.engine = engine
        self.threads = threads
        self.seed = seed
        self.progress = progress

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The settings by name."""
        settings: dict[str, Any] = super().get_params(deep=deep)
        return {**settings, "score": self.score.setting}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        discrete = not isinstance(self.score.setting, BGe) and self.score.setting != "bge"
        tags.input_tags.categorical = tags.input_tags.string = discrete
        return tags

    def fit(
        self,
        X: Any,
        y: None = None,  # noqa: ARG002
        *,
        counts: Any = None,
        interventions: Any = None,
        checkpoint: Checkpoint | None = None,
    ) -> Self:
        """Compute the posterior of a table.

        Parameters
        ----------
        X
            A pandas, polars or pyarrow table, a two-dimensional array, the path of a CSV or Parquet file, or a `Table`.
        counts
            Name of the column that says how many times each row was seen, or one number a row.
        interventions
            Name of the column that says which variable was set from outside in each row, or one entry a row. A
            variable's score leaves those rows out (Cooper & Yoo 1999).
        checkpoint
            Where a long fit keeps what it has finished: killed at any moment, the same call goes on from there.
        """
        check_settings(self)
        method = resolve_method(self.method)
        check_modularity(method, self.modularity)
        reporter = reporter_for(self.progress)
        table = as_table(X, counts=counts, interventions=interventions)
        engine = resolve_engine(self.engine, self.threads, len(table.names))
        constraints = Constraints(self.required, self.forbidden, self.tiers)
        score, prior = resolve_score(self.score.setting), resolve_prior(self.prior)
        if isinstance(method, GivenOrder):
            method.positions(table.names)
        about: dict[str, Any] = {
            "names": list(table.names),
            "levels": [None if levels is None else [readable_level(v) for v in levels] for levels in table.levels],
            "observations": table.observations,
            "data_fingerprint": table.fingerprint(),
            "interventions": table.interventions is not None,
        }
        described = described_settings(self, constraints)
        identity = identity_of(about["data_fingerprint"], described, engine=backend_of(engine).name)
        with _checked(checkpoint).task("fit", identity) as kept:
            tables = weigh_families(
                method, table, score, prior, constraints, self.max_parents, engine, reporter, checkpoint=kept
            )
            with tables.kept_in(kept):
                if isinstance(method, Bootstrap):
                    count = method.replicates
                    find_replicates(table, score, prior, constraints, self.max_parents, count, self.seed, tables)
                return self._finish(method, tables, constraints, about, table, score)

    def fit_scores(self, scores: LocalScores, *, checkpoint: Checkpoint | None = None) -> Self:
        """Compute the posterior from local scores that come from elsewhere, such as another program's (`read_jkl`).

        The prior and the constraints of the model are added to them; its score is not looked at. There are no rows, so
        nothing can be predicted. For `checkpoint`, see `fit`.

        >>> from dagpost import DagPosterior, datasets, local_scores
        >>> table = datasets.load("coronary")
        >>> model = DagPosterior().fit_scores(local_scores(table, "bdeu"))
        >>> model.probability("Smoking ~> Pressure")
        0.7402 (exact; each graph counted once)
        """
        check_settings(self)
        method = resolve_method(self.method)
        check_modularity(method, self.modularity)
        if not isinstance(scores, LocalScores):
            raise InputError(f"Scores are a LocalScores, as local_scores and read_jkl give it. Got {scores!r} instead.")
        scores = scores.up_to(self.max_parents)
        if isinstance(method, Bootstrap):
            raise InputError("The bootstrap resamples rows, and scores have none. Use fit(table).")
        constraints, names = Constraints(self.required, self.forbidden, self.tiers), scores.names
        prior = log_prior(names, scores.max_parents, resolve_prior(self.prior), constraints)
        log_weights = scores.values + prior
        check_weights(log_weights, scores.max_parents, names)
        engine = resolve_engine(self.engine, self.threads, len(names))
        tables = ExactWorkspace(log_weights, scores.max_parents, engine, reporter_for(self.progress))
        fingerprint = hashlib.sha256(repr(names).encode() + scores.values.tobytes()).hexdigest()
        about = {"names": list(names), "levels": [None] * len(names), "observations": None}
        about["data_fingerprint"] = fingerprint
        described = {**described_settings(self, constraints), "score": "given scores"}
        identity = identity_of(fingerprint, described, engine=backend_of(engine).name)
        with _checked(checkpoint).task("fit", identity) as kept, tables.kept_in(kept):
            return self._finish(method, tables, constraints, about, None, "given scores")

    def _finish(
        self,
        method: Any,
        tables: Workspace,
        constraints: Constraints,
        about: dict[str, Any],
        table: Table | None,
        score: Any,
    ) -> Self:
        """Compute what there is to compute from the weights of the families."""
        self._forget()
        try:
            names = tuple(about["names"])
            if isinstance(method, GivenOrder):
                method.positions(names)
            self._score, self._about_data = score, about
            self._settings = {**described_settings(self, constraints), "score": describe(score)}
            self._open(names, tables, *settle_method(method, self.modularity, tables))
            self._table = table
            if not isinstance(tables, ExactWorkspace):
                self.method_reason_ += f"; considered is {tables.weights.describe()}"
            chosen, reason, count = self._method, self.method_reason_, self._usual_count()
            self._adopt(*compute(chosen, reason, self.modularity, tables, names, count, self.own_sample))
            # Exact edges are those of the sums, whatever draws the graphs.
            sums = {"structure": "exact-layers", "order": "dds"}
            self.engine_ = engine_of(chosen if self._results is None else sums[self._results.modularity], tables)
            if not self.exact_ and self.method_ in CHAINS:
                self.verdict_ = self.own_sample().diagnostics().verdict
        except BaseException:
            # A fit that is broken off leaves no model, rather than half of one.
            self._forget()
            raise
        return self

    def _forget(self) -> None:
        """Leave nothing of an earlier fit."""
        for name in [name for name in self.__dict__ if name.endswith("_") or name in _FITTED]:
            del self.__dict__[name]

    def sample(
        self,
        count: int | None = None,
        *,
        precision: float | None = None,
        confidence: float = 0.95,
        seed: int | None = None,
        resume: DagSample | None = None,
        checkpoint: Checkpoint | None = None,
    ) -> DagSample:
        """Draw graphs from the posterior.

        Ask for a number, or for a precision: then as many independent graphs are drawn as bring the frequency of a
        statement, whichever it is, within `precision` of the truth with this confidence (Hoeffding's inequality).
        Without a seed, a new one is taken each time; that of the model is for the samples it draws by itself.

        Chains go on from `resume`, an earlier sample of this model, until there are `count` graphs in all: the same
        graphs as one long run would have given. Ctrl-C ends a run of chains with the graphs that there are. With a
        `checkpoint`, a long run that is killed goes on where it stopped when the same call is made again.

        >>> from dagpost import DagPosterior, datasets
        >>> model = DagPosterior().fit(datasets.load("coronary"))
        >>> model.sample(precision=0.02, confidence=0.95, seed=1)
        DagSample of 4,612 independent graphs over 6 variables (exact-layers, structure-modular)
        """
        self._check_fitted()
        guarantee = None
        if precision is not None:
            if count is not None:
                raise InputError("Ask for a number of graphs or for a precision, not for both.")
            if self.method_ not in ("exact-layers", "dds", "trees", "given-order"):
                why = "resemble each other" if self.method_ in CHAINS else "are no independent draws of equal weight"
                raise InputError(
                    f"The graphs of {self.method_!r} {why}, so no number of them guarantees a precision. Use "
                    "method='dds' with modularity='order', or fewer variables with method='exact-layers', or ask for a "
                    "number."
                )
            count, guarantee = hoeffding_draws(precision, confidence), (precision, confidence)
        count = self._usual_count() if count is None else count
        check_count("count", count)
        count = int(count)
        check_seed(seed)
        if resume is not None and (self.method_ not in CHAINS or seed is not None):
            raise InputError("Only chains can be resumed, and with the seed that they began with: give no other.")
        if resume is not None and not isinstance(resume, DagSample):
            raise InputError(f"Chains go on from a whole sample of chains, not from {resume!r} or a part of one.")
        provenance = self._provenance()
        identity = identity_of(
            provenance["data_fingerprint"],
            {**self._settings, "method": describe(self._method), "seed": None if seed is None else int(seed)},
            engine=backend_of(self._tables.engine).name,
            graphs=count,
            resumed_from=None if resume is None else digest_of([resume.parents, resume.log_joint]),
        )
        with _checked(checkpoint).task("sample", identity) as kept, self._tables.kept_in(kept):
            return draw(self._method, self._tables, self.names_, count, seed, guarantee, provenance, resume)

    @overload
    def probability(  # type: ignore[overload-overlap]
        self, feature: Statement, given: Statement | None = ..., *, confidence: float = ...
    ) -> Estimate: ...
    @overload
    def probability(
        self, feature: Sequence[Statement], given: Statement | None = ..., *, confidence: float = ...
    ) -> list[Estimate]: ...
    def probability(
        self, feature: Statement | Sequence[Statement], given: Statement | None = None, *, confidence: float = 0.95
    ) -> Estimate | list[Estimate]:
        """How probable a statement about the graph is, or each of several: exact where it can be, else from a sample.

        A statement is text (``"Smoking ~> Pressure & !(Smoking -> Family)"``, ``"P(A -> B | B ~> C)"``), a feature
        object, or any function of a networkx graph. `given` restricts to the graphs in which another statement holds.
        """
        self._check_fitted()
        check_confidence(confidence)
        several = isinstance(feature, Sequence) and not isinstance(feature, str)
        statements: Any = feature if several else [feature]
        queries = [resolve(statement, self.names_, given) for statement in statements]
        answers = [self._exact_answer(query) for query in queries]
        open_queries = [query for query, answer in zip(queries, answers, strict=True) if answer is None]
        sampled = iter(self.own_sample().probability(open_queries, confidence=confidence) if open_queries else [])
        estimates = [next(sampled) if answer is None else answer for answer in answers]
        return estimates if several else estimates[0]

    def save(self, path: str | os.PathLike[str], *, rows: bool = False) -> None:
        """Write the fitted model to one file; an older one is replaced whole.

        The file holds what is needed to ask, sample and predict, but not the rows of the table, unless `rows` says so:
        causal effects, and parameters of graphs that are not in the model's own sample, need them. With more than 20
        variables (24 where graphs are drawn by orders, ``"dds"``) that sample may take long to draw, so it is in the
        file only if it was needed before: predict, or call `own_sample()`, once.
        """
        from dagpost.files.model_file import save_model

        self._check_fitted()
        save_model(self, path, rows=rows)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model that `save` wrote."""
        from dagpost.files.model_file import load_model

        return load_model(cls, path)

    def _open(self, names: tuple[str, ...], tables: Workspace, method: Any, reason: str) -> None:
        self.names_ = names
        self.n_features_in_ = len(names)
        self.max_parents_ = tables.max_parents
        self._tables = tables
        self._drawn: DagSample | None = None
        self._table: Table | None = None
        self._statistics: Statistics | None = None
        self._method, self.method_, self.method_reason_ = method, name_of(method), reason
        self.target_ = getattr(method, "target", self.modularity)
        self.verdict_ = None

    def _adopt(self, log_evidence: float, edges: Floats, results: ExactResults | None, exact: bool) -> None:
        self.log_evidence_, self._results, self.exact_ = log_evidence, results, exact
        if results is not None and self.modularity == "structure" and isinstance(self._tables, ExactWorkspace):
            self._tables.structure_log_evidence = results.log_evidence
        self.edge_probabilities_ = labelled(np.clip(edges, 0.0, 1.0), self.names_, "parent", "child")

    def _usual_count(self) -> int:
        return int(self._method.replicates if isinstance(self._method, Bootstrap) else self.samples)

    def own_sample(self) -> DagSample:
        """The sample that answers and predictions come from where none is given: drawn once, kept with the model."""
        self._check_open()
        if self._drawn is None:
            check_count("samples", self.samples)
            self._drawn = draw(
                self._method, self._tables, self.names_, self._usual_count(), self.seed, None, self._provenance()
            )
        return self._drawn

    def _draws_quickly(self) -> bool:
        """Whether the model's own sample takes seconds at most."""
        return draws_quickly(self.method_, len(self.names_))

    def _exact_answer(self, query: Query) -> Estimate | None:
        if self._results is None or not isinstance(self._tables, ExactWorkspace):
            if not self.exact_ or query.given is not None or not isinstance(query.feature, Edge):
                return None
            parent, child = (position_of(name, self.names_) for name in (query.feature.parent, query.feature.child))
            return exact_estimate(float(self.edge_probabilities_.to_numpy()[parent, child]), self.target_)
        value = exact_probability(query, self.names_, self._tables, self._results)
        if value is None:
            return None
        if math.isnan(value):
            return Estimate(math.nan, 0.0, 1.0, 1.0, "the condition is impossible", 0, 0.0, self._results.modularity)
        return exact_estimate(value, self._results.modularity)

    def _provenance(self) -> dict[str, Any]:
        settings = self._settings
        return {
            "data_fingerprint": self._about_data["data_fingerprint"],
            "observations": self._about_data["observations"],
            **{key: settings[key] for key in ("score", "prior", "max_parents", "required", "forbidden", "tiers")},
            **({"interventions": True} if self._about_data.get("interventions") else {}),
        }

    def _check_fitted(self) -> None:
        if not hasattr(self, "edge_probabilities_"):
            raise UnfittedError("This DagPosterior has no data yet. Call fit(table) first.")

    def _check_open(self) -> None:
        # While it is being fitted a model draws a sample before it has edges.
        if not hasattr(self, "_tables"):
            self._check_fitted()


def _checked(checkpoint: Checkpoint | None) -> Checkpoint:
    if checkpoint is None:
        return NO_CHECKPOINT
    if isinstance(checkpoint, Checkpoint):
        return checkpoint
    raise InputError(f"A checkpoint is an object: Checkpoint({str(checkpoint)!r}). Got {checkpoint!r} instead.")
